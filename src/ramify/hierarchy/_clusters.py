# SPDX-License-Identifier: BSD-3-Clause
"""_clusters.py: cluster objects: what a cluster of a cut is, holds, means and looks like.

What a cut knows anyway is there at once: ids, sizes, heights. Whatever has to look at
all points, such as members, examples and keywords, is worked out when it is asked for.
A live model's clusters look at its tree only then, and refuse if it has grown meanwhile.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from ramify.checks import whole_number
from ramify.hierarchy._aligned import order_of, place_in
from ramify.hierarchy._html import clusters_html
from ramify.hierarchy._keywords import StopWords, keywords
from ramify.hierarchy._rows import Rows, examples
from ramify.hierarchy._tables import optional
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

_AT_ONCE = 1 << 16  # rows to subtract a mean from at once


class Points(NamedTuple):
    """The points of a tree, of which a leaf may stand for several, in order of arrival."""

    numbers: IntArray  # arrival numbers
    places: IntArray | slice  # the leaf that each is in
    names: npt.NDArray[Any] | None


class Ground(NamedTuple):
    """What a cut was made on, for questions that look at all points."""

    tree: Tree
    labels: IntArray  # of the leaves, by place
    nodes: IntArray  # of the clusters, by label
    rows: Rows | None  # of the leaves, as they are compared
    texts: list[str] | None  # of the points
    points: Points


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Cluster:
    """One cluster of a cut: an entry of :class:`Clusters`. Where a node is asked for, it
    can be given instead: ``tree.leaves(cluster)``. Points are named by arrival numbers.

    Attributes
    ----------
    label : int
        As :meth:`Hierarchy.cut` numbers it.

    Examples
    --------
    >>> import ramify
    >>> X = [[0.0], [1.0], [2.0], [9.0], [10.0]]
    >>> tree = ramify.HAC().fit(X, ids=["a", "b", "c", "d", "e"]).hierarchy()
    >>> first, second = tree.clusters(X, n_clusters=2)
    >>> first
    <Cluster 0: 3 points, height 2.5, such as b, a, c>
    >>> first.size, first.mean, first.members, second.member_names
    (3, array([1.]), array([0, 1, 2]), ['d', 'e'])
    """

    label: int
    _clusters: "Clusters"

    @property
    def node_id(self) -> int:
        """Id of the node that stays while it is there; a single point's is -1 - its number."""
        return int(self._clusters.node_ids[self.label])

    @property
    def name(self) -> str | None:
        """What people call the node (``model.rename``), if they have said so."""
        names = self._clusters.names
        return None if names is None else names[self.label]

    @property
    def stable_id(self) -> int | None:
        """Id that stays while the tree goes on, as ``stable_labels`` of the same cut gave it.

        None for a cluster that is new since then, and if no ids were given.
        """
        id = int(self._clusters.stable_ids[self.label])
        return None if id < 0 else id

    @property
    def node(self) -> int:
        """Number of the node in the snapshot; a leaf's is its place."""
        return int(self._clusters.nodes[self.label])

    @property
    def size(self) -> float:
        """Number of points; no whole number only where weights are none."""
        size: float = self._clusters.sizes[self.label].item()
        return size

    @property
    def height(self) -> float:
        """Monotone height of the node, 0 for a single point."""
        return float(self._clusters.heights[self.label])

    @property
    def first_point(self) -> int:
        """Arrival number of the earliest point."""
        return int(self._clusters.first_points[self.label])

    @property
    def mean(self) -> Any:
        """Mean of the rows; None if there are no rows."""
        means = self._clusters.means
        return None if means is None else means[self.label]

    @property
    def spread(self) -> float | None:
        """Mean squared distance of the rows from their mean; None if there are no rows."""
        spreads = self._clusters.spreads
        return None if spreads is None else float(spreads[self.label])

    @property
    def members(self) -> IntArray:
        """Arrival numbers of its points, in order: ``X[members]`` are their rows in a stream X."""
        return self._clusters.members(self.label)

    @property
    def member_names(self) -> list[Any]:
        """Names of its points; their numbers if they have no names."""
        return self._clusters._names(self.members)

    @property
    def places(self) -> IntArray:
        """Places of its leaves in the snapshot, in order: entries of the labels of its cuts."""
        return self._clusters._places(self.label)

    @property
    def representatives(self) -> IntArray:
        """Three points that show what it holds, the most central first; or fewer: numbers."""
        return self._clusters._examples(self.label, 3)

    @property
    def representative_names(self) -> list[Any]:
        """Names of the representatives; their numbers if they have no names."""
        return self._clusters._names(self.representatives)

    @property
    def keywords(self) -> list[str] | None:
        """Five words that tell its texts from the others; None if there are no texts."""
        found = self._clusters.keywords()
        return None if found is None else found[self.label]

    @property
    def parent(self) -> int | None:
        """Label of the cluster that holds it at the next coarser level of
        :class:`Levels`, if it is in any."""
        parents = self._clusters.parents
        return None if parents is None else int(parents[self.label])

    def __index__(self) -> int:
        return self.node

    def __repr__(self) -> str:
        label = f"{self.label}" if self.name is None else f"{self.label} {self.name!r}"
        about = f"{self.size:,} point{'s' if self.size > 1 else ''}, height {self.height:.4g}"
        ground = self._clusters._seen
        if ground is not None and ground.texts is not None:
            about += f", about {' '.join(self.keywords or [])}"
        elif ground is not None and ground.rows is not None:
            about += f", such as {', '.join(map(str, self.representative_names))}"
        return f"<Cluster {label}: {about}>"


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
            self._spreads = _spreads(ground, len(self))
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
            self._order = _grouped(self.labels, len(self))
        order, ends = self._order
        return self._ground().points.numbers[order[ends[wanted] : ends[wanted + 1]]]

    def _places(self, label: int) -> IntArray:
        if self._leaves is None:
            self._leaves = _grouped(self._ground().labels, len(self))
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


