# SPDX-License-Identifier: BSD-3-Clause
"""_online.py: how a tree grows: fit, partial_fit, insert.

Rows are checked before anything changes, and the new tree is adopted before it
grows, so that an interrupted batch leaves the rows inserted so far.
"""

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from threading import get_ident
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ramify.errors import explain
from ramify.estimators._base import Batch, HierarchicalClusterer, IdsLike
from ramify.estimators._choice import flat_options, nested
from ramify.estimators._guard import AT_WORK, IDLE, alone, writes
from ramify.estimators._leaving import Along, read_along
from ramify.estimators._live import Live
from ramify.estimators._options import check_cut
from ramify.estimators._settings import FREE, Options
from ramify.estimators._skipping import joined, kept, skipped_rows
from ramify.ids import Id
from ramify.jobs import thread_count
from ramify.points import Rows, by_name, read_row
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
            True draws a bar, or a plain line. A callable is called as
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
        self._start(X, ids, progress)
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
        self._continue(X, ids, progress)
        return self

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
        live = self._live
        if live is not None:
            self._require_same_options(live)
        row, names = self._checked_row(x)
        tree = self._begun(row, names) if live is None else live
        skipped = skipped_rows(tree.settings.options.zero_rows, row, None)
        if skipped is not None:
            tree.skip(skipped)
        point = -1 if skipped is not None else tree.insert_named(row[0], id)
        if live is None:
            self._adopt(tree, names)
        return point

    def _checked_row(self, x: object) -> tuple[Rows, npt.NDArray[np.object_] | None]:
        """One row that this model can take, and the names of its columns if it is the first."""
        owner, live = type(self).__name__, self._live
        known = getattr(self, "feature_names_in_", None)
        x, names = by_name(x, known, first=live is None, owner=owner)
        if live is not None:
            row = read_row(x, self._expected(live))
            live.settings.options.check_rows(row)
            return row, known
        settings = self._settings()
        row = read_row(x, self._expected_first(settings))
        settings.options.check_rows(row)
        return row, names

    def _begun(self, row: Rows, names: npt.NDArray[np.object_] | None) -> Live:
        """A tree for such rows, without any yet."""
        return Batch(row, names, self._settings()._replace(width=row.shape[1]), None).begin()

    # --- batches -------------------------------------------------------------------

    def _start(
        self,
        X: object,
        ids: object,
        progress: Progress,
        weights: object = None,
        times: object = None,
    ) -> None:
        """Adopt a new tree of these rows."""
        check_progress(progress)
        threads = thread_count(getattr(self, "n_jobs", None), none=1)
        batch = self._read_first(X, ids)
        along = self._read_along(batch.settings.options, len(batch.rows), weights, times)
        self._require_enough(batch, along.weights)
        self._begin(batch, progress, threads, along)

    def _continue(
        self,
        X: object,
        ids: object,
        progress: Progress,
        weights: object = None,
        times: object = None,
    ) -> None:
        """Insert rows into the tree that there is, or begin one."""
        check_progress(progress)
        threads = thread_count(getattr(self, "n_jobs", None), none=1)
        live = self._live
        if live is None:
            batch = self._read_first(X, ids)
            along = self._read_along(batch.settings.options, len(batch.rows), weights, times)
            self._begin(batch, progress, threads, along)
            return
        self._require_same_options(live)
        rows = self._read_more(X, live)
        live.settings.options.check_rows(rows)
        self._require_room(rows, live.settings.options)
        along = self._read_along(live.settings.options, len(rows), weights, times)
        skipped = skipped_rows(live.settings.options.zero_rows, rows, along.weights)
        names = live.read_ids(ids, len(rows), skipped)
        self._grow(live, rows, names, progress, threads, along)

    def _read_along(self, options: Options, n: int, weights: object, times: object) -> Along:
        """Check what comes along with n rows."""
        return read_along(self, options, n, weights, times)

    def _begin(self, batch: Batch, progress: Progress, threads: int, along: Along) -> None:
        """Adopt a new tree, then let it grow."""
        live = batch.begin()
        self._adopt(live, batch.names)
        self._grow(live, batch.rows, batch.ids, progress, threads, along)

    @alone
    def _grow(
        self,
        live: Live,
        rows: Rows | SparseRows,
        ids: list[Any] | None,
        progress: Progress,
        threads: int,
        along: Along,
    ) -> None:
        """Insert a batch, and when it is cut short say what the tree holds."""
        skipped = skipped_rows(live.settings.options.zero_rows, rows, along.weights)
        if skipped is not None:
            rows, ids, along = kept(skipped, rows, ids, along)
        plan = live.plan(len(rows), along)
        late = None if plan is None else plan.late
        if late is not None:
            rows, ids, along = kept(late, rows, ids, along)
        live.skip(joined(skipped, late), 0 if late is None else int(late.sum()))
        if len(rows) == 0:
            return
        live.expect_ids(ids)
        before = live.next_arrival
        try:
            with watch(progress, len(rows)) as pulse:
                live.insert_many(rows, pulse, threads, along.weights, plan)
        except BaseException as error:
            story = (
                f"interrupted after {live.next_arrival - before:,} of {len(rows):,} rows; "
                f"the tree is valid and holds {live.n_points:,} points"
            )
            explain(error, story)
            raise
        live.carried_out()

    def _require_same_options(self, live: Live) -> None:
        """A tree cannot change its metric half way; cut options may change freely."""
        check_cut(self.n_clusters, self.distance_threshold, self.min_size)
        asked = _shaping(type(self))(self)
        if live.accepted == asked:
            return
        wanted = self._settings()
        then, now = live.settings.by_name(), wanted.by_name()
        if then.get("max_leaves") is not None and now["max_leaves"] is not None:
            then["max_leaves"] = now["max_leaves"]  # another budget will do
        of_now = nested(type(self), flat_options(self) | now)[0]
        of_then = nested(type(self), flat_options(self) | then)[0]
        for name, old in of_then.items():
            if old != (new := of_now[name]):
                raise ValueError(
                    f"{name} was {old!r} when the first point arrived and is now {new!r}; "
                    f"set it back, or call fit to start anew"
                )
        live.set_budget(wanted)
        live.accepted = asked


def _reader(kind: Any) -> Callable[[object], tuple[object, ...]]:
    """Reads the options that shape the tree, not how it is cut or made, off such a model."""
    return attrgetter(*(name for name in kind._get_param_names() if name not in FREE), "__class__")


_shaping: Callable[[Any], Callable[[object], tuple[object, ...]]] = cache(_reader)
