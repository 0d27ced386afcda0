# SPDX-License-Identifier: BSD-3-Clause
"""_backup.py: a folder as one file, taken while it is used, and a folder out of such a file.

A backup is a plain tar (``tar -tf`` lists it):

    manifest.json           what is in it: sizes, SHA-256, the number of the last operation
    about.json              the options that a server began the tree with, if one did
    journal.sqlite          as it was at one moment, without its log and without free pages
    snapshot-000123.ramify  the tree after operation 123; later operations are in the journal

Taking one reads and does not lock: SQLite gives one moment of the journal, whoever writes
meanwhile, and a snapshot's file never changes. What a backup says counts once all of it was read
back: a file that was cut short, or changed by a byte, is refused, and a folder takes its name when
the tree in it has been replayed and looked through.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ramify.journal._errors import (
    DamagedBackupError,
    DamagedJournalError,
    FolderInUseError,
    JournalError,
    disk_error,
)
from ramify.journal._folder import (
    ABOUT,
    DATABASE,
    ROUTER,
    FolderLock,
    folder_path,
    require_plain,
    snapshot_name,
)
from ramify.journal._recover import look_at_end, sqlite_error
from ramify.journal._snapshots import is_whole
from ramify.journal._store import Snapshot, connect
from ramify.writing import whole_file

#: Raised when the files in a backup change.
FORMAT = 1
MANIFEST = "manifest.json"

#: Kinds of backups: of a tree in one folder, and of one in shards, each with a backup of its own.
PLAIN, SHARDED = "backup", "shards"
_OF_SHARD = re.compile(r"shard-\d{4,}\.tar")

#: What drafts beside a folder are called, so that those of a process that was killed can go.
DRAFTS = ".ramify-copy-"

#: Bytes that are read at once; tar's blocks; how often a moment is tried whose snapshot went.
_AT_ONCE, _BLOCK, _TIMES = 1 << 20, 512, 5


class Backup(NamedTuple):
    """What is in a backup.

    Examples
    --------
    >>> import tempfile, ramify
    >>> from ramify.journal import backup
    >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
    ...     _ = tree.partial_fit([[0.0], [1.0]])
    ...     backup(tree.folder, tempfile.mkdtemp() + "/monday.tar").operations
    1
    """

    operations: int  #: number of the last operation
    snapshot: int  #: number of the operation that its snapshot was taken after
    bytes: int
    created: str  #: when, in UTC


class Moment:
    """A folder as it was at one moment, to be read as the bytes of a backup."""

    def __init__(self, files: dict[str, BinaryIO], facts: dict[str, Any]) -> None:
        self.files = files
        told = {name: _told(file) for name, file in files.items()}
        self._manifest = json.dumps({**facts, "files": told}, indent=1).encode()
        sizes = [len(self._manifest), *(one["bytes"] for one in told.values())]
        total = sum(_BLOCK + size + -size % _BLOCK for size in sizes) + 2 * _BLOCK
        self.facts = Backup(facts["operations"], facts["snapshot"], total, facts["created"])

    def pieces(self) -> Iterator[bytes]:
        """All bytes, in order."""
        yield _head(MANIFEST, len(self._manifest)) + _filled(self._manifest)
        for name, file in self.files.items():
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            yield _head(name, size)
            while piece := file.read(_AT_ONCE):
                yield piece
            yield bytes(-size % _BLOCK)
        yield bytes(2 * _BLOCK)


def _told(file: BinaryIO) -> dict[str, Any]:
    digest = hashlib.sha256()
    file.seek(0)
    while piece := file.read(_AT_ONCE):
        digest.update(piece)
    return {"bytes": file.tell(), "sha256": digest.hexdigest()}


def _head(name: str, size: int) -> bytes:
    about = tarfile.TarInfo(name)
    about.size, about.mode, about.mtime = size, 0o600, int(time.time())
    return about.tobuf(tarfile.GNU_FORMAT)


def _filled(piece: bytes) -> bytes:
    return piece + bytes(-len(piece) % _BLOCK)


@contextmanager
def moment_of(folder: Path, room: Path, *, past: bool = False) -> Iterator[Moment]:
    """A folder as it is now, whoever uses it; a copy of its journal lies in ``room`` meanwhile.

    With ``past``, all its snapshots are in it, and not the latest alone.
    """
    if not (folder / DATABASE).exists():
        raise JournalError(f"{folder} has no tree in it")
    with ExitStack() as kept:
        try:
            kept.enter_context(_still(folder))
            draft = kept.enter_context(tempfile.TemporaryDirectory(prefix=DRAFTS, dir=room))
            files = kept.enter_context(closed_at_end())
            facts = _copy(folder, Path(draft) / DATABASE, files, past)
        except sqlite3.Error as error:
            raise sqlite_error(folder, error) from error
        except OSError as error:
            if isinstance(error, JournalError) or (trouble := disk_error(room, error)) is None:
                raise
            raise trouble from error
        yield Moment(files, facts)


@contextmanager
def _still(folder: Path) -> Iterator[None]:
    """A folder that nobody uses stays so, and the end of its journal is looked at first."""
    try:
        lock = FolderLock(folder)
    except FolderInUseError:  # then who uses it has looked
        yield
        return
    try:
        look_at_end(folder)
        yield
    finally:
        lock.release()


@contextmanager
def closed_at_end() -> Iterator[dict[str, BinaryIO]]:
    files: dict[str, BinaryIO] = {}
    try:
        yield files
    finally:
        for file in files.values():
            file.close()


def _copy(folder: Path, draft: Path, files: dict[str, BinaryIO], past: bool) -> dict[str, Any]:
    for _ in range(_TIMES):
        draft.unlink(missing_ok=True)
        source = connect(folder / DATABASE, read_only=True)
        try:
            source.execute("VACUUM INTO ?", (str(draft),))
        finally:
            source.close()
        found = _with_snapshots(folder, draft, files, past)
        if found is not None:
            return facts_of(PLAIN, **found)
    raise DamagedJournalError(
        f"{folder} has no snapshot that can be read; `ramify journal check {folder}` says more, "
        f"once nobody uses it"
    )


def _with_snapshots(
    folder: Path, draft: Path, files: dict[str, BinaryIO], past: bool
) -> dict[str, Any] | None:
    """Choose the latest snapshot that is whole, or all of them; None if there is none any more."""
    if ABOUT not in files:
        with suppress(FileNotFoundError):
            files[ABOUT] = (folder / ABOUT).open("rb")
    copy = sqlite3.connect(draft, isolation_level=None)
    chosen: list[int] = []
    try:
        rows = copy.execute("SELECT seq, state, chain, bytes FROM snapshots ORDER BY seq DESC")
        for found in [Snapshot(*row) for row in rows]:
            name = snapshot_name(found.seq)
            try:
                file = files.get(name) or (folder / name).open("rb")
            except FileNotFoundError:  # a writer has replaced it meanwhile
                file = None
            if file is not None and (past or not chosen) and is_whole(folder, found):
                files[name] = file
                chosen.append(found.seq)
            else:
                copy.execute("DELETE FROM snapshots WHERE seq = ?", (found.seq,))
                if file is not None:
                    files.pop(name, file).close()
        last = copy.execute("SELECT max(seq) FROM operations").fetchone()[0]
    finally:
        copy.close()
    if not chosen:
        return None
    files[DATABASE] = draft.open("rb")
    return {"operations": max(last or 0, chosen[0]), "snapshot": chosen[0]}


def facts_of(kind: str, operations: int, snapshot: int) -> dict[str, Any]:
    """What a manifest says beside the files."""
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    about = {"ramify": kind, "format": FORMAT, "library": version_of("ramify"), "created": when}
    return {**about, "operations": operations, "snapshot": snapshot}


def copy_of(folder: Path, draft: Path) -> None:
    """Write a folder's files, as they are now, into another one, with all its snapshots."""
    require_plain(folder)
    with moment_of(folder, draft.parent, past=True) as moment:
        for name, source in moment.files.items():
            source.seek(0)
            with (draft / name).open("xb") as out:
                shutil.copyfileobj(source, out, _AT_ONCE)


