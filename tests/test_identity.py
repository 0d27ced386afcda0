"""Ids of clusters that stay: by the rule, through files, and never twice."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify import BIRCH, HAC, OHAC, Last
from ramify.archive import read, write
from ramify.estimators import _identity
from tests.every import every_estimator
from tests.oracles.changes import StableIds
from tests.strategies import examples
from tests.test_changes import MODELS, every_model, looks, stories

CUTS = [{"n_clusters": 2}, {"height": 1.0}, {"max_size": 3}]


def restarted(model, how, path):
    """The model as it comes back, if that is what happens between two looks."""
    if how == "pickle":
        return pickle.loads(pickle.dumps(model))
    if how == "file":
        model.save(path)
        return ramify.load(path)
    return model


def next_look(events, model):
    """Go on with this model; False when the story is over."""
    try:
        events.send(model)
    except StopIteration:
        return False
    return True


@every_model
@pytest.mark.parametrize("how", ["go on", "pickle", "file"])
def test_ids_stay_by_the_rule(name, how, tmp_path_factory):
    make, erases = MODELS[name]
    path = tmp_path_factory.mktemp("models") / "tree.ramify"

    @settings(max_examples=examples(10))
    @given(stories(), st.sampled_from(CUTS))
    def check(story, cut):
        ((by, value),) = cut.items()
        model, rule = make(), StableIds()
        events = looks(model, *story, erases)
        next(events)
        while next_look(events, model):
            if len(model) > 1:
                found = model.stable_labels(**cut)
                tree = model.hierarchy()
                wanted = rule.of(tree, by, value)
                assert found.tolist() == [wanted[int(i)] for i in tree.point_numbers]
                np.testing.assert_array_equal(model.stable_labels(**cut), found)
            model = restarted(model, how, path)

    check()


@every_estimator
def test_every_model_has_them(Estimator):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = Estimator(n_clusters=4).fit(X)
    first = model.stable_labels()
    np.testing.assert_array_equal(first, model.labels_)
    assert (model.fit(X).stable_labels() >= 4).all()  # other points, however equal


def test_clusters_know_their_ids_after_a_restart(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = OHAC().fit(X[:40])
    cuts = [
        *CUTS,
        {"n_clusters": 3, "min_size": 4},
        {"height": 0.5, "min_size": 4},
        {"min_size": 7},
    ]
    for cut in cuts:
        model.stable_labels(**cut)
    model.partial_fit(X[40:]).forget([0, 5])
    for how in ("pickle", "file"):
        back = restarted(model, how, tmp_path / "model.ramify")
        for cut in cuts:
            found = model.clusters(**cut)
            assert (found.stable_ids >= 0).any()
            assert back.clusters(**cut).stable_ids.tolist() == found.stable_ids.tolist()
            copy = pickle.loads(pickle.dumps(found))
            assert [one.stable_id for one in copy] == [one.stable_id for one in found]
            stable, labels = back.stable_labels(**cut), model.cut(**cut)
            kept = found.stable_ids[labels] >= 0
            assert (found.stable_ids[labels][kept] == stable[kept]).all()


def test_ids_of_clusters_are_not_told_of_another_tree():
    model = OHAC().fit([[0.0], [1.0], [9.0]])
    model.stable_labels(n_clusters=2)
    found = model.clusters(n_clusters=2)
    model.insert([5.0])
    with pytest.raises(RuntimeError, match="has changed since"):
        found.stable_ids  # noqa: B018
    assert pickle.loads(pickle.dumps(found)).stable_ids.tolist() == [-1, -1]


def test_two_cuts_do_not_share_ids():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = OHAC().fit(X)
    one, other = model.stable_labels(n_clusters=3), model.stable_labels(n_clusters=4)
    assert not set(one.tolist()) & set(other.tolist())
    np.testing.assert_array_equal(model.stable_labels(n_clusters=3), one)


def test_what_is_returned_is_nobody_elses():
    model = OHAC().fit([[0.0], [1.0], [9.0]])
    model.stable_labels(n_clusters=2)[:] = 77
    assert model.stable_labels(n_clusters=2).tolist() == [0, 0, 1]


def test_a_cut_that_was_long_not_asked_for_begins_anew():
    model = HAC().fit(np.arange(40.0)[:, None])
    first = model.stable_labels(n_clusters=1)
    for k in range(2, 2 + _identity.MOST_CUTS - 1):
        model.stable_labels(n_clusters=k)
    np.testing.assert_array_equal(model.stable_labels(n_clusters=1), first)
    for k in range(20, 20 + _identity.MOST_CUTS):
        model.stable_labels(n_clusters=k)
    assert (model.stable_labels(n_clusters=1) != first).all()


def test_what_has_gone_is_in_no_file(tmp_path):
    model = OHAC().fit(np.arange(10.0)[:, None])
    model.stable_labels(n_clusters=2)
    assert model._live._core.erase(7)
    model.save(tmp_path / "tree.ramify")
    _, arrays = read(tmp_path / "tree.ramify")
    assert 7 not in arrays["stable_points"].tolist()
    assert len(arrays["stable_points"]) == 9
    state = model.__getstate__()["_live"]["identity"]
    assert 7 not in state["cuts"][0][2].tolist()


@pytest.mark.parametrize(
    ("content", "arrays"),
    [
        ({"stable_ids": -1}, {}),
        ({"stable_ids": 1}, {}),
        ({"stable_ids": 2**63}, {}),
        ({"stable_cuts": []}, {}),
        ({"stable_cuts": [["n_clusters", 0, 6]]}, {}),
        ({"stable_cuts": [["n_clusters", 2.5, 6]]}, {}),
        ({"stable_cuts": [["depth", 2, 6]]}, {}),
        ({"stable_cuts": [["height", float("nan"), 6]]}, {}),
        ({"stable_cuts": [["height", "high", 6]]}, {}),
        ({"stable_cuts": [["n_clusters", 2, 5]]}, {}),
        ({"stable_cuts": [["n_clusters", 2, 7]]}, {}),
        ({"stable_cuts": [["n_clusters", 2, -1], ["max_size", 2, 7]]}, {}),
        ({"stable_cuts": [["n_clusters", 2, 3], ["n_clusters", 2, 3]]}, {}),
        ({"stable_cuts": 7}, {}),
        ({}, {"stable_ids": np.array([0, 0, 0, 1, 1, -1])}),
        ({}, {"stable_ids": np.zeros(6)}),
        ({}, {"stable_ids": np.zeros((6, 1), np.int64)}),
        ({}, {"stable_points": np.array([0, 1, 2, 3, 5, 4])}),
        ({}, {"stable_points": np.array([-1, 1, 2, 3, 4, 5])}),
        ({"versions": [3]}, {}),
        ({"versions": [7, 6]}, {}),
        ({"versions": [0, -6]}, {}),
        ({"versions": [0, 2**64]}, {}),
        ({"versions": [0.0, 6.0]}, {}),
        ({"versions": None}, {}),
    ],
)
def test_a_forged_file_is_refused(tmp_path, content, arrays):
    model = OHAC().fit(np.arange(6.0)[:, None] ** 2)
    model.stable_labels(n_clusters=2)
    path = tmp_path / "tree.ramify"
    model.save(path)
    told, stored = read(path)
    write(path, {**told, **content}, {**stored, **arrays})
    with pytest.raises(ramify.UnreadableFileError):
        ramify.load(path)


def test_files_from_before_there_were_versions(tmp_path):
    path = tmp_path / "tree.ramify"
    OHAC(n_clusters=2).fit(np.arange(6.0)[:, None]).save(path)
    content, arrays = read(path)
    for name in ("versions", "stable_ids", "stable_cuts"):
        del content[name]
    write(path, content, arrays)
    model = ramify.load(path)
    assert model.version == 0
    assert model.insert([7.0]) == 6
    assert model.version == 1
    assert model.stable_labels().tolist() == model.labels_.tolist()


def test_birch_has_versions_and_remembers_none():
    model = BIRCH().fit([[0.0], [1.0]])
    before = model.version
    assert model.partial_fit([[2.0]]).version > before


def test_a_single_insert_with_a_window_forgot_versions_and_ids_of_clusters():
    model = OHAC(keep=Last(5), history=5).partial_fit([[9.0], [0.0], [8.0]])
    night, ids = model.version, model.stable_labels(n_clusters=2)
    model.insert([1.0])
    assert model.version == night + 1
    assert model.past.changes(since=night).inserted.tolist() == [3]
    assert model.stable_labels(n_clusters=2)[:3].tolist() == ids.tolist()
