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

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify import archive, saving
from ramify.estimators import OHAC
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.ids import Id
from ramify.journal import DurableTree, FolderInUseError, Report
from ramify.journal import open as open_tree
from ramify.journal._folder import sync_folder
from ramify.journal._records import Beside, Insert, Operation
from ramify.memory import resident
from ramify.points import Rows
from ramify.ray._outline import Outline

#: The mark in the journal that says how far the router has come.
ROUTER = "router"
#: Operations between two digests in the journal: they are large, so digests are cheap.
_HASH_EVERY = 32
_SNAPSHOT_EVERY = 2048
#: Seconds to wait for a process that has been killed, and has the folder still.
_PATIENCE = 30.0

#: Arrays by name, and what a file says beside them.
Saved = tuple[dict[str, Any], dict[str, archive.Array]]


class State(NamedTuple):
    """What a shard is, in figures."""

    done: int  #: the router's last operation that it has taken
    leaves: int
    digest: str | None = None  #: of all that the tree is, if that was asked for


class Shard:
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
        self._open(OHAC(**self._options))

    def _open(self, model: Any) -> None:
        shutil.rmtree(_beside(self.folder), ignore_errors=True)  # of a move that did not end
        self._tree = _patiently(self.folder, model)
        self.done = int(self._tree.marks.get(ROUTER, 0))

    @property
    def report(self) -> Report:
        """What was found when it was opened: operations replayed, digests proven."""
        return self._tree.report

    @property
    def model(self) -> Any:
        """The model, for reading."""
        return self._tree.model

    def __len__(self) -> int:
        return len(self._tree)

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

    # --- reading ------------------------------------------------------------------------

    def nearest(self, rows: Rows, k: int) -> tuple[IntArray, FloatArray]:
        """Numbers and distances of the k nearest points of each row, the nearest first.

        Where there are fewer than k: -1, infinitely far.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from ramify.ray import Shard
        >>> Shard(tempfile.mkdtemp(), {}).nearest(np.array([[0.0]]), 1)
        (array([[-1]]), array([[inf]]))
        """
        numbers = np.full((len(rows), k), -1)
        distances = np.full((len(rows), k), np.inf)
        there = min(k, len(self._tree))
        if there and len(rows):
            live = self.model._live
            numbers[:, :there], distances[:, :there] = live.nearest(rows, there, self._threads)
        return numbers, distances

    def frontier(self, m: int, by: str, value: float) -> Outline:
        """Its tree opened into m parts, and below them as a cut of the whole may be.

        ``by`` and ``value`` are the cut: ``"n_clusters"``, ``"height"`` or ``"max_size"``.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from ramify.ray import Shard
        >>> shard = Shard(tempfile.mkdtemp(), {})
        >>> rows, near = np.array([[0.0], [1.0], [9.0]]), np.array([[-1], [0], [1]])
        >>> _ = shard.insert(1, rows, np.arange(3), near)
        >>> shard.frontier(2, "n_clusters", 1).means
        array([[0.5],
               [9. ]])
        """
        if len(self._tree) == 0:
            live = self.model._live
            width, dtype = (1, np.float64) if live is None else (live.settings.width, live.dtype)
            return Outline.empty(width, dtype)
        return Outline.of_core(self.model._live.outline(m, (by, value)))

    def units(
        self, numbers: IntArray | None, m: int, by: str, value: float
    ) -> tuple[IntArray, IntArray]:
        """Numbers of points, of all if None, and where in the outline each one's unit is."""
        if len(self._tree) == 0:
            return (np.empty(0, np.int64),) * 2
        live = self.model._live
        found = live.units(numbers, m, (by, value))
        return (live.numbers() if numbers is None else numbers), found

    def whole(self) -> Hierarchy | None:
        """Its tree, frozen; None if it is empty."""
        return None if len(self._tree) == 0 else self._tree.hierarchy()

    def points(self) -> tuple[IntArray, Rows]:
        """Numbers and rows of its points."""
        if len(self._tree) == 0:
            return np.empty(0, np.int64), np.empty((0, 0))
        return self.model._live.numbers(), self._tree.points()

    def saved(self) -> Saved:
        """Its model as plain arrays."""
        found: Saved = self.model._to_saved()
        return found

    def holds(self, numbers: IntArray) -> npt.NDArray[np.bool_]:
        """Which of these points are here."""
        live = self.model._live
        if live is None:
            return np.zeros(len(numbers), bool)
        return np.array([number >= 0 and live.has(number) for number in numbers.tolist()], bool)

    def path(self, number: int) -> tuple[IntArray, str]:
        """Node ids from its root down to a point, and the turns."""
        found: tuple[IntArray, str] = self.model._live.path(number)
        return found

    def has(self, points: Sequence[Id]) -> list[int | None]:
        """Numbers of points, by ids or by numbers where there are no ids; None: not here."""
        live = self.model._live
        if live is None:
            return [None] * len(points)
        known = live.known_ids()
        if known is not None:
            return [known.index_of(one) for one in points]
        plain = [isinstance(one, int) and one >= 0 and live.has(one) for one in points]
        return [int(one) if here else None for one, here in zip(points, plain, strict=True)]

    def ids_of(self, numbers: Sequence[int]) -> list[Id | None]:
        """Ids of points by their numbers; None: it has none, or is not here."""
        return self._tree.ids_of(list(numbers))

    def figures(self) -> dict[str, Any]:
        """What can be measured: of the journal, and of the process."""
        return {
            **self._tree.statistics(),
            "leaves": len(self._tree),
            "done": self.done,
            "pid": os.getpid(),
            "memory": resident(),
            "replayed": self.report.replayed,
            "proven": self.report.proven,
            "recovery_seconds": self.report.seconds,
            "up_seconds": time.monotonic() - self._begun,
        }

    # --- changing -----------------------------------------------------------------------

    def insert(
        self,
        op: int,
        rows: Rows,
        numbers: IntArray,
        nearest: IntArray | None,
        ids: list[Any] | None = None,
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
            operation = Insert(rows, ids).operation(None, marks)
        else:
            operation = Beside(rows, numbers, nearest, ids).operation(marks)
        return self._take(op, operation, len(rows))

    def forget(self, op: int, points: list[Id]) -> State:
        """Take out points, all of which are here."""
        if op <= self.done:
            return self.state()
        head = {"points": points, "marks": {ROUTER: str(op)}}
        return self._take(op, Operation("forget", head), len(points))

    def part(self, op: int) -> tuple[IntArray, Saved] | None:
        """A part of the tree that can go, and its points; None if it has gone already."""
        if op <= self.done:
            return None
        numbers = self.model._part_to_go()
        return numbers, self.model._part(numbers)._to_saved()

    def adopt(self, op: int, part: Saved) -> State:
        """Begin with a part of another shard's tree; nothing, if it has begun already.

        The whole folder is made beside and put in its place, so that it is there or not.
        """
        if len(self._tree) > 0:
            return self.state()
        beside = _beside(self.folder)
        shutil.rmtree(beside, ignore_errors=True)
        with open_tree(beside, saving._model(*part)) as tree:
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

    def close(self) -> None:
        """Take a snapshot and let the folder go.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import Shard
        >>> Shard(tempfile.mkdtemp(), {}).close()
        """
        self._tree.close()


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.new")


def _patiently(folder: Path, model: Any) -> DurableTree:
    """Open a folder that a killed process may hold for another moment."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return open_tree(folder, model, hash_every=_HASH_EVERY, snapshot_every=_SNAPSHOT_EVERY)
        except FolderInUseError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
