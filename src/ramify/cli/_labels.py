# SPDX-License-Identifier: BSD-3-Clause
"""_labels.py: true classes of points, kept in a table beside a tree.

The tree never sees them, and its file does not hold them. ``tree.ramify`` has them in
``tree.ramify.labels.csv``, one line a point: its id, or its number, and its label.

A file of that name may be anybody's. So the head of ours has a third cell, the *mark*:
the digest of the points that the labels belong to, and the column that they came from.
Only a table with a mark is ever replaced or removed, and only one whose mark fits its
tree is believed. A table of two columns without a mark is one of an older version, or
of a user who wrote it: it is read, and left alone.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ramify import archive
from ramify.files import ReadOptions, open_rows, open_table, read_names

_MARK = re.compile(r"ramify labels of ([0-9a-f]{64}) from (.*)", re.DOTALL)
_OLD_HEADS = (("row", "label"), ("id", "label"))
_POINTS = ("points", "ids", "ids_text", "ids_ends")  # arrays of a tree's file


class Beside(NamedTuple):
    """The table beside a tree."""

    path: Path
    points: str | None = None  # the digest of its mark
    column: str | None = None  # where its labels came from
    is_old: bool = False  # labels without a mark

    @property
    def is_ours(self) -> bool:
        """Whether we wrote it, and may write it anew."""
        return self.points is not None


def beside(tree: Path) -> Path:
    """Where the labels of a tree are kept.

    Examples
    --------
    >>> beside(Path("tree.ramify")).name
    'tree.ramify.labels.csv'
    """
    return tree.with_name(f"{tree.name}.labels.csv")


def look(tree: Path) -> Beside | None:
    """What there is in the place of a tree's labels; None for nothing."""
    path = beside(tree)
    if not path.exists():
        return None
    try:
        with open_rows(path, ReadOptions(header=True, features=False), format="csv") as source:
            head = source.columns
    except (ValueError, OSError):
        return Beside(path)  # no table at all
    mark = _MARK.fullmatch(head[-1]) if len(head) == 3 else None
    if mark is not None:
        return Beside(path, mark[1], mark[2])
    return Beside(path, is_old=head in _OLD_HEADS)


def check_place(tree: Path, *, labelled: bool) -> None:
    """Refuse a new tree whose place of labels holds something that is not ours."""
    found = look(tree)
    if found is None or found.is_ours:
        return
    if labelled:
        raise ValueError(
            f"the labels of {tree} would be kept in {found.path}, which is there and was not "
            f"written by ramify for a tree; move it away, or choose another name after -o"
        )
    if found.is_old:
        raise ValueError(
            f"{found.path} would be taken for the labels of {tree}, which has none; move it "
            f"away, or choose another name after -o"
        )


def check_text(names: Any, labels: Sequence[Any]) -> None:
    """Refuse what no table can hold, before the tree is saved and not after."""
    for value in (*([] if names is None else names), *labels):
        if isinstance(value, str):
            value.encode()


def keep(tree: Path, model: Any, labels: Sequence[Any], column: str) -> None:
    """Write the labels of all points of a tree that has been saved."""
    ids = model.hierarchy().names
    mark = f"ramify labels of {points_of(tree)} from {column}"
    with open_table(beside(tree), ["row" if ids is None else "id", "label", mark]) as table:
        rows = model.hierarchy().point_numbers if ids is None else ids
        table.write(rows, labels, [None] * len(labels))


def remove(tree: Path) -> None:
    """Remove the labels of an older tree of that name, if they are ours."""
    found = look(tree)
    if found is not None and found.is_ours:
        found.path.unlink()


def points_of(tree: Path) -> str | None:
    """A digest of the points in a file and of their ids, in order; None if it holds none.

    Another tree of the same points has the same labels.
    """
    digests = archive.read_content(tree).get("sha256")
    if not isinstance(digests, dict) or "points" not in digests:
        return None
    text = json.dumps([digests.get(name) for name in _POINTS])
    return hashlib.sha256(text.encode()).hexdigest()


def belongs(found: Beside, tree: Path, n: int) -> bool:
    """Whether labels are those of the points that a tree has now."""
    if found.is_ours:
        return found.points == points_of(tree)
    return found.is_old and len(_read(found.path)) == n


def kept(tree: Path, n: int) -> list[Any]:
    """The labels of a tree of n points."""
    found = look(tree)
    if found is None:
        raise FileNotFoundError(
            f"no labels are kept beside {tree}: there is no file {beside(tree)}"
        )
    if found.is_ours and not belongs(found, tree, n):
        raise ValueError(
            f"{found.path} holds labels of other points than {tree}, which was changed without "
            f"them; move it away"
        )
    labels = _read(found.path)
    if len(labels) != n:
        raise ValueError(f"{found.path} holds {len(labels):,} labels, and the tree {n:,} points")
    return labels


def _read(path: Path) -> list[Any]:
    return read_names(path, "label", header=True, format="csv").names
