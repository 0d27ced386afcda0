"""OTD is Algorithm 1, decision for decision."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ramify import OTD
from tests.oracles.linkages import METRICS, distance_matrix
from tests.oracles.otd import assert_otd_step, otd, otd_exactly
from tests.oracles.recount import examine
from tests.oracles.trees import clusters, from_children, leaf
from tests.strategies import examples, far_away_rows, few_values, grid_rows, rows_for, seeds


def tree_of(model):
    return from_children(model.hierarchy().children)


def follow(model, X, tolerance):
    """Insert one by one and judge every step."""
    w = -distance_matrix(X, model.metric)
    before = leaf(0)
    model.insert(X[0])
    for k in range(1, len(X)):
        model.insert(X[k])
        after = tree_of(model)
        assert_otd_step(before, after, w, tolerance)
        before = after


@pytest.mark.parametrize("metric", METRICS)
def test_gives_the_tree_of_algorithm_1(metric):
    @given(rows_for(metric, max_size=60))
    def check(X):
        gaps = []
        expected = otd(X, metric, gaps)
        assume(min(gaps, default=1) > 1e-10)
        model = OTD(metric=metric).partial_fit(X)
        assert clusters(tree_of(model)) == clusters(expected)
        examine(model, X)

    check()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_gives_the_tree_of_algorithm_1_on_150_points(metric, seed):
    X = np.random.default_rng(seed).normal(size=(150, 4))
    model = OTD(metric=metric).partial_fit(X)
    assert clusters(tree_of(model)) == clusters(otd(X, metric))
    examine(model, X)


@pytest.mark.parametrize("metric", METRICS)
def test_gives_the_tree_of_algorithm_1_in_single_precision(metric):
    @given(rows_for(metric, max_size=30))
    def check(X):
        X = X.astype(np.float32)
        gaps = []
        expected = otd(X, metric, gaps)
        assume(min(gaps, default=1) > 1e-5)
        model = OTD(metric=metric).partial_fit(X)
        assert clusters(tree_of(model)) == clusters(expected)
        examine(model, X)

    check()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("rows", [grid_rows(max_size=40), few_values()], ids=["grid", "few"])
def test_every_step_is_allowed_where_there_are_ties(metric, rows):
    @given(rows)
    def check(X):
        if metric == "cosine":
            X = X + 4 * (np.arange(X.shape[1]) == 0)  # no zero rows
        model = OTD(metric=metric)
        follow(model, X, 1e-12)
        examine(model, X)

    check()


@given(far_away_rows())
def test_every_step_is_allowed_far_from_the_origin(X):
    model = OTD()
    follow(model, X, 1e-6)
    examine(model, X)


def test_every_triple_of_a_small_grid():
    # Means of two whole numbers are exact, so every tie here is a tie for both.
    grid = np.array([[x, y] for x in range(3) for y in range(3)], dtype=np.float64)
    for triple in np.ndindex(9, 9, 9):
        X = grid[list(triple)]
        assert clusters(tree_of(OTD().partial_fit(X))) == clusters(otd(X)), X


def test_equal_similarities_go_right():
    # 1 is as far from -1 as from 3; Merge put 3 on the right, and 1 joins it.
    tree = tree_of(OTD().partial_fit([[-1.0], [3.0], [1.0]]))
    assert clusters(tree) == {(1, 2), (0, 1, 2)}


def test_the_right_child_is_the_newer_one_also_further_down():
    # (0, 1) pair up below the root; 2 is a root sibling; 3 ties between 0 and 1.
    tree = tree_of(OTD().partial_fit([[-1.0], [1.0], [50.0], [0.0]]))
    assert clusters(tree) == {(1, 3), (0, 1, 3), (0, 1, 2, 3)}


def test_equally_similar_is_enough_to_stop():
    # w̄(T) = -4 and the third point is at mean squared distance (6 + 2) / 2 = 4.
    tree = tree_of(OTD().partial_fit([[-1.0, 0, 0], [1.0, 0, 0], [1.0, 1.0, 1.0]]))
    assert clusters(tree) == {(0, 1), (0, 1, 2)}


def test_a_little_more_similar_walks_on():
    tree = tree_of(OTD().partial_fit([[-1.0, 0, 0], [1.0, 0, 0], [1.0, 1.0, 0.999]]))
    assert clusters(tree) == {(1, 2), (0, 1, 2)}


def test_equal_points_make_a_chain():
    X = np.full((60, 2), 0.1)
    model = OTD().partial_fit(X)
    assert clusters(tree_of(model)) == {tuple(range(k)) for k in range(2, 61)}
    examine(model, X)


# --- ties, to the letter --------------------------------------------------------------


def tied_rows(rng, kind):
    """Whole numbers, few of them, and what keeps the ties of such: shifts, halves, tenths."""
    X = rng.integers(0, rng.choice([3, 4, 6, 10]), (rng.integers(3, 13), rng.integers(1, 4)))
    X = X.astype(np.float64)
    moved = {
        "shifted": X - 3,
        "halves": X / 2,
        "far": X + 1000.5,
        "tenths": X * 0.1,
        "thirds": X / 3 - 1,
    }
    return moved.get(kind, X)


KINDS = ("whole", "shifted", "halves", "far", "tenths", "thirds")


@pytest.mark.parametrize("metric", METRICS)
def test_tied_streams_give_the_tree_of_exact_fractions(metric):
    @settings(max_examples=examples(60), deadline=None)
    @given(
        seeds(),
        st.sampled_from(KINDS),
        st.sampled_from([np.float64, np.float32]),
        st.sampled_from([None, [1, 2, 3], [0.5, 1.5, 0.7, 3]]),
    )
    def check(seed, kind, dtype, weigh):
        rng = np.random.default_rng(seed)
        X = tied_rows(rng, kind).astype(dtype)
        if metric == "cosine":
            X[:, 0] += 4  # no zero rows
        weights = None if weigh is None else rng.choice(weigh, len(X)).tolist()
        model = OTD(metric=metric).partial_fit(X, sample_weight=weights)
        stored = model._live._core.points()  # under cosine of length 1, up to rounding
        try:
            expected = otd_exactly(stored, metric, weights)
        except ZeroDivisionError:  # a node of weight 1 has no two points to compare
            assume(False)
        assert clusters(tree_of(model)) == clusters(expected)

    check()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_where_the_origin_is_does_not_matter_to_whole_numbers(dtype):
    X = np.array([[3], [3], [4], [4]], dtype)
    for shift in (3, 1000):
        assert clusters(tree_of(OTD().fit(X - shift))) == clusters(tree_of(OTD().fit(X)))
    for seed in range(20):
        X = np.random.default_rng(seed).integers(0, 4, (150, 2)).astype(dtype)
        here, there = (tree_of(OTD().partial_fit(X + shift)) for shift in (0, 512))
        assert clusters(here) == clusters(there)


def test_numbers_that_are_too_small_or_too_large_to_be_exact_still_make_a_tree():
    rng = np.random.default_rng(0)
    for scale in (1e-320, 1e-200, 1e-70, 1e70, 1e144):
        X = rng.integers(-1, 2, (60, 2)) * scale
        model = OTD().partial_fit(X)
        model.check()
        assert len(model) == 60
