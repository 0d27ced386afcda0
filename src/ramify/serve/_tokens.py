# SPDX-License-Identifier: BSD-3-Clause
"""_tokens.py: who may do what with which trees.

    read   looks at trees
    write  changes what is in them: points, edits, ids of clusters
    admin  creates, deletes, renames, copies and restores trees, and erases what was forgotten

Each role may do what those above it may. Tokens of a server can be exchanged while it runs:
``Tokens`` holds those of the moment, and every request is looked at anew.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args

Role = Literal["read", "write", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_SHORTEST = 16

#: Seconds in which a token for a stream of changes opens it.
STREAM_SECONDS = 60


@dataclass(frozen=True)
class Token:
    """A token, what it may do, and what the log calls who has it.

    Examples
    --------
    >>> feeder = Token("feeder", "a-long-secret-token", "write", ("mail-*",))
    >>> feeder.may("read", "mail-2026"), feeder.may("admin", "mail-2026"), feeder.may("read", "web")
    (True, False, False)
    """

    name: str
    secret: str
    role: Role = "read"
    trees: tuple[str, ...] = ("*",)  #: names; a star stands for any letters

    def may(self, role: Role, tree: str | None = None) -> bool:
        """Whether it may do what needs a role: with a tree, or with the server as a whole."""
        return ROLES.index(role) <= ROLES.index(self.role) and self.knows(tree)

    def knows(self, tree: str | None) -> bool:
        """Whether it is for a tree; None is all of them."""
        return any(one == "*" or (tree and fnmatchcase(tree, one)) for one in self.trees)

    def check(self) -> None:
        """Refuse a secret that is easily guessed."""
        if len(self.secret) < _SHORTEST or not self.secret.isprintable():
            raise ValueError(
                f"{self.name}: expected at least {_SHORTEST} printable characters, got "
                f"{len(self.secret)}; `openssl rand -hex 32` makes one"
            )


#: Where no token is set, anybody who reaches the server.
ANYBODY = Token("anybody", "", "admin")


def read_tokens(path: str | os.PathLike[str]) -> tuple[Token, ...]:
    """Tokens out of a TOML file: a table for each, called by the name that the log uses.

    Examples
    --------
    >>> _ = Path("tokens.toml").write_text('''
    ... [feeder]
    ... token = "3f0c1d5a9be84d67"
    ... role = "write"
    ... trees = ["tickets", "mail-*"]
    ... ''')
    >>> [found] = read_tokens("tokens.toml")
    >>> found.name, found.role, found.trees
    ('feeder', 'write', ('tickets', 'mail-*'))
    """
    try:
        with Path(path).open("rb") as file:
            told = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no TOML: {error}") from None
    return tuple(_read_one(f"{path}: {name}", name, one) for name, one in told.items())


def _read_one(where: str, name: str, told: Any) -> Token:
    if _NAME.fullmatch(name) is None or not isinstance(told, dict):
        raise ValueError(f"{where}: expected a table whose name is of a-z, 0-9, _ and -")
    if unknown := told.keys() - {"token", "role", "trees"}:
        raise ValueError(f"{where}: expected token, role and trees, got {', '.join(unknown)}")
    secret, role, trees = told.get("token"), told.get("role"), told.get("trees", ["*"])
    if not isinstance(secret, str):
        raise ValueError(f"{where}: expected a text as token")
    if role not in ROLES:
        raise ValueError(f"{where}: expected role to be one of {', '.join(ROLES)}, got {role!r}")
    if not isinstance(trees, list) or not all(
        isinstance(one, str) and re.fullmatch(r"[a-z0-9_*-]+", one) for one in trees
    ):
        raise ValueError(f'{where}: expected trees to be a list of names, as ["mail-*"]')
    return Token(name, secret, role, tuple(trees))


def check_tokens(tokens: Iterable[Token]) -> None:
    """Refuse secrets that are short, and two of one name or with one secret."""
    names: set[str] = set()
    whose: dict[str, str] = {}
    for one in tokens:
        one.check()
        if one.name in names:
            raise ValueError(f"there are two tokens {one.name!r}: give them names of their own")
        if one.secret in whose:
            raise ValueError(f"{one.name} and {whose[one.secret]} are the same token")
        names.add(one.name)
        whose[one.secret] = one.name


class Tokens:
    """The tokens of a server at the moment.

    Examples
    --------
    >>> tokens = Tokens([Token("feeder", "a-long-secret-token", "write")])
    >>> tokens.of("a-long-secret-token").name, tokens.of("another"), tokens.of(None)
    ('feeder', None, None)
    >>> told = tokens.for_stream(tokens.of("a-long-secret-token"), "mail")
    >>> tokens.of_stream(told, "mail").name, tokens.of_stream(told, "web")
    ('feeder', None)
    """

    def __init__(self, tokens: Iterable[Token]) -> None:
        self.current = tuple(tokens)
        self._key = secrets.token_bytes(32)  # so that nothing outlives the process

    def of(self, given: str | None) -> Token | None:
        """Whose token it is; found in a time that tells nothing of the tokens."""
        if not self.current:
            return ANYBODY
        said = (given or "").encode()
        found = [one for one in self.current if hmac.compare_digest(said, one.secret.encode())]
        return found[0] if found else None

    def for_stream(self, token: Token, tree: str) -> str:
        """A token that stands in an address: it opens one stream of changes, and only soon."""
        end = f"{int(time.time()) + STREAM_SECONDS}"
        return f"{token.name}.{end}.{self._signed(token, tree, end)}"

    def of_stream(self, given: str, tree: str) -> Token | None:
        """Whose token has made it, if that is still one."""
        name, end, signed = [*given.split(".", 2), "", ""][:3]
        for one in self.current or (ANYBODY,):
            if one.name == name and hmac.compare_digest(
                signed.encode(), self._signed(one, tree, end).encode()
            ):
                return one if time.time() < int(end) else None
        return None

    def _signed(self, token: Token, tree: str, end: str) -> str:
        text = "\0".join([token.name, token.secret, tree, end])
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()
