# SPDX-License-Identifier: BSD-3-Clause
"""reproduce.py: from options to a report.

Small cells run side by side, one per core; large ones and the figure's alone, so
that their times mean something. HAC comes first: the others are compared with it.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from ramify import datasets
from ramify.jobs import thread_count
from ramify.paper import figure, protocol
from ramify.paper.cells import Cell, CellRunner
from ramify.paper.machine import machine, versions
from ramify.paper.protocol import Column
from ramify.paper.report import Report
from ramify.paper.results import Result, Run, Store
from ramify.paper.tables import Results

#: Seconds that a cell may take.
LIMIT, FULL_LIMIT = 60.0, 3600.0

_SMALL = 5_000  # rows up to which cells run side by side


@dataclass(frozen=True)
class Options:
    """What `ramify paper` takes.

    Examples
    --------
    >>> from ramify.paper import Options
    >>> Options(only=["iris"]).seeds
    5
    """

    full: bool = False
    only: Sequence[str] = ()
    seeds: int = 5
    out: Path = Path("paper-report")
    data: Path | None = None
    limit: float | None = None  # seconds per cell; None: LIMIT or FULL_LIMIT
    command: str = "ramify paper"


class Audience(Protocol):
    """Who is told how far we are."""

    def begin(self, cells: int) -> None: ...
    def at_work(self, run: Run, progress: tuple[int, int] | None) -> None: ...
    def finished(self, cell: Cell) -> None: ...


class _Nobody:
    def begin(self, cells: int) -> None: ...
    def at_work(self, run: Run, progress: tuple[int, int] | None) -> None: ...
    def finished(self, cell: Cell) -> None: ...


@dataclass(frozen=True)
class _Choice:
    """What is to be done."""

    columns: list[Column]
    methods: list[str]
    with_figure: bool


def reproduce(options: Options, audience: Audience | None = None) -> Report:
    """Run what is not stored yet in `options.out`, and report on everything.

    Ctrl-C ends all processes and is passed on; what is complete stays stored.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ramify.paper import Options, reproduce
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> report = reproduce(Options(only=["iris", "otd"], seeds=1, out=folder))
    >>> "otd" in [method.lower() for method in report.methods]
    True
    """
    audience = audience or _Nobody()
    choice = _choose(options)
    _fetch(choice.columns, options.data)
    limit = (FULL_LIMIT if options.full else LIMIT) if options.limit is None else options.limit
    store = Store(options.out)
    waves = _waves(choice, options)
    audience.begin(sum(len(wave) for wave in waves))
    results: Results = {}
    start = time.monotonic()
    with CellRunner(store, data=options.data, limit=limit, watch=audience.at_work) as runner:
        for wave in waves:
            _run(runner, wave, results, audience)
    _leave_out(choice, results)
    facts = {
        "Command": f"`{options.command}`",
        "Date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "Machine": machine(),
        "Versions": versions(),
        "Limit": _limits(limit, results),
        "Took": f"{time.monotonic() - start:,.0f} s, not counting results of earlier runs",
    }
    return Report(choice.columns, choice.methods, _sorted(results, choice), facts)


def _limits(limit: float, results: Results) -> str:
    """Stored results may have been given more time than this run gives."""
    most = max((result.limit for found in results.values() for result in found), default=0.0)
    text = f"{limit:,.0f} s a cell, all its runs together"
    return text if most <= limit else f"{text}; up to {most:,.0f} s in runs stored earlier"


def _choose(options: Options) -> _Choice:
    """Apply `only`: data sets, methods, "figure"; what these are compared with comes along."""
    columns = {c.name: c for c in protocol.plan(full=options.full, data=options.data)}
    methods = list(protocol.METHODS)
    names, rest = protocol.select(options.only, list(columns))
    rows, rest = protocol.select(rest, methods)
    pictures, rest = protocol.select(rest, ["figure"])
    if rest:
        known = ", ".join([*columns, *methods, "figure"])
        hint = "" if options.full else " (more with --full, MNIST with its files in --data)"
        raise ValueError(f"--only {rest[0]}: expected one of {known}{hint}")
    if options.seeds < 1:
        raise ValueError(f"--seeds {options.seeds}: expected at least 1")
    if options.limit is not None and not options.limit > 0:
        raise ValueError(f"--limit {options.limit:g}: expected more than 0 seconds")
    wanted = [columns[name] for name in columns if name in names]
    if not names and not pictures:
        wanted = list(columns.values())
    needed = {protocol.METHODS[method].reference for method in rows or methods}
    keep = [method for method in methods if method in needed.union(rows or methods)]
    return _Choice(wanted, keep, with_figure=bool(pictures) or not (names or rows))


def _fetch(columns: Sequence[Column], data: Path | None) -> None:
    """Get MNIST once, in view of the user; if that fails, its cells will say so."""
    if any(column.name == "mnist" for column in columns) and datasets.find_mnist(data) is None:
        try:
            datasets.mnist(1, data_home=data)
        except (FileNotFoundError, ValueError):
            return


def _waves(choice: _Choice, options: Options) -> list[list[Cell]]:
    """Cells that may run side by side, wave after wave."""
    small = [column for column in choice.columns if column.rows <= _SMALL]
    large = [column for column in choice.columns if column.rows > _SMALL]
    first = [method for method in choice.methods if protocol.is_reference(method)]
    others = [method for method in choice.methods if method not in first]
    waves = [
        [_cell(c, m, options.seeds) for c in small for m in group if _fits(c, m)]
        for group in (first, others)
    ]
    for column in large:
        ordered = [method for method in first + others if _fits(column, method)]
        waves += [[_cell(column, method, options.seeds)] for method in ordered]
    if choice.with_figure:
        waves += [[cell] for cell in figure.cells(full=options.full)]
    return waves


def _cell(column: Column, method: str, seeds: int) -> Cell:
    orders = protocol.orders(column, method, seeds)
    return Cell(tuple(Run(column.name, column.rows, method, order) for order in orders))


def _fits(column: Column, method: str) -> bool:
    most = protocol.METHODS[method].most
    return most is None or column.rows <= most


def _run(runner: CellRunner, wave: Sequence[Cell], results: Results, audience: Audience) -> None:
    with ThreadPoolExecutor(max_workers=thread_count(None, none=-1)) as pool:
        futures = {pool.submit(runner.work, cell): cell for cell in wave}
        try:
            for future in as_completed(futures):
                cell = futures[future]
                key = cell.runs[0].column, cell.runs[0].method
                results[key] = future.result()
                audience.finished(cell)
        except BaseException:
            runner.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _leave_out(choice: _Choice, results: Results) -> None:
    """Say why a method has no number where the protocol does not run it."""
    for column in choice.columns:
        for method in choice.methods:
            if not _fits(column, method):
                run = Run(column.name, column.rows, method, "file")
                reason = protocol.METHODS[method].why_most
                results[column.name, method] = [Result(run, "left out", reason)]


def _sorted(results: Results, choice: _Choice) -> Results:
    """In the order of the tables, whatever finished first."""
    names = [*(column.name for column in choice.columns), figure.NAME]
    methods = [*choice.methods, *figure.METHODS]

    def place(key: tuple[str, str]) -> tuple[int, int]:
        return names.index(key[0]), methods.index(key[1])

    return {key: results[key] for key in sorted(results, key=place)}
