# SPDX-License-Identifier: BSD-3-Clause
"""_neighbor_top.py: a tree with a top by the neighbours that its subtrees have in one another.

    m     subtrees: what is left if the m - 1 highest merges are undone
    mean  of two subtrees: the weight of the edges between them, for each pair of their points

Merges of a tree are judged by means and spreads. Groups that wind, or differ in width, are better
told by who is next to whom. So the subtrees are merged anew by average linkage of a graph of the
leaves, exactly, as ``GraphHAC`` merges points (core/graph/graph_hac.hpp). A height of the new top
is 2 minus the mean as a share of the largest that a pair can have, from 1 to 2. Below, heights keep
their order, as shares of twice the highest of them: from 0 to 1/2.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.hierarchy._labels import by_first_point
from ramify.hierarchy._modularity import Edges
from ramify.hierarchy._order import canonical
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import FloatArray, IntArray

#: One subtree for so many leaves, unless told; and at least and at most so many.
_LEAVES, FEWEST, MOST = 5, 24, 1000
_Ends: TypeAlias = npt.NDArray[np.uint32]
_Weights: TypeAlias = npt.NDArray[np.uint64]
#: Weights that are no whole numbers are rounded to this share of the largest.
_UNIT = 2.0**-30


def with_neighbor_top(tree: Tree, edges: Edges, m: int | None) -> tuple[IntArray, FloatArray]:
    """Children and heights, in canonical order. O(n log n + e log e + m² log m) for e edges.

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.0], [2.5], [4.5]]).hierarchy()
    >>> with_neighbor_top(tree, Edges(np.array([[0, 2], [1, 3], [0, 1]]), np.array([2, 2, 1])), 4)
    (array([[0, 2],
           [1, 3],
           [4, 5]]), array([1.5   , 1.5   , 1.9375]))
    """
    n = tree.n_leaves
    wanted = min(max(n // _LEAVES, FEWEST), MOST) if m is None else m
    first = tree.n_nodes - min(wanted, n) + 1  # node of the lowest merge of the old top
    labels, tops = _below(tree, first)
    most = float(edges.weights.max(initial=0.0))
    whole = bool((edges.weights % 1 == 0).all()) and most * _UNIT <= 1
    unit = 1.0 if whole or most == 0 else most * _UNIT
    merged, means = _core.graph_hac_of_clusters(
        *_between(labels[edges.ends], np.rint(edges.weights / unit), len(tops)),
        tree.weights[tops].astype(np.uint32),
    )
    top = 2.0 - means * unit / (2 * most) if most > 0 else np.full(len(means), 2.0)
    low = tree.monotone_heights[: first - n]
    low = low - low.min(initial=0.0)  # of the dot product they may be negative
    low = low / (2 * low.max() or 1.0) if len(low) else low
    nodes = np.concatenate([tops, first + np.arange(len(merged))])
    return canonical(np.vstack([tree.children[: first - n], nodes[merged]]), np.append(low, top))


def _below(tree: Tree, first: int) -> tuple[IntArray, IntArray]:
    """In which of the subtrees below this merge each leaf is, and these by their first leaves."""
    children = tree.children[first - tree.n_leaves :].ravel()
    tops = children[children < first] if len(children) else np.array([tree.root])
    leaves, start = tree._leaf_ordering()
    tops = tops[np.argsort(start[tops])]
    of = np.empty(tree.n_leaves, dtype=np.int64)
    of[leaves] = np.repeat(np.arange(len(tops)), tree.sizes[tops])
    labels, order = by_first_point(of, len(tops))
    return labels, tops[order]


def _between(ends: IntArray, weights: FloatArray, m: int) -> tuple[_Ends, _Ends, _Weights]:
    """Pairs of subtrees, each once, and the weight of all edges between them."""
    low, high = ends.min(axis=1), ends.max(axis=1)
    apart = low != high
    pairs, which = np.unique(low[apart] * m + high[apart], return_inverse=True)
    sums = np.zeros(len(pairs), np.uint64)
    np.add.at(sums, which, weights[apart].astype(np.uint64))
    return (pairs // m).astype(np.uint32), (pairs % m).astype(np.uint32), sums
