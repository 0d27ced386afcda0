# SPDX-License-Identifier: BSD-3-Clause
"""_books.py: which topics there are, who is in each, and what each is called.

    level   a number of clusters; its topics are the clusters of that cut, by stable ids
    parent  the topic of the next coarser level that shares most points with a topic
    stale   a topic that has no name, or of which more than a share came or went since it got one

No two topics of a level have one name, be they siblings or not: so a topic that goes over to
another parent need not be named anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ramify.hierarchy import IntArray
from ramify.naming._store import Named, NameStore
from ramify.naming._words import Groups, Words


class Topic(NamedTuple):
    """A topic, as the function that names it sees it.

    Examples
    --------
    >>> Topic(7, 30, 12, ["card", "blocked"], ["my card is blocked"]).words
    ['card', 'blocked']
    """

    id: int  #: stable id, which stays while the tree goes on
    level: int  #: the number of clusters of its level
    size: int  #: points
    words: Sequence[str] = ()  #: that tell it from the others, the most telling first
    examples: Sequence[Any] = ()  #: texts of some of its points
    parent: str | None = None  #: name of the topic of the coarser level that it is in
    siblings: Sequence[str] = ()  #: names of the others in that one
    children: Sequence[str] = ()  #: names of topics of the finer level in it
    before: str | None = None  #: what it was called until now
    taken: Sequence[str] = ()  #: names that it cannot have, if an answer was one of them


class Level(NamedTuple):
    """The topics of a level."""

    k: int
    ids: IntArray  #: of the topics, ascending
    groups: Groups  #: their points; labels are places in ``ids``
    members: list[IntArray]  #: numbers of the points of each
    parents: IntArray  #: of each the parent's place in the coarser level; -1: there is none


def change(was: IntArray, now: IntArray) -> float:
    """How many points came or went, as a share of those that were there.

    Examples
    --------
    >>> change(np.array([1, 2, 3, 4]), np.array([2, 3, 4, 5]))
    0.5
    """
    return len(np.setxor1d(was, now, assume_unique=True)) / max(len(was), 1)


def key(name: str) -> str:
    """Names that differ by less are one."""
    return " ".join(name.split()).casefold()


class Books:
    """What is known of topics and names; it calls nobody but the tree.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
    >>> words = Words(model, texts=["no sound", "sound is off", "a refund"])
    >>> books = Books(words, (2,), NameStore(None), 0.2, 0.0)
    >>> books.follow()
    >>> stale = [books.told(books.levels[0], at, 1, 1) for at in books.stale(books.levels[0])]
    >>> [(topic.id, topic.size, topic.words, topic.examples) for topic in stale]
    [(0, 2, ['sound'], ['no sound']), (1, 1, ['refund'], ['a refund'])]
    """

    def __init__(
        self, words: Words, levels: tuple[int, ...], store: NameStore, share: float, sticky: float
    ) -> None:
        self.words, self.wanted, self.store = words, levels, store
        self.share, self.sticky = share, sticky
        self.named = {one.topic: one for one in store.all()}
        self.levels: list[Level] = []

    def follow(self) -> None:
        """See which topics there are now, the coarsest level first."""
        tree = self.words.tree
        for _ in range(1000):
            version, found = tree.version, []
            for k in self.wanted:
                ids = _ids(tree, k, self.sticky)
                found.append((k, tree.point_numbers_, np.asarray(ids)))
            if tree.version == version:
                break
        else:
            raise RuntimeError("the tree changes faster than it can be read; pause its writer once")
        self.levels = []
        for k, numbers, ids in found:
            above = self.levels[-1] if self.levels else None
            self.levels.append(_level(k, Groups(version, numbers, ids), above))
        there = {one for level in self.levels for one in level.ids.tolist()}
        gone = self.named.keys() - there
        self.store.drop(gone)
        for topic in gone:
            del self.named[topic]

    # --- names --------------------------------------------------------------------------------

    def name(self, topic: int) -> str | None:
        """What a topic is called; None: nothing yet."""
        found = self.named.get(topic)
        return None if found is None else found.name

    def stale(self, level: Level) -> list[int]:
        """Places of topics that need a name."""
        found = []
        for at, topic in enumerate(level.ids.tolist()):
            known = self.named.get(topic)
            if known is None or change(known.members, level.members[at]) > self.share:
                found.append(at)
        return found

    def taken(self, level: Level, at: int) -> dict[str, str]:
        """Names of the other topics of a level, by their keys."""
        others = np.delete(level.ids, at).tolist()
        return {key(name): name for one in others if (name := self.name(one)) is not None}

    def give(self, level: Level, given: list[tuple[int, str]]) -> None:
        """Write names down."""
        named = [Named(int(level.ids[at]), level.k, name, level.members[at]) for at, name in given]
        self.store.put(named)
        self.named.update({one.topic: one for one in named})

    def apart(self, level: Level, at: int, name: str, words: Sequence[str]) -> str:
        """A name that no other topic of the level has, made of this one."""
        taken = self.taken(level, at)
        for word in words:
            if word.casefold() not in key(name) and key(f"{name} ({word})") not in taken:
                return f"{name} ({word})"
        count = 2
        while key(f"{name} {count}") in taken:
            count += 1
        return f"{name} {count}"

    # --- what is told of a topic --------------------------------------------------------------

    def told(self, level: Level, at: int, words: int, examples: int) -> Topic:
        """A topic with all that the function sees."""
        topic, members = int(level.ids[at]), level.members[at]
        said = self.keywords(level, words)[at]
        shown = self.words.examples(members, said, examples) if examples else []
        above, below = self._beside(level, -1), self._beside(level, 1)
        parent = int(level.parents[at])
        siblings = np.flatnonzero(level.parents == parent)
        inside = [] if below is None else below.ids[below.parents == at].tolist()
        return Topic(
            topic,
            level.k,
            len(members),
            said,
            shown,
            None if above is None else self.name(int(above.ids[parent])),
            self._names(level.ids[siblings[siblings != at]].tolist()),
            self._names(inside),
            self.name(topic),
        )

    def keywords(self, level: Level, k: int) -> list[list[str]]:
        """Words of all topics of a level, by place."""
        return self.words.of(("topics", level.k), level.groups, k)

    def _beside(self, level: Level, step: int) -> Level | None:
        at = self.wanted.index(level.k) + step
        return self.levels[at] if 0 <= at < len(self.levels) else None

    def _names(self, topics: list[int]) -> list[str]:
        return [name for one in topics if (name := self.name(one)) is not None]


def _ids(tree: Any, k: int, stickiness: float) -> Any:
    """Stable ids of the clusters of all points; fewer clusters where there are fewer points."""
    sticky = {"stickiness": stickiness} if stickiness else {}
    return tree.stable_labels(n_clusters=min(k, len(tree)), **sticky)


def _level(k: int, found: Groups, above: Level | None) -> Level:
    ids, labels = np.unique(found.labels, return_inverse=True)
    order = np.argsort(labels, kind="stable")
    members = np.split(found.numbers[order], np.cumsum(np.bincount(labels))[:-1])
    parents = np.full(len(ids), -1)
    if above is not None:
        shared = np.zeros((len(ids), len(above.ids)), np.int64)
        np.add.at(shared, (labels, above.groups.labels), 1)
        parents = shared.argmax(axis=1)
    return Level(k, ids, found._replace(labels=labels), members, parents)
