"""_address.py: the address of a tree that a server keeps, or its folder."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ramify.cli._console import WrongCallError


def tree_address(what: str, given: str) -> tuple[str, str]:
    """A server's address and the name of its tree.

    Examples
    --------
    >>> tree_address("--to", "http://127.0.0.1:8750/v1/trees/tickets")
    ('http://127.0.0.1:8750', 'tickets')
    >>> tree_address("--to", "http://127.0.0.1:8750/trees/tickets")
    ('http://127.0.0.1:8750', 'tickets')
    """
    parts = urlsplit(given)
    head, _, name = parts.path.rstrip("/").rpartition("/")
    head = head.removesuffix("/v1/trees") + "/trees" if head.endswith("/v1/trees") else head
    if parts.scheme not in ("http", "https") or not head.endswith("/trees") or not name:
        raise WrongCallError(
            f"{what} {given}: expected an address as http://host:port/v1/trees/NAME"
        )
    return f"{parts.scheme}://{parts.netloc}{head.removesuffix('/trees')}", name


def open_tree(given: str, stack: ExitStack) -> Any:
    """A tree in a folder, or of a server, for as long as the stack is open."""
    if given.startswith(("http://", "https://")):
        from ramify.client import Client

        url, name = tree_address("URL", given)
        return stack.enter_context(Client(url)).tree(name)
    if not Path(given).is_dir():
        raise WrongCallError(f"{given}: expected a tree's folder, or an address as http://...")
    from ramify.journal import open

    return stack.enter_context(open(given))
