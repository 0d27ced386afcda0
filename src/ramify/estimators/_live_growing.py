# SPDX-License-Identifier: BSD-3-Clause
"""_live_growing.py: how a live tree grows and shrinks: rows go in, points leave."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np

from ramify.estimators._core_tree import NotBegun
from ramify.estimators._leaving import Along, Clock, Plan, plan_ages, plan_window
from ramify.estimators._live_answers import LiveAnswers
from ramify.estimators._settings import Settings
from ramify.estimators._skipping import with_column
from ramify.hierarchy import FloatArray, Hierarchy, IntArray, Polished
from ramify.points import Rows, chunks
from ramify.progress import Pulse
from ramify.sparse import SparseRows

#: A stretch of rows that come and go between two times that holes are closed.
_STRETCH = 16_384


class LiveGrowing(LiveAnswers):
    """A live tree to which points come, and from which they go."""

    __slots__ = ()

    def insert_one(self, row: Rows) -> int:
        """Insert one checked row and return its arrival number."""
        if self.settings.sets_zeros_apart:
            row = with_column(row[np.newaxis])[0]
        return self._core.insert_one(row)

    def insert_named(self, row: Rows, id: object) -> int:
        """Insert one checked row under an id, or without one if the stream has none."""
        known = self.known_ids()
        if known is None or len(known) == 0 or id is None:
            self.expect_ids(self.read_ids(None if id is None else [id], 1))
        else:
            known.expect(known.read_one(id))
        return self.insert_one(row)

    def insert_many(
        self,
        rows: Rows | SparseRows,
        pulse: Pulse | None,
        threads: int = 1,
        weights: FloatArray | None = None,
        plan: Plan | None = None,
    ) -> None:
        """Insert checked rows. On an exception, the rows inserted so far stay."""
        if self.settings.options.starts_with_hac and self.next_arrival == 0 and len(rows) > 0:
            self._begin_with_hac(rows, pulse, weights, threads)
            return
        if plan is not None and self.ids is not None:
            self.ids.expect_to_leave(plan.leaving.tolist())
        done = 0
        for chunk in self._parts(rows) if plan is None else _short(self._parts(rows)):
            if pulse is not None and done > 0:  # a chunk may be too short for a pulse inside
                pulse(done)
            stop = done + len(chunk)
            more: dict[str, Any] = {} if weights is None else {"weights": weights[done:stop]}
            if plan is not None:
                more["leaving"], more["before"], _ = plan.part(done, stop)
            self._insert_part(chunk, _later(pulse, done), threads, more)
            done = stop
            self._look_at_depth()

    def _insert_part(
        self, rows: Rows, pulse: Pulse | None, threads: int, more: dict[str, Any]
    ) -> None:
        """Insert rows, and write names down anew before most of their points have left."""
        if "leaving" not in more or not self.anchors:
            self._core.insert_many(rows, pulse, threads, **more)
            return
        plan, weights, done = Plan(more["leaving"], more["before"]), more.get("weights"), 0
        while done < len(rows):
            rest = plan.part(done, len(rows))
            until = self.anchors.rows_until_renewal(rest.leaving, rest.before, self.numbers)
            if until == 0:
                self._renew_names(rest.leaving[rest.before == 0])
                until = 1
            stop = len(rows) if until is None else done + until
            part = plan.part(done, stop)
            along = {} if weights is None else {"weights": weights[done:stop]}
            along |= {"leaving": part.leaving, "before": part.before}
            with self.anchors.leave(part.leaving, self.numbers):
                self._core.insert_many(rows[done:stop], _later(pulse, done), threads, **along)
            done = stop

    def _begin_with_hac(
        self,
        rows: Rows | SparseRows,
        pulse: Pulse | None,
        weights: FloatArray | None,
        threads: int,
    ) -> None:
        """Insert the first rows, merged as offline HAC does: all, or on an exception none."""
        dense = rows.dense() if isinstance(rows, SparseRows) else rows
        cast(Any, self._core).begin_with_hac(self._stored(dense), pulse, weights, threads)

    def insert_beside(
        self,
        rows: Rows,
        nearest: IntArray,
        numbers: IntArray,
        ids: list[Any] | None,
        weights: FloatArray | None = None,
    ) -> None:
        """Insert checked rows under given numbers, beside given points; -1 is none."""
        self.expect_ids(ids)
        if self.ids is not None and ids is not None:
            self.ids.expect(ids, numbers.tolist())
        if isinstance(self._core, NotBegun):
            self._core = self._core._begin()
        more: dict[str, Any] = {} if weights is None else {"weights": weights}
        cast(Any, self._core).insert_beside(
            self._stored(rows), nearest.astype(np.uint64), numbers.astype(np.uint64), **more
        )

    def _parts(self, rows: Rows | SparseRows) -> Iterator[Rows]:
        watch = self._depth_watch
        for chunk in map(self._stored, chunks(rows)):
            if watch is None or not self.settings.options.by_path:
                yield chunk  # whole: offline algorithms would begin again for every part
            else:
                yield from watch.parts(chunk, len(self))

    def _look_at_depth(self) -> None:
        if self._depth_watch is not None:
            self._depth_watch.look(len(self), self._core)

    def adopt(self, rows: Rows, tree: Hierarchy) -> None:
        """Begin with checked rows in the shape of a tree over them."""
        cast(Any, self._core).adopt(self._stored(rows), tree.children, tree.leaf_weights)

    def plan(self, rows: int, along: Along) -> Plan | None:
        """Who leaves when so many rows come."""
        if along.max_age is None:
            window = along.window
            return None if window is None else plan_window(self._core, self._oldest, rows, window)
        if self._clock is None or not self._clock.knows_all(self._core):
            if len(self) > 0:
                raise ValueError(
                    "leaving by age is new to this stream, and points so far have no times; "
                    "call fit to start anew"
                )
            self._clock = Clock()
        return plan_ages(self._core, self._oldest, self._clock, along)

    def carried_out(self) -> None:
        """A plan has been carried out as a whole."""
        if self._clock is not None:
            self._clock.done()

    def require_leaving(self, numbers: IntArray) -> None:
        """Refuse points that cannot leave their leaf."""
        cast(Any, self._core).check_erase(numbers.astype(np.uint64))

    def forget(self, numbers: IntArray) -> None:
        """Take out points, which must be there."""
        self.known_ids()
        if self.ids is not None:
            self.ids.expect_to_leave(numbers.tolist())
        before = np.zeros(len(numbers), np.int64)
        if self.anchors.rows_until_renewal(numbers, before, self.numbers) is not None:
            self._renew_names(numbers)
        with self.anchors.leave(numbers, self.numbers):
            self._core.erase_many(numbers.astype(np.uint64))
        # What is forgotten is gone.
        self._hierarchy = self._labels = self._joined = self.asked = None
        self._calling.forget()
        self.known_ids()

    def _renew_names(self, leaving: Any) -> None:
        self.anchors = self.anchors.renewed(
            leaving, *self.moment(), self.next_arrival, self.numbers
        )

    def set_budget(self, wanted: Settings) -> None:
        """Keep to the number of leaves that these settings, which fit otherwise, have."""
        wanted = wanted._replace(width=self.settings.width)
        if wanted != self.settings:
            cast(Any, self._core).set_max_leaves(wanted.by_name()["max_leaves"])
            self.settings = wanted

    def polish(self, m: int | None) -> Polished:
        """Merge the top of the tree anew, in rounds if m is None."""
        settings = self.settings
        rounds = cast(Any, self._core).polish(m)
        return Polished.read(rounds, settings.metric.name, settings.linkage)


def _short(long: Iterable[Rows]) -> Iterator[Rows]:
    """Rows in stretches: what has left in one of them leaves the memory at its end."""
    for rows in long:
        for start in range(0, len(rows), _STRETCH):
            yield rows[start : start + _STRETCH]


def _later(pulse: Pulse | None, done: int) -> Pulse | None:
    """A pulse for a batch of which some rows are in already."""
    if pulse is None or done == 0:
        return pulse
    return lambda more: pulse(done + more)
