# SPDX-License-Identifier: BSD-3-Clause
"""_server.py: the tools over the Model Context Protocol, by its official SDK."""

import functools
from collections.abc import Callable
from typing import Any

from ramify.mcp._tools import Taxonomy

_ABOUT = """A live taxonomy: one tree over all points of a collection, which grows while you ask.
Begin with `topics`, go down with `open`; `search` and `where` find points, each with the topics
that hold it; `changed_since` tells what is new. Ids of nodes stay while the nodes are there."""

#: Mistakes of whoever calls, which are told; all others are ours.
_MISTAKES = (ValueError, TypeError, LookupError, OSError)


_MISSING = (
    'this needs the SDK of MCP, version 2 or later, not installed here: pip install "ramify[mcp]"'
)


def require() -> None:
    """Say which extra is missing."""
    from importlib.util import find_spec

    if find_spec("mcp") is None:  # the import itself takes seconds
        raise ImportError(_MISSING)


def server(tree: Any, *, write: bool = False, name: str = "ramify") -> Any:
    """An MCP server for a tree: read-only, unless told otherwise.

    Parameters
    ----------
    tree : folder or client's tree
        Of ``ramify.open(...)`` or ``Client.tree(...)``.
    write : bool
        Whether there is a tool to name topics.
    name : str
        What the server calls itself.

    Returns
    -------
    mcp.server.MCPServer
        ``run()`` speaks over stdin and stdout.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.open("tickets", ramify.OHAC(history=1000))
    >>> server(tree).run()  # doctest: +SKIP
    >>> tree.close()
    """
    from importlib.metadata import version

    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import ToolAnnotations
    except ImportError as error:
        raise ImportError(_MISSING) from error

    taxonomy = Taxonomy(tree)
    found = MCPServer(name, instructions=_ABOUT, version=version("ramify"), log_level="ERROR")

    def answering(tool: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(tool)
        def answer(*words: Any, **named: Any) -> Any:
            try:
                return tool(*words, **named)
            except _MISTAKES as error:
                raise ToolError(" ".join(str(error).split())) from error

        return answer

    reads = (taxonomy.topics, taxonomy.open, taxonomy.search, taxonomy.where)
    more = (taxonomy.summaries,) if taxonomy.kept else ()
    for tool in (*reads, taxonomy.changed_since, *more):
        found.add_tool(answering(tool), annotations=ToolAnnotations(read_only_hint=True))
    if write:
        notes = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True)
        found.add_tool(answering(taxonomy.rename), annotations=notes)
    return found
