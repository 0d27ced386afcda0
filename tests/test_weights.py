# SPDX-License-Identifier: BSD-3-Clause
"""Leaves that stand for several points: weights, and repeats that are counted."""

import io
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ramify
from ramify import HAC, OHAC, Hierarchy, _core, metrics
from ramify.estimators._cut import Cut
from ramify.hierarchy._order import canonical
from ramify.metrics import revenue
from tests.core_trees import core_options, core_tree
from tests.oracles.hac import hac
from tests.oracles.linkages import Linkage
from tests.oracles.ohac import nearest, split
from tests.oracles.trees import Tree, clusters, from_children
from tests.strategies import examples, seeds

#: Who looks at weights.
WEIGHING = ["ohac", "otd", "naive_hac", "naive_nn", "perch"]
every_weighing = pytest.mark.parametrize("algorithm", WEIGHING)
every_linkage = pytest.mark.parametrize("linkage", ["average", "ward", "centroid"])


def live(algorithm, d, linkage="average", k=1, **more):
    own = {"n_neighbors": k} if algorithm == "ohac" else {}
    return core_tree(algorithm, d, linkage=linkage, **own, **more)


@st.composite
def weighted_rows(draw, longest=24):
    n = draw(st.integers(1, longest))
    d = draw(st.sampled_from([1, 2, 3, 17]))
    weights = draw(st.lists(st.integers(1, 6), min_size=n, max_size=n))
    return np.random.default_rng(draw(seeds())).normal(size=(n, d)), np.array(weights, float)


def copies(X, weights):
    """Every row as often as it weighs, and each row's copies as one leaf of the oracle."""
    ends = np.cumsum(weights).astype(int)
    starts = ends - weights.astype(int)
    leaves = [Tree(tuple(range(a, b))) for a, b in zip(starts, ends, strict=True)]
    return np.repeat(X, weights.astype(int), axis=0), leaves


def cluster_sets(core, leaves):
    """All clusters of the tree, as sets of copies."""
    rows = from_children(core.snapshot()[0])
    return {tuple(c for i in cluster for c in leaves[i].leaves) for cluster in clusters(rows)}


def recount(core, X, weights, leaves=None):
    """Every weight, mean and ssd from scratch."""
    core.check()
    numbers = np.unique(core.leaf_of(core.numbers())) if leaves is None else leaves
    np.testing.assert_array_equal(core.points(), X[numbers])
    members = [np.array([i]) for i in range(len(numbers))]
    for a, b in core.snapshot()[0].tolist():
        members.append(np.concatenate([members[a], members[b]]))
    sizes, means, ssds = core.summaries()
    for node, below in enumerate(members):
        rows, of = X[numbers[below]], weights[numbers[below]]
        mean = of @ rows / of.sum()
        np.testing.assert_allclose(sizes[node], of.sum(), rtol=1e-12)
        np.testing.assert_allclose(means[node], mean, atol=1e-9)
        np.testing.assert_allclose(ssds[node], of @ ((rows - mean) ** 2).sum(1), atol=1e-7)


@every_linkage
def test_hac_of_weighted_rows_is_hac_of_their_copies(linkage):
    @settings(max_examples=examples(20))
    @given(weighted_rows())
    def check(story):
        X, weights = story
        repeated, leaves = copies(X, weights)
        gaps = []
        tree = hac(leaves, Linkage(repeated, "sqeuclidean", linkage), gaps)
        assume(min(gaps, default=1) > 1e-10)
        core = live("naive_hac", X.shape[1], linkage)
        assert core.insert_many(X, weights=weights) == len(X)
        assert cluster_sets(core, leaves) == clusters(tree)
        recount(core, X, weights)

    check()


