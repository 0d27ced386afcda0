# SPDX-License-Identifier: BSD-3-Clause
"""Asking summaries and points: the nearest, as the definition has them, in every home."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify.metric import BY_NAME
from ramify.serve import running
from ramify.summaries import SummaryTree
from tests.oracles.summaries import down_the_tree, nearest_of_all
from tests.strategies import examples, seeds

pytestmark = pytest.mark.no_asan  # servers, and nothing new for the core

LEVELS = (4, 12, 40)


def grown(seed, metric="sqeuclidean", n=60, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 5 * rng.normal(size=(6, 3))[rng.integers(6, size=n)]
    linkage = {"linkage": "ward"} if metric == "euclidean" else {}
    model = ramify.OHAC(metric=metric, history=99, **linkage).fit(X)
    texts = [f"text {i}" for i in range(n)]
    made = SummaryTree(
        model,
        summarize=lambda parts, node: f"{node.node_id}",
        levels=LEVELS,
        texts=texts,
        **options,
    )
    made.update()
    return model, made, X, rng.normal(size=3) * 5


def apart(metric, row):
    """A distance from a row, straight from the definition."""
    if metric == "cosine":
        return lambda x: 1 - float(row @ x) / float(np.linalg.norm(row) * np.linalg.norm(x))
    if metric == "dot":
        return lambda x: -float(row @ x)
    square = lambda x: float(((row - x) ** 2).sum())  # noqa: E731
    return square if metric == "sqeuclidean" else lambda x: square(x) ** 0.5


def vectors(model, made, X):
    """Points by -1 - number, and the means of their rows by node, as the metric has rows."""
    rows = BY_NAME[model.metric].prepared(X)
    points = {-1 - i: rows[i] for i in range(len(X))}
    mirror = made._state.mirror
    means = {
        one.node_id: rows[[-1 - leaf for leaf in mirror.leaves(one.node_id)]].mean(axis=0)
        for level in LEVELS
        for one in made.summaries(level)
    }
    return points, means


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean", "cosine", "dot"])
@given(seed=seeds(), k=st.integers(1, 90))
@settings(max_examples=examples(8), deadline=None)
def test_collapsed_finds_the_nearest_of_all(metric, seed, k):
    model, made, X, row = grown(seed, metric)
    expected = nearest_of_all(apart(metric, row), *vectors(model, made, X), k)
    hits = made.retrieve(row, k)
    assert np.allclose([hit.distance for hit in hits], [far for far, _ in expected])
    assert [hit.node_id for hit in hits] == [name for _, name in expected]
    for hit in hits:
        assert hit.text == (f"text {hit.point}" if hit.point is not None else f"{hit.node_id}")


@given(seed=seeds(), k=st.integers(1, 20))
@settings(max_examples=examples(12), deadline=None)
def test_tree_walks_down_from_the_largest_summaries(seed, k):
    model, made, X, row = grown(seed)
    points, means = vectors(model, made, X)
    state = made._state
    alone = [leaf for leaf in points if not state.path(leaf)]
    tops = [*alone, *(node for node in means if not state.path(node))]
    parts = lambda node: state.mirror.parts(node, LEVELS)  # noqa: E731
    expected = down_the_tree(apart("sqeuclidean", row), tops, parts, points, means, k)
    hits = made.retrieve(row, k, mode="tree")
    assert {hit.node_id for hit in hits} == expected
    assert [hit.distance for hit in hits] == sorted(hit.distance for hit in hits)


def test_the_path_of_a_hit_has_the_summaries_above_it():
    model, made, X, _ = grown(3)
    for at, hit in ((i, made.retrieve(X[i], 1)[0]) for i in range(20)):
        assert hit.node_id == -1 - at
        way = model.path(at).tolist()
        known = {one.node_id for level in LEVELS for one in made.summaries(level)}
        assert hit.path == tuple(node for node in way if node in known)


def test_vectors_of_texts_are_asked_for_once_and_kept(tmp_path):
    asked = []

    def embed(texts):
        asked.append(list(texts))
        return [[float(one), 0.0, 0.0] for one in texts]

    store = tmp_path / "kept"
    model, made, X, row = grown(5, embed=embed, store=store)
    hits = made.retrieve(row, 200)
    assert made.retrieve(row, 200) == hits
    assert len(asked) == 1
    for hit in hits:
        if hit.point is None:
            expected = ((row - [float(hit.text), 0, 0]) ** 2).sum()
            assert hit.distance == pytest.approx(expected, rel=1e-5)
    model.partial_fit(X[:3])
    made._state.contents._texts = None  # these have no texts
    told = made.update()
    made.retrieve(row)
    assert len(asked[1]) == told.made
    made.close()


def test_a_server_needs_embed_and_then_answers_as_a_folder_does(tmp_path):
    _, _, X, row = grown(6)
    texts = [f"text {i}" for i in range(len(X))]
    options = {"summarize": lambda parts, node: f"{node.node_id}", "levels": LEVELS}
    embed = lambda texts: [[float(one) / 9, 1.0, 0.0] for one in texts]  # noqa: E731
    with (
        running(tmp_path / "served") as url,
        ramify.Client(url) as client,
        ramify.open(tmp_path / "folder", ramify.OHAC(metric="cosine", history=9)) as folder,
    ):
        remote = client.create("a", metric="cosine")
        found = []
        for tree in (folder, remote):
            tree.add(X, ids=[f"T{i}" for i in range(len(X))], payloads=texts)
            made = SummaryTree(tree, embed=embed, **options)
            made.update()
            found.append([made.retrieve(row, 30), made.retrieve(row, 3, mode="tree")])
        assert [hit.node_id for hits in found[0] for hit in hits] == [
            hit.node_id for hits in found[1] for hit in hits
        ]
        plain = SummaryTree(remote, **options)
        plain.update()
        with pytest.raises(ValueError, match="embed="):
            plain.retrieve(row)


def test_what_came_after_the_update_is_not_found_and_hides_nothing():
    model, made, X, _ = grown(7)
    model.partial_fit(np.repeat(X[:1], 50, axis=0) + 1e-3)
    hits = made.retrieve(X[0], 5)
    assert len(hits) == 5
    assert hits[0].point == 0
    assert all(hit.point is None or hit.point < len(X) for hit in hits)
    made._state.contents._texts = None
    made.update()
    assert made.retrieve(X[0] + 1e-3, 3)[0].point >= len(X)


def test_leaves_whose_first_point_has_left_are_found():
    model = ramify.OHAC(duplicates="count").fit([[0.0], [0.0], [5.0], [9.0]])
    model.forget([0])
    made = SummaryTree(model, summarize=lambda parts, node: "x", texts=["a", "b", "c", "d"])
    made.update()
    assert [hit.text for hit in made.retrieve([0.0], 1)] == ["b"]


def test_an_empty_tree_has_nothing_to_find(tmp_path):
    with ramify.open(tmp_path / "a", ramify.OHAC()) as tree:
        made = SummaryTree(tree, summarize=lambda parts, node: "x")
        assert made.retrieve([0.0]) == []
        made.update()
        assert made.retrieve([0.0], mode="tree") == []


def test_a_budget_of_tokens_leaves_out_what_does_not_fit():
    _, made, _, row = grown(8)
    hits = made.retrieve(row, 20)
    fitting = made.retrieve(row, 20, max_tokens=30, count=len)
    assert sum(len(hit.text) for hit in fitting) <= 30
    left, expected = 30, []
    for hit in hits:
        if len(hit.text) <= left:
            left -= len(hit.text)
            expected.append(hit)
    assert fitting == expected


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"k": 0}, "k"),
        ({"mode": "graph"}, "mode"),
        ({"max_tokens": 10}, "count="),
        ({"vector": [[1.0, 2.0, 3.0]]}, "vector"),
        ({"vector": [1.0, 2.0]}, "expected 3"),
        ({"vector": [1.0, float("nan"), 0.0]}, "vector"),
    ],
)
def test_wrong_questions_are_refused(asked, message):
    _, made, _, row = grown(1)
    with pytest.raises(ValueError, match=message):
        made.retrieve(**{"vector": row} | asked)


def test_wrong_vectors_of_summaries_are_refused():
    _, made, _, row = grown(1, embed=lambda texts: [1.0, 2.0])
    with pytest.raises(ValueError, match="embed"):
        made.retrieve(row)
