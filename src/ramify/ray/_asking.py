# SPDX-License-Identifier: BSD-3-Clause
"""_asking.py: what can be asked of all shards as one tree. No engine in here.

An answer is put together from what shards say of their own trees and from the tree above them
(_top.py). All of it is of one moment: see ``Router``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from ramify import saving
from ramify.estimators import OHAC
from ramify.estimators.part import model_of, whole
from ramify.estimators.seam import (
    Asked,
    Assignment,
    Cut,
    InCluster,
    Joined,
    judge,
)
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ids import Id
from ramify.journal import Hit
from ramify.points import Rows
from ramify.ray._finder import Finder
from ramify.ray._notes import Noted
from ramify.ray._outline import Outline
from ramify.ray._plan import Crew, Plan
from ramify.ray._sure import KnownShards
from ramify.ray._tables import ClusterTable
from ramify.ray._top import CutNodes, Stitched, Top, global_ids, spliced
from ramify.ray._turns import in_turn


class Asking(Noted):
    """Reads of the whole tree, for the router, which knows where the stream stands."""

    plan: Plan
    op: int
    sizes: list[int]
    ids: str | None
    _crew: Crew
    _finder: Finder
    _outlines: tuple[Any, list[Outline], Stitched] | None
    _whole: tuple[int, Hierarchy] | None
    _joined_of: tuple[int, Cut, Joined] | None = None  # the latest, and of which operation
    asked: Asked | None = None  # neighbours of some points, for how sure an answer is

    def _settle(self) -> None:
        raise NotImplementedError

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

    @in_turn
    def top(self) -> Top:
        """The top tree."""
        return self._stitched("n_clusters", 1)[1].top()

    @in_turn
    def hierarchy(self) -> Hierarchy:
        """The whole tree, frozen."""
        if self._whole is None:
            outlines, stitched = self._stitched("n_clusters", 1)
            self._whole = self.op, spliced(stitched, outlines, self._ask_all("whole"))
        return self._whole[1]

    @in_turn
    def points(self) -> tuple[IntArray, Rows]:
        """Numbers and rows of all points, as stored, in order of arrival."""
        found = [(numbers, rows) for numbers, rows in self._ask_all("points") if len(numbers)]
        numbers = np.concatenate([one for one, _ in found])
        order = np.argsort(numbers)
        return numbers[order], np.concatenate([rows for _, rows in found])[order]

    @in_turn
    def rows_of(self, numbers: IntArray) -> Rows:
        """Rows of some points, as stored."""
        holders = self._known_holders(numbers)
        calls: list[tuple[int, str, tuple[Any, ...]]] = []
        for shard in np.unique(holders).tolist():
            calls.append((shard, "rows_of", (np.ascontiguousarray(numbers[holders == shard]),)))
        places = [np.flatnonzero(holders == shard) for shard, *_ in calls]
        rows = np.concatenate(self._crew.ask(calls))
        return np.ascontiguousarray(rows[np.argsort(np.concatenate(places))])

    @in_turn
    def labels(self, cut: Cut) -> tuple[IntArray, IntArray]:
        """Numbers of all points, ascending, and the label of each one's cluster."""
        if cut.of_whole:
            joined = self._joined(cut)
            return joined.points.numbers, joined.labels
        by, value, _ = cut
        _, stitched = self._stitched(by, value)
        found = stitched.cut(by, value)
        told = self._ask_all("units", None, self._parts, by, value)
        numbers = np.concatenate([one for one, _ in told])
        labels = [
            found.labels[stitched.offsets[shard] + units] for shard, (_, units) in enumerate(told)
        ]
        order = np.argsort(numbers)
        return numbers[order], np.concatenate(labels)[order]

    def _joined(self, cut: Cut) -> Joined:
        """The clusters of a cut that is made in the whole tree; some need all rows, too."""
        kept = self._joined_of
        if kept is None or kept[:2] != (self.op, cut):
            tree = self.hierarchy()
            rows = None if cut.way == "height" else self.points()[1]
            kept = self._joined_of = self.op, cut, Joined(cut, tree, tree._points(), rows)
        return kept[2]

    def _weights(self) -> FloatArray | None:
        """What all points stand for, in order of arrival; None if each is one."""
        told = self._ask_all("weights")
        if all(weights is None for _, weights in told):
            return None
        order = np.argsort(np.concatenate([numbers for numbers, _ in told]))
        plain = [np.ones(len(numbers)) if some is None else some for numbers, some in told]
        return np.concatenate(plain)[order]

    @in_turn
    def cluster_of(self, numbers: IntArray, cut: Cut) -> InCluster:
        """Label and node id of the clusters of some points, and the ids that stay."""
        labels, nodes = self._located(numbers, cut)
        return InCluster(labels, nodes, self._stable_of(cut, labels))

    def _located(self, numbers: IntArray, cut: Cut) -> tuple[IntArray, IntArray]:
        holders = self._known_holders(numbers)
        if cut.of_whole:
            joined = self._joined(cut)
            of = joined.labels_of(numbers)
            return of, joined.node_ids[of]
        _, stitched = self._stitched(*cut[:2])
        found = stitched.cut(*cut[:2])
        places = self._places(numbers, holders, cut, stitched)
        labels = found.labels[places]
        return labels, stitched.ids[found.places[labels]]

    @in_turn
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
            calls.append((shard, "units", (mine, self._parts, *cut[:2])))
        places = np.empty(len(numbers), np.int64)
        for (shard, *_), (_, units) in zip(calls, self._crew.ask(calls), strict=True):
            places[holders == shard] = stitched.offsets[shard] + units
        return places

    @in_turn
    def path(self, number: int) -> tuple[IntArray, str]:
        """Node ids from the root down to a point, and its turns: the top's, then its shard's."""
        wanted, whole = np.array([number]), Cut("n_clusters", 1)
        (shard,) = self._known_holders(wanted).tolist()
        outlines, stitched = self._stitched(*whole[:2])
        (place,) = self._places(wanted, np.array([shard]), whole, stitched)
        ((nodes, turns),) = self._crew.ask([(shard, "path", (number,))])
        unit = outlines[shard].ids[place - stitched.offsets[shard]]
        (at,) = np.flatnonzero(nodes == unit)
        above = stitched.ids[stitched.path(int(place))]
        code = stitched.codes(np.array([place]))[0] + turns[at:]
        return np.concatenate([above, global_ids(nodes[at + 1 :], shard)]), code

    @in_turn
    def nearest(self, rows: Rows, k: int) -> tuple[IntArray, FloatArray, IntArray]:
        """Numbers, distances and shards of the k points nearest to each row."""
        self._settle()
        proposals = self._finder.proposals(rows, k, self.sizes)
        numbers = np.concatenate([found for found, _ in proposals], axis=1)
        distances = np.concatenate([far for _, far in proposals], axis=1)
        last = np.where(numbers < 0, np.iinfo(np.int64).max, numbers)
        order = np.lexsort((last, distances), axis=1)[:, :k]
        return (
            np.take_along_axis(numbers, order, axis=1),
            np.take_along_axis(distances, order, axis=1),
            order // k,
        )

    @in_turn
    def assign(
        self, rows: Rows, cut: Cut, sure: bool | list[Cut] = False, alpha: float | None = None
    ) -> Assignment:
        """Where rows belong, and how sure that is; nothing is inserted."""
        told = judge(self._placed(rows, cut), KnownShards(self), rows, cut, sure, alpha)
        told.stable_ids = self._stable_of(cut, told.labels)
        return told

    def _placed(self, rows: Rows, cut: Cut) -> Assignment:
        numbers, distances, holders = self.nearest(rows, 1)
        if cut.of_whole:
            joined = self._joined(cut)
            labels = joined.labels_of(numbers[:, 0])
            told = joined.node_ids[labels], numbers[:, 0], distances[:, 0]
            return Assignment(labels, *told, [joined.codes[one] for one in labels.tolist()])
        _, stitched = self._stitched(*cut[:2])
        found = stitched.cut(*cut[:2])
        places = self._places(numbers[:, 0], holders[:, 0], cut, stitched)
        labels = found.labels[places]
        heads = found.places[labels]
        codes = stitched.codes(heads)
        return Assignment(labels, stitched.ids[heads], numbers[:, 0], distances[:, 0], codes)

    @in_turn
    def clusters(self, cut: Cut) -> ClusterTable:
        """The clusters of a cut, from summaries alone; with a least size from all points."""
        if cut.of_whole:
            tree = self.hierarchy()
            of = Joined(cut, tree, tree._points(), self.points()[1]).clusters
            about = of.node_ids, of.sizes, of.means, of.heights, of.first_points
            spreads = of.spreads
            assert spreads is not None
            return ClusterTable(*about, spreads, self.stable_ids(cut))
        _, stitched = self._stitched(*cut[:2])
        found: CutNodes = stitched.cut(*cut[:2])
        at = found.places
        heights = np.where(stitched.counts[at] > 1, stitched.monotone[at], 0.0)
        return ClusterTable(
            stitched.ids[at],
            whole(stitched.weights[at]),
            stitched.means[at],
            heights,
            stitched.firsts[at],
            stitched.ssds[at] / stitched.weights[at],
            self.stable_ids(cut),
        )

    @in_turn
    def has(self, points: Sequence[Id]) -> list[int | None]:
        """Numbers of points, by ids or by numbers where there are no ids; None: no such."""
        told = self._ask_all("has", list(points))
        return [
            next((one for one in found if one is not None), None)
            for found in zip(*told, strict=True)
        ]

    @in_turn
    def ids_of(self, numbers: Sequence[int]) -> list[Id | None]:
        """Ids of points by their numbers."""
        told = self._ask_all("ids_of", list(numbers))
        return [
            next((one for one in found if one is not None), None)
            for found in zip(*told, strict=True)
        ]

    @in_turn
    def payloads(self, numbers: Sequence[int]) -> dict[int, Any]:
        """Payloads by the numbers of their points; those that have one."""
        wanted = list(numbers)
        return {
            number: one
            for told in self._ask_all("payloads", wanted)
            for number, one in told.items()
        }

    @in_turn
    def search(self, text: str, limit: int) -> list[Hit]:
        """Points by words of their payloads: the best one of each shard, then the second, ..."""
        found = self._ask_all("search", text, limit)
        in_turns = [hit for hits in zip_longest(*found) for hit in hits if hit is not None]
        return in_turns[:limit]

    @in_turn
    def model(self) -> OHAC:
        """A plain model of the whole."""
        if len(self.sizes) == 1:
            (saved,) = self._ask_all("saved")
            model: OHAC = saving._model(*saved)
        else:
            tree = self.hierarchy()
            _, rows = self.points()
            model = model_of(OHAC(**self.plan.options), rows, tree, self.number)
        for node, text in self.names().homes.items():
            model.edit.rename(node, text)
        return model
