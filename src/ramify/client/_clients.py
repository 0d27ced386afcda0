# SPDX-License-Identifier: BSD-3-Clause
"""_clients.py: the two clients, which differ in how they wait, and in nothing else."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Self, TypeVar

from ramify.client._calls import Call, Dialogue, Listed, calling, given, steps_of
from ramify.client._following import Event, Following
from ramify.client._lifecycle import AsyncCopies, Copies, Lifecycle, restore, restore_async
from ramify.client._sides import AsyncRemoteEdits, AsyncRemotePast, RemoteEdits, RemotePast
from ramify.client._table import Awaited, Waits
from ramify.client._verbs import TreeVerbs
from ramify.tree import Keeps

_Answer = TypeVar("_Answer")


def _require_httpx() -> Any:
    """httpx, or which extra is missing."""
    try:
        import httpx
    except ImportError as error:
        raise ImportError('the client needs httpx: pip install "ramify[client]"') from error
    return httpx


class _Connection:
    """Where a server is, and how it is spoken to."""

    _kind: str  #: of httpx's clients

    def __init__(
        self, url: str, *, token: str | None = None, attempts: int = 5, timeout: float = 150.0
    ) -> None:
        httpx = _require_httpx()
        self._attempts, self._lost = attempts, httpx.TransportError
        known = token or os.environ.get("RAMIFY_TOKEN")
        headers = {} if known is None else {"authorization": f"Bearer {known}"}
        kind = getattr(httpx, self._kind)
        self._http = kind(base_url=url, timeout=timeout, headers=headers)

    def _request(self, call: Call) -> Any:
        with_it = {"content": call.content, "headers": call.headers, "params": given(call.params)}
        return self._http.request(call.method, call.path, **with_it)

    def _stream(self, at: Following) -> Any:
        return self._http.stream("GET", at.path, params=at.asked, timeout=60.0)


def _trees() -> Dialogue[Listed[dict[str, Any]]]:
    told = yield calling("GET", "/v1/trees")
    return Listed(told.pop("trees"), told)


def _create(tree: Any, options: dict[str, Any]) -> Dialogue[Any]:
    yield calling("PUT", f"/v1/trees/{tree.name}", given(options))
    return tree


class Client(_Connection):
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
    >>> server = running(tempfile.mkdtemp())
    >>> client = ramify.Client(server.__enter__())
    >>> tree = client.create("tickets", metric="cosine")
    >>> tree.add([[1.0, 0.0], [0.0, 1.0]], ids=["T1", "T2"]).numbers
    [0, 1]
    >>> [tree["name"] for tree in client.trees()], client.trees().about["failed"]
    (['tickets'], {})
    >>> client.tree("tickets").path("T1")
    array([ 0, -1])
    >>> file = tempfile.mkdtemp() + "/tickets.tar"
    >>> size = client.tree("tickets").backup(file)
    >>> client.restore("again", file).n_points_
    2
    >>> client.close()
    >>> _ = server.__exit__(None, None, None)
    """

    _kind = "Client"

    def tree(self, name: str) -> RemoteTree:
        """A tree that is there."""
        return RemoteTree(self, name)

    def create(self, name: str, **options: Any) -> RemoteTree:
        """Begin a tree, or find it if it was begun with the same options.

        Parameters
        ----------
        name : str
        **options
            ``algorithm``, ``dimension``, ``metric``, ``linkage``, ``window``, ``max_leaves``, ...
        """
        found: RemoteTree = self._say(_create(self.tree(name), options))
        return found

    def trees(self) -> Listed[dict[str, Any]]:
        """Figures of all trees; ``about["failed"]`` has those that are there and cannot be used."""
        return self._say(_trees())

    def restore(
        self, name: str, file: str | os.PathLike[str], *, version: int | None = None
    ) -> RemoteTree:
        """A new tree of this name, out of a file that :meth:`RemoteTree.backup` wrote.

        With ``version`` it is as it was then, as :func:`ramify.journal.restore` says.
        """
        restore(self, name, file, version)
        return self.tree(name)

    def close(self) -> None:
        """Let the connections go."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _say(self, dialogue: Dialogue[_Answer]) -> _Answer:
        steps, done = steps_of(dialogue, self._attempts, self._lost), None
        try:
            step = next(steps)
            while True:
                try:
                    done = _sleep(step) if isinstance(step, float) else self._request(step)
                except self._lost as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(done)
        except StopIteration as end:
            found: _Answer = end.value
            return found


_sleep: Callable[[float], Any] = time.sleep


class RemoteTree(TreeVerbs, Lifecycle, Copies, Waits):
    """A tree of a server: made by :meth:`Client.create` and :meth:`Client.tree`.

    It has the verbs of every tree (:mod:`ramify.tree`), as :class:`ramify.OHAC` answers them, and
    those of a tree that is on a disk. A change is on the server's disk when its call returns.

    Examples
    --------
    >>> import tempfile, ramify
    >>> from ramify.serve import running
    >>> folder = tempfile.mkdtemp()
    >>> server = running(folder)
    >>> client = ramify.Client(server.__enter__())
    >>> tree = client.create("tickets", n_clusters=2, history=9)
    >>> texts = ["no sound", "no picture", "a refund"]
    >>> tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
    Receipt(numbers=[0, 1, 2], version=3, repeated=0, forgotten=0, value=None)
    >>> tree.clusters(n_clusters=2)
    [<RemoteCluster 0: 2 points, height 1>, <RemoteCluster 1: 1 point, height 0>]
    >>> tree.point("a"), [hit.id for hit in tree.search("picture")], tree.assign([[8.0]]).labels
    ({'number': 0, 'id': 'a', 'payload': 'no sound'}, ['b'], array([1]))
    >>> top = int(tree.path("a")[0])
    >>> tree.node(top)["size"], [point["id"] for point in tree.members(top)], tree.info()["points"]
    (3, ['a', 'b', 'c'], 3)
    >>> tree.edit.rename(top, "all")
    >>> tree.edit.list().names, tree.export()["ids"]
    ({1: 'all'}, ['a', 'b', 'c'])
    >>> tree.past.dirty(0, n_clusters=2).labels
    array([0, 1])
    >>> next(told["inserted"] for kind, told in tree.follow(since=0) if kind == "change")
    [0, 1, 2]
    >>> client.create("more").push([[0.0], [1.0]], ids=["a", "b"]).numbers
    [0, 1]
    >>> from ramify.summaries import SummaryTree
    >>> store = folder + "/tickets/summaries.sqlite"
    >>> with SummaryTree(tree, summarize=lambda parts, node: "all", store=store) as summaries:
    ...     _ = summaries.update()
    >>> tree.summaries(10)[0].text, tree.summary(top).size, tree.retrieve([8.0], 1)[0].point
    ('all', 3, 'c')
    >>> tree.snapshot(), tree.backup(tempfile.mkdtemp() + "/tickets.tar") > 0, tree.delete()
    (2, True, 3)
    >>> client.close()
    >>> _ = server.__exit__(None, None, None)
    """

    def __init__(self, client: Client, name: str) -> None:
        self._client, self.name = client, name
        self._say: Callable[[Dialogue[Any]], Any] = client._say
        self.past, self.edit = RemotePast(self), RemoteEdits(self)

    def __len__(self) -> int:
        return int(self.info()["leaves"])

    def __bool__(self) -> bool:
        return True

    def follow(self, since: int | None = None, *, brief: bool = False) -> Iterator[Event]:
        """Changes as they come: ("change", {...}) and now and then ("progress", {"version": v}).

        A connection that is lost is made again, and goes on after the last event that came.
        ("gone", {"oldest": v, ...}) is the last if that is not remembered any more: begin again
        with :meth:`export`.

        Parameters
        ----------
        since : int, optional
            A version that an answer has named; by default the present one.
        brief : bool
            Numbers of points and nodes alone, and of these no more than 2,000 of a kind.
        """
        client, at = self._client, Following(self.name, since, brief, self._client._attempts)
        while not at.over:
            try:
                with client._stream(at) as lines:
                    if lines.status_code >= 400:
                        lines.read()
                        at.refused(lines)
                    else:
                        yield from filter(None, map(at.hear, lines.iter_lines()))
            except client._lost as error:
                at.lost(error)
            if not at.over:
                time.sleep(at.wait())


def _satisfies(tree: RemoteTree) -> Keeps:
    """The protocols hold for type checkers, too."""
    return tree


class AsyncClient(_Connection):
    """A server's trees, as :class:`Client` has them: every call is awaited.

    Parameters
    ----------
    url, token, attempts, timeout
        As of :class:`Client`.

    Examples
    --------
    >>> import asyncio, tempfile, ramify
    >>> from ramify.serve import running
    >>> async def main(url):
    ...     async with ramify.AsyncClient(url) as client:
    ...         tree = await client.create("tickets", metric="cosine")
    ...         print((await tree.add([[1.0, 0.0], [0.0, 1.0]], ids=["T1", "T2"])).numbers)
    ...         print(len(await client.trees()), await client.tree("tickets").n_points_)
    ...         file = tempfile.mkdtemp() + "/tickets.tar"
    ...         size = await tree.backup(file)
    ...         print(await (await client.restore("again", file)).n_points_)
    ...         await client.close()
    >>> with running(tempfile.mkdtemp()) as url:
    ...     asyncio.run(main(url))
    [0, 1]
    1 2
    2
    """

    _kind = "AsyncClient"

    def tree(self, name: str) -> AsyncRemoteTree:
        """A tree that is there."""
        return AsyncRemoteTree(self, name)

    async def create(self, name: str, **options: Any) -> AsyncRemoteTree:
        """Begin a tree, or find it, as :meth:`Client.create`."""
        found: AsyncRemoteTree = await self._say(_create(self.tree(name), options))
        return found

    async def trees(self) -> Listed[dict[str, Any]]:
        """Figures of all trees, as :meth:`Client.trees`."""
        return await self._say(_trees())

    async def restore(
        self, name: str, file: str | os.PathLike[str], *, version: int | None = None
    ) -> AsyncRemoteTree:
        """A new tree of this name, as :meth:`Client.restore`."""
        await restore_async(self, name, file, version)
        return self.tree(name)

    async def close(self) -> None:
        """Let the connections go."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _say(self, dialogue: Dialogue[_Answer]) -> _Answer:
        steps, done = steps_of(dialogue, self._attempts, self._lost), None
        try:
            step = next(steps)
            while True:
                wait = asyncio.sleep(step) if isinstance(step, float) else self._request(step)
                try:
                    done = await wait
                except self._lost as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(done)
        except StopIteration as end:
            found: _Answer = end.value
            return found


