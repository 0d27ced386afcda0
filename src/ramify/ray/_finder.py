# SPDX-License-Identifier: BSD-3-Clause
"""_finder.py: the nearest points among all shards, without asking every shard about every row.

The router keeps boxes around the points of each shard: around the widest parts of its tree, so
that they overlap little. A row is asked of the shard whose box is nearest, and then of those that
have a box no farther away than what that shard has found. What is left out cannot have been
nearer, or as near: the answer is that of asking all, ties included, and no tree depends on the
boxes.

Boxes take in rows before a shard hears of them, and stay as they are when points leave, so they
are around all points of a shard at every moment. A shard is asked for new ones when it has grown
by half, and after a part of it has moved. Of rows of many columns boxes say nothing (each is in
nearly all of them): there every shard is asked.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ramify import _core
from ramify.hierarchy import FloatArray, IntArray
from ramify.metric import METRICS
from ramify.points import Rows
from ramify.ray._plan import Crew
from ramify.ray._routing import Proposal

#: Parts of each shard that have a box; rows of more columns are not compared with boxes.
_PARTS, _COLUMNS = 32, 16
#: A shard that has grown by this share is asked for new boxes.
_GROWN = 0.5
#: More than rounding can move a row that is scaled to unit length.
_UNIT = 1e-6


class Boxes(NamedTuple):
    """Around all points of a shard; a column of each array is a box."""

    low: Rows
    high: Rows

    @classmethod
    def of(cls, rows: Rows, parts: IntArray) -> Boxes:
        """Around the rows of each part.

        Examples
        --------
        >>> Boxes.of(np.array([[0.0], [5.0], [2.0]]), np.array([0, 1, 0])).high.tolist()
        [[2.0, 5.0]]
        """
        order = np.argsort(parts, kind="stable")
        ordered = rows[order].T
        begin = np.flatnonzero(np.diff(parts[order], prepend=-1))
        return cls(
            np.minimum.reduceat(ordered, begin, axis=1), np.maximum.reduceat(ordered, begin, axis=1)
        )


class _Known(NamedTuple):
    """What the router knows of a shard."""

    boxes: Boxes
    points: int  #: when it was asked
    grown: int  #: rows since then


class Finder:
    """Who has the nearest points."""

    def __init__(self, crew: Crew, metric: str) -> None:
        self._crew, self._metric = crew, METRICS[metric]
        self._known: dict[int, _Known] = {}
        self.rows = self.asked = 0  #: rows that were looked up, and of how many shards in all

    def proposals(
        self, rows: Rows, k: int, sizes: list[int], within: FloatArray | None = None
    ) -> list[Proposal]:
        """Each shard's nearest points of each row, as far as they can be among the k nearest of
        all. ``within`` says how near k points are that are not in any shard.
        """
        none = np.full((len(rows), k), -1), np.full((len(rows), k), np.inf)
        found = [none] * len(sizes)
        there = [shard for shard, size in enumerate(sizes) if size > 0]
        self.rows += len(rows)
        if len(there) < 2 or rows.shape[1] > _COLUMNS:
            self._ask(found, rows, k, [(shard, np.arange(len(rows))) for shard in there])
            return found
        radius = np.full(len(rows), np.inf) if within is None else within.copy()
        least = self._least(rows, there, sizes, radius)
        home = least.argmin(axis=1)
        of = [np.flatnonzero(home == at) for at in range(len(there))]
        asked = self._ask(found, rows, k, list(zip(there, of, strict=True)))
        for mine, distances in asked:
            radius[mine] = np.minimum(radius[mine], distances[:, -1])
        near = ~(least > radius[:, np.newaxis])
        near[np.arange(len(rows)), home] = False
        others = [np.flatnonzero(near[:, at]) for at in range(len(there))]
        self._ask(found, rows, k, list(zip(there, others, strict=True)))
        return found

    def _ask(
        self, found: list[Proposal], rows: Rows, k: int, wanted: list[tuple[int, IntArray]]
    ) -> list[tuple[IntArray, FloatArray]]:
        """Ask shards about some of the rows each, and write down what they say."""
        wanted = [(shard, some) for shard, some in wanted if len(some)]
        told = self._crew.ask(
            [
                (shard, "nearest", (rows if len(some) == len(rows) else rows[some], k))
                for shard, some in wanted
            ]
        )
        answers = []
        for (shard, some), (numbers, distances) in zip(wanted, told, strict=True):
            self.asked += len(some)
            answers.append((some, distances))
            if len(some) < len(rows):
                before = tuple(one.copy() for one in found[shard])
                before[0][some], before[1][some] = numbers, distances
                numbers, distances = before
            found[shard] = numbers, distances
        return answers

    def _least(
        self, rows: Rows, there: list[int], sizes: list[int], within: FloatArray
    ) -> FloatArray:
        """What no distance of a row to a point of each of these shards is below, up to some."""
        new = [shard for shard in there if shard not in self._known]
        calls = [(shard, "boxes", (_PARTS,)) for shard in new]
        for shard, boxes in zip(new, self._crew.ask(calls), strict=True):
            self._known[shard] = _Known(boxes, sizes[shard], 0)
        known = [self._known[shard].boxes for shard in there]
        begin = np.cumsum([0, *(one.low.shape[1] for one in known)])
        low = np.concatenate([one.low for one in known], axis=1)
        high = np.concatenate([one.high for one in known], axis=1)
        metric = self._metric
        if metric.unit_rows:
            low, high = low - low.dtype.type(_UNIT), high + high.dtype.type(_UNIT)
        share = metric.squares_per_distance
        prepared = metric.prepared(rows)
        least = _core.least_distances(prepared, metric.product, low, high, begin, within * share)
        return least / share

    def takes(self, shard: int, rows: Rows) -> None:
        """A shard is about to take rows."""
        if (known := self._known.get(shard)) is None or len(rows) == 0:
            return
        boxes, points, grown = known
        if grown + len(rows) > _GROWN * points:
            self.forget(shard)
            return
        corners: Any = boxes.low.copy(), boxes.high.copy()
        _core.widen(self._metric.prepared(rows), *corners)
        self._known[shard] = _Known(Boxes(*corners), points, grown + len(rows))

    def forget(self, shard: int) -> None:
        """A part of a shard has gone, or has come: its boxes are not known any more."""
        self._known.pop(shard, None)
