# SPDX-License-Identifier: BSD-3-Clause
"""_store.py: every summary that was ever paid for, by what it is a summary of.

    content   of the node when the summary was made: 32 bytes (_mirror.py)
    body      what the callable answered, as JSON
    vector    of the body, where a function made one (float32)
    members   the first 8 bytes of the contents of leaves, ascending: who is spoken of in it

One commit for each summary or batch, before anything else is paid for. A killed process loses
nothing that was committed. ``synchronous=NORMAL``: neither does a failing machine, but for what was
committed in its last moments, which would be paid for again.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

#: Who is in a summary.
Members = npt.NDArray[np.uint64]

_FORMAT = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS summaries (
    content BLOB PRIMARY KEY, body TEXT NOT NULL, vector BLOB, members BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS held (node INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class Made(NamedTuple):
    """A summary, as it is kept."""

    content: int
    body: Any
    members: Members


class Store:
    """Summaries in a file of SQLite, or in memory.

    Examples
    --------
    >>> store = Store(None)
    >>> store.put([Made(7, "fruit", members_of([1, 2]))])
    >>> store.has(7), store.has(8), store.body(7), store.members(7)
    (True, False, 'fruit', array([1, 2], dtype=uint64))
    >>> store.erase([2])
    [7]
    >>> store.close()
    """

    def __init__(self, path: str | Path | None, *, read_only: bool = False) -> None:
        self._lock = threading.Lock()
        where = ":memory:" if path is None else str(path)
        if read_only and not Path(where).exists():
            raise ValueError(f"store={where}: there is none")
        try:
            self._sql = sqlite3.connect(where, check_same_thread=False, timeout=30.0)
            self._sql.execute("PRAGMA journal_mode=WAL")
            self._sql.execute("PRAGMA synchronous=NORMAL")
            self._sql.execute("PRAGMA secure_delete=ON")  # what is forgotten is overwritten
            (found,) = self._sql.execute("PRAGMA user_version").fetchone()
            if found not in (0, _FORMAT):
                raise ValueError(
                    f"store={where}: written by a later ramify (format {found}); this one reads "
                    f"format {_FORMAT}"
                )
            self._sql.executescript(_TABLES)
            self._sql.execute(f"PRAGMA user_version={_FORMAT}")
            if read_only:
                self._sql.execute("PRAGMA query_only=ON")
        except sqlite3.Error as error:
            raise ValueError(
                f"store={where}: no store of summaries can be here ({error}); expected a file that "
                f"this made, or a new one in a folder that is there"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._sql.close()

    @property
    def edition(self) -> int:
        """Another number once another program has written into the file."""
        ((found,),) = self._ask("PRAGMA data_version")
        return int(found)

    def tell(self, levels: Sequence[float], lazy: float) -> None:
        """Write down of which tree the summaries are, for whoever reads them."""
        facts = {"levels": list(levels), "lazy": lazy}
        rows = [(name, json.dumps(value)) for name, value in facts.items()]
        if dict(rows) != dict(self._ask("SELECT name, value FROM about")):
            with self._lock, self._sql:
                self._sql.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", rows)

    def about(self) -> tuple[tuple[float, ...], float]:
        """Levels and laziness, as they were told; what trees have by default in an early store."""
        known = {name: json.loads(value) for name, value in self._ask("SELECT * FROM about")}
        return tuple(known.get("levels", (10, 100, 1000))), known.get("lazy", 0.0)

    def missing(self, contents: Iterable[int]) -> set[int]:
        """Which of these are not in it."""
        known = {content for (content,) in self._ask("SELECT content FROM summaries")}
        return {one for one in contents if key(one) not in known}

    def _ask(self, question: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock:
            return self._sql.execute(question, values).fetchall()

    def has(self, content: int) -> bool:
        """Whether this was paid for."""
        return bool(self._ask("SELECT 1 FROM summaries WHERE content = ?", (key(content),)))

    def body(self, content: int) -> Any:
        """What the callable answered; None if another program has erased it just now."""
        found = self._ask("SELECT body FROM summaries WHERE content = ?", (key(content),))
        return json.loads(found[0][0]) if found else None

    def members(self, content: int) -> Members:
        """Who is in it."""
        ask = "SELECT members FROM summaries WHERE content = ?"
        ((found,),) = self._ask(ask, (key(content),))
        return np.frombuffer(found, np.uint64)

    def vector(self, content: int) -> npt.NDArray[np.float32] | None:
        """The vector of the body, if one was made."""
        ((found,),) = self._ask("SELECT vector FROM summaries WHERE content = ?", (key(content),))
        return None if found is None else np.frombuffer(found, np.float32)

    def put(self, made: Iterable[Made]) -> None:
        """Keep summaries, in one commit."""
        rows = [
            (key(one.content), json.dumps(one.body, ensure_ascii=False), one.members.tobytes())
            for one in made
        ]
        with self._lock, self._sql:
            self._sql.executemany(
                "INSERT OR IGNORE INTO summaries (content, body, members) VALUES (?, ?, ?)", rows
            )

    def put_vectors(self, vectors: dict[int, npt.NDArray[np.float32]]) -> None:
        """Keep vectors of summaries that are there."""
        rows = [(vector.tobytes(), key(content)) for content, vector in vectors.items()]
        with self._lock, self._sql:
            self._sql.executemany("UPDATE summaries SET vector = ? WHERE content = ?", rows)

    def erase(self, leaves: Iterable[int]) -> list[int]:
        """Erase all that any of these leaves was ever in, from the disk as well; what it was."""
        gone = members_of(leaves)
        return self._erase(lambda members: bool(np.isin(gone, members).any()))

    def erase_others(self, leaves: Iterable[int]) -> list[int]:
        """Erase all that anything but these leaves was ever in; what it was."""
        there = members_of(leaves)
        return self._erase(lambda members: not np.isin(members, there).all())

    def _erase(self, to_go: Callable[[Members], bool]) -> list[int]:
        every = self._ask("SELECT content, members FROM summaries")
        found = [(one,) for one, members in every if to_go(np.frombuffer(members, np.uint64))]
        with self._lock:
            with self._sql:
                self._sql.executemany("DELETE FROM held WHERE content = ?", found)
                self._sql.executemany("DELETE FROM summaries WHERE content = ?", found)
            self._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return [int.from_bytes(content, "little") for (content,) in found]

    def held(self) -> dict[int, int]:
        """Which summary each node had, as it was last said."""
        told = self._ask("SELECT held.node, held.content FROM held JOIN summaries USING (content)")
        return {node: int.from_bytes(content, "little") for node, content in told}

    def hold(self, held: dict[int, int], dropped: Iterable[int]) -> None:
        """Say which summaries nodes have; only lazy trees need to know."""
        with self._lock, self._sql:
            self._sql.executemany("DELETE FROM held WHERE node = ?", [(one,) for one in dropped])
            rows = [(node, key(content)) for node, content in held.items()]
            self._sql.executemany("INSERT OR REPLACE INTO held VALUES (?, ?)", rows)

    def __len__(self) -> int:
        ((count,),) = self._ask("SELECT count(*) FROM summaries")
        return int(count)


def key(content: int) -> bytes:
    """A content as bytes."""
    return content.to_bytes(32, "little")


def members_of(contents: Iterable[int]) -> Members:
    """The first 8 bytes of contents, ascending.

    Examples
    --------
    >>> members_of([(1 << 200) + 5, 3])
    array([3, 5], dtype=uint64)
    """
    found = np.fromiter((one & 0xFFFFFFFFFFFFFFFF for one in contents), np.uint64)
    found.sort()
    return found
