# SPDX-License-Identifier: BSD-3-Clause
"""_door.py: who may come in, how often and with how much; and lines in the log.

One layer around the whole application, below all routes: no route can be reached past it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException

from ramify.histogram import Histogram
from ramify.serve._connections import Connections
from ramify.serve._proxies import Proxies
from ramify.serve._settings import Settings
from ramify.serve._tokens import Role, Token, Tokens

LOG = logging.getLogger("ramify.serve")

#: Of the interface: addresses of trees begin with it. Those of 0.1 had none, and lead here.
VERSION = "/v1"

#: May be asked without a token: they tell nothing of the trees.
OPEN = ("/healthz", "/readyz", "/", "/live.js", "/live.css", "/favicon.ico")

#: Reading, although it has a body.
_READING_POSTS = (
    *("/assign", "/cluster_of", "/labels", "/nearest", "/payloads", "/retrieve"),
    "/changes/token",
)

#: Whose bodies may be large; others say what is to be done, in a few words.
_OWN_LIMITS = ("/points", "/assign", "/nearest", "/retrieve", "/backup")
_LARGEST_ORDER = 1 << 20

#: What concerns a whole tree. A backup may hold what was forgotten and not erased yet.
_ADMIN = ("", "/backup", "/compact", "/rename", "/snapshot")

_TREE = re.compile(rf"{VERSION}/trees/([^/]+)(/.*)?", re.DOTALL)
_STREAM = "/changes/stream"

_MOST_CLIENTS = 10_000

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

#: What a page may do that this server sends: nothing but talk to it.
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "content-security-policy": "default-src 'self'; img-src 'self' data:; "
    "style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}


class TooLargeError(Exception):
    """A body beyond its limit."""


def role_of(method: str, path: str) -> Role:
    """The role that a call needs.

    Examples
    --------
    >>> role_of("GET", "/v1/trees/a"), role_of("POST", "/v1/trees/a/assign")
    ('read', 'read')
    >>> role_of("POST", "/v1/trees/a/points"), role_of("PUT", "/v1/trees/a")
    ('write', 'admin')
    >>> role_of("GET", "/v1/trees/a/backup"), role_of("DELETE", "/v1/trees/a/points/backup")
    ('admin', 'write')
    """
    found = _TREE.fullmatch(path)
    rest = "" if found is None else found[2] or ""
    reads = method in ("GET", "HEAD") or (method == "POST" and rest in _READING_POSTS)
    if found is not None and rest in _ADMIN and not (reads and rest != "/backup"):
        return "admin"
    return "read" if reads else "write"


class Door:
    """The layer."""

    def __init__(self, app: Any, settings: Settings, tokens: Tokens) -> None:
        self._app, self._settings, self.tokens = app, settings, tokens
        self.connections = Connections(settings)
        self._rates = Rates(settings.rate)
        self.requests: dict[tuple[str, int], int] = {}  #: by method and status, for /metrics
        self.seconds: dict[str, Histogram] = {}  #: by method; streams of changes are left out
        self._proxies = Proxies(settings.trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        if scope["path"] == "/trees" or scope["path"].startswith("/trees/"):
            scope["path"] = VERSION + scope["path"]
        request_id = secrets.token_hex(8)
        line = scope["ramify.line"] = scope.setdefault("state", {}).pop("ramify.line", None)
        scope["state"]["request_id"] = request_id
        begin, status, let_in = time.perf_counter(), 500, False

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                known = {name for name, _ in message["headers"]}
                more = {**_HEADERS, "x-request-id": request_id}
                message["headers"] = [
                    *message["headers"],
                    *((n.encode(), v.encode()) for n, v in more.items() if n.encode() not in known),
                ]
            await send(message)

        if line is not None:
            line.begin()
        try:
            refusal = self._refusal(scope)
            if refusal is not None:
                await say(sending, *refusal)
            else:
                let_in = True
                if line is not None and scope["path"] not in OPEN:
                    line.let_in()
                await self._app(scope, self._bounded(scope, receive), sending)
        finally:
            if line is not None:
                line.end()
            seconds = time.perf_counter() - begin
            self._count(scope, status, seconds)
            if self._settings.log:
                self._note(scope, request_id, status, seconds)
            if let_in:
                self._audit(scope, request_id, status)

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        """A body that is read as a whole, by others than ours, which know their own limits."""
        if scope["method"] in ("GET", "HEAD") or scope["path"].endswith(_OWN_LIMITS):
            return receive
        total = 0

        async def some() -> MutableMapping[str, Any]:
            nonlocal total
            try:
                async with asyncio.timeout(self._settings.idle_seconds):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(504, "the body did not come in time") from None
            total += len(message.get("body", b""))
            if total > _LARGEST_ORDER:
                raise HTTPException(413, f"more than {_LARGEST_ORDER:,} bytes")
            return message

        return some

    def _refusal(self, scope: Scope) -> tuple[int, str, dict[str, str]] | None:
        host = self._proxies.client_of(scope)
        wait = self._rates.wait(host)
        if wait > 0:
            return 429, "too many requests", {"retry-after": str(max(1, round(wait)))}
        headers = dict(scope["headers"])
        if not self._of_this_site(headers):
            return 403, "the Host header names another site", {}
        if not self._from_this_site(headers):
            return 403, "a page of another site asks; --cors names those that may", {}
        path, method = scope["path"], scope["method"]
        if path in OPEN or (method == "OPTIONS" and self._settings.cors):
            return None
        found, role = _TREE.fullmatch(path), role_of(method, path)
        tree = None if found is None else found[1]
        token = self._token(scope, headers, tree)
        if token is None:
            said = "a token is needed: Authorization: Bearer ..."
            return 401, said, {"www-authenticate": "Bearer"}
        scope["state"]["token"] = token
        if path == "/metrics" and not token.knows(None):
            return 403, "this token is for some trees, and figures are of all", {}
        if tree is not None and not token.knows(tree):
            return 403, f"this token is not for the tree {tree!r}", {}
        if role != "read" and not token.may(role, tree):
            more = "write" if token.role == "read" else "administer trees"
            return 403, f"this token may {token.role} and not {more}", {}
        return None

    def _token(self, scope: Scope, headers: dict[bytes, bytes], tree: str | None) -> Token | None:
        """Whose token came along; for streams of changes, where browsers send no header."""
        if tree is not None and scope["path"].endswith(_STREAM):
            asked = parse_qs(scope["query_string"].decode("latin-1")).get("token")
            if asked and b"authorization" not in headers:
                return self.tokens.of_stream(asked[0], tree)
        return self.tokens.of(_bearer(headers))

    def _of_this_site(self, headers: dict[bytes, bytes]) -> bool:
        """Another site could have its name lead here; without a token, that must not do."""
        if self.tokens.current:
            return True
        host = headers.get(b"host", b"").decode("latin-1").rsplit("@", 1)[-1]
        name = host[: host.find("]") + 1] if host.startswith("[") else host.split(":")[0]
        return name in ("127.0.0.1", "localhost", "[::1]", self._settings.host, "testserver")

    def _from_this_site(self, headers: dict[bytes, bytes]) -> bool:
        """Browsers let any page send a request, and say which one it was.

        With a token that is no matter: such a page does not know it.
        """
        origin = headers.get(b"origin", b"").decode("latin-1")
        if not origin or self.tokens.current or origin in self._settings.cors:
            return True
        return origin.partition("://")[2] == headers.get(b"host", b"").decode("latin-1")

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"]
        known = method if method in ("GET", "POST", "PUT", "DELETE") else "other"
        self.requests[known, status] = self.requests.get((known, status), 0) + 1
        if not scope["path"].endswith("/changes/stream"):  # which lasts as long as its reader
            self.seconds.setdefault(known, Histogram()).observe(seconds)

    def _note(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "request": request_id,
            "client": self._proxies.client_of(scope),
            "method": scope["method"],
            "path": _without_ids(scope["path"])[:200],
            "status": status,
            "ms": round(seconds * 1000, 2),
        }
        LOG.info(json.dumps(line))

    def _audit(self, scope: Scope, request_id: str, status: int) -> None:
        """A line for each call that may have changed a tree: who, what, when; no content.

        Of calls that failed, too: a stream that breaks off has written what came before.
        """
        found = _TREE.fullmatch(scope["path"])
        if found is None or role_of(scope["method"], scope["path"]) == "read":
            return
        what = _without_ids(found[2] or "/")
        line = {
            "audit": f"{scope['method']} {what}",
            "tree": found[1],
            "by": scope["state"]["token"].name,
            "client": self._proxies.client_of(scope),
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "request": request_id,
            "status": status,
            **scope["state"].get("did", {}),
        }
        LOG.info(json.dumps(line))


def _without_ids(path: str) -> str:
    """A path without the id of a point, which a log must not keep once the point is forgotten.

    Examples
    --------
    >>> _without_ids("/v1/trees/tickets/points/T1/path"), _without_ids("/v1/trees/tickets")
    ('/v1/trees/tickets/points/*', '/v1/trees/tickets')
    """
    before, found, _ = path.partition("/points/")
    return f"{before}{found}*" if found else path


def _bearer(headers: dict[bytes, bytes]) -> str | None:
    kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


async def say(send: Send, status: int, error: str, headers: dict[str, str]) -> None:
    """Answer that something is wrong."""
    body = json.dumps({"error": error}).encode()
    lines = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    lines += [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body})


class Rates:
    """A bucket for each client, which fills at the rate and empties with its requests.

    Examples
    --------
    >>> rates = Rates(2)
    >>> [rates.wait("here", now=0.0) > 0 for _ in range(5)]
    [False, False, False, False, True]
    >>> rates.wait("here", now=1.0)
    0.0
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, now: float | None = None) -> float:
        """Seconds until this client may ask; 0 lets it in."""
        if self._rate <= 0:
            return 0.0
        now = time.monotonic() if now is None else now
        most = 2 * self._rate
        left, then = self._clients.get(client, (most, now))
        left = min(most, left + (now - then) * self._rate)
        allowed = left >= 1
        self._clients[client] = (left - 1 if allowed else left, now)
        self._clients.move_to_end(client)
        if len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._rate
