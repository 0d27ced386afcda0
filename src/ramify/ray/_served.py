# SPDX-License-Identifier: BSD-3-Clause
"""_served.py: a sharded tree as the server knows trees: ``ramify serve --ray ADDRESS``.

It has the calls of a tree in a folder that the server makes. What it has not are times,
windows, and edits other than names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.estimators.seam import read_weights
from ramify.hierarchy import FloatArray, IntArray
from ramify.ids import Id, Ids
from ramify.journal import BusyError, Hit
from ramify.journal.seam import Moment, check_payloads
from ramify.metric import METRICS
from ramify.points import FLOAT32, FLOAT64, RealType, Rows
from ramify.ray._batches import Along
from ramify.ray._model import PAYLOAD_BYTES, ShardedOHAC
from ramify.ray._notes import ShardEdits, only_names
from ramify.ray._turns import Turns
from ramify.tree import READS, Receipt


class ShardStream:
    """The points of a sharded tree, as :class:`ramify.estimators.stream.PointStream` has them."""

    quick = False  #: no call is a matter of microseconds
    n_touched = 0

    def __init__(self, ask: Callable[..., Any], metric: str) -> None:
        about = ask("about")
        self._ask = ask
        self.metric = METRICS[metric]
        self.width: int | None = about["width"]
        self.dtype: RealType = FLOAT32 if about["dtype"] == "float32" else FLOAT64
        self.n_points, self.next_number = int(about["points"]), int(about["number"])
        self.id_kind: str | None = about["ids"]

    def __len__(self) -> int:
        return self.n_points

    @property
    def begun(self) -> bool:
        """Whether type and width of the rows are settled."""
        return self.width is not None

    @property
    def node_names(self) -> dict[int, str]:
        """What people call nodes, by their ids."""
        found: dict[int, str] = self._ask("names").homes
        return found

    @property
    def names_in_cuts(self) -> dict[int, str]:
        """What clusters of any cut are called, by the ids of their nodes."""
        found: dict[int, str] = self._ask("names").shown
        return found

    def all_points(self) -> None:
        """Every leaf is one point, which the snapshot says."""

    def has(self, number: int) -> bool:
        """Whether there is a point of this number."""
        return bool(self._ask("holders", np.array([number]))[0] >= 0)

    def find_meanwhile(self, point: Any) -> int | None:
        """The number of the point with this id, or with this number where there are no ids."""
        found: int | None = self._ask("has", [point])[0]
        return found

    def path(self, number: int) -> tuple[IntArray, str]:
        """Node ids from the root to a point, and the turns on the way."""
        found: tuple[IntArray, str] = self._ask("path", number)
        return found

    def depth(self, number: int) -> int:
        """Number of merges above a point."""
        return len(self.path(number)[1])

    def nearest(self, rows: Rows, k: int, threads: int = 1) -> tuple[IntArray, FloatArray]:
        """Numbers and distances of the k stored points nearest to each row."""
        numbers, distances, _ = self._ask("nearest", rows, k)
        return numbers, distances


class ServedTree:
    """A sharded tree with the calls that the server makes of a tree in a folder."""

    def __init__(self, path: Path, options: Mapping[str, Any], queue_rows: int) -> None:
        self.folder = path
        self._model = ShardedOHAC(folder=path, **options)
        self._turns = Turns()  # of this server's writer, and of who wants it to rest
        self._writer = ThreadPoolExecutor(1, "ramify-writer")
        self._waiting, self._most = 0, queue_rows
        self._told: Callable[[int], None] | None = None
        self._ask("about")

    def _ask(self, method: str, *given: Any) -> Any:
        return self._model._ask(method, *given)

    @property
    def stream(self) -> ShardStream:
        """Its points."""
        return ShardStream(self._ask, self._model.metric)

    def __len__(self) -> int:
        return int(self._ask("about")["points"])

    @property
    def version(self) -> int:
        """Number of the last operation, which can be asked about from now on."""
        return self._model.version

    def between(self, work: Callable[[], Any]) -> Any:
        """Have something done of one version, as far as this server's writers go."""
        with self._turns:
            return work()

    def listen(self, told: Callable[[int], None]) -> None:
        """Have a function called with each new version."""
        self._told = told

    # --- writing -----------------------------------------------------------------------------

    def add(self, X: npt.ArrayLike, **more: Any) -> Receipt:
        """Insert rows, but for those whose ids are known."""
        return self.submit_add(X, **more).result()

    def partial_fit(self, X: npt.ArrayLike, **more: Any) -> ServedTree:
        """As :meth:`add`."""
        self.add(X, **more)
        return self

    def insert(
        self, x: npt.ArrayLike, *, id: Id | None = None, sample_weight: float | None = None
    ) -> int:
        """Insert one point; its arrival number."""
        ids = None if id is None else [id]
        weights = None if sample_weight is None else [sample_weight]
        return self.add(np.asarray(x)[np.newaxis], ids=ids, sample_weight=weights).numbers[0]

    def forget(self, points: Any, *, key: str | None = None) -> int:
        """Take points out of the tree."""
        return self.submit_forget(points, key=key).result().forgotten

    def compact(self) -> int:
        """Erase from the disk what has left; the bytes of all shards then."""
        return self.submit_compact().result()

    def submit_add(
        self,
        X: npt.ArrayLike | None = None,
        *,
        edges: Any = None,
        ids: Sequence[Id] | None = None,
        payloads: Sequence[Any] | None = None,
        sample_weight: npt.ArrayLike | None = None,
        times: npt.ArrayLike | None = None,
        key: str | None = None,
        block: bool = True,
    ) -> Future[Receipt]:
        """Insert rows, but for those whose ids are known; the future has the answer."""
        if X is None or edges is not None:
            raise ValueError(
                "a tree in shards takes rows: an edge may have its ends in two shards. Edges go "
                "into a tree of LiveGraphHAC in a folder, or of a server without --ray"
            )
        if times is not None:
            raise ValueError("a sharded tree has no times")
        count = len(X)  # type: ignore[arg-type]
        if self._waiting and self._waiting + count > self._most and not block:
            raise BusyError(f"{self._waiting:,} rows wait to be written")
        along = Along(
            None if ids is None else Ids().read(ids, count),
            None if sample_weight is None else read_weights(sample_weight, count),
            check_payloads(payloads, count, PAYLOAD_BYTES),
        )
        return self._submit(lambda: self._add(np.asarray(X), along, key), count)

    def _add(self, X: npt.NDArray[Any], along: Along, key: str | None) -> Receipt:
        known: list[int | None] = [None] * len(X)
        if along.ids is not None:
            known, key = self._ask("has", along.ids), None  # ids alone say what is known
        fresh = np.array([at for at, number in enumerate(known) if number is None], np.int64)
        numbers = np.array([-1 if number is None else number for number in known], np.int64)
        step = self._model.block
        for begin in range(0, len(fresh), step):
            some = fresh[begin : begin + step]
            ids, weights, payloads = along.some(some)
            more = {"ids": ids, "sample_weight": weights, "payloads": payloads}
            with self._turns:
                named = None if key is None else f"{key}/{begin}"
                numbers[some] = self._model.add(X[some], **more, key=named)
        return Receipt(numbers.tolist(), self.version, len(X) - len(fresh))

    def submit_forget(
        self, points: Any, *, key: str | None = None, block: bool = True
    ) -> Future[Receipt]:
        """Take points out of the tree; the future has the answer."""
        wanted = [points] if isinstance(points, str | int) else list(points)

        def forget() -> Receipt:
            with self._turns:
                gone = int(self._ask("forget", wanted, key))
            return Receipt([], self.version, 0, gone)

        return self._submit(forget, 1)

    def submit_compact(self) -> Future[int]:
        """Erase from the disk what has left; the future has the bytes of all shards then."""

        def compact() -> int:
            with self._turns:
                return self._model.compact()

        return self._writer.submit(compact)

    def submit_call(
        self, verb: str, options: Mapping[str, Any], *, key: str | None = None, block: bool = True
    ) -> Future[Receipt]:
        """Have a node named; the future has the answer. Other such verbs are refused."""
        if verb != "rename":
            raise TypeError(only_names(verb))

        def rename() -> Receipt:
            with self._turns:
                self._model.edit.rename(**options)
            return Receipt([], self.version)

        return self._submit(rename, 0)

    @property
    def edit(self) -> ShardEdits:
        """What people say about it: names."""
        return self._model.edit

    def _submit(self, work: Callable[[], Receipt], rows: int) -> Future[Receipt]:
        self._waiting += rows

        def run() -> Receipt:
            try:
                return work()
            finally:
                self._waiting -= rows
                if self._told is not None:
                    self._told(self.version)

        return self._writer.submit(run)

    # --- reading -----------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name in READS or name == "keywords":
            return getattr(self._model, name)
        raise AttributeError(f"a sharded tree has no {name!r}")

    def ids_of(self, numbers: Sequence[int]) -> list[Id | None]:
        """Ids of points by their numbers."""
        if not numbers or self._ask("about")["ids"] is None:
            return [None] * len(numbers)
        found: list[Id | None] = self._ask("ids_of", [int(number) for number in numbers])
        return found

    def payloads(self, points: Sequence[Id] | npt.NDArray[Any]) -> dict[Any, Any]:
        """The payloads of points that have one, by what they were asked by."""
        return self._model.payloads(points)

    def search(self, text: str, *, limit: int = 20) -> list[Hit]:
        """Points by words of their payloads; without any such, the one of this id."""
        found = self._model.search(text, limit=limit)
        if found or self._ask("about")["ids"] != "str":
            return found
        (number,) = self._ask("has", [text])
        if number is None:
            return []
        return [Hit(number, text, self.payloads([number]).get(number))]

    def ranked(self, text: str) -> IntArray:
        """Numbers of all points that a search finds, the best of each shard first."""
        found = self.search(text, limit=max(len(self), 1))
        return np.array([hit.number for hit in found], np.int64)

    def statistics(self) -> dict[str, Any]:
        """Figures about the journals of all shards together."""
        figures = self._ask("figures")
        shards = figures["shards"]
        summed = [*("commits", "refused", "commit_seconds", "replayed", "bytes")]
        summed += ["snapshots", "compactions"]
        return {
            **{name: sum(one[name] for one in shards) for name in summed},
            "operations": figures["op"],
            "rows": figures["rows"],
            "commit_p50": max(one["commit_p50"] for one in shards),
            "commit_p99": max(one["commit_p99"] for one in shards),
            "owed_seconds": max(one["owed_seconds"] for one in shards),
            "queue_rows": self._waiting,
            "seq": figures["op"],
            "snapshot_seq": min(
                figures["op"] - (one["seq"] - one["snapshot_seq"]) for one in shards
            ),
            "sizes": figures["sizes"],
            "rate": figures["rate"],
        }

    def moment(self) -> AbstractContextManager[Moment]:
        """The tree as it is now, to be read as the bytes of a backup."""
        return self._model._moment()

    def shard_statistics(self) -> dict[str, Any]:
        """Figures shard by shard."""
        found: dict[str, Any] = self._ask("figures")
        return found

    def close(self) -> None:
        """Finish what waits, and end the shards."""
        self._writer.shutdown()
        self._model.close()
