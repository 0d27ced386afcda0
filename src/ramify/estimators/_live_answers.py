# SPDX-License-Identifier: BSD-3-Clause
"""_live_answers.py: what a live tree says: snapshots, kept until the next insert, and cuts."""

from itertools import chain
from typing import Any, cast

import numpy as np

from ramify.estimators._anchors import Found
from ramify.estimators._core_tree import plain
from ramify.estimators._cut import Cut, Joined
from ramify.estimators._live_points import Frozen, LivePoints
from ramify.hierarchy import FloatArray, Hierarchy, IntArray, Points
from ramify.points import Rows, zero_rows_of
from ramify.sparse import SparseRows

#: In the place of a node's id, for a row that no point is near to: -1 is a point's.
NO_NODE = -(2**63)


class LiveAnswers(LivePoints):
    """A live tree that can be asked."""

    __slots__ = ()

    def hierarchy(self) -> Hierarchy:
        """The tree as it is now, frozen. O(n) after an insert, then free."""
        return self._frozen().tree

    def _frozen(self) -> "Frozen":
        kept = self._hierarchy
        if kept is None or kept.version != self._core.version:
            kept, _, _ = self._freeze(with_points=False)
        return kept

    def _freeze(self, *, with_points: bool) -> tuple["Frozen", Points, Rows]:
        """The tree as it is now, all of one moment."""
        version, *facts, members, rows, arrays = self._core.versioned_snapshot(with_points)
        numbers, weights, firsts = (found if len(found) else None for found in facts)
        leaves = np.arange(len(arrays[0]) + 1) if numbers is None else plain(numbers)
        if firsts is None:
            points = Points(leaves, slice(None), self._names(leaves))
            tree = Hierarchy(*arrays, points.names, numbers, weights)
        else:
            tree = Hierarchy(*arrays, self._names(firsts), firsts, weights, leaves)
            of, their = np.ascontiguousarray(members.T)
            points = Points(of, np.searchsorted(leaves, their), self._names(of))
        known = points if with_points or firsts is None else None
        self._hierarchy = kept = Frozen(version, tree, known)
        return kept, points, rows

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

    def nearest(
        self, rows: Rows | SparseRows, k: int, threads: int = 1
    ) -> tuple[IntArray, FloatArray]:
        """Numbers and distances of the k stored points nearest to each row; ties: the earliest."""
        found = [self._core.nearest(chunk, k, threads) for chunk in self._asked(rows)]
        points, distances = (np.concatenate(part) for part in zip(*found, strict=True))
        distances = self.settings.metric.told(distances)
        return self._known(rows, plain(points), -1), self._known(rows, distances, 1.0)

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
            self._known(rows, plain(labels), -1),
            self._known(rows, plain(nodes), NO_NODE),
            self._known(rows, plain(points), -1),
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

    def cluster_of(self, numbers: IntArray, cut: Cut) -> tuple[IntArray, IntArray]:
        """Label and node id of the clusters of some points."""
        if cut.joins:
            found = self.joined(cut)
            of = found.labels_of(numbers)
            return of, found.node_ids[of]
        labels, nodes, _ = self._core.cluster_of(numbers, *cut[:2])
        return plain(labels), plain(nodes)

    def clusters(self, cut: Cut) -> tuple[IntArray, IntArray, Rows, FloatArray, IntArray]:
        """Node ids, sizes, means, heights and first points of a cut's clusters."""
        if cut.joins:
            found = Joined(cut, *self.still()).clusters
            return found.node_ids, found.sizes, found.means, found.heights, found.first_points
        nodes, sizes, means, heights, firsts = self._core.clusters(*cut[:2])
        if self.settings.options.tracks_members and len(self) < self._core.next_arrival:
            _, places = np.unique(self.labels(cut), return_index=True)
            firsts = self.numbers()[places]  # the first point of a leaf may have left
        return plain(nodes), whole(sizes), self._told(means), heights, plain(firsts)

    def labels(self, cut: Cut) -> IntArray:
        """Labels of a cut, read-only. O(n) after an insert or for another cut, then free."""
        kept, version = self._labels, self._core.version
        if kept is None or kept[:2] != (version, cut):
            if cut.joins:
                return self.joined(cut).labels
            labels = plain(self._core.labels(*cut[:2]))
            labels.setflags(write=False)
            kept = version, cut, labels
            self._labels = kept
        return kept[2]

    def stable_ids(self, cut: Cut, count: int) -> IntArray:
        """Ids that stay of the clusters of a cut, by label; -1: of one that is new."""
        called = self._calling.of(self, cut)
        return np.full(count, -1) if called is None else called.ids

    def stable_of(self, cut: Cut, nodes: IntArray) -> IntArray:
        """Ids that stay of clusters of a cut, by the ids of their nodes; -1: of one that is new."""
        called = self._calling.of(self, cut)
        return np.full(len(nodes), -1) if called is None else called.of(nodes)

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

    def path(self, number: int) -> tuple[IntArray, str]:
        """Node ids from the root to a point, and the turns on the way."""
        nodes, turns = self._core.path(number)
        return plain(nodes), turns

    def lca(self, one: int, other: int) -> int:
        """Node id of the lowest common ancestor of two points."""
        return self._core.lca(one, other)

    def depth(self, number: int) -> int:
        """Number of merges above a point."""
        return self._core.depth(number)

    def outline(self, m: int, cut: tuple[str, float]) -> tuple[Any, ...]:
        """The tree opened into its m widest parts, and below as a cut of a larger tree may."""
        found: tuple[Any, ...] = cast(Any, self._core).outline(m, *cut)
        return found

    def units(self, numbers: IntArray | None, m: int, cut: tuple[str, float]) -> IntArray:
        """Where in such an outline the unopened nodes above points are; of all, if None."""
        return plain(cast(Any, self._core).units(numbers, m, *cut))

    @property
    def recall(self) -> float:
        """Measured share of the rows so far that were told their nearest leaf."""
        return float(getattr(self._core, "recall", 1.0))

    def certificate(self) -> tuple[float, float, float, float]:
        """Beta, and the revenue guaranteed, achieved and conceivable."""
        proof: tuple[float, float, float, float] = cast(Any, self._core).certificate()
        return proof

    def check(self) -> None:
        """Raise RuntimeError naming the first invariant that the core's tree breaks."""
        self._core.check()


def whole(weights: FloatArray) -> IntArray:
    """Numbers of points as integers, if that is what they are."""
    counts = weights.astype(np.int64)
    return counts if (counts == weights).all() else cast(IntArray, weights)
