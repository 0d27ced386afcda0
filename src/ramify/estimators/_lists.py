# SPDX-License-Identifier: BSD-3-Clause
"""_lists.py: from rows to lists of nearest points, and from lists to a graph.

    snn          how many points two lists have in common, of k
    jaccard      the same, of how many are in either
    ranked       the mean share in common of the first 1, 2, ... k of two lists
    similarity   from the distance d itself: 1 - d, where d is at most 1; else 1 / (1 + d)

There is an edge where one of two points is in the other's list.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import listed
from ramify.estimators._edges import Edges, check_points, unit_of, whole_weights
from ramify.hierarchy import FloatArray
from ramify.jobs import thread_count

WEIGHTS = ("snn", "jaccard", "ranked", "similarity")

#: Metrics whose distances are 1 minus a similarity, which may be negative.
_ONE_MINUS = {"cosine", "correlation", "jaccard", "hamming", "dice", "rogerstanimoto"}
_ONE_MINUS |= {"russellrao", "sokalmichener", "sokalsneath", "yule", "braycurtis"}

#: Metrics whose lists a live tree keeps, too; the core searches with them.
LIVE = ("sqeuclidean", "cosine")

_NOBODY = 2**32 - 1


class Lists(NamedTuple):
    """The points that are nearest to each point; -1 where there are fewer."""

    points: npt.NDArray[np.int64]
    distances: FloatArray | None


def nearest_rows(
    rows: Any, k: int, metric: str, n_jobs: int | None
) -> tuple[Lists, npt.NDArray[np.uint64]]:
    """The lists that a live tree of these rows has, to the bit, and by what ties go.

    Of rows at equal distances the one with the smaller key is nearer, then the earlier one.

    Examples
    --------
    >>> nearest_rows(np.array([[0.0], [1.0], [3.0]]), 1, "sqeuclidean", None)[0].points.tolist()
    [[1], [0], [1]]
    """
    unit = metric == "cosine"
    k = max(min(k, len(rows) - 1), 1)
    plain = np.ascontiguousarray(rows)
    found = _core.nearest_rows(plain, k, unit, thread_count(n_jobs, none=1))
    points = np.where(found[0] == _NOBODY, -1, found[0].astype(np.int64))
    return Lists(points, found[1] / 2 if unit else found[1]), found[2]


def search(rows: Any, k: int, metric: object, n_jobs: int | None) -> Lists:
    """The k nearest of the other rows, by scikit-learn."""
    from sklearn.neighbors import NearestNeighbors

    n = rows.shape[0]
    if n == 1:
        return Lists(np.full((1, 1), -1), np.zeros((1, 1)))
    squared = metric == "sqeuclidean"  # the same order, and indexes for it
    finder = NearestNeighbors(
        n_neighbors=min(k, n - 1), metric="euclidean" if squared else metric, n_jobs=n_jobs
    )
    try:
        distances, points = finder.fit(rows).kneighbors()
    except ValueError as error:
        raise ValueError(
            f"metric={metric!r}: scikit-learn could not search with it: {error} With a metric of "
            f"another library, give its lists of nearest points as fit(neighbors=(points, "
            f"distances)), or pairs as fit(edges=(i, j, weight))"
        ) from error
    return Lists(points.astype(np.int64), distances**2 if squared else distances)


def read_lists(neighbors: object, weight: str) -> Lists:
    """Lists that another library has found: points alone, or points and distances.

    Examples
    --------
    >>> read_lists([[0, 1], [1, 0]], "snn").points
    array([[-1,  1],
           [-1,  0]])
    """
    pair = neighbors if isinstance(neighbors, tuple) else (neighbors, None)
    if len(pair) != 2:
        raise ValueError(f"neighbors: expected (points, distances), got {len(pair)} arrays")
    points = np.asarray(pair[0])
    if points.ndim != 2 or points.dtype.kind not in "iu" or 0 in points.shape:
        raise ValueError(
            f"neighbors: expected an array of whole numbers of shape (n, k), the points nearest "
            f"to each, got {points.dtype} of shape {points.shape}"
        )
    n = len(points)
    check_points(n, "neighbors: expected at least one list")
    outside = np.argwhere((points < -1) | (points >= n))
    if len(outside) > 0:
        row, column = outside[0]
        raise ValueError(
            f"neighbors: {points[row, column]} (list {row}) is no point; they are 0 to {n - 1}, "
            f"and -1 is none"
        )
    points = np.where(points == np.arange(n)[:, np.newaxis], -1, points.astype(np.int64))
    ordered = np.sort(points, axis=1)
    twice = np.argwhere((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0))
    if len(twice) > 0:
        row, column = twice[0]
        raise ValueError(f"neighbors: list {row} names point {ordered[row, column]} twice")
    distances = None
    if pair[1] is not None:
        distances = np.asarray(pair[1], np.float64)
        if distances.shape != points.shape:
            raise ValueError(
                f"neighbors: distances have shape {distances.shape}, points {points.shape}"
            )
    elif weight == "similarity":
        raise ValueError(
            "weight='similarity' needs distances: neighbors=(points, distances); or choose "
            "weight 'snn', 'jaccard' or 'ranked'"
        )
    return Lists(points, distances)


def graph_of(lists: Lists, weight: str, metric: object, k: int = 0) -> Edges:
    """The graph of these lists, of up to k points each; without k of as many as there is room for.

    Examples
    --------
    >>> ring = np.array([[1, 3], [0, 2], [1, 3], [2, 0]])
    >>> graph_of(Lists(ring, None), "snn", None).weight.max()  # neighbours share nobody
    np.uint64(0)
    """
    points = lists.points
    n = len(points)
    there = points.ravel() >= 0
    a = np.repeat(np.arange(n, dtype=np.uint32), points.shape[1])[there]
    b = points.ravel()[there].astype(np.uint32)
    if weight == "similarity":
        assert lists.distances is not None
        weights: Any = _similarities(lists.distances.ravel()[there], metric)
        most = 1.0
    elif weight == "ranked":
        weights = _core.ranked_neighbours(np.where(points < 0, _NOBODY, points).astype(np.uint32))
        weights, most = weights[there], 1.0
    else:
        named = np.where(points < 0, _NOBODY, points).astype(np.uint32)
        common, united = _core.shared_neighbours(named)
        most = float(k or points.shape[1]) if weight == "snn" else 1.0
        weights = common[there] if weight == "snn" else common[there] / united[there]
    return Edges(n, a, b, whole_weights(weights, most), unit_of(most) / most)


def _similarities(distances: FloatArray, metric: object) -> FloatArray:
    wrong = np.flatnonzero(~(np.isfinite(distances) & (distances > -1)))
    if len(wrong) > 0:
        raise ValueError(
            f"weight='similarity' needs finite distances from 0, found {distances[wrong[0]]:g}; "
            f"choose one of {listed(WEIGHTS[:3])}"
        )
    if metric in _ONE_MINUS:
        return np.clip(1.0 - distances, 0.0, 1.0)
    return 1.0 / (1.0 + np.maximum(distances, 0.0))
