# SPDX-License-Identifier: BSD-3-Clause
"""_of_edges.py: what a live tree does whose points came as edges, and not as rows.

Such a model has a ``GraphStream`` where others have a tree of rows. What needs rows, or a tree that
the core keeps, is refused with what to do instead.
"""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from ramify import archive
from ramify.errors import BrokenTreeError, UnreadableFileError
from ramify.estimators import _edge_reads, _edges
from ramify.estimators._changing import ChangingClusterer
from ramify.estimators._choice import flat_options, from_flat
from ramify.estimators._graph_stream import GraphStream, Weights
from ramify.estimators._guard import alone
from ramify.estimators._live import Live
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ids import Id


class OfEdgesError(ValueError, AttributeError):
    """A tree of edges was asked what only one of rows can answer.

    Examples
    --------
    >>> import ramify
    >>> hasattr(ramify.LiveGraphHAC().fit(edges=([0], [1], [1.0])), "n_features_in_")
    False
    """


class OfEdges(ChangingClusterer):
    """A tree of rows, or of edges, which has a ``_graph``: what comes first says which."""

    _graph: GraphStream | None = None
    _labels: tuple[Any, IntArray] | None = None

    max_weight: float
    keep: Any
    history: int

    @alone
    def _take_edges(self, edges: Any, ids: Any, *, anew: bool) -> None:
        """Edges get new weights; points that are not there yet come with them."""
        graph = self._open_graph(anew=anew)
        graph.change([], *read_news(graph, edges, ids))
        earlier = self._live if self._graph is None else self._graph
        if earlier not in (None, graph):
            graph.version += earlier.version + 1
            graph.begun = graph.version
        self.__dict__.update(_graph=graph, _live=None)  # in one piece, whenever Ctrl-C comes

    @alone
    def _read_edges(self, edges: Any, ids: Any) -> tuple[list[Any], Weights]:
        """What a call with edges would change: points that come, and whole weights of pairs.

        Of ``ids`` those are left out that are there.
        """
        graph = self._open_graph(anew=False)
        if ids is not None:
            ids = [one for one in graph.read_ids(ids, "ids") if one not in graph]
        if ids == [] and edges is None:
            return [], {}
        return read_news(graph, edges, ids)

    def _open_graph(self, *, anew: bool) -> GraphStream:
        """The graph that edges go into, perhaps a new one."""
        self._check_parameters()
        self._require_no_limits()
        if not anew and self._live is not None:
            raise TypeError(
                "this tree is of rows, and takes rows; begin a tree of edges with "
                "fit(edges=(i, j, weight)), or in another model"
            )
        graph = self._graph
        if graph is None or anew:
            graph = GraphStream(self.max_weight)
        graph.settle()
        if graph.max_weight != self.max_weight:
            raise ValueError(
                f"max_weight was {graph.max_weight:g} when the first points came and is now "
                f"{self.max_weight:g}; set it back, or begin a new graph with fit"
            )
        return graph

    def _require_no_limits(self) -> None:
        """Refuse options that a graph of edges does not follow."""
        if self.keep is not None:
            raise ValueError(
                f"keep={self.keep!r} is for trees of rows; take points out of a graph of edges "
                f"with forget(ids)"
            )

    def _require_rows(self) -> None:
        """Refuse what needs rows."""
        if self._graph is not None:
            raise TypeError(
                "this tree is of edges, and takes edges=(i, j, weight); begin a tree of rows with "
                "fit(X), or in another model"
            )

    def _fitted(self) -> Live:
        if self._graph is not None and self._live is None:
            raise OfEdgesError(
                f"a {type(self).__name__} of edges answers this by its snapshot: hierarchy() has "
                f"cuts, clusters and paths; what looks at rows, remembers versions or edits the "
                f"tree is for trees of rows, which fit(X) begins"
            )
        return super()._fitted()

    def _fitted_graph(self) -> GraphStream:
        """The graph of a tree of edges, with points."""
        graph = self._graph
        assert graph is not None
        graph.settle()
        if len(graph) == 0:
            name = type(self).__name__
            raise NotFittedError(f"This {name} instance holds no points yet; call 'fit' first")
        return graph

    def forget(self, points: Id | Sequence[Id] | Any) -> int:
        """Take points out of the tree, as if they had been deleted; of a graph, with their edges.

        Parameters
        ----------
        points : id or number, or a sequence of them
            Ids if the points have ids, as those of a graph do, else arrival numbers. All must be
            there, and each once: otherwise nothing is forgotten.

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
        return super().forget(points) if self._graph is None else self._forget_ends(points)

    @alone
    def _forget_ends(self, points: Any) -> int:
        known = self._known_ends(points)
        self._fitted_graph().change(known, [], {})
        return len(known)

    def _known_ends(self, points: Any) -> list[Id]:
        graph = self._fitted_graph()
        listed = [points] if isinstance(points, str | int | np.integer) else points
        known = graph.read_ids(listed, "forget")
        for point in known:
            graph.number_of(point)
        return known

    def _may_forget(self, points: Any) -> Any:
        return super()._may_forget(points) if self._graph is None else self._known_ends(points)

    @alone
    def edges(self) -> tuple[Any, Any, FloatArray]:
        """All edges of a graph: ids of both ends, the earlier point first, and weights as kept.

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC().fit(edges=([4, 9], [9, 2], [0.5, 1.0])).edges()
        (array([4, 9]), array([9, 2]), array([0.5, 1. ]))
        """
        if self._graph is None:
            super()._fitted()
            raise AttributeError("a tree of rows keeps its edges to itself; see nearest()")
        return self._fitted_graph().edges()

    # --- what is read of both ----------------------------------------------------------

    def hierarchy(self) -> Hierarchy:
        """Frozen snapshot of the tree; later changes do not touch it.

        O(n log n) for the first call after a change, then free. Its names are the points' ids, and
        its ``point_numbers`` say when they came.

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC().fit(edges=([1], [2], [0.5])).hierarchy()
        <Hierarchy: 2 points, root height 0.5, split 1 | 1>
        """
        return super().hierarchy() if self._graph is None else self._hierarchy_of_graph()

    @alone
    def _hierarchy_of_graph(self) -> Hierarchy:
        return self._fitted_graph().hierarchy()

    version = property(_edge_reads.version)
    labels_ = property(_edge_reads.labels_)
    n_leaves_ = property(_edge_reads.n_leaves_)
    n_points_ = property(_edge_reads.n_points_)
    ids_ = property(_edge_reads.ids_)
    point_numbers_ = property(_edge_reads.point_numbers_)
    cut = _edge_reads.cut
    clusters = _edge_reads.clusters
    levels = _edge_reads.levels
    layers = _edge_reads.layers
    cluster_of = _edge_reads.cluster_of
    path = _edge_reads.path
    path_code = _edge_reads.path_code
    lca = _edge_reads.lca

    def number_of(self, id: Id) -> int:
        """Arrival number of the point with this id, which it has for ever.

        Parameters
        ----------
        id : str or int

        Returns
        -------
        int

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC().fit(edges=(["a"], ["b"], [0.5])).number_of("b")
        1
        """
        return super().number_of(id) if self._graph is None else self._number_of_end(id)

    @alone
    def _number_of_end(self, id: Id) -> int:
        return self._fitted_graph().number_of(id)

    def __len__(self) -> int:
        return super().__len__() if self._graph is None else len(self._graph)

    def check(self) -> None:
        """Test every invariant of lists, graph and tree; raise ``BrokenTreeError`` if one fails.

        Slow: all edges are followed to every level, and some thousand rows, spread evenly, are
        compared with all others.

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC().fit(edges=([1], [2], [0.5])).check()
        """
        return super().check() if self._graph is None else self._check_graph()

    @alone
    def _check_graph(self) -> None:
        graph = self._fitted_graph()
        try:
            graph.check()
        except RuntimeError as error:
            raise BrokenTreeError(str(error)) from error
        graph.hierarchy().check()

    # --- files and pickles -------------------------------------------------------------

    def _to_saved(self) -> tuple[dict[str, Any], dict[str, archive.Array]]:
        return super()._to_saved() if self._graph is None else self._graph_to_saved(self._graph)

    @alone
    def _graph_to_saved(
        self, graph: GraphStream
    ) -> tuple[dict[str, Any], dict[str, archive.Array]]:
        self._check_parameters()
        content: dict[str, Any] = {
            "kind": "live graph",
            "algorithm": type(self).__name__,
            "library": version("ramify"),
            "parameters": flat_options(self),
            "points": 0,
        }
        graph.settle()
        found, arrays = graph.saved()
        return {**content, "kept_max_weight": graph.max_weight, **found}, arrays

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        for name in ("_labels", "_graph"):
            state.pop(name, None)
        return state if self._graph is None else {**state, "_saved_graph": self._graph_state()}

    @alone
    def _graph_state(self) -> tuple[Any, ...]:
        graph = self._graph
        assert graph is not None
        graph.settle()
        return (graph.max_weight, *graph.saved())

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved_graph", None)
        super().__setstate__(state)
        if saved is not None:
            self._graph = GraphStream.restored(*saved)


def read_news(graph: GraphStream, edges: Any, ids: Any) -> tuple[list[Any], Weights]:
    """Points that come into a graph with a call, in order, and the weights that it brings."""
    if edges is None and ids is None:
        raise TypeError("expected rows, or edges=(i, j, weight), or ids= of points that come alone")
    first = [] if ids is None else graph.read_ids(ids, "ids")
    there = [one for one in first if one in graph]
    if there:
        raise ValueError(f"ids: {there[0]!r} is the id of a point already; every id must be new")
    named, weights = ([], {}) if edges is None else graph.read_edges(edges)
    if first and named and type(first[0]) is not type(named[0]):
        raise TypeError("ids and the ends of edges: use one type, all strings or all integers")
    came = dict.fromkeys([*first, *(one for one in named if one not in graph)])
    return list(came), weights


def from_saved(kind: Any, content: dict[str, Any], arrays: dict[str, archive.Array]) -> Any:
    """The model of edges that ``save`` wrote; UnreadableFileError if there cannot be such a one."""
    try:
        model = from_flat(kind, content["parameters"])
        model._check_parameters()
        if arrays:
            most = _edges.check_max_weight(content["kept_max_weight"])
            model._graph = GraphStream.restored(most, content, arrays)
        return model
    except (ValueError, TypeError, LookupError, OverflowError, RuntimeError) as error:
        raise UnreadableFileError(f"holds no valid model: {error}") from error
