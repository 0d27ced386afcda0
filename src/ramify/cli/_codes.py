# SPDX-License-Identifier: BSD-3-Clause
"""_codes.py: the ways from the root to many leaves, as far as anybody wants to read.

A chain of n points has n²/2 turns. Of each way only the first `most` turns are
written, and a leaf below them is found without walking: the leaves of any node are
one stretch of the tree's order from left to right.
"""

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.hierarchy import Hierarchy, IntArray


class PathCodes:
    """First turns to any leaf: 0 to the first child, 1 to the second.

    O(n) to make; then O(most) a leaf.

    Parameters
    ----------
    tree : Hierarchy
    most : int
        Turns of a code at most.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
    >>> PathCodes(tree, 32).of([0, 1, 2])
    ['00', '01', '1']
    >>> PathCodes(tree, 1).of([0, 1, 2])
    ['0', '0', '1']
    """

    def __init__(self, tree: Hierarchy, most: int) -> None:
        self._tree = tree
        self._most = most
        nodes, depths = self._ends()
        _, start = _core.leaf_layout(tree.children)
        order = np.argsort(start[nodes])
        self._nodes, self._depths = nodes[order], depths[order]
        self._begin = start[self._nodes]
        self._start = start

    def _ends(self) -> tuple[IntArray, IntArray]:
        """Where codes end: nodes `most` steps from the root, and leaves nearer to it."""
        tree, n = self._tree, self._tree.n_leaves
        level = np.array([tree.root])
        nodes, depths = [], []
        for depth in range(self._most + 1):
            inner = level >= n
            ends = level[~inner] if depth < self._most else level
            nodes.append(ends)
            depths.append(np.full(len(ends), depth))
            level = tree.children[level[inner] - n].ravel()
            if len(level) == 0:
                break
        return np.concatenate(nodes), np.concatenate(depths)

    def of(self, leaves: npt.ArrayLike) -> list[str]:
        """The codes of some leaves."""
        tree = self._tree
        wanted = np.asarray(leaves, dtype=np.int64)
        end = np.searchsorted(self._begin, self._start[wanted], side="right") - 1
        node, place = self._nodes[end], self._depths[end] - 1
        turns = np.zeros((len(wanted), self._most), dtype=np.uint8)  # 0 ends a text
        rows = np.arange(len(wanted))
        for _ in range(self._most):
            below = place >= 0
            rows, node, place = rows[below], node[below], place[below]
            if len(rows) == 0:
                break
            parent = tree.parents[node]
            second = tree.children[parent - tree.n_leaves, 1] == node
            turns[rows, place] = ord("0") + second
            node, place = parent, place - 1
        codes: list[str] = turns.view(f"S{self._most}").ravel().astype(str).tolist()
        return codes
