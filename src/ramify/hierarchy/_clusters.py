# SPDX-License-Identifier: BSD-3-Clause
"""_clusters.py: cluster objects: what a cluster of a cut is, holds, means and looks like.

What a cut knows anyway is there at once: ids, sizes, heights. Whatever has to look at
all points, such as members, examples and keywords, is worked out when it is asked for.
A live model's clusters look at its tree only then, and refuse if it has grown meanwhile.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from ramify.checks import whole_number
from ramify.hierarchy._aligned import order_of, place_in
from ramify.hierarchy._cluster import Cluster, Ground
from ramify.hierarchy._grouping import grouped, spreads_of
from ramify.hierarchy._html import clusters_html
from ramify.hierarchy._keywords import StopWords, keywords
from ramify.hierarchy._rows import examples
from ramify.hierarchy._tables import optional
from ramify.hierarchy._values import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd


class Clusters(Sequence[Cluster]):
    """The clusters of a cut, in order of their first points: entry i has the label i.

    A sequence of :class:`Cluster`, and the same as arrays.

    Attributes
    ----------
    node_ids : array of shape (k,)
        Stable id of each cluster's node; a single point's is -1 - its number.
    sizes : array of shape (k,)
        Number of points.
    means : array of shape (k, d), or None without rows
        Of the rows as they are compared: of unit length under cosine.
    heights : array of shape (k,)
        Monotone height of the node, 0 for a single point.
    first_points : array of shape (k,)
        Arrival number of the earliest point.
    parents : array of shape (k,), or None
        Label at the next coarser level of :class:`Levels`.
    names : list of k texts and None, or None
        What people call the nodes (``model.rename``), if they have named any.

    Examples
    --------
    >>> import ramify
    >>> X = [[0.0], [1.0], [2.0], [9.0], [10.0]]
    >>> found = ramify.HAC().fit(X).hierarchy().clusters(X, n_clusters=2)
    >>> found
    <Clusters: 2 clusters of 2 to 3 points>
    >>> found.sizes, found.means.ravel(), found.spreads
    (array([3, 2]), array([1. , 9.5]), array([0.66666667, 0.25      ]))
    >>> [cluster.size for cluster in found]
    [3, 2]
    """

    def __init__(
        self,
        node_ids: IntArray,
        sizes: IntArray,
        means: Any,
        heights: FloatArray,
        first_points: IntArray,
        look: Ground | Callable[[], Ground] | None = None,
        parents: IntArray | None = None,
        names: list[str | None] | None = None,
    ) -> None:
        self.node_ids = node_ids
        self.sizes = sizes
        self.means = means
        self.heights = heights
        self.first_points = first_points
        self.parents = parents
        self.names = names
        self._look = look
        self._stable: IntArray | Callable[[], IntArray] | None = None
        self._seen = look if isinstance(look, Ground) else None
        self._order: tuple[IntArray, IntArray] | None = None  # of the points
        self._leaves: tuple[IntArray, IntArray] | None = None
        self._sorted: tuple[IntArray | None] | None = None
        self._spreads: FloatArray | None = None
        self._words: tuple[int, list[list[str]]] | None = None

    # --- a sequence -----------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.node_ids)

    @overload
    def __getitem__(self, label: SupportsIndex) -> Cluster: ...
    @overload
    def __getitem__(self, label: slice) -> list[Cluster]: ...
    def __getitem__(self, label: SupportsIndex | slice) -> Cluster | list[Cluster]:
        places = range(len(self))[label]
        if isinstance(places, range):
            return [Cluster(place, self) for place in places]
        return Cluster(places, self)

    def __iter__(self) -> Iterator[Cluster]:
        return (Cluster(label, self) for label in range(len(self)))

    def __repr__(self) -> str:
        count = f"{len(self):,} cluster{'s' if len(self) > 1 else ''}"
        small, large = int(self.sizes.min()), int(self.sizes.max())
        of = f"{large:,}" if small == large else f"{small:,} to {large:,}"
        return f"<Clusters: {count} of {of} point{'s' if large > 1 else ''}>"

    def _repr_html_(self) -> str:
        return clusters_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = self.node_ids, self.sizes, self.means, self.heights, self.first_points
        given = (*arrays, None, self.parents, self.names)  # a copy cannot look at the tree
        try:
            ids = self.stable_ids
        except RuntimeError:  # the tree has changed: they are lost
            return Clusters, given
        return Clusters, given, {"_stable": ids}

    # --- what looks at all points -----------------------------------------------------

    @property
    def labels(self) -> IntArray:
        """Cluster of every point that is there, in order of arrival; -1 is noise.

        A model's stand in the order of ``point_numbers_``; of a snapshot, by place.
        """
        ground = self._ground()
        return ground.labels[ground.points.places]

    @property
    def stable_ids(self) -> IntArray:
        """Ids that stay while the tree goes on, as ``stable_labels`` of the same cut gave them.

        -1 for clusters that are new since then, and for all if no ids were given: reading gives
        none.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
        >>> before = model.stable_labels(n_clusters=2)
        >>> model.partial_fit([[8.0], [-50.0]]).clusters(n_clusters=3).stable_ids
        array([-1, -1, -1])
        >>> model.clusters(n_clusters=2).stable_ids
        array([ 0, -1])
        """
        if callable(self._stable):
            self._stable = self._stable()
        return np.full(len(self), -1) if self._stable is None else self._stable

    @property
    def nodes(self) -> IntArray:
        """Number of each cluster's node in the snapshot."""
        return self._ground().nodes

    @property
    def spreads(self) -> FloatArray | None:
        """Mean squared distance of each cluster's rows from their mean. O(n d)."""
        if self._spreads is None and (ground := self._ground()).rows is not None:
            self._spreads = spreads_of(ground, len(self))
        return self._spreads

    def members(self, label: int) -> IntArray:
        """Arrival numbers of the points of a cluster, in order; of leaves, in a snapshot.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [9.0], [1.0]]).hierarchy()
        >>> tree.clusters(n_clusters=2).members(0)
        array([0, 2])
        """
        most = len(self) - 1
        wanted = whole_number("label", label, least=0, most=most, why="the labels of the cut")
        if self._order is None:
            self._order = grouped(self.labels, len(self))
        order, ends = self._order
        return self._ground().points.numbers[order[ends[wanted] : ends[wanted + 1]]]

    def _places(self, label: int) -> IntArray:
        if self._leaves is None:
            self._leaves = grouped(self._ground().labels, len(self))
        leaves, ends = self._leaves
        return leaves[ends[label] : ends[label + 1]].copy()

    def representatives(self, k: int = 3) -> list[IntArray]:
        """Numbers of a few points that show what each cluster holds, the most central first.

        As :meth:`Hierarchy.representatives` chooses them. Needs the rows.

        Examples
        --------
        >>> import ramify
        >>> X = [[0.0], [1.0], [2.0], [9.0], [10.0]]
        >>> tree = ramify.HAC().fit(X).hierarchy()
        >>> tree.clusters(X, n_clusters=2).representatives(1)
        [array([1]), array([3])]
        """
        wanted = whole_number("k", k)
        return [self._examples(label, wanted) for label in range(len(self))]

    def keywords(
        self, k: int = 5, *, bigrams: bool = False, stop_words: StopWords = ()
    ) -> list[list[str]] | None:
        """Words that tell the texts of each cluster from the others; None without texts.

        A word scores p log(p / q)²: p is its share among the words of the cluster, q
        among all. So what is common everywhere is not among them.

        Parameters
        ----------
        k : int
            At most so many of each cluster.
        bigrams : bool
            Pairs of words side by side, too.
        stop_words : collection of str, or "english"
            Words that are not told, nor pairs with them.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [8.0], [9.0]]).hierarchy()
        >>> texts = ["a red apple", "a red pear", "fast train", "a train home"]
        >>> tree.clusters(n_clusters=2, texts=texts).keywords(1)
        [['red'], ['train']]
        """
        wanted, texts = whole_number("k", k), self._ground().texts
        if texts is None:
            return None
        if bigrams or stop_words:
            more: Any = {"bigrams": bigrams, "stop_words": stop_words}
            return keywords(texts, self.labels, len(self), wanted, **more)
        if self._words is None or self._words[0] < wanted:
            self._words = wanted, keywords(texts, self.labels, len(self), wanted)
        return [words[:wanted] for words in self._words[1]]

    def within(self, other: "Clusters") -> IntArray:
        """Label of the cluster of another cut that holds each of these; -1 in its noise.

        Refused if one of these is spread over several others.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [8.0], [9.0]]).hierarchy()
        >>> tree.clusters(n_clusters=3).within(tree.clusters(n_clusters=2))
        array([0, 1, 1])
        """
        mine, theirs = self.labels, other.labels
        if len(mine) != len(theirs):
            raise ValueError(f"cuts of {len(mine):,} and of {len(theirs):,} points")
        inside = np.full(len(self), -1, dtype=np.int64)
        kept = mine >= 0
        inside[mine[kept]] = theirs[kept]
        spread = kept & (inside[mine] != theirs)
        if spread.any():
            label = int(mine[np.argmax(spread)])
            raise ValueError(f"cluster {label} lies in several clusters of the other cut")
        return inside

    def to_frame(self) -> "pd.DataFrame":
        """A pandas frame with a row for each cluster. Needs the extra ``export``.

        Columns: label, node, node_id, size, height and first_point; name if a node has one;
        with rows spread and representatives, by name if points have names; with texts
        keywords; and parent at a level of :class:`Levels`.

        Examples
        --------
        >>> import ramify
        >>> X = [[0.0], [1.0], [2.0], [9.0], [10.0]]
        >>> tree = ramify.HAC().fit(X).hierarchy()
        >>> tree.clusters(X, n_clusters=2).to_frame()[["label", "size", "representatives"]]
           label  size representatives
        0      0     3       [1, 0, 2]
        1      1     2          [3, 4]
        """
        columns: dict[str, Any] = {
            "label": np.arange(len(self)),
            "node": self.nodes,
            "node_id": self.node_ids,
            "size": self.sizes,
            "height": self.heights,
            "first_point": self.first_points,
        }
        if self.names is not None:
            columns["name"] = self.names
        if self.parents is not None:
            columns["parent"] = self.parents
        if self.spreads is not None:
            columns["spread"] = self.spreads
            columns["representatives"] = [self._names(some) for some in self.representatives()]
        if (words := self.keywords()) is not None:
            columns["keywords"] = words
        return optional("pandas", "to_frame").DataFrame(columns)

    # --- for the above ----------------------------------------------------------------

    def _ground(self) -> Ground:
        if self._seen is None:
            if not callable(self._look):
                raise RuntimeError("a copy of clusters has only their arrays, and no tree")
            self._seen = self._look()
        return self._seen

    def _examples(self, label: int, k: int) -> IntArray:
        ground = self._ground()
        if ground.rows is None:
            raise ValueError(
                "representatives need the rows that the tree was grown on: "
                "tree.clusters(X, ...), or the clusters of a model"
            )
        return ground.tree.point_numbers[examples(self._places(label), ground.rows, k)]

    def _names(self, numbers: IntArray) -> list[Any]:
        """What points with these numbers are called."""
        every, _, names = self._ground().points
        if names is None:
            plain: list[Any] = numbers.tolist()
            return plain
        if self._sorted is None:
            self._sorted = (order_of(every),)
        chosen: list[Any] = names[place_in(every, numbers, *self._sorted)].tolist()
        return chosen
