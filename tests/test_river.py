"""ramify.river: river's own checks, and features that come and go."""

import builtins
import importlib
import inspect
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import (
    checks,
    cluster,
    compose,
    evaluate,
    feature_extraction,
    metrics,
    preprocessing,
    stream,
)
from river.checks import common

import ramify
from ramify.estimators._registry import ALGORITHMS, BY_NAME
from ramify.river import OnlineHierarchy
from tests.strategies import seeds

every_algorithm = pytest.mark.parametrize(
    "algorithm", [algorithm.name for algorithm in ALGORITHMS if algorithm.online]
)


def as_dicts(X):
    return [x for x, _ in stream.iter_array(np.asarray(X).tolist())]


def learn(model, rows):
    for x in rows:
        model.learn_one(x)
    return model


# --- river's checks ----------------------------------------------------------------


@every_algorithm
def test_rivers_checks(algorithm):
    ran = []
    for check in checks.yield_checks(OnlineHierarchy(algorithm, n_clusters=3)):
        ran.append(check.__name__)
        check(OnlineHierarchy(algorithm, n_clusters=3))
    assert len(ran) >= 14
    checks.check_estimator(OnlineHierarchy(algorithm, n_clusters=3))


class Points:
    """A data set as river's checks take it: pairs, and as often as one likes."""

    def __init__(self, n=60, d=6):
        self.rows = as_dicts(np.random.default_rng(0).normal(size=(n, d)))

    def __iter__(self):
        return iter([(x, None) for x in self.rows])


# river has no data to run these on for clusterers, so we bring some: all checks of
# unsupervised estimators that take data.
WITH_DATA = [
    common.check_learn_one,
    common.check_pickling,
    common.check_shuffle_features_no_impact,
    common.check_emerging_features,
    common.check_disappearing_features,
    common.check_radically_disappearing_features,
    common.check_no_state_aliasing_with_input,
    common.check_clone_is_independent,
    common.check_learn_many_matches_learn_one,
]


@every_algorithm
@pytest.mark.parametrize("check", WITH_DATA, ids=lambda check: check.__name__)
def test_rivers_checks_with_data(algorithm, check):
    check(OnlineHierarchy(algorithm, n_clusters=3), Points())


def test_the_list_of_checks_with_data_is_complete():
    """What is left of river's generic checks cannot apply to a clusterer that keeps its points."""
    takes_data = {
        name
        for name, check in inspect.getmembers(common, inspect.isfunction)
        if name.startswith("check_") and "dataset" in inspect.signature(check).parameters
    }
    not_for_clusterers = {
        "check_transform_one",
        "check_transform_many_matches_transform_one",
        "check_predict_many_matches_predict_one",  # returns at once: see ours below
        "check_predict_proba_many_matches_predict_proba_one",
        "check_predict_one_pure",  # finds no inference method of clusterers: see ours below
        "check_predict_one_before_any_learn",  # the same
        "check_seeding_is_idempotent",  # nothing here is random
        "check_debug_one",  # pipelines have it
    }
    ours = {check.__name__ for check in WITH_DATA}
    assert takes_data == ours | not_for_clusterers | OnlineHierarchy()._unit_test_skips()


def test_predict_one_is_pure_and_works_from_the_start():
    model = OnlineHierarchy(n_clusters=3)
    for x, _ in Points():
        before, seen = pickle.dumps(model), dict(x)
        assert model.predict_one(x) in range(3)
        assert x == seen
        assert pickle.loads(before).predict_one(x) == model.predict_one(x)
        model.learn_one(x)


@every_algorithm
def test_predict_many_is_predict_one_of_each_row(algorithm):
    model = learn(OnlineHierarchy(algorithm, n_clusters=3), Points().rows[:40])
    rest = Points().rows[40:]
    found = model.predict_many(pd.DataFrame(rest))
    assert found.tolist() == [model.predict_one(x) for x in rest]


# --- the same trees as the estimators' ----------------------------------------------


@every_algorithm
@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine"])
def test_the_tree_is_the_estimators(algorithm, metric):
    X = np.random.default_rng(1).normal(size=(50, 4))
    model = learn(OnlineHierarchy(algorithm, metric, n_clusters=4), as_dicts(X))
    plain = BY_NAME[algorithm].estimator(n_clusters=4, metric=metric).fit(X)
    assert model.hierarchy() == plain.hierarchy()
    assert np.array_equal(model.labels, plain.labels_)
    new = np.random.default_rng(2).normal(size=(20, 4))
    assert [model.predict_one(x) for x in as_dicts(new)] == plain.predict(new).tolist()


