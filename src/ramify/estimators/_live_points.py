# SPDX-License-Identifier: BSD-3-Clause
"""_live_points.py: the points of a live tree: how many, which, under what ids, and their rows."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ramify import _core
from ramify.checks import LARGEST, is_whole, whole_number
from ramify.estimators._anchors import Anchors
from ramify.estimators._apart import Apart
from ramify.estimators._core_tree import Core, new_core, plain
from ramify.estimators._cut import Cut, Joined
from ramify.estimators._depth import DepthWatch
from ramify.estimators._identity import Identity
from ramify.estimators._leaving import Clock, Oldest
from ramify.estimators._log import Past, Shelf
from ramify.estimators._settings import Settings
from ramify.estimators._skipping import Mask, with_column, without_column
from ramify.estimators._stable import Calling
from ramify.hierarchy import FloatArray, Hierarchy, IntArray, Points
from ramify.ids import IdArray, Ids, as_array
from ramify.points import FLOAT32, FLOAT64, RealType, Rows, chunks, zero_rows_of
from ramify.sparse import SparseRows


class Frozen(NamedTuple):
    """A snapshot, of which version it is, and the points in its leaves."""

    version: int
    tree: Hierarchy
    points: Points | None  # unless leaves may stand for several, or it was asked for


class Asked(NamedTuple):
    """Neighbours of some stored points, none of which is among its own; see _sureness.py."""

    version: int
    numbers: IntArray  #: of the points, (m,)
    near: IntArray  #: numbers of the others nearest to each, (m, k)
    distances: FloatArray  #: to the nearest, (m,)


class LivePoints:
    """What every live tree has: settings, row type, the core object, ids, and cached readings.

    Invariants:

    1. The cached hierarchy and labels are those of the versions kept with them.
    2. ``ids`` is None, or knows an id for every point.

    Ctrl-C may come between any two steps, so each invariant hangs on a single one.
    """

    __slots__ = (
        "_calling",
        "_clock",
        "_core",
        "_depth_watch",
        "_hierarchy",
        "_joined",
        "_labels",
        "_oldest",
        "_shelf",
        "accepted",
        "anchors",
        "asked",
        "begun",
        "dtype",
        "identity",
        "ids",
        "n_zeroed",
        "offset",
        "pairs_apart",
        "past",
        "row_shape",
        "settings",
        "skipped",
    )

    def __init__(self, settings: Settings, dtype: RealType, core: Core | None = None) -> None:
        self.settings = settings
        # Identity with this very object is the fast test in insert, so take NumPy's own.
        self.dtype: RealType = FLOAT32 if dtype == FLOAT32 else FLOAT64
        self.row_shape = (settings.width,)
        self._core: Core = new_core(settings, self.dtype) if core is None else core
        # The model's options as they were when last found to fit the settings.
        self.accepted: tuple[object, ...] | None = None
        self.ids: Ids | None = None
        self._depth_watch = DepthWatch() if settings.linkage == "centroid" else None
        self._hierarchy: Frozen | None = None
        self._labels: tuple[int, Cut, IntArray] | None = None
        self._calling = Calling()
        self._joined: tuple[int, Cut, Joined] | None = None
        self.asked: Asked | None = None
        self._oldest = Oldest()
        self._clock: Clock | None = None
        # Versions as users see them: of the empty tree, and what they are ahead of the core's.
        self.begun = self.offset = 0
        self.past: Past | None = None
        self._shelf: Shelf | None = None  # where it is kept, if not in memory
        self.identity = Identity()
        # What people say: names, and pairs of points that must be apart.
        self.anchors = Anchors()
        self.pairs_apart = Apart()
        # Which rows of the latest batch were skipped (_skipping.py), and how many ever were that
        # did not come too late.
        self.skipped: Mask = None
        self.n_zeroed = 0

    def __len__(self) -> int:
        return len(self._core)

    @property
    def n_points(self) -> int:
        """Number of points, of which a leaf may stand for several."""
        return self._core.n_points

    @property
    def next_arrival(self) -> int:
        """The number of the next point to come."""
        return self._core.next_arrival

    @property
    def n_late(self) -> int:
        """Number of rows that were too old when they came, of those that were skipped."""
        return 0 if self._clock is None else self._clock.n_late

    @property
    def n_skipped(self) -> int:
        """Number of rows that were given and not kept."""
        return self.n_late + self.n_zeroed

    def skip(self, rows: Mask, late: int = 0) -> None:
        """These rows of a batch are not kept, some of them because they are late."""
        self.skipped = rows
        self.n_zeroed += 0 if rows is None else int(rows.sum()) - late

    def takes(self, x: object) -> TypeGuard[Rows]:
        """True for a row that needs no conversion: the fast case.

        What its numbers are, insert_one looks at itself.
        """
        return (
            type(x) is np.ndarray
            and x.dtype is self.dtype
            and x.shape == self.row_shape
            and x.flags.c_contiguous
        )

    @property
    def busy(self) -> bool:
        """Whether somebody is at work on the tree, so that a question may have to wait."""
        return bool(getattr(self._core, "busy", False))

    @property
    def shared(self) -> bool:
        """Whether other threads may read it while it grows: all of it is the core's."""
        return isinstance(self._core, (_core.LiveF32, _core.LiveF64))

    @property
    def version(self) -> int:
        """Grows with every change; goes on after a restart, and after another tree."""
        return self.offset + self._core.version

    def numbers(self) -> IntArray:
        """Arrival numbers of the points, in order."""
        return plain(self._core.numbers())

    def weights(self) -> FloatArray | None:
        """How much each point counts, in their order; None if each counts once."""
        if self.settings.options.unchangeable is not None:
            return None
        weights: FloatArray = getattr(self._core, "_store", self._core).weights()
        return None if (weights == 1).all() else weights

    def has(self, number: int) -> bool:
        """Whether there is such a point."""
        return 0 <= number <= LARGEST and self._core.has(number)

    def leaf_of(self, numbers: IntArray, *, by_first: bool = False) -> IntArray:
        """The ids of the leaves that points are in, or the earliest point in each."""
        return plain(self._core.leaf_of(numbers, by_first))

    def wanted(self, points: object) -> IntArray:
        """The arrival numbers of points that users speak of: by ids if there are any."""
        if isinstance(points, str) or is_whole(points) or not isinstance(points, Iterable):
            wanted: list[Any] = [points]
        else:
            wanted = points.tolist() if isinstance(points, np.ndarray) else list(points)
        known = self.known_ids()
        numbers = []
        for one in wanted:
            number = known.number_of(one) if known is not None else _number(one)
            if number is None or not self.has(number):
                what = "no point has the id" if known is not None else "there is no point"
                raise KeyError(f"{what} {one!r}")
            numbers.append(number)
        if len(set(numbers)) < len(numbers):
            raise ValueError("a point is named twice")
        return np.array(numbers, dtype=np.int64)

    def number_of(self, point: object) -> int:
        """Arrival number of a point that is given by it, or by its id, if that is text."""
        if not isinstance(point, str):
            return whole_number("point", point, least=0)
        number = None if self.ids is None else self.ids.find(point, self._core.next_arrival)
        if number is None:
            raise KeyError(f"no point has the id {point!r}")
        return number

    def read_ids(self, ids: object, n: int, skipped: Mask = None) -> list[Any] | None:
        """Check the ids of n rows to come; None if this stream has none."""
        if skipped is not None and ids is not None:  # the ids of these rows are not taken
            every = Ids().read(ids, n)
            here = [one for one, skip in zip(every, skipped, strict=True) if not skip]
            if here:
                self.read_ids(here, len(here))
            return every
        known = self.known_ids()
        if len(self) == 0:
            return None if ids is None else Ids().read(ids, n)
        if known is None:
            if ids is None:
                return None
            raise ValueError(
                f"ids were given, and the first {len(self)} points of this stream have none; "
                f"a stream has ids from its first point or never: call fit to start anew"
            )
        if ids is None:
            raise ValueError(
                f"no ids were given, and the first {len(self)} points of this stream have some; "
                f"a stream has ids from its first point or never: give one for each row"
            )
        return known.read(ids, n)

    def expect_ids(self, ids: list[Any] | None) -> None:
        """Announce ids as ``read_ids`` returned them, just before their rows go in."""
        if len(self) == 0:
            self.ids = None if ids is None else Ids(self._core.next_arrival)
        if self.ids is not None:
            assert ids is not None
            self.ids.expect(ids)

    def known_ids(self) -> Ids | None:
        """The ids of all points so far, if this stream has any."""
        if self.ids is not None:
            self.ids.settle(self._core.next_arrival, self._core.has)
        return self.ids

    def id_array(self) -> IdArray | None:
        """All ids in order of arrival, read-only."""
        known = self.known_ids()
        return None if known is None else known.array()

    def _names(self, numbers: IntArray) -> IdArray | None:
        return None if self.ids is None else as_array(self.ids.of(numbers.tolist()))

    def _stored(self, rows: Rows) -> Rows:
        """Rows as the core takes them."""
        return with_column(rows) if self.settings.sets_zeros_apart else rows

    def _told(self, rows: Rows) -> Rows:
        """Rows or means of the core as users know them."""
        return without_column(rows) if self.settings.sets_zeros_apart else rows

    def _asked(self, rows: Rows | SparseRows) -> Iterator[Rows]:
        """Rows of a question; in the place of one that no point can be near to, any other."""
        for chunk in map(self._stored, chunks(rows)):
            if self.settings.options.zero_rows == "skip":
                chunk = np.where(chunk.any(axis=1, keepdims=True), chunk, chunk.dtype.type(1))
            yield chunk

    def _known(self, rows: Rows | SparseRows, answers: Any, nothing: Any) -> Any:
        """Answers about rows, and ``nothing`` where zero rows would be skipped."""
        if self.settings.options.zero_rows == "skip":
            answers[zero_rows_of(rows)] = nothing
        return answers

    def keeps_marks(self) -> bool:
        """Whether people may mark nodes of this tree."""
        return self.settings.options.uneditable is None and len(self) > 0


def _number(one: object) -> int | None:
    if not is_whole(one):
        raise TypeError(f"{one!r}: this stream has no ids, so points have numbers")
    return int(one) if one >= 0 else None  # type: ignore[operator]
