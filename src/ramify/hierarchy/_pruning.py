# SPDX-License-Identifier: BSD-3-Clause
"""_pruning.py: a tree whose merges stand in the order in which pruning undoes them.

    gain    of a merge: by how much undoing it lowers the sum of squares of the clusters
    price   of a merge: the mean gain of the block of merges that it is undone with

Cutting at heights takes apart what is far apart, and average linkage puts single points
far apart. Cost-complexity pruning takes apart what makes clusters tight. Prices never
fall towards the root, so that a tree with prices for heights can be cut like any other.
"""

from typing import NamedTuple

import numpy as np

from ramify import _core
from ramify.hierarchy._rows import Rows
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import FloatArray, IntArray


class Pruned(NamedTuple):
    """The merges of a tree, the one to be undone first last."""

    children: IntArray  # of shape (n - 1, 2), children first
    prices: FloatArray  # of the merges, never falling
    nodes: IntArray  # of shape (2n - 1,): which node of the tree each node is


def pruned(tree: Tree, rows: Rows) -> Pruned:
    """Prune a tree over these rows by their sum of squares. O(n d + n log n).

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0], [20.0]])
    >>> pruned(ramify.HAC().fit(X).hierarchy(), X).prices
    array([  0.5,   0.5,  64. , 192.2])
    """
    gains = _core.split_gains(tree.children, np.ascontiguousarray(rows), tree.leaf_weights)
    order, prices = _core.split_order(tree.children, gains)
    n, rows_up = tree.n_leaves, order[::-1].view(np.int64)
    nodes = np.concatenate([np.arange(n), n + rows_up])
    number = np.empty(tree.n_nodes, dtype=np.int64)
    number[nodes] = np.arange(tree.n_nodes)
    return Pruned(number[tree.children[rows_up]], np.ascontiguousarray(prices[::-1]), nodes)
