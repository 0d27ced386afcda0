"""Sticky cuts: the best of all cuts of a tree where moving a point has a price."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from benchmarks import sticky as benchmark
from ramify import HAC, OHAC, Budget, _core
from ramify.estimators._identity import carried_over
from ramify.hierarchy import StickyLabels
from ramify.hierarchy._sticky import Then, kept_in, sticky_cut
from tests.oracles import sticky as oracle
from tests.shapes import balanced, chain, hierarchies, trees
from tests.strategies import examples, few_values, loose_rows, scaled, seeds

STEPS = [0.0, 0.01, 0.3, 1.0, 3.0, 30.0, 1e6]


@st.composite
def with_then(draw, max_size: int = 9):
    """A small tree, a number of clusters, and a cluster of then for some of the leaves."""
    tree = draw(hierarchies(1, max_size))
    n = tree.n_leaves
    labels = draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    return tree, draw(st.integers(1, n)), np.array(labels)


def then_of(labels, weights=None) -> Then:
    places = np.flatnonzero(labels >= 0)
    dense = np.unique(labels[places], return_inverse=True)[1]
    return Then(places, dense, None if weights is None else weights[places])


def kept_slowly(tree, labels, weights=None):
    every = np.ones(tree.n_leaves) if weights is None else weights
    known = {int(i): int(labels[i]) for i in np.flatnonzero(labels >= 0)}
    return oracle.kept(tree.children, known, every.tolist())


# --- the best of all cuts --------------------------------------------------------------


@given(trees(1, 9), seeds(), st.sampled_from([0, 1, 3]), st.integers(0, 3))
@settings(max_examples=examples(200))
def test_no_cut_is_worth_more(children, seed, most, weight):
    """Gains need not rise to the root; ties are settled as the header says."""
    rng = np.random.default_rng(seed)
    n = len(children) + 1
    gains = rng.integers(0, most + 1, size=n - 1).astype(float)
    prizes = rng.integers(0, 4, size=2 * n - 1).astype(float)
    for k in range(1, n + 1):
        nodes = _core.best_frontier(children, gains, prizes, float(weight), k)
        assert frozenset(nodes.tolist()) in set(oracle.cuts(children))
        found = oracle.worth(children, gains, prizes, weight, nodes.tolist())
        assert found == oracle.best(children, gains, prizes, weight, k)


@given(with_then(), seeds(), st.booleans())
@settings(max_examples=examples(200))
def test_points_are_kept_by_the_rule(given_tree, seed, weighted):
    tree, _, labels = given_tree
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 5, size=tree.n_leaves).astype(float) if weighted else None
    found = kept_in(tree, then_of(labels, weights))
    assert found.tolist() == [float(x) for x in kept_slowly(tree, labels, weights)]


@given(with_then(), st.sampled_from(STEPS))
@settings(max_examples=examples(200))
def test_the_sum_of_loss_and_moves_is_the_least_there_is(given_tree, stickiness):
    tree, k, labels = given_tree
    heights = tree.monotone_heights.tolist()
    kept = kept_slowly(tree, labels)
    every = [cut for cut in oracle.cuts(tree.children) if len(cut) == k]
    losses = [oracle.loss(tree.children, heights, cut) for cut in every]
    unit = Fraction(stickiness) * min(losses) / tree.n_leaves
    sums = [
        float(loss - unit * sum(kept[v] for v in cut))
        for cut, loss in zip(every, losses, strict=True)
    ]
    found = sticky_cut(tree, then_of(labels), k, stickiness)
    mine = sums[every.index(frozenset(found.nodes.tolist()))]
    assert mine == pytest.approx(min(sums), rel=1e-9, abs=1e-9)
    loss = oracle.loss(tree.children, heights, found.nodes.tolist())
    if min(losses) > 0:
        assert found.price == pytest.approx(float(loss / min(losses)) - 1, abs=1e-9)
    else:
        assert loss == found.price == 0
    stays = sum(kept[v] for v in found.nodes.tolist())
    assert found.moved == (labels >= 0).sum() - stays


@given(with_then(14))
@settings(max_examples=examples(200))
def test_the_larger_the_stickiness_the_fewer_points_move(given_tree):
    tree, k, labels = given_tree
    moved = [sticky_cut(tree, then_of(labels), k, one).moved for one in STEPS]
    assert moved == sorted(moved, reverse=True)


@given(with_then(14))
def test_without_stickiness_it_is_the_plain_cut(given_tree):
    tree, k, labels = given_tree
    found = tree.cut(n_clusters=k, like=labels, stickiness=0)
    np.testing.assert_array_equal(found, tree.cut(n_clusters=k))
    assert found.price == 0
    assert found.moved == found.moved_plainly


@given(hierarchies(1, 14), st.sampled_from(STEPS))
def test_a_cut_like_itself_is_itself(tree, stickiness):
    for k in range(1, tree.n_leaves + 1):
        plain = tree.cut(n_clusters=k)
        found = tree.cut(n_clusters=k, like=plain, stickiness=stickiness)
        np.testing.assert_array_equal(found, plain)
        assert found.moved == found.price == 0


@given(loose_rows(3, 30), seeds())
def test_by_variance(rows, seed):
    tree = HAC().fit(rows).hierarchy()
    k = int(np.random.default_rng(seed).integers(1, len(rows) + 1))
    plain = tree.cut(n_clusters=k, by="variance", X=rows)
    for stickiness in 0.0, 1.0:
        found = tree.cut(n_clusters=k, by="variance", X=rows, like=plain, stickiness=stickiness)
        np.testing.assert_array_equal(found, plain)
    other = np.random.default_rng(seed).integers(0, 3, size=len(rows))
    found = tree.cut(n_clusters=k, by="variance", X=rows, like=other, stickiness=2.0)
    assert len(set(found.tolist())) == k
    assert found.moved <= found.moved_plainly


@given(st.one_of(loose_rows(2, 40), few_values(2, 40)), st.sampled_from([1.0, 1e-9, 1e9]), seeds())
def test_points_are_said_to_stay_where_ids_do(rows, scale, seed):
    """The very rule of stable_labels; of all scales, with duplicates."""
    model = OHAC().fit(rows[:-1] * scale)
    k = int(np.random.default_rng(seed).integers(1, len(rows)))
    before = model.cut(n_clusters=k)
    tree = model.partial_fit(rows[-1:] * scale).hierarchy()
    now = tree.cut(n_clusters=k, like=before)
    kept, clusters = carried_over(before, np.asarray(now)[:-1])
    ids = np.full(k, -1)
    ids[clusters] = kept
    assert now.moved == (ids[now[:-1]] != before).sum()


def test_a_far_away_unit_changes_nothing():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    then = rng.integers(0, 4, size=60)
    near = HAC(linkage="ward").fit(rows).hierarchy().cut(n_clusters=6, like=then)
    large = HAC(linkage="ward").fit(rows * 2.0**20).hierarchy().cut(n_clusters=6, like=then)
    np.testing.assert_array_equal(near, large)
    assert near.price == large.price


def test_deep_and_wide_trees():
    n = scaled(500_000)
    for children in (chain(n), balanced(n)):
        tree = ramify.Hierarchy.from_children(children, np.arange(n - 1.0))
        then = np.arange(n) * 7 // n
        found = tree.cut(n_clusters=7, like=then)
        assert found.max() == 6
        assert found.moved <= found.moved_plainly


# --- what it is given, and gives -------------------------------------------------------

ROWS = np.array([[0.0], [1.5], [10.0], [12.0]])  # three clusters: a pair is split, the wide one


def test_labels_of_then_in_every_form():
    tree = HAC().fit(ROWS).hierarchy()
    wanted = [0, 1, 2, 2]
    named = tree.with_names(["ash", "elm", "oak", "fir"])
    like = [4, 7, 9, 9]
    assert tree.cut(n_clusters=3, like=like, stickiness=2).tolist() == wanted
    assert tree.cut(n_clusters=3, like=dict(enumerate(like)), stickiness=2).tolist() == wanted
    by_id = {"ash": 1, "elm": 2, "oak": 0, "fir": 0}
    assert named.cut(n_clusters=3, like=by_id, stickiness=2).tolist() == wanted
    assert tree.cut(n_clusters=3, like=(), stickiness=2).tolist() == [0, 0, 1, 2]
    assert tree.cut(n_clusters=3, like=[0, 1], stickiness=9).tolist() == wanted


def test_what_it_gave_is_good_for_the_next_even_when_points_have_left():
    model = OHAC().fit(ROWS)
    first = model.hierarchy().cut(n_clusters=3, like=[4, 7, 9, 9], stickiness=2)
    model.forget([0])
    after = model.partial_fit([[1.0], [30.0]]).hierarchy()
    again = after.cut(n_clusters=3, like=first, stickiness=5)
    assert again.tolist() == [0, 1, 1, 0, 2]
    assert again.moved == 0
    with pytest.raises(ValueError, match="points have left: say whose they are"):
        after.cut(n_clusters=2, like=[0, 0, 1, 1][:3])
    by_number = dict(zip([0, 1, 2, 3], [4, 7, 9, 9], strict=True))
    np.testing.assert_array_equal(after.cut(n_clusters=3, like=by_number, stickiness=5), again)


def test_it_says_what_it_has_cost_and_what_is_made_of_it_says_nothing():
    found = HAC().fit(ROWS).hierarchy().cut(n_clusters=3, like=[0, 1, 2, 2], stickiness=2)
    assert "price=" in repr(found)
    assert isinstance(found, StickyLabels)
    assert type(found[:2]) is type(found + 1) is type(np.sort(np.asarray(found))) is np.ndarray
    assert found.max() == 2
    again = pickle.loads(pickle.dumps(found))
    assert repr(again) == repr(found)
    np.testing.assert_array_equal(again.point_numbers, found.point_numbers)


@pytest.mark.parametrize(
    ("options", "error", "what"),
    [
        ({"height": 1.0}, ValueError, "like goes with n_clusters"),
        ({"n_clusters": 2, "min_size": 2}, ValueError, "like goes with n_clusters"),
        ({"n_clusters": 2, "apart": [(0, 1)]}, ValueError, "like goes with n_clusters"),
        ({"n_clusters": 2, "stickiness": -1}, ValueError, "a finite number from 0 on"),
        ({"n_clusters": 2, "stickiness": float("inf")}, ValueError, "a finite number from 0 on"),
        ({"n_clusters": 2, "stickiness": "very"}, TypeError, "stickiness='very'"),
        ({"n_clusters": 5}, ValueError, "n_clusters=5"),
    ],
)
def test_refuses_what_does_not_go_together(options, error, what):
    tree = HAC().fit(ROWS).hierarchy()
    with pytest.raises(error, match=what):
        tree.cut(like=[0, 0, 1, 1], **options)


@pytest.mark.parametrize("like", [[0.5, 0, 1, 1], [[0], [0], [1], [1]], [0] * 9])
def test_refuses_labels_that_are_none(like):
    with pytest.raises((TypeError, ValueError), match="like"):
        HAC().fit(ROWS).hierarchy().cut(n_clusters=3, like=like)


# --- live ------------------------------------------------------------------------------


@given(loose_rows(6, 30), seeds())
@settings(max_examples=examples(60))
def test_live_cuts_are_those_of_snapshots(rows, seed):
    rng = np.random.default_rng(seed)
    model = OHAC(linkage="ward").fit(rows[: len(rows) // 2])
    first = model.cut(n_clusters=2, like=())
    model.forget([int(rng.integers(len(rows) // 2))])
    model.partial_fit(rows[len(rows) // 2 :])
    for by, rest in (("height", {}), ("variance", {"X": rows})):
        found = model.cut(n_clusters=3, like=first, stickiness=1, by=by)
        frozen = model.hierarchy().cut(n_clusters=3, like=first, stickiness=1, by=by, **rest)
        assert repr(found) == repr(frozen)
        plain = model.cut(n_clusters=3, like=first, stickiness=0, by=by)
        np.testing.assert_array_equal(plain, model.cut(n_clusters=3, by=by))


@pytest.mark.parametrize("linkage", ["average", "ward"])
def test_stable_labels_that_stick_and_go_on_after_a_file(linkage, tmp_path):
    """No fewer points keep their ids, step by step; and a loaded model goes on the same."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(400, 3)) + rng.integers(0, 4, size=(400, 1))
    model = OHAC(linkage=linkage).fit(rows[:200])
    then = model.stable_labels(n_clusters=12, stickiness=1.0)
    for start in range(200, 400, 40):
        model.partial_fit(rows[start : start + 40])
        model.save(tmp_path / "model.npz")
        other, plain = (ramify.load(tmp_path / "model.npz") for _ in range(2))
        now = model.stable_labels(n_clusters=12, stickiness=1.0)
        np.testing.assert_array_equal(now, other.stable_labels(n_clusters=12, stickiness=1.0))
        usual = plain.stable_labels(n_clusters=12)
        assert (now[: len(then)] == then).sum() >= (usual[: len(then)] == then).sum()
        then = now


