# SPDX-License-Identifier: BSD-3-Clause
"""_settings.py: how a server is set up, and what is refused at once."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from ramify.serve._proxies import read_networks
from ramify.serve._tokens import Token, check_tokens

#: Names of trees: they are names of folders, and part of addresses.
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Settings:
    """How a server is set up.

    Examples
    --------
    >>> Settings(Path("trees"), host="0.0.0.0").check()
    Traceback (most recent call last):
    ...
    ValueError: host 0.0.0.0 can be reached from other machines, and there is no token: ...
    """

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8750
    token: str | None = field(default=None, repr=False)  #: may do all
    read_token: str | None = field(default=None, repr=False)  #: may look
    tokens: tuple[Token, ...] = ()  #: others, with roles and trees of their own
    cors: tuple[str, ...] = ()  #: other pages' addresses that may ask
    body_bytes: int = 64 << 20  #: of JSON, which is held in memory
    stream_bytes: int = 4 << 30  #: of Arrow, .npy and NDJSON, which are read piece by piece
    batch_rows: int = 1000  #: lines of NDJSON that are written together
    batch_bytes: int = 4 << 20  #: of Arrow and .npy, at most, that are
    readers: int = 8  #: processes that read Arrow at once, each of them one body
    reader_bytes: int = 512 << 20  #: memory of a process that reads Arrow
    reader_seconds: int = 60  #: that such a process has for a record batch
    queue_rows: int = 200_000
    rate: float = 2000.0  #: requests a second of one client
    reads: int = 4  #: questions that are worked on at once; others wait in line
    writes: int = 8  #: bodies, and calls of operators, that are
    write_seconds: float = 120.0  #: until a request that waits for the disk gives up
    header_seconds: float = 10.0  #: that a connection has for the header of its next request
    idle_seconds: float = 20.0  #: until a body that does not come is given up
    body_rate: int = 1000  #: bytes a second that a body must come with from then on
    stall_seconds: float = 20.0  #: until a reader that does not read is let go
    streams: int = 100  #: readers of change feeds
    erase_within: float | None = 86_400.0  #: seconds until what was forgotten is off the disk
    history: int = 1000  #: versions that new trees remember
    ray: str | None = None  #: address of a Ray cluster: trees are in shards there
    shards: int = 4  #: that such a tree begins with
    trusted_proxies: tuple[str, ...] = ()  #: addresses whose X-Forwarded-For is believed
    connections: int = 1000  #: at once; strangers make room for others
    open_trees: int = 128  #: at once; others rest, and are opened when they are asked for
    rest_after: float = 600.0  #: seconds until a tree that nobody uses rests; 0: never
    memory_bytes: int = 0  #: of the process, beyond which unused trees rest; 0: no limit
    webhooks: tuple[str, ...] = ()  #: addresses that are called when a tree has changed
    webhook_secret: str | None = field(default=None, repr=False)  #: that such calls are signed with
    tree_points: int = 0  #: that a tree may have; 0: no limit
    tree_bytes: int = 0  #: that its folder may have
    log: bool = True

    def check(self) -> Settings:
        """Refuse what would not be safe.

        Examples
        --------
        >>> Settings(Path("trees")).check().port
        8750
        """
        check_tokens(self.all_tokens())
        if not is_loopback(self.host) and not self.all_tokens():
            raise ValueError(
                f"host {self.host} can be reached from other machines, and there is no token: set "
                f"RAMIFY_TOKEN, or --token-file, or stay on 127.0.0.1"
            )
        if self.read_token is not None and self.token is None and not self.tokens:
            raise ValueError("with a token for readers alone nobody could write: set a token, too")
        if self.ray is not None and (self.tree_points or self.tree_bytes):
            raise ValueError(
                "tree_points and tree_bytes are for trees in folders: trees in shards have no such "
                "limit, serve them without"
            )
        read_networks(self.trusted_proxies)
        if "*" in self.cors:
            raise ValueError("cors: name the pages that may ask; * would be all of them")
        return self

    def all_tokens(self) -> tuple[Token, ...]:
        """Tokens of all kinds; none lets anybody do all.

        Examples
        --------
        >>> settings = Settings(Path("trees"), token="a-long-secret-token")
        >>> [(one.name, one.role) for one in settings.all_tokens()]
        [('token', 'admin')]
        """
        plain = (("token", self.token, "admin"), ("read_token", self.read_token, "read"))
        ours = [Token(name, secret, role) for name, secret, role in plain if secret is not None]  # type: ignore[arg-type]
        return (*ours, *self.tokens)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it.

    Examples
    --------
    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_token(path: str | os.PathLike[str]) -> str:
    """A token out of a file, without the end of its line."""
    return Path(path).read_text(encoding="utf-8").strip()


def check_name(name: str) -> str:
    """A name that cannot leave the folder.

    Examples
    --------
    >>> check_name("../etc")
    Traceback (most recent call last):
    ...
    ValueError: the name of a tree is 1 to 64 of a-z, 0-9, _ and -, ...
    """
    if NAME.fullmatch(name) is None:
        raise ValueError(
            "the name of a tree is 1 to 64 of a-z, 0-9, _ and -, and begins with a letter or digit"
        )
    return name
