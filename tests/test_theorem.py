"""Theorem 1, step by step: Δ_OTD ≥ (β/3) Δ_Max with the β each step realises.

The similarities are products of non-negative rows. The tree is the library's;
revenue, Δ_Max and β are summed over all pairs in tests/oracles/revenue.py.
"""

import numpy as np
import pytest
from hypothesis import given

from ramify import OTD
from tests.oracles.linkages import mean_between, mean_within
from tests.oracles.revenue import (
    greatest_growth,
    realised_beta,
    revenue,
    sum_between,
    sum_within,
    turned_away_from,
)
from tests.oracles.trees import from_children, leaf, merge
from tests.strategies import non_negative_rows


def assert_theorem_along(X):
    """Returns the β of every insertion, and how near each came to its bound."""
    w = X @ X.T
    model = OTD(metric="dot")
    model.insert(X[0])
    earned, betas, ratios = 0.0, [], []
    for n in range(1, len(X)):
        model.insert(X[n])
        tree = from_children(model.hierarchy().children)
        now = revenue(tree, w)
        gain, most = now - earned, greatest_growth(w, n)
        beta = realised_beta(tree, w)
        assert gain >= beta / 3 * most - 1e-9 * max(now, most)
        betas.append(beta)
        ratios.append(gain / most if most > 0 else 1.0)
        earned = now
    return betas, ratios


@given(non_negative_rows(min_size=2, max_size=40))
def test_every_insertion_earns_its_share(X):
    assert_theorem_along(X)


@pytest.mark.parametrize("seed", range(3))
def test_every_insertion_earns_its_share_on_100_points(seed):
    betas, ratios = assert_theorem_along(np.random.default_rng(seed).exponential(size=(100, 4)))
    assert min(betas) < 1, "the stream never put the separation to the test"
    assert min(ratios) < 1, "no insertion ever fell short of the maximum"


def test_separated_clusters_realise_a_beta_near_one():
    # Clusters at right angles: whoever turns away from one has no similarity to it.
    rng = np.random.default_rng(7)
    X = np.eye(4)[rng.integers(4, size=80)] * 5 + 0.1 * rng.random((80, 4))
    betas, _ = assert_theorem_along(X)
    assert np.median(betas) == 1.0


def test_the_bound_is_not_idle():
    """A walk that turns the wrong way breaks the inequality: the test can fail."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 10.0]])
    w = X @ X.T
    right = merge(leaf(0), merge(leaf(1), leaf(2)))
    wrong = merge(merge(leaf(0), leaf(2)), leaf(1))
    bound = realised_beta(right, w) / 3 * greatest_growth(w, 2)
    assert revenue(right, w) >= bound
    assert revenue(wrong, w) < bound


def test_the_oracle_counts_as_the_paper_does():
    w = np.array([[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]], dtype=float)
    # ((0, 1), 2), 3: pair (0, 1) leaves out two, (0, 2) and (1, 2) one, the rest none.
    tree = merge(merge(merge(leaf(0), leaf(1)), leaf(2)), leaf(3))
    assert revenue(tree, w) == 2 * 1 + 1 * (2 + 4)
    # MaxRev_4 - MaxRev_3 with MaxRev_n = (n - 2) Σ w.
    assert greatest_growth(w, 3) == 2 * w.sum() / 2 - 1 * (1 + 2 + 4)
    assert sum_within(w, (1, 2, 3)) == 15
    assert sum_between(w, (0, 1), (2, 3)) == 2 + 3 + 4 + 5
    assert mean_within(w, (1, 2, 3)) == 5
    assert mean_between(w, (0, 1), (2, 3)) == 3.5
    assert [node.leaves for node in turned_away_from(tree, 2)] == [(3,)]
