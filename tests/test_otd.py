"""OTD is Algorithm 1, decision for decision."""

import numpy as np
import pytest
from hypothesis import assume, given

from ramify import OTD
from tests.oracles.linkages import METRICS, distance_matrix
from tests.oracles.otd import assert_otd_step, otd
from tests.oracles.recount import examine
from tests.oracles.trees import clusters, from_children, leaf
from tests.strategies import far_away_rows, few_values, grid_rows, rows_for


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
