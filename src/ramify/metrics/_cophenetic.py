# SPDX-License-Identifier: BSD-3-Clause
"""_cophenetic.py: how well the heights of a tree follow the distances of its points."""

from collections.abc import Iterator
from math import nan, sqrt
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist, is_valid_y, squareform

from ramify.checks import choices, one_of
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.metric import COSINE, DOT, METRICS, SQEUCLIDEAN
from ramify.metrics._measure import Measure, RandomState, check_sample, draw_pairs, generator
from ramify.metrics._pairs import blocks_of_pairs
from ramify.metrics._trees import (
    Tree,
    gaps_between_leaves,
    read_tree_with_heights,
    repeats_of,
    require_leaves,
)
from ramify.points import Expected, read_rows
from ramify.progress import Progress, watch

#: With more points than this, ``sample=None`` draws ``DEFAULT_SAMPLE`` pairs.
EXACT_UP_TO = 20_000
DEFAULT_SAMPLE = 1_000_000

#: Those of SciPy's ``cdist`` that look at two points and at nothing else, and two of ours.
DistanceOfPairs: TypeAlias = Literal[
    "sqeuclidean",
    "euclidean",
    "cityblock",
    "chebyshev",
    "cosine",
    "correlation",
    "braycurtis",
    "canberra",
    "dot",
    "precomputed",
]

_AT_ONCE = 1 << 12  # sampled pairs in memory at a time


def cophenetic_correlation(
    tree: Tree,
    X: npt.ArrayLike,
    *,
    metric: DistanceOfPairs = "sqeuclidean",
    sample: int | None = None,
    random_state: RandomState = None,
    progress: Progress = False,
) -> Measure:
    """Correlation between the distances of points and the heights at which they meet.

    1 for a tree whose heights are the distances themselves; above 0.8 or so the tree
    is a fair picture of them. SciPy's ``cophenet`` computes the same number in memory
    quadratic in n.

    Parameters
    ----------
    tree : Hierarchy or SciPy linkage matrix
        Of a Hierarchy the monotone heights are used.
    X : array-like of shape (n, d)
        The points, in the order of the leaves; or with ``metric="precomputed"`` their
        distances, as a square matrix or condensed as from SciPy's ``pdist``.
    metric : str, default="sqeuclidean"
        ``"sqeuclidean"``, ``"euclidean"``, ``"cityblock"``, ``"chebyshev"``,
        ``"cosine"``, ``"correlation"``, ``"braycurtis"`` or ``"canberra"``, as SciPy has
        them; ``"dot"``, minus the inner product; or ``"precomputed"``. Choose the one
        the tree was built with: heights of average linkage are mean squared distances
        in Ramify.
    sample : int, optional
        Estimate from this many pairs, drawn with replacement. By default exact up to
        20,000 points, and beyond that from 1,000,000 pairs.
    random_state : int, numpy generator or None
        Of samples only.
    progress : bool or callable
        True draws a bar, or a plain line; a callable is called as
        ``f(done, total)`` now and then.

    Returns
    -------
    Measure
        NaN when all distances or all heights are equal: there is no correlation then.

    Examples
    --------
    >>> import ramify
    >>> from ramify.metrics import cophenetic_correlation
    >>> X = [[0.0], [1.0], [5.0]]
    >>> round(cophenetic_correlation(ramify.HAC().fit(X).hierarchy(), X), 4)
    0.9286
    """
    checked = read_tree_with_heights(tree)
    distances = _Distances(X, metric)
    require_leaves(checked, distances.n, "rows in X")
    if (counts := repeats_of(checked)) is not None:
        checked = checked.expanded()
        distances.repeat(np.repeat(np.arange(len(counts)), counts))
    if sample is None and checked.n_leaves > EXACT_UP_TO:
        sample = DEFAULT_SAMPLE
    if sample is None or checked.n_leaves < 2:
        return Measure(_exact(checked, distances, progress).correlation())
    moments = _Moments()
    for height, distance in _sampled_pairs(checked, distances, check_sample(sample), random_state):
        moments.add(height, distance)
    return moments.estimate()


