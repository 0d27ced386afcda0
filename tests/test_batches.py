"""A batch is its rows one by one: looked up ahead, by threads, and merged only in part."""

import pickle

import numpy as np
import pytest

from ramify import GRINCH, OHAC, PERCH, NaiveNN
from tests.oracles.neighbours import brute_force_before
from tests.oracles.recount import core_of
from tests.strategies import scaled

DIMS = [1, 2, 3, 10, 15, 16, 31, 32, 64, 200, 300]
METRICS = ["sqeuclidean", "cosine", "dot"]

#: In place of a neighbour, where a row has fewer than others.
NOBODY = np.uint64(2**64 - 1)


def mixture(rng, n, d):
    centres = 10 * rng.normal(size=(1 + n // 40, d))
    return centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, d))


def drifting(rng, n, d):
    return np.cumsum(rng.normal(size=(n, d)), axis=0)


def two_far_clusters(rng, n, d):
    return rng.normal(size=(n, d)) + 1e6 * (np.arange(n) % 2)[:, None]


def far_small_grids(rng, n, d):
    # Ties below, certainty above.
    return 1e4 * rng.integers(1, 9, size=(n, 1)) + rng.integers(1, 4, size=(n, d)) / 3


def sorted_rows(rng, n, d):
    X = rng.normal(size=(n, d))
    return X[np.argsort(X[:, 0])]


def mixed_scales(rng, n, d):
    # From where squares vanish in float to where they overflow.
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-30, 31, size=(n, 1))


STREAMS = {
    "mixture": mixture,
    "duplicates": lambda rng, n, d: rng.normal(size=(9, d))[rng.integers(9, size=n)],
    "grid": lambda rng, n, d: rng.integers(1, 6, size=(n, d)),
    "far small grids": far_small_grids,
    "sorted": sorted_rows,
    "drifting": drifting,
    "two far clusters": two_far_clusters,
    "offset": lambda rng, n, d: 1e9 + rng.normal(size=(n, d)),
    "heavy tails": lambda rng, n, d: rng.standard_cauchy(size=(n, d)),
    "tiny": lambda rng, n, d: 1e-25 * mixture(rng, n, d),
    "huge": lambda rng, n, d: 1e100 * mixture(rng, n, d),
    "mixed scales": mixed_scales,
    "one-hot": lambda rng, n, d: np.eye(d)[rng.integers(d, size=n)],
    "all equal": lambda rng, n, d: np.ones((n, d)),
    # Linkages of a few of the smallest doubles: their means are mostly rounding.
    "denormal": lambda rng, n, d: 1e-161 * rng.integers(1, 7, size=(n, d)),
    "signed zeros": lambda rng, n, d: rng.choice([-0.0, 0.0, 1.0], size=(n, d)),
}


CHAINS_UNDER_DOT = [
    "far small grids",
    "drifting",
    "two far clusters",
    "offset",
    "heavy tails",
    "huge",
    "mixed scales",
]


def stream(kind, n, d, dtype=np.float64):
    X = np.asarray(STREAMS[kind](np.random.default_rng(d), n, d), dtype=np.float64)
    if kind == "signed zeros":
        X[:, 0] = 1.0  # cosine has no use for zero rows
    return X.astype(dtype)


def everything_in(model):
    """All that a live tree holds, to the bit."""
    return [a.tobytes() for a in (*core_of(model).snapshot(), *core_of(model).summaries())]


def tree_in(model):
    """The same without the names of nodes, which tell the order they were made in."""
    children, heights, _ = core_of(model).snapshot()
    return [a.tobytes() for a in (children, heights, *core_of(model).summaries())]


def told(X, neighbours, **options):
    """OHAC that is told the neighbours of every row, in one batch."""
    model = OHAC(**options).fit(X[:1])
    known = np.full((len(X) - 1, max(map(len, neighbours))), NOBODY)
    for row, nearest in zip(known, neighbours[1:], strict=True):
        row[: len(nearest)] = nearest
    core_of(model).insert_beside(X[1:], known)
    return model


def in_parts(model, X, edges, jobs=(1, 2, 3)):
    for k, part in enumerate(np.split(X, edges)):
        model.set_params(n_jobs=jobs[k % len(jobs)])
        model.partial_fit(part)
    return model


def length_for(kind, d):
    """Short rows are looked up ahead from 256 on, long ones shortened from 1024 on."""
    if d < 32:
        return 300
    # Deep paths, or wide ones.
    heavy = kind in ("heavy tails", "mixed scales", "far small grids", "denormal") or d > 64
    return 300 if heavy else 1100


# --- neighbours ------------------------------------------------------------------------


