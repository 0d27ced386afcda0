"""What Theorem 1 speaks of: revenue, its greatest growth, and the β of one step.

w(A) and w(A, B) are sums over pairs (the paper's appendix A), w̄ their means.
"""

from __future__ import annotations

import numpy as np

from tests.oracles.linkages import mean_between, mean_within
from tests.oracles.trees import Tree, inner_nodes


def sum_within(w: np.ndarray, A: tuple[int, ...]) -> float:
    return float(w[np.ix_(A, A)][np.triu_indices(len(A), 1)].sum())


def sum_between(w: np.ndarray, A: tuple[int, ...], B: tuple[int, ...]) -> float:
    return float(w[np.ix_(A, B)].sum())


def revenue(tree: Tree, w: np.ndarray) -> float:
    """Definition 2: every pair earns w for each leaf outside its common ancestor."""
    n = len(tree)
    return sum(
        (n - len(node)) * sum_between(w, node.left.leaves, node.right.leaves)
        for node in inner_nodes(tree)
    )


def greatest_growth(w: np.ndarray, n: int) -> float:
    """Δ_Max of point n (counted from 0) arriving after points 0 … n-1."""
    before = tuple(range(n))
    return sum_within(w, before) + (n - 1) * sum_between(w, before, (n,))


def turned_away_from(tree: Tree, x: int) -> list[Tree]:
    """The subtrees the walk of leaf x, the newest, passed by on its way down."""
    passed, node = [], tree
    while node.left.leaves != (x,) and node.right.leaves != (x,):
        down, away = (node.left, node.right) if x in node.left.leaves else (node.right, node.left)
        passed.append(away)
        node = down
    return passed


def realised_beta(tree: Tree, w: np.ndarray) -> float:
    """The largest β ≤ 1 with which Assumption 1 held on the last insertion.

    Assumption 1 enters the proof only as inequality (4), w(A) ≥ β (|A|-1)/2 w(A, x).
    For a single leaf A it reads 0 ≥ 0 and asks nothing of β; and where w̄(A, x) is
    0 any β will do. Both kinds of A are left out of the minimum.
    """
    x = tree.leaves[-1]
    beta = 1.0
    for A in turned_away_from(tree, x):
        across = mean_between(w, A.leaves, (x,))
        if len(A) > 1 and across > 0:
            beta = min(beta, mean_within(w, A.leaves) / across)
    return beta
