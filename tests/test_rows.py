"""A tree and its rows: orders of leaves, and examples of clusters."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import leaves_list, optimal_leaf_ordering
from scipy.sparse import csr_array

from ramify import HAC, OHAC, Hierarchy
from tests.oracles import orders as oracle
from tests.shapes import balanced, hierarchies, leaves_below, long_chain
from tests.strategies import grid_rows, loose_rows, scaled

RNG = np.random.default_rng(3)


def rows_of_any_kind(**sizes):
    return st.one_of(loose_rows(**sizes), grid_rows(**sizes))


# --- the order of the leaves -------------------------------------------------------------


@given(rows_of_any_kind(max_size=25), st.sampled_from(["sqeuclidean", "cosine"]))
def test_an_order_keeps_subtrees_together_and_is_no_worse_than_none(X, metric):
    tree = OHAC().fit(X).hierarchy()
    below = leaves_below(tree)
    plain, turned = tree.leaf_order(), tree.leaf_order(X, metric=metric)
    unit = X if metric == "sqeuclidean" else X / np.linalg.norm(X, axis=1, keepdims=True)
    D = oracle.distances(unit)
    for order in (plain, turned):
        assert sorted(order.tolist()) == list(range(len(X)))
        assert order.dtype.num == np.dtype(np.int64).num
        assert oracle.keeps_subtrees_together(below, order.tolist())
    assert oracle.way(D, turned) <= oracle.way(D, plain) + 1e-9


@given(hierarchies())
def test_without_rows_first_children_come_first(tree):
    order = tree.leaf_order().tolist()
    below = leaves_below(tree)
    for a, b in tree.children.tolist():
        assert max(map(order.index, below[a])) < min(map(order.index, below[b]))


@given(loose_rows(min_size=2, max_size=12))
def test_no_order_is_shorter_than_the_shortest(X):
    tree = HAC().fit(X).hierarchy()
    D = oracle.distances(X)
    assert oracle.way(D, tree.leaf_order(X)) >= oracle.shortest_way(tree, D) - 1e-9


@pytest.mark.parametrize("dim", [2, 10])
def test_an_order_is_nearly_as_short_as_the_shortest(dim):
    """Greedy, so not for every tree; on these, 3 and 6 % over on average."""
    ratios, beside_default, beside_scipy = [], [], []
    for seed in range(12):
        X = np.random.default_rng(seed).normal(size=(24, dim))
        tree = HAC().fit(X).hierarchy()
        D = oracle.distances(X)
        ours = oracle.way(D, tree.leaf_order(X))
        ratios.append(ours / oracle.shortest_way(tree, D))
        beside_default.append(ours / oracle.way(D, tree.leaf_order()))
        theirs = leaves_list(optimal_leaf_ordering(tree.to_linkage(), X))
        beside_scipy.append(ours / oracle.way(D, theirs))
    assert max(ratios) < 1.2
    assert np.mean(ratios) < 1.1
    assert np.mean(beside_default) < 0.95
    assert max(beside_scipy) < 1.15


@given(hierarchies(min_size=2), st.integers(1, 3), st.integers(0, 100))
def test_all_at_once_or_one_by_one_is_the_same(tree, dim, seed):
    X = np.random.default_rng(seed).normal(size=(tree.n_leaves, dim))
    order = tree.leaf_order(X)
    with pytest.MonkeyPatch.context() as patch:
        for wide in (1, 3):
            patch.setattr("ramify.hierarchy._ends._WIDE", wide)
            patch.setattr("ramify.hierarchy._ends._AT_ONCE", wide)
            np.testing.assert_array_equal(tree.leaf_order(X), order)


def test_points_on_a_line_come_out_sorted():
    X = RNG.permutation(200)[:, np.newaxis] ** 1.5
    order = OHAC().fit(X).hierarchy().leaf_order(X)
    along = X[order, 0]
    assert (np.diff(along) > 0).all() or (np.diff(along) < 0).all()


def test_the_order_of_one_and_two_points():
    assert HAC().fit([[1.0]]).hierarchy().leaf_order([[1.0]]).tolist() == [0]
    assert sorted(long_chain(2).leaf_order([[1.0], [0.0]]).tolist()) == [0, 1]


def test_an_order_is_ones_own():
    tree = long_chain(4)
    tree.leaf_order()[:] = 9
    assert tree.leaf_order().tolist() == [0, 1, 2, 3]


def test_the_order_of_a_long_chain_and_of_a_bush():
    n = scaled(200_000)
    X = RNG.normal(size=(n, 2)).astype(np.float32)
    chain = long_chain(n).leaf_order(X)
    assert sorted(chain.tolist()) == list(range(n))
    bush = Hierarchy(balanced(n), np.arange(1.0, n)).leaf_order(X)
    assert (np.abs(np.diff(np.argsort(bush).reshape(-1, 2), axis=1)) == 1).all()


# --- representatives ---------------------------------------------------------------------


@given(rows_of_any_kind(max_size=25), st.integers(1, 6))
def test_representatives(X, k):
    tree = HAC().fit(X).hierarchy()
    for v in range(tree.n_nodes):
        found = tree.representatives(v, X, k)
        points = tree.leaves(v).tolist()
        assert found.dtype.num == np.dtype(np.int64).num
        assert len(found) == len(set(found.tolist())) == min(k, len(points))
        assert set(found.tolist()) <= set(points)


@given(loose_rows(max_size=25), st.integers(1, 6))
def test_representatives_are_those_of_the_definition(X, k):
    tree = HAC().fit(X).hierarchy()
    for v in range(tree.n_nodes):
        points = tree.leaves(v).tolist()
        if len(points) != 2:  # both are as near to the mean, but for rounding
            assert tree.representatives(v, X, k).tolist() == oracle.representatives(X, points, k)


@given(loose_rows(min_size=3, max_size=25))
def test_the_first_is_the_medoid(X):
    tree = HAC().fit(X).hierarchy()
    sums = (oracle.distances(X) ** 2).sum(axis=1)
    (first,) = tree.representatives(tree.root, X, 1)
    assert sums[first] == pytest.approx(sums.min())


def test_outliers_represent_nothing():
    X = np.concatenate([RNG.normal(size=(100, 2)), [[40.0, 40.0], [-30.0, 50.0]]])
    tree = OHAC().fit(X).hierarchy()
    assert tree.representatives(tree.root, X, 10).max() < 100


def test_duplicates_are_different_points():
    tree = HAC().fit(np.ones((5, 2))).hierarchy()
    assert tree.representatives(tree.root, np.ones((5, 2)), 4).tolist() == [0, 1, 2, 3]


def test_under_cosine_only_directions_count():
    X = np.array([[1.0, 0.0], [100.0, 1.0], [1.0, 0.02], [0.0, 5.0]])
    tree = HAC(metric="cosine").fit(X).hierarchy()
    node = tree.lca(0, 2)
    assert tree.leaves(node).tolist() == [0, 1, 2]
    assert tree.representatives(node, X, 1, metric="cosine").tolist() == [1]
    assert tree.representatives(node, X, 1).tolist() != [1]


def test_a_large_node_is_looked_at_through_a_sample():
    n = 3000
    X = RNG.normal(size=(n, 2))
    tree = OHAC().fit(X).hierarchy()
    exact = tree.representatives(tree.root, X, 1)
    sampled = tree.representatives(tree.root, X, 1, max_points=300)
    assert tree.representatives(tree.root, X, 3, max_points=300).shape == (3,)
    assert np.linalg.norm(X[sampled] - X[exact]) < 0.5
    # The sample is spread over the branches by their sizes.
    spread = tree.representatives(tree.root, X, 300, max_points=300)
    halves = tree.cut(n_clusters=2)
    share = (halves == 0).mean()
    assert (halves[spread] == 0).mean() == pytest.approx(share, abs=0.01)


def test_only_the_rows_of_the_node_are_looked_at():
    X = np.array([[0.0], [1.0], [np.nan]])
    tree = Hierarchy([[0, 1], [3, 2]], [1.0, 2.0])
    assert tree.representatives(3, X, 2).tolist() == [0, 1]
    with pytest.raises(ValueError, match="X: row 2 holds a number that is not finite"):
        tree.representatives(4, X)


def test_rows_may_be_of_any_kind():
    X = RNG.integers(0, 50, size=(20, 3))
    tree = OHAC().fit(X).hierarchy()
    for other in (X.tolist(), pd.DataFrame(X), X.astype(np.float32), np.asfortranarray(X)):
        assert tree.leaf_order(other).tolist() == tree.leaf_order(X).tolist()
        found = tree.representatives(tree.root, other)
        assert found.tolist() == tree.representatives(tree.root, X).tolist()


# --- errors ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.ones((3, 2)), {}, "X: expected 4 rows, one for each point, got 3"),
        (np.ones(4), {}, r"X: expected a dense array of numbers of shape \(4, d\)"),
        (csr_array(np.eye(4)), {}, "X: expected a dense array"),
        ([["a"], ["b"], ["c"], ["d"]], {}, "X: expected a dense array of numbers"),
        ([[1.0], [np.inf], [2.0], [3.0]], {}, "X: row 1 holds a number that is not finite"),
        (np.ones((4, 2)), {"metric": "dot"}, "metric='dot': expected 'sqeuclidean' or 'cosine'"),
        ([[1.0], [2.0], [0.0], [3.0]], {"metric": "cosine"}, "X: row 2 holds only zeros"),
    ],
)
def test_bad_rows(X, options, message):
    tree = long_chain(4)
    with pytest.raises(ValueError, match=message):
        tree.leaf_order(X, **options)
    with pytest.raises(ValueError, match=message):
        tree.representatives(tree.root, X, **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"node": 7}, IndexError, "node 7: expected 0 to 6"),
        ({"node": 6, "k": 0}, ValueError, "k=0: expected at least 1"),
        ({"node": 6, "k": 1.5}, TypeError, "k=1.5: expected an int"),
        ({"node": 6, "max_points": 0}, ValueError, "max_points=0: expected at least 1"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        long_chain(4).representatives(X=np.ones((4, 1)), **options)
