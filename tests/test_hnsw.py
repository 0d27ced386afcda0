"""OHAC(neighbors="hnsw"): near neighbours, a valid tree, and always the same one."""

import copy
import os
import pickle
import signal
import threading

import numpy as np
import pytest
from hypothesis import given

from ramify import _core
from tests.oracles.linkages import METRICS
from tests.oracles.neighbours import brute_force
from tests.oracles.recount import core_of, examine
from tests.strategies import few_values, loose_rows, rows_for, scaled

pytest.importorskip("usearch")

from ramify import OHAC
from ramify.estimators import _hnsw

every_metric = pytest.mark.parametrize("metric", METRICS)
every_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def mixture(n, width=24, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(20, width))
    return (centres[rng.integers(20, size=n)] + 0.5 * rng.normal(size=(n, width))).astype(dtype)


# --- what the core is told ------------------------------------------------------


GRINCH = {"graft": "reference", "restructure": 1}
GRINCH |= {"rotate_cap": None, "graft_cap": None, "restructure_cap": None}
PERCH = {"bounds": "reference", "balance": "reference", "exact_distance_threshold": 10}
#: What algorithms must be told in the core.
OWN = {"grinch": GRINCH, "perch": {**PERCH, "max_leaves": None}}


def core_tree(**options):
    return _core.LiveF64("ohac", 3, "sqeuclidean", "average", 1, options)


def test_a_row_beside_its_nearest_point_is_inserted_as_ever():
    X = np.random.default_rng(0).normal(size=(scaled(400), 3))
    told, alone = core_tree(), core_tree()
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
    tree = core_tree()
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
    tree = core_tree()
    tree.insert_many(np.eye(3)[:points])
    with pytest.raises(ValueError, match=message):
        tree.insert_beside(np.ones((1, 3)), np.array([nearest], dtype=np.uint64))
    assert len(tree) == points
    if points:
        tree.check()


def test_a_neighbour_that_has_left_is_refused():
    tree = core_tree()
    tree.insert_many(np.eye(3))
    tree.erase(1)
    with pytest.raises(ValueError, match="not among the points so far"):
        tree.insert_beside(np.ones((1, 3)), np.array([[1]], dtype=np.uint64))
    assert len(tree) == 2


def test_who_asks_for_no_neighbours_cannot_be_told_any():
    tree = _core.LiveF64("otd", 3, "sqeuclidean", "average", 1)
    with pytest.raises(ValueError, match="asks for no neighbours"):
        tree.insert_beside(np.ones((1, 3)), np.empty((1, 0), dtype=np.uint64))


@pytest.mark.parametrize("algorithm", ["naive_nn", "perch", "grinch"])
def test_others_can_be_told_theirs(algorithm):
    X = np.random.default_rng(3).normal(size=(scaled(300), 3))
    told, alone = (
        _core.LiveF64(algorithm, 3, "sqeuclidean", "average", 1, OWN.get(algorithm, {}))
        for _ in range(2)
    )
    nearest = [[2**64 - 1]] + [
        brute_force(X[:i], X[i : i + 1], "sqeuclidean", 1)[0][0] for i in range(1, len(X))
    ]
    told.insert_beside(X, np.array(nearest, dtype=np.uint64))
    alone.insert_many(X)
    for ours, theirs in zip(told.snapshot(), alone.snapshot(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_rows_that_must_not_enter_are_refused_here_too():
    tree = core_tree()
    none = np.empty((1, 0), dtype=np.uint64)
    with pytest.raises(ValueError, match="NaN"):
        tree.insert_beside(np.array([[0.0, np.nan, 0.0]]), none)
    with pytest.raises(ValueError, match="expected rows of 3 numbers, got 2"):
        tree.insert_beside(np.zeros((1, 2)), none)
    assert len(tree) == 0


def test_points_from_one_on():
    tree = core_tree()
    X = np.random.default_rng(0).normal(size=(5, 3))
    tree.insert_many(X)
    for first in range(6):
        np.testing.assert_array_equal(tree.points(first), X[first:])
    with pytest.raises(ValueError, match="not that many"):
        tree.points(6)


# --- the neighbours ---------------------------------------------------------------


@every_metric
@every_dtype
def test_most_neighbours_are_the_nearest(metric, dtype):
    X = mixture(scaled(1600) + 200, dtype=dtype)
    held, queries = X[:-200], X[-200:]
    model = OHAC(neighbors="hnsw", metric=metric).fit(held)
    ids, distances = core_of(model).nearest(queries, 5)
    expected, exact = brute_force(held, queries, metric, 5)
    assert (ids[:, 0] == expected[:, 0]).mean() > 0.97
    recall = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(ids, expected, strict=True)])
    assert recall > 0.95
    # usearch keeps distances as float32
    right = ids == expected
    np.testing.assert_allclose(distances[right], exact[right], rtol=1e-4, atol=1e-4)


