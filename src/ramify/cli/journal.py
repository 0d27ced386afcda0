# SPDX-License-Identifier: BSD-3-Clause
"""journal.py: `ramify journal`: look after the folder of a tree that outlives its process."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ramify.cli import _options as options
from ramify.cli._address import tree_address
from ramify.cli._console import WrongCallError, note, print_json, some_bytes, verb

NAME = "journal"
EXAMPLES = (
    "ramify journal begin trees/tickets tickets.ramify",
    "ramify journal check trees/tickets",
    "ramify journal compact trees/tickets",
    "ramify journal compact http://127.0.0.1:8750/v1/trees/tickets",
    "ramify journal repair trees/tickets",
)


class Action(StrEnum):
    """What to do."""

    begin = "begin"
    check = "check"
    repair = "repair"
    compact = "compact"


@verb(NAME)
def run(
    action: Annotated[
        Action,
        typer.Argument(
            metavar="begin|check|repair|compact",
            help="begin: put a saved tree into a folder of its own. check: read every byte and "
            "replay the journal, changing nothing. repair: keep all before the damage, and the "
            "damaged files in a folder beside. compact: erase from the disk what was forgotten, "
            "and shrink the files.",
        ),
    ],
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER",
            help="Folder of a tree, as ramify.open makes it; to compact a tree that is served, its "
            "address: http://127.0.0.1:8750/v1/trees/NAME.",
        ),
    ],
    tree: Annotated[
        Path | None,
        typer.Argument(metavar="TREE", help="A saved tree, for begin.", show_default=False),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Begin, check, repair or compact the folder of a tree that ramify.open or ramify serve keeps.

    The folder must not be in use; a server compacts its own, asked by its address. A damaged
    folder ends the command with exit code 1 and a sentence that says what is damaged and where.
    """
    from ramify.journal import _repair
    from ramify.journal.seam import folder_path

    if (tree is not None) != (action is Action.begin):
        raise WrongCallError("begin takes a folder and a saved tree, the others a folder")
    if action is Action.compact and "://" in folder:
        _compact_served(folder, quiet=quiet, json=json)
        return
    place = folder_path(folder)
    if tree is not None:
        found = _repair.begin(place, tree)
    else:
        work = {"check": _repair.check, "repair": _repair.repair, "compact": _repair.compact}
        found = work[action.value](place)
    if json:
        print_json({"folder": str(folder), **found._asdict()})
        return
    facts = f"{found.operations:,} operations, {found.points:,} points, {some_bytes(found.bytes)}"
    note(f"{folder}: {facts}", quiet=quiet)
    for one in found.notes:
        note(f"{folder}: {one}", quiet=quiet)


def _compact_served(address: str, *, quiet: bool, json: bool) -> None:
    from ramify.client import Client

    url, name = tree_address("FOLDER", address)
    with Client(url) as client:
        size = client.tree(name).compact()
    if json:
        print_json({"folder": address, "bytes": size})
        return
    note(f"{address}: {some_bytes(size)}", quiet=quiet)
