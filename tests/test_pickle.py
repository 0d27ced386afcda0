"""Pickles and copies: equal, independent, and growing on in the same way."""

import copy
import pickle
import threading

import joblib
import numpy as np
import pytest

from ramify import OHAC, OTD
from ramify.metric import BY_NAME
from tests.every import every_estimator, every_online
from tests.strategies import scaled

X = np.random.default_rng(0).normal(size=(60, 3))


def through_pickle(model, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(model, protocol))


WAYS = {
    "pickle": through_pickle,
    "pickle 2": lambda model: through_pickle(model, 2),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@every_way
@every_estimator
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", BY_NAME.values(), ids=BY_NAME)
def test_a_copy_is_equal(Estimator, way, dtype, metric):
    if metric not in Estimator._metrics:
        pytest.skip("not offered")
    more = {"linkage": "ward"} if metric.rooted else {}
    model = Estimator(n_clusters=4, metric=metric.name, **more).fit(X.astype(dtype))
    twin = way(model)
    twin.check()
    assert twin.get_params() == model.get_params()
    assert twin.hierarchy() == model.hierarchy()
    assert np.array_equal(twin.hierarchy().node_ids, model.hierarchy().node_ids)
    assert np.array_equal(twin.labels_, model.labels_)
    assert np.array_equal(twin.predict(X), model.predict(X))
    assert len(twin) == model.n_leaves_ == 60
    assert twin.n_features_in_ == 3


@every_way
@every_online
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_copy_is_independent_and_continues_identically(Estimator, way, dtype):
    rows = X.astype(dtype)
    model = Estimator().fit(rows[:20])
    frozen = model.hierarchy()
    twin = way(model)
    for grower in (twin, model):
        assert model.hierarchy() == frozen  # untouched by what the twin did
        grower.partial_fit(rows[20:50])
        for row in rows[50:]:
            grower.insert(row)
    assert twin.hierarchy() == model.hierarchy() == Estimator().fit(rows).hierarchy()
    assert np.array_equal(twin.hierarchy().node_ids, model.hierarchy().node_ids)
    twin.check()


@pytest.mark.parametrize(
    "options", [{"linkage": "ward"}, {"linkage": "centroid"}, {"n_neighbors": 3}]
)
def test_every_option_travels(options):
    model = OHAC(**options).fit(X[:30])
    twin = through_pickle(model).partial_fit(X[30:])
    assert twin.hierarchy() == OHAC(**options).fit(X).hierarchy()


@every_way
@every_estimator
@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_models(Estimator, way, n):
    model = Estimator()
    if n:
        model.fit(X[:n])
    twin = way(model)
    assert len(twin) == n
    if n:
        twin.check()
        assert twin.hierarchy() == model.hierarchy()
    assert twin.fit(X).hierarchy() == Estimator().fit(X).hierarchy()


def test_column_names_travel():
    pandas = pytest.importorskip("pandas")
    model = OHAC().fit(pandas.DataFrame(X, columns=["a", "b", "c"]))
    assert through_pickle(model).feature_names_in_.tolist() == ["a", "b", "c"]


def test_a_deep_tree_needs_no_recursion():
    rows = np.random.default_rng(1).normal(size=(scaled(200_000), 2))
    model = OTD().fit(rows)
    tree = model.hierarchy()
    assert tree.depths().max() > len(rows) // 10
    for way in (through_pickle, copy.deepcopy):
        twin = way(model)
        assert twin.hierarchy() == tree
        assert twin.insert(rows[0]) == len(rows)


@pytest.mark.parametrize("mmap_mode", [None, "r"])
def test_joblib_also_from_a_read_only_file(mmap_mode, tmp_path):
    path = tmp_path / "model.joblib"
    model = OHAC(n_clusters=3).fit(X)
    joblib.dump(model, path)
    twin = joblib.load(path, mmap_mode=mmap_mode)
    assert twin.hierarchy() == model.hierarchy()
    assert twin.partial_fit(X).hierarchy() == model.partial_fit(X).hierarchy()


@every_estimator
def test_reading_a_copy_does_not_change_it(Estimator):
    twin = through_pickle(Estimator(n_clusters=3).fit(X))
    before = dict(vars(twin))
    twin.predict(X)
    assert vars(twin) == before


def test_the_lock_does_not_travel():
    model = OHAC().fit(X)
    assert not any(
        isinstance(value, type(threading.RLock())) for value in model.__getstate__().values()
    )
    assert copy.copy(model)._lock() is not model._lock()


def test_a_pickle_of_another_format_is_refused():
    state = OHAC().fit(X).__getstate__()
    state["_live"] = {**state["_live"], "format": 99}
    with pytest.raises(ValueError, match="stored in format 99, this version of Ramify reads"):
        OHAC().__setstate__(state)


def test_a_damaged_pickle_is_refused():
    state = OHAC().fit(X).__getstate__()
    arrays = dict(state["_live"]["arrays"])
    arrays["links"] = arrays["links"][::-1].copy()
    state["_live"] = {**state["_live"], "arrays": arrays}
    with pytest.raises(ValueError, match="stored tree is damaged"):
        OHAC().__setstate__(state)
