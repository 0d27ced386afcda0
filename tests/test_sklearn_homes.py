"""At home in scikit-learn: pipelines, clones, searches, routing, pandas output, joblib."""

import io

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

from ramify import HAC, OHAC, OTD, NaiveNN
from ramify.metrics import RevenueScorer, revenue_fraction
from tests.every import ONLINE, every_estimator

pytestmark = pytest.mark.no_asan  # processes, and nothing new for the core


RNG = np.random.default_rng(0)
X = np.repeat(RNG.normal(size=(5, 4)) * 6, 12, axis=0) + RNG.normal(size=(60, 4))
X = X[RNG.permutation(60)]
IDS = [f"p{i}" for i in range(60)]


def as_float32(rows):
    return np.asarray(rows, dtype=np.float32)


# --- pipelines -------------------------------------------------------------------------


@every_estimator
def test_a_pipeline_does_what_its_steps_do(Estimator):
    pipeline = make_pipeline(StandardScaler(), PCA(2), Estimator(n_clusters=4))
    rows = PCA(2).fit_transform(StandardScaler().fit_transform(X))
    plain = Estimator(n_clusters=4).fit(rows)
    assert np.array_equal(pipeline.fit_predict(X), plain.labels_)
    assert np.array_equal(pipeline.predict(X), plain.predict(rows))
    assert pipeline[-1].hierarchy() == plain.hierarchy()


@every_estimator
def test_float32_from_a_function_transformer_stays_float32(Estimator):
    pipeline = make_pipeline(FunctionTransformer(as_float32), Estimator(n_clusters=4)).fit(X)
    assert pipeline[-1].points().dtype == np.float32
    assert pipeline[-1].hierarchy() == Estimator().fit(as_float32(X)).hierarchy()


@every_estimator
def test_clones_of_pipelines_are_empty(Estimator):
    pipeline = make_pipeline(StandardScaler(), Estimator(n_clusters=4)).fit(X)
    twin = clone(pipeline)
    assert len(twin[-1]) == 0
    assert np.array_equal(twin.fit_predict(X), pipeline[-1].labels_)


def test_options_by_the_names_of_a_pipeline():
    pipeline = Pipeline([("scale", StandardScaler()), ("tree", OHAC())])
    pipeline.set_params(tree__n_clusters=3, tree__linkage="ward")
    assert pipeline.fit(X)[-1].n_clusters_ == 3
    assert pipeline.get_params()["tree__linkage"] == "ward"


# --- searches ----------------------------------------------------------------------------


def test_a_grid_search_by_revenue_finds_the_best_options():
    scorer = RevenueScorer(gamma=0.05)
    folds = KFold(3)
    grid = {"tree__linkage": ["average", "centroid", "ward"], "tree__n_neighbors": [1, 3]}
    pipeline = Pipeline([("scale", StandardScaler()), ("tree", OHAC())])
    search = GridSearchCV(pipeline, grid, scoring=scorer, cv=folds).fit(X)
    by_hand = {}
    for linkage in grid["tree__linkage"]:
        for k in grid["tree__n_neighbors"]:
            scores = []
            for _, test in folds.split(X):
                rows = StandardScaler().fit_transform(X[test])
                tree = OHAC(linkage=linkage, n_neighbors=k).fit(rows).hierarchy()
                scores.append(revenue_fraction(tree, X[test], gamma=0.05))
            by_hand[linkage, k] = np.mean(scores)
    found = zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    for params, score in found:
        assert score == pytest.approx(by_hand[params["tree__linkage"], params["tree__n_neighbors"]])
    assert search.best_score_ == pytest.approx(max(by_hand.values()))
    assert search.best_estimator_[-1].hierarchy().n_leaves == 60  # fitted again, to all rows


def test_a_search_over_algorithms():
    pipeline = Pipeline([("tree", OHAC())])
    grid = {"tree": [OHAC(), OTD(), HAC(), NaiveNN()]}
    search = GridSearchCV(pipeline, grid, scoring=RevenueScorer(gamma=0.05), cv=3).fit(X)
    means = search.cv_results_["mean_test_score"]
    assert type(search.best_params_["tree"]) is not OTD
    assert means.min() == means[1]  # a chain earns the least


@pytest.mark.parametrize("similarity", ["rbf", "cosine", "dot", lambda A, B: np.exp(A @ B.T / 50)])
def test_similarities_of_the_scorer(similarity):
    rows = np.abs(X)
    scorer = RevenueScorer(similarity, gamma=0.1)
    expected = revenue_fraction(HAC().fit(rows).hierarchy(), rows, similarity=similarity, gamma=0.1)
    assert scorer(HAC(), rows) == pytest.approx(expected)
    scores = cross_val_score(HAC(), rows, scoring=scorer, cv=2)
    assert scores.shape == (2,)


