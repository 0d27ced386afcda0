# SPDX-License-Identifier: BSD-3-Clause
"""_anchors.py: names that people gave to clusters, found again by their points.

A name is written down with the points of the node that it was given to. Of those, only the
points that are there still count, and of the tree of now only the points that were there
then. A node *holds* a name if it has more than half of the name's points, and if these are
more than half of its own. So nodes that hold a name lie on one path up to the root, and a cut
has one of them at most.

Of the nodes that hold a name, its *home* is the one that shares most with it, by Jaccard's
index; of equals, the node with the id that the name was given to, else the lowest. A cluster
shows a name if it is the home, or holds the name and is above the home; below it, a part of
what was named, only if it shares at least three quarters as much as the home does. Of
several names it shows the one with which it shares most, of equals the oldest. A name
without a home is lost; it is kept, and may be found again.

Points leave. Before more than half of a name's points have left, it is written down anew with
the points of its home (``renewed``). When that is depends on points alone, and not on
batches, so that a journal that is replayed comes to the same.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ramify.hierarchy import Hierarchy, IntArray, Points

#: A tree and the points in its leaves, of one moment.
Moment: TypeAlias = tuple[Hierarchy, Points]

#: A cluster below a name's home shows the name if it shares so much of what the home shares.
_NEAR = 0.75

#: So many names that are lost are kept.
_MOST_LOST = 1000

_NONE: IntArray = np.empty(0, np.int64)


class Anchor(NamedTuple):
    """A name, and what it was given to."""

    node: int  #: id of the node
    text: str
    before: int  #: number of the point that came next
    points: IntArray  #: below the node: arrival numbers, ascending


class Found(NamedTuple):
    """Where the names are in a tree, by node ids."""

    homes: dict[int, str]  #: the name whose home a node is
    shown: dict[int, str]  #: the name that a cluster shows
    lost: dict[int, str]  #: the names that have no home, by the ids of their nodes of then
    at: list[int | None]  #: of each name, the id of its home


class Anchors(Sequence[Anchor]):
    """All names, in the order in which they were given.

    Who reads may do so while others write: what is there is replaced and not changed.
    """

    __slots__ = ("_anchors", "_found", "_gone")

    def __init__(self, anchors: Iterable[Anchor] = ()) -> None:
        self._anchors = tuple(anchors)
        self._gone: list[int] | None = None  # of each name, how many points have left
        self._found: tuple[int, Found] | None = None

    def __len__(self) -> int:
        return len(self._anchors)

    def __getitem__(self, at: Any) -> Any:
        return self._anchors[at]

    def found(self, version: int, look: Callable[[], Moment]) -> Found:
        """Where the names are. O(n) for each version that is asked about, then free."""
        if not self._anchors:
            return Found({}, {}, {}, [])
        kept = self._found
        if kept is None or kept[0] != version:
            self._found = kept = version, found_in(*look(), self._anchors)
        return kept[1]

    def plain(self) -> list[tuple[Any, ...]]:
        """As pickles have it."""
        return [tuple(one) for one in self._anchors]

    @staticmethod
    def from_plain(given: Any, look: Callable[[], Moment] | None) -> "Anchors":
        """The inverse of :meth:`plain`; or of old pickles, which had the texts by node ids."""
        if not isinstance(given, dict):
            return Anchors(Anchor(*one) for one in given)
        return Anchors(old_anchors(given, *look()) if look and given else ())

    # --- what people say --------------------------------------------------------------

    def given(
        self, node: int, text: str, tree: Hierarchy, points: Points, before: int
    ) -> "Anchors":
        """With one more, in the place of the name whose home the node is, if there is one."""
        at = found_in(tree, points, self._anchors).at
        pairs = zip(self._anchors, at, strict=True)
        others = [one for one, home in pairs if node != (one.node if home is None else home)]
        new = Anchor(node, text, before, members(tree, points, node))
        return Anchors(_without_old_losses([*others, new], tree, points))

    def taken(self, node: int, found: Found) -> "Anchors":
        """Without the name at a node: there now, or given to it when it still was there."""
        at = zip(self._anchors, found.at, strict=True)
        left = [one for one, home in at if node != (one.node if home is None else home)]
        if len(left) == len(self._anchors) and node in found.shown:
            text = found.shown[node]
            last = max(i for i, one in enumerate(left) if one.text == text)
            del left[last]
        return Anchors(left)

    # --- points that leave ------------------------------------------------------------

    def rows_until_renewal(
        self, leaving: Any, before: Any, numbers: Callable[[], IntArray]
    ) -> int | None:
        """How many rows of a batch may come before names have to be written down anew.

        ``leaving`` are the points that leave, and ``before`` the rows before which they do.
        None: as many as will.
        """
        if not self._anchors or len(leaving) == 0:
            return None
        first: int | None = None
        for one, gone in zip(self._anchors, self._counted(numbers), strict=True):
            if 2 * (gone + len(leaving)) <= len(one.points):
                continue  # not even if all of them were its own
            of_it = np.flatnonzero(_among(leaving, one.points))
            over = np.flatnonzero(2 * (gone + 1 + np.arange(len(of_it))) > len(one.points))
            if len(over):
                row = int(before[of_it[over[0]]])
                first = row if first is None else min(first, row)
        return first

    @contextmanager
    def leave(self, leaving: Any, numbers: Callable[[], IntArray]) -> Iterator[None]:
        """Points leave meanwhile. On an exception it is counted again who has."""
        gone = None
        if self._anchors and len(leaving):
            counted = zip(self._counted(numbers), self._anchors, strict=True)
            gone = [count + int(_among(leaving, one.points).sum()) for count, one in counted]
            self._gone = None
        yield
        if gone is not None:
            self._gone = gone

    def renewed(
        self,
        leaving: Any,
        tree: Hierarchy,
        points: Points,
        before: int,
        numbers: Callable[[], IntArray],
    ) -> "Anchors":
        """With the points of their homes, those names of whose points half are about to leave."""
        at = found_in(tree, points, self._anchors).at
        new = []
        for one, gone, home in zip(self._anchors, self._counted(numbers), at, strict=True):
            going = int(_among(leaving, one.points).sum())
            if going and 2 * (gone + going) > len(one.points):
                if home is not None:
                    one = Anchor(home, one.text, before, members(tree, points, home))
                else:
                    one = one._replace(points=one.points[_among(one.points, points.numbers)])
            new.append(one)
        return Anchors(new)

    def _counted(self, numbers: Callable[[], IntArray]) -> list[int]:
        if self._gone is None:
            there = np.sort(numbers())
            self._gone = [int((~_among(one.points, there)).sum()) for one in self._anchors]
        return self._gone


def found_in(tree: Hierarchy, points: Points, anchors: Sequence[Anchor]) -> Found:
    """Where names are, by the rule in the file's head. O(n), and a path for each name."""
    if not anchors:
        return Found({}, {}, {}, [])
    line = _Line(tree, points)
    homes: dict[int, tuple[float, int]] = {}  # the share, and which name
    shown: dict[int, tuple[float, int]] = {}
    at: list[int | None] = []
    for i, one in enumerate(anchors):
        nodes, shares = line.holding(one)
        if len(nodes) == 0:
            at.append(None)
            continue
        ids = line.ids(nodes)
        best = ids[shares == shares.max()].tolist()
        home = one.node if one.node in best else best[0]
        at.append(home)
        _best(homes, home, shares.max().item(), i)
        above = np.arange(len(ids)) > ids.tolist().index(home)
        near = above | (shares >= _NEAR * shares.max())
        for id, share in zip(ids[near].tolist(), shares[near].tolist(), strict=True):
            _best(shown, id, share, i)
    at_home = {i for _, i in homes.values()}
    lost = {one.node: one.text for i, one in enumerate(anchors) if i not in at_home}
    texts = [{id: anchors[i].text for id, (_, i) in some.items()} for some in (homes, shown)]
    return Found(
        texts[0], texts[1], lost, [one if i in at_home else None for i, one in enumerate(at)]
    )


