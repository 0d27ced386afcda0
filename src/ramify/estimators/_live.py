# SPDX-License-Identifier: BSD-3-Clause
"""_live.py: one growing tree of the core, and what has been read from it so far.

A ``Live`` is what an estimator owns once points have arrived. Its points are in
_live_points.py, what it says in _live_answers.py, how it grows in _live_growing.py. Here
it is marked by people, counts its versions, and becomes plain arrays and back. Who may
use it when is the guard's affair.
"""

from typing import Any, TypedDict, cast

import numpy as np

from ramify.checks import LARGEST
from ramify.estimators._anchors import Anchors
from ramify.estimators._apart import Apart
from ramify.estimators._core_tree import (
    Core,
    NotBegun,
    new_core,
    old_core,
    plain,
    plain_arrivals,
    stored_version,
)
from ramify.estimators._identity import Identity
from ramify.estimators._leaving import Clock
from ramify.estimators._live_growing import LiveGrowing
from ramify.estimators._log import Past, Recent, Shelf
from ramify.estimators._settings import Arrays, Options, Settings
from ramify.hierarchy import Hierarchy, IntArray
from ramify.ids import Id, Ids
from ramify.points import FLOAT32, FLOAT64, Rows

#: Raised when the meaning of ``State`` changes. 2: points have arrival numbers of their own.
STATE_FORMAT = 2
STATE_FORMATS = (1, STATE_FORMAT)


#: Arrays of the core that files do not have where they say nothing.
_OFTEN_EMPTY: Arrays = {
    "standings": np.empty((0, 2)),
    "members": np.empty((0, 3), np.uint64),
    "shares": np.empty(0),
}


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


class Live(LiveGrowing):
    """A live tree: what it is told of itself, its versions, and its way into files."""

    __slots__ = ()

    def with_points(self, rows: Rows, tree: Hierarchy, next_number: int) -> "Live":
        """Another one, of these rows in the shape of a tree over them, which has their numbers.

        The rows are as this one has stored them: under cosine they are not scaled again.

        Inner nodes keep the ids that they have in the tree, and points their names. No id that
        this one has given away is given again.
        """
        core = cast(Any, new_core(self.settings, self.dtype))
        core.adopt(self._stored(rows), tree.children, tree.leaf_weights, as_stored=True)
        arrays = {
            **core.state(),
            "names": tree.node_ids.astype(np.uint64),
            "next_name": np.array([self._next_name(tree)], np.uint64),
            "arrivals": tree.leaf_numbers.astype(np.uint64),
            "next_arrival": np.array([next_number], np.uint64),
        }
        other = Live(self.settings, self.dtype, old_core(self.settings, self.dtype, arrays))
        if tree.names is not None:
            other.ids = Ids.of_points(tree.names.tolist(), tree.point_numbers.tolist(), next_number)
        return other

    def _next_name(self, tree: Hierarchy) -> int:
        """The id of the next inner node, of a tree whose nodes are some of these."""
        last = int(tree.node_ids.max(initial=-1))
        state: Any = None if isinstance(self._core, NotBegun) else self._core.state()
        return max(last + 1, 0 if state is None else int(state["next_name"][0]))

    def edit(self, what: str, *about: int) -> None:
        """Have the core's tree changed as people say."""
        getattr(self._core, what)(*about)

    def apart(self) -> IntArray:
        """(m, 2): pairs of points that must be apart, of those that are there."""
        return self.pairs_apart.array(self.has)

    def held(self) -> IntArray:
        """Ids of the nodes whose points stay below them. O(n)."""
        return plain(self._core.held()) if self.keeps_marks() else np.empty(0, np.int64)

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
        return plain(cast(Any, self._core).wholes(points))

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

    def follow(self, earlier: "Live") -> None:
        """Be the next tree of a model: its versions and ids of clusters go on counting."""
        self.begun = self.offset = earlier.offset + stored_version(earlier._core) + 1
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
        if self.past is None and isinstance(self._core, NotBegun):
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
            "versions": (self.begun, self.offset + stored_version(self._core)),
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
            live = Live(settings, dtype, old_core(settings, dtype, arrays))
        else:
            core = NotBegun(arrays)
            live = Live(settings, dtype, cast(Core, core))
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
