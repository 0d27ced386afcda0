# SPDX-License-Identifier: BSD-3-Clause
"""_live.py: one growing tree of the core, and what has been read from it so far.

A ``Live`` is what an estimator owns once points have arrived. It knows which
core class fits the rows, keeps the last snapshot until the next insert, and
turns itself into plain arrays and back. Who may use it when is the guard's affair.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypedDict, TypeGuard, cast

import numpy as np

from ramify import _core
from ramify.checks import LARGEST, is_whole, whole_number
from ramify.estimators._anchors import Anchors, Found
from ramify.estimators._apart import Apart
from ramify.estimators._changes import Past, Recent, Shelf
from ramify.estimators._cut import Cut, Joined
from ramify.estimators._depth import DepthWatch
from ramify.estimators._identity import Identity, Seen
from ramify.estimators._leaving import Along, Clock, Oldest, Plan, plan_ages, plan_window
from ramify.estimators._settings import Arrays, Options, Settings
from ramify.estimators._skipping import Mask, with_column, without_column
from ramify.hierarchy import FloatArray, Hierarchy, IntArray, Points, Polished
from ramify.ids import Id, IdArray, Ids, as_array
from ramify.points import FLOAT32, FLOAT64, RealType, Rows, chunks, zero_rows_of
from ramify.progress import Pulse
from ramify.sparse import SparseRows

#: Raised when the meaning of ``State`` changes. 2: points have arrival numbers of their own.
STATE_FORMAT = 2
STATE_FORMATS = (1, STATE_FORMAT)


#: Arrays of the core that files do not have where they say nothing.
_OFTEN_EMPTY: Arrays = {
    "standings": np.empty((0, 2)),
    "members": np.empty((0, 3), np.uint64),
    "shares": np.empty(0),
}

#: In the place of a node's id, for a row that no point is near to: -1 is a point's.
NO_NODE = -(2**63)


class State(TypedDict):
    """A Live as plain data, for pickles."""

    format: int
    settings: tuple[Any, ...]
    dtype: str
    arrays: Arrays
    ids: list[Id] | None
    times: Any
    versions: tuple[int, int]  # when it was begun, and now; absent from old pickles
    identity: dict[str, Any]  # absent, too
    edits: tuple[list[tuple[Any, ...]], IntArray]  # names, pairs apart; absent, too
    late: int  # rows that came too late; absent, too
    skipped: int  # other rows that were given and not kept; absent, too


class _Core(Protocol):
    """What LiveF32 and LiveF64 have in common."""

    def __len__(self) -> int: ...
    def insert_many(self, rows: Any, pulse: Any = ..., threads: int = ..., **more: Any) -> int: ...
    def insert_one(self, row: Any) -> int: ...
    def erase_many(self, numbers: Any) -> int: ...
    def has(self, number: int) -> bool: ...
    def numbers(self) -> Any: ...
    def leaf_of(self, numbers: Any, by_first: bool = ...) -> Any: ...
    def held(self) -> Any: ...
    def weights(self) -> Any: ...
    @property
    def n_points(self) -> int: ...
    @property
    def next_arrival(self) -> int: ...
    @property
    def version(self) -> int: ...
    def nearest(self, rows: Any, k: int, threads: int = ...) -> tuple[Any, Any]: ...
    def assign(
        self, rows: Any, by: str, value: float, threads: int = ..., with_codes: bool = ...
    ) -> tuple[Any, Any, Any, Any, list[str]]: ...
    def cluster_of(self, numbers: Any, by: str, value: float) -> tuple[Any, Any, Any]: ...
    def labels(self, by: str, value: float) -> Any: ...
    def clusters(self, by: str, value: float) -> tuple[Any, Any, Any, Any, Any]: ...
    def path(self, number: int) -> tuple[Any, str]: ...
    def lca(self, one: int, other: int) -> int: ...
    def depth(self, number: int) -> int: ...
    def versioned_snapshot(
        self, with_points: bool = ...
    ) -> tuple[int, Any, Any, Any, Any, Any, tuple[Any, Any, Any]]: ...
    def points(self) -> Any: ...
    def check(self) -> None: ...
    def state(self) -> Any: ...


class _Frozen(NamedTuple):
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


class Live:
    """A live tree: settings, row type, the core object, ids, and cached readings.

    Invariants:

    1. The cached hierarchy and labels are those of the versions kept with them.
    2. ``ids`` is None, or knows an id for every point.

    Ctrl-C may come between any two steps, so each invariant hangs on a single one.
    """

    __slots__ = (
        "_clock",
        "_core",
        "_depth_watch",
        "_hierarchy",
        "_joined",
        "_labels",
        "_oldest",
        "_shelf",
        "_stable",
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

    def __init__(self, settings: Settings, dtype: RealType, core: _Core | None = None) -> None:
        self.settings = settings
        # Identity with this very object is the fast test in insert, so take NumPy's own.
        self.dtype: RealType = FLOAT32 if dtype == FLOAT32 else FLOAT64
        self.row_shape = (settings.width,)
        self._core: _Core = _new_core(settings, self.dtype) if core is None else core
        # The model's options as they were when last found to fit the settings.
        self.accepted: tuple[object, ...] | None = None
        self.ids: Ids | None = None
        self._depth_watch = DepthWatch() if settings.linkage == "centroid" else None
        self._hierarchy: _Frozen | None = None
        self._labels: tuple[int, Cut, IntArray] | None = None
        self._stable: tuple[int, Seen, IntArray] | None = None
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

    def adopt(self, rows: Rows, tree: Hierarchy) -> None:
        """Begin with checked rows in the shape of a tree over them."""
        cast(Any, self._core).adopt(self._stored(rows), tree.children, tree.leaf_weights)

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
        if isinstance(self._core, _NotBegun):
            self._core = self._core._begin()
        more: dict[str, Any] = {} if weights is None else {"weights": weights}
        cast(Any, self._core).insert_beside(
            self._stored(rows), nearest.astype(np.uint64), numbers.astype(np.uint64), **more
        )

    def with_points(self, rows: Rows, tree: Hierarchy, next_number: int) -> "Live":
        """Another one, of these rows in the shape of a tree over them, which has their numbers.

        The rows are as this one has stored them: under cosine they are not scaled again.

        Inner nodes keep the ids that they have in the tree, and points their names. No id that
        this one has given away is given again.
        """
        core = cast(Any, _new_core(self.settings, self.dtype))
        core.adopt(self._stored(rows), tree.children, tree.leaf_weights, as_stored=True)
        arrays = {
            **core.state(),
            "names": tree.node_ids.astype(np.uint64),
            "next_name": np.array([self._next_name(tree)], np.uint64),
            "arrivals": tree.leaf_numbers.astype(np.uint64),
            "next_arrival": np.array([next_number], np.uint64),
        }
        other = Live(self.settings, self.dtype, _old_core(self.settings, self.dtype, arrays))
        if tree.names is not None:
            other.ids = Ids.of_points(tree.names.tolist(), tree.point_numbers.tolist(), next_number)
        return other

    def _next_name(self, tree: Hierarchy) -> int:
        """The id of the next inner node, of a tree whose nodes are some of these."""
        last = int(tree.node_ids.max(initial=-1))
        state: Any = None if isinstance(self._core, _NotBegun) else self._core.state()
        return max(last + 1, 0 if state is None else int(state["next_name"][0]))

    def outline(self, m: int, cut: tuple[str, float]) -> tuple[Any, ...]:
        """The tree opened into its m widest parts, and below as a cut of a larger tree may."""
        found: tuple[Any, ...] = cast(Any, self._core).outline(m, *cut)
        return found

    def units(self, numbers: IntArray | None, m: int, cut: tuple[str, float]) -> IntArray:
        """Where in such an outline the unopened nodes above points are; of all, if None."""
        return _plain(cast(Any, self._core).units(numbers, m, *cut))

    def polish(self, m: int | None) -> Polished:
        """Merge the top of the tree anew, in rounds if m is None."""
        settings = self.settings
        rounds = cast(Any, self._core).polish(m)
        return Polished.read(rounds, settings.metric.name, settings.linkage)

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

    def plan(self, rows: int, along: Along) -> Plan | None:
        """Who leaves when so many rows come."""
        if along.max_age is None:
            window = along.window
            return None if window is None else plan_window(self._core, self._oldest, rows, window)
        if self._clock is None or not self._clock.knows_all(self._core):
            if len(self) > 0:
                raise ValueError(
                    "max_age is new to this stream, and points so far have no times; "
                    "call fit to start anew"
                )
            self._clock = Clock()
        return plan_ages(self._core, self._oldest, self._clock, along)

    def carried_out(self) -> None:
        """A plan has been carried out as a whole."""
        if self._clock is not None:
            self._clock.done()

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
        self._hierarchy = self._labels = self._joined = self._stable = self.asked = None
        self.known_ids()

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

    # --- edits (_edits.py) --------------------------------------------------------------

    def edit(self, what: str, *about: int) -> None:
        """Have the core's tree changed as people say."""
        getattr(self._core, what)(*about)

    def apart(self) -> IntArray:
        """(m, 2): pairs of points that must be apart, of those that are there."""
        return self.pairs_apart.array(self.has)

    def held(self) -> IntArray:
        """Ids of the nodes whose points stay below them. O(n)."""
        return _plain(self._core.held()) if self.keeps_marks() else np.empty(0, np.int64)

    def linked(self) -> list[IntArray]:
        """Groups of points that must be together: their numbers. O(n)."""
        if not self.keeps_marks():
            return []
        points = self.numbers()
        wholes, leaves = self.wholes(points), self.leaf_of(points)
        mine = np.isin(wholes, wholes[wholes != leaves])
        points, wholes = points[mine], wholes[mine]
        order = np.argsort(wholes, kind="stable")
        ends = np.flatnonzero(np.diff(wholes[order])) + 1
        groups = np.split(points[order], ends) if len(points) else []
        return sorted(groups, key=lambda of: int(of[0]))

    def wholes(self, points: IntArray) -> IntArray:
        """Of each point the first leaf that it is linked with; its own if with none."""
        return _plain(cast(Any, self._core).wholes(points))

    def together(self, point: int) -> list[int]:
        """All points that are linked with a point or in its leaf, itself included."""
        found: list[int] = cast(Any, self._core).together(point)
        return found

    def has_node(self, id: int) -> bool:
        """Whether there is a node with this id."""
        if self.shared:
            return -(2**63) <= id < 2**63 and bool(cast(Any, self._core).has_node(id))
        tree = self.hierarchy()
        return id in (-1 - tree.leaf_numbers if id < 0 else tree.node_ids)

    def is_held(self, id: int) -> bool:
        """Whether there is such a node, and it is held."""
        possible = abs(id) <= LARGEST and self.keeps_marks()
        return possible and bool(cast(Any, self._core).is_held(id))

    def keeps_marks(self) -> bool:
        """Whether people may mark nodes of this tree."""
        return self.settings.options.uneditable is None and len(self) > 0

    def numbers(self) -> IntArray:
        """Arrival numbers of the points, in order."""
        return _plain(self._core.numbers())

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
        return _plain(self._core.leaf_of(numbers, by_first))

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

    def nearest(
        self, rows: Rows | SparseRows, k: int, threads: int = 1
    ) -> tuple[IntArray, FloatArray]:
        """Numbers and distances of the k stored points nearest to each row; ties: the earliest."""
        found = [self._core.nearest(chunk, k, threads) for chunk in self._asked(rows)]
        points, distances = (np.concatenate(part) for part in zip(*found, strict=True))
        distances = self.settings.metric.told(distances)
        return self._known(rows, _plain(points), -1), self._known(rows, distances, 1.0)

    def number_of(self, point: object) -> int:
        """Arrival number of a point that is given by it, or by its id, if that is text."""
        if not isinstance(point, str):
            return whole_number("point", point, least=0)
        number = None if self.ids is None else self.ids.find(point, self._core.next_arrival)
        if number is None:
            raise KeyError(f"no point has the id {point!r}")
        return number

    def assign(
        self, rows: Rows | SparseRows, cut: Cut, threads: int = 1, *, codes: bool = False
    ) -> tuple[IntArray, IntArray, IntArray, FloatArray, list[str]]:
        """Label and node id of the nearest point's cluster, that point, distance, path code."""
        if cut.joins:
            return self._assign_joined(rows, cut, threads)
        by, value, _ = cut
        found = [self._core.assign(chunk, by, value, threads, codes) for chunk in self._asked(rows)]
        *arrays, turns = zip(*found, strict=True)
        labels, nodes, points, distances = map(np.concatenate, arrays)
        codes_of = list(chain.from_iterable(turns))
        if codes and self.settings.options.zero_rows == "skip":
            for row in np.flatnonzero(zero_rows_of(rows)).tolist():
                codes_of[row] = ""
        distances = self.settings.metric.told(distances)
        return (
            self._known(rows, _plain(labels), -1),
            self._known(rows, _plain(nodes), NO_NODE),
            self._known(rows, _plain(points), -1),
            self._known(rows, distances, 1.0),
            codes_of,
        )

    def _assign_joined(
        self, rows: Rows | SparseRows, cut: Cut, threads: int
    ) -> tuple[IntArray, IntArray, IntArray, FloatArray, list[str]]:
        while True:  # points may have come since the snapshot, or gone
            found = self.joined(cut)
            near, distances = self.nearest(rows, 1, threads)
            known = near[:, 0] >= 0
            if found.knows(near[known, 0]):
                break
        labels, nodes = np.full(len(near), -1), np.full(len(near), NO_NODE)
        labels[known] = found.labels_of(near[known, 0])
        nodes[known] = found.node_ids[labels[known]]
        codes = ["" if label < 0 else found.codes[label] for label in labels.tolist()]
        return labels, nodes, near[:, 0], distances[:, 0], codes

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

    def cluster_of(self, numbers: IntArray, cut: Cut) -> tuple[IntArray, IntArray]:
        """Label and node id of the clusters of some points."""
        if cut.joins:
            found = self.joined(cut)
            of = found.labels_of(numbers)
            return of, found.node_ids[of]
        labels, nodes, _ = self._core.cluster_of(numbers, *cut[:2])
        return _plain(labels), _plain(nodes)

    @property
    def recall(self) -> float:
        """Measured share of the rows so far that were told their nearest leaf."""
        return float(getattr(self._core, "recall", 1.0))

    def clusters(self, cut: Cut) -> tuple[IntArray, IntArray, Rows, FloatArray, IntArray]:
        """Node ids, sizes, means, heights and first points of a cut's clusters."""
        if cut.joins:
            found = Joined(cut, *self.still()).clusters
            return found.node_ids, found.sizes, found.means, found.heights, found.first_points
        nodes, sizes, means, heights, firsts = self._core.clusters(*cut[:2])
        if self.settings.options.tracks_members and len(self) < self._core.next_arrival:
            _, places = np.unique(self.labels(cut), return_index=True)
            firsts = self.numbers()[places]  # the first point of a leaf may have left
        return _plain(nodes), whole(sizes), self._told(means), heights, _plain(firsts)

    def path(self, number: int) -> tuple[IntArray, str]:
        """Node ids from the root to a point, and the turns on the way."""
        nodes, turns = self._core.path(number)
        return _plain(nodes), turns

    def lca(self, one: int, other: int) -> int:
        """Node id of the lowest common ancestor of two points."""
        return self._core.lca(one, other)

    def depth(self, number: int) -> int:
        """Number of merges above a point."""
        return self._core.depth(number)

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

    def hierarchy(self) -> Hierarchy:
        """The tree as it is now, frozen. O(n) after an insert, then free."""
        return self._frozen().tree

    def _frozen(self) -> "_Frozen":
        kept = self._hierarchy
        if kept is None or kept.version != self._core.version:
            kept, _, _ = self._freeze(with_points=False)
        return kept

    def _freeze(self, *, with_points: bool) -> tuple["_Frozen", Points, Rows]:
        """The tree as it is now, all of one moment."""
        version, *facts, members, rows, arrays = self._core.versioned_snapshot(with_points)
        numbers, weights, firsts = (found if len(found) else None for found in facts)
        leaves = np.arange(len(arrays[0]) + 1) if numbers is None else _plain(numbers)
        if firsts is None:
            points = Points(leaves, slice(None), self._names(leaves))
            tree = Hierarchy(*arrays, points.names, numbers, weights)
        else:
            tree = Hierarchy(*arrays, self._names(firsts), firsts, weights, leaves)
            of, their = np.ascontiguousarray(members.T)
            points = Points(of, np.searchsorted(leaves, their), self._names(of))
        known = points if with_points or firsts is None else None
        self._hierarchy = kept = _Frozen(version, tree, known)
        return kept, points, rows

    def _names(self, numbers: IntArray) -> IdArray | None:
        return None if self.ids is None else as_array(self.ids.of(numbers.tolist()))

    def points(self) -> Rows:
        """A copy of the rows as stored."""
        return self._told(self.compared_points())

    def compared_points(self) -> Rows:
        """A copy of the rows as the core compares them."""
        rows: Rows = self._core.points()
        return rows

    def still(self) -> tuple[Hierarchy, Points, Rows]:
        """The tree as it is now, its points, and the rows of its leaves."""
        kept, rows = self._frozen(), self.points()
        points = kept.points
        if points is None or kept.version != self._core.version:  # some may have come in between
            kept, points, rows = self._freeze(with_points=True)
        return kept.tree, points, rows

    def all_points(self) -> Points:
        """The points of :meth:`hierarchy`, and the places of their leaves."""
        found = self._frozen().points
        return self._freeze(with_points=True)[1] if found is None else found

    def moment(self) -> tuple[Hierarchy, Points]:
        """The tree as it is now, and its points."""
        kept = self._frozen()
        if kept.points is None:
            kept, points, _ = self._freeze(with_points=True)
            return kept.tree, points
        return kept.tree, kept.points

    def found_names(self) -> Found:
        """Where the names are that people gave. O(n) after a change, if there are any."""
        return self.anchors.found(self._core.version, self.moment)

    @property
    def names(self) -> dict[int, str]:
        """What people call nodes, by id."""
        return self.found_names().homes

    # --- versions ---------------------------------------------------------------------

    @property
    def version(self) -> int:
        """Grows with every change; goes on after a restart, and after another tree."""
        return self.offset + self._core.version

    def follow(self, earlier: "Live") -> None:
        """Be the next tree of a model: its versions and ids of clusters go on counting."""
        self.begun = self.offset = earlier.offset + _stored_version(earlier._core) + 1
        self.identity = Identity(earlier.identity.next_id)

    def keep_past_in(self, shelf: Shelf) -> None:
        """Have what becomes of the tree kept there."""
        if self._shelf is not shelf:
            self._shelf, self.past = shelf, None

    def settle(self, keep: int) -> int:
        """The version now; one of the last ``keep`` that can be asked about later."""
        if keep == 0:
            if self.past is not None:
                self.past.stop()
                self.past = None
            return self.version
        if self.past is None and isinstance(self._core, _NotBegun):
            return self.version  # of an empty tree, which is always known
        try:
            if self.past is None:
                self.past = Past(self._core, self.offset, self.begun, self._shelf or Recent())
            return self.past.settle(keep)
        except BaseException:  # the core may have told what nobody has written down
            self.past = None
            raise

    def lasting_identity(self) -> Identity:
        """The ids of clusters without what is left of points that have gone."""
        known = self.identity
        return known.of_points(self.numbers()) if known.cuts() else known

    def labels(self, cut: Cut) -> IntArray:
        """Labels of a cut, read-only. O(n) after an insert or for another cut, then free."""
        kept, version = self._labels, self._core.version
        if kept is None or kept[:2] != (version, cut):
            if cut.joins:
                return self.joined(cut).labels
            labels = _plain(self._core.labels(*cut[:2]))
            labels.setflags(write=False)
            kept = version, cut, labels
            self._labels = kept
        return kept[2]

    def stable_ids(self, cut: Cut, count: int) -> IntArray:
        """Ids that stay of the clusters of a cut, by label; -1: of one that is new.

        O(n log n) after a change if they were ever given, and else nothing.
        """
        seen, kept = self.identity.seen(cut), self._stable
        if seen is None:
            return np.full(count, -1)
        if kept is None or kept[0] != self._core.version or kept[1] is not seen:
            while True:
                version = self._core.version
                found = self.numbers(), self.labels(cut), self.weights()
                if version == self._core.version:
                    break
            kept = self._stable = version, seen, self.identity.known(cut, *found)
        return kept[2]

    def joined(self, cut: Cut) -> Joined:
        """The clusters of a cut whose small branches join others. As dear as ``labels``."""
        kept, version = self._joined, self._core.version
        if kept is None or kept[:2] != (version, cut):
            by_rows = cut.way != "height"
            still = self.still() if by_rows else (*self.moment(), None)
            kept = version, cut, Joined(cut, *still)
            if version != self._core.version:  # it is of another moment
                return kept[2]
            self._joined = kept
        return kept[2]

    def certificate(self) -> tuple[float, float, float, float]:
        """Beta, and the revenue guaranteed, achieved and conceivable."""
        proof: tuple[float, float, float, float] = cast(Any, self._core).certificate()
        return proof

    def check(self) -> None:
        """Raise RuntimeError naming the first invariant that the core's tree breaks."""
        self._core.check()

    def state(self) -> State:
        """Everything, as plain data."""
        ids = self.known_ids()
        arrays = dict(self._core.state())
        for name in _OFTEN_EMPTY:  # every leaf is one point, which goes without saying
            if len(arrays[name]) == 0:
                del arrays[name]
        return {
            "format": STATE_FORMAT,
            "settings": self.settings.plain(),
            "dtype": self.dtype.name,
            "arrays": arrays,
            "ids": None if ids is None else list(ids),
            "times": self._times(),
            "versions": (self.begun, self.offset + _stored_version(self._core)),
            "identity": self.lasting_identity().plain(),
            "edits": (self.anchors.plain(), self.apart()),
            "late": self.n_late,
            "skipped": self.n_zeroed,
        }

    def _times(self) -> Any:
        """When each point happened, and the newest one ever, if there is a limit to age."""
        if self._clock is None or not self._clock.knows_all(self._core):
            return None
        self._clock.settle(self._core)
        return self._clock.state(self.numbers())

    @staticmethod
    def from_state(state: State, options: type[Options]) -> "Live":
        """The inverse of :meth:`state`; ``options`` are of the estimator's kind."""
        if state["format"] not in STATE_FORMATS:
            raise ValueError(
                f"this model was stored in format {state['format']}, "
                f"this version of Ramify reads formats up to {STATE_FORMAT}"
            )
        settings = Settings.from_plain(state["settings"], options)
        dtype = FLOAT32 if state["dtype"] == "float32" else FLOAT64
        arrays = state["arrays"]
        if state["format"] == 1:  # when points could not go again
            arrays = {**arrays, **plain_arrivals(len(arrays["points"]))}
        arrays = {**_OFTEN_EMPTY, **arrays}
        if len(arrays["points"]) > 0:
            live = Live(settings, dtype, _old_core(settings, dtype, arrays))
        else:
            core = _NotBegun(arrays)
            live = Live(settings, dtype, cast(_Core, core))
            core.owner = live
        ids = state.get("ids")
        if ids is not None:
            live.ids = Ids.of_points(ids, live.numbers().tolist(), live._core.next_arrival)
        times = state.get("times")
        if times is not None:
            live._clock = Clock.from_state(times, live.numbers(), live.next_arrival)
            live._clock.n_late = state.get("late", 0)
        live.n_zeroed = state.get("skipped", 0)
        live.begun, live.offset = state.get("versions", (0, 0))
        if "identity" in state:
            live.identity = Identity.from_plain(state["identity"])
        if "edits" in state:
            given, pairs = state["edits"]
            live.anchors = Anchors.from_plain(given, live.moment if len(live) else None)
            live.pairs_apart = Apart(pairs.tolist())
        return live


