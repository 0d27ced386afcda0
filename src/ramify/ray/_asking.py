# SPDX-License-Identifier: BSD-3-Clause
"""_asking.py: what can be asked of all shards as one tree. No engine in here.

An answer is put together from what shards say of their own trees and from the tree above them
(_top.py). All of it is of one moment: see ``Router``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ramify import saving
from ramify.estimators import OHAC
from ramify.estimators._live import Live
from ramify.estimators._reading import Assignment
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ids import Id
from ramify.points import Rows
from ramify.ray._head import Head
from ramify.ray._outline import Outline
from ramify.ray._plan import Crew, Cut, Plan
from ramify.ray._tables import ClusterTable, PointChanges
from ramify.ray._top import CutNodes, Stitched, Top, global_ids, spliced


class Asking:
    """Reads of the whole tree, for the router, which knows where the stream stands."""

    plan: Plan
    op: int
    number: int
    sizes: list[int]
    _crew: Crew
    _head: Head
    _outlines: tuple[Any, list[Outline], Stitched] | None
    _whole: tuple[int, Hierarchy] | None

    def _ask_all(self, method: str, *arguments: Any) -> list[Any]:
        raise NotImplementedError

    @property
    def _metric(self) -> str:
        return str(self.plan.options.get("metric", "sqeuclidean"))

    def _stitched(self, by: str, value: float) -> tuple[list[Outline], Stitched]:
        """The tree over all shards, as far as a cut of this kind has to know it."""
        kept = self._outlines
        if kept is None or kept[0] != (by, value):
            outlines = self._ask_all("frontier", self._parts, by, value)
            linkage = str(self.plan.options.get("linkage", "average"))
            kept = (by, value), outlines, Stitched(outlines, self._metric, linkage)
            self._outlines = kept
        return kept[1], kept[2]

    @property
    def _parts(self) -> int:
        """Parts of each shard; a tree that is in one shard is what it is there."""
        return self.plan.frontier if np.count_nonzero(self.sizes) > 1 else 1

    def top(self) -> Top:
        """The top tree."""
        return self._stitched("n_clusters", 1)[1].top()

    def hierarchy(self) -> Hierarchy:
        """The whole tree, frozen."""
        if self._whole is None:
            outlines, stitched = self._stitched("n_clusters", 1)
            self._whole = self.op, spliced(stitched, outlines, self._ask_all("whole"))
        return self._whole[1]

    def points(self) -> tuple[IntArray, Rows]:
        """Numbers and rows of all points, as stored, in order of arrival."""
        found = [(numbers, rows) for numbers, rows in self._ask_all("points") if len(numbers)]
        numbers = np.concatenate([one for one, _ in found])
        order = np.argsort(numbers)
        return numbers[order], np.concatenate([rows for _, rows in found])[order]

    def labels(self, cut: Cut) -> tuple[IntArray, IntArray]:
        """Numbers of all points, ascending, and the label of each one's cluster."""
        _, stitched = self._stitched(*cut)
        found = stitched.cut(*cut)
        told = self._ask_all("units", None, self._parts, *cut)
        numbers = np.concatenate([one for one, _ in told])
        labels = [
            found.labels[stitched.offsets[shard] + units] for shard, (_, units) in enumerate(told)
        ]
        order = np.argsort(numbers)
        return numbers[order], np.concatenate(labels)[order]

    def cluster_of(self, numbers: IntArray, cut: Cut) -> tuple[IntArray, IntArray]:
        """Label and node id of the clusters of some points."""
        holders = self._known_holders(numbers)
        _, stitched = self._stitched(*cut)
        found = stitched.cut(*cut)
        places = self._places(numbers, holders, cut, stitched)
        labels = found.labels[places]
        return labels, stitched.ids[found.places[labels]]

    def holders(self, numbers: IntArray) -> IntArray:
        """Which shard has each of these points; -1: none."""
        holders = np.full(len(numbers), -1)
        for shard, held in enumerate(self._ask_all("holds", numbers)):
            holders[held] = shard
        return holders

    def _known_holders(self, numbers: IntArray) -> IntArray:
        holders = self.holders(numbers)
        if (holders < 0).any():
            raise KeyError(f"there is no point {numbers[np.argmin(holders)]}")
        return holders

    def _places(
        self, numbers: IntArray, holders: IntArray, cut: Cut, stitched: Stitched
    ) -> IntArray:
        """Where in the stitched tree the units of points are."""
        calls: list[tuple[int, str, tuple[Any, ...]]] = []
        for shard in np.unique(holders).tolist():
            mine = np.ascontiguousarray(numbers[holders == shard])
            calls.append((shard, "units", (mine, self._parts, *cut)))
        places = np.empty(len(numbers), np.int64)
        for (shard, *_), (_, units) in zip(calls, self._crew.ask(calls), strict=True):
            places[holders == shard] = stitched.offsets[shard] + units
        return places

    def path(self, number: int) -> tuple[IntArray, str]:
        """Node ids from the root down to a point, and its turns: the top's, then its shard's."""
        wanted, whole = np.array([number]), ("n_clusters", 1)
        (shard,) = self._known_holders(wanted).tolist()
        outlines, stitched = self._stitched(*whole)
        (place,) = self._places(wanted, np.array([shard]), whole, stitched)
        ((nodes, turns),) = self._crew.ask([(shard, "path", (number,))])
        unit = outlines[shard].ids[place - stitched.offsets[shard]]
        (at,) = np.flatnonzero(nodes == unit)
        above = stitched.ids[stitched.path(int(place))]
        code = stitched.codes(np.array([place]))[0] + turns[at:]
        return np.concatenate([above, global_ids(nodes[at + 1 :], shard)]), code

    def nearest(self, rows: Rows, k: int) -> tuple[IntArray, FloatArray, IntArray]:
        """Numbers, distances and shards of the k points nearest to each row."""
        proposals = self._ask_all("nearest", rows, k)
        numbers = np.concatenate([found for found, _ in proposals], axis=1)
        distances = np.concatenate([far for _, far in proposals], axis=1)
        last = np.where(numbers < 0, np.iinfo(np.int64).max, numbers)
        order = np.lexsort((last, distances), axis=1)[:, :k]
        return (
            np.take_along_axis(numbers, order, axis=1),
            np.take_along_axis(distances, order, axis=1),
            order // k,
        )

    def assign(self, rows: Rows, cut: Cut) -> Assignment:
        """Where rows belong; nothing is inserted."""
        numbers, distances, holders = self.nearest(rows, 1)
        _, stitched = self._stitched(*cut)
        found = stitched.cut(*cut)
        places = self._places(numbers[:, 0], holders[:, 0], cut, stitched)
        labels = found.labels[places]
        heads = found.places[labels]
        codes = stitched.codes(heads)
        return Assignment(labels, stitched.ids[heads], numbers[:, 0], distances[:, 0], codes)

    def clusters(self, cut: Cut) -> ClusterTable:
        """The clusters of a cut, from summaries alone."""
        _, stitched = self._stitched(*cut)
        found: CutNodes = stitched.cut(*cut)
        at = found.places
        heights = np.where(stitched.counts[at] > 1, stitched.monotone[at], 0.0)
        return ClusterTable(
            stitched.ids[at],
            stitched.weights[at].astype(np.int64),
            stitched.means[at],
            heights,
            stitched.firsts[at],
            stitched.ssds[at] / stitched.weights[at],
        )

    def has(self, points: Sequence[Id]) -> list[int | None]:
        """Numbers of points, by ids or by numbers where there are no ids; None: no such."""
        told = self._ask_all("has", list(points))
        return [
            next((one for one in found if one is not None), None)
            for found in zip(*told, strict=True)
        ]

    def ids_of(self, numbers: Sequence[int]) -> list[Id | None]:
        """Ids of points by their numbers."""
        told = self._ask_all("ids_of", list(numbers))
        return [
            next((one for one in found if one is not None), None)
            for found in zip(*told, strict=True)
        ]

    def changes(self, since: int) -> PointChanges:
        """Which points came and went since an operation."""
        told = self._head.since(since)
        if since > self.op or (since < self.op and (not told or told[0][0] > max(since, 1))):
            raise LookupError(f"version {since} is not remembered; the latest is {self.op}")
        begin = told[0][1] if told and told[0][0] == since else 0
        later = [gone for op, _, gone in told if op > since]
        gone = np.unique(np.array([one for some in later for one in some], dtype=np.int64))
        new = np.arange(begin, self.number)
        inserted = new[~np.isin(new, gone)]
        return PointChanges(since, self.op, inserted, gone[gone < begin])

    def model(self) -> OHAC:
        """A plain model of the whole."""
        if len(self.sizes) == 1:
            (saved,) = self._ask_all("saved")
            whole: OHAC = saving._model(*saved)
            return whole
        tree = self.hierarchy()
        model = OHAC(**self.plan.options)
        _, rows = self.points()
        settings = model._settings()._replace(width=rows.shape[1])
        model._adopt(Live(settings, rows.dtype).with_points(rows, tree, self.number), None)
        return model
