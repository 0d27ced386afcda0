# SPDX-License-Identifier: BSD-3-Clause
"""_forks.py: a tree in which only branches of at least s points count.

    big    a node of at least s points
    fork   a node with two big children: here a cluster falls apart into two
    head   the root, or a child of a fork: here a cluster begins

A cut may stop before all forks are undone; those that it leaves whole count as none.
Forks above one that counts always count themselves.

Between a head and the next fork a path leads from big child to big child, and
whatever hangs off it is small. Leaves are laid out here with the larger child
first, ties in favour of the first child: then the leaves of every node begin
with those of its larger child.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import whole_number
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import IntArray, own

BoolArray = npt.NDArray[np.bool_]


class Forks(NamedTuple):
    """What there is to know of a tree and one least size. O(n)."""

    big: BoolArray  # of each node
    is_fork: BoolArray  # of each node
    is_head: BoolArray  # of each node
    above_fork: BoolArray  # of each node: a fork is here or further down
    leaves: IntArray  # from left to right, the larger child first
    start: IntArray  # position of each node's first leaf

    @classmethod
    def of(cls, tree: Tree, least: int, rows: IntArray | None = None) -> "Forks":
        """Look at a tree with a least size of 1 to n; ``rows`` are the forks that count."""
        n = tree.n_leaves
        big = tree.weights >= least
        forks = np.zeros(n - 1, dtype=np.bool_)
        forks[fork_rows(tree, least) if rows is None else rows] = True
        no_leaf = np.zeros(n, dtype=np.bool_)
        is_head = np.zeros(tree.n_nodes, dtype=np.bool_)
        is_head[tree.children[forks]] = True
        is_head[tree.root] = True
        # The core's running maximum over children says whether there is one below.
        above = _core.monotone(tree.children, forks.astype(np.float64)) > 0
        leaves, start = _larger_first(tree)
        return cls(
            big,
            np.concatenate([no_leaf, forks]),
            is_head,
            np.concatenate([no_leaf, above]),
            leaves,
            start,
        )

    def kept(self) -> IntArray:
        """The heads that are not split any further: the clusters."""
        return np.flatnonzero(self.is_head & ~self.above_fork)


def fork_rows(tree: Tree, least: int) -> IntArray:
    """Rows of all forks, the highest last. O(n)."""
    big = tree.weights >= least
    return np.flatnonzero(big[tree.children].all(axis=1))


def _larger_first(tree: Tree) -> tuple[IntArray, IntArray]:
    sizes = tree.weights[tree.children]
    swap = sizes[:, 1] > sizes[:, 0]
    children = np.where(swap[:, np.newaxis], tree.children[:, ::-1], tree.children)
    leaves, start = _core.leaf_layout(np.ascontiguousarray(children))
    return own(leaves), own(start)


def read_least(tree: Tree, min_size: int, lowest: int) -> int:
    """Check a least size of clusters."""
    most = int(tree.weights[tree.root])
    return whole_number("min_size", min_size, lowest, most, why="the number of points")
