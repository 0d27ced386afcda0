# SPDX-License-Identifier: BSD-3-Clause
"""hac.py: offline HAC, for comparison and for data that stands still."""

from typing import ClassVar, Self

import numpy.typing as npt

from ramify.estimators._base import IdsLike, explain
from ramify.estimators._changing import Forgetting
from ramify.estimators._guard import writes
from ramify.estimators._leaving import read_weights
from ramify.estimators._options import TakesLinkage
from ramify.jobs import thread_count
from ramify.progress import Progress, check_progress, watch
from ramify.sparse import SparseRows


class HAC(TakesLinkage, Forgetting):
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
    metric : {"sqeuclidean", "cosine", "dot"}, default="sqeuclidean"
        Squared Euclidean distance; one minus the cosine, where no row may be all
        zeros; or minus the inner product.
    linkage : {"average", "centroid", "ward"}, default="average"
        Distance of two clusters: the mean over their pairs of points; between their
        means; or the growth of the squared distances to the mean if they merged
        (not with ``metric="dot"``). Heights are those of SciPy's ``linkage``.
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
        Number of points so far.
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
            How many points each row stands for, above 0; need not be whole. The tree is
            that of so many copies of each row, with the copies as one leaf.
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
        self._require_enough(batch.rows)
        weights = None if sample_weight is None else read_weights(sample_weight, len(batch.rows))
        threads = thread_count(self.n_jobs, none=1)
        live = batch.begin()
        live.expect_ids(batch.ids)
        # In chunks, each would be a tree of its own.
        rows = batch.rows.dense() if isinstance(batch.rows, SparseRows) else batch.rows
        try:
            with watch(progress, len(rows)) as pulse:
                live.insert_many(rows, pulse, threads, weights)
        except BaseException as error:
            explain(error, "interrupted before the tree was complete; the model is as it was")
            raise
        self._adopt(live, batch.names)
        return self
