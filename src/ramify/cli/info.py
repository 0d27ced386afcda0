# SPDX-License-Identifier: BSD-3-Clause
"""info.py: `ramify info`: what is in a file."""

from pathlib import Path
from typing import Any

from ramify.cli import _models
from ramify.cli import _options as options
from ramify.cli._console import print_facts, print_json, some_bytes, verb
from ramify.estimators._registry import BY_CLASS
from ramify.saving import describe

NAME = "info"
EXAMPLES = ("ramify info tree.ramify", "ramify info tree.ramify --json | jq .points")


@verb(NAME)
def run(tree: options.TreeFile, json: options.Json = False) -> None:
    """Say what a saved tree is: algorithm, options, points, depth, height, size."""
    saved = _models.load(tree)
    facts = {"tree": str(tree), **_facts(saved), **_header(tree)}
    if json:
        print_json(facts)
        return
    facts["bytes"] = f"{facts['bytes']:,} ({some_bytes(facts['bytes'])})"
    print_facts((name.replace("_", " "), _text(value)) for name, value in facts.items())


def _facts(saved: _models.Saved) -> dict[str, Any]:
    depths = saved.tree.depths()
    return {
        "algorithm": None if saved.model is None else BY_CLASS[type(saved.model)].name,
        "options": {} if saved.model is None else _models.options_of(saved.model),
        "points": saved.tree.n_leaves,
        "depth": int(depths.max()),
        "mean_depth": float(depths.mean()),
        "root_height": float(saved.tree.heights[-1]) if saved.tree.n_leaves > 1 else 0.0,
    }


def _header(path: Path) -> dict[str, Any]:
    """What the file says about itself."""
    about = describe(path)
    return {
        "width": about.get("columns"),
        "dtype": about.get("dtype"),
        "columns": about.get("feature_names"),
        "ids": about.get("ids"),
        "bytes": about["bytes"],
        "version": about.get("library"),
    }


def _text(value: Any) -> str:
    if value is None or value == {}:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{name}={choice}" for name, choice in value.items())
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