@every_linkage
@pytest.mark.parametrize("k", [1, 3])
def test_ohac_inserts_the_copies_of_a_row_as_one(linkage, k):
    """T becomes HAC(Split(T, y) + {all copies of x at once})."""

    @settings(max_examples=examples(20))
    @given(weighted_rows(), st.integers(1, 30))
    def check(story, size):
        X, weights = story
        repeated, leaves = copies(X, weights)
        L, gaps, tree = Linkage(repeated, "sqeuclidean", linkage), [], leaves[0]
        firsts = [leaf.first for leaf in leaves]
        for i in range(1, len(X)):
            distances = L.distances[firsts[i], firsts[:i]]
            near = np.sort(distances)
            if i > k:
                gaps.append(L.gap(near[k - 1], near[k]))
            ys = [firsts[y] for y in nearest(distances, k)]
            tree = hac([*split(tree, ys), leaves[i]], L, gaps)
        assume(min(gaps, default=1) > 1e-10)
        core = live("ohac", X.shape[1], linkage, k)
        for at in range(0, len(X), size):
            core.insert_many(X[at : at + size], weights=weights[at : at + size])
        assert cluster_sets(core, leaves) == clusters(tree)
        recount(core, X, weights)

    check()


@every_weighing
def test_weights_are_counted_in_every_summary(algorithm):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(400, 3)), rng.uniform(1, 50, size=400)
    core = live(algorithm, 3)
    core.insert_many(X[:100])  # which weigh 1
    core.insert_many(X[100:], weights=weights[100:])
    weights[:100] = 1
    recount(core, X, weights)
    for number in rng.permutation(400)[:150].tolist():
        assert core.erase(number)
    recount(core, X, weights)
    core.weigh(int(core.numbers()[7]), 1000.0)
    weights[core.numbers()[7]] = 1000
    recount(core, X, weights)


