"""Rows that are given and not kept: of weight 0, of zeros; and zeros that are kept apart."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import ramify
from ramify import HAC, OHAC, OTD, PERCH, NaiveNN, RandomCut, Younger
from ramify.estimators._registry import ALGORITHMS
from ramify.metric import unit
from ramify.metrics import revenue_fraction
from ramify.serve import running
from tests.commands import done, fails
from tests.every import ONLINE, every_estimator
from tests.oracles.linkages import Linkage
from tests.strategies import examples

CHANGING = [OHAC, OTD, NaiveNN, PERCH, RandomCut]

X = np.random.default_rng(0).normal(size=(30, 4))
Z = X.copy()
Z[[0, 3, 4, 17, 29]] = 0  # the very first and the last among them
ZERO = ~Z.any(axis=1)


def same(one, other) -> bool:
    return one.hierarchy() == other.hierarchy()


# --- weights of 0 ------------------------------------------------------------------------


@pytest.mark.parametrize("Estimator", [*CHANGING, HAC])
@given(weights=hnp.arrays(float, 30, elements=st.sampled_from([0.0, 1.0, 2.5])))
@settings(max_examples=examples(15))
def test_a_row_of_weight_0_was_refused(Estimator, weights):
    weights[5] = 1.0
    model = Estimator().fit(X, sample_weight=weights, ids=range(30))
    here = weights > 0
    other = Estimator().fit(X[here], sample_weight=weights[here], ids=np.flatnonzero(here))
    assert same(model, other)
    assert model.n_skipped_ == 30 - here.sum()
    assert model.ids_.tolist() == np.flatnonzero(here).tolist()
    model.check()


@pytest.mark.parametrize("Estimator", CHANGING)
def test_rows_of_weight_0_take_no_number_and_no_id(Estimator):
    model = Estimator()
    assert model.insert(X[0], id="ash", sample_weight=0) == -1
    assert (len(model), model.n_skipped_) == (0, 1)
    assert model.insert(X[1], id="ash", sample_weight=2) == 0
    assert model.insert(X[2], id="ash", sample_weight=0, replace=True) == -1
    assert model.ids_.tolist() == ["ash"]
    model.partial_fit(X[3:5], None, [0, 0], ids=["elm", "oak"])
    assert model.insert(X[6], id="oak", sample_weight=1) == 1
    assert model.n_skipped_ == 4


@pytest.mark.parametrize("Estimator", [*CHANGING, HAC])
def test_weights_that_leave_no_row_to_fit(Estimator):
    with pytest.raises(ValueError, match="no row is left, n_samples = 30: rows of weight zero"):
        Estimator().fit(X, sample_weight=np.zeros(30))
    with pytest.raises(ValueError, match="n_clusters=3 is more than the number of rows"):
        Estimator(n_clusters=3).fit(X[:4], sample_weight=[1, 0, 0, 1])


def test_late_rows_and_skipped_ones_are_counted_together():
    model = OHAC(keep=Younger(2.0), metric="cosine", zero_rows="skip")
    times = [0.0, 10.0, 9.0, 1.0, 10.0]
    model.partial_fit(Z[1:6], None, [1, 0, 1, 1, 1], times=times)
    # Row 1 weighs nothing, so nothing is late for its time; rows 2 and 3 are of zeros.
    assert (model.n_skipped_, model.past.n_late) == (3, 0)
    model.partial_fit(Z[1:3], times=[0.0, 11.0])
    assert (model.n_skipped_, model.past.n_late) == (4, 1)
    assert pickle.loads(pickle.dumps(model)).n_skipped_ == 4


# --- rows of zeros -----------------------------------------------------------------------


@every_estimator
def test_one_row_of_zeros_refused_the_batch(Estimator):
    with pytest.raises(ValueError, match="row 0, which has no direction"):
        Estimator(metric="cosine").fit(Z)
    model = Estimator(metric="cosine", zero_rows="skip", n_clusters=3)
    labels = model.fit_predict(Z)
    other = Estimator(metric="cosine").fit(Z[~ZERO])
    assert same(model, other)
    assert (labels[ZERO] == -1).all()
    assert labels[~ZERO].tolist() == model.labels_.tolist()
    assert model.n_skipped_ == 5


@every_estimator
def test_rows_of_zeros_that_are_asked_about(Estimator):
    model = Estimator(metric="cosine", zero_rows="skip", n_clusters=3).fit(Z)
    assert model.predict(Z[[3, 5]]).tolist() == [-1, model.labels_[2]]
    found = model.assign(Z[[3, 5]], n_clusters=3)
    assert (found.labels[0], found.points[0], found.distances[0]) == (-1, -1, 1.0)
    points, distances = model.nearest(sparse.csr_array(Z[[3, 5]]), k=2)
    assert points[0].tolist() == [-1, -1]
    assert distances[0].tolist() == [1.0, 1.0]
    assert (points[1, 0], distances[1, 0]) == (2, pytest.approx(0, abs=1e-15))


def by_definition(rows):
    """Cosine distances, where a row of zeros is like nothing but another one."""
    zero = ~rows.any(axis=1)
    lengths = np.linalg.norm(rows, axis=1)
    unit = rows / np.where(zero, 1, lengths)[:, None]
    apart = 1 - unit @ unit.T
    apart[np.ix_(zero, zero)] = 0
    return apart


@pytest.mark.parametrize("linkage", ["average", "centroid", "ward"])
def test_rows_of_zeros_apart_are_like_nothing(linkage):
    tree = HAC(metric="cosine", linkage=linkage, zero_rows="apart").fit(Z).hierarchy()
    wide = np.column_stack([Z, ZERO])
    assert tree == HAC(metric="cosine", linkage=linkage).fit(wide).hierarchy()
    oracle = Linkage(wide, "cosine", linkage)
    for node, (a, b) in enumerate(tree.children, start=tree.n_leaves):
        height = oracle.of_leaves(tuple(tree.leaves(a)), tuple(tree.leaves(b)))
        assert tree.heights[node - tree.n_leaves] == pytest.approx(height, abs=1e-12)
    np.testing.assert_allclose(by_definition(Z), oracle.distances, atol=1e-12)


@every_estimator
def test_rows_of_zeros_apart_are_found_by_each_other(Estimator):
    model = Estimator(metric="cosine", zero_rows="apart", n_clusters=3).fit(Z)
    assert (len(model), model.n_skipped_) == (30, 0)
    points, distances = model.nearest(np.zeros((1, 4)), k=6)
    assert points[0, :5].tolist() == np.flatnonzero(ZERO).tolist()
    assert distances[0] == pytest.approx([0, 0, 0, 0, 0, 1])
    assert model.points().shape == (30, 4)
    assert not model.points()[ZERO].any()
    assert model.clusters(n_clusters=2).means.shape == (2, 4)
    model.check()


@pytest.mark.parametrize("zero_rows", ["skip", "apart"])
@every_estimator
def test_zeros_in_every_shape_and_home(Estimator, zero_rows, tmp_path):
    options = {"metric": "cosine", "zero_rows": zero_rows}
    model = Estimator(**options).fit(Z)
    for other in (sparse.csr_array(Z), Z.tolist()):
        assert same(model, Estimator(**options).fit(other))
    model.save(tmp_path / "tree")
    again = ramify.load(tmp_path / "tree")
    copy = pickle.loads(pickle.dumps(model))
    assert same(again, model)
    assert again.n_skipped_ == copy.n_skipped_ == model.n_skipped_
    if Estimator in ONLINE:
        single = Estimator(**options)
        numbers = [single.insert(row) for row in Z]
        assert numbers.count(-1) == model.n_skipped_
        assert same(single, model) or Estimator.__name__ == "NaiveHAC"
        for one in (model, again, copy):
            one.partial_fit(X)
        assert same(again, model)
        assert same(copy, model)
    if hasattr(model, "forget"):
        model.forget([0, 1])
        model.check()


def test_a_file_without_the_option_goes_on(tmp_path):
    """Files and folders of before prove their trees by what they say."""
    OHAC(metric="cosine").fit(X).save(tmp_path / "tree")
    assert b"zero_rows" not in (tmp_path / "tree").read_bytes()
    assert b"skipped" not in (tmp_path / "tree").read_bytes()


@every_estimator
def test_a_pickle_of_before_has_no_such_option(Estimator):
    model = Estimator(n_clusters=2).fit(X)
    del model.__dict__["zero_rows"]
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params()["zero_rows"] == "error"
    assert same(again.fit(X), model)
    if Estimator in ONLINE:
        assert len(again.partial_fit(X)) == 60


@pytest.mark.parametrize("algorithm", [one for one in ALGORITHMS if one.online], ids=str)
def test_zero_rows_is_for_directions(algorithm):
    for metric in algorithm.metrics:
        if metric.name not in ("cosine", "euclidean"):
            with pytest.raises(ValueError, match="zero_rows='skip' is for metric='cosine'"):
                algorithm.estimator(metric=metric.name, zero_rows="skip").fit(X)
    with pytest.raises(ValueError, match="zero_rows='drop' is not offered"):
        algorithm.estimator(metric="cosine", zero_rows="drop").fit(X)


# --- folders, shards, the command line ---------------------------------------------------


@pytest.mark.parametrize("zero_rows", ["skip", "apart"])
def test_zeros_in_a_folder(zero_rows, tmp_path):
    weights = np.where(np.arange(30) % 7 == 1, 0, 1.0)
    options = {"metric": "cosine", "zero_rows": zero_rows}
    with ramify.open(tmp_path, OHAC(**options)) as tree:
        told = tree.add(Z, ids=range(30), sample_weight=weights, payloads=list(map(str, range(30))))
        left = weights == 0 if zero_rows == "apart" else (weights == 0) | ZERO
        assert [number < 0 for number in told.numbers] == left.tolist()
        assert tree.n_skipped_ == left.sum()
        again = tree.add(X[:2], ids=[1, 2])  # the id of a row that was skipped is free
        assert again.repeated == 1
        assert again.numbers == [(~left).sum(), told.numbers[2]]
        assert tree.add(X[:1], ids=[2], sample_weight=[0], replace=True).numbers == [-1]
        assert tree.number_of(2) == told.numbers[2]
        before = tree.model.hierarchy()
    with ramify.open(tmp_path) as tree:
        assert tree.model.hierarchy() == before
        assert tree.n_skipped_ == left.sum() + 1
        tree.check()


def test_rows_of_weight_0_in_shards(tmp_path):
    from ramify.ray import ShardedOHAC

    weights = np.where(np.arange(30) % 4 == 0, 0, 1.0)
    with ShardedOHAC(2, folder=tmp_path, engine="local") as model:
        numbers = model.add(X, sample_weight=weights)
        assert (numbers < 0).tolist() == (weights == 0).tolist()
        assert numbers[numbers >= 0].tolist() == list(range(22))
        assert len(model) == 22
        assert model.add(X[:1], sample_weight=[0]).tolist() == [-1]


def test_zeros_on_the_command_line(tmp_path):
    np.save(tmp_path / "rows.npy", Z)
    words = ("fit", tmp_path / "rows.npy", "-o", tmp_path / "tree", "--metric", "cosine")
    assert "has no direction" in fails(*words)
    facts = json.loads(done(*words, "--zero-rows", "skip", "--json").out)
    assert (facts["inserted"], facts["skipped"], facts["late"]) == (25, 5, 0)
    rows = done("assign", tmp_path / "tree", tmp_path / "rows.npy", "-k", 2).out.splitlines()
    assert rows[1] == '0,-1,1.0,-1,-1,""'
    facts = json.loads(done(*words, "--zero-rows", "apart", "--json").out)
    told = done("evaluate", tmp_path / "tree", "--json").json()
    wide = np.column_stack([unit(X), np.zeros(30)])
    wide[ZERO] = [0, 0, 0, 0, 1]
    tree = ramify.load(tmp_path / "tree").hierarchy()
    assert told["revenue_fraction"]["value"] == pytest.approx(float(revenue_fraction(tree, wide)))
    assert (facts["inserted"], facts["skipped"]) == (30, 0)
    rows = "x,n\n" + "\n".join(f"{i},{i % 2}" for i in range(6))
    words = ("fit", "-", "-o", tmp_path / "weighed", "--weights", "n", "--json")
    facts = json.loads(done(*words, stdin=rows).out)
    assert (facts["inserted"], facts["skipped"]) == (3, 3)


def test_zeros_on_a_server(tmp_path):
    weights = np.where(np.arange(30) % 7 == 1, 0, 1.0).tolist()
    with running(tmp_path) as url, ramify.Client(url) as client:
        tree = client.create("texts", metric="cosine", zero_rows="skip", n_clusters=2)
        told = tree.add(Z, ids=[f"t{i}" for i in range(30)], sample_weight=weights)
        skipped = np.array(told.numbers) < 0
        assert skipped.tolist() == (ZERO | (np.array(weights) == 0)).tolist()
        found = tree.assign(Z[[3, 5]], n_clusters=2)
        assert found.labels[0] == -1
        assert (found.points[0], found.point_ids[0]) == (-1, None)
        apart = client.create("apart", metric="cosine", zero_rows="apart")
        assert min(apart.add(Z).numbers) >= 0
        other = client.create("rows", metric="cosine", zero_rows="skip")
        told = other.add(Z)
        assert (np.array(told.numbers) < 0).tolist() == ZERO.tolist()
        with pytest.raises(Exception, match="zero_rows='skip' is for metric='cosine'"):
            client.create("other", metric="dot", zero_rows="skip")
