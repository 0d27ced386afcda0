# SPDX-License-Identifier: BSD-3-Clause
"""_rows.py: what needs the tree and the rows that it was grown on."""

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify.checks import whole_number
from ramify.hierarchy._aligned import entries_for
from ramify.hierarchy._ends import leaves_end_to_end, way
from ramify.hierarchy._tree import NodeLike, Tree
from ramify.hierarchy._values import IntArray
from ramify.metric import DISTANCES, METRICS, either, names_of, unit

Rows: TypeAlias = npt.NDArray[np.floating[Any]]

#: One that is a distance.
MetricName = Literal["sqeuclidean", "cosine"]


class WithRows(Tree):
    """Examples of a cluster, and an order of the points."""

    __slots__ = ()

    def representatives(
        self,
        node: NodeLike,
        X: npt.ArrayLike,
        k: int = 3,
        *,
        metric: MetricName = "sqeuclidean",
        max_points: int = 10_000,
    ) -> IntArray:
        """A few points that show what is below a node, the most central one first.

        The first is the medoid: the point with the smallest sum of squared distances to
        all others, which is the one nearest to their mean. Each further one is as far
        as can be from those before it, among the half of the points that is nearer to
        the mean: they show how wide the cluster is, and outliers are not among them.
        Ties go to the more central point, then to the earlier one.

        Parameters
        ----------
        node : int, str or Cluster
            A leaf's only representative is itself. Text is a point's name.
        X : array-like of shape (n, d)
            The rows that the tree was grown on, in the same order. Where points have left,
            also the whole stream, points that are gone included.
        k : int
            How many; all points of a node that has fewer.
        metric : "sqeuclidean" or "cosine"
            With ``"cosine"`` only the directions of rows count.
        max_points : int
            A node of more points is looked at through this many of them, evenly spread
            over its branches, so that the root of a large tree costs no more.

        Returns
        -------
        array of at most k arrival numbers
            As ``representatives`` of a model and of a cluster; :meth:`place_of` and
            ``point_numbers`` turn places into numbers and back.

        Examples
        --------
        >>> import ramify
        >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [30.0]]
        >>> tree = ramify.HAC().fit(X).hierarchy()
        >>> tree.representatives(tree.root, X, k=2)
        array([4, 2])
        """
        v = self._one_node(node)
        wanted = whole_number("k", k)
        most = whole_number("max_points", max_points)
        leaves, start = self._leaf_ordering()
        places = np.sort(_thinned(leaves[start[v] : start[v] + self.sizes[v]], most))
        rows = read_own_rows(X, self, metric, places).astype(np.float64, copy=False)
        return self.point_numbers[places[_central_and_apart(rows, wanted)]]

    def leaf_order(
        self, X: npt.ArrayLike | None = None, *, metric: MetricName = "sqeuclidean"
    ) -> IntArray:
        """Places of the leaves from left to right: the rows of a heat map or a dendrogram.

        Every subtree is in one piece. With X, neighbours are put together: from the
        leaves up, two branches are turned so that the nearest of their ends meet (the
        method of Gruvaeus and Wainer, 1972). The sum of distances between neighbours is
        never larger than without X. O(n d), where SciPy's ``optimal_leaf_ordering``
        needs all distances.

        Parameters
        ----------
        X : array-like of shape (n, d), optional
            The rows that the tree was grown on, as in :meth:`representatives`. Without
            them, first children come first.
        metric : "sqeuclidean" or "cosine"
            With ``"cosine"`` only the directions of rows count.

        Returns
        -------
        array of shape (n,)
            Places. ``X[tree.leaf_order(X)]`` are the rows in order, of an X that has a row
            for each leaf; ``tree.point_numbers`` of them are arrival numbers.

        Examples
        --------
        >>> import ramify
        >>> X = [[0.0], [12.0], [1.0], [10.0], [3.0]]
        >>> tree = ramify.HAC().fit(X).hierarchy()
        >>> tree.leaf_order()
        array([0, 2, 4, 1, 3])
        >>> tree.leaf_order(X)
        array([0, 2, 4, 3, 1])
        """
        plain = self._leaf_ordering().leaves
        if X is None:
            return plain.copy()
        rows = read_own_rows(X, self, metric)
        turned = leaves_end_to_end(self, rows)
        return turned if way(rows, turned) <= way(rows, plain) else plain.copy()


def examples(places: IntArray, rows: Rows, k: int, most: int = 10_000) -> IntArray:
    """At most k of some leaves that show what they are, as ``representatives`` chooses them.

    Examples
    --------
    >>> import numpy as np
    >>> examples(np.array([0, 1, 2]), np.array([[0.0], [4.0], [5.0]]), 1)
    array([1])
    """
    few = _thinned(places, most)
    return few[_central_and_apart(rows[few].astype(np.float64, copy=False), k)]


def read_own_rows(
    X: npt.ArrayLike, tree: Tree, metric: str, places: IntArray | None = None
) -> Rows:
    """Check the rows of some leaves of a tree, or of all; only these are looked at.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.Hierarchy.from_children([[0, 1]])
    >>> read_own_rows([[0.0, 2.0], [3.0, 4.0]], tree, "cosine")
    array([[0. , 1. ],
           [0.6, 0.8]])
    """
    if metric not in names_of(DISTANCES):
        raise ValueError(f"metric={metric!r}: expected {either(DISTANCES)}")
    directions = METRICS[metric].unit_rows
    array = np.asarray(X)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise ValueError(
            f"X: expected a dense array of numbers of shape ({tree.n_leaves}, d), "
            f"got {array.dtype} of shape {array.shape}"
        )
    entries = entries_for("X", len(array), tree.point_numbers)
    if places is not None:
        entries = places if entries is None else entries[places]
    rows = array if entries is None else array[entries]
    is_single = rows.dtype.kind == "f" and rows.dtype.itemsize <= 4
    rows = rows.astype(np.float32 if is_single else np.float64, copy=False)
    wrong, what = ~np.isfinite(rows).all(axis=1), "a number that is not finite"
    if directions and not wrong.any():
        wrong, what = ~rows.any(axis=1), "only zeros, which has no direction"
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"X: row {row if entries is None else entries[row]} holds {what}")
    return unit(rows) if directions else rows


def _thinned(places: IntArray, most: int) -> IntArray:
    """At most so many, evenly spread."""
    if len(places) <= most:
        return places
    return places[np.arange(most) * len(places) // most]


def _central_and_apart(rows: Rows, k: int) -> IntArray:
    """Positions of the most central row, and of others far apart in the central half."""
    from_mean = ((rows - rows.mean(axis=0)) ** 2).sum(axis=1)
    half = max(k, (len(rows) + 1) // 2)
    pool = np.argsort(from_mean, kind="stable")[:half]
    chosen = [0]  # positions in the pool
    apart = np.full(len(pool), np.inf)
    while len(chosen) < min(k, len(pool)):
        apart = np.minimum(apart, ((rows[pool] - rows[pool[chosen[-1]]]) ** 2).sum(axis=1))
        apart[chosen] = -1  # not again, also among duplicates
        chosen.append(int(np.argmax(apart)))
    return pool[chosen]
