# SPDX-License-Identifier: BSD-3-Clause
"""_folder.py: the names of files in a folder, and the lock that makes one process its owner.

    journal.sqlite        operations, payloads, and what was answered; -wal and -shm beside it
    router.sqlite         there instead where the tree is in shards, each in a folder of its own
    snapshot-000123.ramify  the tree after operation 123, as ``model.save`` writes it
    about.json            the options that a server began the tree with, if one did
    summaries.sqlite      summaries of the tree that a server tells, if a program keeps them there
    lock                  held by the process that has the folder open

The lock is the kernel's (``flock``), so it goes with the process that holds it, however
that ends. There is nothing to clear away after a crash.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import weakref
from pathlib import Path

from ramify.journal._errors import FolderInUseError, WrongEngineError

with contextlib.suppress(ImportError):  # not on Windows
    import fcntl

DATABASE = "journal.sqlite"
ROUTER = "router.sqlite"
ABOUT = "about.json"
SUMMARIES = "summaries.sqlite"
_SNAPSHOT = re.compile(r"snapshot-(\d{6,})\.ramify")


def folder_path(path: object) -> Path:
    """A folder's name as a caller gives it. An empty name would be the current folder.

    Examples
    --------
    >>> folder_path("")
    Traceback (most recent call last):
    ...
    ValueError: path='': expected the name of a folder; "." is the current one
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path={path!r}: expected the name of a folder")
    name = os.fspath(path)
    if not isinstance(name, str) or not name or "\0" in name:
        raise ValueError(f'path={path!r}: expected the name of a folder; "." is the current one')
    return Path(name)


def require_plain(folder: Path) -> None:
    """Refuse a folder of shards, and any folder in it: a tree there would be a second one."""
    here = folder.resolve()
    for place in (here, *here.parents):
        if (place / ROUTER).exists():
            shards = folder if place == here else place
            raise WrongEngineError(
                f"{folder} is {'' if place == here else 'inside '}the folder of a tree in shards: "
                f"open it by ramify.ray.ShardedOHAC(folder={str(shards)!r}), or serve it by "
                f"`ramify serve ... --ray local` or the address of a Ray cluster{_both(place)}"
            )


def require_shards(folder: Path) -> None:
    """Refuse a folder with a tree that is not in shards, and any folder in it."""
    here = folder.resolve()
    for place in (here, *here.parents):
        if (place / DATABASE).exists():
            plain = folder if place == here else place
            raise WrongEngineError(
                f"{folder} is {'' if place == here else 'inside '}the folder of a tree that is not "
                f"in shards: open it by ramify.open({str(plain)!r}), or serve it without --ray"
                f"{_both(place)}"
            )


def _both(place: Path) -> str:
    """An earlier version let one folder have two trees."""
    if not ((place / DATABASE).exists() and (place / ROUTER).exists()):
        return ""
    return (
        f". It has two trees, of which one was begun by the wrong engine; to have both, move "
        f"{DATABASE}* and snapshot-*.ramify from {place} into a folder of their own"
    )


def snapshot_name(seq: int) -> str:
    """The file with the tree after an operation."""
    return f"snapshot-{seq:06d}.ramify"


def snapshot_files(folder: Path) -> dict[int, Path]:
    """All such files, by the number of their operation."""
    found = ((_SNAPSHOT.fullmatch(path.name), path) for path in folder.iterdir())
    return {int(match[1]): path for match, path in found if match is not None}


def folder_bytes(folder: Path) -> int:
    """Bytes of the files of a folder, of which some may go meanwhile."""
    total = 0
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def make_folder(folder: Path) -> None:
    """Make a folder, with those above it that are not there, and make their names last.

    A power cut would take the name of a new folder otherwise, with all that was safe in it.
    """
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for one in new:
        sync_folder(one.parent)


def sync_folder(folder: Path) -> None:
    """Make names of new files last, where the system can say so and lets us."""
    if sys.platform == "win32":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return  # a folder to write into and not to look into
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class FolderLock:
    """A folder that is ours until we let go, or die."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
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
        with contextlib.suppress(OSError):  # a full disk: the lock holds without our number
            os.ftruncate(self._handle, 0)
            os.write(self._handle, f"{os.getpid()}\n".encode())
        _HELD.add(self)

    def release(self) -> None:
        """Let others in."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def _take(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, 1 << 20, os.SEEK_SET)  # beyond the number that others may read
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def owner_of(folder: Path) -> int | bool | None:
    """The process that has a folder open, True if it has not signed, or None. Nothing is written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> owner_of(folder)
    >>> lock = FolderLock(folder)
    >>> owner_of(folder) == os.getpid()
    True
    >>> lock.release()
    """
    try:
        handle = os.open(folder / "lock", os.O_RDONLY)
    except OSError:
        return None
    try:
        if not _is_taken(handle):
            return None
        text = os.read(handle, 32).decode("ascii", "replace").strip()
        return int(text) if text.isdigit() else True
    finally:
        os.close(handle)


def _is_taken(handle: int) -> bool:
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(handle, fcntl.LOCK_UN)
    return False


_HELD: weakref.WeakSet[FolderLock] = weakref.WeakSet()


def _leave_to_the_parent() -> None:
    """A forked child has the handle, too, and would keep the lock beyond its owner's end."""
    for lock in list(_HELD):
        with contextlib.suppress(OSError):
            lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_the_parent)
