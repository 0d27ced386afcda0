# SPDX-License-Identifier: BSD-3-Clause
"""_dirty.py: which clusters of a cut are, point for point, those of the same cut then.

The cut of then is found from what the log knows of every node, without putting the tree
together. A cluster that no step speaks of is the same subtree in both trees, so its id
decides. One that steps speak of is compared by what hangs off the nodes they speak of:
these are the same sets of points in both trees, and a cluster of then is a stretch of them.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify.estimators._changes import in_full, touched
from ramify.estimators._cut import Cut, Joined, possible
from ramify.estimators._replay import VALUES, Families, Step, part, places, replay
from ramify.hierarchy import Hierarchy, IntArray

_Bools: TypeAlias = npt.NDArray[np.bool_]


def unchanged(then: Families, steps: list[Step], cut: Cut, now: IntArray) -> _Bools:
    """Whether clusters of now, by their ids, were clusters of the same cut before the steps."""
    known = clusters_of(then, cut)
    same = np.zeros(len(now), bool)
    same[places(now, known)[0]] = True
    before = part(then, touched(steps))
    (old, had), (new, has) = in_full(before, replay(before, steps), steps)
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


def clusters_of(tree: Families, cut: Cut) -> IntArray:
    """Ids of the clusters of a cut, ascending; of n_clusters as many as there can be. O(n)."""
    if len(tree.ids) == 0:
        return -1 - tree.points  # at most one
    by, value, _ = cut
    if by == "height":
        split = tree.values[:, VALUES.index("monotone")] >= value
    elif by == "max_size":
        split = tree.values[:, VALUES.index("weight")] > value
    else:
        split = _greatest(tree, int(value) - 1)
    if not split.any():
        return tree.ids[[tree.values[:, VALUES.index("count")].argmax()]]  # the root
    return np.setdiff1d(tree.children[split], tree.ids[split])


def _greatest(tree: Families, k: int) -> _Bools:
    """The k nodes that come last in canonical order, or all."""
    monotone, count, first = (
        tree.values[:, VALUES.index(name)] for name in ("monotone", "count", "first")
    )
    m = len(monotone)
    split = np.zeros(m, bool)
    if k >= m:
        split[:] = True
    elif k > 0:
        high = np.flatnonzero(monotone >= np.partition(monotone, m - k)[m - k])
        order = np.lexsort((first[high], count[high], monotone[high]))
        split[high[order[-k:]]] = True
    return split
