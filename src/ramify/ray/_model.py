# SPDX-License-Identifier: BSD-3-Clause
"""_model.py: ``ShardedOHAC``: the estimator's verbs, over a tree that is in several places.

A handle has no state but the way to the router: any number of processes may have one for the
same folder, to read or to write.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ramify.hierarchy import IntArray
from ramify.ids import Id, Ids
from ramify.points import read_row, read_rows
from ramify.ray._batches import batches, is_dataset
from ramify.ray._reading import ShardReader

#: Blocks and bytes that a writer sends at once; it waits for the answer before it sends more.
_BLOCKS_AT_ONCE = 4
_BYTES_AT_ONCE = 128 << 20


class ShardedOHAC(ShardReader):
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
