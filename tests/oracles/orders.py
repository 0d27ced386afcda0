"""Orders of leaves, and examples of clusters, in plain slow Python."""

from __future__ import annotations

import itertools

import numpy as np


def distances(X) -> np.ndarray:
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))


def way(D: np.ndarray, order) -> float:
    return sum(D[i, j] for i, j in itertools.pairwise(order))


def keeps_subtrees_together(below: list[frozenset[int]], order) -> bool:
    place = {leaf: position for position, leaf in enumerate(order)}
    spans = [(max(place[i] for i in leaves) - min(place[i] for i in leaves)) for leaves in below]
    return [span + 1 for span in spans] == [len(leaves) for leaves in below]


def shortest_way(tree, D: np.ndarray) -> float:
    """The least sum of distances between neighbours over all 2^(n-1) orders of a tree.

    For every node and every two ends: the best way through it. O(n^4).
    (SciPy's optimal_leaf_ordering is not it: scipy issue 11227.)
    """
    n = tree.n_leaves
    best: list[dict[tuple[int, int], float]] = [{(i, i): 0.0} for i in range(n)]
    for a, b in tree.children.tolist():
        ways: dict[tuple[int, int], float] = {}
        for (i, k), first in best[a].items():
            for (m, j), second in best[b].items():
                total = first + D[k, m] + second
                if total < ways.get((i, j), np.inf):
                    ways[i, j] = ways[j, i] = total
        best.append(ways)
    return min(best[-1].values())


def representatives(X, points: list[int], k: int) -> list[int]:
    """The most central point, then the farthest from those chosen in the central half."""
    rows = {i: np.asarray(X[i], dtype=float) for i in points}
    mean = sum(rows.values()) / len(points)

    def apart(i, j) -> float:
        return float(((rows[i] - rows[j]) ** 2).sum())

    central = sorted(points, key=lambda i: (float(((rows[i] - mean) ** 2).sum()), i))
    pool = central[: max(k, (len(points) + 1) // 2)]
    chosen = [pool[0]]
    while len(chosen) < min(k, len(pool)):
        left = [i for i in pool if i not in chosen]
        chosen.append(max(left, key=lambda i: min(apart(i, j) for j in chosen)))
    return chosen
