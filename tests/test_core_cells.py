# SPDX-License-Identifier: BSD-3-Clause
"""Rows in cells alone: what the plan says is found, whatever came and went."""

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from tests.core_parts import part, parts, run_machine
from tests.oracles import cells as oracle
from tests.oracles.row_store import Rows
from tests.strategies import dtypes, seeds
from tests.test_core_index import FLAVOURS, IndexMachine


class CellMachine(IndexMachine):
    """As for every index, with epochs in between; answers are those of the oracle."""

    metric = "sqeuclidean"

    @initialize(data=st.data(), dtype=dtypes(), seed=seeds())
    def start(self, data, dtype, seed):
        self.dim = data.draw(st.sampled_from((1, 3, 16, 20, 40)), label="columns")
        self.flavour = data.draw(st.sampled_from(sorted(FLAVOURS)), label="rows")
        recall = data.draw(st.sampled_from((0.1, 0.5, 0.97)), label="recall")
        self.dtype, self.rng = dtype, np.random.default_rng(seed)
        self.points, self.model = part("RowStore", dtype)(self.dim), Rows()
        self.index = part("Cells", dtype)(self.dim, recall, fit=8, first=24, epoch=8)
        self.end = 0
        self.read_plan()

    def read_plan(self):
        self.plan = oracle.Plan(self.index.stored(), self.dim)

    # --- what happens ---------------------------------------------------------------

    @rule()
    def rows_are_expected(self):
        """All that have come are in the index then."""
        self.end = len(self.model.slots)
        left = self.index.expect(self.points, self.end, self.model.next)
        self.read_plan()
        assert left == self.plan.next - self.model.next > 0

    @rule()
    def the_index_is_made_again(self):
        before = self.index.stored()
        self.index.make_again(self.points, self.end)
        np.testing.assert_array_equal(self.index.stored(), before)

    # --- questions ------------------------------------------------------------------

    @rule(k=st.sampled_from([1, 1, 2, 3, 7, 50]), share=st.sampled_from([1.0, 1.0, 0.5, 0.1]))
    def nearest(self, k, share):
        x, end = self.question(), int(share * self.end)
        assert self.index.nearest(self.points, x, k, end) == oracle.found(
            self.plan, self.model, x, k, end
        )

    @rule(k=st.sampled_from([1, 3]), count=st.sampled_from([1, 8, 20]))
    def nearest_to_each(self, k, count):
        rows = np.stack([self.question() for _ in range(count)])
        assert self.index.nearest_to_each(self.points, rows, k, self.end) == [
            oracle.found(self.plan, self.model, x, k, self.end) for x in rows
        ]

    @rule(share=st.floats(0, 1), how_many=st.sampled_from([0.0, 0.1, 0.9, 1.0]))
    def nearest_allowed(self, share, how_many):
        x, end = self.question(), int(share * self.end)
        ruled_out = (self.rng.random(len(self.model.slots) + 1) < how_many).astype(np.uint8)
        found = self.index.nearest_allowed(self.points, x, end, ruled_out)
        hidden = set(np.flatnonzero(ruled_out).tolist())
        rows, distances = oracle.found(self.plan, self.model, x, 1, end, hidden, by_hash=False)
        assert found == ((rows[0], distances[0]) if rows else None)

    @precondition(lambda self: self.model.living(self.end))
    @rule(k=st.sampled_from([1, 1, 3, 40]), count=st.integers(1, 20))
    def nearest_before(self, k, count):
        queries = self.rng.choice(self.model.living(self.end), count).tolist()
        found = self.index.nearest_before(self.points, queries, k)
        for query, rows in zip(queries, found.tolist(), strict=True):
            x = self.model.slots[query][1]
            expected, _ = oracle.found(self.plan, self.model, x, k, query)
            assert rows == expected + [2**32 - 1] * (k - len(expected))

    @invariant()
    def rows_are_at_home(self):
        if not hasattr(self, "index") or not self.plan.fitted:
            return
        for slot in self.model.living(self.end):
            row = self.model.slots[slot][1]
            assert self.index.code(row) == self.plan.code(row).tolist()
            assert self.index.cell_of(slot) == self.plan.home(row)


def test_rows_come_and_go_and_the_plan_decides_what_is_found():
    run_machine(CellMachine, runs=60, steps=40)


def stored(rows):
    points, model = part("RowStore", rows.dtype.type)(rows.shape[1]), Rows()
    for row in rows:
        points.append(row)
        model.append(row)
    return points, model


def clumps(n, d, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n // 20 + 1, d))
    rows = centres[rng.integers(len(centres), size=n)] + 0.6 * rng.normal(size=(n, d))
    return rows.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 30, 250])
