# SPDX-License-Identifier: BSD-3-Clause
"""_writer.py: the one thread that changes a tree.

Calls come from any thread and wait for their answer. The writer takes all that have come
meanwhile, writes them down in one commit, lets the tree take them in that order, and
answers: so many callers at once share one wait for the disk, and a single one waits for
nobody. An operation is on the disk before the tree has it, so that a disk that is full
changes nothing; readers see only what is safe.

A call that depends on one before it in the same commit (the same id, the same key, a
forgotten point) begins the next commit.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ramify.journal import _model
from ramify.journal._answers import Receipt, outcome, receipt
from ramify.journal._errors import BusyError, JournalError, NotWrittenError
from ramify.journal._folder import snapshot_name
from ramify.journal._records import Operation, Stored
from ramify.journal._snapshots import Background
from ramify.journal._store import Outcome, Snapshot, Store

#: Rows of one commit; a larger call is a commit of its own.
_GROUP_ROWS = 1000
#: Bytes of operations after which the log is moved into the database.
_CHECKPOINT_BYTES = 16 << 20
#: Share of the time that hashes may take in the background, and that everybody may wait for the
#: copies that they are made of.
_HASH_SHARE, _COPY_SHARE = 0.05, 0.002


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


class Writer:
    """The thread, its queue, and the state of the journal."""

    def __init__(
        self, folder: Path, store: Store, model: Any, policy: Policy, seq: int, chain: bytes
    ) -> None:
        self.folder, self.store, self.model, self.policy = folder, store, model, policy
        self.seq, self.chain = seq, chain
        self.figures = Figures()
        self.background = Background(folder)
        self.broken: BaseException | None = None
        self.waiting_rows = 0
        self.on_commit: Callable[[int], None] | None = None  #: told of each new version
        self._queue: deque[Request | Callable[[], None]] = deque()
        self._ready = threading.Condition()
        self._stopping = False
        self._pending: list[Outcome] = []  # that a full disk did not take
        self._hashes: list[tuple[int, str]] = []
        latest = store.snapshots()[0]
        self._since_snapshot = seq - latest.seq
        self._bytes_since_snapshot = self._bytes_since_checkpoint = 0
        self._snapshot_seq, self._snapshot_bytes = latest.seq, latest.bytes
        self._hash_seq, self._hash_time, self._copy_seconds = seq, 0.0, 0.0
        self._thread = threading.Thread(target=self._run, name="ramify-writer", daemon=True)
        self._thread.start()

    # --- the queue ----------------------------------------------------------------------

    def submit(self, request: Request, *, block: bool = True) -> Future[Receipt]:
        """Put a call into the queue; BusyError if that is full and the caller cannot wait."""
        with self._ready:
            self._require_open()
            while self.waiting_rows and self.waiting_rows + request.rows > self.policy.queue_rows:
                if not block:
                    raise BusyError(f"{self.waiting_rows:,} rows wait to be written")
                self._ready.wait()
                self._require_open()
            self._queue.append(request)
            self.waiting_rows += request.rows
            self._ready.notify_all()
        return request.future

    def do(self, work: Callable[[], Any]) -> Future[Any]:
        """Have something done by the writer, between two commits."""
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        with self._ready:
            self._require_open()
            self._queue.append(run)
            self._ready.notify_all()
        return future

    def _later(self, work: Callable[[], Any]) -> None:
        """As :meth:`do`, for the background, which asks for no answer."""
        with self._ready:
            self._queue.append(work)
            self._ready.notify_all()

    def _require_open(self) -> None:
        if self._stopping:
            raise JournalError(f"{self.folder} has been closed")
        if self.broken is not None:
            raise JournalError(
                f"{self.folder}: the tree could not take an operation that is in the journal "
                f"({self.broken!r}); close it and open it again: nothing is lost"
            )

    def stop(self) -> None:
        """Work off what waits, and end the thread."""
        with self._ready:
            self._stopping = True
            self._ready.notify_all()
        self._thread.join()
        self.background.stop()
        for work in list(self._queue):  # what the background had to say last
            if callable(work):
                work()
        self._queue.clear()

    def _run(self) -> None:
        while True:
            with self._ready:
                while not self._queue and not self._stopping:
                    self._ready.wait()
                if not self._queue:
                    return
                taken = list(self._queue)
                self._queue.clear()
            self._work_off(taken)
            with self._ready:
                self.waiting_rows -= sum(one.rows for one in taken if isinstance(one, Request))
                self._ready.notify_all()

    def _work_off(self, taken: list[Request | Callable[[], None]]) -> None:
        group: list[tuple[Request, Operation]] = []
        names: set[Any] = set()
        for one in taken:
            if not isinstance(one, Request):
                self._commit(group)
                group, names = [], set()
                one()
                continue
            first = not _model.begun(self.model)
            full = sum(request.rows for request, _ in group) + one.rows > _GROUP_ROWS
            if group and (one.alone or first or full or not names.isdisjoint(one.names)):
                self._commit(group)
                group, names = [], set()
            operation = self._resolved(one)
            if operation is None:
                continue
            group.append((one, operation))
            names |= one.names
            if one.alone or first:
                self._commit(group)
                group, names = [], set()
        self._commit(group)

    def _resolved(self, request: Request) -> Operation | None:
        """What a call comes to; None if it was answered without."""
        if not request.future.set_running_or_notify_cancel():
            return None
        try:
            if self.broken is not None:
                self._require_open()
            found = request.resolve()
        except BaseException as error:
            request.future.set_exception(error)
            return None
        if isinstance(found, Operation):
            return found
        request.future.set_result(found)
        return None

    # --- a commit -------------------------------------------------------------------------

    def _commit(self, group: list[tuple[Request, Operation]]) -> None:
        if not group:
            return
        begin = time.perf_counter()
        try:
            self._note_pending()
            stored = self.store.append([operation for _, operation in group], self.seq, self.chain)
        except (sqlite3.Error, OSError) as error:
            self.figures.refused += len(group)
            for request, _ in group:
                request.future.set_exception(_not_written(self.folder, error))
            return
        seconds = time.perf_counter() - begin
        self.seq, self.chain = stored[-1].seq, stored[-1].digest
        self._count(group, stored, seconds)
        self._apply([request for request, _ in group], stored)
        self._look_after()

    def _count(
        self, group: list[tuple[Request, Operation]], stored: list[Stored], seconds: float
    ) -> None:
        figures = self.figures
        figures.operations += len(stored)
        figures.rows += sum(request.rows for request, _ in group)
        figures.commits += 1
        figures.commit_seconds += seconds
        figures.commit_times.append(seconds)
        size = sum(len(one.operation.body) + 512 for one in stored)
        self._since_snapshot += len(stored)
        self._bytes_since_snapshot += size
        self._bytes_since_checkpoint += size

    def _apply(self, requests: list[Request], stored: list[Stored]) -> None:
        """Let the tree take what is on the disk, and answer."""
        answers: list[Any] = []
        for one in stored:
            try:
                answers.append(_model.apply(self.model, one.operation))
            except _model.REFUSALS as error:
                answers.append(error)
            except BaseException as error:
                self.broken = error
                break
        if self.broken is not None:
            for request in requests:
                request.future.set_exception(
                    JournalError(f"written down, and not taken: {self.broken!r}; open it again")
                )
            return
        version = _model.version(self.model)
        refused = [isinstance(answer, BaseException) for answer in answers]
        self._pending += [
            outcome(one, None if bad else answer, version)
            for one, answer, bad in zip(stored, answers, refused, strict=True)
        ]
        # Safe without: replay finds out again. It is tried again before the next commit.
        with contextlib.suppress(sqlite3.Error, OSError):
            self._note_pending()
        for request, one, answer, bad in zip(requests, stored, answers, refused, strict=True):
            if bad:
                request.future.set_exception(answer)
            else:
                request.future.set_result(receipt(one.operation, answer, version))
        if self.on_commit is not None:
            self.on_commit(version)

    def _note_pending(self) -> None:
        if self._pending or self._hashes:
            self.store.note(self._pending, self._hashes)
            self._pending, self._hashes = [], []

    # --- behind the scenes ------------------------------------------------------------------

    def _look_after(self) -> None:
        """Begin a snapshot, a hash or a checkpoint, if it is time."""
        if self._bytes_since_checkpoint > _CHECKPOINT_BYTES:
            self._bytes_since_checkpoint = 0
            self.background.checkpoint()
        if self.background.busy:
            return
        policy = self.policy
        heavy = max(policy.snapshot_bytes, self._snapshot_bytes)
        if self._since_snapshot >= policy.snapshot_every or self._bytes_since_snapshot >= heavy:
            self.begin_snapshot()
            return
        rested = time.perf_counter() - self._hash_time
        cheap = rested * _HASH_SHARE >= self.background.hash_seconds
        cheap = cheap and rested * _COPY_SHARE >= self._copy_seconds
        if self.seq - self._hash_seq >= policy.hash_every and cheap:
            self._hash_seq, self._hash_time = self.seq, time.perf_counter()
            self.background.hash(self.seq, self._copy(), self._note_hash)

    def _note_hash(self, seq: int, state: str) -> None:
        self._later(lambda: self._hashes.append((seq, state)))

    def _copy(self) -> Any:
        """The tree as it is, for the background. Large ones take a while, and all wait."""
        begin = time.perf_counter()
        found = _model.saved(self.model)
        self._copy_seconds = time.perf_counter() - begin
        return found

    def begin_snapshot(self) -> None:
        """Copy the tree, and let it be written while the tree goes on."""
        self._since_snapshot = self._bytes_since_snapshot = 0
        self._hash_seq = self.seq
        self.background.snapshot(
            self.seq, self.chain, self._copy(), lambda new: self._later(lambda: self.adopt(new))
        )

    def adopt(self, new: Snapshot, keep: int | None = None) -> None:
        """A snapshot has been read back: write it down, and drop what it covers."""
        try:
            self._note_pending()
            self._tidy()
            old = self.store.add_snapshot(new, keep or self.policy.keep_snapshots)
            self._snapshot_seq, self._snapshot_bytes = new.seq, new.bytes
            self.figures.snapshots += 1
            covered = min(found.seq for found in self.store.snapshots())
            while self.store.drop(covered):
                pass
        except (sqlite3.Error, OSError) as error:
            self.background.failure = error if isinstance(error, OSError) else OSError(str(error))
            return
        for seq in old:
            (self.folder / snapshot_name(seq)).unlink(missing_ok=True)

    def _tidy(self) -> None:
        left = _model.has_left(self.model)
        there = _model.numbers_there(self.model) if left else None
        oldest = _model.next_number(self.model) - self.policy.keep_left
        self.store.tidy(self.policy.keep_requests, oldest, there)

    @property
    def snapshot_seq(self) -> int:
        """The operation after which the latest snapshot was taken."""
        return self._snapshot_seq


def _not_written(folder: Path, error: Exception) -> NotWrittenError:
    return NotWrittenError(
        f"{folder}: the disk did not take it ({error}); nothing of this call is in the tree, and "
        f"it can be tried again when there is room"
    )
