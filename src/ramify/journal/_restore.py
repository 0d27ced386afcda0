# SPDX-License-Identifier: BSD-3-Clause
"""_restore.py: a folder out of a backup: whole and looked through, or not there at all."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

from ramify.journal._backup import DRAFTS, unpack
from ramify.journal._errors import (
    DamagedBackupError,
    DamagedJournalError,
    JournalError,
    disk_error,
)
from ramify.journal._folder import (
    DATABASE,
    folder_path,
    make_folder,
    require_plain,
    require_shards,
    sync_folder,
)
from ramify.journal._repair import Findings, checked


def restore(file: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Findings:
    """Make a tree's folder out of a backup, as :func:`backup` or a server wrote it.

    The journal in it is replayed and every file is read before the folder takes its name. A file
    that is damaged or was cut short makes no folder.

    Parameters
    ----------
    file, folder : path
        The folder must not be there, or be empty.

    Returns
    -------
    Findings
        ``operations``, ``points``, ``bytes``, ...

    Raises
    ------
    DamagedBackupError
        Naming what is wrong.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.journal import DamagedBackupError, restore
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         restore(file.name, tempfile.mkdtemp())
    ...     except DamagedBackupError as error:
    ...         print("no backup" in str(error))
    True
    """
    with Path(file).open("rb") as source:
        return restore_from(source, os.fspath(file), folder_path(folder))


def restore_from(source: BinaryIO, called: str, folder: Path) -> Findings:
    """As :func:`restore`, from an open file."""
    _require_free(folder)
    make_folder(folder.parent)
    draft = Path(tempfile.mkdtemp(prefix=DRAFTS, dir=folder.parent))
    try:
        findings = _looked_through(source, called, draft)
        _require_free(folder)
        draft.chmod(0o777 & ~_mask())
        if folder.exists():
            folder.rmdir()
        draft.rename(folder)
        sync_folder(folder.parent)
        return findings
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):  # somebody was quicker
            _require_free(folder)
        if isinstance(error, JournalError) or (trouble := disk_error(folder, error)) is None:
            raise
        raise trouble from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _mask() -> int:
    """The rights that new folders do not get, which mkdtemp does not ask about."""
    found = os.umask(0o077)
    os.umask(found)
    return found


def _require_free(folder: Path) -> None:
    require_plain(folder.parent)
    require_shards(folder.parent)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "has a tree in it" if (folder / DATABASE).exists() else "is there, and not empty"
        raise FileExistsError(
            f"{folder} {what}: restore into a folder of another name, and look at it, first"
        )


def _looked_through(source: BinaryIO, called: str, draft: Path) -> Findings:
    try:
        manifest: dict[str, Any] = unpack(source, draft)
        _as_a_journal(draft)
        found = checked(draft, draft)
    except DamagedBackupError as error:
        raise DamagedBackupError(f"{called} {error}. Nothing was made of it") from None
    except DamagedJournalError as error:
        said = str(error).replace(str(draft), "the tree")
        raise DamagedBackupError(f"{called}: {said}") from None
    except (sqlite3.Error, ValueError) as error:
        raise DamagedBackupError(f"{called} is damaged: {error}") from None
    if found.operations != manifest["operations"]:
        raise DamagedBackupError(
            f"{called} says that it has {manifest['operations']:,} operations, and has "
            f"{found.operations:,}"
        )
    return found


def _as_a_journal(draft: Path) -> None:
    """A copy has no log; a journal has one."""
    connection = sqlite3.connect(draft / DATABASE, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
