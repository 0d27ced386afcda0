# SPDX-License-Identifier: BSD-3-Clause
"""restore.py: `ramify restore`: a tree out of a backup."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.cli import _options as options
from ramify.cli._address import tree_address
from ramify.cli._console import WrongCallError, note, print_json, verb

NAME = "restore"
EXAMPLES = (
    "ramify restore monday.tar trees/tickets",
    "ramify restore trees/tickets trees/before --version 12000",
    "ramify restore monday.tar http://127.0.0.1:8750/v1/trees/tickets",
)


@verb(NAME)
def run(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|FOLDER",
            help="What ramify backup wrote, or the folder of a tree, which may be in use.",
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER|URL",
            help="A folder that is not there yet, or the address that the tree is to have on a "
            "server, as http://127.0.0.1:8750/v1/trees/NAME.",
        ),
    ],
    version: Annotated[
        int | None,
        typer.Option(metavar="N", help="Have the tree as it was at this version of it.", min=0),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Make the folder of a tree out of a backup or another folder: all of it, or nothing.

    Every byte is read and the journal is replayed before the folder is there. A tree that is there
    is not replaced: move or delete it first. For a server, the token is RAMIFY_TOKEN.
    """
    from ramify import journal
    from ramify.journal.seam import is_of_shards

    if "://" in target:
        from ramify.client import Client

        if source.is_dir():
            raise WrongCallError("a server takes a backup of a folder: ramify backup writes one")
        url, name = tree_address("FOLDER|URL", target)
        with Client(url) as client:
            info = client.restore(name, source, version=version).info()
        points, operations = info["points"], info["journal"]["seq"]
    else:
        if source.is_file() and is_of_shards(source):
            from ramify import ray

            if version is not None:
                raise WrongCallError("--version: a tree in shards comes back as it was backed up")
            found = ray.restore(source, target)
        else:
            found = journal.restore(source, target, version=version)
        points, operations = found.points, found.operations
    if json:
        print_json({"tree": target, "operations": operations, "points": points})
        return
    note(f"{target}: {operations:,} operations, {points:,} points", quiet=quiet)