def backup(folder: str | os.PathLike[str], file: str | os.PathLike[str]) -> Backup:
    """Write all that is in a tree's folder into one file; the folder may be in use, by anybody.

    Points, ids, payloads, options, answers that are remembered, and the operations since the
    older snapshot: the tree that comes out of it goes on as the one in the folder would. The file
    is there when it is whole. What was forgotten and not yet erased from the folder may be in it.

    Parameters
    ----------
    folder, file : path
        Beside ``file`` there must be room for the journal once more.

    Examples
    --------
    >>> import tempfile, ramify
    >>> from ramify.journal import backup, restore
    >>> place = tempfile.mkdtemp()
    >>> with ramify.open(f"{place}/tickets", ramify.OHAC()) as tree:
    ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
    ...     digest = tree.digest()
    ...     made = backup(f"{place}/tickets", f"{place}/monday.tar")
    >>> _ = restore(f"{place}/monday.tar", f"{place}/again")
    >>> with ramify.open(f"{place}/again") as tree:
    ...     tree.digest() == digest
    True
    """
    place = folder_path(folder)
    require_plain(place)
    return backup_into(file, place, partial(moment_of, place))


def backup_into(
    file: str | os.PathLike[str],
    folder: Path,
    moment_in: Callable[[Path], AbstractContextManager[Moment]],
) -> Backup:
    """Write a moment of a folder into a file that is there when it is whole."""
    try:
        with whole_file(file) as lent, moment_in(lent.parent) as moment:
            with lent.open("wb") as out:
                for piece in moment.pieces():
                    out.write(piece)
            return moment.facts
    except OSError as error:
        if isinstance(error, JournalError) or (trouble := disk_error(folder, error)) is None:
            raise
        raise trouble from error