class _Distances:
    """Points and the distance between them, or the distances themselves."""

    def __init__(self, X: npt.ArrayLike, metric: str) -> None:
        one_of("metric", metric, choices(DistanceOfPairs))
        self._metric = metric
        if metric == "precomputed":
            matrix = np.asarray(X, dtype=np.float64)
            if matrix.ndim == 1:
                is_valid_y(matrix, throw=True, name="X")
                matrix = squareform(matrix)
            if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
                raise ValueError(
                    f"metric='precomputed': expected X to be a square matrix of distances, or a "
                    f"condensed one, got shape {matrix.shape}"
                )
            if not np.isfinite(matrix).all():
                raise ValueError("the matrix of distances holds NaN or infinity")
            self._matrix: FloatArray = matrix
        else:
            of_directions = metric in (COSINE.name, "correlation")
            checked = COSINE if of_directions else SQEUCLIDEAN
            self._rows = read_rows(X, Expected("cophenetic_correlation", checked))
        self.n = len(self._matrix if metric == "precomputed" else self._rows)

    def repeat(self, leaves: IntArray) -> None:
        """Have a row for each point that leaves stand for."""
        if self._metric == "precomputed":
            self._matrix = self._matrix[np.ix_(leaves, leaves)]
        else:
            self._rows = self._rows[leaves]
        self.n = len(leaves)

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        if self._metric == "precomputed":
            return self._matrix[np.ix_(rows, columns)]
        return self._between(self._rows[rows], self._rows[columns])

    def pairs(self, first: IntArray, second: IntArray) -> FloatArray:
        if self._metric == "precomputed":
            return self._matrix[first, second]
        a, b = self._rows[first].astype(np.float64), self._rows[second].astype(np.float64)
        if self._metric in (SQEUCLIDEAN.name, DOT.name):
            return -METRICS[self._metric].similarities(a, b)
        if self._metric == "euclidean":
            return np.sqrt(-SQEUCLIDEAN.similarities(a, b))
        # Any other name: small blocks, of which only the diagonal is wanted.
        parts = [
            self._between(a[k : k + 16], b[k : k + 16]).diagonal() for k in range(0, len(a), 16)
        ]
        return np.concatenate(parts)

    def _between(self, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> FloatArray:
        if self._metric == DOT.name:
            return -(a.astype(np.float64) @ b.astype(np.float64).T)
        between: FloatArray = cdist(a, b, self._metric)  # type: ignore[call-overload]  # any str
        return between


class _Moments:
    """Means, spreads and co-spread of pairs (h, d), merged batch by batch.

    Deviations are taken from each batch's own mean and merged as node summaries are:
    far from zero nothing cancels.
    """

    def __init__(self) -> None:
        self.n = 0
        self.mean: FloatArray = np.zeros(2)
        self.spread: FloatArray = np.zeros((2, 2))  # sums of products of deviations
        self._batches: list[FloatArray] = []

    def add(self, h: FloatArray, d: FloatArray, *, keep: bool = True) -> None:
        batch = np.stack([h, d])
        n = batch.shape[1]
        if n == 0:
            return
        mean = batch.mean(axis=1)
        deviations = batch - mean[:, np.newaxis]
        step = mean - self.mean
        share = n / (self.n + n)
        self.spread = (
            self.spread + deviations @ deviations.T + self.n * share * np.outer(step, step)
        )
        self.mean += share * step
        self.n += n
        if keep:
            self._batches.append(batch)

    def correlation(self) -> float:
        (hh, hd), (_, dd) = self.spread
        # Equal numbers leave rounding behind: a spread this small is none.
        tiny = 1e-28 * self.n * self.mean**2
        if self.n == 0 or hh <= tiny[0] or dd <= tiny[1]:
            return nan
        return float(np.clip(hd / sqrt(hh) / sqrt(dd), -1, 1))

    def estimate(self) -> Measure:
        """The correlation, with the standard error of the delta method."""
        r = self.correlation()
        deviations = np.concatenate(self._batches, axis=1) - self.mean[:, np.newaxis]
        scale = np.sqrt(self.spread.diagonal() / self.n)
        if np.isnan(r):
            return Measure(nan, nan, exact=False)
        u, v = deviations / scale[:, np.newaxis]
        influence = u * v - r * (u * u + v * v) / 2
        return Measure(r, float(influence.std(ddof=1)) / sqrt(self.n), exact=False)


def _exact(tree: Hierarchy, distances: _Distances, progress: Progress) -> _Moments:
    order, gaps = gaps_between_leaves(tree, tree.monotone_heights)
    moments = _Moments()
    with watch(progress, tree.n_leaves, "measuring") as pulse:
        for block in blocks_of_pairs(gaps):
            d = block.select(distances.block(order[block.rows], order[block.columns]))
            moments.add(block.select(block.at_lca), d, keep=False)
            if pulse is not None and block.pairs is not None:
                pulse(block.rows.start)
    return moments


def _sampled_pairs(
    tree: Hierarchy, distances: _Distances, sample: int, random_state: RandomState
) -> Iterator[tuple[FloatArray, FloatArray]]:
    first, second = draw_pairs(generator(random_state), tree.n_leaves, sample)
    heights = tree.monotone_heights[np.asarray(tree.lca(first, second)) - tree.n_leaves]
    for begin in range(0, sample, _AT_ONCE):
        some = slice(begin, begin + _AT_ONCE)
        yield heights[some], distances.pairs(first[some], second[some])
