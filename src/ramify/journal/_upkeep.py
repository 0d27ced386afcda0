# SPDX-License-Identifier: BSD-3-Clause
"""_upkeep.py: what a writer sees to between two commits: snapshots, digests, and erasure.

Snapshots and digests are worked out in the background from a copy of the tree, and adopted by the
writer afterwards. A *compaction* is a snapshot, after which everything goes that it covers:
operations, older snapshots, free pages, words of payloads that went, and the log. From then on
no file of the folder has the rows, ids or payloads of points that had left before. It is written
down before it begins, so that one that a crash interrupts is done when the folder is opened next.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ramify.journal import _model
from ramify.journal._errors import disk_error
from ramify.journal._folder import folder_bytes, snapshot_files, snapshot_name, sync_folder
from ramify.journal._requests import Figures, Policy
from ramify.journal._snapshots import Background, is_whole, write_snapshot
from ramify.journal._store import Snapshot, Store

#: Share of the time that hashes may take in the background, and that everybody may wait for the
#: copies that they are made of.
_HASH_SHARE, _COPY_SHARE = 0.05, 0.002
#: Seconds until a compaction is tried again that the disk did not take.
_AGAIN = 60.0


class Upkeep:
    """Looks after a folder, in the writer's thread; ``later`` puts work into its queue."""

    def __init__(
        self,
        folder: Path,
        store: Store,
        model: Any,
        policy: Policy,
        figures: Figures,
        later: Callable[[Callable[[], None]], None],
    ) -> None:
        self._folder, self._store, self._model = folder, store, model
        self._policy, self._figures, self._later = policy, figures, later
        self.background = Background()
        latest = store.snapshots()[0]
        self.seq, self.chain = store.last()
        self.snapshot_seq, self._snapshot_bytes = latest.seq, latest.bytes
        self._operations, self._bytes = self.seq - latest.seq, 0  # since the last snapshot
        self._hash_seq, self._hash_time = self.seq, 0.0
        self._hash_seconds = self._copy_seconds = 0.0
        self.hashes: list[tuple[int, str]] = []  #: that are not written down yet
        self.note: Callable[[], None] = lambda: None  #: writes down what operations came to
        self.failure: Exception | None = None  #: why a snapshot was not adopted
        #: Told of what is done without being asked, for a log.
        self.tell: Callable[[dict[str, Any]], None] = lambda facts: None
        self._owed: float | None = store.fact("owed")  # since when there is something to erase
        self._told: bool = bool(store.fact("told"))  # whether a call said that points are to go
        self._compacting, self._not_before = 0, 0.0
        self._room_for = 0  # snapshots that are about to be written

    # --- after a commit -------------------------------------------------------------------

    def committed(self, seq: int, chain: bytes, operations: int, size: int) -> None:
        """Operations are on the disk."""
        self.seq, self.chain = seq, chain
        self._operations += operations
        self._bytes += size

    def left(self, told: bool) -> None:
        """Points have left the tree, and are to be erased; perhaps because a call said so."""
        if self._owed is None:
            self._owed = time.time()
            self._store.set_facts({"owed": self._owed}, wait=False)
        if told and not self._told:
            self._told = True
            self._store.set_facts({"told": 1}, wait=False)

    def look_after(self) -> None:
        """Begin a snapshot, a digest or a compaction, if it is time; keep the log short."""
        if self._store.log_is_long():
            self._store.checkpoint()
        if self.seconds_left() == 0.0:
            self.compact(Future())
        if self.background.busy or self._room_for > 0:
            return
        heavy = max(self._policy.snapshot_bytes, self._snapshot_bytes)
        if self._operations >= self._policy.snapshot_every or self._bytes >= heavy:
            self._begin_snapshot(lambda new: self._later(lambda: self._adopt(new)), self._failed)
            return
        rested = time.perf_counter() - self._hash_time
        cheap = rested * _HASH_SHARE >= self._hash_seconds
        cheap = cheap and rested * _COPY_SHARE >= self._copy_seconds
        if self.seq - self._hash_seq >= self._policy.hash_every and cheap:
            self._begin_hash()

    def _copy(self) -> Any:
        """The tree as it is, for the background. Large ones take a while, and all wait."""
        begin = time.perf_counter()
        found = _model.saved(self._model)
        self._copy_seconds = time.perf_counter() - begin
        return found

    def _begin_hash(self) -> None:
        seq, found = self.seq, self._copy()
        self._hash_seq, self._hash_time = seq, time.perf_counter()

        def work() -> str:
            begin = time.perf_counter()
            state = _model.state_digest(found)
            self._hash_seconds = time.perf_counter() - begin
            return state

        self.background.submit(
            work, lambda state: self._later(lambda: self.hashes.append((seq, state)))
        )

    # --- snapshots ------------------------------------------------------------------------

    def _begin_snapshot(
        self, done: Callable[[Snapshot], Any], failed: Callable[[Exception], Any] | None = None
    ) -> None:
        """Make room, copy the tree, and let it be written while the tree goes on."""
        latest, *older = self._store.snapshots()
        self._room_for += 1

        def write(whole: bool) -> None:
            self._room_for -= 1
            self._operations = self._bytes = 0
            try:
                if whole:
                    self._make_room(latest)
                seq, chain, found = self.seq, self.chain, self._copy()
            except Exception as error:
                self.failure = error
                if failed is not None:
                    failed(error)
                return
            self._hash_seq = seq
            build = self._compacting > 0 or self._figures.snapshots == 0
            self.background.submit(
                lambda: write_snapshot(self._folder, seq, chain, found, build=build), done, failed
            )

        if older:
            self.background.submit(
                lambda: is_whole(self._folder, latest),
                lambda whole: self._later(lambda: write(whole)),
                lambda error: self._later(lambda: write(False)),
            )
        else:
            write(False)

    def _make_room(self, latest: Snapshot) -> None:
        """Drop what is older than a snapshot that was read once more: with a third one the folder
        would be more than three times as large as rows and payloads.
        """
        old = self._store.drop_snapshots(latest.seq)
        self._drop(latest.seq, old)

    def _drop(self, covered: int, old: list[int]) -> None:
        """Drop operations that a snapshot covers, and files of older snapshots."""
        while self._store.drop(covered):
            pass
        for seq in old:
            (self._folder / snapshot_name(seq)).unlink(missing_ok=True)

    def _adopt(self, new: Snapshot) -> None:
        try:
            self.adopt(new, self._policy.keep_snapshots)
        except (sqlite3.Error, OSError) as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        self.failure = error
        self.tell({"snapshot": None, "failed": str(error)})

    def adopt(self, new: Snapshot, keep: int) -> None:
        """A snapshot has been read back: write it down, and drop what it covers."""
        if new.seq < self.snapshot_seq:  # a later one came first
            known = self._store.snapshots()
            if all(one.seq != new.seq for one in known):
                (self._folder / snapshot_name(new.seq)).unlink(missing_ok=True)
            new = known[0]
        self.note()
        self._tidy()
        old = self._store.add_snapshot(new, keep)
        self.snapshot_seq, self._snapshot_bytes = new.seq, new.bytes
        self.failure = None
        self._figures.snapshots += 1
        self.tell({"snapshot": new.seq, "bytes": new.bytes})
        self._drop(min(found.seq for found in self._store.snapshots()), old)

    def _tidy(self) -> None:
        left = _model.has_left(self._model)
        there = _model.numbers_there(self._model) if left else None
        oldest = _model.next_number(self._model) - self._policy.keep_left
        self._store.tidy(self._policy.keep_requests, oldest, there)

    def snapshot_now(self) -> int:
        """Write a snapshot, and wait for it; the number of the operation it was taken after."""
        if self.seq > self.snapshot_seq:
            latest, *older = self._store.snapshots()
            if older and is_whole(self._folder, latest):
                self._make_room(latest)
            new = write_snapshot(self._folder, self.seq, self.chain, _model.saved(self._model))
            self.adopt(new, self._policy.keep_snapshots)
        return self.snapshot_seq

    # --- erasure ----------------------------------------------------------------------------

    @property
    def owes_erasure(self) -> bool:
        """Whether a call said that points are to go, and they are still on the disk."""
        return self._told and self._policy.erase_within is not None

    def seconds_left(self) -> float | None:
        """Seconds until a compaction is to begin; None if there is nothing to erase."""
        if self._owed is None or self._compacting or self._policy.erase_within is None:
            return None
        now = time.time()
        # What lies ahead of a clock that was set back is counted from now: it must not wait.
        self._owed, self._not_before = min(self._owed, now), min(self._not_before, now + _AGAIN)
        return max(0.0, max(self._owed + self._policy.erase_within, self._not_before) - now)

    @property
    def owed_seconds(self) -> float:
        """For how long there has been something to erase; 0 if there is nothing."""
        return 0.0 if self._owed is None else max(0.0, time.time() - self._owed)

    def compact_now(self) -> None:
        """The same at the end, when neither writer nor background are at work any more."""
        with contextlib.suppress(OSError, sqlite3.Error):  # it is owed, and done another time
            self._store.set_facts({"compacting": self.seq})
            self.snapshot_now()
            self._owed = None
            self._erase_behind(self._store.snapshots()[0])

    def compact(self, future: Future[int]) -> None:
        """Erase what has left, beginning now; the future has the bytes of the folder then."""
        owed, self._owed = self._owed, None  # points that leave from now on are owed anew
        self._compacting += 1

        def failed(error: Exception) -> None:
            self._compacting -= 1
            self._owed = owed or self._owed
            self._not_before = time.time() + _AGAIN
            future.set_exception(disk_error(self._folder, error) or error)

        def done(new: Snapshot) -> None:
            try:
                self._erase_behind(new)
                self._compacting -= 1
                future.set_result(folder_bytes(self._folder))
            except Exception as error:
                failed(error)

        try:
            self._store.set_facts({"compacting": self.seq})
            then = (
                lambda new: self._later(lambda: done(new)),
                lambda error: self._later(lambda: failed(error)),
            )
            if self.seq == self.snapshot_seq:
                # The background may still write an older snapshot, which has what is to go.
                latest = self._store.snapshots()[0]
                self.background.submit(lambda: latest, *then)
            else:
                self._begin_snapshot(*then)
        except Exception as error:
            failed(error)

    def _erase_behind(self, new: Snapshot) -> None:
        self.adopt(new, keep=1)
        for seq, path in snapshot_files(self._folder).items():
            if seq < new.seq:  # one that was not adopted
                path.unlink(missing_ok=True)
        sync_folder(self._folder)
        self._store.shrink()
        if self._compacting <= 1:  # else another one is under way, for what has left since
            facts = {"compacting": None, "owed": self._owed}
            self._store.set_facts(facts if self._owed else {**facts, "told": None})
            self._told = self._told and self._owed is not None
        self._figures.compactions += 1
        self.tell({"compacted": new.seq})
