# SPDX-License-Identifier: BSD-3-Clause
"""advice.py: which metric, linkage and cut for these rows, and why.

What is decided by looking, and by measuring a small tree:

    metric    from the rows' lengths, signs and zeros
    linkage   average where groups are separated, by the heights of its tree, or where many
              rows are twins, as in logs; else average or ward, whichever has the cut of the
              higher modularity on a graph of near neighbours
    cut       at a gap between heights, or by height as the cut by modularity that hardly depends
              on the resolution, and is much the same in both trees
    graph     a tree of neighbours instead, where rows of a table use few of its dimensions

`python -m benchmarks.choosing` measures the rules; docs/choosing.md has its table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ramify.checks import whole_number
from ramify.estimators import HAC, OHAC, GraphHAC, LiveGraphHAC
from ramify.estimators.seam import Linkage, ZeroRows
from ramify.hierarchy import FloatArray, Hierarchy
from ramify.hierarchy.seam import edges_between, steadiest
from ramify.looking import (
    Cuts,
    Sample,
    count_like,
    cuts_of,
    dimension,
    narrowed,
    sampled,
    twins,
    widest_gap,
)
from ramify.metric import COSINE, SQEUCLIDEAN, Metric, MetricName
from ramify.points import Expected, read_batch

_TOO_FEW = 10  # rows, to grow a tree and look at it
_GAP = 3.0  # between groups, as a multiple of the height within them
_TWINS = 1 / 3  # of the rows, that are there more than once
_AS_GOOD = 0.01  # of modularity: cuts that are this near to the best are as good
_ALIKE = 0.7  # cuts by modularity that share fewer of their pairs: no number stands out
_UNEVEN = 0.4  # of the number of groups: what there would be of the size most points see
_FEW = 0.3  # of the columns, that rows use: then a tree of neighbours is better than ward's
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
    graph_clusters : int or None
        Where a tree of neighbours mostly is better than either linkage: into how many clusters to
        cut it. None where it is not. It costs more: :meth:`graph_estimator`.
    zero_rows : str
        Option of :class:`OHAC`: ``"apart"`` where rows are compared by their directions, and
        some are all zeros.

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

    metric: MetricName
    linkage: Linkage
    cut: Mapping[str, Any]
    gamma: float
    scale: bool
    kind: str
    reasons: Mapping[str, str]
    zero_rows: ZeroRows = "error"
    graph_clusters: int | None = None

    def estimator(self) -> OHAC:
        """An online model with these options. Rows are yours to scale, where ``scale`` is True.

        Examples
        --------
        >>> import ramify
        >>> from ramify import datasets
        >>> ramify.recommend(datasets.intents().points).estimator()
        OHAC(linkage='ward', metric='cosine', n_clusters=75)
        """
        return OHAC(
            self.cut.get("n_clusters"),
            distance_threshold=self.cut.get("height"),
            metric=self.metric,
            linkage=self.linkage,
            zero_rows=self.zero_rows,
        )

    def graph_estimator(self) -> LiveGraphHAC:
        """A live tree of neighbours, where one is better. Rows are yours to scale as for another.

        Examples
        --------
        >>> import ramify
        >>> from sklearn.datasets import load_digits
        >>> advice = ramify.recommend(load_digits().data)
        >>> advice.graph_estimator()
        LiveGraphHAC(n_clusters=11)
        """
        if self.graph_clusters is None:
            raise ValueError(
                "no tree of neighbours is recommended for these rows: graph_clusters is None; "
                "estimator() has what is"
            )
        by_direction = self.metric == "cosine"
        return LiveGraphHAC(self.graph_clusters, metric="cosine" if by_direction else "sqeuclidean")

    def __repr__(self) -> str:
        lines = [f"<Recommendation for {self.kind}>"]
        lines += [f"  {name:9} {value:17} {self.reasons[name]}" for name, value in self._values()]
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
        if self.graph_clusters is not None:
            shown.append(("graph", f"n_clusters={self.graph_clusters}"))
        if self.zero_rows != "error":
            shown.insert(1, ("zero_rows", self.zero_rows))
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
        How many rows to look at, drawn with a fixed seed; fewer if they are very long. Of more
        than 1,000 columns, at most 2,000 directions stand for them. O(sample² (sample + d)).

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
    looked_at = sampled(rows, most)
    kind, metric, why_metric = _metric_for(looked_at)
    reasons = {"metric": why_metric}
    zero_rows: ZeroRows = "error"
    if metric.unit_rows and (empty := int((looked_at.lengths == 0).sum())):
        zero_rows = "apart"
        reasons["zero_rows"] = f"{empty:,} of {len(looked_at.lengths):,} rows are all zeros"
        looked_at = looked_at.without_empty()
    wide = ""
    if looked_at.is_wide:
        compared, gamma = narrowed(looked_at, metric)
    else:
        dense = looked_at.dense()
        wide = _too_wide(dense, metric)
        if wide:
            reasons["scale"] = wide
            spread = dense.std(axis=0)
            dense = (dense - dense.mean(axis=0)) / np.where(spread > 0, spread, 1)
        compared = metric.prepared(dense)
        gamma = fitting_gamma(compared)
    reasons["gamma"] = "one over the mean squared distance of two rows"
    may_be_graph = kind != "embeddings" and not looked_at.is_wide
    linkage, cut, more, graph = _cut_for(
        compared, twins(looked_at), metric, len(rows), may_be_graph
    )
    answers = MappingProxyType({**reasons, **more})
    return Recommendation(
        cast(MetricName, metric.name),
        linkage,
        MappingProxyType(cut),
        gamma,
        bool(wide),
        kind,
        answers,
        zero_rows,
        graph,
    )


def _metric_for(sample: Sample) -> tuple[str, Metric, str]:
    """What rows look like, how to compare them, and why."""
    d, lengths = sample.width, sample.lengths
    empty = int((lengths == 0).sum())
    counts = d >= 16 and sample.zeros >= 0.6 and sample.least >= 0
    if empty and not counts:
        return _table(d, "some rows are all zeros, which have no direction")
    if counts and 2 * empty <= len(lengths):
        zeros = f"no negative numbers, {min(sample.zeros, 0.99):.0%} zeros"
        why = f"{zeros}: a longer row says more, not something else"
        return "counts", COSINE, why
    if empty:
        return _table(d, "most rows are all zeros, which have no direction")
    if d >= 8 and lengths.max() < 1.02 * lengths.min():
        why = f"rows are all of length {lengths.mean():.3g}: only their directions differ"
        return "embeddings", COSINE, why
    if d >= 64 and sample.least < 0 and lengths.std() < 0.15 * lengths.mean():
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


def _cut_for(
    rows: FloatArray, share_of_twins: float, metric: Metric, n: int, may_be_graph: bool
) -> tuple[Linkage, dict[str, Any], dict[str, str], int | None]:
    """Linkage, cut, the reasons, and the number of clusters of a graph tree where it is better."""
    if len(rows) < _TOO_FEW:
        few = "too few rows to look at; ward makes clusters of like size"
        guess = max(1, round((n / 2) ** 0.5))
        start = f"a start for {n:,} rows, too few to look at: the root of half of them"
        return "ward", {"n_clusters": guess}, {"linkage": few, "cut": start}, None
    average = HAC().fit(rows).hierarchy()
    if average.heights[-1] == 0:
        alike = dict.fromkeys(("linkage", "cut"), "all rows are alike")
        return "ward", {"n_clusters": 1}, alike, None
    found = _by_height(average, share_of_twins, metric)
    if found is not None:
        return *found, None
    ward = HAC(linkage="ward").fit(rows).hierarchy()
    trees = [average, ward]
    edges = edges_between(average, rows)
    loose, even = cuts_of(trees, edges.ends[:, 1].reshape(len(rows), -1))
    linkage, why = _linkage_for(loose, even)
    best, which = steadiest(trees, edges), 0 if linkage == "average" else 1
    k = count_like(trees[which], best.labels[which])
    low, high = best.coarser[which], best.finer[which]
    where = "" if len(rows) == n else f" in a sample of {len(rows):,} rows"
    beside = f"at half and at twice the resolution there are {low} and {high}"
    start = f"modularity is steadiest there, and both linkages agree{where}; {beside}"
    if best.likeness < _ALIKE:
        start = f"no number stands out: modularity is steadiest there{where}, but {beside}"
    start += "; look at several: tree.levels(...)"
    reasons, graph = {"linkage": why, "cut": start}, None
    used, columns = dimension(rows), int((np.ptp(rows, axis=0) > 0).sum())
    if may_be_graph and used <= _FEW * columns:
        tree = GraphHAC().fit(rows).hierarchy()
        graph = count_like(tree, steadiest([*trees, tree], edges).labels[2])
        reasons["graph"] = (
            f"rows use about {used:.2g} of {columns} dimensions: a tree of neighbours, GraphHAC or "
            f"LiveGraphHAC, then mostly finds groups better, and takes longer"
        )
    return linkage, {"n_clusters": k}, reasons, graph


def _linkage_for(average: Cuts, ward: Cuts) -> tuple[Linkage, str]:
    """Which of the two keeps near neighbours together, and why."""
    loose, even = average.modularity.max(), ward.modularity.max()
    figures = f"modularity of the best cut: {loose:.3f} by average, {even:.3f} by ward"
    count, like = int(ward.counts[ward.best]), ward.even_count
    if loose > even + _AS_GOOD:
        return "average", f"groups touch, and average keeps near rows together best ({figures})"
    if loose >= even - _AS_GOOD and like < _UNEVEN * count:
        sizes = f"the sizes of {count} groups are as uneven as if there were {like:.1f}"
        return "average", f"groups touch, and {sizes} ({figures})"
    if loose > even:
        return "ward", f"groups touch, and average is better by less than {_AS_GOOD} ({figures})"
    return "ward", f"groups touch, and ward keeps near rows together best ({figures})"


def _by_height(
    average: Hierarchy, share_of_twins: float, metric: Metric
) -> tuple[Linkage, dict[str, Any], dict[str, str]] | None:
    """A cut at a gap between heights of average linkage, if there is one."""
    gap, why, where = widest_gap(average, _GAP), "", "between {low} and {high} nothing merges"
    if gap is not None:
        why = (
            f"groups are separated ({gap.groups} of them), and average linkage has heights that "
            f"can be read"
        )
    elif share_of_twins >= _TWINS:
        gap = widest_gap(average, 1.0)
        why = (
            f"{share_of_twins:.0%} of the rows have a twin, as in a log: groups may be of any size"
        )
        where = "the widest gap of heights, between {low} and {high}"
    if gap is None:
        return None
    told = metric.squares_per_distance  # heights of rows at unit length are halved squares
    low, high = (f"{height / told:.3g}" for height in (gap.low, gap.high))
    reasons = {"linkage": why, "cut": where.format(low=low, high=high)}
    return "average", {"height": gap.middle / told}, reasons
