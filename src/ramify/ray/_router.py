# SPDX-License-Identifier: BSD-3-Clause
"""_router.py: who decides where a row goes, and answers for all shards. No engine in here.

An insert goes like this. Rows are numbered as they arrive. Every shard proposes its nearest
points, the router settles which shard takes which row beside which points, writes that down,
and tells the shards. When all have it on their disks, the caller is told. One operation is under
way at a time, so every answer is of one moment of the whole tree.

One writer is at work at a time, however long its batch is. Between two operations of it readers
have their turn, so that no reader waits for more than a block.

Batches are cut where the arrival number is a multiple of ``block``, and only there are shards
split: so the tree depends on the stream alone, not on how it was cut into calls.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ramify import _core
from ramify.checks import is_whole
from ramify.hierarchy import IntArray
from ramify.ids import Id, Ids
from ramify.journal.seam import clear_drafts
from ramify.points import Rows, check_columns
from ramify.ray._batches import Along
from ramify.ray._finder import Finder
from ramify.ray._head import Head, copy_head
from ramify.ray._operations import Operations
from ramify.ray._plan import Crew, Plan, agreed, patiently
from ramify.ray._routing import routes
from ramify.ray._turns import Turns, in_turn

#: Seconds until what was forgotten is erased, as in a single folder.
ERASE_WITHIN = 86_400.0

#: Rows alone.
NOTHING = Along()


class Router(Operations):
    """The one who knows where the stream stands. Any thread may call any method."""

    def __init__(self, folder: str | Path, plan: Plan, crew: Crew) -> None:
        self._crew = crew
        self.turns = Turns()
        self._writing = threading.Lock()  # held by a writer for its whole batch
        self._head = patiently(Head, Path(folder))
        try:
            self._open(plan)
        except BaseException:
            self._head.close()
            raise

    def _open(self, plan: Plan) -> None:
        clear_drafts(self._head.folder)
        known = self._head.facts()
        self.plan = agreed(plan, known)
        self.op = known.get("op", 0)  #: the last operation that all shards have
        self.number = known.get("number", 0)  #: of the next point
        self.sizes: list[int] = known.get("sizes", [0] * plan.n_shards)
        self.dtype: str | None = known.get("dtype")
        self.width: int | None = known.get("width")
        self.ids: str | None = known.get("ids")  #: their type, if there are any
        self._columns: list[str] | None = known.get("columns")  # if the first rows had names
        self._balanced = known.get("balanced", 0)  # the number at which balance was looked at
        self._finder = Finder(self._crew, self._metric)
        self._outlines = None
        self._whole = None
        self._seen, self._keep = {}, 0
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
        self._told = self._state()
        self._erasing: threading.Timer | None = None
        if known.get("compacting"):  # when the last router ended
            self.compact()
        with contextlib.suppress(OSError, sqlite3.Error):
            self._head.compact()

    @in_turn
    def agree(self, plan: Mapping[str, Any]) -> None:
        """Refuse a plan of another shape: for a caller that comes to a stream that is there."""
        agreed(Plan(**plan), self._facts())

    def close(self) -> None:
        """Let the folder go, and end the shards."""
        with self._writing, self.turns:
            if self._erasing is not None:
                self._erasing.cancel()
            self._crew.close()
            with contextlib.suppress(OSError, sqlite3.Error):  # a full disk: at the next start
                self._head.compact()
            self._head.close()

    def compact(self) -> int:
        """Erase from the disk what has left, in all shards and here; bytes of all shards then."""
        with self._writing, self.turns:
            self._settle()
            self._head.set({"compacting": True})
            found = self._ask_all("compact")
            self._head.compact()
            self._head.set({"compacting": False})
            return sum(found)

    def copy(self, room: str) -> None:
        """Have all that the tree is written into a folder, as of one moment: all others wait."""
        with self._writing, self.turns:
            self._ask_all("copy", room)
            copy_head(self._head.folder, Path(room))

    def _erase_soon(self) -> None:
        """Of what was forgotten the router's own file knows for so long, as the shards' do."""
        if self._erasing is None:
            self._erasing = threading.Timer(ERASE_WITHIN, self._erase)
            self._erasing.daemon = True
            self._erasing.start()

    def _erase(self) -> None:
        self._erasing = None
        with self.turns, contextlib.suppress(OSError, sqlite3.Error):
            self._head.compact()

    def _resume(self) -> None:
        """Finish what was under way when the last router ended."""
        self._unfinished = True
        self._settle()
        self._balance()

    # --- growing ------------------------------------------------------------------------------

    def insert(
        self,
        rows: Rows,
        along: Along = NOTHING,
        key: str | None = None,
        marks: Mapping[str, str] | None = None,
    ) -> IntArray:
        """Insert checked rows; their numbers. They are on the disk when this returns.

        ``marks`` are written down with the last of them: how far sources were read.

        A request whose key was answered before is not carried out again, and of one that was
        answered in part, only the rest.
        """
        with self._writing:
            stretches = self._stretches(rows, along.ids, key)
            begin = sum(b - a for a, b in stretches)
            if begin == len(rows) and marks:
                self._head.mark(marks)
            while begin < len(rows):
                with self.turns:
                    begin = self._insert_some(rows, along, key, stretches, begin, marks)
                self._balance()
        return np.concatenate([np.arange(0), *(np.arange(a, b) for a, b in stretches)])

    @in_turn
    def _stretches(
        self, rows: Rows, ids: list[Any] | None, key: str | None
    ) -> list[tuple[int, int]]:
        """Numbers that rows of this request have already, if it comes again; checks the rest."""
        self._settle()
        self._check_rows(rows)
        told = (None if key is None else self._head.answer(key)) or {"stretches": []}
        stretches = [(a, b) for a, b in told["stretches"]]
        self._check_ids(ids, len(rows), sum(b - a for a, b in stretches))
        return stretches

    def _insert_some(
        self,
        rows: Rows,
        along: Along,
        key: str | None,
        stretches: list[tuple[int, int]],
        begin: int,
        marks: Mapping[str, str] | None,
    ) -> int:
        """Insert rows up to the end of the block at most; where the next ones begin."""
        end = len(rows)
        if len(self.sizes) > 1 or self.plan.n_shards > 1:
            end = min(end, begin + self.plan.block - self.number % self.plan.block)
        stretches.append((self.number, self.number + end - begin))
        some = slice(begin, end)
        told: dict[str, Any] = {"key": key, "told": {"stretches": stretches}}
        told |= {"marks": marks} if end == len(rows) else {}
        self._insert(rows[some], along.some(some), told)
        return end

    @in_turn
    def check_columns(self, names: list[str], first: bool) -> None:
        """Refuse rows whose columns are others; the ``first`` rows say what they are called."""
        if self.number > 0:
            if self._columns is not None:
                check_columns(names, self._columns)
        elif first:
            self._head.set({"columns": names})
            self._columns = names

    def _check_rows(self, rows: Rows) -> None:
        found = rows.dtype.name, rows.shape[1]
        if self.number > 0 and found != (self.dtype, self.width):
            raise ValueError(
                f"expected rows of {self.width} numbers ({self.dtype}), got {found[1]} ({found[0]})"
            )

    def _insert(self, rows: Rows, along: Along, told: dict[str, Any]) -> None:
        self._settle()
        head = {"first": self.number, "ids": along.ids, "payloads": along.payloads, **told}
        arrays: dict[str, Any] = {"rows": rows}
        if along.weights is not None:
            arrays["weights"] = along.weights
        started = time.perf_counter()
        if len(self.sizes) > 1:
            k = int(self.plan.options.get("n_neighbors", 1))
            mates = _core.nearest_before(rows, self._metric, k)
            ready = time.perf_counter()
            proposals = self._finder.proposals(rows, k, self.sizes, mates[1][:, -1])
            asked = time.perf_counter()
            found = routes(rows, self.number, proposals, mates, k)
            arrays |= {"shards": found.shards, "nearest": found.nearest}
            self.seconds["nearest"] += asked - ready
            self.seconds["route"] += time.perf_counter() - asked + ready - started
        settled = time.perf_counter()
        written = self.seconds["write"]
        self._begin("insert", head, arrays)
        now = time.perf_counter()
        self.seconds["insert"] += now - settled - (self.seconds["write"] - written)
        self.rows += len(rows)
        self._lately.append((time.monotonic(), len(rows)))

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
        with self._writing, self.turns:
            return self._forget(points, key)

    def _forget(self, points: Sequence[Id], key: str | None) -> int:
        self._settle()
        if key is not None and (told := self._head.answer(key)) is not None:
            return int(told)
        wanted = list(points)
        for one in wanted:  # True is 1 to a set, and no shard could take it
            if not isinstance(one, str) and not is_whole(one):
                raise TypeError(f"{one!r}: expected ids or numbers of points")
        if len(set(wanted)) < len(wanted):
            raise ValueError("a point is named twice")
        if not wanted:
            return 0
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
        self._renew_names(numbers)
        gone = np.array(numbers, np.int64)
        with self._known_anchors().leave(gone, self._numbers):
            self._begin("forget", head, {})
        self._erase_soon()
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
        while self._split_largest():
            pass
        self._balanced = self.number

    @in_turn
    def _split_largest(self) -> bool:
        """Move a part of a shard that is too large, if there is one."""
        move = self._next_move()
        if move is None:
            return False
        self._begin("split", {"from": move[0], "to": move[1]}, {})
        return True

    def _next_move(self) -> tuple[int, int] | None:
        largest = int(np.argmax(self.sizes))
        most, count = self.sizes[largest], len(self.sizes)
        if most < 2:
            return None
        if 0 in self.sizes:
            return largest, self.sizes.index(0)
        too_large = most > 2 * sum(self.sizes) / count and most >= self.plan.block
        return (largest, count) if too_large and count < self.plan.max_shards else None

    # --- seeing it ----------------------------------------------------------------------------

    def about(self) -> dict[str, Any]:
        """Where the stream stood after the last operation; nobody waits for this."""
        return self._told

    @in_turn
    def mark(self, marks: Mapping[str, str]) -> None:
        """Write down how far sources were read, of which no row was new."""
        self._settle()
        self._head.mark(marks)

    @in_turn
    def marks(self) -> dict[str, str]:
        """How far sources were read."""
        self._settle()
        return self._head.marks()

    @in_turn
    def digests(self) -> list[str | None]:
        """A digest of all that each shard's tree is."""
        return [state.digest for state in self._ask_all("state", True)]

    @in_turn
    def snapshot(self) -> None:
        """Have all shards write one."""
        self._ask_all("snapshot")

    @in_turn
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
            "asked": self._finder.asked / max(1, self._finder.rows),
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
