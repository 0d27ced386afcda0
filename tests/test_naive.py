"""Naïve₁ is offline HAC after every batch; Naïve₂ hangs each point beside its neighbour."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ramify import HAC, NaiveHAC, NaiveNN
from tests.oracles.linkages import METRICS, OFFERED
from tests.oracles.ohac import naive_hac, naive_nn
from tests.oracles.recount import examine
from tests.oracles.trees import clusters, from_children
from tests.strategies import batches, examples, few_values, grid_rows, rows_for

EXAMPLES = examples(15)


def tree_of(model):
    return from_children(model.hierarchy().children)


@pytest.mark.parametrize(("metric", "linkage"), OFFERED)
def test_naive_hac_is_hac_after_every_batch(metric, linkage):
    @settings(max_examples=EXAMPLES)
    @given(st.data(), rows_for(metric, max_size=60))
    def check(data, X):
        model = NaiveHAC(metric=metric, linkage=linkage)
        for batch in data.draw(batches(len(X))):
            model.partial_fit(X[batch])
            seen = X[: batch.stop]
            offline = HAC(metric=metric, linkage=linkage).fit(seen)
            np.testing.assert_array_equal(model.hierarchy().children, offline.hierarchy().children)
            np.testing.assert_array_equal(model.hierarchy().heights, offline.hierarchy().heights)
            examine(model, seen)

    check()


@pytest.mark.parametrize(("metric", "linkage"), OFFERED)
def test_naive_hac_gives_the_oracles_tree(metric, linkage):
    @settings(max_examples=EXAMPLES)
    @given(rows_for(metric, max_size=50))
    def check(X):
        gaps = []
        expected = naive_hac(X, metric, linkage, gaps)
        assume(min(gaps, default=1) > 1e-9)
        model = NaiveHAC(metric=metric, linkage=linkage)
        for row in X:
            model.insert(row)
        assert clusters(tree_of(model)) == clusters(expected)

    check()


@pytest.mark.parametrize("metric", METRICS)
def test_naive_nn_gives_the_oracles_tree(metric):
    @given(rows_for(metric, max_size=60))
    def check(X):
        gaps = []
        expected = naive_nn(X, metric, gaps)
        assume(min(gaps, default=1) > 1e-10)
        model = NaiveNN(metric=metric).partial_fit(X)
        assert clusters(tree_of(model)) == clusters(expected)
        examine(model, X)

    check()


@pytest.mark.parametrize("metric", ["sqeuclidean", "dot"])
@given(X=st.one_of(grid_rows(max_size=60), few_values(max_size=60)))
def test_naive_nn_takes_the_earliest_of_equally_near_leaves(metric, X):
    # Whole numbers: distances and products are exact, and so are their ties.
    model = NaiveNN(metric=metric).partial_fit(X)
    assert clusters(tree_of(model)) == clusters(naive_nn(X, metric))
    examine(model, X)


def test_naive_nn_on_the_papers_three_points():
    # Section 4.2: K is paired with 1, which is why Naïve₂ is naïve.
    tree = tree_of(NaiveNN().partial_fit([[0.0], [1.0], [1000.0]]))
    assert clusters(tree) == {(1, 2), (0, 1, 2)}


def test_naive_nn_hangs_every_equal_point_beside_the_first():
    X = np.ones((50, 2))
    model = NaiveNN().partial_fit(X)
    expected = {(0, *range(k, 50)) for k in range(1, 50)}
    assert clusters(tree_of(model)) == expected
    examine(model, X)
