# SPDX-License-Identifier: BSD-3-Clause
"""_errors.py: what can go wrong with a folder. All of them are ``OSError``: the disk's affair."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path


class JournalError(OSError):
    """A folder that cannot be opened, read or written; the message says why.

    Examples
    --------
    >>> issubclass(FolderInUseError, JournalError)
    True
    """


class NoTreeError(JournalError):
    """There is no tree in a folder, or one whose first moment a crash took.

    Examples
    --------
    >>> issubclass(NoTreeError, JournalError)
    True
    """


class FolderInUseError(JournalError):
    """Another process, or another part of this one, has the folder open.

    Examples
    --------
    >>> import tempfile, ramify
    >>> folder = tempfile.mkdtemp()
    >>> with ramify.open(folder, ramify.OHAC()):
    ...     try:
    ...         ramify.open(folder)
    ...     except FolderInUseError as error:
    ...         print("in use" in str(error))
    True
    """


class DamagedJournalError(JournalError):
    """What was written once cannot be read any more: what, where, and how to go on.

    Examples
    --------
    >>> import pathlib, tempfile, ramify
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "journal.sqlite").write_text("no database")
    >>> try:
    ...     ramify.open(folder)
    ... except DamagedJournalError as error:
    ...     print("ramify journal" in str(error))
    True
    """


class DamagedBackupError(JournalError):
    """A file that is no backup, or not all of one, or not as it was written.

    Examples
    --------
    >>> issubclass(DamagedBackupError, JournalError)
    True
    """


class DifferentTreeError(DamagedJournalError):
    """All operations are there, and they give another tree than the one that was there.

    Examples
    --------
    >>> issubclass(DifferentTreeError, DamagedJournalError)
    True
    """


class WrongEngineError(JournalError):
    """A tree in shards where one tree in a folder was asked for, or the other way round.

    Examples
    --------
    >>> import tempfile, ramify
    >>> from ramify.ray import ShardedOHAC
    >>> folder = tempfile.mkdtemp()
    >>> with ShardedOHAC(2, folder=folder, engine="local") as model:
    ...     _ = model.partial_fit([[0.0], [1.0]])
    >>> try:
    ...     ramify.open(folder, ramify.OHAC())
    ... except WrongEngineError as error:
    ...     print("ShardedOHAC" in str(error))
    True
    """


class DiskError(JournalError):
    """The disk is full, fails, or may not be used: what is on it is not said to be damaged.

    Examples
    --------
    >>> issubclass(DiskError, JournalError)
    True
    """


class NotWrittenError(DiskError):
    """The disk did not take it. Nothing of the call is in the tree; it can be tried again.

    Examples
    --------
    >>> issubclass(NotWrittenError, OSError)
    True
    """


class BusyError(JournalError):
    """So much waits to be written that no more is taken now; try again a little later.

    Examples
    --------
    >>> issubclass(BusyError, JournalError)
    True
    """


class QuotaError(JournalError):
    """The tree may not become that large (``max_points``, ``max_bytes`` of ``ramify.open``).

    Examples
    --------
    >>> issubclass(QuotaError, JournalError)
    True
    """


#: SQLite's primary codes for what is not the fault of the bytes: permission, busy, locked, no
#: memory, read-only, input or output, full, cannot be opened, no large files, no access.
_NOT_THE_BYTES = frozenset((3, 5, 6, 7, 8, 10, 13, 14, 22, 23))
#: The same, as the system says it.
_OF_THE_SYSTEM = frozenset(
    getattr(errno, name)
    for name in (
        *("ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EPERM", "EMFILE", "ENFILE", "ENOMEM"),
        *("EFBIG", "ENODEV", "ENXIO", "ESTALE", "ETIMEDOUT", "EBUSY", "EAGAIN"),
    )
    if hasattr(errno, name)
)


def disk_error(folder: Path, error: Exception) -> DiskError | None:
    """The same in our words, if a disk, its rights or its room are to blame; None: the bytes."""
    if isinstance(error, DiskError):
        return error
    if isinstance(error, sqlite3.Error):
        ours = getattr(error, "sqlite_errorcode", 1) & 0xFF in _NOT_THE_BYTES
    else:
        ours = isinstance(error, PermissionError) or (
            isinstance(error, OSError) and error.errno in _OF_THE_SYSTEM
        )
    if not ours:
        return None
    return DiskError(
        f"{folder}: the disk does not do what it should ({error}): is it full, or write-protected, "
        f"or failing? Nothing here is said to be damaged; open it again when that is mended"
    )
