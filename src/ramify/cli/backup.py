# SPDX-License-Identifier: BSD-3-Clause
"""backup.py: `ramify backup`: the folder of a tree as one file."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.cli import _options as options
from ramify.cli._address import tree_address
from ramify.cli._console import note, print_json, some_bytes, verb

NAME = "backup"
EXAMPLES = (
    "ramify backup trees/tickets monday.tar",
    "ramify backup http://127.0.0.1:8750/v1/trees/tickets monday.tar",
)


@verb(NAME)
def run(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER|URL",
            help="Folder of a tree, also one that is in use; or the address of a tree that is "
            "served, as http://127.0.0.1:8750/v1/trees/NAME.",
        ),
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, a tar.")],
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Write all that is in the folder of a tree into one file, while the tree is used.

    Points, ids, payloads, options and the latest operations, as they are at one moment. The file
    is read back before the command ends. For a server, the token is RAMIFY_TOKEN.
    """
    from ramify import journal
    from ramify.journal.seam import ROUTER, require_backup

    if "://" in source:
        from ramify.client import Client

        url, name = tree_address("FOLDER|URL", source)
        with Client(url) as client:
            client.tree(name).backup(file)
    elif (Path(source) / ROUTER).exists():
        from ramify import ray

        ray.backup(source, file)
    else:
        journal.backup(source, file)
    found = require_backup(file)
    if json:
        print_json({"tree": source, "file": str(file), **found._asdict()})
        return
    facts = f"{found.operations:,} operations, {some_bytes(found.bytes)}"
    note(f"{file}: {source} with {facts}", quiet=quiet)
