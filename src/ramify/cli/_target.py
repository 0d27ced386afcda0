# SPDX-License-Identifier: BSD-3-Clause
"""_target.py: the file that a tree is written to, by one command at a time.

Two updates that read one tree, and write it one after the other, lose the rows of the
first. So a command that writes a tree holds a lock from before it is read until its labels are
written, too. The lock is on a small file beside the tree and not on the tree, which is
replaced by another file meanwhile.

Not every program asks for locks: Python's ``model.save`` does not, and some network drives
have none. So before the tree is replaced we look whether it still is the one that was
there. If not, the new one goes beside it: neither is lost, and the user is told.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from ramify.cli._console import note
from ramify.cli._labels import beside

with suppress(ImportError):  # not on Windows
    import fcntl

_LONGEST = 200  # characters of a name: a folder allows for 255


class _State(NamedTuple):
    """What tells a file from another one of the same name."""

    device: int
    number: int
    size: int
    changed: int


class Target:
    """A tree's file, as it was when the work began."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._before = _state(path)
        self.existed = self._before is not None

    def place(self) -> Path:
        """Where to write: there, or beside what another program has put there meanwhile."""
        return self.path if _state(self.path) == self._before else free_name(self.path)

    def written(self) -> None:
        """It has been written by us."""
        self._before = _state(self.path)


def free_name(path: Path) -> Path:
    """A name like this one, which no tree has."""
    names = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return next(
        name for name in chain([path], names) if not (name.exists() or beside(name).exists())
    )


@contextmanager
def only_writer(path: Path, *, wait: bool, quiet: bool) -> Iterator[Target]:
    """Lend a tree's file to write to, while no other command may.

    If another command has it, ``wait`` until it has ended, or else refuse.
    """
    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name[:_LONGEST]}.ramify-lock")
    handle = _acquire(lock, path, wait=wait, quiet=quiet)
    try:
        yield Target(path)
    finally:
        _release(lock, handle)


def _acquire(lock: Path, path: Path, *, wait: bool, quiet: bool) -> int:
    while True:
        handle = _open(lock)
        try:
            if not _try_to_lock(handle):
                owner = _owner(handle)
                if not wait:
                    raise BlockingIOError(
                        f"{path} is being written by another ramify{owner}; try again when it "
                        f"has ended, or choose another name after -o"
                    )
                note(f"{path}: waiting for another ramify{owner} to write it", quiet=quiet)
                _lock(handle)
            if _is_still(lock, handle):
                _sign(handle)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # its owner has removed it meanwhile: there may be a new one


def _release(lock: Path, handle: int) -> None:
    with suppress(OSError):
        lock.unlink()
    os.close(handle)


def _open(lock: Path) -> int:
    flags = getattr(os, "O_NOFOLLOW", 0)  # never into a file that a link leads to
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT | flags, 0o666)
    except PermissionError:  # another user's, which can be locked all the same
        return os.open(lock, os.O_RDONLY | flags)


def _try_to_lock(handle: int) -> bool:
    """False if another command has it; True also where there are no locks to be had."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _lock(handle: int) -> None:
    if sys.platform != "win32":
        fcntl.flock(handle, fcntl.LOCK_EX)


def _sign(handle: int) -> None:
    """Say who we are, for the command that has to wait."""
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())


def _owner(handle: int) -> str:
    try:
        return f" (process {int(os.read(handle, 20))})"
    except (OSError, ValueError):
        return ""


def _is_still(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _state(path: Path) -> _State | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return _State(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
