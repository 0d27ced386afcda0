# SPDX-License-Identifier: BSD-3-Clause
"""_writer.py: the one thread that changes a tree.

Calls come from any thread and wait for their answer. The writer takes all that have come
meanwhile, writes them down in one commit, lets the tree take them in that order, and
answers: so many callers at once share one wait for the disk, and a single one waits for
nobody. The way of a request is one line:

    the door          _growing.py    a request, checked as far as it can be without the tree
    resolved          _resolving.py  an operation, or the answer that was given before
    written           _store.py      in its place in the journal
    applied           _model.py      to the tree
    answered          _answers.py    to the caller, and for who asks again
 An operation is on the disk before the tree has it, so that a disk that is full
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
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ramify.journal import _model
from ramify.journal._answers import outcome, receipt
from ramify.journal._errors import BusyError, JournalError, NotWrittenError, disk_error
from ramify.journal._quota import require_quota
from ramify.journal._records import Operation, Stored
from ramify.journal._refusing import refuse
from ramify.journal._requests import Figures, Policy, Request
from ramify.journal._resolving import Resolver
from ramify.journal._store import MOST_BYTES, Outcome, Store
from ramify.journal._upkeep import Upkeep
from ramify.tree import Receipt

#: Rows of one commit; a larger call is a commit of its own.
_GROUP_ROWS = 1000

#: Seconds without work after which the thread ends; the next call begins another one.
_REST = 5.0

_Work = Request | Callable[[], None]


class Writer:
    """The thread, its queue, and the state of the journal."""

    def __init__(
        self,
        folder: Path,
        store: Store,
        model: Any,
        policy: Policy,
        resolver: Resolver,
        seq: int,
        chain: bytes,
    ) -> None:
        self.folder, self.store, self.model, self.policy = folder, store, model, policy
        self.seq, self.chain, self._resolver = seq, chain, resolver
        self.figures = Figures()
        self.broken: BaseException | None = None
        self.waiting_rows = 0
        self.on_commit: Callable[[int], None] | None = None  #: told of each new version
        self._queue: deque[_Work] = deque()
        self._ready = threading.Condition()
        self._stopping = False
        self._pending: list[Outcome] = []  # that a full disk did not take
        self.upkeep = Upkeep(folder, store, model, policy, self.figures, self._later)
        self.upkeep.note = self._note_pending
        self._thread: threading.Thread | None = None
        if self.upkeep.seconds_left() is not None:  # something is to be erased in time
            with self._ready:
                self._give(None)

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
            self.waiting_rows += request.rows
            self._give(request)
        return request.future

    def do(self, work: Callable[[], Any]) -> Future[Any]:
        """Have something done by the writer, between two commits."""
        future: Future[Any] = Future()

        def run() -> None:
            try:
                self._require_whole()
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        with self._ready:
            self._require_open()
            self._give(run)
        return future

    def _later(self, work: Callable[[], Any]) -> None:
        """As :meth:`do`, for the background, which asks for no answer."""
        with self._ready:
            self._give(work)

    def _give(self, work: _Work | None) -> None:
        """Into the queue, for a thread that is there or begins now."""
        if work is not None:
            self._queue.append(work)
        if self._thread is None and not self._stopping:
            self._thread = threading.Thread(target=self._run, name="ramify-writer", daemon=True)
            self._thread.start()
        self._ready.notify_all()

    def _require_open(self) -> None:
        if self._stopping:
            raise JournalError(f"{self.folder} has been closed")
        self._require_whole()

    def _require_whole(self) -> None:
        if self.broken is not None:
            raise self._unexpected() from self.broken

    def _unexpected(self) -> JournalError:
        return JournalError(
            f"{self.folder}: the tree met with something unexpected ({self.broken!r}); close it "
            f"and open it again: nothing that was acknowledged is lost"
        )

    def compact(self) -> Future[int]:
        """Erase what has left (``_upkeep.py``); the future has the bytes of the folder then."""
        future: Future[int] = Future()
        begun = self.do(lambda: self.upkeep.compact(future))

        def tell(done: Future[Any]) -> None:
            if (error := done.exception()) is not None:
                future.set_exception(error)

        begun.add_done_callback(tell)
        return future

    def stop(self) -> None:
        """Work off what waits, and end the thread."""
        with self._ready:
            self._stopping = True
            self._ready.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()
        self.upkeep.background.stop()
        while self._queue:  # what the background had to say last
            work = self._queue.popleft()
            if not isinstance(work, Request):
                work()

    def _run(self) -> None:
        while (taken := self._taken()) is not None:
            try:
                self._work_off(taken)
                if self.broken is None:
                    self.upkeep.look_after()
            except BaseException as error:  # a mistake of ours: no caller may wait for ever
                self.broken = self.broken or error
            for one in taken:
                if isinstance(one, Request) and not one.future.done():
                    one.future.set_exception(self._unexpected())
            self._make_room([one for one in taken if isinstance(one, Request)])

    def _make_room(self, requests: list[Request]) -> None:
        """Rows that were answered, or are about to be, wait no more."""
        with self._ready:
            for one in requests:
                self.waiting_rows -= one.rows
                one.rows = 0
            self._ready.notify_all()

    def _taken(self) -> list[_Work] | None:
        """All that waits, perhaps nothing if time has come to look after the folder; None: end."""
        with self._ready:
            in_vain = False
            while not self._queue and not self._stopping:
                wait = None if self.broken else self.upkeep.seconds_left()
                if wait == 0.0:
                    return []
                if wait is None and in_vain:
                    break
                in_vain = not self._ready.wait(_REST if wait is None else wait)
            if not self._queue:
                self._thread = None
                return None
            taken = list(self._queue)
            self._queue.clear()
            return taken

    def _work_off(self, taken: Sequence[_Work]) -> None:
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
            operation = self._resolved(one, group)
            if operation is None:
                continue
            group.append((one, operation))
            names |= one.names
            if one.alone or first:
                self._commit(group)
                group, names = [], set()
        self._commit(group)

    def _resolved(
        self, request: Request, group: list[tuple[Request, Operation]]
    ) -> Operation | None:
        """What a call comes to, behind others of a commit; None if it was answered without."""
        if not request.future.set_running_or_notify_cancel():
            return None
        try:
            self._require_whole()
            found = self._resolver.resolve(request)
            if isinstance(found, Operation):
                refuse(self.model, found)
                require_quota(self.folder, self.model, self.policy, found, group)
                return _writable(found)
        except BaseException as error:
            request.future.set_exception(error)
            return None
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
        except Exception as error:
            self._refuse(group, error)
            return
        self.seq, self.chain = stored[-1].seq, stored[-1].digest
        self._count(group, stored, time.perf_counter() - begin)
        self._apply([request for request, _ in group], stored)
        if self.broken is None:
            self.upkeep.look_after()

    def _refuse(self, group: list[tuple[Request, Operation]], error: Exception) -> None:
        """Nothing of a commit was written down."""
        if len(group) > 1 and disk_error(self.folder, error) is None:
            for one in group:  # only whose operation it was is refused
                self._commit([one])
            return
        self.figures.refused += len(group)
        refusal = JournalError(
            f"{self.folder}: it could not be written down ({error!r}); nothing of this call is in "
            f"the tree"
        )
        if disk_error(self.folder, error) is not None:
            refusal = NotWrittenError(
                f"{self.folder}: the disk did not take it ({error}); nothing of this call is in "
                f"the tree, and it can be tried again when there is room"
            )
        for request, _ in group:
            request.future.set_exception(refusal)

    def _count(
        self, group: list[tuple[Request, Operation]], stored: list[Stored], seconds: float
    ) -> None:
        figures = self.figures
        figures.operations += len(stored)
        figures.rows += sum(request.rows for request, _ in group)
        figures.commits += 1
        figures.commit_seconds += seconds
        figures.commit_times.append(seconds)
        figures.commit_histogram.observe(seconds)
        figures.batch_histogram.observe(sum(request.rows for request, _ in group))
        size = sum(len(one.operation.body) + 512 for one in stored)
        self.upkeep.committed(self.seq, self.chain, len(stored), size)

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
                request.future.set_exception(self._unexpected())
            return
        version = _model.version(self.model, self.store.past)
        refused = [isinstance(answer, BaseException) for answer in answers]
        self._pending += [
            outcome(one, None if bad else answer, version)
            for one, answer, bad in zip(stored, answers, refused, strict=True)
        ]
        # Safe without: replay finds out again. It is tried again before the next commit.
        with contextlib.suppress(sqlite3.Error, OSError):
            self._note_pending()
            self._note_left(stored, answers)
        self._make_room(requests)
        for request, one, answer, bad in zip(requests, stored, answers, refused, strict=True):
            if bad:
                request.future.set_exception(answer)
            else:
                request.future.set_result(receipt(one.operation, answer, version))
        if self.on_commit is not None:
            try:
                self.on_commit(version)
            except Exception as error:  # the listener's affair, and not the tree's
                self.upkeep.failure = error

    def _note_pending(self) -> None:
        if self._pending or self.upkeep.hashes:
            self.store.note(self._pending, self.upkeep.hashes)
            self._pending, self.upkeep.hashes = [], []

    def _note_left(self, stored: list[Stored], answers: list[Any]) -> None:
        """Have what has left the tree erased some day."""
        for one, answer in zip(stored, answers, strict=True):
            if isinstance(answer, _model.Answer) and (answer.left or answer.gone_numbers):
                self.upkeep.left(told=one.operation.tells_to_go)


def _writable(operation: Operation) -> Operation:
    """Refuse what no journal could hold, while it is known whose it is."""
    text = operation.text
    size = len(operation.body) + (len(text) if text.isascii() else len(text.encode()))
    if size > MOST_BYTES:
        raise ValueError(
            f"a call of {size:,} bytes; {MOST_BYTES:,} are the limit: give the rows in parts"
        )
    return operation
