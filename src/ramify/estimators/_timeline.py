# SPDX-License-Identifier: BSD-3-Clause
"""_timeline.py: what became of the clusters of a cut, span by span: births, splits, deaths.

Trees of earlier versions are the one of now with steps taken back. Two cuts are compared by the
leaves that are in both:

    came from   of a cluster after: the cluster before that most of its leaves were in
    went to     of a cluster before: the cluster after that most of its leaves are in
    born        half of a cluster's leaves, or more, are new
    gone        half of a cluster's leaves, or more, have left
    split       several clusters, none of them born, came from one that has not gone
    joined      several clusters that have not gone went to one

A cut into k clusters has k of them: where one is split, two others may be joined for that.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.estimators._replay import Families, Step, hierarchy_of, rewind
from ramify.hierarchy import IntArray


class Group(NamedTuple):
    """A cluster that something happened to.

    Examples
    --------
    >>> Group(4, 9, 0).size
    9
    """

    node_id: int  #: stable id of its node; a single point's is -1 - its number
    size: float  #: points
    point: int  #: number of its earliest leaf of which there are points today, if there is one


class Event(NamedTuple):
    """Something that happened to clusters of a cut between two versions.

    Examples
    --------
    >>> Event("split", (Group(4, 9, 0),), (Group(2, 5, 0), Group(3, 4, 6))).kind
    'split'
    """

    kind: str  #: "born", "gone", "split" or "joined"
    then: tuple[Group, ...]  #: clusters before, in order of their labels
    now: tuple[Group, ...]  #: clusters after


class Era(NamedTuple):
    """What happened between two versions.

    Examples
    --------
    >>> Era(7, 9, datetime(2026, 11, 20, tzinfo=UTC), 2, 0, ()).inserted
    2
    """

    since: int
    version: int
    time: datetime  #: of the version after, in UTC
    inserted: int  #: points that came, and are there after it
    forgotten: int  #: points that were there before, and are not
    events: tuple[Event, ...]


class Span(NamedTuple):
    """The steps between two versions, as one."""

    since: int
    time: float
    step: Step


def moments(known: Sequence[tuple[int, float]], most: int) -> list[tuple[int, float]]:
    """Of versions and their times so many spans, evenly in time: the first and the last, and some.

    Examples
    --------
    >>> moments([(3, 0.0), (4, 1.0), (5, 9.0), (6, 10.0)], 2)
    [(3, 0.0), (4, 1.0), (6, 10.0)]
    """
    times = np.maximum.accumulate([when for _, when in known])  # a clock may have gone back
    wanted = np.linspace(times[0], times[-1], most + 1)[1:-1]
    at = np.searchsorted(times, wanted, side="right") - 1
    return [known[one] for one in np.unique([0, *at.tolist(), len(known) - 1])]


def timeline(now: Families, spans: Sequence[Span], n_clusters: int) -> list[Era]:
    """What happened in each span, the earliest first. O(n log n) for each."""
    found: list[Era] = []
    today = now.points
    after = _Cut.of(now, n_clusters, today)
    for span in reversed(spans):
        step = span.step
        now = rewind(now, [step])
        before = _Cut.of(now, n_clusters, today)
        when = datetime.fromtimestamp(span.time, UTC)
        counts = len(step.came), len(step.left)
        found.append(Era(span.since, step.version, when, *counts, _events(before, after)))
        after = before
    return found[::-1]


class _Cut(NamedTuple):
    leaves: IntArray
    labels: IntArray
    groups: list[Group]

    @classmethod
    def of(cls, tree: Families, n_clusters: int, today: IntArray) -> "_Cut":
        if len(tree.points) == 0:
            return cls(tree.points, tree.points, [])
        still = hierarchy_of(tree)
        k = min(n_clusters, still.n_leaves)
        found, labels = still.clusters(n_clusters=k), still.cut(n_clusters=k)
        points = found.first_points.copy()
        there = np.flatnonzero(np.isin(tree.points, today))
        those, first = np.unique(labels[there], return_index=True)
        points[those] = tree.points[there[first]]
        facts = found.node_ids.tolist(), found.sizes.tolist(), points.tolist()
        return cls(tree.points, labels, [Group(*one) for one in zip(*facts, strict=True)])


def _events(then: _Cut, now: _Cut) -> tuple[Event, ...]:
    """What happened, births first."""
    _, a, b = np.intersect1d(then.leaves, now.leaves, assume_unique=True, return_indices=True)
    shared = np.zeros((len(then.groups), len(now.groups)), np.int64)
    np.add.at(shared, (then.labels[a], now.labels[b]), 1)
    gone = 2 * shared.sum(axis=1) <= np.bincount(then.labels, minlength=len(then.groups))
    born = 2 * shared.sum(axis=0) <= np.bincount(now.labels, minlength=len(now.groups))
    told = [Event("born", (), (now.groups[one],)) for one in np.flatnonzero(born)]
    told += [Event("gone", (then.groups[one],), ()) for one in np.flatnonzero(gone)]
    for one, parts in _several(shared, ~gone, ~born):
        told.append(Event("split", (then.groups[one],), tuple(now.groups[at] for at in parts)))
    for one, parts in _several(shared.T, ~born, ~gone):
        told.append(Event("joined", tuple(then.groups[at] for at in parts), (now.groups[one],)))
    return tuple(told)


def _several(
    shared: IntArray, ones: npt.NDArray[np.bool_], others: npt.NDArray[np.bool_]
) -> list[tuple[int, list[int]]]:
    """Which of the ones are what most of several others have their leaves in; and these."""
    if shared.size == 0:
        return []
    main = np.where(others, shared.argmax(axis=0), -1)
    parts = [(one, np.flatnonzero(main == one).tolist()) for one in np.flatnonzero(ones).tolist()]
    return [(one, some) for one, some in parts if len(some) > 1]