def test_weights_that_all_are_one_change_nothing():
    X = np.random.default_rng(1).normal(size=(500, 3))
    plain, weighted = live("ohac", 3), live("ohac", 3)
    plain.insert_many(X)
    weighted.insert_many(X, weights=np.ones(500))
    for ours, theirs in zip(weighted.snapshot(), plain.snapshot(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_impossible_weights_are_refused(bad):
    core = live("ohac", 1)
    with pytest.raises(ValueError, match="finite and positive"):
        core.insert_many(np.array([[1.0], [2.0]]), weights=np.array([1.0, bad]))
    assert len(core) == 0


def test_who_makes_its_tree_anew_counts_no_repeats():
    with pytest.raises(ValueError, match="cannot count repeats"):
        live("naive_hac", 1, count_repeats=True)


def test_who_has_no_weights_says_so():
    core = core_tree("grinch", 1)
    with pytest.raises(ValueError, match="takes no weights"):
        core.insert_many(np.array([[1.0]]), weights=np.array([2.0]))


# --- repeats --------------------------------------------------------------------------


@st.composite
def repeating_rows(draw, longest=40):
    d = draw(st.sampled_from([1, 2, 3, 17]))
    which = draw(st.lists(st.integers(0, 12), min_size=1, max_size=longest))
    pool = np.random.default_rng(draw(seeds())).normal(size=(13, d))
    pool[0] = 0.0
    X = pool[which]
    X[::2][np.array(which[::2]) == 0] = -0.0  # which is the same number
    return X


def firsts_of(X):
    """For each row, the first one equal to it."""
    return [int((row == X).all(1).argmax()) for row in X]


@every_linkage
def test_counting_repeats_gives_the_tree_of_all_rows(linkage):
    """What OHAC makes of rows one by one, with equal ones drawn together into one leaf."""

    @settings(max_examples=examples(30))
    @given(repeating_rows())
    def check(X):
        firsts = firsts_of(X)
        every = live("ohac", X.shape[1], linkage)
        counted = live("ohac", X.shape[1], linkage, count_repeats=True)
        assert every.insert_many(X) == counted.insert_many(X) == len(X)
        whole = {
            tuple(sorted({firsts[i] for i in cluster}))
            for cluster in clusters(from_children(every.snapshot()[0]))
        }
        assert counted.numbers().tolist() == list(range(len(X)))
        assert counted.leaf_of(counted.numbers()).tolist() == firsts
        numbers = sorted(set(firsts))
        ours = {
            tuple(numbers[i] for i in cluster)
            for cluster in clusters(from_children(counted.snapshot()[0]))
        }
        assert ours == {cluster for cluster in whole if len(cluster) > 1}
        weights = np.bincount(firsts, minlength=len(X)).astype(float)
        recount(counted, X, weights)
        assert len(counted) == len(numbers)
        assert counted.n_points == counted.next_arrival == len(X)

    check()


@pytest.mark.parametrize("algorithm", sorted(set(WEIGHING) - {"naive_hac"}))
def test_repeats_come_and_go(algorithm):
    """Any point may leave: its leaf goes with the last of its points."""
    rng = np.random.default_rng(2)
    pool, which = rng.normal(size=(60, 2)), rng.integers(60, size=800)
    weights = rng.integers(1, 5, size=800).astype(float)
    core = live(algorithm, 2, count_repeats=True)
    living = []
    for i, row in enumerate(which):
        core.insert_many(pool[row][None], weights=weights[i : i + 1])
        living.append(i)
        while rng.random() < 0.45:
            assert core.erase(gone := living.pop(int(rng.integers(len(living)))))
            assert not core.erase(gone)
            assert not core.has(gone)
            if not living:
                break
        assert core.numbers().tolist() == living
    rows = which[living]
    assert core.n_points == len(living)
    assert len(core) == len(set(rows.tolist()))
    leaves = core.leaf_of(core.numbers())
    assert len(set(leaves.tolist())) == len(core)
    for leaf in set(leaves.tolist()):
        assert len(set(rows[leaves == leaf].tolist())) == 1
    totals = np.zeros(800)
    np.add.at(totals, leaves, weights[living])
    recount(core, pool[which], totals, np.unique(leaves))
    labels = core.labels("n_clusters", 5)
    assert len(labels) == len(living)
    for leaf in set(leaves.tolist()):
        assert len(set(labels[leaves == leaf].tolist())) == 1


def test_a_tree_with_repeats_comes_back_from_its_arrays():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 2))[rng.integers(20, size=200)]
    core = live("ohac", 2, count_repeats=True)
    core.insert_many(X)
    for number in range(60):
        assert core.erase(number)
    state = core.state()
    options = 2, core_options("ohac", count_repeats=True)
    again = _core.LiveF64.from_state(*options, state)
    assert again.numbers().tolist() == core.numbers().tolist() == list(range(60, 200))
    for tree in (core, again):
        tree.insert_many(X)
        for number in range(60, 120):
            assert tree.erase(number)
    for ours, theirs in zip(again.snapshot(), core.snapshot(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(again.labels("n_clusters", 4), core.labels("n_clusters", 4))
    for array, damage in (("members", lambda found: found[::-1]), ("members", lambda x: x[1:])):
        broken = {**state, array: np.ascontiguousarray(damage(state[array]))}
        with pytest.raises(ValueError, match="do not fit"):
            _core.LiveF64.from_state(*options, broken)


def test_a_cluster_keeps_its_id_while_its_repeats_come():
    X = np.array([[0.0], [0.5], [10.0], [11.0], [30.0]])
    core = live("ohac", 1, count_repeats=True)
    core.insert_many(X)
    before = dict(zip(core.snapshot()[2].tolist(), core.snapshot()[0].tolist(), strict=True))
    core.insert_many(np.repeat(X[[1, 3]], 50, axis=0))
    after = dict(zip(core.snapshot()[2].tolist(), core.snapshot()[0].tolist(), strict=True))
    assert before == after


# --- frozen trees ---------------------------------------------------------------------


def test_a_snapshot_knows_the_weights_of_its_leaves():
    rng = np.random.default_rng(4)
    X, weights = rng.normal(size=(50, 2)), rng.integers(1, 6, size=50)
    model = HAC().fit(X, sample_weight=weights)
    tree = model.hierarchy()
    assert tree.leaf_weights.tolist() == weights.tolist()
    assert tree.weights.dtype == np.int64
    for v in range(tree.n_nodes):
        assert tree.weights[v] == weights[tree.leaves(v)].sum()
    sizes = np.bincount(tree.cut(max_size=12), weights)
    assert sizes.max() <= 12
    np.testing.assert_array_equal(
        tree.cut(max_size=12), model.cluster_of(np.arange(50), max_size=12)[0]
    )
    assert tree.to_dict()["size"] == weights.sum()
    assert pickle.loads(pickle.dumps(tree)).leaf_weights.tolist() == weights.tolist()


def test_an_expanded_tree_is_that_of_the_copies(tmp_path):
    rng = np.random.default_rng(5)
    X, weights = rng.normal(size=(50, 2)), rng.integers(1, 6, size=50)
    tree = HAC().fit(X, sample_weight=weights).hierarchy()
    tree.save(tmp_path / "tree.ramify")
    for found in (tree, ramify.load(tmp_path / "tree.ramify")):
        copies = np.repeat(X, weights, axis=0)
        expected = HAC().fit(copies).hierarchy()
        whole = found.expanded()
        whole.check()
        np.testing.assert_allclose(whole.heights, expected.heights, atol=1e-12)
        for k in (2, 5, 20):
            np.testing.assert_array_equal(whole.cut(n_clusters=k), expected.cut(n_clusters=k))
        ours = revenue(whole, copies)
        theirs = revenue(expected, copies)
        assert ours == pytest.approx(theirs)


def test_half_a_point_cannot_be_a_leaf():
    tree = HAC().fit([[0.0], [1.0]], sample_weight=[1.0, 2.5]).hierarchy()
    assert tree.weights.tolist() == [1.0, 2.5, 3.5]
    with pytest.raises(ValueError, match=r"leaf 1 has the weight 2\.5"):
        tree.expanded()


X = np.random.default_rng(7).normal(size=(5, 3))


# --- a leaf is its weight, to every cut and measure ---------------------------------------


@settings(max_examples=examples(40))
@given(seeds(), st.integers(2, 14), st.integers(1, 5), st.sampled_from(["sqeuclidean", "cosine"]))
def test_measures_are_those_of_the_expanded_tree(seed, n, most, metric):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    counts = rng.integers(1, most + 1, size=n)
    tree = OHAC(metric=metric).fit(X, sample_weight=counts).hierarchy()
    whole, rows = tree.expanded(), np.repeat(X, counts, axis=0)
    classes = rng.integers(3, size=n)
    every = np.repeat(classes, counts)
    for measure in (metrics.revenue, metrics.revenue_fraction, metrics.dasgupta_cost):
        for similarity in ("rbf", "cosine", "dot", lambda a, b: a @ b.T):
            one, other = (
                measure(t, x, similarity=similarity) for t, x in ((tree, X), (whole, rows))
            )
            assert one == pytest.approx(float(other), rel=1e-12)
            assert one.gamma == other.gamma
        similar = X @ X.T
        one = measure(tree, similar, similarity="precomputed")
        assert one == pytest.approx(float(measure(whole, rows @ rows.T, similarity="precomputed")))
        drawn = {"sample": 50, "random_state": 1}
        assert measure(tree, X, **drawn) == measure(whole, rows, **drawn)
    assert metrics.dendrogram_purity(tree, classes) == metrics.dendrogram_purity(whole, every)
    assert metrics.dendrogram_purity(tree, classes, sample=20, random_state=0) == (
        metrics.dendrogram_purity(whole, every, sample=20, random_state=0)
    )
    one = metrics.cophenetic_correlation(tree, X)
    np.testing.assert_equal(float(one), float(metrics.cophenetic_correlation(whole, rows)))
    other = OHAC().fit(X[::-1], sample_weight=counts[::-1]).hierarchy()
    back = Hierarchy(*canonical(_renumbered(other.children, n), other.heights))
    weighted = Hierarchy(back.children, back.heights, leaf_weights=counts)
    expected = metrics.triplet_distance(whole, weighted.expanded())
    assert metrics.triplet_distance(tree, weighted) == expected
    assert metrics.triplet_distance(tree, back) == metrics.triplet_distance(back, tree) == expected
    for k in {1, 2, n}:
        scores = metrics.cut_scores(tree, classes, n_clusters=k)
        assert scores == metrics.cut_scores(whole, every, n_clusters=k)


def _renumbered(children, n):
    """The same tree with its leaves in the opposite order."""
    return np.where(children < n, n - 1 - children, children)


@settings(max_examples=examples(40))
@given(seeds(), st.integers(2, 14), st.integers(1, 4))
def test_cuts_and_clusters_are_those_of_the_expanded_tree(seed, n, most):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    counts = rng.integers(1, most + 1, size=n)
    model = OHAC().fit(X, sample_weight=counts)
    tree, total = model.hierarchy(), int(counts.sum())
    whole, rows = tree.expanded(), np.repeat(X, counts, axis=0)
    sizes = {most, total // 2, total} - set(range(most))
    cuts = [{"n_clusters": k} for k in {1, 2, n}] + [{"max_size": size} for size in sizes]
    # No cluster is smaller than a leaf: with copies as leaves it could be.
    cuts += [{"min_size": size} for size in sizes if 2 * size > most]
    for cut in cuts:
        np.testing.assert_array_equal(np.repeat(tree.cut(**cut), counts), whole.cut(**cut))
        for found in (tree.clusters(X, **cut), model.clusters(**cut)):
            expected = whole.clusters(rows, **cut)
            np.testing.assert_array_equal(found.sizes, expected.sizes)
            np.testing.assert_allclose(found.means, expected.means, atol=1e-12)
            np.testing.assert_allclose(found.spreads, expected.spreads, atol=1e-12)
            members = [cluster.members for cluster in found]
            assert sorted(np.concatenate(members).tolist()) == list(range(n))
            assert [counts[some].sum() for some in members] == expected.sizes.tolist()


def test_weights_that_no_measure_can_count():
    tree = OHAC().fit(X[:5], sample_weight=[1, 2.5, 1, 1, 1]).hierarchy()
    with pytest.raises(ValueError, match=r"leaf 1 has the weight 2\.5, and measures count whole"):
        metrics.revenue(tree, X[:5])
    assert tree.clusters(n_clusters=1).sizes.tolist() == [6.5]
    file = io.BytesIO()
    tree.to_graphml(file)
    assert b'attr.name="size" attr.type="double"' in file.getvalue()
    whole = OHAC().fit(X[:5], sample_weight=[1, 2, 1, 1, 1]).hierarchy()
    with pytest.raises(ValueError, match="different numbers of points"):
        metrics.triplet_distance(
            OHAC().fit(X[:5], sample_weight=[2, 1, 1, 1, 1]).hierarchy(), whole
        )
    with pytest.raises(ValueError, match=r"expanded\(\)\.condense"):
        whole.condense(2)


def test_a_heavy_point_decides_whose_id_a_cluster_has():
    rows = np.array([[0.0], [0.1], [0.2], [50.0], [99.0]])
    for weight, keeps in ((1, False), (9, True)):
        model = OHAC(n_clusters=2).fit(rows, None, [weight, 1, 1, 1, 1])
        before = model.stable_labels()
        # The cluster of the first three points loses two of them.
        seen = model._live.identity
        labels = np.array([0, 1, 1, 1, 1])
        after = seen.name(Cut("n_clusters", 2), np.arange(5), labels, model._live.weights())
        assert (after[0] == before[0]) == keeps


@pytest.mark.parametrize("d", [2, 16, 200])
def test_ids_depended_on_how_a_path_was_merged(d, tmp_path):
    """Marks, though all plain again, are not for the quick way; a file does not keep them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, d))
    weights = 10.0 ** rng.uniform(-3, 3, size=150)
    slow = OHAC().partial_fit(X[:20], sample_weight=weights[:20])
    slow.edit.must_link(0, 1)
    slow.edit.unlink(0, 1)
    slow.save(tmp_path / "tree.ramify")
    quick = ramify.load(tmp_path / "tree.ramify")
    for i in range(20, 150):
        for model in (slow, quick):
            model.partial_fit(X[i : i + 1], sample_weight=weights[i : i + 1])
    trees = [model.hierarchy() for model in (slow, quick)]
    for name in ("children", "heights", "node_ids"):
        assert np.array_equal(*(getattr(tree, name) for tree in trees)), name
