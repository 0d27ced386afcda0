# SPDX-License-Identifier: BSD-3-Clause
"""_state.py: which nodes of a tree have summaries, which summary each has, and which have none.

wanted    nodes that a level has a summary on: the largest that are no larger than the level
held      the content of the summary that a wanted node has; its own content, unless lazy
stale     wanted nodes that hold none
before    of stale nodes: what they held until now
orphans   what nodes held that are wanted no more; in a lazy tree others may take it over
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from ramify.checks import is_whole
from ramify.errors import HistoryError
from ramify.estimators import Changes
from ramify.estimators.seam import OfEdgesError
from ramify.summaries._calls import Budget, Job, Part, SummaryNode
from ramify.summaries._contents import Contents
from ramify.summaries._lazy import Donors, change
from ramify.summaries._mirror import Mirror
from ramify.summaries._store import Made, Members, Store, members_of


class State:
    """The books of a :class:`SummaryTree`; it calls nobody but the tree.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC(history=9).fit([[0.0], [1.0], [8.0], [9.0]])
    >>> state = State(model, (2, 9), Contents(None, model), Store(None), 0.0)
    >>> state.follow()
    >>> sorted(state.stale), state.look_up()
    ([0, 1, 2], (0, 0))
    """

    def __init__(
        self, tree: Any, levels: tuple[float, ...], contents: Contents, store: Store, lazy: float
    ) -> None:
        self.tree, self.levels, self.contents = tree, levels, contents
        self.store, self.lazy = store, lazy
        self.mirror = Mirror(contents.numbers)
        self.wanted: set[int] = set()
        self.held: dict[int, int] = {}
        self.stale: set[int] = set()
        self.edition = 0  #: grows with every change of the books
        self.before: dict[int, int] = {}
        self.orphans = set(store.held().values()) if lazy else set()
        self._seen = store.edition

    # --- following the tree -------------------------------------------------------------------

    def follow(self) -> None:
        """See what has become of the tree, and which nodes are stale now."""
        mirror = self.mirror
        told = self._changes()
        try:
            if told is not None:
                touched: Iterable[int] = mirror.follow(told)
            else:
                _read_whole(mirror, self.tree)
                touched = self.wanted | mirror.size.keys()
        except BaseException:
            mirror.clear()  # half of it is of then; the next look begins anew
            raise
        for node in touched:
            self._look_at(node)

    def _changes(self) -> Changes | None:
        """What has changed; None if that is not known."""
        if self.mirror.version < 0:
            return None
        try:
            told = self.tree.past.changes(since=self.mirror.version)
        except (HistoryError, OfEdgesError, NotFittedError):  # the last of a folder without points
            return None
        except OSError as error:
            # Of a server: it is not remembered, or no versions are, as of trees of edges.
            if getattr(error, "status", None) not in (410, 422):
                raise
            return None
        return told if isinstance(told, Changes) else None  # shards tell of points only

    def _look_at(self, node: int) -> None:
        self.edition += 1
        wanted = self.mirror.level_of(node, self.levels) is not None
        held = self.held.get(node)
        if wanted and held is not None and held == self.mirror.content[node]:
            return
        self.held.pop(node, None)
        if wanted:
            self.wanted.add(node)
            self.stale.add(node)
            if held is not None:
                self.before[node] = held
        else:
            self.wanted.discard(node)
            self.stale.discard(node)
            dropped = self.before.pop(node, held)
            if dropped is not None and self.lazy:
                self.orphans.add(dropped)

    def look_again(self) -> None:
        """Another program may have written into the store, or erased."""
        if (seen := self.store.edition) != self._seen:
            self._drop(self.store.missing(self.held.values()))
            self.orphans = set(self.store.held().values()) if self.lazy else set()
            self._seen = seen

    # --- what need not be made ----------------------------------------------------------------

    def look_up(self) -> tuple[int, int]:
        """Take what was paid for, or is good enough; how many of each."""
        useful = self.lazy and self.stale
        old = self.orphans | set(self.before.values()) if useful else set()
        donors = Donors(old, self.store.members) if old else None
        found = kept = 0
        for node in self.in_order():
            content = self.mirror.content[node]
            if self.store.has(content):
                found += 1
            elif donors is not None and (near := self._near(node, donors)) is not None:
                kept, content = kept + 1, near
            else:
                continue
            self.settle(node, content)
        return found, kept

    def _near(self, node: int, donors: Donors) -> int | None:
        """The old summary that is good enough for a node: its own before all."""
        now = self.members(node)
        own = self.before.get(node)
        if own is not None and change(self.store.members(own), now) <= self.lazy:
            return own
        return donors.nearest(now, self.lazy)

    def settle(self, node: int, content: int) -> None:
        """A node has a summary from now on."""
        self.edition += 1
        self.held[node] = content
        self.stale.discard(node)
        self.before.pop(node, None)

    # --- what must be made --------------------------------------------------------------------

    def in_order(self) -> list[int]:
        """Stale nodes, parts before what is made of them."""
        mirror = self.mirror
        return sorted(self.stale, key=lambda one: (mirror.size[one], mirror.first[one]))

    def waves(self) -> list[list[int]]:
        """Stale nodes in groups, the parts of each in earlier ones."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        for node in self.in_order():
            found[bisect_left(self.levels, self.mirror.size[node])].append(node)
        return [found[at] for at in sorted(found)]

    def jobs(self, wave: list[int], budget: Budget) -> tuple[list[Job], dict[int, list[int]]]:
        """Calls for these nodes, and which nodes each is for: one content is asked for once."""
        jobs: list[Job] = []
        nodes: dict[int, list[int]] = {}
        for node in wave:
            content = self.mirror.content[node]
            if content in nodes:
                nodes[content].append(node)
            elif (parts := self.parts(node)) is not None and budget.take():
                nodes[content] = [node]
                jobs.append(Job(content, parts, self._about(node), self._covered(parts)))
        return jobs, nodes

    def _about(self, node: int) -> SummaryNode:
        size, old = self.mirror.size[node], self.before.get(node)
        before = None if old is None else self.store.body(old)
        return SummaryNode(node, self.level_of(node), size, before)

    def level_of(self, node: int) -> float:
        """The smallest level that has a summary on a node."""
        return self.levels[bisect_left(self.levels, self.mirror.size[node])]

    def parts(self, node: int) -> list[Part] | None:
        """What a summary is made of; None if some of that is pending itself."""
        mirror = self.mirror
        below = mirror.parts(node, self.levels)
        if any(one in mirror.children and one not in self.held for one in below):
            return None
        return self.known_parts(node)

    def known_parts(self, node: int) -> list[Part]:
        """The same, without texts of what is pending."""
        mirror = self.mirror
        below = mirror.parts(node, self.levels)
        texts = self.texts(one for one in below if one not in mirror.children)
        return [
            Part(texts[one], mirror.size[one], mirror.name(one), one)
            if one in texts
            else Part(self.text_of(one), mirror.size[one], None, one)
            for one in below
        ]

    def text_of(self, node: int) -> Any:
        """The summary that a node has; None while there is none."""
        held = self.held.get(node)
        return None if held is None else self.store.body(held)

    def keep(self, made: list[tuple[Job, Any]], nodes: dict[int, list[int]]) -> None:
        """Write down what was answered, and for whom."""
        self.store.put(Made(job.content, answer, job.members) for job, answer in made)
        for job, _ in made:
            for node in nodes[job.content]:
                self.settle(node, job.content)

    def members(self, node: int) -> Members:
        """Who is in a node, as the store has it."""
        content = self.mirror.content
        return members_of(content[one] for one in self.mirror.leaves(node))

    def texts(self, leaves: Iterable[int]) -> dict[int, Any]:
        """The texts of leaves."""
        known, mirror = list(leaves), self.mirror
        names = [mirror.name(one) for one in known]
        told = self.contents.texts([mirror.first[one] for one in known], names)
        return dict(zip(known, told, strict=True))

    def _covered(self, parts: list[Part]) -> Members:
        """Who is spoken of in parts. In a lazy tree these are not quite the members."""
        content = self.mirror.content
        inner = [one.node_id for one in parts if one.node_id in self.mirror.children]
        leaves = [one.node_id for one in parts if one.node_id not in self.mirror.children]
        spoken_of = [self.store.members(self.held[one]) for one in inner]
        return np.sort(np.concatenate([members_of(map(content.__getitem__, leaves)), *spoken_of]))

    def end(self) -> None:
        """An update is over."""
        self.orphans.clear()
        self.store.tell(self.levels, self.lazy)
        if self.lazy:
            known = self.store.held()
            new = {node: one for node, one in self.held.items() if known.get(node) != one}
            self.store.hold(new, known.keys() - self.held.keys())

    # --- taking out ---------------------------------------------------------------------------

    def take_out(self, leaves: list[int]) -> None:
        """Points out of the tree, and what was made of them out of the books and the store."""
        mirror = self.mirror
        gone = {mirror.content[one] for one in leaves}
        self.tree.forget([mirror.name(one) for one in leaves])
        self.follow()
        still = {mirror.content[one] for one in self.leaves()}
        self._drop(set(self.store.erase(gone - still)))  # others may have said the same

    def compact(self) -> int:
        """Erase from the store what was made of leaves that are no more; how many texts."""
        self.follow()
        erased = set(self.store.erase_others(self.mirror.content[one] for one in self.leaves()))
        self._drop(erased)
        return len(erased)

    def _drop(self, erased: set[int]) -> None:
        """These are in the store no more."""
        self.orphans -= erased
        self.before = {node: one for node, one in self.before.items() if one not in erased}
        for node in [node for node, one in self.held.items() if one in erased]:
            del self.held[node]
            self.stale.add(node)
            self.edition += 1

    def leaves(self) -> list[int]:
        """All leaves."""
        return [one for one in self.mirror.size if one not in self.mirror.children]

    # --- looking ------------------------------------------------------------------------------

    def of_level(self, level: float) -> list[int]:
        """The nodes that have summaries at a level, in order of their first points."""
        mirror, found = self.mirror, []
        for node in self.wanted:
            above = mirror.parent.get(node)
            reaches = above is None or mirror.size[above] > level
            if mirror.size[node] <= level and reaches:
                found.append(node)
        return sorted(found, key=mirror.first.__getitem__)

    def path(self, node: int) -> list[int]:
        """The nodes above that have summaries, the largest first."""
        return [one for one in self.mirror.above(node) if one in self.wanted]


def _read_whole(mirror: Mirror, tree: Any) -> None:
    """Read a whole tree, and of which version that is, while others may be writing."""
    for _ in range(1000):
        version = tree.version
        found = tree.hierarchy() if version and len(tree) else None
        if tree.version == version:
            mirror.read(found, version)
            return
    raise RuntimeError("the tree changes faster than it can be read; pause its writer once")


def read_levels(levels: Sequence[float]) -> tuple[float, ...]:
    """Sizes, as a user gives them."""
    found = tuple(levels) if not isinstance(levels, (str, int, float)) else ()
    plain = all(is_whole(one) or (isinstance(one, float) and isfinite(one)) for one in found)
    if not found or not plain or found[0] < 2 or sorted(set(found)) != list(found):
        raise ValueError(f"levels={levels!r}: expected sizes from 2, ascending, as (10, 100, 1000)")
    return found
