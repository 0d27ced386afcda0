"""PERCH against an oracle written from the description of the authors' code."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import PERCH
from tests.oracles.perch import Perch
from tests.oracles.recount import examine
from tests.oracles.trees import clusters, from_children
from tests.strategies import dtypes, few_values, grid_rows, loose_rows, scaled

OPTIONS = [
    {"bounds": bounds, "balance": balance, "exact_distance_threshold": T, "max_leaves": leaves}
    for bounds, balance, T, leaves in itertools.product(
        ("reference", "sound"), ("reference", "python", None), (0, 3, 10), (None, 1, 7)
    )
]
every_option = pytest.mark.parametrize(
    "options", OPTIONS, ids=lambda options: "-".join(map(str, options.values()))
)


def oracle(X, options):
    names = {"exact_distance_threshold": "T"}
    return Perch(X, **{names.get(name, name): value for name, value in options.items()})


def clusters_of(model):
    return clusters(from_children(model.children_))


def examined(model, X):
    """check() tests boxes, sizes and the heap; examine() counts the rest again."""
    model.check()
    examine(model, X)
    return model


# --- the oracle --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 10])
def test_two_thousand_points_cluster_for_cluster(d, dtype):
    X = np.random.default_rng(d).normal(size=(scaled(2000), d)).astype(dtype)
    model = examined(PERCH().fit(X), X)
    assert clusters_of(model) == oracle(X, {}).clusters()


@pytest.mark.parametrize(
    "options",
    [{"bounds": "sound"}, {"balance": "python"}, {"balance": None}, {"max_leaves": 60}],
    ids=str,
)
def test_other_options_on_many_points(options):
    rng = np.random.default_rng(1)
    centres = 5 * rng.normal(size=(12, 3))
    X = centres[rng.integers(12, size=scaled(600))] + rng.normal(size=(scaled(600), 3))
    assert clusters_of(PERCH(**options).fit(X)) == oracle(X, options).clusters()


def test_many_columns_are_summed_in_lanes():
    X = np.random.default_rng(2).normal(size=(scaled(300), 37))
    for options in ({}, {"max_leaves": 30}, {"bounds": "sound", "exact_distance_threshold": 0}):
        assert clusters_of(PERCH(**options).fit(X)) == oracle(X, options).clusters()


@every_option
@given(X=loose_rows(max_size=40), dtype=dtypes())
def test_every_option_agrees_with_the_oracle(options, X, dtype):
    X = X.astype(dtype)
    if len(np.unique(X, axis=0)) < len(X):
        return
    model = examined(PERCH(**options).fit(X), X)
    assert clusters_of(model) == oracle(X, options).clusters()


@given(X=st.one_of(grid_rows(), few_values()), options=st.sampled_from(OPTIONS), dtype=dtypes())
def test_ties_and_duplicates_leave_a_valid_tree(X, options, dtype):
    X = X.astype(dtype)
    examined(PERCH(**options).fit(X), X)


def test_a_thousand_equal_points():
    X = np.ones((scaled(1000), 2))
    for options in ({}, {"max_leaves": 5}, {"bounds": "sound"}, {"balance": None}):
        PERCH(**options).fit(X).check()


def test_the_nearest_leaf_by_boxes_is_the_nearest_point():
    """A limit that is never reached changes the search, and nothing else."""
    for X in (
        np.random.default_rng(3).normal(size=(scaled(800), 3)),
        np.random.default_rng(3).integers(0, 6, size=(scaled(800), 2)).astype(float),
    ):
        assert PERCH(max_leaves=10**6).fit(X).hierarchy() == PERCH().fit(X).hierarchy()


# --- what it promises ----------------------------------------------------------------------


def pairwise_purity(tree, labels):
    """Dendrogram purity by its definition, over all pairs of one class."""
    total = pairs = 0.0
    for i, j in itertools.combinations(range(len(labels)), 2):
        if labels[i] == labels[j]:
            below = labels[tree.leaves(tree.lca(i, j))]
            total += (below == labels[i]).mean()
            pairs += 1
    return total / pairs


@pytest.mark.parametrize("bounds", ["reference", "sound"])
@pytest.mark.parametrize("d", [2, 10])
def test_separated_clusters_are_nodes(d, bounds):
    """Every cluster is nearer to itself than to any other point."""
    rng = np.random.default_rng(d)
    labels = rng.permutation(np.repeat(np.arange(9), 12))
    grid = 100.0 * np.array(list(itertools.product(range(3), range(3))))
    centres = np.hstack([grid, np.zeros((9, d - 2))])
    X = centres[labels] + rng.normal(size=(len(labels), d))
    tree = PERCH(bounds=bounds).fit(X).hierarchy()
    assert pairwise_purity(tree, labels) == 1.0


def test_masking_is_what_repairs_a_bad_order():
    """0 and 1 meet first, then both get nearer company."""
    X = np.array([[0.0], [10.0], [10.5], [0.5], [30.0], [30.5]])
    assert {(0, 3), (1, 2), (4, 5)} <= clusters_of(PERCH().fit(X))


# --- growing -------------------------------------------------------------------------------

GROWING = [{}, {"max_leaves": 9}, {"bounds": "sound", "balance": "python"}, {"metric": "cosine"}]


@pytest.mark.parametrize("options", GROWING, ids=str)
@given(X=loose_rows(min_size=2), dtype=dtypes(), data=st.data())
def test_batches_and_pickles_continue_identically(options, X, dtype, data):
    X = X.astype(dtype)
    whole = PERCH(**options).fit(X)
    cut = data.draw(st.integers(1, len(X) - 1))
    pieces = PERCH(**options).fit(X[:cut])
    pieces.hierarchy()
    twin = pickle.loads(pickle.dumps(pieces))
    twin.check()
    for model in (pieces, twin):
        model.partial_fit(X[cut:])
        model.check()
        assert model.hierarchy() == whole.hierarchy()
        assert np.array_equal(model.hierarchy().node_ids, whole.hierarchy().node_ids)


def test_an_interrupted_batch_leaves_the_rows_so_far():
    X = np.random.default_rng(0).normal(size=(scaled(100_000), 8))

    class StopError(Exception):
        pass

    def progress(done, total):
        if done < total:
            raise StopError

    model = PERCH(max_leaves=500)
    try:
        model.fit(X, progress=progress)
    except StopError:
        assert 0 < len(model) < len(X)
    model.check()
    assert model.hierarchy() == PERCH(max_leaves=500).fit(X[: len(model)]).hierarchy()


def test_cosine_is_perch_on_unit_rows():
    X = np.random.default_rng(0).normal(size=(60, 4))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert clusters_of(PERCH(metric="cosine").fit(X)) == clusters_of(PERCH().fit(unit))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": "dot"}, ValueError, "'sqeuclidean', 'cosine'"),
        ({"bounds": "tight"}, ValueError, "'reference', 'sound'"),
        ({"bounds": None}, TypeError, "expected a string"),
        ({"balance": "scala"}, ValueError, "'reference', 'python'"),
        ({"max_leaves": 0}, ValueError, "max_leaves=0: expected at least 1"),
        ({"max_leaves": 2.5}, TypeError, "max_leaves=2.5: expected an int"),
        ({"exact_distance_threshold": -1}, ValueError, "expected at least 0"),
    ],
)
def test_bad_options(options, error, message):
    fitted = PERCH().fit([[0.0], [1.0]])
    fitted.set_params(**options)
    for model in (PERCH(**options), fitted):
        before = len(model)
        for call in (model.fit, model.partial_fit, lambda X, m=model: m.insert(X[0])):
            with pytest.raises(error, match=message):
                call([[0.0], [1.0]])
        assert len(model) == before


def test_options_cannot_change_half_way():
    model = PERCH().fit([[0.0], [1.0]])
    model.set_params(bounds="sound")
    with pytest.raises(ValueError, match=r"bounds was 'reference' .* is now 'sound'"):
        model.partial_fit([[2.0]])
