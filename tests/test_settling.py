"""Flat clusters finished: points move to where their neighbours or means are."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ramify
from ramify.settling import by_votes, to_means
from tests.oracles import settling as oracle
from tests.strategies import examples, seeds


def dense(labels):
    return np.unique(labels, return_inverse=True)[1]


@given(seeds(), st.integers(2, 12), st.integers(1, 5), st.integers(0, 4))
@settings(max_examples=examples(200))
def test_votes_are_counted_as_the_oracle_counts_them(seed, n, k, rounds):
    """Of any lists of neighbours; ties are frequent."""
    rng = np.random.default_rng(seed)
    labels, near = dense(rng.integers(0, 4, size=n)), rng.integers(0, n, size=(n, k))
    found = by_votes(labels, near, rounds)
    assert found.tolist() == oracle.voted(labels.tolist(), near.tolist(), rounds)


@given(seeds(), st.integers(2, 12), st.integers(1, 3), st.integers(0, 4))
@settings(max_examples=examples(200))
def test_points_go_to_the_nearest_mean(seed, n, width, rounds):
    """Whole numbers, so that ties are ties; what is added to all changes nothing."""
    rng = np.random.default_rng(seed)
    labels, rows = dense(rng.integers(0, 4, size=n)), rng.integers(-4, 5, size=(n, width))
    wanted = oracle.lloyd(labels.tolist(), rows.tolist(), rounds)
    for moved in 0.0, 1024.0:
        assert to_means(labels, rows + moved, rounds).tolist() == wanted


@given(seeds(), st.integers(2, 40), st.integers(1, 6), st.sampled_from(["neighbors", "means"]))
@settings(max_examples=examples(100))
def test_as_many_clusters_as_before_and_never_a_larger_sum_of_squares(seed, n, groups, by):
    rng = np.random.default_rng(seed)
    labels, rows = rng.integers(-1, groups, size=n) * 3, rng.normal(size=(n, 2)).round(1)
    found = ramify.settle(labels, rows, by=by, rounds=4)
    assert set(found.labels) == set(labels)
    np.testing.assert_array_equal(found.moved, np.flatnonzero(found.labels != labels))
    assert (labels[found.moved] >= 0).all()
    if by == "means":
        there = np.flatnonzero(labels >= 0)
        now, then = (oracle.squares(x[there].tolist(), rows[there]) for x in (found[0], labels))
        assert float(now - then) <= 1e-9


@given(seeds(), st.integers(3, 10), st.integers(1, 12), st.booleans())
@settings(max_examples=examples(60))
def test_neighbours_are_the_nearest_of_the_points_in_clusters(seed, n, k, directions):
    rng = np.random.default_rng(seed)
    rows, labels = rng.normal(size=(n, 3)), rng.integers(-1, 3, size=n)
    there = np.flatnonzero(labels >= 0)
    assume(len(there) > 1)
    metric = "cosine" if directions else "sqeuclidean"
    shown = rows / np.linalg.norm(rows, axis=1, keepdims=True) if directions else rows
    near = oracle.nearest(shown[there], min(k, len(there) - 1))
    wanted = oracle.voted(labels[there].tolist(), near, 3)
    found = ramify.settle(labels, rows, n_neighbors=k, metric=metric)
    assert found.labels[there].tolist() == wanted


def test_lists_frames_and_more_rows_than_a_block():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, size=9_000)
    rows = np.eye(5)[truth] * 20 + rng.normal(size=(9_000, 5))
    wrong = rng.integers(0, 9_000, size=200)
    labels = truth.copy()
    labels[wrong] = rng.integers(0, 5, size=200)
    for by in "neighbors", "means":
        np.testing.assert_array_equal(ramify.settle(labels, rows, by=by).labels, truth)
    few = ramify.settle(labels[:50].tolist(), rows[:50].astype(np.float32).tolist(), by="means")
    assert few.labels.dtype == np.int64


@pytest.mark.parametrize("by", ["neighbors", "means"])
def test_what_there_is_nothing_to_move_of(by):
    for labels in [4], [-1, -1], [-1, 3], [0, 0]:
        found = ramify.settle(labels, [[float(i)] for i in range(len(labels))], by=by)
        assert found.labels.tolist() == labels
        assert len(found.moved) == 0
    assert len(ramify.settle([0, 0, 1], [[0.0], [9.0], [9.0]], by=by, rounds=0).moved) == 0


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"by": "median"}, ValueError, "'neighbors'"),
        ({"rounds": -1}, ValueError, "rounds=-1"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors=0"),
        ({"metric": "dot"}, ValueError, "metric='dot'"),
        ({"labels": [0, 1, 1]}, ValueError, r"model\.points\(\)"),
        ({"labels": [0.5, 1.0]}, TypeError, "whole numbers"),
        ({"labels": [[0], [1]]}, TypeError, "flat"),
        ({"X": [[1.0], [float("nan")]]}, ValueError, "NaN"),
        ({"X": [[1.0], [0.0]], "metric": "cosine"}, ValueError, "only zeros"),
    ],
)
def test_bad_calls(options, error, says):
    given_ = {"labels": [0, 1], "X": [[1.0], [2.0]], **options}
    with pytest.raises(error, match=says):
        ramify.settle(given_.pop("labels"), given_.pop("X"), **given_)
