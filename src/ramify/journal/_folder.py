# SPDX-License-Identifier: BSD-3-Clause
"""_folder.py: the names of files in a folder, and the lock that makes one process its owner.

    journal.sqlite        operations, payloads, and what was answered; -wal and -shm beside it
    snapshot-000123.ramify  the tree after operation 123, as ``model.save`` writes it
    lock                  held by whoever has the folder open

The lock is the kernel's (``flock``), so it goes with the process that holds it, however
that ends. There is nothing to clear away after a crash.
"""

from __future__ import annotations

import contextlib
import os
import re
import weakref
from pathlib import Path

from ramify.journal._errors import FolderInUseError

_WINDOWS = os.name == "nt"
if not _WINDOWS:
    import fcntl

DATABASE = "journal.sqlite"
_SNAPSHOT = re.compile(r"snapshot-(\d{6,})\.ramify")


def snapshot_name(seq: int) -> str:
    """The file with the tree after an operation."""
    return f"snapshot-{seq:06d}.ramify"


def snapshot_files(folder: Path) -> dict[int, Path]:
    """All such files, by the number of their operation."""
    found = ((_SNAPSHOT.fullmatch(path.name), path) for path in folder.iterdir())
    return {int(match[1]): path for match, path in found if match is not None}


def sync_folder(folder: Path) -> None:
    """Make names of new files last."""
    if _WINDOWS:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class FolderLock:
    """A folder that is ours until we let go, or die."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            _take(self._handle)
        except OSError:
            owner = os.read(self._handle, 32).decode("ascii", "replace").strip()
            os.close(self._handle)
            who = f"process {owner}" if owner.isdigit() else "another process"
            raise FolderInUseError(
                f"{folder} is in use by {who}; a tree has one writer at a time: close it there, "
                f"or ask that process (ramify serve lets many programs use one tree)"
            ) from None
        os.ftruncate(self._handle, 0)
        os.write(self._handle, f"{os.getpid()}\n".encode())
        _HELD.add(self)

    def release(self) -> None:
        """Let others in."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def _take(handle: int) -> None:
    if _WINDOWS:
        import msvcrt

        os.lseek(handle, 1 << 20, os.SEEK_SET)  # beyond the number that others may read
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        os.lseek(handle, 0, os.SEEK_SET)
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


_HELD: weakref.WeakSet[FolderLock] = weakref.WeakSet()


def _leave_to_the_parent() -> None:
    """A forked child has the handle, too, and would keep the lock beyond its owner's end."""
    for lock in list(_HELD):
        with contextlib.suppress(OSError):
            lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_the_parent)
