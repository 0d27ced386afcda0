# SPDX-License-Identifier: BSD-3-Clause
"""_reading.py: what a sharded model can be asked: the whole tree, cuts, ids, versions, figures."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify import archive
from ramify.checks import whole_number
from ramify.estimators import OHAC
from ramify.estimators._reading import Assignment
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ids import Id, IdArray, as_array
from ramify.points import Rows, read_rows
from ramify.ray._figures import metrics
from ramify.ray._plan import Cut
from ramify.ray._tables import ClusterTable, PointChanges
from ramify.ray._top import Top
from ramify.ray._way import Handle


class ShardReader(Handle):
    """A sharded model, for reading."""

    # --- the whole ----------------------------------------------------------------------------

    def hierarchy(self) -> Hierarchy:
        """The whole tree, frozen, where it fits the memory of this process. O(n).

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [5.0]]).hierarchy()
        <Hierarchy: 3 points, root height 20.5, split 2 | 1>
        """
        self._require_points()
        found: Hierarchy = self._ask("hierarchy")
        return found

    def top(self) -> Top:
        """The top of the tree: its parts, and what is guaranteed. O(shards · frontier).

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(1, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [5.0]]).top()
        <Top: 1 parts of 1 shards, φ = 1.000, at least 0.000 of n·Σw>
        """
        self._require_points()
        found: Top = self._ask("top")
        return found

    def points(self) -> Rows:
        """A copy of all points as stored, in order of arrival, where they fit.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]]).points()
        array([[0.],
               [1.]])
        """
        self._require_points()
        rows: Rows = self._ask("points")[1]
        return rows

    def to_model(self) -> OHAC:
        """A plain model of the whole tree, which goes on from here on one machine.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]]).to_model()
        OHAC()
        """
        self._require_points()
        found: OHAC = self._ask("model")
        found.n_clusters, found.distance_threshold = self.n_clusters, self.distance_threshold
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole tree to one file, as a plain model, where it fits the memory.

        The journals need no saving. ``ramify.load`` reads the file.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import ramify
        >>> from ramify.ray import ShardedOHAC
        >>> file = pathlib.Path(tempfile.mkdtemp(), "tree.ramify")
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [5.0]]).save(file)
        >>> len(ramify.load(file))
        3
        """
        archive.write(path, *self.to_model()._to_saved())

    # --- cuts ---------------------------------------------------------------------------------

    @property
    def labels_(self) -> IntArray:
        """Cluster of every point, in order of arrival, from 0 in order of first points."""
        labels: IntArray = self._ask("labels", self._own_cut())[1]
        return labels

    @property
    def n_clusters_(self) -> int:
        """Number of clusters in ``labels_``."""
        return len(self._ask("clusters", self._own_cut()))

    def cut(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
    ) -> IntArray:
        """Label every point with its cluster, in any cut of the tree as it is now.

        Parameters
        ----------
        n_clusters, height, max_size : optional
            As in :meth:`ramify.OHAC.cut`: give one, or none for the model's own.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [9.0]]).cut(n_clusters=2)
        array([0, 0, 1])
        """
        labels: IntArray = self._ask("labels", self._cut(n_clusters, height, max_size))[1]
        return labels

    def cluster_of(
        self,
        points: npt.ArrayLike,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
    ) -> tuple[IntArray, IntArray]:
        """Label and node id of the clusters of some points, by their numbers or text ids.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [9.0]]).cluster_of([2], n_clusters=2)[0]
        array([1])
        """
        given = np.atleast_1d(np.asarray(points))
        if given.dtype.kind in "UO":
            given = np.array([self.number_of(one) for one in given.tolist()])
        cut = self._cut(n_clusters, height, max_size)
        found: tuple[IntArray, IntArray] = self._ask("cluster_of", given.astype(np.int64), cut)
        return found

    def predict(self, X: npt.ArrayLike) -> IntArray:
        """Label of the stored point nearest to each row; nothing is inserted.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), n_clusters=2, engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [9.0]]).predict([[8.0], [0.4]])
        array([1, 0])
        """
        return self._assigned(X, self._own_cut()).labels

    def assign(
        self,
        X: npt.ArrayLike,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
    ) -> Assignment:
        """Where rows belong, in any cut of the tree as it is now; nothing is inserted.

        As :meth:`ramify.OHAC.assign`.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     found = model.partial_fit([[0.0], [1.0], [9.0]]).assign([[7.0]], n_clusters=2)
        >>> found.labels, found.points, found.distances, found.path_codes
        (array([1]), array([2]), array([4.]), ['1'])
        """
        return self._assigned(X, self._cut(n_clusters, height, max_size))

    def _assigned(self, X: npt.ArrayLike, cut: Cut) -> Assignment:
        found: Assignment = self._ask("assign", read_rows(X, self._expected()), cut)
        return found

    def nearest(self, X: npt.ArrayLike, *, k: int | None = None) -> tuple[IntArray, FloatArray]:
        """The stored points nearest to each row, and how far they are: exact.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [9.0]]).nearest([[8.0]])
        (array([2]), array([1.]))
        """
        self._require_points()
        wanted = 1 if k is None else min(whole_number("k", k), len(self))
        numbers, distances, _ = self._ask("nearest", read_rows(X, self._expected()), wanted)
        return (numbers, distances) if k is not None else (numbers[:, 0], distances[:, 0])

    def clusters(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
    ) -> ClusterTable:
        """The clusters of a cut: ids, sizes, means, heights. No point is looked at.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     found = model.partial_fit([[0.0], [1.0], [9.0]]).clusters(n_clusters=2)
        >>> found.sizes, found.means.ravel(), found.first_points
        (array([2, 1]), array([0.5, 9. ]), array([0, 2]))
        """
        found: ClusterTable = self._ask("clusters", self._cut(n_clusters, height, max_size))
        return found

    def path_of(self, point: int | str) -> IntArray:
        """Node ids from the root down to a point, given by its number or its text id.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [5.0]]).path_of(2)
        array([ 1, -3])
        """
        wanted = self.number_of(point) if isinstance(point, str) else int(point)
        nodes: IntArray = self._ask("path", wanted)[0]
        return nodes

    # --- ids, versions, figures -----------------------------------------------------------------

    def number_of(self, id: Id) -> int:
        """Number of the point with this id.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]], ids=["ash", "elm"]).number_of("elm")
        1
        """
        (found,) = self._ask("has", [id])
        if found is None:
            raise KeyError(f"no point has the id {id!r}")
        return int(found)

    @property
    def ids_(self) -> IdArray:
        """The points' ids in order of arrival; only if the stream has ids."""
        names = self.hierarchy().names
        if names is None:
            raise AttributeError("the points of this ShardedOHAC have no ids")
        return as_array(names.tolist())

    @property
    def version(self) -> int:
        """Number of the last operation; see :meth:`changes`."""
        return int(self._ask("about")["op"])

    def changes(self, since: int) -> PointChanges:
        """Which points came and went since a version; of the last 10,000.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]]).changes(0).inserted
        array([0, 1])
        """
        found: PointChanges = self._ask("changes", whole_number("since", since, least=0))
        return found

    def figures(self) -> dict[str, Any]:
        """What can be measured: sizes, rates, seconds and memory of the router and every shard.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]]).figures()["sizes"]
        [2, 0]
        """
        found: dict[str, Any] = self._ask("figures")
        return found

    def metrics(self) -> str:
        """The figures for Prometheus, under the names that ``ramify serve`` has.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     text = model.partial_fit([[0.0], [1.0]]).metrics()
        >>> [line for line in text.splitlines() if line.startswith("ramify_points{")][0]
        'ramify_points{tree="sharded"} 2'
        """
        return metrics(self.figures(), "sharded")

    def snapshot(self) -> None:
        """Have every shard write a snapshot now, so that its next restart is quick.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]]).snapshot()
        """
        self._ask("snapshot")

    def digests(self) -> list[str | None]:
        """A digest of all that each shard's tree is: equal for trees equal to the bit. O(n d).

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     len(model.partial_fit([[0.0], [1.0]]).digests())
        2
        """
        found: list[str | None] = self._ask("digests")
        return found

    @property
    def n_leaves_(self) -> int:
        """Number of points so far."""
        return len(self)

    @property
    def n_features_in_(self) -> int:
        """Width of the rows."""
        width = self._ask("about")["width"]
        if width is None:
            raise AttributeError("this ShardedOHAC holds no points yet")
        return int(width)
