# SPDX-License-Identifier: BSD-3-Clause
"""Trees in shards behind the server: the same addresses, answers and page."""

import httpx
import numpy as np
import pytest

import ramify
from ramify.hierarchy import Hierarchy
from ramify.ray import ShardedOHAC
from ramify.serve import running

pytestmark = pytest.mark.no_asan  # other libraries at work


def groups(n=60):
    rng = np.random.default_rng(0)
    return [(rng.normal(size=2) + 20 * (i % 3)).tolist() for i in range(n)]


@pytest.fixture
def trees(tmp_path):
    return tmp_path / "trees"


@pytest.fixture
def http(trees):
    with (
        running(trees, ray="local", shards=2) as address,
        httpx.Client(base_url=address, timeout=60) as http,
    ):
        http.put("/trees/tickets", json={"dimension": 2}).raise_for_status()
        points = [{"id": f"T{i}", "vector": row} for i, row in enumerate(groups())]
        answer = http.post("/trees/tickets/points", json={"points": points})
        assert answer.json()["numbers"] == list(range(60))
        yield http


def test_the_answers_are_those_of_the_sharded_tree(http, trees):
    assert http.put("/trees/tickets", json={"dimension": 2}).status_code == 200
    assert http.put("/trees/tickets", json={"metric": "dot"}).status_code == 409
    found = http.get("/trees/tickets/clusters", params={"k": 3}).json()
    assert sorted(one["size"] for one in found["clusters"]) == [20, 20, 20]
    for cluster in found["clusters"]:
        node = http.get(f"/trees/tickets/nodes/{cluster['node']}", params={"members": 50}).json()
        assert node["size"] == 20
        kinds = {int(one["id"][1:]) % 3 for one in node["members"] + cluster["representatives"]}
        assert len(kinds) == 1
    there = http.post("/trees/tickets/assign?k=3", json={"vectors": [[20, 20]]}).json()
    assert there["nearest_ids"][0] in {f"T{i}" for i in range(1, 60, 3)}
    path = http.get("/trees/tickets/points/T7/path").json()
    assert path["nodes"][-1] == -1 - 7
    hits = http.get("/trees/tickets/search", params={"q": "T14"}).json()["hits"]
    assert [hit["number"] for hit in hits] == [14]
    assert len(http.get("/trees/tickets/outline").json()["blocks"]) > 3
    whole = http.get("/trees/tickets/export?format=json").json()
    assert len(whole["points"]) == 60
    again = http.post("/trees/tickets/points", json={"points": [{"id": "T7", "vector": [1, 2]}]})
    assert again.json()["repeated"] == 1
    assert http.delete("/trees/tickets/points/T7").json()["forgotten"] == 1
    assert http.delete("/trees/tickets/points/T7").status_code == 404
    facts = http.get("/trees/tickets").json()
    assert (facts["points"], sum(facts["journal"]["sizes"])) == (59, 59)


def as_families(export):
    return {
        node: (sorted(children), height)
        for (node, *children), height in zip(export["families"], export["heights"], strict=True)
    }


def replay_the_feed(http, name, work):
    """An export, then some work, then what the feed says of it: the export after that."""
    address = f"/trees/{name}/export?format=json"
    old = http.get(address).json()
    work()
    told = http.get(f"/trees/{name}/changes?since={old['version']}").json()
    new = http.get(address).json()
    families = as_families(old)
    for node in told["retired"]:
        del families[node]
    families |= as_families(told)
    assert families == as_families(new)
    assert told["version"] == new["version"] > old["version"]
    points = (set(old["points"]) - set(told["forgotten"])) | set(told["inserted"])
    assert sorted(points) == new["points"]
    return told


