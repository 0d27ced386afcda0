# SPDX-License-Identifier: BSD-3-Clause
"""_edges.py: the door for graphs: weights of pairs of points, checked, as whole numbers.

A weight says how alike two points are: above 0 and at most ``max_weight``; 0, or no edge, is
not alike at all. Weights are rounded once, here, to whole multiples of a *unit*, a power of two
near ``max_weight / 2**30``. From then on sums are exact, whatever their order, so that a tree
follows from the graph alone. Whole numbers up to ``2**30`` are not rounded at all.

    height = 1 - mean weight / max_weight      0: as alike as can be     1: no edge
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ramify.checks import number_above_zero, whole_number
from ramify.hierarchy import FloatArray
from ramify.ids import Id

_BITS = 30

#: As many points as the core can tell apart.
MOST_POINTS = 2**31 - 1


class Edges(NamedTuple):
    """A graph as the core takes it: pairs of points, and whole multiples of a unit."""

    n: int
    a: npt.NDArray[np.uint32]
    b: npt.NDArray[np.uint32]
    weight: npt.NDArray[np.uint64]
    share: float  #: of ``max_weight``, that one unit is

    def heights(self, means: FloatArray) -> FloatArray:
        """Heights of merges, from the mean weights between what they joined."""
        return 1.0 - means * self.share


def unit_of(max_weight: float) -> float:
    """What weights are whole multiples of.

    Examples
    --------
    >>> unit_of(1.0) == 2**-30, unit_of(15) == 2**-26
    (True, True)
    """
    mantissa, exponent = math.frexp(max_weight)
    return math.ldexp(1.0, exponent - (mantissa == 0.5) - _BITS)


def whole_weights(
    weights: object, max_weight: float, at: str = "weight {weight:g} (edge {edge})"
) -> npt.NDArray[np.uint64]:
    """Weights as multiples of the unit; those above 0 are at least one.

    Examples
    --------
    >>> whole_weights([0.0, 0.5, 1.0], 1.0).tolist() == [0, 2**29, 2**30]
    True
    """
    found = np.asarray(weights)
    if found.dtype.kind not in "biuf":
        raise TypeError(f"expected weights of edges as numbers, got {found.dtype}")
    found = found.astype(np.float64)
    wrong = np.flatnonzero(~((found >= 0) & (found <= max_weight)))
    if len(wrong) > 0:
        edge = int(wrong[0])
        weight = float(found[edge])
        where = at.format(weight=weight, edge=edge)
        if weight > max_weight and math.isfinite(weight):
            most = float(found[np.isfinite(found)].max())
            raise ValueError(
                f"{where} is above max_weight={max_weight:g}; give max_weight={most:g} or more, "
                f"or divide all weights by their largest"
            )
        raise ValueError(
            f"{where}: expected finite numbers from 0, where larger is more alike; "
            f"turn distances d into 1 - d or 1 / (1 + d)"
        )
    return np.maximum(np.rint(found / unit_of(max_weight)), found > 0).astype(np.uint64)


def of_matrix(graph: object, max_weight: float) -> Edges:
    """The graph of a square matrix, sparse or not.

    Examples
    --------
    >>> of_matrix([[0, 1], [0, 0]], 1.0).a
    array([0], dtype=uint32)
    """
    matrix: Any = graph if sparse.issparse(graph) else np.asarray(graph)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"graph: expected a square matrix of weights, got shape {matrix.shape}; rows of "
            f"numbers go in as fit(X), pairs of points as fit(edges=(i, j, weight))"
        )
    check_points(matrix.shape[0], "graph: expected a matrix of at least one row")
    rows = sparse.csr_array(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy()  # it may be the user's own
        rows.sum_duplicates()
    pairs = rows.tocoo(copy=False)
    a, b = pairs.coords
    whole = whole_weights(pairs.data, max_weight, "a weight of the graph, {weight:g},")
    return _edges(matrix.shape[0], a, b, whole, max_weight)


def of_pairs(edges: object, n_points: object, names: list[Id] | None, max_weight: float) -> Edges:
    """The graph of three arrays: one end, the other, and the weight of each edge.

    Examples
    --------
    >>> of_pairs(([0, 1], [2, 0], [0.5, 1.0]), None, None, 1.0).n
    3
    """
    a, b, weights = read_triple(edges)
    whole = whole_weights(weights, max_weight)
    if names is not None:
        a, b = (places_of(ends, names) for ends in (a, b))
        n = max(len(names), int(max(a.max(initial=-1), b.max(initial=-1))) + 1)
        if n > len(names):
            raise ValueError(f"edges: {n - 1} is no point; there are {len(names)} ids, from 0")
    else:
        a, b = (read_ends(ends) for ends in (a, b))
        n = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
    if n_points is not None:
        given = whole_number("n_points", n_points, most=MOST_POINTS)
        if given < n or (names is not None and given != n):
            raise ValueError(f"n_points={given}, but there are {n} points")
        n = given
    check_points(n, "edges: expected at least one edge, or n_points")
    return _edges(n, a, b, whole, max_weight)


def read_triple(edges: object) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Ends and weights of edges, of one length each."""
    columns = tuple(edges) if isinstance(edges, list | tuple) else ()
    if len(columns) != 3:
        raise TypeError(
            f"edges: expected three arrays (i, j, weight), got {type(edges).__name__}"
            + (f" of {len(columns)}" if columns else "")
        )
    a, b, weights = (np.asarray(column) for column in columns)
    if not a.ndim == b.ndim == weights.ndim == 1 or not len(a) == len(b) == len(weights):
        raise ValueError(
            f"edges: expected three arrays of one length (i, j, weight), got shapes "
            f"{a.shape}, {b.shape} and {weights.shape}"
        )
    return a, b, weights


def read_ends(ends: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Numbers of points, from 0."""
    if ends.dtype.kind not in "iu" and len(ends) > 0:
        hint = "; give ids= to name points by text" if ends.dtype.kind in "OU" else ""
        raise TypeError(f"edges: expected points as whole numbers, got {ends.dtype}{hint}")
    wrong = np.flatnonzero((ends < 0) | (ends >= MOST_POINTS))
    if len(wrong) > 0:
        raise ValueError(
            f"edges: {ends[wrong[0]]} (edge {wrong[0]}) is no point; they count from 0"
        )
    return ends.astype(np.int64)


def places_of(ends: npt.NDArray[Any], names: list[Id]) -> npt.NDArray[np.int64]:
    """Numbers of points that are called by their ids, or if these are texts by number."""
    if ends.dtype.kind in "iu" and isinstance(names[0], str):
        return read_ends(ends)
    place = {name: i for i, name in enumerate(names)}
    found = np.array([place.get(end, -1) for end in ends.tolist()], np.int64)
    wrong = np.flatnonzero(found < 0)
    if len(wrong) > 0:
        raise ValueError(f"edges: {ends[wrong[0]]} (edge {wrong[0]}) is none of the ids")
    return found


def check_points(n: int, expected: str) -> None:
    """Refuse a graph of nothing, or of more than the core can number."""
    if not 1 <= n <= MOST_POINTS:
        raise ValueError(f"{expected}, got {n} points")


def check_max_weight(found: object) -> float:
    """The largest weight that an edge may have."""
    return number_above_zero("max_weight", found)


def _edges(
    n: int, a: npt.NDArray[Any], b: npt.NDArray[Any], whole: npt.NDArray[np.uint64], most: float
) -> Edges:
    a, b = (np.ascontiguousarray(one, np.uint32) for one in (a, b))
    return Edges(n, a, b, whole, unit_of(most) / most)
