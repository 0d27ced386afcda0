# SPDX-License-Identifier: BSD-3-Clause
"""_removing.py: a folder that goes, at once or not at all.

It first takes a name that no tree has, in one step: a crash leaves the tree, or what
:func:`clear_removed` removes the next time.
"""

from __future__ import annotations

import re
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from ramify.journal._errors import JournalError
from ramify.journal._folder import (
    ABOUT,
    DATABASE,
    SUMMARIES,
    FolderLock,
    require_plain,
    snapshot_files,
    sync_folder,
)

_REMOVED = ".ramify-removed-"

#: What the folder of a tree may hold beside its snapshots.
_OURS = re.compile(
    rf"({DATABASE}|{SUMMARIES})(-wal|-shm|-journal)?|{ABOUT}|lock|(check|repair)\.tmp|damaged-\d+|\.ramify-.*"
)


def remove_files(folder: Path) -> None:
    """Remove a folder with all that is in it."""
    aside = folder.with_name(f"{_REMOVED}{secrets.token_hex(8)}")
    try:
        folder.rename(aside)
    except OSError:  # a mount of its own, say: its files can go, and a tree without them is none
        for path in [folder / DATABASE, *folder.iterdir()]:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()
        return
    sync_folder(folder.parent)
    shutil.rmtree(aside)


def clear_removed(room: Path) -> None:
    """Remove what a removal left behind that was killed."""
    for path in room.glob(f"{_REMOVED}*"):
        shutil.rmtree(path, ignore_errors=True)


def remove(folder: Path) -> None:
    """Remove the folder of a tree that nobody uses, whether or not its tree can be opened.

    Files that are not of the tree keep it there.
    """
    require_plain(folder)
    if not (folder / DATABASE).exists():
        raise JournalError(f"{folder} has no tree in it")
    lock = FolderLock(folder)
    try:
        ours = set(snapshot_files(folder).values())
        others = [
            path.name
            for path in sorted(folder.iterdir())
            if path not in ours and _OURS.fullmatch(path.name) is None
        ]
        if others:
            raise JournalError(
                f"{folder} also holds {', '.join(others[:5])}, not of the tree: move that elsewhere"
            )
        remove_files(folder)
    finally:
        lock.release()
