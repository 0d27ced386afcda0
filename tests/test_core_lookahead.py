# SPDX-License-Identifier: BSD-3-Clause
"""Looking a batch up ahead: the neighbours that each row finds alone, for every split."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core_parts import part, parts
from tests.oracles.row_store import Rows
from tests.strategies import dtypes, examples, scaled, seeds

KINDS = [("scan", 3), ("long", 17), ("long by tree", 20), ("long by scan", 33), ("buckets", 2)]


def rows_of(rng, n, d, kind):
    if kind == "grid":
        return rng.integers(0, 3, size=(n, d)).astype(np.float64)
    if kind == "equal":
        return np.ones((n, d))
    if kind == "sorted":
        return np.sort(rng.normal(size=(n, d)), axis=0)
    return rng.normal(size=(n, d)) + (1e6 if kind == "far" else 0)


class Stream:
    """Rows in a store and an index over them, fed by single rows or whole batches."""

    def __init__(self, X, index, metric="sqeuclidean"):
        self.X, self.came = X, 0
        dtype, d = X.dtype.type, X.shape[1]
        self.points = part("RowStore", dtype)(d)
        self.index = part("Index", dtype)(d, metric, index)

    def one(self, k):
        """The neighbours of the next row, which then goes into the index."""
        x = self.X[self.came]
        found, _ = self.index.nearest(self.points, x, k, self.index.end)
        self.points.append(x)
        self.index.add(self.points)
        self.came += 1
        return found

    def batch(self, count, k, threads, pulses=None):
        rows = self.X[self.came : self.came + count]
        k = min(k, self.points.living + count - 1)  # the last row has no more
        found = parts.look_ahead(self.index, self.points, rows, k, threads, pulses)
        self.came += count
        return found

    def erase(self, slots):
        for slot in slots:
            self.points.make_room_to_erase()
            self.index.remove(self.points, slot)
            self.points.erase(slot)


@pytest.mark.parametrize(("index", "d"), KINDS)
@pytest.mark.parametrize("threads", [0, 3], ids=["alone", "threads"])
def test_a_batch_finds_what_single_rows_find(index, d, threads):
    @settings(max_examples=examples(25))
    @given(
        cuts=st.lists(st.integers(2, 300), min_size=1, max_size=4),
        k=st.sampled_from([1, 2, 5, 400]),
        kind=st.sampled_from(["normal", "grid", "equal", "sorted", "far"]),
        gone=st.floats(0, 0.9),
        dtype=dtypes(),
        seed=seeds(),
    )
    def check(cuts, k, kind, gone, dtype, seed):
        rng = np.random.default_rng(seed)
        X = rows_of(rng, sum(cuts), d, kind).astype(dtype)
        one, many = Stream(X, index), Stream(X, index)
        for count in cuts:
            assert many.batch(count, k, threads) == [one.one(k) for _ in range(count)]
            living = [at for at in range(one.came) if not one.points.is_hole(at)]
            leaving = [at for at in living[:-1] if rng.random() < gone]
            one.erase(leaving)
            many.erase(leaving)

    check()


@pytest.mark.parametrize(("index", "d"), [("scan", 3), ("buckets", 2), ("long", 33)])
def test_slices_and_windows_follow_each_other(index, d):
    """More rows than a window holds, and more neighbours than a slice."""
    n, k = scaled(9000 if index == "buckets" else 2500), 150
    X = np.round(np.random.default_rng(0).normal(size=(n, d)), 2)
    stream = Stream(X, index)
    found = stream.batch(n, k, threads=2)
    model = Rows()
    for row in X:
        model.append(row)
    assert [len(rows) for rows in found] == [min(i, k) for i in range(n)]
    for i in range(0, n, 1 + n // 50):
        assert found[i] == model.nearest(X[i], k, i, "sqeuclidean")[0]


@pytest.mark.parametrize("index", ["scan", "buckets"])
def test_inner_products_are_looked_up_ahead_too(index):
    X = np.random.default_rng(1).integers(-2, 3, size=(400, 3)).astype(np.float64)
    one, many = Stream(X, index, "dot"), Stream(X, index, "dot")
    assert many.batch(400, 4, threads=0) == [one.one(4) for _ in range(400)]


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_a_batch_may_be_interrupted_at_any_pulse(threads):
    """What was found until then is right, and nobody is left at work."""
    X = np.random.default_rng(2).normal(size=(2000, 33))
    whole = Stream(X, "long").batch(2000, 128, threads)
    lengths = set()
    for pulses in (0, 1, 2, 5, 20, 60, 200, 300, 500, 1000):
        found = Stream(X, "long").batch(2000, 128, threads, pulses)
        assert found == whole[: len(found)]
        lengths.add(len(found))
    assert len(lengths) > 1
