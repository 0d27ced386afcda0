# SPDX-License-Identifier: BSD-3-Clause
"""journal.py: `ramify journal`: look after the folder of a tree that outlives its process."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

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
    "ramify journal rename http://127.0.0.1:8750/v1/trees/tickets mail",
    "ramify journal delete http://127.0.0.1:8750/v1/trees/tickets --yes",
)


class Action(StrEnum):
    """What to do."""

    begin = "begin"
    check = "check"
    repair = "repair"
    compact = "compact"
    snapshot = "snapshot"
    rename = "rename"
    delete = "delete"


@verb(NAME)
def run(
    action: Annotated[
        Action,
        typer.Argument(
            metavar="begin|check|repair|compact|snapshot|rename|delete",
            help="begin: put a saved tree into a folder of its own. check: read every byte and "
            "replay the journal, changing nothing. repair: keep all before the damage, and the "
            "damaged files in a folder beside. compact: erase from the disk what was forgotten, "
            "and shrink the files. snapshot: write one now. rename: have a served tree go by "
            "another name. delete: remove the tree with its folder.",
        ),
    ],
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER",
            help="Folder of a tree, as ramify.open makes it; for compact, snapshot, rename and "
            "delete also the address of a tree that is served: http://127.0.0.1:8750/v1/trees/NAME.",
        ),
    ],
    tree: Annotated[
        str | None,
        typer.Argument(
            metavar="TREE",
            help="A saved tree, for begin; the new name, for rename.",
            show_default=False,
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="For delete: it cannot be undone.")] = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Look after the folder of a tree that ramify.open or ramify serve keeps.

    The folder must not be in use; a server compacts and deletes its own, asked by its address. A
    damaged folder ends the command with exit code 1 and a sentence that says what is damaged and
    where.
    """
    from ramify.journal import _repair
    from ramify.journal import open as open_tree
    from ramify.journal.seam import folder_path, remove

    if (tree is not None) != (action in (Action.begin, Action.rename)):
        raise WrongCallError(
            "begin takes a folder and a saved tree, rename an address and a name, the others a "
            "folder"
        )
    if action is Action.rename and "://" not in folder:
        raise WrongCallError("a folder that nobody uses is renamed by mv, those of a server by it")
    if action is Action.delete and not yes:
        raise WrongCallError(f"delete removes {folder} for good; say --yes as well")
    if "://" in folder:
        _ask_server(action, folder, tree, quiet=quiet, json=json)
        return
    place = folder_path(folder)
    if action is Action.delete:
        remove(place)
        _say(folder, {"deleted": folder}, "deleted", quiet=quiet, json=json)
        return
    if action is Action.snapshot:
        with open_tree(place) as opened:
            seq = opened.snapshot()
        _say(folder, {"operation": seq}, f"operation {seq:,}", quiet=quiet, json=json)
        return
    if tree is not None:
        found = _repair.begin(place, Path(tree))
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


def _ask_server(action: Action, address: str, to: str | None, *, quiet: bool, json: bool) -> None:
    from ramify.client import Client

    url, name = tree_address("FOLDER", address)
    with Client(url) as client:
        tree = client.tree(name)
        if action is Action.compact:
            size = tree.compact()
            _say(address, {"bytes": size}, some_bytes(size), quiet=quiet, json=json)
        elif action is Action.snapshot:
            seq = tree.snapshot()
            _say(address, {"operation": seq}, f"operation {seq:,}", quiet=quiet, json=json)
        elif action is Action.rename and to is not None:
            tree.rename(to)
            _say(address, {"name": to}, f"is now {to}", quiet=quiet, json=json)
        elif action is Action.delete:
            points = tree.delete()
            said = f"deleted, with {points:,} points"
            _say(address, {"points": points}, said, quiet=quiet, json=json)
        else:
            raise WrongCallError(f"{action} works on a folder, which no server has open")


def _say(tree: str, facts: dict[str, Any], text: str, *, quiet: bool, json: bool) -> None:
    if json:
        print_json({"folder": tree, **facts})
    else:
        note(f"{tree}: {text}", quiet=quiet)
