# SPDX-License-Identifier: BSD-3-Clause
"""_cluster.py: one cluster of a cut, and what a cut was made on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy.typing as npt

from ramify.hierarchy._rows import Rows
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import IntArray

if TYPE_CHECKING:
    from ramify.hierarchy._clusters import Clusters


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
