"""HAC of weighted graphs in the core: the oracle's merges, whatever order edges come in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify import _core
from tests.oracles.graph_hac import graph_hac
from tests.strategies import examples

LINKAGES = ("average", "single")


@st.composite
def graphs(draw, most=14):
    """Points, edges with few different weights, so that ties abound, and ranks."""
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share, heaviest = (
        draw(st.sampled_from([0.1, 0.3, 0.7, 1])),
        draw(st.sampled_from([1, 3, 10**9])),
    )
    pairs = [(i, j) for j in range(n) for i in range(j) if rng.random() < share]
    weights = rng.integers(1, heaviest, endpoint=True, size=len(pairs)).tolist()
    ranks = rng.permutation(n) if draw(st.booleans()) else np.arange(n)
    return n, dict(zip(pairs, weights, strict=True)), ranks


def core_tree(n, graph, ranks, linkage, seed=None):
    """Clusters and weights of the core's tree, edges in some order and direction."""
    rng = np.random.default_rng(seed)
    rows = np.array([(*pair, w) for pair, w in graph.items()], np.uint64).reshape(-1, 3)
    if seed is not None:
        rows = rng.permutation(rows)
        turned = rng.random(len(rows)) < 0.5
        rows[turned, :2] = rows[turned, 1::-1]
    a, b = (np.ascontiguousarray(rows[:, c], np.uint32) for c in (0, 1))
    weight = np.ascontiguousarray(rows[:, 2], np.uint64)
    return _core.graph_hac(n, a, b, weight, linkage, ranks.astype(np.uint32))


def merges_of(children, weights):
    """As the oracle says them: both clusters of each merge, and what is between."""
    n = len(children) + 1
    clusters = [frozenset([i]) for i in range(n)]
    for a, b in children.tolist():
        clusters.append(clusters[a] | clusters[b])
    return {
        (frozenset([clusters[a], clusters[b]]), weight)
        for (a, b), weight in zip(children.tolist(), weights.tolist(), strict=True)
    }


@pytest.mark.parametrize("linkage", LINKAGES)
@settings(max_examples=examples(100), deadline=None)
@given(drawn=graphs(), seed=st.integers(0, 2**32 - 1))
def test_the_merges_are_the_oracles(linkage, drawn, seed):
    n, graph, ranks = drawn
    expected = graph_hac(range(n), graph, linkage, ranks.tolist())
    found = merges_of(*core_tree(n, graph, ranks, linkage, seed))
    assert found == {(frozenset([m.left, m.right]), float(m.weight)) for m in expected}


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_tree_does_not_depend_on_the_order_of_edges(linkage):
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 200, size=(1500, 2))
    graph = {tuple(sorted(pair)): int(rng.integers(1, 5)) for pair in ends.tolist()}
    graph = {pair: weight for pair, weight in graph.items() if pair[0] != pair[1]}
    ranks = np.arange(200)
    first = core_tree(200, graph, ranks, linkage)
    for seed in range(5):
        again = core_tree(200, graph, ranks, linkage, seed)
        assert all(np.array_equal(x, y) for x, y in zip(first, again, strict=True))


@pytest.mark.parametrize("linkage", LINKAGES)
def test_ranks_and_not_numbers_break_ties(linkage):
    """Other numbers for the points, with their ranks: the same tree."""
    rng = np.random.default_rng(5)
    n = 60
    graph = {
        (i, j): int(rng.integers(1, 3)) for j in range(n) for i in range(j) if rng.random() < 0.1
    }
    number = rng.permutation(n)
    renamed = {(int(number[i]), int(number[j])): w for (i, j), w in graph.items()}
    ranks = np.empty(n, int)
    ranks[number] = np.arange(n)
    first = merges_of(*core_tree(n, graph, np.arange(n), linkage))
    second = merges_of(*core_tree(n, renamed, ranks, linkage))
    back = {int(new): old for old, new in enumerate(number)}
    assert first == {
        (frozenset(frozenset(back[i] for i in side) for side in sides), weight)
        for sides, weight in second
    }


def test_sums_beyond_53_bits_are_compared_exactly():
    """Two means that are one double: the pair with one unit more is merged first."""
    huge = 2**60
    weights = {(0, 1): 2**61, (2, 3): 2**59, (0, 3): huge // 2**20, (1, 2): 1}
    for heavier, lighter in ((4, 5), (5, 4)):
        graph = {(0, heavier): huge // 8 + 1, (0, lighter): huge // 8, **weights}
        children, _ = core_tree(6, graph, np.arange(6), "average")
        assert children.tolist() == core_tree(6, graph, np.arange(6), "average", 1)[0].tolist()
        merged = merges_of(*core_tree(6, graph, np.arange(6), "average"))
        assert any(frozenset([0, 1]) in pair and frozenset([heavier]) in pair for pair, _ in merged)


def test_weights_that_no_sum_can_hold_are_refused():
    with pytest.raises(OverflowError, match="add up to too much"):
        core_tree(3, {(0, 1): 2**61, (1, 2): 2**61}, np.arange(3), "average")


def test_what_is_between_large_clusters_is_multiplied_in_128_bits():
    """Weights near 2^60 times sizes: 64 bits would wrap around."""
    n = 40
    graph = {(i, j): 2**50 + (i * j) % 7 for j in range(n) for i in range(j)}
    expected = graph_hac(range(n), graph)
    found = merges_of(*core_tree(n, graph, np.arange(n), "average"))
    assert {pair for pair, _ in found} == {frozenset([m.left, m.right]) for m in expected}


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_long_chain_of_points_is_one_tree(linkage):
    """Ever lighter edges: single linkage is as deep as there are points, and nothing recurses."""
    n = 20_000
    graph = {(i, i + 1): n - i for i in range(n - 1)}
    children, weights = core_tree(n, graph, np.arange(n), linkage)
    assert len(children) == n - 1
    assert sorted(children.ravel().tolist()) == list(range(2 * n - 2))
    if linkage == "single":
        assert weights.tolist() == list(range(n, 1, -1))


def test_lists_of_nearest_points_share_what_they_share():
    rng = np.random.default_rng(2)
    n, k = 40, 6
    lists = np.array([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)], np.uint32)
    common, united = _core.shared_neighbours(lists)
    sets = [set(row) for row in lists.tolist()]
    expected = [
        (len(sets[i] & sets[j]), len(sets[i] | sets[j])) for i in range(n) for j in lists[i]
    ]
    assert list(zip(common.tolist(), united.tolist(), strict=True)) == expected
