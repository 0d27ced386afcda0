# SPDX-License-Identifier: BSD-3-Clause
"""_feed.py: what became of a tree, for whoever follows it.

A change is the net effect between two versions. Replayed on an export of the first it gives
that of the second. A reader that fell behind gets several commits as one change; one that
asks for a version that nobody remembers is told the oldest that is, and begins with an export.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.concurrency import run_in_threadpool

from ramify.errors import HistoryError
from ramify.serve import _answers
from ramify.serve._trees import Served


class TooOldError(Exception):
    """A version that is not remembered."""

    def __init__(self, since: int, oldest: int, version: int) -> None:
        super().__init__(f"version {since} is not remembered; the oldest is {oldest}")
        self.oldest, self.version = oldest, version


def changes(served: Served, since: int, brief: bool = False) -> dict[str, Any]:
    """What became of a tree since a version."""
    tree, newest = served.tree, served.versions[-1]
    if since == newest or len(tree) == 0:
        if since > newest:
            raise TooOldError(since, served.versions[0], newest)
        return {"since": since, "version": newest, "changed": False}
    try:
        found = tree.changes(since)
    except HistoryError:
        raise TooOldError(since, served.versions[0], newest) from None
    return {**_answers.changes(found, brief), "changed": True}


async def stream(
    served: Served, since: int | None, brief: bool, heartbeat: float
) -> AsyncIterator[str]:
    """Server-sent events: ``change`` with each change, ``progress`` when there is none."""
    loop, news = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        loop.call_soon_threadsafe(news.set)

    served.add_listener(wake)
    try:
        at = served.versions[-1] if since is None else since
        yield _event("progress", at, {"version": at})
        while True:
            news.clear()
            if served.versions[-1] != at:
                try:
                    found = await run_in_threadpool(changes, served, at, brief)
                except TooOldError as error:
                    yield _event("gone", at, {"oldest": error.oldest, "version": error.version})
                    return
                if found["changed"]:
                    at = found["version"]
                    yield _event("change", at, found)
                    continue
            try:
                await asyncio.wait_for(news.wait(), heartbeat)
            except TimeoutError:
                yield _event("progress", at, {"version": at})
    finally:
        served.remove_listener(wake)


def _event(kind: str, version: int, data: dict[str, Any]) -> str:
    return f"event: {kind}\nid: {version}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
