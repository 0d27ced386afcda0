# SPDX-License-Identifier: BSD-3-Clause
"""_outline.py: what a shard tells of its tree, for the tree above all shards.

Its first nodes are the shard's *frontier*: the tree opened at the widest node, the largest
n² · variance, until there are m. Below them are the nodes that a cut of the whole may split, and
their children; those that it leaves as they are, the *units*, are never split.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.hierarchy import FloatArray, IntArray
from ramify.points import Rows


class Outline(NamedTuple):
    """Nodes of one shard, parents before their children."""

    frontier: int  #: so many of the nodes are the frontier: the first ones
    ids: IntArray  #: as the shard's model calls them
    children: IntArray  #: place of the first of two, which the second follows; -1: a unit
    weights: FloatArray
    counts: IntArray  #: of leaves
    ssds: FloatArray
    heights: FloatArray  #: (u, 2): own and monotone
    firsts: IntArray  #: number of each one's earliest point
    means: Rows

    @classmethod
    def of_core(cls, found: tuple[Any, ...]) -> Outline:
        """As the core tells it; whole numbers in NumPy's own type, which shows without its name."""
        size, *arrays = found
        return cls(size, *(one.view(np.int64) if one.dtype.kind == "i" else one for one in arrays))

    @classmethod
    def empty(cls, width: int, dtype: npt.DTypeLike) -> Outline:
        """Of a shard without points."""
        whole, real = np.empty(0, np.int64), np.empty(0)
        return cls(
            0, whole, whole, real, whole, real, np.empty((0, 2)), whole, np.empty((0, width), dtype)
        )
