# SPDX-License-Identifier: BSD-3-Clause
"""_identity.py: ids of clusters that stay while the tree goes on.

The rule. Of the points that were there when the same cut was last asked for and are
there still, a cluster of now and one of then may share some. If these are more than half
of the one's and more than half of the other's, the cluster of now has the id of the one
of then. Otherwise it has a new one. Two clusters of then cannot both have more than half
of one of now, nor the other way round, so nobody has to choose, and no id is given twice.
Points that have come or gone since then have no say. A point of weight w counts as w.

What is kept of each cut is the id of every point's cluster. Ids are counted per model and
never used again.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from ramify.estimators._cut import Cut
from ramify.hierarchy import FloatArray, IntArray

#: How many cuts are remembered; one that was not asked for since so many others begins anew.
MOST_CUTS = 16


class Seen(NamedTuple):
    """A cut when it was last asked for."""

    points: IntArray  #: arrival numbers, ascending
    ids: IntArray  #: of each point's cluster


class _InCluster(NamedTuple):
    """The clusters of points."""

    labels: IntArray  #: numbered as ``labels_`` does
    node_ids: IntArray  #: of the cluster's node; a single point's is -1 - its number


class InCluster(_InCluster):
    """The clusters of points, one entry each; see ``cluster_of``. A tuple of two.

    Examples
    --------
    >>> labels, node_ids = found = InCluster(np.array([1]), np.array([-3]), np.array([7]))
    >>> found.labels, found.stable_ids
    (array([1]), array([7]))
    """

    #: What ``stable_labels`` of the same cut last called each cluster; -1 if it is new since then.
    stable_ids: IntArray

    def __new__(cls, labels: IntArray, node_ids: IntArray, stable_ids: IntArray) -> Self:
        found = super().__new__(cls, labels, node_ids)
        found.stable_ids = stable_ids
        return found

    def __getnewargs__(self) -> Any:
        return (*self, self.stable_ids)


class Identity:
    """The next id, and the cuts that have been asked for, the latest last."""

    __slots__ = ("_cuts", "next_id")

    def __init__(self, next_id: int = 0, cuts: Mapping[Cut, Seen] | None = None) -> None:
        self.next_id = next_id
        self._cuts: dict[Cut, Seen] = dict(cuts or {})

    def name(
        self, cut: Cut, points: IntArray, labels: IntArray, weights: FloatArray | None = None
    ) -> IntArray:
        """The id of each point's cluster, given their labels: dense, from 0. O(n log n).

        ``weights`` say how much each point counts; None: once.
        """
        ids = self.known(cut, points, labels, weights)
        new = np.flatnonzero(ids < 0)
        ids[new] = self.next_id + np.arange(len(new))
        named = Seen(points, ids[labels])
        # In an order in which Ctrl-C between two steps spends ids and doubles none.
        self.next_id += len(new)
        self._cuts = dict([*self.cuts(without=cut), (cut, named)][-MOST_CUTS:])
        return named.ids

    def known(
        self, cut: Cut, points: IntArray, labels: IntArray, weights: FloatArray | None = None
    ) -> IntArray:
        """The id of each cluster, by label, that it has from then; -1: it is new. O(n log n)."""
        ids = np.full(int(labels.max(initial=-1)) + 1, -1)
        if (seen := self._cuts.get(cut)) is not None:
            then, now = in_both(seen.points, points)
            counts = None if weights is None else weights[now]
            kept, clusters = carried_over(seen.ids[then], labels[now], counts)
            ids[clusters] = kept
        return ids

    def seen(self, cut: Cut) -> Seen | None:
        """A cut when it was last asked for, if it is remembered."""
        return self._cuts.get(cut)

    def cuts(self, *, without: Cut | None = None) -> Iterable[tuple[Cut, Seen]]:
        """What is remembered."""
        return [(cut, seen) for cut, seen in self._cuts.items() if cut != without]

    def of_points(self, points: IntArray) -> "Identity":
        """The same for a tree of these points. Others, which have gone, had no say anyway."""
        cuts = {}
        for cut, seen in self._cuts.items():
            stays = np.isin(seen.points, points, assume_unique=True)
            cuts[cut] = Seen(seen.points[stays], seen.ids[stays])
        return Identity(self.next_id, cuts)

    def plain(self) -> dict[str, Any]:
        """As pickles have it."""
        cuts = [(*cut[:2], *seen, *_least(cut)) for cut, seen in self.cuts()]
        return {"next_id": self.next_id, "cuts": cuts}

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> "Identity":
        """The inverse of :meth:`plain`."""
        cuts = {
            Cut(by, value, *least): Seen(points, ids)
            for by, value, points, ids, *least in plain["cuts"]
        }
        return Identity(plain["next_id"], cuts)


def _least(cut: Cut) -> list[int]:
    """Its least size, of a cut that has one: older pickles know no such cuts."""
    return [] if cut.min_size is None else [cut.min_size]


def carried_over(
    then: IntArray, now: IntArray, weights: FloatArray | None = None
) -> tuple[IntArray, IntArray]:
    """Ids that stay, and the clusters that have them, by the rule in the file's head.

    ``then`` and ``now`` are an id and a label for each of the points that count, and
    ``weights`` how much each does.

    Examples
    --------
    >>> import numpy as np
    >>> carried_over(np.array([7, 7, 7, 8, 8]), np.array([1, 1, 0, 2, 3]))
    (array([7]), array([1]))
    """
    ids, place = dense(then)
    sizes_then = np.bincount(place, weights, minlength=len(ids))
    sizes_now = np.bincount(now, weights, minlength=1)
    pairs, shared = _pairs(place, now, weights, len(ids), len(sizes_now))
    old, new = np.divmod(pairs, len(sizes_now))
    most = (2 * shared > sizes_then[old]) & (2 * shared > sizes_now[new])
    return ids[old[most]], new[most]


def _pairs(
    then: IntArray, now: IntArray, weights: FloatArray | None, m: int, k: int
) -> tuple[IntArray, Any]:
    """Pairs of clusters that share points, as ``then * k + now``, and what they share."""
    both = then * k + now
    if m * k <= 2 * len(both) + 1024:  # a table costs less than to sort
        shared = np.bincount(both, weights, m * k)
        pairs = np.flatnonzero(shared)
        return pairs, shared[pairs]
    pairs, pair = np.unique(both, return_inverse=True)
    return pairs, np.bincount(pair, weights, len(pairs))


def dense(ids: IntArray) -> tuple[IntArray, IntArray]:
    """The ids that there are, ascending, and the place of each among them.

    Examples
    --------
    >>> dense(np.array([7, 9, 7]))
    (array([7, 9]), array([0, 1, 0]))
    """
    if len(ids) == 0:
        return ids, ids
    low = int(ids.min())
    span = int(ids.max()) - low + 1
    if span > 4 * len(ids) + 1024:
        found, place = np.unique(ids, return_inverse=True)
        return found, place
    there = np.zeros(span, bool)
    there[ids - low] = True
    return low + np.flatnonzero(there), (np.cumsum(there) - 1)[ids - low]


def in_both(ones: IntArray, others: IntArray) -> tuple[Any, Any]:
    """Which of some ascending numbers are among others, and the other way round.

    Examples
    --------
    >>> in_both(np.array([0, 2, 3]), np.array([2, 3, 4]))
    (array([1, 2]), array([0, 1]))
    """
    m = len(ones)
    if len(others) >= m and np.array_equal(ones, others[:m]):  # none has left
        return slice(None), slice(0, m)
    _, then, now = np.intersect1d(ones, others, assume_unique=True, return_indices=True)
    return then, now
