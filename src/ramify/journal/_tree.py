# SPDX-License-Identifier: BSD-3-Clause
"""_tree.py: a model in a folder: the estimator's verbs, and what they say is safe."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace as replaced
from functools import wraps
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ramify.hierarchy import Hierarchy, IntArray
from ramify.ids import Id, Ids
from ramify.journal import _model
from ramify.journal._answers import Receipt, read_receipt
from ramify.journal._edits import Editing
from ramify.journal._folder import FolderLock
from ramify.journal._payloads import Hit, PayloadReader, check_payloads
from ramify.journal._records import Insert, Operation
from ramify.journal._recover import Recovered, Report
from ramify.journal._snapshots import write_snapshot
from ramify.journal._writer import Policy, Request, Writer

#: What a model can be asked, and what asking does not change.
_READS = frozenset(
    (
        *("assign", "changes", "check", "children_", "cluster_of", "clusters", "cut"),
        *("depth", "dirty", "distances_", "edits", "get_params", "history", "ids_"),
        *("index_of", "labels_", "lca", "leaf_of", "leaves", "levels"),
        *("lineage", "metric", "n_clusters_", "n_features_in_", "n_late_", "n_leaves_"),
        *("n_points_", "nearest", "number_of", "path", "path_code", "point_numbers_"),
        *("points", "predict", "representatives", "version", "violations"),
    )
)

#: Those that are asked about rows.
_OF_ROWS = frozenset(("assign", "nearest", "predict"))


class DurableTree(Editing):
    """A tree in a folder, which outlives its process: made by :func:`ramify.open`.

    It has the verbs of its estimator. When one that changes the tree returns, what it did is
    on the disk, and the tree after a crash is the one before it, to the bit. Verbs that only
    read (``assign``, ``clusters``, ``path``, ``predict``, ``changes``, ...) are the
    estimator's own, and wait for no writer. Any thread may call any of them.

    Attributes
    ----------
    report : Report
        What was found when it was opened.
    model : estimator
        The estimator, for reading. Whoever changes it behind the journal's back loses that.

    Examples
    --------
    >>> import tempfile, ramify
    >>> folder = tempfile.mkdtemp()
    >>> with ramify.open(folder, ramify.OHAC(n_clusters=2)) as tree:
    ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["ash", "elm", "oak"])
    >>> with ramify.open(folder) as tree:
    ...     len(tree), tree.predict([[8.0]]), tree.ids_.tolist()
    (3, array([1]), ['ash', 'elm', 'oak'])
    """

    def __init__(
        self, folder: Path, lock: FolderLock, recovered: Recovered, policy: Policy
    ) -> None:
        store, self.model, seq, chain, report = recovered
        self.folder = folder
        self.report: Report = report
        self._lock = lock
        self._policy = policy
        self._columns: list[str] | None = json.loads(store.fact("columns") or "null")
        self._writer = Writer(folder, store, self.model, policy, seq, chain)
        self._payloads = PayloadReader(store.path)
        self._closing = threading.Lock()
        self._closed = False

    # --- growing ------------------------------------------------------------------------

    def partial_fit(
        self,
        X: npt.ArrayLike,
        y: object = None,
        *,
        ids: Sequence[Id] | None = None,
        sample_weight: npt.ArrayLike | None = None,
        times: npt.ArrayLike | None = None,
        payloads: Sequence[Any] | None = None,
        key: str | None = None,
        marks: Mapping[str, Any] | None = None,
    ) -> Self:
        """Insert rows; when this returns, they are on the disk. As :meth:`add`.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OTD()) as tree:
        ...     len(tree.partial_fit([[0.0], [1.0]]))
        2
        """
        self.add(
            X,
            ids=ids,
            sample_weight=sample_weight,
            times=times,
            payloads=payloads,
            key=key,
            marks=marks,
        )
        return self

    def add(
        self,
        X: npt.ArrayLike,
        *,
        ids: Sequence[Id] | None = None,
        sample_weight: npt.ArrayLike | None = None,
        times: npt.ArrayLike | None = None,
        payloads: Sequence[Any] | None = None,
        key: str | None = None,
        marks: Mapping[str, Any] | None = None,
        replace: bool = False,
    ) -> Receipt:
        """Insert rows, all or none, and say which numbers the points have.

        A row whose id was taken before is not inserted again: its answer is the first one.
        Points that left by themselves count as taken; forgotten ones do not.

        Parameters
        ----------
        X : array-like of shape (n, d)
            As in the estimator's ``partial_fit``.
        ids : sequence of str or of int, optional
        sample_weight, times : array-like of shape (n,), optional
            As in the estimator's ``partial_fit``.
        payloads : sequence, optional
            A text, or anything that JSON can hold, for each row, or None. Kept beside the
            tree, can be searched, and goes when the point goes.
        key : str, optional
            A name for this request. If one of that name was answered before, this is the
            same answer again, and nothing is inserted.
        marks : mapping, optional
            How far a source has been read, by name, as text: written together with the rows,
            so that a program that reads a stream knows where to go on (see :attr:`marks`).
        replace : bool, default=False
            Points with these ids make way for the new rows.

        Returns
        -------
        Receipt

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.add([[0.0], [1.0]], ids=["ash", "elm"], key="first").numbers
        ...     tree.add([[0.0], [1.0]], ids=["ash", "elm"], key="first").numbers
        ...     tree.add([[7.0]], ids=["elm"], replace=True).numbers
        [0, 1]
        [0, 1]
        [2]
        """
        return self.submit_add(
            X,
            ids=ids,
            sample_weight=sample_weight,
            times=times,
            payloads=payloads,
            key=key,
            marks=marks,
            replace=replace,
        ).result()

    def submit_add(
        self,
        X: npt.ArrayLike,
        *,
        ids: Sequence[Id] | None = None,
        sample_weight: npt.ArrayLike | None = None,
        times: npt.ArrayLike | None = None,
        payloads: Sequence[Any] | None = None,
        key: str | None = None,
        marks: Mapping[str, Any] | None = None,
        replace: bool = False,
        block: bool = True,
    ) -> Future[Receipt]:
        """As :meth:`add`, without waiting: the future has the answer, or the error.

        Parameters
        ----------
        X, ids, sample_weight, times, payloads, key, marks, replace
            As in :meth:`add`.
        block : bool, default=True
            Wait while the queue is full; otherwise ``BusyError`` is raised.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     waiting = [tree.submit_add([[float(i)]]) for i in range(3)]
        ...     [one.result().numbers for one in waiting]
        [[0], [1], [2]]
        """
        count = _row_count(X)
        given = check_payloads(payloads, count, self._policy.payload_bytes)
        named = None if ids is None else _readable(Ids().read(ids, count))
        checked_key, checked_marks = _check_key(key), _check_marks(marks)

        def resolve() -> Operation | Receipt:
            rows, columns = _model.check_rows(self.model, X, self._columns)
            along = _model.check_along(self.model, len(rows), named, sample_weight, times)
            whole = Insert(rows, *along, given, columns=columns)
            return self._resolve_insert(whole, checked_key, checked_marks, replace)

        request = Request(resolve, _names(named, checked_key), rows=count, alone=replace)
        return self._writer.submit(request, block=block)

    def insert(
        self,
        x: npt.ArrayLike,
        *,
        id: Id | None = None,
        sample_weight: float | None = None,
        time: Any = None,
        payload: Any = None,
        replace: bool = False,
    ) -> int:
        """Insert one point and return its number, when it is on the disk.

        Parameters
        ----------
        x : array-like of shape (d,)
        id, sample_weight, time, replace : optional
            As in the estimator's ``insert``.
        payload : optional
            As in :meth:`add`.

        Returns
        -------
        int

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.insert([0.0, 1.0]), tree.insert([2.0, 3.0])
        (0, 1)
        """
        row = np.asarray(x)
        if row.ndim != 1:
            raise ValueError(f"insert takes one row of d numbers, got an array of {row.shape}")

        def one(value: Any) -> list[Any] | None:
            return None if value is None else [value]

        return self.add(
            row[np.newaxis],
            ids=one(id),
            sample_weight=one(sample_weight),
            times=one(time),
            payloads=one(payload),
            replace=replace,
        ).numbers[0]

    def forget(
        self, points: Id | Sequence[Id] | npt.NDArray[Any], *, key: str | None = None
    ) -> int:
        """Take points out of the tree, with their payloads, and say how many.

        Parameters
        ----------
        points : id or number, or a sequence of them
            As in the estimator's ``forget``: all must be there.
        key : str, optional
            As in :meth:`add`.

        Returns
        -------
        int

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.add([[0.0], [1.0]], ids=["ash", "elm"])
        ...     tree.forget("ash"), tree.ids_.tolist()
        (1, ['elm'])
        """
        return self.submit_forget(points, key=key).result().forgotten

    def submit_forget(
        self,
        points: Id | Sequence[Id] | npt.NDArray[Any],
        *,
        key: str | None = None,
        block: bool = True,
    ) -> Future[Receipt]:
        """As :meth:`forget`, without waiting.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.add([[0.0], [1.0]])
        ...     tree.submit_forget(0).result().forgotten
        1
        """
        if not hasattr(self.model, "forget"):
            raise TypeError(f"trees of {type(self.model).__name__} only grow, and forget nothing")
        wanted = _listed(points)
        checked_key = _check_key(key)

        def resolve() -> Operation | Receipt:
            operation = Operation("forget", {"points": wanted})
            if checked_key is not None:
                asked = operation.content_digest()
                if (known := self._answered(checked_key, asked)) is not None:
                    return known
                named = {"key": checked_key, "asked": asked}
                operation = Operation("forget", {"points": wanted, **named})
            for point in wanted:
                if not _model.is_there(self.model, point):
                    raise KeyError(f"there is no point {point!r}; nothing was forgotten")
            return operation

        request = Request(resolve, _names(wanted, checked_key), alone=True)
        return self._writer.submit(request, block=block)

    def set_params(self, **options: Any) -> Self:
        """Change options that do not shape the tree: its cut, ``window``, ``max_age``, ...

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.partial_fit([[0.0], [1.0], [9.0]])
        ...     tree.set_params(n_clusters=2).labels_
        array([0, 0, 1])
        """
        known = self.model.get_params(deep=False)
        for name in options:
            if name not in known:
                raise ValueError(f"{type(self.model).__name__} has no option {name!r}")
            if name not in _model.FREE:
                raise ValueError(f"{name} shapes the tree, and stays as it was when that began")
        plain = _model.plain_options(options)
        operation = Operation("settings", {"options": plain})
        self._writer.submit(Request(lambda: operation, frozenset(), alone=True)).result()
        return self

    def polish(self, m: int | None = None) -> bool:
        """Let the estimator polish its tree; for those that can. Whether it has changed.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OTD()) as tree:
        ...     _ = tree.partial_fit([[0.0], [1.0], [5.0]])
        ...     try:
        ...         tree.polish(3) in (True, False)
        ...     except TypeError:  # as of an estimator that cannot
        ...         True
        True
        """
        return bool(self.submit_call("polish", {"m": m}).result().value)

    def submit_call(
        self,
        verb: str,
        options: Mapping[str, Any],
        *,
        key: str | None = None,
        block: bool = True,
    ) -> Future[Receipt]:
        """Have a verb of the estimator carried out that reshapes or edits the tree, not waiting.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     try:
        ...         tree.submit_call("sing", {})
        ...     except TypeError as error:
        ...         print(error)
        OHAC cannot sing
        """
        if verb not in _model.CALLS or not hasattr(self.model, verb):
            raise TypeError(f"{type(self.model).__name__} cannot {verb}")
        operation = Operation("call", {"verb": verb, "options": dict(options)})
        checked_key = _check_key(key)

        def resolve() -> Operation | Receipt:
            if checked_key is None:
                return operation
            asked = operation.content_digest()
            if (known := self._answered(checked_key, asked)) is not None:
                return known
            return Operation("call", {**operation.head, "key": checked_key, "asked": asked})

        request = Request(resolve, _names(None, checked_key), alone=True)
        return self._writer.submit(request, block=block)

    def submit_operation(self, operation: Operation, rows: int = 1) -> Future[Receipt]:
        """Have an operation written down and taken that somebody else has resolved.

        For whoever keeps several trees as one (``ramify.ray``).

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.journal._records import Operation
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.submit_operation(Operation("mark", {"marks": {"mail": "7"}})).result().numbers
        ...     tree.marks
        []
        {'mail': '7'}
        """
        request = Request(lambda: operation, frozenset(), rows=rows, alone=True)
        return self._writer.submit(request)

    def between(self, work: Callable[[], Any]) -> Any:
        """Have something done between two changes of the tree, and return what it returns.

        For several readings that must be of one version.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.partial_fit([[0.0], [1.0]])
        ...     tree.between(lambda: (tree.version, tree.hierarchy()))
        (2, <Hierarchy: 2 points, root height 1, split 1 | 1>)
        """
        return self._writer.do(work).result()

    def listen(self, told: Callable[[int], None]) -> None:
        """Have a function called with each new version, by the writer: it must be quick.

        Examples
        --------
        >>> import tempfile, ramify
        >>> seen = []
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.listen(seen.append)
        ...     _ = tree.partial_fit([[0.0], [1.0]])
        >>> seen
        [2]
        """
        self._writer.on_commit = told

    def stable_labels(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
    ) -> IntArray:
        """Ids of the clusters of all points that stay while the tree goes on.

        As the estimator's; which ids were given is in the journal, too.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.partial_fit([[0.0], [1.0], [9.0]]).stable_labels(n_clusters=2)
        array([0, 0, 1])
        """
        asked = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        given = [[name, value] for name, value in asked.items() if value is not None]
        if len(given) > 1:
            raise ValueError("give one of n_clusters, height, max_size, or none")
        operation = Operation("name", {"cut": given[0] if given else [None, None]})
        request = Request(lambda: operation, frozenset(), alone=True)
        labels: IntArray = self._writer.submit(request).result().value
        return labels

    # --- reading --------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name in _READS:
            found = getattr(self.model, name)
            return self._of_rows(found) if name in _OF_ROWS else found
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _of_rows(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        """A question about rows; names of columns are the journal's affair, not the model's."""

        @wraps(ask)
        def asked(X: Any = None, **options: Any) -> Any:
            rows = None if X is None else _model.check_rows(self.model, X, self._columns)[0]
            return ask(rows, **options)

        return asked

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in _READS if hasattr(self, name))})

    def __len__(self) -> int:
        return len(self.model)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{len(self):,} leaves"
        return f"<DurableTree of {self.model!r} in {self.folder}: {state}>"

    def hierarchy(self) -> Hierarchy:
        """Frozen snapshot of the tree, as the estimator's.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.partial_fit([[0.0], [1.0], [5.0]]).hierarchy()
        <Hierarchy: 3 points, root height 20.5, split 2 | 1>
        """
        found: Hierarchy = self.model.hierarchy()
        return found

    def digest(self) -> str:
        """A digest of all that the tree is: equal for trees that are equal to the bit. O(n d).

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     len(tree.partial_fit([[0.0], [1.0]]).digest())
        64
        """
        return _model.state_digest(_model.saved(self.model))

    def payload(self, point: Id) -> Any:
        """The payload of a point, by its id, or by its number where points have no ids.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.add([[0.0]], ids=["T1"], payloads=[{"title": "No sound"}])
        ...     tree.payload("T1")
        {'title': 'No sound'}
        """
        if not _model.is_there(self.model, point):
            raise KeyError(f"there is no point {point!r}")
        number: Any = point if self.model._live.ids is None else self.model.number_of(point)
        return self._payloads.of([number]).get(number)

    def ids_of(self, numbers: Sequence[int]) -> list[Id | None]:
        """The ids of points by their numbers; None for one that has none, or is gone.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.add([[0.0], [1.0]], ids=["ash", "elm"])
        ...     tree.ids_of([1, 7])
        ['elm', None]
        """
        if not _model.knows_names(self.model):
            self.between(lambda: _model.learn_names(self.model))
        return _model.names_of(self.model, numbers)

    def payloads(self, numbers: Sequence[int]) -> dict[int, Any]:
        """The payloads of points, by their numbers; those that have one.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.add([[0.0], [1.0]], payloads=["No sound", None])
        ...     tree.payloads([0, 1])
        {0: 'No sound'}
        """
        return self._payloads.of([int(number) for number in numbers])

    def search(self, text: str, *, limit: int = 20) -> list[Hit]:
        """Points whose payloads have all words of a text, the last one perhaps in part.

        Parameters
        ----------
        text : str
            Words; case and accents do not matter.
        limit : int

        Returns
        -------
        list of Hit
            The best first.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     texts = ["No sound after update", "Update fails"]
        ...     _ = tree.add([[0.0], [1.0]], ids=["T1", "T2"], payloads=texts)
        ...     [hit.id for hit in tree.search("sound upd")]
        ['T1']
        """
        live = self.model._live
        found = [] if live is None else self._payloads.search(text, limit)
        return [hit for hit in found if live.has(hit.number)]

    @property
    def marks(self) -> dict[str, str]:
        """How far each source had been read when its last rows were written."""
        return self._payloads.marks()

    @property
    def seq(self) -> int:
        """Number of operations in the journal so far."""
        return self._writer.seq

    def statistics(self) -> dict[str, Any]:
        """Figures about the journal: operations, commits and their seconds, queue, bytes, ...

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.partial_fit([[0.0], [1.0]]).statistics()["rows"]
        2
        """
        writer, figures = self._writer, self._writer.figures
        times = sorted(figures.commit_times)
        return {
            "operations": figures.operations,
            "rows": figures.rows,
            "commits": figures.commits,
            "refused": figures.refused,
            "commit_seconds": figures.commit_seconds,
            "commit_p50": times[len(times) // 2] if times else 0.0,
            "commit_p99": times[int(len(times) * 0.99)] if times else 0.0,
            "queue_rows": writer.waiting_rows,
            "seq": writer.seq,
            "snapshot_seq": writer.snapshot_seq,
            "snapshots": figures.snapshots,
            "replayed": self.report.replayed,
            "bytes": sum(path.stat().st_size for path in self.folder.iterdir()),
        }

    # --- the folder ---------------------------------------------------------------------------

    def snapshot(self) -> int:
        """Write a snapshot now; the number of the operation that it was taken after.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.partial_fit([[0.0], [1.0]]).snapshot()
        1
        """
        found: int = self._writer.do(lambda: self._snapshot_now(None)).result()
        return found

    def compact(self) -> int:
        """Write a snapshot, drop all that it covers, and shrink the files; their bytes then.

        From then on the folder knows nothing of points that were forgotten.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.partial_fit([[0.0], [1.0]]).compact() < 1_000_000
        True
        """

        def work() -> int:
            self._snapshot_now(1)
            self._writer.store.shrink()
            return sum(path.stat().st_size for path in self.folder.iterdir())

        found: int = self._writer.do(work).result()
        return found

    def close(self) -> None:
        """Finish what waits, write a snapshot if there is something new, and let the folder go.

        Examples
        --------
        >>> import tempfile, ramify
        >>> tree = ramify.open(tempfile.mkdtemp(), ramify.OHAC())
        >>> tree.close()
        """
        with self._closing:
            if self._closed:
                return
            self._closed = True
            try:
                self._writer.stop()
                writer = self._writer
                if writer.broken is None and writer.seq > writer.snapshot_seq:
                    with contextlib.suppress(OSError):  # the journal has it all
                        self._snapshot_now(None)
            finally:
                self._payloads.close()
                try:
                    self._writer.store.close()
                finally:
                    self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _snapshot_now(self, keep: int | None) -> int:
        writer = self._writer
        if writer.seq > writer.snapshot_seq:
            new = write_snapshot(self.folder, writer.seq, writer.chain, _model.saved(self.model))
            writer.adopt(new, keep)
        elif keep is not None:
            writer.adopt(writer.store.snapshots()[0], keep)
        return writer.snapshot_seq

    # --- what calls come to -------------------------------------------------------------------

    def _resolve_insert(
        self, whole: Insert, key: str | None, marks: Mapping[str, str] | None, replace: bool
    ) -> Operation | Receipt:
        """Leave out rows that were taken before; all this in the writer's thread."""
        if key is not None:
            whole = replaced(whole, asked=whole.operation(None, marks).content_digest())
            if (known := self._answered(key, whole.asked)) is not None:
                return known
        if whole.columns is not None:
            self._columns = whole.columns
        if whole.ids is None:
            return whole.operation(key, marks)
        if replace:
            there = [one for one in whole.ids if _model.is_there(self.model, one)]
            return replaced(whole, forget=there).operation(key, marks)
        taken = self._taken(whole.ids)
        if not taken:
            return whole.operation(key, marks)
        fresh = [at for at, one in enumerate(whole.ids) if one not in taken]
        repeats = [[at, *taken[one]] for at, one in enumerate(whole.ids) if one in taken]
        if not fresh and not marks:
            numbers = [number for _, number, _ in repeats]
            return Receipt(numbers, max(version for *_, version in repeats), len(repeats))
        if not fresh:
            head = {"marks": dict(marks or {}), "repeats": repeats}
            named = {} if key is None else {"key": key, "asked": whole.asked}
            return Operation("mark", head | named)
        return _part(whole, fresh, repeats).operation(key, marks)

    def _taken(self, ids: list[Any]) -> dict[Any, tuple[int, int]]:
        """Number and version of those of the ids that were taken before."""
        taken = self._writer.store.answered(ids)
        for one in ids:
            if one not in taken and _model.is_there(self.model, one):  # its answer was lost
                taken[one] = self.model.number_of(one), _model.version(self.model)
        return taken

    def _answered(self, key: str, asked: str | None) -> Receipt | None:
        """The answer to a request of this key, if there was one."""
        known = self._writer.store.request(key)
        if known is None:
            return None
        if known[0] != asked:
            raise ValueError(f"the key {key!r} was used for another request; give each its own")
        return read_receipt(known[1])


