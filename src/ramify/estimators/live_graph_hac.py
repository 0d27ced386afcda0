# SPDX-License-Identifier: BSD-3-Clause
"""live_graph_hac.py: HAC of a graph that changes: of nearest rows, or of edges."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy.typing as npt

from ramify import _core, archive
from ramify.checks import choices, one_of
from ramify.estimators import _edges, _of_edges
from ramify.estimators._base import IdsLike
from ramify.estimators._choice import Keep
from ramify.estimators._guard import writes
from ramify.estimators._of_edges import OfEdges
from ramify.estimators._reading import needs_cut
from ramify.estimators._settings import Arrays, Options, Settings, Shape, checked, remembered
from ramify.estimators._skipping import ZeroRows
from ramify.hierarchy import IntArray
from ramify.metric import DISTANCES, DistanceName, Metric
from ramify.progress import Progress

Weight: TypeAlias = Literal["snn", "jaccard", "similarity"]

_NO_WEIGHTS = (
    "the nearest rows of a row are so many rows, whatever they stand for; give a row as often as "
    "it counts, or take OHAC, which weighs rows"
)


@dataclass(frozen=True, kw_only=True)
class LiveGraphOptions(Options):
    """See :class:`LiveGraphHAC`."""

    weight: str = checked(one_of, choices(Weight))

    @property
    def weightless(self) -> str | None:
        """Why such a tree takes no weights."""
        return _NO_WEIGHTS

    @property
    def own_shape(self) -> str | None:
        """Such a tree has the shape that its points give it."""
        return "the tree of a graph of nearest rows has the shape that these give it"

    def for_core(self, settings: Settings) -> _core.Options:
        """These options as the core takes them."""
        return _core.Options.neighbour_tree(
            settings.metric.core,
            settings.linkage,
            n_neighbors=settings.n_neighbors,
            weight=self.weight,
        )

    def memory(self, slots: int, width: int, arrays: Arrays) -> dict[str, Shape]:
        """The lists of all rows, unless they are lost, and the heights of all merges."""
        marks = arrays["marks"].size
        return remembered(marks=marks if marks % (slots + 1) == 0 else 0, numbers=slots)

    def check_memory(self, points: int, width: int, arrays: Arrays) -> None:
        """Raise ValueError if a height is impossible."""
        heights = arrays["numbers"]
        if not ((heights >= 0) & (heights <= 1)).all():
            raise ValueError("a height is not from 0 to 1")


class LiveGraphHAC(OfEdges):
    """Average-linkage HAC of a graph that changes: of rows and their nearest, or of edges.

    After every call the tree is the one that a new model would build of the same points, to the
    bit: whatever came first, in whatever order and batches; and it is the tree that
    :class:`GraphHAC` builds of these rows or edges. Rows are joined to their nearest ones, exactly,
    and an update looks again only at clusters that hold a change (:doc:`how-it-works`). A graph of
    the user's own comes as edges between ids.

    Clusters may be long and winding, as only near points count. Among equals, rows are in the
    order of a hash of theirs, so that the order of arrival plays a part among equal rows
    alone; points of a graph are in the order of their ids.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters in ``labels_``. At most one of this and ``distance_threshold``
        may be set, at any time; with neither there are no labels, and
        ``hierarchy().cut(...)`` makes them.
    distance_threshold : float, optional
        Clusters merge only strictly below this height. A height is 1 minus the mean weight
        between the two clusters, as a share of the largest weight that there can be; 1 is not
        connected.
    min_size : int, optional
        Of clusters in ``labels_``, beside one of these: a branch of fewer points is no
        cluster and stays with the branch beside it (:meth:`Hierarchy.cut`).
    metric : {"sqeuclidean", "cosine"}, default="sqeuclidean"
        By what rows are near. For others, :class:`GraphHAC` builds the tree of all rows at
        once, or nearest rows that somebody else has found go in as edges.
    zero_rows : {"error", "skip", "apart"}, default="error"
        What becomes of rows of zeros under ``metric="cosine"``. ``"error"``: the batch is
        refused. ``"skip"``: they are not kept; see ``n_skipped_``. ``"apart"``: they are kept,
        as rows that are like nothing but each other: at the distance 1 from every other row,
        and 0 from other rows of zeros.
    n_neighbors : int, default=15
        How many nearest rows each row is joined to.
    weight : {"snn", "jaccard", "similarity"}, default="snn"
        Of an edge between rows: how many nearest neighbours they have in common, of
        ``n_neighbors``; the same as a share of those that either has; or 1 minus their
        distance under cosine, and 1 / (1 + distance) else.
    max_weight : float, default=1.0
        Of a graph that comes as edges: the largest weight that an edge may ever have, that of
        two points that are one and the same. Weights are rounded to about
        ``max_weight / 2**30``.
    n_jobs : int, optional
        Threads that search among the first rows: None for one, -1 for one a processor. The
        tree is the same for any number.
    keep : Last or Younger, optional
        Which rows stay: the last so many (:class:`Last`), or those young enough
        (:class:`Younger`).
    history : int, default=0
        How many versions, of those that were read from ``version``, can be asked about
        later: see :meth:`changes`, :meth:`dirty` and :meth:`lineage`. 0 remembers none and
        costs nothing; otherwise inserts note what they touch, and a copy of the tree as it
        was then is kept. May change at any time.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of every point that is there, in order of arrival.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    n_leaves_ : int
        Number of points that are there.
    n_points_ : int
        The same.
    n_skipped_ : int
        Number of rows that were given and not kept: of zeros with ``zero_rows="skip"``, or
        too old already.
    children_ : array of shape (n - 1, 2)
        The two nodes that each merge joined; see :class:`Hierarchy`.
    distances_ : array of shape (n - 1,)
        Non-decreasing heights of the merges, from 0 to 1.
    n_features_in_ : int
        Width of the rows, if there were rows.
    feature_names_in_ : array of shape (d,)
        Column names, if the first batch was a frame with string names.
    ids_ : array of shape (n,)
        Ids of the points, in order of arrival, if they have any; those of a graph do.

    Notes
    -----
    A row that comes is compared with all others, by bytes of theirs where rows are long; then
    some hundred clusters are merged again. A batch is one update, so large ones are quicker.
    What looks at rows, remembers versions or edits the tree is for trees of rows: ``predict``,
    ``nearest``, ``assign``, ``past.changes``, ``keep``, ``edit``. All else is for both, in
    folders and servers, too: ``ramify.open(folder, LiveGraphHAC()).add(edges=...)``.

    Examples
    --------
    Rows, of which one leaves again:

    >>> import ramify
    >>> model = ramify.LiveGraphHAC(n_clusters=2, n_neighbors=2, weight="similarity")
    >>> model.partial_fit([[0.0], [1.0], [8.0], [9.0]]).labels_
    array([0, 0, 1, 1])
    >>> model.insert([2.0]), model.forget(0), model.labels_
    (4, 1, array([0, 1, 1, 0]))

    Records that are compared as they come, and one that is withdrawn:

    >>> model = ramify.LiveGraphHAC(distance_threshold=0.5)
    >>> model.partial_fit(edges=(["ann", "ann"], ["anne", "bob"], [0.9, 0.2])).labels_
    array([0, 0, 1])
    >>> model.partial_fit(edges=(["rob", "rob"], ["bob", "ann"], [0.8, 0.1])).labels_
    array([0, 0, 1, 1])
    >>> model.forget("anne")
    1
    >>> dict(zip(model.ids_, model.labels_.tolist()))
    {'ann': 0, 'bob': 1, 'rob': 1}
    """

    _algorithm: ClassVar[str] = "neighbour_tree"
    _metrics: ClassVar[tuple[Metric, ...]] = DISTANCES
    _Options: ClassVar[type[Options]] = LiveGraphOptions

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        min_size: int | None = None,
        metric: DistanceName = "sqeuclidean",
        zero_rows: ZeroRows = "error",
        n_neighbors: int = 15,
        weight: Weight = "snn",
        max_weight: float = 1.0,
        n_jobs: int | None = None,
        keep: Keep | None = None,
        history: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.min_size = min_size
        self.metric = metric
        self.zero_rows = zero_rows
        self.n_neighbors = n_neighbors
        self.weight = weight
        self.max_weight = max_weight
        self.n_jobs = n_jobs
        self.keep = keep
        self.history = history

    @writes
    def fit(  # type: ignore[override]  # rows have no weights
        self,
        X: npt.ArrayLike | None = None,
        y: object = None,
        *,
        edges: Any = None,
        ids: IdsLike = None,
        times: npt.ArrayLike | None = None,
        progress: Progress = False,
    ) -> Self:
        """Start anew with these rows or edges; whatever was there before is forgotten.

        Parameters
        ----------
        X, edges
            One of the two, as in :meth:`partial_fit`.
        y : ignored
        ids, times, progress
            As in :meth:`partial_fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC(2).fit(edges=([1, 2], [2, 3], [0.9, 0.1])).labels_
        array([0, 0, 1])
        """
        if _are_rows(X, edges, times, self, ids):
            self._start(X, ids, progress, None, times)
            if self._graph is not None and self._live is not None:
                self._live.begun = self._live.offset = self._graph.version + 1
            self._graph = None
        else:
            self._take_edges(edges, ids, anew=True)
        return self

    @writes
    def partial_fit(
        self,
        X: npt.ArrayLike | None = None,
        y: object = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        edges: Any = None,
        ids: IdsLike = None,
        times: npt.ArrayLike | None = None,
        progress: Progress = False,
    ) -> Self:
        """Insert rows, or give edges new weights. ``labels_`` then covers all points.

        Edges of one call are one change: it is made as a whole or not at all.

        Parameters
        ----------
        X : array-like of shape (n, d), optional
            Rows, in any order and number. The first batch fixes the number type, float32 or
            float64, and later ones are converted to it; metric, ``n_neighbors`` and ``weight``
            are fixed then, too. Cut options may change any time, and so may ``keep``.
        y : ignored
        sample_weight : not supported
            A row that counts twice is given twice.
        edges : tuple of three sequences (i, j, weight), optional
            Pairs of points, by id, and their weights from now on, 0 to ``max_weight``: 0 takes
            an edge away. A pair that comes more than once in a call has the largest of its
            weights. Points that are new come in the order in which they are named.
        ids : sequence of str or of int, optional
            Of rows: what you call the points, one for each row. Of a graph: points that come
            first, also without an edge. None may be there already. All ids are strings, or all
            are integers.
        times : array-like of shape (n,), optional
            When each row happened, as numbers or as dates; needed with ``keep=Younger(...)``.
        progress : bool or callable
            As of :meth:`OHAC.fit`, of rows. Those that are in when it stops the batch stay, and the
            tree is theirs.

        Returns
        -------
        self

        Examples
        --------
        >>> import ramify
        >>> model = ramify.LiveGraphHAC(distance_threshold=1.0)
        >>> model.partial_fit(edges=([7, 8], [8, 9], [0.9, 0.1]), ids=[1]).labels_
        array([0, 1, 1, 1])
        >>> model.partial_fit(edges=([8], [9], [0])).labels_
        array([0, 1, 1, 2])
        """
        if _are_rows(X, edges, times, self, ids):
            self._require_rows()
            self._continue(X, ids, progress, sample_weight, times)
        else:
            self._take_edges(edges, ids, anew=False)
        return self

    @needs_cut
    def fit_predict(
        self,
        X: npt.ArrayLike | None = None,
        y: object = None,
        *,
        ids: IdsLike = None,
        progress: Progress = False,
        edges: Any = None,
    ) -> IntArray:
        """``fit``, then the labels. Only on models with a cut option set.

        Parameters
        ----------
        X, edges, ids, progress
            As in :meth:`fit`.
        y : ignored

        Returns
        -------
        array of shape (n,)

        Examples
        --------
        >>> import ramify
        >>> ramify.LiveGraphHAC(2).fit_predict(edges=([1, 2], [2, 3], [0.9, 0.1]))
        array([0, 0, 1])
        """
        if X is not None and edges is None:
            return super().fit_predict(X, ids=ids, progress=progress)
        labels: IntArray = self.fit(X, edges=edges, ids=ids).labels_.copy()
        return labels

    def _checked_row(self, x: object) -> Any:
        self._require_rows()
        return super()._checked_row(x)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _edges.check_max_weight(self.max_weight)


def _are_rows(X: Any, edges: Any, times: Any, model: LiveGraphHAC, ids: Any) -> bool:
    """Whether a call brings rows; TypeError if it brings both, or neither."""
    if edges is not None and (X is not None or times is not None):
        raise TypeError(
            f"{type(model).__name__} takes rows, or edges=(i, j, weight), and not both at once"
        )
    return X is not None or (edges is None and ids is None and model._graph is None)


def from_saved(content: dict[str, Any], arrays: dict[str, archive.Array]) -> LiveGraphHAC:
    """The model of edges that ``save`` wrote; UnreadableFileError if there cannot be such a one.

    Examples
    --------
    >>> len(from_saved(*LiveGraphHAC().fit(edges=([0], [1], [1.0]))._to_saved()))
    2
    """
    found: LiveGraphHAC = _of_edges.from_saved(LiveGraphHAC, content, arrays)
    return found
