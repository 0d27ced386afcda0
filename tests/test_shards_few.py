"""Shards that are asked about few rows: the tree is that of asking every shard, to the bit."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify import _core
from ramify.metric import METRICS
from ramify.ray import ShardedOHAC, _finder
from ramify.ray._finder import Boxes, Finder
from tests.strategies import examples, seeds


@pytest.fixture(scope="module")
def folders():
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield lambda: tempfile.mkdtemp(dir=folder)


def _rows(rng, n, d, dtype):
    """On a grid in places, where most distances are equal; far from the origin in others."""
    kind = rng.integers(4)
    if kind == 0:
        rows = rng.integers(1, 4, size=(n, d)).astype(np.float64)
    elif kind == 1:
        rows = rng.normal(size=(n, d)) + 1e6
    else:
        rows = rng.normal(size=(n, d)) + 10 * rng.normal(size=(4, d))[rng.integers(4, size=n)]
    return rows.astype(dtype)


def _grow(folder, X, options, seed):
    """Rows in batches, some of which leave, and what the shards are then."""
    rng = np.random.default_rng(seed)
    with ShardedOHAC(4, folder=folder, engine="local", block=8, frontier=3, **options) as model:
        at = 0
        while at < len(X):
            n = int(rng.integers(1, 14))
            numbers = model.add(X[at : at + n])
            at += n
            if rng.random() < 0.2:
                model.forget(numbers[:1])
        asked = model.statistics()["asked"]
        found = model.nearest(X[:9] + 0.25, k=2)
        return model.digests(), [part.tolist() for part in found], asked


@settings(max_examples=examples(25))
@given(st.data(), st.sampled_from(sorted(METRICS)), st.integers(1, 3), seeds())
def test_the_tree_is_that_of_asking_every_shard(folders, data, metric, k, seed):
    rng = np.random.default_rng(seed)
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    X = _rows(rng, int(rng.integers(20, 90)), data.draw(st.sampled_from([1, 2, 3, 9])), dtype)
    options = {"metric": metric, "n_neighbors": k}
    few = _grow(folders(), X, options, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_finder, "_COLUMNS", 0)
        every = _grow(folders(), X, options, seed)
    assert few[:2] == every[:2]


def test_rows_in_clusters_are_asked_of_few_shards(folders):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3)) + 30 * rng.normal(size=(8, 3))[rng.integers(8, size=3000)]
    with ShardedOHAC(8, folder=folders(), engine="local", block=256) as model:
        model.partial_fit(X[:1000])
        before = model._port().router._finder
        before.rows = before.asked = 0
        model.partial_fit(X[1000:])
        assert model.statistics()["asked"] < 1.5


@given(seeds(), st.sampled_from(sorted(METRICS)), st.sampled_from([np.float32, np.float64]))
def test_no_point_is_nearer_than_its_box(seed, metric, dtype):
    """Also at offsets where rounding shows, and of boxes that took in rows."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 7)), 40
    scale = 10.0 ** rng.integers(-3, 7)
    X = (rng.normal(size=(n, d)) + rng.integers(0, 2) * scale).astype(dtype)
    asked = np.concatenate([X[:5], (rng.normal(size=(15, d)) * scale).astype(dtype)])
    asked = asked[(asked != 0).any(axis=1)]
    known = METRICS[metric]
    stored, crew = known.prepared(X), _Crew(known.prepared(X)[:20])
    finder = Finder(crew, metric)
    finder._least(asked, [0], [20], np.full(len(asked), np.inf))
    finder.takes(0, X[20:28])
    least = finder._least(asked, [0], [20], np.full(len(asked), np.inf))[:, 0]
    for row, bound in zip(asked, least, strict=True):
        each = np.concatenate([row[np.newaxis], stored[:28]])
        pairs = [np.ascontiguousarray(each[[0, i]]) for i in range(1, len(each))]
        assert bound <= min(_core.nearest_before(pair, metric, 1)[1][1, 0] for pair in pairs)


class _Crew:
    """One shard with some rows, in three parts."""

    def __init__(self, rows):
        self.boxes = Boxes.of(rows, np.arange(len(rows)) % 3)

    def ask(self, calls):
        return [self.boxes for _ in calls]


def test_a_shard_that_grew_is_asked_for_new_boxes():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    finder = Finder(_Crew(rows[:20]), "sqeuclidean")
    finder._least(rows, [0], [20], np.full(40, np.inf))
    finder.takes(0, rows[20:29])
    assert 0 in finder._known
    finder.takes(0, rows[29:])
    assert 0 not in finder._known
