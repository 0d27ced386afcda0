# SPDX-License-Identifier: BSD-3-Clause
"""_operations.py: the operation under way: written down, sent to the shards, sent again.

    insert  rows, each to the shard that has its nearest point
    forget  points, to the shards that have them
    split   a part of one shard's tree to another shard

It is on the router's disk before a shard hears of it, with everything settled. A shard knows by
its number whether it has it; so a router that finds one that has not ended sends it once more.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ramify.ray._batches import Along
from ramify.ray._head import Pending
from ramify.ray._versions import Versions


class Operations(Versions):
    """Where the stream stands, and how it gets on."""

    dtype: str | None
    width: int | None
    splits: int
    seconds: dict[str, float]
    _balanced: int  # the number at which balance was looked at
    _unfinished: bool  # an operation may have to be sent again
    _told: dict[str, Any]  # where the stream stood after the last operation

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

    def _state(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "number": self.number,
            "points": sum(self.sizes),
            "sizes": list(self.sizes),
            "dtype": self.dtype,
            "width": self.width,
            "ids": self.ids,
        }

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
        self._outlines = self._whole = self._joined_of = self.asked = None
        self._told = self._state()
        self._head.finish(self.op, self._facts(), pending.head, gone)

    def _send_rows(self, pending: Pending) -> None:
        head, arrays = pending.head, pending.arrays
        rows, ids = arrays["rows"], head["ids"]
        along = Along(ids, arrays.get("weights"), head.get("payloads"))
        numbers = head["first"] + np.arange(len(rows))
        calls: list[tuple[int, str, tuple[Any, ...]]] = []
        if "shards" not in arrays:
            self._finder.takes(0, rows)
            calls = [(0, "insert", (pending.op, rows, numbers, None, *along))]
        else:
            for shard in np.unique(arrays["shards"]).tolist():
                mine = np.flatnonzero(arrays["shards"] == shard)
                beside = np.ascontiguousarray(arrays["nearest"][mine])
                more = (np.ascontiguousarray(rows[mine]), numbers[mine], beside)
                self._finder.takes(shard, more[0])
                calls.append((shard, "insert", (pending.op, *more, *along.some(mine))))
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
        self._finder.forget(here)
        self._finder.forget(there)
        while len(self.sizes) <= there:
            self._crew.start(len(self.sizes))
            self.sizes.append(0)
        (part,) = self._crew.ask([(here, "part", (pending.op,))])
        if part is not None:
            numbers, saved, payloads = part
            self._crew.ask([(there, "adopt", (pending.op, saved, payloads))])
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
