# SPDX-License-Identifier: BSD-3-Clause
"""perch.py: PERCH, a baseline that rotates its tree."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from ramify import _core
from ramify.checks import choices, one_of, one_of_or_none, whole_number, whole_number_or_none
from ramify.estimators._changing import ChangingClusterer
from ramify.estimators._choice import Keep
from ramify.estimators._settings import (
    Arrays,
    CountingOptions,
    Duplicates,
    Options,
    Settings,
    Shape,
    checked,
    remembered,
)
from ramify.estimators._skipping import ZeroRows
from ramify.metric import DISTANCES, DistanceName, Metric

Bounds: TypeAlias = Literal["reference", "sound"]
Balance: TypeAlias = Literal["reference", "python"]


@dataclass(frozen=True, kw_only=True)
class PERCHOptions(CountingOptions):
    """See :class:`PERCH`."""

    bounds: str = checked(one_of, choices(Bounds))
    balance: str | None = checked(one_of_or_none, choices(Balance))
    exact_distance_threshold: int = checked(whole_number, 0)
    max_leaves: int | None = checked(whole_number_or_none)

    def for_core(self, settings: Settings) -> _core.Options:
        """These options as the core takes them."""
        return _core.Options.perch(
            settings.metric.core,
            settings.linkage,
            bounds=self.bounds,
            balance=self.balance,
            exact_distance_threshold=self.exact_distance_threshold,
            max_leaves=self.max_leaves,
            count_repeats=self.counts_repeats,
        )

    def memory(self, slots: int, width: int, arrays: Arrays) -> dict[str, Shape]:
        """Nodes that have been collapsed."""
        return remembered(marks=0 if self.max_leaves is None else min(arrays["marks"].size, slots))


class PERCH(ChangingClusterer):
    """PERCH: purity enhancing rotations for cluster hierarchies, a baseline.

    A new point becomes the sibling of its nearest leaf. Then, upwards from there, a
    node that lies nearer to its aunt than to its sibling changes them over, and
    another pass up to the root does so where it makes the tree more balanced and no
    clear harm. The default gives the trees of the authors' code, cluster for
    cluster, on data without ties. On well separated clusters every cluster is a
    node of the tree.

    The tree depends on the order of the points. Equally near leaves: the one that
    arrived first.

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
    metric : {"sqeuclidean", "cosine"}, default="sqeuclidean"
        Euclidean distance, of the rows as they are or scaled to unit length; heights
        are squared distances, or one minus the cosine.
    zero_rows : {"error", "skip", "apart"}, default="error"
        What becomes of rows of zeros under ``metric="cosine"``. ``"error"``: the batch is
        refused. ``"skip"``: they are not kept; see ``n_skipped_``. ``"apart"``: they are kept,
        as rows that are like nothing but each other: at the distance 1 from every other row,
        and 0 from other rows of zeros.
    bounds : {"reference", "sound"}, default="reference"
        How far apart two boxes are. The authors look at two corners of each, which
        bounds nothing in two or more dimensions; the sound bounds do.
    balance : {"reference", "python", None}, default="reference"
        When a rotation counts as more balanced: as in the authors' Scala code, as in
        their Python code, or never.
    exact_distance_threshold : int, default=10
        Nodes of up to this many points are looked at point by point instead of by
        their box.
    max_leaves : int, optional
        Collapsed mode: whenever more leaves than this are there, the two that are
        closest together, by the same bounds, count as one leaf from then on. The
        points below stay in the hierarchy, in the shape that they had then; a later
        point becomes the sibling of the whole.
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
        several (``duplicates``, ``max_leaves``).
    n_points_ : int
        Number of points that are there.
    n_skipped_ : int
        Number of rows that were given and not kept: of weight 0, or of zeros with
        ``zero_rows="skip"``, or too old already.
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
    A. Kobren, N. Monath, A. Krishnamurthy, A. McCallum: A hierarchical algorithm for
    extreme clustering. KDD 2017.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.PERCH(n_clusters=2)
    >>> for batch in ([[0.0], [1.0]], [[9.0]], [[0.5], [8.0]]):
    ...     model = model.partial_fit(batch)
    >>> model.labels_
    array([0, 0, 1, 0, 1])
    """

    _algorithm: ClassVar[str] = "perch"
    _Options: ClassVar[type[Options]] = PERCHOptions
    _metrics: ClassVar[tuple[Metric, ...]] = DISTANCES

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        min_size: int | None = None,
        metric: DistanceName = "sqeuclidean",
        zero_rows: ZeroRows = "error",
        bounds: Bounds = "reference",
        balance: Balance | None = "reference",
        exact_distance_threshold: int = 10,
        max_leaves: int | None = None,
        keep: Keep | None = None,
        duplicates: Duplicates = "keep",
        history: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.min_size = min_size
        self.metric = metric
        self.zero_rows = zero_rows
        self.bounds = bounds
        self.balance = balance
        self.exact_distance_threshold = exact_distance_threshold
        self.max_leaves = max_leaves
        self.keep = keep
        self.duplicates = duplicates
        self.history = history
