# SPDX-License-Identifier: BSD-3-Clause
"""_records.py: operations as they stand in a journal.

An operation is *resolved*: it names points and numbers, never a question whose answer
could be another one when it is asked again. Its head is JSON, its body the bytes of
arrays. Each has a digest of itself and of the digest before it, so that what is changed,
lost or exchanged is noticed, and is noticed where it is.

    insert    rows with ids, weights, times, payloads; points that make way for them
    edges     new weights of edges between points, by id, and points that come with them
    beside    rows with numbers and neighbours from outside: the tree is one of several
    keep      points that go to another tree; what is left keeps its shape
    forget    points
    settings  options that do not shape the tree: its cut, its window
    call      a verb of the estimator that reshapes the tree or edits it, and its options
    mark      how far a source was read, where all rows up to there were known; or payloads of
              points that came with another tree
    name      ids for the clusters of a cut that stay (``stable_labels``)

A tree may refuse an operation that was written down already. It does so again when the
journal is replayed, and is then the same: nothing is written about it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.points import Rows

KINDS = ("insert", "edges", "beside", "keep", "forget", "settings", "call", "mark", "name")

#: The digest before the first operation.
NO_CHAIN = bytes(16)


@dataclass(frozen=True)
class Operation:
    """One change of a tree."""

    kind: str
    head: Mapping[str, Any]
    body: bytes = b""

    @property
    def key(self) -> str | None:
        """What the caller calls the request, if anything."""
        return self.head.get("key")

    @property
    def tells_to_go(self) -> bool:
        """Whether points are named that are not to be here any more."""
        return self.kind in ("forget", "keep") or bool(self.head.get("forget"))

    @cached_property
    def text(self) -> str:
        """The head as it is stored."""
        text = json.dumps(self.head, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        text.encode()  # what no database could hold is refused here
        return text

    def content_digest(self) -> str:
        """Of what is asked for, before it has a key."""
        text = json.dumps([self.kind, dict(self.head)], sort_keys=True).encode()
        return blake2b(text + self.body, digest_size=16).hexdigest()


@dataclass(frozen=True)
class Stored:
    """An operation in its place."""

    seq: int
    group: int  #: number of the last operation that was committed together with it
    operation: Operation
    digest: bytes


def chained(before: bytes, seq: int, group: int, kind: str, head: str, body: bytes) -> bytes:
    """The digest of an operation, given that of the one before."""
    digest = blake2b(before, digest_size=16)
    digest.update(f"{seq} {group} {kind} {len(head)} ".encode())
    digest.update(head.encode())
    digest.update(body)
    return digest.digest()


def _as_memory_has_it(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """In the machine's order of bytes, and at an address that fits its type."""
    return np.require(array.astype(array.dtype.newbyteorder("="), copy=False), requirements="A")


@dataclass(frozen=True)
class Insert:
    """Rows to insert, checked, and what comes along with them."""

    rows: Rows
    ids: list[Any] | None = None
    weights: npt.NDArray[np.float64] | None = None
    times: npt.NDArray[Any] | None = None  #: float64, or nanoseconds as int64
    payloads: list[Any] | None = None
    forget: list[Any] = field(default_factory=list)  #: points that make way, by id
    columns: list[str] | None = None  #: names, with the first rows
    repeats: list[list[int]] | None = None  #: place, number, version of rows that were there
    asked: str | None = None  #: digest of the whole request, if it has a key

    def operation(self, key: str | None, marks: Mapping[str, Any] | None) -> Operation:
        """As it is stored."""
        head: dict[str, Any] = {
            "n": len(self.rows),
            "width": self.rows.shape[1],
            "dtype": self.rows.dtype.name,
        }
        body = self.rows.astype(self.rows.dtype.newbyteorder("<"), copy=False).tobytes()
        if self.weights is not None:
            head["weights"] = True
            body += self.weights.astype("<f8").tobytes()
        if self.times is not None:
            dates = self.times.dtype.kind == "i"
            head["times"] = "dates" if dates else "numbers"
            body += self.times.astype("<i8" if dates else "<f8").tobytes()
        more = {
            "ids": self.ids,
            "payloads": self.payloads,
            "forget": self.forget or None,
            "columns": self.columns,
            "repeats": self.repeats,
            "asked": self.asked,
            "key": key,
            "marks": dict(marks) if marks else None,
        }
        head |= {name: value for name, value in more.items() if value is not None}
        return Operation("insert", head, body)

    @staticmethod
    def read(operation: Operation) -> Insert:
        """The inverse of :meth:`operation`. ValueError if the body has not the bytes."""
        head, body = operation.head, operation.body
        n, width, dtype = head["n"], head["width"], np.dtype(head["dtype"]).newbyteorder("<")
        at = 0

        def take(kind: Any, count: int) -> npt.NDArray[Any]:
            nonlocal at
            array = np.frombuffer(body, kind, count, at)
            at += array.nbytes
            return _as_memory_has_it(array)

        rows = take(dtype, n * width).reshape(n, width)
        weights = take("<f8", n) if head.get("weights") else None
        times = None
        if "times" in head:
            times = take("<i8" if head["times"] == "dates" else "<f8", n)
        if at != len(body):
            raise ValueError(f"{len(body) - at} bytes too many")
        more = {name: head.get(name) for name in ("ids", "payloads", "columns", "repeats")}
        return Insert(rows, weights=weights, times=times, forget=head.get("forget", []), **more)


