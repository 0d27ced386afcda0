"""One stream, one tree: however it is cut into calls, and on whatever instructions."""

import copy
import hashlib
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify import GRINCH, HAC, OHAC, OTD, PERCH, NaiveHAC, NaiveNN, _core
from tests.every import every_estimator, every_online, every_steady_and_metric
from tests.oracles.recount import core_of
from tests.strategies import batches, dtypes, examples, grid_rows, loose_rows

EXAMPLES = examples(15)
# In a child process: trees of a few streams as one digest.
DIGEST = """
import hashlib, numpy as np
from ramify import OHAC, _core
from tests.every import WITH_METRIC
digest = hashlib.sha256()
for dtype in (np.float32, np.float64):
    for d in (2, 15, 16, 17, 100):
        X = np.random.default_rng(d).normal(size=(200, d)).astype(dtype)
        for Estimator, metric in WITH_METRIC:
            live = Estimator(metric=metric).fit(X)._live._core
            for array in (*live.snapshot(), *live.summaries(), *live.nearest(X[:50] + 1, 3)):
                digest.update(array.tobytes())
        for linkage in ("centroid", "ward"):
            live = OHAC(linkage=linkage, n_neighbors=2).fit(X)._live._core
            for array in (*live.snapshot(), *live.summaries()):
                digest.update(array.tobytes())
for d in (3, 40, 200):  # long enough for short vectors, settled paths and threads
    centres = np.random.default_rng(d).normal(size=(30, d))
    X = np.repeat(centres, 50, axis=0) + 0.3 * np.random.default_rng(1).normal(size=(1500, d))
    np.random.default_rng(2).shuffle(X)
    live = OHAC(n_jobs=2).fit(X)._live._core
    for array in (*live.snapshot(), *live.summaries(), *live.nearest(X[:50] + 1, 3)):
        digest.update(array.tobytes())
for kind, X in ((_core.LiveF64, X), (_core.LiveF32, X.astype(np.float32))):
    cells = _core.Options.ohac("cosine", "average", recall=0.9, cells_from=300)
    live = kind(X.shape[1], cells)
    live.insert_many(X)
    for array in (*live.snapshot(), *live.nearest(X[:50] + 1, 3), live.state()["numbers"]):
        digest.update(array.tobytes())
print(_core.instructions(), digest.hexdigest())
"""
LEVELS = ["baseline", "avx2", "avx512"]


def everything_in(model):
    """All that a live tree holds, to the bit."""
    live = core_of(model)
    arrays = (*live.snapshot(), *live.summaries(), live.points())
    return [(array.dtype, array.shape, array.tobytes()) for array in arrays]


@every_online
def test_batches_do_not_matter(Estimator):
    @settings(max_examples=EXAMPLES)
    @given(st.data(), st.one_of(loose_rows(max_size=60), grid_rows(max_size=60)), dtypes())
    def check(data, X, dtype):
        X = X.astype(dtype)
        whole = Estimator().partial_fit(X)
        parts = Estimator()
        for batch in data.draw(batches(len(X))):
            parts.partial_fit(X[batch])
        rows = Estimator()
        for row in X:
            rows.insert(row)
        if Estimator is NaiveHAC:  # ids of nodes tell in which rounds they were made
            for model in (parts, rows):
                assert everything_but_ids(model) == everything_but_ids(whole)
        else:
            assert everything_in(parts) == everything_in(whole) == everything_in(rows)

    check()


def everything_but_ids(model):
    return [entry for k, entry in enumerate(everything_in(model)) if k != 2]


@every_steady_and_metric
def test_large_batches_do_not_matter(Estimator, metric):
    X = np.random.default_rng(9).normal(size=(3000, 3))
    whole = Estimator(metric=metric).partial_fit(X)
    parts = Estimator(metric=metric)
    for start, stop in ((0, 1), (1, 2), (2, 700), (700, 701), (701, 2999), (2999, 3000)):
        parts.partial_fit(X[start:stop])
    assert everything_in(parts) == everything_in(whole)


@every_estimator
def test_runs_repeat(Estimator):
    X = np.random.default_rng(4).normal(size=(300, 4))
    assert everything_in(Estimator().fit(X)) == everything_in(Estimator().fit(X))