def _grouped(labels: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Positions by label, those without one first, and where each group ends."""
    ends = np.cumsum(np.bincount(labels + 1, minlength=count + 1))
    return np.argsort(labels, kind="stable"), ends


def _spreads(ground: Ground, count: int) -> FloatArray:
    assert ground.rows is not None
    rows, labels = ground.rows, ground.labels
    weights = ground.tree.leaf_weights
    means, sizes = means_of(rows, labels, count, weights), sizes_of(labels, count, weights)
    total = np.zeros(count)
    for start in range(0, len(rows), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        label = labels[part]
        kept = label >= 0
        apart = ((rows[part][kept] - means[label[kept]]) ** 2).sum(axis=1)
        if weights is not None:
            apart = apart * weights[part][kept]
        total += np.bincount(label[kept], weights=apart, minlength=count)
    spreads: FloatArray = total / sizes
    return spreads


def sizes_of(labels: IntArray, count: int, weights: FloatArray | None = None) -> Any:
    """Number of points of each label from 0 to count - 1, of leaves with these weights.

    Examples
    --------
    >>> import numpy as np
    >>> sizes_of(np.array([0, -1, 0]), 1), sizes_of(np.array([0, 1]), 2, np.array([3.0, 1.5]))
    (array([2]), array([3. , 1.5]))
    """
    kept = labels >= 0
    if weights is None:
        return np.bincount(labels[kept], minlength=count)
    sums = np.bincount(labels[kept], weights=weights[kept], minlength=count)
    counts = sums.astype(np.int64)
    return counts if (counts == sums).all() else sums


def means_of(
    rows: Rows, labels: IntArray, count: int, weights: FloatArray | None = None
) -> FloatArray:
    """Mean of the rows of each label from 0 to count - 1, of leaves with these weights.

    Examples
    --------
    >>> import numpy as np
    >>> means_of(np.array([[1.0], [5.0], [3.0]]), np.array([0, -1, 0]), 1)
    array([[2.]])
    """
    centre = rows.mean(axis=0, dtype=np.float64)  # far from the origin sums lose digits
    kept = labels >= 0
    sums = np.zeros((count, rows.shape[1]))
    for start in range(0, len(rows), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        apart = rows[part][kept[part]] - centre
        if weights is not None:
            apart = apart * weights[part][kept[part], np.newaxis]
        np.add.at(sums, labels[part][kept[part]], apart)
    return np.asarray(centre + sums / sizes_of(labels, count, weights)[:, np.newaxis])
