# SPDX-License-Identifier: BSD-3-Clause
"""_head.py: the head of the journal: what the router must not lose.

The shards' journals have all points. The router's has the one operation that is under way,
with everything settled about it (which row goes where, beside which points), and where the
stream stands. An operation is here, on the disk, before the first shard hears of it; it goes when
all shards that it concerns have it on theirs. A router that is restarted sends it again, and
shards that have it already say so.

    pending   the operation under way, if any: number, kind, head as JSON, arrays
    facts     next operation and number, shards, type and width of rows, ...
    answers   the latest requests by their keys, and what they were told
    history   after which operation the stream stood where, and which points went
    marks     how far sources were read, as of the operations that have ended
    names     ids of clusters that stay (``stable_labels``), in one piece, and what people call
              clusters, in another
"""

from __future__ import annotations

import errno
import io
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.journal.seam import (
    ROUTER,
    FolderLock,
    connect,
    make_folder,
    require_shards,
    sync_folder,
)

FORMAT = 1
_KEEP_ANSWERS = 10_000
_KEEP_HISTORY = 10_000

_TABLES = (
    "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS pending (op INTEGER PRIMARY KEY, kind TEXT, head TEXT, body BLOB)",
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, op INTEGER, told TEXT)"
    " WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS history (op INTEGER PRIMARY KEY, number INTEGER, gone TEXT)",
    "CREATE TABLE IF NOT EXISTS marks (source TEXT PRIMARY KEY, position TEXT) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS names (place INTEGER PRIMARY KEY, body BLOB)",
)

Arrays = Mapping[str, npt.NDArray[Any]]


class Pending(NamedTuple):
    """An operation that shards may or may not have."""

    op: int
    kind: str  #: insert, forget or split
    head: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]


