# SPDX-License-Identifier: BSD-3-Clause
"""_resting.py: trees that are there and not open, and who uses those that are.

    in use   a request is under way that names the tree: it stays open
    open     nobody uses it at the moment; whoever comes finds it at hand
    resting  closed: nothing but its name and a few figures is in memory. The next request that
             names it opens it, and waits for that

A tree rests when nobody has used it for ``rest_after`` seconds, when another is to be opened and
``open_trees`` are open, or when the process has more than ``memory_bytes``; of several, who was
not used for longest goes first.
"""

from __future__ import annotations

import calendar
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from ramify.journal import info
from ramify.journal.seam import DATABASE
from ramify.serve._served import Served, about_of
from ramify.serve._settings import Settings


@dataclass
class Resting:
    """What is known of a tree that rests."""

    facts: dict[str, Any] | None = None  #: as it was open last, or by a look into its folder
    due: float | None = None  #: when it is to be opened, so that what was forgotten is erased


class Uses:
    """Who is used by how many, and who was not for how long."""

    def __init__(self) -> None:
        self.lock = Lock()  #: held for moments only
        self._counts: dict[str, int] = {}
        self._last: dict[str, float] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """While a request that names a tree is under way."""
        with self.lock:
            self._counts[name] = self._counts.get(name, 0) + 1
        try:
            yield
        finally:
            with self.lock:
                left = self._counts.pop(name) - 1
                if left:
                    self._counts[name] = left
                self._last[name] = time.monotonic()

    def in_use(self, name: str) -> bool:
        """Whether a request names it."""
        return name in self._counts

    def opened(self, name: str) -> None:
        """It was opened, perhaps for nobody."""
        self._last[name] = time.monotonic()

    def longest_unused(self, names: list[str]) -> list[tuple[float, str]]:
        """Those that nobody uses, with the time of their last use, the longest ago first."""
        return sorted((self._last.get(one, 0.0), one) for one in names if not self.in_use(one))


def needs_replay(path: Path) -> bool:
    """Whether a folder was left in a hurry: its log is there, and is to be looked at."""
    log = path / f"{DATABASE}-wal"
    try:
        return log.stat().st_size > 0
    except FileNotFoundError:
        return False


def as_it_closes(served: Served, settings: Settings) -> Resting:
    """What to remember of a tree that is about to be closed."""
    facts = {**served.facts(), "state": "resting"}
    return Resting(facts, _due(facts["journal"]["owed_seconds"], settings))


def looked_at(path: Path, settings: Settings) -> Resting:
    """The same of one that was not open yet. A few milliseconds, and nothing is replayed."""
    found = info(path)
    facts = {
        "name": path.name,
        **about_of(path, {}),
        "state": "resting",
        "dimension": found["dimension"],
        "points": found["points"],
        "leaves": found["points"],
        "version": None,
        "oldest_version": None,
        "ids": found["ids"],
        "journal": {"seq": found["operations"], "bytes": found["bytes"]["total"]},
    }
    owed = 0.0
    if found["owed"] is not None:
        since = calendar.timegm(time.strptime(found["owed"], "%Y-%m-%dT%H:%M:%SZ"))
        owed = max(time.time() - since, 1.0)
    due = time.time() if found["compacting"] else _due(owed, settings)
    return Resting(facts, due)


def nothing_known(path: Path) -> dict[str, Any]:
    """Figures of a tree that nobody has looked at yet."""
    try:
        about = about_of(path, {})
    except (OSError, json.JSONDecodeError):
        about = {}
    more = ("points", "leaves", "version", "oldest_version", "ids", "journal")
    return {"name": path.name, "dimension": None, **about, "state": "resting"} | dict.fromkeys(more)


def _due(owed_seconds: float, settings: Settings) -> float | None:
    if not owed_seconds or settings.erase_within is None:
        return None
    return time.time() - owed_seconds + settings.erase_within