class _NotBegun:
    """In place of the core, for a stored tree without points, as an interrupt leaves one.

    No row vouches for the width that such a file claims, and the core sets rows of
    scratch aside for it. So there is no core before the first row of that width.
    """

    owner: Live
    version = 0

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def __len__(self) -> int:
        return 0

    def insert_one(self, row: Rows) -> int:
        return self._begin().insert_one(row)

    def insert_many(self, *batch: Any, **more: Any) -> int:
        return self._begin().insert_many(*batch, **more)

    def state(self) -> Arrays:
        return self._arrays

    @property
    def n_points(self) -> int:
        return 0

    @property
    def next_arrival(self) -> int:
        return int(self._arrays["next_arrival"][0])

    def set_max_leaves(self, most: int) -> None:
        """The core will be told when it begins, by the settings."""

    def has(self, number: int) -> bool:
        return False

    def numbers(self) -> IntArray:
        return np.empty(0, np.int64)

    def _begin(self) -> _Core:
        live = self.owner
        live._core = _old_core(live.settings, live.dtype, self._arrays)
        return live._core


def _plain(numbers: IntArray) -> IntArray:
    """The core's numbers in NumPy's own int64, which shows itself without its type."""
    return numbers.view(np.int64)


def _number(one: object) -> int | None:
    if not is_whole(one):
        raise TypeError(f"{one!r}: this stream has no ids, so points have numbers")
    return int(one) if one >= 0 else None  # type: ignore[operator]


