# SPDX-License-Identifier: BSD-3-Clause
"""_resolving.py: from what a caller asks to an operation, or to an answer that was given before.

The writer asks, in its own thread, when a request's turn has come: which ids were taken, which
points are there and what was answered under a key is then settled for the operation's place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from ramify.estimators.seam import plain_list
from ramify.journal import _model
from ramify.journal._answers import read_receipt
from ramify.journal._records import Insert, Operation
from ramify.journal._requests import Adding, Forgetting, Joining, Request
from ramify.journal._store import Store
from ramify.points import Rows
from ramify.tree import Receipt


class Resolver:
    """What requests come to in a tree and its journal."""

    def __init__(self, model: Any, store: Store, columns: list[str] | None) -> None:
        self._model, self._store = model, store
        self._columns = columns  # their names, if the first rows brought any

    def resolve(self, request: Request) -> Operation | Receipt:
        """What a request comes to."""
        asked, key = request.asked, request.key
        if isinstance(asked, Adding):
            return self._insert(asked, key)
        if isinstance(asked, Joining):
            return self._join(asked, key)
        if isinstance(asked, Forgetting):
            return self._forget(asked.points, key)
        return self._once(asked, key)

    def check_rows(self, X: object) -> Rows:
        """Rows that the tree is asked about."""
        return _model.check_rows(self._model, X, self._columns)[0]

    def _insert(self, asked: Adding, key: str | None) -> Operation | Receipt:
        """Rows to insert; those that were taken before are left out."""
        rows, columns = _model.check_rows(self._model, asked.X, self._columns)
        along = _model.check_along(self._model, len(rows), asked.ids, asked.weights, asked.times)
        whole, marks = Insert(rows, *along, asked.payloads, columns=columns), asked.marks
        if key is not None:
            whole = replace(whole, asked=whole.operation(None, marks).content_digest())
            if (known := self._answered(key, whole.asked)) is not None:
                return known
        if whole.columns is not None:
            self._columns = whole.columns
        if whole.ids is None:
            return whole.operation(key, marks)
        if asked.replaces:
            kept = _model.keeps(self._model, whole.rows, whole.weights)
            told = [one for one, keep in zip(whole.ids, kept, strict=True) if keep]
            there = [one for one in told if _model.is_there(self._model, one)]
            return replace(whole, forget=there).operation(key, marks)
        taken = self._taken(whole.ids)
        if not taken:
            return whole.operation(key, marks)
        return self._rest(whole, taken, key, marks)

    def _join(self, asked: Joining, key: str | None) -> Operation | Receipt:
        """Edges, and points that come with them; points that are there already are left out."""
        listed, marks = asked.ids or [], asked.marks
        read = _model.check_edges(self._model, asked.edges, asked.ids)
        fresh = set(read.ids)
        repeats = [
            [at, self._model.number_of(one), _model.version(self._model)]
            for at, one in enumerate(listed)
            if one not in fresh
        ]
        payloads = None
        if asked.payloads is not None:
            known = dict(zip(listed, asked.payloads, strict=True))
            payloads = [known.get(one) for one in read.ids]
        whole = replace(read, payloads=payloads, repeats=repeats or None)
        if key is not None:
            digest = _digest_of(asked)
            if (found := self._answered(key, digest)) is not None:
                return found
            whole = replace(whole, asked=digest)
        if not whole.ids and len(whole.weights) == 0:  # all that was asked for is there
            return Receipt([number for _, number, _ in repeats], _model.version(self._model))
        return whole.operation(key, marks)

    def _rest(
        self,
        whole: Insert,
        taken: Mapping[Any, tuple[int, int]],
        key: str | None,
        marks: Mapping[str, str] | None,
    ) -> Operation | Receipt:
        """The rows that are new, beside others that are not."""
        assert whole.ids is not None
        fresh = [at for at, one in enumerate(whole.ids) if one not in taken]
        repeats = [[at, *taken[one]] for at, one in enumerate(whole.ids) if one in taken]
        if fresh:
            return _part(whole, fresh, repeats).operation(key, marks)
        if not marks and key is None:
            numbers = [number for _, number, _ in repeats]
            return Receipt(numbers, max(version for *_, version in repeats), len(repeats))
        named = {} if key is None else {"key": key, "asked": whole.asked}
        return Operation("mark", {"marks": dict(marks or {}), "repeats": repeats, **named})

    def _forget(self, points: list[Any], key: str | None) -> Operation | Receipt:
        """Points to forget, all of which must be there."""
        found = self._once(Operation("forget", {"points": points}), key)
        if isinstance(found, Operation):
            for point in points:
                if not _model.is_there(self._model, point):
                    raise KeyError(f"there is no point {point!r}; nothing was forgotten")
        return found

    def _once(self, operation: Operation, key: str | None) -> Operation | Receipt:
        """An operation under a key, unless it was carried out under that key before."""
        if key is None:
            return operation
        asked = operation.content_digest()
        if (known := self._answered(key, asked)) is not None:
            return known
        return Operation(operation.kind, {**operation.head, "key": key, "asked": asked})

    def _taken(self, ids: list[Any]) -> dict[Any, tuple[int, int]]:
        """Number and version of those of the ids that were taken before."""
        taken = self._store.answered(ids)
        for one in ids:
            if one not in taken and _model.is_there(self._model, one):  # its answer was lost
                taken[one] = self._model.number_of(one), _model.version(self._model)
        return taken

    def _answered(self, key: str, asked: str | None) -> Receipt | None:
        """The answer to a request of this key, if there was one."""
        known = self._store.request(key)
        if known is None:
            return None
        if known[0] != asked:
            raise ValueError(f"the key {key!r} was used for another request; give each its own")
        return read_receipt(known[1])


def _digest_of(asked: Joining) -> str:
    """Of what was asked for, whatever was there when it came."""
    edges = None if asked.edges is None else [plain_list(one, "edges") for one in asked.edges]
    text = json.dumps([edges, asked.ids, asked.payloads, dict(asked.marks or {})], sort_keys=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _part(whole: Insert, fresh: list[int], repeats: list[list[int]]) -> Insert:
    """The rows that are new."""

    def some(values: list[Any] | None) -> list[Any] | None:
        return None if values is None else [values[at] for at in fresh]

    return replace(
        whole,
        rows=whole.rows[fresh],
        ids=some(whole.ids),
        weights=None if whole.weights is None else whole.weights[fresh],
        times=None if whole.times is None else whole.times[fresh],
        payloads=some(whole.payloads),
        repeats=repeats,
    )
