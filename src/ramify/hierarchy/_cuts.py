# SPDX-License-Identifier: BSD-3-Clause
"""_cuts.py: flat clusters out of a tree."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import by_name, one_of
from ramify.hierarchy._condense import CondensedTree, Condensing
from ramify.hierarchy._cut_options import WAYS, By, check_way
from ramify.hierarchy._cut_ways import (
    clusters_left,
    cut_apart,
    cut_by_min_size,
    labels_at,
    tops_by_max_size,
    undone_forks,
)
from ramify.hierarchy._forks import Forks
from ramify.hierarchy._modularity import N_NEIGHBORS, best_by_modularity, edges_for
from ramify.hierarchy._pruning import pruned
from ramify.hierarchy._rows import MetricName, Rows, read_own_rows
from ramify.hierarchy._sticky import (
    STICKINESS,
    Like,
    StickyLabels,
    read_like,
    read_stickiness,
    sticky_cut,
)
from ramify.hierarchy._values import IntArray, own


class Ordered(NamedTuple):
    """A tree whose heights are what a cut goes by."""

    tree: "Cuts"
    nodes: IntArray | None  # which node of the other tree each of its nodes is; None: the same


class Cuts(Condensing):
    """Cuts: a label for every point."""

    __slots__ = ()

    @by_name("n_clusters={0}", "height={0}", "max_size={0}", "min_size={0}")
    def cut(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        small: Literal["join", "noise"] = "join",
        apart: npt.ArrayLike | None = None,
        like: Like | None = None,
        stickiness: float = STICKINESS,
        by: By = "height",
        X: npt.ArrayLike | None = None,
        metric: MetricName = "sqeuclidean",
        resolution: float | None = None,
        n_neighbors: int = N_NEIGHBORS,
        graph: Any = None,
    ) -> IntArray:
        """Label every leaf with its cluster, by place.

        Give one of the first four options, or ``min_size`` with ``n_clusters`` or
        ``height``, or none with ``by="modularity"``. O(n), with ``min_size`` O(n log n), also on a
        chain; by variance O(n d + n log n).

        Parameters
        ----------
        n_clusters : int, optional
            Undo the last ``n_clusters - 1`` merges, so that this many clusters remain.
        height : float, optional
            Keep only merges strictly below this height (of ``monotone_heights``), as
            scikit-learn's ``distance_threshold`` does.
        max_size : int, optional
            The largest branches of at most this many points, wherever they are: from
            the root down, a branch is split while it is larger.
        min_size : int, optional
            As many clusters of at least this many points as the tree has, from the
            root down. Where both branches are large enough, a cluster is split in two.
            Where one is smaller, that is no split: the small branch is put aside and
            the search goes on in the other. A branch in which there is nothing left to
            split is a cluster, whole, with what was put aside inside it.

            With ``n_clusters``, only the highest splits are made, so that there are
            exactly so many clusters, each of at least ``min_size`` points; of splits at
            equal heights the later row comes first, as without ``min_size``. With
            ``height``, only splits at this height or above it.
        small : "join" or "noise"
            What becomes of a branch that was put aside before a later split:
            it joins the cluster that is found by going down from where it
            branched off, to the larger side at every split (to the first, if
            equal); or its points are labelled -1.
        apart : array-like of shape (m, 2), optional
            Pairs of points that may not be in one cluster, by arrival number, such as
            ``model.edit.list().apart``. The nodes that hold both of a
            pair are split, and then, up to ``n_clusters``, the highest of the others. Not
            with ``min_size``.
        like : array-like or mapping of int, optional
            With ``n_clusters``: the labels of an earlier cut, which this one holds on to. In the
            order of the leaves, -1 for none; or of the stream, of which the last may be
            missing; or by id or arrival number; or what ``cut(like=)`` gave before. Of all cuts
            of the tree into so many clusters the one whose loss, the sum of the heights of
            the merges that it keeps, is least after a price for each moved point is added. A
            point has moved if its cluster does not go on with its cluster of then: two go on
            with each other if they share more than half of the points of both that were there
            then and are there now. O(n k). The answer says what it has cost: see
            :class:`~ramify.hierarchy.StickyLabels`. Ties: fewer points moved, then the later
            rows undone.
        stickiness : float, default=0.01
            The price of a moved point, in units of the loss of the plain cut for each
            point; 0 for the plain cut. The larger it is, the fewer points move.
        by : {"height", "variance", "stability", "modularity"}, default="height"
            What decides which merges are undone first.

            ``"height"``: the highest ones.

            ``"variance"``, with ``n_clusters`` and if wanted ``min_size``: those whose
            undoing makes clusters tight, by cost-complexity pruning of the sum of squared
            distances from the clusters' means: the branch whose merges lower that sum the
            least on average, the weakest link, stays together the longest. Needs ``X``.
            Cuts into more and fewer clusters are nested. Wherever pruning takes away a
            whole branch, no other set of as many branches of this tree has a smaller sum;
            in between it is the best nested way, on average over all numbers of clusters.
            Ties: of equal prices the later row is undone first, as with heights.

            ``"stability"``, with ``min_size`` alone: the clusters of
            :meth:`condense` that last the longest; the tree says how many. Points in none
            of them are labelled -1, whatever ``small`` says.

            ``"modularity"``, with none of these, and with ``X`` or ``graph``: of all cuts of
            the tree, at one height or not, the one that keeps near neighbours together best; it
            says how many clusters there are. Each leaf is joined to its nearest; the modularity
            of a cut is the share of these edges that is within clusters, less ``resolution``
            times the share that chance would put there. Of equal cuts the coarser. The search
            for neighbours is what it costs: in many dimensions O(n² d).
        X : array-like of shape (n, d), optional
            By variance and modularity only: the rows that the tree was grown on, as in
            :meth:`representatives`. Rows of leaves with weights count that often.
        metric : "sqeuclidean" or "cosine"
            Of X: with ``"cosine"`` only the directions of rows count.
        resolution : float, optional
            By modularity: the larger, the more clusters there are, and the smaller; 1 is Newman's.
            By default the steadiest: of 17 from 1/4 to 4 the one whose clusters change least if it
            is doubled or halved.
        n_neighbors : int, default=10
            By modularity: how many others each row is joined to.
        graph : sparse matrix of shape (n, n), optional
            By modularity, instead of X: weights of the edges between leaves, by place. An
            entry there and one back add up.

        Returns
        -------
        array of shape (n,)
            Labels from 0, numbered in the order of the clusters' first points. Points may move
            afterwards to the cluster of their neighbours, or of the nearest mean:
            :func:`ramify.settle`.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [5.0], [1.0]]).hierarchy()
        >>> tree.cut(n_clusters=2)
        array([0, 1, 0])
        >>> tree.cut(height=1.0)  # 0 and 2 merge at 1.0, which is not below 1.0
        array([0, 1, 2])

        Two pairs, and a point far away from both:

        >>> tree = ramify.HAC().fit([[0.0], [1.0], [9.0], [10.0], [99.0]]).hierarchy()
        >>> tree.cut(max_size=3)
        array([0, 0, 1, 1, 2])
        >>> tree.cut(min_size=2)
        array([0, 0, 1, 1, 0])
        >>> tree.cut(min_size=2, small="noise")
        array([ 0,  0,  1,  1, -1])

        Two clusters, one of them a single point; and two that are of use:

        >>> tree.cut(n_clusters=2)
        array([0, 0, 0, 0, 1])
        >>> tree.cut(n_clusters=2, min_size=2)
        array([0, 0, 1, 1, 0])

        >>> tree.cut(n_clusters=4, apart=[(0, 1)])
        array([0, 1, 2, 2, 3])

        Three clusters by height are a group, and two points that are far from each other;
        by variance the group is cut in two:

        >>> X = [[0.0], [1.0], [2.0], [3.0], [9.0], [10.0], [11.0], [12.0], [30.0], [42.0]]
        >>> tree = ramify.HAC().fit(X).hierarchy()
        >>> tree.cut(n_clusters=3)
        array([0, 0, 0, 0, 0, 0, 0, 0, 1, 2])
        >>> tree.cut(n_clusters=3, by="variance", X=X)
        array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
        """
        options = {
            "n_clusters": n_clusters,
            "height": height,
            "max_size": max_size,
            "min_size": min_size,
        }
        check_way(by, options, X, resolution)
        if small not in ("join", "noise"):
            raise ValueError(f"small={small!r}: expected 'join' or 'noise'")
        if small == "noise" and min_size is None:
            raise ValueError("small='noise' goes with min_size; other cuts put no branch aside")
        if like is not None:
            return self._cut_like(like, stickiness, options, apart, by, X, metric)
        if by != "modularity" and graph is not None:
            raise ValueError(f"graph goes with by='modularity', not with by={by!r}")
        if apart is not None and np.size(apart) > 0:
            if min_size is not None or by != "height":
                raise ValueError(
                    "apart goes with n_clusters, height or max_size, not min_size, and with "
                    'by="height"'
                )
            return cut_apart(self, apart, n_clusters, height, max_size)
        if by == "modularity":
            rows = None if X is None else read_own_rows(X, self, metric)
            edges = edges_for(self, rows, n_neighbors, graph)
            return self._labels_at(best_by_modularity(self, edges, resolution).nodes)
        if by == "stability":
            return self._condensed(min_size).labels()
        if by == "variance":
            rows = None if X is None else read_own_rows(X, self, metric)
            return self._ordered(by, rows).tree.cut(
                n_clusters=n_clusters, min_size=min_size, small=small
            )
        if max_size is not None:
            return labels_at(self, tops_by_max_size(self, max_size))
        if min_size is not None:
            return cut_by_min_size(self, min_size, small, n_clusters, height)
        return own(_core.cut_labels(self.children, clusters_left(self, n_clusters, height)))

    def cut_many(
        self,
        n_clusters: Sequence[int] | npt.NDArray[np.integer] | None = None,
        *,
        heights: Sequence[float] | npt.NDArray[np.floating] | None = None,
        by: Literal["height", "variance"] = "height",
        X: npt.ArrayLike | None = None,
        metric: MetricName = "sqeuclidean",
    ) -> IntArray:
        """Several cuts at once: a column of labels for each, as :meth:`cut` gives them.

        The finest cut is made on the whole tree, the others on its clusters alone.

        Parameters
        ----------
        n_clusters : sequence of int, optional
        heights : sequence of float, optional
            Give one of the two.
        by, X, metric : optional
            As in :meth:`cut`; by variance the tree is pruned once for all of them.

        Returns
        -------
        array of shape (n, number of cuts)

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [5.0], [1.0]]).hierarchy()
        >>> tree.cut_many([1, 2, 3])
        array([[0, 0, 0],
               [0, 1, 1],
               [0, 0, 2]])
        """
        if (n_clusters is None) == (heights is None):
            raise ValueError("give n_clusters or heights, one of the two")
        if one_of("by", by, WAYS[:2]) == "variance" or X is not None:
            check_way(by, {"n_clusters": n_clusters, "heights": heights}, X)
            rows = None if X is None else read_own_rows(X, self, metric)
            return self._ordered(by, rows).tree.cut_many(n_clusters)
        if heights is not None:
            counts = [clusters_left(self, None, height) for height in _each(heights, "heights")]
        else:
            assert n_clusters is not None
            counts = [clusters_left(self, count, None) for count in _each(n_clusters, "n_clusters")]
        finest = max(counts, default=1)
        labels = own(_core.cut_labels(self.children, finest))
        top = self._merges_of(labels, finest)
        columns = np.empty((self.n_leaves, len(counts)), dtype=np.int64)
        for column, count in enumerate(counts):
            columns[:, column] = _core.cut_labels(top, count)[labels]
        return columns

    def _cut_like(
        self,
        like: Like,
        stickiness: float,
        options: dict[str, Any],
        apart: npt.ArrayLike | None,
        by: By,
        X: npt.ArrayLike | None,
        metric: MetricName,
    ) -> IntArray:
        """A cut that holds on to the clusters of an earlier one; see :meth:`cut`."""
        given = {name for name, value in options.items() if value is not None}
        if given != {"n_clusters"} or apart is not None or by not in WAYS[:2]:
            raise ValueError("like goes with n_clusters, and if wanted with by='variance'")
        count = clusters_left(self, options["n_clusters"], None)
        then, price = read_like(self, like), read_stickiness(stickiness)
        ordered = self._ordered(by, None if X is None else read_own_rows(X, self, metric)).tree
        found = sticky_cut(ordered, then, count, price)
        return StickyLabels(ordered._labels_at(found.nodes), found, self.point_numbers)

    def _ordered(self, by: By, rows: Rows | None) -> Ordered:
        """The tree by whose heights to cut: this one, or one with prices for heights."""
        if by == "height":
            return Ordered(self, None)
        if rows is None:
            raise ValueError(
                "by='variance' needs the rows that the tree was grown on: give X; "
                "a live model knows its own"
            )
        order = pruned(self, rows)
        weights = self.leaf_weights
        return Ordered(type(self)(order.children, order.prices, leaf_weights=weights), order.nodes)

    def _condensed(self, min_size: int | None) -> CondensedTree:
        assert min_size is not None
        negative = bool((self.monotone_heights < 0).any())
        return self.condense(min_size, scale="linear" if negative else "inverse")

    def _merges_of(self, labels: IntArray, n_clusters: int) -> IntArray:
        """The merges above a cut, as the children of a tree over its clusters.

        Clusters are numbered by first point, as leaves are, so labels of the one
        tree's cuts are labels of the other's.
        """
        first = 2 * self.n_leaves - n_clusters  # merge above the cut
        children = self.children[len(self.children) + 1 - n_clusters :]
        leaves, start = self._leaf_ordering()
        cluster = labels[leaves[start[children]]]
        return np.where(children >= first, children - first + n_clusters, cluster)

    def _cut_nodes(self, labels: IntArray, options: dict[str, Any]) -> IntArray:
        """Where the clusters of a cut are in the tree, by label: the node with its points
        but for small branches that joined it. ``options`` are those of :meth:`cut`."""
        count, height, least = (options.get(name) for name in ("n_clusters", "height", "min_size"))
        if least is not None:
            forks = Forks.of(self, least, undone_forks(self, least, count, height))
            tops = forks.kept()
        elif options.get("max_size") is not None:
            tops = tops_by_max_size(self, options["max_size"])
        else:
            first = self.n_nodes - (clusters_left(self, count, height) - 1)  # merge above the cut
            below = self.children[first - self.n_leaves :].ravel()
            tops = below[below < first] if len(below) else np.array([self.root])
        return self._by_label(labels, tops)

    def _by_label(self, labels: IntArray, tops: IntArray) -> IntArray:
        """Nodes of clusters, in the order of their labels."""
        leaves, start = self._leaf_ordering()
        nodes = np.empty(len(tops), dtype=np.int64)
        nodes[labels[leaves[start[tops]]]] = tops
        return nodes

    def _labels_at(self, tops: IntArray) -> IntArray:
        return labels_at(self, tops)


def _each(values: Sequence[float] | npt.NDArray[np.generic], name: str) -> list[Any]:
    if np.ndim(values) != 1:
        raise ValueError(f"{name}: expected a flat sequence, got {np.ndim(values)} dimensions")
    return list(values)
