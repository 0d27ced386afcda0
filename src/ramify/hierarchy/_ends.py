# SPDX-License-Identifier: BSD-3-Clause
"""_ends.py: turn branches so that near ends meet.

A branch laid out from left to right has two ends. When two branches are put side
by side, each may be turned over first, so there are four pairs of ends that could
meet; the nearest do. The outer ends are those of the new branch.

    level   0 for a leaf, one more than the higher child for an inner node

Merges of one level do not depend on each other, so they are done at once. Higher
levels have fewer merges, never more: a chain has one on each, and those are done
one by one.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import FloatArray, IntArray, own

Rows = npt.NDArray[np.floating[Any]]

_WIDE = 50  # merges of a level that are worth doing at once
_AT_ONCE = 1 << 16  # rows to compare at once, so that copies of them stay small


def leaves_end_to_end(tree: Tree, rows: Rows) -> IntArray:
    """The leaves in an order that keeps subtrees together and lets near ends meet."""
    ends = _Ends(tree, rows)
    level = _levels(tree)
    order = np.argsort(level, kind="stable")
    merges_of = np.bincount(level)[1:]
    wide = int(np.count_nonzero(merges_of >= _WIDE))
    groups = np.split(order, np.cumsum(merges_of[:wide]))
    for merges in groups[:-1]:
        ends.join_at_once(merges)
    ends.join_one_by_one(np.sort(groups[-1]))
    swapped = _turned(tree, ends.turned)[tree.n_leaves :, np.newaxis]
    children = np.where(swapped, tree.children[:, ::-1], tree.children)
    leaves, _ = _core.leaf_layout(np.ascontiguousarray(children))
    return own(leaves)


def way(rows: Rows, order: IntArray) -> float:
    """Length of the way along rows in an order."""
    return float(np.sqrt(_gaps(rows, order[1:], order[:-1])).sum())


class _Ends:
    """The two ends of every branch, and whether it is turned over for its parent."""

    def __init__(self, tree: Tree, rows: Rows) -> None:
        self.rows = rows
        self.children = tree.children
        self.left = np.arange(tree.n_nodes)  # true of leaves; the others' are to come
        self.right = np.arange(tree.n_nodes)
        self.turned = np.zeros(tree.n_nodes, dtype=np.bool_)

    def join_at_once(self, merges: IntArray) -> None:
        """Join pairs of branches whose ends are known."""
        left, right, (a, b) = self.left, self.right, self.children[merges].T
        meeting = (
            (right[a], left[b]),
            (right[a], right[b]),
            (left[a], left[b]),
            (left[a], right[b]),
        )
        best = np.argmin([_gaps(self.rows, i, j) for i, j in meeting], axis=0)
        turn_a, turn_b = best >= 2, best % 2 == 1
        self.turned[a], self.turned[b] = turn_a, turn_b
        v = len(self.children) + 1 + merges
        left[v] = np.where(turn_a, right[a], left[a])
        right[v] = np.where(turn_b, left[b], right[b])

    def join_one_by_one(self, merges: IntArray) -> None:
        """The same, where each pair may wait for the one before it."""
        left, right, turned = self.left.tolist(), self.right.tolist(), self.turned.tolist()
        rows, n = self.rows, len(self.children) + 1

        def gap(i: int, j: int) -> Any:
            apart = rows[i] - rows[j]
            return apart.dot(apart)

        first, second = self.children[merges].T.tolist()
        for v, a, b in zip((n + merges).tolist(), first, second, strict=True):
            start, end_a, start_b, end = left[a], right[a], left[b], right[b]
            turns, nearest = (False, False), gap(end_a, start_b)
            if start_b != end and (found := gap(end_a, end)) < nearest:
                turns, nearest = (False, True), found
            if start != end_a:
                if (found := gap(start, start_b)) < nearest:
                    turns, nearest = (True, False), found
                if start_b != end and gap(start, end) < nearest:
                    turns = (True, True)
            turned[a], turned[b] = turns
            left[v] = end_a if turns[0] else start
            right[v] = start_b if turns[1] else end
        self.turned = np.array(turned, dtype=np.bool_)


def _gaps(rows: Rows, i: IntArray, j: IntArray) -> FloatArray:
    """Squared distances of pairs of rows."""
    gaps = np.empty(len(i))
    for start in range(0, len(i), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        gaps[part] = ((rows[i[part]] - rows[j[part]]) ** 2).sum(axis=1)
    return gaps


def _levels(tree: Tree) -> IntArray:
    """Level of each merge."""
    level = [0] * tree.n_leaves
    for a, b in zip(*tree.children.T.tolist(), strict=True):
        level.append(1 + max(level[a], level[b]))
    return np.array(level[tree.n_leaves :], dtype=np.int64)


def _turned(tree: Tree, turned: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether each node is turned over in the end: by itself, or by what is above it."""
    parents, final = tree.parents.tolist(), turned.tolist()
    for v in range(tree.root - 1, -1, -1):
        final[v] ^= final[parents[v]]
    return np.array(final, dtype=np.bool_)
