# SPDX-License-Identifier: BSD-3-Clause
"""_cuts.py: which clusters the points of a sharded model are in, and rows would be."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ramify.checks import whole_number
from ramify.estimators.seam import (
    Assignment,
    Cut,
    InCluster,
    Levels,
    WayOfLive,
    read_sure,
    wanted_number,
    with_names,
)
from ramify.hierarchy import Clusters, FloatArray, IntArray
from ramify.hierarchy.seam import STICKINESS, Like, read_stickiness
from ramify.ids import Id
from ramify.ray._tables import ClusterTable
from ramify.ray._way import Handle
from ramify.tree import lowest_common


class ShardCuts(Handle):
    """A sharded model, for cuts, neighbours and paths."""

    @property
    def labels_(self) -> IntArray:
        """Cluster of every point that is there, from 0 in order of first points.

        Entry i is about the point with the number ``point_numbers_[i]``.
        """
        labels: IntArray = self._ask("labels", self._own_cut())[1]
        return labels

    @property
    def point_numbers_(self) -> IntArray:
        """Arrival numbers of the points that are there, in order."""
        self._require_points()
        numbers: IntArray = self._ask("labels", Cut("n_clusters", 1))[0]
        return numbers

    @property
    def n_points_(self) -> int:
        """Number of points."""
        return len(self)

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
        min_size: int | None = None,
        like: Like | None = None,
        stickiness: float = STICKINESS,
        by: WayOfLive = "height",
        resolution: float | None = None,
    ) -> IntArray:
        """Label every point with its cluster, in any cut of the tree as it is now.

        Parameters
        ----------
        n_clusters, height, max_size, min_size : optional
            As in :meth:`ramify.OHAC.cut`; none for the model's own.
        like, stickiness, by, resolution : optional
            As there; the whole tree is looked at in one place, and all rows unless by height.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [9.0]]).cut(n_clusters=2)
        array([0, 0, 1])
        """
        given = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        cut = self._cut(by, resolution, **given, min_size=min_size)
        if like is not None:
            price = read_stickiness(stickiness)
            sticky: IntArray = self._ask("cut_like", like, wanted_number(cut), price, by)
            return sticky
        labels: IntArray = self._ask("labels", cut)[1]
        return labels

    def stable_labels(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        stickiness: float = 0.0,
    ) -> IntArray:
        """Ids of the clusters of all points that stay while the tree goes on.

        As :meth:`ramify.OHAC.stable_labels`; the router writes down which ids it gave. O(n).

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[9.0], [0.0], [8.0], [9.5]]).stable_labels(n_clusters=2)
        ...     model.partial_fit([[8.8], [-50.0]]).stable_labels(n_clusters=2)
        array([0, 1, 0, 0])
        array([0, 0, 0, 0, 0, 2])
        """
        cut = self._cut(n_clusters=n_clusters, height=height, max_size=max_size, min_size=min_size)
        found: IntArray = self._ask("stable_labels", cut, read_stickiness(stickiness))
        return found

    def cluster_of(
        self,
        points: npt.ArrayLike,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        by: WayOfLive = "height",
        resolution: float | None = None,
    ) -> InCluster:
        """Label and node id of the clusters of some points, by their numbers or text ids.

        The answer is a tuple of both, which also has ``stable_ids``.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [9.0]]).cluster_of([2], n_clusters=2)[0]
        array([1])
        """
        given = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        cut = self._cut(by, resolution, **given, min_size=min_size)
        found: InCluster = self._ask("cluster_of", self._numbers_of(points), cut)
        return found

    def _numbers_of(self, points: npt.ArrayLike) -> IntArray:
        """Arrival numbers of points that are given by them, or by ids that are text."""
        given = np.atleast_1d(np.asarray(points))
        if given.ndim == 1 and given.dtype.kind in "UO":
            given = np.array([self.number_of(one) for one in given.tolist()], np.int64)
        if given.ndim != 1 or (given.size > 0 and given.dtype.kind not in "iu"):
            raise TypeError("points: expected whole numbers, the points', or ids that are text")
        return given.astype(np.int64)

    def predict(self, X: npt.ArrayLike, *, stable: bool = False) -> IntArray:
        """Label of the stored point nearest to each row; nothing is inserted.

        With ``stable`` what ``stable_labels`` last called its cluster; -1 if it is new since then.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), n_clusters=2, engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [9.0]]).predict([[8.0], [0.4]])
        array([1, 0])
        """
        found = self._assigned(X, self._own_cut())
        return found.stable_ids if stable else found.labels

    def assign(
        self,
        X: npt.ArrayLike,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        by: WayOfLive = "height",
        resolution: float | None = None,
        confidence: Levels = False,
        new: float | None = None,
    ) -> Assignment:
        """Where rows belong, in any cut of the tree as it is now; nothing is inserted.

        As :meth:`ramify.OHAC.assign`. Points that say how sure that is are asked in all shards.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     found = model.partial_fit([[0.0], [1.0], [9.0]]).assign([[7.0]], n_clusters=2)
        >>> found.labels, found.points, found.distances, found.path_codes
        (array([1]), array([2]), array([4.]), ['1'])
        """
        given = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        cut = self._cut(by, resolution, **given, min_size=min_size)
        sure = read_sure(confidence, new, lambda k: self._cut(by, n_clusters=k))
        return self._assigned(X, cut, *sure)

    def _assigned(self, X: npt.ArrayLike, cut: Cut, *sure: Any) -> Assignment:
        found: Assignment = self._ask("assign", self._rows(X), cut, *sure)
        return found

    def nearest(self, X: npt.ArrayLike, *, k: int | None = None) -> tuple[IntArray, FloatArray]:
        """The stored points nearest to each row, and how far they are: exact.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [9.0]]).nearest([[8.0]])
        (array([2]), array([1.]))
        """
        self._require_points()
        wanted = 1 if k is None else min(whole_number("k", k), len(self))
        numbers, distances, _ = self._ask("nearest", self._rows(X), wanted)
        return (numbers, distances) if k is not None else (numbers[:, 0], distances[:, 0])

    def clusters(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        by: WayOfLive = "height",
        resolution: float | None = None,
    ) -> Clusters:
        """The clusters of a cut, as :meth:`ramify.OHAC.clusters`. No point is looked at.

        Members and representatives of a cluster need all points in one place: ask
        ``model.hierarchy().clusters(model.points(), ...)`` for clusters that know them.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     found = model.partial_fit([[0.0], [1.0], [9.0]]).clusters(n_clusters=2)
        >>> found.sizes, found.means.ravel(), found.first_points
        (array([2, 1]), array([0.5, 9. ]), array([0, 2]))
        """
        given = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        cut = self._cut(by, resolution, **given, min_size=min_size)
        found: ClusterTable = self._ask("clusters", cut)
        clusters = Clusters(*found[:5], _no_ground)
        clusters._spreads = found.spreads
        clusters._stable = found.stable_ids
        return with_names(clusters, self._ask("names").shown)

    def path(self, point: int | str) -> IntArray:
        """Node ids from the root down to a point, given by its number or its text id.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [5.0]]).path(2)
        array([ 1, -3])
        """
        return self._path(point)[0]

    def path_code(self, point: int | str) -> str:
        """The path to a point as turns: 0 to the child with the earlier first point.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [5.0]]).path_code(1)
        '01'
        """
        return self._path(point)[1]

    def lca(self, i: int | str, j: int | str) -> int:
        """Node id of the lowest common ancestor of two points.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [5.0]]).lca(0, 2)
        1
        """
        return lowest_common(self._path(i)[0], self._path(j)[0])

    def _path(self, point: int | str) -> tuple[IntArray, str]:
        (wanted,) = self._numbers_of(point).tolist()
        found: tuple[IntArray, str] = self._ask("path", wanted)
        return found

    def number_of(self, id: Id) -> int:
        """Number of the point with this id.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]], ids=["ash", "elm"]).number_of("elm")
        1
        """
        (found,) = self._ask("has", [id])
        if found is None:
            raise KeyError(f"no point has the id {id!r}")
        return int(found)


def _no_ground() -> NoReturn:
    raise RuntimeError(
        "the points of a sharded tree are in several places: take the clusters of "
        "model.hierarchy().clusters(model.points(), ...), which know theirs"
    )
