# SPDX-License-Identifier: BSD-3-Clause
"""homes.py: trees and their topics in BERTopic, Toponymy, DataMapPlot and Embedding Atlas.

None of these is imported but where it is asked for. docs/homes.md shows each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ramify.checks import whole_number
from ramify.estimators.stream import Stream
from ramify.hierarchy import IntArray

if TYPE_CHECKING:
    from ramify.naming._topics import Topics

__all__ = ["ForBERTopic", "for_toponymy", "label_layers", "label_table"]


class ForBERTopic:
    """A growing tree as ``BERTopic(hdbscan_model=...)``.

    BERTopic wants of ``labels_`` the rows of the latest batch, and that a topic keeps its number
    from batch to batch. So labels are those of ``stable_labels``.

    Parameters
    ----------
    model : estimator
        Such as ``OHAC(metric="cosine", linkage="ward")``; what it knows already stays.
    n_clusters : int
        Number of topics.
    stickiness : float, default=0.01
        How much a cut holds on to the topics of the batch before.

    Examples
    --------
    >>> import ramify
    >>> from ramify.naming.homes import ForBERTopic
    >>> topics = ForBERTopic(ramify.OHAC(), n_clusters=2)
    >>> topics.partial_fit([[0.0], [1.0], [9.0]]).labels_, topics.partial_fit([[8.0]]).labels_
    (array([0, 0, 1]), array([1]))
    >>> topics.predict([[0.5], [9.5]])
    array([0, 1])
    """

    labels_: IntArray

    def __init__(self, model: Any, n_clusters: int, *, stickiness: float = 0.01) -> None:
        self.model, self.stickiness = model, stickiness
        self.n_clusters = whole_number("n_clusters", n_clusters)

    def fit(self, X: npt.ArrayLike, y: object = None) -> Self:
        """Begin anew with these rows.

        Examples
        --------
        >>> import ramify
        >>> from ramify.naming.homes import ForBERTopic
        >>> ForBERTopic(ramify.OHAC(), n_clusters=2).fit([[0.0], [9.0]]).labels_
        array([0, 1])
        """
        self.model.fit(X)
        return self._look(0, len(np.asarray(X)))

    def partial_fit(self, X: npt.ArrayLike, y: object = None) -> Self:
        """Insert rows; ``labels_`` are theirs: -1, an outlier, for one that was not kept.

        Examples
        --------
        >>> import ramify
        >>> from ramify.naming.homes import ForBERTopic
        >>> ForBERTopic(ramify.OHAC(), n_clusters=2).partial_fit([[0.0], [9.0]]).labels_
        array([0, 1])
        """
        first = Stream(self.model).next_number
        self.model.partial_fit(X)
        return self._look(first, len(np.asarray(X)))

    def predict(self, X: npt.ArrayLike) -> IntArray:
        """The topic of the stored point nearest to each row.

        Examples
        --------
        >>> import ramify
        >>> from ramify.naming.homes import ForBERTopic
        >>> ForBERTopic(ramify.OHAC(), n_clusters=2).fit([[0.0], [9.0]]).predict([[7.0]])
        array([1])
        """
        numbers, _ = self.model.nearest(X)
        found: IntArray = self._ids[np.searchsorted(self.model.point_numbers_, numbers)]
        return found

    def _look(self, first: int, n_rows: int) -> Self:
        """Labels of a batch of so many rows, of which the first that was kept has this number."""
        wanted = min(self.n_clusters, len(self.model))
        sticky = {"stickiness": self.stickiness} if self.stickiness else {}
        self._ids: IntArray = self.model.stable_labels(n_clusters=wanted, **sticky)
        skipped, there = Stream(self.model).skipped, self.model.point_numbers_
        came = np.ones(n_rows, bool) if skipped is None else ~skipped
        numbers = np.full(n_rows, -1)
        numbers[came] = first + np.arange(came.sum())
        at = np.minimum(np.searchsorted(there, numbers), len(there) - 1)
        self.labels_ = np.where(there[at] == numbers, self._ids[at], -1)
        return self


def for_toponymy(model: Any, levels: Sequence[int]) -> Any:
    """A growing tree as Toponymy's ``clusterer``: a ``ClusterLayer`` for each level.

    Parameters
    ----------
    model : estimator
        If it has as many points as there are objects, it is taken as it is; else it is fitted to
        the clusterable vectors.
    levels : sequence of int
        Numbers of clusters, ascending. Toponymy has the finest first.

    Returns
    -------
    toponymy.clustering.Clusterer

    Examples
    --------
    >>> import ramify
    >>> from ramify.naming.homes import for_toponymy
    >>> for_toponymy(ramify.OHAC(), (30, 6))
    Traceback (most recent call last):
    ValueError: levels=(30, 6): expected numbers of clusters, ascending
    """
    wanted = [whole_number("levels", one) for one in levels]
    if not wanted or sorted(set(wanted)) != wanted:
        raise ValueError(f"levels={levels!r}: expected numbers of clusters, ascending")
    try:
        from toponymy.cluster_layer import ClusterLayerText
        from toponymy.clustering import Clusterer, build_cluster_tree, centroids_from_labels
    except ImportError as error:
        raise ImportError("for_toponymy needs toponymy: pip install toponymy") from error

    class TreeClusterer(Clusterer):  # type: ignore[misc]  # untyped
        """Cuts of a tree as layers."""

        def fit(
            self,
            clusterable_vectors: Any,
            embedding_vectors: Any,
            layer_class: Any = ClusterLayerText,
            **options: Any,
        ) -> Self:
            if not hasattr(model, "n_points_") or model.n_points_ != len(embedding_vectors):
                model.fit(clusterable_vectors)
            labels = [np.array(model.cut(n_clusters=k)) for k in reversed(wanted)]
            means = [centroids_from_labels(one, np.asarray(embedding_vectors)) for one in labels]
            self.cluster_tree_ = build_cluster_tree(labels)
            self.cluster_layers_ = [
                layer_class(of, mean, layer_id=i, **options)
                for i, (of, mean) in enumerate(zip(labels, means, strict=True))
            ]
            return self

        def fit_predict(self, *given: Any, **options: Any) -> tuple[Any, Any]:
            self.fit(*given, **options)
            return self.cluster_layers_, self.cluster_tree_

    return TreeClusterer()


def label_layers(topics: Topics) -> list[npt.NDArray[np.object_]]:
    """The name of each point's topic, level by level, the finest first.

    As ``datamapplot.create_interactive_plot(coordinates, *label_layers(topics))`` takes them, and
    ``create_plot`` one of them.

    Examples
    --------
    >>> import ramify
    >>> from ramify.naming import Topics
    >>> from ramify.naming.homes import label_layers
    >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
    >>> topics = Topics(model, levels=(1, 2), texts=["red apple", "red pear", "train"])
    >>> topics.update().named, label_layers(topics)[0].tolist()
    (3, ['red apple', 'red apple', 'train'])
    """
    found = []
    for level in reversed(topics.level_sizes):
        names = [name or "Unlabelled" for name in topics.names(level)]
        found.append(np.array(names, dtype=object)[topics.labels(level)])
    return found


def label_table(
    topics: Topics, coordinates: npt.ArrayLike | None = None, *, texts: Any = None
) -> dict[str, list[Any]]:
    """A line for each point: its number, its text, where it is drawn, and its topic at each level.

    ``pandas.DataFrame(label_table(...))`` is what Embedding Atlas opens, as a Parquet file or in
    its widget; any other table will do.

    Parameters
    ----------
    topics : Topics
    coordinates : array-like of shape (n, 2), optional
        In the order of the points.
    texts : sequence, optional
        In the same order.

    Examples
    --------
    >>> import ramify
    >>> from ramify.naming import Topics
    >>> from ramify.naming.homes import label_table
    >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
    >>> topics = Topics(model, levels=(2,), texts=["red apple", "red pear", "train"])
    >>> topics.update().named, label_table(topics)
    (2, {'point': [0, 1, 2], 'topic_2': ['red apple', 'red apple', 'train']})
    """
    n = len(topics.numbers)
    columns: dict[str, list[Any]] = {"point": topics.numbers.tolist()}
    if texts is not None:
        columns["text"] = list(texts)
        if len(columns["text"]) != n:
            raise ValueError(f"texts: expected {n}, one for each point")
    if coordinates is not None:
        xy = np.asarray(coordinates)
        if xy.shape != (n, 2):
            raise ValueError(f"coordinates: expected {n} x 2, a pair for each point")
        columns["x"], columns["y"] = xy[:, 0].tolist(), xy[:, 1].tolist()
    layers = zip(topics.level_sizes, reversed(label_layers(topics)), strict=True)
    return columns | {f"topic_{level}": names.tolist() for level, names in layers}
