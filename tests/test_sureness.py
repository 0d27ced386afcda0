"""How sure it is where a row belongs, and whether it is something new."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify.estimators import _sureness
from ramify.ray import ShardedOHAC
from ramify.serve import running
from tests.commands import done, fails
from tests.every import every_estimator
from tests.oracles import sureness as oracle
from tests.strategies import examples, seeds

ALPHAS = [0.05, 0.125, 0.25, 0.5, 0.75]


@given(seeds(), st.integers(3, 24), st.integers(1, 4), st.sampled_from(ALPHAS))
@settings(max_examples=examples(100))
def test_answers_are_those_of_the_oracle(seed, n, k, alpha):
    """Rows without ties, so that neighbours are in one order."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 2))
    model = ramify.OHAC(linkage="ward").fit(rows)
    k = min(k, n)
    labels = model.cut(n_clusters=k).tolist()
    asked = rng.normal(size=(5, 2)) * 2
    found = model.assign(asked, n_clusters=k, confidence=True, new=alpha)
    near = min(_sureness.NEIGHBORS, n - 1)
    for row, sure, is_new in zip(asked, found.confidence, found.new, strict=True):
        wanted = oracle.confidence(row, rows.tolist(), labels, near)
        assert sure == pytest.approx(float(wanted), abs=1e-9)
        assert bool(is_new) == oracle.is_new(row, rows.tolist(), labels, near, Fraction(alpha))


@given(seeds(), st.integers(12, 24))
@settings(max_examples=examples(30))
def test_each_level_says_what_its_cut_says_and_never_more_than_the_one_above(seed, n):
    rng = np.random.default_rng(seed)
    model = ramify.OHAC(linkage="ward").fit(rng.normal(size=(n, 2)))
    asked = rng.normal(size=(6, 2))
    levels = [1, 3, 8]
    found = model.assign(asked, n_clusters=3, confidence=levels).confidence
    apart = [model.assign(asked, n_clusters=k, confidence=True).confidence for k in levels]
    np.testing.assert_array_equal(found, np.minimum.accumulate(np.stack(apart, axis=1), axis=1))
    assert (found[:, 0] == 1).all()


@pytest.mark.parametrize("shards", [1, 3])
def test_shards_answer_as_the_oracle_does_of_their_tree(tmp_path, shards):
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(40, 2))
    plan = {"engine": "local", "block": 8, "frontier": 4}
    with ShardedOHAC(shards, folder=tmp_path, **plan) as model:
        model.partial_fit(rows[:30]).partial_fit(rows[30:])
        model.forget([5, 6])
        left = np.delete(rows, [5, 6], axis=0)
        labels = model.cut(n_clusters=4).tolist()
        asked = rng.normal(size=(5, 2)) * 2
        found = model.assign(asked, n_clusters=4, confidence=True, new=0.25)
    for row, sure, is_new in zip(asked, found.confidence, found.new, strict=True):
        wanted = oracle.confidence(row, left.tolist(), labels, _sureness.NEIGHBORS)
        assert sure == pytest.approx(float(wanted), abs=1e-9)
        near = _sureness.NEIGHBORS
        assert bool(is_new) == oracle.is_new(row, left.tolist(), labels, near, Fraction(1, 4))


def test_a_server_says_it_of_one_point_and_as_a_frame(tmp_path):
    pd = pytest.importorskip("pandas")
    with running(tmp_path) as address, ramify.Client(address) as client:
        tree = client.create("a").partial_fit([[0.0]])
        found = tree.assign([[5.0]], n_clusters=1, confidence=True, new=0.5)
        assert np.isnan(found.confidence).all()
        assert found.new.tolist() == [False]
        tree.partial_fit([[float(i)] for i in range(1, 30)])
        frame = tree.assign([[5.2], [90.0]], n_clusters=2, confidence=(2, 4), new=0.1, frame=True)
        assert isinstance(frame, pd.DataFrame)
        assert frame.new.tolist() == [False, True]
        assert [len(one) for one in frame.confidence] == [2, 2]
        assert "confidence" not in tree.assign([[5.0]], n_clusters=2, frame=True)
        http, body = tree._client._http, {"vectors": [[1.0]]}
        both = {"n_clusters": 2, "confidence": True, "levels": [2]}
        assert "one of the two" in http.post("/v1/trees/a/assign", params=both, json=body).text


