# SPDX-License-Identifier: BSD-3-Clause
"""_reading.py: what can be asked of a tree while it lives.

Most answers need no snapshot: a cut into k clusters is found from the root down in
O(k log k), the cluster of a point by climbing from its leaf, and both are what
``hierarchy()`` would say at that moment. Other threads may ask while a batch is under
way: the core lets them in between two inserts, and they see a tree that was there then.
Many rows are answered in blocks, each of one version of the tree.
"""

from collections.abc import Callable
from types import MethodType
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from ramify.checks import number, whole_number
from ramify.errors import NoLabelsError
from ramify.estimators._guard import live
from ramify.estimators._live import Cut, Live
from ramify.estimators._options import check_cut
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.jobs import thread_count
from ramify.points import Rows
from ramify.sparse import SparseRows

_Model = TypeVar("_Model", bound="TreeReader")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class needs_cut(Generic[_Model, _Arguments, _Result]):  # noqa: N801 - a decorator
    """A method that exists only on models that have a cut option set.

    As scikit-learn's ``available_if``, but the AttributeError says what to do.
    """

    def __init__(self, method: Callable[Concatenate[_Model, _Arguments], _Result]) -> None:
        self._method = method

    def __get__(self, model: Any, owner: Any = None) -> Callable[_Arguments, _Result]:
        if model is None:
            return self._method  # type: ignore[return-value]  # on the class: the plain function
        model._require_cut(self._method.__name__)
        return MethodType(self._method, model)


class Assignment(NamedTuple):
    """Where rows belong, one entry each; see ``assign``."""

    labels: IntArray  #: cluster, numbered as ``labels_`` does
    node_ids: IntArray  #: stable id of the cluster's node; a single point's is -1 - its number
    points: IntArray  #: number of the nearest point
    distances: FloatArray  #: how far it is
    path_codes: list[str]  #: turns from the root to the cluster's node


class Clusters(NamedTuple):
    """The clusters of a cut, one entry each, in order of their first points."""

    node_ids: IntArray  #: stable id of the node; a single point's is -1 - its number
    sizes: IntArray  #: number of points
    means: Rows  #: of the points as stored, a row each
    heights: FloatArray  #: monotone height of the node, 0 for a single point
    first_points: IntArray  #: number of the earliest point


