# SPDX-License-Identifier: BSD-3-Clause
"""_model.py: ``ShardedOHAC``: the estimator's verbs, over a tree that is in several places.

A handle has no state but the way to the router: any number of processes may have one for the
same folder, to read or to write.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ramify import archive
from ramify.checks import number, whole_number
from ramify.errors import NoLabelsError
from ramify.estimators import OHAC
from ramify.estimators._reading import Assignment
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ids import Id, IdArray, Ids, as_array
from ramify.metric import METRICS
from ramify.points import FLOAT32, FLOAT64, Expected, Rows, read_row, read_rows
from ramify.ray._batches import batches, is_dataset
from ramify.ray._crew import LocalCrew
from ramify.ray._figures import metrics
from ramify.ray._head import read_only_facts
from ramify.ray._router import ClusterTable, Cut, Plan, PointChanges, Router
from ramify.ray._top import Top

#: Options of OHAC that a sharded one has.
_OPTIONS = ("metric", "linkage", "n_neighbors")
#: Blocks and bytes that a writer sends at once; it waits for the answer before it sends more.
_BLOCKS_AT_ONCE = 4
_BYTES_AT_ONCE = 128 << 20


class LocalPort:
    """The way to a router in this process."""

    def __init__(self, folder: Path, plan: Plan, threads: int) -> None:
        self.router = Router(folder, plan, LocalCrew(folder, plan.options, threads))

    def call(self, method: str, *given: Any) -> Any:
        """Ask the router."""
        return getattr(self.router, method)(*given)

    def close(self) -> None:
        """End it."""
        self.router.close()


class ShardedOHAC(BaseEstimator):  # type: ignore[misc]  # untyped
    """OHAC whose points are on several machines or in several processes, on Ray.

    A row goes to the shard that has its exact nearest point, as one machine would find it.
    Every shard grows an OHAC tree of its own; the widest parts of all of them are merged
    by exact HAC into the top of one tree. With one shard it is the tree of :class:`ramify.OHAC`,
    to the bit.

    All points are in the journals of the shards, in folders below ``path``, before a call
    that inserts them returns. A shard or the router that dies is restarted by Ray, reads its
    folder, proves that its tree is the one that was there, and goes on.

    The tree depends on the order of the rows, ``n_shards``, ``block`` and ``frontier``, and on
    nothing else: not on how the rows are cut into calls, nor on who died when.

    Parameters
    ----------
    n_shards : int
        To begin with; shards that become too large are split, and there are more then.
    path : str or path-like
        Folder of the journals, on a disk that all machines see.
    n_clusters, distance_threshold, metric, linkage, n_neighbors : optional
        As in :class:`ramify.OHAC`.
    engine : {"ray", "local"}, default="ray"
        ``"local"``: all shards in this process, without Ray; to try it, and for tests.
    address : str, optional
        Of a Ray cluster. None: that of ``RAY_ADDRESS``, or a new one on this machine.
    frontier : int, default=64
        Parts that each shard's tree is opened into for the top tree.
    block : int, default=8192
        Rows that are routed together. At the end of each block shards that have become too
        large are split.
    max_shards : int, optional
        Not more than so many. None: four times ``n_shards``.
    n_jobs : int, default=1
        Threads of each shard.
    shard_options : mapping, optional
        For Ray, about the actors of shards, such as ``{"num_cpus": 4}``.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.ray import ShardedOHAC
    >>> folder = tempfile.mkdtemp()
    >>> with ShardedOHAC(2, path=folder, n_clusters=2, engine="local") as model:
    ...     model.partial_fit([[0.0], [1.0], [9.0]]).labels_
    array([0, 0, 1])
    >>> with ShardedOHAC(2, path=folder, n_clusters=2, engine="local") as model:
    ...     len(model), model.predict([[8.0]])
    (3, array([1]))
    """

    def __init__(
        self,
        n_shards: int = 2,
        *,
        path: str | os.PathLike[str],
        n_clusters: int | None = None,
        distance_threshold: float | None = None,
        metric: str = "sqeuclidean",
        linkage: str = "average",
        n_neighbors: int = 1,
        engine: str = "ray",
        address: str | None = None,
        frontier: int = 64,
        block: int = 8192,
        max_shards: int | None = None,
        n_jobs: int = 1,
        shard_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.n_shards = n_shards
        self.path = path
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.metric = metric
        self.linkage = linkage
        self.n_neighbors = n_neighbors
        self.engine = engine
        self.address = address
        self.frontier = frontier
        self.block = block
        self.max_shards = max_shards
        self.n_jobs = n_jobs
        self.shard_options = shard_options

    # --- the way to the router --------------------------------------------------------------

    def _ask(self, method: str, *given: Any) -> Any:
        return self._port().call(method, *given)

    def _port(self) -> Any:
        port = self.__dict__.get("_way")
        if port is None:
            port = self.__dict__["_way"] = self._connect()
            self.__dict__["_me"], self.__dict__["_calls"] = uuid.uuid4().hex, 0
        return port

    def _connect(self) -> Any:
        plan = self._plan()
        folder = Path(self.path).absolute()
        threads = whole_number("n_jobs", self.n_jobs)
        if self.engine == "local":
            return LocalPort(folder, plan, threads)
        if self.engine != "ray":
            raise ValueError(f"engine={self.engine!r}: expected 'ray' or 'local'")
        from ramify.ray._actors import RayPort

        resources = dict(self.shard_options or {})
        return RayPort(folder, plan, address=self.address, threads=threads, resources=resources)

    def _plan(self) -> Plan:
        shards = whole_number("n_shards", self.n_shards)
        options = {name: getattr(self, name) for name in _OPTIONS}
        OHAC(**options)._check_parameters()
        most = self.max_shards
        return Plan(
            shards,
            options,
            whole_number("frontier", self.frontier),
            whole_number("block", self.block, least=2),
            4 * shards if most is None else whole_number("max_shards", most, least=shards),
        )

    def _key(self) -> str:
        """A name for a call, so that one that is sent twice is taken once."""
        self.__dict__["_calls"] += 1
        return f"{self.__dict__['_me']}-{self.__dict__['_calls']}"

    def close(self) -> None:
        """Have the shards take snapshots, and end them and the router; the folder stays.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local").close()
        """
        port = self.__dict__.pop("_way", None)
        if port is not None:
            port.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process finds its own way."""
        state: dict[str, Any] = {**super().__getstate__()}
        for name in ("_way", "_me", "_calls"):
            state.pop(name, None)
        return state

    # --- growing ----------------------------------------------------------------------------

    def partial_fit(self, X: Any, y: object = None, *, ids: Any = None) -> Self:
        """Insert rows; when this returns, they are in the journals.

        One batch is under way at a time: a source that is faster than the tree waits.

        Parameters
        ----------
        X : array-like of shape (n, d), Arrow table, frame, or ``ray.data.Dataset``
            A data set may be larger than the memory: it is read a batch at a time.
        y : ignored
        ids : sequence of str or of int, or for a data set the name of a column, optional

        Returns
        -------
        self

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     len(model.partial_fit([[0.0], [1.0]]).partial_fit([[5.0]]))
        3
        """
        if is_dataset(X):
            for rows, names in batches(X, ids, _BLOCKS_AT_ONCE * self.block):
                self.add(rows, ids=names)
            return self
        self.add(X, ids=ids)
        return self

    def fit(self, X: Any, y: object = None, *, ids: Any = None) -> Self:
        """As :meth:`partial_fit`, on a stream that has not begun.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     len(model.fit([[0.0], [1.0]]))
        2
        """
        if self._ask("about")["number"] > 0:
            raise ValueError(f"{self.path} has a stream in it; fit begins one, in an empty folder")
        return self.partial_fit(X, ids=ids)

    def add(self, X: Any, *, ids: Any = None, key: str | None = None) -> IntArray:
        """Insert rows, and say which numbers the points have.

        Parameters
        ----------
        X : array-like of shape (n, d)
        ids : sequence of str or of int, optional
        key : str, optional
            A name for this request: one that was answered before is not carried out again.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.add([[0.0], [1.0]], key="a"), model.add([[0.0], [1.0]], key="a")
        (array([0, 1]), array([0, 1]))
        """
        rows = read_rows(X, self._expected())
        names = None if ids is None else Ids().read(ids, len(rows))
        self._port()
        given = self._key() if key is None else key
        numbers = [np.empty(0, np.int64)]
        step = max(1, _BYTES_AT_ONCE // (rows.shape[1] * rows.itemsize))
        if self.n_shards > 1:
            step = min(step, _BLOCKS_AT_ONCE * self.block)
        for begin in range(0, len(rows), step):
            some = None if names is None else names[begin : begin + step]
            part = np.ascontiguousarray(rows[begin : begin + step])
            numbers.append(self._ask("insert", part, some, f"{given}/{begin}"))
        return np.concatenate(numbers)

    def insert(self, x: npt.ArrayLike, *, id: Id | None = None) -> int:
        """Insert one point and return its number.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.insert([0.0, 1.0]), model.insert([2.0, 3.0])
        (0, 1)
        """
        row = read_row(x, self._expected())
        return int(self.add(row, ids=None if id is None else [id])[0])

    def forget(self, points: Id | Sequence[Id] | npt.NDArray[Any]) -> int:
        """Take points out of the tree, by ids or by numbers where there are no ids; how many.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]], ids=["ash", "elm"]).forget("ash")
        1
        """
        self._port()
        if isinstance(points, str) or not hasattr(points, "__iter__"):
            points = [points]
        plain = [one.item() if isinstance(one, np.generic) else one for one in points]
        return int(self._ask("forget", plain, self._key()))

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

    def __len__(self) -> int:
        if "_way" not in self.__dict__ and read_only_facts(Path(self.path)) is None:
            return 0
        return int(self._ask("about")["points"])

    def __bool__(self) -> bool:
        return True

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

    # --- checks -----------------------------------------------------------------------------------

    def _expected(self) -> Expected:
        about = self._ask("about")
        metric = METRICS[self.metric]
        if about["width"] is None:
            return Expected(type(self).__name__, metric)
        dtype = FLOAT32 if about["dtype"] == "float32" else FLOAT64
        return Expected(type(self).__name__, metric, dtype, about["width"])

    def _require_points(self) -> None:
        if self._ask("about")["points"] == 0:
            raise NotFittedError("This ShardedOHAC holds no points yet; call 'partial_fit' first")

    def _own_cut(self) -> Cut:
        if self.n_clusters is None and self.distance_threshold is None:
            raise NoLabelsError(
                "ShardedOHAC has no labels, because neither n_clusters nor distance_threshold is "
                "set; set one, or use cut(...)"
            )
        if self.n_clusters is not None and self.distance_threshold is not None:
            raise NoLabelsError("set n_clusters or distance_threshold, not both")
        if self.n_clusters is None:
            assert self.distance_threshold is not None
            return self._cut(None, self.distance_threshold, None)
        return self._cut(self.n_clusters, None, None)

    def _cut(self, n_clusters: object, height: object, max_size: object) -> Cut:
        """The cut that a call asks for: one of the three, or the model's own."""
        asked = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        given = {name: value for name, value in asked.items() if value is not None}
        if not given:
            return self._own_cut()
        self._require_points()
        if len(given) > 1:
            raise ValueError(f"give one of {', '.join(asked)}, or none")
        ((name, value),) = given.items()
        if name == "height":
            return name, number(name, value)
        if name == "max_size":
            return name, whole_number(name, value)
        return name, whole_number(name, value, most=len(self), why="the number of points")
