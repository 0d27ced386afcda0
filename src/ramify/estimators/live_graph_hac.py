# SPDX-License-Identifier: BSD-3-Clause
"""live_graph_hac.py: HAC of a graph that changes, exact after every change."""

import os
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import NotFittedError

from ramify import archive
from ramify.errors import BrokenTreeError, UnreadableFileError
from ramify.estimators import _edges
from ramify.estimators._frozen import FrozenReader
from ramify.estimators._graph_stream import GraphStream
from ramify.estimators._guard import Guard, alone
from ramify.estimators._options import check_cut
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ids import Id


class LiveGraphHAC(FrozenReader, ClusterMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Average-linkage HAC of a graph that changes: points and edges come and go.

    After every call the tree is the one that :class:`GraphHAC` would build of the same graph,
    to the bit: whatever came first, and in whatever batches. An update looks again only at
    clusters that hold a change (:doc:`how-it-works`). Points are called by ids of yours, and ties
    are broken by these.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters in ``labels_``. At most one of this and ``distance_threshold``
        may be set, at any time; with neither there are no labels, and
        ``hierarchy().cut(...)`` makes them.
    distance_threshold : float, optional
        Clusters merge only strictly below this height. A height is 1 minus the mean weight
        between the two clusters, as a share of ``max_weight``; 1 is not connected.
    max_weight : float, default=1.0
        The largest weight that an edge may ever have: that of two points that are one and
        the same. Weights are rounded to about ``max_weight / 2**30``.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of every point that is there, in order of arrival.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    n_leaves_ : int
        Number of points that are there.
    children_ : array of shape (n - 1, 2)
        The two nodes that each merge joined; see :class:`Hierarchy`.
    distances_ : array of shape (n - 1,)
        Non-decreasing heights of the merges, from 0 to 1.
    ids_ : array of shape (n,)
        Ids of the points, in order of arrival.

    Examples
    --------
    Records that are compared as they come, and one that is withdrawn:

    >>> import ramify
    >>> model = ramify.LiveGraphHAC(distance_threshold=0.5)
    >>> model.partial_fit(edges=(["ann", "ann"], ["anne", "bob"], [0.9, 0.2])).labels_
    array([0, 0, 1])
    >>> model.partial_fit(edges=(["rob", "rob"], ["bob", "ann"], [0.8, 0.1])).labels_
    array([0, 0, 1, 1])
    >>> model.forget("anne")
    1
    >>> dict(zip(model.ids_, model.labels_.tolist()))
    {'ann': 0, 'bob': 1, 'rob': 1}
    """

    _graph: GraphStream | None = None

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        max_weight: float = 1.0,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.max_weight = max_weight

    @alone
    def fit(self, X: None = None, y: object = None, *, edges: Any, ids: Any = None) -> Self:
        """Begin a new graph with these edges; what was there before is forgotten.

        Parameters
        ----------
        X, y : ignored
            Rows go into :class:`GraphHAC`.
        edges, ids
            As in :meth:`partial_fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC(2).fit(edges=([1, 2], [2, 3], [0.9, 0.1])).labels_
        array([0, 0, 1])
        """
        self._refuse_rows(X)
        self._check_parameters()
        graph = GraphStream(self.max_weight)
        self._insert(graph, edges, ids)
        self._graph = graph
        return self

    @alone
    def partial_fit(
        self, X: None = None, y: object = None, *, edges: Any = None, ids: Any = None
    ) -> Self:
        """Give edges new weights; points that are not there yet come with them.

        One call is one change: it is made as a whole or not at all.

        Parameters
        ----------
        X, y : ignored
            Rows go into :class:`GraphHAC`.
        edges : tuple of three sequences (i, j, weight), optional
            Pairs of points, by id, and their weights from now on, 0 to ``max_weight``: 0 takes
            an edge away. A pair that comes more than once in a call has the largest of its
            weights. Points that are new come in the order in which they are named.
        ids : sequence of str or of int, optional
            Points that come first, also without an edge. None may be there already. All ids
            of a graph are strings, or all are integers.

        Returns
        -------
        self

        Examples
        --------
        >>> import ramify
        >>> model = ramify.LiveGraphHAC(distance_threshold=1.0)
        >>> model.partial_fit(edges=([7, 8], [8, 9], [0.9, 0.1]), ids=[1]).labels_
        array([0, 1, 1, 1])
        >>> model.partial_fit(edges=([8], [9], [0])).labels_
        array([0, 1, 1, 2])
        """
        self._refuse_rows(X)
        self._check_parameters()
        graph = GraphStream(self.max_weight) if self._graph is None else self._graph
        graph.settle()
        if graph.max_weight != self.max_weight:
            raise ValueError(
                f"max_weight was {graph.max_weight:g} when the first points came and is now "
                f"{self.max_weight:g}; set it back, or begin a new graph with fit"
            )
        self._insert(graph, edges, ids)
        self._graph = graph
        return self

    @alone
    def forget(self, points: Id | Sequence[Id]) -> int:
        """Take points out of the graph, and all of their edges.

        Parameters
        ----------
        points : id, or a sequence of them
            All must be there, and each once: otherwise nothing is forgotten.

        Returns
        -------
        int
            How many points were forgotten.

        Raises
        ------
        KeyError
            Naming a point that is not there.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.LiveGraphHAC().fit(edges=([1, 2], [2, 3], [0.9, 0.1]))
        >>> model.forget([1, 3]), model.ids_
        (2, array([2]))
        """
        graph = self._fitted()
        listed = [points] if isinstance(points, str | int | np.integer) else points
        known = graph.read_ids(listed, "forget")
        for point in known:
            graph.number_of(point)
        graph.change(known, [], {})
        return len(known)

    @alone
    def hierarchy(self) -> Hierarchy:
        """Frozen snapshot of the tree; later changes do not touch it. O(n log n) after a change.

        Its names are the points' ids, and its ``point_numbers`` say when they came.

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC().fit(edges=([1], [2], [0.5])).hierarchy()
        <Hierarchy: 2 points, root height 0.5, split 1 | 1>
        """
        return self._fitted().hierarchy()

    @property
    @alone
    def point_numbers_(self) -> IntArray:
        """Arrival numbers of the points that are there, in order: those of ``labels_``."""
        return self._fitted().numbers()

    @alone
    def number_of(self, id: Id) -> int:
        """Arrival number of the point with this id, which it has for ever.

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC().fit(edges=(["a"], ["b"], [0.5])).number_of("b")
        1
        """
        return self._fitted().number_of(id)

    @alone
    def edges(self) -> tuple[Any, Any, FloatArray]:
        """All edges: ids of both ends, the earlier point first, and weights as they are kept.

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC().fit(edges=([4, 9], [9, 2], [0.5, 1.0])).edges()
        (array([4, 9]), array([9, 2]), array([0.5, 1. ]))
        """
        return self._fitted().edges()

    @alone
    def check(self) -> None:
        """Test every invariant of the graph and the tree; raise ``BrokenTreeError`` if one fails.

        Slow: all edges are followed to every level.

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC().fit(edges=([1], [2], [0.5])).check()
        """
        graph = self._fitted()
        try:
            graph.check()
        except RuntimeError as error:
            raise BrokenTreeError(str(error)) from error
        if len(graph) > 0:
            graph.hierarchy().check()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file; ``ramify.load`` reads it and goes on where it was.

        Parameters
        ----------
        path : str or path-like
            By custom with the ending ``.ramify``.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import ramify
        >>> path = pathlib.Path(tempfile.mkdtemp(), "tree.ramify")
        >>> ramify.LiveGraphHAC(2).fit(edges=([1], [2], [0.5])).save(path)
        >>> ramify.load(path).partial_fit(edges=([3], [2], [1.0])).labels_
        array([0, 1, 1])
        """
        archive.write(path, *self._to_saved())

    # --- inside ------------------------------------------------------------------------

    def _insert(self, graph: GraphStream, edges: Any, ids: Any) -> None:
        if edges is None and ids is None:
            raise TypeError("expected edges=(i, j, weight), or ids= of points that come alone")
        first = [] if ids is None else graph.read_ids(ids, "ids")
        there = [one for one in first if one in graph]
        if there:
            raise ValueError(
                f"ids: {there[0]!r} is the id of a point already; every id must be new"
            )
        named, weights = ([], {}) if edges is None else graph.read_edges(edges)
        if first and named and type(first[0]) is not type(named[0]):
            raise TypeError("ids and the ends of edges: use one type, all strings or all integers")
        came = dict.fromkeys([*first, *(one for one in named if one not in graph)])
        graph.change([], list(came), weights)

    def _refuse_rows(self, X: object) -> None:
        if X is not None:
            raise TypeError(
                f"{type(self).__name__} takes edges=(i, j, weight) and no rows; GraphHAC makes a "
                f"graph of rows, offline"
            )

    def _check_parameters(self) -> None:
        check_cut(self.n_clusters, self.distance_threshold)
        _edges.check_max_weight(self.max_weight)

    def _fitted(self) -> GraphStream:
        if self._graph is not None:
            self._graph.settle()
        if self._graph is None or len(self._graph) == 0:
            name = type(self).__name__
            raise NotFittedError(f"This {name} instance holds no points yet; call 'fit' first")
        return self._graph

    def __sklearn_is_fitted__(self) -> bool:
        return self._graph is not None and len(self._graph) > 0

    def _lock(self) -> Guard:
        """The model's one guard, which __init__ may not make."""
        guard: Guard = self.__dict__.get("_guard") or self.__dict__.setdefault("_guard", Guard())
        return guard

    @alone
    def _to_saved(self) -> tuple[dict[str, Any], dict[str, archive.Array]]:
        self._check_parameters()
        content: dict[str, Any] = {
            "kind": "live graph",
            "algorithm": type(self).__name__,
            "library": version("ramify"),
            "parameters": self.get_params(deep=False),
            "points": 0,
        }
        if self._graph is None:
            return content, {}
        self._graph.settle()
        found, arrays = self._graph.saved()
        return {**content, "kept_max_weight": self._graph.max_weight, **found}, arrays

    @alone
    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {**super().__getstate__()}
        for name in ("_guard", "_labels"):
            state.pop(name, None)
        graph = state.pop("_graph", None)
        if graph is not None:
            graph.settle()
            state["_saved_graph"] = (graph.max_weight, *graph.saved())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved_graph", None)
        super().__setstate__(state)
        if saved is not None:
            self._graph = GraphStream.restored(*saved)


def from_saved(content: dict[str, Any], arrays: dict[str, archive.Array]) -> LiveGraphHAC:
    """The model that ``save`` wrote; UnreadableFileError if there cannot be such a model.

    Examples
    --------
    >>> len(from_saved(*LiveGraphHAC().fit(edges=([0], [1], [1.0]))._to_saved()))
    2
    """
    try:
        model = LiveGraphHAC(**content["parameters"])
        model._check_parameters()
        if arrays:
            most = _edges.check_max_weight(content["kept_max_weight"])
            model._graph = GraphStream.restored(most, content, arrays)
        return model
    except (ValueError, TypeError, LookupError, OverflowError, RuntimeError) as error:
        raise UnreadableFileError(f"holds no valid model: {error}") from error
