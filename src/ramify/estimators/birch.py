# SPDX-License-Identifier: BSD-3-Clause
"""birch.py: BIRCH, a baseline: scikit-learn's CF tree as a hierarchy of the points."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ramify import _core
from ramify.checks import number_above_zero, whole_number
from ramify.estimators._online import OnlineClusterer
from ramify.estimators._settings import Arrays, Options, Settings, Shape, checked, remembered
from ramify.estimators._skipping import ZeroRows
from ramify.metric import DISTANCES, DistanceName, Metric


@dataclass(frozen=True)
class BIRCHOptions(Options):
    """See :class:`BIRCH`."""

    threshold: float = checked(number_above_zero)
    branching_factor: int = checked(whole_number, 2, 2**31 - 1)

    def for_core(self, settings: Settings) -> _core.Options:
        """The core's tree keeps the points."""
        return _core.Options.nested(settings.metric.core, settings.linkage)

    def tree_over(self, store: Any, settings: Settings, arrays: Arrays | None = None) -> Any:
        """scikit-learn's tree of the points that the core keeps."""
        from ramify.estimators._cf_tree import CFTree  # loads sklearn.cluster

        grouped = 0 if arrays is None else int(arrays["grouped"][0])
        return CFTree(store, self.threshold, self.branching_factor, grouped)

    def memory(self, slots: int, width: int, arrays: Arrays) -> dict[str, Shape]:
        """How many points the binary tree was made of."""
        return {**remembered(), "grouped": (np.int64, (1,))}

    def check_memory(self, points: int, width: int, arrays: Arrays) -> None:
        """Points that are grouped are there."""
        if not 0 <= arrays["grouped"][0] <= points:
            raise ValueError("it has grouped points that it lacks")


class BIRCH(OnlineClusterer):
    """BIRCH: scikit-learn's ``Birch`` with all points in one binary tree, a baseline.

    Rows stream into scikit-learn's CF tree. Its nodes and subclusters become nodes
    of the hierarchy: every point goes to the closest centroid at each node on its
    way down, and the members of each node, and the points of each subcluster, are
    made binary by average-linkage HAC. (A subcluster of more than 1000 points is
    halved at the median of its widest side first.) The points are kept, which
    ``Birch`` itself does not need.

    The tree depends on the order of the points. It is made when someone looks, so
    the ids of its nodes do not survive an insert.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters in ``labels_``, by a cut of the hierarchy. At most one of
        this and ``distance_threshold`` may be set; with neither there are no labels,
        and ``hierarchy().cut(...)`` makes them.
    distance_threshold : float, optional
        Clusters merge only strictly below this height.
    min_size : int, optional
        Of clusters in ``labels_``, beside one of these: a branch of fewer points is no
        cluster and stays with the branch beside it (:meth:`Hierarchy.cut`).
    metric : {"sqeuclidean", "cosine"}, default="sqeuclidean"
        Squared Euclidean distance, of the rows as they are or scaled to unit length;
        then heights are one minus the cosine.
    zero_rows : {"error", "skip", "apart"}, default="error"
        What becomes of rows of zeros under ``metric="cosine"``. ``"error"``: the batch is
        refused. ``"skip"``: they are not kept; see ``n_skipped_``. ``"apart"``: they are kept,
        as rows that are like nothing but each other: at the distance 1 from every other row,
        and 0 from other rows of zeros.
    threshold : float, default=0.5
        A subcluster takes a point only if its radius stays within this.
    branching_factor : int, default=50
        Most subclusters a CF node may have.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of every point so far, numbered from 0 in order of first points.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    n_leaves_ : int
        Number of leaves: one for each point that is there.
    n_skipped_ : int
        Number of rows that were given and not kept: of zeros with
        ``zero_rows="skip"``.
    children_ : array of shape (n - 1, 2)
        The two nodes that each merge joined; see :class:`Hierarchy`.
    distances_ : array of shape (n - 1,)
        Non-decreasing heights of the merges: the mean distance between the points
        of the two children, or the largest height below if that is larger.
    n_features_in_ : int
        Width of the rows.
    feature_names_in_ : array of shape (d,)
        Column names, if the first batch was a frame with string names.
    ids_ : array of shape (n,)
        Ids of the points, if they were given any.

    References
    ----------
    T. Zhang, R. Ramakrishnan, M. Livny: BIRCH: an efficient data clustering method
    for very large databases. SIGMOD 1996.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.BIRCH(n_clusters=2)
    >>> for batch in ([[0.0], [1.0]], [[9.0]], [[0.5], [8.0]]):
    ...     model = model.partial_fit(batch)
    >>> model.labels_
    array([0, 0, 1, 0, 1])
    """

    _algorithm: ClassVar[str] = "birch"
    _Options: ClassVar[type[Options]] = BIRCHOptions
    _metrics: ClassVar[tuple[Metric, ...]] = DISTANCES

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        min_size: int | None = None,
        metric: DistanceName = "sqeuclidean",
        zero_rows: ZeroRows = "error",
        threshold: float = 0.5,
        branching_factor: int = 50,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.min_size = min_size
        self.metric = metric
        self.zero_rows = zero_rows
        self.threshold = threshold
        self.branching_factor = branching_factor
