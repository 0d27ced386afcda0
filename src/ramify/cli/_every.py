# SPDX-License-Identifier: BSD-3-Clause
"""_every.py: saving a tree while it grows, every so many rows or seconds.

Rows are counted where they are inserted. Seconds are watched by a thread of their own: a
stream may fall silent for hours, and what came before should not wait for what comes
next. The thread and the inserts take turns by a lock.
"""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ramify.cli._console import WrongCallError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_ROWS_AT_A_TIME = 4_096  # so that the lock is free again before long


class Every(NamedTuple):
    """So many rows, or so many seconds; neither for never."""

    rows: int | None = None
    seconds: float | None = None


def parse(text: str | None) -> Every:
    """What was typed after --save-every.

    Examples
    --------
    >>> parse("10000"), parse("1.5m")
    (Every(rows=10000, seconds=None), Every(rows=None, seconds=90.0))
    """
    if text is None:
        return Every()
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip().replace("_", ""))
    if found is None or float(found[1]) == 0 or (not found[2] and "." in found[1]):
        raise WrongCallError(
            f"--save-every {text}: expected a number of rows, such as 10000, or a time with its "
            f"unit, such as 30s, 5m or 1h"
        )
    if found[2]:
        return Every(seconds=float(found[1]) * _UNITS[found[2]])
    return Every(rows=int(found[1]))


class Saver:
    """Calls ``save`` when it is time. Rows are inserted under its ``lock``."""

    def __init__(self, every: Every, save: Callable[[], None]) -> None:
        self.lock = threading.RLock()
        self._every = every
        self._save = save
        self._since = 0  # rows since the last save
        self._over = threading.Event()

    def room(self) -> int | None:
        """How many rows to insert before the next look; None for any number."""
        if self._every.rows is not None:
            return self._every.rows - self._since
        return None if self._every.seconds is None else _ROWS_AT_A_TIME

    def count(self, rows: int) -> None:
        """So many more are in. Called under the lock."""
        self._since += rows
        if self._every.rows is not None and self._since >= self._every.rows:
            self._save_now()

    def _save_now(self) -> None:
        self._save()
        self._since = 0

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Watch the clock, for as long as rows come in."""
        if self._every.seconds is None:
            yield
            return
        watch = threading.Thread(target=self._watch, args=[self._every.seconds], daemon=True)
        watch.start()
        try:
            yield
        finally:
            self._over.set()

    def _watch(self, seconds: float) -> None:
        while not self._over.wait(seconds):
            with self.lock:
                if self._since > 0 and not self._over.is_set():
                    self._save_now()
