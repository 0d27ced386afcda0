# SPDX-License-Identifier: BSD-3-Clause
"""_weights.py: a tree whose leaves stand for several points, with a leaf for each of them."""

from typing import Self

import numpy as np

from ramify.hierarchy._order import canonical
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import IntArray


class Weights(Tree):
    """Leaves for all points."""

    __slots__ = ()

    def expanded(self) -> Self:
        """The tree with a leaf for every point: leaf i becomes ``weights[i]`` equal leaves.

        They are merged at height 0. Programs that know nothing of weights can be given this
        tree, and rows repeated by ``numpy.repeat`` in the same way; measures do just that.
        Names, node ids and arrival numbers are lost.

        Returns
        -------
        Hierarchy

        Raises
        ------
        ValueError
            If a weight is no whole number.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [5.0]], sample_weight=[1, 2]).hierarchy()
        >>> tree.expanded()
        <Hierarchy: 3 points, root height 25, split 1 | 2>
        """
        n = self.n_leaves
        counts = self.weights[:n].astype(np.int64)
        if (counts != self.weights[:n]).any():
            leaf = int(np.argmax(counts != self.weights[:n]))
            raise ValueError(f"leaf {leaf} has the weight {self.weights[leaf]:g}: no whole number")
        if counts.sum() >= 2**31:
            raise ValueError(f"the leaves stand for {counts.sum():,} points: too many for a tree")
        low, tops = _merge_copies(counts)
        total = int(counts.sum())
        number = np.concatenate([tops, np.arange(total + len(low), 2 * total - 1)])
        children = np.concatenate([low, number[self.children]])
        heights = np.concatenate([np.zeros(len(low)), self.heights])
        return type(self)(*canonical(children, heights))


def _merge_copies(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Merges that make one node of each leaf's copies, and that node."""
    ends = np.cumsum(counts)
    total = int(ends[-1])
    merges: list[tuple[int, int]] = []
    tops = []
    for end, count in zip(ends.tolist(), counts.tolist(), strict=True):
        parts = list(range(end - count, end))
        while len(parts) > 1:  # two and two, so that the tree stays shallow
            pairs = list(zip(parts[::2], parts[1::2], strict=False))
            odd = parts[len(pairs) * 2 :]
            parts = [*range(total + len(merges), total + len(merges) + len(pairs)), *odd]
            merges += pairs
        tops.append(parts[0])
    return np.array(merges, dtype=np.int64).reshape(-1, 2), np.array(tops, dtype=np.int64)
