# SPDX-License-Identifier: BSD-3-Clause
"""terminal.py: progress while a reproduction runs, and its tables at the end, by rich."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable

from ramify.paper.cells import Cell
from ramify.paper.report import Report, lists
from ramify.paper.results import Run
from ramify.paper.tables import Table


class Bar:
    """One bar for all cells, and words about the one that spoke last."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None)

    def begin(self, cells: int) -> None:
        self._progress.update(self._task, total=cells)

    def at_work(self, run: Run, progress: tuple[int, int] | None) -> None:
        share = "" if progress is None else f", {progress[0] / max(progress[1], 1):.0%}"
        words = f"{run.column}, {run.method}, {run.order}{share}"
        self._progress.update(self._task, description=words)

    def finished(self, cell: Cell) -> None:
        self._progress.advance(self._task)


@contextmanager
def bar(*, quiet: bool) -> Iterator[Bar]:
    """A bar on stderr; an invisible one if `quiet`."""
    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("cells"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as progress:
        yield Bar(progress)


def show(report: Report, console: Console) -> None:
    """Print the tables, and where we differ."""
    scaling = report.scaling_table
    for table in (*report.main_tables, *report.cost_tables, *([scaling] if scaling else [])):
        _print(table.title, console, style="bold")
        console.print(_rich(table))
        for note in table.notes:
            _print(note, console, style="dim")
        console.print()
    for title, sentences in lists(report):
        _print(title, console, style="bold")
        for sentence in sentences:
            _print(f"- {sentence}", console)
        console.print()


def _print(text: str, console: Console, *, style: str | None = None) -> None:
    console.print(text, style=style, markup=False, highlight=False)


def _rich(table: Table) -> RichTable:
    tall = any(len(cell) > 1 for row in table.rows for cell in row)
    drawn = RichTable(show_lines=tall)
    for i, head in enumerate(table.head):
        drawn.add_column(head, justify="left" if i == 0 else "right")
    for row in table.rows:
        drawn.add_row(*("\n".join(_styled(cell)) for cell in row))
    return drawn


def _styled(cell: list[str]) -> list[str]:
    first, *rest = cell
    return [
        first,
        *(f"[red]{line}[/red]" if line.endswith("!") else f"[dim]{line}[/dim]" for line in rest),
    ]
