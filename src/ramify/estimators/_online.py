# SPDX-License-Identifier: BSD-3-Clause
"""_online.py: how a tree grows: fit, partial_fit, insert, insert_many.

Rows are checked before anything changes, and the new tree is adopted before it
grows, so that an interrupted batch leaves the rows inserted so far.
"""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, Self

import numpy.typing as npt

from ramify.estimators._base import HierarchicalClusterer
from ramify.estimators._live import Live, Settings
from ramify.estimators._options import check_cut
from ramify.points import Rows, check_feature_names, read_row
from ramify.progress import Progress, check_progress, watch


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
            Inserted in the order given. The first batch fixes the number type,
            float32 or float64, and later ones are converted to it; metric, linkage
            and ``n_neighbors`` are fixed then, too. Cut options may change any time.
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
                live.settings.check_signs(rows)
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
            if live is not None and live.takes(x) and live.accepted == _shaping(self):
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
            live.settings.check_signs(row)
            return live.insert_one(row[0])
        options = self._options()
        row = read_row(x, owner=owner, metric=options["metric"])
        settings = Settings(self._algorithm, row.shape[1], **options)
        settings.check_signs(row)
        live = Live(settings, row.dtype)
        point = live.insert_one(row[0])
        self._adopt(live, None)
        return point

    def _require_same_options(self, live: Live) -> None:
        """A tree cannot change its metric half way; cut options may change freely."""
        check_cut(self.n_clusters, self.distance_threshold)
        asked = _shaping(self)
        if live.accepted == asked:
            return
        then, now = live.settings._asdict(), self._options()
        then |= then["more"]
        now |= now.pop("more")
        for name, new in now.items():
            if new != (old := then[name]):
                raise ValueError(
                    f"{name} was {old!r} when the first point arrived and is now {new!r}; "
                    f"set it back, or call fit to start anew"
                )
        live.accepted = asked


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


@cache
def _shaping_options(model: Any) -> Callable[[object], tuple[object, ...]]:
    """Reads the options that shape the tree, all but the cuts, off a model of this class."""
    cuts = ("n_clusters", "distance_threshold")
    return attrgetter(*(name for name in model._get_param_names() if name not in cuts), "__class__")


def _shaping(model: Any) -> tuple[object, ...]:
    kind: Any = type(model)
    return _shaping_options(kind)(model)
