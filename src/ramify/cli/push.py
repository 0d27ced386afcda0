# SPDX-License-Identifier: BSD-3-Clause
"""push.py: `ramify push`: the rows of a file into a tree of a server."""

from typing import Annotated, Any

import typer

from ramify.cli import _options as options
from ramify.cli._address import tree_address
from ramify.cli._console import note, print_json, verb

NAME = "push"
EXAMPLES = (
    "ramify push tickets.parquet --to http://127.0.0.1:8750/v1/trees/tickets --id-column id",
    "tail -f events.ndjson | ramify push - --to http://127.0.0.1:8750/v1/trees/events",
)


@verb(NAME)
def run(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="File of rows; or - for lines of JSON on stdin.")
    ],
    to: Annotated[
        str,
        typer.Option(
            metavar="URL", help="Address of the tree, as http://127.0.0.1:8750/v1/trees/NAME."
        ),
    ],
    id_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column with the points' ids.")
    ] = None,
    payload_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column of text that becomes the payload."),
    ] = None,
    field: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of arrays that has the vectors.")
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=1_000_000, help="Rows that are read at once, to be sent."
        ),
    ] = None,
    create: Annotated[
        bool, typer.Option("--create", help="Begin the tree if it is not there.")
    ] = False,
    metric: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of a tree that is begun.")
    ] = None,
    linkage: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of a tree that is begun.")
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Insert the rows of a file, or of a stream, into a tree that a server keeps.

    Each batch is on the server's disk when the next one is sent: 50,000 rows of a file, 1,000
    lines of a pipe. Rows with ids can be pushed again after an interruption: those that are there
    are left out. The token is RAMIFY_TOKEN.
    """
    from ramify.cli._pushed import batches_of, number_of_rows
    from ramify.client import Client

    url, name = tree_address("--to", to)
    with Client(url) as client:
        tree = client.create(name, metric=metric, linkage=linkage) if create else client.tree(name)
        columns = {"id_column": id_column, "payload_column": payload_column, "field": field}
        sent = repeated = 0
        version = None
        with _bar(number_of_rows(data, **columns), quiet=quiet or json) as advance:
            for rows in batches_of(data, batch or (1000 if data == "-" else 50_000), **columns):
                told = tree.push(rows.vectors, ids=rows.ids, payloads=rows.payloads)
                sent, repeated = sent + len(rows.vectors), repeated + told.repeated
                version = told.version
                advance(len(rows.vectors))
    if json:
        print_json({"rows": sent, "repeated": repeated, "version": version})
        return
    note(f"{to}: {sent:,} rows, {repeated:,} of them were there already", quiet=quiet)


def _bar(total: int | None, *, quiet: bool) -> Any:
    """How far it is, on a terminal."""
    from contextlib import contextmanager

    @contextmanager
    def bar() -> Any:
        import sys

        if quiet or not sys.stderr.isatty():
            yield lambda rows: None
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True)) as progress:
            task = progress.add_task("rows", total=total)
            yield lambda rows: progress.advance(task, rows)

    return bar()
