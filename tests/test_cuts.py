"""Cuts by size, and many at once."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree

from ramify import HAC, OHAC, Hierarchy
from tests.oracles import cuts as oracle
from tests.shapes import balanced, hierarchies, long_chain
from tests.strategies import scaled

BIG = scaled(500_000)


def sizes_of(labels) -> list[int]:
    return np.bincount(labels[labels >= 0]).tolist()


# --- at most ---------------------------------------------------------------------------


@given(hierarchies(), st.data())
def test_max_size(tree, data):
    most = data.draw(st.integers(1, tree.n_leaves + 3))
    labels = tree.cut(max_size=most)
    assert labels.dtype.num == np.dtype(np.int64).num
    clusters = oracle.at_most(oracle.root(tree), most)
    assert labels.tolist() == oracle.labels_of(clusters, tree.n_leaves)


@given(hierarchies())
def test_max_size_at_its_ends(tree):
    assert tree.cut(max_size=1).tolist() == list(range(tree.n_leaves))
    assert tree.cut(max_size=tree.n_leaves).tolist() == [0] * tree.n_leaves


def test_max_size_on_large_trees():
    assert sizes_of(long_chain(BIG).cut(max_size=7)) == [7] + [1] * (BIG - 7)
    tree = Hierarchy(balanced(2**12), np.arange(1.0, 2**12))
    assert sizes_of(tree.cut(max_size=100)) == [64] * 2**6


# --- at least --------------------------------------------------------------------------


@given(hierarchies(), st.data(), st.sampled_from(["join", "noise"]))
def test_min_size(tree, data, small):
    least = data.draw(st.integers(1, tree.n_leaves))
    labels = tree.cut(min_size=least, small=small)
    assert labels.dtype.num == np.dtype(np.int64).num
    clusters = oracle.at_least(oracle.root(tree), least, small)
    assert labels.tolist() == oracle.labels_of(clusters, tree.n_leaves)


@given(hierarchies(), st.data())
def test_what_min_size_promises(tree, data):
    least = data.draw(st.integers(1, tree.n_leaves))
    joined = tree.cut(min_size=least)
    noisy = tree.cut(min_size=least, small="noise")
    assert joined.min() == 0
    assert min(sizes_of(joined)) >= min(sizes_of(noisy)) >= least
    assert len(sizes_of(joined)) == len(sizes_of(noisy))
    # Joining moves no point from one cluster to another.
    kept = noisy >= 0
    assert len(set(zip(joined[kept], noisy[kept], strict=True))) == len(sizes_of(noisy))


@given(hierarchies())
def test_min_size_at_its_ends(tree):
    for small in ("join", "noise"):
        assert tree.cut(min_size=1, small=small).tolist() == list(range(tree.n_leaves))
        assert tree.cut(min_size=tree.n_leaves, small=small).tolist() == [0] * tree.n_leaves


def test_a_single_outlier_does_not_stop_the_search():
    """As it would if a node were split only where both sides are large enough."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 20, [[500.0, 500.0]]])
    tree = HAC().fit(X).hierarchy()
    labels = tree.cut(min_size=40, small="noise")
    assert labels.tolist() == [0] * 50 + [1] * 50 + [-1]
    assert sorted(sizes_of(tree.cut(min_size=40))) == [50, 51]


def test_a_small_branch_goes_down_on_the_larger_side():
    # ((0 1) (2 3 4)) and a lone 5
    tree = Hierarchy([[0, 1], [2, 3], [7, 4], [6, 8], [9, 5]], np.arange(1.0, 6))
    assert tree.cut(min_size=2).tolist() == [0, 0, 1, 1, 1, 1]
    # ((0 1) (2 3)) and a lone 4: equal, so the first
    tree = Hierarchy([[0, 1], [2, 3], [5, 6], [7, 4]], np.arange(1.0, 5))
    assert tree.cut(min_size=2).tolist() == [0, 0, 1, 1, 0]


def test_min_size_on_large_trees():
    chain = long_chain(BIG)
    for small in ("join", "noise"):
        assert sizes_of(chain.cut(min_size=10, small=small)) == [BIG]
    tree = Hierarchy(balanced(2**12), np.arange(1.0, 2**12))
    assert sizes_of(tree.cut(min_size=50)) == [64] * 2**6


