"""Streams that break things: heaps, chains, sorted input, huge offsets, a million points."""

import copy
import gc
import pickle

import numpy as np
import pytest

from ramify import BIRCH, HAC, OHAC, OTD, LiveGraphHAC, NaiveNN
from tests.every import (
    ESTIMATORS,
    STEADY,
    every_estimator,
    every_estimator_and_metric,
    every_online,
    every_steady,
)
from tests.oracles.recount import core_of, examine
from tests.oracles.trees import fingerprints
from tests.strategies import SMALL, chain_rows, powers_of_two, scaled


def is_chain_in_order(hierarchy):
    """Merge k is of points 0 … k with point k + 1."""
    n = hierarchy.n_leaves
    below = np.r_[0, np.arange(n, 2 * n - 2)]
    above = np.arange(1, n)
    return np.array_equal(np.sort(hierarchy.children, axis=1), np.sort(np.c_[below, above], axis=1))


def all_within(depths, n, factor=2):
    return depths.max() <= factor * np.ceil(np.log2(n)) + 1


# --- heaps of equal points ----------------------------------------------------


def test_ohac_of_100_000_equal_points_stays_shallow():
    X = np.full((scaled(100_000), 2), 0.1)
    model = OHAC().partial_fit(X)
    assert all_within(model.hierarchy().depths(), len(X))
    assert not model.hierarchy().heights.any()
    examine(model, X, sample=20)


def test_otd_of_100_000_equal_points_is_a_chain():
    # Algorithm 1 stops at once: nothing in the tree is less similar than the point.
    X = np.full((scaled(100_000), 2), 0.1)
    model = OTD().partial_fit(X)
    assert is_chain_in_order(model.hierarchy())
    examine(model, X, sample=20)


def test_naive_nn_of_thousands_of_equal_points():
    X = np.full((scaled(10_000), 2), 0.1)
    model = NaiveNN().partial_fit(X)
    assert model.hierarchy().depths().max() == len(X) - 1
    examine(model, X, sample=20)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine"])
def test_ohac_keeps_100_000_points_of_1_000_values_in_their_heaps(metric, dtype):
    rng = np.random.default_rng(0)
    n, distinct = scaled(100_000), scaled(1_000)
    which = np.r_[np.arange(distinct), rng.integers(distinct, size=n - distinct)]
    X = rng.normal(size=(distinct, 3)).astype(dtype)[rng.permutation(which)]
    model = OHAC(metric=metric).partial_fit(X)
    tree = model.hierarchy()
    _, heap = np.unique(X, axis=0, return_inverse=True)
    labels = tree.cut(n_clusters=distinct)
    assert len(set(zip(labels.tolist(), heap.ravel().tolist(), strict=True))) == distinct
    assert np.count_nonzero(tree.heights) == distinct - 1
    examine(model, X, sample=20)


