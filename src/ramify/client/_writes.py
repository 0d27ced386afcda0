# SPDX-License-Identifier: BSD-3-Clause
"""_writes.py: what a server's tree can be told, once for both clients."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.client import _calls
from ramify.client._answers import listed_ids, receipt_of
from ramify.client._reads import TreeQuestions
from ramify.ids import Id


class TreeOrders(TreeQuestions):
    """What changes a tree."""

    def add(
        self,
        X: npt.ArrayLike,
        *,
        ids: Sequence[Id] | None = None,
        payloads: Sequence[Any] | None = None,
        sample_weight: npt.ArrayLike | None = None,
        times: Sequence[Any] | None = None,
        key: str | None = None,
    ) -> Any:
        """Insert rows: when this returns, they are on the server's disk.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Also a frame of pandas or polars, or an Arrow table.
        ids, payloads, sample_weight, times, key : optional
            As in :meth:`ramify.journal.DurableTree.add`.

        Returns
        -------
        Receipt
            ``numbers``, where -1 is a row that was skipped, ``version`` and ``repeated``.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     print(tree.add([[0.0], [1.0]], ids=["T1", "T2"], payloads=["a", "b"]).numbers)
        [0, 1]
        """
        call = _calls.adding(self.name, X, ids, payloads, sample_weight, times, key)
        return self._told(call, receipt_of)

    def partial_fit(self, X: npt.ArrayLike, **along: Any) -> Any:
        """Insert rows, as :meth:`add`; the tree itself.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets").partial_fit([[0.0], [1.0]])
        ...     print(tree.insert([9.0]), tree.n_points_)
        2 3
        """
        call = _calls.adding(self.name, X, **along)
        return self._told(call, lambda told: self)

    def insert(
        self,
        x: npt.ArrayLike,
        *,
        id: Id | None = None,
        sample_weight: float | None = None,
        payload: Any = None,
    ) -> Any:
        """Insert one point; its arrival number.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     print(client.create("tickets").insert([0.0, 1.0], id="T1"))
        0
        """
        given = {"ids": id, "sample_weight": sample_weight, "payloads": payload}
        along: dict[str, Any] = {
            name: [value] for name, value in given.items() if value is not None
        }
        call = _calls.adding(self.name, np.asarray(x)[np.newaxis], **along)
        return self._told(call, lambda told: receipt_of(told).numbers[0])

    def forget(self, points: Id | Sequence[Id], *, key: str | None = None) -> Any:
        """Take points out, all or none, and say how many; KeyError if one is not there.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.forget("a"), tree.forget(["b", "c"]))
        1 2
        """
        call = self._post("/forget", {"points": listed_ids(points)})
        call.headers["idempotency-key"] = key or uuid.uuid4().hex
        return self._told(call, lambda told: told["forgotten"])

    def compact(self) -> Any:
        """Erase from the server's disk what was forgotten; the bytes of the tree's folder then.

        As :meth:`ramify.journal.DurableTree.compact`.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     _ = tree.add([[0.0], [1.0]], ids=["a", "b"], payloads=["a secret", "none"])
        ...     print(tree.forget("a"), tree.compact() < 1_000_000)
        1 True
        """
        return self._say(_calls.compacting(self.name))

    def edit(self, edit: str, *, key: str | None = None, **about: Any) -> Any:
        """Links, moves and names by people: the estimator's verb, and what it speaks of.

        Parameters
        ----------
        edit : {"must_link", "cannot_link", "unlink", "move", "release", "rename"}
        key : str, optional
            As in :meth:`add`; by default one of its own for each call.
        **about
            ``i`` and ``j`` of the first three, ``node`` and ``under`` of a move, ``node`` of a
            release, ``node`` and ``text`` of a name.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     _ = tree.edit("must_link", i="a", j="c")
        ...     print(tree.edits()["linked"])
        [[0, 2]]
        """
        return self._say(_calls.one(_calls.editing(self.name, edit, key, about)))