def test_leaves_that_stand_for_several_points_count_each():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(300, 2))
    model = OHAC(keep=Budget(40)).fit(rows)
    first = model.cut(n_clusters=8, like=())
    now = model.partial_fit(rng.normal(size=(50, 2))).cut(n_clusters=8, like=first)
    assert len(now) == 350
    np.testing.assert_array_equal(np.unique(now.point_numbers), np.arange(350))
    assert now.moved <= now.moved_plainly


def test_a_sticky_cut_keeps_no_points_apart():
    model = OHAC().fit(ROWS)
    model.edit.cannot_link(0, 1)
    with pytest.raises(ValueError, match="hold on to no other cut"):
        model.cut(n_clusters=3, like=())
    with pytest.raises(ValueError, match="like goes with n_clusters"):
        OHAC().fit(ROWS).cut(height=3.0, like=())


# --- what is measured ---------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(5, 8)), min_size=1, max_size=14))
@settings(max_examples=examples(100))
def test_the_benchmark_counts_clusters_that_go_on(pairs):
    """By sets of points alone."""
    then, now = (np.array(side) for side in zip(*pairs, strict=True))
    old, new = ([set(np.flatnonzero(one == x)) for x in set(one.tolist())] for one in (then, now))
    large = [one for one in old if len(one) >= 3]
    lives = [
        any(2 * len(one & other) > max(len(one), len(other)) for other in new) for one in large
    ]
    if large:
        assert benchmark.survival(then, now) == pytest.approx(sum(lives) / len(large))
