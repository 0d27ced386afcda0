# SPDX-License-Identifier: BSD-3-Clause
"""The core's tree alone: rearranged in any order, read and cut in between."""

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.core_parts import part, parts, run_machine
from tests.oracles.changing_tree import ChangingTree
from tests.oracles.linkages import Linkage
from tests.oracles.row_store import Rows
from tests.strategies import seeds

SHARES = st.floats(0, 1)
LONG = 70  # columns of a mean that two leaves do not keep


def pick(share, some):
    return some[int(share * (len(some) - 1))]


class TreeMachine(RuleBasedStateMachine):
    """Leaves are hung anywhere and taken out, subtrees are swapped and moved; what readers
    ask for in between is as if it had all been counted anew."""

    dtype: type
    metric: str
    linkage: str

    @initialize(dim=st.sampled_from([1, 2, 17, LONG]), seed=seeds(), whole=st.booleans())
    def start(self, dim, seed, whole):
        self.dim, self.whole, self.rng = dim, whole, np.random.default_rng(seed)
        self.tree, self.model = part("Tree", self.dtype)(dim), ChangingTree()
        self.rows = Rows()

    def make_row(self):
        row = self.rng.normal(size=self.dim) + 3
        return (np.round(row) if self.whole else row).astype(self.dtype)

    def ids(self):
        """The core's id of every node of the model; their shapes and names must be the same."""
        if self.model.root is None:
            assert self.tree.root is None
            return {}
        assert self.tree.parent(self.tree.root) is None
        found, todo = {}, [(self.model.root, self.tree.root)]
        while todo:
            node, v = todo.pop()
            found[node] = v
            if node.number is not None:
                assert v == 2 * self.rows.find(node.number)
                continue
            assert v % 2 == 1
            assert self.tree.id(v) == node.name
            children = [self.tree.left(v), self.tree.right(v)]
            for child, w in zip(node.children, children, strict=True):
                assert self.tree.parent(w) == v
                assert self.tree.sibling(w) == next(u for u in children if u != w)
                todo.append((child, w))
        return found

    # --- what happens ---------------------------------------------------------------

    @rule(shares=st.lists(SHARES, min_size=1, max_size=6))
    def attach(self, shares):
        for share in shares:
            at = pick(share, self.model.nodes()) if self.model.root else None
            ids = self.ids()
            number, row = self.rows.next, self.make_row()
            leaf = self.tree.add_leaf(row)
            if at is None:
                self.tree.set_root(leaf)
            else:
                self.tree.mark_stale(self.tree.attach(leaf, ids[at]))
            self.rows.append(row)
            self.model.attach(number, at)

    @precondition(lambda self: self.model.root)
    @rule(share=SHARES)
    def detach(self, share):
        leaf = pick(share, [v for v in self.model.nodes() if v.number is not None])
        slot = self.rows.find(leaf.number)
        self.tree.make_room_to_erase()
        beside = self.tree.detach(2 * slot)
        self.tree.mark_stale(None if beside is None else self.tree.parent(beside))
        self.tree.erase_row(slot)
        self.model.detach(leaf)
        self.rows.erase(slot)

    @rule()
    def close_holes(self):
        self.tree.make_room_to_erase()
        holes = len(self.rows.living()) < len(self.rows.slots)
        assert self.tree.compact() == (self.rows.new_slots() if holes else [])
        self.rows.compact()

    @rule(one=SHARES, other=SHARES)
    def swap(self, one, other):
        nodes = [v for v in self.model.nodes() if v.parent]
        if not nodes:
            return
        a = pick(one, nodes)
        apart = [v for v in nodes if v not in a.below() and a not in v.below()]
        if not apart:
            return
        b, ids = pick(other, apart), self.ids()
        self.tree.swap(ids[a], ids[b])
        self.model.swap(a, b)

    @rule(one=SHARES, other=SHARES)
    def move(self, one, other):
        nodes = [v for v in self.model.nodes() if v.parent]
        if not nodes:
            return
        v = pick(one, nodes)
        not_there = {*v.below(), v.parent, v.sibling()}
        places = [w for w in self.model.nodes() if w not in not_there]
        if not places:
            return
        beside, ids = pick(other, places), self.ids()
        assert self.tree.move(ids[v], ids[beside]) == ids[v.parent]
        self.model.move(v, beside)

    @rule(count=st.integers(1, 5))
    def rows_come_and_are_forgotten(self, count):
        before = len(self.rows.slots)
        for _ in range(count):
            self.tree.add_leaf(self.make_row())
        self.tree.truncate(before)

    @rule(count=st.integers(1, 20))
    def make_room(self, count):
        self.tree.make_room(count)

    @rule()
    def somebody_remakes_it_in_vain(self):
        self.tree.remake_in_vain()

    # --- questions ------------------------------------------------------------------

    @rule()
    def read(self):
        """Every number counted again."""
        self.tree.refresh(self.metric, self.linkage)
        assert not self.tree.is_stale
        self.tree.check()
        ids, highest = self.ids(), {}
        if not ids:
            return
        values = np.array([one[1] if one else np.zeros(self.dim) for one in self.rows.slots])
        L = Linkage(values.astype(np.float64), self.metric, self.linkage)
        digits = 1e-4 if self.dtype == np.float32 else 1e-10
        for node in reversed(self.model.nodes()):  # children first
            v, slots = ids[node], [self.rows.find(number) for number in node.points()]
            assert self.tree.count(v) == len(slots)
            assert self.tree.first_leaf(v) == slots[0]
            below = values[slots].astype(np.float64)
            np.testing.assert_allclose(self.tree.mean(v), below.mean(0), rtol=digits)
            spread = ((below - below.mean(0)) ** 2).sum()
            np.testing.assert_allclose(self.tree.ssd(v), spread, rtol=digits, atol=digits)
            if node.number is not None:
                continue
            assert self.tree.keeps_mean(v) == (self.dim < LONG or len(slots) > 2)
            own, monotone = self.tree.heights(v)
            parts_of_it = [[self.rows.find(i) for i in c.points()] for c in node.children]
            fresh = L.of_leaves(*map(tuple, parts_of_it))
            np.testing.assert_allclose(own, fresh, rtol=digits, atol=np.sqrt(digits) / 10)
            highest[node] = max([own, *(highest.get(c, -np.inf) for c in node.children)])
            assert monotone == highest[node]

    @precondition(lambda self: self.model.root)
    @rule()
    def store_and_read(self):
        """What is refreshed piece by piece is, to the bit, what is refreshed at once."""
        self.close_holes()
        self.tree.refresh(self.metric, self.linkage)
        again = self.tree.stored_and_read()
        again.refresh(self.metric, self.linkage)
        again.check()
        assert again.next_id == self.tree.next_id
        todo = [(self.tree.root, again.root)]
        while todo:
            v, w = todo.pop()
            assert self.tree.mean(v).tolist() == again.mean(w).tolist()
            assert self.tree.ssd(v) == again.ssd(w)
            if v % 2 == 0:
                assert v == w
                continue
            assert self.tree.heights(v) == again.heights(w)
            assert self.tree.id(v) == again.id(w)
            todo += [(self.tree.left(v), again.left(w)), (self.tree.right(v), again.right(w))]

    @precondition(lambda self: self.model.root)
    @rule(by=st.sampled_from(["n_clusters", "height", "max_size"]), share=SHARES)
    def cut(self, by, share):
        self.tree.refresh(self.metric, self.linkage)
        ids, nodes = self.ids(), self.model.nodes()
        inner = [v for v in nodes if v.children]
        height = {v: self.tree.heights(ids[v])[1] for v in inner}
        n = len(nodes) - len(inner)
        if by == "n_clusters":
            value = 1 + round(share * (n - 1))
            key = {v: (height[v], len(v.points()), v.points()[0]) for v in inner}
            split = set(sorted(inner, key=key.__getitem__)[n - value :])
        elif by == "max_size":
            value = 1 + round(share * n)
            split = {v for v in inner if len(v.points()) > value}
        else:
            value = pick(share, [-np.inf, *sorted(height.values()), np.inf])
            split = {v for v in inner if height[v] >= value}
        clusters = [v for v in nodes if v not in split and (v.parent is None or v.parent in split)]
        clusters.sort(key=lambda v: v.points()[0])
        frontier = part("Frontier", self.dtype)(self.tree, by, value)
        assert frontier.clusters() == [ids[v] for v in clusters]
        labels = [-1] * len(self.rows.slots)
        for label, cluster in enumerate(clusters):
            assert frontier.label_of(ids[cluster]) == label
            for number in cluster.points():
                labels[self.rows.find(number)] = label
            assert all(frontier.cluster_of(ids[v]) == ids[cluster] for v in cluster.below())
        assert frontier.label_all(len(labels)) == labels

    @invariant()
    def is_the_same_tree(self):
        if not hasattr(self, "tree"):
            return
        self.ids()
        assert self.tree.attached == len(self.rows.living())
        assert self.tree.next_id == self.model.next_id


