# SPDX-License-Identifier: BSD-3-Clause
"""_groups.py: cluster objects of a live tree, and nodes by their ids."""

from collections.abc import Callable
from typing import Any, Literal, SupportsIndex

from ramify.checks import is_whole, whole_number
from ramify.estimators._anchors import Found
from ramify.estimators._cut import Cut
from ramify.estimators._guard import live
from ramify.estimators._live import Live
from ramify.estimators._sticky import Moment, moment_of
from ramify.hierarchy import (
    Cluster,
    Clusters,
    Ground,
    Hierarchy,
    IntArray,
    Levels,
    Points,
    SuggestedCut,
)
from ramify.hierarchy.seam import By, MetricName, Texts, texts_for
from ramify.ids import as_array


class GroupReader:
    """Clusters of a live tree."""

    _live: Live | None
    _fitted: Callable[[], Live]
    _own_cut: Callable[[Live], Cut]
    _cut: Callable[..., Cut]
    hierarchy: Callable[[], Hierarchy]

    @live
    def clusters(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        small: Literal["join", "noise"] = "join",
        by: By = "height",
        resolution: float = 1.0,
        texts: Texts | None = None,
    ) -> Clusters:
        """The clusters of a cut of the tree as it is now, as cluster objects with an id.

        O(k log k), with ``min_size`` or ``by`` O(n log n). Members, representatives and keywords
        are worked out when they are asked for, in O(n d); not any more once the tree has
        changed. ``model.hierarchy().clusters(model.points(), ...)`` stays.

        Parameters
        ----------
        n_clusters, height, max_size, min_size, small, by, resolution : optional
            The cut, as in :meth:`Hierarchy.cut`; none for the model's own.
        texts : sequence or mapping of str, optional
            For keywords: a text for each point that is there, in the order of ``labels_``; or
            for each that ever came, in order of arrival; or by id or arrival number.

        Returns
        -------
        Clusters
            Entry i is the cluster that has the label i: ``node_ids``, ``sizes``, ``means``,
            ``heights``, ``first_points`` and more. ``to_frame()`` makes a table.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0], [6.0], [20.0]])
        >>> found = model.clusters(n_clusters=3)
        >>> found.sizes, found.means.ravel(), found.heights
        (array([2, 2, 1]), array([ 0.5,  5.5, 20. ]), array([1., 1., 0.]))
        >>> found[1]
        <Cluster 1: 2 points, height 1>
        >>> found[1].members
        array([2, 3])
        """
        tree = self._fitted()
        words = None if texts is None else _texts(tree, texts)
        options = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        cut = None
        if by == "stability":
            given: dict[str, Any] = options | {"min_size": min_size}
        else:
            cut = self._cut(tree, **options, min_size=min_size, by=by, resolution=resolution)
            if not cut.joins and small == "join":
                return self._clusters(tree, cut, words)
            given = cut.options
        moment = moment_of(tree)
        found = moment.tree._clusters_of(given, small, moment.rows, None, by)
        found = _named(_of_points(found, moment.points, words), tree)
        if cut is not None and small == "join":
            found._stable = _stable_ids(tree, cut, moment, found)
        return found

    @live
    def levels(
        self,
        *n_clusters: int,
        min_size: int | None = None,
        small: Literal["join", "noise"] = "join",
        by: Literal["height", "variance"] = "height",
        texts: Texts | None = None,
    ) -> Levels:
        """Several cuts of the tree as it is now, and which cluster sits in which. O(n d).

        Parameters
        ----------
        *n_clusters : int
            Ascending: the coarsest level first.
        min_size, small, by, texts : optional
            As in :meth:`clusters`.

        Returns
        -------
        Levels

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0], [6.0], [20.0]])
        >>> coarse, fine = model.levels(2, 3)
        >>> [(cluster.size, cluster.parent) for cluster in fine]
        [(2, 0), (2, 0), (1, 1)]
        """
        live = self._fitted()
        words = None if texts is None else _texts(live, texts)
        moment = moment_of(live)
        tree, points, rows, *_ = moment
        metric = self._rows_by
        found = tree.levels(
            *n_clusters, X=rows, min_size=min_size, small=small, by=by, metric=metric
        )
        levels = [_named(_of_points(level, points, words), live) for level in found]
        if by == "height" and small == "join":
            for count, level in zip(n_clusters, levels, strict=True):
                level._stable = _stable_ids(live, Cut("n_clusters", count, min_size), moment, level)
        return Levels(levels)

    @live
    def suggest_cuts(
        self,
        *,
        by: Literal["height", "variance"] = "height",
        most: int = 5,
        max_clusters: int | None = None,
    ) -> list[SuggestedCut]:
        """The few numbers of clusters at which the tree has a real gap, the clearest first.

        As :meth:`Hierarchy.suggest_cuts`, with the model's rows. O(n d + n log n).

        Parameters
        ----------
        by, most, max_clusters : optional
            As in :meth:`Hierarchy.suggest_cuts`.

        Returns
        -------
        list of SuggestedCut

        Examples
        --------
        >>> import ramify
        >>> from ramify import datasets
        >>> model = ramify.OHAC().fit(datasets.gmm_8().points)
        >>> [cut.n_clusters for cut in model.suggest_cuts()]
        [8, 4]
        """
        tree, _, rows = self._fitted().still()
        X = rows if by == "variance" else None
        return tree.suggest_cuts(
            X, by=by, most=most, max_clusters=max_clusters, metric=self._rows_by
        )

    @live
    def leaves(self, node: "SupportsIndex | str | Cluster") -> IntArray:
        """Numbers of the leaves below a node, in order of arrival. O(n).

        Of leaves that stand for several points each is named by its earliest; all points are
        ``members`` of clusters.

        Parameters
        ----------
        node : int, str or Cluster
            A node id, as ``clusters``, ``assign``, ``path`` and ``lca`` give it; a
            cluster; or a point's id, if that is text.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0], [6.0], [20.0]])
        >>> model.leaves(model.clusters(n_clusters=3)[1])
        array([2, 3])
        >>> model.leaves(model.lca(0, 3))
        array([0, 1, 2, 3])
        """
        tree = self._fitted().hierarchy()
        return tree.point_numbers[tree.leaves(_place(tree, node))]

    @live
    def representatives(
        self, node: "SupportsIndex | str | Cluster", k: int = 3, *, max_points: int = 10_000
    ) -> IntArray:
        """Numbers of a few points that show what is below a node, the most central first. O(n d).

        As :meth:`Hierarchy.representatives`, with the model's rows and metric.

        Parameters
        ----------
        node : int, str or Cluster
            As in :meth:`leaves`.
        k : int
            How many.
        max_points : int
            A node of more points is looked at through this many of them.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [2.0], [9.0], [10.0]])
        >>> model.representatives(model.clusters(n_clusters=2)[0], k=1)
        array([1])
        """
        tree, _, rows = self._fitted().still()
        by = self._rows_by
        place = _place(tree, node)
        return tree.representatives(place, rows, k, metric=by, max_points=max_points)

    @property
    def _rows_by(self) -> MetricName:
        """How rows are averaged and set apart: by direction, or as they are."""
        return "cosine" if self._fitted().settings.metric.unit_rows else "sqeuclidean"

    @live
    def _found_names(self) -> Found:
        """Where the names are that people gave."""
        return self._fitted().found_names()

    def _clusters(self, tree: Live, cut: Cut, texts: list[str] | None) -> Clusters:
        """The clusters as the core tells them; the rest looks at the tree if it is that tree."""
        before = tree.version
        arrays = tree.clusters(cut)
        version = before if tree.version == before else None

        def require_same() -> None:
            if self._live is not tree or tree.version != version:
                raise RuntimeError(
                    "the tree has changed since these clusters were read; ask for them again, or "
                    "take those of model.hierarchy(), which stays as it is"
                )

        def stable_ids() -> IntArray:
            found = tree.stable_ids(cut, len(arrays[0]))
            require_same()
            return found

        def look() -> Ground:
            still, points, rows = tree.still()
            require_same()
            nodes = still._nodes_of(arrays[0])
            return Ground(still, still._labels_at(nodes), nodes, rows, texts, points)

        clusters = Clusters(*arrays, look)
        clusters._stable = stable_ids
        return _named(clusters, tree)


