# SPDX-License-Identifier: BSD-3-Clause
"""_routing.py: which shard takes a row: the one that has its exact nearest point.

Every shard proposes its own nearest points. The nearest of all is the one at the smallest
distance, and of equally near ones the one that arrived first: the rule of one machine. Rows of
the same batch are compared with each other, too: a row whose nearest point is a row before it
goes where that one goes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ramify.hierarchy import FloatArray, IntArray
from ramify.points import Rows

#: Numbers and distances of the k nearest points of each row; -1: there are fewer.
Proposal = tuple[IntArray, FloatArray]


class Routes(NamedTuple):
    """Where rows go."""

    shards: IntArray  #: (n,): of each row
    nearest: IntArray  #: (n, k): its nearest points that are in that shard, -1 for none


def routes(rows: Rows, first: int, proposals: list[Proposal], of_batch: Proposal, k: int) -> Routes:
    """Where the rows of a batch go, whose numbers begin at ``first``.

    ``proposals`` are the shards', in their order, and ``of_batch`` are the nearest of the rows
    before each in the batch, by their places in it.
    """
    mates, apart = of_batch
    numbers = np.where(mates < 0, -1, first + mates)
    all_numbers = np.concatenate([*(found for found, _ in proposals), numbers], axis=1)
    distances = np.concatenate([*(far for _, far in proposals), apart], axis=1)
    order = _nearest_first(all_numbers, distances, k)
    nearest = np.take_along_axis(all_numbers, order, axis=1)
    source = order // k  # the shard that proposed it; one more than these: a mate
    shards = _of_rows(nearest[:, 0] - first, source[:, 0], len(proposals))
    own = shards[np.clip(nearest - first, 0, len(rows) - 1)]
    of_nearest = np.where(source == len(proposals), own, source)
    here = (nearest >= 0) & (of_nearest == shards[:, np.newaxis])
    return Routes(shards, np.where(here, nearest, -1))


def _nearest_first(numbers: IntArray, distances: FloatArray, k: int) -> IntArray:
    """The k nearest of each row, by distance, then by number; nobody last."""
    if k == 1:  # the usual case, without sorting
        nearest = distances.min(axis=1, keepdims=True)
        tied = np.where((distances == nearest) & (numbers >= 0), numbers, np.iinfo(np.int64).max)
        found: IntArray = tied.argmin(axis=1)[:, np.newaxis]
        return found
    late = np.where(numbers < 0, np.iinfo(np.int64).max, numbers)
    return np.lexsort((late, distances), axis=1)[:, :k]


def _of_rows(mates: IntArray, source: IntArray, count: int) -> IntArray:
    """The shard of each row: that of its nearest point, through however many batch-mates.

    A row without any neighbour begins the first shard.
    """
    places = np.arange(len(mates))
    is_mate = (source == count) & (mates >= 0)
    leads = np.where(is_mate, mates, places)
    while True:  # twice as far with every step
        further = leads[leads]
        if np.array_equal(further, leads):
            break
        leads = further
    shard = np.where(source == count, 0, source)
    found: IntArray = shard[leads]
    return found
