# SPDX-License-Identifier: BSD-3-Clause
"""Where there are two ways to repair a tree, both give the same tree, to the bit.

Which way is taken depends on what was counted and kept, and that is in no file.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core_parts import part, parts
from tests.strategies import examples, seeds

NEVER = 10**9

#: From which length on the table merges a path, whether its stable part is asked for, and whether
#: a matrix merges what the table, which keeps linkages of items, and the few would merge.
WAYS: list[dict[str, object]] = [
    {"path_from": NEVER, "asks": "never"},
    {"path_from": NEVER, "asks": "always"},
    {"path_from": NEVER, "asks": "always", "by_matrix": True},
    {"path_from": NEVER, "asks": "in turn"},
    {"path_from": 3, "asks": "where paid"},
    {"path_from": 3, "by_matrix": True},
    {},
]


def everything(tree, rule):
    """Shape, ids, means and sums of a tree, by its nodes from the root down."""
    tree.refresh(*rule)
    out, todo = [], [] if tree.root is None else [tree.root]
    while todo:
        v = todo.pop()
        if v % 2 == 0:
            out.append(v)
            continue
        out += [tree.id(v), tree.mean(v).tobytes(), tree.ssd(v), tree.heights(v)]
        todo += [tree.right(v), tree.left(v)]
    return out


class Story:
    """Leaves come beside any others, go, and get other weights."""

    def __init__(self, number, d, rows, scale, dtype):
        self.rng = rng = np.random.default_rng(number)
        if rows == "whole":
            X = rng.integers(-2, 3, size=(70, d))
        elif rows == "bits":
            X = rng.integers(0, 2, size=(70, d))
        elif rows == "one-hot":  # equally far from each other
            X = np.eye(d + 50)[rng.integers(0, d + 50, size=70), :d]
        else:
            X = rng.normal(size=(70, d))
        self.X = np.ascontiguousarray((X * scale).astype(dtype))
        self.came, self.living = 0, []

    def steps(self, count):
        for _ in range(count):
            what = self.rng.random()
            if self.came < len(self.X) and (what < 0.6 or len(self.living) < 3):
                beside = self.rng.choice(self.living, 1 + int(what < 0.1)) if self.living else []
                yield "insert", self.came, list(dict.fromkeys(int(one) for one in beside))
                self.living.append(self.came)
                self.came += 1
            elif what < 0.8:
                yield "erase", self.living.pop(int(self.rng.integers(len(self.living)))), None
            else:
                weight = float(self.rng.choice([0.5, 1, 2, 3, 7]))
                yield "weigh", int(self.rng.choice(self.living)), weight


def carry_out(tree, ohac, X, step):
    verb, row, more = step
    if verb == "insert":
        tree.make_room(1)
        ohac.insert(tree, tree.add_leaf(X[row]), more)
    elif verb == "erase":
        tree.make_room_to_erase()
        ohac.erase(tree, 2 * row)
        tree.erase_row(row)
    else:
        ohac.weigh(tree, 2 * row, more)


RULES = [("sqeuclidean", "average"), ("sqeuclidean", "centroid"), ("dot", "average")]
STORIES = (
    seeds(),
    st.sampled_from([1, 3, 8, 16, 24, 200]),
    st.sampled_from(["whole", "bits", "one-hot", "loose"]),
    st.sampled_from([1, 1, 1e-45, 1e-30, 1e-19, 1e10, 1e18]),
    st.sampled_from([np.float32, np.float64]),
)


@pytest.mark.parametrize("rule", RULES)
def test_all_ways_of_a_repair_give_the_same_bits(rule):
    @settings(max_examples=examples(12), deadline=None)
    @given(*STORIES)
    def check(number, d, rows, scale, dtype):
        story = Story(number, d, rows, scale, dtype)
        trees = [part("Tree", dtype)(d) for _ in WAYS]
        ways = [part("Ohac", dtype)(d, *rule, **way) for way in WAYS]
        for step in story.steps(60):
            for tree, ohac in zip(trees, ways, strict=True):
                carry_out(tree, ohac, story.X, step)
        first, *others = [everything(tree, rule) for tree in trees]
        for way, other in zip(WAYS[1:], others, strict=True):
            assert other == first, way

    check()


@pytest.mark.parametrize("rule", RULES)
def test_another_way_at_each_step_gives_the_same_bits(rule):
    """One that has grown the tree from the start, one that last saw it some steps ago, or one
    that has just been made, as after a load."""

    @settings(max_examples=examples(12), deadline=None)
    @given(*STORIES)
    def check(number, d, rows, scale, dtype):
        story = Story(number, d, rows, scale, dtype)
        chance = np.random.default_rng(number + 1)
        tree, mixed = part("Tree", dtype)(d), part("Tree", dtype)(d)
        make = part("Ohac", dtype)
        plain, ways = make(d, *rule), [make(d, *rule, **way) for way in WAYS]
        for step in story.steps(60):
            which = int(chance.integers(len(WAYS)))
            if chance.random() < 0.2:
                ways[which] = make(d, *rule, **WAYS[which])
            carry_out(tree, plain, story.X, step)
            carry_out(mixed, ways[which], story.X, step)
        assert everything(mixed, rule) == everything(tree, rule)

    check()


def test_a_leaf_that_gets_heavier_has_one_mean_on_all_ways():
    """Beside an earlier one or a later one: the union is of the earlier and the later."""
    X = np.random.default_rng(5).integers(0, 2, size=(60, 7)).astype(np.float64)
    rule = ("sqeuclidean", "average")
    found = []
    for asks in ("always", "never"):
        tree, ohac = parts.TreeF64(7), parts.OhacF64(7, *rule, asks=asks)
        for row in range(len(X)):
            nearest = np.argsort(((X[:row] - X[row]) ** 2).sum(axis=1), kind="stable")[:1]
            carry_out(tree, ohac, X, ("insert", row, nearest.tolist()))
        for row in range(len(X)):
            carry_out(tree, ohac, X, ("weigh", row, 2.0))
        found.append(everything(tree, rule))
    assert found[0] == found[1]


@pytest.mark.parametrize("scale", [1.0, 1e-19, 1e-30])
def test_ties_that_are_too_many_are_not_told_by_some_of_them(scale):
    """Of the pairs that might be nearest some were left out, and the others compared."""
    for number in range(40):
        rng = np.random.default_rng(number)
        m = int(rng.integers(38, 60))
        X = (rng.integers(0, 3, size=(m, 40)) * scale).astype(np.float32)
        forest = (X, np.zeros(m), np.ones(m, np.uint32), rng.permutation(m).astype(np.uint32))
        expected, _ = parts.forest_hac(*forest, "sqeuclidean", "centroid", "matrix")
        path_hac = parts.PathHacF32(40, "sqeuclidean", "centroid")
        found = path_hac.merge(*forest, range(m), range(m - 2), True)
        assert found in (None, expected)


def long_path(number):
    """Rows of one column, most on one root path, with a lattice of steps that are equal up to
    rounding at its foot; and for each the earlier row that it comes beside."""
    rng = np.random.default_rng(number)
    step = float(rng.choice([1.3, 1.5, 1.7, 2.0, 2.2, 3.0]))
    top = step ** np.arange(min(200, int(140 / np.log10(step)) - 4))[::-1]
    top *= rng.choice([-1, 1], len(top))
    x = np.concatenate([top, rng.integers(-20, 21, size=200) * 0.1])
    if rng.random() < 0.5:
        rng.shuffle(x)
    nearest = [int(np.abs(x[:i] - x[i]).argmin()) if i else 0 for i in range(len(x))]
    lowest = [int(np.abs(x[:i]).argmin()) if i else 0 for i in range(len(x))]
    one_of_some = [int(rng.integers(min(i, 5))) if i else 0 for i in range(len(x))]
    any_one = [int(rng.integers(i)) if i else 0 for i in range(len(x))]
    return x[:, None], [nearest, lowest, one_of_some, any_one][number % 4]


@pytest.mark.parametrize("number", range(30))
def test_long_paths_of_short_rows_do_not_depend_on_who_was_asked(number):
    """Those that nobody was asked about were merged in buckets, which round in another way."""
    X, beside = long_path(number)
    rule = ("sqeuclidean", "average")
    found = []
    for asks in ("always", "never", "in turn", "where paid"):
        tree, ohac = parts.TreeF64(1), parts.OhacF64(1, *rule, asks=asks)
        for row, other in enumerate(beside):
            carry_out(tree, ohac, X, ("insert", row, [other] if row else []))
        found.append(everything(tree, rule))
    assert all(one == found[0] for one in found)