class AsyncRemoteTree(TreeVerbs, Lifecycle, AsyncCopies, Awaited):
    """A tree of a server: made by :meth:`AsyncClient.create` and :meth:`AsyncClient.tree`.

    It has the verbs of :class:`RemoteTree`, to be awaited.

    Examples
    --------
    >>> import asyncio, tempfile, ramify
    >>> from ramify.serve import running
    >>> async def main(url):
    ...     async with ramify.AsyncClient(url) as client:
    ...         tree = await client.create("tickets")
    ...         _ = await tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
    ...         print([one.size for one in await tree.clusters(n_clusters=2)])
    ...         async for kind, told in tree.follow(since=0):
    ...             if kind == "change":
    ...                 print(told["inserted"])
    ...                 break
    ...         size = await tree.backup(tempfile.mkdtemp() + "/tickets.tar")
    ...         return await tree.snapshot(), await tree.delete()
    >>> with running(tempfile.mkdtemp()) as url:
    ...     asyncio.run(main(url))
    [2, 1]
    [0, 1, 2]
    (1, 3)
    """

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client, self.name = client, name
        self._say: Callable[[Dialogue[Any]], Coroutine[Any, Any, Any]] = client._say
        self.past, self.edit = AsyncRemotePast(self), AsyncRemoteEdits(self)

    async def follow(
        self, since: int | None = None, *, brief: bool = False
    ) -> AsyncIterator[Event]:
        """Changes as they come, as of :meth:`RemoteTree.follow`."""
        client, at = self._client, Following(self.name, since, brief, self._client._attempts)
        while not at.over:
            try:
                async with client._stream(at) as lines:
                    if lines.status_code >= 400:
                        await lines.aread()
                        at.refused(lines)
                    else:
                        async for line in lines.aiter_lines():
                            if (event := at.hear(line)) is not None:
                                yield event
            except client._lost as error:
                at.lost(error)
            if not at.over:
                await asyncio.sleep(at.wait())