@given(seeds(), st.integers(2, 30), st.integers(1, 12), st.sampled_from(["sqeuclidean", "dot"]))
def test_a_feature_that_comes_late_was_zero_before(seed, n, d, metric):
    rng = np.random.default_rng(seed)
    rows = [
        {f"f{j}": float(rng.normal()) for j in rng.permutation(d)[: rng.integers(1, d + 1)]}
        for _ in range(n)
    ]
    model = learn(OnlineHierarchy(metric=metric, n_clusters=2), rows)
    X = np.array([[x.get(name, 0.0) for name in model.features] for x in rows])
    plain = ramify.OHAC(n_clusters=2, metric=metric).fit(X).hierarchy()
    tree = model.hierarchy()
    if len(np.unique(X, axis=0)) == n and d > 1:  # without ties
        assert np.array_equal(tree.children, plain.children)
    assert tree.heights == pytest.approx(plain.heights, rel=1e-9, abs=1e-12)
    assert set(model.features) == {name for x in rows for name in x}


def test_batches_and_single_points_mix():
    X = pd.DataFrame(np.random.default_rng(3).normal(size=(30, 3)), columns=["b", "c", "a"])
    mixed = OnlineHierarchy(n_clusters=3)
    mixed.learn_many(X[:10])
    learn(mixed, X[10:20].to_dict("records"))
    mixed.learn_many(X[20:][["a", "c", "b"]])
    single = learn(OnlineHierarchy(n_clusters=3), X.to_dict("records"))
    assert mixed.features == ["a", "b", "c"]
    assert mixed.hierarchy() == single.hierarchy()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_all_libraries(kind):
    model = OnlineHierarchy(n_clusters=2)
    model.learn_many(kind({"x": [0.0, 9.0, 1.0]}))
    found = model.predict_many(kind({"x": [8.0, 0.0], "unheard": [5.0, 5.0]}))
    assert (found.to_pylist() if kind is pa.table else list(found)) == [1, 0]
    assert type(found).__module__.split(".")[0] == kind.__module__.split(".")[0]


def test_the_index_of_a_pandas_frame_comes_back():
    model = OnlineHierarchy(n_clusters=2)
    model.learn_many(pd.DataFrame({"x": [0.0, 9.0]}, index=[7, 8]))
    found = model.predict_many(pd.DataFrame({"x": [8.0, 0.0]}, index=["u", "v"]))
    assert found.to_dict() == {"u": 1, "v": 0}
    assert model.predict_many(pd.DataFrame({"x": []}, dtype=float)).tolist() == []


def test_float32_frames_stay_float32():
    model = OnlineHierarchy()
    model.learn_many(pd.DataFrame({"x": [0.0, 9.0]}, dtype=np.float32))
    model.learn_one({"y": 3.0})
    assert model._model.points().dtype == np.float32


# --- clusters --------------------------------------------------------------------------


def test_fewer_points_than_clusters_are_a_cluster_each():
    model = OnlineHierarchy(n_clusters=3)
    found = []
    for x in 0.0, 5.0, 9.0, 9.5, 20.0:
        model.learn_one({"x": x})
        found.append(model.labels.tolist())
    assert found[:4] == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 2]]
    assert max(found[4]) == 2


def test_a_threshold():
    model = learn(OnlineHierarchy(distance_threshold=4.0), [{"x": x} for x in (0.0, 1.0, 9.0)])
    assert model.labels.tolist() == [0, 0, 1]
    assert model.predict_one({"x": 10.0}) == 1


def test_small_clusters_join_others_and_there_are_fewer_at_first():
    rows = np.random.default_rng(0).normal(size=(30, 2)) + 9 * (np.arange(30) % 3)[:, None]
    model = OnlineHierarchy(n_clusters=3, min_size=5)
    for count, row in enumerate(rows, start=1):
        model.learn_one(dict(enumerate(row.tolist())))
        sizes = np.bincount(model.labels)
        assert len(sizes) <= 3
        assert min(sizes) >= min(5, count)
    wanted = model.hierarchy().cut(n_clusters=3, min_size=5)
    assert model.labels.tolist() == wanted.tolist()
    model.n_clusters, model.distance_threshold = None, 1.0
    assert model.labels.tolist() == model.hierarchy().cut(height=1.0, min_size=5).tolist()
    assert model.predict_one({0: 0.0, 1: 0.0}) in model.labels


