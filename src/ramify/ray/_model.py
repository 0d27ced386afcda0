# SPDX-License-Identifier: BSD-3-Clause
"""_model.py: ``ShardedOHAC``: the estimator's verbs, over a tree that is in several places.

A handle has no state but the way to the router: any number of processes may have one for the
same folder, to read or to write.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from ramify.estimators.seam import Linkage, read_weights, skipped_rows
from ramify.files import Batch, ReadOptions
from ramify.hierarchy import IntArray
from ramify.ids import Id, Ids
from ramify.journal.seam import check_payloads, plain_marks
from ramify.metric import MetricName
from ramify.points import read_row
from ramify.progress import Progress, check_progress, watch
from ramify.ray._batches import Along, batches, batches_of, files_of, is_dataset
from ramify.ray._reading import ShardReader

#: Blocks and bytes that a writer sends at once; it waits for the answer before it sends more.
_BLOCKS_AT_ONCE = 4
#: The same where there is one shard, which takes all of them in one operation, and is quicker so.
_BLOCKS_OF_ONE = 16
_BYTES_AT_ONCE = 128 << 20
#: Of each payload, as JSON.
PAYLOAD_BYTES = 65_536


class ShardedOHAC(ShardReader):
    """OHAC whose points are on several machines or in several processes, on Ray.

    A row goes to the shard that has its exact nearest point, as one machine would find it.
    Every shard grows an OHAC tree of its own; the widest parts of all of them are merged
    by exact HAC into the top of one tree. With one shard it is the tree of :class:`ramify.OHAC`,
    to the bit.

    All points are in the journals of the shards, in folders below ``folder``, before a call
    that inserts them returns. A shard or the router that dies is restarted by Ray, reads its
    folder, proves that its tree is the one that was there, and goes on.

    The tree depends on the order of the rows, ``n_shards``, ``block`` and ``frontier``, and on
    nothing else: not on how the rows are cut into calls, nor on who died when.

    Parameters
    ----------
    n_shards : int
        To begin with; shards that become too large are split, and there are more then.
    folder : str or path-like
        Folder of the journals, on a disk that all machines see.
    n_clusters, distance_threshold, min_size, metric, linkage, n_neighbors : optional
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
    history : int, default=0
        How many versions can be asked about: see :meth:`changes`. Above 0 a shard keeps some 40
        bytes more for each point.
    shard_options : mapping, optional
        For Ray, about the actors of shards, such as ``{"num_cpus": 4}``.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.ray import ShardedOHAC
    >>> folder = tempfile.mkdtemp()
    >>> with ShardedOHAC(2, folder=folder, n_clusters=2, engine="local") as model:
    ...     model.partial_fit([[0.0], [1.0], [9.0]]).labels_
    array([0, 0, 1])
    >>> with ShardedOHAC(2, folder=folder, n_clusters=2, engine="local") as model:
    ...     len(model), model.predict([[8.0]])
    (3, array([1]))
    """

    def __init__(
        self,
        n_shards: int = 2,
        *,
        folder: str | os.PathLike[str],
        n_clusters: int | None = None,
        distance_threshold: float | None = None,
        min_size: int | None = None,
        metric: MetricName = "sqeuclidean",
        linkage: Linkage = "average",
        n_neighbors: int = 1,
        engine: Literal["ray", "local"] = "ray",
        address: str | None = None,
        frontier: int = 64,
        block: int = 8192,
        max_shards: int | None = None,
        n_jobs: int = 1,
        history: int = 0,
        shard_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.n_shards = n_shards
        self.folder = folder
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.min_size = min_size
        self.metric = metric
        self.linkage = linkage
        self.n_neighbors = n_neighbors
        self.engine = engine
        self.address = address
        self.frontier = frontier
        self.block = block
        self.max_shards = max_shards
        self.n_jobs = n_jobs
        self.history = history
        self.shard_options = shard_options

    # --- growing ----------------------------------------------------------------------------

    def partial_fit(
        self,
        X: Any,
        y: object = None,
        sample_weight: Any = None,
        *,
        ids: Any = None,
        payloads: Any = None,
        progress: Progress = False,
    ) -> Self:
        """Insert rows; when this returns, they are in the journals.

        One batch is under way at a time: a source that is faster than the tree waits. Readers
        are answered between two blocks of it.

        Parameters
        ----------
        X : array-like of shape (n, d), Arrow table, frame, or ``ray.data.Dataset``
            A data set may be larger than the memory: it is read a batch at a time.
        y : ignored
        sample_weight, ids, payloads : sequence, or for a data set the name of a column, optional
            As in :meth:`add`.
        progress : bool or callable
            As in :meth:`ramify.OHAC.partial_fit`. Rows that are in when it raises stay.

        Returns
        -------
        self

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     len(model.partial_fit([[0.0], [1.0]]).partial_fit([[5.0]], progress=print))
        1 1
        3
        """
        check_progress(progress)
        named = {"ids": ids, "sample_weight": sample_weight, "payloads": payloads}
        if not is_dataset(X):
            self.add(X, **named, progress=progress)
            return self
        done = 0
        with watch(progress, X.count() if progress else 0) as pulse:
            for rows, along in batches(X, named, self._rows_at_once):
                self.add(rows, **along)
                done += len(rows)
                if pulse is not None:
                    pulse(done)
        return self

    def fit(
        self,
        X: Any,
        y: object = None,
        sample_weight: Any = None,
        *,
        ids: Any = None,
        payloads: Any = None,
        progress: Progress = False,
    ) -> Self:
        """As :meth:`partial_fit`, on a stream that has not begun.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     len(model.fit([[0.0], [1.0]]))
        2
        """
        if self._ask("about")["number"] > 0:
            raise ValueError(
                f"{self.folder} has a stream in it; fit begins one, in an empty folder"
            )
        more = {"ids": ids, "payloads": payloads, "progress": progress}
        return self.partial_fit(X, None, sample_weight, **more)

    def add(
        self,
        X: Any,
        *,
        ids: Any = None,
        sample_weight: Any = None,
        payloads: Any = None,
        key: str | None = None,
        marks: Mapping[str, Any] | None = None,
        progress: Progress = False,
    ) -> IntArray:
        """Insert rows, and say which numbers the points have.

        Parameters
        ----------
        X : array-like of shape (n, d)
        ids : sequence of str or of int, optional
        sample_weight : array-like of shape (n,), optional
            How many points each row stands for. A row of weight 0 is not there: its number
            is -1.
        payloads : sequence, optional
            A text, or anything that JSON can hold, for each row, or None. Kept in the journal of
            the shard that has the point; see :meth:`payloads` and :meth:`search`.
        key : str, optional
            A name for this request: one that was answered before is not carried out again.
        marks : mapping, optional
            How far sources were read with these rows: they and the rows are in :attr:`marks` and
            in the tree together, or not at all.
        progress : bool or callable
            As in :meth:`ramify.OHAC.partial_fit`.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.add([[0.0], [1.0]], key="a"), model.add([[0.0], [1.0]], key="a")
        (array([0, 1]), array([0, 1]))
        """
        rows = self._rows(X, coming=True)
        along = Along(
            None if ids is None else Ids().read(ids, len(rows)),
            None if sample_weight is None else read_weights(sample_weight, len(rows)),
            check_payloads(payloads, len(rows), PAYLOAD_BYTES),
        )
        position = plain_marks(marks)
        self._port()
        skipped = skipped_rows("error", rows, along.weights)
        if skipped is not None:
            kept = np.flatnonzero(~skipped)
            rows, along = rows.take(kept, axis=0), along.some(kept)
        given = self._key() if key is None else key
        numbers = [np.empty(0, np.int64)]
        step = max(1, _BYTES_AT_ONCE // (rows.shape[1] * rows.itemsize))
        step = min(step, self._rows_at_once)
        with watch(progress, len(rows)) as pulse:
            for begin in range(0, max(len(rows), 1 if position else 0), step):
                some = slice(begin, begin + step)
                part = np.ascontiguousarray(rows[some])
                more = position if begin + step >= len(rows) else None
                named = along.some(some), f"{given}/{begin}", more
                numbers.append(self._ask("insert", part, *named))
                if pulse is not None:
                    pulse(begin + len(part))
        found = np.concatenate(numbers)
        if skipped is None:
            return found
        every = np.full(len(skipped), -1)
        every[kept] = found
        return every

    def add_files(
        self,
        source: str | os.PathLike[str],
        *,
        ids: str | None = None,
        sample_weight: str | None = None,
        payloads: str | None = None,
        field: str | None = None,
    ) -> int:
        """Insert the rows of a file, or of a folder's files in the order of their names.

        How far each file was read is in the journal (:attr:`marks`). A call that comes again,
        after a crash or with more files, goes on there, and the tree is that of a run without a
        crash. Rows whose ids are known are left out. One batch is in memory at a time.

        Parameters
        ----------
        source : path
            A .parquet, .feather, .arrow, .npy, .npz, .csv, .tsv or .jsonl file, or a folder of
            such. Marks call files by the folder's name and their own, wherever the folder lies.
        ids, sample_weight, payloads : str, optional
            Names of columns.
        field : str, optional
            The column of vectors; without, the only one, or all columns of numbers.

        Returns
        -------
        int
            How many rows came.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> days = pathlib.Path(tempfile.mkdtemp(), "days")
        >>> days.mkdir()
        >>> _ = (days / "monday.csv").write_text("name,x\\nash,0\\nelm,1\\n")
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.add_files(days, ids="name"), model.add_files(days, ids="name"), model.marks
        (2, 0, {'days/monday.csv': '4'})
        """
        options = ReadOptions(
            id_column=ids, label_column=payloads, weight_column=sample_weight, field=field
        )
        came = 0
        for name, path in files_of(source):
            for batch, end in batches_of(path, options, int(self.marks.get(name, 0))):
                came += self._add_batch(batch, name, end)
        return came

    def _add_batch(self, batch: Batch, name: str, end: int) -> int:
        """Insert what is new of a batch; after a crash a part of it may be known."""
        new, key = list(range(len(batch))), f"{name}/{batch.places[0]}"  # its end may grow
        if batch.ids is not None:
            new = [at for at, one in enumerate(self._ask("has", batch.ids)) if one is None]
        if not new:
            self._ask("mark", {name: str(end)})
            return 0
        ids, weights, payloads = (
            None if some is None else [some[at] for at in new]
            for some in (batch.ids, batch.weights, batch.labels)
        )
        self.add(
            batch.rows[new],
            ids=ids,
            sample_weight=weights,
            payloads=payloads,
            key=key if ids is None else None,
            marks={name: end},
        )
        return len(new)

    @property
    def _rows_at_once(self) -> int:
        return self.block * (_BLOCKS_AT_ONCE if self.n_shards > 1 else _BLOCKS_OF_ONE)

    def insert(
        self,
        x: npt.ArrayLike,
        *,
        id: Id | None = None,
        sample_weight: float | None = None,
        payload: Any = None,
    ) -> int:
        """Insert one point and return its number.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.insert([0.0, 1.0]), model.insert([2.0, 3.0])
        (0, 1)
        """
        row = read_row(x, self._expected())
        given = {"ids": id, "sample_weight": sample_weight, "payloads": payload}
        along: dict[str, Any] = {
            name: [value] for name, value in given.items() if value is not None
        }
        return int(self.add(row, **along)[0])

    def forget(self, points: Id | Sequence[Id] | npt.NDArray[Any]) -> int:
        """Take points out of the tree, by ids or by numbers where there are no ids; how many.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]], ids=["ash", "elm"]).forget("ash")
        1
        """
        self._port()
        if isinstance(points, str) or not hasattr(points, "__iter__"):
            points = [points]
        plain = [one.item() if isinstance(one, np.generic) else one for one in points]
        return int(self._ask("forget", plain, self._key()))