def whole(weights: FloatArray) -> IntArray:
    """Numbers of points as integers, if that is what they are."""
    counts = weights.astype(np.int64)
    return counts if (counts == weights).all() else cast(IntArray, weights)


def _stored_version(core: Any) -> int:
    """The core's version, without having a tree made that nobody has looked at."""
    version: int = getattr(core, "_store", core).version
    return version


def plain_arrivals(n: int) -> Arrays:
    """The arrival numbers of n points that were the only ones ever, as the core stores them."""
    return {"arrivals": np.empty(0, np.uint64), "next_arrival": np.array([n], np.uint64)}


#: A stretch of rows that come and go between two times that holes are closed.
_STRETCH = 16_384


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


def _core_class(dtype: np.dtype[Any]) -> Any:
    return _core.LiveF32 if dtype == FLOAT32 else _core.LiveF64


def _new_core(settings: Settings, dtype: np.dtype[Any]) -> _Core:
    store = _core_class(dtype)(*settings.for_core())
    return cast(_Core, settings.options.tree_over(store, settings))


def _old_core(settings: Settings, dtype: np.dtype[Any], arrays: Arrays) -> _Core:
    store = _core_class(dtype).from_state(*settings.for_core(), arrays)
    return cast(_Core, settings.options.tree_over(store, settings, arrays))