def members(tree: Hierarchy, points: Points, node: int) -> IntArray:
    """Arrival numbers of the points below a node, ascending. O(n)."""
    leaves = np.zeros(tree.n_leaves, bool)
    leaves[tree.leaves(tree.node_of(node))] = True
    numbers = points.numbers[leaves[points.places]]
    return np.sort(numbers)


def old_anchors(texts: dict[int, str], tree: Hierarchy, points: Points) -> list[Anchor]:
    """Names of a file that has no points of them: those of the nodes that are there."""
    there = {*tree.node_ids.tolist(), *(-1 - tree.leaf_numbers).tolist()}
    end = int(points.numbers.max()) + 1
    return [
        Anchor(id, text, end, members(tree, points, id) if id in there else _NONE)
        for id, text in sorted(texts.items())
    ]


class _Line:
    """The leaves of a tree in a line, of which each node has a stretch, and their points."""

    def __init__(self, tree: Hierarchy, points: Points) -> None:
        self.tree = tree
        order, self.start = tree._leaf_ordering()
        place = np.empty(len(order), np.int64)  # in the line, of each leaf
        place[order] = np.arange(len(order))
        by_number = np.argsort(points.numbers, kind="stable")
        self.numbers = points.numbers[by_number]
        self.places = place[points.places][by_number]
        self.order = order
        self._before: tuple[int, IntArray] | None = None

    def holding(self, one: Anchor) -> tuple[IntArray, Any]:
        """The nodes that hold a name, the lowest first, and Jaccard's index of each."""
        mine = np.sort(self.places[_places_of(one.points, self.numbers)])
        if len(mine) == 0:
            return _NONE, np.empty(0)
        # A stretch with more than half of them has the one in the middle.
        node, path = int(self.order[mine[len(mine) // 2]]), []
        while node >= 0:
            path.append(node)
            node = self.tree.parents.item(node)
        nodes = np.array(path)
        begin, end = self.start[nodes], self.start[nodes] + self.tree.sizes[nodes]
        shared = np.searchsorted(mine, end) - np.searchsorted(mine, begin)
        counts = self._there(one.before)
        old = counts[end] - counts[begin]
        holds = (2 * shared > len(mine)) & (2 * shared > old)
        shares = shared / (len(mine) + old - shared)
        return nodes[holds], shares[holds]

    def _there(self, before: int) -> IntArray:
        """How many points that were there then are in front of each place in the line."""
        if self._before is None or self._before[0] != before:
            old = self.places[: np.searchsorted(self.numbers, before)]
            counts = np.bincount(old, minlength=len(self.order))
            self._before = before, np.concatenate([[0], np.cumsum(counts)])
        return self._before[1]

    def ids(self, nodes: IntArray) -> IntArray:
        """Ids of nodes, given their numbers."""
        n = self.tree.n_leaves
        inner = nodes >= n
        ids = np.empty(len(nodes), np.int64)
        ids[inner] = self.tree.node_ids[nodes[inner] - n]
        ids[~inner] = -1 - self.tree.leaf_numbers[nodes[~inner]]
        return ids


def _best(known: dict[int, tuple[float, int]], id: int, share: float, which: int) -> None:
    if id not in known or share > known[id][0]:
        known[id] = share, which


def _places_of(some: IntArray, numbers: IntArray) -> IntArray:
    """Where those of some numbers that are among others, ascending ones, are there."""
    places = np.searchsorted(numbers, some)
    there = places < len(numbers)
    there[there] = numbers[places[there]] == some[there]
    return places[there]


def _among(some: Any, numbers: IntArray) -> Any:
    """Which of some numbers are among others, which ascend."""
    given = np.asarray(some, dtype=np.int64)
    if len(numbers) == 0:
        return np.zeros(len(given), bool)
    places = np.minimum(np.searchsorted(numbers, given), len(numbers) - 1)
    return numbers[places] == given


def _without_old_losses(anchors: list[Anchor], tree: Hierarchy, points: Points) -> list[Anchor]:
    """Of names that are lost, the youngest only."""
    if len(anchors) <= _MOST_LOST:
        return anchors
    at = found_in(tree, points, anchors).at
    lost = [i for i, home in enumerate(at) if home is None]
    old = set(lost[: max(0, len(lost) - _MOST_LOST)])
    return [one for i, one in enumerate(anchors) if i not in old]
