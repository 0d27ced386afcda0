# SPDX-License-Identifier: BSD-3-Clause
"""_versions.py: versions of the tree over all shards, and what became of it since one of them.

A version can be asked about from when it was read first. What is remembered ends with the process
of the router or of a shard; which points came and went is in the router's file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ramify.errors import HistoryError
from ramify.estimators import Changes
from ramify.estimators.seam import Cut, DirtyClusters, Labelled, labelled, no_tree, unchanged_labels
from ramify.ids import as_array
from ramify.ray._asking import Asking
from ramify.ray._past import BEGINNING, Seen, changes_of_whole, top_families, whole_tree
from ramify.ray._tables import PointChanges
from ramify.ray._turns import in_turn


class Versions(Asking):
    """Reads of what became of the whole tree."""

    _seen: dict[int, Seen]  # versions that can be asked about
    _keep: int  # at most so many, beside the latest

    @in_turn
    def version(self, keep: int) -> int:
        """The last operation; one of the last ``keep`` that can be asked about, if any."""
        if keep > 0:
            self._see(keep)
        return self.op

    def _see(self, keep: int) -> Seen:
        """Remember the tree as it is."""
        self._settle()
        self._keep = max(self._keep, keep)
        if self.op not in self._seen:
            opened = self._ask_all("mark", self.op, self._keep, self._parts)
            empty = sum(self.sizes) == 0
            top = no_tree() if empty else top_families(self._stitched("n_clusters", 1)[1])
            self._seen[self.op] = Seen(list(self.sizes), opened, top)
        for op in list(self._seen)[: -self._keep - 1]:
            del self._seen[op]
        return self._seen[self.op]

    def _then(self, since: int) -> Seen:
        """A version that somebody asked for."""
        then = BEGINNING if since == 0 else self._seen.get(since)
        if then is None:
            known = f"those since {min(self._seen)} that were asked for are"
            raise HistoryError(f"since={since}: that version is not remembered; {known}")
        return then

    @in_turn
    def dirty(self, since: int, cut: Cut, keep: int) -> DirtyClusters:
        """The clusters of a cut whose points are not those of any cluster of it then. O(n)."""
        self._see(keep)
        then = self._then(since)
        calls: list[tuple[int, str, tuple[Any, ...]]] = [
            (shard, "tree_then", (since,))
            for shard in range(len(then.sizes))
            if not then.is_empty(shard)
        ]
        told = dict(zip((shard for shard, *_ in calls), self._crew.ask(calls), strict=True))
        if any(part is None for part in told.values()):
            raise HistoryError(f"since={since}: a shard was started anew since that version")
        parts = [told.get(shard, no_tree()) for shard in range(len(then.sizes))]
        before = labelled(whole_tree(then, parts), cut)
        same = unchanged_labels(before, Labelled(*self.labels(cut)), np.empty(0, np.int64))
        table = self.clusters(cut)
        changed = np.flatnonzero(~same)
        columns: list[Any] = [changed, *(part[changed] for part in table[:5])]
        columns.append(self._stable_of(cut, changed))
        return DirtyClusters(*columns)

    @in_turn
    def changes(self, since: int, keep: int) -> Changes:
        """What became of points and nodes since a version that somebody asked for."""
        now, then = self._see(keep), self._then(since)
        calls: list[tuple[int, str, tuple[Any, ...]]] = [
            (
                shard,
                "changed",
                (
                    None if then.is_empty(shard) else since,
                    np.union1d(then.opened_of(shard), now.opened_of(shard)),
                ),
            )
            for shard in range(len(self.sizes))
        ]
        told = self._crew.ask(calls)
        if any(one is None for one in told):
            raise HistoryError(f"since={since}: a shard was started anew since that version")
        if since == 0:
            inserted = np.sort(np.concatenate([one.new.points for one in told]))
            points = PointChanges(0, self.op, inserted, inserted[:0])
        else:
            points = self.point_changes(since)
        return self._with_ids(changes_of_whole(then, now, told, points))

    def _with_ids(self, found: Changes) -> Changes:
        """Changes with the ids of points that came; without points leaves are these."""
        if self.ids is None:
            return found
        names = as_array(self.ids_of(found.inserted.tolist()))
        return replace(found, ids=names, leaf_ids=names)

    @in_turn
    def point_changes(self, since: int) -> PointChanges:
        """Which points came and went since an operation."""
        told = self._head.since(since)
        if since > self.op or (since < self.op and (not told or told[0][0] > max(since, 1))):
            raise HistoryError(f"version {since} is not remembered; the latest is {self.op}")
        begin = told[0][1] if told and told[0][0] == since else 0
        later = [gone for op, _, gone in told if op > since]
        gone = np.unique(np.array([one for some in later for one in some], dtype=np.int64))
        new = np.arange(begin, self.number)
        inserted = new[~np.isin(new, gone)]
        return PointChanges(since, self.op, inserted, gone[gone < begin])
