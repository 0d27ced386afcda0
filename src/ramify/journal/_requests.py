# SPDX-License-Identifier: BSD-3-Clause
"""_requests.py: what waits for the writer, how a journal is kept, and what is counted."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ramify.histogram import Histogram
from ramify.journal._records import Operation
from ramify.tree import Receipt


@dataclass(frozen=True)
class Policy:
    """How a journal is kept."""

    snapshot_every: int = 10_000  #: operations
    snapshot_bytes: int = 256 << 20  #: of operations, or as much as the last snapshot
    hash_every: int = 1024  #: operations
    keep_snapshots: int = 2
    history_bytes: int = 64 << 20  #: that the steps between versions may take
    keep_requests: int = 100_000  #: answers that are remembered by the request's key
    keep_left: int = 1_000_000  #: latest points whose ids are remembered after they left
    queue_rows: int = 200_000  #: that wait to be written
    payload_bytes: int = 65_536  #: of each
    erase_within: float | None = 86_400.0  #: seconds until what has left is erased from the disk
    max_points: int | None = None
    max_bytes: int | None = None  #: of the folder


class Adding(NamedTuple):
    """Rows to insert, and what comes along, as the door has let them in."""

    X: Any
    ids: list[Any] | None
    weights: Any
    times: Any
    payloads: list[Any] | None
    marks: Mapping[str, str] | None
    replaces: bool  #: points with these ids make way


class Joining(NamedTuple):
    """Edges of a graph, and points that come, as the door has let them in."""

    edges: tuple[list[Any], list[Any], Any] | None
    ids: list[Any] | None
    payloads: list[Any] | None
    marks: Mapping[str, str] | None

    @property
    def ends(self) -> list[Any]:
        """Ids that edges speak of."""
        return [] if self.edges is None else [*self.edges[0], *self.edges[1]]


class Forgetting(NamedTuple):
    """Points to forget, all of which must be there."""

    points: list[Any]


@dataclass
class Request:
    """A call that waits: what is asked for. What it comes to is found out when its turn comes."""

    asked: Adding | Joining | Forgetting | Operation
    key: str | None = None  #: the caller's name for it
    rows: int = 1
    alone: bool = False  #: nothing may be committed together with it
    future: Future[Receipt] = field(default_factory=Future)

    @cached_property
    def names(self) -> frozenset[Any]:
        """Ids and keys that it speaks of; keys are told from ids by their kind."""
        ids: Any = ()
        if isinstance(self.asked, Adding):
            ids = self.asked.ids or ()
        elif isinstance(self.asked, Joining):
            ids = [*self.asked.ends, *(self.asked.ids or ())]
        elif isinstance(self.asked, Forgetting):
            ids = self.asked.points
        return frozenset([*ids, *(() if self.key is None else [("key", self.key)])])


#: Bounds of the numbers of rows that are counted apart.
ROWS = (1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0)


@dataclass
class Figures:
    """What can be measured."""

    operations: int = 0
    rows: int = 0
    commits: int = 0
    refused: int = 0
    commit_seconds: float = 0.0
    commit_times: deque[float] = field(default_factory=lambda: deque(maxlen=512))
    commit_histogram: Histogram = field(default_factory=Histogram)  #: seconds of commits
    batch_histogram: Histogram = field(default_factory=lambda: Histogram(ROWS))  #: their rows
    snapshots: int = 0
    compactions: int = 0
