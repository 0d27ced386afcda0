# SPDX-License-Identifier: BSD-3-Clause
"""settling.py: flat clusters finished: points move to where their neighbours or means are."""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.checks import choices, one_of, whole_number
from ramify.hierarchy import FloatArray, IntArray
from ramify.metric import DISTANCES, METRICS, DistanceName, names_of
from ramify.points import Expected, read_rows

#: Who decides where a point belongs.
Settlers = Literal["neighbors", "means"]

#: Rows that are compared with all means at a time.
_BLOCK = 4_096
#: Differences below this share of the largest squared distance from the middle are rounding.
_SLACK = 1e-12


class Settled(NamedTuple):
    """Flat clusters after their points have moved: see :func:`settle`.

    Examples
    --------
    >>> import ramify
    >>> labels, moved = ramify.settle([0, 0, 1, 1], [[0.0], [1.0], [1.5], [9.0]], by="means")
    >>> labels, moved
    (array([0, 0, 0, 1]), array([2]))
    """

    labels: IntArray  #: with the numbers that the clusters had
    moved: IntArray  #: places of the points that are in another cluster than before, ascending


def settle(
    labels: npt.ArrayLike,
    X: npt.ArrayLike,
    *,
    by: Settlers = "neighbors",
    rounds: int = 3,
    n_neighbors: int = 10,
    metric: DistanceName = "sqeuclidean",
    n_jobs: int | None = None,
) -> Settled:
    """Finish flat clusters: points move to the cluster of their neighbours, or of the nearest mean.

    A tree decides early who belongs together, and no cut can take that back. The clusters may be
    those of any cut, or of another program. They keep their numbers, so that names and stable
    ids stay. A cluster that all would leave keeps its points in that round, and there are as many
    clusters afterwards as before. Points of label -1 are in no cluster: they have no vote, and
    stay where they are.

    Parameters
    ----------
    labels : array-like of int of shape (n,)
        As ``cut``, ``labels_`` or ``stable_labels`` give them.
    X : array-like of shape (n, d)
        The rows, in the same order; ``model.points()`` are those of a model.
    by : {"neighbors", "means"}, default="neighbors"
        ``"neighbors"``: in each round all points take, at once, the label that more than half of
        their nearest neighbours have. Where no label has so many they stay. The search is
        scikit-learn's, in many dimensions O(n² d): a minute or two for 40,000 rows of 384.
        ``"means"``: in each round all points go to the cluster with the nearest mean (Lloyd's
        k-means); of equally near ones they stay, or take the smallest label. The sum
        of squares within the clusters never rises.
    rounds : int, default=3
        The most rounds; none is made after one in which nothing moves.
    n_neighbors : int, default=10
        How many have a vote; all others if there are fewer.
    metric : {"sqeuclidean", "cosine"}, default="sqeuclidean"
        With ``"cosine"`` only the directions of rows count.
    n_jobs : int, optional
        Threads of the search for neighbours; -1 is one for each processor. None: one.

    Returns
    -------
    Settled
        ``labels`` and ``moved``.

    Examples
    --------
    >>> import ramify
    >>> X = [[0.0], [1.0], [2.0], [4.5], [9.0], [10.0], [11.0]]
    >>> ramify.settle([0, 0, 0, 1, 1, 1, 1], X, by="means")
    Settled(labels=array([0, 0, 0, 0, 1, 1, 1]), moved=array([3]))
    >>> ramify.settle([0, 0, 0, 1, 1, 1, 1], X, n_neighbors=3).moved
    array([3])
    """
    way = one_of("by", by, choices(Settlers))
    most = whole_number("rounds", rounds, least=0)
    wanted = whole_number("n_neighbors", n_neighbors)
    how = METRICS[one_of("metric", metric, names_of(DISTANCES))]
    rows = how.prepared(read_rows(X, Expected("settle", how)))
    given = _read_labels(labels, len(rows))
    known = np.flatnonzero(given >= 0)
    if len(known) < 2 or most == 0:
        return Settled(given.copy(), np.empty(0, np.int64))
    names, before = np.unique(given[known], return_inverse=True)
    if way == "means":
        after = to_means(before, rows[known].astype(np.float64, copy=False), most)
    else:
        near = _nearest(rows[known], wanted, n_jobs)
        after = by_votes(before, near, most)
    settled = given.copy()
    settled[known] = names[after]
    return Settled(settled, np.flatnonzero(settled != given))


