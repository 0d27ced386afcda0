"""Trees of edges in every home: folder, server, clients, command line. Shards refuse them."""

import asyncio
import shutil

import numpy as np
import pytest

import ramify
from ramify import GraphHAC, LiveGraphHAC
from ramify.ray import ShardedOHAC
from ramify.ray._served import ServedTree
from tests.commands import done, fails
from tests.strategies import scaled
from tests.test_live_graph_hac import agree, some_stream

pytestmark = pytest.mark.no_asan  # other libraries at work


def grow(tree, twin, steps, seed, name=str):
    """The same calls for a tree and for a plain model."""
    for call, given in some_stream(np.random.default_rng(seed), steps, name):
        if call == "edges":
            tree.partial_fit(edges=given)
            twin.partial_fit(edges=given)
            continue
        there = [one for one in given if one in twin.ids_.tolist()]
        if there:
            assert tree.forget(there) == twin.forget(there) == len(there)


def same(tree, twin):
    mine, theirs = tree.hierarchy(), twin.hierarchy()
    assert np.array_equal(mine.children, theirs.children)
    assert np.array_equal(mine.heights, theirs.heights)
    assert tree.ids_.tolist() == twin.ids_.tolist()
    assert tree.point_numbers_.tolist() == twin.point_numbers_.tolist()
    assert tree.version == twin.version
    assert tree.cut(n_clusters=3).tolist() == twin.cut(n_clusters=3).tolist()
    assert [one.size for one in tree.clusters(n_clusters=3)] == [
        one.size for one in twin.clusters(n_clusters=3)
    ]
    point = twin.ids_.tolist()[2]
    number = twin.number_of(point)
    assert tree.number_of(point) == number
    assert tree.path(number).tolist() == twin.path(number).tolist()
    assert tree.path_code(number) == twin.path_code(number)
    first = twin.point_numbers_.item(0)
    assert tree.lca(first, number) == twin.lca(first, number)
    for mine, theirs in zip(
        tree.cluster_of([number], n_clusters=3),
        twin.cluster_of([number], n_clusters=3),
        strict=True,
    ):
        assert mine.tolist() == theirs.tolist()


@pytest.mark.parametrize("name", [str, int])
def test_a_folder_has_the_tree_after_a_crash_and_proves_it(name, tmp_path):
    twin = LiveGraphHAC()
    with ramify.open(tmp_path / "a", LiveGraphHAC(), hash_every=1) as tree:
        grow(tree, twin, scaled(60) + 20, 1, name)
        same(tree, twin)
        tree.between(lambda: None)
        shutil.copytree(tmp_path / "a", tmp_path / "b")  # as a crash would leave it
        digest, seq = tree.digest(), tree.seq
    with ramify.open(tmp_path / "b") as again:
        assert again.report.replayed == seq
        assert again.digest() == digest
        same(again, twin)
        grow(again, twin, 10, 2, lambda i: name(1000 + i))
        same(again, twin)
        agree(again.model)
    with ramify.open(tmp_path / "a") as closed:
        assert closed.report.replayed == 0
        assert closed.digest() == digest


def test_a_call_is_carried_out_once_and_points_keep_what_came_along(tmp_path):
    edges = (["ann", "ann"], ["anne", "bob"], [0.9, 0.2])
    with ramify.open(tmp_path, LiveGraphHAC(distance_threshold=0.5)) as tree:
        told = tree.add(edges=edges, ids=["zoe", "ann"], payloads=["z", "Ann A"], key="one")
        assert told.numbers == [0, 1, 2, 3]
        assert tree.add(edges=edges, ids=["zoe", "ann"], payloads=["z", "Ann A"], key="one") == told
        with pytest.raises(ValueError, match="was used for another request"):
            tree.add(edges=edges, key="one")
        again = tree.add(ids=["ann", "zoe"])
        assert (again.numbers, again.version) == ([1, 0], told.version)
        more = tree.add(edges=(["new"], ["bob"], [0.1]), ids=["zoe", "eve"], payloads=["?", "e"])
        assert (more.numbers, more.repeated) == ([0, 4, 5], 1)
        assert tree.payloads(["zoe", "ann", "eve"]) == {"zoe": "z", "ann": "Ann A", "eve": "e"}
        assert [hit.id for hit in tree.search("ann")] == ["ann"]
        assert tree.forget(["ann", "eve"]) == 2
        assert tree.search("ann") == []
        waiting = [tree.submit_add(edges=([f"n{i}"], [f"n{i // 2}"], [0.5])) for i in range(1, 20)]
        numbers = [number for one in waiting for number in one.result().numbers]
        assert sorted(numbers) == [*range(6, 26)]
        tree.compact()
        assert "Ann A" not in (tmp_path / "journal.sqlite").read_bytes().decode("latin-1")
        agree(tree.model)


