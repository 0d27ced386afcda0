# SPDX-License-Identifier: BSD-3-Clause
"""_awake.py: a tree that a request names is open for as long as the request lasts."""

from __future__ import annotations

import re
from typing import Any

import anyio

from ramify.serve._door import VERSION, Receive, Scope, Send, say
from ramify.serve._trees import TooManyOpenError, Trees

_PATH = re.compile(rf"{VERSION}/trees/([a-z0-9][a-z0-9_-]{{0,63}})(?:/.*)?")

#: Trees that are opened at once, each by a thread.
_AT_ONCE = 4


class Awake:
    """A layer between the door and the application."""

    def __init__(self, app: Any, trees: Trees) -> None:
        self._app, self._trees = app, trees
        self._opening: anyio.CapacityLimiter | None = None  # of the loop that it is used in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        name, trees = found[1], self._trees
        with trees.uses.of(name):
            try:
                if trees.rests(name):
                    await anyio.to_thread.run_sync(trees.wake, name, limiter=self._limit())
            except TooManyOpenError as error:
                await say(send, 503, str(error), {"retry-after": "1"})
                return
            await self._app(scope, receive, send)

    def _limit(self) -> anyio.CapacityLimiter:
        if self._opening is None:
            self._opening = anyio.CapacityLimiter(_AT_ONCE)
        return self._opening
