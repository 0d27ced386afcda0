# SPDX-License-Identifier: BSD-3-Clause
"""_base.py: the contract that all clusterers share.

Reading is in _reading.py. Growing is in _online.py, and in hac.py for the tree that is
built once; _guard.py keeps apart who must not meet.

A refused call leaves the model exactly as it was: options and rows are checked
before the first attribute is set. Snapshots and labels are computed when read,
and live inside ``_live``, so that reading never changes ``__dict__``.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import NotFittedError

from ramify import archive, lean
from ramify.checks import is_whole, whole_number
from ramify.errors import BrokenTreeError
from ramify.estimators._choice import Choice, flat_options, refuse_gone
from ramify.estimators._guard import Guard, alone, live
from ramify.estimators._live import Live
from ramify.estimators._needs_cut import needs_cut
from ramify.estimators._options import (
    check_cut,
    check_history,
    check_linkage,
    check_metric,
    own_number,
)
from ramify.estimators._parameters import of_today, set_attribute, set_params
from ramify.estimators._reading import TreeReader
from ramify.estimators._saved import to_saved
from ramify.estimators._settings import Options, Settings
from ramify.estimators._skipping import skipped_rows
from ramify.frames import open_arrow
from ramify.hierarchy import IntArray
from ramify.ids import Id, IdArray, Ids
from ramify.jobs import thread_count
from ramify.memory import require_room
from ramify.metric import METRICS, Metric
from ramify.notebook import tree_html
from ramify.points import Expected, Rows, check_feature_names, feature_names, read_batch
from ramify.progress import Progress
from ramify.sparse import SparseRows

#: What ``ids=`` takes: one for each row, all strings or all integers.
IdsLike: TypeAlias = Sequence[str] | Sequence[int] | npt.NDArray[Any] | None


class Batch(NamedTuple):
    """A batch that has been accepted."""

    rows: Rows | SparseRows
    names: npt.NDArray[np.object_] | None
    settings: Settings
    ids: list[Any] | None

    def begin(self) -> Live:
        """A tree for these rows, without any yet."""
        return Live(self.settings, self.rows.dtype)


class HierarchicalClusterer(TreeReader, ClusterMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Everything but how a tree grows."""

    _algorithm: ClassVar[str]
    _metrics: ClassVar[tuple[Metric, ...]] = tuple(METRICS.values())
    _Options: ClassVar[type[Options]] = Options
    _choices: ClassVar[Mapping[str, tuple[type[Choice], ...]]] = {}
    _live: Live | None = None

    # Parameters, stored by the subclasses' __init__.
    n_clusters: int | None
    distance_threshold: float | None
    min_size: int | None
    metric: str
    zero_rows: str

    def __new__(cls, *values: object, **options: object) -> Self:
        refuse_gone(cls, options)
        made: Self = super().__new__(cls)
        return made

    __setattr__ = set_attribute
    set_params = set_params

    @needs_cut
    def fit_predict(
        self,
        X: npt.ArrayLike,
        y: object = None,
        *,
        ids: IdsLike = None,
        progress: Progress = False,
    ) -> IntArray:
        """``fit``, then the labels. Only on models with a cut option set.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        ids : sequence of str or of int, optional
        progress : bool or callable
            As in ``fit``.

        Returns
        -------
        array of shape (n,)
            One for each row: -1 for those that are not in the tree, as skipped ones.

        Examples
        --------
        >>> import ramify
        >>> ramify.HAC(n_clusters=2).fit_predict([[0.0], [5.0], [1.0]])
        array([0, 1, 0])
        """
        with self._lock().lock:
            self.fit(X, ids=ids, progress=progress)
            return self._labels_of_rows()

    def _labels_of_rows(self) -> IntArray:
        """Labels of the rows that the tree was begun with, now; -1 for those not in it."""
        tree, labels = self._fitted(), self.labels_
        if len(labels) != tree.n_points:  # of leaves, of which nobody knows the points
            return labels.copy()
        kept = np.full(tree.next_arrival, -1)
        kept[tree.numbers()] = labels
        if tree.skipped is None:
            return kept
        every = np.full(len(tree.skipped), -1)
        every[~tree.skipped] = kept
        return every

    @property
    @live
    def n_skipped_(self) -> int:
        """Number of rows that were given and not kept.

        They weighed nothing, were all zeros with ``zero_rows="skip"``, or were too old already
        (:class:`Younger`). They have no numbers: the numbers of the other points are without
        gaps.
        """
        return 0 if self._live is None else self._live.n_skipped

    def fit(
        self,
        X: npt.ArrayLike,
        y: object = None,
        *,
        ids: IdsLike = None,
        progress: Progress = False,
    ) -> Self:
        """Build the tree of these rows; whatever was there before is forgotten."""
        raise NotImplementedError

    @property
    @alone
    def ids_(self) -> IdArray:
        """Ids of the points that are there, in the order of ``labels_``; if the stream has any."""
        return self._known_ids().array()

    @alone
    def number_of(self, id: Id) -> int:
        """Arrival number of the point with this id. A point keeps its number.

        Parameters
        ----------
        id : str or int
            As given to ``fit``, ``partial_fit`` or ``insert``.

        Returns
        -------
        int

        Raises
        ------
        KeyError
            If no point has this id.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0]], ids=["ash", "elm", "oak"])
        >>> model.forget("ash")
        1
        >>> model.number_of("oak")
        2
        """
        number = self._known_ids().number_of(id)
        if number is None:
            raise KeyError(f"no point has the id {id!r}")
        return number

    def _known_ids(self) -> Ids:
        known = self._fitted().known_ids()
        if known is None:
            raise AttributeError(
                f"the points of this {type(self).__name__} have no ids; "
                f"give ids= from the first batch on"
            )
        return known

    @alone
    def check(self) -> None:
        """Test every invariant of the live tree; raise ``BrokenTreeError`` naming a broken one.

        Examples
        --------
        >>> import ramify
        >>> ramify.OHAC().fit([[0.0], [1.0], [5.0]]).check()
        """
        live = self._fitted()
        try:
            live.check()
        except RuntimeError as error:
            raise BrokenTreeError(str(error)) from error
        live.hierarchy().check()

    def __sklearn_is_fitted__(self) -> bool:
        return len(self) > 0

    # --- notebooks: scikit-learn's diagram, and the tree below it -------------------

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._tree_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._tree_html()
        return bundle

    def _tree_html(self) -> str:
        if len(self) == 0:
            return ""
        tree = self.hierarchy()
        return tree_html(tree, own_number(tree, self.n_clusters, self.distance_threshold))

    # --- files and pickles --------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file; ``ramify.load`` reads it and goes on where it was.

        The file holds options, points, tree, ids and column names as plain numbers, and
        no pickle, so that it is safe to load from anyone. It is written whole or not at
        all: an older file of that name is replaced at the very end. Others may insert
        while the disk is at work; they come too late for this file.

        Parameters
        ----------
        path : str or path-like
            By custom with the ending ``.ramify``.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import ramify
        >>> path = pathlib.Path(tempfile.mkdtemp(), "tree.ramify")
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0]])
        >>> model.save(path)
        >>> ramify.load(path).hierarchy() == model.hierarchy()
        True
        """
        lean.write(path, *self._to_saved())

    @alone
    def _to_saved(self) -> tuple[dict[str, Any], dict[str, archive.Array]]:
        return to_saved(self)

    @alone
    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {**super().__getstate__()}
        state.pop("_guard", None)
        if self._live is not None:
            state["_live"] = self._live.state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = of_today(type(self), state)
        if state.get("_live") is not None:
            state["_live"] = Live.from_state(state["_live"], self._Options)
        super().__setstate__(state)
        self._lock()
        if self._live is not None:
            self._remember(self._live)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # --- checks and guards ---------------------------------------------------------

    def _lock(self) -> Guard:
        """The model's one guard, which __init__ may not make."""
        try:
            guard: Guard = self._guard
        except AttributeError:
            guard = self.__dict__.setdefault("_guard", Guard())  # in one piece: the first one stays
        return guard

    def _fitted(self) -> Live:
        if self._live is None or len(self._live) == 0:
            name = type(self).__name__
            raise NotFittedError(f"This {name} instance holds no points yet; call 'fit' first")
        return self._live

    def _settings(self) -> Settings:
        """What shapes the tree, checked, before the width of its rows is known."""
        check_cut(self.n_clusters, self.distance_threshold, self.min_size)
        given = flat_options(self)
        metric = check_metric(self.metric, self._metrics)
        linkage = check_linkage(getattr(self, "linkage", "average"), metric)
        n_neighbors = whole_number("n_neighbors", getattr(self, "n_neighbors", 1))
        own = self._Options.of(given, metric)
        check_history(getattr(self, "history", 0))
        return Settings(self._algorithm, 0, metric, linkage, n_neighbors, own)

    def _limits(self) -> dict[str, Any]:
        """How many points stay, as flat options; those that limit nothing may be missing."""
        keep = getattr(self, "keep", None)
        return keep._flat() if isinstance(keep, Choice) else {}

    def _check_parameters(self) -> None:
        """Refuse parameters that no batch would be taken with."""
        self._settings()
        thread_count(getattr(self, "n_jobs", None), none=1)

    def _read_first(self, X: object, ids: object) -> Batch:
        """Check a batch that begins a tree."""
        settings = self._settings()
        X = open_arrow(X)
        names = feature_names(X)
        rows = read_batch(X, self._expected_first(settings))
        settings = settings._replace(width=rows.shape[1])
        settings.options.check_rows(rows)
        self._require_room(rows, settings.options)
        return Batch(rows, names, settings, None if ids is None else Ids().read(ids, len(rows)))

    def _read_more(self, X: object, live: Live) -> Rows | SparseRows:
        """Check rows that must fit an existing tree."""
        X = open_arrow(X)
        check_feature_names(self, X)
        return read_batch(X, self._expected(live))

    def _expected(self, live: Live) -> Expected:
        first = self._expected_first(live.settings)
        return first._replace(dtype=live.dtype, width=live.settings.width)

    def _expected_first(self, settings: Settings) -> Expected:
        zeros = settings.options.zero_rows != "error"
        return Expected(type(self).__name__, settings.metric, zeros=zeros)

    def _require_room(self, rows: Rows | SparseRows, options: Options) -> None:
        """Refuse sparse rows whose tree cannot fit the memory; some bounds are only warned of."""
        if not isinstance(rows, SparseRows):
            return
        limits = flat_options(self)
        most = [limits.get(name) for name in ("window", "max_leaves")]
        count = min([len(rows), *(int(one) for one in most if is_whole(one))])
        exact = not options.counts_repeats and limits.get("max_age") is None
        at_once = options.at_once or options.starts_with_hac
        copies = 3 if at_once else 2  # the rows as the tree has them, means, and all rows before
        size = rows.dtype.itemsize
        require_room(count, rows.shape[1], size, copies=copies, exact=exact)

    def _require_enough(self, batch: Batch, weights: object) -> None:
        """Refuse to fit so few rows."""
        n = len(batch.rows)
        skipped = skipped_rows(batch.settings.options.zero_rows, batch.rows, weights)
        here = n if skipped is None else n - int(skipped.sum())
        if here == 0:
            raise ValueError(
                f"no row is left, n_samples = {n}: rows of weight zero are not there, nor are "
                f"rows of zeros with zero_rows='skip'"
            )
        if self.n_clusters is not None and self.n_clusters > here:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the number of rows, n_samples = {here}"
            )

    def _adopt(self, live: Live, names: npt.NDArray[np.object_] | None) -> None:
        """Make ``live`` this model's tree."""
        if self._live is not None:
            live.follow(self._live)
        self._remember(live)
        held, width = self.__dict__, live.settings.width
        # In one piece: Ctrl-C comes after a call, and an attribute is set by one (`set_attribute`).
        held["_live"] = live
        held["n_features_in_"] = width
        if names is not None:
            held["feature_names_in_"] = names
        else:
            held.pop("feature_names_in_", None)
