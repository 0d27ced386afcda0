"""network.py: an event loop in the world's time, and a network that loses, delays and repeats.

The loop waits by letting the world's threads run. The network is a transport of httpx: it hands
the requests of the real client to the real application, as a server would, or does not.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx

from tests.simulation.world import PowerCutError, StuckError, World

_LONGEST_DELAY = 0.5


class _Waiting:
    """What the loop asks for news; there is none but what threads do, and time."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        loop = self._loop
        if loop.ending:
            return []
        ready = timeout is not None and timeout <= 0
        if ready and loop.world.chance.random() < 0.7:
            return []
        if loop.world.step() or ready:
            return []
        times = [one.deadline for one in loop.world.threads if one.deadline is not None]
        if timeout is not None:
            times.append(loop.time() + timeout)
        if not times:
            raise StuckError("nobody has anything to do")
        loop.world.clock.now = max(loop.world.clock.now, min(times))
        return []

    def close(self) -> None:
        pass


class Loop(asyncio.BaseEventLoop):
    """An event loop without a system below it."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world, self.ending = world, False
        self._selector = _Waiting(self)
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self.world.clock.now

    def _process_events(self, events: Any) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    def life(self, main: Any) -> None:
        """Run until it is done, or the power is cut; nothing is under way then."""
        asyncio.set_event_loop(self)
        try:
            self.run_until_complete(main)
        except PowerCutError:
            pass
        finally:
            self.ending = True
            for _ in range(8):  # what is cancelled may begin something
                under_way = asyncio.all_tasks(self)
                for task in under_way:
                    task.cancel()
                if under_way:
                    self.run_until_complete(asyncio.wait(under_way, timeout=1e-9))
            self.close()
            asyncio.set_event_loop(None)


class _Body(httpx.AsyncByteStream):
    """What an application answers, as it comes."""

    def __init__(self, pieces: asyncio.Queue[bytes | None], lost: Callable[[], bool]) -> None:
        self._pieces, self._lost = pieces, lost
        self.left = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (piece := await self._pieces.get()) is not None:
            if self._lost():
                self.left.set()
                raise httpx.ReadError("the connection was lost")
            yield piece

    async def aclose(self) -> None:
        self.left.set()


class Network(httpx.AsyncBaseTransport):
    """The way from clients to an application."""

    def __init__(self, app: Any, chance: random.Random) -> None:
        self._app, self._chance = app, chance
        self.bad = chance.choice((0.0, 0.05, 0.2))  #: how many messages are lost

    def _lost(self) -> bool:
        return self._chance.random() < self.bad

    async def _delay(self) -> None:
        await asyncio.sleep(self._chance.random() ** 4 * _LONGEST_DELAY)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        await self._delay()
        if self._lost():
            raise httpx.ConnectError("the request was lost")
        if self._lost() and request.method != "GET":  # and comes twice
            asyncio.ensure_future(self._again(request))  # noqa: RUF006
        response = await self._deliver(request)
        await self._delay()
        if self._lost():
            await response.aclose()
            raise httpx.ReadError("the answer was lost")
        return response

    async def _again(self, request: httpx.Request) -> None:
        await self._delay()
        response = await self._deliver(request)
        await response.aread()

    async def _deliver(self, request: httpx.Request) -> httpx.Response:
        pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        begun: asyncio.Future[tuple[int, Any]] = asyncio.get_running_loop().create_future()
        stream = _Body(pieces, self._lost)
        asked = [{"type": "http.request", "body": request.content, "more_body": False}]

        async def receive() -> Any:
            if asked:
                return asked.pop()
            await stream.left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                begun.set_result((message["status"], message["headers"]))
            else:
                pieces.put_nowait(message.get("body", b""))
                if not message.get("more_body"):
                    pieces.put_nowait(None)

        work = asyncio.ensure_future(self._app(_scope(request), receive, send))
        await asyncio.wait([work, begun], return_when=asyncio.FIRST_COMPLETED)
        if not begun.done():
            await work  # says what happened
        status, headers = await begun
        return httpx.Response(status, headers=headers, stream=stream)


def _scope(request: httpx.Request) -> dict[str, Any]:
    url = request.url
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": url.path,
        "raw_path": url.raw_path.split(b"?")[0],
        "query_string": url.query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("10.0.0.1", 4000),
        "server": ("127.0.0.1", 80),
    }
