# SPDX-License-Identifier: BSD-3-Clause
"""_changing.py: trees that lose points as well as gain them, and whose points have weights."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ramify.estimators._base import IdsLike
from ramify.estimators._choice import KEEPS, Choice
from ramify.estimators._forgetting import forget, forget_now, may_forget
from ramify.estimators._guard import writes
from ramify.estimators._live import Live
from ramify.estimators._online import OnlineClusterer
from ramify.estimators._skipping import skipped_rows
from ramify.ids import Id
from ramify.progress import Progress


class ChangingClusterer(OnlineClusterer):
    """A clusterer whose points come with weights and times, and leave when theirs is up."""

    _choices: ClassVar[Mapping[str, tuple[type[Choice], ...]]] = KEEPS

    forget = forget
    _may_forget = may_forget

    @writes
    def fit(
        self,
        X: npt.ArrayLike,
        y: object = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        ids: IdsLike = None,
        times: npt.ArrayLike | None = None,
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
        sample_weight : array-like of shape (n,), optional
            How many points each row stands for; need not be whole. All means, linkages and
            sizes count it. A row of weight 0 is not there: see ``n_skipped_``.
        ids : sequence of str or of int, optional
            What you call the points, one for each row, all strings or all integers, no
            two alike. Kept in ``ids_`` and as the names of ``hierarchy()``. A stream
            has ids from its first point or never.
        times : array-like of shape (n,), optional
            When each row happened, as numbers or as dates; needed with ``keep=Younger(...)``.
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
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0]], sample_weight=[1, 1, 10])
        >>> model.clusters(n_clusters=2).sizes
        array([ 2, 10])
        """
        self._start(X, ids, progress, sample_weight, times)
        return self

    @writes
    def partial_fit(
        self,
        X: npt.ArrayLike,
        y: object = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        ids: IdsLike = None,
        times: npt.ArrayLike | None = None,
        progress: Progress = False,
    ) -> Self:
        """Insert these rows after all earlier ones. ``labels_`` then covers all of them.

        With ``keep=``, points leave on the way, each just before the row that it has to make
        way for; the tree does not depend on how rows are cut into batches.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inserted in the order given. The first batch fixes the number type,
            float32 or float64, and later ones are converted to it; metric, linkage
            and ``n_neighbors`` are fixed then, too. Cut options may change any time, and so
            may ``keep``.
        y : ignored
        sample_weight : array-like of shape (n,), optional
            As in :meth:`fit`.
        ids : sequence of str or of int, optional
            As in :meth:`fit`; none of them may be the id of a point that is there.
        times : array-like of shape (n,), optional
            As in :meth:`fit`. They need not be in order: a row that is too old already,
            beside the latest so far, is not inserted, and counted in ``past.n_late``.
        progress : bool or callable
            As in :meth:`fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(keep=ramify.Last(3)).partial_fit([[0.0], [5.0], [6.0]])
        >>> model.partial_fit([[1.0]]).point_numbers_
        array([1, 2, 3])
        """
        self._continue(X, ids, progress, sample_weight, times)
        return self

    def insert(
        self,
        x: npt.ArrayLike | Mapping[str, float],
        *,
        id: Id | None = None,
        sample_weight: float | None = None,
        time: Any = None,
        replace: bool = False,
    ) -> int:
        """Insert one point and return its number: 0 for the first, 1 for the second, ...

        Fastest with a contiguous array of the model's own type.

        Parameters
        ----------
        x : array-like of shape (d,), or mapping
            A mapping or pandas Series is read by column name, in any order.
        id : str or int, optional
            What you call the point; see :meth:`fit`.
        sample_weight : float, optional
            How many points it stands for; 0: it is not there.
        time : number or date, optional
            When it happened; needed with ``keep=Younger(...)``.
        replace : bool, default=False
            If a point with this id is there, forget it first.

        Returns
        -------
        int
            -1 for a row that is skipped: see ``n_skipped_``.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC()
        >>> model.insert([0.0, 1.0], id="ash"), model.insert([2.0, 3.0], id="elm")
        (0, 1)
        >>> model.insert([0.0, 2.0], id="ash", replace=True)
        2
        >>> model.ids_.tolist()
        ['elm', 'ash']
        """
        if sample_weight is None and time is None and not replace and not self._limited():
            return super().insert(x, id=id)
        return self._insert_along(x, id, sample_weight, time, replace)

    def _limited(self) -> bool:
        return isinstance(getattr(self, "keep", None), KEEPS["keep"])

    @writes
    def _insert_along(
        self, x: object, id: Id | None, weight: object, time: object, replace: bool
    ) -> int:
        """Insert one row by the way of batches."""
        tree = self._live
        row, names = self._checked_row(x)
        ids = None if id is None else [id]
        one = (None if given is None else [given] for given in (weight, time))
        tree = self._begun(row, names) if tree is None else tree
        if tree is self._live:
            self._require_same_options(tree)
        along = self._read_along(tree.settings.options, 1, *one)
        skipped = skipped_rows(tree.settings.options.zero_rows, row, along.weights)
        if replace and skipped is None:
            self._forget_id(tree, id)
        before = tree.next_arrival
        self._grow(tree, row, tree.read_ids(ids, 1, skipped), False, 1, along)
        if tree is not self._live:
            self._adopt(tree, names)
        return before if tree.next_arrival > before else -1

    def _forget_id(self, tree: Live, id: Id | None) -> None:
        """Forget the point with this id, if there is one."""
        known = tree.known_ids()
        if known is None or (number := known.number_of(id)) is None:
            return
        tree.settings.options.require_changeable("replace=True")
        forget_now(self, tree, np.array([number]))
