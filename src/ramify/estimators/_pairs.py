# SPDX-License-Identifier: BSD-3-Clause
"""_pairs.py: pairs of points as people have them: a table of scores, with ids of theirs.

A table is a frame of pandas or polars, an Arrow table, or a mapping of columns. Its points
are called what the table calls them, and are numbered in the order in which they are named.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.frames import open_arrow
from ramify.ids import Id, Ids

Column = npt.NDArray[Any]


class Pairs(NamedTuple):
    """Ends and weights of edges as they came, and whether the ends are ids in any case."""

    triple: object
    named: bool


def read_pairs(edges: object, columns: object) -> Pairs:
    """Three columns of a table, or what is no table as it is.

    Examples
    --------
    >>> table = {"x": ["a"], "y": ["b"], "score": [0.5], "note": ["?"]}
    >>> read_pairs(table, ("x", "y", "score")).triple
    (array(['a'], dtype='<U1'), array(['b'], dtype='<U1'), array([0.5]))
    """
    table = open_arrow(edges)
    names = _column_names(table)
    if names is None:
        if columns is not None:
            raise TypeError(
                f"columns go with edges= of a table (pandas, polars, Arrow, or a dict of "
                f"columns), got {type(edges).__name__}"
            )
        return Pairs(edges, False)
    triple = tuple(_column(table, name) for name in _wanted(names, columns))
    return Pairs(triple, True)


def name_points(a: Column, b: Column) -> tuple[list[Id], Column, Column]:
    """Every id once, in the order in which pairs name them, and both ends by number.

    Examples
    --------
    >>> name_points(np.array(["b", "a"]), np.array(["c", "b"]))
    (['b', 'c', 'a'], array([0, 2]), array([1, 0]))
    """
    ends = np.stack([a, b], axis=1).ravel()
    if len(ends) == 0:
        return [], a, b
    if ends.dtype.kind in "iu":
        unique, first, places = np.unique(ends, return_index=True, return_inverse=True)
        order = np.argsort(first)
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        names: list[Any] = unique[order].tolist()
        numbers = number[places]
    else:
        flat = _of_one_kind(ends.tolist())
        names = list(dict.fromkeys(flat))
        place = dict(zip(names, range(len(names)), strict=True))
        numbers = np.fromiter(map(place.__getitem__, flat), np.int64, len(flat))
    return Ids().read(names, len(names)), numbers[0::2], numbers[1::2]


def _of_one_kind(ends: list[Any]) -> list[Any]:
    kind = str if isinstance(ends[0], str) else int
    for i, end in enumerate(ends):
        if not isinstance(end, kind):
            beside = f" beside {ends[0]!r}" if isinstance(ends[0], str | int) else ""
            raise TypeError(
                f"edges: expected points that are all strings or all integers, got "
                f"{end!r}{beside} (edge {i // 2})"
            )
    return ends


def _column_names(table: object) -> list[Any] | None:
    """None for what is no table."""
    if isinstance(table, Mapping):
        return list(table)
    if isinstance(table, list | tuple) or not hasattr(table, "__getitem__"):
        return None
    if hasattr(table, "collect"):
        raise TypeError("edges: a lazy frame holds no pairs yet; call its collect() first")
    names = getattr(table, "column_names", None)  # of pyarrow, whose `columns` are the data
    if names is None:
        names = getattr(table, "columns", None)
    return None if names is None else list(names)


def _wanted(names: list[Any], columns: object) -> list[Any]:
    there = ", ".join(map(repr, names))
    if columns is None:
        if len(names) == 3:
            return names
        raise ValueError(
            f"edges: a table of {len(names)} columns ({there}); say which are the two ends and "
            f"the weight: columns=(id, id, weight)"
        )
    wanted = list(columns) if isinstance(columns, list | tuple) else []
    if len(wanted) != 3:
        raise TypeError(f"columns={columns!r}: expected three names (id, id, weight)")
    for name in wanted:
        if name not in names:
            raise ValueError(f"columns: there is no {name!r}; there are {there}")
    return wanted


def _column(table: Any, name: object) -> Column:
    column = table[name]
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
