"""OTD: Algorithm 1, word for word, with the recursion written as a walk."""

from __future__ import annotations

from fractions import Fraction

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


def otd_exactly(X: np.ndarray, metric: str = "sqeuclidean", weights: list | None = None) -> Tree:
    """The tree of Algorithm 1 in fractions, from sums over the points: ties are ties.

    Rows are taken as they are, under cosine as well: they are of length 1 up to rounding. A row
    of weight w is w points in one place.
    """
    rows = [[Fraction(float(value)) for value in row] for row in X]
    weigh = [Fraction(float(one)) for one in (weights or [1] * len(rows))]
    tree = leaf(0)
    for k in range(1, len(rows)):
        at = tree
        while len(at) > 1:
            if _within(rows, weigh, at.leaves, metric) >= _to(rows, weigh, at.leaves, k, metric):
                break
            left = _to(rows, weigh, at.left.leaves, k, metric)
            right = _to(rows, weigh, at.right.leaves, k, metric)
            at = at.right if left <= right else at.left
        tree = replaced(tree, at, merge(at, leaf(k)))
    return tree


def _alike(a: list[Fraction], b: list[Fraction], metric: str) -> Fraction:
    pairs = zip(a, b, strict=True)
    return sum(p * q if metric == "dot" else -((p - q) ** 2) for p, q in pairs)


def _within(rows: list, weigh: list, leaves: tuple[int, ...], metric: str) -> Fraction:
    """Of all ordered pairs of points, those in one place included, but none with itself."""
    n = sum(weigh[i] for i in leaves)
    every = sum(
        weigh[i] * weigh[j] * _alike(rows[i], rows[j], metric) for i in leaves for j in leaves
    )
    alone = sum(weigh[i] * _alike(rows[i], rows[i], metric) for i in leaves)
    return (every - alone) / (n * (n - 1))


def _to(rows: list, weigh: list, leaves: tuple[int, ...], k: int, metric: str) -> Fraction:
    n = sum(weigh[i] for i in leaves)
    return sum(weigh[i] * _alike(rows[i], rows[k], metric) for i in leaves) / n
