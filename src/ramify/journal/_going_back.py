# SPDX-License-Identifier: BSD-3-Clause
"""_going_back.py: a copy of a folder becomes what the folder was at an earlier version.

From the latest snapshot that is not younger, operations are taken as long as the tree does not get
past the version; the others are cut off. What they came to is written down again by whoever opens
the copy. A version that an answer has named is met exactly; of one within a commit, what came
before the commit's last operation is left out.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from ramify import lean
from ramify.errors import UnreadableFileError
from ramify.journal import _model
from ramify.journal._folder import snapshot_name
from ramify.journal._recover import believed
from ramify.journal._store import Snapshot, Store


class NoSuchVersionError(ValueError):
    """A version that a journal does not lead to, or not any more."""


def go_back(draft: Path, version: int) -> None:
    """Make the tree in a copy of a folder the one of a version; NoSuchVersionError if it cannot."""
    store = Store(draft)
    try:
        found, model = _snapshot_before(draft, store, version)
        first = _model.version(model), _model.next_number(model)
        last, reached = _replayed(store, model, found, version)
        store.cut_off(last + 1, reached, first[1])
        with store.transaction() as write:
            write.execute("DELETE FROM points WHERE version > ?", first[:1])
            write.execute("DELETE FROM snapshots WHERE seq > ?", (found.seq,))
            write.execute("UPDATE facts SET value = min(value, ?) WHERE name = 'done'", found[:1])
    finally:
        store.close()


def _snapshot_before(draft: Path, store: Store, version: int) -> tuple[Snapshot, Any]:
    """The latest snapshot whose tree is not younger; files of younger ones go."""
    oldest: int | None = None
    for found in store.snapshots():
        path = draft / snapshot_name(found.seq)
        try:
            model = _model.from_file(lean.read(path))
        except (OSError, UnreadableFileError):  # it is left out, as at opening
            continue
        if _model.version(model) <= version:
            return found, model
        oldest = _model.version(model)
        path.unlink()
    raise NoSuchVersionError(
        f"version {version:,} is older than what is kept: the journal leads back to version "
        f"{oldest:,}. Take an earlier backup"
    )


def _replayed(store: Store, model: Any, found: Snapshot, version: int) -> tuple[int, int]:
    """The last operation that does not lead past a version, and the version after it."""
    chain, last, reached = found.chain, found.seq, _model.version(model)
    for row in store.operations(found.seq):
        stored = believed(chain, row)
        if stored is None:  # the check of the copy has the words for it
            return last, reached
        with suppress(*_model.REFUSALS):  # it was refused when it came, too
            _model.apply(model, stored.operation)
        if _model.version(model) > version:
            return last, reached
        chain, last, reached = stored.digest, stored.seq, _model.version(model)
    if reached < version:
        raise NoSuchVersionError(f"the tree has version {reached:,}, and not {version:,} yet")
    return last, reached
