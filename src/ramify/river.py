# SPDX-License-Identifier: BSD-3-Clause
"""river.py: the online trees for river, where a point is a dict and comes alone.

river's points are sparse: a feature that is not in the dict is 0, and new ones may
turn up at any time. Ours are rows of one width. So every feature gets a column when
it is first learnt, and when the columns run out the tree gets twice as many. Columns of
zeros change no distance and no inner product: the tree is the one that would have grown
had all features been known at the start.

Importing this module needs river; `import ramify` does not.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import isfinite
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify.checks import one_of
from ramify.estimators.seam import (
    ALGORITHMS,
    BY_NAME,
    ChangingClusterer,
    Cut,
    Duplicates,
    Keep,
    Linkage,
    Notes,
    check_cut,
    keep_of,
    possible,
)
from ramify.estimators.stream import Stream, widened
from ramify.frames import Table, read_table, where
from ramify.hierarchy import Hierarchy, IntArray
from ramify.metric import COSINE, LinkedMetricName
from ramify.points import Rows

try:
    import narwhals as nw
    from river import base
except ImportError as error:
    raise ImportError(
        f'ramify.river needs {error.name}, which is not installed: pip install "ramify[river]"'
    ) from error

Features: TypeAlias = Mapping[Hashable, Any]

_ONLINE = tuple(algorithm.name for algorithm in ALGORITHMS if algorithm.online)


class OnlineHierarchy(base.Clusterer):
    """One binary tree over all points of a river stream; clusters are a cut of it.

    Features go by name. One that a point does not have is 0 there, as in river's own
    clusterers; one that no earlier point had is 0 in all earlier points. (It then costs
    a copy of the tree now and then: each time the number of columns doubles.) The
    order of the features in a dict does not matter. Values are finite numbers; text,
    None and NaN are refused by name, so encode and impute before.

    Every point is kept, so memory grows with the stream, unless ``keep`` lets the
    oldest leave.

    Parameters
    ----------
    algorithm
        ``"ohac"``, ``"otd"``, ``"perch"``, ``"grinch"``, ``"birch"``, ``"random-cut"``,
        ``"naive-nn"`` or ``"naive-hac"``: the estimator whose tree grows, with its own defaults.
    metric
        ``"sqeuclidean"``, ``"cosine"`` or ``"dot"``.
    linkage
        ``"average"``, ``"centroid"`` or ``"ward"``; only average for algorithms that
        have no choice.
    n_clusters
        Number of clusters that ``predict_one`` tells apart; as many as there are points
        while there are fewer. At most one of this and ``distance_threshold`` may be set.
    distance_threshold
        Clusters merge only strictly below this height.
    min_size
        Beside one of these: a branch of fewer points is no cluster and stays with the branch
        beside it. Fewer clusters than ``n_clusters`` while there are not so many of that size.
    keep
        ``ramify.Last(n)`` or ``ramify.Younger(age)``, the latter by the times that points are
        learnt with. Not of ``"grinch"``, ``"birch"`` and ``"naive-hac"``; nor is the next one.
    duplicates
        ``"count"``: a point that equals an earlier one raises the weight of its leaf,
        instead of adding a leaf.
    zero_rows
        ``"skip"``: under cosine, leave out points that are zero everywhere, instead of
        refusing them.

    Examples
    --------
    >>> from river import stream
    >>> from ramify.river import OnlineHierarchy
    >>> model = OnlineHierarchy(n_clusters=2)
    >>> for x, _ in stream.iter_array([[1, 2], [1, 4], [-4, 2], [-4, 4]]):
    ...     model.learn_one(x)
    >>> model.predict_one({0: 0, 1: 3}), model.predict_one({0: -5, 1: 3})
    (0, 1)
    >>> model.hierarchy()
    <Hierarchy: 4 points, root height 27, split 2 | 2>
    """

    zero_rows: Literal["error", "skip"] = "error"  # as of models in older pickles
    min_size: int | None = None

    def __init__(
        self,
        algorithm: str = "ohac",
        metric: LinkedMetricName = "sqeuclidean",
        linkage: Linkage = "average",
        n_clusters: int | None = None,
        distance_threshold: float | None = None,
        keep: Keep | None = None,
        duplicates: Duplicates = "keep",
        zero_rows: Literal["error", "skip"] = "error",
        min_size: int | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.metric = metric
        self.linkage = linkage
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.min_size = min_size
        self.keep = keep
        self.duplicates = duplicates
        self.zero_rows = zero_rows
        self._model: Any = None
        self._columns: dict[Hashable, int] = {}

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"n_clusters": 3}

    def _unit_test_skips(self) -> set[str]:
        # A tree over all points grows with them: that is what it is for.
        return set() if self.keep is not None else {"check_bounded_memory_growth"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "keep" not in state:  # of 0.1
            limits = {name: state.pop(name) for name in ("window", "max_age")}
            state["keep"] = keep_of(limits)
        self.__dict__.update(state)

    # --- growing ------------------------------------------------------------------

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
        numbers = _numbers(x)
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
        table = _table(X, "learn_many")
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
        columns = _with_new(self._columns, table.columns)
        width = len(columns)
        if self._model is not None:
            width = max(width, model.n_features_in_)
            if width > model.n_features_in_:
                width = max(width, 2 * model.n_features_in_)
                model = widened(model, width)
        rows = _spread(table, columns, width)
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

    # --- reading ------------------------------------------------------------------

    def predict_one(self, x: Features) -> int:
        """Cluster of the learnt point nearest to this one; nothing is inserted.

        Clusters are numbered from 0 in order of their first points; 0 before the first.
        Features that no learnt point has are left out: all points are equally far there.
        O(n) for the first call after an insert, then only the search for the neighbour.

        Parameters
        ----------
        x
            Numbers by the names of their features.

        Returns
        -------
        A cluster number.

        Examples
        --------
        >>> from ramify.river import OnlineHierarchy
        >>> model = OnlineHierarchy(n_clusters=2)
        >>> for x in 0.0, 1.0, 9.0:
        ...     model.learn_one({"x": x})
        >>> model.predict_one({"x": 7.0})
        1
        """
        if len(self) == 0:  # scalers may not have anything to say yet, either
            self._require_cut()
            return 0
        numbers = _numbers(x)
        names, row = list(numbers), np.array([list(numbers.values())], dtype=np.float64)
        return int(self._predict(Table(row, names))[0])

    def predict_many(self, X: Any) -> Any:
        """Cluster of the learnt point nearest to each row of a frame.

        Parameters
        ----------
        X
            A frame of pandas, polars or Arrow.

        Returns
        -------
        A series of the same library, with the index of the frame if it has one.

        Examples
        --------
        >>> import pandas as pd
        >>> from ramify.river import OnlineHierarchy
        >>> model = OnlineHierarchy(n_clusters=2)
        >>> model.learn_many(pd.DataFrame({"x": [0.0, 9.0, 1.0]}))
        >>> model.predict_many(pd.DataFrame({"x": [8.0, 2.0]}, index=["a", "b"])).to_dict()
        {'a': 1, 'b': 0}
        """
        table = _table(X, "predict_many")
        labels = self._predict(table) if len(table.array) > 0 else np.empty(0, dtype=np.int64)
        frame = nw.from_native(X, eager_only=True)
        series = nw.new_series("cluster", labels, nw.Int64, backend=frame.implementation)
        index = nw.maybe_get_index(frame)
        if index is not None:
            series = nw.maybe_set_index(series, index=index)
        return series.to_native()

    def _predict(self, table: Table) -> IntArray:
        self._require_cut()
        if len(self) == 0:
            return np.zeros(len(table.array), dtype=np.int64)
        rows = _spread(table, self._columns, self._model.n_features_in_)
        labels = self.labels
        found = np.full(len(rows), labels[0])  # of those that are equally far from all
        near = np.full(len(rows), True)
        if self.metric == COSINE.name:  # there is no angle to a row of unknown features
            near &= np.any(rows != 0, axis=1) | np.all(table.array == 0, axis=1)
        if near.any():
            found[near] = self._model.predict(rows[near])
        return found

    @property
    def labels(self) -> IntArray:
        """Cluster of every point that is there, in order of arrival."""
        self._require_cut()
        if len(self) == 0:
            return np.empty(0, dtype=np.int64)
        model, k, least = self._model, self.n_clusters, self.min_size
        k = None if k is None else min(k, len(model))
        if least is not None:
            by = Cut("height", 0.0, least) if k is None else Cut("n_clusters", k, least)
            found = possible(by, model.hierarchy())
            k, least = None if k is None else int(found.value), found.min_size
        model.n_clusters, model.distance_threshold = k, self.distance_threshold
        model.min_size = least
        labels: IntArray = model.labels_
        return labels

    @property
    def centers(self) -> dict[int, dict[Hashable, float]] | None:
        """Mean of each cluster, for river's measures; None before the first point. O(n d).

        Of points as stored: of unit length under cosine.
        """
        if len(self) == 0:
            return None
        labels, points = self._leaf_labels(), self._model.points()[:, : len(self._columns)]
        weights = self._model.hierarchy().weights[: len(points)]
        sums = np.zeros((labels.max() + 1, points.shape[1]))
        np.add.at(sums, labels, points * weights[:, np.newaxis])
        means = sums / np.bincount(labels, weights)[:, np.newaxis]
        return {
            label: dict(zip(self._columns, mean, strict=True))
            for label, mean in enumerate(means.tolist())
        }

    def _leaf_labels(self) -> IntArray:
        """Cluster of every leaf, which may stand for several points."""
        labels, stream = self.labels, Stream(self._model)
        if len(labels) == len(stream):
            return labels
        leaf_numbers = self._model.hierarchy().leaf_numbers
        leaves = np.searchsorted(leaf_numbers, stream.leaf_of(stream.numbers))
        found = np.empty(len(stream), dtype=np.int64)
        found[leaves] = labels
        return found

    @property
    def features(self) -> list[Hashable]:
        """Names of the features learnt so far; those that came together are sorted."""
        return list(self._columns)

    def hierarchy(self) -> Hierarchy:
        """Frozen snapshot of the tree; later points do not change it.

        Examples
        --------
        >>> from ramify.river import OnlineHierarchy
        >>> model = OnlineHierarchy()
        >>> for x in 0.0, 1.0, 9.0:
        ...     model.learn_one({"x": x})
        >>> model.hierarchy().cut(height=4.0)
        array([0, 0, 1])
        """
        if self._model is None:
            raise ValueError("this OnlineHierarchy holds no points yet; call learn_one first")
        tree: Hierarchy = self._model.hierarchy()
        return tree

    def __len__(self) -> int:
        return 0 if self._model is None else len(self._model)

    def __bool__(self) -> bool:
        return True  # a model without points is still a model

    def _require_cut(self) -> None:
        check_cut(self.n_clusters, self.distance_threshold, self.min_size)
        if self.n_clusters is None and self.distance_threshold is None:
            raise ValueError(
                "OnlineHierarchy has no clusters to predict, because neither n_clusters nor "
                "distance_threshold is set; set one, or use hierarchy().cut(...)"
            )


def _numbers(x: Features) -> dict[Hashable, float]:
    """A point's values as floats; whatever is none is refused by name."""
    if not isinstance(x, Mapping):
        raise TypeError(f"expected a dict of numbers by feature, got {type(x).__name__}")
    if not x:
        raise ValueError("expected a dict of numbers by feature, got an empty one")
    numbers = {}
    for name, value in x.items():
        if not isinstance(value, Real | np.bool) or not isfinite(value):
            raise ValueError(f"feature {name!r} is {value!r}: expected a finite number")
        numbers[name] = float(value)
    return numbers


