# SPDX-License-Identifier: BSD-3-Clause
"""_groups.py: cluster objects of a tree, at one level or at several."""

from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ramify.checks import whole_number
from ramify.hierarchy._aligned import Texts, texts_for
from ramify.hierarchy._cluster import Ground, Points
from ramify.hierarchy._clusters import Clusters
from ramify.hierarchy._cut_options import By, check_way
from ramify.hierarchy._cuts import Cuts, Ordered
from ramify.hierarchy._grouping import means_of, sizes_of
from ramify.hierarchy._layers import LEAST, MOST, Layers, layers_of
from ramify.hierarchy._levels import Levels
from ramify.hierarchy._modularity import N_NEIGHBORS, best_by_modularity, edges_for
from ramify.hierarchy._rows import MetricName, Rows, read_own_rows
from ramify.hierarchy._values import IntArray


class Groups(Cuts):
    """Cuts whose clusters can be asked what they are."""

    __slots__ = ()

    def clusters(
        self,
        X: npt.ArrayLike | None = None,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        small: Literal["join", "noise"] = "join",
        by: By = "height",
        metric: MetricName = "sqeuclidean",
        resolution: float | None = None,
        n_neighbors: int = N_NEIGHBORS,
        graph: Any = None,
        texts: Texts | None = None,
    ) -> Clusters:
        """The clusters of a cut: what :meth:`cut` numbers, as cluster objects.

        Parameters
        ----------
        X : array-like of shape (n, d), optional
            The rows that the tree was grown on, in the same order: for means, spreads
            and representatives, and for ``by="variance"``. Where points have left, also the
            whole stream, points that are gone included.
        n_clusters, height, max_size, min_size, small, by : optional
            The cut, as in :meth:`cut`.
        metric : "sqeuclidean" or "cosine"
            Of the rows: with ``"cosine"`` only their directions count.
        resolution, n_neighbors, graph : optional
            By modularity, as in :meth:`cut`; with ``graph`` the rows are not looked at.
        texts : sequence or mapping of str, optional
            A text for each point, in the same order as X, or by name or arrival number: for
            keywords.

        Returns
        -------
        Clusters
            Entry i is the cluster with the label i. ``to_frame()`` makes a table.

        Examples
        --------
        >>> import ramify
        >>> X = [[0.0], [1.0], [8.0], [9.0]]
        >>> tree = ramify.HAC().fit(X).hierarchy()
        >>> texts = ["a red apple", "a red pear", "fast train", "a train home"]
        >>> for cluster in tree.clusters(X, n_clusters=2, texts=texts):
        ...     print(cluster.label, cluster.size, cluster.mean, cluster.keywords[:1])
        0 2 [0.5] ['red']
        1 2 [8.5] ['train']
        """
        options = {
            "n_clusters": n_clusters,
            "height": height,
            "max_size": max_size,
            "min_size": min_size,
        }
        rows = None if X is None else read_own_rows(X, self, metric)
        words = None if texts is None else self._texts(texts)
        if by == "modularity":
            check_way(by, options, X)
            near = rows if graph is None else None
            edges = edges_for(self, near, n_neighbors, graph)
            best = best_by_modularity(self, edges, resolution)
            return self._clusters_below(best.nodes, rows, words)
        return self._clusters_of(options, small, rows, words, by)

    def levels(
        self,
        *n_clusters: int,
        X: npt.ArrayLike | None = None,
        min_size: int | None = None,
        small: Literal["join", "noise"] = "join",
        by: Literal["height", "variance"] = "height",
        metric: MetricName = "sqeuclidean",
        texts: Texts | None = None,
    ) -> Levels:
        """Several cuts at once, and which cluster sits in which.

        Parameters
        ----------
        *n_clusters : int
            Ascending: the coarsest level first.
        X, min_size, small, by, metric, texts : optional
            As in :meth:`clusters`.

        Returns
        -------
        Levels

        Examples
        --------
        >>> import ramify
        >>> X = [[0.0], [1.0], [8.0], [9.0], [30.0]]
        >>> coarse, fine = ramify.HAC().fit(X).hierarchy().levels(2, 4)
        >>> [(cluster.size, cluster.parent) for cluster in fine]
        [(2, 0), (1, 0), (1, 0), (1, 1)]
        """
        counts = [whole_number("n_clusters", count) for count in n_clusters]
        if not counts or any(b <= a for a, b in pairwise(counts)):
            found = ", ".join(map(str, counts)) or "none"
            raise ValueError(f"levels: expected ascending numbers of clusters, got {found}")
        rows = None if X is None else read_own_rows(X, self, metric)
        words = None if texts is None else self._texts(texts)
        levels: list[Clusters] = []
        check_way(by, {"n_clusters": counts[0], "min_size": min_size}, None)
        ordered = self._ordered(by, rows)
        for count in counts:
            options = {"n_clusters": count, "min_size": min_size}
            level = self._clusters_in(ordered, options, small, rows, words)
            if levels:
                level.parents = level.within(levels[-1])
            levels.append(level)
        return Levels(levels)

    def layers(
        self,
        X: npt.ArrayLike | None = None,
        *,
        most: int = MOST,
        min_size: int = LEAST,
        metric: MetricName = "sqeuclidean",
        texts: Texts | None = None,
    ) -> Layers:
        """The few levels at which clusters last, whatever least size one asks for.

        With a larger least size a tree has fewer clusters. Some last over many least sizes, and
        others are gone with the next one. A layer is a least size at which those that are there
        last longest in all: a peak of persistence over all least sizes. Heights are not looked
        at, so that trees of any linkage have layers. :meth:`suggest_cuts` looks at heights alone,
        and says nothing where none stands out; :meth:`condense` and the cut by stability take
        one least size, and ask how long clusters last over heights. O(n log n), also on a chain.

        Parameters
        ----------
        X : array-like of shape (n, d), optional
            The rows that the tree was grown on, for means, spreads and representatives.
        most : int, default=6
            At most so many layers. Their numbers of clusters differ by half and more, and there
            are three of them, if the tree has so many.
        min_size : int, default=3
            The least size that is looked at.
        metric, texts : optional
            As in :meth:`clusters`.

        Returns
        -------
        Layers
            Nested, the coarsest first: :class:`Levels` with ``min_sizes`` and ``persistence``.

        Examples
        --------
        >>> import ramify
        >>> from ramify import datasets
        >>> tree = ramify.HAC(metric="cosine", linkage="ward").fit(datasets.intents().points)
        >>> layers = tree.hierarchy().layers()
        >>> layers
        <Layers: 3, 12, 18, 33, 54 and 184 clusters>
        >>> layers.min_sizes
        array([1231,  239,  128,   81,   52,   13])
        """
        found = layers_of(self, most, min_size)
        rows = None if X is None else read_own_rows(X, self, metric)
        words = None if texts is None else self._texts(texts)
        levels: list[Clusters] = []
        for one in found:
            level = self._clusters_of({"min_size": one.min_size}, "join", rows, words)
            if levels:
                level.parents = level.within(levels[-1])
            levels.append(level)
        sizes = np.array([one.min_size for one in found], np.int64)
        return Layers(levels, sizes, np.array([one.persistence for one in found]))

    def _clusters_of(
        self,
        options: dict[str, Any],
        small: Any,
        rows: Rows | None,
        texts: list[str] | None,
        by: By = "height",
    ) -> Clusters:
        """The clusters of a cut, everything else checked."""
        if by == "modularity":
            edges = edges_for(self, rows, N_NEIGHBORS, None)
            best = best_by_modularity(self, edges, options["resolution"])
            return self._clusters_below(best.nodes, rows, texts)
        check_way(by, options, None)
        if by != "stability":
            return self._clusters_in(self._ordered(by, rows), options, small, rows, texts)
        condensed = self._condensed(options["min_size"])
        nodes = condensed.nodes[condensed.clusters() - self.n_leaves]
        return self._clusters_at(condensed.labels(), nodes, rows, texts)

    def _clusters_in(
        self,
        ordered: Ordered,
        options: dict[str, Any],
        small: Any,
        rows: Rows | None,
        texts: list[str] | None,
    ) -> Clusters:
        """The clusters of a cut of this tree, or of the same one in another order."""
        labels = ordered.tree.cut(**options, small=small)
        nodes = ordered.tree._cut_nodes(labels, options)
        of_this = nodes if ordered.nodes is None else ordered.nodes[nodes]
        return self._clusters_at(labels, of_this, rows, texts)

    def _clusters_below(
        self, tops: IntArray, rows: Rows | None, texts: list[str] | None
    ) -> Clusters:
        """The clusters that are below these nodes, which hold every leaf once."""
        labels = self._labels_at(tops)
        return self._clusters_at(labels, self._by_label(labels, tops), rows, texts)

    def _clusters_at(
        self, labels: IntArray, nodes: IntArray, rows: Rows | None, texts: list[str] | None
    ) -> Clusters:
        """Clusters whose labels and nodes are known."""
        k = len(nodes)
        heights = np.zeros(k)
        merged = nodes >= self.n_leaves
        heights[merged] = self.monotone_heights[nodes[merged] - self.n_leaves]
        kept = labels >= 0
        first = np.full(k, np.iinfo(np.int64).max)
        np.minimum.at(first, labels[kept], self.point_numbers[kept])
        return Clusters(
            self._public_ids(nodes),
            sizes_of(labels, k, self.leaf_weights),
            None if rows is None else means_of(rows, labels, k, self.leaf_weights),
            heights,
            first,
            Ground(self, _frozen(labels), nodes, rows, texts, self._points()),
        )

    def _points(self) -> Points:
        """The points, one for each leaf."""
        return Points(self.point_numbers, slice(None), self.names)

    def _texts(self, texts: Texts) -> list[str]:
        return texts_for(texts, self.point_numbers, self.names)


def _frozen(labels: IntArray) -> IntArray:
    labels.setflags(write=False)
    return labels