def test_centroids_are_means_and_the_slack_is_what_rows_need(dtype, d):
    n, recall = 700, 0.9
    X = clumps(n, d, dtype)
    points, model = stored(X)
    index = part("Cells", dtype)(d, recall, fit=64, first=600, epoch=50)
    index.expect(points, n, n)
    plan = oracle.Plan(index.stored(), d)
    assert plan.cells == min(oracle.CELLS * int(np.sqrt(n)), n // 4) == index.cells
    centroids, left_out, _ = oracle.divided(plan, list(X))
    np.testing.assert_array_equal(plan.centroids, centroids)
    needed = []
    for i in left_out:
        near = model.nearest(X[i], 1, i, "sqeuclidean")[0][0]
        needed.append(plan.needed_for(X[i], X[near]))
    assert plan.needed == needed
    assert plan.slack == oracle.quantile(needed, recall)
    # An epoch later: what its rows needed, and how many of them had it.
    more = clumps(60, d, dtype, seed=1)
    for row in more:
        points.append(row)
        model.append(row)
    index.expect(points, n + 60, n + 60)
    after = oracle.Plan(index.stored(), d)
    for i in range(n, n + 60):
        near = model.nearest(more[i - n], 1, i, "sqeuclidean")[0][0]
        needed.append(plan.needed_for(more[i - n], model.slots[near][1]))
    assert after.needed == needed
    assert after.slack == oracle.quantile(needed, recall)
    hits = sum(one <= plan.slack for one in needed[-60:])
    assert after.rows == n + 60
    assert after.hits == pytest.approx(n + hits)
    assert index.recall == pytest.approx((n + hits) / (n + 60))


def test_the_wanted_share_is_found():
    X = clumps(12_000, 24)
    points, _ = stored(X)
    for recall in (0.85, 0.9, 0.97):
        index = parts.CellsF32(24, recall, fit=256, first=2_000, epoch=500)
        at, hits, tries = 0, 0, 0
        while at < len(X):
            stop = min(at + index.expect(points, at, at), len(X))
            index.load(points, stop)
            if index.cells > 1:
                asked = list(range(at, stop, 7))
                exact = part("Index", np.float32)(24, "sqeuclidean", "long by scan")
                exact.load(points, stop)
                ours = index.nearest_before(points, asked, 1)[:, 0]
                theirs = exact.nearest_before(points, asked, 1)[:, 0]
                hits, tries = hits + int((ours == theirs).sum()), tries + len(asked)
            at = stop
        assert tries > 1_000
        assert recall - 0.03 < hits / tries <= recall + 0.05


def test_cells_are_made_again_when_rows_have_come_or_gone():
    X = clumps(4_000, 20)
    points, _ = stored(X[:1_000])
    index = parts.CellsF32(20, 0.9, fit=64, first=500, epoch=50)
    index.expect(points, 1_000, 1_000)
    made = [oracle.Plan(index.stored(), 20).made]
    for row in X[1_000:]:
        points.append(row)
    for number in range(1_050, 4_001, 50):
        index.expect(points, number, number)
        made.append(oracle.Plan(index.stored(), 20).made)
    assert made[0] == 1_000
    assert sorted(set(made))[1] in range(2_000, 2_200)
    assert len(set(made)) == 3
    for slot in range(3_600):
        points.make_room_to_erase()
        index.remove(points, slot)
        points.erase(slot)
    index.expect(points, 4_000, 5_000)
    assert oracle.Plan(index.stored(), 20).made == 400
    assert index.cells == 1


def test_a_plan_of_rows_that_never_came_is_taken_back():
    X = clumps(1_000, 20)
    points, _ = stored(X)
    index = parts.CellsF32(20, 0.9, fit=64, first=500, epoch=50)
    index.expect(points, 800, 800)
    before = index.stored()
    index.expect(points, 900, 900)
    assert not index.take_back(901)
    assert index.take_back(900)
    np.testing.assert_array_equal(index.stored(), before)


@pytest.mark.parametrize("d", [20, 250])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_set_of_instructions_makes_the_same_plan(d, dtype):
    points, _ = stored(clumps(900, d, dtype))
    plans, before = [], parts.instructions()
    try:
        for instructions in ("baseline", "avx2", "avx512"):
            if not parts.select_instructions(instructions):
                continue
            index = part("Cells", dtype)(d, 0.9, fit=64, first=600, epoch=50)
            index.expect(points, 700, 700)
            index.expect(points, 900, 900)
            plans.append(index.stored())
    finally:
        parts.select_instructions(before)
    for plan in plans[1:]:
        np.testing.assert_array_equal(plan, plans[0])


@pytest.mark.parametrize("many", [True, False])
def test_a_damaged_plan_is_refused(many):
    points, _ = stored(clumps(700, 20))
    index = parts.CellsF32(20, 0.9, fit=64, first=600 if many else 900, epoch=50)
    index.expect(points, 700, 700)
    good = index.stored()
    index.restore(good)
    rng = np.random.default_rng(0)
    for _ in range(300):
        bad = good.copy()
        bad[rng.integers(len(bad))] = rng.choice([-1.0, 0.5, 1e18, 1e300, 300.0, -128.0])
        try:
            index.restore(bad)
        except ValueError:
            continue
    for size in (1, 7, 8 + len(oracle.Plan(good, 20).needed) + 1, len(good) - 1):
        with pytest.raises(ValueError, match="damaged"):
            index.restore(good[:size])
    with pytest.raises(ValueError, match="damaged"):
        index.restore(np.append(good, 0.0))
