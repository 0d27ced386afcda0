# SPDX-License-Identifier: BSD-3-Clause
"""_log.py: the log that knows what became of a tree.

The log is the steps that lead to the tree of now, one for every version that somebody has asked
for: nobody can ask about others. The core notes each node that something happens to, as it was
before, and a step is its answer to "what became of them?". So an insert costs a note, a version
that nobody has seen costs nothing, and an earlier tree is the one of now with steps taken back.
"""

from collections import deque
from datetime import datetime
from itertools import pairwise
from threading import Lock
from time import time
from typing import Any, Protocol

import numpy as np

from ramify.errors import HistoryError
from ramify.estimators._replay import (
    Before,
    Step,
)
from ramify.estimators._steps import merged
from ramify.estimators._timeline import Span, moments


class Shelf(Protocol):
    """Where steps are kept, and which versions can be asked about."""

    @property
    def oldest(self) -> int: ...
    def begin(self, version: int) -> None: ...
    def add(self, step: Step, keep: int) -> None: ...
    def since(self, version: int, until: int | None = None) -> list[Step] | None: ...
    def moments(self) -> list[tuple[int, float]]: ...
    def at(self, seconds: float) -> int | None: ...


class Recent:
    """The steps between the last versions, in memory: where a :class:`Past` keeps them."""

    def __init__(self) -> None:
        self._versions: deque[tuple[int, float]] = deque()  # and when each was settled
        self._steps: deque[Step] = deque()  # from each of them to the next

    @property
    def oldest(self) -> int:
        """The first version that can be asked about."""
        return self._versions[0][0]

    def begin(self, version: int) -> None:
        """Nothing is known from before this version."""
        self._versions.clear()
        self._steps.clear()
        self._versions.append((version, time()))

    def add(self, step: Step, keep: int) -> None:
        """One more step, after which so many versions before the last can be asked about."""
        self._versions.append((step.version, time()))
        self._steps.append(step)
        while len(self._steps) > keep:
            self._versions.popleft()
            self._steps.popleft()

    def since(self, version: int, until: int | None = None) -> list[Step] | None:
        """The steps after a version, up to another; None if it cannot be asked about."""
        if not any(known == version for known, _ in self._versions):
            return None
        last = self._versions[-1][0] if until is None else until
        return [step for step in self._steps if version < step.version <= last]

    def moments(self) -> list[tuple[int, float]]:
        """The versions that can be asked about, and when each was settled."""
        return list(self._versions)

    def at(self, seconds: float) -> int | None:
        """The last version of that time or before; None if it cannot be asked about."""
        known = [version for version, when in self._versions if when <= seconds]
        return known[-1] if known else None


class Past:
    """Has the core write down what happens, and makes steps of it. See the file's head.

    Versions are those that users see; ``offset`` is what they are ahead of the core's.
    Threads that read the version while a batch is under way take turns.
    """

    def __init__(self, core: Any, offset: int, begun: int, shelf: Shelf) -> None:
        self._core, self._offset, self._shelf = core, offset, shelf
        self._begun = begun  # the version of the empty tree, which nobody needs a log for
        self._lock = Lock()
        self._gap = 0  # versions before it could not be written down
        self.n_touched = 0  #: nodes that the latest step speaks of
        self.newest = 0  #: the last version that somebody has asked for
        self._begin()

    def _begin(self) -> None:
        self._core.record(True, all=False)
        self.newest = self._offset + self._core.version
        self._shelf.begin(self.newest)

    def stop(self) -> None:
        """Write down no more."""
        self._core.record(False, all=False)

    def settle(self, keep: int) -> int:
        """The version now, which can be asked about from now on."""
        with self._lock:
            change = self._core.take_change()
            version: int = self._offset + change["version"]
            if change["incomplete"]:
                self._begin()
                self._gap = version
            elif version > self.newest:
                if self.newest == self._begun:
                    self._shelf.begin(version)  # all of the first batch: no step like the others
                else:
                    self._shelf.add(step_of(version, change), keep)
                    self.n_touched = len(change["families"])
                self.newest = version
            return self.newest

    def since(self, since: int) -> list[Step]:
        """The steps after a version, as one: nobody asks about the versions between."""
        found = self._shelf.since(since)
        if found is None:
            raise HistoryError(self._why_not(since))
        return [merged(found)] if len(found) > 1 else found

    def spans(self, most: int) -> list[Span]:
        """All that is remembered, in so many spans at most, evenly in time."""
        known = moments(self._shelf.moments(), most)
        pairs = [(one, two, self._shelf.since(one[0], two[0])) for one, two in pairwise(known)]
        return [Span(one[0], two[1], merged(steps)) for one, two, steps in pairs if steps]

    def at(self, moment: datetime) -> int:
        """The last version of a moment or before. A moment without a zone is of this machine's."""
        found = self._shelf.at(moment.timestamp())
        if found is None:
            raise HistoryError(
                f"since={moment.isoformat()}: the oldest version that is remembered, "
                f"{self._shelf.oldest}, is younger"
            )
        return found

    @property
    def oldest(self) -> int:
        """The oldest version that can be asked about, beside that of the empty tree."""
        return self._shelf.oldest

    def _why_not(self, since: int) -> str:
        if since > self.newest:
            return f"since={since}: there is no such version yet, the model is at {self.newest}"
        oldest = f"the oldest version that is remembered is {self.oldest}"
        if since < self._gap:
            return f"since={since}: memory ran out when that was to be written down; {oldest}"
        if since < self.oldest:
            return f"since={since}: {oldest}; a greater history= goes farther back"
        return f"since={since}: model.version was not read then, so that version is not known"


def step_of(version: int, change: Any) -> Step:
    """A step, of what the core says has become of the nodes that it noted."""
    inserted, erased, vanished, families, weighed, came, left, absorbed = (
        change[name].view(np.int64)
        for name in (
            "inserted",
            "erased",
            "vanished",
            "families",
            "weighed",
            "came",
            "left",
            "absorbed",
        )
    )
    if not change["several"]:  # each leaf is a point
        came, left = inserted, np.column_stack([erased, erased])
    weights = change["weights"] if change["weighted"] else None
    if weights is None:
        weighed = inserted
    told = inserted, erased, vanished, families, np.ascontiguousarray(change["values"][:, :1])
    were = change["weights_before"] if change["weighted"] else None
    earlier, leaves = (change[name].view(np.int64) for name in ("earlier", "weighed_before"))
    before = Before(earlier, change["heights_before"], leaves, were)
    return Step(version, *told, weighed, weights, came, left, absorbed, before)
