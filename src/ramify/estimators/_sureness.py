# SPDX-License-Identifier: BSD-3-Clause
"""_sureness.py: where a row belongs, how sure that is, and whether it is something new.

Stored points say so. Each of some is asked as if it were not there: which cluster do its nearest
others say, is that its own, and how far is the nearest. A row that is to be judged is asked the
same, and compared with these answers.

    confidence  of the stored points with as many of their nearest in one cluster, the share that
                are in that cluster themselves; it never falls with that number
    new         the row is farther from the nearest point of its cluster than all but a share
                alpha of the points that were judged to be in that cluster were from theirs;
                where these are too few to say, than all but a share alpha of all points

The second is a conformal test. Let n points and a row come in any order, each as likely. Had the
row been there, the distances of the others could only be smaller. So a row that is called new is
among the alpha (n + 1) farthest of n + 1, which has the probability alpha at most. Strictly so
for one cluster, because clusters were made without the row; benchmarks.sureness measures more.
"""

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ramify.checks import number
from ramify.estimators._cut import Cut
from ramify.estimators._live import Asked, Live
from ramify.hierarchy import FloatArray, IntArray
from ramify.points import Rows
from ramify.sparse import SparseRows

#: Stored points that are asked: the search for their neighbours is what this costs.
MOST_ASKED = 2_000
#: Neighbours that have a say.
NEIGHBORS = 10

BoolArray = npt.NDArray[np.bool_]


class _Placed(NamedTuple):
    """Where rows belong."""

    labels: IntArray  #: cluster, numbered as ``labels_`` does
    node_ids: IntArray  #: stable id of the cluster's node; a single point's is -1 - its number
    points: IntArray  #: number of the nearest point
    distances: FloatArray  #: how far it is
    path_codes: list[str]  #: turns from the root to the cluster's node


class Assignment(_Placed):
    """Where rows belong, one entry each; see ``assign``. A tuple of five, whatever was asked."""

    confidence: FloatArray | None = None  #: how sure each cluster is, if that was asked
    new: BoolArray | None = None  #: which rows are something new, if that was asked


class Judged(NamedTuple):
    """Where points belong by their neighbours, and how many of these say so."""

    labels: IntArray  #: of the nearest; -1 if it has gone meanwhile
    shares: FloatArray  #: of the neighbours with this label
    distances: FloatArray  #: to the nearest

    @classmethod
    def of(cls, near: IntArray, distances: FloatArray) -> Self:
        """From the labels of the neighbours, the nearest first.

        Examples
        --------
        >>> Judged.of(np.array([[1, 1, 0, 1]]), np.array([0.5])).shares
        array([0.75])
        """
        labels = near[:, 0]
        return cls(labels, (near == labels[:, np.newaxis]).mean(axis=1), distances)


def near_others(
    live: Live, numbers: IntArray, rows: Rows, k: int, threads: int
) -> tuple[IntArray, FloatArray]:
    """The k points nearest to stored ones but for themselves, or the last if twins hide it."""
    found, apart = live.nearest(rows, k + 1, threads)
    is_self = found == numbers[:, np.newaxis]
    is_self[~is_self.any(axis=1), -1] = True
    shape = len(found), found.shape[1] - 1
    return found[~is_self].reshape(shape), apart[~is_self].reshape(shape)


def asked(live: Live, threads: int) -> Asked | None:
    """Neighbours of stored points, evenly spread; kept with the tree. None: there is one point."""
    version = live.version
    if live.asked is not None and live.asked.version == version:
        return live.asked
    still, _, rows = live.still()
    n = len(still)
    if n == 1:
        return None
    m = min(n, MOST_ASKED)
    places = np.arange(m) * n // m
    numbers = still.point_numbers[places]
    some = rows.take(places, axis=0)
    near, distances = near_others(live, numbers, some, min(NEIGHBORS, n - 1), threads)
    found = Asked(version, numbers, near, distances[:, 0])
    if live.version == version:
        live.asked = found
    return found


def labels_of(live: Live, cut: Cut, *several: IntArray) -> list[IntArray]:
    """Labels of points by arrival number; -1 for those that have gone."""
    while True:
        version = live.version
        numbers, labels = live.numbers(), live.labels(cut)
        if live.version == version:
            break
    found = []
    for some in several:
        places = np.minimum(np.searchsorted(numbers, some), len(numbers) - 1)
        found.append(np.where(numbers[places] == some, labels[places], -1))
    return found


def sureness(
    live: Live, rows: Rows | SparseRows, cut: Cut, threads: int, alpha: float | None
) -> tuple[FloatArray, BoolArray | None]:
    """For each row how sure its cluster is, and with ``alpha`` whether it is something new."""
    known = asked(live, threads)
    k = 1 if known is None else known.near.shape[1]
    near, distances = live.nearest(rows, k, threads)
    if known is None:
        nothing = np.zeros(len(near), dtype=bool)
        return np.full(len(near), np.nan), None if alpha is None else nothing
    own, others, theirs = labels_of(live, cut, known.numbers, known.near, near)
    stored, judged = Judged.of(others, known.distances), Judged.of(theirs, distances[:, 0])
    is_new = None if alpha is None else farther_than_all_but(alpha, stored, judged)
    return confidence(stored, stored.labels == own, judged), is_new


def confidence(stored: Judged, is_right: BoolArray, judged: Judged) -> FloatArray:
    """The share of stored points that are right, of those with as large a share of neighbours.

    Made so that it never falls with that share, by least squares (isotonic regression).

    Examples
    --------
    >>> shares = np.array([0.5, 0.5, 1.0, 1.0])
    >>> stored = Judged(np.zeros(4, np.int64), shares, np.zeros(4))
    >>> right = np.array([False, True, True, True])
    >>> confidence(stored, right, Judged(stored.labels, np.array([0.2, 0.5, 0.75, 1]), stored[2]))
    array([0.5 , 0.5 , 0.75, 1.  ])
    """
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip").fit(stored.shares, is_right.astype(float))
    found: FloatArray = fitted.predict(judged.shares)
    return np.where(judged.labels < 0, 0.0, found)


def farther_than_all_but(alpha: float, stored: Judged, judged: Judged) -> BoolArray:
    """Which points are farther out than all but a share alpha of the stored ones.

    Examples
    --------
    >>> stored = Judged(np.zeros(4, np.int64), np.ones(4), np.array([1.0, 2.0, 3.0, 4.0]))
    >>> row = Judged(np.zeros(2, np.int64), np.ones(2), np.array([4.0, 4.1]))
    >>> farther_than_all_but(0.2, stored, row), farther_than_all_but(0.19, stored, row)
    (array([False,  True]), array([False, False]))
    """
    found = np.zeros(len(judged.labels), dtype=bool)
    everywhere = np.sort(stored.distances)
    for label in np.unique(judged.labels[judged.labels >= 0]):
        mine = judged.labels == label
        others = np.sort(stored.distances[stored.labels == label])
        if alpha * (len(others) + 1) < 1:
            others = everywhere
        as_far = len(others) - np.searchsorted(others, judged.distances[mine], side="left")
        found[mine] = as_far + 1 <= alpha * (len(others) + 1)
    return found


def read_alpha(found: object) -> float:
    """Check a share of false alarms.

    Examples
    --------
    >>> read_alpha(0.05)
    0.05
    """
    alpha = number("new", found)
    if not 0 < alpha < 1:
        raise ValueError(
            f"new={found!r}: expected the share of false alarms that is allowed, from 0 to 1"
        )
    return alpha