def test_a_sampling_scorer_repeats_itself():
    scorer = RevenueScorer(sample=500, gamma=0.05)
    search = RandomizedSearchCV(
        OHAC(), {"n_neighbors": [1, 2, 3]}, n_iter=2, scoring=scorer, cv=2, random_state=0
    )
    first, second = (clone(search).fit(X).cv_results_["mean_test_score"] for _ in range(2))
    assert np.array_equal(first, second)


def test_the_scorer_leaves_the_model_alone():
    model = OHAC(n_clusters=3).fit(X[:40])
    before = model.hierarchy()
    RevenueScorer()(model, X[40:])
    assert model.hierarchy() == before


def test_what_the_scorer_refuses():
    with pytest.raises(ValueError, match="similarity='sqeuclidean' cannot score"):
        RevenueScorer("sqeuclidean")(OHAC(), X)
    with pytest.raises(TypeError, match=r"expected a clusterer of Ramify.*got KMeans"):
        RevenueScorer()(KMeans(2, n_init=1), X)


# --- metadata routing ----------------------------------------------------------------------


@every_estimator
def test_ids_find_their_way_through_a_pipeline(Estimator):
    with config_context(enable_metadata_routing=True):
        tree = Estimator(n_clusters=3).set_fit_request(ids=True)
        pipeline = make_pipeline(StandardScaler(), tree).fit(X, ids=IDS)
    assert pipeline[-1].ids_.tolist() == IDS
    assert pipeline[-1].number_of("p7") == 7
    assert pipeline[-1].hierarchy().names.tolist() == IDS


def test_ids_that_nobody_asked_for_are_refused_by_scikit_learn():
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), OHAC())
        with pytest.raises(ValueError, match="ids"):
            pipeline.fit(X, ids=IDS)


def test_requests_survive_a_clone_and_name_partial_fit():
    with config_context(enable_metadata_routing=True):
        model = OHAC().set_fit_request(ids=True).set_partial_fit_request(ids="names")
        routes = clone(model).get_metadata_routing()
    assert routes.fit.requests["ids"] is True
    assert routes.partial_fit.requests["ids"] == "names"


def test_a_search_routes_ids_to_every_fit():
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            OHAC().set_fit_request(ids=True),
            {"linkage": ["average", "ward"]},
            scoring=RevenueScorer(),
            cv=2,
        ).fit(X, ids=np.array(IDS))
    assert search.best_estimator_.ids_.tolist() == IDS


# --- pandas output ----------------------------------------------------------------------------


@every_estimator
def test_neighbours_that_put_out_pandas(Estimator):
    frame = pd.DataFrame(X, columns=list("abcd"))
    with config_context(transform_output="pandas"):
        pipeline = make_pipeline(StandardScaler(), Estimator(n_clusters=3)).fit(frame)
        between = pipeline[:-1].transform(frame)
        labels = pipeline.predict(frame)
    assert isinstance(between, pd.DataFrame)
    assert isinstance(labels, np.ndarray)  # labels are no transform
    assert pipeline[-1].feature_names_in_.tolist() == list("abcd")
    plain = Estimator(n_clusters=3).fit(between.to_numpy())
    assert pipeline[-1].hierarchy() == plain.hierarchy()
    assert np.array_equal(labels, plain.predict(between.to_numpy()))


def test_behind_a_column_transformer():
    frame = pd.DataFrame(X, columns=list("abcd")).assign(word="x")
    chosen = ColumnTransformer([("keep", Normalizer(), list("abc"))]).set_output(transform="pandas")
    pipeline = make_pipeline(chosen, OHAC(n_clusters=3)).fit(frame)
    assert pipeline[-1].feature_names_in_.tolist() == ["keep__a", "keep__b", "keep__c"]


# --- joblib ------------------------------------------------------------------------------------


@every_estimator
def test_joblib_keeps_a_pipeline_that_goes_on(Estimator):
    pipeline = make_pipeline(StandardScaler(), Estimator(n_clusters=3)).fit(X)
    file = io.BytesIO()
    joblib.dump(pipeline, file)
    file.seek(0)
    twin = joblib.load(file)
    assert np.array_equal(twin.predict(X), pipeline.predict(X))
    if Estimator in ONLINE:
        rows = StandardScaler().fit_transform(X)[:9] + 0.01
        trees = [model[-1].partial_fit(rows).hierarchy() for model in (pipeline, twin)]
        assert trees[0] == trees[1]


def test_a_search_in_processes():
    search = GridSearchCV(
        OHAC(), {"n_neighbors": [1, 2]}, scoring=RevenueScorer(gamma=0.05), cv=2, n_jobs=2
    )
    with joblib.parallel_backend("loky"):
        assert search.fit(X).best_score_ > 1 / 3
