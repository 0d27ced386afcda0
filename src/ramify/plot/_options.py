# SPDX-License-Identifier: BSD-3-Clause
"""_options.py: what all pictures take, checked once: a tree, a cut, names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify.checks import whole_number
from ramify.hierarchy import Hierarchy
from ramify.hierarchy.seam import entries_for
from ramify.palette import cluster_colors

#: What ``names=`` takes: anything that ``str`` can write, one per point; twins are fine.
Names: TypeAlias = Sequence[object] | NDArray[Any]

#: Longer names are cut in the middle of a picture; nobody reads on there.
LONGEST_NAME = 60


def check_tree(tree: object) -> Hierarchy:
    """Refuse anything but a Hierarchy."""
    if not isinstance(tree, Hierarchy):
        raise TypeError(
            f"tree: expected a Hierarchy, such as model.hierarchy(), got {type(tree).__name__}"
        )
    return tree


def check_colors(
    k: object, colors: Sequence[str] | None, most: int, why: str
) -> Sequence[str] | None:
    """A colour for each cluster of the cut, or None where no cut is wanted."""
    if k is None and colors is None:
        return None
    if colors is None:
        return cluster_colors(whole_number("k", k, most=most, why=why))
    if not 1 <= len(colors) <= most:
        raise ValueError(f"colors: expected 1 to {most:,}, {why}, got {len(colors)}")
    if k is not None and whole_number("k", k, most=most, why=why) != len(colors):
        raise ValueError(f"expected {k} colors, one per cluster, got {len(colors)}")
    return colors


def check_names(tree: Hierarchy, names: Names | None) -> list[object] | None:
    """A name for each leaf: those given, or what the tree calls them, or None."""
    if names is None:
        called = tree._called()
        return None if called is None else called.tolist()
    if isinstance(names, str):
        raise TypeError("names: expected one name for each point, got one str")
    given = list(names)  # by place, also where names[i] would look up a label
    entries = entries_for("names", len(given), tree.point_numbers)
    return given if entries is None else [given[entry] for entry in entries.tolist()]


def check_points(tree: Hierarchy, X: ArrayLike) -> NDArray[Any]:
    """The points as an array of numbers, one row per leaf."""
    rows = np.asarray(X)
    if rows.dtype.kind not in "iufb":
        raise TypeError(f"X: expected an array of numbers, got {rows.dtype}")
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ValueError(f"X: expected shape (n, d), got {rows.shape}")
    if not np.isfinite(rows).all():
        row = int(np.argmin(np.isfinite(rows).all(axis=1)))
        raise ValueError(f"X: expected finite numbers, found NaN or infinity in row {row}")
    entries = entries_for("X", len(rows), tree.point_numbers)
    return rows if entries is None else rows[entries]


def short(name: object, longest: int = LONGEST_NAME) -> str:
    """A name as one line of bounded length, whatever it was.

    Examples
    --------
    >>> short("two\\nlines"), short("too long", 5)
    ('two lines', 'too …')
    """
    text = " ".join(str(name).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"
