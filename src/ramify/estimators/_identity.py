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
from typing import Any, NamedTuple

import numpy as np

from ramify.estimators._cut import Cut
from ramify.hierarchy import FloatArray, IntArray

#: How many cuts are remembered; one that was not asked for since so many others begins anew.
MOST_CUTS = 16


class Seen(NamedTuple):
    """A cut when it was last asked for."""

    points: IntArray  #: arrival numbers, ascending
    ids: IntArray  #: of each point's cluster


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
        ids = np.full(int(labels.max()) + 1, -1)
        if (seen := self._cuts.get(cut)) is not None:
            _, then, now = np.intersect1d(
                seen.points, points, assume_unique=True, return_indices=True
            )
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
    ids, place = np.unique(then, return_inverse=True)
    sizes_then = np.bincount(place, weights, minlength=len(ids))
    sizes_now = np.bincount(now, weights, minlength=1)
    pairs, pair = np.unique(place * len(sizes_now) + now, return_inverse=True)
    shared = np.bincount(pair, weights, minlength=len(pairs))
    old, new = np.divmod(pairs, len(sizes_now))
    most = (2 * shared > sizes_then[old]) & (2 * shared > sizes_now[new])
    return ids[old[most]], new[most]