def test_the_command_line_says_it(tmp_path):
    rng = np.random.default_rng(8)
    rows = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 9])
    asked = np.vstack([rows[:3] + 0.1, [[90.0, -90.0]]])
    np.save(tmp_path / "rows.npy", rows)
    np.save(tmp_path / "asked.npy", asked)
    done("fit", tmp_path / "rows.npy", "-o", tmp_path / "t", "-q")
    words = ("assign", tmp_path / "t", tmp_path / "asked.npy", "-k", 2, "--to", "jsonl")
    lines = [
        json.loads(line) for line in done(*words, "--confidence", "--new", 0.1).out.splitlines()
    ]
    model = ramify.load(tmp_path / "t")
    found = model.assign(asked, n_clusters=2, confidence=True, new=0.1)
    assert [line["confidence"] for line in lines] == found.confidence.tolist()
    assert [line["new"] for line in lines] == [False, False, False, True]
    at = ("--confidence-at", 2, "--confidence-at", 5)
    line = json.loads(done(*words, *at).out.splitlines()[0])
    assert line["confidence_2"] >= line["confidence_5"]
    assert "new" not in line
    assert "one of the two" in fails(*words, "--confidence", *at, code=2)
    assert "about a cut" in fails(
        "assign", tmp_path / "t", tmp_path / "asked.npy", "--new", 0.1, code=2
    )
    assert "share of false alarms" in fails(*words, "--new", 2)


@given(seeds(), st.integers(2, 16), st.integers(1, 3), st.sampled_from(ALPHAS), st.booleans())
@settings(max_examples=examples(100))
def test_of_rows_in_any_order_no_more_than_alpha_are_called_new(seed, n, width, alpha, ties):
    """Whichever of n + 1 rows comes last: at most alpha (n + 1) of them are called new.

    So it has at most the probability alpha wherever rows are exchangeable, whatever they are.
    """
    rng = np.random.default_rng(seed)
    rows = rng.standard_cauchy(size=(n + 1, width))
    if ties:
        rows = rows.round()
    called = 0
    for last in range(n + 1):
        model = ramify.OHAC().fit(np.delete(rows, last, axis=0))
        called += int(model.assign(rows[last : last + 1], n_clusters=1, new=alpha).new[0])
    assert called <= alpha * (n + 1)


def test_false_alarms_are_as_many_as_allowed_and_new_groups_are_found():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(6, 8)) * 6
    rows = centers[rng.integers(0, 5, size=3_000)] + rng.normal(size=(3_000, 8))
    model = ramify.OHAC(linkage="ward").fit(rows[:2_000])
    for alpha in 0.01, 0.05, 0.2:
        found = model.assign(rows[2_000:], n_clusters=5, new=alpha)
        assert found.confidence is None
        assert abs(found.new.mean() - alpha) < 0.02
    strangers = centers[5] + rng.normal(size=(100, 8))
    assert model.assign(strangers, n_clusters=5, new=0.01).new.mean() > 0.95


def test_confidence_says_how_often_it_is_right():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 4, size=3_000)
    rows = np.eye(4)[group] * 3 + rng.normal(size=(3_000, 4))
    model = ramify.OHAC(linkage="ward").fit(rows[:2_000])
    labels = model.cut(n_clusters=4)
    found = model.assign(rows[2_000:], n_clusters=4, confidence=True)
    assert found.new is None
    assert found.confidence.min() < 0.8 < 0.95 < found.confidence.max()
    # What the tree says when each row has come: in the cluster with most of the points of then.
    now = model.partial_fit(rows[2_000:]).cut(n_clusters=4)
    together = np.zeros((4, 4))
    np.add.at(together, (labels, now[:2_000]), 1)
    right = together.argmax(axis=1)[found.labels] == now[2_000:]
    assert abs(found.confidence.mean() - right.mean()) < 0.05
    sure = found.confidence > 0.9
    assert right[sure].mean() > right[~sure].mean()


