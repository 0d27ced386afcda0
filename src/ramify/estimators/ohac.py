# SPDX-License-Identifier: BSD-3-Clause
"""ohac.py: online HAC, the paper's Algorithm 2."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeAlias

from ramify import _core
from ramify.checks import choices, one_of, one_of_or_none, whole_number, yes_or_no
from ramify.estimators._choice import (
    OF_OHAC,
    Budget,
    Choice,
    Keep,
    Neighbors,
    check_neighbors,
    check_recall,
)
from ramify.estimators._edits import Editor
from ramify.estimators._guard import live
from ramify.estimators._options import LINKED, Linkage
from ramify.estimators._reshaping import ReshapingClusterer
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
from ramify.metric import DISTANCES, LinkedMetricName, Metric, either

Update: TypeAlias = Literal["hac", "nni"]
Start: TypeAlias = Literal["online", "hac"]
Polishing: TypeAlias = Literal["auto"]


def _check_budget(name: str, found: object) -> int | None:
    return None if found is None else whole_number(name, found, least=2)


def _check_update(name: str, found: object) -> str:
    return one_of(name, found, choices(Update))


def _check_start(name: str, found: object) -> str:
    return one_of(name, found, choices(Start))


def _check_polishing(name: str, found: object) -> str | None:
    return one_of_or_none(name, found, choices(Polishing))


@dataclass(frozen=True, kw_only=True)
class OHACOptions(CountingOptions):
    """See :class:`OHAC`."""

    neighbors: str = checked(check_neighbors)
    recall: float = field(default=0.97, metadata={"check": check_recall})
    max_leaves: int | None = field(default=None, metadata={"check": _check_budget})
    track_members: bool = field(default=True, metadata={"check": yes_or_no})
    update: str = field(default="hac", metadata={"check": _check_update})
    start: str = field(default="online", metadata={"check": _check_start})
    polishing: str | None = field(default=None, metadata={"check": _check_polishing})

    by_path: ClassVar[bool] = True

    @classmethod
    def of_today(cls, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Trees that were grown with HNSW go on with cells."""
        if stored.get("neighbors") != "hnsw":
            return dict(stored)
        return {**stored, "neighbors": "cells", "recall": 0.97}

    @property
    def uneditable(self) -> str | None:
        """Why links and moves of people do not hold in such a tree, if that is so."""
        return None if self.update == "hac" else "only trees of update='hac' keep to it"

    @property
    def starts_with_hac(self) -> bool:
        """Whether the first batch is merged by offline HAC."""
        return self.start == "hac"

    @property
    def several_in_a_leaf(self) -> bool:
        """Whether leaves may come to stand for several points."""
        return self.counts_repeats or self.max_leaves is not None

    @property
    def tracks_members(self) -> bool:
        """Whether it is written down which points are in which leaf."""
        return self.counts_repeats or (self.max_leaves is not None and self.track_members)

    @classmethod
    def of(cls, given: Mapping[str, Any], metric: Metric) -> Self:
        """Options, checked, and whether they go together."""
        found = super().of(given, metric)
        if found.neighbors == "cells" and metric.product:
            raise ValueError(
                f"neighbors=Cells(...) looks near a point, and the largest inner products need not "
                f"be there; choose neighbors='exact', or metric {either(DISTANCES)}"
            )
        if found.update == "nni" and given["n_neighbors"] != 1:
            raise ValueError("n_neighbors: with update='nni' a point asks for one neighbour")
        if found.starts_with_hac:
            found.require_single_points("start='hac'")
            if given["window"] is not None or given["max_age"] is not None:
                raise ValueError("start='hac': the first batch comes whole; set no window")
        return found

    def for_core(self, settings: Settings) -> _core.Options:
        """These options as the core takes them."""
        return _core.Options.ohac(
            settings.metric.core,
            settings.linkage,
            n_neighbors=settings.n_neighbors,
            update=self.update,
            recall=self.recall if self.neighbors == "cells" else None,
            max_leaves=self.max_leaves,
            track_members=self.track_members,
            polish=self.polishing is not None,
            count_repeats=self.counts_repeats,
        )

    def memory(self, slots: int, width: int, arrays: Arrays) -> dict[str, Shape]:
        """The nodes that people have marked, and the plan of the cells, if there are any.

        The core looks whether there can be such.
        """
        plan = len(arrays["numbers"]) if self.neighbors == "cells" else 0
        return remembered(marks=min(len(arrays["marks"]), slots), numbers=plan)


