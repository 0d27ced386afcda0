"""The nearest points are brute force's, to the id and to the bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import OHAC, OTD, NaiveNN
from tests.oracles.linkages import METRICS
from tests.oracles.neighbours import brute_force
from tests.oracles.recount import core_of
from tests.strategies import dtypes, scaled, seeds


def assert_nearest_are_exact(model, X, queries, metric, k):
    queries = np.ascontiguousarray(queries)
    ids, distances = core_of(model).nearest(queries, k)
    expected_ids, expected = brute_force(X, queries, metric, k)
    np.testing.assert_array_equal(ids, expected_ids)
    np.testing.assert_array_equal(distances, expected)


@st.composite
def clouds(draw):
    """Points and queries of one kind, with the ties of that kind."""
    n = draw(st.integers(1, 400), label="rows")
    d = draw(st.integers(1, 40), label="columns")
    kind = draw(st.sampled_from(["normal", "grid", "heaps", "sorted", "line", "far"]))
    rng = np.random.default_rng(draw(seeds()))
    X = rng.normal(size=(n + 30, d))
    if kind == "grid":
        X = rng.integers(1, 4, size=(n + 30, d)).astype(np.float64)
    elif kind == "heaps":
        X = X[rng.integers(1 + n // 20, size=n + 30)]
    elif kind == "sorted":
        X[:n] = X[:n][np.argsort(X[:n, 0])]
    elif kind == "line":
        X[:, 1:] = 1.0
    elif kind == "far":
        X += 1e6
    X = X.astype(draw(dtypes()))
    own = X[rng.integers(n, size=10)]  # questions about stored points themselves
    return X[:n], np.vstack([X[n:], own])


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("metric", METRICS)
def test_nearest_equals_brute_force(metric, k):
    @given(clouds())
    def check(cloud):
        X, queries = cloud
        model = NaiveNN(metric=metric).partial_fit(X)
        assert_nearest_are_exact(model, X, queries, metric, min(k, len(X)))

    check()


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 40])
@pytest.mark.parametrize("metric", METRICS)
def test_nearest_equals_brute_force_between_inserts(metric, d):
    rng = np.random.default_rng(d)
    X = np.round(rng.normal(size=(scaled(4000), d)), 1 if d < 3 else 6)
    X[(X == 0).all(axis=1)] = 1.0
    queries = np.vstack([rng.normal(size=(20, d)), X[:10]])
    model = OTD(metric=metric)
    start = 0
    for stop in (1, 2, 3, 33, 100, 511, 512, 513, 1024, 2500, 4000):
        stop = min(stop, len(X))
        if stop > start:
            model.partial_fit(X[start:stop])
            assert_nearest_are_exact(model, X[:stop], queries, metric, min(5, stop))
            start = stop


@pytest.mark.parametrize("metric", METRICS)
def test_one_at_a_time_finds_the_same_neighbours(metric):
    X = np.random.default_rng(2).integers(1, 9, size=(scaled(3000), 2)).astype(np.float64)
    model = NaiveNN(metric=metric)
    for i, row in enumerate(X):
        if i and i % 97 == 0:
            assert_nearest_are_exact(model, X[:i], row[None], metric, min(5, i))
        model.insert(row)
    assert_nearest_are_exact(model, X, X[::50], metric, 5)


def long_rows(kind, rng):
    """Rows of 40 columns, some hundreds beyond the first 1024, and questions."""
    n, d = 1500, 40
    X, queries = rng.normal(size=(n, d)), rng.normal(size=(30, d))
    flat = rng.normal(size=(10, d))  # spans a few dimensions
    if kind == "offset":
        return X + 1e6, queries + 1e6
    if kind == "drift":  # what came first says little about what comes later
        X[1100:] += 1e5
        queries[15:] += 1e5
    elif kind == "flat":
        return X[:, :10] @ flat, queries[:, :10] @ flat
    elif kind == "flat and tiny":  # squares are the smallest floats there are
        return 1e-23 * X[:, :10] @ flat, 1e-23 * queries[:, :10] @ flat
    elif kind == "huge":
        return 1e30 * X, 1e30 * queries
    elif kind == "grid":
        return rng.integers(3, size=(n, d)), rng.integers(3, size=(30, d))
    elif kind == "heaps":
        return X[rng.integers(30, size=n)], X[:30]
    elif kind == "one column":
        X[:, 1:] = 1.0
        queries[:, 1:] = 1.0
    elif kind == "unit":
        return X / np.linalg.norm(X, axis=1, keepdims=True), X[:30] + 0.01
    return X, queries


LONG_ROWS = ["normal", "offset", "drift", "flat", "flat and tiny", "huge", "grid", "heaps"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", [*LONG_ROWS, "one column", "unit"])
@pytest.mark.parametrize("metric", ["sqeuclidean", "dot"])
def test_long_rows_are_searched_exactly(kind, dtype, metric):
    X, queries = long_rows(kind, np.random.default_rng(len(kind)))
    X, queries = X.astype(dtype), queries.astype(dtype)
    model = NaiveNN(metric=metric).partial_fit(X)
    assert_nearest_are_exact(model, X, queries, metric, 3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(8))
def test_long_rows_that_nearly_fit_a_basis(seed, dtype):
    # Most rows fill 31 directions, a few leave them along u. The question w + a u
    # hardly does, for a small a, and its distances to w + s u and to w + t v differ
    # by parts of 1e-5. A bound from lengths "outside the basis" takes the root of
    # a difference of nearly equal numbers here, and must not trust it.
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(64, 64)))[0]
    w, v, u = Q[0], Q[1], Q[40]
    s = 1 + 1e-4 * np.arange(40)[:, None]
    X = np.vstack([rng.normal(size=(1100, 31)) @ Q[:31], w + s * u, w + (s - 1.2e-4) * v])
    queries = w + np.linspace(0, 4e-4, 40)[:, None] * u
    X, queries = X.astype(dtype), queries.astype(dtype)
    model = NaiveNN().partial_fit(X)
    assert_nearest_are_exact(model, X, queries, "sqeuclidean", 1)


@pytest.mark.parametrize("order", ["up", "down", "outwards", "shuffled"])
def test_sorted_streams_find_the_same_neighbours(order):
    values = np.arange(scaled(5000), dtype=np.float64)
    values = {
        "up": values,
        "down": values[::-1],
        "outwards": np.where(values % 2, -values, values),
        "shuffled": np.random.default_rng(0).permutation(values),
    }[order]
    X = np.stack([values, values * values % 97], axis=1)
    model = NaiveNN().partial_fit(X)
    queries = np.vstack([X[::100] + 0.25, X[::100]])
    assert_nearest_are_exact(model, X, queries, "sqeuclidean", 2)


def test_heaps_of_equal_points_are_found_in_order_of_arrival():
    X = np.repeat(np.arange(3.0), scaled(2000))[:, None]
    model = NaiveNN().partial_fit(X)
    ids, distances = core_of(model).nearest(np.array([[1.1]]), 4)
    heap = scaled(2000)
    assert ids.tolist() == [[heap, heap + 1, heap + 2, heap + 3]]
    np.testing.assert_allclose(distances, 0.01)


def test_asking_changes_nothing():
    X = np.random.default_rng(0).normal(size=(300, 3))
    asked, silent = OHAC(), OHAC()
    for start in range(0, 300, 50):
        asked.partial_fit(X[start : start + 50])
        silent.partial_fit(X[start : start + 50])
        core_of(asked).nearest(X, 1)
    np.testing.assert_array_equal(asked.hierarchy().children, silent.hierarchy().children)
