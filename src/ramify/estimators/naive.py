# SPDX-License-Identifier: BSD-3-Clause
"""naive.py: the paper's two baselines, Naïve₁ (NaiveHAC) and Naïve₂ (NaiveNN)."""

from typing import ClassVar

from ramify.estimators._changing import ChangingClusterer
from ramify.estimators._choice import Keep
from ramify.estimators._options import LINKED, Linkage, TakesLinkage
from ramify.estimators._settings import CountingOptions, Duplicates, Options
from ramify.estimators._skipping import ZeroRows
from ramify.metric import LinkedMetricName, Metric


class NaiveHAC(TakesLinkage, ChangingClusterer):
    """The paper's Naïve₁: offline HAC of all points so far, after every call.

    The best tree an online method can be compared with, and the slowest to get: use
    it for small n. Within one batch only the last tree can be seen, so only the last
    is built; inserting points one by one builds one tree a point. The tree does not
    depend on the order of the points, except for ties: of equally close merges, the
    smaller union comes first, then the one that holds the earlier point.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters in ``labels_``. At most one of this and
        ``distance_threshold`` may be set; with neither there are no labels, and
        ``hierarchy().cut(...)`` makes them.
    distance_threshold : float, optional
        Clusters merge only strictly below this height.
    min_size : int, optional
        Of clusters in ``labels_``, beside one of these: a branch of fewer points is no
        cluster and stays with the branch beside it (:meth:`Hierarchy.cut`).
    metric : {"sqeuclidean", "euclidean", "cosine", "dot"}, default="sqeuclidean"
        Squared Euclidean distance; the distance itself, with linkage "ward" or "centroid",
        whose trees and heights are those of "sqeuclidean"; one minus the cosine, where
        no row may be all zeros, but see ``zero_rows``; or minus the inner product.
    linkage : {"average", "centroid", "ward"}, default="average"
        Distance of two clusters: the mean over their pairs of points; between their
        means; or the growth of the squared distances to the mean if they merged
        (not with ``metric="dot"``). Heights are those of SciPy's ``linkage``.
    zero_rows : {"error", "skip", "apart"}, default="error"
        What becomes of rows of zeros under ``metric="cosine"``. ``"error"``: the batch is
        refused. ``"skip"``: they are not kept; see ``n_skipped_``. ``"apart"``: they are kept,
        as rows that are like nothing but each other: at the distance 1 from every other row,
        and 0 from other rows of zeros.
    n_jobs : int, optional
        Threads that take part: None for one, -1 for one a processor. They share searches
        among wide rows, of which each takes long; narrow ones gain nothing. The tree is the
        same for any number.
    history : int, default=0
        How many versions, of those that were read from ``version``, can be asked about
        later: see :meth:`changes`, :meth:`dirty` and :meth:`lineage`. 0 remembers none and
        costs nothing; otherwise inserts note what they touch, and a copy of the tree as it
        was then is kept. May change at any time.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of every point so far, numbered from 0 in order of first points.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    n_leaves_ : int
        Number of leaves: one for each point that is there.
    n_points_ : int
        Number of points that are there.
    n_skipped_ : int
        Number of rows that were given and not kept: of weight 0, or of zeros with
        ``zero_rows="skip"``.
    children_ : array of shape (n - 1, 2)
        The two nodes that each merge joined; see :class:`Hierarchy`.
    distances_ : array of shape (n - 1,)
        Non-decreasing heights of the merges: the linkage of the two children, or the
        largest height below if that is larger.
    n_features_in_ : int
        Width of the rows.
    feature_names_in_ : array of shape (d,)
        Column names, if the first batch was a frame with string names.
    ids_ : array of shape (n,)
        Ids of the points, if they were given any.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.NaiveHAC(n_clusters=2).partial_fit([[0.0], [9.0]])
    >>> model.insert([1.0])
    2
    >>> model.labels_
    array([0, 1, 0])
    """

    _algorithm: ClassVar[str] = "naive_hac"