@pytest.mark.parametrize(
    ("dtype", "metric", "linkage"),
    [
        (np.float64, "sqeuclidean", "average"),
        (np.float64, "sqeuclidean", "centroid"),
        (np.float32, "sqeuclidean", "ward"),
        (np.float64, "dot", "average"),
    ],
)
def test_a_tree_may_be_rearranged_in_any_order(dtype, metric, linkage):
    fields = {"dtype": dtype, "metric": metric, "linkage": linkage}
    run_machine(type("Machine", (TreeMachine,), fields), runs=25, steps=40)


def test_a_remake_in_vain_gives_free_slots_back_too():
    """They were forgotten, and the nodes that came back were linked to nowhere."""
    tree = parts.TreeF64(1)
    leaves = [tree.add_leaf(np.array([float(i)])) for i in range(4)]
    tree.set_root(leaves[0])
    for leaf in leaves[1:]:
        tree.mark_stale(tree.attach(leaf, tree.root))
    tree.make_room_to_erase()
    tree.mark_stale(tree.parent(tree.detach(leaves[1])))
    tree.erase_row(1)
    tree.remake_in_vain()
    assert tree.attached == 3
    tree.refresh("sqeuclidean", "average")
    tree.check()
    assert tree.slots == 3
    tree.mark_stale(tree.attach(tree.add_leaf(np.array([9.0])), tree.root))
    assert tree.slots == 3, "the free slot is used again"


