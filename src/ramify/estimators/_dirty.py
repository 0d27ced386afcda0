# SPDX-License-Identifier: BSD-3-Clause
"""_dirty.py: which clusters of a cut are, point for point, those of the same cut then.

The cut of then is found without putting its tree together: what no step speaks of is as it is now.
A cluster that no step speaks of is the same subtree in both trees, so its id decides. One that
steps speak of is compared by what hangs off the nodes they speak of: these are the same sets of
points in both trees, and a cluster of then is a stretch of them.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.estimators._changes import before, in_full, touched
from ramify.estimators._cut import Cut, Joined, possible
from ramify.estimators._replay import Families, Shape, Step, places, replay, rewind
from ramify.hierarchy import FloatArray, Hierarchy, IntArray

_Bools: TypeAlias = npt.NDArray[np.bool_]


class Then:
    """The tree before some steps, as far as its cuts need it."""

    def __init__(self, now: Hierarchy, steps: list[Step]) -> None:
        self.now, self.spoken, self.part = now, touched(steps), before(steps)
        leaves = Families(*self.part[:3], now.leaf_numbers, now.leaf_weights)
        then = rewind(leaves, steps, None)
        self.points, self._weights = then.points, then.weights

    def weights_of(self, leaves: IntArray) -> FloatArray:
        """What leaves stood for; 1 for what is none."""
        weights = np.ones(len(leaves))
        if self._weights is not None:
            some, at = places(leaves, self.points)
            weights[some] = self._weights[at]
        return weights


def unchanged(tree: Hierarchy, steps: list[Step], cut: Cut, now: IntArray) -> _Bools:
    """Whether clusters of now, by their ids, were clusters of the same cut before the steps."""
    if not steps:
        return np.ones(len(now), bool)
    then = Then(tree, steps)
    known, part = _clusters_then(then, cut), then.part
    same = np.zeros(len(now), bool)
    same[places(now, known)[0]] = True
    (old, had), (new, has) = in_full(part, replay(part, steps), steps)
    same[np.isin(now, list(had))] = False  # leaves that have lost points
    here, at = places(_renamed(now, has), np.sort(new.ids))
    if len(here) == 0:
        return same
    at = np.argsort(new.ids)[at]
    begin, end = (side[at] for side in new.sets(old.places(new.units)))
    were = np.isin(old.ids, _renamed(known, had))
    stretches = set(zip(old.first[were].tolist(), old.end[were].tolist(), strict=True))
    same[here] = [pair in stretches for pair in zip(begin.tolist(), end.tolist(), strict=True)]
    return same


class Labelled(NamedTuple):
    """Leaves of a tree, by their numbers, and the label of each one's cluster."""

    numbers: IntArray
    labels: IntArray


def unchanged_joined(then: Hierarchy | None, steps: list[Step], cut: Cut, now: Joined) -> _Bools:
    """The same of a cut whose small branches join others; leaf by leaf. O(n log n)."""
    others = np.concatenate([step.weighed for step in steps]) if steps else np.empty(0, np.int64)
    leaves = Labelled(now.tree.leaf_numbers, now.leaf_labels)
    return unchanged_labels(labelled(then, cut), leaves, others)


def labelled(then: Hierarchy | None, cut: Cut) -> Labelled:
    """The clusters of a cut then, as many as there could be."""
    if then is None:
        none = np.empty(0, np.int64)
        return Labelled(none, none)
    return Labelled(then.leaf_numbers, then.cut(**possible(cut, then).options))


def unchanged_labels(then: Labelled, now: Labelled, others: IntArray) -> _Bools:
    """Whether clusters of now were clusters then, leaf by leaf; ``others`` are leaves that changed.

    Examples
    --------
    >>> then = Labelled(np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]))
    >>> now = Labelled(np.array([0, 1, 2, 3, 4]), np.array([0, 0, 1, 1, 1]))
    >>> unchanged_labels(then, now, np.empty(0, np.int64))
    array([ True, False])
    """
    count = int(now.labels.max()) + 1
    _, here, there = np.intersect1d(now.numbers, then.numbers, return_indices=True)
    stays = ~np.isin(now.numbers[here], others)
    mine, theirs = now.labels[here[stays]], then.labels[there[stays]]
    was = np.full(count, -1)
    was[mine] = theirs
    wrong = np.bincount(mine[was[mine] != theirs], minlength=count)
    sizes, found = (np.bincount(of, minlength=count) for of in (now.labels, mine))
    sizes_then = np.append(np.bincount(then.labels), 0)
    same: _Bools = (wrong == 0) & (found == sizes) & (sizes_then[was] == sizes)
    return same


