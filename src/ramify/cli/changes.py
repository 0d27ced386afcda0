# SPDX-License-Identifier: BSD-3-Clause
"""changes.py: `ramify changes`: what became of a tree between two files of it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli import _options as options
from ramify.cli._console import WrongCallError, note, print_facts, print_json, verb

NAME = "changes"
EXAMPLES = (
    "ramify changes monday.ramify tuesday.ramify",
    "ramify changes monday.ramify tuesday.ramify -o changes.csv",
    "ramify changes monday.ramify tuesday.ramify -k 150 -o to-summarise.csv",
)

_POINTS = ("inserted", "forgotten")
_NODES = ("born", "retired", "grown", "shrunk", "rewired")


@verb(NAME)
def run(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The tree as it was: a file.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The same tree later.")],
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters",
            "-k",
            min=1,
            metavar="NUMBER",
            help="Only the clusters, of so many, whose points are not those of any cluster then.",
        ),
    ] = None,
    out: options.Out = None,
    to: options.OutFormat = None,
    quote_formulas: options.QuoteFormulas = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Say what became of a tree between two files of it: points that came and went, nodes.

    Without -o, how many there are of each; with -o, a table with a line for each: change,
    kind (point or node) and id, that of a leaf which a point has joined in into. With -k, a
    line for each cluster that is not what it was: label, node_id, stable_id, size, first, name.
    """
    from ramify.cli import _models
    from ramify.cli._outputs import keep_tree
    from ramify.estimators.seam import changes_between
    from ramify.files import open_table

    kind = options.out_format(out, to, quote_formulas=quote_formulas)
    if json and out is not None:
        raise WrongCallError("--json prints the counts; leave out -o")
    for tree in (old, new):
        keep_tree(out, tree)
    then, now = _models.load_model(old), _models.load_model(new)
    found = changes_between(then, now)
    facts = _counts(found)
    if clusters is not None:
        head, columns = _dirty(then, now, clusters)
        facts = {"clusters": clusters, "changed": len(columns[0])}
    else:
        head, columns = ["change", "kind", "id", "into"], _lines(found, then, now)
    if json:
        print_json({"old": str(old), "new": str(new), **facts})
    elif out is None:
        print_facts((name, f"{value:,}") for name, value in facts.items())
    else:
        with open_table(out, head, format=kind, quote_formulas=quote_formulas) as table:
            table.write(*columns)
        note(f"{out}: {len(columns[0]):,} lines", quiet=quiet)


def _counts(found: Any) -> dict[str, int]:
    names = (*_POINTS, "absorbed", *_NODES, "moved")
    return {"since": found.since, "version": found.version} | {
        name: len(getattr(found, name)) for name in names
    }


def _lines(found: Any, then: Any, now: Any) -> list[list[Any]]:
    """Change, kind, id and into, a line each."""
    called = {**_called(then), **_called(now)}
    lines: list[tuple[Any, ...]] = []
    for name in _POINTS:
        lines += [(name, "point", called[i], "") for i in getattr(found, name).tolist()]
    for one, leaf in found.absorbed.tolist():
        lines.append(("absorbed", "point", called.get(one, one), called.get(leaf, leaf)))
    for name in _NODES:
        lines += [(name, "node", i, "") for i in getattr(found, name).tolist()]
    for i in found.moved.tolist():
        point = ("point", called.get(-1 - i, -1 - i)) if i < 0 else ("node", i)
        lines.append(("moved", *point, ""))
    return [[str(line[column]) for line in lines] for column in range(4)]


def _called(model: Any) -> dict[int, Any]:
    """What users call the points, by number."""
    from ramify.cli import _models

    numbers, ids = _models.point_numbers(model), _models.ids(model)
    called = dict(zip(numbers, numbers if ids is None else ids.tolist(), strict=True))
    if len(model) == 0:
        return called
    tree = model.hierarchy()  # a leaf may have begun with a point that has left
    leaves = zip(tree.leaf_numbers.tolist(), tree.point_numbers.tolist(), strict=True)
    return {leaf: called[point] for leaf, point in leaves} | called


def _dirty(then: Any, now: Any, k: int) -> tuple[list[str], list[Any]]:
    """The clusters of now that were no cluster then, point for point."""
    before = {frozenset(points) for points in _groups(then, min(k, len(then)))}
    groups = _groups(now, k)
    labels = [i for i, points in enumerate(groups) if frozenset(points) not in before]
    found = now.clusters(n_clusters=k)
    called = _called(now)
    names = found.names or [None] * len(groups)
    columns = [
        labels,
        found.node_ids[labels].tolist(),
        [found[i].stable_id for i in labels],
        found.sizes[labels].tolist(),
        [str(called.get(i, i)) for i in found.first_points[labels].tolist()],
        [names[i] or "" for i in labels],
    ]
    return ["label", "node_id", "stable_id", "size", "first", "name"], columns


def _groups(model: Any, k: int) -> list[list[int]]:
    """The numbers of the points of each cluster of a cut."""
    from ramify.cli import _models

    groups: list[list[int]] = [[] for _ in range(k)]
    labels = model.cut(n_clusters=k).tolist()
    for number, label in zip(_models.point_numbers(model), labels, strict=True):
        groups[label].append(number)
    return groups
