# SPDX-License-Identifier: BSD-3-Clause
"""hac.py: offline HAC, for comparison and for data that stands still."""

from typing import ClassVar, Self

import numpy.typing as npt

from ramify.errors import explain
from ramify.estimators._base import HierarchicalClusterer, IdsLike
from ramify.estimators._forgetting import forget
from ramify.estimators._guard import writes
from ramify.estimators._leaving import Along, read_weights
from ramify.estimators._options import TakesLinkage
from ramify.estimators._skipping import kept, skipped_rows
from ramify.jobs import thread_count
from ramify.progress import Progress, check_progress, watch
from ramify.sparse import SparseRows


class HAC(TakesLinkage, HierarchicalClusterer):
    """Offline hierarchical agglomerative clustering, exact and in O(n) memory.

    Starting from single points, the two closest clusters merge until one is left:
    the tree and heights of SciPy's ``linkage`` (``average`` on squared distances,
    ``centroid`` or ``ward``), without its distance matrix. The tree does not depend
    on the order of the points, except for ties: of equally close merges, the smaller
    union comes first, then the one that holds the earlier point.

    It has no ``partial_fit`` or ``insert``: use :class:`OHAC` for streams.

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
    >>> model = ramify.HAC(distance_threshold=10.0).fit([[0.0], [1.0], [9.0]])
    >>> model.labels_
    array([0, 0, 1])
    >>> model.distances_
    array([ 1. , 72.5])
    """

    _algorithm: ClassVar[str] = "naive_hac"

    forget = forget

    @writes
    def fit(
        self,
        X: npt.ArrayLike,
        y: object = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        ids: IdsLike = None,
        progress: Progress = False,
    ) -> Self:
        """Build the tree of these rows; whatever was there before is forgotten.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Also a frame of pandas or polars, an Arrow table, a CPU tensor, or a SciPy
            sparse matrix, which is made dense as a whole.
        y : ignored
        sample_weight : array-like of shape (n,), optional
            How many points each row stands for; need not be whole. The tree is that of so
            many copies of each row, with the copies as one leaf. A row of weight 0 is not there:
            see ``n_skipped_``.
        ids : sequence of str or of int, optional
            What you call the points, one for each row, all strings or all integers, no
            two alike. Kept in ``ids_`` and as the names of ``hierarchy()``.
        progress : bool or callable
            True draws a bar, or a plain line. A callable is called as
            ``f(done, total)`` now and then, the last time with ``done == total``; it
            may raise to stop. The model then stays as it was, as it does after Ctrl-C.

        Returns
        -------
        self

        Examples
        --------
        >>> import ramify
        >>> ramify.HAC().fit([[0.0], [1.0], [5.0]]).children_
        array([[0, 1],
               [3, 2]])
        """
        check_progress(progress)
        batch = self._read_first(X, ids)
        weights = None if sample_weight is None else read_weights(sample_weight, len(batch.rows))
        self._require_enough(batch, weights)
        threads = thread_count(self.n_jobs, none=1)
        live = batch.begin()
        given, ids = batch.rows, batch.ids
        skipped = skipped_rows(batch.settings.options.zero_rows, given, weights)
        if skipped is not None:
            given, ids, along = kept(skipped, given, ids, Along(weights, None, None, None))
            weights = along.weights
        live.skip(skipped)
        live.expect_ids(ids)
        # In chunks, each would be a tree of its own.
        rows = given.dense() if isinstance(given, SparseRows) else given
        try:
            with watch(progress, len(rows)) as pulse:
                live.insert_many(rows, pulse, threads, weights)
        except BaseException as error:
            explain(error, "interrupted before the tree was complete; the model is as it was")
            raise
        self._adopt(live, batch.names)
        return self
