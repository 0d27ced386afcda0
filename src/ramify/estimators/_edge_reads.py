# SPDX-License-Identifier: BSD-3-Clause
"""_edge_reads.py: what a live tree of edges answers by its snapshot, as others do by their core.

Functions of a model, which has them as its methods (_of_edges.py).
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ramify.estimators._changing import ChangingClusterer as _OfRows
from ramify.estimators._frozen import FrozenReader
from ramify.estimators._identity import InCluster
from ramify.hierarchy import Clusters, Hierarchy, IntArray, Layers, Levels

if TYPE_CHECKING:
    from ramify.estimators._of_edges import OfEdges


def version(model: "OfEdges") -> int:
    """Number of changes so far. Of rows it grows with every point; of edges with every call."""
    return _of_rows(model, "version") if model._graph is None else model._graph.version


def labels_(model: "OfEdges") -> IntArray:
    """Cluster of every point that is there, from 0 in order of first points. Read-only."""
    of_graph = FrozenReader.labels_.fget  # type: ignore[attr-defined]
    found: IntArray = _of_rows(model, "labels_") if model._graph is None else of_graph(model)
    return found


def cut(model: "OfEdges", **how: Any) -> IntArray:
    """Cluster of every point in a cut; see :meth:`Hierarchy.cut`.

    Parameters
    ----------
    **how : n_clusters, height, max_size, by
        As of other live trees; of a graph as :meth:`Hierarchy.cut` has them. By modularity the
        edges of the graph are what counts.

    Examples
    --------
    >>> import ramify
    >>> ramify.LiveGraphHAC().fit(edges=([1, 2], [2, 3], [0.9, 0.1])).cut(n_clusters=2)
    array([0, 0, 1])
    """
    if model._graph is None:
        return _OfRows.cut(model, **how)
    return model.hierarchy().cut(**_asked(model, how))


def clusters(model: "OfEdges", **how: Any) -> Clusters:
    """The clusters of a cut, as objects.

    Parameters
    ----------
    **how : n_clusters, height, max_size, min_size, small, by, texts
        As of other live trees. A graph tells them of its snapshot, without means.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.LiveGraphHAC().fit(edges=([1, 2], [2, 3], [0.9, 0.1]))
    >>> model.clusters(n_clusters=2).sizes
    array([2, 1])
    """
    if model._graph is None:
        return _OfRows.clusters(model, **how)
    return model.hierarchy().clusters(**_asked(model, how))


def levels(model: "OfEdges", *n_clusters: int, **how: Any) -> Levels:
    """Several cuts, the coarsest first; see :meth:`clusters`.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.LiveGraphHAC().fit(edges=([1, 2], [2, 3], [0.9, 0.1]))
    >>> [len(level) for level in model.levels(1, 2)]
    [1, 2]
    """
    if model._graph is None:
        return _OfRows.levels(model, *n_clusters, **how)
    return model.hierarchy().levels(*n_clusters, **how)


def layers(model: "OfEdges", **how: Any) -> Layers:
    """The few levels at which clusters last; see :meth:`Hierarchy.layers`.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.LiveGraphHAC().fit(edges=([1, 2, 3], [2, 3, 4], [0.9, 0.1, 0.8]))
    >>> model.layers(min_size=2)
    <Layers: 2 clusters>
    """
    if model._graph is None:
        return _OfRows.layers(model, **how)
    return model.hierarchy().layers(**how)


def cluster_of(model: "OfEdges", points: Any, **how: Any) -> InCluster:
    """Label and node id of the clusters of some points, by number, or by id if that is text.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.LiveGraphHAC().fit(edges=(["a", "b"], ["b", "c"], [0.9, 0.1]))
    >>> model.cluster_of(["a", "c"], n_clusters=2)[0]
    array([0, 1])
    """
    if model._graph is None:
        return _OfRows.cluster_of(model, points, **how)
    tree = model.hierarchy()
    found = tree.clusters(**_asked(model, how))
    labels = found.labels[[_place(tree, one) for one in np.atleast_1d(points).tolist()]]
    return InCluster(labels, found.node_ids[labels], found.stable_ids[labels])


def path(model: "OfEdges", point: int | str) -> IntArray:
    """Node ids from the root down to a point, whose own is -1 - its number.

    Examples
    --------
    >>> import ramify
    >>> ramify.LiveGraphHAC().fit(edges=(["a"], ["b"], [0.5])).path("b")
    array([ 1, -2])
    """
    if model._graph is None:
        return _OfRows.path(model, point)
    tree = model.hierarchy()
    *above, place = tree.path(_place(tree, point)).tolist()
    nodes = tree.node_ids[np.array(above, np.int64) - tree.n_leaves]
    return np.append(nodes, -1 - tree.point_numbers[place])


def path_code(model: "OfEdges", point: int | str) -> str:
    """The same as turns: 0 to the child with the earlier first point.

    Examples
    --------
    >>> import ramify
    >>> ramify.LiveGraphHAC().fit(edges=(["a"], ["b"], [0.5])).path_code("b")
    '1'
    """
    if model._graph is None:
        return _OfRows.path_code(model, point)
    tree = model.hierarchy()
    return tree.path_code(_place(tree, point))


def lca(model: "OfEdges", i: int | str, j: int | str) -> int:
    """Node id of the lowest common ancestor of two points.

    Examples
    --------
    >>> import ramify
    >>> ramify.LiveGraphHAC().fit(edges=(["a"], ["b"], [0.5])).lca("a", "b")
    1
    """
    if model._graph is None:
        return _OfRows.lca(model, i, j)
    one, other = model.path(i), model.path(j)
    shared = [a for a, b in zip(one.tolist(), other.tolist(), strict=False) if a == b]
    return int(shared[-1])


def n_leaves_(model: "OfEdges") -> int:
    """Number of points."""
    return len(model) if model._graph is not None else _of_rows(model, "n_leaves_")


def n_points_(model: "OfEdges") -> int:
    """Number of points that are there."""
    return len(model) if model._graph is not None else _of_rows(model, "n_points_")


def ids_(model: "OfEdges") -> Any:
    """Ids of the points that are there, in order of arrival; if they have any."""
    return _of_rows(model, "ids_") if model._graph is None else model.hierarchy().names


def point_numbers_(model: "OfEdges") -> IntArray:
    """Arrival numbers of the points that are there, in order: those of ``labels_``."""
    if model._graph is None:
        numbers: IntArray = _of_rows(model, "point_numbers_")
        return numbers
    return model.hierarchy().point_numbers


def _of_rows(model: "OfEdges", name: str) -> Any:
    """A property as any tree of rows has it."""
    return getattr(_OfRows, name).__get__(model)


def _asked(model: "OfEdges", how: dict[str, Any]) -> dict[str, Any]:
    """Options of a cut of a graph; without any those of the model's own."""
    given = {name: value for name, value in how.items() if value is not None}
    if given.get("by") == "modularity":
        return {"graph": _matrix(model), **given}
    if not given.keys() - {"small", "by", "stickiness", "texts"}:
        model._require_cut("cut without options")
        own = {"n_clusters": model.n_clusters, "height": model.distance_threshold}
        given |= own | {"min_size": model.min_size}
    return given


def _matrix(model: "OfEdges") -> sparse.csr_array:
    """The model's own graph, as a matrix of its points in order of arrival."""
    place = {one: i for i, one in enumerate(model.ids_)}
    *ends, weights = model.edges()
    a, b = (np.array([place[one] for one in side], np.int64) for side in ends)
    return sparse.csr_array((weights, (a, b)), shape=(len(place), len(place)))


def _place(tree: Hierarchy, point: Any) -> int:
    """Where in a snapshot a point is that is called by its number, or by its id if that is text."""
    if isinstance(point, str):
        return tree.place_of(point)
    at = int(np.searchsorted(tree.point_numbers, point))
    if at == tree.n_leaves or tree.point_numbers[at] != point:
        raise KeyError(f"there is no point {point!r}")
    return at
