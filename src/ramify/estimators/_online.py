# SPDX-License-Identifier: BSD-3-Clause
"""_online.py: how a tree grows: fit, partial_fit, insert, insert_many.

Rows are checked before anything changes, and the new tree is adopted before it
grows, so that an interrupted batch leaves the rows inserted so far.
"""

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from threading import get_ident
from typing import Any, Self

import numpy.typing as npt

from ramify.estimators._base import Batch, HierarchicalClusterer, IdsLike, explain
from ramify.estimators._guard import AT_WORK, IDLE, alone, writes
from ramify.estimators._live import Live
from ramify.estimators._options import check_cut
from ramify.ids import Id
from ramify.jobs import thread_count
from ramify.points import Expected, Rows, by_name, read_row
from ramify.progress import Progress, check_progress, watch
from ramify.sparse import SparseRows


class OnlineClusterer(HierarchicalClusterer):
    """A clusterer whose tree takes new points at any time."""

    @writes
    def fit(
        self,
        X: npt.ArrayLike,
        y: object = None,
        *,
        ids: IdsLike = None,
        progress: Progress = False,
    ) -> Self:
        """Start anew with these rows; whatever was there before is forgotten.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inserted in the order given; another order gives another tree. Also a frame
            of pandas or polars, an Arrow table, a CPU tensor, or a SciPy sparse matrix,
            which is made dense at most 32 MiB (or one row) at a time.
        y : ignored
        ids : sequence of str or of int, optional
            What you call the points, one for each row, all strings or all integers, no
            two alike. Kept in ``ids_`` and as the names of ``hierarchy()``. A stream
            has ids from its first point or never.
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
        threads = thread_count(getattr(self, "n_jobs", None), none=1)
        batch = self._read_first(X, ids)
        self._require_enough(batch.rows)
        self._begin(batch, progress, threads)
        return self

    @writes
    def partial_fit(
        self,
        X: npt.ArrayLike,
        y: object = None,
        *,
        ids: IdsLike = None,
        progress: Progress = False,
    ) -> Self:
        """Insert these rows after all earlier ones. ``labels_`` then covers all of them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inserted in the order given. The first batch fixes the number type,
            float32 or float64, and later ones are converted to it; metric, linkage
            and ``n_neighbors`` are fixed then, too. Cut options may change any time.
        y : ignored
        ids : sequence of str or of int, optional
            As in :meth:`fit`; none of them may be the id of an earlier point.
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
        threads = thread_count(getattr(self, "n_jobs", None), none=1)
        live = self._live
        if live is None:
            self._begin(self._read_first(X, ids), progress, threads)
            return self
        self._require_same_options(live)
        rows = self._read_more(X, live)
        live.settings.options.check_rows(rows)
        self._grow(live, rows, live.read_ids(ids, len(rows)), progress, threads)
        return self

    def insert_many(
        self, X: npt.ArrayLike, *, ids: IdsLike = None, progress: Progress = False
    ) -> Self:
        """Insert rows: :meth:`partial_fit` under its own name.

        Parameters
        ----------
        X : array-like of shape (n, d)
        ids : sequence of str or of int, optional
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
        return self.partial_fit(X, ids=ids, progress=progress)

    def insert(self, x: npt.ArrayLike | Mapping[str, float], *, id: Id | None = None) -> int:
        """Insert one point and return its number: 0 for the first, 1 for the second, ...

        Fastest with a contiguous array of the model's own type.

        Parameters
        ----------
        x : array-like of shape (d,), or mapping
            A mapping or pandas Series is read by column name, in any order.
        id : str or int, optional
            What you call the point; see :meth:`fit`.

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
        guard = self._lock()
        with guard.lock:  # the pattern of _guard.py, without the cost of a decorator
            if guard.use != IDLE or (guard.readers and get_ident() in guard.readers):
                raise guard.refusal()
            try:
                guard.use = AT_WORK
                return self._insert(x, id)
            finally:
                guard.use = IDLE

    def _insert(self, x: object, id: Id | None) -> int:
        live = self._live
        if live is not None and live.takes(x) and live.accepted == _shaping(type(self))(self):
            try:
                if live.ids is id:  # type: ignore[comparison-overlap]  # neither has any
                    return live.insert_one(x)
                return live.insert_named(x, id)
            except ValueError:
                pass  # the slow way finds out which number it was
        return self._insert_checked(x, id)

    def _insert_checked(self, x: object, id: Id | None) -> int:
        owner = type(self).__name__
        live = self._live
        known = getattr(self, "feature_names_in_", None)
        x, names = by_name(x, known, first=live is None, owner=owner)
        if live is not None:
            self._require_same_options(live)
            row = read_row(x, self._expected(live))
            live.settings.options.check_rows(row)
            return live.insert_named(row[0], id)
        settings = self._settings()
        row = read_row(x, Expected(owner, settings.metric))
        settings.options.check_rows(row)
        live = Live(settings._replace(width=row.shape[1]), row.dtype)
        point = live.insert_named(row[0], id)
        self._adopt(live, names)
        return point

    def _begin(self, batch: Batch, progress: Progress, threads: int) -> None:
        """Adopt a new tree, then let it grow."""
        live = batch.begin()
        self._adopt(live, batch.names)
        self._grow(live, batch.rows, batch.ids, progress, threads)

    @alone
    def _grow(
        self,
        live: Live,
        rows: Rows | SparseRows,
        ids: list[Any] | None,
        progress: Progress,
        threads: int,
    ) -> None:
        """Insert a batch, and when it is cut short say what the tree holds."""
        live.expect_ids(ids)
        before = len(live)
        try:
            with watch(progress, len(rows)) as pulse:
                live.insert_many(rows, pulse, threads)
        except BaseException as error:
            story = (
                f"interrupted after {len(live) - before:,} of {len(rows):,} rows; "
                f"the tree is valid and holds {len(live):,} points"
            )
            explain(error, story)
            raise

    def _require_same_options(self, live: Live) -> None:
        """A tree cannot change its metric half way; cut options may change freely."""
        check_cut(self.n_clusters, self.distance_threshold)
        asked = _shaping(type(self))(self)
        if live.accepted == asked:
            return
        then = live.settings.by_name()
        for name, new in self._settings().by_name().items():
            if new != (old := then[name]):
                raise ValueError(
                    f"{name} was {old!r} when the first point arrived and is now {new!r}; "
                    f"set it back, or call fit to start anew"
                )
        live.accepted = asked


def _reader(kind: Any) -> Callable[[object], tuple[object, ...]]:
    """Reads the options that shape the tree, not how it is cut or made, off such a model."""
    free = ("n_clusters", "distance_threshold", "n_jobs", "history")
    return attrgetter(*(name for name in kind._get_param_names() if name not in free), "__class__")


_shaping: Callable[[Any], Callable[[object], tuple[object, ...]]] = cache(_reader)
