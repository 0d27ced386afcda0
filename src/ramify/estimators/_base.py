# SPDX-License-Identifier: BSD-3-Clause
"""_base.py: the contract that all clusterers share.

    HierarchicalClusterer   reading: hierarchy, labels, predict, pickles, one lock
    OnlineClusterer         growing: fit, partial_fit, insert, insert_many

A refused call leaves the model exactly as it was: options and rows are checked
before the first attribute is set. Snapshots and labels are computed when read,
and live inside ``_live``, so that reading never changes ``__dict__``.
"""

import threading
from collections.abc import Callable
from types import MethodType
from typing import Any, ClassVar, Concatenate, Generic, NamedTuple, ParamSpec, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import NotFittedError

from ramify.errors import BrokenTreeError, NoLabelsError
from ramify.estimators._live import Live, Settings
from ramify.estimators._options import check_cut, check_linkage, check_metric, check_n_neighbors
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.points import Rows, check_feature_names, feature_names, read_row, read_rows
from ramify.progress import Progress, check_progress, watch

_Model = TypeVar("_Model", bound="HierarchicalClusterer")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

# Guards the creation of the models' own locks, which __init__ may not do.
_LOCK_MAKING = threading.Lock()


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


class _Batch(NamedTuple):
    """A batch that has been accepted."""

    rows: Rows
    names: npt.NDArray[np.object_] | None
    settings: Settings


class HierarchicalClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """Reading a tree: everything but how it grows."""

    _algorithm: ClassVar[str]
    _live: Live | None = None

    # Parameters, stored by the subclasses' __init__.
    n_clusters: int | None
    distance_threshold: float | None
    metric: str

    # --- reading ----------------------------------------------------------------

    def hierarchy(self) -> Hierarchy:
        """Frozen snapshot of the tree; later inserts do not change it.

        O(n) for the first call after an insert, then free.

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        <Hierarchy: 3 points, root height 20.5, split 2 | 1>
        """
        with self._lock():
            return self._fitted().hierarchy()

    @needs_cut
    def predict(self, X: npt.ArrayLike) -> IntArray:
        """Label of the stored point nearest to each row; nothing is inserted.

        Ties go to the point that arrived first. Only on models with ``n_clusters``
        or ``distance_threshold`` set.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        array of shape (m,)

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC(n_clusters=2).fit([[0.0], [1.0], [5.0]]).predict([[4.0], [2.0]])
        array([1, 0])
        """
        with self._lock():
            live = self._fitted()
            check_feature_names(self, X)
            rows = self._read_more(X, live)
            return self._labels(live)[live.nearest(rows)]

    @needs_cut
    def fit_predict(
        self, X: npt.ArrayLike, y: object = None, *, progress: Progress = False
    ) -> IntArray:
        """``fit``, then the labels. Only on models with a cut option set.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        progress : bool or callable
            As in ``fit``.

        Returns
        -------
        array of shape (n,)

        Examples
        --------
        >>> import ramify
        >>> ramify.HAC(n_clusters=2).fit_predict([[0.0], [5.0], [1.0]])
        array([0, 1, 0])
        """
        with self._lock():
            return self.fit(X, progress=progress).labels_.copy()

    def fit(self, X: npt.ArrayLike, y: object = None, *, progress: Progress = False) -> Self:
        """Build the tree of these rows; whatever was there before is forgotten."""
        raise NotImplementedError

    @property
    def labels_(self) -> IntArray:
        """Cluster of every point so far, from 0 in order of first points. Read-only."""
        with self._lock():
            return self._labels(self._fitted())

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
    def n_leaves_(self) -> int:
        """Number of points so far."""
        with self._lock():
            return len(self._fitted())

    def __len__(self) -> int:
        with self._lock():
            return 0 if self._live is None else len(self._live)

    def __bool__(self) -> bool:
        return True  # a model without points is still a model

    def check(self) -> None:
        """Test every invariant of the live tree; raise ``BrokenTreeError`` naming a broken one.

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).check()
        """
        with self._lock():
            live = self._fitted()
            try:
                live.check()
            except RuntimeError as error:
                raise BrokenTreeError(str(error)) from error
            live.hierarchy().check()

    def __sklearn_is_fitted__(self) -> bool:
        return len(self) > 0

    # --- pickles ----------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        with self._lock():
            state: dict[str, Any] = {**super().__getstate__()}
            state.pop("_guard", None)
            if self._live is not None:
                state["_live"] = self._live.state()
            return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_live" in state:
            state = {**state, "_live": Live.from_state(state["_live"])}
        super().__setstate__(state)
        self._lock()

    # --- checks and locks ---------------------------------------------------------

    def _lock(self) -> threading.RLock:
        """The model's one lock. Re-entrant: methods call each other."""
        try:
            guard: threading.RLock = self._guard
        except AttributeError:
            with _LOCK_MAKING:
                guard = self.__dict__.setdefault("_guard", threading.RLock())
        return guard

    def _fitted(self) -> Live:
        if self._live is None or len(self._live) == 0:
            name = type(self).__name__
            raise NotFittedError(f"This {name} instance holds no points yet; call 'fit' first")
        return self._live

    def _require_cut(self, wanted: str) -> None:
        if self.n_clusters is None and self.distance_threshold is None:
            raise NoLabelsError(
                f"{type(self).__name__} has no {wanted!r}, because neither n_clusters nor "
                f"distance_threshold is set; set one, or use hierarchy().cut(...)"
            )

    def _labels(self, live: Live) -> IntArray:
        self._require_cut("labels_")
        try:
            check_cut(self.n_clusters, self.distance_threshold)
        except (TypeError, ValueError) as error:
            raise NoLabelsError(str(error)) from error
        if self.n_clusters is not None and self.n_clusters > len(live):
            raise NoLabelsError(
                f"n_clusters={self.n_clusters} is more than the {len(live)} points so far"
            )
        return live.labels(self.n_clusters, self.distance_threshold)

    def _options(self) -> tuple[str, str, int]:
        """Metric, linkage and number of neighbours, checked."""
        check_cut(self.n_clusters, self.distance_threshold)
        metric = check_metric(self.metric)
        linkage = check_linkage(getattr(self, "linkage", "average"), metric)
        return metric, linkage, check_n_neighbors(getattr(self, "n_neighbors", 1))

    def _read_first(self, X: object) -> _Batch:
        """Check a batch that begins a tree."""
        metric, linkage, n_neighbors = self._options()
        names = feature_names(X)
        rows = read_rows(X, owner=type(self).__name__, metric=metric)
        settings = Settings(self._algorithm, rows.shape[1], metric, linkage, n_neighbors)
        return _Batch(rows, names, settings)

    def _read_more(self, X: object, live: Live) -> Rows:
        """Check rows that must fit an existing tree."""
        return read_rows(
            X,
            owner=type(self).__name__,
            metric=live.settings.metric,
            dtype=live.dtype,
            width=live.settings.width,
        )

    def _require_enough(self, rows: Rows) -> None:
        if self.n_clusters is not None and self.n_clusters > len(rows):
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the number of rows, "
                f"n_samples = {len(rows)}"
            )

    def _adopt(self, live: Live, names: npt.NDArray[np.object_] | None) -> None:
        """Make ``live`` this model's tree."""
        self._live = live
        self.n_features_in_ = live.settings.width
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


