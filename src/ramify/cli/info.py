# SPDX-License-Identifier: BSD-3-Clause
"""info.py: `ramify info`: what is in a file."""

from typing import Any

from ramify.cli import _models
from ramify.cli import _options as options
from ramify.cli._console import print_facts, print_json, some_bytes, verb

NAME = "info"
EXAMPLES = ("ramify info tree.ramify", "ramify info tree.ramify --json | jq .points")


@verb(NAME)
def run(tree: options.TreeFile, json: options.Json = False) -> None:
    """Say what a saved tree is: algorithm, options, points, depth, height, size."""
    model = _models.load(tree)
    facts = _facts(model)
    facts["bytes"] = tree.stat().st_size
    facts["version"] = _models.version_in(tree)
    if json:
        print_json({"tree": str(tree), **facts})
        return
    shown = {"tree": str(tree), **facts}
    shown["bytes"] = f"{facts['bytes']:,} ({some_bytes(facts['bytes'])})"
    print_facts((name.replace("_", " "), _text(value)) for name, value in shown.items())


def _facts(model: Any) -> dict[str, Any]:
    hierarchy = model.hierarchy()
    depths = hierarchy.depths()
    cuts = ("n_clusters", "distance_threshold")
    ids = _models.ids_of(model)
    names = getattr(model, "feature_names_in_", None)
    return {
        "algorithm": _models.algorithm_of(model),
        "options": {k: v for k, v in model.get_params().items() if k not in cuts},
        "points": len(model),
        "width": model.n_features_in_,
        "columns": None if names is None else [str(name) for name in names],
        "dtype": str(model.points().dtype),
        "ids": ids is not None,
        "depth": int(depths.max()),
        "mean_depth": float(depths.mean()),
        "root_height": float(hierarchy.heights[-1]) if len(model) > 1 else 0.0,
    }


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, dict):
        return ", ".join(f"{name}={choice}" for name, choice in value.items())
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