@pytest.mark.parametrize("d", DIMS)
@pytest.mark.parametrize("kind", STREAMS)
def test_a_batch_finds_the_neighbours_of_brute_force(kind, d):
    which = DIMS.index(d) + list(STREAMS).index(kind)
    dtype = np.float64 if kind in ("huge", "offset", "denormal") or which % 2 else np.float32
    metric = METRICS[which % 3]
    if metric == "dot" and kind in CHAINS_UNDER_DOT:
        metric = "cosine"
    X = stream(kind, length_for(kind, d), d, dtype)
    batch = OHAC(metric=metric).fit(X)
    neighbours = brute_force_before(X, metric, 1)
    assert everything_in(batch) == everything_in(told(X, neighbours, metric=metric))


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("d", [32, 200])
def test_long_rows_of_a_batch_are_looked_up_exactly(d, kind):
    # NaiveNN's tree is its neighbours, and quick for rows of any scale.
    X = stream(kind, 1200, d)
    rows = NaiveNN()
    for row in X:
        rows.insert(row)
    parts = NaiveNN()
    for part in np.split(X, [1, 3, 700, 1030]):
        parts.partial_fit(part)
    assert everything_in(NaiveNN().fit(X)) == everything_in(parts) == everything_in(rows)


@pytest.mark.threads
@pytest.mark.parametrize("d", [2, 40])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("k", [2, 5, 2**62])
def test_several_neighbours_from_batches_of_fewer_rows(k, metric, d):
    X = stream("mixture", 40 if k > 5 else 300, d)
    neighbours = brute_force_before(X, metric, k)
    rows = told(X, neighbours, metric=metric, n_neighbors=k)
    edges = [1, 2, 4, 7, 8, 10, 20]
    parts = in_parts(OHAC(metric=metric, n_neighbors=k), X, edges)
    whole = OHAC(metric=metric, n_neighbors=k, n_jobs=2).fit(X)
    assert everything_in(parts) == everything_in(whole) == everything_in(rows)


# --- one tree, however the rows come --------------------------------------------------

# Windows end at 4096 and then where the stream has doubled or more, slices at 32768.
LONG = [
    (OHAC, "mixture", 2, 40_000),
    (OHAC, "drifting", 3, 9_000),
    (OHAC, "grid", 5, 9_000),
    (OHAC, "far small grids", 2, 6_000),
    (OHAC, "sorted", 1, 9_000),
    (OHAC, "mixture", 20, 4_500),
    (OHAC, "mixture", 40, 4_500),
    (NaiveNN, "mixture", 40, 9_000),
    (NaiveNN, "grid", 200, 4_500),
    (PERCH, "mixture", 3, 9_000),
    (PERCH, "duplicates", 5, 4_500),
    (PERCH, "mixture", 40, 2_500),
    (GRINCH, "mixture", 3, 9_000),
    (GRINCH, "grid", 5, 4_500),
    (GRINCH, "duplicates", 12, 2_500),
    (GRINCH, "mixture", 40, 2_500),
]


