# SPDX-License-Identifier: BSD-3-Clause
"""_asynchronous.py: the client for programs with an event loop."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Any, Self

import numpy.typing as npt

from ramify.client import _calls
from ramify.client._calls import Call, RemoteError
from ramify.ids import Id


class AsyncClient:
    """A server's trees. Needs ``pip install "ramify[client]"``.

    Calls are made again when the network or the server fails; nothing is done twice.

    Parameters
    ----------
    url : str
        Such as ``"http://127.0.0.1:8750"``.
    token : str, optional
        By default RAMIFY_TOKEN of the environment.
    attempts : int
        How often a call is made, at most.
    timeout : float
        Seconds until an attempt is given up.

    Examples
    --------
    >>> import tempfile, ramify
    >>> from ramify.serve import running
    >>> import asyncio
    >>> async def main(url):
    ...     async with ramify.AsyncClient(url) as client:
    ...         tree = await client.create("tickets", metric="cosine")
    ...         print((await tree.add([[1.0, 0.0], [0.0, 1.0]], ids=["T1", "T2"]))["numbers"])
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

    async def trees(self) -> list[dict[str, Any]]:
        """Figures of all trees.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         _ = await client.create("tickets")
        ...         print([tree["name"] for tree in await client.trees()])
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        ['tickets']
        """
        found: list[dict[str, Any]] = (await self.call(Call("GET", "/trees")))["trees"]
        return found

    async def create(self, name: str, **options: Any) -> AsyncRemoteTree:
        """Begin a tree, or find it if it was begun with the same options.

        Parameters
        ----------
        name : str
        **options
            ``algorithm``, ``dimension``, ``metric``, ``linkage``, ``window``, ``max_leaves``, ...

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         print(await client.create("tickets", metric="cosine", window=1000))
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        <AsyncRemoteTree tickets>
        """
        body = json.dumps(_calls.given(options)).encode()
        headers = {"content-type": "application/json"}
        await self.call(Call("PUT", f"/trees/{name}", body, headers))
        return AsyncRemoteTree(self, name)

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


