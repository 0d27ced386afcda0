# SPDX-License-Identifier: BSD-3-Clause
"""Every index of neighbours alone: a scan's answers to the bit, whatever came and went."""

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.core_parts import part, parts, run_machine
from tests.oracles.row_store import Rows
from tests.strategies import dtypes, seeds

#: What rows look like. Each makes `count` of them, given how many came before.
FLAVOURS = {
    "normal": lambda rng, came, count, d: rng.normal(size=(count, d)),
    "grid": lambda rng, came, count, d: rng.integers(-1, 2, size=(count, d)),
    "equal": lambda rng, came, count, d: np.ones((count, d)),
    "heaps": lambda rng, came, count, d: np.full((count, d), rng.integers(3)),
    "far": lambda rng, came, count, d: 1e6 + rng.normal(size=(count, d)),
    "far on a grid": lambda rng, came, count, d: 1e6 + rng.integers(2, size=(count, d)),
    "sorted": lambda rng, came, count, d: np.sort(came + rng.random((count, d)), axis=0),
    "line": lambda rng, came, count, d: np.outer(rng.normal(size=count), np.ones(d)),
    "denormal": lambda rng, came, count, d: 1e-160 * rng.normal(size=(count, d)),
    "tiny": lambda rng, came, count, d: 1e-20 * rng.normal(size=(count, d)),
    "huge": lambda rng, came, count, d: 1e15 * rng.normal(size=(count, d)),
}
KINDS = [
    ("scan", "sqeuclidean", (1, 5, 16, 33)),
    ("scan", "dot", (1, 5, 16, 33)),
    ("long", "dot", (2, 16, 33, 40)),
    ("long", "sqeuclidean", (2, 16, 20, 32, 40)),
    ("long by tree", "sqeuclidean", (2, 16, 31, 40)),
    ("long by scan", "sqeuclidean", (2, 16, 31, 40)),
    ("buckets", "sqeuclidean", (1, 2, 3, 15)),
    ("buckets", "dot", (1, 2, 3, 15)),
    ("measured", "sqeuclidean", (2, 8, 15)),
]


