"""OHAC is Algorithm 2, merge for merge, for every linkage, metric and n_neighbors."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

from ramify import OHAC
from tests.oracles.hac import assert_greedy
from tests.oracles.linkages import OFFERED, Linkage
from tests.oracles.ohac import nearest, ohac, split
from tests.oracles.recount import core_of, examine
from tests.oracles.trees import clusters, from_children, leaf
from tests.strategies import examples, far_away_rows, few_values, grid_rows, rows_for

every_linkage = pytest.mark.parametrize(("metric", "linkage"), OFFERED)
every_dial = pytest.mark.parametrize("n_neighbors", [1, 2, 5])
EXAMPLES = examples(15)


def tree_of(model):
    return from_children(model.hierarchy().children)


def follow(model, X, tolerance, exact=False):
    """Insert one by one; after each, the tree must be a greedy HAC of the split."""
    L = Linkage(X, model.metric, model.linkage)
    tree = leaf(0)
    model.insert(X[0])
    for i in range(1, len(X)):
        k = min(model.n_neighbors, i)
        ids, _ = core_of(model).nearest(X[i : i + 1], k)
        assert_nearest(L, i, ids[0].tolist(), tolerance, exact)
        model.insert(X[i])
        after = tree_of(model)
        forest = [*split(tree, ids[0].tolist()), leaf(i)]
        assert_greedy(forest, after, L, tolerance, exact_pairs(X, L) if exact else never)
        tree = after


def never(a, b):
    return False


def exact_pairs(X, L):
    """Linkages of whole numbers that carry no rounding: between heaps of equal points.

    Ward multiplies by na nb / (na + nb), which rounds unless both are single.
    """

    def is_exact(a, b):
        pure = all(np.ptp(X[list(part.leaves)], axis=0).max() == 0 for part in (a, b))
        return pure and (L.name != "ward" or len(a) == len(b) == 1)

    return is_exact


def assert_nearest(L, i, ids, tolerance, exact):
    distances = L.distances[i, :i]
    expected = nearest(distances, len(ids))
    if exact:
        assert ids == expected
    else:
        farthest = distances[expected[-1]]
        slack = tolerance * max(abs(float(farthest)), float(np.abs(L.distances).max()))
        assert max(distances[j] for j in ids) <= farthest + slack


@every_dial
@every_linkage
def test_gives_the_tree_of_algorithm_2(metric, linkage, n_neighbors):
    @settings(max_examples=EXAMPLES)
    @given(rows_for(metric, max_size=50))
    def check(X):
        gaps = []
        expected = ohac(X, metric, linkage, n_neighbors, gaps)
        assume(min(gaps, default=1) > 1e-9)
        model = OHAC(metric=metric, linkage=linkage, n_neighbors=n_neighbors).partial_fit(X)
        assert clusters(tree_of(model)) == clusters(expected)
        examine(model, X)

    check()


@every_dial
@every_linkage
def test_gives_the_tree_of_algorithm_2_on_150_points(metric, linkage, n_neighbors):
    X = np.random.default_rng(n_neighbors).normal(size=(150, 3))
    model = OHAC(metric=metric, linkage=linkage, n_neighbors=n_neighbors).partial_fit(X)
    assert clusters(tree_of(model)) == clusters(ohac(X, metric, linkage, n_neighbors))
    examine(model, X)


@every_linkage
def test_gives_the_tree_of_algorithm_2_in_single_precision(metric, linkage):
    @settings(max_examples=EXAMPLES)
    @given(rows_for(metric, max_size=25))
    def check(X):
        X = X.astype(np.float32)
        gaps = []
        expected = ohac(X, metric, linkage, 1, gaps)
        assume(min(gaps, default=1) > 1e-5)
        model = OHAC(metric=metric, linkage=linkage).partial_fit(X)
        assert clusters(tree_of(model)) == clusters(expected)
        examine(model, X)

    check()


@every_dial
@every_linkage
def test_every_merge_is_allowed_where_there_are_ties(metric, linkage, n_neighbors):
    @settings(max_examples=EXAMPLES)
    @given(grid_rows(max_size=25))
    def check(X):
        model = OHAC(metric=metric, linkage=linkage, n_neighbors=n_neighbors)
        follow(model, X, 1e-7, exact=metric == "sqeuclidean")
        examine(model, X)

    check()


@every_dial
@given(X=few_values())
def test_ties_follow_the_documented_order_to_the_letter(n_neighbors, X):
    # Heaps of equal points with whole coordinates: mean squared distances between
    # heaps carry no rounding, and once unlike heaps meet no choice is left.
    model = OHAC(n_neighbors=n_neighbors).partial_fit(X)
    assert clusters(tree_of(model)) == clusters(ohac(X, n_neighbors=n_neighbors))
    examine(model, X)


@every_linkage
@every_dial
def test_equal_points_follow_the_documented_order_to_the_letter(metric, linkage, n_neighbors):
    X = np.tile([2.0, 0.0, 0.0], (40, 1))  # of a length that scales to 1 without rounding
    model = OHAC(metric=metric, linkage=linkage, n_neighbors=n_neighbors).partial_fit(X)
    assert clusters(tree_of(model)) == clusters(ohac(X, metric, linkage, n_neighbors))
    examine(model, X)


@pytest.mark.parametrize("linkage", ["average", "centroid", "ward"])
def test_every_merge_is_allowed_far_from_the_origin(linkage):
    @settings(max_examples=EXAMPLES)
    @given(far_away_rows())
    def check(X):
        model = OHAC(linkage=linkage)
        follow(model, X, 1e-6)
        examine(model, X)

    check()


def test_concentric_clusters_have_centroid_height_zero():
    # Two diagonals of a square: their means coincide, and a linkage that is
    # updated instead of computed could come out a little below zero.
    X = np.array([[0.1, 0.1], [0.7, 0.7], [0.1, 0.7], [0.7, 0.1], [0.4, 0.4]])
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [0, 2, 4, 1, 3]):
        model = OHAC(linkage="centroid").partial_fit(X[order])
        heights = model.hierarchy().heights
        assert np.isfinite(heights).all()
        assert (heights >= 0).all()
        examine(model, X[order])


def test_with_all_points_as_neighbours_every_insert_is_an_offline_hac():
    X = np.random.default_rng(5).normal(size=(40, 3))
    model = OHAC(n_neighbors=40).partial_fit(X)
    assert clusters(tree_of(model)) == clusters(ohac(X, n_neighbors=40))
    L = Linkage(X, "sqeuclidean", "average")
    assert_greedy([leaf(i) for i in range(40)], tree_of(model), L, 1e-9)


def test_the_papers_three_points_on_a_line():
    # Section 4.2: at 0, 1 and K, Naïve₂ pairs K with 1; OHAC must not.
    tree = tree_of(OHAC().partial_fit([[0.0], [1.0], [1000.0]]))
    assert clusters(tree) == {(0, 1), (0, 1, 2)}