class OnlineClusterer(HierarchicalClusterer):
    """A clusterer whose tree takes new points at any time."""

    def fit(self, X: npt.ArrayLike, y: object = None, *, progress: Progress = False) -> Self:
        """Start anew with these rows; whatever was there before is forgotten.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inserted in the order given; another order gives another tree.
        y : ignored
        progress : bool or callable
            True draws a bar if rich is installed. A callable is called as
            ``f(done, total)`` now and then, the last time with ``done == total``; it
            may raise to stop the batch. The rows inserted so far then stay, as they
            do after Ctrl-C.

        Returns
        -------
        self

        Examples
        --------
        >>> import ramify
        >>> len(ramify.OHAC().fit([[0.0], [1.0], [5.0]]))
        3
        """
        check_progress(progress)
        with self._lock():
            if self._live is not None:
                self._live.require_idle()
            batch = self._read_first(X)
            self._require_enough(batch.rows)
            live = Live(batch.settings, batch.rows.dtype)
            self._adopt(live, batch.names)
            _grow(live, batch.rows, progress)
        return self

    def partial_fit(
        self, X: npt.ArrayLike, y: object = None, *, progress: Progress = False
    ) -> Self:
        """Insert these rows after all earlier ones. ``labels_`` then covers all of them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inserted in the order given. The first batch fixes the number type:
            float32 or float64; later ones are converted to it.
        y : ignored
        progress : bool or callable
            As in :meth:`fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(n_clusters=2).partial_fit([[0.0], [5.0]])
        >>> model.partial_fit([[1.0]]).labels_
        array([0, 1, 0])
        """
        check_progress(progress)
        with self._lock():
            if self._live is None:
                batch = self._read_first(X)
                live, rows = Live(batch.settings, batch.rows.dtype), batch.rows
                self._adopt(live, batch.names)
            else:
                live = self._live
                self._require_same_options(live)
                check_feature_names(self, X)
                rows = self._read_more(X, live)
            _grow(live, rows, progress)
        return self

    def insert_many(self, X: npt.ArrayLike, *, progress: Progress = False) -> Self:
        """Insert rows: :meth:`partial_fit` under its own name.

        Parameters
        ----------
        X : array-like of shape (n, d)
        progress : bool or callable
            As in :meth:`fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> import ramify
        >>> ramify.OTD().insert_many([[0.0], [1.0]]).hierarchy()
        <Hierarchy: 2 points, root height 1, split 1 | 1>
        """
        return self.partial_fit(X, progress=progress)

    def insert(self, x: npt.ArrayLike) -> int:
        """Insert one point and return its id: 0 for the first, 1 for the second, ...

        Fastest with a contiguous array of the model's own type.

        Parameters
        ----------
        x : array-like of shape (d,)

        Returns
        -------
        int

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC()
        >>> model.insert([0.0, 1.0]), model.insert([2.0, 3.0])
        (0, 1)
        """
        with self._lock():
            live = self._live
            if live is not None and live.takes(x):
                try:
                    return live.insert_one(x)
                except ValueError:
                    pass  # the slow way finds out which number it was
            return self._insert_checked(x)

    def _insert_checked(self, x: object) -> int:
        owner = type(self).__name__
        live = self._live
        if live is not None:
            self._require_same_options(live)
            metric, width = live.settings.metric, live.settings.width
            row = read_row(x, owner=owner, metric=metric, dtype=live.dtype, width=width)
            return live.insert_one(row[0])
        metric, linkage, n_neighbors = self._options()
        row = read_row(x, owner=owner, metric=metric)
        settings = Settings(self._algorithm, row.shape[1], metric, linkage, n_neighbors)
        live = Live(settings, row.dtype)
        point = live.insert_one(row[0])
        self._adopt(live, None)
        return point

    def _require_same_options(self, live: Live) -> None:
        """A tree cannot change its metric half way; cut options may change freely."""
        now = self._options()
        for name, new, old in zip(
            ("metric", "linkage", "n_neighbors"), now, live.settings[2:], strict=True
        ):
            if new != old:
                raise ValueError(
                    f"{name} was {old!r} when the first point arrived and is now {new!r}; "
                    f"set it back, or call fit to start anew"
                )


def _grow(live: Live, rows: Rows, progress: Progress) -> None:
    """Insert a batch, and when it is cut short say what the tree holds."""
    before = len(live)
    try:
        with watch(progress, len(rows)) as pulse:
            live.insert_many(rows, pulse)
    except BaseException as error:
        story = (
            f"interrupted after {len(live) - before:,} of {len(rows):,} rows; "
            f"the tree is valid and holds {len(live):,} points"
        )
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(story) from None
        error.add_note(story)
        raise
