"""How long clusters last over all least sizes, in plain slow Python: size by size."""

from __future__ import annotations

from tests.oracles import cuts


def clusters_at(tree, size: int) -> set[frozenset[int]]:
    """Nodes, as sets of leaves, that are clusters with this least size."""
    return {frozenset(one) for one in cuts.at_least(cuts.root(tree), size, "noise")}


def persistence(tree, least: int) -> list[tuple[int, int, float]]:
    """(least size, number of clusters, sum of the lifetimes of these) for each size to n."""
    at = {size: clusters_at(tree, size) for size in range(least, tree.n_leaves + 1)}
    lifetimes: dict[frozenset[int], int] = {}
    for clusters in at.values():
        for one in clusters:
            lifetimes[one] = lifetimes.get(one, 0) + 1
    return [
        (size, len(clusters), float(sum(lifetimes[one] for one in clusters)))
        for size, clusters in at.items()
    ]
