# SPDX-License-Identifier: BSD-3-Clause
"""quality.py: Moseley-Wang revenue, as a fraction of its maximum, of trees and of flat clusters.

Similarity is exp(-|x - y|^2), which the streams are made for. Flat clusters are the
tree of two levels, root and clusters: two points of one cluster C earn n - |C|, two
of different ones nothing. Both are exact up to 20,000 points, and above that estimated
from a million pairs, the same ones for everybody.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.streams import Rows
from ramify.hierarchy import Hierarchy
from ramify.metrics import revenue_fraction

EXACT, SAMPLE = 20_000, 1_000_000


def tree_fraction(X: Rows, tree: Hierarchy) -> float:
    """Of a binary tree."""
    sample = None if len(X) <= EXACT else SAMPLE
    return float(revenue_fraction(tree, X, gamma=1.0, sample=sample, random_state=0, n_jobs=1))


def flat_fraction(X: Rows, labels: npt.NDArray[Any]) -> float:
    """Of flat clusters. A negative label is noise: a cluster of its own."""
    names, group = np.unique(labels, return_inverse=True)
    noise = np.flatnonzero(names[group] < 0)
    group[noise] = len(names) + np.arange(len(noise))
    size = np.bincount(group)[group]
    if len(X) > EXACT:
        rng = np.random.default_rng(0)
        first = rng.integers(len(X), size=SAMPLE)
        second = (first + rng.integers(1, len(X), size=SAMPLE)) % len(X)
        w = _similarity(((X[first] - X[second]) ** 2).sum(axis=1))
        together = group[first] == group[second]
        return float((w * (len(X) - size[first]))[together].sum() / ((len(X) - 2) * w.sum()))
    total = earned = 0.0
    squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    for start in range(0, len(X), 1_000):
        rows = slice(start, start + 1_000)
        products = X[rows].astype(np.float64) @ X.T.astype(np.float64)
        w = _similarity(np.maximum(squares[rows, np.newaxis] + squares - 2 * products, 0))
        w[np.arange(len(w)), np.arange(start, start + len(w))] = 0  # a point with itself
        total += w.sum()
        together = group[rows, np.newaxis] == group
        earned += ((w * together).sum(axis=1) * (len(X) - size[rows])).sum()
    return float(earned / ((len(X) - 2) * total))


def _similarity(squared: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.exp(-squared.astype(np.float64))
