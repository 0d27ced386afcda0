# SPDX-License-Identifier: BSD-3-Clause
"""writing.py: files, written whole or not at all. Everything that Ramify writes goes through here.

The bytes go to a draft beside the target, are flushed to the disk, and only then take
the name. So a reader sees the old file or the new one, and a full disk, Ctrl-C or a
power cut leaves the old one.

A process that is killed cannot clear up its draft; the next one that writes into the
folder does. To tell the dead from the living, a draft is locked (``flock``) as long as
someone works on it, and its name says which boot of which machine that was: locks of
one kernel can be trusted, those of another host on a network drive cannot. Whatever
is not surely dead stays.
"""

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TextIO

# On Windows a file that is open can be neither moved nor removed, and there is no such module.
with suppress(ImportError):
    import fcntl

_PREFIX = ".ramify-"
_BOOT = Path("/proc/sys/kernel/random/boot_id")

#: Longer endings are no endings, and names have a limit.
_LONGEST_SUFFIX = 32


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Lend a draft of the same ending, which becomes ``path`` on success.

    It is written to the disk before it takes the name. After an exception nothing is
    left, and what was at ``path`` before is still there. A link stays a link; a device
    or a pipe is lent itself. A file that is replaced hands on its permissions and,
    where the system allows it, its owner and group; a new one gets the usual ones.

    Parameters
    ----------
    path : path

    Yields
    ------
    pathlib.Path
        Where to write.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from ramify.files import whole_file
    >>> with TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/a.txt") as lent:
    ...         _ = lent.write_text("complete")
    ...     Path(folder, "a.txt").read_text()
    'complete'
    """
    check_writable(path)
    old = _found(path)
    if old is not None and not stat.S_ISREG(old.st_mode):
        yield Path(path)
        return
    target = Path(os.path.realpath(path))
    _clear_dead(target.parent)
    with _named(path):
        draft = _Draft(target, 0o666 if old is None else 0o600)
        try:
            yield draft.path
            draft.become(target, old)
        finally:
            draft.end()


def write_whole(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write text, as UTF-8 and with line ends as they are, or bytes; whole or not at all.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/a.txt", "complete")
    ...     Path(folder, "a.txt").read_bytes()
    b'complete'
    """
    with whole_file(path) as lent:
        lent.write_bytes(data.encode() if isinstance(data, str) else data)


@contextmanager
def appended(path: str | os.PathLike[str], head: str) -> Iterator[TextIO]:
    """Lend a text file to append lines to: the one kind that grows instead of being whole.

    A list of what went wrong must be there after a crash. A new file begins with
    ``head``; a file that begins otherwise is somebody else's, and refused.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for line in ("a\\n", "b\\n"):
    ...         with appended(f"{folder}/log", "what\\n") as file:
    ...             _ = file.write(line)
    ...     Path(folder, "log").read_text().split()
    ['what', 'a', 'b']
    """
    check_writable(path)
    with (
        _named(path),
        open(path, "a+", encoding="utf-8", errors="surrogateescape", newline="") as file,
    ):
        if file.seekable():
            file.seek(0)
            beginning = file.read(len(head))
            if beginning not in ("", head):
                raise ValueError(f"cannot append to {path}: it does not begin with {head.strip()}")
            file.seek(0, os.SEEK_END)
            head = head if beginning == "" else ""
        file.write(head)
        yield file


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let an error of the system name the file that was meant: a full disk names none."""
    try:
        yield
    except OSError as error:
        found = os.fsdecode(error.filename or "") if not isinstance(error.filename, int) else ""
        ours = os.path.basename(found).startswith(_PREFIX)
        if error.errno is not None and (not found or ours):
            error.filename = os.fspath(path)
            if error.filename2 is not None:
                del error.filename2
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot become a file: better before the work than after it.

    Examples
    --------
    >>> check_writable("no/such/folder/tree.ramify")
    Traceback (most recent call last):
    ...
    FileNotFoundError: cannot write no/such/folder/tree.ramify: there is no folder no/such/folder
    """
    old = _found(path)
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(f"cannot write {path}: it is a folder")
    if old is not None and not stat.S_ISREG(old.st_mode):
        return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        folder = Path(path).parent
        raise FileNotFoundError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"cannot write {path}: its folder is write-protected")


