# SPDX-License-Identifier: BSD-3-Clause
"""_tree.py: a model in a folder: the estimator's verbs, and the folder itself."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self

from ramify.histogram import Histogram
from ramify.journal._errors import JournalError
from ramify.journal._folder import FolderLock, folder_bytes
from ramify.journal._growing import Growing
from ramify.journal._payloads import PayloadReader
from ramify.journal._reading import Reading
from ramify.journal._records import Operation
from ramify.journal._recover import Recovered, Report
from ramify.journal._removing import remove_files
from ramify.journal._requests import Policy
from ramify.journal._resolving import Resolver
from ramify.journal._writer import Writer
from ramify.tree import Receipt
from ramify.wording import LiveKeywords


class DurableTree(Growing, Reading):
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
        The estimator, for reading. Changes behind the journal's back are lost.

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
        columns = json.loads(store.fact("columns") or "null")
        self._resolver = Resolver(self.model, store, columns)
        self._writer = Writer(folder, store, self.model, policy, self._resolver, seq, chain)
        self._payloads = PayloadReader(store.path)
        self._live_keywords = LiveKeywords()
        self._closing = threading.Lock()
        self._closed = False

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{len(self):,} leaves"
        return f"<DurableTree of {self.model!r} in {self.folder}: {state}>"

    @property
    def seq(self) -> int:
        """Number of operations in the journal so far."""
        return self._writer.seq

    def submit_operation(self, operation: Operation, rows: int = 1) -> Future[Receipt]:
        """Have an operation written down and taken that a router has resolved.

        For a router, which keeps several trees as one (``ramify.ray``).

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
        return self._submit(operation, rows)

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

    def listen_to_upkeep(self, told: Callable[[dict[str, Any]], None]) -> None:
        """Have a function called with each snapshot, compaction, and failure of one: for a log.

        Examples
        --------
        >>> import tempfile, ramify
        >>> seen = []
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.listen_to_upkeep(seen.append)
        ...     _ = tree.partial_fit([[0.0], [1.0]]).snapshot()
        >>> seen[0]["snapshot"]
        1
        """
        self._writer.upkeep.tell = told

    def histograms(self) -> dict[str, Histogram]:
        """Of the commits since the folder was opened: ``seconds``, and ``rows``.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.partial_fit([[0.0], [1.0]]).histograms()["rows"].total
        2.0
        """
        figures = self._writer.figures
        return {"seconds": figures.commit_histogram, "rows": figures.batch_histogram}

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
            "snapshot_seq": writer.upkeep.snapshot_seq,
            "snapshots": figures.snapshots,
            "compactions": figures.compactions,
            "owed_seconds": writer.upkeep.owed_seconds,
            "replayed": self.report.replayed,
            "bytes": folder_bytes(self.folder),
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
        return self.submit_snapshot().result()

    def submit_snapshot(self) -> Future[int]:
        """As :meth:`snapshot`, without waiting: the future has the answer, or the error.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.submit_snapshot().result()
        0
        """
        return self._writer.do(self._writer.upkeep.snapshot_now)

    def compact(self) -> int:
        """Erase from the disk what has left the tree; the bytes of the folder then.

        When this returns, no file of the folder has rows, ids or payloads of points that had been
        forgotten, or had left by themselves, before it was called. The tree goes on meanwhile:
        a snapshot is written beside it, and writers wait while the journal is written anew. It is
        done without being asked, too: see ``erase_within`` of :func:`ramify.open`.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.add([[0.0], [1.0]], ids=["ash", "elm"], payloads=["a secret", "none"])
        ...     _ = tree.forget("ash")
        ...     tree.compact() < 1_000_000
        True
        """
        return self.submit_compact().result()

    def submit_compact(self) -> Future[int]:
        """As :meth:`compact`, without waiting: the future has the answer, or the error.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.submit_compact().result() < 1_000_000
        True
        """
        return self._writer.compact()

    def close(self) -> None:
        """Finish what waits, write a snapshot if there is something new, and let the folder go.

        What was forgotten is erased first, as :meth:`compact` does. If the tree has met with
        something unexpected, this says so, when the folder has been let go.

        Examples
        --------
        >>> import tempfile, ramify
        >>> tree = ramify.open(tempfile.mkdtemp(), ramify.OHAC())
        >>> tree.close()
        """
        self._close()
        if self._writer.broken is not None:
            broken, self._writer.broken = self._writer.broken, None  # said once
            raise JournalError(
                f"{self.folder} was closed after something unexpected ({broken!r}); open it "
                f"again: nothing that was acknowledged is lost"
            ) from broken

    def delete(self) -> None:
        """Close, and remove the folder with all that is in it.

        Calls that wait are answered first. A crash on the way leaves the whole tree, or none.

        Examples
        --------
        >>> import tempfile, ramify
        >>> tree = ramify.open(tempfile.mkdtemp(), ramify.OHAC())
        >>> tree.delete()
        >>> tree.folder.exists()
        False
        """
        self._close(keep=False)

    def _close(self, *, keep: bool = True) -> None:
        with self._closing:
            if self._closed:
                if not keep:
                    raise JournalError(f"{self.folder} has been closed")
                return
            self._closed = True
            try:
                self._writer.stop()
                if not keep:
                    remove_files(self.folder)
                elif self._writer.broken is None:
                    self._finish()
            finally:
                self._payloads.close()
                try:
                    self._writer.store.close()
                finally:
                    self._lock.release()

    def _finish(self) -> None:
        """Leave the folder as it is best found again; the journal has it all without."""
        upkeep = self._writer.upkeep
        if upkeep.owes_erasure:
            self._payloads.close()  # who reads would keep the log as it is
            upkeep.compact_now()
        else:
            with contextlib.suppress(OSError, sqlite3.Error):
                upkeep.snapshot_now()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        self._close() if kind is not None else self.close()
