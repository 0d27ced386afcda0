# SPDX-License-Identifier: BSD-3-Clause
"""_levels.py: cuts of one tree into more and more clusters, each inside of one before."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np

from ramify.checks import whole_number
from ramify.hierarchy._clusters import Clusters
from ramify.hierarchy._html import levels_html
from ramify.hierarchy._tables import optional
from ramify.hierarchy._values import IntArray

if TYPE_CHECKING:
    import pandas as pd


class Levels(Sequence[Clusters]):
    """Cuts of one tree into more and more clusters, each inside of one of the cut before.

    A sequence of :class:`Clusters`, the coarsest first. From the second on they know
    where they are: ``cluster.parent`` is a label of the level before.

    Attributes
    ----------
    labels : array of shape (n, number of levels)
        A column of labels for each level.

    Examples
    --------
    >>> import ramify
    >>> X = [[0.0], [1.0], [8.0], [9.0], [30.0]]
    >>> levels = ramify.HAC().fit(X).hierarchy().levels(2, 4)
    >>> levels
    <Levels: 2 and 4 clusters>
    >>> levels[1].parents
    array([0, 0, 0, 1])
    >>> levels.children(0, 0)
    array([0, 1, 2])
    """

    def __init__(self, levels: Sequence[Clusters]) -> None:
        self._levels = tuple(levels)
        self.labels = np.column_stack([level.labels for level in self._levels])

    def __len__(self) -> int:
        return len(self._levels)

    @overload
    def __getitem__(self, place: SupportsIndex) -> Clusters: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Clusters, ...]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Clusters | tuple[Clusters, ...]:
        return self._levels[place]

    def __repr__(self) -> str:
        counts = [f"{len(level):,}" for level in self._levels]
        listed = f"{', '.join(counts[:-1])} and {counts[-1]}" if len(counts) > 1 else counts[0]
        return f"<Levels: {listed} clusters>"

    def _repr_html_(self) -> str:
        return levels_html(self)

    def children(self, level: int, label: int) -> IntArray:
        """Labels, at the next finer level, of the clusters inside of one.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [8.0]]).hierarchy()
        >>> tree.levels(2, 3).children(0, 0)
        array([0, 1])
        """
        finest = len(self) - 2
        place = whole_number("level", level, least=0, most=finest, why="levels with a finer one")
        most = len(self._levels[place]) - 1
        chosen = whole_number("label", label, least=0, most=most, why="the labels of that level")
        parents = self._levels[place + 1].parents
        assert parents is not None
        return np.flatnonzero(parents == chosen)

    def to_frame(self) -> "pd.DataFrame":
        """All levels in one pandas frame: the columns of :meth:`Clusters.to_frame`, and level.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [8.0]]).hierarchy()
        >>> tree.levels(1, 2).to_frame()[["level", "label", "parent", "size"]]
           level  label  parent  size
        0      0      0      -1     3
        1      1      0       0     2
        2      1      1       0     1
        """
        pandas = optional("pandas", "to_frame")
        frames = []
        for place, level in enumerate(self._levels):
            frame = level.to_frame()
            if "parent" not in frame:
                frame.insert(6 + ("name" in frame), "parent", -1)
            frame.insert(0, "level", place)
            frames.append(frame)
        return pandas.concat(frames, ignore_index=True)
