# SPDX-License-Identifier: BSD-3-Clause
"""_open.py: ``ramify.open``."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from ramify.checks import number_above_zero, whole_number
from ramify.estimators.seam import FREE, flat_options
from ramify.journal import _model
from ramify.journal._errors import DiskError, NoTreeError, disk_error
from ramify.journal._folder import (
    DATABASE,
    FolderLock,
    folder_path,
    make_folder,
    require_plain,
    sync_folder,
)
from ramify.journal._past import keep_past
from ramify.journal._records import NO_CHAIN
from ramify.journal._recover import Recovered, Report, is_new, look_at_end, recover
from ramify.journal._requests import Policy
from ramify.journal._snapshots import write_snapshot
from ramify.journal._store import Store
from ramify.journal._tree import DurableTree


def open(
    path: str | os.PathLike[str],
    model: Any = None,
    *,
    snapshot_every: int = 10_000,
    hash_every: int = 1024,
    payload_bytes: int = 65_536,
    queue_rows: int = 200_000,
    erase_within: float | None = 86_400.0,
    history_bytes: int = 64 << 20,
    max_points: int | None = None,
    max_bytes: int | None = None,
) -> DurableTree:
    """Open a tree in a folder, or begin one: it survives crashes, to the bit.

    Every change is written to a journal in the folder before the call that asked for it
    returns. Snapshots are taken in the background; opening loads the latest one and takes
    the operations since.

    Parameters
    ----------
    path : str or path-like
        The folder; made if it is not there.
    model : estimator, optional
        An online estimator, such as ``OHAC(metric="cosine")``: how to begin. It may hold
        points, as one from :func:`ramify.load` does. For a tree that is there, give one
        without; options that shape it must be the same; the others (the
        cut, ``window``, ``max_age``, ``n_jobs``, ``history``) become those given here.
    snapshot_every : int
        Operations between two snapshots.
    hash_every : int
        Operations between two digests of the tree in the journal, which opening checks. They
        are fewer where they would take more than 5 % of the time.
    payload_bytes : int
        The largest payload.
    queue_rows : int
        Rows that may wait to be written; callers beyond that wait.
    erase_within : float or None
        Seconds after which :meth:`DurableTree.compact` begins by itself, once points have left,
        so that nothing of them is on the disk any more; a day by default. None: never, and then
        closing erases nothing either.
    history_bytes : int
        With ``history`` of the estimator set, what became of the tree is kept in the folder, also
        across restarts: each commit can be asked about, by its version or its time. So many bytes
        of the folder are for that. When they are taken, what is long ago is told in larger steps.
    max_points, max_bytes : int or None
        How many points the tree may have, and how many bytes its folder. Calls that would make
        it larger are refused; points can leave all the same. None: no limit.

    Returns
    -------
    DurableTree

    Raises
    ------
    FolderInUseError
        If a process has it open.
    DamagedJournalError
        If what was written cannot be read; says what, where, and how to go on.
    DiskError
        If the disk is full, fails or may not be used.
    WrongEngineError
        If the folder belongs to a tree in shards (:class:`ramify.ray.ShardedOHAC`).

    Examples
    --------
    >>> import tempfile, ramify
    >>> folder = tempfile.mkdtemp()
    >>> with ramify.open(folder, ramify.OHAC(n_clusters=2)) as tree:
    ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]])
    >>> with ramify.open(folder) as tree:
    ...     tree.partial_fit([[8.0]]).labels_
    array([0, 0, 1, 1])
    """
    policy = Policy(
        snapshot_every=whole_number("snapshot_every", snapshot_every),
        hash_every=whole_number("hash_every", hash_every),
        payload_bytes=whole_number("payload_bytes", payload_bytes),
        queue_rows=whole_number("queue_rows", queue_rows),
        history_bytes=whole_number("history_bytes", history_bytes),
        erase_within=None
        if erase_within is None
        else number_above_zero("erase_within", erase_within),
        max_points=None if max_points is None else whole_number("max_points", max_points),
        max_bytes=None if max_bytes is None else whole_number("max_bytes", max_bytes),
    )
    folder = folder_path(path)
    require_plain(folder)
    return open_here(folder, model, policy)


def open_here(folder: Path, model: Any, policy: Policy) -> DurableTree:
    """As :func:`open`; also for a shard, whose folder is inside that of all shards."""
    asked = None if model is None else _model.require_online(model)
    if asked is None and not (folder / DATABASE).exists():
        raise NoTreeError(f"{folder} has no tree in it; give an estimator to begin one")
    try:
        make_folder(folder)
        lock = FolderLock(folder)
        try:
            return _opened(folder, lock, asked, policy)
        except BaseException:
            lock.release()
            raise
    except (sqlite3.Error, OSError) as error:
        if (trouble := disk_error(folder, error)) is not None and trouble is not error:
            raise trouble from error
        raise


def _opened(folder: Path, lock: FolderLock, asked: Any, policy: Policy) -> DurableTree:
    notes = look_at_end(folder)
    if is_new(folder):
        if asked is None:
            raise NoTreeError(f"{folder} has no tree in it; give an estimator to begin one")
        return DurableTree(folder, lock, _begun(folder, asked, policy), policy)
    recovered = recover(folder, notes, history_bytes=policy.history_bytes)
    try:
        wanted = _differences(recovered.model, asked)
        tree = DurableTree(folder, lock, recovered, policy)
    except BaseException:
        recovered.store.abandon()
        raise
    try:
        if recovered.store.fact("compacting") is not None:
            _finish_erasure(tree)
        if wanted:
            tree._set_flat(wanted)
    except BaseException:
        tree.close()
        raise
    return tree


def _finish_erasure(tree: DurableTree) -> None:
    """What was begun before a crash is done before anybody asks anything."""
    try:
        tree.compact()
        said = "an erasure that had not ended was done again"
    except DiskError as error:  # it is tried again in a while
        said = f"an erasure that had not ended is still to be done: {error}"
    tree.report = tree.report._replace(notes=(*tree.report.notes, said))


def _begun(folder: Path, model: Any, policy: Policy) -> Recovered:
    """A folder with an empty tree in it; its first snapshot has the options."""
    (folder / DATABASE).unlink(missing_ok=True)  # of a process that did not come far
    for name in ("-wal", "-shm", "-journal"):
        (folder / f"{DATABASE}{name}").unlink(missing_ok=True)
    first = write_snapshot(folder, 0, NO_CHAIN, _model.saved(model))
    store = Store.create(folder, first)
    keep_past(store, policy.history_bytes)
    _model.version(model, store.past)
    for place in (folder, folder.parent):  # the last process may have made the folder, no more
        sync_folder(place)
    return Recovered(store, model, 0, NO_CHAIN, Report(0, 0, 0, 0.0, ()))


def _differences(model: Any, asked: Any) -> dict[str, Any]:
    """Options that are to change; those that cannot are refused."""
    if asked is None:
        return {}
    if len(asked) > 0:
        raise ValueError(
            f"there is a tree here already, and this {type(asked).__name__} holds {len(asked):,} "
            f"points; open it with one without, and insert them"
        )
    if type(asked) is not type(model):
        raise ValueError(
            f"the tree here is of {type(model).__name__}, and {type(asked).__name__} was asked for"
        )
    now, then = flat_options(asked), flat_options(model)
    other = {name: value for name, value in now.items() if value != then[name]}
    for name, value in other.items():
        if name not in FREE:
            raise ValueError(
                f"{name} of the tree here is {then[name]!r}, and {value!r} was asked for; it "
                f"shapes the tree, and cannot change"
            )
    return other