def _found(path: str | os.PathLike[str]) -> os.stat_result | None:
    """What is there, at the end of all links; asked by name, since a pipe has no other."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


class _Draft:
    """A file that nobody else knows, and a lock on it while it is worked on."""

    def __init__(self, target: Path, mode: int) -> None:
        suffix = target.suffix if len(target.suffix) <= _LONGEST_SUFFIX else ""
        while True:
            name = f"{_PREFIX}{_this_boot()}-{secrets.token_hex(8)}.tmp{suffix}"
            self.path = target.with_name(name)
            # Created by the system's own rules: no mask has to be read, which would
            # mean to change it for all threads.
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
            if _lock(self._handle) and _is_at(self._handle, self.path):
                break
            self.end()  # someone took it for a dead one before it was locked
        if sys.platform == "win32":
            self._close()

    def become(self, target: Path, old: os.stat_result | None) -> None:
        """Take the target's name, and the permissions of the file that had it."""
        self._renew_handle()
        os.fsync(self._handle)
        if old is not None:
            _hand_on(old, self.path)
        if sys.platform == "win32":
            self._close()
        os.replace(self.path, target)  # still locked: nobody takes it for a dead one
        _sync_folder(target.parent)

    def _renew_handle(self) -> None:
        """Hold the file that is there now: a library may have put a new one in its place."""
        if not _is_at(self._handle, self.path):
            self._close()
            self._handle = os.open(self.path, os.O_RDWR)

    def end(self) -> None:
        """Leave nothing behind."""
        self._close()
        with suppress(OSError):
            os.unlink(self.path)

    def _close(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def _hand_on(old: os.stat_result, path: Path) -> None:
    """Give a file the owner, group and permissions of the one it replaces, as far as allowed.

    A group that never had the file must not get what another group was allowed: where
    the group cannot be kept, it may do what everybody may.
    """
    mode = stat.S_IMODE(old.st_mode)
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(path, -1, old.st_gid)
        with suppress(OSError):
            os.chown(path, old.st_uid, -1)
        new = os.stat(path)
        if new.st_gid != old.st_gid:
            mode = (mode & ~(stat.S_IRWXG | stat.S_ISGID)) | (mode & stat.S_IRWXO) << 3
        if new.st_uid != old.st_uid:
            mode &= ~stat.S_ISUID
    os.chmod(path, mode)


def _sync_folder(folder: Path) -> None:
    """Make the new name last, where the system can say so and lets us."""
    if sys.platform == "win32":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return  # a folder to write into and not to look into
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(handle)


# --- drafts of processes that were killed -----------------------------------------------


@cache
def _this_boot() -> str:
    """A name for the kernel that is running: no two machines, and no two boots, share it."""
    try:
        return _BOOT.read_text().strip().replace("-", "")
    except OSError:
        return "unknown"


def _lock(handle: int) -> bool:
    """Lock an open file; False if another has it. True where there are no locks to be had."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # not every network drive can
        return True
    return True


def _is_at(handle: int, path: str | os.PathLike[str]) -> bool:
    """True if the open file is the one of that name."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except OSError:
        return False


def _clear_dead(folder: Path) -> None:
    """Remove the drafts of killed processes; in doubt, leave them. O(files in the folder)."""
    if _this_boot() == "unknown":
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(f"{_PREFIX}{_this_boot()}-") and ".tmp" in entry.name:
                with suppress(OSError):
                    _remove_if_dead(entry.path)


def _remove_if_dead(path: str) -> None:
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(handle)
        ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if ours:
            # Refused while its writer lives, and where nothing can be locked.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(handle, path):
                os.unlink(path)
    finally:
        os.close(handle)