@pytest.mark.threads
@pytest.mark.parametrize(("Estimator", "kind", "d", "n"), LONG)
def test_long_batches_are_their_rows(Estimator, kind, d, n):
    n = scaled(n)
    X = stream(kind, n, d, np.float32)
    rows = Estimator()
    for row in X:
        rows.insert(row)
    expected = everything_in(rows)
    for options in [{"n_jobs": jobs} for jobs in (1, 2, 3)] if Estimator is OHAC else [{}]:
        assert everything_in(Estimator(**options).fit(X)) == expected
    parts = Estimator()
    for part in np.split(X, [1, 2, n // 7, n // 7 + 1, n // 3, n - 1]):
        parts.partial_fit(part)
    assert everything_in(parts) == expected
    parts.check()


@pytest.mark.parametrize("d", [3, 12])
def test_arrays_that_had_to_move_hold_what_they_held(d):
    # From 4 MB on pages are moved, not contents: here several times.
    X = stream("mixture", scaled(120_000), d, np.float32)
    parts = OHAC()
    for part in np.array_split(X, 200):
        parts.partial_fit(part)
    parts.check()
    assert everything_in(parts) == everything_in(OHAC().fit(X))


@pytest.mark.threads
@pytest.mark.parametrize("linkage", ["average", "centroid", "ward"])
@pytest.mark.parametrize("metric", METRICS)
def test_every_linkage_takes_batches(metric, linkage):
    if metric == "dot" and linkage != "average":
        pytest.skip("dot has one linkage")
    X = stream("mixture", 700, 6)
    rows = OHAC(metric=metric, linkage=linkage)
    for row in X:
        rows.insert(row)
    parts = in_parts(OHAC(metric=metric, linkage=linkage), X, [3, 300, 301])
    assert everything_in(parts) == everything_in(rows)


@pytest.mark.parametrize("d", [3, 40])
def test_a_stored_tree_goes_on_in_batches(d):
    X = stream("mixture", 1500, d)
    model = OHAC().fit(X[:500])
    twin = pickle.loads(pickle.dumps(model))
    for part in np.split(X[500:], [2, 600]):
        twin.partial_fit(part)
    assert everything_in(twin) == everything_in(model.partial_fit(X[500:]))
    assert everything_in(twin) == everything_in(OHAC().fit(X))


@pytest.mark.threads
def test_empty_and_single_batches():
    X = stream("mixture", 3, 40)
    model = OHAC(n_jobs=2).fit(X[:1])
    assert len(model) == 1
    assert len(model.partial_fit(X[1:2])) == 2
    assert len(model.partial_fit(X[2:])) == 3
    model.check()


@pytest.mark.threads
def test_more_jobs_than_work():
    X = stream("mixture", 600, 3)
    assert everything_in(OHAC(n_jobs=1_000_000).fit(X)) == everything_in(OHAC().fit(X))


# --- only the unsettled part of a path is merged anew ----------------------------------


def told_twice(X, **options):
    """Neighbours named twice lead OHAC the long way: HAC of the whole forest."""
    neighbours = brute_force_before(X, options.get("metric", "sqeuclidean"), 1)
    return told(X, [np.repeat(nearest, 2) for nearest in neighbours], **options)


@pytest.mark.parametrize("d", [1, 2, 3, 15, 16, 40])
@pytest.mark.parametrize("kind", STREAMS)
def test_part_of_a_path_is_as_good_as_all_of_it(kind, d):
    X = stream(kind, 200 if kind in ("heavy tails", "mixed scales") else 350, d)
    assert tree_in(OHAC().fit(X)) == tree_in(told_twice(X))


@pytest.mark.parametrize("d", [2, 16])
def test_part_of_a_path_in_float32_and_under_cosine(d):
    X = stream("mixture", 1000, d, np.float32)
    assert tree_in(OHAC().fit(X)) == tree_in(told_twice(X))
    assert tree_in(OHAC(metric="cosine").fit(X)) == tree_in(told_twice(X, metric="cosine"))


def test_a_long_stream_merges_as_the_whole_forest_does():
    X = stream("mixture", scaled(6_000), 3)
    assert tree_in(OHAC().fit(X)) == tree_in(told_twice(X))


# --- cut short -------------------------------------------------------------------------


class StopError(Exception):
    pass


def stop_at(call):
    """A progress callable that raises when it is called for the n-th time, or at the end."""
    calls = []

    def progress(done, total):
        calls.append(done)
        if len(calls) == call or done == total:
            raise StopError

    return progress


@pytest.mark.threads
@pytest.mark.parametrize("call", [1, 2, 4])
@pytest.mark.parametrize(("d", "n"), [(2, 150_000), (12, 40_000), (20, 30_000), (150, 12_000)])
def test_a_batch_cut_short_leaves_the_rows_so_far(d, n, call):
    X = stream("mixture", n + 400, d, np.float32)
    start = 700
    model = OHAC(n_jobs=2).fit(X[:start])
    with pytest.raises(StopError) as caught:
        model.partial_fit(X[start:n], progress=stop_at(call))
    held = len(model)
    assert f"holds {held:,} points" in caught.value.__notes__[0]
    assert start <= held <= n
    model.check()
    again = OHAC().fit(X[:held])
    assert everything_in(model) == everything_in(again)
    more = X[held : held + 400]
    again.partial_fit(more)
    model.partial_fit(more[:300])
    for row in more[300:]:
        model.insert(row)
    assert everything_in(model) == everything_in(again)
    for ours, theirs in zip(
        core_of(model).nearest(X[-20:], 3), core_of(again).nearest(X[-20:], 3), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("d", [3, 40])
@pytest.mark.parametrize("Estimator", [PERCH, GRINCH])
def test_baselines_cut_short_leave_the_rows_so_far(Estimator, d):
    X = stream("mixture", 20_000 if d == 3 else 6_000, d, np.float32)
    model = Estimator().fit(X[:700])
    with pytest.raises(StopError):
        model.partial_fit(X[700:-300], progress=stop_at(2))
    held = len(model)
    assert 700 <= held <= len(X) - 300
    model.check()
    again = Estimator().fit(X[:held])
    assert everything_in(model) == everything_in(again)
    more = X[held : held + 300]
    assert everything_in(model.partial_fit(more)) == everything_in(again.partial_fit(more))