BAD = {
    "rows": ({"X": [[1.0]]}, TypeError, "tree is of edges"),
    "both": ({"X": [[1.0]], "edges": (["a"], ["b"], [1])}, TypeError, "not both at once"),
    "nothing": ({}, TypeError, "expected rows, or edges="),
    "too heavy": ({"edges": (["a"], ["b"], [7])}, ValueError, "give max_weight=7 or more"),
    "another kind": ({"edges": ([1], [2], [1])}, TypeError, "of type str so far"),
    "weights of rows": ({"edges": (["a"], ["b"], [1]), "times": [1]}, TypeError, "no times"),
    "payloads of nobody": ({"edges": (["a"], ["b"], [1]), "payloads": ["x"]}, TypeError, "ids="),
}


@pytest.mark.parametrize("case", BAD)
def test_a_folder_refuses_a_bad_call_at_the_door_and_stays_as_it_was(case, tmp_path):
    given, kind, message = BAD[case]
    with ramify.open(tmp_path, LiveGraphHAC(2)) as tree:
        tree.add(edges=(["a", "b"], ["b", "c"], [0.9, 0.1]))
        before = tree.digest()
        with pytest.raises(kind, match=message):
            tree.add(**given)
        for ask in ("predict", "nearest", "assign"):
            with pytest.raises(TypeError, match="tree is of edges"):
                getattr(tree, ask)([[1.0]])
        with pytest.raises(ValueError, match="trees of rows"):
            tree.past.changes(0)
        assert tree.digest() == before


def test_trees_of_rows_refuse_edges(tmp_path):
    edges = ["a"], ["b"], [1]
    with (
        ramify.open(tmp_path / "ohac", ramify.OHAC()) as tree,
        pytest.raises(TypeError, match=r"LiveGraphHAC\(\) takes edges"),
    ):
        tree.add(edges=edges)
    with (
        ramify.open(tmp_path / "graph", LiveGraphHAC().fit([[0.0], [1.0]])) as tree,
        pytest.raises(TypeError, match="this tree is of rows"),
    ):
        tree.add(edges=edges)


def test_a_graph_with_points_can_be_opened_in_a_folder(tmp_path):
    model = LiveGraphHAC().fit(edges=([1, 2], [2, 3], [0.9, 0.1]))
    with ramify.open(tmp_path, model) as tree:
        tree.add(edges=([3], [4], [0.8]))
    with ramify.open(tmp_path) as tree:
        assert tree.ids_.tolist() == [1, 2, 3, 4]
        edges = tree.model.edges()
    assert GraphHAC().fit(edges=edges, ids=[1, 2, 3, 4]).hierarchy().n_leaves == 4


