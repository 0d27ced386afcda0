# SPDX-License-Identifier: BSD-3-Clause
"""_growing.py: the verbs of a tree in a folder that change it; on the disk when a call returns.

A verb checks what it is given, and puts a request into the writer's queue. What the request comes
to is found out when its turn has come (``_resolving.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ramify.checks import yes_or_no
from ramify.ids import Id, Ids
from ramify.journal._calling import Calling
from ramify.journal._door import (
    plain_ids,
    plain_key,
    plain_marks,
    plain_points,
)
from ramify.journal._joining import joining
from ramify.journal._payloads import check_payloads
from ramify.journal._requests import Adding, Forgetting, Policy, Request
from ramify.tree import Receipt


class Growing(Calling):
    """A tree that grows."""

    version: Any  # of the tree: _reading.py
    _policy: Policy

    def partial_fit(
        self,
        X: npt.ArrayLike | None = None,
        y: object = None,
        *,
        edges: Any = None,
        ids: Sequence[Id] | None = None,
        sample_weight: npt.ArrayLike | None = None,
        times: npt.ArrayLike | None = None,
        payloads: Sequence[Any] | None = None,
        key: str | None = None,
        marks: Mapping[str, Any] | None = None,
    ) -> Self:
        """Insert rows or edges; when this returns, they are on the disk. As :meth:`add`.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OTD()) as tree:
        ...     len(tree.partial_fit([[0.0], [1.0]]))
        2
        """
        self.add(
            X,
            edges=edges,
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
        X: npt.ArrayLike | None = None,
        *,
        edges: Any = None,
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
        edges : tuple of three sequences (i, j, weight), optional
            Instead of rows, of a tree of edges (:class:`LiveGraphHAC`): as in its ``partial_fit``.
            Points of ``ids`` that are there already are left out, and the numbers of the answer are
            those of ``ids``, and then of the other points that came.
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
            edges=edges,
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
        X: npt.ArrayLike | None = None,
        *,
        edges: Any = None,
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
        X, edges, ids, sample_weight, times, payloads, key, marks, replace
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
        if X is None:
            if replace or sample_weight is not None or times is not None:
                raise TypeError("edges take no sample_weight, no times and no replace")
            most = self._policy.payload_bytes
            news = joining(edges, ids, payloads, plain_marks(marks), most)
            request = Request(news, plain_key(key), max(len(news.ends) // 2, 1))
            return self._writer.submit(request, block=block)
        if edges is not None:
            raise TypeError("a call takes rows, or edges=(i, j, weight), and not both at once")
        count = _row_count(X)
        given = check_payloads(payloads, count, self._policy.payload_bytes)
        named = None if ids is None else plain_ids(Ids().read(ids, count))
        known_as, marked = plain_key(key), plain_marks(marks)
        if yes_or_no("replace", replace):
            self._require_forget()

        asked = Adding(X, named, sample_weight, times, given, marked, replace)
        return self._writer.submit(Request(asked, known_as, count, replace), block=block)

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
        self._require_forget()
        named, key = plain_points(points), plain_key(key)
        if not named:  # as in other homes: nothing is to be done, nor written down
            nothing: Future[Receipt] = Future()
            nothing.set_result(Receipt([], self.version))
            return nothing
        request = Request(Forgetting(named), key, alone=True)
        return self._writer.submit(request, block=block)

    def _require_forget(self) -> None:
        if not hasattr(self.model, "forget"):
            raise TypeError(f"trees of {type(self.model).__name__} only grow, and forget nothing")


def _row_count(X: Any) -> int:
    """Number of rows of whatever it is."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)
