# SPDX-License-Identifier: BSD-3-Clause
"""_leaving.py: who has to leave when others come: windows, ages.

A batch goes into the core as a whole, and with it the plan of who leaves before which
of its rows. So a plan is made before the first row is in: the numbers of points to come
are known then, too. A batch may be cut short, and Ctrl-C may come anywhere; what was
planned and did not happen is worked out from the tree when the next plan is made.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.checks import number_above_zero, whole_number

_Numbers = npt.NDArray[np.uint64]


class Along(NamedTuple):
    """What comes along with the rows of a batch, and how much the model keeps; checked."""

    weights: npt.NDArray[np.float64] | None
    times: npt.NDArray[Any] | None
    window: int | None
    max_age: float | int | None


class Plan(NamedTuple):
    """What happens to a batch: which points leave before which row, which rows come too late."""

    leaving: _Numbers
    before: _Numbers
    late: npt.NDArray[np.bool_] | None = None

    def part(self, start: int, stop: int) -> Plan:
        """The same for a stretch of the rows, counted from its first; ``late`` is settled."""
        low, high = np.searchsorted(self.before, [start, stop]).tolist()
        first = np.uint64(start)
        return Plan(self.leaving[low:high], self.before[low:high] - first)


def check_window(window: object, name: str = "window") -> int | None:
    """Return the number of points that stay, if that is limited."""
    return None if window is None else whole_number(name, window)


def check_max_age(max_age: object, name: str = "max_age") -> float | int | None:
    """Return the greatest age: a number, or for dates and times nanoseconds as an int."""
    if max_age is None:
        return None
    if isinstance(max_age, timedelta | np.timedelta64):
        return _nanoseconds(max_age, name)
    return number_above_zero(name, max_age)


def _nanoseconds(max_age: timedelta | np.timedelta64, name: str) -> int:
    try:
        age = np.timedelta64(max_age, "ns")
        fits = age.astype("m8[s]") == np.timedelta64(max_age, "s")
    except TypeError:  # months and years are of no one length
        raise TypeError(f"{name}={max_age!r}: expected a time in days or smaller units") from None
    if not fits:
        raise ValueError(f"{name}={max_age!r}: expected less than 292 years; None keeps all")
    if age <= np.timedelta64(0, "ns"):
        raise ValueError(f"{name}={max_age!r}: expected a time above 0")
    return int(age.astype(np.int64))


def read_times(times: object, n: int) -> npt.NDArray[np.float64] | npt.NDArray[np.int64]:
    """Event times of n rows: finite numbers, or dates as nanoseconds."""
    found = np.asarray(times)
    dates = found
    if found.dtype == object:  # of Python's own datetimes, say
        try:
            dates = found.astype("datetime64[us]")
        except (ValueError, TypeError):
            raise TypeError("times: expected numbers, or dates, one for each row") from None
    if found.shape != (n,):
        raise ValueError(f"times: expected {n}, one for each row, got shape {found.shape}")
    if dates.dtype.kind == "M":
        _refuse_far_dates(dates)
        return found.astype("datetime64[ns]").astype(np.int64)
    if found.dtype.kind not in "iuf":
        raise TypeError(f"times: expected numbers, or dates and times, got {found.dtype}")
    plain = found.astype(np.float64)
    if not np.isfinite(plain).all():
        raise ValueError(f"times: row {int((~np.isfinite(plain)).argmax())} is not finite")
    return plain


def _refuse_far_dates(times: npt.NDArray[Any]) -> None:
    """Refuse what nanoseconds cannot count: NumPy would take it round to another century."""
    if np.isnat(times).any():
        raise ValueError(f"times: row {int(np.isnat(times).argmax())} has no time (NaT)")
    years = times.astype("datetime64[Y]").astype(np.int64) + 1970
    far = (years < 1678) | (years > 2261)
    if far.any():
        row = int(far.argmax())
        raise ValueError(
            f"times: row {row} is {times[row]}; expected dates of the years 1678 to 2261"
        )


def read_along(model: Any, options: Any, n: int, weights: object, times: object) -> Along:
    """Check the weights and times of n rows, and the model's limits."""
    limits = model._limits()
    window, max_age = limits.get("window"), check_max_age(limits.get("max_age"))
    if window is not None:
        options.require_changeable("window")
    if max_age is not None:
        options.require_changeable("max_age")
    if weights is not None:
        options.require_weighable("sample_weight")
    if times is None and max_age is not None:
        raise ValueError("times: points leave by age (max_age), so every row needs its time")
    if times is not None and max_age is None:
        raise ValueError(
            "times were given, and nothing asks for them: set keep=ramify.Younger(...) (max_age)"
        )
    return Along(
        None if weights is None else read_weights(weights, n),
        None if times is None else read_times(times, n),
        window,
        max_age,
    )


