# SPDX-License-Identifier: BSD-3-Clause
"""_quick.py: the question that is asked most, answered without the framework.

``POST /v1/trees/NAME/assign?n_clusters=K`` with a small JSON body: the answer takes microseconds,
and FastAPI's way to it half a millisecond. What is the least bit out of the ordinary, a mistake
included, takes the long way, from its beginning: both give the same answer.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from ramify.serve import _answers
from ramify.serve._bodies import JSON, read_json
from ramify.serve._door import Receive, Scope, Send
from ramify.serve._settings import Settings
from ramify.serve._trees import Trees

_PATH = re.compile(r"/v1/trees/([a-z0-9][a-z0-9_-]{0,63})/assign")
_QUERY = re.compile(rb"(?:n_clusters|k)=([1-9][0-9]{0,4})")

#: Bytes of a body, and rows in it, that are looked at here.
_SMALL_BODY, _FEW_ROWS = 1 << 14, 16


class Quick:
    """A layer between the door and the application."""

    def __init__(self, app: Any, trees: Trees, settings: Settings) -> None:
        self._app, self._trees, self._settings = app, trees, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = _asked(scope)
        if asked is None:
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._settings.idle_seconds):
                message = await receive()
        except TimeoutError:
            await self._app(scope, receive, send)  # which gives up in its own words
            return
        body = self._answer(*asked, message)
        if body is None:
            await self._app(scope, _again(message, receive), send)
            return
        headers = [
            (b"content-length", str(len(body)).encode()),
            (b"content-type", JSON.encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, name: str, k: int, message: Any) -> bytes | None:
        """The answer, or None if there is something to look at more closely."""
        body = message.get("body", b"")
        if message["type"] != "http.request" or message.get("more_body"):
            return None
        if len(body) > _SMALL_BODY or not self._trees.known.is_set():
            return None
        try:
            tree = self._trees.get(name).tree
            rows = read_json(body)
            if not tree.stream.quick or len(rows) > _FEW_ROWS:
                return None
            found = _answers.assigned(tree, rows.vectors, {"n_clusters": k})
        except Exception:  # whatever it is, the long way has the words for it
            return None
        return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()


def _asked(scope: Scope) -> tuple[str, int] | None:
    """Name and k of a plain question."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    path, query = _PATH.fullmatch(scope["path"]), _QUERY.fullmatch(scope["query_string"])
    if path is None or query is None:
        return None
    headers = dict(scope["headers"])
    if headers.get(b"content-type") != JSON.encode() or b"origin" in headers:
        return None
    return path[1], int(query[1])


def _again(message: Any, receive: Receive) -> Receive:
    """A body from its beginning, of which one message has been read."""
    waiting = [message]

    async def receive_again() -> Any:
        return waiting.pop() if waiting else await receive()

    return receive_again
