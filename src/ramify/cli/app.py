# SPDX-License-Identifier: BSD-3-Clause
"""app.py: the verbs put together, and what happens to their mistakes.

    0    done          2    called wrongly: an unknown option, two that exclude each other
    1    it failed     130  interrupted by Ctrl-C     141  the reader of a pipe went away

A mistake of the user's is one sentence on stderr. A mistake of ours keeps its
traceback.
"""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ramify.cli import (
    assign,
    backup,
    changes,
    clusters,
    cut,
    datasets,
    demo,
    edit,
    evaluate,
    export,
    fit,
    forget,
    info,
    journal,
    mcp,
    paper,
    plot,
    push,
    recommend,
    restore,
    serve,
    topics,
    update,
)
from ramify.cli._console import WrongCallError, nobody_reads
from ramify.cli._help import PlainCommand, PlainGroup, help_of

_HELP = """Online hierarchical clustering: grow a tree over rows of any file, and use it.

Start with: ramify fit DATA -o tree.ramify, then ramify cut tree.ramify -k 10
"""


def make_app(command: str) -> typer.Typer:
    """The verbs. `command` is what was typed, for the report of `ramify paper`."""
    app = typer.Typer(
        cls=PlainGroup,
        help=_HELP,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"], "obj": command},
        rich_markup_mode=None,
    )
    app.callback()(_common)
    for panel, verbs in {
        "Trees": (recommend, fit, update, forget, edit, changes),
        "What is in them": (assign, cut, clusters, export, plot, topics, evaluate, info),
        "Trees that stay": (serve, push, backup, restore, journal, mcp),
        "Data, demonstrations": (datasets, demo, paper),
    }.items():
        for verb in verbs:
            app.command(
                verb.NAME,
                cls=PlainCommand,
                rich_help_panel=panel,
                epilog=_examples(verb.EXAMPLES),
            )(verb.run)
    return app


def run(words: Sequence[str], command: str) -> int:
    """Run the command and return its exit code."""
    app: Any = make_app(command)
    words = list(words) or ["--help"]
    try:
        if not _completes() and (text := help_of(typer.main.get_command(app), words)) is not None:
            print(text, flush=True)
            return 0
        code = app(args=words, prog_name="ramify", standalone_mode=False)
    except BrokenPipeError:  # of a help text
        return nobody_reads()
    except WrongCallError as error:
        print(f"{error}", file=sys.stderr)
        return 2
    except Exception as error:
        # typer's own complaints, which are click's in its older versions.
        if not isinstance(error, typer.BadParameter.__mro__[1:3]):
            raise
        return _called_wrongly(error)
    return code if isinstance(code, int) else 0


def _completes() -> bool:
    """Whether a shell asks for words to complete a line by."""
    return "_RAMIFY_COMPLETE" in os.environ


def _called_wrongly(error: Any) -> int:
    context = getattr(error, "ctx", None)
    path = "ramify" if context is None else context.command_path
    sentence = " ".join(error.format_message().split()).rstrip(".").replace("Value error, ", "")
    print(f"{path}: {sentence}; {path} --help says more", file=sys.stderr)
    return int(error.exit_code)


def _examples(lines: Sequence[str]) -> str:
    """The end of a verb's help."""
    head = "Example:" if len(lines) == 1 else "Examples:"
    return "\n".join([head, *(f"  {line}" for line in lines)])


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"ramify {version('ramify')}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and leave.",
        ),
    ] = False,
) -> None:
    pass
