"""One tree in several shards, from the definition: who takes a row, who is split, and the top."""

from __future__ import annotations

import numpy as np

from tests.oracles.hac import hac
from tests.oracles.linkages import Linkage
from tests.oracles.ohac import nearest, split
from tests.oracles.trees import Tree, leaf, replaced


class ShardedTree:
    """Trees over some of the points each."""

    def __init__(
        self, X: np.ndarray, n_shards: int, block: int, metric: str, linkage: str, k: int = 1
    ) -> None:
        self._X, self._L, self._k = X, Linkage(X, metric, linkage), k
        self._block, self._most = block, 4 * n_shards
        self.shards: list[Tree | None] = [None] * n_shards
        for i in range(len(X)):
            self._insert(i)
            if n_shards > 1 and (i + 1) % block == 0:
                self._balance()

    def _insert(self, i: int) -> None:
        """The shard of the nearest point takes a row, beside those of the k nearest it has."""
        if i == 0:
            self.shards[0] = leaf(0)
            return
        ys = nearest(self._L.distances[i, :i], self._k)
        holder = next(s for s, tree in enumerate(self.shards) if tree and ys[0] in tree.leaves)
        tree = self.shards[holder]
        here = [y for y in ys if y in tree.leaves]
        self.shards[holder] = hac([*split(tree, here), leaf(i)], self._L)

    def _balance(self) -> None:
        while True:
            sizes = [0 if tree is None else len(tree) for tree in self.shards]
            largest = sizes.index(max(sizes))
            if 0 in sizes and sizes[largest] >= 2:
                self._move(largest, sizes.index(0))
                continue
            too_large = sizes[largest] * len(sizes) > 2 * sum(sizes)
            if 0 in sizes or not too_large or sizes[largest] < self._block:
                return
            if len(sizes) == self._most:
                return
            self.shards.append(None)
            self._move(largest, len(sizes))

    def _move(self, here: int, there: int) -> None:
        """A subtree of at most two thirds, on the heavier side, goes."""
        whole = node = self.shards[here]
        above = None
        while 3 * len(node) > 2 * len(whole):
            above = node
            first, second = sorted((node.left, node.right), key=lambda child: child.first)
            node = first if len(first) >= len(second) else second
        rest = above.left if node is above.right else above.right
        self.shards[there] = node
        self.shards[here] = rest if above is whole else replaced(whole, above, rest)

    def parts(self, m: int) -> list[Tree]:
        """The frontier of all shards; of a single one, its tree as it is."""
        held = [tree for tree in self.shards if tree is not None]
        return held if len(held) == 1 else [part for tree in held for part in self._opened(tree, m)]

    def _opened(self, tree: Tree, m: int) -> list[Tree]:
        parts = [tree]
        while len(parts) < m and any(not part.is_leaf for part in parts):
            inner = [part for part in parts if not part.is_leaf]
            widest = max(inner, key=lambda part: (self._spread(part), len(part), part.first))
            parts.remove(widest)
            parts += [widest.left, widest.right]
        return parts

    def _spread(self, part: Tree) -> float:
        rows = self._L.points[list(part.leaves)]
        return len(rows) * float(((rows - rows.mean(axis=0)) ** 2).sum())

    def whole(self, m: int) -> Tree:
        """The tree over all points."""
        return hac(self.parts(m), self._L)
