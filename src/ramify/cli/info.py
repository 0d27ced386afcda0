# SPDX-License-Identifier: BSD-3-Clause
"""info.py: `ramify info`: what is in a file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli import _folder_info
from ramify.cli import _options as options
from ramify.cli._choices import Algorithm
from ramify.cli._console import WrongCallError, print_facts, print_json, some_bytes, verb

NAME = "info"
EXAMPLES = (
    "ramify info tree.ramify --depth",
    "ramify info tree.ramify --json | jq .points",
    "ramify info trees/tickets --json | jq .bytes.log",
)

_CUTS = ("n_clusters", "distance_threshold", "min_size")  # say nothing about the tree
#: Lines of their own, if set.
_STAYING = {"window": None, "max_age": None, "duplicates": "keep", "max_leaves": None}


@verb(NAME)
def run(
    tree: Annotated[
        Path,
        typer.Argument(
            metavar="TREE|FOLDER",
            help="A tree that ramify fit saved, or the folder of one that ramify.open or ramify "
            "serve keeps, also while it is in use.",
        ),
    ],
    depth: Annotated[
        bool,
        typer.Option(
            "--depth",
            help="Load the tree, and say its depth and its height as well. Without, only the head "
            "of the file is read, however large it is.",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Say what a saved tree is, or one in a folder: algorithm, options, points, columns, size.

    Of a folder also how large its log and snapshots are, which operation was the last, what is
    still to be erased, and who uses it. Nothing is written.

    Where repeats are counted, the head of the file knows the number of leaves, and --depth
    the number of points.
    """
    if tree.is_dir():
        if depth:
            raise WrongCallError("--depth loads a tree, and is for files; leave it out")
        _folder_info.show(tree, json=json)
        return
    options.check_file(tree)
    facts = {"tree": str(tree), **_header(tree)}
    if depth:
        facts |= _shape(tree)
    if json:
        print_json(facts)
        return
    facts["bytes"] = f"{facts['bytes']:,} ({some_bytes(facts['bytes'])})"
    print_facts((name.replace("_", " "), _text(value)) for name, value in facts.items())


def _header(path: Path) -> dict[str, Any]:
    """What the file says about itself."""
    from ramify.saving import describe

    about = describe(path)
    if about["points"] == 0:
        raise ValueError(f"{path} holds a model without points")
    words = {word.replace("-", ""): word.value for word in Algorithm}
    chosen = about.get("parameters") or {}
    return {
        "algorithm": words.get((about.get("algorithm") or "").lower()),
        "options": {
            name: value for name, value in chosen.items() if name not in (*_CUTS, *_STAYING)
        },
        **_staying(chosen),
        _what(chosen): about["points"],
        "width": about.get("columns"),
        "dtype": about.get("dtype"),
        "columns": about.get("feature_names"),
        "ids": about.get("ids"),
        "bytes": about["bytes"],
        "version": about.get("library"),
    }


def _staying(chosen: dict[str, Any]) -> dict[str, Any]:
    """What a tree keeps of its points, where it does not keep all of them as they came."""
    found = {name: chosen.get(name, usual) for name, usual in _STAYING.items()}
    return {name: value for name, value in found.items() if value != _STAYING[name]}


def _shape(path: Path) -> dict[str, Any]:
    """What only the tree itself can say."""
    from ramify.cli import _models

    saved = _models.load(path)
    tree = saved.tree
    depths = tree.depths()
    weighted = tree.leaf_weights is not None
    return {
        **({} if saved.model is None else {"points": _models.n_points(saved.model)}),
        **({"weight": tree.weights[tree.root].item()} if weighted else {}),
        "depth": int(depths.max()),
        "mean_depth": float(depths.mean()),
        "root_height": float(tree.heights[-1]) if tree.n_leaves > 1 else 0.0,
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


def _what(options: dict[str, Any]) -> str:
    """What the head of a file counts: points, unless leaves may stand for several."""
    budget = options.get("max_leaves") is not None and "track_members" in options
    return "leaves" if budget or options.get("duplicates") == "count" else "points"