def _stable_ids(tree: Live, cut: Cut, moment: Moment, found: Clusters) -> Callable[[], IntArray]:
    """Ids that stay of the clusters of a snapshot, looked up when they are asked for."""
    points, weights = moment.points.numbers, moment.weights
    return lambda: tree.identity.known(cut, points, found.labels, weights)


def _texts(tree: Live, texts: Texts) -> list[str]:
    """A text for each point that is there."""
    numbers = tree.numbers()
    names = None if tree.ids is None else as_array(tree.ids.of(numbers.tolist()))
    return texts_for(texts, numbers, names, tree.next_arrival)


def _of_points(clusters: Clusters, points: Points, texts: list[str] | None) -> Clusters:
    """Clusters of a snapshot, as those of a model: they know all points, and not leaves alone."""
    ground = clusters._ground()._replace(texts=texts, points=points)
    clusters._look = clusters._seen = ground
    return clusters


def _named(clusters: Clusters, tree: Live) -> Clusters:
    """The same, with what people call their nodes."""
    shown = tree.found_names().shown
    names = [shown.get(id) for id in clusters.node_ids.tolist()] if shown else []
    clusters.names = names if any(name is not None for name in names) else None
    return clusters


def _place(tree: Hierarchy, node: object) -> int:
    """Number in a snapshot of a node that was given by its id."""
    if isinstance(node, Cluster):
        return tree.node_of(node.node_id)
    if isinstance(node, str):
        return tree.place_of(node)
    if not is_whole(node):
        raise TypeError(f"node={node!r}: expected a node id, a cluster, or a point's id as text")
    return tree.node_of(whole_number("node", node, least=-(2**63)))