@every_estimator
def test_layout_of_the_input_does_not_matter(Estimator):
    X = np.random.default_rng(4).normal(size=(100, 4))
    plain = everything_in(Estimator().fit(X))
    assert everything_in(Estimator().fit(np.asfortranarray(X))) == plain
    assert everything_in(Estimator().fit(np.repeat(X, 2, axis=0)[::2])) == plain
    assert everything_in(Estimator().fit(X.tolist())) == plain


@every_online
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_continue_identically(Estimator, duplicate):
    X = np.random.default_rng(6).integers(0, 6, size=(400, 2)).astype(np.float64)
    model = Estimator().partial_fit(X[:300])
    twin = duplicate(model)
    assert everything_in(twin) == everything_in(model)
    model.partial_fit(X[300:])
    assert len(twin) == 300, "a copy must be independent"
    twin.partial_fit(X[300:])
    assert everything_in(twin) == everything_in(model)


@every_online
def test_reading_does_not_matter(Estimator):
    X = np.random.default_rng(6).normal(size=(120, 2))
    read, unread = Estimator(n_clusters=2), Estimator(n_clusters=2)
    for start in range(0, 120, 20):
        for model in (read, unread):
            model.partial_fit(X[start : start + 20])
        read.predict(X[:5])
        read.hierarchy().cut(n_clusters=3)
        assert len(read.labels_) == start + 20
    assert everything_in(read) == everything_in(unread)


def test_node_ids_are_distinct_and_outlive_inserts_elsewhere():
    # Two far groups: what happens in one leaves the inner nodes of the other alone.
    rng = np.random.default_rng(2)
    left, right = rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 1e4
    model = OHAC().partial_fit(np.vstack([left, right[:25]]))

    def ids_of_inner_nodes(n):
        children, _, ids = core_of(model).snapshot()
        assert len(np.unique(ids)) == len(ids)
        members = [frozenset([i]) for i in range(n)]
        for a, b in children.tolist():
            members.append(members[a] | members[b])
        return {
            member: int(id) for member, id in zip(members[n:], ids, strict=True) if max(member) < 50
        }

    before = ids_of_inner_nodes(75)
    model.partial_fit(right[25:])
    assert ids_of_inner_nodes(100) == before
    assert len(before) == 49


def available_levels():
    return LEVELS[: LEVELS.index(_core.instructions()) + 1]


def digest_with(level):
    done = subprocess.run(
        [sys.executable, "-c", DIGEST],
        env={**os.environ, "RAMIFY_INSTRUCTIONS": level},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.no_asan
def test_every_set_of_instructions_gives_the_same_bits():
    levels = available_levels()
    outcomes = [digest_with(level) for level in levels]
    assert [level for level, _ in outcomes] == levels, "the environment was not heeded"
    assert len({digest for _, digest in outcomes}) == 1
    assert outcomes[0][1] != hashlib.sha256().hexdigest()


@pytest.mark.parametrize("d", [2, 20, 32, 200])
@pytest.mark.parametrize(
    ("Estimator", "options"),
    [
        (HAC, {}),
        (HAC, {"linkage": "ward"}),
        (OHAC, {}),
        (OHAC, {"n_neighbors": 2}),
        (OTD, {}),
        (NaiveNN, {}),
        (PERCH, {}),
        (GRINCH, {}),
    ],
)
def test_numbers_near_the_ends_of_float32_gave_another_tree(Estimator, options, d):
    # A power of two changes no digit, so no comparison either. 1,100 rows: enough for the
    # bounds in float32 that such numbers used to leave (squares beyond 1e38 or below 1e-38).
    rng = np.random.default_rng(d)
    centres = 10 * rng.normal(size=(12, d))
    X = centres[rng.integers(12, size=1100)] + 0.1 * rng.normal(size=(1100, d))
    wanted = Estimator(**options).fit(X).hierarchy().children
    for power in (-480, -76, -70, 66, 130, 470):
        found = Estimator(**options).fit(X * 2.0**power).hierarchy().children
        assert np.array_equal(found, wanted), f"times 2^{power}"
