"""Rows that are inserted beside points which somebody else has found."""

import numpy as np
import pytest

from tests.core_trees import core_tree
from tests.oracles.neighbours import brute_force
from tests.strategies import scaled


def test_a_row_beside_its_nearest_point_is_inserted_as_ever():
    X = np.random.default_rng(0).normal(size=(scaled(400), 3))
    told, alone = core_tree("ohac", 3), core_tree("ohac", 3)
    for i, row in enumerate(X):
        nearest = brute_force(X[:i], row[None], "sqeuclidean", 1)[0][0] if i else []
        told.insert_beside(row[None], np.array([nearest], dtype=np.uint64))
        alone.insert_one(row)
    for ours, theirs in zip(told.snapshot(), alone.snapshot(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    # The exact index was left behind; it catches up when it is asked, and goes on.
    np.testing.assert_array_equal(told.nearest(X, 2)[0], alone.nearest(X, 2)[0])
    assert told.insert_many(X) == alone.insert_many(X) == len(X)
    np.testing.assert_array_equal(told.snapshot()[0], alone.snapshot()[0])


def test_a_row_beside_any_point_makes_a_valid_tree():
    rng = np.random.default_rng(1)
    tree = core_tree("ohac", 3)
    for i, row in enumerate(rng.normal(size=(200, 3))):
        nearest = rng.integers(max(i, 1), size=(1, min(i, 3)))
        tree.insert_beside(row[None], nearest.astype(np.uint64))
        tree.check()
    assert len(tree) == 200


@pytest.mark.parametrize(
    ("points", "nearest", "message"),
    [
        (0, [0], "not among the points so far"),
        (2, [], "and any other at least one"),
        (2, [2], "not among the points so far"),
        (2, [0, 2**32 - 1], "not among the points so far"),
    ],
)
def test_neighbours_that_cannot_be_are_refused(points, nearest, message):
    tree = core_tree("ohac", 3)
    tree.insert_many(np.eye(3)[:points])
    with pytest.raises(ValueError, match=message):
        tree.insert_beside(np.ones((1, 3)), np.array([nearest], dtype=np.uint64))
    assert len(tree) == points
    if points:
        tree.check()


def test_a_neighbour_that_has_left_is_refused():
    tree = core_tree("ohac", 3)
    tree.insert_many(np.eye(3))
    tree.erase(1)
    with pytest.raises(ValueError, match="not among the points so far"):
        tree.insert_beside(np.ones((1, 3)), np.array([[1]], dtype=np.uint64))
    assert len(tree) == 2


def test_who_asks_for_no_neighbours_cannot_be_told_any():
    tree = core_tree("otd", 3)
    with pytest.raises(ValueError, match="asks for no neighbours"):
        tree.insert_beside(np.ones((1, 3)), np.empty((1, 0), dtype=np.uint64))


@pytest.mark.parametrize("algorithm", ["naive_nn", "perch", "grinch"])
def test_others_can_be_told_theirs(algorithm):
    X = np.random.default_rng(3).normal(size=(scaled(300), 3))
    told, alone = core_tree(algorithm, 3), core_tree(algorithm, 3)
    nearest = [[2**64 - 1]] + [
        brute_force(X[:i], X[i : i + 1], "sqeuclidean", 1)[0][0] for i in range(1, len(X))
    ]
    told.insert_beside(X, np.array(nearest, dtype=np.uint64))
    alone.insert_many(X)
    for ours, theirs in zip(told.snapshot(), alone.snapshot(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_rows_that_must_not_enter_are_refused_here_too():
    tree = core_tree("ohac", 3)
    none = np.empty((1, 0), dtype=np.uint64)
    with pytest.raises(ValueError, match="NaN"):
        tree.insert_beside(np.array([[0.0, np.nan, 0.0]]), none)
    with pytest.raises(ValueError, match="expected rows of 3 numbers, got 2"):
        tree.insert_beside(np.zeros((1, 2)), none)
    assert len(tree) == 0


def test_points_from_one_on():
    tree = core_tree("ohac", 3)
    X = np.random.default_rng(0).normal(size=(5, 3))
    tree.insert_many(X)
    for first in range(6):
        np.testing.assert_array_equal(tree.points(first), X[first:])
    with pytest.raises(ValueError, match="not that many"):
        tree.points(6)
