"""server.py: histories of a server: the real clients and application, over a network that fails.

Clients insert, forget and edit, and ask again when an answer does not come. Followers keep a copy
of the tree out of its changes. Each life is a process of the server; clients outlive it.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx

import ramify
from ramify.client import RemoteError, _calls
from ramify.serve import _answers, _door, _feed, _lists, _trees, _view, _writing
from ramify.serve._app import make_app
from ramify.serve._settings import Settings
from ramify.serve._trees import Trees
from tests.simulation.journal import History, require
from tests.simulation.network import Loop, Network
from tests.simulation.story import REFUSED, Asked, Client
from tests.simulation.world import changed

_MODULES = (_door, _feed, _lists, _trees, _view, _writing)
_HISTORY = 4
_NAME = "tickets"
_MOST_CALLS = 250


@cache
def _application() -> tuple[Any, Settings]:
    """One for all lives, as it takes long to make; its trees begin anew with each."""
    settings = Settings(Path("/nowhere"), rate=1e9, erase_within=None, log=False)
    with changed(_trees, make_folder=lambda folder: None):
        return make_app(settings), settings


class Follower:
    """A copy of a tree, kept by what the feed says."""

    def __init__(self) -> None:
        self.version: int | None = None
        self.families: dict[int, Any] = {}
        self.points: set[int] = set()

    def begin(self, export: dict[str, Any]) -> None:
        """The whole tree."""
        self.version = export["version"]
        self.families, self.points = as_families(export), set(export["points"])

    def hear(self, change: dict[str, Any]) -> None:
        """What became of it."""
        require(change["since"] == self.version, f"a follower of {self.version} was told otherwise")
        for node in change["retired"]:
            self.families.pop(node)
        self.families |= as_families(change)
        self.points = (self.points - set(change["forgotten"])) | set(change["inserted"])
        self.version = change["version"]


def as_families(told: dict[str, Any]) -> dict[int, Any]:
    """Children and height of each node."""
    both = zip(told["families"], told["heights"], strict=True)
    return {node: (sorted(children), height) for (node, *children), height in both}


class ServerHistory(History):
    """All that follows from one seed, of a server."""

    kinds = ("history",)
    most_calls = _MOST_CALLS

    def __init__(self, seed: int, place: Path) -> None:
        super().__init__(seed, place)
        self.followers = [Follower() for _ in range(self.chance.randint(1, 2))]

    @contextlib.contextmanager
    def lent(self) -> Any:
        """Modules, threads of pools and the chance of clients are the world's."""

        async def here(work: Any, *given: Any, **options: Any) -> Any:
            return work(*given)

        with (
            super().lent(*_MODULES),
            changed(anyio.to_thread, run_sync=here),
            changed(_calls, random=self.world.chance),
        ):
            yield

    def live(self, *, last: bool) -> None:
        self.begin_life(last)
        loop = Loop(self.world)
        try:
            loop.life(self._main(last))
        except BaseException:
            if not self.disk.is_off:  # otherwise it is of a process that is no more
                raise
        self.end_life()

    async def _main(self, last: bool) -> None:
        door, settings = _application()
        app = door.app
        app.state.large = asyncio.Semaphore(2)
        trees: Trees = app.state.trees
        trees.__init__(dataclasses.replace(settings, folder=self.disk.folder / "trees"))
        trees.ending.set()
        trees.open_all()
        trees.ending.clear()
        self.failed = trees.failed()
        require(not self.failed or self.disk.is_off, f"trees have failed: {self.failed}")
        door.__init__(door._app, settings)
        door.app = app
        self._trees, self._door = trees, door
        if _NAME in trees._trees:
            self._look()
        await asyncio.wait_for(self._work(last), None)

    def _look(self) -> None:
        self.tree = self._trees.get(_NAME).tree
        if not self.disk.is_off:
            self.compare()

    async def _work(self, last: bool) -> None:
        remote = self._remote()
        await self._ask_until_answered(lambda: remote.create(_NAME, history=_HISTORY))
        self._look()
        asking = [asyncio.ensure_future(self._client(one)) for one in self.clients]
        following = [asyncio.ensure_future(self._follow(one)) for one in self.followers]
        patience = None if last else self.chance.random() * 20.0
        done, _ = await asyncio.wait(asking, timeout=patience)
        self._raise(done)
        self._raise({one for one in following if one.done()})
        if last or self.is_over:
            self._look()
            await self._followers_are_there(following)
        if last or self.chance.random() < 0.5:
            for one in following:
                one.cancel()
            self._trees.close()
            self.tree = None

    def _raise(self, tasks: set[asyncio.Task[None]]) -> None:
        for one in tasks:
            one.result()

    def _remote(self) -> ramify.AsyncClient:
        """A client over the network; as its constructor would, which looks for certificates."""
        found = ramify.AsyncClient.__new__(ramify.AsyncClient)
        found._attempts, found._lost = 3, httpx.TransportError
        network = Network(self._door, self.world.chance)
        address = "http://127.0.0.1"
        found._http = httpx.AsyncClient(transport=network, base_url=address, trust_env=False)
        return found

    async def _ask_until_answered(self, ask: Any) -> Any:
        for _ in range(200):
            try:
                return await ask()
            except ConnectionError:
                pass
            except RemoteError as error:
                if error.status not in _calls.AGAIN:
                    raise
        raise AssertionError("nobody answers")

    # --- clients --------------------------------------------------------------------------

    async def _client(self, client: Client) -> None:
        remote = self._remote()
        tree = remote.tree(_NAME)
        while (asked := self.next_of(client)) is not None:
            await asyncio.sleep(self.world.chance.random())
            try:
                answer = await self._ask_until_answered(lambda: send(tree, asked))
            except RemoteError as error:
                require(error.status < 500, f"{asked.key}: {error}")
                answer = REFUSED
            if not self.disk.is_off:
                self.answered(client, answer)

    def think(self, client: Client) -> Asked:
        return dataclasses.replace(client.think(), marks=None, replace=False)

    # --- followers ------------------------------------------------------------------------

    async def _follow(self, follower: Follower) -> None:
        remote = self._remote()
        tree = remote.tree(_NAME)
        while True:
            if follower.version is None:
                try:
                    export = await self._ask_until_answered(tree.export)
                except RemoteError as error:
                    require(error.status == 409, f"no export: {error}")
                    await asyncio.sleep(1.0)  # there are no points yet
                    continue
                if not self.disk.is_off:
                    follower.begin(export)
            with contextlib.suppress(ConnectionError):
                async for kind, told in tree.follow(since=follower.version):
                    if self.disk.is_off:
                        return
                    if kind == "change":
                        follower.hear(told)
                    elif kind == "gone":
                        newest, at = told["version"], follower.version
                        require(newest >= at, f"version {at} was told, and {newest} is the newest")
                        follower.version = None

    async def _followers_are_there(self, following: list[asyncio.Task[None]]) -> None:
        """All has been said: copies are the tree."""
        version = self.tree.version
        for _ in range(400):
            if all(one.version == version for one in self.followers):
                break
            self._raise({one for one in following if one.done()})
            await asyncio.sleep(1.0)
        wanted: dict[str, Any] = {"version": version, "families": [], "heights": [], "points": []}
        if len(self.tree):
            wanted = json.loads(_answers.export(version, self.tree.hierarchy(), "json")[0])
        copy = Follower()
        copy.begin(wanted)
        for one in self.followers:
            require(one.version == version, f"a follower is at {one.version}, and not {version}")
            require(one.families == copy.families, "a follower has another tree")
            require(one.points == copy.points, "a follower has other points")


def send(tree: Any, asked: Asked) -> Any:
    """Ask a server."""
    if asked.verb == "add":
        return tree.add(asked.rows, ids=asked.ids, payloads=asked.payloads, key=asked.key)
    if asked.verb == "forget":
        return _forgot(tree, asked)
    return _edited(tree, asked)


async def _forgot(tree: Any, asked: Asked) -> Any:
    count = await tree.forget(list(asked.points), key=asked.key)
    return ramify.journal.Receipt([], 0, 0, count)


async def _edited(tree: Any, asked: Asked) -> Any:
    await getattr(tree.edit, asked.verb)(**asked.options, key=asked.key)
    return ramify.journal.Receipt([], 0)