def by_votes(labels: IntArray, near: IntArray, rounds: int) -> IntArray:
    """Labels from 0, each used, after votes of these neighbours. O(n k log k) a round.

    Examples
    --------
    >>> import numpy as np
    >>> by_votes(np.array([0, 0, 1, 1]), np.array([[1, 3], [0, 3], [0, 1], [0, 2]]), 3)
    array([0, 0, 0, 1])
    """
    middle = near.shape[1] // 2
    for _ in range(rounds):
        votes = np.sort(labels[near], axis=1)
        most = votes[:, middle]  # what more than half agree on is there
        agree = (votes == most[:, np.newaxis]).sum(axis=1)
        wanted = np.where(2 * agree > near.shape[1], most, labels)
        held = _kept_alive(labels, wanted)
        if (held == labels).all():
            break
        labels = held
    return labels


def to_means(labels: IntArray, rows: FloatArray, rounds: int) -> IntArray:
    """Labels from 0, each used, after Lloyd's rounds. O(n d k) a round.

    Examples
    --------
    >>> import numpy as np
    >>> to_means(np.array([0, 1, 1]), np.array([[0.0], [1.0], [9.0]]), 1)
    array([0, 0, 1])
    """
    rows = rows - rows.mean(axis=0)  # far from the origin products lose digits
    slack = _SLACK * float((rows**2).sum(axis=1).max())
    for _ in range(rounds):
        counts = np.bincount(labels)
        order = np.argsort(labels, kind="stable")
        sums = np.add.reduceat(rows[order], np.cumsum(counts) - counts, axis=0)
        means = sums / counts[:, np.newaxis]
        squares = (means**2).sum(axis=1)
        wanted = labels.copy()
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            apart = squares - 2 * rows[part] @ means.T  # but for the row's own square
            least = apart.min(axis=1) + slack
            stays = apart[np.arange(len(apart)), labels[part]] <= least
            first = (apart <= least[:, np.newaxis]).argmax(axis=1)  # of equals the smallest label
            wanted[part] = np.where(stays, labels[part], first)
        held = _kept_alive(labels, wanted)
        if (held == labels).all():
            break
        labels = held
    return labels


def _kept_alive(labels: IntArray, wanted: IntArray) -> IntArray:
    """The wanted labels, but that no cluster is left by all."""
    left = np.bincount(wanted, minlength=int(labels.max()) + 1) == 0
    return np.where(left[labels], labels, wanted)


def _nearest(rows: npt.NDArray[np.floating], k: int, n_jobs: int | None) -> IntArray:
    """The k rows nearest to each other than itself."""
    from sklearn.neighbors import NearestNeighbors

    finder = NearestNeighbors(n_neighbors=min(k, len(rows) - 1), n_jobs=n_jobs).fit(rows)
    found: IntArray = finder.kneighbors(return_distance=False).astype(np.int64)
    return found


def _read_labels(labels: npt.ArrayLike, n: int) -> IntArray:
    given = np.asarray(labels)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise TypeError(
            f"labels: expected a flat array of whole numbers, as cut() gives them, got "
            f"{given.dtype} of shape {given.shape}"
        )
    if len(given) != n:
        raise ValueError(
            f"labels: got {len(given)} for {n} rows; give the rows of the points that are there, "
            f"as model.points() or X[tree.point_numbers]"
        )
    return np.array(given, dtype=np.int64)