class IndexMachine(RuleBasedStateMachine):
    """Rows come one by one or many at once, go, and close up; questions in between."""

    kind: str
    metric: str
    dims: tuple[int, ...]
    first: int  # rows that are there from the start

    @initialize(data=st.data(), dtype=dtypes(), seed=seeds())
    def start(self, data, dtype, seed):
        self.dim = data.draw(st.sampled_from(self.dims), label="columns")
        self.flavour = data.draw(st.sampled_from(sorted(FLAVOURS)), label="rows")
        self.dtype, self.rng = dtype, np.random.default_rng(seed)
        self.points, self.model = part("RowStore", dtype)(self.dim), Rows()
        self.index = part("Index", dtype)(self.dim, self.metric, self.kind)
        self.end = 0
        if self.first:
            self.store(self.first)
            self.load()

    def make(self, count):
        make = FLAVOURS[self.flavour]
        rows = make(self.rng, len(self.model.slots), count, self.dim)
        return np.ascontiguousarray(rows, dtype=self.dtype)

    def question(self):
        """A row of the stream, or one like them."""
        living = self.model.living()
        if living and self.rng.random() < 0.5:
            return self.model.slots[self.rng.choice(living)][1]
        return self.make(1)[0]

    def store(self, count):
        for row in self.make(count):
            self.points.append(row)
            self.model.append(row)

    # --- what happens ---------------------------------------------------------------

    @rule(count=st.integers(1, 40))
    def rows_come_that_are_not_yet_indexed(self, count):
        self.store(count)

    @rule(count=st.integers(1, 40))
    def add(self, count):
        for _ in range(count):
            if self.end == len(self.model.slots):
                self.store(1)
            self.index.add(self.points)
            self.end += 1

    @rule()
    def load(self):
        self.end = len(self.model.slots)
        self.index.load(self.points, self.end)

    @precondition(lambda self: self.model.living())
    @rule(share=st.one_of(st.just(0.0), st.floats(0, 1)), count=st.sampled_from([1, 1, 1, 5, 60]))
    def remove(self, share, count):
        living = self.model.living()
        at = int(share * (len(living) - 1))
        for slot in living[at : at + count]:
            self.points.make_room_to_erase()
            if slot < self.end:
                self.index.remove(self.points, slot)
            self.points.erase(slot)
            self.model.erase(slot)

    @precondition(lambda self: len(self.model.living()) < len(self.model.slots))
    @rule()
    def close_holes(self):
        new_slot = self.model.new_slots()
        self.index.renumber(new_slot, len(self.model.living()))
        self.points.compact(new_slot)
        living = len(self.model.living())
        self.end = new_slot[self.end] if self.end < len(new_slot) else living
        self.model.compact()

    # --- questions ------------------------------------------------------------------

    @rule(k=st.sampled_from([1, 1, 2, 3, 7, 50]), share=st.sampled_from([1.0, 1.0, 0.5, 0.1]))
    def nearest(self, k, share):
        x, end = self.question(), int(share * self.end)
        assert self.index.nearest(self.points, x, k, end) == self.model.nearest(
            x, k, end, self.metric
        )

    @rule(
        k=st.sampled_from([1, 1, 3, 50]),
        count=st.sampled_from([1, 7, 8, 20]),
        share=st.sampled_from([1.0, 1.0, 0.5, 0.1]),
    )
    def nearest_to_each(self, k, count, share):
        rows, end = np.stack([self.question() for _ in range(count)]), int(share * self.end)
        assert self.index.nearest_to_each(self.points, rows, k, end) == [
            self.model.nearest(x, k, end, self.metric) for x in rows
        ]

    @rule(share=st.floats(0, 1), how_many=st.sampled_from([0.0, 0.1, 0.9, 1.0]))
    def nearest_allowed(self, share, how_many):
        x, end = self.question(), int(share * self.end)
        ruled_out = (self.rng.random(len(self.model.slots) + 1) < how_many).astype(np.uint8)
        found = self.index.nearest_allowed(self.points, x, end, ruled_out)
        rows, distances = self.model.nearest(
            x, 1, end, self.metric, set(np.flatnonzero(ruled_out).tolist())
        )
        assert found == ((rows[0], distances[0]) if rows else None)

    @precondition(lambda self: self.model.living(self.end))
    @rule(k=st.sampled_from([1, 1, 3, 40]), count=st.integers(1, 10))
    def nearest_before(self, k, count):
        queries = self.rng.choice(self.model.living(self.end), count).tolist()
        found = self.index.nearest_before(self.points, queries, k)
        for query, rows in zip(queries, found.tolist(), strict=True):
            x = self.model.slots[query][1]
            expected, _ = self.model.nearest(x, k, query, self.metric)
            assert rows == expected + [2**32 - 1] * (k - len(expected))

    @rule(share=st.floats(0, 1))
    def by_place(self, share):
        """Asked for rows that have just come: there are no holes among them. Or none at all."""
        holes = [at for at, one in enumerate(self.model.slots[: self.end]) if one is None]
        begin = max([int(share * self.end), *(at + 1 for at in holes)])
        found = self.index.by_place(begin)
        assert not found or sorted(found) == list(range(begin, self.end))

    @invariant()
    def knows_its_end(self):
        if hasattr(self, "index"):
            assert self.index.end == self.end


def machine(kind, metric, dims, first=0):
    fields = {"kind": kind, "metric": metric, "dims": dims, "first": first}
    return type("Machine", (IndexMachine,), fields)


@pytest.mark.parametrize(("kind", "metric", "dims"), KINDS)
def test_rows_come_and_go_and_answers_are_a_scans(kind, metric, dims):
    run_machine(machine(kind, metric, dims), runs=50, steps=50)


@pytest.mark.parametrize(
    ("kind", "dims", "first"),
    # Short vectors are fitted at 256 rows, or 1024 if rows are long.
    [
        ("long", (2, 16, 33), 240),
        ("long", (70, 131, 300), 1010),
        ("long", (16, 32), 240),
        ("long by tree", (16, 20), 300),
        ("long by scan", (31, 40), 300),
        ("long by tree", (64, 200), 1010),
        ("long by scan", (100, 260), 1100),
        ("long by scan", (385, 700), 1100),
        ("buckets", (1, 3), 1100),
        # The way is chosen at 1024 rows, and anew when they have doubled.
        ("measured", (8, 15), 1010),
        ("measured", (8, 15), 1030),
    ],
)
def test_of_many_rows_too(kind, dims, first):
    metric = "dot" if kind == "long" else "sqeuclidean"
    run_machine(machine(kind, metric, dims, first), runs=6, steps=25)


