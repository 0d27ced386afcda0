# SPDX-License-Identifier: BSD-3-Clause
"""_grouping.py: sizes, means and spreads of groups of rows."""

from typing import Any

import numpy as np

from ramify.hierarchy._cluster import Ground
from ramify.hierarchy._rows import Rows
from ramify.hierarchy._values import FloatArray, IntArray

_AT_ONCE = 1 << 16  # rows to subtract a mean from at once


def grouped(labels: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Positions by label, those without one first, and where each group ends."""
    ends = np.cumsum(np.bincount(labels + 1, minlength=count + 1))
    return np.argsort(labels, kind="stable"), ends


def spreads_of(ground: Ground, count: int) -> FloatArray:
    assert ground.rows is not None
    rows, labels = ground.rows, ground.labels
    weights = ground.tree.leaf_weights
    means, sizes = means_of(rows, labels, count, weights), sizes_of(labels, count, weights)
    total = np.zeros(count)
    for start in range(0, len(rows), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        label = labels[part]
        kept = label >= 0
        apart = ((rows[part][kept] - means[label[kept]]) ** 2).sum(axis=1)
        if weights is not None:
            apart = apart * weights[part][kept]
        total += np.bincount(label[kept], weights=apart, minlength=count)
    spreads: FloatArray = total / sizes
    return spreads


def sizes_of(labels: IntArray, count: int, weights: FloatArray | None = None) -> Any:
    """Number of points of each label from 0 to count - 1, of leaves with these weights.

    Examples
    --------
    >>> import numpy as np
    >>> sizes_of(np.array([0, -1, 0]), 1), sizes_of(np.array([0, 1]), 2, np.array([3.0, 1.5]))
    (array([2]), array([3. , 1.5]))
    """
    kept = labels >= 0
    if weights is None:
        return np.bincount(labels[kept], minlength=count)
    sums = np.bincount(labels[kept], weights=weights[kept], minlength=count)
    counts = sums.astype(np.int64)
    return counts if (counts == sums).all() else sums


def means_of(
    rows: Rows, labels: IntArray, count: int, weights: FloatArray | None = None
) -> FloatArray:
    """Mean of the rows of each label from 0 to count - 1, of leaves with these weights.

    Examples
    --------
    >>> import numpy as np
    >>> means_of(np.array([[1.0], [5.0], [3.0]]), np.array([0, -1, 0]), 1)
    array([[2.]])
    """
    centre = rows.mean(axis=0, dtype=np.float64)  # far from the origin sums lose digits
    kept = labels >= 0
    sums = np.zeros((count, rows.shape[1]))
    for start in range(0, len(rows), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        apart = rows[part][kept[part]] - centre
        if weights is not None:
            apart = apart * weights[part][kept[part], np.newaxis]
        np.add.at(sums, labels[part][kept[part]], apart)
    return np.asarray(centre + sums / sizes_of(labels, count, weights)[:, np.newaxis])
