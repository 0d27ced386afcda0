# SPDX-License-Identifier: BSD-3-Clause
"""A tree that can change its mind: points come and go, in the core."""

import resource

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ramify import Hierarchy
from tests.core_trees import core_tree
from tests.oracles.erasing import naive_insert, ohac_erase, ohac_insert, without
from tests.oracles.linkages import Linkage
from tests.oracles.trees import clusters, from_children
from tests.strategies import examples, scaled, seeds

#: What can take points out again: algorithm, linkages, its own options.
ERASING = {
    "otd": ("otd", {}),
    "ohac": ("ohac", {}),
    "naive_nn": ("naive_nn", {}),
    "perch": ("perch", {}),
    "perch, collapsed": ("perch", {"max_leaves": 8}),
}


def live(name, d, metric="sqeuclidean", linkage="average", k=1, dtype=np.float64):
    algorithm, own = ERASING[name]
    asked = {"n_neighbors": k} if algorithm == "ohac" else {}
    return core_tree(algorithm, d, metric, linkage, dtype, **own, **asked)


def leaf_sets(core):
    """All clusters of the tree, by arrival numbers."""
    numbers = core.numbers()
    tree = from_children(core.snapshot()[0])
    return {tuple(int(numbers[i]) for i in cluster) for cluster in clusters(tree)}


def recount(core, X):
    """Every stored row, size, mean and ssd, from scratch."""
    core.check()
    numbers = core.numbers()
    np.testing.assert_array_equal(core.points(), X[numbers])
    children = core.snapshot()[0]
    sizes, means, ssds = core.summaries()
    members = [np.array([i]) for i in range(len(numbers))]
    for a, b in children.tolist():
        members.append(np.concatenate([members[a], members[b]]))
    scale = np.abs(X).max() + 1
    for node, below in enumerate(members):
        rows = X[numbers[below]].astype(float)
        assert sizes[node] == len(rows)
        np.testing.assert_allclose(means[node], rows.mean(0), atol=1e-5 * scale, rtol=0)
        spread = float(((rows - rows.mean(0)) ** 2).sum())
        np.testing.assert_allclose(ssds[node], spread, atol=1e-4 * scale**2, rtol=1e-4)


@st.composite
def comings_and_goings(draw, longest=40):
    """Rows, and a list of what happens: True a row comes, else which living one goes."""
    steps = draw(st.lists(st.one_of(st.just(True), st.floats(0, 1)), max_size=longest))
    d = draw(st.sampled_from([1, 2, 3, 17]))
    rng = np.random.default_rng(draw(seeds()))
    return rng.normal(size=(len(steps) + 1, d)), steps


def happening(core, X, steps):
    """Let it happen to the core's tree; yields who lives after every step."""
    living, came = [], 0
    for step in [True, *steps]:
        if step is True:
            assert core.insert_one(X[came]) == came
            living.append(came)
            came += 1
        elif living:
            gone = living.pop(int(step * (len(living) - 1)))
            assert core.erase(gone)
            assert not core.erase(gone)
        yield list(living)


def follow(core, X, steps, insert, erase, gaps):
    """Do the same to the oracle's tree, and compare after every step that was no tie."""
    tree, before = None, []
    for living in happening(core, X, steps):
        for came in sorted(set(living) - set(before)):
            tree = insert(tree, came)
        for gone in set(before) - set(living):
            tree = erase(tree, gone)
        before = living
        assume(min(gaps, default=1) > 1e-10)
        assert len(core) == len(living)
        if living:
            assert core.numbers().tolist() == living
            assert leaf_sets(core) == clusters(tree)
            recount(core, X)


@pytest.mark.parametrize("linkage", ["average", "ward", "centroid"])
@pytest.mark.parametrize("k", [1, 3])
def test_ohac_takes_points_out_as_defined(linkage, k):
    @settings(max_examples=examples(15))
    @given(comings_and_goings())
    def check(story):
        X, steps = story
        L, gaps = Linkage(X, "sqeuclidean", linkage), []
        core = live("ohac", X.shape[1], linkage=linkage, k=k)
        follow(
            core,
            X,
            steps,
            lambda tree, i: ohac_insert(tree, i, L, k, gaps),
            lambda tree, i: ohac_erase(tree, i, L, gaps),
            gaps,
        )

    check()


