# SPDX-License-Identifier: BSD-3-Clause
"""_shard.py: one of several trees that are one: six calls, and no engine.

    open      from its folder: the latest snapshot, and every operation since (*replay*),
              which proves itself by the digests in its journal
    nearest   the exact nearest points of rows, among its own
    insert    rows with numbers and neighbours that the router has settled
    frontier  what it tells of its tree
    snapshot  written now, so that the next replay is short
    replay    is what open does, and says what it found

Whatever can run these calls somewhere and run ``open`` again after a crash can host it: an
actor of Ray, a keyed operator, a plain process. Calls that change something carry the number
of the router's operation; one that was taken already is not taken again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ramify import saving
from ramify.estimators import OHAC
from ramify.estimators.seam import Sharing
from ramify.hierarchy import FloatArray, IntArray
from ramify.ids import Id
from ramify.journal import DurableTree
from ramify.journal.seam import (
    Beside,
    Insert,
    Operation,
    Policy,
    backup_into,
    moment_of,
    open_here,
    sync_folder,
)
from ramify.points import Rows
from ramify.ray._holding import Holding, Saved
from ramify.ray._log import Log
from ramify.ray._plan import patiently

#: The mark in the journal that says how far the router has come.
ROUTER = "router"
#: Operations are large, so digests are cheap. Which ids were taken is the router's affair.
_POLICY = Policy(hash_every=32, snapshot_every=2048, keep_left=0)
_PAYLOADS_AT_ONCE = 10_000
NO_PAYLOADS: Mapping[int, Any] = {}


class State(NamedTuple):
    """What a shard is, in figures."""

    done: int  #: the router's last operation that it has taken
    leaves: int
    digest: str | None = None  #: of all that the tree is, if that was asked for


class Shard(Holding):
    """A tree in a folder, whose points are some of a stream's.

    Parameters
    ----------
    folder : path-like
        Made if it is not there.
    options : mapping
        Parameters of :class:`ramify.OHAC`.
    threads : int
        That look up neighbours.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from ramify.ray import Shard
    >>> shard = Shard(tempfile.mkdtemp(), {})
    >>> nobody, rows = np.array([[-1], [4]]), np.array([[0.0], [1.0]])
    >>> shard.insert(1, rows, np.array([4, 7]), nobody)
    State(done=1, leaves=2, digest=None)
    >>> shard.nearest(np.array([[0.9]]), 1)
    (array([[7]]), array([[0.01]]))
    >>> shard.close()
    """

    def __init__(self, folder: str | Path, options: Mapping[str, Any], *, threads: int = 1) -> None:
        self.folder = Path(folder)
        self._options = dict(options)
        self._threads = threads
        self._begun = time.monotonic()
        self._log = Log()
        self._open(OHAC(**self._options))

    def _open(self, model: Any) -> None:
        shutil.rmtree(_beside(self.folder), ignore_errors=True)  # of a move that did not end
        self._tree = patiently(open_here, self.folder, model, _POLICY)
        self.done = int(self._tree.marks.get(ROUTER, 0))

    def state(self, digest: bool = False) -> State:
        """Where it stands; with a digest of all that its tree is, in O(n d).

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import Shard
        >>> Shard(tempfile.mkdtemp(), {}).state()
        State(done=0, leaves=0, digest=None)
        """
        return State(self.done, len(self._tree), self._tree.digest() if digest else None)

    # --- changing -----------------------------------------------------------------------

    def insert(
        self,
        op: int,
        rows: Rows,
        numbers: IntArray,
        nearest: IntArray | None,
        ids: list[Any] | None = None,
        weights: FloatArray | None = None,
        payloads: list[Any] | None = None,
    ) -> State:
        """Insert rows under these numbers beside these points; on the disk when it returns.

        Parameters
        ----------
        op : int
            The router's operation; one that was taken already changes nothing.
        rows : array of shape (n, d)
        numbers : array of shape (n,)
            Ascending, and none that was given away before.
        nearest : array of shape (n, k), or None
            Numbers of points of this shard, -1 for none. None: it has all points there are,
            and looks for itself.
        ids : list, optional
        weights : array of shape (n,), optional
        payloads : list, optional

        Returns
        -------
        State

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from ramify.ray import Shard
        >>> shard = Shard(tempfile.mkdtemp(), {})
        >>> shard.insert(1, np.array([[0.0]]), np.array([5]), np.array([[-1]]))
        State(done=1, leaves=1, digest=None)
        >>> shard.insert(1, np.array([[0.0]]), np.array([5]), np.array([[-1]]))
        State(done=1, leaves=1, digest=None)
        """
        if op <= self.done:
            return self.state()
        marks = {ROUTER: str(op)}
        if nearest is None:
            operation = Insert(rows, ids, weights, None, payloads).operation(None, marks)
        else:
            operation = Beside(rows, numbers, nearest, ids, weights, payloads).operation(marks)
        return self._take(op, operation, len(rows))

    def forget(self, op: int, points: list[Id]) -> State:
        """Take out points, all of which are here."""
        if op <= self.done:
            return self.state()
        head = {"points": points, "marks": {ROUTER: str(op)}}
        return self._take(op, Operation("forget", head), len(points))

    def part(self, op: int) -> tuple[IntArray, Saved, dict[int, Any]] | None:
        """A part of the tree that can go: its points, itself, payloads; None if it has gone."""
        if op <= self.done:
            return None
        numbers = Sharing(self.model).part_to_go()
        payloads = self._tree.payloads(numbers.tolist())
        return numbers, Sharing(self.model).part(numbers)._to_saved(), payloads

    def adopt(self, op: int, part: Saved, payloads: Mapping[int, Any] = NO_PAYLOADS) -> State:
        """Begin with a part of another shard's tree; nothing, if it has begun already.

        The whole folder is made beside and put in its place, so that it is there or not.
        """
        if len(self._tree) > 0:
            return self.state()
        beside = _beside(self.folder)
        shutil.rmtree(beside, ignore_errors=True)
        with open_here(beside, saving._model(*part), Policy()) as tree:
            numbers = sorted(payloads)
            for begin in range(0, len(numbers), _PAYLOADS_AT_ONCE):
                some = numbers[begin : begin + _PAYLOADS_AT_ONCE]
                operation = _with_payloads(tree, some, [payloads[one] for one in some])
                tree.submit_operation(operation).result()
            head = {"marks": {ROUTER: str(op)}}
            tree.submit_operation(Operation("mark", head)).result()
        self._tree.close()
        shutil.rmtree(self.folder)
        beside.rename(self.folder)
        sync_folder(self.folder.parent)
        self._open(None)
        return self.state()

    def give_up(self, op: int, numbers: IntArray) -> State:
        """Have the part with these points go; another shard has it on its disk."""
        if op <= self.done:
            return self.state()
        head = {"marks": {ROUTER: str(op)}}
        operation = Operation("keep", head, numbers.astype("<i8").tobytes())
        return self._take(op, operation, len(numbers))

    def _take(self, op: int, operation: Operation, rows: int) -> State:
        self._tree.submit_operation(operation, rows).result()
        self.done = op
        return self.state()

    def snapshot(self) -> int:
        """Write a snapshot now; the number of the operation of its own journal it covers."""
        return self._tree.snapshot()

    def compact(self) -> int:
        """Erase from the disk what has left; the bytes of the folder then."""
        return self._tree.compact()

    def copy(self, room: str) -> None:
        """Write the backup of its folder into another folder."""
        copy_shard(self.folder, Path(room))

    def close(self) -> None:
        """Take a snapshot and let the folder go.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import Shard
        >>> Shard(tempfile.mkdtemp(), {}).close()
        """
        self._tree.close()


def copy_shard(folder: Path, room: Path) -> None:
    """Write the backup of a shard's folder, whoever uses it, into another folder."""
    backup_into(room / f"{folder.name}.tar", folder, partial(moment_of, folder))


def _with_payloads(tree: DurableTree, numbers: list[int], payloads: list[Any]) -> Operation:
    """Payloads of points that are there already."""
    head: dict[str, Any] = {"numbers": numbers, "payloads": payloads}
    if tree.stream.has_ids:
        head["ids"] = tree.ids_of(numbers)
    return Operation("mark", head)


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.new")
