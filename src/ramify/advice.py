# SPDX-License-Identifier: BSD-3-Clause
"""advice.py: which metric, linkage and cut for these rows, and why.

What is decided by looking, and by measuring a small tree:

    metric    from the rows' lengths, signs and zeros
    linkage   average where groups are separated, by the heights of its tree, or where many
              rows are twins, as in logs, whose groups are of very unequal size; else ward
    cut       at a gap between heights, or by silhouette, or by a rule of thumb

The rules are those of docs/choosing.md, whose table measures them on real data.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.checks import whole_number
from ramify.estimators import HAC, OHAC
from ramify.hierarchy import FloatArray, Hierarchy
from ramify.metric import COSINE, SQEUCLIDEAN, Metric
from ramify.points import Expected, chunks, read_batch

_TOO_FEW = 10  # rows, to grow a tree and look at it
_GAP = 3.0  # between groups, as a multiple of the height within them
_TWINS = 1 / 3  # of the rows, that are there more than once
_WIDE = 10.0  # spread of the widest column, as a multiple of the middle one's


@dataclass(frozen=True)
class Recommendation:
    """What :func:`recommend` recommends; prints its reasons.

    Attributes
    ----------
    metric, linkage : str
        Options of :class:`OHAC`.
    cut : mapping
        Options of :meth:`Hierarchy.cut`: ``tree.cut(**recommendation.cut)``.
    gamma : float
        For ``similarity="rbf"``: :func:`metrics.fitting_gamma` of the rows looked at, as they
        are compared. Measures find their own unless they are told another.
    scale : bool
        Whether columns should be brought to one spread first, say by scikit-learn's
        ``StandardScaler``; cut and gamma are for such rows then.
    kind : str
        What the rows look like.
    reasons : mapping
        A sentence for each of the above.

    Examples
    --------
    >>> import ramify
    >>> from ramify import datasets
    >>> advice = ramify.recommend(datasets.gmm_8().points)
    >>> advice.metric, advice.linkage, sorted(advice.cut)
    ('sqeuclidean', 'average', ['height'])
    >>> print(advice.reasons["linkage"])
    groups are separated (8 of them), and average linkage has heights that can be read
    """

    metric: str
    linkage: str
    cut: Mapping[str, Any]
    gamma: float
    scale: bool
    kind: str
    reasons: Mapping[str, str]

    def estimator(self) -> OHAC:
        """An online model with these options. Rows are yours to scale, where ``scale`` is True.

        Examples
        --------
        >>> import ramify
        >>> from ramify import datasets
        >>> ramify.recommend(datasets.intents().points).estimator()
        OHAC(linkage='ward', metric='cosine', n_clusters=47)
        """
        return OHAC(
            self.cut.get("n_clusters"),
            distance_threshold=self.cut.get("height"),
            metric=self.metric,
            linkage=self.linkage,
        )

    def __repr__(self) -> str:
        lines = [f"<Recommendation for {self.kind}>"]
        lines += [f"  {name:8} {value:18} {self.reasons[name]}" for name, value in self._values()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            "".join(f"<td>{escape(cell)}</td>" for cell in (name, value, self.reasons[name]))
            for name, value in self._values()
        ]
        body = "".join(f"<tr align='left'>{row}</tr>" for row in rows)
        return f"<table><caption>{escape(self.kind)}</caption>{body}</table>"

    def _values(self) -> list[tuple[str, str]]:
        ((by, value),) = self.cut.items()
        shown = [
            ("metric", self.metric),
            ("linkage", self.linkage),
            ("cut", f"{by}={value:.4g}" if by == "height" else f"{by}={value}"),
            ("gamma", f"{self.gamma:.4g}"),
        ]
        return ([("scale", "yes")] if self.scale else []) + shown


def recommend(X: npt.ArrayLike, *, sample: int = 2_000) -> Recommendation:
    """Look at some rows and say which metric, linkage and cut suit them, and why.

    The same rows always give the same answer. It is a place to start from: what a
    good cluster is, only you know.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, as an estimator takes them.
    sample : int
        How many rows to look at, drawn with a fixed seed. O(sample² d).

    Returns
    -------
    Recommendation

    Examples
    --------
    >>> import ramify
    >>> from ramify import datasets
    >>> advice = ramify.recommend(datasets.intents().points)
    >>> advice.kind, advice.metric, advice.linkage
    ('embeddings', 'cosine', 'ward')
    >>> labels = advice.estimator().fit(datasets.intents().points).labels_
    """
    from ramify.metrics import fitting_gamma  # which takes a second to import

    most = whole_number("sample", sample, least=_TOO_FEW)
    rows = read_batch(X, Expected("recommend"))
    n = len(rows)
    chosen = np.sort(np.random.default_rng(0).permutation(n)[:most])
    start, parts = 0, []
    for chunk in chunks(rows):
        here = chosen[(chosen >= start) & (chosen < start + len(chunk))] - start
        parts.append(chunk[here])
        start += len(chunk)
    looked_at = np.concatenate(parts).astype(np.float64)
    kind, metric, why_metric = _metric_for(looked_at)
    reasons = {"metric": why_metric}
    wide = _too_wide(looked_at, metric)
    if wide:
        reasons["scale"] = wide
        spread = looked_at.std(axis=0)
        looked_at = (looked_at - looked_at.mean(axis=0)) / np.where(spread > 0, spread, 1)
    compared = metric.prepared(looked_at)
    gamma = fitting_gamma(compared)
    reasons["gamma"] = "one over the mean squared distance of two rows"
    linkage, cut, more = _cut_for(compared, metric, n)
    answers = MappingProxyType({**reasons, **more})
    return Recommendation(
        metric.name, linkage, MappingProxyType(cut), gamma, bool(wide), kind, answers
    )


def _metric_for(rows: FloatArray) -> tuple[str, Metric, str]:
    """What rows look like, how to compare them, and why."""
    d = rows.shape[1]
    lengths = np.linalg.norm(rows, axis=1)
    zeros = float((rows == 0).mean())
    if lengths.min() == 0:
        return _table(d, "some rows are all zeros, which have no direction")
    if d >= 16 and zeros >= 0.6 and rows.min() >= 0:
        why = f"no negative numbers, {zeros:.0%} zeros: a longer row says more, not something else"
        return "counts", COSINE, why
    if d >= 8 and lengths.max() < 1.02 * lengths.min():
        why = f"rows are all of length {lengths.mean():.3g}: only their directions differ"
        return "embeddings", COSINE, why
    if d >= 64 and rows.min() < 0 and lengths.std() < 0.15 * lengths.mean():
        why = f"{d} numbers of either sign, rows of about one length: directions carry the meaning"
        return "embeddings", COSINE, why
    return _table(d, "coordinates or measurements: lengths of rows count")


def _table(d: int, why: str) -> tuple[str, Metric, str]:
    return "places" if d <= 3 else "a table", SQEUCLIDEAN, why


def _too_wide(rows: FloatArray, metric: Metric) -> str:
    """Why columns should be scaled; nothing if they need not."""
    spread = rows.std(axis=0)
    spread = spread[spread > 0]
    if metric.unit_rows or len(spread) < 2 or spread.max() <= _WIDE * np.median(spread):
        return ""
    times = spread.max() / np.median(spread)
    return (
        f"one column spreads {times:,.0f} times as wide as the middle one and would decide alone: "
        f"use StandardScaler first"
    )


class _Gap(NamedTuple):
    groups: int
    low: float  # height of the last merge within a group
    high: float  # height of the first between two

    @property
    def middle(self) -> float:
        return float((self.low * self.high) ** 0.5)


def _cut_for(
    rows: FloatArray, metric: Metric, n: int
) -> tuple[str, dict[str, Any], dict[str, str]]:
    """Linkage, cut, and the reasons for both."""
    guess = max(1, round((n / 2) ** 0.5))
    start = f"a start for {n:,} rows; no number stands out, so look at several: tree.levels(...)"
    if len(rows) < _TOO_FEW:
        few = "too few rows to look at; ward makes clusters of like size"
        return "ward", {"n_clusters": guess}, {"linkage": few, "cut": start}
    average = HAC(metric=metric.name).fit(rows).hierarchy()
    twins = _twins(rows)
    gap = _gap(average, _GAP)
    if gap is None and twins >= _TWINS and (gap := _gap(average, 1.0)) is not None:
        why = f"{twins:.0%} of the rows have a twin, as in a log: groups may be of any size"
        where = f"the widest gap of heights, between {gap.low:.3g} and {gap.high:.3g}"
        return "average", {"height": gap.middle}, {"linkage": why, "cut": where}
    if gap is not None:
        why = (
            f"groups are separated ({gap.groups} of them), and average linkage has heights that "
            f"can be read"
        )
        where = f"between {gap.low:.3g} and {gap.high:.3g} nothing merges"
        return "average", {"height": gap.middle}, {"linkage": why, "cut": where}
    ward = HAC(metric=metric.name, linkage="ward").fit(rows).hierarchy()
    shares = [f"{_largest_of_ten(tree):.0%}" for tree in (average, ward)]
    why = f"groups touch: of ten clusters the largest holds {shares[1]}, with average {shares[0]}"
    k, score = _best_by_silhouette(rows, ward)
    if k is None:
        return "ward", {"n_clusters": guess}, {"linkage": why, "cut": start}
    best = f"the silhouette of a sample is best there ({score:.2f})"
    return "ward", {"n_clusters": k}, {"linkage": why, "cut": best}


def _gap(tree: Hierarchy, least: float) -> _Gap | None:
    """The widest gap, of at least a factor, between groups that hold nearly everything, and
    of which none is nearly all."""
    n, heights = tree.n_leaves, tree.monotone_heights
    counts = np.arange(2, min(2 * int(n**0.5), n - 1) + 1)
    low, high = heights[n - counts - 1], heights[n - counts]
    wide = counts[(low > 1e-9 * heights[-1]) & (high > least * low)]
    best: _Gap | None = None
    for count in wide.tolist():
        sizes = np.bincount(tree.cut(n_clusters=count))
        held = sizes[sizes >= min(5, n // 4)].sum()
        gap = _Gap(count, float(heights[n - count - 1]), float(heights[n - count]))
        wider = best is None or gap.high * best.low > best.high * gap.low
        if held >= 0.95 * n and sizes.max() <= 0.8 * n and wider:
            best = gap
    return best


def _twins(rows: FloatArray) -> float:
    """Share of the rows that are there more than once."""
    _, counts = np.unique(rows, axis=0, return_counts=True)
    return float(counts[counts > 1].sum() / len(rows))


def _largest_of_ten(tree: Hierarchy) -> float:
    """Share of the points in the largest of ten clusters."""
    return float(np.bincount(tree.cut(n_clusters=10)).max() / tree.n_leaves)


def _best_by_silhouette(rows: FloatArray, tree: Hierarchy) -> tuple[int | None, float]:
    """The number of clusters with the best silhouette; None if it is just the finest."""
    from sklearn.metrics import pairwise_distances, silhouette_score

    apart = pairwise_distances(rows)
    np.fill_diagonal(apart, 0)
    finest = max(len(rows) // 8, 3)
    counts = np.unique(np.geomspace(2, finest, 20).astype(np.int64))
    labels = tree.cut_many(counts)
    scores = [float(silhouette_score(apart, column, metric="precomputed")) for column in labels.T]
    best = int(np.argmax(scores))
    if counts[best] > finest // 2 or scores[best] < 0.1:
        return None, scores[best]
    return int(counts[best]), scores[best]
