# SPDX-License-Identifier: BSD-3-Clause
"""restore.py: `ramify restore`: a tree out of a backup."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.cli import _options as options
from ramify.cli._address import tree_address
from ramify.cli._console import note, print_json, verb

NAME = "restore"
EXAMPLES = (
    "ramify restore monday.tar trees/tickets",
    "ramify restore monday.tar http://127.0.0.1:8750/v1/trees/tickets",
)


@verb(NAME)
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What ramify backup wrote.")],
    target: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER|URL",
            help="A folder that is not there yet, or the address that the tree is to have on a "
            "server, as http://127.0.0.1:8750/v1/trees/NAME.",
        ),
    ],
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Make the folder of a tree out of a backup: all of it, or nothing.

    Every byte is read and the journal is replayed before the folder is there. A tree that is there
    is not replaced: move or delete it first. For a server, the token is RAMIFY_TOKEN.
    """
    from ramify import journal

    if "://" in target:
        from ramify.client import Client

        url, name = tree_address("FOLDER|URL", target)
        with Client(url) as client:
            info = client.restore(name, file).info()
        points, operations = info["points"], info["journal"]["seq"]
    else:
        found = journal.restore(file, target)
        points, operations = found.points, found.operations
    if json:
        print_json({"tree": target, "operations": operations, "points": points})
        return
    note(f"{target}: {operations:,} operations, {points:,} points", quiet=quiet)
