# SPDX-License-Identifier: BSD-3-Clause
"""_cuts.py: flat clusters out of a tree."""

from numbers import Integral, Real

import numpy as np

from ramify import _core
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import IntArray, expect, own


class Cuts(Tree):
    """Cuts: a label for every point."""

    __slots__ = ()

    def cut(self, *, n_clusters: int | None = None, height: float | None = None) -> IntArray:
        """Label every point with its cluster. O(n), also on a chain.

        Parameters
        ----------
        n_clusters : int, optional
            Undo the last ``n_clusters - 1`` merges, so that this many clusters remain.
        height : float, optional
            Keep only merges strictly below this height (of ``monotone_heights``), as
            scikit-learn's ``distance_threshold`` does.

        Returns
        -------
        array of shape (n,)
            Labels from 0, numbered in the order of the clusters' first points.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [5.0], [1.0]]).hierarchy()
        >>> tree.cut(n_clusters=2)
        array([0, 1, 0])
        >>> tree.cut(height=1.0)  # 0 and 2 merge at 1.0, which is not below 1.0
        array([0, 1, 2])
        """
        if (n_clusters is None) == (height is None):
            raise ValueError(
                f"give n_clusters or height, one of the two; "
                f"got n_clusters={n_clusters}, height={height}"
            )
        if height is not None:
            return self._cut_at_height(height)
        assert n_clusters is not None
        wanted = int(expect(Integral, "an int", "n_clusters", n_clusters))
        if not 1 <= wanted <= self.n_leaves:
            raise ValueError(
                f"n_clusters={wanted}: expected 1 to {self.n_leaves}, the number of points"
            )
        return own(_core.cut_labels(self.children, wanted))

    def _cut_at_height(self, height: float) -> IntArray:
        height = float(expect(Real, "a number", "height", height))
        if np.isnan(height):
            raise ValueError("height=nan: expected a number")
        kept_merges = int(np.searchsorted(self.monotone_heights, height, side="left"))
        return own(_core.cut_labels(self.children, self.n_leaves - kept_merges))
