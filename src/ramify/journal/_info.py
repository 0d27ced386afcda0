# SPDX-License-Identifier: BSD-3-Clause
"""_info.py: what a folder says of itself, without opening it: also while it is in use."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from ramify.errors import UnreadableFileError
from ramify.journal._errors import DamagedJournalError, JournalError
from ramify.journal._folder import (
    ABOUT,
    DATABASE,
    folder_path,
    owner_of,
    require_plain,
    snapshot_files,
    snapshot_name,
)
from ramify.journal._recover import sqlite_error
from ramify.journal._store import connect
from ramify.saving import describe

#: Options of an estimator that say how it is read, and not what is in it.
_SAY_LITTLE = ("n_jobs", "history")


def info(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """What is in the folder of a tree: nothing is written, and who uses it does not notice.

    Of the snapshot only the head is read, and no operation is replayed: it takes milliseconds,
    whatever the size. So ``points`` is a number where it is known without replaying, and None
    where points may have left since the snapshot.

    Parameters
    ----------
    folder : path

    Returns
    -------
    dict
        ``algorithm``, ``options``, ``points``, ``dimension``, ``ids``; ``operations``, and of the
        last one ``kind`` and whether it ``follows`` the snapshot; ``snapshot`` (``operation``,
        ``points``, ``age_seconds``); ``since_snapshot`` (``operations``, ``rows``); ``format`` and
        ``library``; ``bytes`` (``database``, ``log``, ``snapshots``, ``other``); ``owed``: since
        when something is to be erased; ``used_by``: the number of a process, True if it has none,
        or None.

    Examples
    --------
    >>> import tempfile, ramify
    >>> from ramify.journal import info
    >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
    ...     _ = tree.add([[0.0], [1.0]], ids=["ash", "elm"])
    ...     found = info(tree.folder)
    >>> found["algorithm"], found["points"], found["operations"], found["since_snapshot"]["rows"]
    ('OHAC', 2, 1, 2)
    """
    place = folder_path(folder)
    require_plain(place)
    if not (place / DATABASE).exists():
        raise JournalError(f"{place} has no tree in it")
    owner = owner_of(place)
    try:
        with closing(_reader(place, used=owner is not None)) as reader:
            told = _of_journal(place, reader)
    except sqlite3.Error as error:
        raise sqlite_error(place, error) from error
    return {**told, "bytes": sizes_of(place), "used_by": owner}


def _reader(folder: Path, *, used: bool) -> sqlite3.Connection:
    """Reading only. Where there is no log, SQLite is told so, or it would begin one."""
    log = folder / f"{DATABASE}-wal"
    if used or (log.exists() and log.stat().st_size > 0):
        return connect(folder / DATABASE, read_only=True)
    address = f"{(folder / DATABASE).absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(address, uri=True, isolation_level=None)


def _of_journal(folder: Path, reader: sqlite3.Connection) -> dict[str, Any]:
    reader.execute("BEGIN")  # all of one moment
    facts = dict(reader.execute("SELECT name, value FROM facts").fetchall())
    latest = reader.execute("SELECT seq FROM snapshots ORDER BY seq DESC LIMIT 1").fetchone()
    if latest is None:
        raise DamagedJournalError(f"{folder} is damaged: its journal has no snapshot")
    (seq,) = latest
    last = reader.execute("SELECT seq, kind FROM operations ORDER BY seq DESC LIMIT 1").fetchone()
    since = reader.execute("SELECT kind, head FROM operations WHERE seq > ?", (seq,)).fetchall()
    operations = max(seq, last[0] if last else 0)
    rows = sum(json.loads(head).get("n", 0) for _, head in since)
    owed = facts.get("owed")
    saved, path = _saved(folder, seq)
    return {
        **saved,
        "points": _points(saved["points"], saved["options"], since, rows),
        "operations": operations,
        "last": None if last is None else {"kind": last[1], "follows": last[0] > seq},
        "snapshot": {
            "operation": seq,
            "points": saved["points"],
            "age_seconds": _age(path),
        },
        "since_snapshot": {"operations": len(since), "rows": rows},
        "format": facts.get("format"),
        "owed": None if owed is None else _time(owed),
        "compacting": "compacting" in facts,
    }


def _saved(folder: Path, seq: int) -> tuple[dict[str, Any], Path]:
    """What the snapshot's head says, and the options that a server began it with."""
    path = folder / snapshot_name(seq)
    try:
        about = describe(path)
    except (OSError, UnreadableFileError) as error:
        raise DamagedJournalError(
            f"{folder}: its snapshot cannot be read ({error}). `ramify journal check {folder}` "
            f"says more, once nobody uses it"
        ) from error
    options = dict(about.get("parameters") or {})
    with suppress(OSError, ValueError):
        begun = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        if about.get("columns") is None:
            about["columns"] = begun.get("dimension")
    return {
        "algorithm": about.get("algorithm"),
        "options": {name: value for name, value in options.items() if name not in _SAY_LITTLE},
        "points": about.get("points"),
        "dimension": about.get("columns"),
        "ids": about.get("ids"),
        "library": about.get("library"),
    }, path


def _points(
    then: int | None, options: dict[str, Any], since: list[tuple[str, str]], rows: int
) -> int | None:
    """Points now, if those that came since are all that has changed."""
    may_leave = options.get("window") or options.get("max_age") or options.get("max_leaves")
    counted = options.get("duplicates") == "count" or options.get("zero_rows") == "skip"
    for kind, head in since:
        plain = kind == "insert" and not json.loads(head).get("forget")
        plain = plain or kind in ("mark", "name", "call")
        if not plain or (kind == "insert" and (may_leave or counted)):
            return None
    if counted or then is None:  # the head counts leaves
        return None
    return then + rows


def sizes_of(folder: Path) -> dict[str, int]:
    """Bytes of a folder's files by what they are, and in total."""
    snapshots = set(snapshot_files(folder).values())
    found = {"database": 0, "log": 0, "snapshots": 0, "other": 0}
    for path in folder.iterdir():
        what = "snapshots" if path in snapshots else "other"
        what = {DATABASE: "database", f"{DATABASE}-wal": "log"}.get(path.name, what)
        with suppress(FileNotFoundError):
            found[what] += path.stat().st_size if path.is_file() else 0
    return {**found, "total": sum(found.values())}


def _age(path: Path) -> float:
    return round(max(0.0, time.time() - path.stat().st_mtime), 1)


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
