# SPDX-License-Identifier: BSD-3-Clause
"""_changes.py: what became of a tree between two versions: the net of a log's steps."""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from ramify.estimators._replay import (
    POINTS,
    Families,
    Shape,
    Step,
    concatenated,
    families_of,
    has_others,
    hierarchy_of,
    no_tree,
    replay,
    rewind,
    with_members,
)
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ids import IdArray

#: The made-up id of point 0 where it is meant as one that has gone; others are below.
_GONE = -(2**60)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Changes:
    """What became of a tree between two versions: the net effect, in public ids.

    An inner node is named by its id, a point by its arrival number, and where both can
    be meant a point's id is -1 - its number. A leaf has the number of the point that it began
    with (``Hierarchy.leaf_numbers``). Arrays are ascending and read-only.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC(history=10).fit([[0.0], [1.0], [9.0]])
    >>> night = model.version
    >>> model = model.partial_fit([[8.0]])
    >>> model.past.changes(since=night)
    <Changes from version 3 to 4: 1 inserted, 0 forgotten; 1 born, 0 retired, 1 grown, 0 shrunk>
    """

    since: int  #: the version before
    version: int  #: the version after
    inserted: IntArray  #: numbers of points that came and are still there
    forgotten: IntArray  #: numbers of points that were there and have gone
    born: IntArray  #: ids of inner nodes that are new
    retired: IntArray  #: ids of inner nodes that are no more
    grown: IntArray  #: ids of inner nodes that have points which they had not
    shrunk: IntArray  #: ids of inner nodes that lack points which they had; may be grown, too
    rewired: IntArray  #: ids of inner nodes that have other children
    moved: IntArray  #: ids of nodes and points that have another parent, or have or had none
    families: IntArray  #: (m, 3): a node and its children, if new, rewired or of another height
    heights: FloatArray  #: of these
    ids: IdArray | None  #: of the points inserted, if the stream has ids
    absorbed: IntArray  #: (m, 2): points that came into a leaf of another, and leaves that did
    leaves: IntArray  #: numbers of leaves that are new or stand for something else than then
    leaf_weights: FloatArray | None  #: how many points each stands for; None: one
    leaf_ids: IdArray | None  #: their names, if the stream has ids
    removed: IntArray  #: numbers of leaves that are no more
    #: the earliest point in each of ``leaves``; None: that of its number
    leaf_points: IntArray | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            if isinstance(value := getattr(self, field.name), np.ndarray):
                value.setflags(write=False)

    def __repr__(self) -> str:
        count = {field.name: getattr(self, field.name) for field in fields(self)}
        points = ", ".join(f"{len(count[name])} {name}" for name in ("inserted", "forgotten"))
        nodes = ", ".join(
            f"{len(count[name])} {name}" for name in ("born", "retired", "grown", "shrunk")
        )
        absorbed = f", {len(self.absorbed)} absorbed" if len(self.absorbed) else ""
        versions = f"from version {self.since} to {self.version}"
        return f"<Changes {versions}: {points}{absorbed}; {nodes}>"

    def __bool__(self) -> bool:
        """Whether anything changed."""
        told = self.inserted, self.forgotten, self.retired, self.families, self.leaves
        return any(map(len, told))

    def apply(self, old: Hierarchy | None) -> Hierarchy:
        """The snapshot after, given the one before: same nodes, heights, numbers and names.

        Parameters
        ----------
        old : Hierarchy or None
            The model's ``hierarchy()`` at version ``since``; None if it had no points.

        Returns
        -------
        Hierarchy

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(history=10).fit([[0.0], [1.0], [9.0]])
        >>> night, old = model.version, model.hierarchy()
        >>> new = model.partial_fit([[8.0]]).hierarchy()
        >>> model.past.changes(since=night).apply(old) == new
        True
        """
        before = no_tree() if old is None else families_of(old)
        self._require_fits(before)
        after = replay(before, [self._step(before)])
        if len(after.points) == 0:
            raise ValueError("no points are left, and without points there is no snapshot")
        return hierarchy_of(after, self._names(old, after.points), self._firsts(old, after.points))

    def _step(self, before: Families) -> Step:
        came = self.leaves[~np.isin(self.leaves, before.points)]
        told = came, self.removed, self.retired, self.families, self.heights[:, np.newaxis]
        none = np.empty((0, 2), np.int64)
        return Step(self.version, *told, self.leaves, self.leaf_weights, came, none, none)

    def _require_fits(self, before: Families) -> None:
        fits = (
            np.isin(self.retired, before.ids).all()
            and np.isin(self.rewired, before.ids).all()
            and not np.isin(self.born, before.ids).any()
            and np.isin(self.removed, before.points).all()
            and not np.isin(self.inserted, before.points).any()
        )
        if not fits:
            raise ValueError(f"this is not the model's snapshot of version {self.since}")

    def _firsts(self, old: Hierarchy | None, leaves: IntArray) -> IntArray | None:
        """The earliest point in each leaf after."""
        if self.leaf_points is None:
            return None
        firsts = leaves.copy()
        new = np.isin(leaves, self.leaves)
        firsts[new] = self.leaf_points
        if old is not None:
            there = np.searchsorted(old.leaf_numbers, leaves[~new])
            firsts[~new] = old.point_numbers[there]
        return firsts

    def _names(self, old: Hierarchy | None, points: IntArray) -> Any:
        """The ids of the leaves after, in order."""
        if self.leaf_ids is None:
            return None if old is None or old.names is None else _picked(old, points)
        if old is None or old.names is None:
            return self.leaf_ids
        names = np.empty(len(points), dtype=old.names.dtype)
        new = np.isin(points, self.leaves)
        names[new] = self.leaf_ids
        names[~new] = _picked(old, points[~new])
        return names


