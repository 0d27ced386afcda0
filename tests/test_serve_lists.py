# SPDX-License-Identifier: BSD-3-Clause
"""Long lists over HTTP: they say how long they are, and every page is of one version."""

import asyncio

import httpx
import numpy as np
import pytest

import ramify
from ramify.serve import _lists, running
from ramify.serve._lists import ForgottenListError, Listed, Lists

pytestmark = pytest.mark.no_asan  # other libraries at work

N = 3000


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A tree that tests read, with as many clusters as there are points."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(N, 2))
    with running(tmp_path_factory.mktemp("trees"), rate=0) as address:
        with ramify.Client(address) as client:
            tree = client.create("a", dimension=2)
            texts = [f"sound {i}" if i % 2 else f"screen {i}" for i in range(N)]
            tree.add(rows, ids=[f"T{i}" for i in range(N)], payloads=texts)
        yield address, rows


@pytest.fixture
def http(served):
    with httpx.Client(base_url=f"{served[0]}/trees/a", timeout=60) as client:
        yield client


@pytest.fixture
def tree(served):
    with ramify.Client(served[0]) as client:
        yield client.tree("a")


def test_a_client_got_1000_of_2253_clusters(tree, served):
    plain = ramify.OHAC().partial_fit(served[1])
    expected = plain.clusters(max_size=1)
    found = tree.clusters(max_size=1, representatives=0)
    assert len(found) == len(expected) == N
    assert found.about == {"total": N, "version": N}
    assert {one.node_id for one in found} == set(expected.node_ids.tolist())
    sizes = [one.size for one in tree.clusters(n_clusters=1500, representatives=0)]
    assert sorted(sizes) == sorted(plain.clusters(n_clusters=1500).sizes.tolist())
    some = tree.clusters(n_clusters=1500, representatives=1, limit=7)
    assert [one.size for one in some] == sorted(sizes, reverse=True)[:7]
    assert some.about["total"] == 1500
    assert len(tree.clusters(n_clusters=1200, representatives=0, frame=True)) == 1200


def test_the_other_client_gets_them_all_as_well(served):
    async def ask():
        async with ramify.AsyncClient(served[0]) as client:
            tree = client.tree("a")
            clusters = await tree.clusters(max_size=1, representatives=0)
            hits = await tree.search("sound", limit=None)
            members = await tree.members((await tree.path("T0"))[0])
            return len(clusters), len(hits), len(members), (await client.trees()).about["failed"]

    assert asyncio.run(ask()) == (N, N // 2, N, {})


def test_a_search_says_how_much_it_found_and_has_the_rest(tree, http):
    best = tree.search("sound")
    assert (len(best), best.about["total"]) == (20, N // 2)
    every = tree.search("sound", limit=None)
    assert [hit.id for hit in every[:20]] == [hit.id for hit in best]
    assert sorted(hit.number for hit in every) == list(range(1, N, 2))
    assert all(hit.path[-1] == -1 - hit.number for hit in every[::100])
    assert http.get("/search?q=nowhere").json() == {
        "version": N,
        "total": 0,
        "next": None,
        "hits": [],
    }


def test_words_beyond_the_sixteenth_were_left_out_of_a_search(tmp_path):
    words = [f"word{i}" for i in range(100)]
    with ramify.open(tmp_path / "a", ramify.OHAC()) as tree:
        tree.add([[0.0], [1.0]], payloads=[" ".join(words), " ".join(words[:50])])
        assert sorted(tree.ranked(" ".join(words[:20])).tolist()) == [0, 1]
        assert tree.ranked(" ".join(words)).tolist() == [0]
        assert [hit.number for hit in tree.search(" ".join(words))] == [0]
        with pytest.raises(ValueError, match="201 words"):
            tree.search(" ".join(["word"] * 201))


def test_all_points_below_a_node_are_there(tree, http):
    clusters = tree.clusters(n_clusters=2, representatives=0)
    members = [tree.members(one.node_id) for one in clusters]
    assert [len(some) for some in members] == [one.size for one in clusters]
    assert sorted(one["number"] for some in members for one in some) == list(range(N))
    node = http.get(f"/nodes/{clusters[0].node_id}?members=5").json()
    assert node["members"] == members[0][:5]
    assert node["leaves"] == len(members[0])
    assert len(tree.members(clusters[0].node_id, limit=3)) == 3
    assert http.get("/nodes/999999/members").status_code == 404


def test_pages_of_a_growing_tree_did_not_belong_together(tmp_path):
    rng = np.random.default_rng(1)
    with running(tmp_path) as address, ramify.Client(address) as client:
        tree = client.create("a", dimension=2)
        tree.add(rng.normal(size=(300, 2)), ids=list(range(300)), payloads=["x"] * 300)
        with httpx.Client(base_url=f"{address}/trees/a") as http:
            whole = http.get("/clusters?max_size=1&limit=10000").json()
            hits = http.get("/search?q=x&limit=300").json()
            seen = []
            cursor = http.get("/clusters?max_size=1&limit=100").json()["next"]
            second = http.get("/search?q=x&limit=200").json()["next"]
            for step in range(2):
                tree.add(
                    rng.normal(size=(50, 2)), ids=list(range(900 + 50 * step, 950 + 50 * step))
                )
                tree.forget(step)
                page = http.get(f"/clusters?limit=100&cursor={cursor}").json()
                assert (page["version"], page["total"]) == (whole["version"], 300)
                seen += page["clusters"]
                cursor = page["next"]
            assert cursor is None
            nodes = [one["node"] for one in whole["clusters"][100:]]
            assert [one["node"] for one in seen] == nodes
            rest = http.get(f"/search?q=x&limit=200&cursor={second}").json()
            numbers = [hit["number"] for hit in hits["hits"][200:]]
            assert [hit["number"] for hit in rest["hits"]] == [i for i in numbers if i > 1]


def test_a_cursor_holds_for_its_own_list_and_not_for_ever(http, tree, monkeypatch):
    cursor = http.get("/clusters?k=100&limit=10").json()["next"]
    assert http.get(f"/search?q=x&cursor={cursor}").status_code == 410
    assert http.get("/clusters?cursor=1").status_code == 422
    assert http.get("/clusters?cursor=0123456789abcdef-5").status_code == 410
    assert http.get(f"/clusters?cursor={cursor}&limit=1000").json()["next"] is None
    again = http.get(f"/clusters?cursor={cursor}&limit=10").json()["clusters"]  # as after a loss
    assert len(again) == 10
    monkeypatch.setattr(_lists, "_SECONDS", -1.0)
    told = http.get(f"/clusters?cursor={cursor}")
    assert told.status_code == 410
    assert "begin again" in told.json()["error"]
    with pytest.raises(ramify.client.RemoteError, match="begin again"):
        tree.clusters(max_size=1, representatives=0)  # after some beginnings


def test_lists_that_are_kept_are_bounded(monkeypatch):
    monkeypatch.setattr(_lists, "_MOST", 5)
    monkeypatch.setattr(_lists, "_MOST_BYTES", 1000)

    def page(lists, size, cursor=None):
        found = Listed(1, 10, size, lambda begin, end: list(range(begin, end)))
        return lists.page("x", lambda: found, cursor, 4)[0]["next"]

    lists = Lists()
    cursors = [page(lists, 1) for _ in range(9)]
    assert len(lists._kept) == 5
    with pytest.raises(ForgottenListError):
        page(lists, 1, cursors[0])
    assert page(lists, 1, cursors[-1]) is not None
    large = page(lists, 5000)  # alone it may be large
    assert len(lists._kept) == 1
    assert page(lists, 1, large) is not None
