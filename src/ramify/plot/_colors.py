# SPDX-License-Identifier: BSD-3-Clause
"""_colors.py: colours for clusters, and the checks that all pictures share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from ramify.palette import PALETTE


def distinct_colors(
    points: ArrayLike, clusters: ArrayLike, *, palette: Sequence[str] = PALETTE
) -> list[str]:
    """One colour per cluster, so that clusters side by side differ.

    With more clusters than colours some must share: large clusters choose first,
    each the colour whose other users are farthest away.

    Parameters
    ----------
    points : (n, d) array-like
        Where the points lie in the picture (or in space).
    clusters : (n,) array-like of int
        Cluster numbers from 0, none left out.
    palette : sequence of colours

    Returns
    -------
    list of colours
        In the order of the cluster numbers.

    Examples
    --------
    >>> from ramify.plot import distinct_colors
    >>> line = [[0.0], [1.0], [2.0], [3.0]]
    >>> distinct_colors(line, [0, 1, 2, 3], palette=["red", "blue"])
    ['red', 'blue', 'red', 'blue']
    """
    points, labels = np.asarray(points, float), np.asarray(clusters)
    sizes = np.bincount(labels)
    closeness = _closeness(points, labels, sizes)
    chosen = np.full(len(sizes), -1)
    for cluster in np.argsort(-sizes, kind="stable"):
        clash = [closeness[cluster, chosen == c].sum() for c in range(len(palette))]
        chosen[cluster] = int(np.argmin(clash))
    return [palette[c] for c in chosen]


def _closeness(
    points: NDArray[np.float64], labels: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How bad it is if two clusters share a colour: touching is worst, then near."""
    k = len(sizes)
    centres = np.stack([np.bincount(labels, column, k) / sizes for column in points.T], axis=1)
    gaps = cdist(centres, centres, "sqeuclidean")
    scale = max(float(gaps.max(initial=0.0)), np.finfo(float).tiny)
    closeness = 1 / (gaps / scale + 1e-6)
    _, nearest = cKDTree(points).query(points, k=min(6, len(points)))
    pairs = labels[np.asarray(nearest).reshape(len(points), -1)]
    closeness[np.repeat(labels, pairs.shape[1]), pairs.ravel()] += 1e9
    return np.maximum(closeness, closeness.T)
