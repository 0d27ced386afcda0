# SPDX-License-Identifier: BSD-3-Clause
"""_scatter.py: the points themselves, coloured by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify.checks import whole_number
from ramify.hierarchy import Hierarchy, IntArray
from ramify.plot._axes import draw_legend, new_axes, only_axis
from ramify.plot._options import check_colors, check_points, check_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def scatter(
    tree: Hierarchy,
    X: ArrayLike,
    k: int | None = None,
    *,
    colors: Sequence[str] | None = None,
    sample: int = 20_000,
    ax: Axes | None = None,
) -> Axes:
    """Scatter the points, coloured by the clusters of ``tree.cut(n_clusters=k)``.

    Points of more than two dimensions are drawn along their first two principal
    components, points of one dimension against their arrival.

    Parameters
    ----------
    tree : Hierarchy
    X : array-like of shape (n, d)
        The points, in the order of the leaves.
    k : int, optional
        Number of clusters; by default 8, or the number of points if there are fewer.
        A legend has their numbers and sizes, up to 50 of them.
    colors : sequence of colours, optional
        One per cluster, in the numbering of the cut; `k` is then their number.
    sample : int
        Draw at most about this many points, spread evenly over the stream, with at
        least one of each cluster; the title then says so. The components are those
        of the points drawn, so that a million points take no longer than these.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import ramify
    >>> from ramify.datasets import iris
    >>> from ramify.plot import scatter
    >>> X = iris().points
    >>> ax = scatter(ramify.OHAC().fit(X).hierarchy(), X, 3)
    >>> ax.get_xlabel()
    'first principal component (92 % of the variance)'
    """
    rows = check_points(check_tree(tree), X)
    n = tree.n_leaves
    if k is None and colors is None:
        k = min(8, n)
    palette = check_colors(k, colors, n, "the number of points")
    assert palette is not None
    clusters = tree.cut(n_clusters=len(palette))
    drawn = _evenly(clusters, whole_number("sample", sample))
    x, y, names = _flat(rows[drawn].astype(np.float64), drawn)
    if ax is None:
        ax = new_axes(7.0, 5.6)[0]
    dot = float(np.clip(60_000 / len(drawn), 2.0, 24.0))
    faces = np.array(palette)[clusters[drawn]]
    ax.scatter(x, y, s=dot, c=faces, linewidths=0, alpha=0.85)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    only_axis(ax, "left", "bottom")
    if len(drawn) < n:
        ax.set_title(f"{len(drawn):,} of {n:,} points", fontsize=10, loc="left", color="#555555")
    draw_legend(ax, np.bincount(clusters).tolist(), palette)
    return ax


def _evenly(clusters: IntArray, sample: int) -> IntArray:
    """Points to draw: evenly spaced in order of arrival, and the first of each cluster."""
    n = len(clusters)
    if n <= sample:
        return np.arange(n)
    _, first = np.unique(clusters, return_index=True)
    return np.union1d(np.arange(sample) * n // sample, first)


def _flat(
    rows: NDArray[np.float64], arrival: IntArray
) -> tuple[NDArray[Any], NDArray[Any], tuple[str, str]]:
    """Two coordinates of every row, and what they are called."""
    d = rows.shape[1]
    if d == 1:
        return rows[:, 0], arrival, ("value", "arrival")
    if d == 2:
        return rows[:, 0], rows[:, 1], ("first coordinate", "second coordinate")
    if len(rows) < 2 or not np.ptp(rows, axis=0).any():  # all one point: no variance to share out
        return np.zeros(len(rows)), np.zeros(len(rows)), ("all points are equal", "")
    from sklearn.decomposition import PCA  # slow to import

    pca = PCA(n_components=2, random_state=0).fit(rows)
    x, y = pca.transform(rows).T
    shares = [
        f"({share:.0%} of the variance)".replace("%", " %")
        for share in pca.explained_variance_ratio_
    ]
    return (
        x,
        y,
        (
            f"first principal component {shares[0]}",
            f"second principal component {shares[1]}",
        ),
    )
