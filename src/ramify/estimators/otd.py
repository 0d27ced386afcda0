# SPDX-License-Identifier: BSD-3-Clause
"""otd.py: online top-down clustering, the paper's Algorithm 1."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias

from ramify import _core
from ramify.checks import choices, one_of, yes_or_no
from ramify.estimators._choice import Keep
from ramify.estimators._guard import alone
from ramify.estimators._options import check_certify
from ramify.estimators._reshaping import ReshapingClusterer
from ramify.estimators._settings import (
    Arrays,
    CountingOptions,
    Duplicates,
    Options,
    Settings,
    Shape,
    remembered,
)
from ramify.estimators._skipping import ZeroRows, check_zero_rows, require_directions
from ramify.estimators.certificate import Certificate
from ramify.metric import Metric, MetricName
from ramify.points import Rows, check_not_negative
from ramify.sparse import SparseRows

Rule: TypeAlias = Literal["paper", "split"]


@dataclass(frozen=True, kw_only=True)
class OTDOptions(CountingOptions):
    """See :class:`OTD`."""

    certify: bool
    rule: str = "paper"
    rotate: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any], metric: Metric) -> Self:
        """Whether a certificate is kept, which depends on the metric."""
        found = cls(
            certify=check_certify(given["certify"], metric),
            duplicates=one_of("duplicates", given["duplicates"], choices(Duplicates)),
            rule=one_of("rule", given["rule"], choices(Rule)),
            rotate=yes_or_no("rotate", given["rotate"]),
            zero_rows=check_zero_rows("zero_rows", given["zero_rows"]),
        )
        require_directions(found.zero_rows, metric)
        if found.certify and (found.rule != "paper" or found.rotate):
            raise ValueError("certify=True: the proof is for rule='paper' without rotate")
        if found.certify and found.counts_repeats:
            raise ValueError("duplicates='count': a certificate is for trees of single points")
        return found

    @property
    def unchangeable(self) -> str | None:
        """The proof is for streams that nothing is taken out of."""
        return "a certificate is for streams of single points that stay" if self.certify else None

    @property
    def own_shape(self) -> str | None:
        """The proof is for trees that OTD has made."""
        return "a certificate is for trees of OTD's own shape" if self.certify else None

    def check_rows(self, rows: Rows | SparseRows) -> None:
        """Refuse negative numbers where a certificate forbids them."""
        if self.certify:
            check_not_negative(rows, "certify=True")

    def for_core(self, settings: Settings) -> _core.Options:
        """These options as the core takes them."""
        return _core.Options.otd(
            settings.metric.core,
            settings.linkage,
            certify=self.certify,
            rule=self.rule,
            rotate=self.rotate,
            count_repeats=self.counts_repeats,
        )

    def memory(self, slots: int, width: int, arrays: Arrays) -> dict[str, Shape]:
        """Sums of the certificate."""
        return remembered(numbers=7 if self.certify else 0)


class OTD(ReshapingClusterer):
    """Online top-down clustering: the fastest insert, with a guarantee on revenue.

    A new point walks down from the root and stops at the first subtree whose points
    are at least as similar to each other, on average, as they are to the new point;
    there it becomes a sibling. Otherwise it goes on to the child it is more similar
    to; equal similarity goes to the second child.

    The tree depends on the order of the points. On shuffled data a third to a half of
    the points stop at the root, so trees are near-chains, and cutting off a few
    clusters mostly cuts off single points: prefer :class:`OHAC` for labels.

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
    metric : {"sqeuclidean", "cosine", "dot"}, default="sqeuclidean"
        Squared Euclidean distance; one minus the cosine, where no row may be all
        zeros; or minus the inner product. Similarity is its negative.
    zero_rows : {"error", "skip", "apart"}, default="error"
        What becomes of rows of zeros under ``metric="cosine"``. ``"error"``: the batch is
        refused. ``"skip"``: they are not kept; see ``n_skipped_``. ``"apart"``: they are kept,
        as rows that are like nothing but each other: at the distance 1 from every other row,
        and 0 from other rows of zeros.
    certify : bool, default=False
        Keep what :meth:`certificate` needs. Only for similarities that cannot be
        negative: ``metric="dot"`` or ``"cosine"``, and rows without negative numbers;
        others are refused.
    rule : {"paper", "split"}, default="paper"
        When a point stops. ``"split"`` is not the paper's: stop where the two children are at
        least as similar to each other as the point is to either. Trees of separated groups
        become far better; on one large cloud of points, or in many dimensions, it helps
        little by itself.
    rotate : bool, default=False
        After a point has settled, go back up its path, and let neighbouring branches change
        places where that raises the tree's revenue. Not the paper's. With ``rule="split"``
        trees of low-dimensional data come close to OHAC's, at a fraction of its time.
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
        Non-decreasing heights of the merges: the mean distance between the points
        of the two children, or the largest height below if that is larger.
    n_features_in_ : int
        Width of the rows.
    feature_names_in_ : array of shape (d,)
        Column names, if the first batch was a frame with string names.
    ids_ : array of shape (n,)
        Ids of the points, if they were given any.

    Notes
    -----
    O(depth of the stop) a point: two or three steps on shuffled data.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OTD(n_clusters=2)
    >>> for batch in ([[0.0], [1.0]], [[9.0]], [[0.5]]):
    ...     model = model.partial_fit(batch)
    >>> model.labels_
    array([0, 0, 1, 0])
    """

    _algorithm: ClassVar[str] = "otd"
    _Options: ClassVar[type[Options]] = OTDOptions

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        min_size: int | None = None,
        metric: MetricName = "sqeuclidean",
        zero_rows: ZeroRows = "error",
        certify: bool = False,
        rule: Rule = "paper",
        rotate: bool = False,
        keep: Keep | None = None,
        duplicates: Duplicates = "keep",
        history: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.min_size = min_size
        self.metric = metric
        self.zero_rows = zero_rows
        self.certify = certify
        self.rule = rule
        self.rotate = rotate
        self.keep = keep
        self.duplicates = duplicates
        self.history = history

    @alone
    def certificate(self) -> Certificate:
        """The revenue that is proven for this stream, beside what the tree earns.

        Only on models with ``certify=True`` from their first point on. O(1).

        Returns
        -------
        Certificate

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OTD(metric="cosine", certify=True)
        >>> proof = model.fit([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]).certificate()
        >>> proof.guaranteed <= proof.achieved <= proof.maximum
        True
        """
        live = self._fitted()
        options = live.settings.options
        if not (isinstance(options, OTDOptions) and options.certify):
            raise ValueError(
                "this model keeps no certificate; set certify=True before the first point"
            )
        return Certificate(len(live), *live.certificate())
