# SPDX-License-Identifier: BSD-3-Clause
"""_mirror.py: the shape of a tree as its summaries need it, kept up to date change by change.

    node      an inner node by its id, a leaf as -1 - its number
    size      how many points a node stands for: what ``cut(max_size=)`` compares
    content   a number that tells what a leaf says; a node's is the sum of its leaves', mod 2^256

A sum does not know in which order its terms came, nor how they were nested. So two nodes have one
content exactly if they hold the same leaves (but for chance: 256 bits of BLAKE2b), however the tree
below them was rewired, and an insert alters the contents on its root path only. Whoever can choose
texts freely could, with great effort, find two sets of equal sums: contents are no signatures.

The homes tell what changed (``changes``); an update costs what was changed, times the depth.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Any

import numpy as np

from ramify.estimators import Changes
from ramify.hierarchy import Hierarchy

_MOD = 1 << 256

#: Numbers of the earliest points of leaves, their ids if they have any, and how many points each
#: stands for; what is answered are contents.
ContentOf = Callable[[list[int], Any, list[float]], list[int]]


class Mirror:
    """A tree in dictionaries: who is below whom, how large, and with which content.

    Invariants, which :meth:`check` tests:

    1. ``parent`` and ``children`` say the same, and all nodes but one have a parent.
    2. Size, content and first point of an inner node follow from those of its children.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC(history=9).fit([[0.0], [1.0], [9.0]])
    >>> mirror = Mirror(lambda points, ids, weights: [1 << one for one in points])
    >>> mirror.read(model.hierarchy(), model.version)
    >>> before = mirror.version
    >>> _ = mirror.follow(model.partial_fit([[8.0]]).past.changes(before))
    >>> {mirror.size[node]: mirror.content[node] for node in mirror.children}
    {2: 12, 4: 15}
    """

    def __init__(self, content_of: ContentOf) -> None:
        self._content_of = content_of
        self.clear()

    def clear(self) -> None:
        """No tree."""
        self.version = -1
        self.root: int | None = None
        self.children: dict[int, tuple[int, int]] = {}
        self.parent: dict[int, int] = {}
        self.size: dict[int, float] = {}
        self.content: dict[int, int] = {}
        self.first: dict[int, int] = {}  #: number of the earliest point
        self.names: dict[int, Any] = {}  #: of leaves: the id of their earliest point, if any

    # --- following a tree ---------------------------------------------------------------------

    def read(self, tree: Hierarchy | None, version: int) -> None:
        """Begin anew with a whole tree, or with none. O(n)."""
        self.clear()
        self.version = version
        if tree is None:
            return
        n = len(tree)
        nodes = [*(-1 - tree.leaf_numbers).tolist(), *tree.node_ids.tolist()]
        weights = _plain(tree.weights[:n])
        self._put_leaves(nodes[:n], tree.point_numbers.tolist(), tree.names, weights)
        for node, (a, b) in zip(nodes[n:], tree.children.tolist(), strict=True):
            self._join(node, nodes[a], nodes[b])
            self._sum_up(node)
        self.root = nodes[-1]

    def follow(self, changes: Changes) -> set[int]:
        """Take changes over; the nodes to which anything happened, those that have gone too."""
        if changes.since == changes.version:
            return set()
        retired = changes.retired.tolist()
        families = changes.families.tolist()
        gone = [*retired, *(-1 - changes.removed).tolist()]
        loose = []  # what loses its parent, for another one or for good
        for node in [*retired, *(family[0] for family in families)]:
            for child in self.children.pop(node, ()):
                if self.parent.get(child) == node:
                    del self.parent[child]
                    loose.append(child)
        for node in gone:
            for known in (self.parent, self.size, self.content, self.first, self.names):
                known.pop(node, None)
        leaves = self._read_leaves(changes)
        for node, a, b in families:
            self._join(node, a, b)
        there = [node for node in loose if node in self.size]
        seen = self._above([*leaves, *there, *(family[0] for family in families)])
        if seen or not self.size:
            self.root = next((node for node in seen if node not in self.parent), None)
        self._sum_up_all(seen)
        self.version = changes.version
        below = {child for node in seen for child in self.children.get(node, ())}
        return seen | below | set(gone)

    def _read_leaves(self, changes: Changes) -> list[int]:
        leaves: list[int] = (-1 - changes.leaves).tolist()
        firsts = changes.leaves if changes.leaf_points is None else changes.leaf_points
        weights = changes.leaf_weights
        sizes: list[float] = [1] * len(leaves) if weights is None else _plain(weights)
        self._put_leaves(leaves, firsts.tolist(), changes.leaf_ids, sizes)
        return leaves

    def _put_leaves(
        self, leaves: list[int], firsts: list[int], ids: Any, weights: list[float]
    ) -> None:
        names = None if ids is None else list(ids)
        contents = self._content_of(firsts, names, weights)
        self.first.update(zip(leaves, firsts, strict=True))
        self.size.update(zip(leaves, weights, strict=True))
        self.content.update(zip(leaves, contents, strict=True))
        if names is not None:
            self.names.update(zip(leaves, names, strict=True))

    def _join(self, node: int, a: int, b: int) -> None:
        self.children[node] = a, b
        self.parent[a] = self.parent[b] = node

    def _above(self, nodes: Iterable[int]) -> set[int]:
        """These nodes and all above them."""
        seen: set[int] = set()
        for node in nodes:
            above: int | None = node
            while above is not None and above not in seen:
                seen.add(above)
                above = self.parent.get(above)
        return seen

    def _sum_up_all(self, seen: set[int]) -> None:
        order = [] if self.root is None or self.root not in seen else [self.root]
        for node in order:
            order += [child for child in self.children.get(node, ()) if child in seen]
        for node in reversed(order):
            if node in self.children:
                self._sum_up(node)

    def _sum_up(self, node: int) -> None:
        a, b = self.children[node]
        self.size[node] = self.size[a] + self.size[b]
        self.content[node] = (self.content[a] + self.content[b]) % _MOD
        self.first[node] = min(self.first[a], self.first[b])

    # --- what it can be asked -----------------------------------------------------------------

    def level_of(self, node: int, levels: Sequence[float]) -> int | None:
        """Which is the first level that has a summary on this node; None if none has.

        A level has the largest inner nodes that are no larger than it.
        """
        if node not in self.children:
            return None
        at = bisect_left(levels, self.size[node])
        above = self.parent.get(node)
        around = inf if above is None else self.size[above]
        return at if at < len(levels) and levels[at] < around else None

    def parts(self, node: int, levels: Sequence[float]) -> list[int]:
        """What a summary is made of: the largest nodes of the level below, and single leaves."""
        at = bisect_left(levels, self.size[node])
        most = levels[at - 1] if at > 0 else 0
        found, waiting = [], list(self.children[node])
        while waiting:
            one = waiting.pop()
            if one in self.children and self.size[one] > most:
                waiting += self.children[one]
            else:
                found.append(one)
        return sorted(found, key=self.first.__getitem__)

    def leaves(self, node: int) -> list[int]:
        """The leaves below a node."""
        found, waiting = [], [node]
        while waiting:
            one = waiting.pop()
            below = self.children.get(one)
            if below is None:
                found.append(one)
            else:
                waiting += below
        return found

    def above(self, node: int) -> list[int]:
        """The nodes above a node, the root first."""
        found = []
        at = self.parent.get(node)
        while at is not None:
            found.append(at)
            at = self.parent.get(at)
        return found[::-1]

    def name(self, leaf: int) -> Any:
        """What a leaf's point is called: its id, or its number if points have none."""
        return self.names.get(leaf, self.first[leaf])

    def check(self) -> None:
        """Raise AssertionError where an invariant is broken. O(n)."""
        everyone = self.size.keys()
        assert self.content.keys() == self.first.keys() == everyone
        links = {child: node for node, pair in self.children.items() for child in pair}
        assert links == self.parent
        assert everyone - links.keys() == (set() if self.root is None else {self.root})
        for node, (a, b) in self.children.items():
            assert self.size[node] == self.size[a] + self.size[b]
            assert self.content[node] == (self.content[a] + self.content[b]) % _MOD
            assert self.first[node] == min(self.first[a], self.first[b])


def _plain(weights: Any) -> list[float]:
    """Weights as whole numbers where they are."""
    found = np.asarray(weights)
    whole = found.astype(np.int64)
    plain: list[float] = (whole if np.array_equal(whole, found) else found).tolist()
    return plain