def test_means_of_two_leaves_take_no_memory():
    """And those that have become free are used again."""
    tree = parts.TreeF32(LONG)
    rows = np.random.default_rng(1).normal(size=(64, LONG)).astype(np.float32)
    leaves = [tree.add_leaf(row) for row in rows]
    tree.set_root(leaves[0])
    for level in (1, 2, 4, 8, 16, 32):  # each leaf becomes two: all lowest nodes are pairs
        for i in range(level):
            tree.mark_stale(tree.attach(leaves[level + i], leaves[i]))
    tree.refresh("sqeuclidean", "average")
    tree.check()
    assert (tree.slots, tree.kept_means) == (63, 31)
    for _ in range(3):
        for i in range(32, 64):  # the pairs go, and other nodes have two leaves then
            tree.make_room_to_erase()
            tree.mark_stale(tree.parent(tree.detach(leaves[i])))
            tree.erase_row(leaves[i] // 2)
        tree.refresh("sqeuclidean", "average")
        tree.check()
        tree.make_room_to_erase()
        assert tree.compact()
        for i in range(32):
            leaves[32 + i] = tree.add_leaf(rows[32 + i])
            tree.mark_stale(tree.attach(leaves[32 + i], leaves[i]))
        tree.refresh("sqeuclidean", "average")
        tree.check()
        assert tree.kept_means == 31
