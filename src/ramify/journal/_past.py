# SPDX-License-Identifier: BSD-3-Clause
"""_past.py: what became of a tree, kept in its folder: for each commit a step, as bytes.

The steps follow from the operations, and are written down with what these came to: in the commit
that nobody waits for. What a crash has lost of them is found again when operations are replayed.
They are in no memory but the last few. They take so many bytes at most: then two of the older half
become one, again and again, so that the longer ago, the farther apart are the versions that can be
asked about.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from contextlib import closing
from pathlib import Path
from threading import Lock
from time import time
from typing import NamedTuple

from ramify.estimators.seam import Step, packed, unpacked
from ramify.journal._store import Store, connect

#: Nodes in the steps that stay in memory, too.
_FEW = 20_000

#: Pairs of steps that become one in one commit.
_AT_ONCE = 8

#: Bytes of steps that are read as one; in memory they take ten times that.
_CHUNK = 4 << 20


def keep_past(store: Store, most_bytes: int) -> None:
    """Have what becomes of a tree kept in its folder, which may be one of an earlier version."""
    with store.transaction(wait=False) as write:
        write.execute(
            "CREATE TABLE IF NOT EXISTS past (version INTEGER PRIMARY KEY, time REAL NOT NULL, "
            "body BLOB NOT NULL)"
        )
    store.past = KeptPast(store.path, most_bytes)


def end_past_at(store: Store, version: int) -> None:
    """The tree has been recovered at this version: what came later, if it went back, never was."""
    if store.past is not None and store.past.newest > version:
        with store.transaction(wait=False) as write:
            write.execute("DELETE FROM past WHERE version > ?", (version,))
        store.past.cut_off(version)


class _Row(NamedTuple):
    version: int
    when: float
    body: bytes


class KeptPast:
    """Where a :class:`ramify.estimators._log.Past` keeps its steps: a table of the journal.

    The first row is where memory begins: what led there is not in it.
    """

    def __init__(self, path: Path, most_bytes: int) -> None:
        self._path, self._most = path, most_bytes
        self._lock = Lock()
        with closing(connect(path, read_only=True)) as there:
            self.newest, self._bytes = there.execute(
                "SELECT coalesce(max(version), -1), coalesce(sum(length(body)), 0) FROM past"
            ).fetchone()
        self._seen = -1  # the last version that the tree was at
        self._fresh: list[_Row] = []  # to be written down
        self._anew = False  # all that is written down is to go
        self._last: deque[Step] = deque()  # the latest, for those who follow closely
        self._nodes = 0  # in these
        self._merge_at = -1  # the steps up to here are next to become fewer

    # --- by whoever looks at the tree --------------------------------------------------------

    def begin(self, version: int) -> None:
        """The tree is at this version, and what comes is told; what was before may be known."""
        with self._lock:
            if not self._knows(version):
                self._begin_anew(version)
            self._seen = version

    def _begin_anew(self, version: int) -> None:
        self._anew = True
        self._forget_last()
        self._fresh = [_Row(version, time(), b"")]
        self.newest = version

    def add(self, step: Step, keep: int) -> None:
        """One more step; one that is known is so because operations are replayed."""
        del keep
        with self._lock:
            last, self._seen = self._seen, step.version
            if step.version <= self.newest:
                return
            body = packed(step)
            if last != self.newest or len(body) > self._most:  # what led here is not known
                self._begin_anew(step.version)
                return
            self._fresh.append(_Row(step.version, time(), body))
            self.newest = step.version
            self._last.append(step)
            self._nodes += len(step.families)
            while self._nodes > _FEW:
                self._forget_one()

    @property
    def oldest(self) -> int:
        """The first version that can be asked about."""
        with self._lock:
            found = None if self._anew else self._one("SELECT min(version) FROM past")
            return self._fresh[0].version if found is None else found

    def at(self, seconds: float) -> int | None:
        """The last version of that time or before; None if it cannot be asked about."""
        with self._lock:
            for row in reversed(self._fresh):
                if row.when <= seconds:
                    return row.version
            if self._anew:
                return None
            return self._one("SELECT max(version) FROM past WHERE time <= ?", seconds)

    def since(self, version: int, until: int | None = None) -> list[Step] | None:
        """The steps after a version, up to another; None if it cannot be asked about."""
        with self._lock:
            last = self.newest if until is None else until
            if version == self.newest:
                return []
            latest = list(self._last)
            if any(step.version == version for step in latest):
                return [step for step in latest if version < step.version <= last]
            if not self._knows(version):
                return None
            rows = {row.version: row.body for row in self._fresh if version < row.version <= last}
            if not self._anew:
                ask = "SELECT version, body FROM past WHERE version > ? AND version <= ?"
                with closing(connect(self._path, read_only=True)) as there:
                    rows |= dict(there.execute(ask, (version, last)).fetchall())
        return _read(sorted(rows.items()))

    def moments(self) -> list[tuple[int, float]]:
        """The versions that can be asked about, and when each was settled."""
        with self._lock:
            known = {row.version: row.when for row in self._fresh}
            if not self._anew:
                with closing(connect(self._path, read_only=True)) as there:
                    known |= dict(there.execute("SELECT version, time FROM past").fetchall())
        return sorted(known.items())

    def doubt(self) -> None:
        """The tree was another one than steps say: all of them go."""
        with self._lock:
            self._begin_anew(-1)
            self._fresh = []

    def _forget_last(self) -> None:
        self._last.clear()
        self._nodes = 0

    def _forget_one(self) -> None:
        self._nodes -= len(self._last.popleft().families)

    def _knows(self, version: int) -> bool:
        if any(row.version == version for row in self._fresh):
            return True
        return not self._anew and self._one("SELECT 1 FROM past WHERE version = ?", version) == 1

    def _one(self, ask: str, *about: float) -> int | None:
        with closing(connect(self._path, read_only=True)) as there:
            row: tuple[int | None] | None = there.execute(ask, about).fetchone()
        return None if row is None else row[0]

    # --- by the writer -----------------------------------------------------------------------

    def write(self, write: sqlite3.Connection) -> tuple[int, bool, int]:
        """Write down what is not yet; to be handed to :meth:`written` when that is done."""
        with self._lock:
            fresh, anew, size = list(self._fresh), self._anew, self._bytes
        if anew:
            write.execute("DELETE FROM past")
            size = 0
        write.executemany("INSERT OR REPLACE INTO past VALUES (?, ?, ?)", fresh)
        size += sum(len(row.body) for row in fresh)
        if size > self._most:
            size = self._keep_few(write, size, fresh[0].version)
        return len(fresh), anew, size

    def written(self, what: tuple[int, bool, int]) -> None:
        """All of that is in the database."""
        with self._lock:
            count, anew, self._bytes = what
            del self._fresh[:count]
            self._anew = self._anew and not anew

    def cut_off(self, version: int) -> None:
        """The tree is at this version again, and later ones never were."""
        with self._lock:
            self._fresh = [row for row in self._fresh if row.version <= version]
            self._forget_last()
            kept = self._one("SELECT max(version) FROM past")
            known = [row.version for row in self._fresh] + [-1 if kept is None else kept]
            self.newest = max(known)

    def _keep_few(self, write: sqlite3.Connection, size: int, before: int) -> int:
        """Some steps of the older half become one; if that is not enough, the oldest go."""
        for _ in range(_AT_ONCE):
            if size > self._most:
                size -= self._merge_two(write, before)
        while size > self._most:
            size -= self._drop_first(write)
        return size

    def _merge_two(self, write: sqlite3.Connection, before: int) -> int:
        """The two steps up to a place become one, and the place moves on; the bytes less."""
        ask = (
            "SELECT version, time, body FROM past WHERE version <= ? AND length(body) > 0 "
            "ORDER BY version DESC LIMIT 2"
        )
        pair = write.execute(ask, (min(self._merge_at, before - 1),)).fetchall()
        if len(pair) < 2:
            middle = "SELECT version FROM past ORDER BY version LIMIT 1 OFFSET ?"
            count = write.execute("SELECT count(*) FROM past").fetchone()[0]
            self._merge_at = write.execute(middle, (count // 2,)).fetchone()[0]
            return 0
        (late, when, second), (early, _, first) = pair
        body = packed(unpacked(late, [first, second]))
        write.execute("DELETE FROM past WHERE version = ?", (early,))
        write.execute("INSERT OR REPLACE INTO past VALUES (?, ?, ?)", (late, when, body))
        with self._lock:
            while self._last and self._last[0].version <= late:
                self._forget_one()
        self._merge_at = early - 1
        return len(first) + len(second) - len(body)

    def _drop_first(self, write: sqlite3.Connection) -> int:
        """The first step goes: what is known begins where it led. The bytes less."""
        rows = write.execute("SELECT version, body FROM past ORDER BY version LIMIT 2").fetchall()
        write.execute("DELETE FROM past WHERE version = ?", (rows[0][0],))
        write.execute("UPDATE past SET body = x'' WHERE version = ?", (rows[1][0],))
        return len(rows[1][1])


def _read(rows: list[tuple[int, bytes]]) -> list[Step]:
    """Steps by the versions after them, in order: a few that come to the same."""
    found: list[Step] = []
    bodies: list[bytes] = []
    size = 0
    for version, body in rows:
        bodies.append(body)
        size += len(body)
        if size >= _CHUNK or version == rows[-1][0]:
            found.append(unpacked(version, bodies))
            bodies, size = [], 0
    return found
