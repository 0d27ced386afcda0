# SPDX-License-Identifier: BSD-3-Clause
"""OHAC's repair of a tree alone: any leaf beside any others, on trees of any shape."""

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.core_parts import part, parts, run_machine
from tests.oracles.erasing import path_to, without
from tests.oracles.hac import assert_greedy, hac
from tests.oracles.linkages import Linkage
from tests.oracles.ohac import split
from tests.oracles.trees import clusters, inner_nodes, leaf, merge
from tests.strategies import scaled, seeds

SHARES = st.floats(0, 1)


def inherited(taken, kept_as_they_are, tree, newcomer):
    """Which name each merge of `tree` must have, by its points; None: a new one.

    Straight from core/algorithms/ohac.hpp. `taken` are the names of the merges that were
    taken out, by the points that they had; `kept_as_they_are` those of all others.
    """
    wanted = {}
    of_old = {points: [] for points in taken}
    for node in inner_nodes(tree):
        if node.leaves in kept_as_they_are:
            wanted[node.leaves] = kept_as_they_are[node.leaves]
            continue
        wanted[node.leaves] = None
        points = set(node.leaves) - {newcomer}
        lowest = min((old for old in taken if points <= set(old)), key=len, default=None)
        if lowest is not None:
            of_old[lowest].append((len(points), -len(node.leaves), node.leaves))
    for old, heirs in of_old.items():
        if heirs and 2 * max(heirs)[0] > len(old):
            wanted[max(heirs)[2]] = taken[old]
    return wanted


