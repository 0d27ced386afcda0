# SPDX-License-Identifier: BSD-3-Clause
"""_recover.py: from a folder to the tree that was there.

The latest snapshot that can be read, then every operation since. What the tree was after
some of them is in the journal as a digest, and must come out again: recovery proves itself.
"""

from __future__ import annotations

import errno
import json
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ramify import lean
from ramify.errors import UnreadableFileError
from ramify.journal import _model
from ramify.journal._answers import outcome
from ramify.journal._errors import (
    DamagedJournalError,
    DifferentTreeError,
    JournalError,
    disk_error,
)
from ramify.journal._folder import DATABASE, snapshot_files, snapshot_name
from ramify.journal._past import end_past_at, keep_past
from ramify.journal._records import KINDS, Operation, Stored, chained
from ramify.journal._store import FORMAT, Outcome, Snapshot, Store, connect
from ramify.journal._wal import look_at_log

#: Where a check works, in the folder.
CHECK = "check.tmp"

#: Operations whose outcomes are written down together.
_NOTED_AT_ONCE = 1000


class Report(NamedTuple):
    """What opening a folder found.

    Examples
    --------
    >>> import tempfile, ramify
    >>> folder = tempfile.mkdtemp()
    >>> with ramify.open(folder, ramify.OHAC()) as tree:
    ...     _ = tree.partial_fit([[0.0], [1.0]])
    >>> with ramify.open(folder) as tree:
    ...     tree.report.snapshot, tree.report.replayed, tree.report.notes
    (1, 0, ())
    """

    snapshot: int  #: the operation after which the snapshot was taken
    replayed: int  #: operations since then
    proven: int  #: digests in the journal that came out again
    seconds: float
    notes: tuple[str, ...]  #: what was cut off or left aside, in words


class Recovered(NamedTuple):
    """A tree, and where its journal stands."""

    store: Store
    model: Any
    seq: int
    chain: bytes
    report: Report


def is_new(folder: Path) -> bool:
    """Whether no tree has been begun here. A begun one that never ended its first step is new.

    To be asked after :func:`look_at_end`: SQLite may tidy up the log.
    """
    path = folder / DATABASE
    if not path.exists():
        return _no_tree(folder)
    try:
        connection = connect(path)  # to read only would not do: its log may be all there is
        try:
            ask = "SELECT count(*) FROM sqlite_master WHERE name = 'facts'"
            return connection.execute(ask).fetchone() == (0,) and _no_tree(folder)
        finally:
            connection.close()
    except sqlite3.Error as error:
        if (trouble := disk_error(folder, error)) is not None:
            raise trouble from error
        return False


def _no_tree(folder: Path) -> bool:
    """No snapshot but that of an empty tree."""
    if max(snapshot_files(folder), default=0) > 0:
        raise DamagedJournalError(
            f"{folder} has snapshots and no journal; put {DATABASE} back, or load the latest "
            f"snapshot, {snapshot_name(max(snapshot_files(folder)))}, by ramify.load"
        )
    return True


def recover(
    folder: Path, notes: list[str], *, accept: bool = False, history_bytes: int | None = None
) -> Recovered:
    """Open the database, load the latest snapshot, and take all operations since.

    ``notes`` are what :func:`look_at_end` had to say. With ``accept``, the tree that the
    operations give is the tree, whatever the digests say of the one that was there. What became
    of it is kept in the folder if it may have bytes for that.
    """
    begin = time.perf_counter()
    try:
        store = Store(folder)
        try:
            _require_format(folder, store)
            if history_bytes is not None:
                keep_past(store, history_bytes)
            return _recovered(folder, store, notes, begin, accept)
        except BaseException:
            store.abandon()
            raise
    except sqlite3.DatabaseError as error:
        raise sqlite_error(folder, error) from error


def sqlite_error(folder: Path, error: sqlite3.Error) -> JournalError:
    """Whether SQLite complains about the disk or about what is on it."""
    return disk_error(folder, error) or _damaged(folder, f"SQLite says: {error}")


def _require_format(folder: Path, store: Store) -> None:
    if (found := store.fact("format")) != FORMAT:
        raise DamagedJournalError(f"{folder} has format {found}; this Ramify reads {FORMAT}")


