# SPDX-License-Identifier: BSD-3-Clause
"""_hierarchy.py: the online trees for river, where a point is a dict and comes alone.

river's points are sparse: a feature that is not in the dict is 0, and new ones may
turn up at any time. Ours are rows of one width. So every feature gets a column when
it is first learnt, and when the columns run out the tree gets twice as many. Columns of
zeros change no distance and no inner product: the tree is the one that would have grown
had all features been known at the start.
"""

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np

from ramify.estimators.seam import (
    Cut,
    Duplicates,
    Keep,
    Linkage,
    check_cut,
    keep_of,
    possible,
)
from ramify.estimators.stream import Stream
from ramify.frames import Table
from ramify.hierarchy import Hierarchy, IntArray
from ramify.metric import COSINE, LinkedMetricName
from ramify.river._features import Features, numbers_of, spread, table_of
from ramify.river._learning import Learning

try:
    import narwhals as nw
except ImportError as error:
    raise ImportError(
        f'ramify.river needs {error.name}, which is not installed: pip install "ramify[river]"'
    ) from error


class OnlineHierarchy(Learning):
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
        numbers = numbers_of(x)
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
        table = table_of(X, "predict_many")
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
        rows = spread(table, self._columns, self._model.n_features_in_)
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
