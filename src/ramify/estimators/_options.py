# SPDX-License-Identifier: BSD-3-Clause
"""_options.py: the options that several clusterers share, checked.

scikit-learn forbids checks in ``__init__``; these run when data arrives, before
anything changes.
"""

from numbers import Real
from typing import ClassVar, Literal, TypeAlias

from ramify.checks import choices, is_whole, number, one_of, whole_number, yes_or_no
from ramify.estimators._settings import OfflineOptions, Options
from ramify.estimators._skipping import ZeroRows
from ramify.hierarchy import Hierarchy
from ramify.metric import (
    BY_NAME,
    DISTANCES,
    EUCLIDEAN,
    METRICS,
    SIMILARITIES,
    LinkedMetricName,
    Metric,
    either,
    names_of,
)

Linkage: TypeAlias = Literal["average", "centroid", "ward"]
LINKAGES = choices(Linkage)

#: Metrics of estimators that take a linkage.
LINKED = (METRICS["sqeuclidean"], EUCLIDEAN, METRICS["cosine"], METRICS["dot"])

#: Well-known choices that an online tree cannot offer, as SciPy calls them, or scikit-learn.
_METRICS_ELSEWHERE = {
    *("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "dice"),
    *("hamming", "jaccard", "jensenshannon", "l1", "mahalanobis", "manhattan"),
    *("minkowski", "rogerstanimoto", "russellrao", "seuclidean", "yule"),
}
_SCIPY_CALLS_IT = {"l1": "cityblock", "manhattan": "cityblock"}
_LINKAGES_ELSEWHERE = {"complete", "single", "median", "weighted"}
_WAY_OUT = (
    "SciPy has it, for all points at once: Z = scipy.cluster.hierarchy.linkage(X, {call}), then "
    "ramify.Hierarchy.from_linkage(Z) cuts, draws and measures that tree, and "
    "ramify.OHAC.from_hierarchy(tree, X) takes new points"
)
_OF_A_MATRIX = (
    ". A tree of rows needs the rows. SciPy makes the tree of a matrix D of distances: "
    "Z = scipy.cluster.hierarchy.linkage(scipy.spatial.distance.squareform(D), 'average'), then "
    "ramify.Hierarchy.from_linkage(Z) cuts and draws that tree"
)
_WHY = (
    ". It cannot be computed from a cluster's size, mean and spread, so an online insert "
    "would have to look at every point again. "
)


#: What to tell of plain Euclidean distances where there is no linkage to go with them.
_SQUARED = "metric='sqeuclidean' compares rows alike, and its distances are the squares"


class TakesLinkage:
    """The constructor of offline HAC, once and after every call."""

    _metrics: ClassVar[tuple[Metric, ...]] = LINKED
    _Options: ClassVar[type[Options]] = OfflineOptions

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        min_size: int | None = None,
        metric: LinkedMetricName = "sqeuclidean",
        linkage: Linkage = "average",
        zero_rows: ZeroRows = "error",
        n_jobs: int | None = None,
        history: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.min_size = min_size
        self.metric: str = metric
        self.linkage = linkage
        self.zero_rows: str = zero_rows
        self.n_jobs = n_jobs
        self.history = history


def check_metric(metric: object, offered: tuple[Metric, ...]) -> Metric:
    """Return the metric if it is one of the estimator's.

    Examples
    --------
    >>> check_metric("cosine", DISTANCES).unit_rows
    True
    """
    hint = _way_out(metric) if isinstance(metric, str) else ""
    return BY_NAME[one_of("metric", metric, names_of(offered), hint=hint)]


def _way_out(metric: str) -> str:
    """What to do instead of a metric that is known elsewhere."""
    if metric == "precomputed":
        return _OF_A_MATRIX
    if metric in (EUCLIDEAN.name, "l2"):
        return f"; {_SQUARED}"
    if metric in _METRICS_ELSEWHERE:
        name = _SCIPY_CALLS_IT.get(metric, metric)
        return _WHY + _WAY_OUT.format(call=f"'average', {name!r}")
    return ""


def check_linkage(linkage: object, metric: Metric) -> str:
    """Return the linkage if it is one of ours and fits the metric.

    Examples
    --------
    >>> check_linkage("ward", METRICS["sqeuclidean"])
    'ward'
    """
    hint = ""
    if isinstance(linkage, str) and linkage in _LINKAGES_ELSEWHERE:
        hint = _WHY + _WAY_OUT.format(call=repr(linkage))
    chosen = one_of("linkage", linkage, LINKAGES, hint=hint)
    if chosen == "average" and metric.rooted:
        raise ValueError(
            f"metric='euclidean' goes with linkage 'ward' and 'centroid', and not with 'average'"
            f"{_WHY}Choose metric='sqeuclidean' for the mean of the squares. "
            f"{_WAY_OUT.format(call=repr('average'))}"
        )
    if chosen == "ward" and not metric.allows_ward:
        raise ValueError(
            f"linkage='ward' minimises squared distances to the mean, and metric={metric.name!r} "
            f"has no distance; choose linkage 'average' or 'centroid', or metric "
            f"{either(DISTANCES)}"
        )
    return chosen


def check_certify(certify: object, metric: Metric) -> bool:
    """Return whether a certificate is kept, if the metric allows for one.

    Examples
    --------
    >>> check_certify(True, METRICS["dot"])
    True
    """
    if yes_or_no("certify", certify) and metric not in SIMILARITIES:
        raise ValueError(
            f"certify=True needs similarities that cannot be negative, and those of "
            f"metric={metric.name!r} are never positive; choose metric {either(SIMILARITIES)}, "
            f"with rows that hold no negative numbers"
        )
    return bool(certify)


def check_cut(n_clusters: object, distance_threshold: object, min_size: object = None) -> None:
    """Refuse both cut options at once, a least size alone, and values that cut no tree.

    Examples
    --------
    >>> check_cut(3, None)
    """
    if n_clusters is not None and distance_threshold is not None:
        raise ValueError(
            f"n_clusters={n_clusters!r} and distance_threshold={distance_threshold!r} "
            f"are both set; set one of them and leave the other at None"
        )
    if n_clusters is not None:
        whole_number("n_clusters", n_clusters)
    if distance_threshold is not None:
        number("distance_threshold", distance_threshold)
    if min_size is not None:
        whole_number("min_size", min_size)
        if n_clusters is None and distance_threshold is None:
            raise ValueError("min_size goes with n_clusters or distance_threshold; set one")


def check_history(history: object) -> int:
    """Return how many versions a model remembers."""
    return whole_number("history", history, least=0)


def own_number(tree: Hierarchy, n_clusters: object, height: object) -> int | None:
    """How many clusters a model's own cut has; None if it has none, or one that makes no sense."""
    if is_whole(n_clusters):
        return int(n_clusters) if 1 <= n_clusters <= tree.n_leaves else None  # type: ignore[operator]
    if n_clusters is None and isinstance(height, Real):
        return 1 + int((tree.monotone_heights > float(height)).sum())
    return None