def _recovered(
    folder: Path, store: Store, notes: list[str], begin: float, accept: bool
) -> Recovered:
    refusal: DifferentTreeError | None = None
    for model, snapshot in _snapshots(folder, store, notes):
        replay = Replay(folder, store, model, snapshot, accept=accept)
        try:
            replay.run()
        except DifferentTreeError as error:  # from an earlier one it may come out as it was
            refusal = refusal or error
            if store.past is not None:
                store.past.doubt()
            notes.append(f"from {snapshot_name(snapshot.seq)} on, the tree came out as another one")
            continue
        notes += replay.notes
        end_past_at(store, _model.version(model, store.past))
        _clear(folder, store)
        seconds = time.perf_counter() - begin
        report = Report(snapshot.seq, replay.count, replay.proven, seconds, tuple(notes))
        return Recovered(store, model, replay.seq, replay.chain, report)
    raise refusal or _damaged(folder, f"no snapshot can be read: {'; '.join(notes)}")


def look_at_end(folder: Path) -> list[str]:
    """Whether the end of the journal is whole; before SQLite has seen it."""
    found = look_at_log(folder / f"{DATABASE}-wal")
    if found.done and found.done > _last_seen(folder):
        raise _damaged(folder, f"frame {found.bad} of {DATABASE}-wal is not what was written")
    if found.unfinished:
        return [f"a commit that was never finished was cut off ({found.unfinished} pages)"]
    return []


def _last_seen(folder: Path) -> int:
    """The last operation that SQLite sees; asked without the right to move the log."""
    try:
        connection = connect(folder / DATABASE, read_only=True)
        try:
            ask = "SELECT seq FROM operations UNION SELECT seq FROM snapshots"
            return max((seq for (seq,) in connection.execute(ask)), default=0)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise sqlite_error(folder, error) from error


def _snapshots(folder: Path, store: Store, notes: list[str]) -> Iterator[tuple[Any, Snapshot]]:
    """Trees and snapshots, the latest first, of those that can be read."""
    for found in store.snapshots():
        try:
            whole = lean.read(folder / snapshot_name(found.seq))
            if _model.state_digest(whole) != found.state:
                notes.append(f"{snapshot_name(found.seq)} is another tree's, and was left aside")
                continue
            model = _model.from_file(whole)
        except (OSError, UnreadableFileError) as error:
            if (trouble := disk_error(folder, error)) is not None and not _of_one_file(error):
                raise trouble from error
            notes.append(f"{error}; it was left aside")
            continue
        yield model, found


def _of_one_file(error: Exception) -> bool:
    """A place of the disk that cannot be read; others may be as they were."""
    return isinstance(error, OSError) and error.errno == errno.EIO


