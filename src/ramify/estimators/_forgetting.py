# SPDX-License-Identifier: BSD-3-Clause
"""_forgetting.py: how points leave a tree because somebody wants them to.

A function of a model, which those have as a method whose trees can lose points.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from ramify.estimators._guard import alone, writes
from ramify.estimators._live import Live
from ramify.hierarchy import IntArray
from ramify.ids import Id

if TYPE_CHECKING:
    from ramify.estimators._base import HierarchicalClusterer


@writes
def forget(model: "HierarchicalClusterer", points: Id | Sequence[Id] | npt.NDArray[Any]) -> int:
    """Take points out of the tree, as if they had been deleted.

    Their rows are overwritten, and nothing that is read or saved from now on knows of
    them; files that were written before do. The tree is repaired as the algorithm has
    it: see the class. Numbers of other points stay as they are.

    Parameters
    ----------
    points : id or number, or a sequence of them
        Ids if the stream has ids, else arrival numbers. All must be there, and each
        once: otherwise nothing is forgotten.

    Returns
    -------
    int
        How many points were forgotten.

    Raises
    ------
    KeyError
        Naming a point that is not there.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC(n_clusters=2).fit([[0.0], [1.0], [5.0], [6.0]])
    >>> model.forget([0, 2])
    2
    >>> model.labels_, model.point_numbers_
    (array([0, 1]), array([1, 3]))
    """
    tree, numbers = may_forget(model, points)
    forget_now(model, tree, numbers)
    return len(numbers)


@alone
def forget_now(model: "HierarchicalClusterer", tree: Live, numbers: IntArray) -> None:
    """The same, of points that are there, by their numbers."""
    tree.forget(numbers)


@alone
def may_forget(model: "HierarchicalClusterer", points: Any) -> tuple[Live, IntArray]:
    """The tree and the numbers of points that may leave it; nothing changes."""
    tree = model._fitted()
    tree.settings.options.require_changeable("forget")
    numbers = tree.wanted(points)
    tree.require_leaving(numbers)
    return tree, numbers
