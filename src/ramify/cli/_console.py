# SPDX-License-Identifier: BSD-3-Clause
"""_console.py: what verbs have in common: sentences, exit codes, JSON, aligned lines.

Results go to stdout. Everything else goes to stderr: notes, progress, mistakes.
"""

import functools
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec

import typer

from ramify.errors import HistoryError

_Arguments = ParamSpec("_Arguments")

INTERRUPTED = 130
_NOBODY_READS = 141  # as the shell says of a program that SIGPIPE ended


class WrongCallError(Exception):
    """The command was called wrongly."""


class EndedEarlyError(Exception):
    """The command has ended before its work was done: what to say, and its exit code."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def verb(name: str) -> Callable[[Callable[_Arguments, None]], Callable[_Arguments, None]]:
    """Turn a verb's mistakes into sentences and exit codes."""

    def wrap(function: Callable[_Arguments, None]) -> Callable[_Arguments, None]:
        @functools.wraps(function)
        def run(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> None:
            try:
                function(*arguments, **options)
                sys.stdout.flush()
            except BrokenPipeError:
                raise typer.Exit(nobody_reads()) from None
            except KeyboardInterrupt as error:
                complain(name, str(error) or "interrupted")
                raise typer.Exit(INTERRUPTED) from None
            except WrongCallError as error:
                raise WrongCallError(
                    f"ramify {name}: {error}; ramify {name} --help says more"
                ) from None
            except EndedEarlyError as error:
                complain(name, str(error))
                raise typer.Exit(error.code) from None
            except (ValueError, OSError, ImportError, MemoryError, HistoryError) as error:
                complain(name, sentence(error))
                raise typer.Exit(1) from None

        return run

    return wrap


def nobody_reads() -> int:
    """The exit code when the reader of a pipe went away."""
    # Python flushes stdout once more at its end: let that go nowhere.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _NOBODY_READS


def complain(name: str, text: str) -> None:
    """One sentence on stderr."""
    say(f"ramify {name}: {text}")


def say(text: str) -> None:
    """A line on stderr. That nobody listens any more is no reason to stop working."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the end


def sentence(error: BaseException) -> str:
    """What an exception says, on one line."""
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})" if str(error) else "out of memory"
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def note(text: str, *, quiet: bool = False) -> None:
    """Tell the user something on stderr."""
    if not quiet:
        say(text)


def print_json(facts: Mapping[str, Any]) -> None:
    """A summary for machines on stdout, one line."""
    print(json.dumps(facts, ensure_ascii=False))


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Names and values on stdout, aligned."""
    listed = list(facts)
    width = max(len(name) for name, _ in listed)
    for name, value in listed:
        print(f"{name.ljust(width)}  {value}")


def print_rows(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> None:
    """A table on stdout; columns in `right` are numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for at, name in enumerate(head):
        table.add_column(name, justify="right" if at in right else "left", no_wrap=at == 0)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)  # files and pipes do not wrap
    console.print(table)


def some_bytes(count: float) -> str:
    """A size for people.

    Examples
    --------
    >>> some_bytes(1_234_567)
    '1.2 MB'
    """
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} GB"
