# SPDX-License-Identifier: BSD-3-Clause
"""changes.py: `ramify changes`: what became of a tree, between two files of it or since then."""

from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli import _options as options
from ramify.cli._address import open_tree
from ramify.cli._console import WrongCallError, note, print_facts, print_json, verb

NAME = "changes"
EXAMPLES = (
    "ramify changes monday.ramify tuesday.ramify",
    "ramify changes monday.ramify tuesday.ramify -o changes.csv",
    "ramify changes monday.ramify tuesday.ramify -k 150 -o to-summarise.csv",
    "ramify changes ./trees/tickets --since 2026-11-18T09:00",
    "ramify changes http://127.0.0.1:8750/v1/trees/tickets --since 5200 -k 150",
)

_POINTS = ("inserted", "forgotten")
_HEAD = ["change", "kind", "id", "into"]
_HEAD_OF_CLUSTERS = ["label", "node_id", "stable_id", "size", "first", "name"]
_NODES = ("born", "retired", "grown", "shrunk", "rewired")


@verb(NAME)
def run(
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD|FOLDER|URL",
            help="The tree as it was: a file. With --since, a tree's folder, or the address of one "
            "that a server keeps.",
        ),
    ],
    new: Annotated[
        Path | None, typer.Argument(metavar="[NEW]", help="The same tree later: a file.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION|TIME",
            help="Of a folder or an address: since this version, or the last one of this time, "
            "such as 2026-11-18T09:00; without a zone it is of this machine's.",
        ),
    ] = None,
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
    """Say what became of a tree between two files of it, or in its folder since then.

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
    about: dict[str, Any]
    if since is not None:
        if new is not None:
            raise WrongCallError("--since is of a folder or an address alone; leave out NEW")
        facts, head, columns = _since(old, _moment(since), clusters)
        about = {"tree": old}
    elif new is None:
        raise WrongCallError("give the same tree later as a second file, or --since")
    else:
        for tree in (Path(old), new):
            keep_tree(out, tree)
        then, now = _models.load_model(Path(old)), _models.load_model(new)
        found = changes_between(then, now)
        facts = _counts(found)
        about = {"old": old, "new": str(new)}
        if clusters is not None:
            head, columns = _dirty(then, now, clusters)
            facts = {"clusters": clusters, "changed": len(columns[0])}
        else:
            head, columns = _HEAD, _lines(found, {**_called(then), **_called(now)})
    if json:
        print_json({**about, **facts})
    elif out is None:
        print_facts((name, f"{value:,}") for name, value in facts.items())
    else:
        with open_table(out, head, format=kind, quote_formulas=quote_formulas) as table:
            table.write(*columns)
        note(f"{out}: {len(columns[0]):,} lines", quiet=quiet)


def _moment(text: str) -> int | datetime:
    """A version, or a time."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise WrongCallError(
            f"--since {text}: expected a version, or a time such as 2026-11-18T09:00"
        ) from None


def _since(
    given: str, since: int | datetime, clusters: int | None
) -> tuple[dict[str, int], list[str], list[Any]]:
    """Facts, names of columns, and columns, of a tree in its folder or of a server."""
    with ExitStack() as stack:
        tree = open_tree(given, stack)
        numbers = tree.point_numbers_.tolist()
        called = dict(zip(numbers, numbers if tree.ids_ is None else tree.ids_, strict=True))
        if clusters is None:
            found = tree.past.changes(since)
            return _counts(found), _HEAD, _lines(found, called)
        dirty = tree.past.dirty(since, n_clusters=clusters)
        names = tree.clusters(n_clusters=clusters).names or {}
        labels = dirty.labels.tolist()
        columns = [
            labels,
            dirty.node_ids.tolist(),
            [None if one < 0 else one for one in dirty.stable_ids.tolist()],
            dirty.sizes.tolist(),
            [str(called.get(one, one)) for one in dirty.first_points.tolist()],
            [(names[label] if names else None) or "" for label in labels],
        ]
        return {"clusters": clusters, "changed": len(labels)}, _HEAD_OF_CLUSTERS, columns


def _counts(found: Any) -> dict[str, int]:
    names = (*_POINTS, "absorbed", *_NODES, "moved")
    return {"since": found.since, "version": found.version} | {
        name: len(getattr(found, name)) for name in names
    }


def _lines(found: Any, called: dict[int, Any]) -> list[list[Any]]:
    """Change, kind, id and into, a line each; a point that nobody knows any more by its number."""
    lines: list[tuple[Any, ...]] = []
    for name in _POINTS:
        lines += [(name, "point", called.get(i, i), "") for i in getattr(found, name).tolist()]
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
    return _HEAD_OF_CLUSTERS, columns


def _groups(model: Any, k: int) -> list[list[int]]:
    """The numbers of the points of each cluster of a cut."""
    from ramify.cli import _models

    groups: list[list[int]] = [[] for _ in range(k)]
    labels = model.cut(n_clusters=k).tolist()
    for number, label in zip(_models.point_numbers(model), labels, strict=True):
        groups[label].append(number)
    return groups
