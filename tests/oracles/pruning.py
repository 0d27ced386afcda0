"""Cost-complexity pruning in plain slow Python, from its definition.

A tree is its array of children; a frontier is the set of the merges that it has undone,
which with every merge has its parent. ``gains`` are exact numbers.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np


def parents_of(children) -> list[int | None]:
    """The row above each row."""
    n = len(children) + 1
    above: list[int | None] = [None] * len(children)
    for row, pair in enumerate(children):
        for child in pair:
            if child >= n:
                above[int(child) - n] = row
    return above


def rows_below(children, row: int) -> list[int]:
    """The row and all rows below it."""
    n = len(children) + 1
    found = [row]
    for one in found:
        found += [int(child) - n for child in children[one] if child >= n]
    return found


def weakest_links(children, gains) -> list[frozenset[int]]:
    """Frontiers from the leaves to the root, as Breiman, Friedman, Olshen and Stone have it.

    Again and again, the branches whose merges gain the least on average are closed.
    """
    undone = set(range(len(children)))
    frontiers = [frozenset(undone)]
    while undone:
        means = {}
        for row in undone:
            branch = [one for one in rows_below(children, row) if one in undone]
            means[row] = Fraction(sum(gains[one] for one in branch), len(branch))
        weakest = min(means.values())
        for row in [row for row, mean in means.items() if mean == weakest]:
            undone -= set(rows_below(children, row))
        frontiers.append(frozenset(undone))
    return frontiers


def frontiers(children) -> list[frozenset[int]]:
    """All there are."""
    n = len(children) + 1

    @cache
    def below(node: int) -> tuple[frozenset[int], ...]:
        if node < n:
            return (frozenset(),)
        first, second = (below(int(child)) for child in children[node - n])
        own = frozenset([node - n])
        return (frozenset(), *(own | a | b for a in first for b in second))

    return list(below(2 * n - 2))


def least_left_over(children, gains):
    """The least sum, over all numbers of clusters, of what a nested family has left over."""
    above = parents_of(children)

    @cache
    def best(undone: frozenset[int]):
        left = sum(gains[row] for row in range(len(children)) if row not in undone)
        more = [
            best(undone | {row})
            for row in range(len(children))
            if row not in undone and (above[row] is None or above[row] in undone)
        ]
        return left + min(more, default=0)

    return best(frozenset())


def labels_of(children, undone) -> list[int]:
    """Labels of the clusters that are left when some merges are undone."""
    n = len(children) + 1
    below = [{i} for i in range(n)]
    for pair in children:
        below.append(below[int(pair[0])] | below[int(pair[1])])
    tops = [v for v in range(2 * n - 1) if v < n or v - n not in undone]
    labels = [-1] * n
    for v in sorted(tops, reverse=True):
        for i in below[v]:
            labels[i] = v if labels[i] < 0 else labels[i]
    order = list(dict.fromkeys(labels))
    return [order.index(label) for label in labels]


def sum_of_squares(X, labels, weights) -> float:
    """Of the points of each cluster from their mean."""
    total = 0.0
    for label in set(labels):
        some = np.array(labels) == label
        mean = np.average(X[some], axis=0, weights=weights[some])
        total += float((weights[some] * ((X[some] - mean) ** 2).sum(axis=1)).sum())
    return total