class TreeReader:
    """Reading a live tree."""

    _live: Live | None
    n_clusters: int | None
    distance_threshold: float | None
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
        return self._fitted().hierarchy()

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
        """Number of points so far."""
        return len(self._fitted())

    @live
    def __len__(self) -> int:
        return 0 if self._live is None else len(self._live)

    def __bool__(self) -> bool:
        return True  # a model without points is still a model

    # --- rows that are not in it --------------------------------------------------

    @live
    def nearest(
        self, X: npt.ArrayLike, *, n_jobs: int | None = None
    ) -> tuple[IntArray, FloatArray]:
        """The stored point nearest to each row, and how far it is; nothing is inserted.

        Exact. Ties go to the point that arrived first.

        Parameters
        ----------
        X : array-like of shape (m, d)
        n_jobs : int, optional
            Threads; -1 is one for each processor. None: one.

        Returns
        -------
        points : array of shape (m,)
            Arrival numbers.
        distances : array of shape (m,)
            In the model's metric: squared Euclidean distances, one minus the cosine, or
            minus the inner product.

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).nearest([[4.0], [0.5]])
        (array([2, 0]), array([1.  , 0.25]))
        """
        tree = self._fitted()
        return tree.nearest(self._read_more(X, tree), thread_count(n_jobs, none=1))

    @needs_cut
    @live
    def predict(self, X: npt.ArrayLike, *, n_jobs: int | None = None) -> IntArray:
        """Label of the stored point nearest to each row; nothing is inserted.

        Ties go to the point that arrived first. Only on models with ``n_clusters``
        or ``distance_threshold`` set. O(k log k) for k clusters, once after an insert, and
        the search and the root path of each row.

        Parameters
        ----------
        X : array-like of shape (m, d)
        n_jobs : int, optional
            Threads; -1 is one for each processor. None: one.

        Returns
        -------
        array of shape (m,)

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC(n_clusters=2).fit([[0.0], [1.0], [5.0]]).predict([[4.0], [2.0]])
        array([1, 0])
        """
        tree = self._fitted()
        rows = self._read_more(X, tree)
        return tree.assign(rows, self._own_cut(tree), thread_count(n_jobs, none=1))[0]

    @live
    def assign(
        self,
        X: npt.ArrayLike,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        n_jobs: int | None = None,
    ) -> Assignment:
        """Where rows belong, in any cut of the tree as it is now; nothing is inserted.

        A row belongs to the cluster of the stored point nearest to it.

        Parameters
        ----------
        X : array-like of shape (m, d)
        n_clusters, height, max_size : optional
            The cut, as in :meth:`Hierarchy.cut`: give one, or none for the model's own.
        n_jobs : int, optional
            Threads; -1 is one for each processor. None: one.

        Returns
        -------
        Assignment
            ``labels``, ``node_ids``, ``points``, ``distances`` and ``path_codes``.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0], [6.0], [20.0]])
        >>> found = model.assign([[5.4], [19.0]], n_clusters=3)
        >>> found.labels, found.distances, found.path_codes
        (array([1, 2]), array([0.16, 1.  ]), ['01', '1'])
        """
        tree = self._fitted()
        cut = self._cut(tree, n_clusters, height, max_size)
        rows = self._read_more(X, tree)
        return Assignment(*tree.assign(rows, cut, thread_count(n_jobs, none=1), codes=True))

    # --- clusters -----------------------------------------------------------------

    @live
    def clusters(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
    ) -> Clusters:
        """The clusters of a cut of the tree as it is now, as things with an id. O(k log k).

        Parameters
        ----------
        n_clusters, height, max_size : optional
            The cut, as in :meth:`Hierarchy.cut`: give one, or none for the model's own.

        Returns
        -------
        Clusters
            ``node_ids``, ``sizes``, ``means``, ``heights`` and ``first_points``; entry i is
            the cluster that has the label i.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0], [6.0], [20.0]])
        >>> found = model.clusters(n_clusters=3)
        >>> found.sizes, found.means.ravel(), found.heights
        (array([2, 2, 1]), array([ 0.5,  5.5, 20. ]), array([1., 1., 0.]))
        """
        tree = self._fitted()
        return Clusters(*tree.clusters(self._cut(tree, n_clusters, height, max_size)))

    @live
    def cluster_of(
        self,
        points: npt.ArrayLike,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
    ) -> tuple[IntArray, IntArray]:
        """Label and node id of the clusters of some points, without labelling all.

        Parameters
        ----------
        points : array-like of int
            Arrival numbers.
        n_clusters, height, max_size : optional
            The cut, as in :meth:`Hierarchy.cut`: give one, or none for the model's own.

        Returns
        -------
        labels : array of shape (m,)
        node_ids : array of shape (m,)

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0], [6.0], [20.0]])
        >>> model.cluster_of([3, 4], n_clusters=3)[0]
        array([1, 2])
        """
        tree = self._fitted()
        cut = self._cut(tree, n_clusters, height, max_size)
        return tree.cluster_of(_numbers(points), cut)

    # --- paths --------------------------------------------------------------------

    @live
    def path(self, point: int) -> IntArray:
        """Node ids from the root down to a point, whose own is -1 - its number. O(depth).

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).path(2)
        array([ 1, -3])
        """
        return self._fitted().path(_one_number(point))[0]

    @live
    def path_code(self, point: int) -> str:
        """The path to a point as turns: 0 to the child with the earlier first point. O(depth).

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).path_code(1)
        '01'
        """
        return self._fitted().path(_one_number(point))[1]

    @live
    def lca(self, i: int, j: int) -> int:
        """Node id of the lowest common ancestor of two points. O(depth).

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).lca(0, 2)
        1
        """
        return self._fitted().lca(_one_number(i), _one_number(j))

    @live
    def depth(self, point: int) -> int:
        """Number of merges above a point. O(depth).

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).depth(0)
        2
        """
        return self._fitted().depth(_one_number(point))

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
            check_cut(self.n_clusters, self.distance_threshold)
        except (TypeError, ValueError) as error:
            raise NoLabelsError(str(error)) from error
        if self.n_clusters is None:
            assert self.distance_threshold is not None
            return "height", float(self.distance_threshold)
        if self.n_clusters > (n := len(tree)):
            raise NoLabelsError(f"n_clusters={self.n_clusters} is more than the {n} points so far")
        return "n_clusters", self.n_clusters

    def _cut(self, tree: Live, n_clusters: object, height: object, max_size: object) -> Cut:
        """The cut that a call asks for: one of the three, or the model's own."""
        asked = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        given = {name: value for name, value in asked.items() if value is not None}
        if not given:
            return self._own_cut(tree)
        if len(given) > 1:
            found = ", ".join(f"{name}={value}" for name, value in given.items())
            raise ValueError(f"give one of {', '.join(asked)}, or none; got {found}")
        ((name, value),) = given.items()
        if name == "height":
            return name, number("height", value)
        if name == "max_size":
            return name, whole_number(name, value)
        return name, whole_number(name, value, most=len(tree), why="the number of points")


def _one_number(point: object) -> int:
    return whole_number("point", point, least=0)


def _numbers(points: npt.ArrayLike) -> IntArray:
    """Arrival numbers as the core takes them."""
    numbers = np.atleast_1d(np.asarray(points))
    if numbers.ndim != 1 or (numbers.size > 0 and not np.issubdtype(numbers.dtype, np.integer)):
        raise TypeError("points: expected a flat array of whole numbers, the points' numbers")
    return np.ascontiguousarray(numbers, dtype=np.int64)
