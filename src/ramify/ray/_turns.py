# SPDX-License-Identifier: BSD-3-Clause
"""_turns.py: a lock that is given in the order in which it is asked for.

A writer that works block by block lets go between two blocks and takes the lock again at
once. Python's own lock would be its again; with this one, readers that have come meanwhile
are first.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Turns:
    """The thread that has the turn may take it again; it is over when all of these are.

    Examples
    --------
    >>> turns = Turns()
    >>> with turns, turns:
    ...     turns.taken
    True
    >>> turns.taken
    False
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[tuple[int, threading.Event]] = deque()
        self._owner: int | None = None
        self._depth = 0

    @property
    def taken(self) -> bool:
        """Whether a thread has the turn."""
        return self._owner is not None

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._lock:
            if self._owner in (None, me):
                self._owner, self._depth = me, self._depth + 1
                return
            mine = me, threading.Event()
            self._waiting.append(mine)
        try:
            mine[1].wait()
        except BaseException:  # Ctrl-C: the next one must not wait for somebody who has left
            self._give_up(mine)
            raise

    def _give_up(self, place: tuple[int, threading.Event]) -> None:
        with self._lock:
            if place in self._waiting:
                self._waiting.remove(place)
                return
        self.__exit__()

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth > 0:
                return
            self._owner = None
            if self._waiting:
                self._owner, called = self._waiting.popleft()
                self._depth = 1
                called.set()


class _HasTurns(Protocol):
    turns: Turns


H = TypeVar("H", bound=_HasTurns)


def in_turn(method: Callable[Concatenate[H, P], T]) -> Callable[Concatenate[H, P], T]:
    """A method that has the turn from beginning to end."""

    @wraps(method)
    def taken(self: H, /, *given: P.args, **named: P.kwargs) -> T:
        with self.turns:
            return method(self, *given, **named)

    return taken
