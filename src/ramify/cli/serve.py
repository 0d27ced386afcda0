# SPDX-License-Identifier: BSD-3-Clause
"""serve.py: `ramify serve`: trees for many programs, and a page to watch them."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.cli._console import note, verb

NAME = "serve"
EXAMPLES = (
    "ramify serve ./trees",
    "RAMIFY_TOKEN=... ramify serve ./trees --host 0.0.0.0 --port 8080",
    "ramify serve ./trees --token-file token.txt --read-token-file readers.txt",
    "ramify serve ./trees --config ramify.toml --rate 500",
    "RAY_AUTH_MODE=token ramify serve ./trees --ray 10.0.0.1:6379 --shards 16",
)


@verb(NAME)
def run(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Where the trees are, or will be.")
    ],
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Settings as TOML, by their names in ramify.serve.Settings; or set "
            "RAMIFY_SERVE_CONFIG. RAMIFY_SERVE_RATE and the like go before the file, and flags "
            "before both.",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on. Any but this machine's own needs a token.  "
            "[default: 127.0.0.1]",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="N", help="Port; 0 for any that is free.  [default: 8750]", min=0),
    ] = None,
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
    tokens_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TOML with several tokens, each with a role and trees of its own.",
        ),
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="A page of another address that may ask; repeatable."),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="A proxy, or a network of them as 10.0.0.0/8, whose X-Forwarded-For is believed; "
            "repeatable.",
        ),
    ] = None,
    webhook: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="An address that is called when a tree has changed; repeatable. Any but this "
            "machine's own needs https and a secret.",
        ),
    ] = None,
    webhook_secret_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with the secret that such calls are signed with; or set "
            "RAMIFY_WEBHOOK_SECRET.",
        ),
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
        int | None,
        typer.Option(metavar="N", help="Shards that a new tree begins with.  [default: 4]", min=1),
    ] = None,
    erase_within: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN",
            help="What was forgotten is erased from the disk within this time, as 1d or 6h.  "
            "[default: 1d]",
        ),
    ] = None,
    body_bytes: Annotated[
        int | None,
        typer.Option(metavar="N", help="Largest body of JSON.  [default: 67108864]", min=1),
    ] = None,
    stream_bytes: Annotated[
        int | None,
        typer.Option(metavar="N", help="Largest other body.  [default: 4294967296]", min=1),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="Requests a second of one client; 0 for no limit.  [default: 2000]",
            min=0,
        ),
    ] = None,
    queue_rows: Annotated[
        int | None,
        typer.Option(metavar="N", help="Rows of a tree that may wait.  [default: 200000]", min=1),
    ] = None,
    streams: Annotated[
        int | None,
        typer.Option(metavar="N", help="Followers of a tree's changes.  [default: 100]", min=1),
    ] = None,
    connections: Annotated[
        int | None,
        typer.Option(metavar="N", help="Connections at once.  [default: 1000]", min=1),
    ] = None,
    open_trees: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Trees that are open at once; others rest.  [default: 128]", min=1
        ),
    ] = None,
    rest_after: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Until a tree that nobody uses rests; 0 for never.  [default: 600]",
            min=0,
        ),
    ] = None,
    memory_bytes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Memory beyond which trees that nobody uses rest; 0 for no limit.  [default: 0]",
            min=0,
        ),
    ] = None,
    tree_points: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Points that a tree may have; 0 for no limit.  [default: 0]", min=0
        ),
    ] = None,
    tree_bytes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Bytes that a tree's folder may have; 0 for no limit.  [default: 0]",
            min=0,
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No line in the log for each request.")
    ] = False,
) -> None:
    """Serve the trees below a folder over HTTP: JSON, NDJSON, Arrow and .npy in, JSON out.

    What is acknowledged is on the disk. The page at the address shows a tree as it grows;
    /docs describes every call. SIGTERM and Ctrl-C finish what waits, take snapshots and end.
    SIGHUP reads tokens again.
    """
    from ramify import serve
    from ramify.journal.seam import folder_path
    from ramify.serve._configuring import settings_from

    flags = {
        "host": host,
        "port": port,
        "token_file": None if token_file is None else str(token_file),
        "read_token_file": None if read_token_file is None else str(read_token_file),
        "tokens_file": None if tokens_file is None else str(tokens_file),
        "cors": tuple(cors or ()),
        "trusted_proxies": tuple(trusted_proxy or ()),
        "webhooks": tuple(webhook or ()),
        "webhook_secret_file": None if webhook_secret_file is None else str(webhook_secret_file),
        "ray": ray,
        "shards": shards,
        "erase_within": erase_within,
        "body_bytes": body_bytes,
        "stream_bytes": stream_bytes,
        "rate": rate,
        "queue_rows": queue_rows,
        "streams": streams,
        "connections": connections,
        "open_trees": open_trees,
        "rest_after": rest_after,
        "memory_bytes": memory_bytes,
        "tree_points": tree_points,
        "tree_bytes": tree_bytes,
        "log": False if quiet else None,
    }
    serve.require()

    def read() -> serve.Settings:
        return settings_from(folder_path(folder), flags, file=config)

    settings = read()
    if settings.ray not in (None, "local"):
        from ramify.ray._actors import require_ray

        require_ray()
    serve.run(
        settings,
        announce=lambda address: note(f"ramify serves {folder} at {address}"),
        again=read,
    )
