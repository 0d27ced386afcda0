# SPDX-License-Identifier: BSD-3-Clause
"""_sharing.py: a model that holds some of a stream's points, and others hold the rest.

The router chooses neighbours and arrival numbers, among the points of all models, and may move a
subtree to another shard.
"""

from typing import Any

import numpy as np

from ramify.estimators._aspect import Aspect
from ramify.estimators._guard import alone, writes
from ramify.estimators._live import Live
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.hierarchy.seam import canonical_order
from ramify.points import Rows

#: A part that goes has at most this share of the points, and at least half of it.
_LARGEST_PART = 2 / 3


class Sharing(Aspect):
    """What a router does with a model whose tree is one of several."""

    __slots__ = ()

    @writes
    def insert_beside(
        self,
        rows: Rows,
        nearest: IntArray,
        numbers: IntArray,
        ids: list[Any] | None,
        weights: FloatArray | None = None,
    ) -> None:
        """Insert rows under these numbers, as if these points, -1 is none, were the nearest."""
        tree, model = self._live, self._model
        if tree is None:
            batch = model._read_first(rows, ids)
            tree = batch.begin()
            model._adopt(tree, None)
        self._beside(tree, rows, nearest, numbers, tree.read_ids(ids, len(rows)), weights)

    @alone
    def _beside(self, tree: Live, rows: Rows, *more: Any) -> None:
        tree.insert_beside(rows, *more)

    @alone
    def part_to_go(self) -> IntArray:
        """Numbers of the points of a part that can go: a subtree of a third to two thirds.

        It is found from the root down the heavier side: a child of the root, unless that
        would be too much, as where outliers hang from the root one by one. Two points or
        more.
        """
        tree = self._fitted().hierarchy()
        most = tree.n_leaves * _LARGEST_PART
        node = tree.root
        while tree.sizes[node] > most:
            first, second = tree.children[node - tree.n_leaves].tolist()
            node = first if tree.sizes[first] >= tree.sizes[second] else second
        return np.sort(tree.point_numbers[tree.leaves(node)])

    @alone
    def part(self, numbers: IntArray) -> Any:
        """Another model, with the part of the tree that has these points, all of a subtree."""
        tree = self._fitted()
        whole, _, rows = tree.still()
        leaves = np.searchsorted(whole.point_numbers, numbers)
        inside = np.zeros(whole.n_leaves, bool)
        inside[leaves] = True
        other = type(self._model)(**self._model.get_params(deep=False))
        part = _restricted(whole, inside)
        other._adopt(tree.with_points(rows[inside], part, tree.next_arrival), None)
        return other

    @writes
    def keep_others(self, gone: IntArray) -> None:
        """Have a part of the tree go; the rest keeps its shape."""
        self._become_rest(gone)

    @alone
    def _become_rest(self, gone: IntArray) -> None:
        tree = self._fitted()
        whole, _, rows = tree.still()
        inside = ~np.isin(whole.point_numbers, gone)
        rest = _restricted(whole, inside)
        self._model._adopt(tree.with_points(rows[inside], rest, tree.next_arrival), None)


def _restricted(tree: Hierarchy, inside: Any) -> Hierarchy:
    """A tree over some of the leaves, at least one: a subtree, or all but a subtree."""
    n = tree.n_leaves
    leaves, start = tree._leaf_ordering()
    before = np.concatenate([[0], np.cumsum(inside[leaves])])
    count = before[start + tree.sizes] - before[start]  # leaves inside, below each node
    first, second = tree.children.T
    kept = (count[first] > 0) & (count[second] > 0)
    # A node with nothing inside on one side is no merge: whoever named it means the other.
    stands = np.arange(2 * n - 1)
    for row in np.flatnonzero(~kept & (count[n:] > 0)).tolist():
        one, other = tree.children[row].tolist()
        stands[n + row] = stands[one if count[one] > 0 else other]
    number = np.empty(2 * n - 1, np.int64)
    number[:n] = np.cumsum(inside) - 1
    number[n:] = np.cumsum(kept) - 1 + int(inside.sum())
    children = number[stands[tree.children[kept]]].reshape(-1, 2)
    merges, order = canonical_order(children, tree.heights[kept])
    ids, heights = tree.node_ids[kept][order], tree.heights[kept][order]
    names = None if tree.names is None else tree.names[inside]
    weights = None if tree.leaf_weights is None else tree.leaf_weights[inside]
    return Hierarchy(merges, heights, ids, names, tree.point_numbers[inside], weights)
