# SPDX-License-Identifier: BSD-3-Clause
"""_router.py: who decides where a row goes, and answers for all shards. No engine in here.

An insert goes like this. Rows are numbered as they arrive. Every shard proposes its nearest
points, the router settles which shard takes which row beside which points, writes that down,
and tells the shards. When all have it on their disks, the caller is told. One operation is under
way at a time, so every answer is of one moment of the whole tree.

Batches are cut where the arrival number is a multiple of ``block``, and only there are shards
split: so the tree depends on the stream alone, not on how it was cut into calls.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from ramify import saving
from ramify.estimators import OHAC
from ramify.estimators._live import Live
from ramify.estimators._reading import Assignment
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ids import Id, Ids
from ramify.journal import FolderInUseError
from ramify.points import Rows
from ramify.ray._head import Head, Pending
from ramify.ray._outline import Outline
from ramify.ray._routing import routes
from ramify.ray._top import MOST_SHARDS, CutNodes, Stitched, Top, global_ids, spliced

#: A cut: "n_clusters", "height" or "max_size", and its value.
Cut = tuple[str, float]

_PATIENCE = 30.0


class Plan(NamedTuple):
    """What shapes a sharded tree, beside the model's own options."""

    n_shards: int
    options: dict[str, Any]  #: of OHAC
    frontier: int = 64  #: parts that each shard is opened into
    block: int = 8192  #: rows between two looks at the balance
    max_shards: int = 64


class Crew(Protocol):
    """The shards, wherever they are."""

    def start(self, shard: int) -> None:
        """Have a shard of this number running, from its folder."""

    def ask(self, calls: Sequence[tuple[int, str, tuple[Any, ...]]]) -> list[Any]:
        """Call methods of shards at once, and return what they return, in this order."""

    def close(self) -> None:
        """End all of them."""


class ClusterTable(NamedTuple):
    """The clusters of a cut, each of them a row of all arrays: an answer of ``clusters``.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.ray import ShardedOHAC
    >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
    ...     model.partial_fit([[0.0], [1.0], [9.0]]).clusters(n_clusters=2).sizes
    array([2, 1])
    """

    node_ids: IntArray
    sizes: IntArray
    means: Any
    heights: FloatArray
    first_points: IntArray
    spreads: FloatArray  #: mean squared distance of each one's rows from their mean

    def __len__(self) -> int:
        return len(self.sizes)


class PointChanges(NamedTuple):
    """What became of the stream between two versions: an answer of ``changes``.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.ray import ShardedOHAC
    >>> with ShardedOHAC(2, path=tempfile.mkdtemp(), engine="local") as model:
    ...     before = model.partial_fit([[0.0], [1.0]]).version
    ...     _ = model.partial_fit([[5.0]]).forget(0)
    ...     model.changes(before)
    PointChanges(since=1, version=3, inserted=array([2]), forgotten=array([0]))
    """

    since: int
    version: int
    inserted: IntArray  #: numbers of points that came, and are there
    forgotten: IntArray  #: numbers of points that were there, and went


