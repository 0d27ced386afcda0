# SPDX-License-Identifier: BSD-3-Clause
"""export.py: `ramify export`: a tree in the formats of other programs."""

import json as json_module
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.cli import _options as options
from ramify.cli._choices import one_of
from ramify.cli._console import WrongCallError, note, print_json, some_bytes, verb

if TYPE_CHECKING:  # slow to load, and help does not need it
    from ramify.hierarchy import Hierarchy

NAME = "export"
EXAMPLES = (
    "ramify export tree.ramify --to newick -o tree.nwk",
    "ramify export tree.ramify --to linkage -o Z.npy",
    "ramify export tree.ramify --to dot --depth 5 | dot -Tsvg -o top.svg",
)


class Target(StrEnum):
    """Formats of trees."""

    newick = "newick"
    linkage = "linkage"
    graphml = "graphml"
    dot = "dot"
    json = "json"
    parquet = "parquet"


#: What a file's ending says, where it says anything.
_ENDINGS = {
    ".nwk": Target.newick,
    ".newick": Target.newick,
    ".tree": Target.newick,
    ".npy": Target.linkage,
    ".graphml": Target.graphml,
    ".dot": Target.dot,
    ".gv": Target.dot,
    ".json": Target.json,
    ".parquet": Target.parquet,
}


@verb(NAME)
def run(
    tree: options.TreeFile,
    to: Annotated[
        Target | None,
        typer.Option(
            metavar=one_of(Target),
            help="linkage is SciPy's matrix as .npy; json, nested; parquet, a table of nodes. "
            "By default told from the file's name.",
        ),
    ] = None,
    out: options.Out = None,
    depth: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="LEVELS", help="Of dot and json: levels below the root; 10 by default."
        ),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Write a tree for other programs.

    newick for phylogenetics, linkage for SciPy, graphml for graph programs, dot for
    Graphviz, json for your own, parquet for data frames (node, parent, height, size).
    """
    from ramify.cli import _models
    from ramify.cli._outputs import keep_tree
    from ramify.files import check_writable, whole_file

    kind = to or (None if out is None else _ENDINGS.get(out.suffix.lower()))
    if kind is None:
        raise WrongCallError(f"give --to, one of {', '.join(Target)}")
    if depth is not None and kind not in (Target.dot, Target.json):
        raise WrongCallError(f"--depth goes with dot and json; {kind} has the whole tree")
    if json and out is None:
        raise WrongCallError("--json needs -o: the tree is on standard output")
    if out is None and kind in _FILES:
        raise WrongCallError(f"{kind} is not text: write it to a file with -o")
    if out is not None:
        check_writable(out)
    keep_tree(out, tree)
    hierarchy = _models.load(tree).named()
    if out is None:
        sys.stdout.write(_TEXTS[kind](hierarchy, depth))
        return
    with whole_file(out) as lent:
        if kind in _FILES:
            _FILES[kind](hierarchy, lent)
        else:
            lent.write_text(_TEXTS[kind](hierarchy, depth), encoding="utf-8")
    size = out.stat().st_size
    if json:
        print_json({"file": str(out), "format": kind.value, "bytes": size})
    else:
        note(f"{out}: {hierarchy.n_leaves:,} points, {some_bytes(size)}", quiet=quiet)


def _newick(tree: "Hierarchy", depth: int | None) -> str:
    return tree.to_newick() + "\n"


def _dot(tree: "Hierarchy", depth: int | None) -> str:
    return tree.to_dot() if depth is None else tree.to_dot(max_depth=depth)


def _json(tree: "Hierarchy", depth: int | None) -> str:
    nested = tree.to_dict() if depth is None else tree.to_dict(max_depth=depth)
    try:
        return json_module.dumps(nested, ensure_ascii=False) + "\n"
    except RecursionError:
        raise ValueError(
            f"json cannot be nested {depth:,} levels deep; give a smaller --depth"
        ) from None


def _linkage(tree: "Hierarchy", path: Path) -> None:
    import numpy as np

    with path.open("wb") as file:  # np.save would append its own ending
        np.save(file, tree.to_linkage())


def _graphml(tree: "Hierarchy", path: Path) -> None:
    tree.to_graphml(path)


def _parquet(tree: "Hierarchy", path: Path) -> None:
    from ramify.files import require_pyarrow

    require_pyarrow("writing parquet")
    import pyarrow.parquet as pq

    pq.write_table(tree.to_arrow(), path)


_TEXTS: dict[Target, Callable[["Hierarchy", int | None], str]] = {
    Target.newick: _newick,
    Target.dot: _dot,
    Target.json: _json,
}
_FILES: dict[Target, Callable[["Hierarchy", Path], Any]] = {
    Target.linkage: _linkage,
    Target.graphml: _graphml,
    Target.parquet: _parquet,
}