class OHAC(ReshapingClusterer):
    """Online hierarchical agglomerative clustering: the one to start with.

    A new point finds its nearest leaf; the path from that leaf to the root is taken
    out of the tree, and the subtrees that hung from it are merged anew, together
    with the new point, always the closest two first. Trees are close to those of
    offline HAC, and stay shallow.

    The tree depends on the order of the points. Equally near leaves: the one that
    arrived first. Equally close merges: the smaller union first, then the one that
    holds the earlier point.

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
    n_neighbors : int, default=1
        Take out the paths of this many nearest leaves: more is slower and closer to
        offline HAC.
    neighbors : "exact" or Cells, default="exact"
        How the nearest leaves, and those of ``predict``, are found: all of them, or most, in
        less time where rows are long and many (:class:`Cells`).
    n_jobs : int, optional
        Threads that take part in a batch: None for one, -1 for one a processor. They
        look up the neighbours of rows to come; the tree is the same for any number.
    keep : Last, Younger or Budget, optional
        Which points stay: the last so many (:class:`Last`), those young enough
        (:class:`Younger`), or all, in so many leaves at most (:class:`Budget`).
    duplicates : {"keep", "count"}, default="keep"
        ``"count"``: a row that equals a stored one raises the weight of its leaf, instead
        of adding a leaf. ``labels_`` still has an entry for each point.
    update : {"hac", "nni"}, default="hac"
        How a new point finds its place. ``"hac"`` is the paper's, as above. ``"nni"`` is
        cheaper: the point becomes the sibling of its nearest leaf, and on the path from there
        to the root neighbouring branches change places where that raises the tree's revenue
        (nearest-neighbour interchange); ``linkage`` then only says what heights are.
    start : {"online", "hac"}, default="online"
        ``"hac"``: the first batch, of ``fit`` or of the first ``partial_fit``, is merged by
        exact offline HAC, as :class:`HAC` does; later points are inserted as ever.
    polishing : {None, "auto"}, default=None
        ``"auto"``: call :meth:`polish` each time the number of points that ever came has
        doubled, from 1024 on.
    history : int, default=0
        How many versions, of those that were read from ``version``, can be asked about
        later: see ``past``. 0 remembers none and
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
        several (``duplicates``, ``keep=Budget(...)``).
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
    recall_ : float
        Measured share of the rows so far that found their nearest leaf, of those that came
        before the latest few thousand; 1.0 with ``neighbors="exact"``.
    n_features_in_ : int
        Width of the rows.
    feature_names_in_ : array of shape (d,)
        Column names, if the first batch was a frame with string names.
    ids_ : array of shape (n,)
        Ids of the points, if they were given any.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC(n_clusters=2)
    >>> for batch in ([[0.0], [1.0]], [[9.0]], [[0.5], [8.0]]):
    ...     model = model.partial_fit(batch)
    >>> model.labels_
    array([0, 0, 1, 0, 1])
    """

    _algorithm: ClassVar[str] = "ohac"
    _metrics: ClassVar[tuple[Metric, ...]] = LINKED
    _Options: ClassVar[type[Options]] = OHACOptions
    _choices: ClassVar[Mapping[str, tuple[type[Choice], ...]]] = OF_OHAC

    edit = Editor()

    @property
    @live
    def recall_(self) -> float:
        """Measured share of the rows so far that found their nearest leaf."""
        return self._fitted().recall

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        min_size: int | None = None,
        metric: LinkedMetricName = "sqeuclidean",
        linkage: Linkage = "average",
        zero_rows: ZeroRows = "error",
        n_neighbors: int = 1,
        neighbors: Neighbors = "exact",
        n_jobs: int | None = None,
        keep: Keep | Budget | None = None,
        duplicates: Duplicates = "keep",
        update: Update = "hac",
        start: Start = "online",
        polishing: Polishing | None = None,
        history: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.min_size = min_size
        self.metric = metric
        self.linkage = linkage
        self.zero_rows = zero_rows
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.n_jobs = n_jobs
        self.keep = keep
        self.duplicates = duplicates
        self.update = update
        self.start = start
        self.polishing = polishing
        self.history = history
