# SPDX-License-Identifier: BSD-3-Clause
"""_frozen.py: what can be asked of a model by way of its snapshot."""

from collections.abc import Callable
from typing import Any

from ramify.errors import NoLabelsError
from ramify.estimators._options import check_cut
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.notebook import tree_html


class FrozenReader:
    """Labels and arrays of ``hierarchy()``."""

    n_clusters: int | None
    distance_threshold: float | None
    min_size: int | None = None
    hierarchy: Callable[[], Hierarchy]
    _labels: tuple[Any, IntArray] | None = None

    @property
    def labels_(self) -> IntArray:
        """Cluster of every point, from 0 in order of first points. Read-only."""
        self._require_cut("labels_")
        tree = self.hierarchy()
        wanted = self.n_clusters, self.distance_threshold, self.min_size
        known = self._labels
        if known is not None and known[0][0] is tree and known[0][1:] == wanted:
            return known[1]
        try:
            check_cut(*wanted[:2])
        except (TypeError, ValueError) as error:
            raise NoLabelsError(str(error)) from error
        if self.n_clusters is not None and self.n_clusters > tree.n_leaves:
            raise NoLabelsError(
                f"n_clusters={self.n_clusters} is more than the {tree.n_leaves} points so far"
            )
        try:
            labels = tree.cut(
                n_clusters=self.n_clusters, height=self.distance_threshold, min_size=self.min_size
            )
        except ValueError as error:  # fewer clusters of that size than were wanted
            raise NoLabelsError(str(error)) from error
        labels.setflags(write=False)
        self._labels = (tree, *wanted), labels
        return labels

    def _require_cut(self, wanted: str) -> None:
        if self.n_clusters is None and self.distance_threshold is None:
            raise NoLabelsError(
                f"{type(self).__name__} has no {wanted!r}, because neither n_clusters nor "
                f"distance_threshold is set; set one, or use hierarchy().cut(...)"
            )

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
        """Number of points."""
        return self.hierarchy().n_leaves

    @property
    def ids_(self) -> Any:
        """The points' ids in order of arrival, read-only; only if they were given any."""
        names = self.hierarchy().names
        if names is None:
            raise AttributeError(
                f"the points of this {type(self).__name__} have no ids; give ids= from the first "
                f"batch on"
            )
        return names

    def __len__(self) -> int:
        return self.hierarchy().n_leaves if self.__sklearn_is_fitted__() else 0

    def __bool__(self) -> bool:
        return True  # a model without points is still a model

    def __sklearn_is_fitted__(self) -> bool:
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle and len(self) > 0:
            bundle["text/html"] += tree_html(self.hierarchy())
        return bundle
