# SPDX-License-Identifier: BSD-3-Clause
"""_progress.py: how far a stream is: a bar on a terminal, lines in a log, or silence.

The depth of the tree needs a look at all of it. It is looked at so seldom that this
takes a fiftieth of the time, and never by someone who asked for quiet.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from ramify.cli._console import say
from ramify.files import Source

#: Shows a text, and how much is done from 0 to 1 if that is known.
_Show: TypeAlias = Callable[[str, float | None], None]

INTERVAL = 5.0  # seconds between lines
_SHARE_FOR_DEPTH = 50


class Meter:
    """Counts points, and shows them with their speed, the tree's depth and the time left."""

    def __init__(self, source: Source, show: _Show | None) -> None:
        self._source = source
        self._show = show
        self._begun = self._looked = time.monotonic()
        self._cost = 0.002  # of the last look at the depth, in seconds
        self._before = 0  # points of earlier batches
        self._depth: int | None = None

    def pulse(self, done: int, total: int) -> None:
        """So many points of the present batch are in."""
        if self._show is not None:
            points = self._before + done
            self._show(self._text(points), self._fraction(points))

    def batch_done(self, rows: int, model: Any) -> None:
        """A batch is in; look at the depth if it is time."""
        self._before += rows
        now = time.monotonic()
        if self._show is not None and now - self._looked > _SHARE_FOR_DEPTH * self._cost:
            self._depth = int(model.hierarchy().depths().max())
            self._looked = time.monotonic()
            self._cost = self._looked - now

    def _fraction(self, points: int) -> float | None:
        if self._source.n_rows:
            return min(points / self._source.n_rows, 1.0)
        return self._source.fraction()

    def _text(self, points: int) -> str:
        seconds = time.monotonic() - self._begun
        words = [f"{points:,} points"]
        if seconds > 0:
            words.append(f"{points / seconds:,.0f} points/s")
        if self._depth is not None:
            words.append(f"depth {self._depth:,}")
        fraction = self._fraction(points)
        if fraction and seconds > 1:
            words.append(f"{_clock(seconds * (1 - fraction) / fraction)} left")
        return ", ".join(words)


@contextmanager
def meter(source: Source, *, quiet: bool) -> Iterator[Meter]:
    """Lend a meter for one stream."""
    if quiet:
        yield Meter(source, None)
    elif sys.stderr.isatty():
        with _bar() as show:
            yield Meter(source, show)
    else:
        yield Meter(source, _lines())


def _lines() -> _Show:
    last = time.monotonic()

    def show(text: str, fraction: float | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= INTERVAL:
            last = now
            share = "" if fraction is None else f"{fraction:.0%}: "
            say(f"{share}{text}")

    return show


@contextmanager
def _bar() -> Iterator[_Show]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)

        def show(text: str, fraction: float | None) -> None:
            total = None if fraction is None else 1.0
            progress.update(task, description=text, total=total, completed=fraction or 0.0)

        yield show


def _clock(seconds: float) -> str:
    """Time for people.

    Examples
    --------
    >>> _clock(75), _clock(7384)
    ('1:15', '2:03:04')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
