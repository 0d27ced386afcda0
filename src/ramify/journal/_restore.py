# SPDX-License-Identifier: BSD-3-Clause
"""_restore.py: a folder out of a backup or another folder: whole, or not there at all."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from ramify.journal._backup import DRAFTS, SHARDED, copy_of, unpack
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
from ramify.journal._going_back import NoSuchVersionError, go_back
from ramify.journal._repair import Findings, checked


def restore(
    source: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    version: int | None = None,
) -> Findings:
    """Make a tree's folder out of a backup, as :func:`backup` or a server wrote it, or of a folder.

    The journal in it is replayed and every file is read before the folder takes its name. A source
    that is damaged or was cut short makes no folder.

    Parameters
    ----------
    source : path
        A file that is a backup, or the folder of a tree, which may be in use, and stays as it is.
    folder : path
        The folder must not be there, or be empty.
    version : int, optional
        Have the tree as it was at this version, which an answer has named. A backup leads back to
        its snapshot, a folder to the older of its two. Points that left since then are back. Those
        older than that snapshot come without their payloads, and sources that were read since
        then are to be read from the beginning.

    Returns
    -------
    Findings
        ``operations``, ``points``, ``bytes``, ...

    Raises
    ------
    DamagedBackupError
        Naming what is wrong.
    ValueError
        If the journal does not lead to the version, naming one that it leads to.

    Examples
    --------
    >>> import tempfile, ramify
    >>> place = tempfile.mkdtemp()
    >>> with ramify.open(f"{place}/tickets", ramify.OHAC()) as tree:
    ...     version = tree.add([[0.0], [1.0], [9.0]]).version
    ...     _ = tree.forget(1)
    ...     restore(tree.folder, f"{place}/before", version=version).points
    3

    >>> from ramify.journal import DamagedBackupError, restore
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         restore(file.name, tempfile.mkdtemp())
    ...     except DamagedBackupError as error:
    ...         print("no backup" in str(error))
    True
    """
    called, place = os.fspath(source), Path(source)
    if place.is_dir():
        return whole_folder(folder_path(folder), partial(_of_folder, place, version))
    with place.open("rb") as file:
        return whole_folder(folder_path(folder), partial(fill_from, file, called, version))


def whole_folder(folder: Path, fill: Callable[[Path], Findings]) -> Findings:
    """A folder that is there when all of it is."""
    _require_free(folder)
    make_folder(folder.parent)
    draft = Path(tempfile.mkdtemp(prefix=DRAFTS, dir=folder.parent))
    try:
        findings = fill(draft)
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


def _of_folder(source: Path, version: int | None, draft: Path) -> Findings:
    copy_of(source, draft)
    _as_a_journal(draft)
    if version is not None:
        go_back(draft, version)
    return checked(source, draft)


def fill_from(source: BinaryIO, called: str, version: int | None, draft: Path) -> Findings:
    """Unpack a backup into a folder, and look at every byte of it."""
    try:
        manifest: dict[str, Any] = unpack(source, draft)
        if manifest["ramify"] == SHARDED:
            raise DamagedBackupError(
                "is of a tree in shards: restore it by ramify.ray.restore, `ramify restore` into a "
                "folder, or a server with --ray"
            )
        _as_a_journal(draft)
        if version is not None:
            go_back(draft, version)
        found = checked(draft, draft)
    except NoSuchVersionError:
        raise
    except DamagedBackupError as error:
        raise DamagedBackupError(f"{called} {error}. Nothing was made of it") from None
    except DamagedJournalError as error:
        said = str(error).replace(str(draft), "the tree")
        raise DamagedBackupError(f"{called}: {said}") from None
    except (sqlite3.Error, ValueError) as error:
        raise DamagedBackupError(f"{called} is damaged: {error}") from None
    if version is None and found.operations != manifest["operations"]:
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
