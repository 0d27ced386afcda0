# SPDX-License-Identifier: BSD-3-Clause
"""_naming.py: ids of clusters that stay, as the router's file has them; cuts that hold still."""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ramify.estimators.seam import (
    Cut,
    Identity,
    Moment,
    WayOfLive,
    cut_of_moment,
    wanted_number,
)
from ramify.hierarchy import FloatArray, Hierarchy, IntArray, StickyLabels
from ramify.hierarchy.seam import Numbered, Rows
from ramify.ray._head import Head
from ramify.ray._turns import Turns, in_turn


def written(identity: Identity) -> bytes:
    """As bytes.

    Examples
    --------
    >>> read(written(Identity(next_id=3))).next_id
    3
    """
    plain = identity.plain()
    cuts = [(by, value, *least) for by, value, _, _, *least in plain["cuts"]]
    arrays: dict[str, Any] = {"head": np.array(json.dumps([plain["next_id"], cuts]))}
    for at, (_, _, points, ids, *_) in enumerate(plain["cuts"]):
        arrays |= {f"points{at}": points, f"ids{at}": ids}
    room = io.BytesIO()
    np.savez(room, **arrays)
    return room.getvalue()


def read(body: bytes) -> Identity:
    """The inverse of :func:`written`."""
    with np.load(io.BytesIO(body)) as found:
        next_id, cuts = json.loads(str(found["head"]))
        seen = [
            (by, value, found[f"points{at}"], found[f"ids{at}"], *least)
            for at, (by, value, *least) in enumerate(cuts)
        ]
    return Identity.from_plain({"next_id": next_id, "cuts": seen})


class Naming(ABC):
    """Cuts of the whole tree that know of earlier ones, for the router."""

    turns: Turns
    number: int
    _head: Head
    _identity: Identity | None = None  # as it was last read or written
    _called: tuple[int, Any, IntArray] | None = None  # ids by label, of a version and what was seen
    op: int  # the last operation

    @abstractmethod
    def hierarchy(self) -> Hierarchy:
        """The whole tree, frozen."""

    @abstractmethod
    def points(self) -> tuple[IntArray, Rows]:
        """Numbers and rows of all points, as stored, in order of arrival."""

    @abstractmethod
    def labels(self, cut: Cut) -> tuple[IntArray, IntArray]:
        """Numbers of all points, ascending, and the label of each one's cluster."""

    @abstractmethod
    def _weights(self) -> FloatArray | None: ...

    @in_turn
    def cut_like(
        self, like: Any, n_clusters: int, price: float, by: WayOfLive = "height"
    ) -> StickyLabels:
        """A cut that holds on to the clusters of an earlier one. O(n k)."""
        tree = self.hierarchy()
        rows = self.points()[1] if by == "variance" else None
        moment = Moment(tree, tree._points(), rows, self._weights(), self.number)
        return cut_of_moment(moment, like, n_clusters, price, by)

    @in_turn
    def stable_labels(self, cut: Cut, price: float) -> IntArray:
        """Ids of the clusters of all points that stay, written down before they are told."""
        identity = self._known_identity()
        seen = identity.seen(cut)
        if price == 0 or seen is None:
            numbers, labels = self.labels(cut)
        else:
            sticky = self.cut_like(Numbered(seen.points, seen.ids), wanted_number(cut), price)
            numbers, labels = sticky.point_numbers, np.asarray(sticky)
        identity = identity.of_points(numbers)
        found = identity.name(cut, numbers, labels, self._weights())
        self._head.set_names(written(identity))
        self._identity = identity
        return found

    def _known_identity(self) -> Identity:
        """The ids of clusters that were last written down."""
        if self._identity is None:
            body = self._head.names()
            self._identity = Identity() if body is None else read(body)
        return self._identity

    @in_turn
    def stable_ids(self, cut: Cut) -> IntArray | None:
        """The ids of the clusters of a cut from then, by label; -1: new. None: it has none."""
        identity = self._known_identity()
        seen, kept = identity.seen(cut), self._called
        if seen is None:
            return None
        if kept is None or kept[0] != self.op or kept[1] is not seen:
            found = identity.known(cut, *self.labels(cut), self._weights())
            self._called = kept = self.op, seen, found
        return kept[2]

    def _stable_of(self, cut: Cut, labels: IntArray) -> IntArray:
        """The same of clusters by their labels; -1: new, or no ids were ever given."""
        ids = self.stable_ids(cut)
        return np.full(len(labels), -1) if ids is None else np.where(labels < 0, -1, ids[labels])
