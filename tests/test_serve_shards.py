# SPDX-License-Identifier: BSD-3-Clause
"""Trees in shards behind the server: the same addresses, answers and page."""

import httpx
import numpy as np
import pytest

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


def test_changes_name_points_and_figures_name_shards(http):
    version = http.get("/trees/tickets").json()["version"]
    row = {"points": [{"id": "new", "vector": [1, 2]}]}
    http.post("/trees/tickets/points", json=row).raise_for_status()
    address = f"/trees/tickets/changes?since={version}"
    assert http.get(f"{address}&brief=true").json()["inserted"] == [60]
    assert http.get(address).status_code == 410  # begin with an export
    text = http.get("/metrics").text
    assert 'ramify_points{tree="tickets"} 61' in text
    assert 'ramify_points{tree="tickets",shard="1"} 0' in text


def test_what_a_sharded_tree_cannot_do_is_said(http):
    for point in ({"vector": [1, 2], "id": "x", "payload": "text"}, {"vector": [1], "id": "x"}):
        answer = http.post("/trees/tickets/points", json={"points": [point]})
        assert answer.status_code == 422, answer.text
    assert http.post("/trees/tickets/polish").status_code == 422
    assert http.put("/trees/other", json={"window": 10}).status_code == 422
    assert http.get("/trees/tickets").json()["points"] == 60


def test_a_path_goes_from_the_top_through_the_shard(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2)) + 9 * rng.integers(4, size=(150, 1))
    with ShardedOHAC(3, path=tmp_path, engine="local", block=16, frontier=4) as model:
        tree: Hierarchy = model.partial_fit(X).hierarchy()
        for point in (0, 77, 149):
            nodes, code = model._ask("path", point)
            assert nodes.tolist() == tree._public_ids(tree.path(point)).tolist()
            assert code == tree.path_code(point)
