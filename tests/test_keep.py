"""Options of which one is chosen with what belongs to it, and the flat ones of files and 0.1."""

import pickle
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV

import ramify
from ramify import OHAC, OTD, PERCH, Budget, Cells, Last, LiveGraphHAC, NaiveNN, RandomCut, Younger
from ramify.estimators.seam import flat_options, from_flat, set_flat
from ramify.journal._repair import check

X = np.random.default_rng(0).normal(size=(60, 3))

COUNTS = st.integers(1, 50)
AGES = st.one_of(st.floats(0.5, 9), st.timedeltas(timedelta(seconds=1), timedelta(days=99)))
KEEPS = st.one_of(
    st.none(),
    COUNTS.map(Last),
    st.builds(Younger, AGES, most=st.one_of(st.none(), COUNTS)),
)
BUDGETS = st.builds(Budget, st.integers(2, 50), members=st.booleans())
SEARCHES = st.one_of(st.just("exact"), st.floats(0.1, 0.9).map(Cells))


@given(keep=st.one_of(KEEPS, BUDGETS), neighbors=SEARCHES)
def test_flat_options_say_all(keep, neighbors):
    model = OHAC(3, keep=keep, neighbors=neighbors, linkage="ward")
    flat = flat_options(model)
    assert not any(isinstance(value, ramify.estimators.Last) for value in flat.values())
    again = from_flat(OHAC, flat)
    assert again.get_params(deep=False) == model.get_params(deep=False)
    assert flat_options(again) == flat


@pytest.mark.parametrize("kind", [OHAC, OTD, PERCH, NaiveNN, RandomCut, LiveGraphHAC])
@given(keep=KEEPS)
def test_everybody_whose_points_leave_has_the_choice(kind, keep):
    model = kind(keep=keep)
    assert from_flat(kind, flat_options(model)).keep == keep
    assert flat_options(model)["window"] == getattr(keep, "n", getattr(keep, "most", None))


@pytest.mark.parametrize(
    ("options", "now"),
    [
        ({"window": 5}, r"write keep=ramify.Last\(5\)"),
        ({"max_age": 2.0}, r"write keep=ramify.Younger\(2.0\)"),
        ({"max_leaves": 9}, r"write keep=ramify.Budget\(9\)"),
        ({"track_members": False}, r"members=False"),
        ({"recall": 0.9}, r"write neighbors=ramify.Cells\(recall=0.9\)"),
    ],
)
def test_names_of_0_1_say_what_to_write(options, now, tmp_path):
    model = OHAC()
    with ramify.open(tmp_path, OHAC()) as tree:
        for call in (
            lambda: OHAC(**options),
            lambda: model.set_params(**options),
            lambda: [setattr(model, *one) for one in options.items()],
            lambda: tree.set_params(**options),
        ):
            with pytest.raises(TypeError, match=now):
                call()
    assert model.get_params() == OHAC().get_params()


def test_scikit_learn_reaches_inside():
    model = OHAC(n_clusters=2, keep=Budget(9), neighbors=Cells())
    assert model.get_params()["keep__leaves"] == 9
    model.set_params(keep__leaves=20, neighbors__recall=0.5, n_clusters=3)
    assert (model.keep, model.neighbors, model.n_clusters) == (Budget(20), Cells(0.5), 3)
    copied = clone(model.fit(X))
    assert copied.get_params() == model.get_params()
    assert len(copied) == 0
    copied.set_params(keep=Last(5), keep__n=8)
    assert copied.keep == Last(8)
    for wrong, why in (("keep__leaves", "no part"), ("metric__p", "no part"), ("keep__n", "n=0")):
        with pytest.raises(ValueError, match=why):
            copied.set_params(**{wrong: 0})
    assert copied.keep == Last(8)


def test_searches_go_over_what_belongs_to_a_choice():
    truth = np.repeat([0, 1, 2], 20)
    rows = X + 30 * truth[:, None]
    search = GridSearchCV(
        OHAC(n_clusters=3, keep=Budget(3)),
        {"keep__leaves": [3, 9], "n_clusters": [2, 3]},
        scoring=lambda model, X, y: adjusted_rand_score(y, model.predict(X)),
        cv=[(np.arange(60), np.arange(60))],
    ).fit(rows, truth)
    assert search.best_params_["n_clusters"] == 3
    assert search.best_score_ == 1


# --- what is older than the choices ---------------------------------------------------------


def of_old(model):
    """The state of a model as 0.1 pickled it: flat options, and no choices."""
    state = model.__getstate__()
    for name in ("keep", "neighbors"):
        state.pop(name, None)
    return {**state, **flat_options(model)}


@given(keep=st.one_of(COUNTS.map(Last), BUDGETS), neighbors=SEARCHES)
def test_pickles_of_0_1_go_on(keep, neighbors):
    model = OHAC(2, keep=keep, neighbors=neighbors).fit(X[:40])
    old = OHAC.__new__(OHAC)
    old.__setstate__(of_old(model))
    assert old.get_params(deep=False) == model.get_params(deep=False)
    assert old.partial_fit(X[40:]).hierarchy() == model.partial_fit(X[40:]).hierarchy()


IDLE = [{"recall": 0.5}, {"track_members": False}, {"recall": 0.5, "track_members": False}]


@pytest.mark.parametrize("idle", IDLE)
def test_options_that_meant_nothing_stay_in_files(idle, tmp_path):
    """A share of neighbours where all are found: 0.1 wrote it, and a digest covers it."""
    model = from_flat(OHAC, {"n_clusters": 2, **idle}).fit(X[:40])
    assert model.get_params() == OHAC(2).get_params()
    model.save(tmp_path / "t")
    for again in (ramify.load(tmp_path / "t"), pickle.loads(pickle.dumps(model))):
        assert flat_options(again).items() >= idle.items()
        assert again._to_saved()[0] == model._to_saved()[0]
        again.partial_fit(X[40:]).check()
    with ramify.open(tmp_path / "folder", from_flat(OHAC, idle)) as tree:
        tree.add(X[:40])
    with ramify.open(tmp_path / "folder") as tree:
        tree.add(X[40:])
        assert flat_options(tree.model).items() >= idle.items()
    assert check(tmp_path / "folder").points == 60
    assert flat_options(clone(model)) == flat_options(OHAC(2))


def test_a_flat_option_changes_without_the_others():
    model = OHAC(keep=Younger(3.0, most=9))
    set_flat(model, {"window": 4})
    assert model.keep == Younger(3.0, most=4)
    set_flat(model, {"max_age": None})
    assert model.keep == Last(4)
    with pytest.raises(ValueError, match="set no window"):
        set_flat(model, {"max_leaves": 5})
    assert model.keep == Last(4)


def test_a_folder_writes_limits_down_as_ever(tmp_path):
    with ramify.open(tmp_path, OHAC(keep=Last(5))) as tree:
        tree.add(X[:10])
        tree.set_params(keep=Last(3), n_clusters=2)
        tree.add(X[10:11])
        assert tree.point_numbers_.tolist() == [8, 9, 10]
        with pytest.raises(ValueError, match="max_leaves shapes the tree"):
            tree.set_params(keep=Budget(9))
    with ramify.open(tmp_path) as tree:
        assert (tree.model.keep, tree.model.n_clusters) == (Last(3), 2)
    with ramify.open(tmp_path, OHAC(2)) as tree:
        assert tree.model.keep is None
