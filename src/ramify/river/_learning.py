# SPDX-License-Identifier: BSD-3-Clause
"""_learning.py: how points come into a tree of river, and leave it."""

from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ramify.checks import one_of
from ramify.estimators.seam import (
    ALGORITHMS,
    BY_NAME,
    ChangingClusterer,
    Duplicates,
    Keep,
    Linkage,
    Notes,
    check_cut,
)
from ramify.estimators.widening import widened
from ramify.frames import Table
from ramify.metric import LinkedMetricName
from ramify.points import Rows
from ramify.river._features import Features, numbers_of, spread, table_of, with_new

try:
    from river import base
except ImportError as error:
    raise ImportError(
        f'ramify.river needs {error.name}, which is not installed: pip install "ramify[river]"'
    ) from error

_ONLINE = tuple(algorithm.name for algorithm in ALGORITHMS if algorithm.online)


class Learning(base.Clusterer):
    """What a tree of river learns and forgets."""

    algorithm: str
    metric: LinkedMetricName
    linkage: Linkage
    n_clusters: int | None
    distance_threshold: float | None
    min_size: int | None
    keep: Keep | None
    duplicates: Duplicates
    zero_rows: Literal["error", "skip"]
    _model: Any
    _columns: dict[Hashable, int]

    def learn_one(self, x: Features, w: float | None = None, t: object = None) -> None:
        """Insert one point.

        Parameters
        ----------
        x
            Numbers by the names of their features.
        w
            How many points it stands for, above 0.
        t
            When it happened, a number or a date; needed with ``keep=Younger(...)``. Points may come
            out of order; one that is too old already is not inserted.

        Examples
        --------
        >>> from ramify.river import OnlineHierarchy
        >>> model = OnlineHierarchy()
        >>> model.learn_one({"width": 2.0, "height": 1.0})
        >>> model.learn_one({"width": 2.5, "depth": 4.0})  # no height: 0; depth: new
        >>> len(model), model.features
        (2, ['height', 'width', 'depth'])
        """
        numbers = numbers_of(x)
        names, row = list(numbers), np.array([list(numbers.values())], dtype=np.float64)
        along = ([given] if given is not None else None for given in (w, t))
        self._learn(Table(row, names), *along)

    def learn_many(
        self, X: Any, w: npt.ArrayLike | None = None, t: npt.ArrayLike | None = None
    ) -> None:
        """Insert the rows of a frame, in order: as ``learn_one`` of each, and faster.

        Parameters
        ----------
        X
            A frame of pandas, polars or Arrow, with features as columns.
        w, t
            A weight or a time for each row, as in ``learn_one``.

        Examples
        --------
        >>> import pandas as pd
        >>> from ramify.river import OnlineHierarchy
        >>> model = OnlineHierarchy(n_clusters=2)
        >>> model.learn_many(pd.DataFrame({"x": [0.0, 9.0, 1.0], "y": [0.0, 9.0, 0.0]}))
        >>> model.labels
        array([0, 1, 0])
        """
        table = table_of(X, "learn_many")
        if len(table.array) > 0:
            self._learn(table, w, t)

    def forget(self, points: int | Sequence[int]) -> int:
        """Take points out of the tree, as if they had been deleted.

        Parameters
        ----------
        points
            Their numbers, in the order in which points were learnt: 0 for the first one,
            also when it has left since. All must be there. (Points that came too late were
            not learnt.)

        Returns
        -------
        How many points were forgotten.

        Examples
        --------
        >>> from ramify.river import OnlineHierarchy
        >>> model = OnlineHierarchy(n_clusters=2)
        >>> for x in 0.0, 1.0, 9.0:
        ...     model.learn_one({"x": x})
        >>> model.forget(1)
        1
        >>> model.labels
        array([0, 1])
        """
        if self._model is None:
            raise KeyError(f"there is no point {points!r}")
        if not hasattr(self._model, "forget"):
            raise ValueError(f"forget: trees of algorithm={self.algorithm!r} only grow")
        found: int = self._model.forget(points)
        return found

    @property
    def edit(self) -> Notes:
        """Links, moves and names by people, as :class:`ramify.OHAC` has them.

        Points go by their numbers, in the order in which they were learnt. Labels here are those
        of the tree, which cannot keep two points apart.

        Examples
        --------
        >>> from ramify.river import OnlineHierarchy
        >>> model = OnlineHierarchy(n_clusters=2)
        >>> for x in 0.0, 1.0, 9.0, 8.0:
        ...     model.learn_one({"x": x})
        >>> model.edit.must_link(0, 2)
        >>> model.labels, model.edit.list().linked
        (array([0, 0, 0, 1]), [array([0, 2])])
        """
        if self._model is None:
            raise ValueError("this OnlineHierarchy holds no points yet; call learn_one first")
        found: Notes = self._model.edit
        return found

    def _learn(self, table: Table, weights: Any, times: Any) -> None:
        """Insert rows; a refused one leaves everything as it was."""
        model = self._new_model() if self._model is None else self._model
        columns = with_new(self._columns, table.columns)
        width = len(columns)
        if self._model is not None:
            width = max(width, model.n_features_in_)
            if width > model.n_features_in_:
                width = max(width, 2 * model.n_features_in_)
                model = widened(model, width)
        rows = spread(table, columns, width)
        self._insert(model, rows, weights, times)
        self._model, self._columns = model, columns

    def _insert(self, model: Any, rows: Rows, weights: Any, times: Any) -> None:
        if hasattr(model, "keep"):  # may change at any time
            model.keep = self.keep
        along = {"sample_weight": weights, "times": times}
        along = {name: given for name, given in along.items() if given is not None}
        if along and not isinstance(model, ChangingClusterer):
            raise ValueError(f"w and t: trees of algorithm={self.algorithm!r} have neither")
        if len(rows) == 1 and not along:
            model.insert(rows[0])
        else:
            model.partial_fit(rows, **along)

    def _new_model(self) -> Any:
        algorithm = BY_NAME[one_of("algorithm", self.algorithm, _ONLINE)]
        check_cut(self.n_clusters, self.distance_threshold, self.min_size)
        one_of("zero_rows", self.zero_rows, ("error", "skip"))  # features to come are no columns
        model = algorithm.estimator(metric=self.metric, zero_rows=self.zero_rows)
        if algorithm.has("linkage"):
            model.set_params(linkage=self.linkage)
        elif self.linkage != "average":
            raise ValueError(
                f"linkage={self.linkage!r}: algorithm={self.algorithm!r} has no choice of "
                f"linkage; leave it at 'average'"
            )
        for name, usual in (("keep", None), ("duplicates", "keep")):
            if algorithm.has(name):
                model.set_params(**{name: getattr(self, name)})
            elif (found := getattr(self, name)) != usual:
                raise ValueError(
                    f"{name}={found!r}: algorithm={self.algorithm!r} has no {name}; "
                    f"leave it at {usual!r}"
                )
        return model
