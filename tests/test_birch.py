"""BIRCH: scikit-learn's CF tree, every node of it a node of the hierarchy."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import Birch

from ramify import BIRCH, HAC
from ramify.estimators import _cf_tree
from tests.oracles.recount import examine
from tests.oracles.trees import clusters, from_children
from tests.strategies import dtypes, few_values, grid_rows, loose_rows, scaled

OPTIONS = {
    "threshold": st.sampled_from([0.01, 0.5, 3.0]),
    "branching_factor": st.sampled_from([2, 3, 50]),
    "metric": st.sampled_from(["sqeuclidean", "cosine"]),
}


def options_for(X, options):
    return {**options, "metric": "sqeuclidean"} if (X == 0).all(axis=1).any() else options


def cf_groups(root, X):
    """The members of every CF node and subcluster, each row walking down by itself."""
    groups = {}
    for i, x in enumerate(X):
        node, path = root, ()
        while node is not None:
            closest = int(((node.centroids_ - x) ** 2).sum(axis=1).argmin())
            path += (closest,)
            groups.setdefault(path, []).append(i)
            node = node.subclusters_[closest].child_
    return {tuple(members) for members in groups.values() if len(members) > 1}


@given(
    X=loose_rows(max_size=60), branching=st.integers(2, 6), threshold=st.sampled_from([0.1, 0.5, 2])
)
def test_every_node_of_scikit_learns_tree_is_a_node(X, branching, threshold):
    options = {"branching_factor": branching, "threshold": float(threshold)}
    theirs = Birch(**options, n_clusters=None, compute_labels=False).fit(X)
    ours = BIRCH(**options).fit(X).hierarchy()
    assert cf_groups(theirs.root_, X) <= clusters(from_children(ours.children))


def test_one_subcluster_is_plain_hac():
    X = np.random.default_rng(0).normal(size=(200, 3))
    assert BIRCH(threshold=100.0).fit(X).hierarchy() == HAC().fit(X).hierarchy()


@given(
    X=st.one_of(loose_rows(), grid_rows(), few_values()),
    options=st.fixed_dictionaries(OPTIONS),
    dtype=dtypes(),
)
def test_trees_are_valid_and_counted_right(X, options, dtype):
    X = X.astype(dtype)
    model = BIRCH(**options_for(X, options)).fit(X)
    model.check()
    examine(model, X)


@given(
    X=st.one_of(loose_rows(min_size=2), few_values(min_size=2)),
    options=st.fixed_dictionaries(OPTIONS),
    data=st.data(),
)
def test_batches_single_rows_and_pickles_continue_identically(X, options, data):
    options = options_for(X, options)
    whole = BIRCH(**options).fit(X)
    cut = data.draw(st.integers(1, len(X) - 1))
    pieces = BIRCH(**options).fit(X[:cut])
    unread = pickle.loads(pickle.dumps(pieces))
    pieces.hierarchy()
    twin = pickle.loads(pickle.dumps(pieces))
    assert twin.hierarchy() == pieces.hierarchy()
    pieces.partial_fit(X[cut:])
    for row in X[cut:]:
        twin.insert(row)
        unread.partial_fit(row[np.newaxis])
    for model in (pieces, twin, unread):
        assert model.hierarchy() == whole.hierarchy()
        model.check()


def test_a_crowded_subcluster_is_halved(monkeypatch):
    monkeypatch.setattr(_cf_tree, "_CROWD", 20)
    rng = np.random.default_rng(0)
    for X in (
        rng.normal(size=(300, 2)),
        np.ones((300, 2)),
        rng.integers(0, 2, size=(300, 1)) * 1.0,
    ):
        model = BIRCH(threshold=100.0).fit(X)
        examine(model, X)
        assert model.hierarchy().depths().max() < 40


def test_a_hundred_thousand_rows():
    X = np.random.default_rng(0).normal(size=(scaled(100_000), 2)).astype(np.float32)
    model = BIRCH(threshold=0.1).fit(X)
    model.check()
    assert len(model.hierarchy()) == len(X)


def test_rows_far_from_zero_find_their_own_group():
    """scikit-learn's sums of squares lose all digits here; the tree must stay a tree."""
    X = 1e8 + np.random.default_rng(0).normal(size=(300, 2))
    examine(BIRCH(threshold=0.5).fit(X), X)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interrupt_anywhere_leaves_a_valid_model(monkeypatch, error):
    """Also inside of scikit-learn, where the CF tree may be caught half way."""
    X = np.random.default_rng(0).normal(size=(5000, 2))
    model = BIRCH(threshold=0.2).fit(X[:1500])
    real = _cf_tree.Birch.partial_fit
    calls = []

    def broken(self, rows):
        calls.append(len(rows))
        real(self, rows[: len(rows) // 2])
        if len(calls) == 2:
            raise error
        return real(self, rows[len(rows) // 2 :])

    monkeypatch.setattr(_cf_tree.Birch, "partial_fit", broken)
    with pytest.raises(error):
        model.partial_fit(X[1500:])
    monkeypatch.undo()
    assert 1500 < len(model) < 5000
    model.check()
    assert model.hierarchy() == BIRCH(threshold=0.2).fit(X[: len(model)]).hierarchy()
    model.partial_fit(X[len(model) :])
    assert model.hierarchy() == BIRCH(threshold=0.2).fit(X).hierarchy()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": "dot"}, ValueError, "'sqeuclidean', 'cosine'"),
        ({"threshold": 0}, ValueError, "threshold=0: expected a finite number above 0"),
        ({"threshold": float("inf")}, ValueError, "above 0"),
        ({"threshold": "1"}, TypeError, "expected a number, got str"),
        ({"branching_factor": 1}, ValueError, "branching_factor=1: expected at least 2"),
        ({"branching_factor": 2**31}, ValueError, "expected at most 2,147,483,647"),
        ({"threshold": 10**400}, ValueError, "threshold is beyond all floats"),
        ({"branching_factor": 2.0}, TypeError, "expected an int"),
    ],
)
def test_bad_options(options, error, message):
    fitted = BIRCH().fit([[0.0], [1.0]])
    fitted.set_params(**options)
    for model in (BIRCH(**options), fitted):
        before = len(model)
        for call in (model.fit, model.partial_fit, lambda X, m=model: m.insert(X[0])):
            with pytest.raises(error, match=message):
                call([[0.0], [1.0]])
        assert len(model) == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_large_branching_factor_took_memory_for_rows_that_never_came(dtype, monkeypatch):
    """scikit-learn sets the whole of it aside for each node: 48 GB for the largest."""
    monkeypatch.setattr(_cf_tree, "_FEED", 7)
    X = np.random.default_rng(0).normal(size=(300, 3)).astype(dtype)
    largest = BIRCH(threshold=0.1, branching_factor=2**31 - 1)
    enough = BIRCH(threshold=0.1, branching_factor=300)
    for begin in range(0, 300, 50):
        rows = X[begin : begin + 50]
        assert largest.partial_fit(rows).hierarchy() == enough.partial_fit(rows).hierarchy()
    for model in (largest, enough):
        assert model.hierarchy() == type(model)(**model.get_params()).fit(X).hierarchy()
        model.check()
    theirs = _cf_tree.Birch(threshold=0.1, branching_factor=300, n_clusters=None).fit(X)
    ours = largest._live._core._birch
    assert np.array_equal(ours.subcluster_centers_, theirs.subcluster_centers_)
