"""GRINCH against an oracle written from the description of the authors' code."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import GRINCH
from tests.oracles.grinch import Grinch
from tests.oracles.linkages import unit_rows
from tests.oracles.recount import examine
from tests.oracles.trees import clusters, from_children
from tests.strategies import dtypes, few_values, grid_rows, loose_rows, rows_for, scaled

OPTIONS = [
    {"graft": graft, "restructure": restructure, **caps}
    for graft, restructure, caps in itertools.product(
        ("reference", "full", None),
        (True, False),
        (
            {},
            {"rotate_cap": 5},
            {"graft_cap": 6},
            {"restructure_cap": 9},
            {"rotate_cap": 8, "graft_cap": 8, "restructure_cap": 8},
        ),
    )
]
every_option = pytest.mark.parametrize(
    "options", OPTIONS, ids=lambda options: "-".join(f"{v}" for v in options.values())
)


def clusters_of(model):
    return clusters(from_children(model.children_))


def examined(model, X):
    """The summaries of a snapshot are right, whatever GRINCH itself remembers."""
    model.check()
    examine(model, X)
    return model


# --- the oracle --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 10])
def test_two_thousand_points_cluster_for_cluster(d, dtype):
    X = np.random.default_rng(d).normal(size=(scaled(2000), d)).astype(dtype)
    oracle = Grinch(X)
    if len(X) > 1000:
        assert oracle.grafts > 500  # they do happen,
        assert oracle.swaps > 100  # and so do the swaps that tell nobody
    assert clusters_of(examined(GRINCH().fit(X), X)) == oracle.clusters()


@pytest.mark.parametrize("graft", ["reference", "full"])
def test_clustered_points(graft):
    rng = np.random.default_rng(1)
    n = scaled(600)
    X = (5 * rng.normal(size=(12, 3)))[rng.integers(12, size=n)] + rng.normal(size=(n, 3))
    assert clusters_of(GRINCH(graft=graft).fit(X)) == Grinch(X, graft=graft).clusters()


@pytest.mark.parametrize("graft", ["reference", "full"])
def test_large_subtrees_are_searched_by_a_scan(graft):
    """Stragglers join a crowd as a whole, and look for a graft beyond all of it."""
    rng = np.random.default_rng(2)
    crowd, other = rng.normal(size=(scaled(600), 2)), 50 + rng.normal(size=(20, 2))
    stragglers = 10 + 3 * rng.normal(size=(10, 2))
    X = np.concatenate([crowd, other, stragglers])
    assert clusters_of(GRINCH(graft=graft).fit(X)) == Grinch(X, graft).clusters()


def test_many_columns_are_summed_in_lanes():
    X = np.random.default_rng(2).normal(size=(scaled(400), 37))
    assert clusters_of(GRINCH().fit(X)) == Grinch(X).clusters()


@every_option
@given(X=loose_rows(max_size=40), dtype=dtypes())
def test_every_option_agrees_with_the_oracle(options, X, dtype):
    X = X.astype(dtype)
    # A sum of two points and their mean in float32 can be off by more than a gap of
    # e^-8 in skewed data, so the narrow type is tried on the mild shapes only.
    if dtype is np.float32 and np.ptp(X) > 100:
        return
    model = examined(GRINCH(**options).fit(X), X)
    assert clusters_of(model) == Grinch(X, **options).clusters()


@pytest.mark.parametrize("metric", ["cosine", "dot"])
@given(data=st.data())
def test_other_metrics(metric, data):
    X = data.draw(rows_for(metric, min_size=2))
    rows = unit_rows(X) if metric == "cosine" else X
    oracle = Grinch(rows, metric="dot" if metric == "dot" else "sqeuclidean")
    assert clusters_of(examined(GRINCH(metric=metric).fit(X), X)) == oracle.clusters()


@given(X=st.one_of(grid_rows(), few_values()), options=st.sampled_from(OPTIONS), dtype=dtypes())
def test_ties_and_duplicates_leave_a_valid_tree(X, options, dtype):
    X = X.astype(dtype)
    examined(GRINCH(**options).fit(X), X)


def test_a_thousand_equal_points():
    X = np.ones((scaled(1000), 2))
    for options in ({}, {"graft": "full"}):
        GRINCH(**options).fit(X[: len(X) // (2 if options else 1)]).check()


def test_a_graft_brings_together_what_the_order_kept_apart():
    """2 and 3 are closest to each other, and come when 0 and 1 already have them."""
    X = np.array([[0.0], [10.0], [4.0], [6.0], [5.0]])
    assert (2, 3, 4) in clusters_of(GRINCH().fit(X))


# --- growing -------------------------------------------------------------------------------

GROWING = [{}, {"graft": "full"}, {"graft_cap": 8, "restructure_cap": 9}, {"metric": "cosine"}]


@pytest.mark.parametrize("options", GROWING, ids=str)
@given(X=loose_rows(min_size=2), dtype=dtypes(), data=st.data())
def test_batches_and_pickles_continue_identically(options, X, dtype, data):
    """Looking in between refreshes the tree's summaries and not GRINCH's own."""
    X = X.astype(dtype)
    whole = GRINCH(**options).fit(X)
    cut = data.draw(st.integers(1, len(X) - 1))
    pieces = GRINCH(**options).fit(X[:cut])
    pieces.hierarchy()
    twin = pickle.loads(pickle.dumps(pieces))
    twin.check()
    for model in (pieces, twin):
        for row in X[cut:]:
            model.insert(row)
            model.hierarchy()
        model.check()
        assert model.hierarchy() == whole.hierarchy()
        assert np.array_equal(model.hierarchy().node_ids, whole.hierarchy().node_ids)


def test_pickles_in_the_middle_of_many_swaps():
    X = np.random.default_rng(5).normal(size=(scaled(1500), 6))
    model = GRINCH().fit(X[: len(X) // 2])
    twin = pickle.loads(pickle.dumps(model)).partial_fit(X[len(X) // 2 :])
    assert twin.hierarchy() == GRINCH().fit(X).hierarchy()


def test_damaged_pickles_are_refused():
    model = GRINCH().fit(np.random.default_rng(0).normal(size=(20, 2)))
    for name in ("marks", "numbers"):
        state = model._live.state()
        state["arrays"] = {**state["arrays"], name: state["arrays"][name][:-1].copy()}
        with pytest.raises(ValueError, match="do not fit"):
            type(model._live).from_state(state, GRINCH._Options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"graft": "always"}, ValueError, "'reference', 'full'"),
        ({"graft": True}, TypeError, "expected a string"),
        ({"restructure": 1}, TypeError, "restructure=1: expected True or False"),
        ({"rotate_cap": 0}, ValueError, "rotate_cap=0: expected at least 1"),
        ({"graft_cap": 1.5}, TypeError, "graft_cap=1.5: expected an int"),
        ({"restructure_cap": "9"}, TypeError, "restructure_cap='9': expected an int"),
    ],
)
def test_bad_options(options, error, message):
    fitted = GRINCH().fit([[0.0], [1.0]])
    fitted.set_params(**options)
    for model in (GRINCH(**options), fitted):
        before = len(model)
        for call in (model.fit, model.partial_fit, lambda X, m=model: m.insert(X[0])):
            with pytest.raises(error, match=message):
                call([[0.0], [1.0]])
        assert len(model) == before
