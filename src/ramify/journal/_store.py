# SPDX-License-Identifier: BSD-3-Clause
"""_store.py: the database of a folder: SQLite, write-ahead log, every commit on the disk.

Two kinds of tables:

    operations               the truth: appended, never changed, dropped behind a snapshot
    points, requests, marks, what operations came to: which number a point got, what a request
    payloads, words, hashes, was answered. Made again from the operations where it is missing
    past

Only a commit of operations has to reach the disk before a caller is told. What they came to
is known after the tree took them, and goes into a second commit that nobody waits for:
``done`` in ``facts`` is the last operation that it covers, and replay goes on from there.
"""

from __future__ import annotations

import errno
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ramify.journal._folder import DATABASE
from ramify.journal._records import NO_CHAIN, Operation, Stored, chained

if TYPE_CHECKING:
    from ramify.journal._past import KeptPast

#: Raised when the tables below change.
FORMAT = 1

_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE operations (seq INTEGER PRIMARY KEY, grp INTEGER NOT NULL, kind TEXT NOT NULL,
                         head TEXT NOT NULL, body BLOB NOT NULL, digest BLOB NOT NULL);
CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, state TEXT NOT NULL, chain BLOB NOT NULL,
                        bytes INTEGER NOT NULL);
CREATE TABLE hashes (seq INTEGER PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE points (id PRIMARY KEY, number INTEGER NOT NULL, version INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE requests (key TEXT PRIMARY KEY, seq INTEGER NOT NULL, content TEXT NOT NULL,
                       answer TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE marks (source TEXT PRIMARY KEY, position TEXT NOT NULL, seq INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE payloads (number INTEGER PRIMARY KEY, id, body TEXT NOT NULL, text TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (text, content=payloads, content_rowid=number,
                                       tokenize="unicode61 remove_diacritics 2");
CREATE TRIGGER payload_comes AFTER INSERT ON payloads BEGIN
  INSERT INTO words (rowid, text) VALUES (new.number, new.text); END;
CREATE TRIGGER payload_goes AFTER DELETE ON payloads BEGIN
  INSERT INTO words (words, rowid, text) VALUES ('delete', old.number, old.text); END;
"""

#: Ids that one question names.
_AT_ONCE = 500

#: The log is moved into the database when it is longer, and never stays longer afterwards.
LOG_BYTES = 4 << 20

#: Seconds that a connection waits for another one, and milliseconds for readers of the log.
_PATIENCE, _READERS_MS = 30, 50

#: The most that one operation can be: SQLite's limit of a value, and some room.
MOST_BYTES = 999_000_000


class Snapshot(NamedTuple):
    """A file with the tree after an operation, and what the journal says of it."""

    seq: int
    state: str  #: digest of the tree
    chain: bytes  #: digest of the operation
    bytes: int


class Outcome(NamedTuple):
    """What an operation came to, for the tables that nobody waits for."""

    seq: int
    points: Sequence[tuple[Any, int, int]] = ()  #: id, number, version
    gone: Sequence[Any] = ()  #: ids whose points were forgotten
    gone_numbers: Sequence[int] = ()
    request: tuple[str, int, str, str] | None = None  #: key, seq, content, answer
    marks: Sequence[tuple[str, str]] = ()
    payloads: Sequence[tuple[int, Any, str, str]] = ()  #: number, id, body, text
    columns: Sequence[str] | None = None


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection for one thread at a time, without transactions of its own."""
    mode = "ro" if read_only else "rwc"
    address = f"{path.absolute().as_uri()}?mode={mode}"
    found = sqlite3.connect(
        address, uri=True, isolation_level=None, check_same_thread=False, timeout=_PATIENCE
    )
    if not read_only:
        found.execute("PRAGMA synchronous = FULL")
        found.execute("PRAGMA wal_autocheckpoint = 0")  # the writer does it, after it has answered
        found.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
    return found


class Store:
    """The tables, by one writer."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / DATABASE
        self._connection = connect(self.path)
        self._log = folder / f"{DATABASE}-wal"
        self._longest = LOG_BYTES
        self.past: KeptPast | None = None  #: what became of the tree, if that is kept

    @classmethod
    def create(cls, folder: Path, first: Snapshot) -> Store:
        """A new database, complete with its first snapshot or not there at all."""
        store = cls(folder)
        store._connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        store._connection.execute("PRAGMA journal_mode = WAL")
        with store.transaction() as write:
            for statement in _statements(_TABLES):
                write.execute(statement)
            facts = [("format", FORMAT), ("done", 0)]
            write.executemany("INSERT INTO facts VALUES (?, ?)", facts)
            write.execute("INSERT INTO snapshots VALUES (?, ?, ?, ?)", first)
        return store

    def close(self) -> None:
        """Write the log into the database, and leave no log."""
        with suppress(sqlite3.Error):  # a full disk: then the log stays, and has it all
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()

    def abandon(self) -> None:
        """Close without another word to the disk."""
        self._connection.close()

    @contextmanager
    def transaction(self, *, wait: bool = True) -> Iterator[sqlite3.Connection]:
        """All or nothing; on the disk at the end, unless nobody waits for it."""
        write = self._connection
        write.execute(f"PRAGMA synchronous = {'FULL' if wait else 'NORMAL'}")
        write.execute("BEGIN IMMEDIATE")
        try:
            yield write
            write.execute("COMMIT")
        except BaseException:
            if write.in_transaction:
                write.execute("ROLLBACK")
            raise

    # --- the truth ------------------------------------------------------------------

    def append(self, operations: Sequence[Operation], seq: int, chain: bytes) -> list[Stored]:
        """Append operations after number ``seq``, together, and return when they are safe."""
        group, stored = seq + len(operations), []
        with self.transaction() as write:
            for number, operation in enumerate(operations, seq + 1):
                head = operation.text
                chain = chained(chain, number, group, operation.kind, head, operation.body)
                write.execute(
                    "INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?)",
                    (number, group, operation.kind, head, operation.body, chain),
                )
                stored.append(Stored(number, group, operation, chain))
        return stored

    def operations(self, after: int) -> Iterator[tuple[int, int, str, str, bytes, bytes]]:
        """Rows of operations in order, not believed yet."""
        yield from self._connection.execute(
            "SELECT seq, grp, kind, head, body, digest FROM operations WHERE seq > ? ORDER BY seq",
            (after,),
        )

    def last(self) -> tuple[int, bytes]:
        """Number and digest of the last operation."""
        ask = self._connection.execute
        found = ask("SELECT seq, digest FROM operations ORDER BY seq DESC LIMIT 1").fetchone()
        if found is None:
            found = ask("SELECT seq, chain FROM snapshots ORDER BY seq DESC LIMIT 1").fetchone()
        return found or (0, NO_CHAIN)

    def cut_off(self, first: int, version: int, number: int) -> int:
        """Drop operations from this number on, and what they came to; how many there were.

        ``version`` is that of the tree without them, ``number`` that of its next point.
        """
        with self.transaction() as write:
            for table in ("hashes", "requests", "marks"):
                write.execute(f"DELETE FROM {table} WHERE seq >= ?", (first,))
            write.execute("DELETE FROM points WHERE version > ?", (version,))
            write.execute("DELETE FROM payloads WHERE number >= ?", (number,))
            write.execute(
                "UPDATE facts SET value = min(value, ?) WHERE name = 'done'", (first - 1,)
            )
            return write.execute("DELETE FROM operations WHERE seq >= ?", (first,)).rowcount

    def drop(self, up_to: int, most: int = 256) -> bool:
        """Drop some operations that a snapshot covers, and give their room back to the disk;
        whether there are more.
        """
        with self.transaction(wait=False) as write:
            chosen = "SELECT seq FROM operations WHERE seq <= ? ORDER BY seq LIMIT ?"
            dropped = write.execute(
                f"DELETE FROM operations WHERE seq IN ({chosen})", (up_to, most)
            )
            write.execute("DELETE FROM hashes WHERE seq <= ?", (up_to,))
        with suppress(sqlite3.Error):  # a full disk: the room is used for later operations
            # By executescript: execute would stop after the first page.
            self._connection.executescript("PRAGMA incremental_vacuum")
        if self.log_is_long():
            self.checkpoint()
        return dropped.rowcount == most

    # --- snapshots --------------------------------------------------------------------

    def snapshots(self) -> list[Snapshot]:
        """The latest first."""
        ask = "SELECT seq, state, chain, bytes FROM snapshots ORDER BY seq DESC"
        return [Snapshot(*row) for row in self._connection.execute(ask)]

    def add_snapshot(self, new: Snapshot, keep: int) -> list[int]:
        """Write down a snapshot whose file has been read back; which older ones can go."""
        with self.transaction() as write:
            write.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", new)
            old = [found.seq for found in self.snapshots()[keep:]]
            write.executemany("DELETE FROM snapshots WHERE seq = ?", [(seq,) for seq in old])
        return old

    def drop_snapshots(self, before: int) -> list[int]:
        """Forget the snapshots before an operation; which they were."""
        old = [found.seq for found in self.snapshots() if found.seq < before]
        with self.transaction() as write:
            write.execute("DELETE FROM snapshots WHERE seq < ?", (before,))
        return old

    # --- what operations came to ----------------------------------------------------------

    def fact(self, name: str) -> Any:
        """A single value."""
        found = self._connection.execute(
            "SELECT value FROM facts WHERE name = ?", (name,)
        ).fetchone()
        return None if found is None else found[0]

    def set_facts(self, facts: Mapping[str, Any], *, wait: bool = True) -> None:
        """Write down single values; those that are None go."""
        with self.transaction(wait=wait) as write:
            for name, value in facts.items():
                write.execute("DELETE FROM facts WHERE name = ?", (name,))
                if value is not None:
                    write.execute("INSERT INTO facts VALUES (?, ?)", (name, value))

    def note(self, outcomes: Sequence[Outcome], hashes: Sequence[tuple[int, str]] = ()) -> None:
        """Write down what operations came to, without waiting for the disk."""
        told = None
        with self.transaction(wait=False) as write:
            for found in outcomes:
                _note(write, found)
            if self.past is not None:
                told = self.past.write(write)
            write.executemany("INSERT OR REPLACE INTO hashes VALUES (?, ?)", hashes)
            if outcomes:
                write.execute("UPDATE facts SET value = ? WHERE name = 'done'", (outcomes[-1].seq,))
        if self.past is not None and told is not None:
            self.past.written(told)

    def sync(self) -> None:
        """Have all that was written on the disk."""
        with self.transaction() as write:
            write.execute("INSERT OR REPLACE INTO facts VALUES ('synced', ?)", (self.fact("done"),))

    def hashes(self, after: int) -> dict[int, str]:
        """Digests of the tree after some of the operations."""
        ask = "SELECT seq, state FROM hashes WHERE seq > ?"
        return dict(self._connection.execute(ask, (after,)).fetchall())

    def answered(self, ids: Iterable[Any]) -> dict[Any, tuple[int, int]]:
        """Number and version of those of the ids that have been taken before."""
        return known_points(self._connection, ids)

    def request(self, key: str) -> tuple[str, str] | None:
        """Digest of what was asked under a key, and the answer."""
        found: tuple[str, str] | None = self._connection.execute(
            "SELECT content, answer FROM requests WHERE key = ?", (key,)
        ).fetchone()
        return found

    def tidy(self, keep_requests: int, gone_before: int, there: Iterable[int] | None) -> None:
        """Forget answers to old requests, and points that have left long ago."""
        with self.transaction(wait=False) as write:
            oldest = "SELECT seq FROM requests ORDER BY seq DESC LIMIT 1 OFFSET ?"
            write.execute(f"DELETE FROM requests WHERE seq < ({oldest})", (keep_requests,))
            taken = "SELECT EXISTS (SELECT 1 FROM payloads) OR EXISTS (SELECT 1 FROM points)"
            if there is None or write.execute(taken).fetchone() == (0,):
                return
            write.execute("CREATE TEMP TABLE there (number INTEGER PRIMARY KEY)")
            write.executemany("INSERT INTO there VALUES (?)", ((number,) for number in there))
            left = "number NOT IN (SELECT number FROM there)"
            write.execute(f"DELETE FROM payloads WHERE {left}")
            write.execute(f"DELETE FROM points WHERE number < ? AND {left}", (gone_before,))
            write.execute("DROP TABLE there")

    # --- the files ------------------------------------------------------------------------

    def log_is_long(self) -> bool:
        """Whether it is time for :meth:`checkpoint`."""
        return _size(self._log) > self._longest

    def checkpoint(self) -> None:
        """Move the log into the database, so that it begins anew with the next commit.

        Who reads for long may be in the way; it is tried again when the log has grown.
        """
        self._longest = _size(self._log) + LOG_BYTES // 4
        with suppress(sqlite3.Error):  # all is in the log
            self._connection.execute(f"PRAGMA busy_timeout = {_READERS_MS}")
            busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
            if not busy:
                self._longest = LOG_BYTES
        self._connection.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000}")

    def shrink(self) -> None:
        """Write the database anew, with nothing in it that was dropped, and empty the log.

        SQLite's ``secure_delete`` would not do: it leaves what pages that were split, the index of
        words and the log still have of a row.
        """
        self._connection.execute("INSERT INTO words (words) VALUES ('rebuild')")
        self._connection.execute("VACUUM")
        busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise OSError(errno.EBUSY, f"{self.path} is being read, and its log cannot be emptied")

    def integrity(self) -> list[str]:
        """What SQLite itself finds wrong."""
        found = [row[0] for row in self._connection.execute("PRAGMA integrity_check(20)")]
        return [] if found == ["ok"] else found


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _note(write: sqlite3.Connection, found: Outcome) -> None:
    write.executemany("DELETE FROM points WHERE id = ?", [(one,) for one in found.gone])
    numbers = [(number,) for number in found.gone_numbers]
    write.executemany("DELETE FROM payloads WHERE number = ?", numbers)
    write.executemany("INSERT OR REPLACE INTO points VALUES (?, ?, ?)", found.points)
    if found.request is not None:
        write.execute("INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?)", found.request)
    marks = [(*mark, found.seq) for mark in found.marks]
    write.executemany("INSERT OR REPLACE INTO marks VALUES (?, ?, ?)", marks)
    write.executemany("INSERT INTO payloads VALUES (?, ?, ?, ?)", found.payloads)
    if found.columns is not None:
        text = json.dumps(list(found.columns))
        write.execute("INSERT OR REPLACE INTO facts VALUES ('columns', ?)", (text,))


def known_points(connection: sqlite3.Connection, ids: Iterable[Any]) -> dict[Any, tuple[int, int]]:
    """Number and version of those of the ids that have been taken."""
    wanted, found = list(ids), {}
    for begin in range(0, len(wanted), _AT_ONCE):
        some = wanted[begin : begin + _AT_ONCE]
        ask = f"SELECT id, number, version FROM points WHERE id IN ({','.join('?' * len(some))})"
        for one, number, version in connection.execute(ask, some):
            found[one] = number, version
    return found


def _statements(text: str) -> Iterator[str]:
    """Statements one by one: executescript would commit before the first."""
    part = ""
    for line in text.splitlines():
        part += line + "\n"
        if sqlite3.complete_statement(part):
            yield part
            part = ""
