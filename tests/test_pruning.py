"""Cuts by variance and by stability, and the cuts that a tree suggests."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify import HAC, OHAC, OTD, Hierarchy, _core, datasets
from tests.commands import done, fails
from tests.every import every_estimator
from tests.oracles import pruning as oracle
from tests.shapes import chain, hierarchies, long_chain, trees
from tests.strategies import examples, loose_rows, scaled, seeds

BIG = scaled(500_000)
X = np.random.default_rng(0).normal(size=(120, 3))


def order_of(children, gains):
    rows, prices = _core.split_order(children, np.array(gains, dtype=np.float64))
    return rows.tolist(), prices


@st.composite
def with_gains(draw, max_size: int = 10):
    """A small tree, and what its merges gain: whole numbers, many of them equal."""
    children = draw(trees(1, max_size))
    most = draw(st.sampled_from([0, 1, 3, 100]))
    gains = draw(st.lists(st.integers(0, most), min_size=len(children), max_size=len(children)))
    return children, gains


# --- the order -------------------------------------------------------------------------


@given(with_gains())
def test_parents_come_first_and_prices_never_rise(given_tree):
    children, gains = given_tree
    rows, prices = order_of(children, gains)
    assert sorted(rows) == list(range(len(children)))
    place = {row: i for i, row in enumerate(rows)}
    for row, above in enumerate(oracle.parents_of(children)):
        assert above is None or place[above] < place[row]
    assert (np.diff(prices) <= 0).all()


@given(with_gains())
def test_whole_blocks_are_weakest_link_pruning(given_tree):
    """Frontiers between two prices are those of the definition, all of them."""
    children, gains = given_tree
    rows, prices = order_of(children, gains)
    ends = [i for i in range(len(rows) + 1) if i in (0, len(rows)) or prices[i] < prices[i - 1]]
    found = [frozenset(rows[:end]) for end in ends]
    assert found == oracle.weakest_links(children, gains)[::-1]


@given(with_gains())
def test_between_two_prices_no_frontier_of_as_many_clusters_gains_more(given_tree):
    children, gains = given_tree
    rows, prices = order_of(children, gains)
    everything = oracle.frontiers(children)
    for end in range(len(rows) + 1):
        if 0 < end < len(rows) and prices[end] == prices[end - 1]:
            continue
        best = max(sum(gains[r] for r in one) for one in everything if len(one) == end)
        assert sum(gains[row] for row in rows[:end]) == best


@given(with_gains(8))
def test_no_nested_family_has_less_left_over(given_tree):
    children, gains = given_tree
    rows, _ = order_of(children, gains)
    left = [sum(gains[row] for row in rows[end:]) for end in range(len(rows) + 1)]
    assert sum(left) == oracle.least_left_over(children, gains)


@given(hierarchies(2), seeds(), st.booleans())
def test_gains_are_of_the_sum_of_squares(tree, seed, weighted):
    rng = np.random.default_rng(seed)
    n = tree.n_leaves
    rows = 1e6 + rng.normal(size=(n, 2))
    weights = rng.integers(1, 5, size=n).astype(float) if weighted else np.ones(n)
    gains = _core.split_gains(tree.children, rows, weights if weighted else None)
    for k in range(1, n):
        before, after = (
            oracle.sum_of_squares(rows, tree.cut(n_clusters=count).tolist(), weights)
            for count in (k, k + 1)
        )
        assert gains[n - 1 - k] == pytest.approx(before - after, rel=1e-6, abs=1e-6)


# --- the cut ---------------------------------------------------------------------------


@given(hierarchies(), seeds())
def test_cut_by_variance_undoes_merges_in_that_order(tree, seed):
    n = tree.n_leaves
    rows = np.random.default_rng(seed).normal(size=(n, 2))
    order, _ = _core.split_order(tree.children, _core.split_gains(tree.children, rows))
    many = tree.cut_many(range(1, n + 1), by="variance", X=rows)
    for k in range(1, n + 1):
        labels = tree.cut(n_clusters=k, by="variance", X=rows).tolist()
        assert labels == oracle.labels_of(tree.children, set(order[: k - 1].tolist()))
        assert labels == many[:, k - 1].tolist()


@given(hierarchies(2), st.data())
def test_weights_count_as_so_many_points(tree, data):
    n = tree.n_leaves
    rng = np.random.default_rng(data.draw(seeds()))
    rows, counts = rng.normal(size=(n, 2)), rng.integers(1, 4, size=n)
    heavy = Hierarchy(tree.children, tree.heights, leaf_weights=counts)
    k = data.draw(st.integers(1, n))
    labels = heavy.cut(n_clusters=k, by="variance", X=rows)
    copies = heavy.expanded().cut(n_clusters=k, by="variance", X=np.repeat(rows, counts, axis=0))
    assert np.repeat(labels, counts).tolist() == copies.tolist()


@given(loose_rows(2), st.data())
def test_min_size_goes_with_variance(rows, data):
    tree = HAC().fit(rows).hierarchy()
    least = data.draw(st.integers(1, len(rows)))
    labels = tree.cut(n_clusters=1, min_size=least, by="variance", X=rows)
    assert labels.max() == 0
    most = int(tree.cut(min_size=least).max()) + 1
    labels = tree.cut(n_clusters=most, min_size=least, by="variance", X=rows)
    assert np.bincount(labels).min() >= least
    assert labels.max() + 1 == most


def test_cosine_looks_at_directions():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 3))
    tree = HAC(metric="cosine").fit(rows).hierarchy()
    long = rows * rng.exponential(size=(60, 1))
    one, other = (
        tree.cut(n_clusters=9, by="variance", X=these, metric="cosine") for these in (rows, long)
    )
    assert one.tolist() == other.tolist()


def test_clusters_and_levels_by_variance():
    model = OHAC().fit(X)
    tree = model.hierarchy()
    labels = tree.cut(n_clusters=12, by="variance", X=X)
    assert labels.tolist() != tree.cut(n_clusters=12).tolist()
    clusters = tree.clusters(X, n_clusters=12, by="variance")
    assert clusters.labels.tolist() == labels.tolist()
    for cluster in clusters:
        assert tree.leaves(cluster).tolist() == np.flatnonzero(labels == cluster.label).tolist()
        assert cluster.node_id == clusters.node_ids[cluster.label]
    levels = tree.levels(3, 12, X=X, by="variance")
    assert levels[1].labels.tolist() == labels.tolist()
    assert model.levels(3, 12, by="variance").labels.tolist() == levels.labels.tolist()
    least = model.clusters(n_clusters=3, min_size=10, by="variance")
    assert least.sizes.min() >= 10


# --- live ------------------------------------------------------------------------------


def assert_cuts_as_its_snapshot(model, counts=(1, 2, 9, 40)):
    tree, rows = model.hierarchy(), model.points()
    numbers = tree.point_numbers
    near = np.searchsorted(numbers, model.nearest(rows)[0])
    for k in counts:
        labels = tree.cut(n_clusters=k, by="variance", X=rows)
        assert model.cut(n_clusters=k, by="variance").tolist() == labels.tolist()
        clusters = model.clusters(n_clusters=k, by="variance")
        assert clusters.sizes.tolist() == np.bincount(labels).tolist()
        assert clusters.labels.tolist() == labels.tolist()
        assert clusters.node_ids.tolist() == tree._public_ids(clusters.nodes).tolist()
        of, ids = model.cluster_of(numbers, n_clusters=k, by="variance")
        assert of.tolist() == labels.tolist()
        assert ids.tolist() == clusters.node_ids[labels].tolist()
        found = model.assign(rows, n_clusters=k, by="variance")
        assert found.labels.tolist() == labels[near].tolist()


@every_estimator
def test_live_cuts_are_those_of_a_snapshot(Estimator):
    assert_cuts_as_its_snapshot(Estimator().fit(X))


@pytest.mark.parametrize("Estimator", [OHAC, OTD])
def test_live_cuts_while_points_come_and_go(Estimator):
    model = Estimator().fit(X[:60])
    model.cut(n_clusters=5, by="variance")
    for x in X[60:80]:
        model.insert(x)
        assert_cuts_as_its_snapshot(model, (7,))
    model.forget(np.arange(5, 50, 3))
    assert_cuts_as_its_snapshot(model)


@pytest.mark.parametrize("metric", ["cosine", "dot"])
def test_live_cuts_under_other_metrics(metric):
    assert_cuts_as_its_snapshot(OHAC(metric=metric).fit(X + 2))


def test_live_leaves_of_several_points():
    rows = np.random.default_rng(2).integers(0, 6, size=(90, 2)).astype(float)
    counting = OHAC(duplicates="count").fit(rows)
    labels = counting.cut(n_clusters=5, by="variance")
    assert len(labels) == 90
    of_leaves = counting.hierarchy().cut(n_clusters=5, by="variance", X=counting.points())
    assert labels[np.unique(rows, axis=0, return_index=True)[1]].max() == of_leaves.max()


def test_the_models_own_cut_and_other_cuts():
    model = OHAC(n_clusters=4).fit(X)
    assert model.cut().tolist() == model.labels_.tolist()
    assert model.cut(height=2.0).tolist() == model.hierarchy().cut(height=2.0).tolist()
    assert model.cut(max_size=9).tolist() == model.hierarchy().cut(max_size=9).tolist()
    model.cut()[:] = 7  # a copy
    assert model.labels_.max() == 3


# --- extremes --------------------------------------------------------------------------


def test_on_a_long_chain_and_on_a_heap_of_equal_points():
    rows = np.random.default_rng(3).normal(size=(BIG, 2))
    labels = long_chain(BIG).cut(n_clusters=50, by="variance", X=rows)
    assert labels.max() == 49
    equal = Hierarchy(chain(1000), np.zeros(999)).cut(
        n_clusters=3, by="variance", X=np.ones((1000, 1))
    )
    assert np.bincount(equal).tolist() == [998, 1, 1]  # as by height: the last merges first
    alone = HAC().fit([[1.0]])
    assert alone.cut(n_clusters=1, by="variance").tolist() == [0]
    assert alone.hierarchy().cut(n_clusters=1, by="variance", X=[[1.0]]).tolist() == [0]


def test_average_linkage_peels_off_outliers_and_variance_does_not():
    queries = datasets.intents()
    model = OHAC(metric="cosine").fit(queries.points)
    by_height, by_variance = (
        ramify.metrics.cut_scores(
            model.hierarchy(), queries.intent, n_clusters=150, by=by, X=rows
        ).adjusted_rand
        for by, rows in (("height", None), ("variance", model.points()))
    )
    assert by_height < 0.5
    assert by_variance > 0.6


# --- by stability ----------------------------------------------------------------------


@given(hierarchies(2), st.data())
def test_stability_is_the_flat_cut_of_the_condensed_tree(tree, data):
    least = data.draw(st.integers(2, tree.n_leaves))
    expected = tree.condense(least).labels()
    assert tree.cut(min_size=least, by="stability").tolist() == expected.tolist()
    if expected.max() >= 0:
        clusters = tree.clusters(min_size=least, by="stability")
        assert clusters.labels.tolist() == expected.tolist()
        for cluster in clusters:
            assert set(cluster.members.tolist()) <= set(tree.leaves(cluster).tolist())


def test_stability_under_dot_and_of_a_live_model():
    model = OHAC(metric="dot").fit(X + 2)
    labels = model.hierarchy().cut(min_size=5, by="stability")
    expected = model.hierarchy().condense(5, scale="linear").labels()
    assert labels.tolist() == expected.tolist()
    assert model.clusters(min_size=5, by="stability").labels.tolist() == labels.tolist()


# --- suggestions -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [3, 7, 12])
def test_separated_groups_are_suggested_first(k, seed):
    rng = np.random.default_rng(seed)
    centres = 60 * np.array([[i % 4, i // 4] for i in range(k)])
    rows = centres[np.arange(600) % k] + rng.normal(size=(600, 2))
    tree = OHAC().fit(rows).hierarchy()
    for found in (tree.suggest_cuts(), tree.suggest_cuts(rows, by="variance")):
        assert found[0].n_clusters == k
        assert found[0].ratio == found[0].high / found[0].low > 3
        assert found[0].chance < 0.01
        assert [one.strength for one in found] == sorted((s.strength for s in found), reverse=True)
    (first, *_) = tree.suggest_cuts()
    assert tree.cut(height=(first.low + first.high) / 2).max() + 1 == k


@pytest.mark.parametrize("seed", range(5))
def test_a_tree_of_nothing_suggests_nothing(seed):
    rows = np.random.default_rng(seed).random((1000, 2))
    model = HAC(linkage="ward").fit(rows)
    assert model.hierarchy().suggest_cuts() == []
    assert model.hierarchy().suggest_cuts(rows, by="variance") == []


@settings(max_examples=examples(30))
@given(hierarchies(), seeds())
def test_suggestions_on_any_tree(tree, seed):
    rows = np.random.default_rng(seed).integers(0, 3, size=(tree.n_leaves, 1)).astype(float)
    for found in (tree.suggest_cuts(most=2), tree.suggest_cuts(rows, by="variance")):
        assert all(1 < one.n_clusters < tree.n_leaves for one in found)
    assert len(tree.suggest_cuts(most=2)) <= 2


# --- errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "size", "n_clusters": 2}, "by='size' is not offered; choose one of 'height'"),
        ({"by": "variance", "n_clusters": 2}, "needs the rows that the tree was grown on"),
        ({"by": "variance", "height": 2.0}, "by='variance' goes with n_clusters"),
        ({"by": "variance", "min_size": 2}, "by='variance' goes with n_clusters"),
        ({"by": "stability", "n_clusters": 2}, "by='stability' goes with min_size"),
        ({"by": "stability"}, "by='stability' goes with min_size"),
        ({"n_clusters": 2, "X": [[0.0]] * 4}, "X goes with by='variance'"),
        ({"by": "variance", "n_clusters": 2, "X": [[0.0]]}, "expected 4 rows"),
        ({"by": "variance", "n_clusters": 9, "X": [[0.0]] * 4}, "n_clusters=9: expected 1 to 4"),
    ],
)
def test_bad_cuts(options, message):
    with pytest.raises(ValueError, match=message):
        long_chain(4).cut(**options)


def test_bad_live_cuts_and_suggestions():
    model = OHAC().fit(X)
    with pytest.raises(ValueError, match="by='stability' is not offered"):
        model.cut(n_clusters=3, by="stability")
    with pytest.raises(ValueError, match="by='variance' goes with n_clusters"):
        model.cut(height=1.0, by="variance")
    with pytest.raises(ValueError, match="n_clusters=121: expected 1 to 120"):
        model.cut(n_clusters=121, by="variance")
    with pytest.raises(ValueError, match="heights below 0"):
        OHAC(metric="dot").fit(X + 2).hierarchy().suggest_cuts()
    with pytest.raises(ValueError, match="X goes with"):
        model.hierarchy().suggest_cuts(X)


# --- the command -----------------------------------------------------------------------


def test_the_command_cuts_by_variance_and_stability(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    done("fit", tmp_path / "rows.npy", "-o", tmp_path / "tree", "-q")
    tree = ramify.load(tmp_path / "tree").hierarchy()
    labels = done("cut", tmp_path / "tree", "-k", "5", "--by", "variance").out.splitlines()
    expected = tree.cut(n_clusters=5, by="variance", X=X)
    assert [int(line.split(",")[1]) for line in labels[1:]] == expected.tolist()
    many = done("cut", tmp_path / "tree", "-k", "3,5", "--by", "variance").out.splitlines()
    assert [int(line.split(",")[2]) for line in many[1:]] == expected.tolist()
    stable = done("cut", tmp_path / "tree", "--min-size", "6", "--by", "stability").out
    found = [int(line.split(",")[1]) for line in stable.splitlines()[1:]]
    assert found == tree.cut(min_size=6, by="stability").tolist()
    tree.save(tmp_path / "bare")
    assert "without its points" in fails("cut", tmp_path / "bare", "-k", "5", "--by", "variance")
    refused = fails("cut", tmp_path / "tree", "--height", "5", "--by", "variance", code=2)
    assert "--by variance goes with -k" in refused
