# SPDX-License-Identifier: BSD-3-Clause
"""_groups.py: cluster objects of a live tree, and nodes by their ids.

Functions of a model, which has them as its methods (_reading.py).
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from ramify.checks import is_whole, whole_number
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
    Layers,
    Levels,
    Points,
)
from ramify.hierarchy.seam import LEAST, MOST, By, MetricName, Texts, texts_for
from ramify.ids import as_array

if TYPE_CHECKING:
    from ramify.estimators._reading import TreeReader


@live
def clusters(
    model: "TreeReader",
    *,
    n_clusters: int | None = None,
    height: float | None = None,
    max_size: int | None = None,
    min_size: int | None = None,
    small: Literal["join", "noise"] = "join",
    by: By = "height",
    resolution: float | None = None,
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
    tree = model._fitted()
    words = None if texts is None else _texts(tree, texts)
    options = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
    cut = None
    if by == "stability":
        given: dict[str, Any] = options | {"min_size": min_size}
    else:
        cut = model._cut(tree, **options, min_size=min_size, by=by, resolution=resolution)
        if not cut.joins and small == "join":
            return _clusters(model, tree, cut, words)
        given = cut.options
    moment = moment_of(tree)
    found = moment.tree._clusters_of(given, small, moment.rows, None, by)
    found = _named(_of_points(found, moment.points, words), tree)
    if cut is not None and small == "join":
        found._stable = _stable_ids(tree, cut, moment, found)
    return found


@live
def levels(
    model: "TreeReader",
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
    live = model._fitted()
    words = None if texts is None else _texts(live, texts)
    moment = moment_of(live)
    tree, points, rows, *_ = moment
    metric: MetricName = "cosine" if live.settings.metric.unit_rows else "sqeuclidean"
    found = tree.levels(*n_clusters, X=rows, min_size=min_size, small=small, by=by, metric=metric)
    levels = [_named(_of_points(level, points, words), live) for level in found]
    if by == "height" and small == "join":
        for count, level in zip(n_clusters, levels, strict=True):
            level._stable = _stable_ids(live, Cut("n_clusters", count, min_size), moment, level)
    return Levels(levels)


@live
def layers(
    model: "TreeReader",
    *,
    most: int = MOST,
    min_size: int = LEAST,
    texts: Texts | None = None,
) -> Layers:
    """The few levels of the tree as it is now at which clusters last. O(n d + n log n).

    Parameters
    ----------
    most, min_size, texts : optional
        As in :meth:`Hierarchy.layers`.

    Returns
    -------
    Layers

    Examples
    --------
    >>> import ramify
    >>> X = [[0.0], [1.0], [5.0], [6.0], [7.0], [50.0], [51.0], [52.0], [60.0], [61.0], [62.0]]
    >>> layers = ramify.OHAC().fit(X).layers(min_size=2)
    >>> layers, layers.min_sizes
    (<Layers: 2 and 3 clusters>, array([5, 3]))
    """
    live = model._fitted()
    words = None if texts is None else _texts(live, texts)
    moment = moment_of(live)
    metric: MetricName = "cosine" if live.settings.metric.unit_rows else "sqeuclidean"
    found = moment.tree.layers(moment.rows, most=most, min_size=min_size, metric=metric)
    for least, level in zip(found.min_sizes.tolist(), found, strict=True):
        _named(_of_points(level, moment.points, words), live)
        level._stable = _stable_ids(live, Cut("min_size", least), moment, level)
    return Layers(list(found), found.min_sizes, found.persistence)


@live
def leaves(model: "TreeReader", node: "SupportsIndex | str | Cluster") -> IntArray:
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
    tree = model._fitted().hierarchy()
    return tree.point_numbers[tree.leaves(_place(tree, node))]


def _clusters(model: "TreeReader", tree: Live, cut: Cut, texts: list[str] | None) -> Clusters:
    """The clusters as the core tells them; the rest looks at the tree if it is that tree."""
    before = tree.version
    arrays = tree.clusters(cut)
    version = before if tree.version == before else None

    def require_same() -> None:
        if model._live is not tree or tree.version != version:
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
    return with_names(clusters, tree.found_names().shown)


def with_names(clusters: Clusters, shown: Mapping[int, str]) -> Clusters:
    """The same, with the names that clusters show, by the ids of their nodes."""
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
