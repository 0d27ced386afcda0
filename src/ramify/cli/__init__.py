# SPDX-License-Identifier: BSD-3-Clause
"""cli: the command `ramify`. Each verb is one file: options, one function call, a print.

typer is an extra: without it, `main` says in one sentence how to get it. That is
why the verbs are imported inside functions.
"""

import os
import shlex
import sys
from collections.abc import Sequence
from importlib.util import find_spec

_NEEDED = ("typer", "rich")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; `arguments` as on the command line, without the program's name."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise SystemExit(
            f'the ramify command needs {" and ".join(missing)}: pip install "ramify[cli]"'
        )
    from ramify.cli.app import run

    _replace_closed_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    raise SystemExit(run(words, f"ramify {shlex.join(words)}".rstrip()))


def _replace_closed_streams() -> None:
    """Python has None for a stream that the shell has closed (``>&-``): nobody is listening."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - until the end