def test_the_cut_may_change_at_any_time():
    model = learn(OnlineHierarchy(n_clusters=2), [{"x": x} for x in (0.0, 1.0, 9.0, 30.0)])
    assert model.labels.max() == 1
    model.n_clusters, model.distance_threshold = None, 1.5
    assert model.labels.tolist() == [0, 0, 1, 2]
    model.n_clusters, model.distance_threshold = 4, None
    assert model.labels.tolist() == [0, 1, 2, 3]


def test_centers_are_the_means_of_the_clusters():
    model = OnlineHierarchy(n_clusters=2)
    assert model.centers is None
    learn(model, [{"x": 0.0}, {"x": 2.0, "y": 1.0}, {"x": 20.0}])
    assert model.centers == {0: {"x": 1.0, "y": 0.5}, 1: {"x": 20.0, "y": 0.0}}


def test_rivers_evaluation_of_a_stream():
    """Predict, then learn, then measure: also behind a pipeline."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + 20 * rng.integers(3, size=(60, 1))
    alone = OnlineHierarchy(n_clusters=3)
    # To the nearest centre over to another: the smaller the better. The scaler's range
    # grows for a while, so early points end up in odd places.
    for model, most in ((alone, 0.2), (preprocessing.MinMaxScaler() | alone.clone(), 0.9)):
        found = evaluate.progressive_val_score(
            stream.iter_array(X.tolist()), model, metrics.Silhouette()
        )
        assert 0 < found.get() < most


def test_a_clone_with_attributes_goes_on():
    model = learn(OnlineHierarchy(n_clusters=2), Points().rows[:20])
    twin = model.clone(include_attributes=True)
    twin.learn_one(Points().rows[20])
    assert (len(model), len(twin)) == (20, 21)


def test_features_that_nobody_has_learnt_do_not_count():
    model = learn(OnlineHierarchy("ohac", "cosine", n_clusters=2), [{"a": 1.0}, {"b": 1.0}])
    assert model.predict_one({"b": 2.0, "z": 50.0}) == 1
    assert model.predict_one({"z": 3.0}) == 0  # equally far from all: the first
    with pytest.raises(ValueError, match="zero"):
        model.predict_one({"a": 0.0})


def test_in_a_pipeline_of_river():
    model = compose.Pipeline(preprocessing.StandardScaler(), OnlineHierarchy(n_clusters=2))
    for x in as_dicts([[0, 0], [10, 10], [1, 0], [9, 10]] * 5):
        model.predict_one(x)
        model.learn_one(x)
    assert model.predict_one({0: 0, 1: 1}) != model.predict_one({0: 10, 1: 9})
    assert isinstance(model, type(cluster.KMeans()).__mro__[1])  # river sees a clusterer


def test_text_whose_words_appear_one_by_one():
    model = feature_extraction.BagOfWords() | OnlineHierarchy(metric="cosine", n_clusters=2)
    for text in ["goal match team", "vote law party", "team goal win", "party vote seat"]:
        model.learn_one(text)
    tree = model["OnlineHierarchy"]
    assert tree.labels.tolist() == [0, 1, 0, 1]
    assert len(tree.features) == 8


# --- copies ----------------------------------------------------------------------------


def test_clones_are_empty_and_pickles_go_on():
    model = learn(OnlineHierarchy("otd", n_clusters=2), Points().rows[:20])
    assert len(model.clone()) == 0
    assert bool(model.clone())
    assert model.clone({"n_clusters": 5}).n_clusters == 5
    twin = pickle.loads(pickle.dumps(model))
    for x in Points().rows[20:]:
        twin.learn_one(x)
        model.learn_one(x)
    assert twin.hierarchy() == model.hierarchy()


# --- mistakes --------------------------------------------------------------------------


def test_before_the_first_point_the_answer_is_0():
    """Also behind a scaler that divides nothing by nothing."""
    model = preprocessing.MinMaxScaler() | OnlineHierarchy(n_clusters=2)
    assert model.predict_one({"x": 1.0}) == 0


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"x": "seven"}, "feature 'x' is 'seven': expected a finite number"),
        ({"x": None}, "feature 'x' is None: expected a finite number"),
        ({"x": float("nan")}, "feature 'x' is nan: expected a finite number"),
        ({"x": 1e200}, "1e\\+200"),
        ({}, "an empty one"),
    ],
)
def test_a_refused_point_changes_nothing(x, message):
    model = learn(OnlineHierarchy(n_clusters=1), [{"a": 1.0}, {"b": 1.0}])
    before = model.hierarchy()
    for method in (model.learn_one, model.predict_one):
        if method == model.predict_one and x == {"x": 1e200}:
            continue  # a feature that nobody has learnt
        with pytest.raises(ValueError, match=message):
            method(x)
    assert model.hierarchy() == before
    assert model.features == ["a", "b"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "kmeans"}, "algorithm='kmeans' is not offered"),
        ({"algorithm": "hac"}, "algorithm='hac' is not offered"),
        ({"algorithm": "otd", "linkage": "ward"}, "has no choice of linkage"),
        ({"metric": "l1"}, "metric='l1' is not offered"),
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"n_clusters": 2, "distance_threshold": 1.0}, "both set"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        OnlineHierarchy(**options).learn_one({"x": 1.0})


def test_no_cut_no_clusters():
    model = learn(OnlineHierarchy(), [{"x": 1.0}])
    with pytest.raises(ValueError, match="neither n_clusters nor distance_threshold"):
        model.predict_one({"x": 1.0})
    assert model.hierarchy().n_leaves == 1
    with pytest.raises(ValueError, match="no points yet"):
        OnlineHierarchy().hierarchy()


def test_wrong_frames():
    model = OnlineHierarchy(n_clusters=1)
    with pytest.raises(TypeError, match="expected a frame of pandas, polars or Arrow, got list"):
        model.learn_many([[1.0]])
    with pytest.raises(TypeError, match="expected a dict of numbers by feature, got list"):
        model.learn_one([1.0])
    with pytest.raises(ValueError, match="two of one name"):
        model.learn_many(pd.DataFrame([[1.0, 2.0]], columns=["x", "x"]))
    with pytest.raises(ValueError, match=r"nan \(row 1, column 0: 'x'\)"):
        model.learn_many(pl.DataFrame({"x": [1.0, float("nan")]}))
    with pytest.raises(ValueError, match="without columns"):
        model.learn_many(pd.DataFrame())
    assert len(model) == 0


@pytest.mark.parametrize("missing", ["river", "narwhals"])
def test_a_missing_library_names_the_extra(monkeypatch, missing):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == missing:
            raise ImportError(f"No module named {name!r}", name=missing)
        return real(name, *args, **kwargs)

    for name in [one for one in sys.modules if one.split(".")[:2] == ["ramify", "river"]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=rf'needs {missing}.*pip install "ramify\[river\]"'):
        importlib.import_module("ramify.river")


# --- points that leave, weigh and repeat --------------------------------------------


def test_rivers_checks_of_a_window_with_bounded_memory():
    options = {"n_clusters": 3, "keep": ramify.Last(20)}
    checks.check_estimator(OnlineHierarchy(**options))
    common.check_bounded_memory_growth(OnlineHierarchy(**options), Points(2000))


@pytest.mark.parametrize("algorithm", ["ohac", "otd", "perch", "naive-nn"])
def test_a_window_while_features_come(algorithm):
    """More columns are no new tree: points that have left had their part in it."""
    X = np.random.default_rng(5).normal(size=(80, 9))
    X[:30, 2:] = 0
    X[:50, 5:] = 0
    rows = [{f"f{j}": v for j, v in enumerate(row) if v != 0} for row in X.tolist()]
    model = learn(OnlineHierarchy(algorithm, keep=ramify.Last(25), n_clusters=4), rows)
    plain = BY_NAME[algorithm].estimator(keep=ramify.Last(25), n_clusters=4).fit(X)
    assert np.array_equal(model.hierarchy().children, plain.hierarchy().children)
    assert model.hierarchy().point_numbers.tolist() == list(range(55, 80))
    assert model.labels.tolist() == plain.labels_.tolist()
    new = np.random.default_rng(6).normal(size=(20, 9))
    dicts = [{f"f{j}": v for j, v in enumerate(row)} for row in new.tolist()]
    assert [model.predict_one(x) for x in dicts] == plain.predict(new).tolist()


def test_weights_times_and_repeats_pass_through():
    rng = np.random.default_rng(7)
    X = rng.integers(0, 4, size=(60, 2)).astype(float) + np.array([1, 0])
    weights, times = rng.uniform(0.5, 3, 60), rng.permutation(60)
    model = OnlineHierarchy(keep=ramify.Younger(20), duplicates="count", n_clusters=3)
    for x, w, t in zip(as_dicts(X), weights, times, strict=True):
        model.learn_one(x, w=w, t=t)
    plain = ramify.OHAC(keep=ramify.Younger(20), duplicates="count", n_clusters=3)
    plain.fit(X, sample_weight=weights, times=times)
    assert model.hierarchy() == plain.hierarchy()
    assert model.labels.tolist() == plain.labels_.tolist()
    batch = OnlineHierarchy(keep=ramify.Younger(20), duplicates="count", n_clusters=3)
    batch.learn_many(pd.DataFrame(X), w=weights, t=times)
    assert batch.hierarchy() == plain.hierarchy()
    means = plain.clusters().means
    found = [list(center.values()) for center in model.centers.values()]
    assert np.sort(found, axis=0) == pytest.approx(np.sort(means, axis=0))


def test_weights_count_in_centers():
    model = OnlineHierarchy(n_clusters=1)
    model.learn_one({"x": 0.0}, w=3)
    model.learn_one({"x": 8.0})
    assert model.centers == {0: {"x": 2.0}}


def test_a_limit_may_change_at_any_time():
    model = learn(OnlineHierarchy(n_clusters=2), as_dicts(np.eye(6)))
    model.keep = ramify.Last(3)
    model.learn_one({0: 5.0})
    assert model.hierarchy().point_numbers.tolist() == [4, 5, 6]


def test_forget_by_the_order_of_learning():
    X = np.random.default_rng(8).normal(size=(20, 2))
    model = learn(OnlineHierarchy(n_clusters=2), as_dicts(X))
    assert model.forget([3, 7]) == 2
    model.learn_one({0: 1.0, 1: 1.0, "new": 2.0})
    assert model.hierarchy().point_numbers.tolist() == [i for i in range(21) if i not in (3, 7)]
    with pytest.raises(KeyError, match="no point 7"):
        model.forget(7)
    copy = pickle.loads(pickle.dumps(model))
    copy.forget([i for i in range(21) if i not in (3, 7)])
    assert len(copy) == 0
    assert copy.predict_one({0: 1.0}) == 0
    assert copy.labels.tolist() == []
    assert copy.centers is None
    copy.learn_one({0: 1.0})
    assert copy.labels.tolist() == [0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "birch", "keep": ramify.Last(3)}, "algorithm='birch' has no keep"),
        ({"algorithm": "grinch", "duplicates": "count"}, "algorithm='grinch' has no duplicates"),
        ({"keep": "all"}, "keep='all': expected None or ramify.Last"),
        ({"duplicates": "drop"}, "duplicates='drop'"),
        ({"keep": ramify.Younger(3)}, "so every row needs its time"),
    ],
)
def test_wrong_limits(options, message):
    with pytest.raises(ValueError, match=message):
        OnlineHierarchy(**options).learn_one({"x": 1.0})


def test_what_only_grows_forgets_and_weighs_nothing():
    model = learn(OnlineHierarchy("birch"), [{"x": 1.0}])
    with pytest.raises(ValueError, match="only grow"):
        model.forget(0)
    with pytest.raises(ValueError, match="have neither"):
        model.learn_one({"x": 1.0}, w=2)
    with pytest.raises(KeyError, match="no point 0"):
        OnlineHierarchy().forget(0)


def test_edits_hold_while_points_and_features_come():
    rng = np.random.default_rng(0)
    model, plain = OnlineHierarchy(n_clusters=3), ramify.OHAC(n_clusters=3)
    rows = rng.normal(size=(60, 2))
    for row in rows[:30]:
        model.learn_one({"a": row[0], "b": row[1]})
    plain.fit(rows[:30])
    model.edit.must_link(3, 20)
    plain.edit.must_link(3, 20)
    node = int(plain.hierarchy().node_ids[-3])
    model.edit.rename(node, "mine")
    plain.edit.rename(node, "mine")
    for row in rows[30:]:  # a third feature, so the tree is copied into a wider one
        model.learn_one({"a": row[0], "b": row[1], "c": 0.0})
    plain.partial_fit(rows[30:])
    assert model.labels.tolist() == plain.labels_.tolist()
    assert [group.tolist() for group in model.edit.list().linked] == [[3, 20]]
    assert model.edit.list().names == plain.edit.list().names
    assert dict(model.hierarchy().node_names) == dict(plain.hierarchy().node_names)
    model.edit.unlink(20, 3)
    assert model.edit.list().linked == []
    with pytest.raises(ValueError, match="no points yet"):
        OnlineHierarchy().edit  # noqa: B018
    other = OnlineHierarchy(algorithm="otd")
    other.learn_many(pd.DataFrame(rows[:5], columns=["a", "b"]))
    with pytest.raises(AttributeError, match="only trees of OHAC"):
        other.edit.must_link(0, 1)
