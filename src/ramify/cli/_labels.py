# SPDX-License-Identifier: BSD-3-Clause
"""_labels.py: true classes of points, kept in a table beside a tree.

The tree never sees them, and its file does not hold them. ``tree.ramify`` has them in
``tree.ramify.labels.csv``, one line a point: its id, or its number, and its label.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ramify.files import open_table, read_names


def beside(tree: Path) -> Path:
    """Where the labels of a tree are kept.

    Examples
    --------
    >>> beside(Path("tree.ramify")).name
    'tree.ramify.labels.csv'
    """
    return tree.with_name(f"{tree.name}.labels.csv")


def keep(tree: Path, model: Any, labels: Sequence[Any]) -> Path:
    """Write the labels of all points."""
    ids = model.hierarchy().names
    path = beside(tree)
    with open_table(path, ["row" if ids is None else "id", "label"]) as table:
        table.write(range(len(labels)) if ids is None else ids, labels)
    return path


def kept(tree: Path, n: int) -> list[Any]:
    """The labels of a tree of n points."""
    path = beside(tree)
    if not path.exists():
        raise FileNotFoundError(f"no labels are kept beside {tree}: there is no file {path}")
    labels = read_names(path, "label", header=True).names
    if len(labels) != n:
        raise ValueError(f"{path} holds {len(labels):,} labels, and the tree {n:,} points")
    return labels
