# SPDX-License-Identifier: BSD-3-Clause
"""_snapshots.py: trees in files, written in the background, and read back before they count."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ramify import archive
from ramify.journal._folder import DATABASE, snapshot_name
from ramify.journal._model import Saved, state_digest, write_saved
from ramify.journal._store import Snapshot, connect


def write_snapshot(folder: Path, seq: int, chain: bytes, found: Saved) -> Snapshot:
    """Write a snapshot's file, and read it back: what is on the disk is what was in memory."""
    path = folder / snapshot_name(seq)
    state = state_digest(found)
    write_saved(path, found)
    content, arrays = archive.read(path)  # every byte is under a digest
    if state_digest((content, arrays)) != state:
        raise OSError(f"{path}: what was read back is not what was written")
    return Snapshot(seq, state, chain, path.stat().st_size)


class Background:
    """A thread for what nobody waits for: snapshots, hashes, and the log's checkpoints."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="ramify-snapshots", daemon=True)
        self._thread.start()
        self.busy = False  #: a snapshot or a hash is under way
        self.hash_seconds = 0.0  #: what the last hash took
        self.failure: Exception | None = None  #: why the last snapshot could not be written

    def hash(self, seq: int, found: Saved, done: Callable[[int, str], None]) -> None:
        """Work out the digest of a state."""

        def job() -> None:
            begin = time.perf_counter()
            state = state_digest(found)
            self.hash_seconds = time.perf_counter() - begin
            self.busy = False
            done(seq, state)

        self.busy = True
        self._jobs.put(job)

    def snapshot(
        self, seq: int, chain: bytes, found: Saved, done: Callable[[Snapshot], Any]
    ) -> None:
        """Write a snapshot."""

        def job() -> None:
            try:
                new = write_snapshot(self._folder, seq, chain, found)
                self.failure = None
            except OSError as error:  # a full disk: the journal has it all, and grows
                self.failure = error
                return
            finally:
                self.busy = False
            done(new)

        self.busy = True
        self._jobs.put(job)

    def checkpoint(self) -> None:
        """Move what is in the log into the database, without being in anybody's way."""

        def job() -> None:
            with contextlib.suppress(sqlite3.Error):
                connection = connect(self._folder / DATABASE)
                try:
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
                finally:
                    connection.close()

        self._jobs.put(job)

    def stop(self) -> None:
        """Finish what is under way."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
