# SPDX-License-Identifier: BSD-3-Clause
"""_holding.py: what a shard can be asked about the points that it holds."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify import archive
from ramify.estimators.part import Part
from ramify.estimators.seam import Families
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ids import Id
from ramify.journal import DurableTree, Hit, Report
from ramify.memory import resident
from ramify.points import Rows
from ramify.ray._finder import Boxes
from ramify.ray._log import Changed, Log, everything
from ramify.ray._outline import Outline

#: Arrays by name, and what a file says beside them.
Saved = tuple[dict[str, Any], dict[str, archive.Array]]


class Holding:
    """A tree in a folder, for reading; nothing here changes a point."""

    done: int
    _tree: DurableTree
    _threads: int
    _begun: float
    _log: Log

    @property
    def report(self) -> Report:
        """What was found when it was opened: operations replayed, digests proven."""
        return self._tree.report

    @property
    def model(self) -> Any:
        """The model, for reading."""
        return self._tree.model

    @property
    def _part(self) -> Part:
        return Part(self._tree.model)

    def __len__(self) -> int:
        return len(self._tree)

    def nearest(self, rows: Rows, k: int) -> tuple[IntArray, FloatArray]:
        """Numbers and distances of the k nearest points of each row, the nearest first.

        Where there are fewer than k: -1, infinitely far.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from ramify.ray import Shard
        >>> Shard(tempfile.mkdtemp(), {}).nearest(np.array([[0.0]]), 1)
        (array([[-1]]), array([[inf]]))
        """
        numbers = np.full((len(rows), k), -1)
        distances = np.full((len(rows), k), np.inf)
        there = min(k, len(self._tree))
        if there and len(rows):
            found = self._part.nearest(rows, there, self._threads)
            numbers[:, :there], distances[:, :there] = found
        return numbers, distances

    def boxes(self, m: int) -> Boxes:
        """Boxes around its points, as they are compared: those of each of its m widest parts.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from ramify.ray import Shard
        >>> shard = Shard(tempfile.mkdtemp(), {})
        >>> rows, near = np.array([[0.0], [1.0], [9.0]]), np.array([[-1], [0], [1]])
        >>> _ = shard.insert(1, rows, np.arange(3), near)
        >>> shard.boxes(2).low.tolist()
        [[0.0, 9.0]]
        """
        return Boxes.of(self._tree.points(), self._part.units(None, m, ("n_clusters", 1)))

    def frontier(self, m: int, by: str, value: float) -> Outline:
        """Its tree opened into m parts, and below them as a cut of the whole may be.

        ``by`` and ``value`` are the cut: ``"n_clusters"``, ``"height"`` or ``"max_size"``.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from ramify.ray import Shard
        >>> shard = Shard(tempfile.mkdtemp(), {})
        >>> rows, near = np.array([[0.0], [1.0], [9.0]]), np.array([[-1], [0], [1]])
        >>> _ = shard.insert(1, rows, np.arange(3), near)
        >>> shard.frontier(2, "n_clusters", 1).means
        array([[0.5],
               [9. ]])
        """
        if len(self._tree) == 0:
            return Outline.empty(*self._part.empty_like())
        return Outline.of_core(self._part.outline(m, (by, value)))

    def units(
        self, numbers: IntArray | None, m: int, by: str, value: float
    ) -> tuple[IntArray, IntArray]:
        """Numbers of points, of all if None, and where in the outline each one's unit is."""
        if len(self._tree) == 0:
            return (np.empty(0, np.int64),) * 2
        found = self._part.units(numbers, m, (by, value))
        return (self._part.numbers if numbers is None else numbers), found

    def whole(self) -> Hierarchy | None:
        """Its tree, frozen; None if it is empty."""
        return None if len(self._tree) == 0 else self._tree.hierarchy()

    def points(self) -> tuple[IntArray, Rows]:
        """Numbers and rows of its points."""
        if len(self._tree) == 0:
            return np.empty(0, np.int64), np.empty((0, 0))
        return self._part.numbers, self._tree.points()

    def rows_of(self, numbers: IntArray) -> Rows:
        """Rows of points that are here."""
        known, rows = self.points()
        some: Rows = rows.take(np.searchsorted(known, numbers), axis=0)
        return some

    def weights(self) -> tuple[IntArray, FloatArray | None]:
        """Numbers of its points, and what they stand for; None: a point each."""
        if len(self._tree) == 0:
            return np.empty(0, np.int64), None
        return self._part.numbers, self._part.weights()

    def saved(self) -> Saved:
        """Its model as plain arrays."""
        found: Saved = self.model._to_saved()
        return found

    def holds(self, numbers: IntArray) -> npt.NDArray[np.bool_]:
        """Which of these points are here."""
        return np.array(list(map(self._part.has, numbers.tolist())), bool)

    def path(self, number: int) -> tuple[IntArray, str]:
        """Node ids from its root down to a point, and the turns."""
        return self._part.path(number)

    def has(self, points: Sequence[Id]) -> list[int | None]:
        """Numbers of points, by ids or by numbers where there are no ids; None: not here."""
        return list(map(self._part.find, points))

    def ids_of(self, numbers: Sequence[int]) -> list[Id | None]:
        """Ids of points by their numbers; None: it has none, or is not here."""
        return self._tree.ids_of(list(numbers))

    def mark(self, op: int, keep: int, m: int) -> IntArray:
        """Remember the tree of this operation; ids of its nodes above a frontier of m parts.

        ``keep`` earlier ones are remembered, too, until the process ends.
        """
        part = self._part
        if not part.begun:
            return np.empty(0, np.int64)
        if len(part) == 0:  # need not be remembered, but how it came to this
            self._tree.between(lambda: self._log.follow(op, part.recorder))
            return np.empty(0, np.int64)
        self._tree.between(lambda: self._log.mark(op, part.recorder, keep))
        outline = self.frontier(m, "n_clusters", 1)
        opened: set[int] = set()
        for number, end in zip(outline.firsts.tolist(), outline.ids.tolist(), strict=True):
            path = part.path(number)[0].tolist()
            opened.update(path[: path.index(end)])
        return np.array(sorted(opened), np.int64)

    def changed(self, since: int | None, ids: IntArray) -> Changed | None:
        """What became of its tree since an operation, and of these nodes; None: it is not known.

        ``since`` is None if the tree had no points then.
        """
        if since is None:
            return everything(self.whole())
        return self._log.since(since, ids)

    def tree_then(self, op: int) -> Families | None:
        """The whole tree of an operation that was marked; None: it is not known."""
        return self._log.tree(op)

    def payloads(self, numbers: Sequence[int]) -> dict[int, Any]:
        """Payloads of those of these points that are here and have one."""
        return self._tree.payloads(numbers)

    def search(self, text: str, limit: int) -> list[Hit]:
        """Points by words of their payloads, the best first."""
        return self._tree.search(text, limit=limit)

    def figures(self) -> dict[str, Any]:
        """What can be measured: of the journal, and of the process."""
        return {
            **self._tree.statistics(),
            "leaves": len(self._tree),
            "done": self.done,
            "pid": os.getpid(),
            "memory": resident(),
            "replayed": self.report.replayed,
            "proven": self.report.proven,
            "recovery_seconds": self.report.seconds,
            "up_seconds": time.monotonic() - self._begun,
        }
