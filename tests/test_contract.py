"""The contract that all estimators share."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

import ramify
from ramify import (
    BIRCH,
    GRINCH,
    HAC,
    OHAC,
    OTD,
    PERCH,
    Hierarchy,
    LiveGraphHAC,
    NaiveHAC,
    NaiveNN,
    NoLabelsError,
    RandomCut,
)
from ramify.estimators import _live_answers
from tests.every import (
    ESTIMATORS,
    OFFLINE,
    ONLINE,
    WITH_LINKAGE,
    WITH_METRIC,
    every_estimator,
    every_estimator_and_metric,
    every_online,
)
from tests.strategies import grid_rows, loose_rows, scaled

X = np.random.default_rng(0).normal(size=(30, 3))


# --- scikit-learn ------------------------------------------------------------------

# check_clustering wants 3 clusters of 50 shuffled blob points to match the blobs. An
# OTD tree cannot: its top is a chain of single points. The next test proves that no
# cut of that tree into 3 could pass, so this is Algorithm 1, not its labels.
#
# Weights of 0 and of 2 are rows that are not there, or twice, and the checks of that shuffle the
# rows. Clusters are numbered in order of first points, so where there are labels these are others.
NUMBERED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "labels follow the order of the rows"
    for kind in ("dense", "sparse")
}


def cannot_pass(Estimator, n_clusters):
    found = {}
    if Estimator is OTD:
        found["check_clustering"] = "no cut of an OTD tree into 3 matches shuffled blobs"
    if n_clusters is not None and has_fit_parameter(Estimator, "sample_weight"):
        found |= NUMBERED
    return found


@every_estimator
@pytest.mark.parametrize("n_clusters", [None, 3])
def test_scikit_learns_own_checks(Estimator, n_clusters):
    results = check_estimator(
        Estimator(n_clusters=n_clusters),
        expected_failed_checks=cannot_pass(Estimator, n_clusters),
        on_skip=None,  # array API input, which needs an environment variable
    )
    assert len(results) > 40
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failed == set(cannot_pass(Estimator, n_clusters))


def test_no_cut_of_an_otd_tree_into_three_matches_shuffled_blobs():
    blobs, truth = shuffle(*make_blobs(n_samples=50, random_state=1), random_state=7)
    tree = OTD().fit(StandardScaler().fit_transform(blobs)).hierarchy()
    scores = []
    for child in tree.children[-1]:  # three parts: the root parted, and one of its children
        if child >= tree.n_leaves:
            labels = np.zeros(tree.n_leaves, dtype=int)
            labels[tree.leaves(child)] = 1
            labels[tree.leaves(tree.children[child - tree.n_leaves, 1])] = 2
            scores.append(adjusted_rand_score(truth, labels))
    assert max(scores) < 0.01  # check_clustering asks for 0.4


LIMITS = {"keep": None, "duplicates": "keep"}

OWN_OPTIONS = {
    OTD: {"certify": False, "rule": "paper", "rotate": False, **LIMITS},
    OHAC: {
        "n_neighbors": 1,
        "neighbors": "exact",
        "n_jobs": None,
        "update": "hac",
        "start": "online",
        "polishing": None,
        **LIMITS,
    },
    HAC: {"n_jobs": None},
    NaiveHAC: {"n_jobs": None},
    NaiveNN: LIMITS,
    RandomCut: {"random_state": 0, **LIMITS},
    PERCH: {
        **LIMITS,
        "bounds": "reference",
        "balance": "reference",
        "exact_distance_threshold": 10,
        "max_leaves": None,
    },
    GRINCH: {
        "graft": "reference",
        "restructure": True,
        "rotate_cap": None,
        "graft_cap": None,
        "restructure_cap": None,
    },
    BIRCH: {"threshold": 0.5, "branching_factor": 50},
    LiveGraphHAC: {
        "keep": None,
        "n_neighbors": 15,
        "weight": "snn",
        "max_weight": 1.0,
        "n_jobs": None,
    },
}


@every_estimator
def test_shape_of_the_constructor(Estimator):
    assert issubclass(Estimator, ClusterMixin)
    assert issubclass(Estimator, BaseEstimator)
    first, *others = inspect.signature(Estimator).parameters.values()
    assert first.name == "n_clusters"
    assert first.kind is first.POSITIONAL_OR_KEYWORD
    assert all(option.kind is option.KEYWORD_ONLY for option in others)
    expected = {"n_clusters": None, "distance_threshold": None, "metric": "sqeuclidean"}
    expected |= {"min_size": None, "zero_rows": "error"}
    if Estimator in WITH_LINKAGE:
        expected["linkage"] = "average"
    if Estimator is not BIRCH:
        expected["history"] = 0
    expected |= OWN_OPTIONS.get(Estimator, {})
    assert Estimator().get_params() == expected
    nonsense = dict.fromkeys(expected, "nonsense")
    assert vars(Estimator(**nonsense)) == nonsense  # stored, not judged


@every_estimator
def test_the_front_doors_have_every_estimator(Estimator):
    name = Estimator.__name__
    assert getattr(ramify, name) is getattr(ramify.estimators, name) is Estimator
    assert name in ramify.__all__
    assert name in ramify.estimators.__all__


def test_the_offline_estimators_do_not_grow():
    for method in ("partial_fit", "insert"):
        assert not any(hasattr(Estimator, method) for Estimator in OFFLINE)
        assert all(hasattr(Estimator, method) for Estimator in ONLINE)


@every_estimator
def test_clone_takes_options_and_not_the_tree(Estimator):
    model = Estimator(n_clusters=4, metric="cosine").fit(X)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert len(twin) == 0


@every_estimator
def test_in_a_pipeline(Estimator):
    pipeline = make_pipeline(StandardScaler(), Estimator(n_clusters=3))
    labels = pipeline.fit_predict(X)
    expected = Estimator(n_clusters=3).fit_predict(StandardScaler().fit_transform(X))
    assert np.array_equal(labels, expected)
    assert pipeline.predict(X[:5]).shape == (5,)


# --- growing ------------------------------------------------------------------------


@every_estimator
def test_fit_starts_anew(Estimator):
    model = Estimator(n_clusters=2).fit(X)
    assert model.fit(X[:10, :2]) is model
    assert len(model) == 10
    assert model.n_features_in_ == 2
    assert model.hierarchy() == Estimator().fit(X[:10, :2]).hierarchy()


@every_online
@given(rows=st.one_of(loose_rows(), grid_rows()), data=st.data())
def test_batches_of_any_size_give_the_same_tree(Estimator, rows, data):
    whole = Estimator().fit(rows)
    pieces = Estimator()
    start = 0
    while start < len(rows):
        size = data.draw(st.integers(1, len(rows) - start))
        assert pieces.partial_fit(rows[start : start + size]) is pieces
        start += size
    one_by_one = Estimator()
    assert [one_by_one.insert(row) for row in rows] == list(range(len(rows)))
    assert pieces.hierarchy() == whole.hierarchy() == one_by_one.hierarchy()
    for model in (whole, pieces, one_by_one):
        model.check()


@every_online
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_insert_takes_any_kind_of_row(Estimator, dtype):
    rows = X.round(2).astype(dtype)
    wrap = [
        lambda row: row,
        lambda row: row.tolist() if dtype is np.float64 else row,
        tuple,
        pd.Series,
        lambda row: pl.Series(row),
        lambda row: np.repeat(row, 2)[::2],
        lambda row: row.astype(row.dtype.newbyteorder()),
        lambda row: row.astype(object),
        lambda row: row.astype(np.float64),
    ]
    model = Estimator().fit(rows[:1])
    for i, row in enumerate(rows[1:], start=1):
        assert model.insert(wrap[i % len(wrap)](row)) == i
    assert model.hierarchy() == Estimator().fit(rows).hierarchy()
    model.check()


@every_online
def test_insert_begins_a_tree(Estimator):
    model = Estimator(n_clusters=1)
    assert model.insert([1, 2, 3]) == 0
    assert model.n_features_in_ == 3
    assert model.labels_.tolist() == [0]
    assert model.insert(np.array([1.0, 2.0, 3.0])) == 1


@every_online
def test_the_metric_cannot_change_half_way(Estimator):
    model = Estimator(n_clusters=2).fit(X)
    before = model.hierarchy()
    model.set_params(metric="cosine")
    for call in (lambda: model.partial_fit(X), lambda: model.insert(X[0].tolist())):
        with pytest.raises(ValueError, match=r"metric was 'sqeuclidean' .* is now 'cosine'.*fit"):
            call()
    assert model.hierarchy() == before
    assert model.fit(X).hierarchy() == Estimator(metric="cosine").fit(X).hierarchy()


@every_estimator
def test_float32_and_float64_agree_on_easy_data(Estimator):
    rows = np.array([[0, 0], [10, 0], [0, 1], [11, 0], [0, 9]])
    narrow = Estimator().fit(rows.astype(np.float32)).hierarchy()
    wide = Estimator().fit(rows.astype(np.float64)).hierarchy()
    assert np.array_equal(narrow.children, wide.children)
    assert np.allclose(narrow.heights, wide.heights, rtol=1e-6)


# --- reading -------------------------------------------------------------------------


@every_estimator
@pytest.mark.parametrize("cut", [{"n_clusters": 4}, {"distance_threshold": 2.0}])
def test_attributes_are_those_of_the_hierarchy(Estimator, cut):
    model = Estimator(**cut).fit(X)
    tree = model.hierarchy()
    tree.check()
    height = {"n_clusters": 4} if "n_clusters" in cut else {"height": 2.0}
    assert np.array_equal(model.labels_, tree.cut(**height))
    assert model.labels_.dtype == np.int64
    assert model.labels_.shape == (30,)
    firsts = [model.labels_.tolist().index(k) for k in range(model.n_clusters_)]
    assert firsts == sorted(firsts)
    assert model.n_clusters_ == len(set(model.labels_.tolist()))
    assert np.array_equal(model.children_, tree.children)
    assert np.array_equal(model.distances_, tree.monotone_heights)
    assert (np.diff(model.distances_) >= 0).all()
    assert model.n_leaves_ == len(model) == 30
    assert model.n_features_in_ == 3
    check_is_fitted(model)


@every_online
def test_labels_cover_all_points_seen(Estimator):
    model = Estimator(n_clusters=2).partial_fit(X[:20])
    assert model.labels_.shape == (20,)
    model.partial_fit(X[20:])
    assert model.labels_.shape == (30,)
    model.insert(X[0])
    assert model.labels_.shape == (31,)


@every_estimator
def test_fit_predict_returns_labels_of_ones_own(Estimator):
    model = Estimator(n_clusters=3)
    labels = model.fit_predict(X)
    assert np.array_equal(labels, model.labels_)
    labels[:] = 9
    assert model.labels_.max() == 2
    with pytest.raises(ValueError, match="read-only"):
        model.labels_[:] = 9


@pytest.mark.parametrize("linkage", ["average", "ward"])
def test_a_threshold_means_what_it_means_in_scikit_learn(linkage):
    metric = "sqeuclidean" if linkage == "average" else "euclidean"
    ours = HAC(linkage=linkage).fit(X).hierarchy()
    between = (ours.heights[:-1] + ours.heights[1:]) / 2
    for threshold in between[::5]:
        theirs = AgglomerativeClustering(
            None, linkage=linkage, metric=metric, distance_threshold=threshold
        ).fit(X)
        model = HAC(distance_threshold=threshold, linkage=linkage).fit(X)
        assert model.n_clusters_ == theirs.n_clusters_
        assert adjusted_rand_score(model.labels_, theirs.labels_) == 1


@every_estimator
def test_clusters_merge_only_below_the_threshold(Estimator):
    rows = [[0.0], [2.0]]  # one merge
    (height,) = Estimator().fit(rows).distances_
    assert height == (1 if Estimator is LiveGraphHAC else 4)  # two rows have no third in common
    assert Estimator(distance_threshold=height).fit(rows).n_clusters_ == 2
    assert Estimator(distance_threshold=height + 0.1).fit(rows).n_clusters_ == 1
    assert Estimator(distance_threshold=0).fit([[1.0], [1.0]]).n_clusters_ == 2
    if (Estimator, "dot") in WITH_METRIC:
        assert Estimator(distance_threshold=-1, metric="dot").fit([[1.0], [2.0]]).n_clusters_ == 1


@every_estimator
def test_another_cut_needs_no_other_fit(Estimator):
    model = Estimator(n_clusters=2).fit(X)
    assert model.n_clusters_ == 2
    model.set_params(n_clusters=5)
    assert model.n_clusters_ == 5
    model.set_params(n_clusters=None, distance_threshold=np.inf)
    assert model.n_clusters_ == 1


@every_estimator
def test_without_a_cut_there_are_no_labels(Estimator):
    model = Estimator().fit(X)
    for name in ("labels_", "n_clusters_", "predict", "fit_predict"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=r"set one, or use hierarchy\(\).cut\(...\)"):
            getattr(model, name)
    assert callable(Estimator.predict)  # on the class it is there, for help() and docs
    assert model.hierarchy().cut(n_clusters=3).max() == 2
    model.set_params(n_clusters=3)
    assert model.predict(X).shape == (30,)


@every_online
def test_a_snapshot_is_not_changed_by_later_inserts(Estimator):
    model = Estimator(n_clusters=2).fit(X)
    tree, labels = model.hierarchy(), model.labels_
    children, heights, old_labels = tree.children.copy(), tree.heights.copy(), labels.copy()
    model.partial_fit(X).insert(X[0])
    assert len(tree) == 30
    assert np.array_equal(tree.children, children)
    assert np.array_equal(tree.heights, heights)
    assert np.array_equal(labels, old_labels)


@every_online
def test_nothing_is_computed_before_it_is_read(Estimator, monkeypatch):
    snapshots = []

    class Counted(Hierarchy):
        def __init__(self, *arrays):
            snapshots.append(1)
            super().__init__(*arrays)

    monkeypatch.setattr(_live_answers, "Hierarchy", Counted)
    model = Estimator(n_clusters=2)
    rows = np.random.default_rng(0).normal(size=(scaled(500), 2))
    for row in rows:
        model.insert(row)
    model.partial_fit(rows)
    for _ in range(3):
        assert model.labels_.max() + 1 == model.n_clusters_ == 2
        model.predict(rows)
        model.clusters()
    assert model.labels_ is model.labels_
    assert len(snapshots) == 0
    for _ in range(3):
        model.hierarchy()
        assert len(model.children_) == len(model.distances_) == model.n_leaves_ - 1
    assert len(snapshots) == 1
    model.insert(rows[0])
    assert len(model.labels_) == len(model)
    assert len(snapshots) == 1
    assert len(model.children_) == len(model) - 1
    assert len(snapshots) == 2


@every_estimator_and_metric
def test_predict_gives_the_label_of_the_nearest_leaf(Estimator, metric):
    rng = np.random.default_rng(1)
    rows, queries = rng.normal(size=(40, 3)), rng.normal(size=(25, 3))
    model = Estimator(n_clusters=6, metric=metric).fit(rows)
    unit = [points / np.linalg.norm(points, axis=1, keepdims=True) for points in (queries, rows)]
    distance = {
        "sqeuclidean": ((queries[:, np.newaxis] - rows) ** 2).sum(axis=2),
        "cosine": 1 - unit[0] @ unit[1].T,
        "dot": -queries @ rows.T,
    }[metric]
    assert np.array_equal(model.predict(queries), model.labels_[distance.argmin(axis=1)])
    if metric != "dot":
        assert np.array_equal(model.predict(rows), model.labels_)


@every_estimator
def test_predict_is_pure(Estimator):
    model = Estimator(n_clusters=3).fit(X)
    before, tree = dict(vars(model)), model.hierarchy()
    first = model.predict(X + 1)
    assert np.array_equal(first, model.predict(X + 1))
    assert np.array_equal(first[::-1], model.predict((X + 1)[::-1]))
    assert vars(model) == before
    assert len(model) == 30
    assert model.hierarchy() is tree


@every_estimator
def test_predict_breaks_ties_by_arrival(Estimator):
    model = Estimator(n_clusters=3).fit([[0.0], [2.0], [10.0]])
    assert model.predict([[1.0], [6.0]]).tolist() == model.labels_[[0, 1]].tolist()


# --- names ------------------------------------------------------------------------------


@every_estimator
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_columns(Estimator, frame):
    columns = dict(zip("abc", X.T, strict=True))
    model = Estimator(n_clusters=2).fit(frame(columns))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.predict(frame(columns)).shape == (30,)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame(columns).rename({"a": "z"}, **axis_of(frame)))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    if Estimator in ONLINE:
        model.insert(X[0])  # a row has no names to check
        with pytest.raises(ValueError, match="feature names should match"):
            model.partial_fit(frame(columns).rename({"a": "z"}, **axis_of(frame)))
        assert len(model) == 31
    model.fit(X)
    assert not hasattr(model, "feature_names_in_")


def axis_of(frame):
    return {"axis": "columns"} if frame is pd.DataFrame else {}


# --- refusals -----------------------------------------------------------------------------

BAD_OPTIONS = {
    "both cuts": ({"n_clusters": 2, "distance_threshold": 1.0}, ValueError, "both set; set one"),
    "no clusters": ({"n_clusters": 0}, ValueError, "n_clusters=0: expected at least 1"),
    "negative clusters": ({"n_clusters": -3}, ValueError, "n_clusters=-3: expected at least 1"),
    "half a cluster": ({"n_clusters": 2.5}, TypeError, "n_clusters=2.5: expected an int"),
    "true clusters": ({"n_clusters": True}, TypeError, "n_clusters=True: expected an int"),
    "text clusters": ({"n_clusters": "3"}, TypeError, "n_clusters='3': expected an int, got str"),
    "text height": ({"distance_threshold": "3"}, TypeError, "expected a number, got str"),
    "no height": ({"distance_threshold": float("nan")}, ValueError, "distance_threshold=nan"),
    "no metric": ({"metric": "manhattan"}, ValueError, "one of 'sqeuclidean', "),
    "euclidean": ({"metric": "euclidean"}, ValueError, "metric='sqeuclidean'"),
    "metric object": ({"metric": None}, TypeError, "metric=None: expected a string, one of"),
}
BAD_LINKAGES = {
    "unknown": ({"linkage": "wart"}, ValueError, "'average', 'centroid', 'ward'"),
    "complete": (
        {"linkage": "complete"},
        ValueError,
        "'ward'. It cannot .* every point again",
    ),
    "single": (
        {"linkage": "single"},
        ValueError,
        "'ward'. It cannot .* every point again",
    ),
    "median": (
        {"linkage": "median"},
        ValueError,
        "'ward'. It cannot .* every point again",
    ),
    "ward of dots": ({"linkage": "ward", "metric": "dot"}, ValueError, "metric='dot' has no"),
    "object": ({"linkage": 3}, TypeError, "linkage=3: expected a string, one of"),
}
BAD_NEIGHBORS = {
    "none": ({"n_neighbors": 0}, ValueError, "n_neighbors=0: expected at least 1"),
    "half": ({"n_neighbors": 1.5}, TypeError, "n_neighbors=1.5: expected an int"),
    "true": ({"n_neighbors": True}, TypeError, "n_neighbors=True: expected an int"),
}
CASES = [
    *((Estimator, *case) for Estimator in ESTIMATORS for case in BAD_OPTIONS.values()),
    *((Estimator, *case) for Estimator in WITH_LINKAGE for case in BAD_LINKAGES.values()),
    *((OHAC, *case) for case in BAD_NEIGHBORS.values()),
]


@pytest.mark.parametrize(("Estimator", "options", "error", "message"), CASES)
def test_bad_options_are_refused_when_data_arrives(Estimator, options, error, message):
    fresh = Estimator(**options)
    fitted = Estimator().fit(X)
    before = fitted.hierarchy()
    fitted.set_params(**options)
    calls = [fresh.fit, fitted.fit]
    if Estimator in ONLINE:
        calls += [fresh.partial_fit, fitted.partial_fit]
        calls += [lambda rows: fresh.insert(rows[0])]
    for call in calls:
        with pytest.raises(error, match=message):
            call(X)
    assert len(fresh) == 0
    assert not hasattr(fresh, "n_features_in_")
    assert fitted.hierarchy() == before
    if {"n_clusters", "distance_threshold"} & options.keys():
        assert not hasattr(fitted, "labels_")
        with pytest.raises(ValueError, match=message):
            fitted.predict(X)


@every_estimator
def test_more_clusters_than_rows(Estimator):
    fresh, fitted = Estimator(n_clusters=5), Estimator(n_clusters=5).fit(X)
    for model in (fresh, fitted):
        before = len(model)
        with pytest.raises(ValueError, match=r"n_clusters=5 is more than .*n_samples = 4"):
            model.fit(X[:4])
        assert len(model) == before
    assert Estimator(n_clusters=4).fit_predict(X[:4]).tolist() == [0, 1, 2, 3]


@every_online
def test_streams_may_start_small(Estimator):
    model = Estimator(n_clusters=5).partial_fit(X[:2])
    model.insert(X[2])
    for read in (lambda: model.labels_, lambda: model.n_clusters_, lambda: model.predict(X)):
        with pytest.raises(NoLabelsError, match="n_clusters=5 is more than the 3 points so far"):
            read()
    assert issubclass(NoLabelsError, ValueError)
    assert not hasattr(model, "labels_")
    assert "n_leaves_" in model._repr_html_()  # a notebook can show it
    assert model.partial_fit(X[3:]).n_clusters_ == 5


@every_estimator
def test_use_before_fit(Estimator):
    model = Estimator(n_clusters=2)
    assert len(model) == 0
    assert model  # empty, but there
    for name in ("labels_", "n_clusters_", "children_", "distances_", "n_leaves_"):
        assert not hasattr(model, name)
        with pytest.raises(NotFittedError, match="holds no points yet; call 'fit' first"):
            getattr(model, name)
    for use in (model.hierarchy, model.check, lambda: model.predict(X)):
        with pytest.raises(NotFittedError, match="holds no points yet; call 'fit' first"):
            use()
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    for name in ("n_features_in_", "feature_names_in_"):
        assert not hasattr(model, name)
    assert repr(model) == f"{Estimator.__name__}(n_clusters=2)"


@every_online
@pytest.mark.parametrize("row", [[0.5, 0.5, 0.5], np.full(3, 0.5)])
def test_no_insert_into_a_tree_of_another_metric(Estimator, row):
    model = Estimator().fit(X)
    model.insert(row)
    model.set_params(metric="cosine")
    with pytest.raises(ValueError, match="metric was 'sqeuclidean'"):
        model.insert(row)
    model.set_params(metric="sqeuclidean")
    assert model.insert(row) == len(X) + 1


@every_estimator
def test_check_raised_on_sound_float32_denormals(Estimator):
    X = np.random.default_rng(0).normal(size=(100, 2)) * [1, 1e-43]
    Estimator().fit(X.astype(np.float32)).check()


@pytest.mark.parametrize("offset", [1e2, 1e4, 1e6])
def test_check_raised_on_a_sound_float32_stream_far_from_zero(offset):
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(scaled(100_000), 2)), np.sort(rng.random((scaled(100_000), 1)), 0)):
        OTD().fit((X + offset).astype(np.float32)).check()
