# SPDX-License-Identifier: BSD-3-Clause
"""Trees that are there and cannot be used: their names are taken, and it shows."""

import time

import httpx
import numpy as np
import pytest

import ramify
from ramify.serve import running

pytestmark = pytest.mark.no_asan  # other libraries at work


def rows(n=20):
    return np.random.default_rng(0).normal(size=(n, 2))


def points(address, name):
    return httpx.get(f"{address}/trees/{name}").json()["points"]


def assert_failed(address, name, says, in_use=0):
    """It shows everywhere, and nothing can be begun in its place."""
    told = httpx.get(f"{address}/readyz")
    assert told.status_code == 503
    assert told.json() == {"ready": False, "waiting": 0, "failed": 1, "in_use": in_use}
    assert httpx.get(f"{address}/readyz?failed=ok").status_code == 200
    assert says in httpx.get(f"{address}/trees").json()["failed"][name]
    states = httpx.get(f"{address}/trees").json()["states"]
    assert (states["failed"], states["in_use"]) == (1 - in_use, in_use)
    assert f'ramify_tree_failed{{tree="{name}"}} 1' in httpx.get(f"{address}/metrics").text
    for told in (
        httpx.put(f"{address}/trees/{name}", json={"dimension": 2}),
        httpx.post(f"{address}/trees/{name}/points", json={"vectors": [[1, 2]]}),
        httpx.get(f"{address}/trees/{name}"),
    ):
        assert told.status_code == 503
        assert says in told.json()["error"]


def test_a_tree_was_split_in_two_when_shards_were_served_without_ray(tmp_path):
    with running(tmp_path, ray="local", shards=2) as address, ramify.Client(address) as client:
        client.create("a", dimension=2).add(rows())
    with running(tmp_path) as address:
        assert_failed(address, "a", "serve it with --ray")
    assert not (tmp_path / "a" / "journal.sqlite").exists()
    with running(tmp_path, ray="local", shards=2) as address:
        assert points(address, "a") == 20
        assert httpx.get(f"{address}/readyz").json()["failed"] == 0


def test_a_tree_was_split_in_two_when_a_folder_was_served_with_ray(tmp_path):
    with running(tmp_path) as address, ramify.Client(address) as client:
        client.create("a", dimension=2).add(rows())
    with running(tmp_path, ray="local", shards=2) as address:
        assert_failed(address, "a", "serve it without --ray")
    assert not (tmp_path / "a" / "router.sqlite").exists()
    with running(tmp_path) as address:
        assert points(address, "a") == 20


def test_a_damaged_tree_is_not_begun_anew_and_the_others_are_served(tmp_path, caplog):
    with running(tmp_path) as address, ramify.Client(address) as client:
        for name in ("bad", "good"):
            client.create(name, dimension=2).add(rows())
    (tmp_path / "bad" / "journal.sqlite").write_bytes(b"no database")
    with running(tmp_path) as address, ramify.Client(address, attempts=1) as client:
        assert_failed(address, "bad", "journal")
        assert points(address, "good") == 20
        assert [tree["name"] for tree in client.trees()] == ["good"]
        assert list(client.trees().about["failed"]) == ["bad"]
    assert '"tree": "bad", "failed"' in caplog.text


def test_a_tree_that_another_program_had_open_is_served_when_it_lets_go(tmp_path):
    other = ramify.open(tmp_path / "a", ramify.OHAC())
    other.add(rows())
    with running(tmp_path) as address:
        assert_failed(address, "a", "in use", in_use=1)
        other.close()
        for _ in range(100):
            if httpx.get(f"{address}/readyz").status_code == 200:
                break
            time.sleep(0.05)
        assert points(address, "a") == 20


def test_a_folder_that_comes_while_it_is_served_is_opened_and_not_begun(tmp_path):
    with running(tmp_path) as address:
        with ramify.open(tmp_path / "a", ramify.OHAC()) as tree:
            tree.add(rows())
        told = httpx.put(f"{address}/trees/a", json={"dimension": 2})
        assert told.status_code == 409  # it was begun with others
        assert points(address, "a") == 20
        (tmp_path / "b").mkdir()
        (tmp_path / "b" / "router.sqlite").write_bytes(b"")
        told = httpx.put(f"{address}/trees/b", json={"dimension": 2})
        assert told.status_code == 503
        assert "--ray" in told.json()["error"]


def test_a_crash_between_a_tree_and_its_options_did_not_lose_them(tmp_path):
    options = {"metric": "cosine", "window": 100}
    with running(tmp_path) as address:
        httpx.put(f"{address}/trees/a", json=options).raise_for_status()
    about = tmp_path / "a" / "about.json"
    assert about.stat().st_mtime_ns <= (tmp_path / "a" / "journal.sqlite").stat().st_mtime_ns
    with running(tmp_path) as address:
        assert httpx.put(f"{address}/trees/a", json=options).status_code == 200
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "about.json").write_text("{}")  # and no tree beside it
    with running(tmp_path) as address:
        assert httpx.put(f"{address}/trees/b", json=options).status_code == 201


def test_the_log_does_not_keep_the_ids_of_points_that_were_forgotten(tmp_path, caplog):
    caplog.set_level("INFO", "ramify.serve")
    with running(tmp_path, log=True) as address, ramify.Client(address) as client:
        client.create("a", dimension=2).add(rows(2), ids=["Mrs Jones", "Mr Smith"])
        assert client.tree("a").point("Mrs Jones") is not None
        client.tree("a").forget("Mrs Jones")
    assert "/points/*" in caplog.text
    assert "Jones" not in caplog.text
