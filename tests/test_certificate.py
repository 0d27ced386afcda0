"""OTD's certificate: what the model states is what the paper's proof gives."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from ramify import OTD
from ramify.metrics import revenue, revenue_fraction
from tests.oracles import measures as oracle
from tests.shapes import pairs_of
from tests.strategies import SMALL, examples

EXAMPLES = examples(40)
METRICS = ("dot", "cosine")


@st.composite
def streams(draw, min_size=1, max_size=40):
    """Rows without negative numbers, none of them zero."""
    n = draw(st.integers(min_size, max_size), label="rows")
    d = draw(st.integers(1, 6), label="columns")
    kind = draw(st.sampled_from(["dense", "sparse", "clustered", "repeated"]), label="kind")
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    X = rng.exponential(size=(n, d))
    if kind == "sparse":
        X *= rng.random((n, d)) < 0.4
        X[X.sum(axis=1) == 0, 0] = 1.0
    elif kind == "clustered":
        X = np.eye(d)[rng.integers(d, size=n)] * 5 + 0.3 * X
    elif kind == "repeated":
        X = X[rng.integers(1 + n // 4, size=n)]
    return X


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=EXAMPLES)
@given(X=streams(max_size=16))
def test_every_number_is_the_proofs(metric, X):
    """β, Δ_Max and revenue counted again, insertion by insertion."""
    w = oracle.similarity_matrix(X, metric)
    model = OTD(metric=metric, certify=True)
    model.insert(X[0])
    beta, guaranteed, maximum = 1.0, 0.0, 0.0
    for n in range(1, len(X)):
        model.insert(X[n])
        children = pairs_of(model.children_)
        step, growth = oracle.certificate(children, w)
        beta = min(beta, step)
        guaranteed += step * growth / 3
        maximum += growth
        total, earned, _ = oracle.sums(children, w)
        proof = model.certificate()
        slack = 1e-12 * max(maximum, 1)
        assert proof.n_points == n + 1
        assert proof.beta == pytest.approx(beta, abs=1e-9)
        assert proof.guaranteed == pytest.approx(guaranteed, rel=1e-9, abs=slack)
        assert proof.maximum == pytest.approx(maximum, rel=1e-9, abs=slack)
        assert proof.maximum == pytest.approx((n - 1) * total, rel=1e-9, abs=slack)
        assert proof.achieved == pytest.approx(earned, rel=1e-9, abs=slack)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@settings(max_examples=EXAMPLES)
@given(X=streams())
def test_no_less_is_achieved_than_guaranteed(metric, dtype, X):
    model = OTD(metric=metric, certify=True)
    slack = 1e-4 if dtype is np.float32 else 1e-12
    for row in X.astype(dtype):
        model.insert(row)
        proof = model.certificate()
        assert 0 <= proof.beta <= 1
        assert proof.theorem_bound <= proof.guaranteed + slack * proof.maximum
        assert proof.guaranteed <= proof.achieved + slack * proof.maximum
        assert proof.achieved <= proof.maximum * (1 + slack)


@pytest.mark.parametrize("metric", METRICS)
def test_large_streams_agree_with_the_measures(metric):
    n = 500 if SMALL else 20_000
    X = np.random.default_rng(0).exponential(size=(n, 8))
    model = OTD(metric=metric, certify=True).fit(X)
    proof = model.certificate()
    tree = model.hierarchy()
    assert proof.achieved == pytest.approx(revenue(tree, X, similarity=metric), rel=1e-9)
    fraction = revenue_fraction(tree, X, similarity=metric)
    assert proof.achieved_fraction == pytest.approx(fraction, rel=1e-9)
    assert 0 < proof.theorem_bound < proof.guaranteed < proof.achieved < proof.maximum
    assert proof.guaranteed_fraction == proof.guaranteed / proof.maximum


def test_equal_points_meet_the_bound_exactly():
    X = np.tile([[3.0, 4.0]], (300, 1))
    proof = OTD(metric="dot", certify=True).fit(X).certificate()
    assert proof.beta == 1
    assert proof.guaranteed == proof.achieved == proof.maximum / 3


def test_points_at_right_angles_earn_nothing_and_miss_nothing():
    proof = OTD(metric="cosine", certify=True).fit(np.eye(6)).certificate()
    found = [proof.guaranteed, proof.achieved, proof.maximum]
    assert found == pytest.approx([0, 0, 0], abs=1e-14)
    proof = OTD(metric="cosine", certify=True).fit(np.eye(2)).certificate()
    assert proof.achieved_fraction == proof.guaranteed_fraction == 1


def test_a_single_point():
    proof = OTD(metric="dot", certify=True).fit([[1.0]]).certificate()
    assert (proof.n_points, proof.beta, proof.maximum) == (1, 1.0, 0.0)


@pytest.mark.parametrize("metric", ["dot", "cosine"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_certifying_does_not_change_the_tree(metric, dtype):
    X = np.random.default_rng(1).exponential(size=(400, 5)).astype(dtype)
    plain = OTD(metric=metric).fit(X)
    certified = OTD(metric=metric, certify=True).fit(X)
    assert plain.hierarchy() == certified.hierarchy()


def test_batches_and_single_rows_certify_alike():
    X = np.random.default_rng(2).exponential(size=(90, 3))
    whole = OTD(metric="dot", certify=True).fit(X)
    parts = OTD(metric="dot", certify=True).partial_fit(X[:40]).partial_fit(X[40:41])
    for row in X[41:]:
        parts.insert(row)
    assert parts.certificate() == whole.certificate()
    assert whole.fit(X).certificate() == parts.certificate(), "fit starts anew"


def test_a_pickled_model_goes_on_certifying():
    X = np.random.default_rng(3).exponential(size=(120, 3))
    model = OTD(metric="dot", certify=True).fit(X[:70])
    again = pickle.loads(pickle.dumps(model))
    assert again.certificate() == model.certificate()
    assert again.partial_fit(X[70:]).certificate() == model.partial_fit(X[70:]).certificate()
    assert clone(model).certify is True


def test_a_stored_model_that_lost_its_certificate_is_refused():
    model = OTD(metric="dot", certify=True).fit([[0.0], [1.0], [5.0]])
    state = model.__getstate__()
    state["_live"]["arrays"]["numbers"] = np.empty(0)
    with pytest.raises(ValueError, match="a stored certificate is damaged"):
        OTD().__setstate__(state)


@pytest.mark.parametrize("way", ["fit", "partial_fit", "later", "insert", "insert later"])
@pytest.mark.parametrize("metric", METRICS)
def test_negative_numbers_are_refused_and_change_nothing(way, metric):
    good, bad = np.array([[1.0, 2.0], [3.0, 1.0]]), np.array([[1.0, 1.0], [2.0, -0.5]])
    model = OTD(metric=metric, certify=True)
    if "later" in way:
        model.fit(good)
    before = len(model)
    one = "insert" in way
    take = model.insert if one else model.fit if way == "fit" else model.partial_fit
    place = rf"-0.5 \(row {0 if one else 1}, column 1\); certify=True needs"
    with pytest.raises(ValueError, match=place):
        take(bad[1] if one else bad)
    assert len(model) == before
    if before:
        assert model.certificate() == OTD(metric=metric, certify=True).fit(good).certificate()


def test_negative_questions_are_not_insertions():
    model = OTD(2, metric="dot", certify=True).fit([[1.0, 2.0], [3.0, 1.0]])
    assert model.predict([[-1.0, -2.0]]).shape == (1,)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"certify": True}, ValueError, "similarities that cannot be negative.*'sqeuclidean'"),
        ({"certify": 1, "metric": "dot"}, TypeError, "certify=1: expected True or False"),
    ],
)
def test_wrong_options_are_refused_when_data_arrives(options, error, message):
    with pytest.raises(error, match=message):
        OTD(**options).fit([[0.0], [1.0]])


def test_without_certify_there_is_no_certificate():
    model = OTD(metric="dot").fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="set certify=True before the first point"):
        model.certificate()
    model.certify = True
    with pytest.raises(ValueError, match="certify was False when the first point arrived"):
        model.partial_fit([[1.0]])
