# SPDX-License-Identifier: BSD-3-Clause
"""_feed.py: what became of a tree, for its followers.

A change is the net effect between two versions. Replayed on an export of the first it gives
that of the second. A follower of a version that is not remembered is told the oldest that is,
and begins with an export.

All followers of a tree that are at one version get the same bytes: a change is found and written
down once, whether one follows or a hundred. Commits that come quickly are told together, so that
telling takes a small part of the time. Frames that a follower has not read yet are kept for it, to
a limit; beyond, it is dropped: its last event is ``dropped``, with the version it has read up to,
and it may go on from there on a new connection.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Collection
from datetime import datetime
from typing import Any

from sklearn.exceptions import NotFittedError
from starlette.responses import Response

from ramify.errors import HistoryError
from ramify.estimators.seam import Era, Group
from ramify.journal import DurableTree
from ramify.serve import _answers
from ramify.serve._door import LOG
from ramify.serve._served import Served
from ramify.serve._threads import run_for_writers
from ramify.serve._tokens import Token

#: What waits for a follower, at most, before it is dropped.
_MOST_FRAMES, _MOST_BYTES = 256, 8 << 20

#: Bytes that are handed to a connection at once, so that little waits there.
_AT_ONCE = 1 << 16

#: Telling may take this share of the time. What it takes of the loop's, beside finding the change:
#: seconds for each follower, and bytes a second to all of them.
_SHARE = 0.2
_OF_ONE, _RATE = 0.0005, 200e6
_LEAST_PAUSE, _LONGEST_PAUSE = 0.05, 3.0


class TooOldError(Exception):
    """A version that is not remembered."""

    def __init__(self, since: int | datetime, oldest: int, version: int) -> None:
        asked = f"version {since}" if isinstance(since, int) else f"what was at {since.isoformat()}"
        super().__init__(f"{asked} is not remembered; the oldest version is {oldest}")
        self.oldest, self.version = oldest, version


def changes(served: Served, since: int | datetime, brief: bool = False) -> dict[str, Any]:
    """What became of a tree since a version, or since the last one of a moment."""
    tree, newest = served.tree, served.versions[-1]
    if isinstance(since, datetime):
        if not tree.stream.begun:
            raise TooOldError(since, newest, newest)
    elif since == newest or not tree.stream.begun:
        if since > newest:
            raise TooOldError(since, served.oldest, newest)
        return {"since": since, "version": newest, "changed": False}
    try:
        found = tree.past.changes(since)
    except HistoryError:
        raise TooOldError(since, served.oldest, newest) from None
    except NotFittedError:  # of nothing to nothing
        return {"since": since, "version": newest, "changed": False}
    return {**_answers.changes(found, brief), "changed": found.since != found.version}


#: Leaves of a tree whose earlier states are put together, at most.
_MOST_LEAVES = 200_000


def timeline(served: Served, n_clusters: int, eras: int) -> dict[str, Any]:
    """What became of the clusters of a cut, span by span, with a point of each cluster."""
    tree = served.tree
    if not isinstance(tree, DurableTree):
        raise ValueError(
            "a tree in shards has no timeline: its shards put no earlier tree together"
        )
    if len(tree) > _MOST_LEAVES:
        raise ValueError(f"a timeline is of trees with up to {_MOST_LEAVES:,} leaves")
    try:
        found: list[Era] = tree.past.timeline(n_clusters, eras=eras)
    except HistoryError:
        raise TooOldError(served.versions[-1], served.oldest, served.versions[-1]) from None
    groups = [one for era in found for event in era.events for one in (*event.then, *event.now)]
    known = _answers.describe(
        tree, [n for n in {one.point for one in groups} if tree.stream.has(n)]
    )

    def told(group: Group) -> dict[str, Any]:
        facts = {"node": group.node_id, "size": group.size, "first_point": group.point}
        return {**facts, "point": known.get(group.point)}

    return {
        "version": found[-1].version if found else served.versions[-1],
        "eras": [
            {
                **era._asdict(),
                "time": era.time.isoformat(),
                "events": [
                    {
                        "kind": event.kind,
                        "then": list(map(told, event.then)),
                        "now": list(map(told, event.now)),
                    }
                    for event in era.events
                ],
            }
            for era in found
        ],
    }


def _event(kind: str, version: int, data: dict[str, Any]) -> bytes:
    text = json.dumps(data, separators=(",", ":"))
    return f"event: {kind}\nid: {version}\ndata: {text}\n\n".encode()


class Follower:
    """One who follows, and what waits for it."""

    def __init__(self, at: int, brief: bool) -> None:
        self.at = at  #: the version that all that waits leads to
        self.read = at  #: the version that was handed to the connection last
        self.brief = brief
        self.token: Token | None = None  #: that it came with
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._bytes = 0
        self._news = asyncio.Event()
        self._last = b""
        self.ended = self.dropped = False

    def offer(self, version: int, frame: bytes) -> bool:
        """One more change; False if too much waits already, and this was the last straw."""
        self.at = version
        self._waiting.append((version, frame))
        self._bytes += len(frame)
        self._news.set()
        too_many = len(self._waiting) > _MOST_FRAMES
        if too_many or (self._bytes > _MOST_BYTES and len(self._waiting) > 1):
            self.dropped = True
            self.end()
            return False
        return True

    def end(self, last: bytes = b"") -> None:
        """Nothing more is told but this."""
        self.ended, self._last = True, last
        self._waiting.clear()
        self._news.set()

    async def events(self, heartbeat: float) -> AsyncIterator[bytes]:
        """What is to be told, as it comes."""
        yield _event("progress", self.at, {"version": self.at})
        while True:
            while self._waiting and not self.ended:
                version, frame = self._waiting.popleft()
                self._bytes -= len(frame)
                yield frame
                self.read = version
            if self.ended:
                break
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), heartbeat)
            except TimeoutError:
                yield _event("progress", self.read, {"version": self.read})
        if self.dropped:  # known only now: what was on its way has arrived
            yield _event("dropped", self.read, {"version": self.read})
        elif self._last:
            yield self._last


class Feed:
    """The followers of one tree, and who tells them."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._followers: set[Follower] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()  #: that some are behind
        self._teller: asyncio.Task[None] | None = None
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._followers)

    def wake(self) -> None:
        """There is a new version, says the writer's thread."""
        loop = self._loop
        if loop is not None and self._followers and not loop.is_closed():
            loop.call_soon_threadsafe(self._news.set)

    def join(self, since: int | None, brief: bool) -> Follower:
        """One more who follows."""
        self._loop = asyncio.get_running_loop()
        found = Follower(self._served.versions[-1] if since is None else since, brief)
        self._followers.add(found)
        self._news.set()
        if self._teller is None or self._teller.done():
            self._teller = self._loop.create_task(self._tell())
        return found

    def leave(self, follower: Follower) -> None:
        """One less."""
        self._followers.discard(follower)
        if not self._followers and self._teller is not None:
            self._teller.cancel()
            self._teller = None

    def close(self) -> None:
        """The server ends: let all go."""
        for follower in self._followers:
            follower.end()

    def let_go(self) -> None:
        """The same, from another thread: the tree is deleted."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self.close)

    def keep(self, tokens: Collection[Token]) -> None:
        """Let go whose token is none of these; from another thread."""

        def some() -> None:
            for follower in self._followers:
                if follower.token not in tokens:
                    follower.end()

        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(some)

    async def _tell(self) -> None:
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                begin = time.monotonic()
                told = await self._tell_once()
                if told is not None:
                    took = time.monotonic() - begin + _OF_ONE * len(self._followers) + told / _RATE
                    pause = took * (1 - _SHARE) / _SHARE
                    await asyncio.sleep(min(max(pause, _LEAST_PAUSE), _LONGEST_PAUSE))
        except Exception as error:  # the tree is closed, say: nothing more can be told
            LOG.error(json.dumps({"tree": self._served.name, "feed": repr(error)}))
            self.close()

    async def _tell_once(self) -> int | None:
        """Tell all who are behind; the bytes that all together are told, None if none is behind."""
        newest = self._served.versions[-1]
        asked = {
            (follower.at, follower.brief)
            for follower in self._followers
            if follower.at != newest and not follower.ended
        }
        if not asked:
            return None
        bytes_told = 0
        found = await run_for_writers(self._find, asked)
        for follower in list(self._followers):
            told = found.get((follower.at, follower.brief))
            if told is not None and not follower.ended:
                self._hand(follower, *told)
                bytes_told += len(told[1])
        return bytes_told

    def _find(
        self, asked: set[tuple[int, bool]]
    ) -> dict[tuple[int, bool], tuple[int | None, bytes]]:
        """For each version and flavour: the version that it leads to, and the bytes.

        All of them lead to one version, so that these followers are one group from then on.
        """
        if len(asked) == 1:
            return {one: self._found(*one) for one in asked}
        both: dict[tuple[int, bool], tuple[int | None, bytes]] = self._served.tree.between(
            lambda: {one: self._found(*one) for one in asked}
        )
        return both

    def _found(self, since: int, brief: bool) -> tuple[int | None, bytes]:
        try:
            found = changes(self._served, since, brief)
        except TooOldError as error:
            told = {"oldest": error.oldest, "version": error.version}
            return None, _event("gone", since, told)
        version = found["version"]
        return version, _event("change", version, found) if found["changed"] else b""

    def _hand(self, follower: Follower, version: int | None, frame: bytes) -> None:
        if version is None:
            follower.end(frame)
        elif not frame:
            follower.at = follower.read = version
        elif not follower.offer(version, frame):
            self.dropped += 1


def feed_of(served: Served) -> Feed:
    """The followers of a tree; in the thread of the server's loop."""
    if served.feed is None:
        served.feed = Feed(served)
    return served.feed


class Events(Response):
    """Server-sent events."""

    media_type = "text/event-stream"


class Told(Events):
    """The answer to a follower: events without end."""

    def __init__(self, feed: Feed, since: int | None, brief: bool, heartbeat: float) -> None:
        super().__init__(headers={"x-accel-buffering": "no"})  # nginx would hold events back
        del self.headers["content-length"]
        self._feed, self._asked, self._heartbeat = feed, (since, brief), heartbeat

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Tell, until the reader goes, or is dropped."""
        follower = self._feed.join(*self._asked)
        follower.token = scope["state"]["token"]
        _keep_little(scope.get("ramify.line"))
        gone = asyncio.ensure_future(_left(receive))
        gone.add_done_callback(lambda _: follower.end())
        head = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        try:
            await send(head)
            async for event in follower.events(self._heartbeat):
                for begin in range(0, len(event), _AT_ONCE):
                    part = event[begin : begin + _AT_ONCE]
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            self._feed.leave(follower)


def _keep_little(line: Any) -> None:
    """Have the system hold little for a follower: it would take megabytes for each."""
    if line is not None and (found := line.transport.get_extra_info("socket")) is not None:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * _AT_ONCE)


async def _left(receive: Any) -> None:
    """Wait until the other side has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
