# SPDX-License-Identifier: BSD-3-Clause
"""_served.py: a sharded tree as the server knows trees: ``ramify serve --ray ADDRESS``.

It has the calls of a tree in a folder that the server makes. What it has not are times, edits and
windows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.estimators._changes import Changes
from ramify.estimators._leaving import read_weights
from ramify.estimators._reading import Assignment
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ids import Id, Ids
from ramify.journal import BusyError, Hit, Receipt
from ramify.journal._payloads import check_payloads
from ramify.metric import METRICS, Metric
from ramify.points import FLOAT32, FLOAT64, RealType, Rows
from ramify.ray._batches import Along
from ramify.ray._model import PAYLOAD_BYTES, ShardedOHAC
from ramify.ray._plan import Cut
from ramify.ray._tables import ClusterTable
from ramify.ray._turns import Turns


class Shape(NamedTuple):
    """What the server asks of a model's settings."""

    width: int
    metric: Metric


class _Ids:
    """The ids of a sharded tree, which are where the points are."""

    def __init__(self, ask: Callable[..., Any], kind: str) -> None:
        self._ask, self._kind = ask, kind

    def __iter__(self) -> Any:
        return iter(["" if self._kind == "str" else 0])  # one is enough to know their type

    def find(self, wanted: Id, n: int) -> int | None:
        """Number of the point with this id."""
        found: int | None = self._ask("has", [wanted])[0]
        return found


class LiveShards:
    """What the server asks of the growing tree itself."""

    shared = False  #: no call is a matter of microseconds
    past = None

    #: Nobody can name nodes here.
    names: ClassVar[dict[int, str]] = {}

    def __init__(self, ask: Callable[..., Any], about: Mapping[str, Any], metric: str) -> None:
        self._ask = ask
        self.settings = Shape(about["width"], METRICS[metric])
        self.dtype: RealType = FLOAT32 if about["dtype"] == "float32" else FLOAT64
        self.n_points, self.next_arrival = about["points"], about["number"]
        self.ids = None if about["ids"] is None else _Ids(ask, about["ids"])

    def __len__(self) -> int:
        return int(self.n_points)

    def has(self, number: int) -> bool:
        """Whether there is such a point."""
        return bool(self._ask("holders", np.array([number]))[0] >= 0)

    def path(self, number: int) -> tuple[IntArray, str]:
        """Node ids from the root to a point, and the turns on the way."""
        found: tuple[IntArray, str] = self._ask("path", number)
        return found

    def depth(self, number: int) -> int:
        """Number of merges above a point."""
        return len(self.path(number)[1])

    def nearest(self, rows: Rows, k: int) -> tuple[IntArray, FloatArray]:
        """Numbers and distances of the k points nearest to each row."""
        numbers, distances, _ = self._ask("nearest", rows, k)
        return numbers, distances

    def cluster_of(self, numbers: IntArray, cut: Cut) -> tuple[IntArray, IntArray]:
        """Label and node id of the clusters of some points."""
        found: tuple[IntArray, IntArray] = self._ask("cluster_of", numbers, cut)
        return found


class ServedTree:
    """A sharded tree with the calls that the server makes of a tree in a folder."""

    def __init__(self, path: Path, options: Mapping[str, Any], queue_rows: int) -> None:
        self.folder = path
        self._model = ShardedOHAC(path=path, **options)
        self._turns = Turns()  # of this server's writer, and of who wants it to rest
        self._writer = ThreadPoolExecutor(1, "ramify-writer")
        self._waiting, self._most = 0, queue_rows
        self._told: Callable[[int], None] | None = None
        self._ask("about")

    def _ask(self, method: str, *given: Any) -> Any:
        return self._model._ask(method, *given)

    @property
    def model(self) -> Any:
        """A model, as far as the server looks at it."""
        about = self._ask("about")
        begun = about["width"] is not None
        live = LiveShards(self._ask, about, self._model.metric) if begun else None
        return SimpleNamespace(_live=live, history=self._model.history)

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

    def submit_add(
        self,
        X: npt.ArrayLike,
        *,
        ids: Sequence[Id] | None = None,
        payloads: Sequence[Any] | None = None,
        sample_weight: npt.ArrayLike | None = None,
        times: npt.ArrayLike | None = None,
        key: str | None = None,
        block: bool = True,
    ) -> Future[Receipt]:
        """Insert rows, but for those whose ids are known; the future has the answer."""
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

    def submit_call(
        self, verb: str, options: Mapping[str, Any], *, key: str | None = None, block: bool = True
    ) -> Future[Receipt]:
        """A sharded tree has no such verbs: its top is merged anew as it is."""
        raise TypeError(f"a sharded tree cannot {verb}")

    def edits(self) -> Any:
        """What people have said about it: nothing, they cannot."""
        raise TypeError("a sharded tree cannot be edited")

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

    def hierarchy(self) -> Hierarchy:
        """The whole tree, where it fits."""
        return self._model.hierarchy()

    def clusters(self, **cut: Any) -> ClusterTable:
        """The clusters of a cut."""
        return self._model.clusters(**cut)

    def assign(self, X: Any, **cut: Any) -> Assignment:
        """Where rows belong."""
        return self._model.assign(X, **cut)

    def changes(self, since: int) -> Changes:
        """What became of the tree since a version."""
        return self._model.changes(since)

    def ids_of(self, numbers: Sequence[int]) -> list[Id | None]:
        """Ids of points by their numbers."""
        if not numbers or self._ask("about")["ids"] is None:
            return [None] * len(numbers)
        found: list[Id | None] = self._ask("ids_of", [int(number) for number in numbers])
        return found

    def payloads(self, numbers: Sequence[int]) -> dict[int, Any]:
        """The payloads of points, by their numbers; those that have one."""
        found: dict[int, Any] = self._ask("payloads", [int(number) for number in numbers])
        return found

    def search(self, text: str, *, limit: int = 20) -> list[Hit]:
        """Points by words of their payloads; without any such, the one of this id."""
        found = self._model.search(text, limit=limit)
        if found or self._ask("about")["ids"] != "str":
            return found
        (number,) = self._ask("has", [text])
        if number is None:
            return []
        return [Hit(number, text, self.payloads([number]).get(number))]

    def statistics(self) -> dict[str, Any]:
        """Figures about the journals of all shards together."""
        figures = self._ask("figures")
        shards = figures["shards"]
        summed = ("commits", "refused", "commit_seconds", "snapshots", "replayed", "bytes")
        return {
            **{name: sum(one[name] for one in shards) for name in summed},
            "operations": figures["op"],
            "rows": figures["rows"],
            "commit_p50": max(one["commit_p50"] for one in shards),
            "commit_p99": max(one["commit_p99"] for one in shards),
            "queue_rows": self._waiting,
            "seq": figures["op"],
            "snapshot_seq": min(
                figures["op"] - (one["seq"] - one["snapshot_seq"]) for one in shards
            ),
            "sizes": figures["sizes"],
            "rate": figures["rate"],
        }

    def figures(self) -> dict[str, Any]:
        """What can be measured, shard by shard."""
        found: dict[str, Any] = self._ask("figures")
        return found

    def close(self) -> None:
        """Finish what waits, and end the shards."""
        self._writer.shutdown()
        self._model.close()
