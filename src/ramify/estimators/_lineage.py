# SPDX-License-Identifier: BSD-3-Clause
"""_lineage.py: what a node was made of, and what became of it, from two snapshots.

Points that are only in one of the two trees have no say. Leaves from left to right are one
line, and every node a stretch of it; so of any set of points, how many are below each node
is read off a running sum.
"""

from typing import NamedTuple

import numpy as np

from ramify import _core
from ramify.hierarchy import Hierarchy, IntArray


class Lineage(NamedTuple):
    """What a node came from and what it became; see ``lineage``. Ids, ascending."""

    renamed_from: int | None  #: the node that it was, if it is new and one that has gone was it
    merged_from: IntArray  #: the largest nodes of then that lie in the node of now
    renamed_to: int | None  #: the node that it is, if it has gone and a new one is it
    split_into: IntArray  #: the largest nodes of now that lie in the node of then


class _Side:
    """A tree and which of its points count: those that are in the other tree, too."""

    def __init__(self, tree: Hierarchy | None, counting: IntArray) -> None:
        self.tree = tree
        if tree is None:
            return
        line, start = _core.leaf_layout(tree.children)
        self._numbers = tree.leaf_numbers[line]
        self._start, self._end = start, start + tree.sizes
        self.known = self.count(counting)

    def find(self, id: int) -> int | None:
        """The number of the node with this id."""
        if self.tree is None:
            return None
        ids, offset = (
            (-1 - self.tree.leaf_numbers, 0) if id < 0 else (self.tree.node_ids, len(self.tree))
        )
        found = np.flatnonzero(ids == id)
        return int(found[0]) + offset if len(found) else None

    def points(self, node: int) -> IntArray:
        """Arrival numbers of the points below a node."""
        return self._numbers[self._start[node] : self._end[node]]

    def count(self, points: IntArray) -> IntArray:
        """How many of some points are below each node."""
        so_far = np.append(0, np.isin(self._numbers, points).cumsum())
        counts: IntArray = so_far[self._end] - so_far[self._start]
        return counts

    def id(self, node: int) -> int:
        assert self.tree is not None
        n = len(self.tree)
        return int(-1 - self.tree.leaf_numbers[node] if node < n else self.tree.node_ids[node - n])

    def pieces(self, inside: IntArray) -> IntArray:
        """Ids of the largest nodes with some of these points, and no others that count.

        Of nodes that have the same ones the lowest.
        """
        tree = self.tree
        if tree is None:
            return np.empty(0, np.int64)
        held = self.count(inside)
        pure = (held > 0) & (held == self.known)
        tops = np.flatnonzero(pure & ~np.append(pure, False)[tree.parents])
        return np.sort(np.array([self.id(self._lowest(v, held)) for v in tops.tolist()], np.int64))

    def _lowest(self, node: int, held: IntArray) -> int:
        """The last node on the way down that has all of a node's points."""
        tree = self.tree
        assert tree is not None
        v, n = node, len(tree)
        while v >= n and (held[below := tree.children[v - n]] == held[v]).any():
            v = int(below[np.argmax(held[below])])
        return v

    def twin(self, points: IntArray, other: Hierarchy | None) -> int | None:
        """The id that the other tree lacks of the inner node that shares more than half of both.

        Of several the one that shares most, and of these the one with the fewest points.
        """
        if self.tree is None or other is None:
            return None
        shared = self.count(points)
        fits = (2 * shared > len(points)) & (2 * shared > self.known)
        fits[: len(self.tree)] = False
        fits[len(self.tree) :] &= ~np.isin(self.tree.node_ids, other.node_ids)
        if not fits.any():
            return None
        most = np.flatnonzero(fits & (shared == shared[fits].max()))
        return self.id(int(most[np.argmin(self.known[most])]))


def lineage(node: int, then: Hierarchy | None, now: Hierarchy) -> Lineage:
    """What a node of one of two trees is in the other one. O(n log n)."""
    points = np.empty(0, np.int64) if then is None else then.leaf_numbers
    counting = np.intersect1d(points, now.leaf_numbers, assume_unique=True)
    old, new = _Side(then, counting), _Side(now, counting)
    was, is_now = old.find(node), new.find(node)
    if was is None and is_now is None:
        raise KeyError(f"no node has the id {node}, neither now nor then")
    mine, yours = (
        np.intersect1d(side.points(at), counting, assume_unique=True)
        if at is not None
        else points[:0]
        for side, at in ((new, is_now), (old, was))
    )
    return Lineage(
        old.twin(mine, now) if was is None else None,
        old.pieces(mine),
        new.twin(yours, then) if is_now is None else None,
        new.pieces(yours),
    )