# --- back again ---------------------------------------------------------------------------------


def unpack(file: BinaryIO, draft: Path) -> dict[str, Any]:
    """Write the files of a backup into a folder; what its manifest says.

    Names are those that a backup has, and nothing else is believed of the archive.
    """
    try:
        with tarfile.open(fileobj=file, mode="r|") as archive:
            manifest = _read_manifest(archive)
            owed = dict(manifest["files"])
            while (member := archive.next()) is not None:
                if member.name not in owed or not member.isreg():
                    raise DamagedBackupError(f"holds {member.name!r}, which it should not")
                _unpack_one(archive, member, owed.pop(member.name), draft)
    except (tarfile.TarError, EOFError) as error:
        raise DamagedBackupError(f"is no backup, or was cut short: {error}") from error
    if owed:
        raise DamagedBackupError(f"was cut short: {', '.join(owed)} is missing")
    return manifest


def _read_manifest(archive: tarfile.TarFile) -> dict[str, Any]:
    first = archive.next()
    if first is None or first.name != MANIFEST or not first.isreg() or first.size > _AT_ONCE:
        raise DamagedBackupError("is no backup: it does not begin with a manifest")
    try:
        found = json.loads(archive.extractfile(first).read())  # type: ignore[union-attr]
        format_, seq = found["format"], int(found["snapshot"])
        known = set(found["files"]) - {ABOUT}
        if found["ramify"] == SHARDED:
            sound = ROUTER in known and all(map(_OF_SHARD.fullmatch, known - {ROUTER}))
        else:
            sound = known == {DATABASE, snapshot_name(seq)} and int(found["operations"]) >= seq
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedBackupError(f"has a manifest that cannot be read: {error}") from error
    if format_ != FORMAT:
        raise DamagedBackupError(f"has format {format_!r}; this Ramify reads {FORMAT}")
    if not sound:
        raise DamagedBackupError("has a manifest that makes no sense")
    return dict(found)


def _unpack_one(archive: tarfile.TarFile, member: tarfile.TarInfo, told: Any, draft: Path) -> None:
    source, digest = archive.extractfile(member), hashlib.sha256()
    with (draft / member.name).open("xb") as out:
        while piece := source.read(_AT_ONCE):  # type: ignore[union-attr]
            digest.update(piece)
            out.write(piece)
        out.flush()
        os.fsync(out.fileno())
    if not isinstance(told, dict) or digest.hexdigest() != told.get("sha256"):
        raise DamagedBackupError(f"{member.name} in it is not what was written")


def is_of_shards(file: str | os.PathLike[str]) -> bool:
    """Whether a file begins as the backup of a tree in shards; the rest of it is not read."""
    try:
        with tarfile.open(file, mode="r:") as archive:
            return bool(_read_manifest(archive)["ramify"] == SHARDED)
    except (tarfile.TarError, DamagedBackupError):
        return False


def require_backup(file: str | os.PathLike[str]) -> Backup:
    """Read all of a backup, and what it says of itself; DamagedBackupError if it is not whole."""
    place = Path(file)
    with tempfile.TemporaryDirectory(prefix=DRAFTS, dir=place.parent) as draft:
        try:
            with place.open("rb") as source:
                told = unpack(source, Path(draft))
        except DamagedBackupError as error:
            raise DamagedBackupError(f"{place} {error}") from None
    return Backup(told["operations"], told["snapshot"], place.stat().st_size, told["created"])


def clear_drafts(room: Path) -> None:
    """Remove what copies left behind that were killed; when nobody copies there."""
    for path in room.glob(f"{DRAFTS}*"):
        shutil.rmtree(path, ignore_errors=True)
