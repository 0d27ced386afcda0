"""The distribution of random cut trees, exactly, from the definition."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np

from tests.oracles.trees import Tree, inner_nodes

#: A tree by the sets of its merges.
Shape = frozenset[tuple[int, ...]]


def shape_of(tree: Tree) -> Shape:
    return frozenset(node.leaves for node in inner_nodes(tree))


def distribution(X: np.ndarray, points: tuple[int, ...] | None = None) -> dict[Shape, float]:
    """The probability of every tree over some points, no two of which are equal."""
    points = tuple(range(len(X))) if points is None else points
    if len(points) == 1:
        return {frozenset(): 1.0}
    found: defaultdict[Shape, float] = defaultdict(float)
    rows = X[list(points)]
    total = float((rows.max(axis=0) - rows.min(axis=0)).sum())
    for j in range(X.shape[1]):
        values = sorted(set(rows[:, j].tolist()))
        for low, high in pairwise(values):  # every cut in between parts the points alike
            left = tuple(i for i in points if X[i, j] <= low)
            right = tuple(i for i in points if X[i, j] > low)
            for one, p in distribution(X, left).items():
                for other, q in distribution(X, right).items():
                    found[one | other | {points}] += (high - low) / total * p * q
    return dict(found)


def unlikely(counts: Counter[Shape], expected: dict[Shape, float], draws: int) -> float:
    """Pearson's statistic, in standard deviations above what chance makes of it."""
    assert set(counts) <= set(expected), "a tree that cannot be"
    likely = {shape for shape, p in expected.items() if p * draws >= 5}
    rest = 1 - sum(expected[shape] for shape in likely)
    terms = [(counts[shape], expected[shape] * draws) for shape in likely]
    if rest * draws >= 1:
        others = sum(count for shape, count in counts.items() if shape not in likely)
        terms.append((others, rest * draws))
    statistic = sum((seen - due) ** 2 / due for seen, due in terms)
    freedom = len(terms) - 1
    return (statistic - freedom) / np.sqrt(2 * freedom)