def _row_count(X: Any) -> int:
    """Number of rows of whatever it is."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def _part(whole: Insert, fresh: list[int], repeats: list[list[int]]) -> Insert:
    """The rows that are new."""

    def some(values: list[Any] | None) -> list[Any] | None:
        return None if values is None else [values[at] for at in fresh]

    return replaced(
        whole,
        rows=whole.rows[fresh],
        ids=some(whole.ids),
        weights=None if whole.weights is None else whole.weights[fresh],
        times=None if whole.times is None else whole.times[fresh],
        payloads=some(whole.payloads),
        repeats=repeats,
    )


def _names(ids: Sequence[Any] | None, key: str | None) -> frozenset[Any]:
    """What a call speaks of; keys are told from ids by their kind."""
    return frozenset([*(ids or ()), *(() if key is None else [("key", key)])])


def _listed(points: Any) -> list[Any]:
    """Points as plain ids or numbers."""
    if isinstance(points, np.ndarray):
        points = points.tolist()
    if isinstance(points, str) or not hasattr(points, "__iter__"):
        points = [points]
    plain = [one.item() if isinstance(one, np.generic) else one for one in points]
    for one in plain:
        if not isinstance(one, str | int) or isinstance(one, bool):
            raise TypeError(f"{one!r}: expected ids or numbers of points")
    if len(set(plain)) < len(plain):
        raise ValueError("a point is named twice")
    if not plain:
        raise ValueError("no points are named")
    return plain


def _readable(ids: list[Any]) -> list[Any]:
    for one in ids:
        if isinstance(one, str):
            _check_text("ids", one)
    return ids


def _check_key(key: object) -> str | None:
    if key is None:
        return None
    if not isinstance(key, str) or not 0 < len(key) <= 200:
        raise ValueError(f"key={key!r}: expected a text of 1 to 200 characters")
    return _check_text("key", key)


def _check_marks(marks: Mapping[str, Any] | None) -> dict[str, str] | None:
    if marks is None:
        return None
    return {_check_text("marks", name): _check_text("marks", str(at)) for name, at in marks.items()}


def _check_text(what: str, text: str) -> str:
    """Half a surrogate pair is no character, and no database could hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what}: {text!r} is no text that can be written down") from None
    return text