@every_metric
def test_few_points_are_searched_exhaustively(metric):
    @given(rows_for(metric, max_size=40))
    def check(X):
        assert OHAC(neighbors="hnsw", metric=metric).fit(X).hierarchy().children.tolist() == (
            OHAC(metric=metric).fit(X).hierarchy().children.tolist()
        )

    check()


def test_several_neighbours():
    X = mixture(40)
    exact = OHAC(n_neighbors=3).fit(X)
    assert OHAC(n_neighbors=3, neighbors="hnsw").fit(X).hierarchy() == exact.hierarchy()


def test_predict_gives_the_label_of_a_near_point():
    X = mixture(scaled(1000))
    model = OHAC(20, neighbors="hnsw").fit(X)
    assert (model.predict(X) == model.labels_).mean() > 0.99
    assert len(model) == len(X)


class Lost:
    """A graph of all points that leads nowhere."""

    def __init__(self, tree):
        self.tree = tree

    def __len__(self):
        return len(self.tree)

    def search(self, row, k, threads):
        return []


@every_metric
def test_what_the_graph_cannot_reach_is_searched_exactly(metric, monkeypatch):
    X = mixture(50)
    model = OHAC(neighbors="hnsw", metric=metric).fit(X[:25])
    ids, distances = core_of(model).nearest(X, 3)
    monkeypatch.setattr(core_of(model), "_graph", Lost(core_of(model)))
    exact_ids, exact = core_of(model).nearest(X, 3)
    np.testing.assert_array_equal(ids, exact_ids)
    np.testing.assert_allclose(distances, exact, rtol=1e-5, atol=1e-5)
    assert model.partial_fit(X[25:]).hierarchy() == OHAC(metric=metric).fit(X).hierarchy()


# --- the tree ---------------------------------------------------------------------


@every_metric
@every_dtype
def test_the_tree_is_valid(metric, dtype):
    X = mixture(scaled(600), dtype=dtype)
    examine(OHAC(neighbors="hnsw", metric=metric).fit(X), X, sample=50)


@given(few_values())
def test_heaps_of_equal_points(X):
    examine(OHAC(neighbors="hnsw").fit(X), X)


def test_revenue_is_that_of_exact_neighbours():
    from ramify.metrics import revenue_fraction

    X = mixture(scaled(2000)) / 3
    exact, near = (OHAC(neighbors=mode).fit(X).hierarchy() for mode in ("exact", "hnsw"))
    assert revenue_fraction(near, X) > 0.98 * revenue_fraction(exact, X)


@every_metric
@every_dtype
def test_one_stream_gives_one_tree(metric, dtype):
    X = mixture(scaled(1200), dtype=dtype)
    model = OHAC(neighbors="hnsw", metric=metric).fit(X)
    again = OHAC(neighbors="hnsw", metric=metric)
    few, many = len(X) // 12, len(X) // 2
    for row in X[:few]:
        again.insert(row)
    again.partial_fit(X[few:many]).partial_fit(X[many:])
    assert again.hierarchy() == model.hierarchy()