def test_changes_name_points_and_nodes_and_figures_name_shards(http):
    row = {"points": [{"id": "new", "vector": [1, 2]}]}

    def work():
        http.post("/trees/tickets/points", json=row).raise_for_status()
        http.delete("/trees/tickets/points/T8").raise_for_status()

    told = replay_the_feed(http, "tickets", work)
    assert (told["inserted"], told["forgotten"]) == ([60], [8])
    assert told["ids"] == ["new"]
    assert told["born"]
    brief = http.get(f"/trees/tickets/changes?since={told['since']}&brief=true").json()
    assert brief["counts"]["born"] == len(told["born"])
    assert http.get("/trees/tickets/changes?since=999").status_code == 410
    text = http.get("/metrics").text
    assert 'ramify_points{tree="tickets"} 60' in text
    assert 'ramify_points{tree="tickets",shard="1"} 0' in text


def test_payloads_and_weights_go_through_the_server(http):
    point = {"id": "heavy", "vector": [300, 300], "payload": {"title": "No sound"}, "weight": 7}
    http.post("/trees/tickets/points", json={"points": [point]}).raise_for_status()
    found = http.get("/trees/tickets/points/heavy").json()
    assert found["payload"] == {"title": "No sound"}
    hits = http.get("/trees/tickets/search", params={"q": "sou"}).json()["hits"]
    assert [hit["id"] for hit in hits] == ["heavy"]
    clusters = http.get("/trees/tickets/clusters", params={"k": 4}).json()["clusters"]
    assert sorted(one["size"] for one in clusters) == [7, 20, 20, 20]


def test_a_request_that_comes_again_is_answered_and_not_carried_out_again(http):
    http.put("/trees/plain", json={"dimension": 2}).raise_for_status()
    rows = {"points": [{"vector": row} for row in groups(7)]}
    for _ in range(2):
        key = {"idempotency-key": "seven"}
        answer = http.post("/trees/plain/points", json=rows, headers=key)
        assert answer.json()["numbers"] == list(range(7))
    named = [{"id": f"T{i}", "vector": row} for i, row in enumerate(groups(70))]
    for fresh in (10, 0):  # the first sixty are in; only the rest is new, whatever the key says
        answer = http.post("/trees/tickets/points", json={"points": named}, headers=key).json()
        assert answer["numbers"] == list(range(70))
        assert answer["repeated"] == 70 - fresh


def test_what_a_sharded_tree_cannot_do_is_said(http):
    for point in ({"vector": [1, 2], "id": "x", "time": 3}, {"vector": [1], "id": "x"}):
        answer = http.post("/trees/tickets/points", json={"points": [point]})
        assert answer.status_code == 422, answer.text
    assert http.post("/trees/tickets/polish").status_code == 422
    assert http.put("/trees/other", json={"window": 10}).status_code == 422
    assert http.get("/trees/tickets").json()["points"] == 60


def test_a_path_goes_from_the_top_through_the_shard(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2)) + 9 * rng.integers(4, size=(150, 1))
    with ShardedOHAC(3, folder=tmp_path, engine="local", block=16, frontier=4) as model:
        tree: Hierarchy = model.partial_fit(X).hierarchy()
        for point in (0, 77, 149):
            nodes, code = model._ask("path", point)
            assert nodes.tolist() == tree._public_ids(tree.path(point)).tolist()
            assert code == tree.path_code(point)


def test_long_lists_of_shards_come_whole(http):
    with ramify.Client(str(http.base_url)) as client:
        tree = client.tree("tickets")
        texts = ["login trouble" if i % 2 else "no sound" for i in range(90)]
        rows = [[float(i), i % 7.0] for i in range(90)]
        tree.add(rows, ids=[f"N{i}" for i in range(90)], payloads=texts)
        assert len(tree.clusters(max_size=1)) == 150
        page = http.get("/trees/tickets/clusters?max_size=1&limit=100").json()
        tree.add([[3.5, 3.5]], ids=["late"])
        rest = http.get(f"/trees/tickets/clusters?limit=100&cursor={page['next']}").json()
        assert (page["total"], len(rest["clusters"]), rest["next"]) == (150, 50, None)
        assert rest["version"] == page["version"]
        found = tree.search("login", limit=None)
        assert (len(found), found.about["total"]) == (45, 45)
        assert tree.search("login").about["total"] == 45
        root = tree.path("T0")[0]
        assert len(tree.members(root)) == 151
