# SPDX-License-Identifier: BSD-3-Clause
"""_log.py: what became of one shard's tree since versions that may be asked about.

As the log of a single tree (``estimators/_log.py``), by the router's operations instead of
the tree's own versions: a tree of some operations ago, and the steps from there to now. When a
part of the tree moves to another shard, a new core has what is left, and the step is the
difference of the two trees. The log begins when a version is first asked for, and ends with the
process.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ramify.estimators.seam import (
    Families,
    Step,
    families_of,
    no_tree,
    replay,
    step_of,
    touched,
    weighed,
)
from ramify.hierarchy import FloatArray, Hierarchy, IntArray


class Changed(NamedTuple):
    """Nodes of a shard's tree that are not what they were, and others that were asked for."""

    old: Families  #: as they were
    new: Families  #: as they are
    leaves: IntArray  #: that are new here
    weights: FloatArray | None  #: what these stand for; None: a point each


class Log:
    """The steps of a shard's tree; some operations are marked, and can be asked about."""

    def __init__(self) -> None:
        self._core: Any = None  # that writes down what happens to it; None: there was no mark yet
        self._base = no_tree()
        self._steps: list[Step] = []
        self._marks: list[int] = []

    def mark(self, op: int, core: Any, keep: int) -> None:
        """From now on the tree of this operation can be asked about, and ``keep`` earlier ones."""
        self.follow(op, core, begin=True)
        if op not in self._marks:
            self._marks.append(op)
        del self._marks[: -keep - 1]
        done = [step for step in self._steps if step.version <= self._marks[0]]
        if len(done) > keep:  # not every time: it takes O(n)
            self._base = replay(self._base, done)
            del self._steps[: len(done)]

    def follow(self, op: int, core: Any, *, begin: bool = False) -> None:
        """Write down what became of the tree up to an operation; nothing before the first mark."""
        if self._core is None and not begin:
            return
        if core is not self._core:
            self._go_on_with(op, core)
            return
        change = core.take_change()
        if change["incomplete"]:  # there was no memory for it: what was before is not known
            self.__init__()  # type: ignore[misc]
            self._go_on_with(op, core)
        else:
            self._steps.append(step_of(op, change)._replace(before=None))

    def _go_on_with(self, op: int, core: Any) -> None:
        """Another core has what is left of the tree, or all of it for the first time."""
        core.record(True)
        change = core.take_change()
        if change["incomplete"]:
            raise MemoryError("there is not enough memory to remember versions of this tree")
        now = replay(no_tree(), [step_of(op, change)])
        if self._core is None:
            self._base = now
        else:
            self._steps.append(_difference(op, replay(self._base, self._steps), now))
        self._core = core

    def tree(self, op: int) -> Families | None:
        """The whole tree of an operation; None: it is not known. O(n)."""
        if op not in self._marks:
            return None
        return replay(self._base, [step for step in self._steps if step.version <= op])

    def since(self, op: int, ids: IntArray) -> Changed | None:
        """What became of the tree since an operation, and of these nodes; None: it is not known."""
        if op not in self._marks:
            return None
        before = [step for step in self._steps if step.version <= op]
        after = self._steps[len(before) :]
        old = replay(self._base, before, np.union1d(touched(after), ids))
        return Changed(old, replay(old, after), *weighed(after))


def everything(tree: Hierarchy | None) -> Changed:
    """A tree that has come into being since then."""
    if tree is None:
        return Changed(no_tree(), no_tree(), np.empty(0, np.int64), None)
    whole = families_of(tree)
    return Changed(no_tree(), whole, whole.points, whole.weights)


def _difference(op: int, old: Families, new: Families) -> Step:
    """The step from one tree to another."""
    _, before, after = np.intersect1d(old.ids, new.ids, return_indices=True)
    same = (old.children[before] == new.children[after]).all(axis=1)
    same &= old.values[before, 0] == new.values[after, 0]
    told = np.ones(len(new.ids), bool)
    told[after[same]] = False
    came, gone = np.setdiff1d(new.points, old.points), np.setdiff1d(old.points, new.points)
    weights = None if new.weights is None else new.weights[np.searchsorted(new.points, came)]
    none = np.empty((0, 2), np.int64)
    return Step(
        op,
        came,
        gone,
        np.setdiff1d(old.ids, new.ids),
        np.column_stack([new.ids, new.children])[told],
        new.values[told],
        came,
        weights,
        came,
        np.column_stack([gone, gone]),
        none,
    )
