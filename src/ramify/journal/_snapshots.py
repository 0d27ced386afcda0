# SPDX-License-Identifier: BSD-3-Clause
"""_snapshots.py: trees in files, written in the background, and read back before they count."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ramify import lean
from ramify.errors import UnreadableFileError
from ramify.journal._folder import snapshot_name
from ramify.journal._model import Saved, from_file, state_digest, write_saved
from ramify.journal._store import Snapshot

_Found = TypeVar("_Found")

#: Seconds without work after which the thread ends.
_REST = 5.0


def write_snapshot(
    folder: Path, seq: int, chain: bytes, found: Saved, *, build: bool = True
) -> Snapshot:
    """Write a snapshot's file, and read it back: what is on the disk is what was in memory.

    With ``build`` a tree is built of it, too: before all else that a tree could come from goes.
    """
    path = folder / snapshot_name(seq)
    state = state_digest(found)
    write_saved(path, found)
    content, arrays = lean.read(path)  # every byte is under a digest
    if state_digest((content, arrays)) != state:
        raise OSError(f"{path}: what was read back is not what was written")
    if build:
        from_file((content, arrays))
    return Snapshot(seq, state, chain, path.stat().st_size)


def is_whole(folder: Path, found: Snapshot) -> bool:
    """Whether a snapshot's file is still what was read back when it was written."""
    try:
        return state_digest(lean.read(folder / snapshot_name(found.seq))) == found.state
    except (OSError, UnreadableFileError):
        return False


class Background:
    """A thread that does one piece of work after the other, beside the writer.

    It is there while there is work, and for a moment longer.
    """

    def __init__(self) -> None:
        self._jobs: deque[Callable[[], None]] = deque()
        self._ready = threading.Condition()
        self._given = self._ended = 0  # each counted by one thread alone
        self._thread: threading.Thread | None = None
        self._stopped = False
        self.failure: Exception | None = None  #: what the last work that failed met with

    @property
    def busy(self) -> bool:
        """Whether there is work that has not ended."""
        return self._given != self._ended

    def submit(
        self,
        work: Callable[[], _Found],
        done: Callable[[_Found], Any],
        failed: Callable[[Exception], Any] | None = None,
    ) -> None:
        """Have something worked out; ``done`` or ``failed`` is told in the background's thread."""

        def job() -> None:
            try:
                found = work()
            except Exception as error:  # a full disk, say: the journal has it all, and grows
                self.failure = error
                if failed is not None:
                    failed(error)
            else:
                self.failure = None
                done(found)

        with self._ready:
            stopped = self._stopped
            if not stopped:
                self._given += 1
                self._jobs.append(job)
                if self._thread is None:
                    self._thread = threading.Thread(
                        target=self._run, name="ramify-snapshots", daemon=True
                    )
                    self._thread.start()
                self._ready.notify_all()
        if stopped:  # work that follows from the last
            job()

    def stop(self) -> None:
        """Finish what is under way. What is submitted from now on is done at once."""
        with self._ready:
            self._stopped = True
            self._ready.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            try:
                job()
            finally:
                self._ended += 1

    def _next(self) -> Callable[[], None] | None:
        with self._ready:
            while not self._jobs and not self._stopped and self._ready.wait(_REST):
                pass
            if self._jobs:
                return self._jobs.popleft()
            self._thread = None
            return None