class AsyncRemoteTree:
    """A tree of a server: made by :meth:`AsyncClient.create` and :meth:`AsyncClient.tree`.

    Examples
    --------
    >>> import tempfile, ramify
    >>> from ramify.serve import running
    >>> import asyncio
    >>> async def main(url):
    ...     async with ramify.AsyncClient(url) as client:
    ...         tree = await client.create("tickets")
    ...         print(tree)
    >>> with running(tempfile.mkdtemp()) as url:
    ...     asyncio.run(main(url))
    <AsyncRemoteTree tickets>
    """

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client, self.name = client, name

    def __repr__(self) -> str:
        return f"<AsyncRemoteTree {self.name}>"

    async def info(self) -> dict[str, Any]:
        """Figures: points, version, options, the journal's.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         print((await tree.info())["points"])
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        0
        """
        found: dict[str, Any] = await self._get("")
        return found

    async def add(
        self,
        X: npt.ArrayLike,
        *,
        ids: Sequence[Id] | None = None,
        payloads: Sequence[Any] | None = None,
        sample_weight: npt.ArrayLike | None = None,
        times: Sequence[Any] | None = None,
        key: str | None = None,
    ) -> dict[str, Any]:
        """Insert rows: when this returns, they are on the server's disk.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Also a frame of pandas or polars, or an Arrow table.
        ids, payloads, sample_weight, times, key : optional
            As in :meth:`ramify.journal.DurableTree.add`.

        Returns
        -------
        dict
            ``version``, ``repeated``, and ``numbers`` or, of rows alone, ``first`` and ``rows``.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         print(await tree.add([[0.0], [1.0]], ids=["T1", "T2"], payloads=["a", "b"]))
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        {'numbers': [0, 1], 'version': 2, 'repeated': 0}
        """
        call = _calls.adding(self.name, X, ids, payloads, sample_weight, times, key)
        found: dict[str, Any] = await self._client.call(call)
        return found

    async def forget(self, point: Id) -> bool:
        """Take a point out; False if there was none.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         texts = ["no sound", "x", "y"]
        ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
        ...         print(await tree.forget("a"), await tree.forget("a"))
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        True False
        """
        key = {"idempotency-key": uuid.uuid4().hex}
        try:
            await self._client.call(
                Call("DELETE", _calls.point_path(self.name, point), headers=key)
            )
        except RemoteError as error:
            if error.status != 404:
                raise
            return False
        return True

    async def assign(
        self,
        X: npt.ArrayLike,
        *,
        k: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        frame: bool = False,
    ) -> Any:
        """Where rows belong, without inserting them.

        Parameters
        ----------
        X : array-like of shape (m, d)
        k, height, max_size : optional
            The cut: one of them.
        frame : bool
            A frame of pandas instead of a dict of lists.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         texts = ["no sound", "x", "y"]
        ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
        ...         print((await tree.assign([[8.0]], k=2))["labels"])
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        [1]
        """
        cut = {"k": k, "height": height, "max_size": max_size}
        found = await self._client.call(_calls.assigning(self.name, X, cut))
        return _calls.frame_of(found) if frame else found

    async def clusters(
        self,
        *,
        k: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        representatives: int = 3,
        frame: bool = False,
    ) -> Any:
        """The clusters of a cut, the largest first, with points that show what they are.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         texts = ["no sound", "x", "y"]
        ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
        ...         print([one["size"] for one in await tree.clusters(k=2)])
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        [2, 1]
        """
        cut = {"k": k, "height": height, "max_size": max_size}
        asked = _calls.given({**cut, "representatives": representatives})
        found = (await self._get("/clusters", **asked))["clusters"]
        return _calls.frame_of(found) if frame else found

    async def point(self, point: Id) -> dict[str, Any]:
        """A point: number, id, payload.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         texts = ["no sound", "x", "y"]
        ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
        ...         print(await tree.point("a"))
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        {'number': 0, 'id': 'a', 'payload': 'no sound'}
        """
        found: dict[str, Any] = await self._client.call(
            Call("GET", _calls.point_path(self.name, point))
        )
        return found

    async def path(self, point: Id) -> list[int]:
        """Node ids from the root to a point.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         texts = ["no sound", "x", "y"]
        ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
        ...         print(await tree.path("c"))
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        [1, -3]
        """
        call = Call("GET", _calls.point_path(self.name, point, "/path"))
        found: list[int] = (await self._client.call(call))["nodes"]
        return found

    async def node(self, node: int, *, members: int = 20) -> dict[str, Any]:
        """A node: size, height, children, points below it.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         texts = ["no sound", "x", "y"]
        ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
        ...         print((await tree.node(1))["size"])
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        3
        """
        found: dict[str, Any] = await self._get(f"/nodes/{node}", members=members)
        return found

    async def edit(self, edit: str, *, key: str | None = None, **about: Any) -> dict[str, Any]:
        """Links, moves and names by people: the estimator's verb, and what it speaks of.

        Parameters
        ----------
        edit, key, **about
            As in :meth:`RemoteTree.edit`.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...         _ = await tree.edit("must_link", i="a", j="c")
        ...         print((await tree.edits())["linked"])
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        [[0, 2]]
        """
        call = _calls.editing(self.name, edit, key, about)
        found: dict[str, Any] = await self._client.call(call)
        return found

    async def edits(self) -> dict[str, Any]:
        """What people have said: ``names``, ``lost_names``, ``linked``, ``apart``, ``held``.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...         _ = await tree.edit("cannot_link", i="a", j="b")
        ...         print((await tree.edits())["apart"])
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        [[0, 1]]
        """
        found: dict[str, Any] = await self._get("/edits")
        return found

    async def search(self, text: str, *, limit: int = 20) -> list[dict[str, Any]]:
        """Points by words of their payloads, with the path to each.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         texts = ["no sound", "x", "y"]
        ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
        ...         print([hit["id"] for hit in await tree.search("sound")])
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        ['a']
        """
        found: list[dict[str, Any]] = (await self._get("/search", q=text, limit=limit))["hits"]
        return found

    async def changes(self, since: int) -> dict[str, Any]:
        """What became of the tree since a version that an answer has named.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         texts = ["no sound", "x", "y"]
        ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
        ...         print((await tree.changes(since=0))["inserted"])
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        [0, 1, 2]
        """
        found: dict[str, Any] = await self._get("/changes", since=since)
        return found

    async def export(self, format: str = "json") -> Any:
        """The whole tree: JSON as a dict, other formats as bytes.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> import asyncio
        >>> async def main(url):
        ...     async with ramify.AsyncClient(url) as client:
        ...         tree = await client.create("tickets")
        ...         texts = ["no sound", "x", "y"]
        ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
        ...         print((await tree.export())["ids"])
        >>> with running(tempfile.mkdtemp()) as url:
        ...     asyncio.run(main(url))
        ['a', 'b', 'c']
        """
        call = Call("GET", f"/trees/{self.name}/export", params={"format": format})
        call.as_bytes = format != "json"
        return await self._client.call(call)

    async def follow(
        self, since: int | None = None, *, brief: bool = False
    ) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Changes as they come: ("change", {...}) and now and then ("progress", {"version": v}).

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
        path, asked = f"/trees/{self.name}/changes/stream", {"since": since, "brief": brief}
        async with self._client._http.stream(
            "GET", path, params=_calls.given(asked), timeout=None
        ) as lines:
            if lines.status_code >= 400:
                await lines.aread()
                _calls.answer(Call("GET", path), lines)
            kept: list[str] = []
            async for line in lines.aiter_lines():
                kept.append(line)
                if line == "":
                    for event in _calls.events(iter(kept)):
                        yield event
                    kept = []

    async def _get(self, more: str, **params: Any) -> Any:
        return await self._client.call(Call("GET", f"/trees/{self.name}{more}", params=params))
