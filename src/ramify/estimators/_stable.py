# SPDX-License-Identifier: BSD-3-Clause
"""_stable.py: ids that stay, in answers about the tree as it is.

Which cluster is which is decided by the rule in _identity.py: once for each cut and version, and
only for cuts of which ids were given. Other answers cost nothing. Answers to many rows may be of
several versions, in which labels differ; so ids are looked up by the ids of nodes.
"""

from typing import NamedTuple, Protocol

import numpy as np

from ramify.estimators._cut import Cut
from ramify.estimators._identity import MOST_CUTS, Identity, Seen
from ramify.hierarchy import FloatArray, IntArray


class Tree(Protocol):
    """A live tree, as this file needs it."""

    identity: Identity

    @property
    def version(self) -> int: ...
    def numbers(self) -> IntArray: ...
    def weights(self) -> FloatArray | None: ...
    def labels(self, cut: Cut) -> IntArray: ...
    def cluster_of(self, numbers: IntArray, cut: Cut) -> tuple[IntArray, IntArray]: ...


class Called(NamedTuple):
    """What the clusters of a cut are called, at one version of the tree."""

    version: int
    seen: Seen
    ids: IntArray  #: by label; -1: it is new
    nodes: IntArray  #: ids of their nodes, by label

    def of(self, nodes: IntArray) -> IntArray:
        """Ids of clusters by their nodes; -1: of one that is new."""
        return ids_of_nodes(self.ids, self.nodes, nodes)


def ids_of_nodes(ids: IntArray, known: IntArray, asked: IntArray) -> IntArray:
    """Ids of clusters by their nodes, of which some are known; -1: none.

    Examples
    --------
    >>> ids_of_nodes(np.array([7, 8]), np.array([5, -3]), np.array([-3, 5, 9]))
    array([ 8,  7, -1])
    """
    order = np.argsort(known)
    places = order[np.minimum(np.searchsorted(known, asked, sorter=order), len(known) - 1)]
    return np.where(known[places] == asked, ids[places], -1)


class Calling:
    """What clusters are called, for the cuts that were asked about last."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Cut, Called] = {}

    def forget(self) -> None:
        """Points are gone, and what was known of them goes, too."""
        self._known = {}

    def of(self, tree: Tree, cut: Cut) -> Called | None:
        """What the clusters of a cut are called now; None: no ids were ever given.

        O(n) for each version and cut, then free.
        """
        seen, kept = tree.identity.seen(cut), self._known.get(cut)
        if seen is None:
            return None
        if kept is None or kept.version != tree.version or kept.seen is not seen:
            kept = _found(tree, cut, seen)
            others = [(one, it) for one, it in self._known.items() if one != cut]
            self._known = dict([*others, (cut, kept)][-MOST_CUTS:])
        return kept


def _found(tree: Tree, cut: Cut, seen: Seen) -> Called:
    while True:  # others may insert meanwhile
        version = tree.version
        numbers, labels, weights = tree.numbers(), tree.labels(cut), tree.weights()
        if version != tree.version:
            continue
        firsts = np.empty(int(labels.max()) + 1, np.int64)
        firsts[labels[::-1]] = numbers[::-1]  # the last word has the first point of each
        try:
            _, nodes = tree.cluster_of(firsts, cut)
        except LookupError:  # it has left
            continue
        if version == tree.version:
            return Called(version, seen, tree.identity.known(cut, numbers, labels, weights), nodes)
