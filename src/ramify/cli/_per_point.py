# SPDX-License-Identifier: BSD-3-Clause
"""_per_point.py: one text for each point of a tree, out of a file: a class, or a name."""

from pathlib import Path
from typing import Any

from ramify.cli import _models
from ramify.files import read_names
from ramify.hierarchy import Hierarchy


def per_point(
    tree: Hierarchy,
    file: Path,
    column: str | None,
    id_column: str | None,
    header: bool | None,
    *,
    what: str,
) -> list[str]:
    """The texts in order of arrival; by default those of a column that is called what they are."""
    found = read_names(file, column, id_column=id_column, header=header, usual=what)
    if found.ids is not None:
        return _by_id(tree, found.ids, found.names, file, what)
    n, rows, last = tree.n_leaves, len(found.names), int(tree.point_numbers.max())
    if tree.names is None and rows != n and n <= last < rows:  # of points that have left, too
        return [str(found.names[number]) for number in tree.point_numbers.tolist()]
    if rows != n:
        raise ValueError(f"{file} holds {rows:,} {what}s, and the tree {n:,} points")
    if tree.names is None or not _models.goes_by_number(tree.names):
        return [str(name) for name in found.names]
    return [str(found.names[row]) for row in tree.names]


def _by_id(tree: Hierarchy, ids: list[Any], names: list[Any], file: Path, what: str) -> list[str]:
    text_of = dict(zip(map(str, ids), map(str, names), strict=True))
    known = (tree.point_numbers if tree.names is None else tree.names).tolist()
    points = [str(name) for name in known]
    missing = next((point for point in points if point not in text_of), None)
    if missing is not None:
        raise ValueError(f"{file} has no {what} for point {missing!r}")
    return [text_of[point] for point in points]
