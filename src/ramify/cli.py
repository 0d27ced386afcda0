# SPDX-License-Identifier: BSD-3-Clause
"""cli.py: the command `ramify`. Each verb is one function call and a print.

typer is an extra: without it, `main` says in one sentence how to get it. That is
why it is imported inside functions.
"""

import shlex
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    from typer import Typer

_NEEDED = ("typer", "rich", "matplotlib")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; `arguments` as on the command line, without the program's name."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise SystemExit(
            f'the ramify command needs {" and ".join(missing)}: pip install "ramify[cli]"'
        )
    words = list(sys.argv[1:] if arguments is None else arguments)
    _app(f"ramify {shlex.join(words)}".rstrip())(args=words, prog_name="ramify")


def _app(command: str) -> "Typer":
    """The verbs. `command` is what was typed, for the report."""
    import typer

    app = typer.Typer(
        help="Online hierarchical clustering: try it, and check it against its paper.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    @app.command()
    def paper(
        full: Annotated[
            bool, typer.Option("--full", help="All seven data sets and all points: hours.")
        ] = False,
        only: Annotated[
            list[str] | None,
            typer.Option(help="A data set, a method, or 'figure'; repeat it, or use commas."),
        ] = None,
        seeds: Annotated[int, typer.Option(help="Seeds of generated data, and shuffles.")] = 5,
        out: Annotated[Path, typer.Option(help="Folder of the report and of all results.")] = Path(
            "paper-report"
        ),
        data: Annotated[
            Path | None,
            typer.Option(
                help="Folder with MNIST's files, and your ilsvrc12/features.npy (and labels.npy) "
                "if you have them; by default RAMIFY_DATA."
            ),
        ] = None,
        limit: Annotated[
            float | None,
            typer.Option(help="Seconds a cell may take; 60, or 600 with --full."),
        ] = None,
        quiet: Annotated[
            bool, typer.Option("--quiet", "-q", help="Print only where the report is.")
        ] = False,
    ) -> None:
        """Reproduce the paper's tables and figure, ours beside theirs.

        Without --full it takes about two minutes. Results are kept in the output folder:
        an interrupted run continues where it stopped.
        """
        _paper(_split(only), full, seeds, out, data, limit, quiet, command)

    @app.command()
    def demo(
        out: Annotated[Path, typer.Option(help="Folder for pictures.")] = Path("demo-output"),
        limit: Annotated[int | None, typer.Option(help="The first so many cities only.")] = None,
        seed: Annotated[int, typer.Option(help="Of the order of arrival.")] = 0,
        clusters: Annotated[int, typer.Option(help="Clusters on the first map.")] = 8,
    ) -> None:
        """Stream the world's cities into a live tree, and look at it."""
        from ramify import demo as cities

        words = ["--out", str(out), "--seed", str(seed), "--clusters", str(clusters)]
        cities.main(words if limit is None else [*words, "--limit", str(limit)])

    return app


def _paper(
    only: list[str],
    full: bool,
    seeds: int,
    out: Path,
    data: Path | None,
    limit: float | None,
    quiet: bool,
    command: str,
) -> None:
    from rich.console import Console

    from ramify.paper import Options, reproduce, terminal, write

    options = Options(full, only, seeds, out, data, limit, command)
    try:
        with terminal.bar(quiet=quiet) as bar:
            report = reproduce(options, bar)
    except ValueError as error:
        raise SystemExit(f"ramify paper: {error}") from None
    except KeyboardInterrupt:
        print(f"\ninterrupted; the same command continues from {out}", file=sys.stderr)
        raise SystemExit(130) from None
    paths = write(report, out)
    if not quiet:
        terminal.show(report, Console())
    for path in paths:
        print(path)


def _split(names: Sequence[str] | None) -> list[str]:
    """Names given one by one, or several with commas between them."""
    return [part.strip() for name in names or () for part in name.split(",") if part.strip()]


if __name__ == "__main__":
    main()
