# SPDX-License-Identifier: BSD-3-Clause
"""_tables.py: answers of a sharded tree that are of several columns."""

from __future__ import annotations

from typing import Any, NamedTuple

from ramify.hierarchy import FloatArray, IntArray


class ClusterTable(NamedTuple):
    """The clusters of a cut, each of them a row of all arrays: what a router answers.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.ray import ShardedOHAC
    >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
    ...     model.partial_fit([[0.0], [1.0], [9.0]]).clusters(n_clusters=2).sizes
    array([2, 1])
    """

    node_ids: IntArray
    sizes: IntArray
    means: Any
    heights: FloatArray
    first_points: IntArray
    spreads: FloatArray  #: mean squared distance of each one's rows from their mean
    stable_ids: IntArray | None  #: as ``stable_labels`` last gave them, -1: new; None: never

    def __len__(self) -> int:
        return len(self.sizes)


class PointChanges(NamedTuple):
    """What became of the stream between two versions: an answer of ``point_changes``.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.ray import ShardedOHAC
    >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
    ...     before = model.partial_fit([[0.0], [1.0]]).version
    ...     _ = model.partial_fit([[5.0]]).forget(0)
    ...     model.past.point_changes(before)
    PointChanges(since=1, version=3, inserted=array([2]), forgotten=array([0]))
    """

    since: int
    version: int
    inserted: IntArray  #: numbers of points that came, and are there
    forgotten: IntArray  #: numbers of points that were there, and went
