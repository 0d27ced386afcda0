"""Nearest points by looking at all of them, to the last bit.

Distances are summed in the very order that core/math/kernels.hpp promises, so that
equality means equality: ties included.
"""

from __future__ import annotations

import numpy as np

# core/math/kernels.hpp: rows shorter than this are summed left to right, longer ones
# in this many interleaved partial sums that are then folded in halves.
LANES = 16


def summed(terms):
    """Sums over the last axis, in the order that kernels.hpp promises."""
    d = terms.shape[-1]
    if d < LANES:
        total = np.zeros(terms.shape[:-1])
        for j in range(d):
            total = total + terms[..., j]
        return total
    lanes = np.zeros((*terms.shape[:-1], LANES))
    for start in range(0, d, LANES):
        part = terms[..., start : start + LANES]
        lanes[..., : part.shape[-1]] += part
    width = LANES // 2
    while width:
        lanes = lanes[..., :width] + lanes[..., width : 2 * width]
        width //= 2
    return lanes[..., 0]


def unit(X):
    """row_store.hpp: the largest entry divided out, then the length; kept in X's type."""
    rows = X.astype(np.float64)
    rows = rows / np.abs(rows).max(axis=1, keepdims=True)
    squares = np.zeros(len(X))
    for j in range(X.shape[1]):
        squares = squares + rows[:, j] ** 2
    return (rows / np.sqrt(squares)[:, None]).astype(X.dtype)


def brute_force(X, queries, metric, k):
    """Ids and distances of the k nearest, nearest first, ties to the earliest."""
    if metric == "cosine":
        X, queries = unit(X), unit(queries)
    a, b = queries.astype(np.float64)[:, None, :], X.astype(np.float64)[None, :, :]
    if metric == "dot":
        D = -summed(a * b)
    else:
        gaps = a - b
        D = summed(gaps * gaps)
        D = D / 2 if metric == "cosine" else D
    ids = np.argsort(D, axis=1, kind="stable")[:, :k]
    return ids, np.take_along_axis(D, ids, axis=1)


def brute_force_before(X, metric, k):
    """For each row the ids of the k nearest among the rows before it."""
    rows = (unit(X) if metric == "cosine" else X).astype(np.float64)
    found = []
    for i, x in enumerate(rows):
        before = rows[:i]
        scores = -summed(x * before) if metric == "dot" else summed((x - before) ** 2)
        found.append(np.argsort(scores, kind="stable")[:k])
    return found