class Router:
    """The one who knows where the stream stands. Not for several threads at once."""

    def __init__(self, folder: str | Path, plan: Plan, crew: Crew) -> None:
        self._crew = crew
        self._head = _patiently(Path(folder))
        try:
            self._open(plan)
        except BaseException:
            self._head.close()
            raise

    def _open(self, plan: Plan) -> None:
        known = self._head.facts()
        self.plan = agreed(plan, known)
        self.op = known.get("op", 0)  #: the last operation that all shards have
        self.number = known.get("number", 0)  #: of the next point
        self.sizes: list[int] = known.get("sizes", [0] * plan.n_shards)
        self.dtype: str | None = known.get("dtype")
        self.width: int | None = known.get("width")
        self.ids: str | None = known.get("ids")  #: their type, if there are any
        self._balanced = known.get("balanced", 0)  # the number at which balance was looked at
        self._outlines: tuple[Any, list[Outline], Stitched] | None = None
        self._whole: tuple[int, Hierarchy] | None = None
        self._begun = time.monotonic()
        self.rows = 0  #: taken since it was started
        self.splits = 0
        self.seconds = {"nearest": 0.0, "route": 0.0, "write": 0.0, "insert": 0.0}
        self._lately: deque[tuple[float, int]] = deque(maxlen=64)
        for shard in range(len(self.sizes)):
            self._crew.start(shard)
        if not known:
            self._head.set(self._facts())
        self._resume()

    def agree(self, plan: Mapping[str, Any]) -> None:
        """Refuse a plan of another shape: for whoever comes to a stream that is there."""
        agreed(Plan(**plan), self._facts())

    def close(self) -> None:
        """Let the folder go, and end the shards."""
        self._crew.close()
        self._head.close()

    def _facts(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "number": self.number,
            "sizes": self.sizes,
            "dtype": self.dtype,
            "width": self.width,
            "ids": self.ids,
            "balanced": self._balanced,
            "plan": self.plan._asdict(),
        }

    def _ask_all(self, method: str, *arguments: Any) -> list[Any]:
        self._settle()
        return self._crew.ask([(shard, method, arguments) for shard in range(len(self.sizes))])

    # --- the operation under way ----------------------------------------------------------

    def _resume(self) -> None:
        """Finish what was under way when the last router ended."""
        self._unfinished = True
        self._settle()
        self._balance()

    def _settle(self) -> None:
        """Finish an operation that some shard could not take, its disk being full, say."""
        if self._unfinished and (pending := self._head.pending()) is not None:
            self._carry_out(pending)
        self._unfinished = False

    def _carry_out(self, pending: Pending) -> None:
        """Have the shards take an operation, some of them perhaps for the second time."""
        gone: list[int] = []
        if pending.kind == "insert":
            self._send_rows(pending)
        elif pending.kind == "forget":
            gone = self._send_leave(pending)
        else:
            self._move_part(pending)
        self.op = pending.op
        self._outlines = self._whole = None
        head = pending.head
        self._head.finish(self.op, self._facts(), head.get("key"), head.get("told"), gone)

    def _send_rows(self, pending: Pending) -> None:
        head, arrays = pending.head, pending.arrays
        rows, ids = arrays["rows"], head["ids"]
        numbers = head["first"] + np.arange(len(rows))
        calls: list[tuple[int, str, tuple[Any, ...]]] = []
        if "shards" not in arrays:
            calls = [(0, "insert", (pending.op, rows, numbers, None, ids))]
        else:
            for shard in np.unique(arrays["shards"]).tolist():
                mine = np.flatnonzero(arrays["shards"] == shard)
                named = None if ids is None else [ids[at] for at in mine.tolist()]
                beside = np.ascontiguousarray(arrays["nearest"][mine])
                more = (np.ascontiguousarray(rows[mine]), numbers[mine], beside, named)
                calls.append((shard, "insert", (pending.op, *more)))
        for (shard, *_), state in zip(calls, self._crew.ask(calls), strict=True):
            self.sizes[shard] = state.leaves
        self.number = head["first"] + len(rows)
        self.dtype, self.width = rows.dtype.name, rows.shape[1]
        if self.ids is None and ids is not None:
            self.ids = type(ids[0]).__name__

    def _send_leave(self, pending: Pending) -> list[int]:
        calls = [
            (int(shard), "forget", (pending.op, points))
            for shard, points in pending.head["points"].items()
        ]
        for (shard, *_), state in zip(calls, self._crew.ask(calls), strict=True):
            self.sizes[shard] = state.leaves
        gone: list[int] = pending.head["numbers"]
        return gone

    def _move_part(self, pending: Pending) -> None:
        """A part of one shard's tree goes to another, which is empty.

        First the other has it on its disk, then the one lets go of it: at no moment is it
        nowhere, and what was done is not done again.
        """
        here, there = pending.head["from"], pending.head["to"]
        while len(self.sizes) <= there:
            self._crew.start(len(self.sizes))
            self.sizes.append(0)
        (part,) = self._crew.ask([(here, "part", (pending.op,))])
        if part is not None:
            numbers, saved = part
            self._crew.ask([(there, "adopt", (pending.op, saved))])
            self._crew.ask([(here, "give_up", (pending.op, numbers))])
        states = self._crew.ask([(here, "state", ()), (there, "state", ())])
        self.sizes[here], self.sizes[there] = (state.leaves for state in states)
        self.splits += 1

    def _begin(self, kind: str, head: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        begin = time.perf_counter()
        self._settle()
        self._unfinished = True
        pending = self._head.begin(kind, self.op + 1, head, arrays, self._balanced)
        self.seconds["write"] += time.perf_counter() - begin
        self._carry_out(pending)
        self._unfinished = False

    # --- growing ------------------------------------------------------------------------------

    def insert(self, rows: Rows, ids: list[Any] | None = None, key: str | None = None) -> IntArray:
        """Insert checked rows; their numbers. They are on the disk when this returns.

        A request whose key was answered before is not carried out again, and of one that was
        answered in part, only the rest.
        """
        self._settle()
        self._check_rows(rows)
        told = (None if key is None else self._head.answer(key)) or {"stretches": []}
        stretches: list[tuple[int, int]] = [(a, b) for a, b in told["stretches"]]
        begin = sum(b - a for a, b in stretches)
        self._check_ids(ids, len(rows), begin)
        while begin < len(rows):
            end = len(rows)
            if len(self.sizes) > 1 or self.plan.n_shards > 1:
                end = min(end, begin + self.plan.block - self.number % self.plan.block)
            named = None if ids is None else ids[begin:end]
            stretches.append((self.number, self.number + end - begin))
            self._insert(rows[begin:end], named, key, {"stretches": stretches})
            begin = end
            self._balance()
        return np.concatenate([np.arange(0), *(np.arange(a, b) for a, b in stretches)])

    def _check_rows(self, rows: Rows) -> None:
        found = rows.dtype.name, rows.shape[1]
        if self.number > 0 and found != (self.dtype, self.width):
            raise ValueError(
                f"expected rows of {self.width} numbers ({self.dtype}), got {found[1]} ({found[0]})"
            )

    def _insert(self, rows: Rows, ids: Any, key: str | None, told: dict[str, Any]) -> None:
        head = {"first": self.number, "ids": ids, "key": key, "told": told}
        arrays: dict[str, Any] = {"rows": rows}
        started = time.perf_counter()
        if len(self.sizes) > 1:
            k = int(self.plan.options.get("n_neighbors", 1))
            proposals = self._ask_all("nearest", rows, k)
            asked = time.perf_counter()
            found = routes(rows, self.number, proposals, self._metric, k)
            arrays |= {"shards": found.shards, "nearest": found.nearest}
            self.seconds["nearest"] += asked - started
            self.seconds["route"] += time.perf_counter() - asked
        settled = time.perf_counter()
        written = self.seconds["write"]
        self._begin("insert", head, arrays)
        now = time.perf_counter()
        self.seconds["insert"] += now - settled - (self.seconds["write"] - written)
        self.rows += len(rows)
        self._lately.append((time.monotonic(), len(rows)))

    @property
    def _metric(self) -> str:
        return str(self.plan.options.get("metric", "sqeuclidean"))

    def _check_ids(self, ids: list[Any] | None, n: int, begin: int) -> None:
        """Ids must be new; those before ``begin`` are in already, by an earlier try."""
        if self.number > 0 and sum(self.sizes) > 0 and (ids is None) != (self.ids is None):
            raise ValueError("a stream has ids from its first point or never, one for each row")
        if ids is None:
            return
        fresh = Ids().read(ids, n)[begin:]
        if self.ids is not None and fresh and type(fresh[0]).__name__ != self.ids:
            raise TypeError(f"ids: the ids of this stream have been of type {self.ids} so far")
        for found in self._ask_all("has", fresh):
            for one, number in zip(fresh, found, strict=True):
                if number is not None:
                    raise ValueError(
                        f"ids: {one!r} is already the id of point {number}; every id must be new"
                    )

    def forget(self, points: Sequence[Id], key: str | None = None) -> int:
        """Take points out of the tree, all of which must be there; how many they are."""
        self._settle()
        if key is not None and (told := self._head.answer(key)) is not None:
            return int(told)
        wanted = list(points)
        if len(set(wanted)) < len(wanted):
            raise ValueError("a point is named twice")
        where: dict[int, list[Any]] = {}
        numbers: list[int] = []
        found = self._ask_all("has", wanted)
        for at, one in enumerate(wanted):
            holders = [
                (shard, told[at]) for shard, told in enumerate(found) if told[at] is not None
            ]
            if not holders:
                raise KeyError(f"there is no point {one!r}; nothing was forgotten")
            ((shard, number),) = holders
            where.setdefault(shard, []).append(one)
            numbers.append(int(number))
        head = {
            "points": {str(shard): some for shard, some in where.items()},
            "numbers": numbers,
            "key": key,
            "told": len(wanted),
        }
        self._begin("forget", head, {})
        return len(wanted)

    # --- balance ------------------------------------------------------------------------------

    def _balance(self) -> None:
        """Split shards that are too large, at the ends of blocks.

        An empty shard gets a part of the largest: that is how shards begin. Beyond that, a
        shard with more than twice the mean gives a part to a new one.
        """
        if self.plan.n_shards == 1 or self.number % self.plan.block:
            return
        if self.number == self._balanced:  # what has left since then waits for the next block
            return
        while (move := self._next_move()) is not None:
            self._begin("split", {"from": move[0], "to": move[1]}, {})
        self._balanced = self.number

    def _next_move(self) -> tuple[int, int] | None:
        largest = int(np.argmax(self.sizes))
        most, count = self.sizes[largest], len(self.sizes)
        if most < 2:
            return None
        if 0 in self.sizes:
            return largest, self.sizes.index(0)
        too_large = most > 2 * sum(self.sizes) / count and most >= self.plan.block
        return (largest, count) if too_large and count < self.plan.max_shards else None

    # --- reading ------------------------------------------------------------------------------

    def _stitched(self, by: str, value: float) -> tuple[list[Outline], Stitched]:
        """The tree over all shards, as far as a cut of this kind has to know it."""
        kept = self._outlines
        if kept is None or kept[0] != (by, value):
            outlines = self._ask_all("frontier", self._parts, by, value)
            linkage = str(self.plan.options.get("linkage", "average"))
            kept = (by, value), outlines, Stitched(outlines, self._metric, linkage)
            self._outlines = kept
        return kept[1], kept[2]

    @property
    def _parts(self) -> int:
        """Parts of each shard; a tree that is in one shard is what it is there."""
        return self.plan.frontier if np.count_nonzero(self.sizes) > 1 else 1

    def top(self) -> Top:
        """The top tree."""
        return self._stitched("n_clusters", 1)[1].top()

    def hierarchy(self) -> Hierarchy:
        """The whole tree, frozen."""
        if self._whole is None:
            outlines, stitched = self._stitched("n_clusters", 1)
            self._whole = self.op, spliced(stitched, outlines, self._ask_all("whole"))
        return self._whole[1]

    def points(self) -> tuple[IntArray, Rows]:
        """Numbers and rows of all points, as stored, in order of arrival."""
        found = [(numbers, rows) for numbers, rows in self._ask_all("points") if len(numbers)]
        numbers = np.concatenate([one for one, _ in found])
        order = np.argsort(numbers)
        return numbers[order], np.concatenate([rows for _, rows in found])[order]

    def labels(self, cut: Cut) -> tuple[IntArray, IntArray]:
        """Numbers of all points, ascending, and the label of each one's cluster."""
        _, stitched = self._stitched(*cut)
        found = stitched.cut(*cut)
        told = self._ask_all("units", None, self._parts, *cut)
        numbers = np.concatenate([one for one, _ in told])
        labels = [
            found.labels[stitched.offsets[shard] + units] for shard, (_, units) in enumerate(told)
        ]
        order = np.argsort(numbers)
        return numbers[order], np.concatenate(labels)[order]

    def cluster_of(self, numbers: IntArray, cut: Cut) -> tuple[IntArray, IntArray]:
        """Label and node id of the clusters of some points."""
        holders = self._known_holders(numbers)
        _, stitched = self._stitched(*cut)
        found = stitched.cut(*cut)
        places = self._places(numbers, holders, cut, stitched)
        labels = found.labels[places]
        return labels, stitched.ids[found.places[labels]]

    def holders(self, numbers: IntArray) -> IntArray:
        """Which shard has each of these points; -1: none."""
        holders = np.full(len(numbers), -1)
        for shard, held in enumerate(self._ask_all("holds", numbers)):
            holders[held] = shard
        return holders

    def _known_holders(self, numbers: IntArray) -> IntArray:
        holders = self.holders(numbers)
        if (holders < 0).any():
            raise KeyError(f"there is no point {numbers[np.argmin(holders)]}")
        return holders

    def _places(
        self, numbers: IntArray, holders: IntArray, cut: Cut, stitched: Stitched
    ) -> IntArray:
        """Where in the stitched tree the units of points are."""
        calls: list[tuple[int, str, tuple[Any, ...]]] = []
        for shard in np.unique(holders).tolist():
            mine = np.ascontiguousarray(numbers[holders == shard])
            calls.append((shard, "units", (mine, self._parts, *cut)))
        places = np.empty(len(numbers), np.int64)
        for (shard, *_), (_, units) in zip(calls, self._crew.ask(calls), strict=True):
            places[holders == shard] = stitched.offsets[shard] + units
        return places

    def path(self, number: int) -> tuple[IntArray, str]:
        """Node ids from the root down to a point, and its turns: the top's, then its shard's."""
        wanted, whole = np.array([number]), ("n_clusters", 1)
        (shard,) = self._known_holders(wanted).tolist()
        outlines, stitched = self._stitched(*whole)
        (place,) = self._places(wanted, np.array([shard]), whole, stitched)
        ((nodes, turns),) = self._crew.ask([(shard, "path", (number,))])
        unit = outlines[shard].ids[place - stitched.offsets[shard]]
        (at,) = np.flatnonzero(nodes == unit)
        above = stitched.ids[stitched.path(int(place))]
        code = stitched.codes(np.array([place]))[0] + turns[at:]
        return np.concatenate([above, global_ids(nodes[at + 1 :], shard)]), code

    def nearest(self, rows: Rows, k: int) -> tuple[IntArray, FloatArray, IntArray]:
        """Numbers, distances and shards of the k points nearest to each row."""
        proposals = self._ask_all("nearest", rows, k)
        numbers = np.concatenate([found for found, _ in proposals], axis=1)
        distances = np.concatenate([far for _, far in proposals], axis=1)
        last = np.where(numbers < 0, np.iinfo(np.int64).max, numbers)
        order = np.lexsort((last, distances), axis=1)[:, :k]
        return (
            np.take_along_axis(numbers, order, axis=1),
            np.take_along_axis(distances, order, axis=1),
            order // k,
        )

    def assign(self, rows: Rows, cut: Cut) -> Assignment:
        """Where rows belong; nothing is inserted."""
        numbers, distances, holders = self.nearest(rows, 1)
        _, stitched = self._stitched(*cut)
        found = stitched.cut(*cut)
        places = self._places(numbers[:, 0], holders[:, 0], cut, stitched)
        labels = found.labels[places]
        heads = found.places[labels]
        codes = stitched.codes(heads)
        return Assignment(labels, stitched.ids[heads], numbers[:, 0], distances[:, 0], codes)

    def clusters(self, cut: Cut) -> ClusterTable:
        """The clusters of a cut, from summaries alone."""
        _, stitched = self._stitched(*cut)
        found: CutNodes = stitched.cut(*cut)
        at = found.places
        heights = np.where(stitched.counts[at] > 1, stitched.monotone[at], 0.0)
        return ClusterTable(
            stitched.ids[at],
            stitched.weights[at].astype(np.int64),
            stitched.means[at],
            heights,
            stitched.firsts[at],
            stitched.ssds[at] / stitched.weights[at],
        )

    def has(self, points: Sequence[Id]) -> list[int | None]:
        """Numbers of points, by ids or by numbers where there are no ids; None: no such."""
        told = self._ask_all("has", list(points))
        return [
            next((one for one in found if one is not None), None)
            for found in zip(*told, strict=True)
        ]

    def ids_of(self, numbers: Sequence[int]) -> list[Id | None]:
        """Ids of points by their numbers."""
        told = self._ask_all("ids_of", list(numbers))
        return [
            next((one for one in found if one is not None), None)
            for found in zip(*told, strict=True)
        ]

    def changes(self, since: int) -> PointChanges:
        """Which points came and went since an operation."""
        told = self._head.since(since)
        if since > self.op or (since < self.op and (not told or told[0][0] > max(since, 1))):
            raise LookupError(f"version {since} is not remembered; the latest is {self.op}")
        begin = told[0][1] if told and told[0][0] == since else 0
        later = [gone for op, _, gone in told if op > since]
        gone = np.unique(np.array([one for some in later for one in some], dtype=np.int64))
        new = np.arange(begin, self.number)
        inserted = new[~np.isin(new, gone)]
        return PointChanges(since, self.op, inserted, gone[gone < begin])

    def model(self) -> OHAC:
        """A plain model of the whole."""
        if len(self.sizes) == 1:
            (saved,) = self._ask_all("saved")
            whole: OHAC = saving._model(*saved)
            return whole
        tree = self.hierarchy()
        model = OHAC(**self.plan.options)
        _, rows = self.points()
        settings = model._settings()._replace(width=rows.shape[1])
        model._adopt(Live(settings, rows.dtype).with_points(rows, tree, self.number), None)
        return model

    # --- seeing it ----------------------------------------------------------------------------

    def about(self) -> dict[str, Any]:
        """Where the stream stands; nobody else is asked."""
        return {
            "op": self.op,
            "number": self.number,
            "points": sum(self.sizes),
            "sizes": list(self.sizes),
            "dtype": self.dtype,
            "width": self.width,
            "ids": self.ids,
        }

    def digests(self) -> list[str | None]:
        """A digest of all that each shard's tree is."""
        return [state.digest for state in self._ask_all("state", True)]

    def snapshot(self) -> None:
        """Have all shards write one."""
        self._ask_all("snapshot")

    def figures(self) -> dict[str, Any]:
        """What can be measured, of the router and of every shard."""
        return {
            "op": self.op,
            "number": self.number,
            "points": sum(self.sizes),
            "sizes": list(self.sizes),
            "rows": self.rows,
            "rate": self._rate(),
            "splits": self.splits,
            "seconds": dict(self.seconds),
            "up_seconds": time.monotonic() - self._begun,
            "shards": self._ask_all("figures"),
        }

    def _rate(self) -> float:
        """Rows a second, lately."""
        if len(self._lately) < 2:
            return 0.0
        span = self._lately[-1][0] - self._lately[0][0]
        rows = sum(count for _, count in list(self._lately)[1:])
        return rows / span if span > 0 else 0.0


def _patiently(folder: Path) -> Head:
    """Open a folder that a killed process may hold for another moment."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return Head(folder)
        except FolderInUseError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def agreed(plan: Plan, known: Mapping[str, Any]) -> Plan:
    """The plan of a stream that is there; what shapes it must be the same."""
    if plan.n_shards > MOST_SHARDS or plan.max_shards > MOST_SHARDS:
        raise ValueError(f"at most {MOST_SHARDS} shards")
    if not known:
        return plan
    for name, then in known["plan"].items():
        now = getattr(plan, name)
        if name == "max_shards" or now == then:
            continue
        if name == "options":
            shaping = {key for key in {*now, *then} if now.get(key) != then.get(key)}
            shaping -= {"n_clusters", "distance_threshold"}
            if not shaping:
                continue
        raise ValueError(f"{name} of the stream here is {then!r}, and {now!r} was asked for")
    return plan