class Replay:
    """Operations after a snapshot, checked and taken."""

    def __init__(
        self, folder: Path, store: Store, model: Any, snapshot: Snapshot, *, accept: bool = False
    ) -> None:
        self._folder, self._store, self._model, self._accept = folder, store, model, accept
        self.seq, self.chain = snapshot.seq, snapshot.chain
        self.count = self.proven = 0
        self.notes: list[str] = []
        self._done = store.fact("done")
        self._outcomes: list[Outcome] = []
        self._torn: int | None = None
        self._owed: dict[str, Any] = {}  # facts for who erases

    def run(self) -> None:
        """Take them all."""
        hashes = self._store.hashes(self.seq)
        group: list[Stored] = []
        _model.version(self._model, self._store.past)  # from here on it is known what becomes of it
        try:
            for one in self._believed():
                group.append(one)
                if one.seq == one.group:
                    self._take(group)
                    group = []
                    if (wanted := hashes.get(self.seq)) is not None:
                        self._prove(wanted)
        finally:
            if group:  # what is left of a commit whose end is damaged
                self._take(group)
            if self._torn is not None:
                self._cut_off(self._torn)
            self._note()

    def _take(self, group: list[Stored]) -> None:
        answers: list[_model.Answer | None] = []
        for one in group:
            answers.append(self._answer(one))
        version = _model.version(self._model, self._store.past)
        for one, answer in zip(group, answers, strict=True):
            self._owe(one, answer)
            if one.seq > self._done:
                self._outcomes.append(outcome(one, answer, version))
        self.seq, self.chain = group[-1].seq, group[-1].digest
        self.count += len(group)
        if len(self._outcomes) >= _NOTED_AT_ONCE:
            self._note()

    def _owe(self, one: Stored, answer: _model.Answer | None) -> None:
        """Points that left since the snapshot are to be erased, whatever a crash took."""
        if answer is not None and (answer.left or answer.gone_numbers):
            self._owed.setdefault("owed", time.time())
            if one.operation.tells_to_go:
                self._owed["told"] = 1

    def _answer(self, one: Stored) -> _model.Answer | None:
        try:
            return _model.apply(self._model, one.operation)
        except _model.REFUSALS:  # it was refused when it came, too
            return None
        except MemoryError:
            raise
        except Exception as error:
            if not self._accept:
                raise DamagedJournalError(
                    f"{self._folder}: the tree cannot take operation {one.seq} ({error!r}). "
                    f"Nothing was changed. `ramify journal repair {self._folder}` leaves it out, "
                    f"takes all others, and keeps a copy of everything"
                ) from error
            self.notes.append(f"operation {one.seq} was left out ({error!r})")
            return None

    def _note(self) -> None:
        if self._outcomes:
            self._store.note(self._outcomes)
            self._outcomes = []
        new = {name: at for name, at in self._owed.items() if self._store.fact(name) is None}
        if new:
            self._store.set_facts(new, wait=False)

    def _prove(self, wanted: str) -> None:
        found = _model.state_digest(_model.saved(self._model))
        if found == wanted:
            self.proven += 1
            return
        if not _model.comparable(wanted, found):
            return
        if not self._accept:
            raise DifferentTreeError(
                f"{self._folder}: the tree after operation {self.seq} is not the one that was "
                f"there; was the journal written by another version of Ramify, or on another "
                f"processor? Nothing was changed, and no operation is damaged or lost. `ramify "
                f"journal repair {self._folder}` accepts the tree that all operations give today, "
                f"with every point in it, and keeps a copy of the folder as it is"
            )
        self.notes.append(
            f"the tree after operation {self.seq} is not the one that was there, and was accepted"
        )

    def _believed(self) -> Iterator[Stored]:
        """Operations in order; a torn tail is cut off, and damage before the end refused."""
        chain, seq = self.chain, self.seq
        for row in self._rows():
            if row[0] != seq + 1 or (found := believed(chain, row)) is None:
                self._cut_or_refuse(seq + 1)
                return
            yield found
            chain, seq = found.digest, found.seq

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        after = self.seq
        try:
            for row in self._store.operations(after):
                after = row[0]
                yield row
        except sqlite3.DatabaseError as error:
            raise disk_error(self._folder, error) or _damaged(
                self._folder, f"operation {after + 1} cannot be read ({error})"
            ) from error

    def _cut_or_refuse(self, first: int) -> None:
        before: bytes | None = None
        for row in self._store.operations(first - 1):
            if before is not None and believed(before, row) is not None:
                raise _damaged(
                    self._folder, f"operation {first} is not what was written, and later ones are"
                )
            before = row[5]
        self._torn = first

    def _cut_off(self, first: int) -> None:
        """Drop operations that are no more, and what is written of them."""
        version, number = _model.version(self._model), _model.next_number(self._model)
        lost = self._store.cut_off(first, version, number)
        self.notes.append(
            f"the end of the journal was torn: {lost} operations from number {first} on were cut "
            f"off"
        )


def believed(before: bytes, row: tuple[Any, ...]) -> Stored | None:
    """An operation if it is what was written behind this digest."""
    seq, group, kind, head, body, digest = row
    try:
        if chained(before, seq, group, kind, head, body) != digest or kind not in KINDS:
            return None
        return Stored(seq, group, Operation(kind, json.loads(head), body), digest)
    except (TypeError, ValueError, AttributeError):
        return None


def _clear(folder: Path, store: Store) -> None:
    """Files of snapshots that never counted, or do not any more."""
    shutil.rmtree(folder / CHECK, ignore_errors=True)  # of a check that was killed
    known = {found.seq for found in store.snapshots()}
    for seq, path in snapshot_files(folder).items():
        if seq not in known:
            path.unlink()


def _damaged(folder: Path, what: str) -> DamagedJournalError:
    return DamagedJournalError(f"{folder} is damaged: {what}. {_how(folder)}")


def _how(folder: Path) -> str:
    return (
        f"Nothing was changed. `ramify journal check {folder}` says more; `ramify journal repair "
        f"{folder}` keeps all before the damage, and a copy of the rest"
    )
