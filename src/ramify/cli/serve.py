# SPDX-License-Identifier: BSD-3-Clause
"""serve.py: `ramify serve`: trees for many programs, and a page to watch them."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ramify.cli._console import WrongCallError, note, verb

NAME = "serve"
EXAMPLES = (
    "ramify serve ./trees",
    "RAMIFY_TOKEN=... ramify serve ./trees --host 0.0.0.0 --port 8080",
    "ramify serve ./trees --token-file token.txt --read-token-file readers.txt",
    "RAY_AUTH_MODE=token ramify serve ./trees --ray 10.0.0.1:6379 --shards 16",
)


@verb(NAME)
def run(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Where the trees are, or will be.")
    ],
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on. Any but this machine's own needs a token.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", help="Port; 0 for any that is free.", min=0)
    ] = 8750,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File with the token that callers need; or set RAMIFY_TOKEN."
        ),
    ] = None,
    read_token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with a token that may read and not write; or set RAMIFY_READ_TOKEN.",
        ),
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="A page of another address that may ask; repeatable."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Keep the trees in shards on the Ray cluster at this address; 'auto' for the one "
            "on this machine, 'local' for shards in this very process.",
        ),
    ] = None,
    shards: Annotated[
        int, typer.Option(metavar="N", help="Shards that a new tree begins with.", min=1)
    ] = 4,
    erase_within: Annotated[
        str,
        typer.Option(
            metavar="SPAN",
            help="What was forgotten is erased from the disk within this time, as 1d or 6h.",
        ),
    ] = "1d",
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No line in the log for each request.")
    ] = False,
) -> None:
    """Serve the trees below a folder over HTTP: JSON, NDJSON, Arrow and .npy in, JSON out.

    What is acknowledged is on the disk. The page at the address shows a tree as it grows;
    /docs describes every call. SIGTERM and Ctrl-C finish what waits, take snapshots and end.
    """
    from ramify import serve
    from ramify.journal.seam import folder_path
    from ramify.serve._settings import Settings, read_token

    serve.require()
    if ray not in (None, "local"):
        from ramify.ray._actors import require_ray

        require_ray()
    settings = Settings(
        folder_path(folder),
        host=host,
        port=port,
        token=_token(token_file, "RAMIFY_TOKEN", read_token),
        read_token=_token(read_token_file, "RAMIFY_READ_TOKEN", read_token),
        cors=tuple(cors or ()),
        ray=ray,
        shards=shards,
        erase_within=_seconds(erase_within),
        log=not quiet,
    ).check()
    serve.run(settings, announce=lambda address: note(f"ramify serves {folder} at {address}"))


def _seconds(text: str) -> float:
    import numpy as np

    from ramify.spans import read_span

    try:
        return float(np.timedelta64(read_span(text), "ns") / np.timedelta64(1, "s"))
    except ValueError as error:
        raise WrongCallError(f"--erase-within {text}: {error}") from None


def _token(path: Path | None, name: str, read: object) -> str | None:
    if path is not None:
        return str(read(path))  # type: ignore[operator]
    return os.environ.get(name) or None
