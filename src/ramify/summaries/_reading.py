# SPDX-License-Identifier: BSD-3-Clause
"""_reading.py: summaries that another program makes, as whoever serves them reads them.

The store says of which levels the summaries are and how lazy the tree is that fills it. All else
follows from the tree: a content that the store has is a summary that is there, any other is stale.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ramify.summaries._calls import Part
from ramify.summaries._store import Store
from ramify.summaries._summary_tree import Summary, SummaryTree


class Level(NamedTuple):
    """A level, and how many summaries it has.

    Examples
    --------
    >>> Level(10, 1912, 3).stale
    3
    """

    level: float
    summaries: int  #: that there are to be, stale ones among them
    stale: int


class SummaryReader(SummaryTree):
    """The summaries of a store, looked at: nothing is made, and nothing written down.

    Examples
    --------
    >>> import tempfile, ramify
    >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
    >>> path = tempfile.mkdtemp() + "/kept"
    >>> with SummaryTree(model, summarize=lambda parts, node: "all", levels=(9,), store=path) as s:
    ...     _ = s.update()
    >>> reader = SummaryReader(model, path)
    >>> reader.look()
    [Level(level=9, summaries=1, stale=0)]
    >>> [reader.summary(node).text for node in reader.nodes()]
    ['all']
    >>> reader.close()
    """

    def __init__(self, tree: Any, store: str | Path) -> None:
        with Store(store, read_only=True) as there:
            levels, lazy = there.about()
        super().__init__(tree, summarize=_never, levels=levels, lazy=lazy, store=store)

    def _open(self, store: str | Path | None) -> Store:
        return Store(store, read_only=True)

    @property
    def version(self) -> int:
        """Of the tree that was looked at last."""
        return self._state.mirror.version

    def look(self) -> list[Level]:
        """See what has become of the tree and of the store; how many of each level there are."""
        with self._lock:
            self._state.look_again()
            self._state.follow()
            self._state.look_up()
            found = [(level, self._state.of_level(level)) for level in self.levels]
            stale = self._state.stale
            return [Level(one, len(some), len(stale.intersection(some))) for one, some in found]

    def nodes(self, level: float | None = None, *, stale: bool = False) -> list[int]:
        """The nodes that have summaries, of one level or of all, each once; or stale ones alone."""
        levels = self.levels if level is None else (self._known_level(level),)
        with self._lock:
            found = dict.fromkeys(node for one in levels for node in self._state.of_level(one))
            return [node for node in found if not stale or node in self._state.stale]

    def summary(self, node: int, level: float | None = None) -> Summary | None:
        """That of a node, which may be of several levels; None if it has none, or is no more."""
        with self._lock:
            if node not in self._state.wanted:
                return None
            return self._summary(node, self._state.level_of(node) if level is None else level)

    def parts(self, node: int) -> list[Part]:
        """What the summary of a node is made of; texts are None of what is stale itself."""
        with self._lock:
            return self._state.known_parts(node) if node in self._state.wanted else []

    def path(self, node: int) -> list[int]:
        """The nodes above that have summaries, the largest first."""
        with self._lock:
            return self._state.path(node)


def compact_beside(tree: Any, store: str | Path) -> int:
    """Erase from a store what was made of points that are not in the tree any more.

    Examples
    --------
    >>> import tempfile, ramify
    >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
    >>> path = tempfile.mkdtemp() + "/kept"
    >>> with SummaryTree(model, summarize=lambda parts, node: "all", store=path) as summaries:
    ...     _ = summaries.update()
    >>> model.forget(1), compact_beside(model, path)
    (1, 1)
    """
    with SummaryTree(tree, summarize=_never, store=store) as summaries:
        return summaries.compact()


def _never(parts: Any, node: Any) -> str:
    raise AssertionError("a reader asks for nothing")
