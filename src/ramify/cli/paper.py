# SPDX-License-Identifier: BSD-3-Clause
"""paper.py: `ramify paper`: the paper's evaluation again."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ramify.cli import _options as options
from ramify.cli._console import INTERRUPTED, complain, verb

NAME = "paper"
EXAMPLES = ("ramify paper --only iris,glass --seeds 3",)


@verb(NAME)
def run(
    context: typer.Context,
    full: Annotated[
        bool, typer.Option("--full", help="All seven data sets and all points: hours.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES", help="A data set, a method, or 'figure'; repeat it, or use commas."
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="NUMBER", help="Seeds of generated data, and shuffles.")
    ] = 5,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder of the report and of all results.")
    ] = Path("paper-report"),
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder with MNIST's files, and your ilsvrc12/features.npy (and labels.npy) "
            "if you have them; by default RAMIFY_DATA.",
        ),
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Seconds a cell may take; 60, or 3600 with --full."),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only where the report is.")
    ] = False,
) -> None:
    """Reproduce the paper's tables and figure, ours beside theirs.

    Without --full it takes about two minutes. Results are kept in the output folder:
    an interrupted run continues where it stopped.
    """
    if find_spec("matplotlib") is None:
        raise ImportError('the figure needs matplotlib: pip install "ramify[cli]"')
    from rich.console import Console

    from ramify.paper import Options, reproduce, terminal, write

    chosen = Options(full, options.split(only), seeds, out, data, limit, str(context.obj))
    try:
        with terminal.bar(quiet=quiet) as bar:
            report = reproduce(chosen, bar)
    except KeyboardInterrupt:
        complain(NAME, f"interrupted; the same command continues from {out}")
        raise typer.Exit(INTERRUPTED) from None
    paths = write(report, out)
    if not quiet:
        terminal.show(report, Console())
    for path in paths:
        print(path)