class Head:
    """The router's file; one process has it at a time."""

    def __init__(self, folder: Path) -> None:
        require_shards(folder)
        make_folder(folder)
        self.folder = folder
        self._lock = FolderLock(folder)
        try:
            self._connection = connect(folder / ROUTER)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA wal_autocheckpoint = 1000")
            for statement in _TABLES:
                self._connection.execute(statement)
            sync_folder(folder)
        except BaseException:
            self._lock.release()
            raise

    def close(self) -> None:
        """Let the folder go."""
        self._connection.close()
        self._lock.release()

    # --- facts ---------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """All of them."""
        rows = self._connection.execute("SELECT name, value FROM facts")
        return {name: json.loads(value) for name, value in rows}

    def pending(self) -> Pending | None:
        """The operation under way."""
        row = self._connection.execute("SELECT op, kind, head, body FROM pending").fetchone()
        if row is None:
            return None
        op, kind, head, body = row
        with np.load(io.BytesIO(body)) as found:
            return Pending(op, kind, json.loads(head), {name: found[name] for name in found.files})

    def begin(
        self, kind: str, op: int, head: Mapping[str, Any], arrays: Arrays, balanced: int
    ) -> Pending:
        """Write down an operation; it is on the disk when this returns."""
        room = io.BytesIO()
        np.savez(room, **arrays)  # type: ignore[arg-type]
        row = op, kind, json.dumps(head), room.getbuffer()
        insert = "INSERT INTO pending VALUES (?, ?, ?, ?)"
        self._write([(insert, row), *_facts({"balanced": balanced})])
        return Pending(op, kind, dict(head), dict(arrays))

    def finish(
        self, op: int, facts: Mapping[str, Any], head: Mapping[str, Any], gone: list[int]
    ) -> None:
        """All shards have it. Nobody waits for this: without, it is sent once more."""
        key, told = head.get("key"), head.get("told")
        work: list[tuple[str, Any]] = [("DELETE FROM pending", ())]
        work += _facts(facts) + _marks(head.get("marks"))
        work.append(
            (
                "INSERT OR REPLACE INTO history VALUES (?, ?, ?)",
                (op, facts["number"], json.dumps(gone)),
            )
        )
        work.append(("DELETE FROM history WHERE op <= ?", (op - _KEEP_HISTORY,)))
        if key is not None:
            work.append(
                ("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, op, json.dumps(told)))
            )
            work.append(("DELETE FROM answers WHERE op <= ?", (op - _KEEP_ANSWERS,)))
        self._write(work, wait=False)

    def set(self, facts: Mapping[str, Any]) -> None:
        """Write down facts, and wait for the disk."""
        self._write(_facts(facts))

    def marks(self) -> dict[str, str]:
        """How far sources were read."""
        return dict(self._connection.execute("SELECT source, position FROM marks").fetchall())

    def mark(self, marks: Mapping[str, str]) -> None:
        """Write down how far sources were read, and wait for the disk."""
        self._write(_marks(marks))

    def compact(self) -> None:
        """Write the file anew, with nothing in it of operations that have ended."""
        self._connection.execute("VACUUM")
        busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise OSError(errno.EBUSY, "the router's log is being read, and cannot be emptied")

    def names(self) -> bytes | None:
        """The ids of clusters that were last written down."""
        return self._named(0)

    def set_names(self, body: bytes) -> None:
        """Write down ids of clusters, and wait for the disk."""
        self._write([("INSERT OR REPLACE INTO names VALUES (0, ?)", (body,))])

    def texts(self) -> bytes | None:
        """The names that people gave."""
        return self._named(1)

    def set_texts(self, body: bytes) -> None:
        """Write down names that people gave, and wait for the disk."""
        self._write([("INSERT OR REPLACE INTO names VALUES (1, ?)", (body,))])

    def _named(self, place: int) -> bytes | None:
        found = self._connection.execute("SELECT body FROM names WHERE place = ?", (place,))
        row = found.fetchone()
        return None if row is None else bytes(row[0])

    def answer(self, key: str) -> Any:
        """What a request of this key was told; None if there was none."""
        row = self._connection.execute("SELECT told FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def since(self, op: int) -> list[tuple[int, int, list[int]]]:
        """Operations from this one on: its number, the next point's after it, who went."""
        rows = self._connection.execute(
            "SELECT op, number, gone FROM history WHERE op >= ? ORDER BY op", (op,)
        )
        return [(number, after, json.loads(gone)) for number, after, gone in rows]

    def _write(self, work: list[tuple[str, Any]], *, wait: bool = True) -> None:
        write = self._connection
        write.execute(f"PRAGMA synchronous = {'FULL' if wait else 'NORMAL'}")
        write.execute("BEGIN IMMEDIATE")
        try:
            for statement, values in work:
                write.execute(statement, values)
            write.execute("COMMIT")
        except BaseException:
            if write.in_transaction:
                write.execute("ROLLBACK")
            raise


def _marks(marks: Mapping[str, str] | None) -> list[tuple[str, Any]]:
    return [("INSERT OR REPLACE INTO marks VALUES (?, ?)", mark) for mark in (marks or {}).items()]


def _facts(facts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [
        ("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))
        for name, value in facts.items()
    ]


def copy_head(folder: Path, room: Path) -> None:
    """A copy of the router's file as it is now, in another folder."""
    (room / ROUTER).unlink(missing_ok=True)  # of a call that came twice
    with closing(connect(folder / ROUTER, read_only=True)) as source:
        source.execute("VACUUM INTO ?", (str(room / ROUTER),))


def read_only_facts(folder: Path) -> dict[str, Any] | None:
    """The facts of a folder, without taking it; None if there is no stream in it."""
    if not (folder / ROUTER).exists():
        return None
    try:
        connection = connect(folder / ROUTER)
        try:
            rows = connection.execute("SELECT name, value FROM facts").fetchall()
        finally:
            connection.close()
    except sqlite3.Error:
        return None
    return {name: json.loads(value) for name, value in rows} or None
