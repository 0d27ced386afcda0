# SPDX-License-Identifier: BSD-3-Clause
"""_sticky.py: sticky cuts of a live tree, of which a leaf may stand for several points.

The arithmetic is that of snapshots (hierarchy/_sticky.py); here it is given the points.
"""

from typing import NamedTuple

import numpy as np

from ramify.estimators._cut import Cut
from ramify.estimators._live import Live
from ramify.hierarchy import FloatArray, Hierarchy, IntArray, Points, StickyLabels
from ramify.hierarchy.seam import (
    By,
    Like,
    Numbered,
    Rows,
    Then,
    labels_then,
    read_stickiness,
    sticky_cut,
)


class Moment(NamedTuple):
    """A tree at one version."""

    tree: Hierarchy
    points: Points
    rows: Rows | None  #: for cuts by variance
    weights: FloatArray | None  #: of the points; None: each counts once
    total: int  #: so many have ever come


def moment_of(live: Live) -> Moment:
    """All of one version, whoever grows the tree meanwhile."""
    while True:
        version = live.version
        found = Moment(*live.still(), live.weights(), live.next_arrival)
        if live.version == version:
            return found


def wanted_number(cut: Cut) -> int:
    """The number of clusters of a cut, which must be one into so many."""
    if cut.by not in ("n_clusters", "variance") or cut.joins:
        given = f"by={cut.by!r}" if cut.by == "modularity" else " and ".join(cut.options)
        hint = "like goes with n_clusters, and if wanted with by='variance'"
        raise ValueError(f"{hint}; got {given}")
    return int(cut.value)


def cut_like(
    live: Live, like: Like | Numbered, n_clusters: int, stickiness: float, by: By
) -> StickyLabels:
    """A cut of the tree as it is now that holds on to the clusters of an earlier one."""
    price = read_stickiness(stickiness)
    return cut_of_moment(moment_of(live), like, n_clusters, price, by)


def cut_of_moment(
    moment: Moment, like: Like | Numbered, n_clusters: int, price: float, by: By = "height"
) -> StickyLabels:
    """The same of a tree at one version."""
    tree, points, rows, weights, total = moment
    known, labels = labels_then(like, points.numbers, points.names, total)
    leaves = np.arange(len(tree))[points.places]
    then = Then(leaves[known], labels, None if weights is None else weights[known])
    ordered = tree._ordered(by, rows if by == "variance" else None).tree
    found = sticky_cut(ordered, then, n_clusters, price)
    return StickyLabels(ordered._labels_at(found.nodes)[points.places], found, points.numbers)


def sticky_ids(live: Live, cut: Cut, stickiness: float) -> IntArray:
    """Ids that stay of a cut that holds on to the one that was last asked for."""
    seen, price = live.identity.seen(cut), read_stickiness(stickiness)
    if price == 0 or seen is None:
        labels, numbers = live.labels(cut), live.numbers()
    else:
        like = Numbered(seen.points, seen.ids)
        found = cut_like(live, like, wanted_number(cut), price, "height")
        labels, numbers = np.asarray(found), found.point_numbers
    return live.identity.name(cut, numbers, labels, live.weights()).copy()