def _table(X: object, who: str) -> Table:
    """A frame as an array of finite numbers, with the names of its columns."""
    names = list(getattr(X, "columns", ()))
    if all(isinstance(name, Hashable) for name in names) and len(set(names)) < len(names):
        raise ValueError(f"{who} expected one column for each feature, got two of one name")
    table = read_table(X)
    if table is None:
        kind = type(X).__name__
        raise TypeError(f"{who} expected a frame of pandas, polars or Arrow, got {kind}")
    if len(table.columns) == 0:
        raise ValueError(f"{who} expected a frame of numbers, got one without columns")
    finite = np.isfinite(table.array)
    if not finite.all():
        row, j = np.argwhere(~finite)[0]
        at = where(int(row), int(j), table.columns)
        raise ValueError(f"{who} got {table.array[row, j]} {at}: expected finite numbers")
    return table


def _with_new(columns: Mapping[Hashable, int], names: Iterable[Hashable]) -> dict[Hashable, int]:
    """The columns of all features, new ones last, sorted, so that no dict's order matters."""
    new = sorted((name for name in names if name not in columns), key=_by_text)
    return {**columns, **{name: len(columns) + j for j, name in enumerate(new)}}


def _by_text(name: Hashable) -> tuple[str, str]:
    return str(name), type(name).__name__  # 1 and "1" are two features


def _spread(table: Table, columns: Mapping[Hashable, int], width: int) -> Rows:
    """Rows with each feature in its column, 0 elsewhere; unknown features are left out."""
    dtype = np.float32 if table.array.dtype == np.float32 else np.float64
    rows = np.zeros((len(table.array), width), dtype=dtype)
    known = [j for j, name in enumerate(table.columns) if name in columns]
    rows[:, _places(table.columns, known, columns)] = table.array[:, known]
    return rows


def _places(
    names: Sequence[Hashable], known: Sequence[int], columns: Mapping[Hashable, int]
) -> list[int]:
    return [columns[names[j]] for j in known]
