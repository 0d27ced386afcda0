# SPDX-License-Identifier: BSD-3-Clause
"""_payloads.py: what is known of points beside their rows: read, and found by its words."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ramify.checks import whole_number
from ramify.hierarchy import IntArray
from ramify.ids import Id
from ramify.journal._door import plain_value
from ramify.journal._store import connect

_AT_ONCE = 500
_MOST_WORDS = 200


class Hit(NamedTuple):
    """A point that was found.

    Examples
    --------
    >>> Hit(3, "T3", "No sound").id
    'T3'
    """

    number: int
    id: Id | None
    payload: Any


def check_payloads(payloads: Sequence[Any] | None, n: int, most: int) -> list[Any] | None:
    """Payloads of n rows, such as JSON can hold, and not too long."""
    if payloads is None:
        return None
    apart = isinstance(
        payloads, str | bytes | Mapping | set | frozenset
    )  # has a length, and no row's order
    if apart or not hasattr(payloads, "__len__"):
        raise TypeError(
            f"payloads: expected a sequence, one for each row, got {type(payloads).__name__}"
        )
    if len(payloads) != n:
        raise ValueError(f"payloads: expected {n}, one for each row, got {len(payloads)}")
    return [
        None if payload is None else _check(payload, row, most)
        for row, payload in enumerate(payloads)
    ]


def _check(payload: Any, row: int, most: int) -> Any:
    found = plain_value(f"payloads: row {row}", payload)
    size = len(json.dumps(found, ensure_ascii=False).encode())
    if size > most:
        raise ValueError(f"payloads: row {row} has {size:,} bytes, and {most:,} are the limit")
    return found


class PayloadReader:
    """Payloads and marks, read by any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = connect(path, read_only=True)

    def close(self) -> None:
        """No more reading."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _ask(self, question: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock:
            if self._connection is None:
                raise ValueError("the tree has been closed")
            return self._connection.execute(question, values).fetchall()

    def of(self, numbers: Sequence[int]) -> dict[int, Any]:
        """Payloads by the numbers of their points."""
        found: dict[int, Any] = {}
        numbers = [number for number in numbers if abs(number) < 2**63]  # others have none
        for begin in range(0, len(numbers), _AT_ONCE):
            some = numbers[begin : begin + _AT_ONCE]
            marks = ",".join("?" * len(some))
            ask = f"SELECT number, body FROM payloads WHERE number IN ({marks})"
            found |= {number: json.loads(body) for number, body in self._ask(ask, some)}
        return found

    def search(self, text: str, limit: int) -> list[Hit]:
        """Points by words of their payloads."""
        limit = whole_number("limit", limit)
        asked = _question(text)
        if asked is None:
            return []
        ask = (
            "SELECT p.number, p.id, p.body FROM words w JOIN payloads p ON p.number = w.rowid "
            "WHERE words MATCH ? ORDER BY rank LIMIT ?"
        )
        return [
            Hit(number, one, json.loads(body))
            for number, one, body in self._ask(ask, (asked, limit))
        ]

    def ranked(self, text: str) -> IntArray:
        """Numbers of all points that a search finds, the best first."""
        asked = _question(text)
        if asked is None:
            return np.empty(0, np.int64)
        ask = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank"
        return np.array(self._ask(ask, (asked,)), np.int64).reshape(-1)

    def marks(self) -> dict[str, str]:
        """How far sources have been read."""
        return dict(self._ask("SELECT source, position FROM marks"))


def _question(text: str) -> str | None:
    """Words in SQLite's language of searches, none of which can be a command of it.

    Examples
    --------
    >>> _question('sound OR "driver')
    '"sound" "OR" "driver"*'
    """
    plain = text.encode("utf-8", "replace").decode().replace("\0", " ").replace('"', " ")
    words = [word for word in plain.split() if any(letter.isalnum() for letter in word)]
    if not words:
        return None
    if len(words) > _MOST_WORDS:
        raise ValueError(f"a search for {len(words):,} words; {_MOST_WORDS} are the limit")
    return " ".join(f'"{word}"' for word in words) + "*"
