# SPDX-License-Identifier: BSD-3-Clause
"""_past.py: what became of the tree over all shards between two versions.

The whole tree is what hangs from the shards' frontiers, and the top tree over it. So of a version
there are kept, for each shard, the nodes above its frontier, which are not in the whole, and the
families of the top tree: a few for each part. What became of the nodes below, the shards know
(_log.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ramify.estimators import Changes
from ramify.estimators.seam import Families, Step, hierarchy_of, net_changes, no_tree
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ray._log import Changed
from ramify.ray._tables import PointChanges
from ramify.ray._top import Stitched, global_ids

_NONE = np.empty(0, np.int64)


class Seen(NamedTuple):
    """A version that can be asked about."""

    sizes: list[int]  #: of the shards
    opened: list[IntArray]  #: ids of each shard's nodes above its frontier, as it calls them
    top: Families  #: with heights

    def opened_of(self, shard: int) -> IntArray:
        """Ids of a shard's nodes that are not in the whole tree."""
        return self.opened[shard] if shard < len(self.opened) else _NONE

    def is_empty(self, shard: int) -> bool:
        """Whether a shard had no points, or was not there."""
        return shard >= len(self.sizes) or self.sizes[shard] == 0


#: Before the first point.
BEGINNING = Seen([], [], no_tree())


def top_families(stitched: Stitched) -> Families:
    """The merges of the top tree by public ids."""
    merges = slice(stitched.n_units, None)
    ids = stitched.ids[merges]
    order = np.argsort(ids)
    children = stitched.ids[stitched.children[merges]].reshape(-1, 2)
    return Families(ids[order], children[order], stitched.own[merges][order, np.newaxis], _NONE)


def changes_of_whole(then: Seen, now: Seen, told: list[Changed], points: PointChanges) -> Changes:
    """What became of the whole, without ids of points.

    ``told`` are the shards' answers about what has changed since ``then``, and about all nodes
    that were or are above their frontiers.
    """
    old = _joined(then, [one.old for one in told])
    new = _joined(now, [one.new for one in told])
    inserted, forgotten = points.inserted, points.forgotten
    step = Step(
        points.version,
        inserted,
        forgotten,
        np.setdiff1d(old.ids, new.ids),
        np.column_stack([new.ids, new.children]),
        new.values,
        inserted,
        _weights(inserted, told),
        inserted,
        np.column_stack([forgotten, forgotten]),
        np.empty((0, 2), np.int64),
    )
    return net_changes(old, [step], points.since, points.version)


def whole_tree(seen: Seen, parts: list[Families]) -> Hierarchy | None:
    """The whole tree of then, of the shards' trees; None: it had no points."""
    joined = _joined(seen, parts)
    points = np.concatenate([part.points for part in parts]) if parts else _NONE
    if len(points) == 0:
        return None
    weights = None
    if any(part.weights is not None for part in parts):
        plain = [np.ones(len(of.points)) if of.weights is None else of.weights for of in parts]
        weights = np.concatenate(plain)[np.argsort(points)]
    return hierarchy_of(joined._replace(points=np.sort(points), weights=weights))


def _joined(seen: Seen, parts: Iterable[Families]) -> Families:
    """Nodes of all shards that are in the whole tree, by public ids, and the top tree."""
    ids, children, values = [seen.top.ids], [seen.top.children], [seen.top.values]
    for shard, part in enumerate(parts):
        inside = ~np.isin(part.ids, seen.opened_of(shard))
        ids.append(global_ids(part.ids[inside], shard))
        children.append(global_ids(part.children[inside], shard))
        values.append(part.values[inside])
    order = np.argsort(whole := np.concatenate(ids))
    return Families(
        whole[order], np.concatenate(children)[order], np.concatenate(values)[order], _NONE
    )


def _weights(numbers: IntArray, told: list[Changed]) -> FloatArray | None:
    """What these points stand for; None if each is one."""
    if all(one.weights is None for one in told):
        return None
    known = {
        number: weight
        for one in told
        if one.weights is not None
        for number, weight in zip(one.leaves.tolist(), one.weights.tolist(), strict=True)
    }
    return np.array([known.get(number, 1.0) for number in numbers.tolist()])
