# SPDX-License-Identifier: BSD-3-Clause
"""_backup.py: a tree in shards as one file, and a folder out of such a file.

A backup is a plain tar, as that of a tree in one folder, with one of these for each shard:

    manifest.json   what is in it: sizes, SHA-256, the number of the last operation
    about.json      the options that a server began the tree with, if one did
    router.sqlite   where the stream stands, and the operation under way, if there is one
    shard-0000.tar  the backup of a shard's folder, and so on

It is of one moment: no operation begins while the shards write theirs. The parts lie in the
tree's folder meanwhile, where every machine sees them.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from ramify.journal import Backup, DamagedBackupError, JournalError
from ramify.journal.seam import (
    ABOUT,
    DRAFTS,
    ROUTER,
    SHARDED,
    Findings,
    FolderLock,
    Moment,
    backup_into,
    closed_at_end,
    facts_of,
    fill_from,
    folder_path,
    unpack,
    whole_folder,
)
from ramify.ray._crew import shard_folder
from ramify.ray._head import copy_head, read_only_facts
from ramify.ray._shard import copy_shard


@contextmanager
def moment_of_shards(folder: Path, copy: Callable[[str], Any]) -> Iterator[Moment]:
    """A tree in shards as it is now; ``copy`` has its parts written into a folder."""
    with tempfile.TemporaryDirectory(prefix=DRAFTS, dir=folder) as room, closed_at_end() as files:
        copy(room)
        about = folder / ABOUT
        for path in [*sorted(Path(room).iterdir()), *([about] if about.exists() else [])]:
            files[path.name] = path.open("rb")
        op = _facts(Path(room))["op"]
        yield Moment(files, facts_of(SHARDED, operations=op, snapshot=op))


def _facts(folder: Path) -> dict[str, Any]:
    found = read_only_facts(folder)
    if found is None:
        raise DamagedBackupError("has a router's file that cannot be read, or no stream in it")
    return found


def backup(folder: str | os.PathLike[str], file: str | os.PathLike[str]) -> Backup:
    """Write all of a tree in shards into one file, while nobody has its folder open.

    For one that is open, :meth:`ShardedOHAC.backup` asks its router.

    Parameters
    ----------
    folder, file : path
        In the folder there must be room for the tree once more.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.ray import ShardedOHAC, backup, restore
    >>> place = tempfile.mkdtemp()
    >>> with ShardedOHAC(2, folder=f"{place}/tree", engine="local") as model:
    ...     digests = model.partial_fit([[0.0], [1.0], [9.0]]).digests()
    >>> backup(f"{place}/tree", f"{place}/monday.tar").operations
    1
    >>> restore(f"{place}/monday.tar", f"{place}/again").points
    3
    >>> with ShardedOHAC(2, folder=f"{place}/again", engine="local") as model:
    ...     model.digests() == digests
    True
    """
    place = folder_path(folder)
    begun = read_only_facts(place)
    if begun is None:
        raise JournalError(f"{place} has no tree in shards in it")

    def copy(room: str) -> None:
        for shard in range(len(begun["sizes"])):
            copy_shard(shard_folder(place, shard), Path(room))
        copy_head(place, Path(room))

    lock = FolderLock(place)
    try:
        return backup_into(file, place, lambda room: moment_of_shards(place, copy))
    finally:
        lock.release()


def restore(source: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Findings:
    """Make the folder of a tree in shards out of a backup: all of it, or nothing.

    The journal of each shard is replayed and every file is read before the folder is there.

    Parameters
    ----------
    source : path
        A file that :func:`backup` or a server wrote.
    folder : path
        It must not be there, or be empty.

    Returns
    -------
    Findings
        ``operations`` of the router; ``points``, ``bytes``, ... of all shards.

    Raises
    ------
    DamagedBackupError
        Naming what is wrong.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.journal import DamagedBackupError
    >>> from ramify.ray import restore
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         restore(file.name, tempfile.mkdtemp())
    ...     except DamagedBackupError as error:
    ...         print("no backup" in str(error))
    True
    """
    called = os.fspath(source)
    with Path(source).open("rb") as file:
        try:
            return whole_folder(folder_path(folder), partial(_fill, file))
        except DamagedBackupError as error:
            raise DamagedBackupError(f"{called} {error}. Nothing was made of it") from None


def _fill(source: BinaryIO, draft: Path) -> Findings:
    if unpack(source, draft)["ramify"] != SHARDED:
        raise DamagedBackupError("is of a tree that is not in shards: restore it without --ray")
    try:
        begun = _facts(draft)
    except (sqlite3.Error, json.JSONDecodeError) as error:
        raise DamagedBackupError(f"has a router's file that cannot be read: {error}") from None
    found: list[Findings] = []
    for shard in range(len(begun["sizes"])):
        place = shard_folder(draft, shard)
        packed = draft / f"{place.name}.tar"
        if not packed.exists():
            raise DamagedBackupError(f"was cut short: {packed.name} is missing")
        place.mkdir()
        with packed.open("rb") as file:
            found.append(fill_from(file, packed.name, None, place))
        packed.unlink()
    for left in draft.glob("*.tar"):
        raise DamagedBackupError(f"holds {left.name!r}, which it should not")
    notes = tuple(note for one in found for note in one.notes)
    size = (draft / ROUTER).stat().st_size + sum(one.bytes for one in found)
    return Findings(
        begun["op"],
        sum(one.points for one in found),
        sum(one.replayed for one in found),
        sum(one.proven for one in found),
        notes,
        size,
    )
