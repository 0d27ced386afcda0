# SPDX-License-Identifier: BSD-3-Clause
"""terminal.py: progress while a reproduction runs, and its tables at the end, by rich."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable

from ramify.paper.cells import Cell
from ramify.paper.report import Report
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
    for table in (*report.main_tables, *report.cost_tables):
        console.print(_rich(table))
    if (scaling := report.scaling_table) is not None:
        console.print(_rich(scaling))
    differences = report.differences
    if differences:
        console.print("[bold]Differences from the paper above 0.03 and 0.05, and why[/bold]")
    for difference in differences:
        console.print(f"  {difference.sentence}", markup=False, highlight=False)
    if report.unfinished:
        console.print("[bold]What did not finish, and why[/bold]")
    for sentence in report.unfinished:
        console.print(f"  {sentence}", markup=False, highlight=False)


def _rich(table: Table) -> RichTable:
    caption = "\n".join(table.notes) or None
    drawn = RichTable(
        title=table.title, caption=caption, title_justify="left", caption_justify="left"
    )
    tall = any(len(cell) > 1 for row in table.rows for cell in row)
    drawn.show_lines = tall
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
