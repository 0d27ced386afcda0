# SPDX-License-Identifier: BSD-3-Clause
"""_hooks.py: programs that are called when a tree has changed.

A call says what became of a tree between two versions, as the feed does, with the nodes that have
come and grown: whoever keeps something about them, summaries for instance, knows what is stale.
Every change is told at least once. How far each program has been told is in a file beside the
trees, written when it has answered; until then the call is made again, after a second, two, four,
up to five minutes. What comes meanwhile is told in one call. Calls have an id, which is the same
when one is made again, and a signature.
"""

from __future__ import annotations

import ipaddress
import json
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ramify.client.signing import SIGNATURE, sign
from ramify.serve._door import LOG
from ramify.serve._feed import TooOldError, changes
from ramify.serve._served import Served
from ramify.writing import write_whole

#: Beside the trees: by address and tree, the version up to which it was told.
POSITIONS = "webhooks.json"

#: Seconds between two calls about one tree, until an answer, and between two tries.
_PAUSE, _PATIENCE = 0.2, 10.0
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 300.0


def require_hooks(hooks: Iterable[str], secret: str | None) -> None:
    """Refuse addresses that would have changes told to anybody on the way.

    Examples
    --------
    >>> require_hooks(["http://127.0.0.1:9000/changed"], None)
    >>> require_hooks(["http://example.org/changed"], None)
    Traceback (most recent call last):
    ...
    ValueError: webhooks: http://example.org/changed is not on this machine: ...
    """
    for hook in hooks:
        parts = urlsplit(hook)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"webhooks: {hook!r} is no address, as https://example.org/changed")
        if not _is_here(parts.hostname) and (parts.scheme != "https" or secret is None):
            raise ValueError(
                f"webhooks: {hook} is not on this machine: it needs https, and a secret to sign "
                f"calls with (webhook_secret_file, or RAMIFY_WEBHOOK_SECRET)"
            )


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Hooks:
    """All programs that are called by one server."""

    def __init__(self, folder: Path, hooks: Iterable[str], secret: str | None) -> None:
        self._path = folder / POSITIONS
        self._lock = threading.Lock()
        self._positions: dict[str, dict[str, int]] = {}
        if hooks and self._path.exists():
            self._positions = json.loads(self._path.read_text(encoding="utf-8"))
        self.hooks = [Hook(self, hook, secret) for hook in dict.fromkeys(hooks)]

    def opened(self, served: Served) -> None:
        """A tree is open: what it was told of before goes on, a new one begins here."""
        served.hooks = self if self.hooks else None
        for hook in self.hooks:
            if self.position(hook.address, served.name) is None:
                self.keep(hook.address, served.name, served.versions[-1])
        self.changed(served)

    def changed(self, served: Served) -> None:
        """A tree has a new version, perhaps."""
        for hook in self.hooks:
            hook.give(served)

    def position(self, address: str, name: str) -> int | None:
        """The version up to which a program was told of a tree."""
        return self._positions.get(address, {}).get(name)

    def keep(self, address: str, name: str, version: int | None) -> None:
        """Write down how far a program was told of a tree; None: there is no such tree."""
        with self._lock:
            known = self._positions.setdefault(address, {})
            if version is None:
                known.pop(name, None)
            else:
                known[name] = version
            write_whole(self._path, json.dumps(self._positions))

    def renamed(self, name: str, to: str | None) -> None:
        """A tree goes by another name, or is gone."""
        for hook in self.hooks:
            version = self.position(hook.address, name)
            self.keep(hook.address, name, None)
            if to is not None and version is not None:
                self.keep(hook.address, to, version)

    def close(self) -> None:
        """The server ends; what was not told is told when it begins again."""
        for hook in self.hooks:
            hook.close()


class Hook:
    """One program, and the thread that calls it."""

    def __init__(self, hooks: Hooks, address: str, secret: str | None) -> None:
        import httpx

        self.address, self.host = address, urlsplit(address).netloc.rsplit("@", 1)[-1]
        self.called = self.failed = 0
        self._hooks, self._secret = hooks, secret
        self._http = httpx.Client(timeout=_PATIENCE)
        self._ready = threading.Condition()
        self._waiting: dict[str, Served] = {}
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="ramify-hook", daemon=True)
        self._thread.start()

    def give(self, served: Served) -> None:
        """Have it told of a tree."""
        with self._ready:
            self._waiting[served.name] = served
            self._ready.notify()

    def close(self) -> None:
        """End the thread; a call that is under way is waited for."""
        with self._ready:
            self._ended = True
            self._ready.notify()
        self._thread.join()
        self._http.close()

    def _run(self) -> None:
        wait = _FIRST_WAIT
        while (served := self._next()) is not None:
            try:
                self._tell(served)
                wait = _FIRST_WAIT
                pause = _PAUSE
            except Exception as error:  # whatever it is, the program is called again
                self.failed += 1
                told = {"tree": served.name, "webhook": self.host, "failed": repr(error)[:300]}
                LOG.error(json.dumps({**told, "again_in": wait}))
                with self._ready:
                    self._waiting.setdefault(served.name, served)
                pause, wait = wait, min(2 * wait, _LONGEST_WAIT)
            with self._ready:
                if not self._ended:
                    self._ready.wait_for(lambda: self._ended, pause)

    def _next(self) -> Served | None:
        with self._ready:
            self._ready.wait_for(lambda: self._waiting or self._ended)
            if self._ended:
                return None
            name = next(iter(self._waiting))  # the one that waits for longest
            return self._waiting.pop(name)

    def _tell(self, served: Served) -> None:
        since = self._hooks.position(self.address, served.name)
        if since is None or served.hooks is None:  # deleted, renamed or closed meanwhile
            return
        told = _told(served, since)
        if told is None:
            return
        body = json.dumps({"tree": served.name, **told}, separators=(",", ":")).encode()
        headers = {
            "content-type": "application/json",
            "ramify-delivery": f"{served.name}/{since}-{told['version']}",
        }
        if self._secret is not None:
            headers[SIGNATURE] = sign(body, self._secret)
        self._http.post(self.address, content=body, headers=headers).raise_for_status()
        self.called += 1
        if self._hooks.position(self.address, served.name) == since:
            self._hooks.keep(self.address, served.name, told["version"])


def _told(served: Served, since: int) -> dict[str, Any] | None:
    """What became of a tree since a version; None if nothing did."""
    try:
        found = changes(served, since, brief=True)
    except TooOldError as error:
        return {"event": "gone", "since": since, "oldest": error.oldest, "version": error.version}
    if not found.pop("changed"):
        return None
    return {"event": "change", **found, "time": int(time.time())}
