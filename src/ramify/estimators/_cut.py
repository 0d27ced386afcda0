# SPDX-License-Identifier: BSD-3-Clause
"""_cut.py: which clusters a question is about, and those that the core does not know.

A cut goes by a number of clusters, a height or a largest size, which the core finds in a growing
tree; with a least size it is found in a snapshot, where small branches join what is beside them,
and so is one by modularity.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from ramify.checks import choices, number, one_of, whole_number
from ramify.hierarchy import Clusters, Hierarchy, IntArray, Points
from ramify.hierarchy.seam import (
    Rows,
    check_way,
    fork_rows,
    place_in,
    read_resolution,
    require_one_cut,
)

#: What a cut of a live tree goes by.
WayOfLive: TypeAlias = Literal["height", "variance", "modularity"]
WAYS = choices(WayOfLive)


class Cut(NamedTuple):
    """A cut of a live tree."""

    #: "n_clusters", "variance" (so many, too), "height", "max_size", "min_size", or "modularity",
    #: of which the value is the resolution, 0 for the steadiest
    by: str
    value: float
    min_size: int | None = None  #: of the clusters, beside the first three

    @property
    def joins(self) -> bool:
        """Whether it takes a snapshot: as small branches join others, or by modularity."""
        return self.by in ("min_size", "modularity") or self.min_size is not None

    @property
    def of_whole(self) -> bool:
        """Whether the tree has to be in one place for it, as shards see it."""
        return self.joins or self.way != "height"

    @property
    def way(self) -> "WayOfLive":
        """What it goes by, as :meth:`Hierarchy.cut` calls it."""
        return cast(WayOfLive, self.by) if self.by in WAYS[1:] else "height"

    @property
    def options(self) -> dict[str, Any]:
        """The other options of :meth:`Hierarchy.cut`."""
        if self.by == "modularity":
            return {"resolution": self.value or None}
        name = "n_clusters" if self.by == "variance" else self.by
        least = {} if self.min_size is None else {"min_size": self.min_size}
        return {name: self.value, **least}


def read_cut(
    asked: Mapping[str, object], most: int, by: object = "height", resolution: object = None
) -> Cut | None:
    """The cut that options speak of, of a tree with so many leaves; None if they are not given.

    Examples
    --------
    >>> read_cut({"n_clusters": 3, "height": None, "min_size": 2}, 9)
    Cut(by='n_clusters', value=3, min_size=2)
    """
    if one_of("by", by, WAYS) != "height" or resolution is not None:
        check_way(by, dict(asked), resolution=resolution)
    if by == "modularity":
        return Cut("modularity", read_resolution(resolution) or 0.0)
    given = require_one_cut(dict(asked), or_none=True)
    least = given.pop("min_size", None)
    if least is not None:
        least = whole_number("min_size", least)
    if not given:
        return None if least is None else Cut("min_size", least)
    ((name, value),) = given.items()
    if name == "height":
        return Cut(name, number(name, value), least)
    if name == "max_size":
        return Cut(name, whole_number(name, value))
    count = whole_number(name, value, most=most, why="the number of points")
    return Cut("variance" if by == "variance" else name, count, least)


def possible(cut: Cut, tree: Hierarchy) -> Cut:
    """The same cut, into as many clusters as a tree of fewer points can have, and as large."""
    weight = int(tree.weights[tree.root])
    if cut.by == "min_size":
        return cut._replace(value=min(cut.value, weight))
    least = None if cut.min_size is None else min(cut.min_size, weight)
    most = tree.n_leaves if least is None else len(fork_rows(tree, least)) + 1
    value = min(cut.value, most) if cut.by in ("n_clusters", "variance") else cut.value
    return cut._replace(value=value, min_size=least)


class Joined:
    """The clusters of a cut that takes a snapshot."""

    def __init__(self, cut: Cut, tree: Hierarchy, points: Points, rows: Rows | None) -> None:
        self.tree, self.points = tree, points
        self.clusters: Clusters = tree._clusters_of(cut.options, "join", rows, None, cut.way)

    @property
    def node_ids(self) -> IntArray:
        """Of the clusters, by label."""
        return self.clusters.node_ids

    @property
    def leaf_labels(self) -> IntArray:
        """Of the leaves, by place."""
        return self.clusters._ground().labels

    @cached_property
    def labels(self) -> IntArray:
        """Of the points, in order of arrival, read-only."""
        labels = np.ascontiguousarray(self.leaf_labels[self.points.places])
        labels.setflags(write=False)
        return labels

    @cached_property
    def codes(self) -> list[str]:
        """The turns from the root to the node of each cluster."""
        return [self.tree.path_code(node) for node in self.clusters.nodes.tolist()]

    def knows(self, numbers: IntArray) -> bool:
        """Whether all these points are there."""
        return bool(np.isin(numbers, self.points.numbers).all())

    def labels_of(self, numbers: IntArray) -> IntArray:
        """Of points by their numbers."""
        return self.labels[place_in(self.points.numbers, numbers)]
