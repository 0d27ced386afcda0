"""Every measure from its definition, pair by pair and triple by triple.

Trees are lists of pairs of children, leaves 0 … n-1, row r making node n + r.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

Pairs = list[tuple[int, int]]


def members(children: Pairs) -> list[frozenset[int]]:
    """The leaves below every node."""
    below = [frozenset([leaf]) for leaf in range(len(children) + 1)]
    for a, b in children:
        below.append(below[a] | below[b])
    return below


def lowest_common_ancestors(children: Pairs) -> dict[tuple[int, int], int]:
    """The smallest node that holds both leaves of each pair i < j."""
    n = len(children) + 1
    below = members(children)
    found = {}
    for node in range(n, 2 * n - 1):  # children first, so the first to hold both is it
        for pair in combinations(sorted(below[node]), 2):
            found.setdefault(pair, node)
    return found


def similarity_matrix(X: np.ndarray, name: str, gamma: float = 1.0) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    if name in ("rbf", "sqeuclidean"):
        squares = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
        return np.exp(-gamma * squares) if name == "rbf" else -squares
    if name == "cosine":
        X = X / np.sqrt((X**2).sum(axis=1, keepdims=True))
    return (X[:, None, :] * X[None, :, :]).sum(axis=2)


def sums(children: Pairs, w: np.ndarray) -> tuple[float, float, float]:
    """Σw, revenue and cost: the paper's Definitions 1 and 2."""
    n = len(children) + 1
    below = members(children)
    total = revenue = cost = 0.0
    for (i, j), node in lowest_common_ancestors(children).items():
        total += w[i, j]
        revenue += w[i, j] * (n - len(below[node]))
        cost += w[i, j] * len(below[node])
    return total, revenue, cost


def least_ratio(children: Pairs, w: np.ndarray) -> float:
    """β of a tree: over inner nodes but the root, w̄ inside over w̄ to the sibling."""
    below = members(children)
    n = len(children) + 1
    ratios = []
    for a, b in children:
        for u, beside in ((a, b), (b, a)):
            across = np.mean([w[i, j] for i in below[u] for j in below[beside]])
            if u >= n and across > 0:
                ratios.append(np.mean([w[i, j] for i, j in combinations(below[u], 2)]) / across)
    return min(ratios, default=float("inf"))


def triplets(children: Pairs) -> set[tuple[int, int, int]]:
    """Trip(T) of Definition 4: (i, j, k), k outside the ancestor of i and j; i < j."""
    below = members(children)
    return {
        (i, j, k)
        for (i, j), node in lowest_common_ancestors(children).items()
        for k in range(len(children) + 1)
        if k not in below[node]
    }


def triplet_distance(first: Pairs, second: Pairs) -> float:
    one, other = triplets(first), triplets(second)
    assert len(one) == len(other) == comb(len(first) + 1, 3), "one of three is always the odd one"
    return len(other - one) / len(other) if other else 0.0


def dendrogram_purity(children: Pairs, labels: list) -> float:
    below = members(children)
    shares = []
    for (i, j), node in lowest_common_ancestors(children).items():
        if labels[i] == labels[j]:
            same = sum(labels[leaf] == labels[i] for leaf in below[node])
            shares.append(same / len(below[node]))
    return sum(shares) / len(shares) if shares else 1.0


def cophenetic_correlation(children: Pairs, heights: np.ndarray, distances: np.ndarray) -> float:
    n = len(children) + 1
    ancestors = lowest_common_ancestors(children)
    h = np.array([heights[node - n] for node in ancestors.values()])
    d = np.array([distances[pair] for pair in ancestors])
    return float(np.corrcoef(h, d)[0, 1])


def certificate(children: Pairs, w: np.ndarray) -> tuple[float, float]:
    """β and Δ_Max of the last leaf's insertion: from the tree that holds it already."""
    n = len(children)  # leaves before it, and its own number
    below = members(children)
    grown = sum(w[i, j] for i, j in combinations(range(n), 2))
    grown += (n - 1) * sum(w[i, n] for i in range(n))
    beta, node = 1.0, 2 * n  # the root
    while True:
        a, b = children[node - n - 1]
        if n in (a, b):
            return beta, grown
        away, node = (a, b) if n in below[b] else (b, a)
        A = sorted(below[away])
        across = np.mean([w[i, n] for i in A])
        if len(A) > 1 and across > 0:
            beta = min(beta, np.mean([w[i, j] for i, j in combinations(A, 2)]) / across)
