# SPDX-License-Identifier: BSD-3-Clause
"""_between.py: what became of a tree between two saved states of it, without a log.

Files have no log of changes. But ids of nodes and numbers of points are never used
again, so two states of one stream can be compared by them.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ramify.estimators._changes import Changes, net_changes
from ramify.estimators._live import Live
from ramify.estimators._replay import Step, families_of
from ramify.estimators._tracking import with_ids
from ramify.hierarchy import IntArray


def changes_between(old: Any, new: Any) -> Changes:
    """What became of a model's tree, given the model of then and that of now. O(n log n).

    ValueError if the one is no earlier state of the other, as far as can be told.

    Examples
    --------
    >>> import copy, ramify
    >>> monday = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
    >>> tuesday = copy.deepcopy(monday).partial_fit([[8.0]])
    >>> changes_between(monday, tuesday)
    <Changes from version 3 to 4: 1 inserted, 0 forgotten; 1 born, 0 retired, 1 grown, 0 shrunk>
    """
    then, now = old._live, new._live
    _require_same_stream(old, new)
    before, after = families_of(then.hierarchy()), families_of(now.hierarchy())
    was, is_now = _members(then), _members(now)
    gone = was[~np.isin(was[:, 0], is_now[:, 0])]
    came = np.setdiff1d(is_now[:, 0], was[:, 0])
    step = Step(
        now.version,
        np.setdiff1d(after.points, before.points),
        np.setdiff1d(before.points, after.points),
        np.setdiff1d(before.ids, after.ids),
        np.column_stack([after.ids, after.children]),
        after.values,
        after.points,
        after.weights,
        came,
        gone,
        _absorbed(was, is_now, came),
    )
    found = net_changes(before, [step], then.version, now.version)
    told = _differ(then, now, found.leaves)
    weights = None if found.leaf_weights is None else found.leaf_weights[told]
    found = replace(found, leaves=found.leaves[told], leaf_weights=weights)
    return with_ids(now, found)


def _require_same_stream(old: Any, new: Any) -> None:
    then, now = old._live, new._live
    same = type(old) is type(new) and then.settings == now.settings and then.begun == now.begun
    if not same:
        raise ValueError("these are trees of two streams; expected two states of one")
    if then.version > now.version or then.next_arrival > now.next_arrival:
        raise ValueError("the first of the two trees is the later one; give them in order of time")
    one, other = then.hierarchy(), now.hierarchy()
    if one.leaf_weights is not None or other.leaf_weights is not None:
        return  # rows of leaves may be means, which move
    _, a, b = np.intersect1d(one.point_numbers, other.point_numbers, return_indices=True)
    if not np.array_equal(then.points()[a], now.points()[b]):
        raise ValueError("points of the same number have other rows: these are two streams")


def _members(tree: Live) -> IntArray:
    """All points, and the leaf of each."""
    numbers = tree.numbers()
    return np.column_stack([numbers, tree.leaf_of(numbers)])


def _absorbed(was: IntArray, is_now: IntArray, came: IntArray) -> IntArray:
    """New points in leaves of others, and leaves that have become part of others."""
    fresh = is_now[np.isin(is_now[:, 0], came) & (is_now[:, 0] != is_now[:, 1])]
    _, a, b = np.intersect1d(was[:, 0], is_now[:, 0], return_indices=True)
    pairs = np.column_stack([was[a, 1], is_now[b, 1]])
    moved = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    return np.concatenate([fresh, moved])


def _differ(then: Live, now: Live, leaves: IntArray) -> Any:
    """Which leaves of now are new, or stand for something else, or are called otherwise."""
    was, known = _standings(then), _standings(now)
    return np.array([known[leaf] != was.get(leaf) for leaf in leaves.tolist()], dtype=bool)


def _standings(tree: Live) -> dict[int, tuple[float, int, Any]]:
    """What each leaf stands for, its earliest point, and that one's name."""
    still = tree.hierarchy()
    names = [None] * len(still) if still.names is None else still.names.tolist()
    weights, firsts = still.weights[: len(still)].tolist(), still.point_numbers.tolist()
    facts = zip(weights, firsts, names, strict=True)
    return dict(zip(still.leaf_numbers.tolist(), facts, strict=True))
