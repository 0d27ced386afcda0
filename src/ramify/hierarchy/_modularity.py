# SPDX-License-Identifier: BSD-3-Clause
"""_modularity.py: the cut of a tree that keeps near neighbours together best.

    modularity  of a cut: the share of a graph's edges whose ends are in one cluster, less
                ``resolution`` times the share that chance would put there, given how many
                edges each leaf has (Newman and Girvan, 2004)

    steadiness  of a resolution: the share of the pairs of leaves that are in one cluster there or
                at twice the resolution, that are so at both; and the same for half of it

Modularity is a sum over clusters, so that the best of all cuts of a tree is found exactly, in one
pass (core/tree/modularity.hpp). On graphs without a tree the best clusters are hard to find, and
programs try what seems good. Where groups are real, the best cut is about the same over a range of
resolutions, and in trees of either linkage; so the steadiest one is taken unless one is given:
`python -m benchmarks.counting`.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import number, whole_number
from ramify.hierarchy._rows import Rows
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import FloatArray, IntArray, own

#: How many neighbours each row is joined to, unless told.
N_NEIGHBORS = 10
#: What is looked at where no resolution is given: a quarter to 4, with half and double of each.
_DOUBLE = 4
_RESOLUTIONS = tuple(2.0 ** (i / _DOUBLE) for i in range(-3 * _DOUBLE, 3 * _DOUBLE + 1))


class Edges(NamedTuple):
    """A graph of the leaves of a tree."""

    ends: IntArray  #: of shape (m, 2): places
    weights: FloatArray  #: of shape (m,)


class BestCut(NamedTuple):
    """A cut as nodes of a tree."""

    nodes: IntArray  #: ascending
    modularity: float


def best_by_modularity(tree: Tree, edges: Edges, resolution: object = None) -> BestCut:
    """The cut of the highest modularity, of all there are; of equal ones the coarser.

    O(n + m log n) for m edges, on a chain, too. Without a resolution it is the steadiest one
    of 17, of equal ones the smallest.

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0], [6.5]]).hierarchy()
    >>> best_by_modularity(tree, Edges(np.array([[0, 1], [2, 3]]), np.ones(2)), 1.0)
    BestCut(nodes=array([4, 5]), modularity=0.5)
    """
    price = read_resolution(resolution)
    return steadiest([tree], edges).cuts[0] if price is None else _best(tree, edges, price)


class Steadiest(NamedTuple):
    """The cuts of one or more trees at the resolution that matters least."""

    cuts: list[BestCut]  #: one of each tree
    labels: list[IntArray]  #: of the leaves, numbered from left to right
    coarser: list[int]  #: how many clusters there are at half the resolution
    finer: list[int]  #: and at twice the resolution
    likeness: float  #: mean of what counts, from 0 to 1


def steadiest(trees: Sequence[Tree], edges: Edges) -> Steadiest:
    """The best cuts of trees over the same leaves where they are steadiest, and alike.

    Of each tree its steadiness at half and at twice the resolution count, and of each pair of
    trees, twice, how alike their cuts are. Resolutions at which a tree is one cluster do not count.

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> X = np.array([[0.0], [1.0], [2.0], [20.0], [21.0], [22.0]])
    >>> trees = [ramify.HAC(linkage=linkage).fit(X).hierarchy() for linkage in ("average", "ward")]
    >>> found = steadiest(trees, edges_between(trees[0], X, 2))
    >>> [cut.nodes.tolist() for cut in found.cuts], found.finer, found.likeness
    ([[8, 9], [8, 9]], [2, 2], 1.0)
    """
    n = trees[0].n_leaves
    starts = [tree._leaf_ordering()[1] for tree in trees]
    cuts = [[_best(tree, edges, one) for one in _RESOLUTIONS] for tree in trees]
    begins = [
        [np.sort(start[cut.nodes]) for cut in some]
        for start, some in zip(starts, cuts, strict=True)
    ]

    def labels_at(i: int) -> list[IntArray]:
        return [
            np.searchsorted(some[i], start[:n], side="right") - 1
            for start, some in zip(starts, begins, strict=True)
        ]

    best, most = len(_RESOLUTIONS) // 2, -1.0
    for i in range(_DOUBLE, len(_RESOLUTIONS) - _DOUBLE):
        if any(len(some[i]) == 1 for some in begins):
            continue
        beside = (i - _DOUBLE, i + _DOUBLE)
        steadiness = sum(_alike(some[i], some[j], n) for some in begins for j in beside)
        agreement = sum(alike(one, other) for one, other in combinations(labels_at(i), 2))
        if steadiness + 2 * agreement > most:
            best, most = i, steadiness + 2 * agreement
    half, double = ([len(some[best + by]) for some in begins] for by in (-_DOUBLE, _DOUBLE))
    every = 2 * len(trees) + len(trees) * (len(trees) - 1)
    cut = [some[best] for some in cuts]
    return Steadiest(cut, labels_at(best), half, double, max(most, 0.0) / every)


def _best(tree: Tree, edges: Edges, resolution: float) -> BestCut:
    nodes, modularity = _core.best_by_modularity(
        tree.children, np.ascontiguousarray(edges.ends), edges.weights, resolution
    )
    return BestCut(own(nodes), modularity)


def alike(one: IntArray, other: IntArray) -> float:
    """Of the pairs that are together in one of two cuts or in both, the share that is in both.

    Cuts are given by labels from 0, and need not be of one tree.

    Examples
    --------
    >>> alike(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
    0.25
    """
    both = np.unique(one * (int(other.max()) + 1) + other, return_counts=True)[1]
    of_each = (np.bincount(one), np.bincount(other), both)
    first, second, shared = (_within(sizes) for sizes in of_each)
    return shared / (first + second - shared) if first + second > shared else 1.0


def _alike(one: IntArray, other: IntArray, n: int) -> float:
    """The same of two cuts of one tree, quicker.

    These are given by where their clusters begin, from left to right: clusters of both are
    in one piece, and so is what two of them have in common.

    Examples
    --------
    >>> _alike(np.array([0, 2]), np.array([0, 3]), 4)  # 01 23 and 012 3
    0.25
    """
    first, second, both = (_pairs(begins, n) for begins in (one, other, np.union1d(one, other)))
    return both / (first + second - both) if first + second > both else 1.0


def _pairs(begins: IntArray, n: int) -> float:
    return _within(np.diff(begins, append=n))


def _within(sizes: IntArray) -> float:
    return float((sizes * (sizes - 1.0)).sum() / 2)


def edges_for(
    tree: Tree, rows: Rows | None, n_neighbors: object, graph: Any, why: str = "by='modularity'"
) -> Edges:
    """The graph of near rows, or the one that is given.

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> X = np.array([[0.0], [1.0], [9.0]])
    >>> edges_for(ramify.HAC().fit(X).hierarchy(), X, 1, None).ends.tolist()
    [[0, 1], [1, 0], [2, 1]]
    """
    if (rows is None) == (graph is None):
        raise ValueError(
            f"{why} needs a graph of the leaves: give X, the rows that the tree was "
            f"grown on, or graph, a sparse matrix, one of the two; a live model knows its rows"
        )
    if rows is None:
        return edges_of(graph, tree.n_leaves)
    return edges_between(tree, rows, n_neighbors)


def edges_between(tree: Tree, rows: Rows, n_neighbors: object = N_NEIGHBORS) -> Edges:
    """Each leaf and its nearest others; an edge counts as often as its first leaf has points.

    Exact; in many dimensions O(n² d).

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> edges_between(ramify.HAC().fit(X).hierarchy(), X, 1).ends.tolist()
    [[0, 1], [1, 0], [2, 3], [3, 2]]
    """
    n = tree.n_leaves
    k = min(whole_number("n_neighbors", n_neighbors), n - 1)
    if k == 0:
        return Edges(np.empty((0, 2), np.int64), np.empty(0))
    found, _, _ = _core.nearest_rows(np.ascontiguousarray(rows), k, False, 1)
    ends = np.column_stack([np.repeat(np.arange(n), k), found.ravel().astype(np.int64)])
    weights = np.ones(n) if tree.leaf_weights is None else tree.leaf_weights
    return Edges(ends, np.repeat(weights.astype(np.float64), k))


def edges_of(graph: Any, n: int) -> Edges:
    """The edges of a sparse matrix; an entry there and back is one edge, twice.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> edges_of(coo_array([[0.0, 2.0], [0.0, 0.0]]), 2).weights
    array([2.])
    """
    if not hasattr(graph, "tocoo") or graph.shape != (n, n):
        found = getattr(graph, "shape", None) or type(graph).__name__
        raise ValueError(
            f"graph: expected a sparse matrix of shape ({n}, {n}), whose entries are weights of "
            f"edges between leaves, got {found}"
        )
    entries = graph.tocoo()
    weights = np.asarray(entries.data, np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("graph: expected weights that are finite, and not below 0")
    ends: npt.NDArray[np.int64] = np.column_stack([entries.row, entries.col]).astype(np.int64)
    return Edges(ends, weights)


def read_resolution(found: object) -> float | None:
    """Check a resolution; None is for the steadiest.

    Examples
    --------
    >>> read_resolution(2)
    2.0
    """
    if found is None:
        return None
    size = number("resolution", found)
    if not 0 < size < float("inf"):
        raise ValueError(f"resolution={found!r}: expected a finite number above 0")
    return size