class NaiveNN(ChangingClusterer):
    """The paper's Naïve₂: a new point becomes the sibling of its nearest leaf.

    Nothing else moves, so early mistakes stay; it shows what :class:`OHAC`'s
    re-merging is worth. The tree depends on the order of the points. Equally near
    leaves: the one that arrived first.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters in ``labels_``. At most one of this and
        ``distance_threshold`` may be set; with neither there are no labels, and
        ``hierarchy().cut(...)`` makes them.
    distance_threshold : float, optional
        Clusters merge only strictly below this height.
    min_size : int, optional
        Of clusters in ``labels_``, beside one of these: a branch of fewer points is no
        cluster and stays with the branch beside it (:meth:`Hierarchy.cut`).
    metric : {"sqeuclidean", "euclidean", "cosine", "dot"}, default="sqeuclidean"
        Squared Euclidean distance; the distance itself, with linkage "ward" or "centroid",
        whose trees and heights are those of "sqeuclidean"; one minus the cosine, where
        no row may be all zeros, but see ``zero_rows``; or minus the inner product.
    linkage : {"average", "centroid", "ward"}, default="average"
        Distance of two clusters: the mean over their pairs of points; between their
        means; or the growth of the squared distances to the mean if they merged
        (not with ``metric="dot"``). Heights are those of SciPy's ``linkage``.
    zero_rows : {"error", "skip", "apart"}, default="error"
        What becomes of rows of zeros under ``metric="cosine"``. ``"error"``: the batch is
        refused. ``"skip"``: they are not kept; see ``n_skipped_``. ``"apart"``: they are kept,
        as rows that are like nothing but each other: at the distance 1 from every other row,
        and 0 from other rows of zeros.
    keep : Last or Younger, optional
        Which points stay: the last so many (:class:`Last`), or those young enough
        (:class:`Younger`).
    duplicates : {"keep", "count"}, default="keep"
        ``"count"``: a row that equals a stored one raises the weight of its leaf, instead
        of adding a leaf. ``labels_`` still has an entry for each point.
    history : int, default=0
        How many versions, of those that were read from ``version``, can be asked about
        later: see :meth:`changes`, :meth:`dirty` and :meth:`lineage`. 0 remembers none and
        costs nothing; otherwise inserts note what they touch, and a copy of the tree as it
        was then is kept. May change at any time.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of every point so far, numbered from 0 in order of first points.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    n_leaves_ : int
        Number of leaves: one for each point that is there, unless some stand for
        several (``duplicates``).
    n_points_ : int
        Number of points that are there.
    n_skipped_ : int
        Number of rows that were given and not kept: of weight 0, or of zeros with
        ``zero_rows="skip"``, or too old already.
    children_ : array of shape (n - 1, 2)
        The two nodes that each merge joined; see :class:`Hierarchy`.
    distances_ : array of shape (n - 1,)
        Non-decreasing heights of the merges: the linkage of the two children, or the
        largest height below if that is larger.
    n_features_in_ : int
        Width of the rows.
    feature_names_in_ : array of shape (d,)
        Column names, if the first batch was a frame with string names.
    ids_ : array of shape (n,)
        Ids of the points, if they were given any.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.NaiveNN(n_clusters=2)
    >>> model.fit_predict([[0.0], [9.0], [1.0]])
    array([0, 1, 0])
    """

    _algorithm: ClassVar[str] = "naive_nn"
    _metrics: ClassVar[tuple[Metric, ...]] = LINKED
    _Options: ClassVar[type[Options]] = CountingOptions

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        min_size: int | None = None,
        metric: LinkedMetricName = "sqeuclidean",
        linkage: Linkage = "average",
        zero_rows: ZeroRows = "error",
        keep: Keep | None = None,
        duplicates: Duplicates = "keep",
        history: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.min_size = min_size
        self.metric = metric
        self.linkage = linkage
        self.zero_rows = zero_rows
        self.keep = keep
        self.duplicates = duplicates
        self.history = history