def _renamed(ids: IntArray, names: dict[int, int]) -> IntArray:
    return np.array([names.get(id, id) for id in ids.tolist()], np.int64) if names else ids


def _clusters_then(tree: Then, cut: Cut) -> IntArray:
    """Ids of the clusters of a cut, ascending; of n_clusters as many as there can be. O(n)."""
    if len(tree.part.ids) == 0:
        return -1 - tree.points  # at most one, or the tree would have a root
    now, spoken, shape = tree.now, tree.spoken, Shape(tree.part)
    units = _of_now(now, shape.units)
    own = tree.part.values[np.searchsorted(tree.part.ids, shape.ids), 0]
    still = np.flatnonzero(~np.isin(now.node_ids, spoken))
    by, value, _ = cut
    monotone = np.maximum(shape.greatest(units.monotone), shape.running(own))
    if by == "height":
        rows, among = still[now.monotone_heights[still] >= value], monotone >= value
    elif by == "max_size":
        weights = np.where(shape.units < 0, tree.weights_of(-1 - shape.units), units.weight)
        rows, among = still[now.weights[now.n_leaves + still] > value], shape.sums(weights) > value
    else:
        k = int(value) - 1
        rows = still[len(still) - min(k, len(still)) :]  # in canonical order
        firsts = _firsts(now)
        keys = [
            np.concatenate(pair)
            for pair in (
                (firsts[rows], -shape.greatest(-units.first)),
                (now.sizes[now.n_leaves + rows].astype(np.float64), shape.sums(units.sizes)),
                (now.monotone_heights[rows], monotone),
            )
        ]
        chosen = np.lexsort(keys)[len(keys[0]) - min(k, len(keys[0])) :]
        among = np.zeros(len(shape.ids), bool)
        among[chosen[chosen >= len(rows)] - len(rows)] = True
        rows = rows[chosen[chosen < len(rows)]]
    public = np.concatenate([-1 - now.leaf_numbers, now.node_ids])
    old = np.isin(tree.part.ids, shape.ids[among])
    split = np.concatenate([now.node_ids[rows], tree.part.ids[old]])
    if len(split) == 0:
        return np.setdiff1d(tree.part.ids, tree.part.children)  # the root
    below = [public[now.children[rows]].ravel(), tree.part.children[old].ravel()]
    return np.setdiff1d(np.concatenate(below), split)


class _Values(NamedTuple):
    """Of what hangs off the nodes that steps speak of."""

    monotone: FloatArray
    sizes: FloatArray
    weight: FloatArray
    first: FloatArray


def _of_now(now: Hierarchy, units: IntArray) -> _Values:
    """What nothing has happened to is as it is now; a leaf is by itself what it is."""
    order = np.argsort(now.node_ids)
    inner, at = places(units, now.node_ids[order])
    rows = order[at]
    one = np.ones(len(units))
    found = _Values(np.full(len(units), -np.inf), one, one.copy(), -1 - units.astype(np.float64))
    found.monotone[inner] = now.monotone_heights[rows]
    found.sizes[inner] = now.sizes[now.n_leaves + rows]
    found.weight[inner] = now.weights[now.n_leaves + rows]
    found.first[inner] = _firsts(now)[rows]
    return found


def _firsts(tree: Hierarchy) -> FloatArray:
    """The least number of a leaf below each inner node."""
    of = np.append(tree.leaf_numbers.astype(np.float64), np.full(len(tree.node_ids), np.inf))
    least: FloatArray = -_core.monotone(tree.children, -of[tree.children].min(axis=1))
    return least
