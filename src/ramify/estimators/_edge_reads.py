# SPDX-License-Identifier: BSD-3-Clause
"""_edge_reads.py: what a live tree of edges answers by its snapshot, as others do by their core."""

from typing import Any

import numpy as np

from ramify.estimators._changing import ChangingClusterer
from ramify.estimators._frozen import FrozenReader
from ramify.estimators._graph_stream import GraphStream
from ramify.estimators._identity import InCluster
from ramify.hierarchy import Clusters, Hierarchy, IntArray, Levels


class EdgeReads(ChangingClusterer):
    """A tree of rows, which the core answers for, or of edges, which has a ``_graph``."""

    _graph: GraphStream | None = None
    _labels: tuple[Any, IntArray] | None = None

    @property
    def version(self) -> int:
        """Number of changes so far. Of rows it grows with every point; of edges with every call."""
        return super().version if self._graph is None else self._graph.version

    @property
    def labels_(self) -> IntArray:
        """Cluster of every point that is there, from 0 in order of first points. Read-only."""
        if self._graph is None:
            return super().labels_
        found: IntArray = FrozenReader.labels_.fget(self)  # type: ignore[attr-defined]
        return found

    def cut(self, **how: Any) -> IntArray:
        """Cluster of every point in a cut; see :meth:`Hierarchy.cut`.

        Parameters
        ----------
        **how : n_clusters, height, max_size, by
            As of other live trees; of a graph as :meth:`Hierarchy.cut` has them.

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC().fit(edges=([1, 2], [2, 3], [0.9, 0.1])).cut(n_clusters=2)
        array([0, 0, 1])
        """
        if self._graph is None:
            return super().cut(**how)
        return self.hierarchy().cut(**self._asked(how))

    def _asked(self, how: dict[str, Any]) -> dict[str, Any]:
        """Options of a cut of a graph; without any those of the model's own."""
        given = {name: value for name, value in how.items() if value is not None}
        if not given.keys() - {"small", "by", "stickiness", "texts"}:
            self._require_cut("cut without options")
            own = {"n_clusters": self.n_clusters, "height": self.distance_threshold}
            given |= own | {"min_size": self.min_size}
        return given

    def clusters(self, **how: Any) -> Clusters:
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
        if self._graph is None:
            return super().clusters(**how)
        return self.hierarchy().clusters(**self._asked(how))

    def levels(self, *n_clusters: int, **how: Any) -> Levels:
        """Several cuts, the coarsest first; see :meth:`clusters`.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.LiveGraphHAC().fit(edges=([1, 2], [2, 3], [0.9, 0.1]))
        >>> [len(level) for level in model.levels(1, 2)]
        [1, 2]
        """
        if self._graph is None:
            return super().levels(*n_clusters, **how)
        return self.hierarchy().levels(*n_clusters, **how)

    def cluster_of(self, points: Any, **how: Any) -> InCluster:
        """Label and node id of the clusters of some points, by number, or by id if that is text.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.LiveGraphHAC().fit(edges=(["a", "b"], ["b", "c"], [0.9, 0.1]))
        >>> model.cluster_of(["a", "c"], n_clusters=2)[0]
        array([0, 1])
        """
        if self._graph is None:
            return super().cluster_of(points, **how)
        tree = self.hierarchy()
        found = tree.clusters(**self._asked(how))
        labels = found.labels[[_place(tree, one) for one in np.atleast_1d(points).tolist()]]
        return InCluster(labels, found.node_ids[labels], found.stable_ids[labels])

    def path(self, point: int | str) -> IntArray:
        """Node ids from the root down to a point, whose own is -1 - its number.

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC().fit(edges=(["a"], ["b"], [0.5])).path("b")
        array([ 1, -2])
        """
        if self._graph is None:
            return super().path(point)
        tree = self.hierarchy()
        *above, place = tree.path(_place(tree, point)).tolist()
        nodes = tree.node_ids[np.array(above, np.int64) - tree.n_leaves]
        return np.append(nodes, -1 - tree.point_numbers[place])

    def path_code(self, point: int | str) -> str:
        """The same as turns: 0 to the child with the earlier first point.

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC().fit(edges=(["a"], ["b"], [0.5])).path_code("b")
        '1'
        """
        if self._graph is None:
            return super().path_code(point)
        tree = self.hierarchy()
        return tree.path_code(_place(tree, point))

    def lca(self, i: int | str, j: int | str) -> int:
        """Node id of the lowest common ancestor of two points.

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC().fit(edges=(["a"], ["b"], [0.5])).lca("a", "b")
        1
        """
        if self._graph is None:
            return super().lca(i, j)
        one, other = self.path(i), self.path(j)
        shared = [a for a, b in zip(one.tolist(), other.tolist(), strict=False) if a == b]
        return int(shared[-1])

    @property
    def n_leaves_(self) -> int:
        """Number of points."""
        return len(self) if self._graph is not None else super().n_leaves_

    @property
    def n_points_(self) -> int:
        """Number of points that are there."""
        return len(self) if self._graph is not None else super().n_points_

    @property
    def ids_(self) -> Any:
        """Ids of the points that are there, in order of arrival; if they have any."""
        return super().ids_ if self._graph is None else self.hierarchy().names

    @property
    def point_numbers_(self) -> IntArray:
        """Arrival numbers of the points that are there, in order: those of ``labels_``."""
        if self._graph is None:
            return super().point_numbers_
        numbers: IntArray = self.hierarchy().point_numbers
        return numbers


def _place(tree: Hierarchy, point: Any) -> int:
    """Where in a snapshot a point is that is called by its number, or by its id if that is text."""
    if isinstance(point, str):
        return tree.place_of(point)
    at = int(np.searchsorted(tree.point_numbers, point))
    if at == tree.n_leaves or tree.point_numbers[at] != point:
        raise KeyError(f"there is no point {point!r}")
    return at
