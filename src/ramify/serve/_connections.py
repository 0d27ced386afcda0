# SPDX-License-Identifier: BSD-3-Clause
"""_connections.py: who may hold a connection, and for how long.

    stranger  has not shown that it may come in: no request of it has passed the door
    known     has, and rests between two requests
    busy      has a request under way that has passed the door

A connection that rests must have sent a whole header ``header_seconds`` after it was made or
answered, however slowly bytes trickle in. When all places are taken, a newcomer gets that of the
stranger who came first, from the host that holds the most; then that of whoever is known and has
rested longest. Those who are busy keep theirs, so that no stranger can lock them out.

Of what was written to a connection some may wait here, because the system takes no more until the
other side reads. Every ``stall_seconds`` all connections are looked at, and one for which bytes
wait, and that has read none of them since the last look, is cut. Whether the server goes on writing
does not matter: the few bytes at the end of an answer keep a connection as long as many do.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ramify.serve._handles import shared_out
from ramify.serve._settings import Settings

#: Bytes of a request's first line and headers together. h11 has such a limit, httptools has none.
_LARGEST_HEAD = 1 << 16
_WATCHED = hasattr(AutoHTTPProtocol, "on_headers_complete")

#: That a reader has to go on reading when the server ends.
_LAST_SECONDS = 1.0

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
    b"content-length: 33\r\nretry-after: 1\r\nconnection: close\r\n\r\n"
    b'{"error": "too many connections"}'
)


class Connections:
    """All connections of one server."""

    def __init__(self, settings: Settings) -> None:
        self.most = shared_out(settings)[0]
        self.header_seconds, self.stall_seconds = settings.header_seconds, settings.stall_seconds
        self._strangers: dict[str, dict[Line, None]] = {}  #: by host, those who came first before
        self._known: dict[Line, None] = {}  #: who has rested longest comes first
        self._busy: set[Line] = set()
        self._seen: dict[Line, tuple[int, int]] = {}  #: what waited for each, at the last look
        self._look_again: asyncio.TimerHandle | None = None
        self.closed = 0  #: to make room, or because they kept us waiting

    def __len__(self) -> int:
        strangers = sum(len(some) for some in self._strangers.values())
        return strangers + len(self._known) + len(self._busy)

    def enter(self, line: Line) -> bool:
        """Give a new connection a place; False if there is none."""
        if len(self) >= self.most:
            fullest: Any = max(self._strangers.values(), key=len, default=self._known)
            oldest = next(iter(fullest), None)
            if oldest is None:
                return False
            self.leave(oldest)
            oldest.drop()
        self._strangers.setdefault(line.host, {})[line] = None
        return True

    def leave(self, line: Line) -> None:
        """A connection is no more."""
        some = self._strangers.get(line.host)
        if some is not None:
            some.pop(line, None)
            if not some:
                del self._strangers[line.host]
        self._known.pop(line, None)
        self._busy.discard(line)

    def let_in(self, line: Line) -> None:
        """A request has passed the door."""
        self.leave(line)
        self._busy.add(line)

    def rest(self, line: Line) -> None:
        """A connection that was let in has been answered."""
        if line in self._busy:
            self._busy.discard(line)
            self._known[line] = None

    # --- who reads what was written --------------------------------------------------------

    def watch(self, line: Line) -> None:
        """Look at a new connection, too."""
        self._seen[line] = (0, 0)
        if self._look_again is None:
            self._look_again = line.loop.call_later(self.stall_seconds, self._look)

    def watch_no_more(self, line: Line) -> None:
        """A connection has ended."""
        self._seen.pop(line, None)
        if not self._seen and self._look_again is not None:
            self._look_again.cancel()
            self._look_again = None

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._look_again = loop.call_later(self.stall_seconds, self._look)
        for line, before in list(self._seen.items()):
            now = (line.transport.get_write_buffer_size(), line.resumed)
            if now == before and now[0] > 0:
                self.closed += 1
                line.transport.abort()
            self._seen[line] = now

    def hurry(self) -> None:
        """The server ends: who does not read now is not waited for."""
        self.stall_seconds = min(self.stall_seconds, _LAST_SECONDS)
        if self._look_again is not None:
            self._look_again.cancel()
            self._look()

    async def cut(self) -> None:
        """Cut what is left, before the loop ends.

        uvloop may wait for ever when it closes a loop in which bytes wait for a connection.
        """
        for line in list(self._seen):
            line.transport.abort()
        for _ in range(100):
            if not self._seen:
                break
            await asyncio.sleep(0.01)
        await asyncio.sleep(0)  # uvloop lets a connection's handle go one turn after its end


class Line(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # uvicorn chooses it when it starts
    """One connection: uvicorn's, with an end to its patience."""

    register: Connections

    def __init__(self, *, app_state: Any, **given: Any) -> None:
        marked = {**app_state, "ramify.line": self}  # so that the door can tell us
        super().__init__(app_state=marked, **given)
        self.host = "?"
        self._under_way = 0
        self._deadline: asyncio.TimerHandle | None = None
        self.resumed = 0  #: how often what waited has become little
        self._in_head, self._head = True, 0

    # --- what the door says --------------------------------------------------------------

    def begin(self) -> None:
        """A whole header has come."""
        self._under_way += 1
        self._wait_no_more()

    def let_in(self) -> None:
        """It may come in."""
        if not self.transport.is_closing():
            self.register.let_in(self)

    def end(self) -> None:
        """It has its answer."""
        self._under_way -= 1
        if self._under_way == 0 and not self.transport.is_closing():
            self.register.rest(self)
            self._wait()

    # --- time ----------------------------------------------------------------------------

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(self.register.header_seconds, self._too_late)

    def _wait_no_more(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self.register.closed += 1
        self.drop()

    def drop(self) -> None:
        """End the connection, whether or not the other side still reads."""
        if self.transport.get_write_buffer_size() > 0:
            self.transport.abort()
        else:
            self.transport.close()

    def resume_writing(self) -> None:
        """The other side has read most of what waited."""
        super().resume_writing()
        self.resumed += 1

    # --- what comes ------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """A connection, which may have to go at once."""
        super().connection_made(transport)
        self.register.watch(self)
        self.host = self.client[0] if self.client else "?"
        if self.register.enter(self):
            self._wait()
        else:
            transport.write(_FULL)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended."""
        self.register.leave(self)
        self.register.watch_no_more(self)
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some bytes."""
        if self.transport.is_closing():
            return
        self._head += len(data)
        super().data_received(data)
        too_large = _WATCHED and self._in_head and self._head > _LARGEST_HEAD
        if too_large and not self.transport.is_closing():
            self.send_400_response("The header is too large.")

    def on_headers_complete(self) -> None:
        """Called by httptools."""
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Called by httptools."""
        self._in_head, self._head = True, 0
        super().on_message_complete()
