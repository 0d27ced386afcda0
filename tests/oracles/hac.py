"""HAC on a forest: merge the closest two trees until one is left.

Ties: smallest linkage, then smallest union, then smallest (earlier first leaf,
later first leaf).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from tests.oracles.linkages import Linkage
from tests.oracles.trees import Tree, clusters, inner_nodes, leaf, merge

Key = tuple[float, int, int, int]


def merge_key(a: Tree, b: Tree, linkage: Linkage) -> Key:
    low, high = sorted((a.first, b.first))
    return linkage(a, b), len(a) + len(b), low, high


def hac(forest: Sequence[Tree], linkage: Linkage, gaps: list[float] | None = None) -> Tree:
    """One tree out of many. `gaps` collects how clearly each merge was the closest."""
    active = list(forest)
    keys = {pair: merge_key(*pair, linkage) for pair in combinations(active, 2)}
    while len(active) > 1:
        a, b = best = min(keys, key=keys.__getitem__)
        if gaps is not None and len(keys) > 1:
            second = min(key[0] for pair, key in keys.items() if pair != best)
            gaps.append(linkage.gap(keys[best][0], second))
        both = merge(a, b)
        active = [tree for tree in active if tree is not a and tree is not b]
        keys = {pair: key for pair, key in keys.items() if not {a, b} & set(pair)}
        keys |= {(tree, both): merge_key(tree, both, linkage) for tree in active}
        active.append(both)
    return active[0]


def offline_hac(n: int, linkage: Linkage, gaps: list[float] | None = None) -> Tree:
    return hac([leaf(i) for i in range(n)], linkage, gaps)


def assert_greedy(
    forest: Sequence[Tree],
    tree: Tree,
    linkage: Linkage,
    tolerance: float,
    is_exact: Callable[[Tree, Tree], bool] = lambda a, b: False,
) -> None:
    """`tree` is a HAC of `forest` up to rounding: replay it and judge every merge.

    Of the merges the tree could make next, take the first in the documented
    order: it must be as close as any pair of active trees, within `tolerance`.
    `is_exact` says which linkages carry no rounding at all; where every pair in
    reach of the minimum is such, the documented order must be followed exactly.
    """
    kept = set().union(*(clusters(part) for part in forest))
    assert kept <= clusters(tree), "a subtree of the forest was broken up"
    active = {part.leaves: part for part in forest}
    todo = [node for node in inner_nodes(tree) if node.leaves not in kept]
    keys = {pair: merge_key(*pair, linkage) for pair in combinations(active.values(), 2)}
    while todo:
        least = min(key[0] for key in keys.values())
        reach = {
            pair: key for pair, key in keys.items() if -linkage.gap(key[0], least) <= tolerance
        }
        possible = {}
        for node in todo:
            children = (node.left.leaves, node.right.leaves)
            if all(child in active for child in children):
                a, b = active[children[0]], active[children[1]]
                pair = (a, b) if (a, b) in keys else (b, a)
                possible[pair] = (keys[pair], node)
        pair = min(possible, key=lambda p: possible[p][0])
        assert pair in reach, f"merged {pair} at {keys[pair]}, but {least} was to be had"
        if all(is_exact(*p) for p in reach):
            assert pair == min(reach, key=reach.__getitem__), f"{pair} jumped the queue"
        a, b = pair
        both = possible[pair][1]
        todo.remove(both)
        del active[a.leaves], active[b.leaves]
        keys = {p: key for p, key in keys.items() if not {a, b} & set(p)}
        keys |= {(other, both): merge_key(other, both, linkage) for other in active.values()}
        active[both.leaves] = both
    assert list(active) == [tree.leaves], "the tree does not hold the whole forest"
