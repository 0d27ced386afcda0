# SPDX-License-Identifier: BSD-3-Clause
"""grinch.py: GRINCH, a baseline that rotates, grafts and restructures."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from ramify import _core
from ramify.checks import choices, one_of_or_none, whole_number_or_none, yes_or_no
from ramify.estimators._online import OnlineClusterer
from ramify.estimators._settings import Arrays, Options, Settings, Shape, checked, remembered
from ramify.estimators._skipping import ZeroRows
from ramify.metric import MetricName

Graft: TypeAlias = Literal["reference", "full"]


@dataclass(frozen=True)
class GRINCHOptions(Options):
    """See :class:`GRINCH`."""

    graft: str | None = checked(one_of_or_none, choices(Graft))
    restructure: bool = checked(yes_or_no)
    rotate_cap: int | None = checked(whole_number_or_none)
    graft_cap: int | None = checked(whole_number_or_none)
    restructure_cap: int | None = checked(whole_number_or_none)

    def for_core(self, settings: Settings) -> _core.Options:
        """These options as the core takes them."""
        return _core.Options.grinch(
            settings.metric.core,
            settings.linkage,
            graft=self.graft,
            restructure=self.restructure,
            rotate_cap=self.rotate_cap,
            graft_cap=self.graft_cap,
            restructure_cap=self.restructure_cap,
        )

    def memory(self, slots: int, width: int, arrays: Arrays) -> dict[str, Shape]:
        """Of each inner node a count and flags, then size, spread, score and mean."""
        return remembered(marks=2 * slots, numbers=(3 + width) * slots)

    def check_memory(self, points: int, width: int, arrays: Arrays) -> None:
        """The count is the reference's, which may be told of a point twice: it bounds nothing."""
        flags = arrays["marks"].reshape(-1, 2)[:, 1]
        sizes, spreads = arrays["numbers"].reshape(-1, 3 + width)[:, :2].T
        if (flags > 3).any():
            raise ValueError("a mark is impossible")
        if not ((sizes >= 0) & (sizes <= points)).all():
            raise ValueError("a summary has an impossible size")
        if (sizes[(flags & 1) == 0] < 1).any() or (spreads < 0).any():
            raise ValueError("a summary is impossible")


class GRINCH(OnlineClusterer):
    """GRINCH: an online tree that grafts distant subtrees together, a baseline.

    A new point starts at its nearest leaf and goes up to where it fits, by average
    linkage. Then the subtree it is in looks for the closest leaf elsewhere: that
    leaf, or a subtree around it, is moved over if both sides gain, and what was left
    behind may swap its new sibling for a closer one. The default follows the
    authors' code, its quirks included: ``core/algorithms/grinch.hpp`` lists them.

    The tree depends on the order of the points. Equally close leaves: the one that
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
    metric : {"sqeuclidean", "cosine", "dot"}, default="sqeuclidean"
        Squared Euclidean distance; one minus the cosine, where no row may be all
        zeros; or minus the inner product. The linkage is its average.
    zero_rows : {"error", "skip", "apart"}, default="error"
        What becomes of rows of zeros under ``metric="cosine"``. ``"error"``: the batch is
        refused. ``"skip"``: they are not kept; see ``n_skipped_``. ``"apart"``: they are kept,
        as rows that are like nothing but each other: at the distance 1 from every other row,
        and 0 from other rows of zeros.
    graft : {"reference", "full", None}, default="reference"
        Try one graft an insert, as the authors' code does; try again and again on
        the way up to the root, which is slow; or never.
    restructure : bool, default=True
        Let what a graft left behind swap its sibling.
    rotate_cap, graft_cap, restructure_cap : int, optional
        Leave larger nodes alone: a new point does not go up beyond ``rotate_cap``
        points, grafts take nodes of fewer than ``graft_cap``, and swaps stay below
        nodes of fewer than ``restructure_cap``.
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
    N. Monath, A. Kobren, A. Krishnamurthy, M. Glass, A. McCallum: Scalable
    hierarchical clustering with tree grafting. KDD 2019.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.GRINCH(n_clusters=2)
    >>> for batch in ([[0.0], [1.0]], [[9.0]], [[0.5], [8.0]]):
    ...     model = model.partial_fit(batch)
    >>> model.labels_
    array([0, 0, 1, 0, 1])
    """

    _algorithm: ClassVar[str] = "grinch"
    _Options: ClassVar[type[Options]] = GRINCHOptions

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        min_size: int | None = None,
        metric: MetricName = "sqeuclidean",
        zero_rows: ZeroRows = "error",
        graft: Graft | None = "reference",
        restructure: bool = True,
        rotate_cap: int | None = None,
        graft_cap: int | None = None,
        restructure_cap: int | None = None,
        history: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.min_size = min_size
        self.metric = metric
        self.zero_rows = zero_rows
        self.graft = graft
        self.restructure = restructure
        self.rotate_cap = rotate_cap
        self.graft_cap = graft_cap
        self.restructure_cap = restructure_cap
        self.history = history
