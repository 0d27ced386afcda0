"""Triplet distance: against the definition, on every shape, and at size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage

from ramify import HAC, OHAC
from ramify.metrics import triplet_distance
from tests.oracles import measures as oracle
from tests.shapes import KINDS, balanced, chain, pairs_of, shape, trees
from tests.strategies import SMALL, examples

EXAMPLES = examples(100)


@st.composite
def two_trees(draw):
    first = draw(trees(max_size=16))
    kind = draw(st.sampled_from(KINDS))
    seed = draw(st.integers(0, 2**32 - 1))
    return first, shape(kind, len(first) + 1, np.random.default_rng(seed))


@settings(max_examples=EXAMPLES)
@given(two_trees())
def test_the_distance_is_the_papers(both):
    first, second = both
    distance = triplet_distance(first, second)
    assert distance == oracle.triplet_distance(pairs_of(first), pairs_of(second))
    assert distance.exact
    assert distance.stderr == 0


@settings(max_examples=EXAMPLES)
@given(two_trees())
def test_it_is_symmetric_and_zero_for_one_tree(both):
    first, second = both
    assert triplet_distance(first, second) == triplet_distance(second, first)
    assert triplet_distance(first, first) == 0
    swapped = np.ascontiguousarray(first[:, ::-1])
    assert triplet_distance(first, swapped) == 0


@pytest.mark.parametrize("n", [1, 2])
def test_there_are_no_triples_in_two_points(n):
    tree = np.array([[0, 1]][: n - 1], dtype=np.int64).reshape(-1, 2)
    assert triplet_distance(tree, tree) == 0.0
    assert triplet_distance(tree, tree, sample=10) == 0.0


def test_every_pair_of_trees_over_three_points():
    def first_pair(i, j, k):
        return [[i, j], [3, k]]

    a, b, c = first_pair(0, 1, 2), first_pair(0, 2, 1), first_pair(1, 2, 0)
    for one in (a, b, c):
        for other in (a, b, c):
            assert triplet_distance(one, other) == (one is not other)


@pytest.mark.parametrize("kinds", [(a, b) for a in KINDS for b in KINDS])
def test_larger_trees_agree_with_all_their_triples(kinds):
    n = 24 if SMALL else 60
    rng = np.random.default_rng(11)
    first, second = (shape(kind, n, rng) for kind in kinds)
    expected = oracle.triplet_distance(pairs_of(first), pairs_of(second))
    assert triplet_distance(first, second) == expected


@pytest.mark.parametrize("kinds", [("random", "random"), ("chain", "balanced"), ("chain", "chain")])
def test_a_sample_is_near_the_exact_value(kinds):
    rng = np.random.default_rng(5)
    first, second = (shape(kind, 3000, rng) for kind in kinds)
    exact = triplet_distance(first, second)
    estimate = triplet_distance(first, second, sample=20_000, random_state=1)
    assert not estimate.exact
    assert 0 < estimate.stderr < 0.005
    assert abs(estimate - exact) < 4 * estimate.stderr
    again = triplet_distance(first, second, sample=20_000, random_state=1)
    assert (again, again.stderr) == (estimate, estimate.stderr)


def test_unrelated_trees_are_two_thirds_apart():
    rng = np.random.default_rng(0)
    distances = [
        triplet_distance(shape("random", 500, rng), shape("random", 500, rng)) for _ in range(5)
    ]
    assert np.mean(distances) == pytest.approx(2 / 3, abs=0.02)


def test_all_kinds_of_trees_are_taken():
    X = np.random.default_rng(3).normal(size=(80, 3))
    ours = HAC().fit(X)
    theirs = linkage(X, "average", "sqeuclidean")
    assert triplet_distance(ours.hierarchy(), theirs) == 0
    assert triplet_distance(ours.children_, theirs) == 0
    assert 0 < triplet_distance(OHAC().fit(X).hierarchy(), theirs) < 1


@pytest.mark.parametrize("shapes", [(chain, chain), (chain, balanced), (balanced, chain)])
def test_half_a_million_leaves_deep_and_shallow(shapes):
    n = 5_000 if SMALL else 500_000
    first, second = (make(n) for make in shapes)
    if shapes == (chain, chain):
        # The same chain the other way up: leaf i is now leaf n - 1 - i.
        second = np.where(second < n, n - 1 - second, second)
        # i < j < k: ij|k in one, jk|i in the other. They agree on nothing.
        assert triplet_distance(first, second) == 1.0
    else:
        exact = triplet_distance(first, second)
        estimate = triplet_distance(first, second, sample=20_000, random_state=0)
        assert abs(exact - estimate) < 4 * estimate.stderr


def test_progress_is_reported_and_can_stop():
    n = 20_000
    first, second = balanced(n), shape("random", n, np.random.default_rng(2))
    seen = []
    triplet_distance(first, second, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (n, n)
    assert seen == sorted(seen)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([[0, 1]], [[0, 1], [3, 2]], "first tree has 2 leaves, the second 3"),
        ([[0, 1], [3, 2]], [[0, 3], [1, 2]], "second: row 0 describes node 3"),
        ([[0, 1], [0, 2]], [[0, 1], [3, 2]], "first: node 0 is the child of more than one"),
    ],
)
def test_what_is_not_a_pair_of_trees_is_refused(first, second, message):
    with pytest.raises(ValueError, match=message):
        triplet_distance(first, second)
