"""Graphs that change, in the core: after every update the tree is that of HAC, to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify import _core
from ramify.hierarchy._order import canonical
from tests.strategies import examples, scaled

MOST = 2**30


class Twin:
    """A live graph, and the same as a plain dict of weights."""

    def __init__(self, most=MOST):
        self.live = _core.LiveGraph(most)
        self.most = most
        self.key, self.vertex, self.weights = {}, {}, {}
        self.next = 0

    def update(self, gone=(), came=(), edges=()):
        """Points go by number, come with keys, and edges between numbers get weights."""
        numbers = list(range(self.next, self.next + len(came)))
        self.next += len(came)
        gone_vertices = [self.vertex.pop(p) for p in gone]
        new = self.live.announce(np.array(came, np.uint64), np.array(numbers, np.uint64))
        self.key |= dict(zip(numbers, came, strict=True))
        self.vertex |= dict(zip(numbers, new.tolist(), strict=True))
        self.weights = {e: w for e, w in self.weights.items() if not set(e) & set(gone)}
        columns = np.array([(a, b, w) for (a, b), w in edges], np.uint64).reshape(-1, 3)
        a, b = (
            np.array([self.vertex[p] for p in columns[:, c].tolist()], np.uint32) for c in (0, 1)
        )
        weight = np.ascontiguousarray(columns[:, 2])
        self.live.update(np.array(gone_vertices, np.uint32), new, a, b, weight)
        self.weights |= {(min(e), max(e)): w for e, w in edges}
        self.weights = {e: w for e, w in self.weights.items() if w}

    def offline(self):
        points = sorted(self.vertex)
        place = {p: i for i, p in enumerate(points)}
        edges = np.array([(place[a], place[b], w) for (a, b), w in self.weights.items()], np.uint64)
        a, b, w = (np.ascontiguousarray(column) for column in edges.reshape(-1, 3).T)
        keys = np.array([self.key[p] for p in points], np.uint64)
        ranks = np.empty(len(points), np.uint32)
        ranks[np.argsort(keys, kind="stable")] = np.arange(len(points), dtype=np.uint32)
        a, b = a.astype(np.uint32), b.astype(np.uint32)
        return _core.graph_hac(len(points), a, b, w, "average", ranks)

    def agree(self):
        """The live tree is the offline one: same merges, same means, to the bit."""
        points, *live = self.live.snapshot()
        assert points.tolist() == [self.vertex[p] for p in sorted(self.vertex)]
        assert len(self.live) == len(points)
        if len(points) < 2:
            return
        mine, theirs = ((c, 1 - m) for c, m in (live, self.offline()))
        for one, other in zip(canonical(*mine), canonical(*theirs), strict=True):
            assert np.array_equal(one, other)


def some_weight(rng, heaviest):
    """Half of them close together: merges of one band hang on edges of another."""
    least = 3 * heaviest // 4 if rng.random() < 0.5 else 0
    return int(rng.integers(least, heaviest, endpoint=True))


def operation(twin, rng, heaviest):
    """Something that may happen to a graph of points near each other on a line."""
    points = sorted(twin.vertex)
    gone, came, edges = [], [], {}
    kind = rng.random()
    if points and kind < 0.25:
        gone = [
            int(p) for p in rng.choice(points, min(len(points), 1 + int(rng.random() < 0.2)), False)
        ]
    if kind > 0.5 or len(points) < 3:
        came = rng.integers(0, 50, 1 + int(rng.random() < 0.2) * 3).tolist()
    new = list(range(twin.next, twin.next + len(came)))
    there = [p for p in points if p not in gone] + new
    ends = new if new else [int(p) for p in rng.choice(there[-8:], min(len(there), 2), False)]
    near = there[-8:] if rng.random() < 0.8 else there  # so that there are triangles
    for a in ends:
        for b in rng.choice(near, min(len(near), int(rng.integers(0, 6))), False).tolist():
            if a != b and (b, a) not in edges:
                edges[a, b] = some_weight(rng, heaviest)
    if twin.weights and kind < 0.6:
        known = [
            e
            for e in twin.weights
            if not set(e) & set(gone) and e not in edges and e[::-1] not in edges
        ]
        for i in rng.choice(len(known), min(len(known), 2), False).tolist():
            edges[known[i]] = some_weight(rng, heaviest)
    twin.update(gone, came, list(edges.items()))


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    steps=st.integers(1, 40),
    heaviest=st.sampled_from([1, 2, 15, MOST]),
)
def test_the_live_tree_is_the_offline_one_after_every_update(seed, steps, heaviest):
    rng = np.random.default_rng(seed)
    twin = Twin(heaviest)
    for _ in range(steps):
        operation(twin, rng, heaviest)
        twin.live.check()
        twin.agree()


@pytest.mark.parametrize("heaviest", [2, MOST])
def test_two_thousand_operations_and_the_tree_is_still_the_offline_one(heaviest):
    rng = np.random.default_rng(heaviest)
    twin = Twin(heaviest)
    for i in range(scaled(1000)):
        operation(twin, rng, heaviest)
        if i % 20 == 0:
            twin.agree()
        if i % 100 == 0:
            twin.live.check()
    twin.live.check()
    twin.agree()


def neighbour_graph(n, k, seed):
    """Points of a few groups, each with its k nearest, by how many of these are shared."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 4)) + 3 * rng.integers(0, 3, (n, 1))
    apart = ((rows[:, np.newaxis] - rows) ** 2).sum(axis=2)
    lists = [set(row) for row in np.argsort(apart, axis=1)[:, 1 : k + 1].tolist()]
    pairs = {(min(i, j), max(i, j)) for i in range(n) for j in lists[i]}
    return {(i, j): len(lists[i] & lists[j]) for i, j in sorted(pairs)}