@pytest.mark.parametrize("d", [1, 2, 3, 7, 64, 65, 191, 384, 1023])
def test_a_turned_row_keeps_its_length_and_spreads_what_it_has(d):
    turned = np.array([parts.turned(unit)[0] for unit in np.eye(d, dtype=np.float32)], np.float64)
    _, rounding = parts.turned(np.ones(d, np.float32))
    assert np.abs(turned @ turned.T - np.eye(d)).max() <= 4 * rounding
    # A lone entry is spread over half of the columns or more, not left where it was.
    assert np.abs(turned).max() <= min(1, 8 / np.sqrt(d))
    x = np.random.default_rng(d).normal(size=d).astype(np.float32)
    there = np.array(parts.turned(x)[0], np.float64)
    assert np.linalg.norm(there - x @ turned) <= rounding * np.linalg.norm(x) * np.sqrt(d)


@pytest.mark.parametrize("d", [40, 300])
@pytest.mark.parametrize("kind", ["normal", "few directions", "one-hot", "far away"])
def test_bytes_never_say_farther_than_it_is(kind, d):
    """Whole rows where they have no leading directions, few bytes where they have few."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(400, d))
    if kind == "few directions":
        X = rng.normal(size=(400, 5)) @ rng.normal(size=(5, d)) + 0.01 * X
    elif kind == "one-hot":
        X = np.eye(d)[rng.integers(d, size=400)]
    elif kind == "far away":
        X += 1e6
        X[7] *= 1e5
    codes, doubts, unit = parts.shortened(X)
    if kind == "normal":
        assert codes.shape[1] == d
    if kind == "few directions":
        assert codes.shape[1] <= 32
    q, doubt = codes.astype(np.float64), np.array(doubts)
    apart = np.sqrt(((q[:, None] - q[None]) ** 2).sum(2)) - doubt[:, None] - doubt[None]
    true = np.sqrt(((X[:, None] - X[None]) ** 2).sum(2))
    assert (apart <= true * unit * (1 + 1e-9)).all()
    assert (apart > 0).mean() > 0.5 or kind == "far away"  # it says something


@pytest.mark.parametrize("d", [3, 40, 301])
@pytest.mark.parametrize("kind", ["normal", "positive", "one-hot", "far away", "tiny"])
def test_bytes_never_say_that_a_product_is_less_than_it_is(kind, d):
    rng = np.random.default_rng(d)
    X, y = rng.normal(size=(400, d)), rng.normal(size=d)
    if kind == "positive":
        X, y = np.abs(X), np.abs(y)
    elif kind == "one-hot":
        X, y = np.eye(d)[rng.integers(d, size=400)], np.eye(d)[0]
    elif kind == "far away":
        X += 1e6
        X[7] *= 1e5
    elif kind == "tiny":
        X *= 1e-20
    codes, doubts, of_y, (unit, shift, slack, doubt) = parts.multiplied(X, y)
    q, by, left_out = codes.astype(np.float64), np.array(of_y, np.float64), np.array(doubts)
    most = q @ by + np.linalg.norm(by) * left_out + doubt * (np.linalg.norm(q, axis=1) + left_out)
    true = X @ y
    assert (true <= shift + slack + unit * most).all()
    # It says something: what is added is little beside what products differ by.
    least = q @ by - np.linalg.norm(by) * left_out - doubt * (np.linalg.norm(q, axis=1) + left_out)
    usual = np.median(unit * (most - least))
    assert usual < 0.5 * np.ptp(true) or kind == "far away"


@pytest.mark.parametrize(("metric", "kind"), [("sqeuclidean", "long by scan"), ("dot", "long")])
@pytest.mark.parametrize("instructions", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("d", [16, 21, 100, 300, 1025])
def test_every_set_of_instructions_sweeps_bytes_alike(instructions, d, metric, kind):
    """Single searches and batches, over one block of rows and over many."""
    before = parts.instructions()
    if not parts.select_instructions(instructions):
        pytest.skip(f"this processor has no {instructions}")
    try:
        rng = np.random.default_rng(d)
        points, model = parts.RowStoreF32(d), Rows()
        for row in rng.normal(size=(1100, d)).astype(np.float32):
            points.append(row)
            model.append(row)
        index = parts.IndexF32(d, metric, kind)
        index.load(points, 1100)
        for x in rng.normal(size=(20, d)).astype(np.float32):
            assert index.nearest(points, x, 3, 1100) == model.nearest(x, 3, 1100, metric)
        queries = rng.choice(np.arange(1, 1100), 21, replace=False).tolist()
        found = index.nearest_before(points, queries, 1)[:, 0].tolist()
        assert found == [model.nearest(model.slots[q][1], 1, q, metric)[0][0] for q in queries]
    finally:
        parts.select_instructions(before)


def test_what_is_measured_to_be_less_work_is_chosen_and_left_again():
    """Boxes rule out little among normal rows of 15 columns, and much once most lie on a line.
    A sweep looks rows up in order of arrival, boxes by place; answers are alike."""
    rng = np.random.default_rng(5)
    points, index, model = (
        parts.RowStoreF32(15),
        parts.IndexF32(15, "sqeuclidean", "measured"),
        Rows(),
    )

    def add(rows):
        for row in rows.astype(np.float32):
            points.append(row)
            model.append(row)
            index.add(points)

    def sweeps():
        return not index.by_place(0)

    def answers_are_a_scans():
        end = len(model.slots)
        for x in rng.normal(size=(5, 15)).astype(np.float32):
            assert index.nearest(points, x, 3, end) == model.nearest(x, 3, end, "sqeuclidean")

    add(rng.normal(size=(1000, 15)))
    assert not sweeps()
    answers_are_a_scans()
    add(rng.normal(size=(100, 15)))
    assert sweeps()
    answers_are_a_scans()
    add(np.outer(np.linspace(5, 500, 7500), np.ones(15)))
    assert not sweeps()
    answers_are_a_scans()
    points.make_room_to_erase()
    index.remove(points, 3)
    points.erase(3)
    model.erase(3)
    answers_are_a_scans()


def test_an_index_by_dimension_is_one_of_these():
    """What a stream gets gives the answers of the kinds that are tested here."""
    rng = np.random.default_rng(0)
    for d in (1, 7, 8, 15, 16, 31, 32, 40):
        for metric in ("sqeuclidean", "dot"):
            points = parts.RowStoreF64(d)
            index = parts.IndexF64(d, metric, "by dimension")
            model = Rows()
            for row in rng.normal(size=(50, d)):
                points.append(row)
                model.append(row)
            index.load(points, 50)
            x = rng.normal(size=d)
            assert index.nearest(points, x, 5, 50) == model.nearest(x, 5, 50, metric)


def test_equal_rows_are_found_in_order_of_arrival_after_one_has_left():
    """Where a heap of equal rows had room in one block of the k-d tree, the last took the
    place of the one that left; when more came, searches looked at the first of them only."""
    points, index, model = parts.RowStoreF64(1), parts.IndexF64(1, "sqeuclidean", "buckets"), Rows()
    x = np.ones(1)

    def add(count):
        for _ in range(count):
            points.append(x)
            model.append(x)
            index.add(points)

    add(10)
    index.remove(points, 0)
    points.make_room_to_erase()
    points.erase(0)
    model.erase(0)
    add(30)
    assert index.nearest(points, x, 3, 40) == ([1, 2, 3], [0.0] * 3)


def test_a_row_that_has_left_is_nobodys_nearest_allowed():
    """The scan of short vectors offered rows that had left, as rows of zeros."""
    points, index = parts.RowStoreF64(2), parts.IndexF64(2, "sqeuclidean", "long")
    for row in ([0.0, 0.0], [5.0, 5.0]):
        points.append(np.array(row))
        index.add(points)
    points.make_room_to_erase()
    index.remove(points, 0)
    points.erase(0)
    allowed = np.zeros(2, dtype=np.uint8)
    assert index.nearest_allowed(points, np.zeros(2), 2, allowed) == (1, 50.0)