@pytest.mark.parametrize("linkage", ["centroid", "ward"])
def test_other_linkages_on_heaps(linkage):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(scaled(1000) // 2, 3))[
        rng.integers(scaled(1000) // 2, size=scaled(20_000))
    ]
    model = OHAC(linkage=linkage).partial_fit(X)
    examine(model, X, sample=20)


# --- chains -------------------------------------------------------------------


def test_powers_of_two_are_a_chain_for_ohac_and_hac():
    X = powers_of_two()
    assert is_chain_in_order(OHAC().partial_fit(X).hierarchy())
    assert is_chain_in_order(HAC().fit(X).hierarchy())


@pytest.mark.parametrize("linkage", ["average", "centroid", "ward"])
def test_ohac_takes_a_chain_of_hundreds_apart_and_builds_it_again(linkage):
    # Powers of four are a chain under each of the linkages, grown at the root. The
    # neighbour of the newcomer is the deepest leaf, so the forest is everybody.
    X = powers_of_two()[::2]
    newcomer = 1.25 * X[:1]
    model = OHAC(linkage=linkage).partial_fit(X)
    assert is_chain_in_order(model.hierarchy())
    tree = model.partial_fit(newcomer).hierarchy()
    offline = HAC(linkage=linkage).fit(np.vstack([X, newcomer])).hierarchy()
    assert tree.children[0].tolist() == [0, len(X)]
    assert tree.depths().max() == len(X)
    np.testing.assert_array_equal(tree.children, offline.children)
    np.testing.assert_allclose(tree.heights, offline.heights, rtol=1e-12)


@every_online
@pytest.mark.parametrize("order", ["down", "shuffled"])
def test_powers_of_two_in_another_order(Estimator, order):
    X = powers_of_two()[:: 50 if SMALL else 1]
    X = X[::-1].copy() if order == "down" else np.random.default_rng(0).permutation(X)
    model = Estimator().partial_fit(X)
    assert np.isfinite(model.hierarchy().heights).all()
    model._live.check()


def test_ohac_grows_and_rebuilds_a_true_chain():
    n = scaled(1500)
    X = chain_rows(n)
    model = OHAC().partial_fit(X)
    assert is_chain_in_order(model.hierarchy())
    examine(model, X, sample=20)
    # The neighbour of this one is the deepest leaf: the whole chain is taken apart.
    near_the_bottom = X[:1] + 1e-3
    model.partial_fit(near_the_bottom)
    tree = model.hierarchy()
    assert tree.children[0].tolist() == [0, n]
    assert tree.depths().max() == n
    examine(model, np.vstack([X, near_the_bottom]), sample=20)


def test_ohac_rebuilds_the_whole_chain_on_every_insert():
    # Orthogonal rows of slowly growing length: everyone's neighbour is the first.
    n = max(scaled(250), 20)
    X = np.diag(1 + np.arange(n) / n)
    model = OHAC().partial_fit(X)
    assert is_chain_in_order(model.hierarchy())
    examine(model, X, sample=20)


# --- order, offset, precision ---------------------------------------------------


@every_steady
@pytest.mark.parametrize("order", ["up", "down", "inwards"])
def test_sorted_streams(Estimator, order):
    n = scaled(20_000)
    values = np.arange(n, dtype=np.float64)
    if order == "down":
        values = values[::-1]
    elif order == "inwards":
        values = np.where(values % 2, n - values, values)
    X = np.ascontiguousarray(values[:, None])
    examine(Estimator().partial_fit(X), X, sample=20)


# scikit-learn's CF tree keeps squared lengths, in which noise far away drowns: no BIRCH.
@pytest.mark.parametrize("Estimator", [one for one in ESTIMATORS if one is not BIRCH])
def test_unit_noise_far_away_gives_the_tree_of_the_noise(Estimator):
    # 2^27 is near 1e8; noise on a grid of 2^-20 survives the addition untouched,
    # so both streams have the very same distances.
    n = scaled(2000) if Estimator in STEADY else min(scaled(2000), 500)
    noise = np.round(np.random.default_rng(3).normal(size=(n, 3)) * 2**20) / 2**20
    near, far = Estimator().fit(noise), Estimator().fit(noise + 2.0**27)
    examine(far, noise + 2.0**27)
    if Estimator is LiveGraphHAC:  # whose ties go by hashes of the rows
        return
    marks = [fingerprints(model.hierarchy().children) for model in (near, far)]
    assert set(marks[0].tolist()) == set(marks[1].tolist())
    heights = [
        model.hierarchy().heights[np.argsort(mark)]
        for model, mark in zip((near, far), marks, strict=True)
    ]
    np.testing.assert_allclose(heights[1], heights[0], rtol=1e-6)


@every_online
def test_unit_noise_at_1e8(Estimator):
    X = 1e8 + np.random.default_rng(3).normal(size=(scaled(5000), 3))
    model = Estimator().partial_fit(X)
    assert (model.hierarchy().heights >= 0).all()
    assert model.hierarchy().heights.max() < 100, "the spread of unit noise"
    examine(model, X)


@every_estimator_and_metric
def test_single_and_double_precision_agree(Estimator, metric):
    X = np.random.default_rng(11).normal(size=(200, 3)).astype(np.float32)
    single = Estimator(metric=metric).fit(X)
    double = Estimator(metric=metric).fit(X.astype(np.float64))
    if (Estimator, metric) != (LiveGraphHAC, "cosine"):  # ties go by hashes of rows at unit length
        marks = [fingerprints(model.hierarchy().children) for model in (single, double)]
        assert set(marks[0].tolist()) == set(marks[1].tolist())
    assert core_of(single).points().dtype == np.float32
    assert core_of(double).points().dtype == np.float64


@every_estimator_and_metric
def test_one_point_and_two_points(Estimator, metric):
    X = np.array([[3.0, 4.0], [4.0, 3.0]])
    one, two = Estimator(metric=metric).fit(X[:1]), Estimator(metric=metric).fit(X)
    assert one.hierarchy().children.shape == (0, 2)
    assert two.hierarchy().children.tolist() == [[0, 1]]
    height = {"sqeuclidean": 2.0, "cosine": 1 - 24 / 25, "dot": -24.0}[metric]
    if Estimator is LiveGraphHAC:
        height = 1.0  # the two share no neighbour
    assert two.hierarchy().heights == pytest.approx([height], rel=1e-12)
    examine(one, X[:1])
    examine(two, X)


@every_estimator
def test_many_columns(Estimator):
    X = np.random.default_rng(0).normal(size=(60, 1000)).astype(np.float32)
    examine(Estimator().fit(X), X)


# --- a million points --------------------------------------------------------------


def test_otd_of_a_million_points_is_deep_and_nothing_recurses():
    n = scaled(1_000_000)
    X = np.random.default_rng(0).random(size=(n, 2)).astype(np.float32)
    model = OTD().partial_fit(X)
    model._live.check()
    tree = model.hierarchy()
    # A point of the unit square stops at the root when it lies outside the circle of
    # radius √(1/6) about the centre: the share 1 - π/6 of them does.
    assert tree.depths().max() > 0.4 * n
    assert tree.depths().max() == pytest.approx((1 - np.pi / 6) * n, rel=0.1 if SMALL else 0.01)
    labels = tree.cut(n_clusters=1000)
    assert len(np.unique(labels)) == 1000
    i, j = np.random.default_rng(1).integers(n, size=(2, 10_000))
    common = tree.lca(i, j)
    assert (common[i != j] >= n).all()
    assert tree.sizes[tree.root] == n

    again = pickle.loads(pickle.dumps(model))
    twin = copy.deepcopy(model)
    np.testing.assert_array_equal(again.hierarchy().children, tree.children)
    np.testing.assert_array_equal(twin.hierarchy().children, tree.children)
    del model, twin, tree
    gc.collect()
    again.partial_fit(X[:1000])
    assert len(again) == n + 1000
    again._live.check()


@every_steady
def test_many_points_keep_every_invariant(Estimator):
    rng = np.random.default_rng(0)
    centres = 20 * rng.normal(size=(100, 3))
    X = (centres[rng.integers(100, size=scaled(50_000))]).astype(np.float32)
    X += rng.normal(size=X.shape).astype(np.float32)
    model = Estimator().partial_fit(X)
    examine(model, X)


def test_ohac_paths_are_short_on_spread_out_points():
    X = np.random.default_rng(0).random(size=(scaled(50_000), 2))
    depths = OHAC().partial_fit(X).hierarchy().depths()
    assert depths.mean() < 4 * np.log2(len(X))
