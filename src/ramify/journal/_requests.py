# SPDX-License-Identifier: BSD-3-Clause
"""_requests.py: what waits for the writer, how a journal is kept, and what is counted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from ramify.journal._records import Operation
from ramify.tree import Receipt


@dataclass(frozen=True)
class Policy:
    """How a journal is kept."""

    snapshot_every: int = 10_000  #: operations
    snapshot_bytes: int = 256 << 20  #: of operations, or as much as the last snapshot
    hash_every: int = 1024  #: operations
    keep_snapshots: int = 2
    keep_requests: int = 100_000  #: answers that are remembered by the request's key
    keep_left: int = 1_000_000  #: latest points whose ids are remembered after they left
    queue_rows: int = 200_000  #: that wait to be written
    payload_bytes: int = 65_536  #: of each
    erase_within: float | None = 86_400.0  #: seconds until what has left is erased from the disk


@dataclass
class Request:
    """A call that waits."""

    resolve: Callable[[], Operation | Receipt]  #: what to do, found out when its turn comes
    names: frozenset[Any]  #: ids and keys that it speaks of
    rows: int = 1
    alone: bool = False  #: nothing may be committed together with it
    future: Future[Receipt] = field(default_factory=Future)


@dataclass
class Figures:
    """What can be measured."""

    operations: int = 0
    rows: int = 0
    commits: int = 0
    refused: int = 0
    commit_seconds: float = 0.0
    commit_times: deque[float] = field(default_factory=lambda: deque(maxlen=512))
    snapshots: int = 0
    compactions: int = 0
