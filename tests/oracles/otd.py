"""OTD: Algorithm 1, word for word, with the recursion written as a walk."""

from __future__ import annotations

import numpy as np

from tests.oracles.linkages import distance_matrix, mean_between, mean_within
from tests.oracles.trees import Tree, clusters, leaf, merge, replaced


def otd(X: np.ndarray, metric: str = "sqeuclidean", gaps: list[float] | None = None) -> Tree:
    """The tree of Algorithm 1. `gaps` collects how clear every comparison was."""
    w = -distance_matrix(X, metric)
    tree = leaf(0)
    for k in range(1, len(X)):
        tree = otd_step(tree, k, w, gaps)
    return tree


def otd_step(tree: Tree, k: int, w: np.ndarray, gaps: list[float] | None = None) -> Tree:
    """Insert point k."""
    x = (k,)
    at = tree
    while len(at) > 1:
        within, across = mean_within(w, at.leaves), mean_between(w, at.leaves, x)
        _note(gaps, w, within, across)
        if within >= across:
            break
        to_left = mean_between(w, at.left.leaves, x)
        to_right = mean_between(w, at.right.leaves, x)
        _note(gaps, w, to_left, to_right)
        at = at.right if to_left <= to_right else at.left
    return replaced(tree, at, merge(at, leaf(k)))


def _note(gaps: list[float] | None, w: np.ndarray, a: float, b: float) -> None:
    if gaps is not None:
        scale = float(np.abs(w).max())
        gaps.append(abs(a - b) / scale if scale > 0 else 0.0)


def assert_otd_step(before: Tree, after: Tree, w: np.ndarray, tolerance: float) -> None:
    """`after` is `before` with one more leaf, put where Algorithm 1 may put it.

    Comparisons closer than `tolerance` (a fraction of the largest |w|) may have
    gone either way.
    """
    slack = tolerance * float(np.abs(w).max())
    k = len(before)
    x, at = (k,), after
    while x not in (at.left.leaves, at.right.leaves):
        old = tuple(i for i in at.leaves if i != k)
        assert mean_within(w, old) < mean_between(w, old, x) + slack, "walked past a stop"
        down, away = (at.left, at.right) if k in at.left.leaves else (at.right, at.left)
        chosen = tuple(i for i in down.leaves if i != k)
        ahead = mean_between(w, chosen, x) - mean_between(w, away.leaves, x)
        assert ahead >= -slack, "turned to the less similar child"
        at = down
    beside = at.left if at.right.leaves == x else at.right
    if len(beside) > 1:
        within, across = mean_within(w, beside.leaves), mean_between(w, beside.leaves, x)
        assert within >= across - slack, "stopped too early"
    rest = {tuple(i for i in leaves if i != k) for leaves in clusters(after)}
    assert {leaves for leaves in rest if len(leaves) > 1} == clusters(before), "the rest moved"
