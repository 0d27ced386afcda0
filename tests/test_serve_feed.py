# SPDX-License-Identifier: BSD-3-Clause
"""Followers: each change is found once for all of them, and who does not read is dropped."""

import asyncio
import json
import socket
import threading
import time
from contextlib import suppress

import httpx
import numpy as np
import pytest

import ramify
from ramify.serve import _feed, running
from ramify.serve._feed import Follower

pytestmark = pytest.mark.no_asan  # other libraries at work


@pytest.fixture
def server(tmp_path):
    with running(tmp_path / "trees") as address:
        httpx.put(f"{address}/trees/a", json={"dimension": 2}).raise_for_status()
        yield address


def add(server, n, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, 2)).tolist()
    told = httpx.post(f"{server}/trees/a/points", json={"vectors": rows}, timeout=60)
    return told.json()["version"]


def follow(server, more="", headers=None):
    """The events of a stream, as (kind, id, data)."""
    address = f"{server}/trees/a/changes/stream?{more}"
    with httpx.stream("GET", address, timeout=20, headers=headers) as lines:
        event = {}
        for text in lines.iter_lines():
            name, _, value = text.partition(": ")
            if text:
                event[name] = value
            else:
                yield event["event"], int(event["id"]), json.loads(event["data"])
                event = {}


def test_a_change_is_found_once_for_all_followers(server, monkeypatch):
    add(server, 50)
    asked = []
    real = _feed.changes

    def counted(served, since, brief=False):
        asked.append((since, brief))
        return real(served, since, brief)

    monkeypatch.setattr(_feed, "changes", counted)
    seen = [[] for _ in range(20)]

    def read(some):
        for kind, _, data in follow(server):
            some.append((kind, data.get("since"), data["version"]))
            if data["version"] == 53:
                return

    threads = [threading.Thread(target=read, args=(some,)) for some in seen]
    for thread in threads:
        thread.start()
    while any(not some for some in seen):
        time.sleep(0.01)
    for i in range(3):
        add(server, 1, seed=i)
        time.sleep(0.1)
    for thread in threads:
        thread.join(20)
    assert all(some[0] == ("progress", None, 50) for some in seen)
    changes = [[told for told in some if told[0] == "change"] for some in seen]
    assert changes[0][-1][2] == 53
    assert all(some == changes[0] for some in changes)
    assert len(asked) == len(changes[0])  # not twenty times as many


def test_followers_of_several_versions_become_one_group(server):
    versions = [add(server, 5, seed=i) for i in range(5)]
    streams = [follow(server, f"since={version}") for version in versions]
    for version, stream in zip(versions, streams, strict=True):
        assert next(stream) == ("progress", version, {"version": version})
    last = add(server, 1)
    for version, stream in zip(versions, streams, strict=True):
        at = version
        while at < last:
            kind, event, data = next(stream)
            if kind == "change":
                assert (data["since"], data["version"]) == (at, event)
                at = event
        stream.close()


def test_a_follower_goes_on_after_the_last_event_that_it_read(server):
    first, second = add(server, 5), add(server, 5, seed=1)
    stream = follow(server, "since=0", {"last-event-id": str(first)})
    next(stream)
    _, event, data = next(stream)
    assert (data["since"], event) == (first, second)  # not from 0 again, as a browser asks


def test_a_follower_that_does_not_read_is_dropped_with_a_mark(monkeypatch):
    monkeypatch.setattr(_feed, "_MOST_BYTES", 1000)

    async def told():
        follower, found = Follower(7, False), []
        events = follower.events(60)
        found.append(await anext(events))
        follower.offer(8, b"a" * 400)
        found.append(await anext(events))
        assert follower.offer(9, b"b" * 900)
        found.append(await anext(events))  # 8 has been read now, and 9 is on its way
        assert follower.offer(10, b"c" * 5000)  # one may be as large as it is
        assert not follower.offer(11, b"d")
        found += [one async for one in events]
        return found

    found = asyncio.run(told())
    assert found[1:3] == [b"a" * 400, b"b" * 900]
    assert found[3] == b'event: dropped\nid: 9\ndata: {"version":9}\n\n'
    assert len(found) == 4


