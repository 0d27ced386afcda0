# SPDX-License-Identifier: BSD-3-Clause
"""_live.py: one growing tree of the core, and what has been read from it so far.

A ``Live`` is what an estimator owns once points have arrived. It knows which
core class fits the rows, keeps the last snapshot until the next insert, and
turns itself into plain arrays and back. Who may use it when is the guard's affair.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Protocol, TypeAlias, TypedDict, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import is_whole, whole_number
from ramify.estimators._changes import Past
from ramify.estimators._depth import DepthWatch
from ramify.estimators._identity import Identity
from ramify.estimators._leaving import Along, Clock, Oldest, Plan, plan_ages, plan_window
from ramify.estimators._settings import Arrays, Options, Settings
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ids import Id, IdArray, Ids, as_array
from ramify.points import FLOAT32, FLOAT64, RealType, Rows, chunks
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

#: A cut: "n_clusters", "variance" (so many, too), "height" or "max_size", and its value.
Cut: TypeAlias = tuple[str, float]


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
    edits: tuple[dict[int, str], IntArray]  # names, pairs apart; absent, too
    late: int  # rows that came too late; absent, too


class _Core(Protocol):
    """What LiveF32 and LiveF64 have in common."""

    def __len__(self) -> int: ...
    def insert_many(self, rows: Any, pulse: Any = ..., threads: int = ..., **more: Any) -> int: ...
    def insert_one(self, row: Any) -> int: ...
    def erase_many(self, numbers: Any) -> int: ...
    def has(self, number: int) -> bool: ...
    def numbers(self) -> Any: ...
    def leaf_of(self, numbers: Any) -> Any: ...
    def marked(self) -> tuple[Any, Any]: ...
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
    def versioned_snapshot(self) -> tuple[int, Any, Any, tuple[Any, Any, Any]]: ...
    def points(self) -> Any: ...
    def check(self) -> None: ...
    def state(self) -> Any: ...


class Live:
    """A live tree: settings, row type, the core object, ids, and cached readings.

    Invariants:

    1. The cached hierarchy and labels are those of the versions kept with them.
    2. ``ids`` is None, or knows an id for every point.

    Ctrl-C may come between any two steps, so each invariant hangs on a single one.
    """

    __slots__ = (
        "_apart",
        "_clock",
        "_core",
        "_depth_watch",
        "_hierarchy",
        "_labels",
        "_oldest",
        "accepted",
        "begun",
        "dtype",
        "identity",
        "ids",
        "late",
        "names",
        "offset",
        "past",
        "row_shape",
        "settings",
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
        self._hierarchy: tuple[int, Hierarchy] | None = None
        self._labels: tuple[int, Cut, IntArray] | None = None
        self._oldest = Oldest()
        self._clock: Clock | None = None
        # Versions as users see them: of the empty tree, and what they are ahead of the core's.
        self.begun = self.offset = 0
        self.past: Past | None = None
        self.identity = Identity()
        # What people say: names of nodes by id, and pairs of points that must be apart.
        self.names: dict[int, str] = {}
        self._apart: IntArray = np.empty((0, 2), np.int64)
        # Which rows of the latest batch came too late; None for none of them.
        self.late: npt.NDArray[np.bool_] | None = None

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
        """Number of rows that were too old when they came."""
        return 0 if self._clock is None else self._clock.n_late

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
            self._core.insert_many(chunk, _later(pulse, done), threads, **more)
            done = stop
            self._look_at_depth()

    def set_budget(self, wanted: Settings) -> None:
        """Keep to the number of leaves that these settings, which fit otherwise, have."""
        wanted = wanted._replace(width=self.settings.width)
        if wanted != self.settings:
            cast(Any, self._core).set_max_leaves(wanted.by_name()["max_leaves"])
            self.settings = wanted

    def adopt(self, rows: Rows, tree: Hierarchy) -> None:
        """Begin with checked rows in the shape of a tree over them."""
        cast(Any, self._core).adopt(rows, tree.children, tree.leaf_weights)

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
            rows, nearest.astype(np.uint64), numbers.astype(np.uint64), **more
        )

    def with_points(self, rows: Rows, tree: Hierarchy, next_number: int) -> "Live":
        """Another one, of these rows in the shape of a tree over them, which has their numbers.

        Inner nodes keep the ids that they have in the tree, and points their names. No id that
        this one has given away is given again.
        """
        core = cast(Any, _new_core(self.settings, self.dtype))
        core.adopt(rows, tree.children, tree.leaf_weights)
        arrays = {
            **core.state(),
            "names": tree.node_ids.astype(np.uint64),
            "next_name": np.array([self._next_name(tree)], np.uint64),
            "arrivals": tree.point_numbers.astype(np.uint64),
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

    def outline(self, m: int, cut: Cut) -> tuple[Any, ...]:
        """The tree opened into its m widest parts, and below as a cut of a larger tree may."""
        found: tuple[Any, ...] = cast(Any, self._core).outline(m, *cut)
        return found

    def units(self, numbers: IntArray | None, m: int, cut: Cut) -> IntArray:
        """Where in such an outline the unopened nodes above points are; of all, if None."""
        return _plain(cast(Any, self._core).units(numbers, m, *cut))

    def polish(self, m: int | None) -> bool:
        """Merge the top of the tree anew, in rounds if m is None; whether that made it better."""
        return bool(cast(Any, self._core).polish(m))

    def _begin_with_hac(
        self,
        rows: Rows | SparseRows,
        pulse: Pulse | None,
        weights: FloatArray | None,
        threads: int,
    ) -> None:
        """Insert the first rows, merged as offline HAC does: all, or on an exception none."""
        dense = rows.dense() if isinstance(rows, SparseRows) else rows
        cast(Any, self._core).begin_with_hac(dense, pulse, weights, threads)

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
        self._core.erase_many(numbers.astype(np.uint64))
        self._hierarchy = self._labels = None  # what is forgotten is gone
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
            number = known.index_of(one) if known is not None else _number(one)
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

    @property
    def apart(self) -> IntArray:
        """(m, 2): pairs of points that must be apart, of those that are there."""
        there = [all(map(self.has, pair)) for pair in self._apart.tolist()]
        pairs: IntArray = self._apart[np.array(there, dtype=bool)]
        return pairs

    def keep_apart(self, pairs: IntArray) -> None:
        """These are the pairs of points that must be apart."""
        self._apart = pairs

    def held(self) -> IntArray:
        """Ids of the nodes whose points stay below them."""
        return self._marked()[0]

    def linked(self) -> list[IntArray]:
        """Groups of points that must be together: their numbers. O(n) if there are any."""
        ids = self._marked()[1]
        if len(ids) == 0:
            return []
        tree, points = self.hierarchy(), self.numbers()
        leaves = self.leaf_of(points)
        below = (tree.point_numbers[tree.leaves(tree.node_of(id))] for id in ids.tolist())
        return sorted((points[np.isin(leaves, some)] for some in below), key=lambda of: int(of[0]))

    def _marked(self) -> tuple[IntArray, IntArray]:
        if self.settings.algorithm != "ohac" or len(self) == 0:
            return (np.empty(0, np.int64),) * 2
        held, linked = self._core.marked()
        return _plain(held), _plain(linked)

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
        return self._core.has(number)

    def leaf_of(self, numbers: IntArray) -> IntArray:
        """The numbers of the leaves that points are in: of the first point of each."""
        return _plain(self._core.leaf_of(numbers))

    def _parts(self, rows: Rows | SparseRows) -> Iterator[Rows]:
        watch = self._depth_watch
        for chunk in chunks(rows):
            if watch is None or self.settings.algorithm != "ohac":
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
        found = [self._core.nearest(chunk, k, threads) for chunk in chunks(rows)]
        points, distances = (np.concatenate(part) for part in zip(*found, strict=True))
        return _plain(points), distances

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
        found = [self._core.assign(chunk, *cut, threads, codes) for chunk in chunks(rows)]
        *arrays, turns = zip(*found, strict=True)
        labels, nodes, points, distances = map(np.concatenate, arrays)
        codes_of = list(chain.from_iterable(turns))
        return _plain(labels), _plain(nodes), _plain(points), distances, codes_of

    def cluster_of(self, numbers: IntArray, cut: Cut) -> tuple[IntArray, IntArray]:
        """Label and node id of the clusters of some points."""
        labels, nodes, _ = self._core.cluster_of(numbers, *cut)
        return _plain(labels), _plain(nodes)

    @property
    def recall(self) -> float:
        """Measured share of the rows so far that were told their nearest leaf."""
        return float(getattr(self._core, "recall", 1.0))

    def clusters(self, cut: Cut) -> tuple[IntArray, IntArray, Rows, FloatArray, IntArray]:
        """Node ids, sizes, means, heights and first points of a cut's clusters."""
        nodes, sizes, means, heights, firsts = self._core.clusters(*cut)
        return _plain(nodes), whole(sizes), means, heights, _plain(firsts)

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

    def read_ids(self, ids: object, n: int) -> list[Any] | None:
        """Check the ids of n rows to come; None if this stream has none."""
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
        kept = self._hierarchy
        if kept is None or kept[0] != self._core.version:
            version, numbers, weights, arrays = self._core.versioned_snapshot()
            ids = None if self.ids is None else as_array(self._names(numbers, len(arrays[0]) + 1))
            told = (found if len(found) else None for found in (numbers, weights))
            kept = version, Hierarchy(*arrays, ids, *told)
            self._hierarchy = kept
        return kept[1]

    def _names(self, numbers: Any, n: int) -> list[Any]:
        """The ids of n leaves with these numbers, none: 0, 1, ...; of the first point in each."""
        assert self.ids is not None
        leaves = numbers if len(numbers) else np.arange(n)
        return self.ids.of(self.first_members(leaves).tolist())

    def first_members(self, leaves: IntArray) -> IntArray:
        """Of each of these leaves, the first point that is in it."""
        if not self.settings.options.tracks_members:
            return leaves
        points = self._core.numbers()  # whoever began a leaf may have left it
        of, first = np.unique(self._core.leaf_of(points), return_index=True)
        found: IntArray = points[first[np.searchsorted(of, leaves)]]
        return found

    def points(self) -> Rows:
        """A copy of the rows as stored."""
        rows: Rows = self._core.points()
        return rows

    def still(self) -> tuple[Hierarchy, Rows]:
        """The tree as it is now, and its rows."""
        tree, rows = self.hierarchy(), self.points()
        return tree, rows[: tree.n_leaves]  # more may have come in between

    # --- versions ---------------------------------------------------------------------

    @property
    def version(self) -> int:
        """Grows with every change; goes on after a restart, and after another tree."""
        return self.offset + self._core.version

    def follow(self, earlier: "Live") -> None:
        """Be the next tree of a model: its versions and ids of clusters go on counting."""
        self.begun = self.offset = earlier.offset + _stored_version(earlier._core) + 1
        self.identity = Identity(earlier.identity.next_id)

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
                self.past = Past(self._core, self.offset, self.begun)
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
            labels = _plain(self._core.labels(*cut))
            labels.setflags(write=False)
            kept = version, cut, labels
            self._labels = kept
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
            "edits": (dict(self.names), self.apart),
            "late": self.n_late,
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
        live.begun, live.offset = state.get("versions", (0, 0))
        if "identity" in state:
            live.identity = Identity.from_plain(state["identity"])
        live.names, live._apart = state.get("edits", (live.names, live._apart))
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
