# SPDX-License-Identifier: BSD-3-Clause
"""_store.py: the names of topics, and who was in each when it got its name.

One commit for each answer or batch of answers, before anything else is asked.
``synchronous=NORMAL``: a killed process loses nothing that was committed.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ramify.hierarchy import IntArray

_FORMAT = 1
_TABLE = """
CREATE TABLE IF NOT EXISTS names (
    topic INTEGER PRIMARY KEY, level INTEGER NOT NULL, name TEXT NOT NULL, members BLOB NOT NULL);
"""


class Named(NamedTuple):
    """A name, and of whom."""

    topic: int  #: stable id
    level: int
    name: str
    members: IntArray  #: numbers of the points, ascending


class NameStore:
    """Names in a file of SQLite, or in memory.

    Examples
    --------
    >>> store = NameStore(None)
    >>> store.put([Named(7, 30, "fruit", np.array([1, 2]))])
    >>> store.all()
    [Named(topic=7, level=30, name='fruit', members=array([1, 2]))]
    >>> store.drop([7]), store.all()
    (None, [])
    """

    def __init__(self, path: str | Path | None) -> None:
        self._lock = threading.Lock()
        where = ":memory:" if path is None else str(path)
        try:
            self._sql = sqlite3.connect(where, check_same_thread=False, timeout=30.0)
            self._sql.execute("PRAGMA journal_mode=WAL")
            self._sql.execute("PRAGMA synchronous=NORMAL")
            self._sql.execute("PRAGMA secure_delete=ON")
            (found,) = self._sql.execute("PRAGMA user_version").fetchone()
            if found not in (0, _FORMAT):
                raise ValueError(
                    f"store={where}: written by a later ramify (format {found}); this one reads "
                    f"format {_FORMAT}"
                )
            self._sql.executescript(_TABLE)
            self._sql.execute(f"PRAGMA user_version={_FORMAT}")
        except sqlite3.Error as error:
            raise ValueError(
                f"store={where}: no store of names can be here ({error}); expected a file that "
                f"this made, or a new one in a folder that is there"
            ) from error

    def all(self) -> list[Named]:
        """Everything."""
        with self._lock:
            rows = self._sql.execute("SELECT topic, level, name, members FROM names").fetchall()
        return [
            Named(topic, level, name, np.frombuffer(members, np.int64))
            for topic, level, name, members in rows
        ]

    def put(self, named: Iterable[Named]) -> None:
        """Keep names, in one commit."""
        rows = [(*one[:3], one.members.astype(np.int64).tobytes()) for one in named]
        with self._lock, self._sql:
            self._sql.executemany("INSERT OR REPLACE INTO names VALUES (?, ?, ?, ?)", rows)

    def drop(self, topics: Iterable[int]) -> None:
        """Let names go."""
        with self._lock, self._sql:
            rows = [(one,) for one in topics]
            self._sql.executemany("DELETE FROM names WHERE topic = ?", rows)

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._sql.close()
