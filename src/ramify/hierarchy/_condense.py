# SPDX-License-Identifier: BSD-3-Clause
"""_condense.py: a tree boiled down to clusters of a least size, as HDBSCAN does.

A cluster lives from lambda to lambda, a density that grows as heights fall. It
loses points in small branches and dies at a fork, where two others are born.

    n + k   number of cluster k; n is the root's, and parents come before parts
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ramify.hierarchy._forks import Forks, read_least
from ramify.hierarchy._labels import by_first_point
from ramify.hierarchy._tables import optional
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import FloatArray, IntArray, frozen

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CondensedTree:
    """A hierarchy boiled down to clusters of a least size: see :meth:`Hierarchy.condense`.

    The first four arrays are a table with a row for every point and every cluster
    but the root's, in the form and under the names of HDBSCAN's condensed tree.

    Attributes
    ----------
    parent : array of shape (n + clusters - 1,)
        The cluster that the child leaves: clusters are numbered from n, the root's.
    child : array
        A point, or a cluster.
    lambda_val : array
        The density at which it leaves.
    child_size : array
        Number of points: 1, or the size of the cluster.
    nodes : array of shape (clusters,)
        The node of the hierarchy where cluster ``n + k`` begins.
    stabilities : array of shape (clusters,)
        How much of it lives how long: the sum over its points of lambda when they
        leave it, minus lambda when it was born.
    n_points, min_size : int

    Examples
    --------
    >>> import ramify
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [99.0]]
    >>> condensed = ramify.HAC().fit(X).hierarchy().condense(3)
    >>> condensed
    <CondensedTree: 7 points, 3 clusters of at least 3 points>
    >>> condensed.labels()
    array([ 0,  0,  0,  1,  1,  1, -1])
    """

    parent: IntArray
    child: IntArray
    lambda_val: FloatArray
    child_size: IntArray
    nodes: IntArray
    stabilities: FloatArray
    n_points: int
    min_size: int

    def __repr__(self) -> str:
        clusters = f"{len(self.nodes):,} cluster{'s' if len(self.nodes) > 1 else ''}"
        return (
            f"<CondensedTree: {self.n_points:,} points, {clusters} "
            f"of at least {self.min_size:,} points>"
        )

    def to_pandas(self) -> "pd.DataFrame":
        """The table as a pandas frame, with HDBSCAN's columns. Needs the extra ``export``.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [9.0], [13.0]]).hierarchy()
        >>> print(tree.condense(2).to_pandas().to_string(index=False))
         parent  child  lambda_val  child_size
              4      5    0.008734           2
              4      6    0.008734           2
              5      0    1.000000           1
              5      1    1.000000           1
              6      2    0.062500           1
              6      3    0.062500           1
        """
        names = ("parent", "child", "lambda_val", "child_size")
        return optional("pandas", "to_pandas").DataFrame(
            {name: getattr(self, name).copy() for name in names}
        )

    def clusters(
        self, method: Literal["eom", "leaf"] = "eom", *, allow_single_cluster: bool = False
    ) -> IntArray:
        """The clusters of a flat cut, in the order of :meth:`labels`.

        Parameters
        ----------
        method : "eom" or "leaf"
            ``"eom"``, excess of mass: from each branch the cluster or those below it,
            whichever have the larger sum of stabilities. ``"leaf"``: the clusters that
            have no cluster below them: more, and finer.
        allow_single_cluster : bool
            Whether the root may be a cluster.

        Returns
        -------
        array of int
            ``nodes[clusters - n_points]`` are their nodes in the hierarchy.

        Examples
        --------
        >>> import ramify
        >>> condensed = ramify.HAC().fit([[0.0], [1.0], [9.0], [13.0]]).hierarchy().condense(2)
        >>> condensed.clusters()
        array([5, 6])
        >>> condensed.nodes[condensed.clusters() - 4]
        array([4, 5])
        """
        _, chosen = self._flat(method, allow_single_cluster)
        return chosen

    def labels(
        self, method: Literal["eom", "leaf"] = "eom", *, allow_single_cluster: bool = False
    ) -> IntArray:
        """Label every point with its cluster, or with -1 as noise.

        Parameters
        ----------
        method, allow_single_cluster :
            As in :meth:`clusters`. Where the root is the one cluster, all points are in it.

        Returns
        -------
        array of shape (n,)
            Labels from 0, numbered in the order of the clusters' first points.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [9.0], [13.0]]).hierarchy()
        >>> tree.condense(2).labels()
        array([0, 0, 1, 1])
        """
        labels, _ = self._flat(method, allow_single_cluster)
        return labels

    def _flat(self, method: str, allow_single_cluster: bool) -> tuple[IntArray, IntArray]:
        n = self.n_points
        is_point = self.child < n
        above = np.full(len(self.nodes), -1)
        above[self.child[~is_point] - n] = self.parent[~is_point] - n
        chosen = self._chosen_above(above.tolist(), method, allow_single_cluster)
        cluster = np.empty(n, dtype=np.int64)
        cluster[self.child[is_point]] = np.array(chosen)[self.parent[is_point] - n]
        labels, order = by_first_point(cluster, len(self.nodes))
        return labels, n + order

    def _chosen_above(self, above: list[int], method: str, may_be_root: bool) -> list[int]:
        """For each cluster the one chosen at it or above it, or -1."""
        if method not in ("eom", "leaf"):
            raise ValueError(f"method={method!r}: expected 'eom' or 'leaf'")
        inside = [0.0] * len(above)  # best sum of stabilities further down
        has_parts = [False] * len(above)
        chosen = [-1] * len(above)
        for k in range(len(above) - 1, -1, -1):  # parts first
            own = self.stabilities.item(k)
            stays = not has_parts[k] if method == "leaf" else not inside[k] > own
            if stays and (k > 0 or may_be_root):
                chosen[k] = k
            if k > 0:
                inside[above[k]] += max(own, inside[k])
                has_parts[above[k]] = True
        for k in range(1, len(above)):  # parents first
            if chosen[above[k]] >= 0:
                chosen[k] = chosen[above[k]]
        return chosen


class Condensing(Tree):
    """The condensed tree."""

    __slots__ = ()

    def condense(
        self, min_size: int, *, scale: Literal["inverse", "linear"] = "inverse"
    ) -> CondensedTree:
        """The tree boiled down to clusters of a least size, as HDBSCAN condenses its own.

        From the root down, a branch of fewer points than ``min_size`` is not a cluster
        but points that leave one; where two branches are large enough, a cluster ends
        and two begin. On a single linkage tree this is HDBSCAN's condensed tree, and
        its :meth:`~ramify.hierarchy.CondensedTree.labels` are HDBSCAN's labels.
        O(n log n), also on a chain.

        Parameters
        ----------
        min_size : int
            From 2 to the number of points.
        scale : "inverse" or "linear"
            How height becomes density, lambda: ``1 / height``, as in HDBSCAN, or
            ``-height``, for trees with negative heights: under the dot metric that is
            the similarity. With ``"inverse"`` lambda is infinite at height 0, and
            counts in stabilities as the largest that is not.

        Examples
        --------
        >>> import ramify
        >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [99.0]]
        >>> condensed = ramify.HAC().fit(X).hierarchy().condense(3)
        >>> condensed.labels()
        array([ 0,  0,  0,  1,  1,  1, -1])
        """
        if self.n_leaves == 1:
            raise ValueError("a tree of one point has no clusters to condense")
        if self.leaf_weights is not None and (self.leaf_weights != 1).any():
            raise ValueError(
                "leaves of this tree stand for several points, which condense() would have to "
                "take apart; use tree.expanded().condense(...)"
            )
        least = read_least(self, min_size, lowest=2)
        if scale not in ("inverse", "linear"):
            raise ValueError(f"scale={scale!r}: expected 'inverse' or 'linear'")
        if scale == "inverse" and self.monotone_heights[0] < 0:
            raise ValueError(
                f"heights go down to {self.monotone_heights[0]:g}, and 1 / height needs them "
                f"to be at least 0; condense(..., scale='linear') takes -height"
            )
        if scale == "linear":
            density = -self.monotone_heights
            return _condensed(self, least, density, root_birth=float(density[-1]))
        with np.errstate(divide="ignore", over="ignore"):
            density = 1 / np.abs(self.monotone_heights)  # of -0.0 too
        return _condensed(self, least, density, root_birth=0.0)


def _condensed(tree: Tree, least: int, density: FloatArray, root_birth: float) -> CondensedTree:
    n, forks = tree.n_leaves, Forks.of(tree, least)
    heads = _heads(tree, forks)
    # Points leave with the topmost small branch that they are in: from its parent.
    tops = np.flatnonzero(~forks.big & forks.big[tree.parents])
    tops = tops[np.argsort(forks.start[tops])]
    left = np.concatenate(
        [np.repeat(tree.parents[tops], tree.sizes[tops]), tree.parents[heads[1:]]]
    )
    child = np.concatenate([forks.leaves, n + np.arange(1, len(heads))])
    size = np.concatenate([np.ones(n, dtype=np.int64), tree.sizes[heads[1:]]])
    parent, lambda_val = n + _clusters(tree, forks, heads)[left], density[left - n]
    births = np.concatenate([[root_birth], lambda_val[n:]])
    rows = np.lexsort((child, lambda_val, parent))
    return CondensedTree(
        frozen(parent[rows], np.int64),
        frozen(child[rows], np.int64),
        frozen(lambda_val[rows], np.float64),
        frozen(size[rows], np.int64),
        frozen(heads, np.int64),
        frozen(_stabilities(parent - n, lambda_val, size, births), np.float64),
        n,
        least,
    )


def _heads(tree: Tree, forks: Forks) -> IntArray:
    """The nodes where clusters begin: the root, then from the highest fork down."""
    children = tree.children[forks.is_fork[tree.n_leaves :]]
    return np.concatenate([[tree.root], children[::-1].ravel()])


def _clusters(tree: Tree, forks: Forks, heads: IntArray) -> IntArray:
    """The cluster of every big node: that of the nearest head at or above it.

    Nodes whose leaves begin at the same place are a path that goes to the larger
    child; down that path, each head begins a new cluster.
    """
    big = np.flatnonzero(forks.big)[::-1]
    path = big[np.argsort(forks.start[big], kind="stable")]
    is_head = forks.is_head[path]
    number = np.empty(tree.n_nodes, dtype=np.int64)
    number[heads] = np.arange(len(heads))
    number[path] = number[path[is_head]][np.cumsum(is_head) - 1]
    return number


def _stabilities(
    cluster: IntArray, lambda_val: FloatArray, size: IntArray, births: FloatArray
) -> FloatArray:
    finite = lambda_val[np.isfinite(lambda_val)]
    largest = finite.max() if len(finite) else 1.0
    lived = np.minimum(lambda_val, largest) - np.minimum(births, largest)[cluster]
    sums: FloatArray = np.zeros(len(births))
    np.add.at(sums, cluster, lived * size)
    return sums