def test_min_size_on_a_chain_of_pairs():
    """Forks as deep as the tree is: nothing may be walked again and again."""
    pairs = BIG // 2
    n = 2 * pairs
    couples = np.arange(n).reshape(-1, 2)
    last = np.concatenate([[n], np.arange(n + pairs, n + 2 * pairs - 2)])
    spine = np.column_stack([last, np.arange(n + 1, n + pairs)])
    tree = Hierarchy(np.concatenate([couples, spine]), np.arange(1.0, n))
    tree.check()
    for small in ("join", "noise"):
        assert tree.cut(min_size=2, small=small).tolist() == (np.arange(n) // 2).tolist()
    assert sizes_of(tree.cut(min_size=3)) == [n]


# --- so many, each of at least ---------------------------------------------------------


@given(hierarchies(), st.data(), st.sampled_from(["join", "noise"]))
def test_so_many_clusters_of_a_least_size(tree, data, small):
    least = data.draw(st.integers(1, tree.n_leaves))
    top = oracle.root(tree)
    count = data.draw(st.integers(1, len(oracle.forks(top, least)) + 1))
    labels = tree.cut(n_clusters=count, min_size=least, small=small)
    assert labels.dtype.num == np.dtype(np.int64).num
    clusters = oracle.k_of_at_least(top, count, least, small)
    assert labels.tolist() == oracle.labels_of(clusters, tree.n_leaves)
    assert len(sizes_of(labels)) == count
    assert min(sizes_of(labels)) >= least
    assert small == "noise" or labels.min() == 0


@given(hierarchies(), st.data(), st.sampled_from(["join", "noise"]))
def test_a_least_size_from_a_height_on(tree, data, small):
    least = data.draw(st.integers(1, tree.n_leaves))
    height = data.draw(st.sampled_from([*tree.monotone_heights.tolist(), -1.0, 1e9]))
    top = oracle.root(tree)
    undone = {fork.v for fork in oracle.forks(top, least) if fork.height >= height}
    labels = tree.cut(height=height, min_size=least, small=small)
    clusters = oracle.at_least_among(top, least, small, undone)
    assert labels.tolist() == oracle.labels_of(clusters, tree.n_leaves)


@given(hierarchies(), st.data())
def test_what_a_number_and_a_least_size_agree_with(tree, data):
    count = data.draw(st.integers(1, tree.n_leaves))
    assert tree.cut(n_clusters=count, min_size=1).tolist() == tree.cut(n_clusters=count).tolist()
    least = data.draw(st.integers(1, tree.n_leaves))
    for small in ("join", "noise"):
        all_of_them = tree.cut(min_size=least, small=small)
        most = len(sizes_of(all_of_them))
        again = tree.cut(n_clusters=most, min_size=least, small=small)
        assert again.tolist() == all_of_them.tolist()
        # Cuts are nested: what is together stays together further up.
        fewer = tree.cut(n_clusters=max(most - 1, 1), min_size=least, small=small)
        kept = all_of_them >= 0
        assert len(set(zip(all_of_them[kept], fewer[kept], strict=True))) == most


def test_one_outlier_takes_no_cluster_away():
    """As one takes it in a plain cut: k = 2 gave 100 points and one."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 20, [[500.0, 500.0]]])
    tree = HAC().fit(X).hierarchy()
    assert sorted(sizes_of(tree.cut(n_clusters=2))) == [1, 100]
    assert sorted(sizes_of(tree.cut(n_clusters=2, min_size=5))) == [50, 51]
    assert tree.cut(n_clusters=2, min_size=5, small="noise")[-1] == -1


def test_so_many_of_a_least_size_on_large_trees():
    chain = long_chain(BIG)
    assert sizes_of(chain.cut(n_clusters=1, min_size=10)) == [BIG]
    with pytest.raises(ValueError, match="the tree has 1 cluster of at least 10 points"):
        chain.cut(n_clusters=2, min_size=10)
    tree = Hierarchy(balanced(2**12), np.arange(1.0, 2**12))
    assert sorted(sizes_of(tree.cut(n_clusters=3, min_size=50))) == [2**10, 2**10, 2**11]


# --- many ------------------------------------------------------------------------------


@given(hierarchies(), st.data())
def test_cut_many_is_many_cuts(tree, data):
    counts = data.draw(st.lists(st.integers(1, tree.n_leaves), max_size=6))
    found = tree.cut_many(counts)
    assert found.shape == (tree.n_leaves, len(counts))
    assert found.dtype.num == np.dtype(np.int64).num
    for column, count in zip(found.T, counts, strict=True):
        assert column.tolist() == tree.cut(n_clusters=count).tolist()
    assert tree.cut_many(np.array(counts, dtype=np.int32)).tolist() == found.tolist()


@given(hierarchies(), st.data())
def test_cut_many_by_height(tree, data):
    at = st.sampled_from([*tree.monotone_heights.tolist(), -1.0, 0, 1e9, np.inf, -np.inf])
    heights = data.draw(st.lists(at, max_size=6))
    found = tree.cut_many(heights=heights)
    assert found.shape == (tree.n_leaves, len(heights))
    for column, height in zip(found.T, heights, strict=True):
        assert column.tolist() == tree.cut(height=height).tolist()


def test_cut_many_has_the_columns_of_scipys_cut_tree():
    X = np.random.default_rng(1).normal(size=(40, 3))
    tree = OHAC().fit(X).hierarchy()
    counts = [1, 3, 7, 40]  # SciPy wants them sorted
    ours, theirs = tree.cut_many(counts), cut_tree(tree.to_linkage(), counts)
    assert ours.shape == theirs.shape
    for a, b, count in zip(ours.T, theirs.T, counts, strict=True):
        assert len(set(zip(a.tolist(), b.tolist(), strict=True))) == count


def test_cut_many_on_a_long_chain():
    found = long_chain(BIG).cut_many([1, 2, BIG])
    assert found[:3].tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 2]]
    assert found[-1].tolist() == [0, 1, BIG - 1]


# --- errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_size": 0}, ValueError, "max_size=0: expected at least 1"),
        ({"max_size": 2.0}, TypeError, "max_size=2.0: expected an int"),
        ({"min_size": 0}, ValueError, "min_size=0: expected 1 to 4, the number of points"),
        ({"min_size": 5}, ValueError, "min_size=5: expected 1 to 4"),
        ({"min_size": True}, TypeError, "min_size=True: expected an int"),
        ({"min_size": 2, "small": "drop"}, ValueError, "small='drop': expected 'join' or 'noise'"),
        ({"max_size": 2, "small": "noise"}, ValueError, "goes with min_size"),
        ({"min_size": 2, "max_size": 3}, ValueError, "give one of"),
        ({"n_clusters": 2, "height": 1.0}, ValueError, "give one of .* got n_clusters=2, height"),
        ({"n_clusters": 2, "height": 1.0, "min_size": 2}, ValueError, "give one of"),
        ({"min_size": 2, "n_clusters": 9}, ValueError, "the tree has 1 cluster of at least 2"),
        ({"min_size": 2, "n_clusters": 0}, ValueError, "n_clusters=0: expected at least 1"),
        ({"min_size": 2, "height": float("nan")}, ValueError, "height=nan"),
        ({"small": "noise"}, ValueError, "give one of"),
    ],
)
def test_bad_cuts(options, error, message):
    with pytest.raises(error, match=message):
        long_chain(4).cut(**options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, "one of the two"),
        ({"n_clusters": [1], "heights": [1.0]}, ValueError, "one of the two"),
        ({"n_clusters": 3}, ValueError, "n_clusters: expected a flat sequence"),
        ({"n_clusters": [[3]]}, ValueError, "expected a flat sequence"),
        ({"n_clusters": [1, 0]}, ValueError, "n_clusters=0: expected 1 to 4"),
        ({"n_clusters": [1.0]}, TypeError, "n_clusters=1.0: expected an int"),
        ({"heights": [np.nan]}, ValueError, "height=nan"),
        ({"heights": ["a"]}, TypeError, "expected a number"),
    ],
)
def test_bad_many_cuts(options, error, message):
    with pytest.raises(error, match=message):
        long_chain(4).cut_many(**options)


def test_a_bare_number_was_answered_by_counting_arguments():
    tree = HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
    with pytest.raises(TypeError) as caught:
        tree.cut(10)
    assert str(caught.value).startswith("cut(10): say what 10 is: cut(n_clusters=10) or cut(height")
    assert "n_clusters" in inspect.signature(tree.cut).parameters
