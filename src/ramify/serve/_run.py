# SPDX-License-Identifier: BSD-3-Clause
"""_run.py: a server that runs until it is told to stop, or for as long as a block of Python."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import uvicorn

from ramify.journal.seam import folder_path
from ramify.serve._app import make_app
from ramify.serve._connections import Line
from ramify.serve._door import LOG
from ramify.serve._handles import allow_many, say_if_few
from ramify.serve._settings import Settings

#: How long a thread may keep the others from Python. The loop that answers should not wait for
#: the writer as long as Python has it by default, five milliseconds.
_TURN_SECONDS = 0.0005

#: Connections that the system keeps until they are taken.
_WAITING = 2048


class Server(uvicorn.Server):
    """uvicorn's, which tells followers when it ends."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let followers go, who would not leave by themselves, then all others."""
        self.config.app.app.state.trees.let_followers_go()  # type: ignore[union-attr]
        connections = self.config.app.connections  # type: ignore[union-attr]
        connections.hurry()
        await super().shutdown(sockets)
        await connections.cut()


def configure(settings: Settings) -> Server:
    """A server that is not running yet."""
    app = make_app(settings)
    options = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=type("Line", (Line,), {"register": app.connections}),
        log_config=None,
        access_log=False,
        proxy_headers=False,  # uvicorn would believe whoever is on this machine
        timeout_keep_alive=60,  # ours is shorter
        timeout_graceful_shutdown=5,
        backlog=_WAITING,
        server_header=False,
        ws="none",
    )
    return Server(options)


def listening(settings: Settings) -> socket.socket:
    """A socket that is bound and listens: whoever knows the port is answered, if not at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With its protocol named: otherwise asyncio does not know it for TCP, leaves Nagle's
    # algorithm on, and every answer waits 40 ms for the reader's system.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind((settings.host, settings.port))
    found.listen(_WAITING)
    return found


def address_of(bound: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(
    settings: Settings,
    *,
    announce: Any = None,
    again: Callable[[], Settings] | None = None,
) -> None:
    """Serve until SIGTERM or Ctrl-C, then finish what waits and take snapshots.

    Parameters
    ----------
    settings : Settings
    announce : callable, optional
        Called with the address, as soon as it can be reached.
    again : callable, optional
        Reads the settings again, at SIGHUP: the server goes on with the tokens in them.

    Examples
    --------
    >>> from pathlib import Path
    >>> run(Settings(Path("trees"), host="0.0.0.0"))
    Traceback (most recent call last):
    ...
    ValueError: host 0.0.0.0 can be reached from other machines, and there is no token: ...
    """
    allow_many()
    server = configure(settings)
    if not LOG.handlers:  # without `log`, too: then only of what concerns a whole tree
        LOG.addHandler(logging.StreamHandler(sys.stderr))
        LOG.setLevel(logging.INFO)
        LOG.propagate = False
    say_if_few(settings, LOG)
    sys.setswitchinterval(_TURN_SECONDS)
    with listening(settings) as bound:
        if announce is not None:
            announce(address_of(bound))
        with _ended_by_signals(), _tokens_exchanged(server, again):
            server.run(sockets=[bound])


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """uvicorn raises a signal again when all is done; here, that it is done is enough."""
    kinds = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(kind, lambda *_: None) for kind in kinds]
    try:
        yield
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


@contextmanager
def _tokens_exchanged(server: Server, again: Callable[[], Settings] | None) -> Iterator[None]:
    """At SIGHUP; but when the terminal that the server was started in is closed, it ends."""
    kind = getattr(signal, "SIGHUP", None)  # not on every system
    if again is None or kind is None:
        yield
        return
    in_terminal = os.isatty(0)

    def heard(*_: Any) -> None:
        if in_terminal and not os.isatty(0):
            server.should_exit = True
        else:  # in a thread: the log may be in the middle of a line here
            threading.Thread(target=exchange_tokens, args=(server.config.app, again)).start()

    before = signal.signal(kind, heard)
    try:
        yield
    finally:
        signal.signal(kind, before)


def exchange_tokens(door: Any, again: Callable[[], Settings]) -> None:
    """Go on with other tokens; with those of before, if there is something wrong with the others.

    Requests that are under way end as they began. Followers whose token is gone are let go.
    """
    try:
        found = again().check().all_tokens()
        if door.tokens.current and not found:
            raise ValueError("without any token anybody could come in: end the server for that")
    except (ValueError, OSError) as error:
        LOG.error(json.dumps({"server": "tokens", "failed": str(error)}))
        return
    door.tokens.current = found
    for served in door.app.state.trees.all():
        if served.feed is not None:
            served.feed.keep(found)
    LOG.info(json.dumps({"server": "tokens", "names": [one.name for one in found]}))


@contextmanager
def running(folder: str | os.PathLike[str], **options: Any) -> Iterator[str]:
    """Serve in a thread while a block of Python runs: for tests, notebooks and examples.

    Parameters
    ----------
    folder : str or path-like
        Where the trees are, or will be.
    **options
        Of :class:`Settings`. The port is any that is free, unless it is given.

    Yields
    ------
    str
        The address.

    Examples
    --------
    >>> import tempfile, httpx
    >>> with running(tempfile.mkdtemp()) as address:
    ...     httpx.get(f"{address}/healthz").json()
    {'status': 'ok'}
    """
    settings = replace(Settings(folder_path(folder), port=0, log=False), **options)
    server = configure(settings)
    with listening(settings) as bound:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        try:
            while not server.started and thread.is_alive():
                threading.Event().wait(0.01)
            server.config.app.app.state.trees.ready.wait()  # type: ignore[union-attr]
            yield address_of(bound)
        finally:
            server.should_exit = True
            thread.join()