class RepairMachine(RuleBasedStateMachine):
    """Points are inserted beside any points, not only their nearest, and erased; between
    that, subtrees change places, so that no path is one that OHAC would have made."""

    metric: str
    linkage: str
    dtype: type
    path_from: int = 0  # how many subtrees hang off a path that PathHac merges

    dims: tuple[int, ...] = (1, 2, 16)

    @initialize(data=st.data(), seed=seeds(), whole=st.booleans())
    def start(self, data, seed, whole):
        dim = data.draw(st.sampled_from(self.dims), label="columns")
        self.rng = np.random.default_rng(seed)
        X = self.rng.normal(size=(120, dim))
        self.X = (np.round(2 * X) if whole else X).astype(self.dtype)
        self.tree = part("Tree", self.dtype)(dim)
        self.ohac = part("Ohac", self.dtype)(dim, self.metric, self.linkage, self.path_from)
        self.L = Linkage(self.X.astype(np.float64), self.metric, self.linkage)
        self.came = 0

    def look(self):
        """The tree as the oracles see it, and the name of each merge by its points."""
        if self.tree.root is None:
            return None, {}
        names, made, todo = {}, {}, [self.tree.root]
        while todo:  # children before parents
            v = todo[-1]
            if v % 2 == 0:
                made[todo.pop()] = leaf(self.tree.points.arrival(v // 2))
                continue
            children = [self.tree.left(v), self.tree.right(v)]
            if all(child in made for child in children):
                made[todo.pop()] = merge(*(made[child] for child in children))
                names[made[v].leaves] = self.tree.id(v)
            else:
                todo += children
        return made[self.tree.root], names

    def slot(self, number):
        return self.tree.points.find(number)

    def is_repaired(self, forest, taken, names, next_id, newcomer=None):
        """HAC of the forest, names as documented, and every number right."""
        tree, now = self.look()
        gaps: list[float] = []
        expected = hac(forest, self.L, gaps)
        digits = 1e-3 if self.dtype == np.float32 else 1e-9
        if min(gaps, default=1) > digits:
            assert clusters(tree) == clusters(expected)
        else:
            assert_greedy(forest, tree, self.L, digits)
        others = {points: name for points, name in names.items() if points not in taken}
        for points, name in inherited(taken, others, tree, newcomer).items():
            if name is None:
                assert now[points] >= next_id
            else:
                assert now[points] == name
        self.tree.refresh(self.metric, self.linkage)
        self.tree.check()

    # --- what happens ---------------------------------------------------------------

    @precondition(lambda self: self.came < len(self.X))
    @rule(shares=st.lists(SHARES, min_size=1, max_size=3), many=st.booleans())
    def insert(self, shares, many):
        for _ in range(min(8 if many else 1, len(self.X) - self.came)):
            before, names = self.look()
            next_id, x = self.tree.next_id, self.came
            living = list(before.leaves) if before else []
            ys = list(dict.fromkeys(living[int(s * (len(living) - 1))] for s in shares if living))
            self.tree.make_room(1)
            v = self.tree.add_leaf(self.X[x])
            self.came += 1
            assert self.ohac.insert(self.tree, v, [self.slot(y) for y in ys])
            if before is None:
                assert self.look()[0].leaves == (x,)
                continue
            forest = [*split(before, ys), leaf(x)]
            untouched = set().union(*(clusters(part_of_it) for part_of_it in forest))
            taken = {points: name for points, name in names.items() if points not in untouched}
            self.is_repaired(forest, taken, names, next_id, x)

    @precondition(lambda self: self.tree.attached)
    @rule(share=SHARES)
    def erase(self, share):
        before, names = self.look()
        next_id = self.tree.next_id
        gone = before.leaves[int(share * (len(before) - 1))]
        slot = self.slot(gone)
        self.tree.make_room_to_erase()
        self.ohac.erase(self.tree, 2 * slot)
        self.tree.erase_row(slot)
        path = path_to(before, gone)
        if len(path) <= 2:
            tree, _ = self.look()
            rest = without(before, gone)
            assert (tree.leaves if tree else None) == (rest.leaves if rest else None)
            return
        *above, parent, old = path
        forest, below = [parent.right if parent.left is old else parent.left], parent
        for node in reversed(above):
            forest.append(node.right if node.left is below else node.left)
            below = node
        taken = {node.leaves: names[node.leaves] for node in above}
        names = {points: name for points, name in names.items() if points != parent.leaves}
        self.is_repaired(forest, taken, names, next_id)

    @rule(one=SHARES, other=SHARES)
    def shake(self, one, other):
        """Two leaves change places."""
        living = list(self.look()[0].leaves) if self.tree.attached else []
        a, b = (living[int(s * (len(living) - 1))] if living else None for s in (one, other))
        if a != b:
            self.tree.swap(2 * self.slot(a), 2 * self.slot(b))
            self.tree.refresh(self.metric, self.linkage)

    @rule()
    def close_holes(self):
        self.tree.make_room_to_erase()
        self.tree.compact()


@pytest.mark.parametrize(
    ("metric", "linkage", "dtype"),
    [
        ("sqeuclidean", "average", np.float64),
        ("sqeuclidean", "average", np.float32),
        ("sqeuclidean", "ward", np.float64),
        ("sqeuclidean", "centroid", np.float64),
        ("dot", "average", np.float64),
    ],
)
def test_any_tree_is_repaired_as_defined(metric, linkage, dtype):
    fields = {"metric": metric, "linkage": linkage, "dtype": dtype}
    run_machine(type("Machine", (RepairMachine,), fields), runs=12, steps=25)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("metric", "linkage"),
    [("sqeuclidean", "average"), ("sqeuclidean", "centroid"), ("dot", "average")],
)
def test_any_tree_is_repaired_with_what_is_known_of_its_paths(metric, linkage, dtype):
    fields = {"metric": metric, "linkage": linkage, "dtype": dtype, "path_from": 2}
    fields["dims"] = (16, 20, 200)
    run_machine(type("Machine", (RepairMachine,), fields), runs=12, steps=25)


def grown(X, metric, linkage, path_from, disturb):
    """OHAC's tree of these rows, each beside its nearest; now and then a leaf goes, which the
    next one takes the place of, or two change places."""
    rows = X.astype(np.float64)
    tree = part("Tree", X.dtype.type)(X.shape[1])
    ohac = part("Ohac", X.dtype.type)(X.shape[1], metric, linkage, path_from)
    living: list[int] = []

    def insert(i):
        tree.make_room(1)
        v = tree.add_leaf(X[i])
        near = (
            rows[living] @ rows[i] if metric == "dot" else -((rows[living] - rows[i]) ** 2).sum(1)
        )
        ohac.insert(tree, v, [tree.points.find(living[int(np.argmax(near))])] if living else [])
        living.append(i)

    def erase(gone):
        slot = tree.points.find(gone)
        tree.make_room_to_erase()
        ohac.erase(tree, 2 * slot)
        tree.erase_row(slot)
        living.remove(gone)

    for i in range(len(X)):
        insert(i)
        if disturb and i > 20 and i % 3 == 0:
            erase(living[-3])
        if disturb and i > 20 and i % 5 == 0:
            tree.swap(*(2 * tree.points.find(living[at]) for at in (-2, i % len(living) // 2)))
            tree.refresh(metric, linkage)
    return [(v if v % 2 == 0 else None, *rest) for v, *rest in shape(tree)]


@pytest.mark.parametrize("disturb", [False, True])
@pytest.mark.parametrize(
    ("metric", "linkage"),
    [("sqeuclidean", "average"), ("sqeuclidean", "centroid"), ("dot", "average")],
)
def test_all_ways_to_merge_a_path_make_the_same_tree(metric, linkage, disturb):
    """To the last id, in a stream that makes paths long; what one insert learns about pairs
    is what the next one goes by."""
    n, never = scaled(240), 10**6
    for seed, dtype in enumerate([np.float32, np.float64, np.float32]):
        X = np.random.default_rng(seed).normal(size=(n, 24))
        X = (np.abs(X) if metric == "dot" else X + 1e3 * (seed == 2)).astype(dtype)
        expected = grown(X, metric, linkage, never, disturb)
        for path_from in (2, 20):
            assert grown(X, metric, linkage, path_from, disturb) == expected


def chain(n):
    """A tree that is one long path, and its leaves."""
    tree = parts.TreeF64(2)
    rng = np.random.default_rng(0)
    leaves = [tree.add_leaf(row) for row in rng.normal(size=(n, 2))]
    tree.set_root(leaves[0])
    for v in leaves[1:]:
        tree.mark_stale(tree.attach(v, tree.root))
    tree.refresh("sqeuclidean", "average")
    return tree, leaves


def shape(tree):
    """Every link and name, from the root down."""
    found, todo = [], [tree.root]
    while todo:
        v = todo.pop()
        found.append((v, tree.id(v) if v % 2 else None, tree.count(v)))
        if v % 2:
            todo += sorted((tree.left(v), tree.right(v)), key=tree.first_leaf)
    return found


def test_a_repair_that_is_told_to_stop_leaves_the_tree_as_it_was():
    """Of long paths: short ones are over before anybody could want to stop."""
    tree, leaves = chain(300)
    ohac = parts.OhacF64(2, "sqeuclidean", "average")
    before = shape(tree)
    tree.make_room(1)
    x = tree.add_leaf(np.array([0.5, 0.5]))
    assert not ohac.insert(tree, x, [0], stop=True)
    assert shape(tree) == before
    assert ohac.insert(tree, x, [0, 100, 299])
    tree.make_room_to_erase()
    ohac.erase(tree, leaves[1])
    tree.erase_row(1)
    tree.refresh("sqeuclidean", "average")
    tree.check()
    assert tree.attached == 300
