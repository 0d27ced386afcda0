# SPDX-License-Identifier: BSD-3-Clause
"""mcp.py: `ramify mcp`: a tree for agents, over the Model Context Protocol."""

from contextlib import ExitStack
from typing import Annotated

import typer

from ramify.cli._address import open_tree
from ramify.cli._console import verb

NAME = "mcp"
EXAMPLES = (
    "ramify mcp ./trees/tickets",
    "ramify mcp http://127.0.0.1:8750/v1/trees/tickets",
    "ramify mcp http://127.0.0.1:8750/v1/trees/tickets --write",
)


@verb(NAME)
def run(
    tree: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER|URL",
            help="A tree's folder, which no other program has open; or the address of a tree that "
            "a server keeps.",
        ),
    ],
    write: Annotated[
        bool, typer.Option("--write", help="Agents may name topics. Without, they only read.")
    ] = False,
) -> None:
    """Let agents browse a tree as it grows: an MCP server over stdin and stdout.

    Its tools are topics, open, search, where and changed_since; with --write rename, too. The
    agent's program starts it: say `ramify mcp URL` where it asks for a command. The token is
    RAMIFY_TOKEN.
    """
    from ramify import mcp

    mcp.require()
    with ExitStack() as stack:
        opened = open_tree(tree, stack)  # before the SDK is imported, which takes seconds
        mcp.server(opened, write=write).run()
