# SPDX-License-Identifier: BSD-3-Clause
"""_options.py: the options that several clusterers share, checked.

scikit-learn forbids checks in ``__init__``; these run when data arrives, before
anything changes.
"""

from ramify.checks import number, one_of, whole_number, yes_or_no
from ramify.metric import DISTANCES, METRICS, SIMILARITIES, Metric, either, names_of

LINKAGES = ("average", "centroid", "ward")

#: Well-known choices that an online tree cannot offer.
_NOT_ADMISSIBLE = {"complete", "single", "median", "weighted", "euclidean", "cityblock", "l1", "l2"}
_WHY = (
    ". It cannot be computed from a cluster's size, mean and spread, so an online insert "
    "would have to look at every point again."
)


class TakesLinkage:
    """The constructor of offline HAC, once and after every call."""

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        metric: str = "sqeuclidean",
        linkage: str = "average",
        n_jobs: int | None = None,
        history: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.metric = metric
        self.linkage = linkage
        self.n_jobs = n_jobs
        self.history = history


def check_metric(metric: object, offered: tuple[Metric, ...]) -> Metric:
    """Return the metric if it is one of the estimator's.

    Examples
    --------
    >>> check_metric("cosine", DISTANCES).unit_rows
    True
    """
    return METRICS[_admissible("metric", metric, names_of(offered))]


def check_linkage(linkage: object, metric: Metric) -> str:
    """Return the linkage if it is one of ours and fits the metric.

    Examples
    --------
    >>> check_linkage("ward", METRICS["sqeuclidean"])
    'ward'
    """
    chosen = _admissible("linkage", linkage, LINKAGES)
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


def check_cut(n_clusters: object, distance_threshold: object) -> None:
    """Refuse both cut options at once, and values that cut no tree.

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


def _admissible(name: str, found: object, offered: tuple[str, ...]) -> str:
    known = isinstance(found, str) and found in _NOT_ADMISSIBLE
    return one_of(name, found, offered, hint=_WHY if known else "")
