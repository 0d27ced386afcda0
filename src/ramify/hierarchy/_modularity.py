# SPDX-License-Identifier: BSD-3-Clause
"""_modularity.py: the cut of a tree that keeps near neighbours together best.

    modularity  of a cut: the share of a graph's edges whose ends are in one cluster, less
                ``resolution`` times the share that chance would put there, given how many
                edges each leaf has (Newman and Girvan, 2004)

It is a sum over clusters, so that the best of all cuts of a tree is found exactly, in one pass
(core/tree/modularity.hpp). On graphs without a tree the best clusters are hard to find, and
programs try what seems good.
"""

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


class Edges(NamedTuple):
    """A graph of the leaves of a tree."""

    ends: IntArray  #: of shape (m, 2): places
    weights: FloatArray  #: of shape (m,)


class BestCut(NamedTuple):
    """A cut as nodes of a tree."""

    nodes: IntArray  #: ascending
    modularity: float


def best_by_modularity(tree: Tree, edges: Edges, resolution: object) -> BestCut:
    """The cut of the highest modularity, of all there are; of equal ones the coarser.

    O(n + m log n) for m edges, on a chain, too.

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0], [6.5]]).hierarchy()
    >>> best_by_modularity(tree, Edges(np.array([[0, 1], [2, 3]]), np.ones(2)), 1.0)
    BestCut(nodes=array([4, 5]), modularity=0.5)
    """
    price = read_resolution(resolution)
    nodes, modularity = _core.best_by_modularity(
        tree.children, np.ascontiguousarray(edges.ends), edges.weights, price
    )
    return BestCut(own(nodes), modularity)


def edges_between(tree: Tree, rows: Rows, n_neighbors: object = N_NEIGHBORS) -> Edges:
    """Each leaf and its nearest others; an edge counts as often as its first leaf has points.

    The search is scikit-learn's: exact, in many dimensions O(n² d).

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> edges_between(ramify.HAC().fit(X).hierarchy(), X, 1).ends.tolist()
    [[0, 1], [1, 0], [2, 3], [3, 2]]
    """
    from sklearn.neighbors import NearestNeighbors

    n = tree.n_leaves
    k = min(whole_number("n_neighbors", n_neighbors), n - 1)
    if k == 0:
        return Edges(np.empty((0, 2), np.int64), np.empty(0))
    found = NearestNeighbors(n_neighbors=k).fit(rows).kneighbors(return_distance=False)
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


def read_resolution(found: object) -> float:
    """Check a resolution.

    Examples
    --------
    >>> read_resolution(2)
    2.0
    """
    size = number("resolution", found)
    if not 0 < size < float("inf"):
        raise ValueError(f"resolution={found!r}: expected a finite number above 0")
    return size