@pytest.mark.parametrize("linkage", ["average", "ward", "centroid"])
def test_naive_hac_without_points_is_hac_of_the_others(linkage):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 2))
    core, fresh = (core_tree("naive_hac", 2, linkage=linkage) for _ in range(2))
    core.insert_many(X)
    gone = rng.permutation(120)[:70].astype(np.uint64)
    assert core.erase_many(np.append(gone, gone[:3])) == 70
    rest = np.setdiff1d(np.arange(120), gone)
    fresh.insert_many(X[rest])
    assert core.numbers().tolist() == rest.tolist()
    for ours, theirs in zip(core.snapshot()[:2], fresh.snapshot()[:2], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    core.insert_many(X[:5])
    fresh.insert_many(X[:5])
    np.testing.assert_array_equal(core.snapshot()[0], fresh.snapshot()[0])
    recount(core, np.vstack([X, X[:5]]))


def test_naive_nn_takes_points_out_as_defined():
    @settings(max_examples=examples(15))
    @given(comings_and_goings())
    def check(story):
        X, steps = story
        L, gaps = Linkage(X, "sqeuclidean", "average"), []
        core = live("naive_nn", X.shape[1])
        follow(core, X, steps, lambda tree, i: naive_insert(tree, i, L, gaps), without, gaps)

    check()


@pytest.mark.parametrize("name", ERASING)
@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine"])
@pytest.mark.parametrize("d", [2, 40])
def test_everything_stored_is_right_after_comings_and_goings(name, metric, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(scaled(600), d)) + 2
    X[rng.integers(len(X), size=len(X) // 3)] = X[0]  # equal rows, in chains
    if metric == "cosine":
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    core = live(name, d, metric)
    living = []
    for i, x in enumerate(X):
        core.insert_one(x)
        living.append(i)
        while len(living) > 60 or (rng.random() < 0.3 and len(living) > 2):
            assert core.erase(living.pop(int(rng.integers(len(living)))))
        if i % 50 == 0:
            core.check()
    core.check()
    assert core.numbers().tolist() == living
    if metric == "sqeuclidean":
        recount(core, X)


@pytest.mark.parametrize("name", ["ohac", "naive_nn", "perch"])
@pytest.mark.parametrize("d", [2, 20, 40])
def test_batches_after_goings_are_single_rows(name, d):
    X = np.random.default_rng(d).normal(size=(1600, d))
    one, many = live(name, d), live(name, d)
    for core in (one, many):
        core.insert_many(X[:900])
        for gone in range(0, 700, 3):
            assert core.erase(gone)
    many.insert_many(X[900:])
    for x in X[900:]:
        one.insert_one(x)
    many.check()
    assert leaf_sets(one) == leaf_sets(many)


@pytest.mark.parametrize("name", ERASING)
def test_the_last_point_may_go_and_others_come(name):
    core = live(name, 2)
    for i in range(5):
        core.insert_one(np.array([float(i), 1.0]))
        assert core.erase(i)
        assert len(core) == 0
    core.insert_one(np.array([7.0, 1.0]))
    assert core.numbers().tolist() == [5]
    core.check()


@pytest.mark.parametrize("name", ERASING)
@pytest.mark.parametrize("points", [1, 70], ids=["closed by a reader", "closed by themselves"])
def test_numbers_go_on_after_everybody_has_left(name, points):
    """The first point after that was announced under its number, and then known as 0."""
    core = live(name, 2)
    for i in range(points):
        core.insert_one(np.array([float(i), 1.0]))
    for i in range(points):
        assert core.erase(i)
    core.check()
    assert core.insert_one(np.array([3.0, 4.0])) == points
    assert core.numbers().tolist() == [points]
    assert core.depth(points) == 0
    assert not core.erase(0)
    assert core.erase(points)


def test_the_earliest_of_equal_points_is_found_after_one_has_left():
    """A later one was, once more than 32 of them had come."""
    core = live("ohac", 1)
    for _ in range(10):
        core.insert_one(np.ones(1))
    assert core.erase(0)
    for _ in range(30):
        core.insert_one(np.ones(1))
    assert core.nearest(np.ones((1, 1)), 3)[0].tolist() == [[1, 2, 3]]


def test_who_cannot_take_points_out_says_so():
    core = core_tree("nested", 1)
    core.insert_many(np.array([[0.0], [1.0]]))
    with pytest.raises(ValueError, match="cannot take points out"):
        core.erase(0)
    core = core_tree("otd", 1, "dot", certify=True)
    core.insert_many(np.array([[1.0], [2.0]]))
    with pytest.raises(ValueError, match="certificate"):
        core.erase(0)
    core.check()


def test_what_is_forgotten_is_gone_from_memory():
    secret = 123456789.0625
    core = live("ohac", 3)
    core.insert_many(np.random.default_rng(0).normal(size=(50, 3)))
    core.insert_one(np.array([secret, 0.0, 0.0]))
    assert core.erase(50)
    for array in core.state().values():
        assert not (np.asarray(array, dtype=float) == secret).any()
    assert core.nearest(np.array([[secret, 0.0, 0.0]]), 1)[0][0, 0] != 50


@pytest.mark.no_asan
@pytest.mark.parametrize("name", ["ohac", "otd"])
def test_a_million_comings_and_goings_in_flat_memory(name):
    n, window = scaled(1_000_000), 300
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n // 10 + window, 2))
    core = live(name, 2)
    core.insert_many(X[:window])
    insert, erase = core.insert_one, core.erase
    early = 0
    for i in range(n):
        erase(i)
        insert(X[(i + window) % len(X)])
        if i == n // 10:
            early = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    late = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert late - early < 4096, "kilobytes"
    numbers = core.numbers()
    assert numbers.tolist() == list(range(n, n + window))
    core.check()
    full = np.zeros((n + window, 2))
    full[numbers] = X[numbers % len(X)]
    recount(core, full)


# --- live reads equal a snapshot's ----------------------------------------------------


def reads_like_its_snapshot(core, X):
    """Labels, clusters, paths, common ancestors and depths, without and with a snapshot."""
    numbers = core.numbers()
    n = len(numbers)
    tree = Hierarchy(*core.snapshot())
    node_ids = [*(-1 - numbers), *tree.node_ids]
    heights = tree.monotone_heights
    cuts = [("n_clusters", k) for k in {1, 2, (n + 1) // 2, n} if k <= n]
    cuts += [("height", h) for h in {0.0, *heights[: n // 2 : 3], np.inf, -np.inf}]
    cuts += [("max_size", m) for m in {1, 2, n}]
    for by, value in cuts:
        labels = tree.cut(**{by: value})
        np.testing.assert_array_equal(core.labels(by, value), labels)
        nodes, sizes, means, tops, firsts = core.clusters(by, value)
        np.testing.assert_array_equal(sizes, np.bincount(labels))
        np.testing.assert_array_equal(firsts, numbers[np.unique(labels, return_index=True)[1]])
        found, of, codes = core.cluster_of(numbers, by, value, True)
        np.testing.assert_array_equal(found, labels)
        np.testing.assert_array_equal(nodes[found], of)
        for label, node in enumerate(nodes):
            at = node_ids.index(node)
            assert set(tree.leaves(at)) == set(np.flatnonzero(labels == label))
            rows = X[numbers[labels == label]]
            np.testing.assert_allclose(means[label], rows.mean(0), atol=1e-9)
            assert codes[labels.tolist().index(label)] == tree.path_code(at)
            assert tops[label] == (0 if at < n else heights[at - n])
        queries = X[:5] + 0.01
        near, distances = core.nearest(queries, 1)
        got, got_nodes, points, far, turns = core.assign(queries, by, value, with_codes=True)
        assert turns == [codes[labels.tolist().index(label)] for label in got]
        np.testing.assert_array_equal(points, near[:, 0])
        np.testing.assert_array_equal(far, distances[:, 0])
        np.testing.assert_array_equal(got, labels[np.searchsorted(numbers, points)])
        np.testing.assert_array_equal(got_nodes, nodes[got])
    for i in range(0, n, max(n // 5, 1)):
        nodes, code = core.path(int(numbers[i]))
        assert [node_ids.index(node) for node in nodes] == tree.path(i).tolist()
        assert code == tree.path_code(i)
        assert core.depth(int(numbers[i])) == tree.depths()[i]
        j = (7 * i + 3) % n
        assert node_ids.index(core.lca(int(numbers[i]), int(numbers[j]))) == tree.lca(i, j)


@pytest.mark.parametrize("name", ERASING)
@pytest.mark.parametrize("linkage", ["average", "centroid"])
def test_live_reads_are_those_of_a_snapshot(name, linkage):
    @settings(max_examples=examples(10))
    @given(comings_and_goings(60), st.booleans())
    def check(story, few_values):
        X, steps = story
        if few_values:
            X = np.round(X)
        core = live(name, X.shape[1], linkage=linkage)
        for at, living in enumerate(happening(core, X, steps)):
            if living and at % 7 == 0:
                reads_like_its_snapshot(core, X)
        if living:
            reads_like_its_snapshot(core, X)

    check()


@pytest.mark.parametrize("algorithm", ["grinch", "naive_hac"])
def test_live_reads_of_trees_that_only_grow(algorithm):
    X = np.random.default_rng(3).normal(size=(60, 2))
    core = core_tree(algorithm, 2)
    for start in range(0, 60, 10):
        core.insert_many(X[start : start + 9])
        core.insert_one(X[start + 9])
        reads_like_its_snapshot(core, X)


# --- what changed, written down -------------------------------------------------------


def families_of(core):
    """Children of every inner node, in public ids: the whole tree."""
    children, _, names = core.snapshot()
    public = np.concatenate([-1 - core.numbers(), names])
    return {
        int(name): tuple(sorted(map(int, public[pair])))
        for name, pair in zip(names, children, strict=True)
    }


def replayed(families, change):
    """A copy of an older tree, brought up to date."""
    assert not change["incomplete"]
    families = dict(families)
    for node in change["vanished"].tolist():
        del families[node]
    for node, *pair in change["families"].tolist():
        families[node] = tuple(sorted(pair))
    return families


def heights_of(core):
    _, heights, names = core.snapshot()
    return dict(zip(names.tolist(), heights.tolist(), strict=True))


@pytest.mark.parametrize("name", ERASING)
def test_replaying_what_was_written_down_gives_the_tree(name):
    @settings(max_examples=examples(10))
    @given(comings_and_goings(60), st.integers(1, 5))
    def check(story, patience):
        X, steps = story
        core = live(name, X.shape[1])
        core.record(True)
        copy, heights, known = {}, {}, []
        for at, living in enumerate(happening(core, X, steps)):
            if at % 7 == 0 and living:
                core.labels("n_clusters", 1)  # a reader in between
            if at % patience == 0:
                change = core.take_change()
                assert change["version"] == core.version
                assert change["inserted"].tolist() == sorted(set(living) - set(known))
                assert sorted(change["erased"].tolist()) == sorted(set(known) - set(living))
                copy = replayed(copy, change)
                assert copy == (families_of(core) if living else {})
                told = change["families"][:, 0].tolist()
                heights |= dict(zip(told, change["values"][:, 0].tolist(), strict=True))
                heights = {node: heights[node] for node in copy}
                assert heights == (heights_of(core) if living else {})
                known = living

    check()


@pytest.mark.parametrize("algorithm", ["ohac", "naive_hac", "grinch", "naive_nn"])
def test_batches_are_written_down_too(algorithm):
    X = np.random.default_rng(3).normal(size=(3000, 2))
    core = core_tree(algorithm, 2)
    core.insert_many(X[:300])
    core.record(True)
    change = core.take_change()
    assert change["inserted"].tolist() == list(range(300))
    copy = replayed({}, change)
    assert copy == families_of(core)
    core.insert_many(X[300:])
    change = core.take_change()
    assert replayed(copy, change) == families_of(core)
    assert change["inserted"].tolist() == list(range(300, 3000))
    n, names = 3000, core.snapshot()[2]
    tree = Hierarchy(*core.snapshot())
    at = {name: n + row for row, name in enumerate(names.tolist())}
    for (node, *_), (_, monotone, count, weight, first) in zip(
        change["families"].tolist(), change["values"].tolist(), strict=True
    ):
        assert monotone == tree.monotone_heights[at[node] - n]
        assert count == weight == tree.sizes[at[node]]
        assert first == tree.leaves(at[node]).min()
    core.record(False)
    core.insert_one(X[0])
    assert len(core.take_change()["families"]) == 0


def test_a_version_for_every_change():
    core = live("ohac", 1)
    assert core.version == 0
    core.insert_many(np.arange(5.0)[:, None])
    before = core.version
    core.nearest(np.zeros((1, 1)), 1)
    core.labels("n_clusters", 2)
    core.snapshot()
    assert core.version == before
    core.erase(3)
    assert core.version == before + 1


def test_no_such_point_or_cut():
    core = live("ohac", 1)
    core.insert_many(np.arange(5.0)[:, None])
    core.erase(3)
    for call in (core.path, core.depth):
        with pytest.raises(IndexError, match="no point 3"):
            call(3)
    with pytest.raises(ValueError, match="n_clusters"):
        core.labels("n_clusters", 5)
    with pytest.raises(ValueError, match="at least 1"):
        core.clusters("max_size", 0)


# --- leaving on the way ---------------------------------------------------------------


@pytest.mark.parametrize("name", list(ERASING))
def test_who_leaves_on_the_way_is_gone_before_the_row_comes(name):
    """A batch with a window is the same as erasing and inserting one by one."""

    @settings(max_examples=examples(15))
    @given(seeds(), st.integers(1, 30), st.integers(1, 80), st.sampled_from([1, 2, 3, 17]))
    def check(seed, window, size, d):
        X = np.random.default_rng(seed).normal(size=(200, d))
        one, many = live(name, d), live(name, d)
        for i, row in enumerate(X):
            if i >= window:
                assert one.erase(i - window)
            one.insert_one(row)
        for at in range(0, len(X), size):
            batch = X[at : at + size]
            rows = np.arange(max(at, window), at + len(batch), dtype=np.uint64)
            leaving, before = rows - np.uint64(window), rows - np.uint64(at)
            assert many.insert_many(batch, leaving=leaving, before=before) == len(batch)
        assert one.numbers().tolist() == many.numbers().tolist()
        for ours, theirs in zip(many.snapshot(), one.snapshot(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        recount(many, X)

    check()
