# SPDX-License-Identifier: BSD-3-Clause
"""terminal.py: tables on a terminal, by rich where it is installed, plain elsewhere."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from benchmarks.runner import Report
from benchmarks.tables import Table


def show(table: Table) -> None:
    """Print a table, its notes and the command that prints it."""
    (_show_rich if find_spec("rich") is not None else _show_plain)(table)


def _show_rich(table: Table) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable

    # A file or a pipe has no width of its own; do not squeeze the table into 80 columns.
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 220
    console = Console(width=width, highlight=False)
    drawn = RichTable(title=table.title, title_justify="left")
    for i, head in enumerate(table.head):
        drawn.add_column(head, overflow="fold", min_width=4 if i else 20)
    for row in table.rows:
        style = "red" if row[-1] == "MISSED" else None
        drawn.add_row(*(cell.replace("[", r"\[") for cell in row), style=style)
    console.print(drawn)
    for note in table.notes:
        console.print(note, style="dim", markup=False)
    console.print()


def _show_plain(table: Table) -> None:
    lines = [table.head, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.head))]
    print(table.title)
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  " + "  ".join(padded).rstrip())
    for note in table.notes:
        print(f"  {note}")
    print()


@contextmanager
def progress() -> Iterator[Report]:
    """Say on stderr whose turn it is: a bar on a terminal with rich, else lines."""
    if sys.stderr.isatty() and find_spec("rich") is not None:
        yield from _bar()
        return
    last = ""

    def line(done: int, total: int, words: str) -> None:
        nonlocal last
        if words != last:
            print(f"[{done + 1}/{total}] {words}", file=sys.stderr, flush=True)
        last = words

    yield line


def _bar() -> Iterator[Callable[[int, int, str], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    whose = TextColumn("{task.description}")
    columns = (BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(), whose)
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)

        def report(done: int, total: int, words: str) -> None:
            bar.update(task, completed=done, total=total, description=words)

        yield report
