"""HAC on a weighted graph, in exact fractions: all pairs of clusters, again and again.

    average   mean weight over the pairs of points between two clusters, a missing edge being 0
    single    the largest weight between them

The heaviest pair merges next. Ties under average: the smaller union, then the smaller of the
two clusters' least ranks, then the larger. Under single: the edge whose smaller end ranks
lower, then whose larger end does. Clusters without an edge between them are at 0: there the
smaller union comes first, then the ranks, under both. A point's rank is its number if nothing
else is said, so the tree follows from the graph and the ranks alone.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

Graph = Mapping[tuple[int, int], int]


class Merge(NamedTuple):
    left: frozenset[int]
    right: frozenset[int]
    weight: Fraction


def _key(
    a: frozenset[int], b: frozenset[int], graph: Graph, linkage: str, rank: Sequence[int]
) -> tuple[Fraction, int, int, int]:
    between = {
        pair: weight
        for pair, weight in graph.items()
        if weight and ((pair[0] in a and pair[1] in b) or (pair[0] in b and pair[1] in a))
    }
    low, high = sorted(min(rank[i] for i in one) for one in (a, b))
    if linkage == "single" and between:
        edges = [(-Fraction(w), 0, *sorted((rank[i], rank[j]))) for (i, j), w in between.items()]
        return min(edges)
    return -Fraction(sum(between.values()), len(a) * len(b)), len(a) + len(b), low, high


def graph_hac(
    points: Sequence[int],
    graph: Graph,
    linkage: str = "average",
    rank: Sequence[int] | None = None,
    begun: Sequence[frozenset[int]] | None = None,
) -> list[Merge]:
    """The merges of these points, heaviest first; or of clusters that have begun."""
    rank = list(range(max(points, default=-1) + 1)) if rank is None else rank
    active = [frozenset([i]) for i in points] if begun is None else list(begun)
    merges = []
    while len(active) > 1:
        keys = {pair: _key(*pair, graph, linkage, rank) for pair in combinations(active, 2)}
        a, b = best = min(keys, key=keys.__getitem__)
        merges.append(Merge(a, b, -keys[best][0]))
        active = [one for one in active if one not in best] + [a | b]
    return merges
