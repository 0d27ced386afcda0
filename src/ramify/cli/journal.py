# SPDX-License-Identifier: BSD-3-Clause
"""journal.py: `ramify journal`: look after the folder of a tree that outlives its process."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ramify.cli import _options as options
from ramify.cli._console import WrongCallError, note, print_json, some_bytes, verb

NAME = "journal"
EXAMPLES = (
    "ramify journal begin trees/tickets tickets.ramify",
    "ramify journal check trees/tickets",
    "ramify journal compact trees/tickets",
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
            "damaged files in a folder beside. compact: write a snapshot, drop what it covers, and "
            "shrink the files.",
        ),
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of a tree, as ramify.open makes it.")
    ],
    tree: Annotated[
        Path | None,
        typer.Argument(metavar="TREE", help="A saved tree, for begin.", show_default=False),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Begin, check, repair or compact the folder of a tree that ramify.open or ramify serve keeps.

    The folder must not be in use. A damaged folder ends the command with exit code 1 and a
    sentence that says what is damaged and where.
    """
    from ramify.journal import _repair

    if (tree is not None) != (action is Action.begin):
        raise WrongCallError("begin takes a folder and a saved tree, the others a folder")
    if tree is not None:
        found = _repair.begin(folder, tree)
    else:
        work = {"check": _repair.check, "repair": _repair.repair, "compact": _repair.compact}
        found = work[action.value](folder)
    if json:
        print_json({"folder": str(folder), **found._asdict()})
        return
    facts = f"{found.operations:,} operations, {found.points:,} points, {some_bytes(found.bytes)}"
    note(f"{folder}: {facts}", quiet=quiet)
    for one in found.notes:
        note(f"{folder}: {one}", quiet=quiet)
