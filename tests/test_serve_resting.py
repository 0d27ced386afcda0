# SPDX-License-Identifier: BSD-3-Clause
"""Trees of a server that nobody uses rest: closed, and there again when they are asked for."""

import shutil
import subprocess
import threading
import time

import httpx
import numpy as np
import pytest

import ramify
from ramify.serve import running
from ramify.serve._handles import shared_out
from ramify.serve._settings import Settings

pytestmark = pytest.mark.no_asan  # other libraries at work


def rows(n=20, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 2))


def states(address):
    return httpx.get(f"{address}/v1/trees").json()["states"]


def until(true, seconds=10):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def many(tmp_path):
    """Nine trees of one to nine points, closed."""
    for n in range(1, 10):
        with ramify.open(tmp_path / f"t{n}", ramify.OHAC(history=100)) as tree:
            tree.add(rows(n), ids=[f"{n}-{i}" for i in range(n)], payloads=["sound"] * n)
    return tmp_path


def test_of_many_trees_few_are_open_and_all_answer(many):
    with running(many, open_trees=3) as address, ramify.Client(address) as client:
        assert states(address) == {"open": 0, "resting": 9, "in_use": 0, "failed": 0}
        for again in range(2):
            for n in range(1, 10):
                tree = client.tree(f"t{n}")
                tree.add(rows(1, again), ids=[f"new-{again}"])
                assert tree.n_points_ == n + 1 + again
                assert states(address)["open"] <= 3
        told = {one["name"]: one for one in client.trees()}
        assert [told[f"t{n}"]["points"] for n in range(1, 10)] == list(range(3, 12))
        assert sum(one["state"] == "resting" for one in told.values()) == 6
        found = httpx.get(f"{address}/metrics").text
        assert 'ramify_trees{state="resting"} 6' in found
    for n in range(1, 10):
        with ramify.open(many / f"t{n}") as tree:
            assert len(tree) == n + 2


def test_a_tree_rests_when_nobody_has_used_it_for_a_while(many, monkeypatch):
    monkeypatch.setattr("ramify.serve._trees._AGAIN_SECONDS", 0.05)
    with running(many, rest_after=0.1) as address, ramify.Client(address) as client:
        until(lambda: states(address)["resting"] == 9)
        assert not [one for one in threading.enumerate() if one.name == "ramify-writer"]
        digest = client.tree("t9").stable_labels(n_clusters=2)
        until(lambda: states(address)["resting"] == 9)
        assert (client.tree("t9").stable_labels(n_clusters=2) == digest).all()
        assert client.tree("t9").delete() == 9
        assert states(address)["resting"] == 8
        with pytest.raises(LookupError):
            client.tree("t9").n_points_  # noqa: B018


def test_a_tree_that_is_followed_or_written_does_not_rest(many, monkeypatch):
    monkeypatch.setattr("ramify.serve._trees._AGAIN_SECONDS", 0.05)
    options = {"open_trees": 1, "rest_after": 0.05}
    with running(many, **options) as address, ramify.Client(address, attempts=1) as client:
        follower = client.tree("t1").follow()
        next(follower)
        told = httpx.get(f"{address}/v1/trees/t2")
        assert told.status_code == 503
        assert told.headers["retry-after"] == "1"
        assert "open_trees" in told.json()["error"]
        assert states(address)["open"] == 1
        client.tree("t1").add(rows(1, 5), ids=["new"])
        assert next(event for kind, event in follower if kind == "change")["inserted"] == [1]
        follower.close()
        until(lambda: httpx.get(f"{address}/v1/trees/t2").status_code == 200)


def test_many_ask_for_many_resting_trees_at_once(many):
    wrong = []

    def ask(seed):
        with ramify.Client(address) as client:
            for n in np.random.default_rng(seed).integers(1, 10, 20).tolist():
                if client.tree(f"t{n}").n_points_ != n:
                    wrong.append(n)

    with running(many, open_trees=4) as address:
        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert not wrong


def test_a_tree_that_was_left_in_a_hurry_is_replayed_before_the_server_is_ready(many):
    with ramify.open(many / "t5") as tree:
        tree.add(rows(3, 7), ids=["x", "y", "z"])
        shutil.copytree(many / "t5", many / "killed")  # as a kill -9 would leave it
        (many / "killed" / "lock").unlink()
    (many / "t7" / "journal.sqlite").write_bytes(b"no database")
    with running(many, open_trees=3) as address:
        assert states(address)["open"] >= 1
        assert httpx.get(f"{address}/v1/trees/killed").json()["points"] == 8
        until(lambda: states(address)["failed"] == 1)  # a look into each folder finds it
        assert "t7" in httpx.get(f"{address}/v1/trees").json()["failed"]
        assert httpx.get(f"{address}/readyz").status_code == 503


@pytest.mark.skipif(shutil.which("grep") is None, reason="there is no grep here")
def test_what_was_forgotten_is_erased_though_its_tree_rests(tmp_path, monkeypatch):
    monkeypatch.setattr("ramify.serve._trees._AGAIN_SECONDS", 0.05)
    with ramify.open(tmp_path / "a", ramify.OHAC(keep=ramify.Last(5)), erase_within=None) as tree:
        tree.add(rows(20), payloads=[f"secret-{i}" for i in range(20)])
    for n in range(3):
        with ramify.open(tmp_path / f"b{n}", ramify.OHAC()) as tree:
            tree.add(rows(2))

    def kept():
        # By another process: one that closes a file loses the locks that SQLite has on it.
        asked = ["grep", "-rqs", "secret-3", tmp_path / "a"]
        return subprocess.run(asked, check=False).returncode == 0

    assert kept()
    with running(tmp_path, open_trees=1, rest_after=0.1, erase_within=0.5) as address:
        until(lambda: not kept())
        assert httpx.get(f"{address}/v1/trees/a").json()["points"] == 5


def test_what_the_system_allows_is_shared_out():
    settings = Settings("trees")
    assert shared_out(settings, 65_536) == (1000, 128)
    for files in (100, 256, 1024, 4096):
        connections, trees = shared_out(settings, files)
        assert trees >= 1
        assert connections >= 8
        assert connections + 8 * trees <= max(files - 64, 16)
