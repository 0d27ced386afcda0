# SPDX-License-Identifier: BSD-3-Clause
"""_sure.py: the points of all shards, for how sure it is where a row belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ramify.estimators.seam import Asked, Cut, spread
from ramify.hierarchy import FloatArray, IntArray
from ramify.points import Rows

if TYPE_CHECKING:
    from ramify.ray._asking import Asking


class KnownShards:
    """What :func:`ramify.estimators.seam.judge` asks, of the router that asks the shards."""

    def __init__(self, of: Asking) -> None:
        self._of = of

    @property
    def version(self) -> int:
        """Of the tree."""
        return self._of.op

    @property
    def asked(self) -> Asked | None:
        """The neighbours that were looked for last."""
        return self._of.asked

    @asked.setter
    def asked(self, found: Asked | None) -> None:
        self._of.asked = found

    def some(self, most: int) -> tuple[IntArray, Rows, int]:
        """Numbers and rows of points, evenly spread, and how many points there are."""
        of = self._of
        all_numbers = of.labels(Cut("n_clusters", 1))[0]
        numbers = all_numbers[spread(len(all_numbers), most)]
        return numbers, of.rows_of(numbers), len(all_numbers)

    def nearest(self, rows: Rows, k: int, threads: int = 1) -> tuple[IntArray, FloatArray]:
        """Numbers and distances of the nearest points; shards have threads of their own."""
        numbers, distances, _ = self._of.nearest(rows, k)
        return np.ascontiguousarray(numbers), distances

    def labelled(self, cut: Cut) -> tuple[IntArray, IntArray]:
        """Numbers and labels of all points."""
        return self._of.labels(cut)
