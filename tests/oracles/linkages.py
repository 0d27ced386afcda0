"""Distances, similarities and linkages, always over all pairs of points.

A linkage is a distance: smaller is closer. Under "dot" the distance of two
points is minus their product, and the similarity w of the paper is minus the
distance, whatever the metric.
"""

from __future__ import annotations

import numpy as np

from tests.oracles.trees import Tree

METRICS = ("sqeuclidean", "cosine", "dot")
LINKAGES = ("average", "centroid", "ward")
OFFERED = [(m, k) for m in METRICS for k in LINKAGES if (m, k) != ("dot", "ward")]


def unit_rows(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    X = X / np.abs(X).max(axis=1, keepdims=True)
    return X / np.sqrt((X * X).sum(axis=1, keepdims=True))


def prepared(X: np.ndarray, metric: str) -> np.ndarray:
    """float64 rows; unit rows under cosine. Squared distances do not see a common
    shift, so there the first row becomes the origin and digits are kept."""
    if metric == "cosine":
        return unit_rows(X)
    X = np.asarray(X, dtype=np.float64)
    return X - X[0] if metric == "sqeuclidean" else X


def distance_matrix(X: np.ndarray, metric: str) -> np.ndarray:
    P = prepared(X, metric)
    if metric == "sqeuclidean":
        return ((P[:, None, :] - P[None, :, :]) ** 2).sum(axis=2)
    products = (P[:, None, :] * P[None, :, :]).sum(axis=2)
    return 1 - products if metric == "cosine" else -products


def mean_within(w: np.ndarray, A: tuple[int, ...]) -> float:
    """w̄(A): the mean of w over the pairs i < j of A."""
    block = w[np.ix_(A, A)]
    return float(block[np.triu_indices(len(A), 1)].mean())


def mean_between(w: np.ndarray, A: tuple[int, ...], B: tuple[int, ...]) -> float:
    """w̄(A, B): the mean of w over all of A x B."""
    return float(w[np.ix_(A, B)].mean())


class Linkage:
    """L(A, B) of two trees by definition, remembered for each pair of trees."""

    def __init__(self, X: np.ndarray, metric: str, name: str):
        self.points = prepared(X, metric)
        self.distances = distance_matrix(X, metric)
        self.metric = metric
        self.name = name
        self.scale = self._rounding_scale()
        self._known: dict[tuple[Tree, Tree], float] = {}

    def __call__(self, a: Tree, b: Tree) -> float:
        key = (a, b) if a.first < b.first else (b, a)
        if key not in self._known:
            self._known[key] = self.of_leaves(key[0].leaves, key[1].leaves)
        return self._known[key]

    def of_leaves(self, A: tuple[int, ...], B: tuple[int, ...]) -> float:
        if self.name == "average":
            return mean_between(self.distances, A, B)
        mean_a = self.points[list(A)].mean(axis=0)
        mean_b = self.points[list(B)].mean(axis=0)
        if self.metric == "dot":
            assert self.name == "centroid"
            return -float((mean_a * mean_b).sum())
        gap = float(np.sqrt(((mean_a - mean_b) ** 2).sum()))
        if self.name == "centroid":
            return gap
        assert self.name == "ward", f"{self.name} has no definition here"
        return float(np.sqrt(2 * len(A) * len(B) / (len(A) + len(B)))) * gap

    def _rounding_scale(self) -> float:
        """What rounding is judged beside. Means and products may cancel to nearly
        nothing, so there it is the spread of all the data; a mean of squares cannot,
        and is judged beside itself."""
        largest = float(np.abs(self.distances).max())
        if self.name == "average" or self.metric == "dot":
            return 0.0 if self.metric == "sqeuclidean" else largest
        return float(np.sqrt(2 * largest))

    def gap(self, best: float, other: float) -> float:
        """How clearly `best` is smaller than `other`, as a fraction."""
        scale = max(abs(best), abs(other), self.scale)
        return (other - best) / scale if scale > 0 else 0.0
