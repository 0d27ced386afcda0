# SPDX-License-Identifier: BSD-3-Clause
"""_reading.py: what can be asked of a tree while it lives.

Most answers need no snapshot: a cut into k clusters is found from the root down in
O(k log k), the cluster of a point by climbing from its leaf, and both are what
``hierarchy()`` would say at that moment. Other threads may ask while a batch is under
way: the core lets them in between two inserts, and they see a tree that was there then.
Many rows are answered in blocks, each of one version of the tree.
"""

from collections.abc import Callable

import numpy.typing as npt

from ramify.errors import NoLabelsError
from ramify.estimators import _cutting, _groups, _near
from ramify.estimators._anchors import Found
from ramify.estimators._cut import Cut, WayOfLive, read_cut
from ramify.estimators._guard import live
from ramify.estimators._live import Live
from ramify.estimators._needs_cut import needs_cut as needs_cut
from ramify.estimators._notes import Notes
from ramify.estimators._options import check_cut, check_history
from ramify.estimators._sureness import (
    Assignment,
    KnownLive,
    Levels,
    judge,
    read_sure,
)
from ramify.estimators._tracking import Tracker
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.jobs import thread_count
from ramify.points import Rows
from ramify.sparse import SparseRows


class TreeReader:
    """Reading a live tree."""

    edit = Notes()
    past = Tracker()

    _live: Live | None
    n_clusters: int | None
    distance_threshold: float | None
    min_size: int | None
    _fitted: Callable[[], Live]
    _read_more: Callable[[object, Live], Rows | SparseRows]

    # --- the whole tree -----------------------------------------------------------

    @live
    def hierarchy(self) -> Hierarchy:
        """Frozen snapshot of the tree; later inserts do not change it.

        O(n) for the first call after an insert, then free.

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        <Hierarchy: 3 points, root height 20.5, split 2 | 1>
        """
        tree = self._fitted()
        found = tree.hierarchy()
        return found.with_node_names(tree.names) if tree.anchors else found

    @live
    def points(self) -> Rows:
        """A copy of the points as stored, in order of arrival; of unit length under cosine.

        O(n d). A method and not an attribute, because scikit-learn reads all attributes
        of a model to display it.

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC(metric="cosine").fit([[0.0, 2.0], [3.0, 4.0]]).points()
        array([[0. , 1. ],
               [0.6, 0.8]])
        """
        return self._fitted().points()

    @property
    @live
    def labels_(self) -> IntArray:
        """Cluster of every point so far, from 0 in order of first points. Read-only."""
        tree = self._fitted()
        return tree.labels(self._own_cut(tree))

    @property
    def n_clusters_(self) -> int:
        """Number of clusters in ``labels_``."""
        return int(self.labels_.max()) + 1

    @property
    def children_(self) -> IntArray:
        """The two nodes that each merge joined, as ``hierarchy().children``."""
        return self.hierarchy().children

    @property
    def distances_(self) -> FloatArray:
        """Non-decreasing heights of the merges, as ``hierarchy().monotone_heights``."""
        return self.hierarchy().monotone_heights

    @property
    @live
    def n_leaves_(self) -> int:
        """Number of leaves, of which one may stand for several points: see ``n_points_``."""
        return len(self._fitted())

    @property
    @live
    def n_points_(self) -> int:
        """Number of points that are there, of which a leaf may stand for several."""
        return self._fitted().n_points

    @property
    @live
    def point_numbers_(self) -> IntArray:
        """Arrival numbers of the points that are there, in order.

        Entry i of ``labels_`` and ``ids_`` is about the point with the number
        ``point_numbers_[i]``.
        """
        return self._fitted().numbers()

    @live
    def __len__(self) -> int:
        return 0 if self._live is None else len(self._live)

    def __bool__(self) -> bool:
        return True  # a model without points is still a model

    @property
    @live
    def version(self) -> int:
        """Number of changes so far: it grows with every point that comes or goes.

        It goes on counting through files, pickles and another ``fit``. With ``history``
        set, a version that was read can be asked about later: see ``past.changes``. Then
        the reading costs as much as was changed since the last one.

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).version
        3
        """
        return 0 if self._live is None else self._live.settle(self._history())

    def _history(self) -> int:
        return check_history(getattr(self, "history", 0))

    def _remember(self, tree: Live) -> None:
        """What happens to this tree from now on can be asked about, if that is wanted."""
        if keep := self._history():
            tree.settle(keep)

    # --- rows that are not in it: nearest is in _near.py -------------------------------

    nearest = _near.nearest

    @needs_cut
    @live
    def predict(
        self, X: npt.ArrayLike, *, stable: bool = False, n_jobs: int | None = None
    ) -> IntArray:
        """Label of the stored point nearest to each row; nothing is inserted.

        Ties go to the point that arrived first. Only on models with ``n_clusters``
        or ``distance_threshold`` set. O(k log k) for k clusters, once after an insert, and
        the search and the root path of each row.

        Parameters
        ----------
        X : array-like of shape (m, d)
        stable : bool, default=False
            Answer with ids that stay instead: what ``stable_labels`` last called the cluster;
            -1 if it is new since then, or no ids were ever given.
        n_jobs : int, optional
            Threads; -1 is one for each processor. None: one.

        Returns
        -------
        array of shape (m,)

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(n_clusters=2).fit([[0.0], [1.0], [5.0]])
        >>> model.predict([[4.0], [2.0]]), model.stable_labels()
        (array([1, 0]), array([0, 0, 1]))
        >>> model.partial_fit([[5.5], [6.0]]).predict([[4.0], [2.0]], stable=True)
        array([1, 0])
        """
        tree = self._fitted()
        rows, cut = self._read_more(X, tree), self._own_cut(tree)
        labels, nodes, *_ = tree.assign(rows, cut, thread_count(n_jobs, none=1))
        return tree.stable_of(cut, nodes) if stable else labels

    @live
    def assign(
        self,
        X: npt.ArrayLike,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        by: WayOfLive = "height",
        resolution: float | None = None,
        confidence: Levels = False,
        new: float | None = None,
        n_jobs: int | None = None,
    ) -> Assignment:
        """Where rows belong, in any cut of the tree as it is now; nothing is inserted.

        A row belongs to the cluster of the stored point nearest to it. How sure that is, and
        whether the row is something new, is judged by stored points, each of which is asked as if
        it were not there: 2,000 searches once after an insert, and O(n) for each call.

        Parameters
        ----------
        X : array-like of shape (m, d)
        n_clusters, height, max_size, min_size, by, resolution : optional
            The cut, as in :meth:`cut`; none for the model's own.
        confidence : bool or sequence of int, default=False
            Also say how sure each cluster is: of the stored points of whose ten nearest as many
            are in one cluster, the share that are in that cluster themselves. NaN in a tree of
            one point. With numbers of clusters, ascending, such as ``(8, 40, 200)``: a column for
            each of these cuts, which are levels of the row's path; it never rises from one to the
            next.
        new : float, optional
            Also say which rows are something new, with this share of false alarms: rows that are
            farther from the nearest point of their cluster than all but this share of the cluster's
            points are from theirs. A cluster of fewer than ``1 / new - 1`` points is too small to
            say, and then all points count.
        n_jobs : int, optional
            Threads; -1 is one for each processor. None: one.

        Returns
        -------
        Assignment
            ``labels``, ``node_ids``, ``points``, ``distances``, ``path_codes``; ``stable_ids``,
            what ``stable_labels`` of the same cut last called each cluster, -1 if it is new since
            then; and if asked ``confidence`` and ``new``.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0], [6.0], [20.0]])
        >>> found = model.assign([[5.4], [19.0]], n_clusters=3)
        >>> found.labels, found.distances, found.path_codes
        (array([1, 2]), array([0.16, 1.  ]), ['01', '1'])

        >>> model = ramify.OHAC().fit([[float(i)] for i in [*range(20), *range(50, 70)]])
        >>> found = model.assign([[9.4], [60.5], [28.0]], n_clusters=2, confidence=True, new=0.05)
        >>> found.confidence, found.new
        (array([1., 1., 1.]), array([False, False,  True]))
        """
        tree = self._fitted()
        cut = self._cut(tree, n_clusters, height, max_size, min_size, by, resolution)
        sure, alpha = read_sure(confidence, new, lambda k: self._cut(tree, k, None, None, None, by))
        rows, threads = self._read_more(X, tree), thread_count(n_jobs, none=1)
        found = Assignment(*tree.assign(rows, cut, threads, codes=True))
        told = judge(found, KnownLive(tree), rows, cut, sure, alpha, threads)
        told.stable_ids = tree.stable_of(cut, told.node_ids)
        return told

    # --- clusters: _cutting.py and _groups.py ------------------------------------------

    cut = _cutting.cut
    cluster_of = _cutting.cluster_of
    stable_labels = _cutting.stable_labels
    clusters = _groups.clusters
    levels = _groups.levels
    layers = _groups.layers
    leaves = _groups.leaves

    # --- paths --------------------------------------------------------------------

    @live
    def path(self, point: int | str) -> IntArray:
        """Node ids from the root down to a point, whose own is -1 - its number. O(depth).

        Here and below a point is given by its number, or by its id if that is text.

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).path(2)
        array([ 1, -3])
        """
        tree = self._fitted()
        return tree.path(tree.number_of(point))[0]

    @live
    def path_code(self, point: int | str) -> str:
        """The path to a point as turns: 0 to the child with the earlier first point. O(depth).

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).path_code(1)
        '01'
        """
        tree = self._fitted()
        return tree.path(tree.number_of(point))[1]

    @live
    def lca(self, i: int | str, j: int | str) -> int:
        """Node id of the lowest common ancestor of two points. O(depth).

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).lca(0, 2)
        1
        """
        tree = self._fitted()
        return tree.lca(tree.number_of(i), tree.number_of(j))

    @live
    def _found_names(self) -> Found:
        """Where the names are that people gave."""
        return self._fitted().found_names()

    # --- which cut ----------------------------------------------------------------

    def _require_cut(self, wanted: str) -> None:
        if self.n_clusters is None and self.distance_threshold is None:
            raise NoLabelsError(
                f"{type(self).__name__} has no {wanted!r}, because neither n_clusters nor "
                f"distance_threshold is set; set one, or use hierarchy().cut(...)"
            )

    def _own_cut(self, tree: Live) -> Cut:
        """The model's own cut."""
        self._require_cut("labels_")
        try:
            check_cut(self.n_clusters, self.distance_threshold, self.min_size)
        except (TypeError, ValueError) as error:
            raise NoLabelsError(str(error)) from error
        if self.n_clusters is not None and self.n_clusters > (n := len(tree)):
            raise NoLabelsError(f"n_clusters={self.n_clusters} is more than the {n} points so far")
        if self.n_clusters is not None:
            cut = Cut("n_clusters", self.n_clusters, self.min_size)
        else:
            assert self.distance_threshold is not None
            cut = Cut("height", float(self.distance_threshold), self.min_size)
        if cut.joins:
            try:
                tree.joined(cut)
            except ValueError as error:  # fewer clusters of that size than were wanted
                raise NoLabelsError(str(error)) from error
        return cut

    def _cut(
        self,
        tree: Live,
        n_clusters: object,
        height: object,
        max_size: object,
        min_size: object = None,
        by: object = "height",
        resolution: object = None,
    ) -> Cut:
        """The cut that a call asks for, or the model's own."""
        asked = {
            "n_clusters": n_clusters,
            "height": height,
            "max_size": max_size,
            "min_size": min_size,
        }
        found = read_cut(asked, len(tree), by, resolution)
        return self._own_cut(tree) if found is None else found
