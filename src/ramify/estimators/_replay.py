# SPDX-License-Identifier: BSD-3-Clause
"""_replay.py: trees by the public ids of their nodes, and steps from one to the next.

    id       an inner node's own, or -1 - the arrival number of a point
    family   an inner node and its two children

A snapshot numbers its nodes by their order, so one insert renumbers thousands. Public
ids stay, and a step is small: the families that are new or have changed, and the ids
that have gone. Taking steps is sorting and never a loop over nodes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.hierarchy.seam import canonical_order


class Families(NamedTuple):
    """A tree, or a part of one: its inner nodes in order of their ids, and its points."""

    ids: IntArray
    children: IntArray  #: (m, 2), ids
    values: FloatArray  #: (m, 1): heights
    points: IntArray  #: ids of the leaves, ascending: of the points that they began with
    weights: FloatArray | None = None  #: what they stand for; None: a point each


class Before(NamedTuple):
    """Nodes and leaves that a step speaks of, as they were: all of those that were there."""

    families: IntArray  #: (m, 3): id and two children
    heights: FloatArray  #: of these
    leaves: IntArray  #: that stand for something else now, or have gone
    weights: FloatArray | None  #: what they stood for; None: a point each


class Step(NamedTuple):
    """What became of a tree between two versions; see core/tree/change.hpp."""

    version: int  #: after it
    inserted: IntArray  #: ids of leaves
    forgotten: IntArray
    retired: IntArray  #: ids; some may be of nodes that the tree before lacked, too
    families: IntArray  #: (m, 3): id and two children
    values: FloatArray  #: of these
    weighed: IntArray  #: leaves that are new or stand for something else than they did
    weights: FloatArray | None  #: theirs; None: a point each
    came: IntArray  #: points that came; ``inserted``, unless leaves may be of several
    left: IntArray  #: (m, 2): points that have gone, and the leaves that they were in
    absorbed: IntArray  #: (m, 2): points that came into a leaf, leaves that joined another
    before: Before | None = None  #: None: it leads to the tree after it alone, and not back


#: The fields of a step that speak of leaves.
POINTS = "inserted", "forgotten"


def no_tree() -> Families:
    """The tree without points."""
    none = np.empty(0, np.int64)
    return Families(none, none.reshape(0, 2), np.empty((0, 1)), none)


def rewind(tree: Families, steps: Sequence[Step], only: IntArray | None = None) -> Families:
    """The tree before some steps, given the one after them, or only the nodes of these ids."""
    return replay(tree, [_back(step) for step in reversed(steps)], only)


def _back(step: Step) -> Step:
    """The step from the tree after to the one before."""
    before = step.before
    assert before is not None
    begun = np.setdiff1d(step.families[:, 0], before.families[:, 0])
    told = step.forgotten, step.inserted, begun, before.families, before.heights[:, np.newaxis]
    none = np.empty((0, 2), np.int64)
    leaves = before.leaves, before.weights, step.forgotten, none, none
    return Step(step.version, *told, *leaves)


def families_of(tree: Hierarchy) -> Families:
    """A snapshot by its public ids."""
    public = np.concatenate([-1 - tree.leaf_numbers, tree.node_ids])
    order = np.argsort(tree.node_ids)
    children = public[tree.children[order]]
    heights = tree.heights[order, np.newaxis]
    weights = tree.leaf_weights
    return Families(tree.node_ids[order], children, heights, tree.leaf_numbers, weights)


def replay(tree: Families, steps: Sequence[Step], only: IntArray | None = None) -> Families:
    """The tree after some steps, or only the nodes of these ids. The last word holds.

    O(n + m log m) for steps of m ids, O(m log n) for a part.
    """
    if only is not None:
        tree = part(tree, only)
    if not steps:
        return tree
    told = _last_words(steps, only)
    stays = np.ones(len(tree.ids), bool)
    stays[places(told.ids, tree.ids)[1]] = False
    there = told.stays
    ids = np.concatenate([tree.ids[stays], told.ids[there]])
    order = np.argsort(ids, kind="stable")  # two runs, which it merges
    children = np.concatenate([tree.children[stays], told.children[there]])[order]
    values = np.concatenate([tree.values[stays], told.values[there]])[order]
    if only is not None:
        return Families(ids[order], children, values, tree.points)
    points = _points_after(tree.points, steps)
    return Families(ids[order], children, values, points, _weights_after(tree, points, steps))


def _points_after(points: IntArray, steps: Sequence[Step]) -> IntArray:
    """Who was there and has not gone, and who came and has not gone; the last word holds."""
    came, gone = (concatenated([getattr(step, name) for step in steps]) for name in POINTS)
    stayed = np.delete(points, places(gone, points)[1])
    new = np.delete(came, places(came, np.sort(gone))[0])
    return np.sort(np.append(stayed, new), kind="stable")  # two runs, mostly in order


def _weights_after(tree: Families, points: IntArray, steps: Sequence[Step]) -> FloatArray | None:
    """What the leaves stand for after some steps; who was not spoken of, as before."""
    if tree.weights is None and all(step.weights is None for step in steps):
        return None
    weights = np.ones(len(points))
    if tree.weights is not None:
        here, there = places(points, tree.points)
        weights[here] = tree.weights[there]
    for step in steps:
        if step.weights is not None:
            said, at = places(step.weighed, points)
            weights[at] = step.weights[said]
    return weights


class _Told(NamedTuple):
    """What steps say of each id that they speak of, in order of the ids."""

    ids: IntArray
    stays: npt.NDArray[np.bool_]
    children: IntArray
    values: FloatArray


def _last_words(steps: Sequence[Step], only: IntArray | None) -> _Told:
    """Of all ids that steps speak of, or of these alone. Of one step, families come last."""
    gone = concatenated([step.retired for step in steps])
    told = concatenated([step.families[:, 0] for step in steps])
    time = np.arange(len(steps))
    gone_at = 2 * np.repeat(time, [len(step.retired) for step in steps])
    told_at = 2 * np.repeat(time, [len(step.families) for step in steps]) + 1
    rows = np.arange(len(told))
    if only is not None:
        kept, rows = _is_among(gone, only), np.flatnonzero(_is_among(told, only))
        gone, gone_at, told, told_at = gone[kept], gone_at[kept], told[rows], told_at[rows]
    ids, at = np.concatenate([gone, told]), np.concatenate([gone_at, told_at])
    order = np.lexsort((at, ids))
    ids = ids[order]
    last = np.append(ids[1:] != ids[:-1], np.ones(len(ids[:1]), bool))
    place = order[last] - len(gone)  # among what was told; below zero: retired
    stays = place >= 0
    row = rows[place[stays]]
    families, values = _rows_of(steps, row)
    children, all_values = (
        np.zeros((len(stays), 2), np.int64),
        np.zeros((len(stays), values.shape[1])),
    )
    children[stays], all_values[stays] = families[:, 1:], values
    return _Told(ids[last], stays, children, all_values)


def _rows_of(steps: Sequence[Step], rows: IntArray) -> tuple[IntArray, FloatArray]:
    """Families and their values, by their places in those of all steps one after the other."""
    ends = np.cumsum([len(step.families) for step in steps])
    if 8 * len(rows) > ends[-1]:
        every = np.concatenate([step.families for step in steps])
        return every[rows], np.concatenate([step.values for step in steps])[rows]
    families = np.empty((len(rows), 3), np.int64)
    values = np.empty((len(rows), steps[0].values.shape[1]))
    at = np.searchsorted(ends, rows, side="right")
    for i, (row, step) in enumerate(zip(rows.tolist(), at.tolist(), strict=True)):
        place = row - int(ends[step])  # from its end
        families[i], values[i] = steps[step].families[place], steps[step].values[place]
    return families, values


def _is_among(ids: IntArray, those: IntArray) -> npt.NDArray[np.bool_]:
    """Which of many ids are among a few."""
    found = np.zeros(len(ids), bool)
    found[places(ids, np.sort(those))[0]] = True
    return found


def places(ids: IntArray, among: IntArray) -> tuple[IntArray, IntArray]:
    """Which of some ids are among others, which are ascending, and where."""
    if len(among) == 0:
        return (np.empty(0, np.int64),) * 2
    at = np.searchsorted(among, ids).clip(max=len(among) - 1)
    found = np.flatnonzero(among[at] == ids)
    return found, at[found]


def concatenated(arrays: Sequence[IntArray]) -> IntArray:
    """One after the other; there may be none."""
    return np.concatenate([np.empty(0, np.int64), *arrays])


def part(tree: Families, ids: IntArray) -> Families:
    """Of a tree only the nodes of these ids, and no points."""
    at = places(ids, tree.ids)[1]
    return Families(tree.ids[at], tree.children[at], tree.values[at], tree.points[:0])


def hierarchy_of(tree: Families, names: Any = None, firsts: IntArray | None = None) -> Hierarchy:
    """The snapshot, numbered as every snapshot is. The tree must be whole, and have a point."""
    children, order = ordered(tree.ids, tree.children, -1 - tree.points)
    heights = tree.values[order, 0]
    merges, rows = canonical_order(children, heights)
    ids = tree.ids[order[rows]]
    facts = merges, heights[rows], ids, names
    if firsts is None:
        return Hierarchy(*facts, tree.points, tree.weights)
    return Hierarchy(*facts, firsts, tree.weights, tree.points)


def ordered(ids: IntArray, children: IntArray, leaves: IntArray) -> tuple[IntArray, IntArray]:
    """Numbers in place of ids, children before parents, and the place of each row in ``ids``.

    ``ids`` are ascending; leaf i is ``leaves[i]``, in any order. O(n log n): the depths are
    found by jumping ever farther towards the root.
    """
    known = np.concatenate([leaves, ids])
    by_id = np.argsort(known)
    numbers = by_id[np.searchsorted(known, children, sorter=by_id)]
    parents = np.arange(len(known))
    parents[numbers] = len(leaves) + np.arange(len(ids))[:, np.newaxis]
    above, depths = parents, (parents != np.arange(len(known))).astype(np.int64)
    while (above != (higher := above[above])).any():
        depths = depths + depths[above]
        above = higher
    order = np.argsort(-depths[len(leaves) :], kind="stable")
    place = np.arange(len(known))
    place[len(leaves) + order] = np.arange(len(leaves), len(known))
    return np.ascontiguousarray(place[numbers[order]]), order


#: Ids of nodes and leaves that are made up below, beyond all that are given.
_MADE_UP = 2**60


def with_members(tree: Families, leaf_of: Mapping[int, int]) -> tuple[Families, dict[int, int]]:
    """A tree with further leaves below some of its leaves, by their ids: key below value.

    Returns also the node that has become of each such leaf, itself among the leaves below.
    """
    below: dict[int, list[int]] = {}
    for member, leaf in leaf_of.items():
        below.setdefault(leaf, []).append(member)
    there = np.isin(np.fromiter(below, np.int64, len(below)), tree.children).tolist()
    tops: dict[int, int] = {}
    rows: list[tuple[int, int]] = []
    for (leaf, members), is_there in zip(below.items(), there, strict=True):
        if not is_there:
            continue
        for member in members:
            rows.append((tops.get(leaf, leaf), member))
            tops[leaf] = _MADE_UP + len(rows)
    if not rows:
        return tree, {}
    ids = _MADE_UP + 1 + np.arange(len(rows))
    old = np.fromiter(tops, np.int64, len(tops))
    order = np.argsort(old)
    found, at = places(tree.children.ravel(), old[order])
    children = tree.children.ravel().copy()
    children[found] = np.fromiter(tops.values(), np.int64, len(tops))[order][at]
    values = np.zeros((len(rows), tree.values.shape[1]))
    more = tree._replace(
        ids=np.append(tree.ids, ids),
        children=np.concatenate([children.reshape(-1, 2), np.array(rows, np.int64)]),
        values=np.concatenate([tree.values, values]),
    )
    return more, tops


#: Behind the end of every line.
FAR = 2**52


class Shape:
    """A part of a tree that has all above it: who is below whom, as stretches of one line.

    What hangs from the part and is not in it is a leaf here, whatever is below.
    """

    def __init__(self, part: Families) -> None:
        units = np.setdiff1d(part.children, part.ids)
        merges, order = ordered(part.ids, part.children, units)
        self.ids = part.ids[order]
        self.units = units
        self._merges = merges
        line, start = _core.leaf_layout(merges) if len(merges) else (np.arange(len(units)),) * 2
        sizes = _core.sizes(merges) if len(merges) else np.ones(len(units), np.int64)
        self.first = start[len(units) :]  #: where on the line each inner node's leaves begin
        self.end = self.first + sizes[len(units) :]
        self._place = np.empty(len(units), np.int64)  # of each unit on the line
        self._place[line] = np.arange(len(units))

    def places(self, units: IntArray) -> IntArray:
        """Where units are on the line; far behind its end if they are not."""
        out = np.full(len(units), FAR)
        known, at = places(units, self.units)
        out[known] = self._place[at]
        return out

    def running(self, values: FloatArray) -> FloatArray:
        """The greatest of a value for each inner node, at or below each."""
        found: FloatArray = _core.monotone(self._merges, values)
        return found

    def greatest(self, values: FloatArray) -> FloatArray:
        """The greatest below each inner node of a value for each unit."""
        inside = self._merges < len(self.units)
        of = values[np.where(inside, self._merges, 0)]
        return self.running(np.where(inside, of, -np.inf).max(axis=1))

    def sums(self, values: FloatArray) -> FloatArray:
        """The sum below each inner node of a value for each unit."""
        in_line = np.empty(len(values))
        in_line[self._place] = values
        until = np.append(0.0, np.cumsum(in_line))
        found: FloatArray = until[self.end] - until[self.first]
        return found

    def reach(self, places: IntArray) -> tuple[IntArray, IntArray]:
        """The least and the greatest place below each inner node, given each unit's."""
        if len(self._merges) == 0:
            return (np.empty(0, np.int64),) * 2
        of = places.astype(np.float64)
        return (-self.greatest(-of)).astype(np.int64), self.greatest(of).astype(np.int64)

    def sets(self, places: IntArray) -> tuple[IntArray, IntArray]:
        """Where each inner node's leaves begin and end, if they are one stretch of places.

        Otherwise, or if one of them is far away, both are -1.
        """
        least, most = self.reach(places)
        whole = (most < FAR) & (most - least + 1 == self.end - self.first)
        return np.where(whole, least, -1), np.where(whole, most + 1, -1)


def has_others(one: Shape, other: Shape) -> IntArray:
    """Ids of the nodes in both that have below them in ``one`` what they have not in ``other``."""
    least, most = one.reach(other.places(one.units))
    ids, here, there = np.intersect1d(one.ids, other.ids, return_indices=True)
    outside = (least[here] < other.first[there]) | (most[here] >= other.end[there])
    found: IntArray = ids[outside]
    return found[found < _MADE_UP]