@dataclass(frozen=True)
class Beside:
    """Rows to insert beside given neighbours, under given numbers."""

    rows: Rows
    numbers: npt.NDArray[np.int64]  #: ascending
    nearest: npt.NDArray[np.int64]  #: (n, k): numbers of points, -1 for none
    ids: list[Any] | None = None
    weights: npt.NDArray[np.float64] | None = None
    payloads: list[Any] | None = None

    def operation(self, marks: Mapping[str, Any]) -> Operation:
        """As it is stored."""
        head: dict[str, Any] = {
            "n": len(self.rows),
            "width": self.rows.shape[1],
            "dtype": self.rows.dtype.name,
            "k": self.nearest.shape[1],
            "marks": dict(marks),
        }
        more = {"ids": self.ids, "payloads": self.payloads}
        head |= {name: value for name, value in more.items() if value is not None}
        rows = self.rows.astype(self.rows.dtype.newbyteorder("<"), copy=False)
        parts = [rows, self.numbers.astype("<i8"), self.nearest.astype("<i8")]
        if self.weights is not None:
            head["weights"] = True
            parts.append(self.weights.astype("<f8"))
        return Operation("beside", head, b"".join(part.tobytes() for part in parts))

    @staticmethod
    def read(operation: Operation) -> Beside:
        """The inverse of :meth:`operation`. ValueError if the body has not the bytes."""
        head, body = operation.head, operation.body
        n, width, k = head["n"], head["width"], head["k"]
        dtype = np.dtype(head["dtype"]).newbyteorder("<")
        weighted = n * 8 if head.get("weights") else 0
        ends = np.cumsum([n * width * dtype.itemsize, n * 8, n * k * 8, weighted])
        if len(body) != ends[-1]:
            raise ValueError(f"{len(body)} bytes instead of {ends[-1]}")
        rows = np.frombuffer(body, dtype, n * width).reshape(n, width)
        numbers = np.frombuffer(body, "<i8", n, ends[0])
        nearest = np.frombuffer(body, "<i8", n * k, ends[1]).reshape(n, k)
        own = _as_memory_has_it(rows)
        weights = np.frombuffer(body, "<f8", n, ends[2]).astype(np.float64) if weighted else None
        more = head.get("ids"), weights, head.get("payloads")
        return Beside(own, numbers.astype(np.int64), nearest.astype(np.int64), *more)


@dataclass(frozen=True)
class Edges:
    """New weights of edges, checked, and the points that come with them, in order."""

    ids: list[Any]  #: of points that come
    named: list[Any]  #: ids that edges speak of
    ends: npt.NDArray[np.uint32]  #: (m, 2): places in ``named``
    weights: npt.NDArray[np.float64]
    payloads: list[Any] | None = None  #: of the points that come
    repeats: list[list[int]] | None = None  #: place, number, version of ids that were there
    asked: str | None = None  #: digest of the whole request, if it has a key

    def operation(self, key: str | None, marks: Mapping[str, Any] | None) -> Operation:
        """As it is stored."""
        head: dict[str, Any] = {"n": len(self.ids), "edges": len(self.weights), "ids": self.ids}
        more = {
            "named": self.named or None,
            "payloads": self.payloads,
            "repeats": self.repeats,
            "asked": self.asked,
            "key": key,
            "marks": dict(marks) if marks else None,
        }
        head |= {name: value for name, value in more.items() if value is not None}
        body = self.ends.astype("<u4").tobytes() + self.weights.astype("<f8").tobytes()
        return Operation("edges", head, body)

    @staticmethod
    def read(operation: Operation) -> Edges:
        """The inverse of :meth:`operation`. ValueError if the body has not the bytes."""
        head, body = operation.head, operation.body
        m = head["edges"]
        if len(body) != 16 * m:
            raise ValueError(f"{len(body)} bytes instead of {16 * m}")
        ends = np.frombuffer(body, "<u4", 2 * m).reshape(m, 2).astype(np.uint32)
        weights = np.frombuffer(body, "<f8", m, 8 * m).astype(np.float64)
        more = {name: head.get(name) for name in ("payloads", "repeats")}
        return Edges(head["ids"], head.get("named", []), ends, weights, **more)
