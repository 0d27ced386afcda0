# SPDX-License-Identifier: BSD-3-Clause
"""outline.py: the part of a tree that fits into a picture.

    n      leaves                     v      a node, as the Hierarchy numbers it
    p      tips of a dendrogram       block  a rectangle of an icicle

A picture has room for some hundred or thousand nodes; a tree has millions, and
may be a chain. `Top` is the last p - 1 merges. `Outline` is the merges whose
smaller side is largest: a branch that only loses points here and there stays
one block, so that a chain does not fill the picture with single points.

Nothing here needs matplotlib, and after O(n) array work only what is shown is
looked at, one node at a time.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ramify import _core
from ramify.hierarchy import Hierarchy, IntArray


class LeafOrder(NamedTuple):
    """The leaves from left to right; the leaves of any node are one stretch of them."""

    leaves: IntArray  # the leaf at each position
    start: IntArray  # position of each node's first leaf


def leaf_order(tree: Hierarchy) -> LeafOrder:
    """Where the leaves of each node are. O(n).

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> leaf_order(Hierarchy([[0, 2], [3, 1]], [1.0, 2.0])).leaves
    array([0, 2, 1])
    """
    leaves, start = _core.leaf_layout(tree.children)
    return LeafOrder(leaves.view(np.int64), start.view(np.int64))


class Top:
    """The last merges of a tree, laid out. No recursion: the top itself may be a chain.

    Children come before parents and rows are sorted by monotone height, so the p - 1
    highest merges are the nodes from 2n - p on, and every child below that number is
    a tip.
    """

    def __init__(self, tree: Hierarchy, p: int) -> None:
        self.tree = tree
        self.n = tree.n_leaves
        self.first = 2 * self.n - p
        heights = tree.monotone_heights
        # Under the dot metric heights are negative; leaves then sit below the lowest merge.
        self.base = min(0.0, float(heights.min())) if len(heights) else 0.0
        self.tips = self._tips_in_order()
        self.y: dict[int, float] = {tip: float(i) for i, tip in enumerate(self.tips)}
        for v in self.merges():
            a, b = self.children(v)
            self.y[v] = (self.y[a] + self.y[b]) / 2

    def merges(self) -> range:
        """The merges shown, each after its children."""
        return range(self.first, 2 * self.n - 1)

    def children(self, v: int) -> tuple[int, int]:
        """Both nodes that v joins."""
        a, b = self.tree.children[v - self.n]
        return int(a), int(b)

    def height(self, v: int) -> float:
        """Where v is drawn: its monotone height; leaves are at the base."""
        return self.base if v < self.n else float(self.tree.monotone_heights[v - self.n])

    def size(self, v: int) -> int:
        """Points below v."""
        return int(self.tree.sizes[v])

    def _tips_in_order(self) -> list[int]:
        """Tips from top to bottom: at each merge the larger part first, so outliers gather."""
        tips, stack = [], [2 * self.n - 2]
        while stack:
            v = stack.pop()
            if v < self.first:
                tips.append(v)
            else:
                stack.extend(sorted(self.children(v), key=self.size))
        return tips


def clusters_of_nodes(tree: Hierarchy, nodes: IntArray, k: int) -> IntArray:
    """The cluster of each node in ``tree.cut(n_clusters=k)``; -1 for nodes above the cut.

    Examples
    --------
    >>> import numpy as np, ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
    >>> clusters_of_nodes(tree, np.array([0, 2, 3, 4]), 2)
    array([ 0,  1,  0, -1])
    """
    leaves, start = leaf_order(tree)
    labels = tree.cut(n_clusters=k)
    return np.where(nodes >= 2 * tree.n_leaves - k, -1, labels[leaves[start[nodes]]])


@dataclass(frozen=True, eq=False)
class Outline:
    """Blocks of an icicle, parents before children, the root first.

    A block begins at its node ``top`` and ends at the merge ``bottom`` where it falls
    into two other blocks. In between it may lose ``size(top) - size(bottom)`` points,
    a few at a time. A block without children has ``bottom == top``.

    Attributes
    ----------
    tree : Hierarchy
    top, bottom : arrays of nodes
    parent : array
        Index of the block above, -1 for the root.
    child : array
        Index of the larger of the two blocks below, and the other comes next; -1 for
        none.
    level : array
        Number of blocks above.
    x : array
        Left edge, in points; the width is the size of ``top``.
    """

    tree: Hierarchy
    top: IntArray
    bottom: IntArray
    parent: IntArray
    child: IntArray
    level: IntArray
    x: IntArray

    def __len__(self) -> int:
        return len(self.top)

    @property
    def size(self) -> IntArray:
        """Points in each block: its width."""
        return self.tree.sizes[self.top]


def outline(tree: Hierarchy, n_blocks: int, *, min_size: int = 1, n_highest: int = 0) -> Outline:
    """The at most ``n_blocks`` blocks that say most about a tree.

    Merges are chosen by the size of their smaller side, among equals the highest
    first, and none whose smaller side is below ``min_size``. The ``n_highest`` highest
    merges of the tree are chosen before all others, so that a cut that undoes only
    those can be shown exactly.

    O(n), and O(b log b) Python for b blocks.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0], [5.5]]).hierarchy()
    >>> outline(tree, 3).size
    array([4, 2, 2])
    """
    chosen = _chosen_merges(tree, max((n_blocks - 1) // 2, 0), min_size, n_highest)
    ends = _ends(tree, chosen)
    top, bottom, parent, child, level, x = [tree.root], [], [-1], [], [0], [0]
    sizes = tree.sizes
    for i, v in enumerate(top):  # `top` grows behind us
        end = ends.get(v)
        bottom.append(v if end is None else end)
        child.append(-1 if end is None else len(top))
        if end is None:
            continue
        small, large = sorted(tree.children[end - tree.n_leaves].tolist(), key=sizes.item)
        top += [large, small]
        parent += [i, i]
        level += [level[i] + 1] * 2
        x += [x[i], x[i] + sizes.item(large)]
    arrays = (np.array(column, dtype=np.int64) for column in (top, bottom, parent, child, level, x))
    return Outline(tree, *arrays)


def _chosen_merges(tree: Hierarchy, count: int, min_size: int, n_highest: int) -> IntArray:
    """Nodes of the chosen merges. A merge left out has none chosen on its smaller side:

    the merges in there have smaller sides that are smaller yet, and they are lower.
    """
    smaller = tree.sizes[tree.children].min(axis=1, initial=tree.n_leaves)
    rank = smaller * tree.n_leaves + np.arange(len(smaller))
    rank[smaller < min_size] = -1
    rank[len(rank) - min(n_highest, count, len(rank)) :] = np.iinfo(np.int64).max
    if count == 0:
        return np.empty(0, dtype=np.int64)
    if count < len(rank):
        rank[np.argpartition(rank, len(rank) - count)[: len(rank) - count]] = -1
    return np.flatnonzero(rank >= 0) + tree.n_leaves


def _ends(tree: Hierarchy, chosen: IntArray) -> dict[int, int]:
    """The chosen merge in which the block that begins at a node ends, for blocks that have one.

    Leaves of nodes are stretches that lie inside one another or apart, so one pass from
    left to right, wider before narrower, finds the chosen merge around each.
    """
    start = leaf_order(tree).start
    ends: dict[int, int] = {}
    around: list[int] = []  # chosen merges around the present place, innermost last
    for v in chosen[np.lexsort((-chosen, start[chosen]))].tolist():
        left = start.item(v)
        while around and left >= start.item(around[-1]) + tree.sizes.item(around[-1]):
            around.pop()
        if not around:
            ends[tree.root] = v
        else:
            first, second = tree.children[around[-1] - tree.n_leaves].tolist()
            inside_first = start.item(first) <= left < start.item(first) + tree.sizes.item(first)
            ends[first if inside_first else second] = v
        around.append(v)
    return ends
