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

Confidence can be asked for at several cuts into more and more clusters, which are levels of a row's
path. It never rises from one to the next there: a row in a branch is in what holds the branch.

The second is a conformal test. Let n points and a row come in any order, each as likely. Had the
row been there, the distances of the others could only be smaller. So a row that is called new is
among the alpha (n + 1) farthest of n + 1, which has the probability alpha at most. Strictly so
for one cluster, because clusters were made without the row; benchmarks.sureness measures more.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify.checks import is_whole, number, whole_number
from ramify.estimators._cut import Cut
from ramify.estimators._live import Live
from ramify.estimators._live_points import Asked as Asked
from ramify.hierarchy import FloatArray, IntArray
from ramify.points import Rows
from ramify.sparse import SparseRows

#: Stored points that are asked: the search for their neighbours is what this costs.
MOST_ASKED = 2_000
#: Neighbours that have a say.
NEIGHBORS = 10

BoolArray = npt.NDArray[np.bool_]

#: What ``confidence=`` takes: whether to say it of the cut, or of cuts into these many clusters.
Levels: TypeAlias = bool | Sequence[int]


class Known(Protocol):
    """Stored points, which can be asked about their neighbours."""

    asked: Asked | None

    @property
    def version(self) -> int:
        """Of the tree."""

    def some(self, most: int) -> tuple[IntArray, Rows, int]:
        """Numbers and rows of points, evenly spread, and how many points there are."""

    def nearest(self, rows: Any, k: int, threads: int = 1) -> tuple[IntArray, FloatArray]:
        """Numbers and distances of the nearest points."""

    def labelled(self, cut: Cut) -> tuple[IntArray, IntArray]:
        """Numbers and labels of all points."""


class _Placed(NamedTuple):
    """Where rows belong."""

    labels: IntArray  #: cluster, numbered as ``labels_`` does
    node_ids: IntArray  #: stable id of the cluster's node; a single point's is -1 - its number
    points: IntArray  #: number of the nearest point
    distances: FloatArray  #: how far it is
    path_codes: list[str]  #: turns from the root to the cluster's node


class Assignment(_Placed):
    """Where rows belong, one entry each; see ``assign``. A tuple of five, whatever was asked."""

    #: How sure each cluster is, if that was asked; a column for each level, if of several.
    confidence: FloatArray | None = None
    new: BoolArray | None = None  #: which rows are something new, if that was asked
    #: What ``stable_labels`` of the same cut last called each cluster; -1 if it is new since then.
    stable_ids: IntArray = np.empty(0, np.int64)


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
    live: Live | Known, numbers: IntArray, rows: Rows, k: int, threads: int
) -> tuple[IntArray, FloatArray]:
    """The k points nearest to stored ones but for themselves, or the last if twins hide it."""
    found, apart = live.nearest(rows, k + 1, threads)
    is_self = found == numbers[:, np.newaxis]
    is_self[~is_self.any(axis=1), -1] = True
    shape = len(found), found.shape[1] - 1
    return found[~is_self].reshape(shape), apart[~is_self].reshape(shape)


class KnownLive:
    """The points of a live tree."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self.nearest = live.nearest

    @property
    def version(self) -> int:
        return self._live.version

    @property
    def asked(self) -> Asked | None:
        return self._live.asked

    @asked.setter
    def asked(self, found: Asked | None) -> None:
        self._live.asked = found

    def some(self, most: int) -> tuple[IntArray, Rows, int]:
        still, _, rows = self._live.still()
        places = spread(len(still), most)
        return still.point_numbers[places], rows.take(places, axis=0), len(still)

    def labelled(self, cut: Cut) -> tuple[IntArray, IntArray]:
        while True:
            version = self._live.version
            found = self._live.numbers(), self._live.labels(cut)
            if self._live.version == version:
                return found


def spread(n: int, most: int) -> IntArray:
    """Places of at most so many of n, evenly spread.

    Examples
    --------
    >>> spread(9, 3), spread(2, 3)
    (array([0, 3, 6]), array([0, 1]))
    """
    m = min(n, most)
    return np.arange(m) * n // m


def asked(known: Known, threads: int) -> Asked | None:
    """Neighbours of stored points, evenly spread; kept with the tree. None: there is one point."""
    version = known.version
    if known.asked is not None and known.asked.version == version:
        return known.asked
    numbers, rows, n = known.some(MOST_ASKED)
    if n == 1:
        return None
    near, distances = near_others(known, numbers, rows, min(NEIGHBORS, n - 1), threads)
    found = Asked(version, numbers, near, distances[:, 0])
    if known.version == version:
        known.asked = found
    return found


def labels_of(known: Known, cut: Cut, *several: IntArray) -> list[IntArray]:
    """Labels of points by arrival number; -1 for those that have gone."""
    numbers, labels = known.labelled(cut)
    found = []
    for some in several:
        places = np.minimum(np.searchsorted(numbers, some), len(numbers) - 1)
        found.append(np.where(numbers[places] == some, labels[places], -1))
    return found


def judge(
    found: _Placed,
    known: Known,
    rows: Rows | SparseRows,
    cut: Cut,
    sure: bool | list[Cut],
    alpha: float | None,
    threads: int = 1,
) -> Assignment:
    """Where rows belong, with how sure that is, if ``sure``, and whether they are new."""
    told = Assignment(*found)
    if sure is False and alpha is None:
        return told
    stored = asked(known, threads)
    near, distances = known.nearest(rows, 1 if stored is None else stored.near.shape[1], threads)
    if stored is None:
        told.new = None if alpha is None else np.zeros(len(near), dtype=bool)
        shape = len(near) if isinstance(sure, bool) else (len(near), len(sure))
        told.confidence = None if sure is False else np.full(shape, np.nan)
        return told

    def judged(at: Cut) -> tuple[FloatArray, Judged, Judged]:
        assert stored is not None
        own, others, theirs = labels_of(known, at, stored.numbers, stored.near, near)
        of_stored = Judged.of(others, stored.distances)
        of_rows = Judged.of(theirs, distances[:, 0])
        return confidence(of_stored, of_stored.labels == own, of_rows), of_stored, of_rows

    if sure is True or alpha is not None:
        how_sure, *both = judged(cut)
        told.confidence = how_sure if sure is True else None
        told.new = None if alpha is None else farther_than_all_but(alpha, *both)
    if not isinstance(sure, bool):
        levels = np.stack([judged(at)[0] for at in sure], axis=1)
        told.confidence = np.minimum.accumulate(levels, axis=1)
    return told


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


def read_levels(found: object) -> bool | list[int]:
    """Check what ``confidence=`` was given.

    Examples
    --------
    >>> read_levels(True), read_levels((8, 40))
    (True, [8, 40])
    """
    if isinstance(found, bool | np.bool_):
        return bool(found)
    if isinstance(found, str) or is_whole(found) or not isinstance(found, Sequence | np.ndarray):
        raise TypeError(
            f"confidence={found!r}: expected True, False, or numbers of clusters, such as (8, 40)"
        )
    levels = [whole_number("confidence", one) for one in found]
    if not levels or sorted(set(levels)) != levels:
        raise ValueError(f"confidence={found!r}: expected numbers of clusters, ascending")
    return levels


def read_sure(
    confidence: object, new: object, cut_into: Callable[[int], Cut]
) -> tuple[bool | list[Cut], float | None]:
    """Check both options; the cuts of levels."""
    levels, alpha = read_levels(confidence), None if new is None else read_alpha(new)
    return levels if isinstance(levels, bool) else [cut_into(k) for k in levels], alpha


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