def silent(server, n):
    """Followers that never read."""
    host, port = server.removeprefix("http://").split(":")
    held = []
    for _ in range(n):
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        one.connect((host, int(port)))
        one.sendall(b"GET /trees/a/changes/stream?since=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        held.append(one)
    return held


def wait_for(server, line):
    for _ in range(400):
        text = httpx.get(f"{server}/metrics").text
        if f"{line}\n" in text:
            return
        time.sleep(0.05)
    raise AssertionError(f"{line!r} is not in {text}")


def grow(client, n):
    tree = client.create("a", dimension=2)
    tree.add(np.random.default_rng(0).normal(size=(n, 2)))


def test_followers_that_never_read_are_let_go_and_take_little(tmp_path):
    with running(tmp_path, stall_seconds=0.3) as server, ramify.Client(server) as client:
        grow(client, 60_000)  # more bytes than the system takes for a connection
        held = silent(server, 10)
        wait_for(server, "ramify_connections_closed_total 10")
        wait_for(server, 'ramify_feed_readers{tree="a"} 0')
        for one in held:
            one.close()


@pytest.mark.parametrize("n", [2000, 3000, 4000, 60_000])
def test_a_server_ends_though_bytes_wait_for_readers(tmp_path, n):
    with running(tmp_path) as server, ramify.Client(server) as client:
        grow(client, n)  # with fewer rows, what waits is too little for uvloop to pause
        held = silent(server, 5)
        wait_for(server, 'ramify_feed_readers{tree="a"} 5')
    for one in held:
        one.close()


class Proxy:
    """A way to a server that can be cut."""

    def __init__(self, address):
        host, port = address.removeprefix("http://").split(":")
        self._there = host, int(port)
        self._door = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        self._open, self._threads = [], []
        self._begin(self._serve)

    def _begin(self, work, *given):
        thread = threading.Thread(target=work, args=given)
        self._threads.append(thread)
        thread.start()

    def _serve(self):
        while True:
            one = self._door.accept()[0]
            if not self.address:
                one.close()
                return
            other = socket.create_connection(self._there)
            self._open += [one, other]
            self._begin(self._carry, one, other)
            self._begin(self._carry, other, one)

    def _carry(self, source, target):
        try:
            while piece := source.recv(65536):
                target.sendall(piece)
        except OSError:
            pass

    def cut(self):
        for one in self._open:
            with suppress(OSError):  # it was cut before
                one.shutdown(socket.SHUT_RDWR)

    def close(self):
        address, self.address = self._door.getsockname(), None
        socket.create_connection(address).close()
        self.cut()
        for thread in self._threads:
            thread.join()
        for one in [*self._open, self._door]:
            one.close()


@pytest.mark.threads
def test_a_client_goes_on_after_its_connection_was_lost(server):
    proxy = Proxy(server)
    version = add(server, 3)
    with ramify.Client(proxy.address) as client:
        seen = []
        for kind, told in client.tree("a").follow(since=0):
            if kind != "change":
                continue
            seen.append((told["since"], told["version"]))
            if len(seen) == 3:
                break
            proxy.cut()
            version = add(server, 3, seed=len(seen))
        assert seen[-1][1] == version
        assert [since for since, _ in seen] == [0, seen[0][1], seen[1][1]]  # none twice
    proxy.close()

    async def again():
        proxy = Proxy(server)
        async with ramify.AsyncClient(proxy.address) as client:
            at, events = 0, client.tree("a").follow(since=0)
            async for kind, told in events:
                if kind != "change":
                    continue
                assert told["since"] == at
                at = told["version"]
                if at > version:
                    break
                proxy.cut()
                add(server, 1, seed=9)
            await events.aclose()
        proxy.close()

    asyncio.run(again())
