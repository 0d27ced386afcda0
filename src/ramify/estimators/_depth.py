# SPDX-License-Identifier: BSD-3-Clause
"""_depth.py: notices a tree that becomes a chain, which centroid linkage makes in many dimensions.

Distances between single points are all about as long there, and the mean of a large
cluster is nearer to each point than other points are. So points join one cluster, one
by one; every insert reopens a path as long as the tree is large.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ramify.errors import DeepTreeWarning
from ramify.points import Rows

_FIRST_LOOK = 500  # points; then at twice as many, again and again


class DepthWatch:
    """Looks at a few root paths now and then, and warns once."""

    __slots__ = ("_next", "_told")

    def __init__(self) -> None:
        self._next = _FIRST_LOOK
        self._told = False

    def parts(self, rows: Rows, before: int) -> Iterator[Rows]:
        """A batch in parts that end where one should look; one stream gives one tree."""
        done = 0
        while done < len(rows):
            part = len(rows) - done if self._told else max(self._next - before - done, 1)
            yield rows[done : done + part]
            done += part

    def look(self, n: int, core: Any) -> None:
        """Warn if a tree of n leaves is far deeper than a tree over them has to be."""
        if self._told or n < self._next:
            return
        while self._next <= n:
            self._next *= 2
        numbers = core.numbers()
        some = numbers[np.linspace(0, len(numbers) - 1, 5).astype(int)].tolist()
        deepest = max(map(core.depth, some))
        if deepest > max(100, 4 * n**0.5):
            self._told = True
            warnings.warn(
                f"the tree of these {n:,} points is {deepest:,} merges deep, nearly a chain: "
                f"linkage='centroid' does this in many dimensions, and each insert then takes "
                f"time in proportion to the points so far; use linkage='ward' or 'average'",
                DeepTreeWarning,
                stacklevel=2,
            )
