# SPDX-License-Identifier: BSD-3-Clause
"""progress.py: tell a waiting person how far a long batch is.

The core calls a *pulse* with the number of rows done, some twenty times a
second. ``watch`` turns the user's ``progress`` option into such a pulse, and
makes sure that the last news is always "all of them". Where no bar can be drawn there is
a plain line, written over and over: without rich, and in a notebook without ipywidgets,
where rich draws nothing.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TypeAlias

#: What ``fit(..., progress=)`` takes: True, False, or ``f(done, total)``.
Progress: TypeAlias = bool | Callable[[int, int], object]

#: What the core takes: ``f(done)``.
Pulse: TypeAlias = Callable[[int], object]


def check_progress(progress: object) -> None:
    """Refuse anything but True, False or a callable."""
    if not isinstance(progress, bool) and not callable(progress):
        raise TypeError(
            f"progress={progress!r}: expected True, False or a callable f(done, total), "
            f"got {type(progress).__name__}"
        )


@contextmanager
def watch(
    progress: Progress, total: int, verb: str = "inserting", unit: str = "points"
) -> Iterator[Pulse | None]:
    """Lend a pulse for the length of one batch of ``total`` rows.

    ``verb`` is what the bar says is being done to them, ``unit`` what they are.

    Leaving without an exception reports ``total`` a last time.

    Examples
    --------
    >>> with watch(print, total=3) as pulse:
    ...     pulse(1)
    1 3
    3 3
    """
    check_progress(progress)
    if callable(progress):
        yield from _call(progress, total)
    elif progress and _can_draw():
        yield from _draw(total, verb, unit)
    elif progress:
        yield from _tell(total, verb, unit)
    else:
        yield None


def _can_draw() -> bool:
    """Whether a bar of rich would be seen: in a notebook it is made of widgets."""
    if find_spec("rich") is None:
        return False
    return not _in_notebook() or find_spec("ipywidgets") is not None


def _in_notebook() -> bool:
    """Whether cells of a notebook are running, which have no terminal."""
    shell = sys.modules.get("IPython")
    found = None if shell is None else shell.get_ipython()
    return type(found).__name__ == "ZMQInteractiveShell"


_SECONDS = 0.25  # between two lines


def _tell(total: int, verb: str, unit: str) -> Iterator[Pulse]:
    """One line on stderr, written over and over; the last one stays."""
    begun, last, width = time.monotonic(), 0.0, 0

    def pulse(done: int) -> None:
        nonlocal last, width
        now = time.monotonic()
        if done < total and now - last < _SECONDS:
            return
        last = now
        rate = done / max(now - begun, 1e-9)
        line = f"{verb} {done:,}/{total:,} {unit}, {rate:,.0f} {unit}/s"
        width = max(width, len(line))
        print(f"\r{line.ljust(width)}", end="", file=sys.stderr, flush=True)

    try:
        yield pulse
        pulse(total)
    finally:
        print(file=sys.stderr, flush=True)


def _call(report: Callable[[int, int], object], total: int) -> Iterator[Pulse]:
    last = -1

    def pulse(done: int) -> None:
        nonlocal last
        last = done
        report(done, total)

    yield pulse
    if last != total:
        pulse(total)


def _draw(total: int, verb: str, unit: str) -> Iterator[Pulse]:
    # rich is optional and slow to import: only someone who asked for a bar pays.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(verb),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    # stderr, so that a bar never mixes with what a script prints.
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(verb, total=total, rate="")

        def pulse(done: int) -> None:
            seconds = bar.tasks[0].elapsed
            rate = f"{done / seconds:,.0f} {unit}/s" if seconds else ""
            bar.update(task, completed=done, rate=rate)

        yield pulse
        pulse(total)