def test_a_server_takes_edges_from_both_clients(tmp_path):
    from ramify.serve import running

    twin = LiveGraphHAC(distance_threshold=0.5)
    with running(tmp_path) as url, ramify.Client(url) as client:
        tree = client.create("pairs", algorithm="live-graph-hac", distance_threshold=0.5)
        grow(tree, twin, 25, 3)
        same(tree, twin)
        assert tree.labels_.tolist() == twin.labels_.tolist()
        assert tree.clusters(n_clusters=3)[0].representatives
        told = tree.add(edges=(["ann"], ["anne"], [0.9]), ids=["zoe"], payloads=["z"])
        assert tree.payloads(["zoe"]) == {"zoe": "z"}
        assert len(told.numbers) == 3
        for ask, word in (
            (lambda: tree.predict([[1.0]]), "tree is of edges"),
            (lambda: tree.past.changes(0), "trees of rows"),
            (lambda: tree.add(edges=(["a"], ["b"], [-1])), "larger is more alike"),
            (lambda: tree.add([[1.0]]), "tree is of edges"),
        ):
            with pytest.raises(OSError, match=word) as caught:
                ask()
            assert caught.value.status == 422

        async def by_the_other():
            async with ramify.AsyncClient(url) as other:
                await other.tree("pairs").partial_fit(edges=(["ann"], ["bob"], [0.2]))
                return await other.tree("pairs").n_points_

        assert asyncio.run(by_the_other()) == len(twin) + 4
        raw = client._http.post("/v1/trees/pairs/points", json={"edges": [["a", "b"]]})
        assert raw.status_code == 422
        assert "edge 0: expected [id, id, weight]" in raw.text


def test_shards_say_where_edges_go(tmp_path):
    tree = ServedTree(tmp_path, {"n_shards": 1, "engine": "local"}, 1000)
    with pytest.raises(ValueError, match="Edges go into a tree of LiveGraphHAC in a folder"):
        tree.submit_add(edges=(["a"], ["b"], [1]))
    tree.close()
    assert not hasattr(ShardedOHAC, "edges")


def test_the_command_line_fits_and_updates_edges(tmp_path):
    scores, more = tmp_path / "scores.csv", tmp_path / "more.tsv"
    scores.write_text("l,note,r,score\nann,x,anne,0.9\nann,,bob,0.2\n")
    more.write_text("l\tr\tscore\nbob\trob\t0.9\n")
    tree = tmp_path / "people.ramify"
    done("fit", scores, "-o", tree, "--edges", "--columns", "l,r,score")
    told = done("update", tree, more, "--edges", "--json").json()
    assert (told["points"], told["edges"]) == (4, 1)
    expected = LiveGraphHAC().fit(
        edges=(["ann", "ann", "bob"], ["anne", "bob", "rob"], [0.9, 0.2, 0.9])
    )
    assert ramify.load(tree).hierarchy() == expected.hierarchy()
    labels = done("cut", tree, "--clusters", "2").out
    assert labels.splitlines()[1:] == ["ann,0", "anne,0", "bob,1", "rob,1"]
    done("forget", tree, "anne")
    assert ramify.load(tree).ids_.tolist() == ["ann", "bob", "rob"]
    numbers = tmp_path / "numbers.ramify"
    done("fit", "-", "-o", numbers, "--edges", stdin="a,b,w\n7,8,0.5\n8,9,1\n")
    assert ramify.load(numbers).ids_.tolist() == [7, 8, 9]

    assert "takes edges: add --edges" in fails("update", tree, more)
    assert "no whole number" in fails("update", numbers, more, "--edges")
    assert "say which are the ids" in fails("fit", scores, "-o", tmp_path / "x", "--edges")
    assert "no column 'q'" in fails(
        "fit", scores, "-o", tmp_path / "x", "--edges", "--columns", "l,r,q"
    )
    assert "names three" in fails(
        "fit", scores, "-o", tmp_path / "x", "--edges", "--columns", "l", code=2
    )
    assert "live-graph-hac takes edges" in fails(
        "fit", scores, "-o", tmp_path / "x", "--edges", "--algorithm", "otd", code=2
    )
    assert "line 2" in fails("fit", "-", "-o", tmp_path / "x", "--edges", stdin="a,b,w\n7,8,?\n")
    assert "give max_weight=7" in fails(
        "fit", "-", "-o", tmp_path / "x", "--edges", stdin="a,b,w\n7,8,7\n"
    )
    done("fit", "-", "-o", tmp_path / "y", "--edges", "--set", "max_weight=7", stdin="a,b,w\n1,2,7")