def _picked(tree: Hierarchy, points: IntArray) -> Any:
    assert tree.names is not None
    return tree.names[np.searchsorted(tree.leaf_numbers, points)]


def net_changes(old: Families, steps: list[Step], since: int, version: int) -> Changes:
    """What these steps come to, given what their nodes were before, without the points' ids."""
    new = replay(old, steps)
    points = _points(steps)
    inserted, forgotten, _, removed, absorbed = points
    leaves, weights = weighed(steps)
    born, retired = np.setdiff1d(new.ids, old.ids), np.setdiff1d(old.ids, new.ids)
    _, before, after = np.intersect1d(old.ids, new.ids, return_indices=True)
    pairs = [np.sort(tree.children, axis=1) for tree in (old, new)]
    other = (pairs[0][before] != pairs[1][after]).any(axis=1)
    told = other | (old.values[before, 0] != new.values[after, 0])
    rows = np.sort(np.concatenate([np.flatnonzero(np.isin(new.ids, born)), after[told]]))
    shapes = [shape for shape, _ in in_full(old, new, steps)]
    strangers = np.concatenate([born, retired, -1 - points.begun, -1 - removed])
    return Changes(
        since=since,
        version=version,
        inserted=inserted,
        forgotten=forgotten,
        born=born,
        retired=retired,
        grown=has_others(shapes[1], shapes[0]),
        shrunk=has_others(shapes[0], shapes[1]),
        rewired=new.ids[after[other]],
        moved=np.setdiff1d(_moved(old, new), strangers),
        families=np.column_stack([new.ids, new.children])[rows],
        heights=new.values[rows, 0],
        ids=None,
        absorbed=absorbed,
        leaves=leaves,
        leaf_weights=weights,
        leaf_ids=None,
        removed=removed,
    )


class _Points(NamedTuple):
    """What steps come to, of points and of leaves."""

    inserted: IntArray
    forgotten: IntArray
    begun: IntArray  # leaves
    removed: IntArray  # leaves
    absorbed: IntArray


def _points(steps: list[Step]) -> _Points:
    leaves_in, leaves_out = (
        concatenated([getattr(step, name) for step in steps]) for name in POINTS
    )
    came = concatenated([step.came for step in steps])
    gone = concatenated([step.left[:, 0] for step in steps])
    inserted, removed = np.setdiff1d(came, gone), np.setdiff1d(leaves_out, leaves_in)
    absorbed = _absorbed(steps, np.append(inserted, removed))
    begun = np.setdiff1d(leaves_in, leaves_out)
    return _Points(inserted, np.setdiff1d(gone, came), begun, removed, absorbed)


def weighed(steps: list[Step]) -> tuple[IntArray, FloatArray | None]:
    """Leaves that are new or stand for something else, and what for; the last word holds."""
    gone = concatenated([step.forgotten for step in steps])
    spoken_of = concatenated([step.weighed for step in steps])
    said = [np.ones(len(step.weighed)) if step.weights is None else step.weights for step in steps]
    leaves, from_behind = np.unique(spoken_of[::-1], return_index=True)
    stays = ~np.isin(leaves, gone)
    if all(step.weights is None for step in steps):
        return leaves[stays], None
    return leaves[stays], np.concatenate(said)[::-1][from_behind][stays]


def _absorbed(steps: list[Step], known: IntArray) -> IntArray:
    """Who is in the leaf of another now, of these points and leaves."""
    into: dict[int, int] = {}
    for step in steps:
        into.update(step.absorbed.tolist())
    found = []
    for one in sorted(into.keys() & set(known.tolist())):
        leaf = into[one]
        while leaf in into:
            leaf = into[leaf]
        found.append((one, leaf))
    return np.array(found, np.int64).reshape(-1, 2)


def in_full(old: Families, new: Families, steps: list[Step]) -> list[tuple[Shape, dict[int, int]]]:
    """The shapes of the trees before and after steps, with points in leaves as leaves below.

    That is, those who are not in the same leaf in both. And what has become of those leaves.
    """
    absorbed = _points(steps).absorbed
    now = {-1 - one: -1 - leaf for one, leaf in absorbed.tolist()}
    left = np.concatenate([np.empty((0, 2), np.int64), *(step.left for step in steps)])
    came = concatenated([step.came for step in steps])
    left = left[~np.isin(left[:, 0], came)]  # who came in between was in nothing before
    stay = np.isin(left[:, 1], absorbed[:, 0]) | np.isin(-1 - left[:, 1], new.children)
    # A leaf may bear the number of a point that has left it, so these have other ids.
    then = {_GONE - one: -1 - leaf for one, leaf in left[stay].tolist()}
    full = with_members(old, then), with_members(new, now)
    return [(Shape(tree), tops) for tree, tops in full]


def _moved(old: Families, new: Families) -> IntArray:
    """Ids whose parent is not the same; those who are only in one tree are among them."""
    links = [
        np.column_stack([tree.children.ravel(), np.repeat(tree.ids, 2)]) for tree in (old, new)
    ]
    found, times = np.unique(np.concatenate(links), axis=0, return_counts=True)
    return np.unique(found[times == 1, 0])


def before(steps: list[Step]) -> Families:
    """What the nodes that steps speak of were before them, without points."""
    return rewind(replay(no_tree(), steps), steps, touched(steps))


def touched(steps: list[Step]) -> IntArray:
    """The ids of all inner nodes that steps speak of."""
    spoken_of = [ids for step in steps for ids in (step.retired, step.families[:, 0])]
    return np.unique(concatenated(spoken_of))