def read_weights(weights: object, n: int) -> npt.NDArray[np.float64]:
    """How many points each of n rows stands for; 0 for a row that is not there."""
    found = np.asarray(weights)
    if found.dtype.kind not in "iufb":
        raise TypeError(f"sample_weight: expected numbers, got {found.dtype}")
    if found.shape != (n,):
        raise ValueError(f"sample_weight: expected {n}, one for each row, got shape {found.shape}")
    plain = np.ascontiguousarray(found, dtype=np.float64)
    wrong = ~(np.isfinite(plain) & (plain >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"sample_weight: row {row} is {plain[row]:g}; "
            f"expected numbers from 0, and 0 for a row that is not there"
        )
    return plain


class Clock:
    """The times of the points that are there, and which of them is too old.

    Invariant: while no plan is open, the heap has every point that is in the tree; it may
    have others, which have left.
    """

    __slots__ = ("_before", "_dates", "_end", "_heap", "_newest", "_open", "n_late")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []
        self._newest: float | None = None
        self._dates: bool | None = None
        self._open: list[tuple[float, int]] | None = None  # what a plan took from the heap
        self._before: float | None = None  # the newest when the open plan was begun
        self._end = 0  # beyond the last point that had a time
        self.n_late = 0

    def knows_all(self, core: Any) -> bool:
        """Whether all points had times: some come without while there is no limit to age."""
        return bool(core.next_arrival <= self._end)

    def settle(self, core: Any) -> None:
        """After a plan that may have been carried out in part."""
        if self._open is None:
            return
        known = {*self._heap, *self._open}
        # Rows of the plan that never came have made nobody old.
        came = [time for time, number in known if number < core.next_arrival]
        if self._before is not None:
            came.append(self._before)
        self._newest = max(came, default=None)
        heap = [entry for entry in known if core.has(entry[1])]
        heapq.heapify(heap)
        self._heap, self._open = heap, None

    def check(self, times: npt.NDArray[Any], max_age: float) -> None:
        """Refuse dates among numbers, and numbers among dates."""
        dates = times.dtype.kind == "i"
        if self._dates not in (None, dates):
            raise TypeError("times: this stream has had numbers and dates; use one of them")
        if dates != isinstance(max_age, int):
            raise TypeError(
                "times are dates, and max_age is a number: give a timedelta"
                if dates
                else "max_age is a span of time: times must be dates (datetime64)"
            )

    def begin(self, core: Any, times: npt.NDArray[Any], max_age: float) -> None:
        """A plan is about to be made."""
        self.settle(core)
        self.check(times, max_age)
        self._dates = times.dtype.kind == "i"
        self._before = self._newest
        self._open = []

    def is_late(self, time: float, max_age: float) -> bool:
        """A row of this time has come: is it too old already?"""
        self._newest = time if self._newest is None else max(self._newest, time)
        return time < self._newest - max_age

    def add(self, time: float, number: int) -> None:
        heapq.heappush(self._heap, (time, number))
        self._end = number + 1

    def too_old(self, max_age: float) -> Iterator[int]:
        """Points whose time is up, oldest first; they leave the heap."""
        assert self._newest is not None
        assert self._open is not None
        while self._heap and self._heap[0][0] < self._newest - max_age:
            self._open.append(entry := heapq.heappop(self._heap))
            yield entry[1]

    def done(self) -> None:
        """The plan was carried out as a whole."""
        self._open = None

    def state(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """The times of these points, which are all that there are, and the newest of all."""
        times = {number: time for time, number in self._heap}
        kept = [times[number] for number in numbers.tolist()]
        return np.array([*kept, self._newest], dtype=np.int64 if self._dates else np.float64)

    @classmethod
    def from_state(cls, times: npt.NDArray[Any], numbers: npt.NDArray[np.int64], end: int) -> Clock:
        """The inverse of :meth:`state`."""
        clock = cls()
        *kept, clock._newest = times.tolist()
        clock._heap = list(zip(kept, numbers.tolist(), strict=True))
        heapq.heapify(clock._heap)
        clock._dates = times.dtype.kind == "i"
        clock._end = end
        return clock


class Oldest:
    """Finds the points that came first, of those that are there.

    Invariant: all points before ``_from`` have left.
    """

    __slots__ = ("_from",)

    def __init__(self) -> None:
        self._from = 0

    def first(self, core: Any, count: int, coming: int) -> _Numbers:
        """The numbers of the first points, where ``coming`` more are about to come."""
        end = core.next_arrival
        while self._from < end and not core.has(self._from):
            self._from += 1
        if core.n_points == end - self._from:  # as long as nobody else was forgotten
            return np.arange(self._from, self._from + count, dtype=np.uint64)
        there = (one for one in range(self._from, end + coming) if one >= end or core.has(one))
        return np.fromiter(there, np.uint64, count)


def plan_window(core: Any, oldest: Oldest, rows: int, window: int) -> Plan | None:
    """The oldest points leave, so that at most ``window`` are there after each row."""
    count = core.n_points + rows - window
    if count <= 0:
        return None
    before = np.maximum(np.arange(count) - (count - rows), 0)
    return Plan(oldest.first(core, count, rows), before.astype(np.uint64))


def plan_ages(core: Any, oldest: Oldest, clock: Clock, along: Along) -> Plan:
    """Points leave when they are too old, and then the earliest beyond the window."""
    times, max_age, window = along.times, along.max_age, along.window
    assert times is not None
    assert max_age is not None
    clock.begin(core, times, max_age)
    late = np.zeros(len(times), dtype=bool)
    leaving: dict[int, int] = {}  # point: the row that it leaves before
    begin = next_number = core.next_arrival
    there = core.n_points
    earliest = begin if window is None or there == 0 else int(oldest.first(core, 1, 0)[0])

    def is_there(one: int) -> bool:
        return one not in leaving and (one >= begin or core.has(one))

    for i, time in enumerate(times.tolist()):
        if clock.is_late(time, max_age):
            late[i] = True
            continue
        row = next_number - begin
        for one in filter(is_there, clock.too_old(max_age)):
            leaving[one] = row
            there -= 1
        while window is not None and there >= window:
            if is_there(earliest):
                leaving[earliest] = row
                there -= 1
            earliest += 1
        clock.add(time, next_number)
        next_number, there = next_number + 1, there + 1
    clock.n_late += int(late.sum())
    return Plan(
        np.fromiter(leaving, np.uint64, len(leaving)),
        np.fromiter(leaving.values(), np.uint64, len(leaving)),
        late if late.any() else None,
    )
