# SPDX-License-Identifier: BSD-3-Clause
"""Readers and writers of a server have threads of their own: neither takes those of the other."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest

import ramify
from ramify.serve import _answers, _writing, running

pytestmark = pytest.mark.no_asan  # other libraries at work

ROWS = np.random.default_rng(0).normal(size=(2000, 8))


class Held:
    """A function that waits until it may go on, and counts who waits in it."""

    def __init__(self, work):
        self._work, self._lock = work, threading.Lock()
        self.now = self.most = 0
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self, *given, **options):
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.begun.set()
        assert self.go_on.wait(30)
        with self._lock:
            self.now -= 1
        return self._work(*given, **options)


def test_writers_are_answered_while_all_threads_of_readers_are_taken(tmp_path, monkeypatch):
    held = Held(_answers.clusters)
    monkeypatch.setattr(_answers, "clusters", held)
    with (
        running(tmp_path, reads=2) as address,
        ramify.Client(address) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        tree = client.create("a", dimension=8)
        tree.add(ROWS[:10])
        where = f"{address}/v1/trees/a/clusters?n_clusters=3"
        asked = [pool.submit(httpx.get, where, timeout=60) for _ in range(8)]
        assert held.begun.wait(10)
        tree.add(ROWS[10:11])
        tree.add(ROWS[11:600])  # a large body, which is taken apart in a thread
        client.create("b", dimension=8).add(ROWS[:10])
        client.tree("b").delete()
        assert httpx.get(f"{address}/healthz").status_code == 200
        held.go_on.set()
        assert [one.result().status_code for one in asked] == [200] * 8
        assert held.most == 2, "more questions than that were worked on at once"
        assert tree.n_points_ == 600


def test_readers_are_answered_while_all_threads_of_writers_are_taken(tmp_path, monkeypatch):
    held = Held(_writing.read_news)
    with (
        running(tmp_path, writes=1) as address,
        ramify.Client(address) as client,
        ThreadPoolExecutor(4) as pool,
    ):
        tree = client.create("a", dimension=8)
        tree.add(ROWS[:10])
        monkeypatch.setattr(_writing, "read_news", held)
        body = {"vectors": ROWS[:1000].tolist()}
        post = lambda: httpx.post(f"{address}/v1/trees/a/points", json=body, timeout=60)  # noqa: E731
        sent = [pool.submit(post) for _ in range(4)]
        assert held.begun.wait(10)
        found = httpx.get(f"{address}/v1/trees/a/clusters?n_clusters=3")
        assert len(found.json()["clusters"]) == 3
        held.go_on.set()
        assert [one.result().status_code for one in sent] == [200] * 4
        assert held.most == 1
        assert tree.n_points_ == 4010