@every_metric
@every_dtype
@pytest.mark.parametrize("way", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_grows_on_identically(metric, dtype, way):
    X = mixture(scaled(1200), dtype=dtype)
    model = OHAC(5, neighbors="hnsw", metric=metric).fit(X[: len(X) // 2])
    twin = way(model)
    assert twin.hierarchy() == model.hierarchy()
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    for grower in (model, twin):
        grower.partial_fit(X[len(X) // 2 :])
    assert twin.hierarchy() == model.hierarchy()
    twin.check()


@given(loose_rows(max_size=3))
def test_one_two_and_three_points(X):
    model = OHAC(neighbors="hnsw")
    for i, row in enumerate(X):
        assert model.insert(row) == i
    assert model.hierarchy() == OHAC().fit(X).hierarchy()


def test_a_batch_that_is_cut_short_leaves_the_rows_so_far():
    X = mixture(1000)
    model = OHAC(neighbors="hnsw")

    def stop(done, total):
        if done >= 512:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        model.fit(X, progress=stop)
    assert len(model) == 512
    model.check()
    model.partial_fit(X[512:])
    assert model.hierarchy() == OHAC(neighbors="hnsw").fit(X).hierarchy()


# --- refusals ---------------------------------------------------------------------


def test_without_the_library_the_error_names_the_extra(monkeypatch):
    X = mixture(30)
    loaded = OHAC(neighbors="hnsw").fit(X)
    stored = pickle.dumps(loaded)
    monkeypatch.setattr(_hnsw, "find_spec", lambda name: None)
    model = OHAC(neighbors="hnsw")
    for call in (model.fit, model.partial_fit, lambda rows: model.insert(rows[0])):
        with pytest.raises(ImportError, match=r'pip install "ramify\[hnsw\]"'):
            call(X)
    assert len(model) == 0
    twin = pickle.loads(stored)  # reading needs no neighbours
    assert twin.hierarchy() == loaded.hierarchy()
    with pytest.raises(ImportError, match=r'pip install "ramify\[hnsw\]"'):
        twin.insert(X[0])
    assert len(twin) == 30


@pytest.mark.parametrize(
    ("neighbors", "error"), [("kd", ValueError), (None, TypeError), (3, TypeError)]
)
def test_other_choices_are_refused(neighbors, error):
    model = OHAC(neighbors=neighbors)
    with pytest.raises(error, match="one of 'exact', 'hnsw'"):
        model.fit(mixture(5))
    assert len(model) == 0


def test_a_tree_keeps_the_way_it_began():
    model = OHAC(neighbors="hnsw").fit(mixture(20))
    model.set_params(neighbors="exact")
    with pytest.raises(ValueError, match="neighbors was 'hnsw' when the first point arrived"):
        model.partial_fit(mixture(20))


# --- interrupts -----------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
def test_ctrl_c_became_a_runtime_error_of_usearch():
    X = mixture(30_000, width=64, dtype=np.float32)
    model = OHAC(neighbors="hnsw").fit(X[:50])
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))

    def press(done, total):
        if done == 0:
            timer.start()

    with pytest.raises(KeyboardInterrupt) as caught:
        model.partial_fit(X[50:], progress=press)
    held = len(model)
    assert 50 <= held < len(X)
    assert f"the tree is valid and holds {held:,} points" in str(caught.value)
    model.check()
    assert model.hierarchy() == OHAC(neighbors="hnsw").fit(X[:held]).hierarchy()
    assert model.insert(X[held]) == held


class Stopped:
    """A graph that stops with an error."""

    def __init__(self, error):
        self.error = error

    def __len__(self):
        raise self.error


@pytest.mark.parametrize("old", [False, True])
def test_what_usearch_says_about_signals_is_told_from_its_other_errors(old):
    X = mixture(20)
    model = OHAC(neighbors="hnsw", n_clusters=1).fit(X)
    tree = core_of(model)
    graph = tree._graph
    said = RuntimeError("Operation has been terminated")
    if old:
        said = SystemError("returned a result with an exception set")
        said.__cause__ = KeyboardInterrupt()
    for call in (lambda: model.insert(X[0]), lambda: model.predict(X)):
        tree._graph = Stopped(said)
        with pytest.raises(KeyboardInterrupt):
            call()
        for other in (RuntimeError("Out of memory!"), SystemError("none of ours")):
            tree._graph = Stopped(other)
            with pytest.raises(type(other), match=str(other)):
                call()
    tree._graph = graph
    assert model.insert(X[0]) == 20


def test_no_signal_is_handled_in_another_thread():
    X = mixture(20)
    model = OHAC(neighbors="hnsw").fit(X)
    core_of(model)._graph = Stopped(RuntimeError("Operation has been terminated"))
    found = []

    def insert():
        try:
            model.insert(X[0])
        except BaseException as error:
            found.append(type(error))

    thread = threading.Thread(target=insert)
    thread.start()
    thread.join()
    assert found == [RuntimeError]
