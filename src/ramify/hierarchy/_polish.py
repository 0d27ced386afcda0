# SPDX-License-Identifier: BSD-3-Clause
"""_polish.py: a tree with a better top, by the core's live tree."""

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import one_of, whole_number
from ramify.hierarchy._rows import Rows, read_own_rows
from ramify.hierarchy._tree import Tree
from ramify.metric import METRICS

_LINKAGES = ("average", "centroid", "ward")


class Polishing(Tree):
    """Trees that are made better."""

    __slots__ = ()

    def polish(
        self,
        X: npt.ArrayLike,
        m: int | None = None,
        *,
        metric: Literal["sqeuclidean", "cosine", "dot"] = "sqeuclidean",
        linkage: Literal["average", "centroid", "ward"] = "average",
    ) -> Self:
        """The tree with its top merged anew, as offline HAC would, if that makes it better.

        From the root down the widest node is split until ``m`` subtrees remain, and these
        are merged by average linkage. The new top is taken only if the tree then earns more
        revenue (Moseley and Wang), exactly, under the similarity of the metric: minus the
        squared distance, or the inner product. Works on trees of other libraries, too.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows that the tree was grown on, in the same order. Leaves' weights count.
        m : int, optional
            Number of subtrees, from 3. HAC of m clusters is O(m² d) at worst. By default there
            are up to five rounds, from few subtrees to more, each kept only if it gains; the
            last has one for 10 points, but at least 24 and at most 1000.
        metric : {"sqeuclidean", "cosine", "dot"}, default="sqeuclidean"
        linkage : {"average", "centroid", "ward"}, default="average"
            What the heights of a new tree are; merges of the top are average linkage's.

        Returns
        -------
        Hierarchy
            This tree itself if it is not better; otherwise a new one, with all heights
            computed anew, the same names and numbers of points, and its own node ids.

        Examples
        --------
        >>> import ramify
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> tree = ramify.Hierarchy.from_children([[0, 2], [1, 3], [4, 5]])
        >>> tree.polish(X, m=4).children
        array([[0, 1],
               [2, 3],
               [4, 5]])
        """
        wanted = None if m is None else whole_number("m", m, least=3)
        core = live_core(self, X, metric, linkage)
        if not core.polish(wanted):
            return self
        return type(self)(*core.snapshot(), *kept(self))


def kept(tree: Tree) -> tuple[Any, ...]:
    """What a tree of another shape over the same points keeps: names, numbers and weights.

    Examples
    --------
    >>> import ramify
    >>> kept(ramify.HAC().fit([[0.0], [1.0]]).hierarchy())
    (None, array([0, 1]), None)
    """
    return tree.names, tree.point_numbers, tree.leaf_weights


def live_core(tree: Tree, X: npt.ArrayLike, metric: str, linkage: str = "average") -> Any:
    """A live tree of the core with the shape of a frozen one.

    Examples
    --------
    >>> import ramify
    >>> X = [[0.0], [1.0], [9.0]]
    >>> live_core(ramify.HAC().fit(X).hierarchy(), X, "sqeuclidean").depth(0)
    2
    """
    how = METRICS[one_of("metric", metric, tuple(METRICS))]
    of_core = one_of("linkage", linkage, _LINKAGES)
    if of_core == "ward" and not how.allows_ward:
        raise ValueError(f"linkage='ward' has no heights under metric={metric!r}")
    rows = read_own_rows(X, tree.n_leaves, "cosine" if how.unit_rows else "sqeuclidean")
    return core_over(tree, rows, how.name, of_core)


def core_over(tree: Tree, rows: Rows, metric: str, linkage: str = "average") -> Any:
    """As :func:`live_core`, of rows and names that have been checked."""
    kind = _core.LiveF32 if rows.dtype == np.float32 else _core.LiveF64
    core = kind("naive_nn", rows.shape[1], metric, linkage, 1, {})
    core.adopt(np.ascontiguousarray(rows), tree.children, tree.leaf_weights)
    return core