@every_estimator
def test_every_estimator_answers(Estimator):
    rows = np.random.default_rng(2).normal(size=(60, 3))
    model = Estimator().fit(rows)
    found = model.assign(rows[:7] + 0.01, n_clusters=3, confidence=True, new=0.1)
    assert found.confidence.shape == found.new.shape == (7,)
    assert ((found.confidence >= 0) & (found.confidence <= 1)).all()


def test_what_was_asked_is_kept_until_the_tree_changes_and_goes_with_the_points():
    rows = np.random.default_rng(3).normal(size=(50, 2))
    model = ramify.OHAC().fit(rows)
    first = model.assign(rows[:3] + 0.1, n_clusters=2, confidence=True)
    kept = model._live.asked
    assert model.assign(rows[:3] + 0.1, n_clusters=5, new=0.1).new is not None
    assert model._live.asked is kept
    model.forget(7)
    assert model._live.asked is None
    again = model.assign(rows[:3] + 0.1, n_clusters=2, confidence=True)
    assert 7 not in model._live.asked.near
    assert first.confidence.shape == again.confidence.shape


def test_large_trees_are_asked_about_a_part(monkeypatch):
    monkeypatch.setattr(_sureness, "MOST_ASKED", 20)
    rows = np.random.default_rng(4).normal(size=(101, 2))
    model = ramify.OHAC().fit(rows)
    assert model.assign(rows[:1], n_clusters=2, confidence=True).confidence.shape == (1,)
    numbers = model._live.asked.numbers
    assert len(numbers) == 20
    assert numbers[0] == 0
    assert numbers[-1] > 90


def test_a_point_alone_and_two_alike():
    model = ramify.OHAC().fit([[0.0]])
    found = model.assign([[5.0]], n_clusters=1, confidence=True, new=0.5)
    assert np.isnan(found.confidence).all()
    assert not found.new.any()
    twins = ramify.OHAC().fit([[1.0]] * 5)
    found = twins.assign([[1.0], [1.5]], n_clusters=1, confidence=True, new=0.2)
    assert found.new.tolist() == [False, True]


def test_rows_that_no_point_can_be_near_to_are_nobodys_and_nothing_new():
    model = ramify.OHAC(metric="cosine", zero_rows="skip").fit([[1.0, 0.1], [1.0, 0.2], [0.0, 1.0]])
    found = model.assign([[0.0, 0.0], [1.0, 0.0]], n_clusters=2, confidence=True, new=0.3)
    assert found.labels[0] == -1
    assert found.confidence[0] == 0
    assert not found.new[0]


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"new": 0}, ValueError, "share of false alarms"),
        ({"new": 1.5}, ValueError, "share of false alarms"),
        ({"new": "a"}, TypeError, "new='a'"),
        ({"confidence": 1}, TypeError, "confidence=1"),
    ],
)
def test_bad_calls(options, error, says):
    model = ramify.OHAC().fit([[0.0], [1.0]])
    with pytest.raises(error, match=says):
        model.assign([[0.0]], n_clusters=1, **options)


def test_a_folder_answers_as_its_model_does(tmp_path):
    rows = np.random.default_rng(5).normal(size=(80, 2))
    live = ramify.OHAC().fit(rows)
    how = {"n_clusters": 4, "confidence": True, "new": 0.2}
    with ramify.open(tmp_path / "tree", ramify.OHAC()) as folder:
        folder.add(rows)
        mine, theirs = live.assign(rows[:9] + 0.3, **how), folder.assign(rows[:9] + 0.3, **how)
    for one, other in (mine.confidence, theirs.confidence), (mine.new, theirs.new):
        np.testing.assert_array_equal(one, other)
