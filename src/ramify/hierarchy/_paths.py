# SPDX-License-Identifier: BSD-3-Clause
"""_paths.py: ways through the tree."""

from typing import overload

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.hierarchy._tree import NodeLike, Tree
from ramify.hierarchy._values import FloatArray, IntArray, own


class Paths(Tree):
    """Paths, depths, leaves below a node, common ancestors."""

    __slots__ = ()

    def path(self, i: NodeLike) -> IntArray:
        """Nodes from the root down to node ``i``, both included. O(depth).

        Here and below a node is given by its number, a leaf's being its place, or as a
        :class:`Cluster`; a leaf also by the name of its point, if that is text.

        Examples
        --------
        >>> import ramify
        >>> ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy().path(1)
        array([4, 3, 1])
        """
        node = self._one_node(i)
        nodes = []
        while node >= 0:
            nodes.append(node)
            node = self.parents.item(node)
        return np.array(nodes[::-1], dtype=np.int64)

    def path_code(self, i: NodeLike) -> str:
        """The path to node ``i`` as turns: 0 to the first child, 1 to the second.

        The root's code is empty, and a node's code starts with its ancestors' codes.

        Examples
        --------
        >>> import ramify
        >>> ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy().path_code(1)
        '01'
        """
        nodes = self.path(i)
        second = self.children[nodes[:-1] - self.n_leaves, 1] == nodes[1:]
        return "".join(np.where(second, "1", "0"))

    def depths(self) -> IntArray:
        """Number of merges above each leaf, by place. O(n).

        Examples
        --------
        >>> import ramify
        >>> ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy().depths()
        array([2, 2, 1])
        """
        return own(_core.depths(self.children))[: self.n_leaves]

    def codisp(self) -> FloatArray:
        """How far each leaf stands out, by place: its collusive displacement. O(n).

        The largest ratio, over the point and its ancestors below the root, of the points
        beside a node to the points in it: so many times its own size would move up if the
        node were taken out. A point that is split off near the root scores high, alone or with
        its like. Of use on trees of random cuts (:class:`RandomCut`), averaged over several.

        Returns
        -------
        array of shape (n,)

        Examples
        --------
        >>> import ramify
        >>> ramify.HAC().fit([[0.0], [1.0], [2.0], [50.0]]).hierarchy().codisp()
        array([1., 1., 2., 3.])
        """
        return np.asarray(_core.displacements(self.children, self.weights.astype(np.float64)))

    def leaves(self, node: NodeLike) -> IntArray:
        """Places of the leaves below a node, in order of arrival; a leaf is below itself.

        ``tree.point_numbers`` of them are their points' arrival numbers. O(n) the first time,
        then O(k log k) for k leaves.

        Examples
        --------
        >>> import ramify
        >>> ramify.HAC().fit([[0.0], [5.0], [1.0]]).hierarchy().leaves(3)
        array([0, 2])
        """
        v = self._one_node(node)
        leaves, start = self._leaf_ordering()
        return np.sort(leaves[start[v] : start[v] + self.sizes[v]])

    @overload
    def lca(self, i: int | str, j: int | str) -> int: ...
    @overload
    def lca(self, i: npt.ArrayLike, j: npt.ArrayLike) -> IntArray | int: ...
    def lca(self, i: npt.ArrayLike, j: npt.ArrayLike) -> IntArray | int:
        """Lowest common ancestor of nodes ``i`` and ``j``: one each, or arrays, broadcast.

        O(1) a pair, after O(n log n) time and memory for the first call. A node is
        its own ancestor: ``lca(i, i) == i``.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        >>> tree.lca(0, 1)
        3
        >>> tree.lca(0, [0, 1, 2])
        array([0, 3, 4])
        """
        first, second = np.broadcast_arrays(self._nodes(i), self._nodes(j))
        start = self._leaf_ordering().start
        low = np.minimum(start[first], start[second])
        high = np.maximum(start[first] + self.sizes[first], start[second] + self.sizes[second])
        gaps = high - low - 1  # of neighbouring leaves between low and high
        ancestor = np.array(first, dtype=np.int64)  # right where there is no gap: i is j
        apart = gaps > 0
        ancestor[apart] = self._maximum_between(low[apart], gaps[apart])
        return int(ancestor) if ancestor.ndim == 0 else ancestor

    def _maximum_between(self, low: IntArray, gaps: IntArray) -> npt.NDArray[np.int32]:
        """Largest inner node over ``gaps`` gaps from position ``low``: two table entries."""
        maxima = self._gap_maxima()
        level = np.frexp(gaps)[1] - 1  # floor of log2, exactly
        right = low + gaps - (1 << level)
        ancestors: npt.NDArray[np.int32] = np.maximum(maxima[level, low], maxima[level, right])
        return ancestors

    def _gap_maxima(self) -> npt.NDArray[np.int32]:
        """Sparse table of range maxima over the gaps between neighbouring leaves.

        The gap between the last leaf of v's first child and the first leaf of its
        second belongs to v. An ancestor has a larger number than what lies below
        it, so the lca of two leaves is the maximum over the gaps between them.
        Row k holds the maxima of 2^k gaps.
        """
        if self._range_maxima is None:
            n_gaps = self.n_leaves - 1
            table = np.zeros((max(n_gaps.bit_length(), 1), n_gaps), dtype=np.int32)
            inner = np.arange(self.n_leaves, self.n_nodes)
            first_child = self.children[:, 0]
            start = self._leaf_ordering().start
            table[0, start[inner] + self.sizes[first_child] - 1] = inner
            for level in range(1, len(table)):
                half = 1 << (level - 1)
                entries = n_gaps - 2 * half + 1
                before = table[level - 1]
                np.maximum(
                    before[:entries], before[half : half + entries], out=table[level, :entries]
                )
            self._store("_range_maxima", table)
        assert self._range_maxima is not None
        return self._range_maxima
