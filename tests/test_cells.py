"""OHAC(neighbors=Cells()): near neighbours, a valid tree, and always the same one."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify import OHAC, Budget, Cells, Last, _core
from ramify.metrics import revenue_fraction
from tests.oracles.neighbours import brute_force
from tests.oracles.recount import core_of, examine
from tests.strategies import dtypes, examples, few_values, loose_rows, scaled, seeds
from tests.test_journal import crashed, digest, steps, take

every_metric = pytest.mark.parametrize("metric", ["sqeuclidean", "cosine"])
every_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@pytest.fixture(autouse=True)
def from_40_rows_on(monkeypatch):
    """Cells begin at 40 rows, and not where they are worth it."""
    plain = _core.Options.ohac

    def with_few(*rule, recall, **own):
        return plain(*rule, recall=recall, cells_from=40, **own)

    monkeypatch.setattr(_core.Options, "ohac", with_few)


def mixture(n, width=24, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(20, width))
    return (centres[rng.integers(20, size=n)] + 0.5 * rng.normal(size=(n, width))).astype(dtype)


def cells(recall=0.97, **options):
    return OHAC(neighbors=Cells(recall), **options)


def everything_in(model):
    """All that a live tree holds, to the bit, and the plan of its cells."""
    core = core_of(model)
    arrays = (*core.snapshot(), *core.summaries(), core.points(), core.state()["numbers"])
    return [(array.dtype, array.shape, array.tobytes()) for array in arrays]


# --- neighbours -----------------------------------------------------------------------


@every_metric
@every_dtype
def test_about_the_wanted_share_of_neighbours_is_found(metric, dtype):
    X = mixture(1_700, dtype=dtype)
    held, queries = X[:-200], X[-200:]
    model = cells(metric=metric, recall=0.9).fit(held)
    points, distances = core_of(model).nearest(queries, 1)
    expected, exact = brute_force(held, queries, metric, 1)
    right = points[:, 0] == expected[:, 0]
    assert right.mean() > 0.8
    np.testing.assert_array_equal(distances[right], exact[right])
    assert 0.85 < model.recall_ < 1


def test_exact_neighbours_are_all_found():
    assert OHAC().fit(mixture(100)).recall_ == 1
    assert cells().fit(mixture(20)).recall_ == 1


def test_as_many_neighbours_as_there_are_points():
    X = mixture(150)
    points, distances = core_of(cells(recall=0.1).fit(X)).nearest(X[:5], 150)
    expected, exact = brute_force(X, X[:5], "sqeuclidean", 150)
    np.testing.assert_array_equal(points, expected)
    np.testing.assert_array_equal(distances, exact)


def test_predict_gives_the_label_of_a_near_point():
    X = mixture(scaled(1000))
    model = cells(n_clusters=20).fit(X)
    assert (model.predict(X) == model.labels_).all()  # equal rows are always found
    assert len(model) == len(X)


# --- the tree -------------------------------------------------------------------------


@every_metric
@every_dtype
def test_the_tree_is_valid(metric, dtype):
    X = mixture(scaled(600), dtype=dtype)
    examine(cells(metric=metric).fit(X), X, sample=50)


@given(few_values(max_size=150))
def test_heaps_of_equal_points(X):
    examine(cells().fit(X), X)


@given(loose_rows(max_size=3))
def test_one_two_and_three_points(X):
    model = cells()
    for i, row in enumerate(X):
        assert model.insert(row) == i
    assert model.hierarchy() == OHAC().fit(X).hierarchy()


def test_revenue_is_that_of_exact_neighbours():
    X = mixture(2_000) / 3
    exact, near = (OHAC(neighbors=way).fit(X).hierarchy() for way in ("exact", Cells()))
    assert exact != near
    assert revenue_fraction(near, X) > 0.98 * revenue_fraction(exact, X)


def test_few_rows_are_searched_exactly(monkeypatch):
    monkeypatch.undo()  # as it is for users
    X = mixture(1_500)
    assert cells().fit(X).hierarchy() == OHAC().fit(X).hierarchy()


# --- one stream, one tree ---------------------------------------------------------------


@every_metric
@every_dtype
@pytest.mark.parametrize("k", [1, 3])
def test_batches_and_threads_do_not_matter(metric, dtype, k):
    X = mixture(scaled(1200), dtype=dtype)
    options = {"metric": metric, "n_neighbors": k}
    model = cells(**options).fit(X)
    again = cells(**options, n_jobs=3)
    few, many = len(X) // 12, len(X) // 2
    for row in X[:few]:
        again.insert(row)
    again.partial_fit(X[few:many]).partial_fit(X[many:])
    assert everything_in(again) == everything_in(model)


@settings(max_examples=examples(25))
@given(st.data(), dtypes(), seeds())
def test_the_same_operations_give_the_same_tree(data, dtype, seed):
    """Rows come in batches or one by one, and go; readers look; models are stored."""
    X = mixture(260, width=5, seed=seed, dtype=dtype)
    X[::7] = X[3]
    plain, other = cells(recall=0.8), cells(recall=0.8)
    at = 0
    while at < len(X):
        stop = min(at + data.draw(st.integers(1, 90), label="rows"), len(X))
        plain.partial_fit(X[at:stop])
        if data.draw(st.booleans(), label="one by one"):
            for row in X[at:stop]:
                other.insert(row)
        else:
            other.partial_fit(X[at:stop])
        if data.draw(st.booleans(), label="somebody reads"):
            core_of(other).nearest(X[:3], min(3, len(other)))
        way = data.draw(st.sampled_from([lambda m: m, copy.deepcopy, stored_and_loaded]))
        other = way(other)
        for _ in range(data.draw(st.integers(0, 3), label="leave")):
            if len(plain) > 2:
                numbers = plain.hierarchy().point_numbers
                gone = int(numbers[data.draw(st.integers(0, len(numbers) - 1))])
                for model in (plain, other):
                    model.forget(gone)
        at = stop
    assert everything_in(other) == everything_in(plain)
    other.check()


def stored_and_loaded(model):
    return pickle.loads(pickle.dumps(model))


@every_metric
@every_dtype
def test_a_saved_model_grows_on_identically(metric, dtype, tmp_path):
    X = mixture(scaled(800), dtype=dtype)
    model = cells(n_clusters=5, metric=metric).fit(X[: len(X) // 2])
    model.save(tmp_path / "tree.ramify")
    twin = ramify.load(tmp_path / "tree.ramify")
    assert twin.recall_ == model.recall_
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    for grower in (model, twin):
        grower.partial_fit(X[len(X) // 2 :])
    assert everything_in(twin) == everything_in(model)
    twin.check()


def test_a_tree_in_a_folder_is_the_same_after_a_crash(tmp_path):
    plain, todo = cells(), list(steps(cells(), 1, count=80))
    tree = ramify.open(tmp_path / "0", cells(), snapshot_every=17, hash_every=8)
    try:
        for at, step in enumerate(todo, 1):
            take(tree, step)
            take(plain, step)
            if at % 20 == 0 or at == len(todo):
                new = crashed(tree, tmp_path / str(at))
                tree.close()
                tree = ramify.open(new, snapshot_every=17, hash_every=8)
                assert tree.digest() == digest(plain)
    finally:
        tree.close()
    assert len(core_of(plain).state()["numbers"]) > 100  # there are cells


def test_an_emptied_model_goes_on(tmp_path):
    X = mixture(100)
    model = cells().fit(X)
    model.forget(range(100))
    model.save(tmp_path / "tree.ramify")
    twin = ramify.load(tmp_path / "tree.ramify")
    for grower in (model, twin):
        grower.partial_fit(X)
    assert everything_in(twin) == everything_in(model)


@pytest.mark.parametrize("rows", [39, 150, 2_000])
def test_a_batch_that_is_cut_short_leaves_the_rows_so_far(rows):
    n = 4_000
    while True:  # a batch that takes much longer than the 50 ms between two pulses
        X = mixture(n)

        def stop(done, total):
            if done >= rows:
                raise RuntimeError("enough")

        model = cells()
        with pytest.raises(RuntimeError, match="enough"):
            model.fit(X, progress=stop)
        held = len(model)
        if held < n:
            break
        n *= 2
    assert held >= rows
    model.check()
    assert everything_in(model) == everything_in(cells().fit(X[:held]))
    model.partial_fit(X[held:])
    assert everything_in(model) == everything_in(cells().fit(X))


# --- leaving, weights, budgets ----------------------------------------------------------


def test_points_leave():
    X = mixture(400)
    model = cells().fit(X)
    model.forget(range(0, 400, 2))
    examine(model, X[1::2])
    points, _ = core_of(model).nearest(X[1::2].copy(), 1)
    np.testing.assert_array_equal(points[:, 0], np.arange(1, 400, 2))


@pytest.mark.parametrize("window", [30, 120])
def test_a_window(window):
    X = mixture(700)
    whole, single = cells(keep=Last(window)).fit(X), cells(keep=Last(window))
    for row in X:
        single.insert(row)
    assert len(whole) == window
    assert everything_in(whole) == everything_in(single)
    examine(whole, X[-window:])


def test_a_budget_of_leaves():
    X = mixture(500)
    model = cells(keep=Budget(100)).fit(X)
    assert model.n_leaves_ == 100
    model.check()
    again = cells(keep=Budget(100))
    for row in X:
        again.insert(row)
    assert again.hierarchy() == model.hierarchy()


def test_repeats_are_counted():
    X = np.repeat(mixture(100), 4, axis=0)
    model = cells(duplicates="count").fit(X)
    assert core_of(model).n_points == 400
    assert len(model) == 100
    model.check()


def test_weights():
    X = mixture(200)
    model = cells().fit(X, sample_weight=np.arange(1.0, 201))
    model.check()


@pytest.mark.parametrize("update", ["hac", "nni"])
def test_other_updates_and_beginnings(update):
    X = mixture(300)
    begun = cells(update=update, start="hac").fit(X[:200]).partial_fit(X[200:])
    begun.check()
    tree = OHAC().fit(X[:200]).hierarchy()
    adopted = OHAC.from_hierarchy(tree, X[:200], options={"neighbors": Cells(), "update": update})
    twin = stored_and_loaded(adopted)
    core_of(twin).nearest(X[:3], 1)
    for model in (adopted, twin):
        model.partial_fit(X[200:])
        model.check()
    assert everything_in(adopted) == everything_in(twin)


# --- refusals -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("neighbors", "error"), [("kd", ValueError), (None, TypeError), (3, TypeError)]
)
def test_other_choices_are_refused(neighbors, error):
    model = OHAC(neighbors=neighbors)
    with pytest.raises(error, match=r"expected 'exact' or ramify.Cells\(\.\.\.\)"):
        model.fit(mixture(5))
    assert len(model) == 0


@pytest.mark.parametrize(
    ("recall", "error", "message"),
    [
        (0, ValueError, "between 0 and 1"),
        (1, ValueError, "neighbors='exact' finds all"),
        (float("nan"), ValueError, "expected a number"),
        ("most", TypeError, "expected a number"),
    ],
)
def test_impossible_shares_are_refused(recall, error, message):
    with pytest.raises(error, match=message):
        cells(recall=recall)


def test_inner_products_have_no_cells():
    with pytest.raises(ValueError, match="choose neighbors='exact', or metric 'sqeuclidean'"):
        cells(metric="dot").fit(mixture(5))


def test_a_tree_keeps_the_way_it_began():
    model = cells().fit(mixture(20))
    model.set_params(neighbors="exact")
    with pytest.raises(
        ValueError, match=r"neighbors was Cells\(recall=0.97\) when the first point arrived"
    ):
        model.partial_fit(mixture(20))


# --- what was grown with HNSW -------------------------------------------------------------


def test_hnsw_says_what_took_its_place():
    with pytest.raises(ValueError, match=r"neighbors='hnsw': expected 'exact' or ramify.Cells"):
        OHAC(neighbors="hnsw").fit(mixture(5))


def test_a_pickled_hnsw_tree_goes_on_with_cells():
    X = mixture(100)
    model = OHAC().fit(X)
    state = model.__getstate__()
    state["neighbors"] = "hnsw"
    del state["keep"]  # as there was none
    *most, more = state["_live"]["settings"]
    more = {name: value for name, value in more.items() if name != "recall"}
    state["_live"]["settings"] = (*most, {**more, "neighbors": "hnsw"})
    old = OHAC.__new__(OHAC)
    old.__setstate__(state)
    assert old.neighbors == Cells()
    old.partial_fit(mixture(50, seed=1)).check()
    assert len(old) == 150


def test_a_saved_hnsw_tree_goes_on_with_cells():
    from ramify.estimators._saved import from_saved, to_saved

    content, arrays = to_saved(OHAC().fit(mixture(100)))
    for options in (content["parameters"], content["settings"]["more"]):
        options["neighbors"] = "hnsw"
        del options["recall"]
    old = from_saved(OHAC, content, arrays)
    assert old.neighbors == Cells(0.97)
    old.partial_fit(mixture(50, seed=1)).check()
    assert len(old) == 150
