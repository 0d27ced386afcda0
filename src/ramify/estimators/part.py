# SPDX-License-Identifier: BSD-3-Clause
"""part.py: a model as a part of a larger tree, for the room that keeps several as one (ray/)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify.estimators._live import Live
from ramify.estimators._live_answers import whole
from ramify.estimators.stream import Stream
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.points import Rows

__all__ = ["Part", "model_of", "whole"]


class Part(Stream):
    """The points of a model, and its tree as far as a larger tree over it must know it.

    Examples
    --------
    >>> import ramify
    >>> part = Part(ramify.OHAC().fit([[0.0], [1.0], [9.0]]))
    >>> part.units(None, 2, ("n_clusters", 1))
    array([0, 0, 1])
    """

    __slots__ = ()

    def weights(self) -> FloatArray | None:
        """How much each point counts, in their order; None if each counts once."""
        return self._begun_tree.weights()

    def outline(self, m: int, cut: tuple[str, float]) -> tuple[Any, ...]:
        """The tree opened into its m widest parts, and below as a cut of a larger tree may."""
        return self._begun_tree.outline(m, cut)

    def units(self, numbers: IntArray | None, m: int, cut: tuple[str, float]) -> IntArray:
        """Where in such an outline the unopened nodes above points are; of all, if None."""
        return self._begun_tree.units(numbers, m, cut)

    @property
    def recorder(self) -> Any:
        """What writes down the changes of the tree: another one after a part has gone."""
        return self._begun_tree._core

    def empty_like(self) -> tuple[int, Any]:
        """Width and type of the rows, or any before the first."""
        tree = self._tree
        return (1, np.float64) if tree is None else (tree.settings.width, tree.dtype)


def model_of(model: Any, rows: Rows, tree: Hierarchy, next_number: int) -> Any:
    """A model without points, given stored rows in the shape of a tree over them."""
    settings = model._settings()._replace(width=rows.shape[1])
    model._adopt(Live(settings, rows.dtype).with_points(rows, tree, next_number), None)
    return model
