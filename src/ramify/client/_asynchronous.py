# SPDX-License-Identifier: BSD-3-Clause
"""_asynchronous.py: the client for programs with an event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any, Self

from ramify.client import _calls
from ramify.client._calls import Call, Dialogue, RemoteError
from ramify.client._following import Following
from ramify.client._verbs import ClientVerbs, TreeVerbs


class AsyncClient(ClientVerbs):
    """A server's trees, as :class:`Client` has them: every call is awaited.

    Parameters
    ----------
    url, token, attempts, timeout
        As of :class:`Client`.

    Examples
    --------
    >>> import tempfile, ramify
    >>> from ramify.serve import running
    >>> import asyncio
    >>> async def main(url):
    ...     async with ramify.AsyncClient(url) as client:
    ...         tree = await client.create("tickets", metric="cosine")
    ...         print((await tree.add([[1.0, 0.0], [0.0, 1.0]], ids=["T1", "T2"])).numbers)
    >>> with running(tempfile.mkdtemp()) as url:
    ...     asyncio.run(main(url))
    [0, 1]
    """

    def __init__(
        self, url: str, *, token: str | None = None, attempts: int = 5, timeout: float = 150.0
    ) -> None:
        httpx = _calls.require_httpx()
        self._attempts = attempts
        self._lost = httpx.TransportError
        self._http = httpx.AsyncClient(
            base_url=url,
            timeout=timeout,
            headers=_calls.headers_of(token or os.environ.get("RAMIFY_TOKEN")),
        )

    async def close(self) -> None:
        """Let the connections go.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         await client.close()
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        """
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def tree(self, name: str) -> AsyncRemoteTree:
        """A tree that is there.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         print(client.tree("tickets"))
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        <AsyncRemoteTree tickets>
        """
        return AsyncRemoteTree(self, name)

    async def call(self, call: Call) -> Any:
        """Make a call, more than once if need be.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         from ramify.client._calls import Call
        ...         print(await client.call(Call("GET", "/healthz")))
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        {'status': 'ok'}
        """
        for attempt in range(self._attempts):
            response = None
            try:
                response = await self._http.request(
                    call.method,
                    call.path,
                    content=call.content,
                    headers=call.headers,
                    params=call.params,
                )
                if response.status_code not in _calls.AGAIN or attempt == self._attempts - 1:
                    break
            except self._lost as error:
                if attempt == self._attempts - 1:
                    raise ConnectionError(f"{self._http.base_url}: {error}") from error
            await asyncio.sleep(_calls.wait_before(attempt, response))
        return _calls.answer(call, response)

    async def _say(self, dialogue: Dialogue) -> Any:
        try:
            call = next(dialogue)
            while True:
                try:
                    told = await self.call(call)
                except RemoteError as error:
                    call = dialogue.throw(error)
                else:
                    call = dialogue.send(told)
        except StopIteration as end:
            return end.value


class AsyncRemoteTree(TreeVerbs):
    """A tree of a server: made by :meth:`AsyncClient.create` and :meth:`AsyncClient.tree`.

    It has the verbs of :class:`RemoteTree`, to be awaited.

    Examples
    --------
    >>> import tempfile, ramify
    >>> from ramify.serve import running
    >>> import asyncio
    >>> async def main(url):
    ...     async with ramify.AsyncClient(url) as client:
    ...         tree = await client.create("tickets")
    ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
    ...         print([one.size for one in await tree.clusters(n_clusters=2)])
    >>> with running(tempfile.mkdtemp()) as url:
    ...     asyncio.run(main(url))
    [2, 1]
    """

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client, self.name = client, name
        self._say = client._say

    async def follow(
        self, since: int | None = None, *, brief: bool = False
    ) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Changes as they come, as of :meth:`RemoteTree.follow`.

        Parameters
        ----------
        since, brief
            As of :meth:`RemoteTree.follow`.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         _ = await tree.add([[0.0], [1.0]])
        ...         async for kind, told in tree.follow(since=0):
        ...             if kind == "change":
        ...                 print(told["inserted"])
        ...                 break
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        [0, 1]
        """
        client, at = self._client, Following(self.name, since, brief, self._client._attempts)
        while True:
            try:
                stream = client._http.stream("GET", at.path, params=at.asked, timeout=60.0)
                async with stream as lines:
                    if lines.status_code >= 400:
                        await lines.aread()
                        at.refused(lines)
                    else:
                        async for line in lines.aiter_lines():
                            event = at.hear(line)
                            if event is not None:
                                yield event
            except client._lost as error:
                at.lost(error)
            if at.over:
                return
            await asyncio.sleep(at.wait())