def test_one_by_one_and_at_once_are_one_tree_and_back_again():
    n, k = scaled(300), 8
    graph = neighbour_graph(n, k, 0)
    one_by_one, at_once = Twin(k), Twin(k)
    for i in range(n):
        one_by_one.update((), [i], [(e, w) for e, w in graph.items() if e[1] == i])
    at_once.update((), range(n), list(graph.items()))
    for twin in (one_by_one, at_once):
        twin.live.check()
        twin.agree()
    rng = np.random.default_rng(1)
    for gone in rng.permutation(n)[: n // 2].tolist():
        one_by_one.update([gone])
    one_by_one.agree()
    half = sorted(one_by_one.vertex)
    at_once.update([p for p in range(n) if p not in one_by_one.vertex])
    at_once.agree()
    one_by_one.update(half)
    assert len(one_by_one.live) == 0
    assert one_by_one.live.entries == 0
    one_by_one.live.check()


def test_a_change_far_away_leaves_a_cluster_alone():
    """Locality: of many groups, an update opens the one that it is about."""
    groups, size = scaled(100), 8
    twin = Twin(15)
    pairs = [(i, j) for j in range(size) for i in range(j)]
    for g in range(groups):
        edges = [((g * size + i, g * size + j), 1 + (i * j + g) % 15) for i, j in pairs]
        twin.update((), range(g * size, (g + 1) * size), edges)
    before = twin.live.merged_anew
    twin.update((), (), [((0, 1), 7)])
    assert 0 < twin.live.merged_anew - before < 30 * size
    twin.agree()


def test_a_cluster_keeps_its_lists_while_its_points_come_and_go():
    """Below its floor it is another one, and grows again; all lists say what is between."""
    rng = np.random.default_rng(3)
    groups, size = 4, 24
    twin = Twin(15)
    group = {}

    def come(g):
        others = [p for p, other in group.items() if other == g]
        near = rng.choice(others, min(len(others), 6), False).tolist()
        far = rng.choice(sorted(group), min(len(group), 3), False).tolist()
        edges = {(twin.next, p): int(rng.integers(9, 16)) for p in near}
        edges |= {
            (twin.next, p): int(rng.integers(1, 4)) for p in far if (twin.next, p) not in edges
        }
        group[twin.next] = g
        twin.update((), [int(rng.integers(50))], list(edges.items()))

    for i in range(groups * size):
        come(i % groups)
    for i in range(scaled(400)):
        g = (i // 40) % groups  # forty steps on each group, the first twenty of which shrink it
        members = [p for p, other in group.items() if other == g]
        if i % 40 < 20 and len(members) > 2:
            gone = int(rng.choice(members))
            del group[gone]
            twin.update([gone])
        else:
            come(g)
        twin.live.check()
        twin.agree()


def test_what_is_no_point_is_refused_and_changes_nothing():
    twin = Twin()
    twin.update((), [1, 2, 3], [((0, 1), 5), ((1, 2), 5)])
    none = np.array([], np.uint32)
    big, one = np.array([77], np.uint32), np.array([1], np.uint64)
    zero = np.array([0], np.uint32)
    with pytest.raises(ValueError, match="no such point"):
        twin.live.update(big, none, none, none, one[:0])
    with pytest.raises(ValueError, match="no such point"):
        twin.live.update(none, none, zero, big, one)
    with pytest.raises(ValueError, match="not announced"):
        twin.live.update(none, zero, none, none, one[:0])
    twin.live.announce(one, one)  # and then it does not come
    with pytest.raises(ValueError, match="one end"):
        twin.live.update(none, none, zero, zero, one)
    with pytest.raises(ValueError, match="an end that goes"):
        twin.live.update(zero, none, zero, big * 0 + 1, one)
    with pytest.raises(ValueError, match="fit each other"):
        twin.live.update(none, none, zero, none, one)
    with pytest.raises(ValueError, match="from 1 to"):
        _core.LiveGraph(0)
    twin.live.check()
    twin.agree()


@pytest.mark.parametrize("after", [0, 60, 84])
def test_an_edge_too_light_for_its_band_still_counts_in_the_mean_of_its_component(after):
    """95 and 95 are merged at 85 or more, and so is the rest, if the third edge is 80."""
    twin = Twin(100)
    twin.update((), [0, 1, 2], [((0, 1), 95), ((1, 2), 95), ((0, 2), 80)])
    assert twin.live.snapshot()[2].tolist() == [95, 87.5]
    twin.update((), (), [((0, 2), after)])
    assert twin.live.snapshot()[2].tolist() == [95, (95 + after) / 2]
    twin.live.check()
    twin.agree()
