# SPDX-License-Identifier: BSD-3-Clause
"""_repair.py: look at a folder from end to end, save what can be saved, and make it small."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

from ramify import lean
from ramify.errors import UnreadableFileError
from ramify.journal import _model
from ramify.journal._errors import (
    DamagedJournalError,
    FolderInUseError,
    JournalError,
    WrongEngineError,
    disk_error,
)
from ramify.journal._folder import (
    DATABASE,
    ROUTER,
    FolderLock,
    require_plain,
    snapshot_files,
    snapshot_name,
    sync_folder,
)
from ramify.journal._open import open as open_tree
from ramify.journal._records import NO_CHAIN
from ramify.journal._recover import CHECK, Replay, believed, look_at_end, recover
from ramify.journal._snapshots import write_snapshot
from ramify.journal._store import Snapshot, Store, connect
from ramify.saving import load

#: Where a repair writes, in the folder, until it is complete.
_DRAFT = "repair.tmp"


class Findings(NamedTuple):
    """What a check found."""

    operations: int  #: in the journal, ever
    points: int
    replayed: int
    proven: int
    notes: tuple[str, ...]
    bytes: int


def check(folder: Path) -> Findings:
    """Read every byte of a folder and replay its journal; nothing is changed.

    Raises
    ------
    DamagedJournalError
        Naming what is wrong.
    """
    lock = _locked(folder)
    draft = folder / CHECK
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        for path in folder.iterdir():  # recovery cuts off and clears away: let it do so there
            if path.is_file() and path.name != "lock":
                shutil.copy2(path, draft / path.name)
        return checked(folder, draft)
    except DamagedJournalError as error:
        raise DamagedJournalError(str(error).replace(str(draft), str(folder))) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        lock.release()


def checked(folder: Path, draft: Path) -> Findings:
    """What a copy of a folder holds, once every byte of it was read; errors name the folder."""
    recovered = recover(draft, look_at_end(draft))
    store = recovered.store
    try:
        wrong = store.integrity()
        for found in store.snapshots():
            wrong += _look_at_snapshot(draft, found)
        wrong += _look_at_operations(store)
        recovered.model.check() if len(recovered.model) else None
    finally:
        store.abandon()
    if wrong:
        raise DamagedJournalError(f"{folder} is damaged: {'; '.join(wrong)}")
    report = recovered.report
    return Findings(
        recovered.seq,
        len(_model.numbers_there(recovered.model)),
        report.replayed,
        report.proven,
        report.notes,
        sum(path.stat().st_size for path in folder.iterdir() if path.is_file()),
    )


def _look_at_snapshot(folder: Path, found: Snapshot) -> list[str]:
    path = folder / snapshot_name(found.seq)
    try:
        same = _model.state_digest(lean.read(path)) == found.state
        return [] if same else [f"{path.name} is another tree's"]
    except (OSError, UnreadableFileError) as error:
        return [str(error)]


def _look_at_operations(store: Store) -> list[str]:
    """Also those that the latest snapshot covers."""
    chain: bytes | None = None
    for row in store.operations(0):
        if chain is not None and believed(chain, row) is None:
            return [f"operation {row[0]} is not what was written"]
        chain = row[5]
    return []


def repair(folder: Path) -> Findings:
    """Keep all before the damage, and the damaged files in a folder beside.

    A tree after a hole in its journal is none that ever was, so what comes after the first
    damaged operation is not taken.
    """
    lock = _locked(folder)
    try:
        aside, draft = _aside(folder), folder / _DRAFT
        try:
            model, seq, notes = _salvaged(folder)
            _write_anew(draft, aside, model, seq)
        except BaseException:
            for path in (draft, aside):
                shutil.rmtree(path, ignore_errors=True)
            raise
        _move_files(folder, aside)
        _move_files(draft, folder)
        shutil.rmtree(draft)
        sync_folder(folder)
    finally:
        lock.release()
    notes = (*notes, f"the damaged files are in {aside}")
    points = len(_model.numbers_there(model))
    size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    return Findings(seq, points, 0, 0, notes, size)


def _write_anew(draft: Path, aside: Path, model: Any, seq: int) -> None:
    """A folder with this tree, and what else is true of it. The old one is as it was."""
    shutil.rmtree(draft, ignore_errors=True)  # of a repair that was killed
    draft.mkdir()
    store = Store.create(draft, write_snapshot(draft, seq, NO_CHAIN, _model.saved(model)))
    try:
        _take_over(store, aside / DATABASE, model, seq)
    finally:
        store.close()


def _move_files(here: Path, there: Path) -> None:
    """Files that are there already stay as they are there."""
    for path in list(here.iterdir()):
        if path.is_file() and path.name != "lock":
            if (there / path.name).exists():
                path.unlink()
            else:
                path.rename(there / path.name)


def _salvaged(folder: Path) -> tuple[Any, int, tuple[str, ...]]:
    """The tree before the damage, and after which operation that was."""
    for accept in (False, True):
        try:
            found = recover(folder, look_at_end(folder), accept=accept)
            found.store.abandon()
            return found.model, found.seq, found.report.notes
        except DamagedJournalError as error:
            notes = (str(error).split(". Nothing was changed.")[0],)
    try:
        store = Store(folder)
        try:
            for snapshot in store.snapshots():
                try:
                    model = load(folder / snapshot_name(snapshot.seq))
                except (OSError, UnreadableFileError):
                    continue
                return _replayed(folder, store, model, snapshot, notes)
        finally:
            store.abandon()
    except sqlite3.DatabaseError as error:
        if (trouble := disk_error(folder, error)) is not None:
            raise trouble from error
    return _latest_file(folder, notes)


def _replayed(
    folder: Path, store: Store, model: Any, snapshot: Snapshot, notes: tuple[str, ...]
) -> tuple[Any, int, tuple[str, ...]]:
    replay = Replay(folder, store, model, snapshot, accept=True)
    with contextlib.suppress(DamagedJournalError, sqlite3.DatabaseError):
        replay.run()  # as far as it comes
    return model, replay.seq, (*notes, *replay.notes)


def _latest_file(folder: Path, notes: tuple[str, ...]) -> tuple[Any, int, tuple[str, ...]]:
    for seq, path in sorted(snapshot_files(folder).items(), reverse=True):
        try:
            return load(path), seq, (*notes, f"only {path.name} could be read")
        except (OSError, UnreadableFileError):
            continue
    raise DamagedJournalError(f"{folder}: nothing of it can be read")


def _aside(folder: Path) -> Path:
    number = 1
    while (aside := folder / f"damaged-{number}").exists():
        number += 1
    aside.mkdir()
    for name in (DATABASE, f"{DATABASE}-wal"):  # SQLite tidies these up when it reads them
        if (folder / name).exists():
            shutil.copy2(folder / name, aside / name)
    return aside


def _take_over(store: Store, database: Path, model: Any, seq: int) -> None:
    """Answers, marks and payloads of the old database, as far as it can be read."""
    there = set(_model.numbers_there(model))
    store.set_facts({"done": seq})
    tables = {"facts": 2, "points": 3, "requests": 4, "marks": 3, "payloads": 4}
    if not database.exists():
        return
    old = connect(database, read_only=True)
    with store.transaction() as write:
        for table, width in tables.items():
            places = ",".join("?" * width)
            try:
                for row in old.execute(f"SELECT * FROM {table}"):
                    if _still_true(table, row, there, seq):
                        write.execute(f"INSERT OR IGNORE INTO {table} VALUES ({places})", row)
            except sqlite3.DatabaseError:
                continue
    old.close()


def _still_true(table: str, row: tuple[Any, ...], there: set[int], seq: int) -> bool:
    if table == "facts":
        return row[0] in ("columns", "owed", "told", "compacting")
    if table == "payloads":
        return row[0] in there
    if table == "points":
        return row[1] in there
    return int(row[1] if table == "requests" else row[2]) <= seq


def begin(folder: Path, tree: Path) -> Findings:
    """Put a saved tree into a folder of its own, where it can grow on."""
    require_plain(folder)
    if (folder / DATABASE).exists():
        raise JournalError(f"{folder} has a tree in it already")
    with open_tree(folder, load(tree)) as begun:
        points = len(_model.numbers_there(begun.model))
        size = sum(path.stat().st_size for path in folder.iterdir())
        return Findings(begun.seq, points, 0, 0, (), size)


def compact(folder: Path) -> Findings:
    """Erase what was forgotten, and shrink the files."""
    require_plain(folder)
    if not (folder / DATABASE).exists():
        raise JournalError(f"{folder} has no tree in it")
    try:
        opened = open_tree(folder)
    except FolderInUseError as error:
        raise FolderInUseError(
            f"{error}; a server erases what was forgotten when it is asked by POST "
            f"/v1/trees/NAME/compact, or by `ramify journal compact http://HOST:PORT/v1/trees/NAME`"
        ) from None
    with opened as tree:
        size = tree.compact()
        points = len(_model.numbers_there(tree.model))
        return Findings(tree.seq, points, tree.report.replayed, 0, tree.report.notes, size)


def _locked(folder: Path) -> FolderLock:
    if (folder / ROUTER).exists():
        raise WrongEngineError(
            f"{folder} is the folder of a tree in shards; each shard has a folder in it, such as "
            f"{folder / 'shard-0000'}: give these, one after the other"
        )
    if not (folder / DATABASE).exists() and not (folder.is_dir() and snapshot_files(folder)):
        raise JournalError(f"{folder} has no tree in it")
    return FolderLock(folder)
