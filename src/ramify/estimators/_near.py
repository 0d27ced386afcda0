# SPDX-License-Identifier: BSD-3-Clause
"""_near.py: the stored points nearest to rows, or to other stored points.

A function of a model, which has it as its method (_reading.py).
"""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ramify.checks import whole_number
from ramify.estimators._cutting import numbers_of
from ramify.estimators._guard import live
from ramify.estimators._live import Live
from ramify.estimators._sureness import near_others
from ramify.hierarchy import FloatArray, IntArray
from ramify.hierarchy.seam import place_in
from ramify.jobs import thread_count

if TYPE_CHECKING:
    from ramify.estimators._reading import TreeReader


@live
def nearest(
    model: "TreeReader",
    X: npt.ArrayLike | None = None,
    *,
    points: npt.ArrayLike | None = None,
    k: int | None = None,
    n_jobs: int | None = None,
) -> tuple[IntArray, FloatArray]:
    """The stored points nearest to each row, and how far they are; nothing is inserted.

    Exact, unless ``neighbors`` says otherwise. Ties go to the point that arrived first.

    Parameters
    ----------
    X : array-like of shape (m, d), optional
        Rows.
    points : int, str, or a sequence of them, optional
        Stored points instead of rows, by number, or by id if that is text. A point is
        not among its own neighbours.
    k : int, optional
        How many for each; fewer if there are not so many. None: one.
    n_jobs : int, optional
        Threads; -1 is one for each processor. None: one.

    Returns
    -------
    points : array of shape (m,), with ``k`` of shape (m, k)
        Arrival numbers, the nearest first.
    distances : array of the same shape
        In the model's metric: squared Euclidean distances, one minus the cosine, or
        minus the inner product.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0]], ids=["ash", "elm", "oak"])
    >>> model.nearest([[4.0], [0.5]])
    (array([2, 0]), array([1.  , 0.25]))
    >>> model.nearest(points="oak", k=2)
    (array([[1, 0]]), array([[16., 25.]]))
    """
    if (X is None) == (points is None):
        raise ValueError("give X or points, one of the two")
    tree = model._fitted()
    threads = thread_count(n_jobs, none=1)
    wanted = 1 if k is None else whole_number("k", k)
    if points is None:
        found, apart = tree.nearest(model._read_more(X, tree), min(wanted, len(tree)), threads)
    else:
        found, apart = _nearest_others(tree, points, wanted, threads)
    return (found, apart) if k is not None else (found[:, 0], apart[:, 0])


def _nearest_others(
    tree: Live, points: npt.ArrayLike, k: int, threads: int
) -> tuple[IntArray, FloatArray]:
    """The nearest of other leaves than those that points are in."""
    still, known, rows = tree.still()
    numbers = numbers_of(tree, points)
    places = np.arange(len(still))[known.places][place_in(known.numbers, numbers)]
    if len(still) < 2:
        raise ValueError("points: the only point has no neighbour")
    some, wanted = rows.take(places, axis=0), min(k, len(still) - 1)
    return near_others(tree, still.point_numbers[places], some, wanted, threads)
