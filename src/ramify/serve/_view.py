# SPDX-License-Identifier: BSD-3-Clause
"""_view.py: a snapshot of a tree that readers share, so that each does not take its own.

A snapshot of a large tree takes a part of a second, and under inserts every reader would need
a new one. So one is kept for a while: at least a second, and five times what it took to
make. Answers say of which version they are.
"""

from __future__ import annotations

import heapq
import threading
import time
from typing import Any, NamedTuple

import numpy as np

from ramify.hierarchy import Hierarchy, IntArray, Points
from ramify.journal import DurableTree
from ramify.outline import LeafOrder, leaf_order

_LEAST_SECONDS = 1.0
#: A snapshot may take this share of the time.
_SHARE = 0.2
#: Steps down a branch that only loses points here and there.
_MOST_STEPS = 100_000


class Line(NamedTuple):
    """All points of a tree, leaf after leaf from left to right."""

    numbers: IntArray
    start: IntArray  # where those of the leaf at each position begin, and where the last ends

    @classmethod
    def of(cls, tree: Hierarchy, order: LeafOrder, points: Points | None) -> Line:
        """Of leaves that may stand for several points."""
        n = tree.n_leaves
        if points is None or isinstance(points.places, slice):
            return cls(tree.point_numbers[order.leaves], np.arange(n + 1))
        position = np.empty(n, np.int64)
        position[order.leaves] = np.arange(n)
        of_points = position[points.places]
        ends = np.cumsum(np.bincount(of_points, minlength=n))
        return cls(points.numbers[np.argsort(of_points, kind="stable")], np.append(0, ends))


class Still(NamedTuple):
    """A tree at rest."""

    version: int
    tree: Hierarchy
    order: LeafOrder
    line: Line

    def public(self, node: int) -> int:
        """The id of a node."""
        n = self.tree.n_leaves
        if node < n:
            return -1 - int(self.tree.leaf_numbers[node])
        return int(self.tree.node_ids[node - n])

    def numbers_below(self, node: int, count: int, start: int = 0) -> list[int]:
        """Numbers of some points below a node, from left to right."""
        first = int(self.order.start[node])
        begin, end = self.line.start[[first, first + self.count(node)]].tolist()
        some: list[int] = self.line.numbers[
            begin + start : min(begin + start + count, end)
        ].tolist()
        return some

    def n_points(self, node: int) -> int:
        """Points below a node."""
        first = int(self.order.start[node])
        return int(self.line.start[first + self.count(node)] - self.line.start[first])

    def spread(self, node: int, count: int) -> list[int]:
        """Numbers of some points below a node, evenly spread."""
        begin, size = int(self.order.start[node]), self.count(node)
        places = np.arange(size) if size <= count else np.arange(count) * size // count
        return [int(one) for one in self.tree.point_numbers[self.order.leaves[begin + places]]]

    def middle(self, node: int) -> int:
        """Number of a point in the middle of those below a node."""
        at = int(self.order.start[node]) + self.count(node) // 2
        return int(self.tree.point_numbers[self.order.leaves[at]])

    def count(self, node: int) -> int:
        """Leaves below a node."""
        return int(self.tree.sizes[node])

    def height(self, node: int) -> float:
        """Monotone height; 0 of a leaf."""
        n = self.tree.n_leaves
        return 0.0 if node < n else float(self.tree.monotone_heights[node - n])


class View:
    """The latest snapshot that is young enough."""

    def __init__(self, tree: DurableTree) -> None:
        self._tree = tree
        self._lock = threading.Lock()
        self._still: Still | None = None
        self._until = 0.0

    def still(self, at_least: int = 0) -> Still:
        """A tree at rest, of this version or a later one; NotFittedError if it is empty."""
        with self._lock:
            now = time.monotonic()
            kept = self._still
            if kept is not None and now < self._until and kept.version >= at_least:
                return kept
            version, tree, points = self._tree.between(self._look)
            if self._still is None or version != self._still.version:
                order = leaf_order(tree)
                self._still = Still(version, tree, order, Line.of(tree, order, points))
            took = time.monotonic() - now
            self._until = time.monotonic() + max(_LEAST_SECONDS, took / _SHARE)
            return self._still

    def _look(self) -> tuple[int, Hierarchy, Points | None]:
        tree, points = self._tree.hierarchy(), self._tree.stream.all_points()
        return self._tree.version, tree, points


class Block(NamedTuple):
    """A rectangle of an icicle: a branch from one node down to where it falls into two."""

    node: int
    last: int
    parent: int
    size: int


def blocks(still: Still, root: int, most: int, narrowest: float = 0.002) -> list[Block]:
    """The largest branches below a node, parents before children. O(b log b), and their lengths."""
    tree = still.tree
    n, sizes = tree.n_leaves, tree.sizes
    least = max(float(sizes[root]) * narrowest, 1.0)
    found: list[Block] = []
    todo = [(-float(sizes[root]), root, -1)]
    while todo and len(found) < most:
        _, node, parent = heapq.heappop(todo)
        last = _end(tree, node, least)
        at = len(found)
        found.append(Block(node, last, parent, int(sizes[node])))
        if last < n:
            continue
        for child in tree.children[last - n].tolist():
            if sizes[child] >= least:
                heapq.heappush(todo, (-float(sizes[child]), child, at))
    return found


def _end(tree: Hierarchy, node: int, least: float) -> int:
    """Where a branch falls into two that can be seen, or ends."""
    n, sizes, children = tree.n_leaves, tree.sizes, tree.children
    for _ in range(_MOST_STEPS):
        if node < n:
            return node
        one, other = children[node - n].tolist()
        small, large = (one, other) if sizes[one] <= sizes[other] else (other, one)
        if sizes[small] >= least:
            return node
        if sizes[large] < least:
            return node
        node = large
    return node


def heads(still: Still, found: list[Block], k: int) -> list[int | None]:
    """The node of the cluster that each block lies in, when cut into k; None above the cut.

    The k - 1 highest merges, which the cut undoes, are the nodes from 2n - k on.
    """
    tree = still.tree
    n = tree.n_leaves
    first_undone = 2 * n - min(k, n)
    told: list[int | None] = []
    for block in found:
        above = told[block.parent] if block.parent >= 0 else None
        if block.last >= first_undone:
            told.append(None)
        elif above is not None:
            told.append(above)
        else:
            told.append(_head(tree, block.node, first_undone))
    return told


def _head(tree: Hierarchy, node: int, first_undone: int) -> int:
    """The head of the cluster around a node, or of the branch that goes down from it."""
    n, sizes = tree.n_leaves, tree.sizes
    while node >= first_undone:
        node = max(tree.children[node - n].tolist(), key=sizes.item)
    while node != tree.root and (parent := int(tree.parents[node])) < first_undone:
        node = parent
    return node


def node_facts(still: Still, node: int) -> dict[str, Any]:
    """What is known of a node."""
    tree = still.tree
    n = tree.n_leaves
    parent = int(tree.parents[node])
    below = tree.children[node - n].tolist() if node >= n else []
    return {
        "id": still.public(node),
        "size": int(tree.sizes[node]),
        "height": still.height(node),
        "parent": None if node == tree.root else still.public(parent),
        "children": [still.public(one) for one in below],
    }
