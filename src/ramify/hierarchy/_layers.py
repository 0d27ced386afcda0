# SPDX-License-Identifier: BSD-3-Clause
"""_layers.py: the few levels of a tree at which clusters last, over all least sizes at once.

    s            a least size of clusters, as of ``cut(min_size=s)``
    birth(v)     the largest smaller child of any merge at or below node v: with a least size above
                 that, the node is not split any more
    death(v)     the smaller of the node and its sibling: with a least size above that, the two
                 are not apart any more
    lifetime     death - birth: over how many least sizes the node is a cluster
    persistence  of a least size: the sum of the lifetimes of the clusters that are there then

Layers are at the peaks of persistence. The idea is that of PLSCAN (Bot and others, 2025), whose
tree is one of densities; it asks nothing of a tree but its shape. A birth is the death of two
others, so that between two deaths nothing changes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ramify import _core
from ramify.checks import whole_number
from ramify.hierarchy._clusters import Clusters
from ramify.hierarchy._levels import Levels
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import FloatArray, IntArray

#: Least size that is looked at, unless told.
LEAST = 3
#: So many layers at most, unless told; and at least, where the tree has them.
MOST, FEWEST = 6, 3
#: Two layers differ in their numbers of clusters by this factor at least.
_APART = 1.5


class Layers(Levels):
    """The levels of a tree at which clusters last: see :meth:`Hierarchy.layers`.

    A sequence of :class:`Clusters`, the coarsest first, as other :class:`Levels` are.

    Attributes
    ----------
    min_sizes : array of int
        The least size of the clusters of each layer: ``cut(min_size=)`` gives its labels.
    persistence : array of float
        Of each layer: the sum, over its clusters, of the number of least sizes over which each
        lasts. The larger it is, the less the layer depends on the size that one asks for.

    Examples
    --------
    >>> import ramify
    >>> X = [[0.0], [1.0], [5.0], [6.0], [7.0], [50.0], [51.0], [52.0], [60.0], [61.0], [62.0]]
    >>> layers = ramify.HAC().fit(X).hierarchy().layers(min_size=2)
    >>> layers, layers.min_sizes, layers.persistence
    (<Layers: 2 and 3 clusters>, array([5, 3]), array([5., 7.]))
    """

    def __init__(
        self, levels: Sequence[Clusters], min_sizes: IntArray, persistence: FloatArray
    ) -> None:
        super().__init__(levels)
        self.min_sizes, self.persistence = min_sizes, persistence

    def __repr__(self) -> str:
        return super().__repr__().replace("<Levels", "<Layers")


class Layer(NamedTuple):
    """A least size, and what is there."""

    min_size: int
    n_clusters: int
    persistence: float


class Lives(NamedTuple):
    """Of every node, the least sizes with which it is a cluster: above birth, up to death."""

    births: FloatArray
    deaths: FloatArray


def lives_in(tree: Tree) -> Lives:
    """When each node is a cluster. O(n), also on a chain.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.0], [9.0], [10.0]]).hierarchy()
    >>> lives_in(tree)
    Lives(births=array([0., 0., 0., 0., 1., 1., 2.]), deaths=array([1., 1., 1., 1., 2., 2., 4.]))
    """
    weights = tree.weights.astype(np.float64)
    smaller = weights[tree.children].min(axis=1)
    births, deaths = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    births[tree.n_leaves :] = _core.monotone(tree.children, smaller)
    deaths[tree.children] = smaller[:, np.newaxis]
    deaths[tree.root] = weights[tree.root]
    return Lives(births, deaths)


def all_layers(tree: Tree, least: int) -> list[Layer]:
    """One for each range of least sizes in which nothing changes, ascending. O(n log n).

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.0], [9.0], [10.0]]).hierarchy()
    >>> all_layers(tree, 1)
    [Layer(min_size=1, n_clusters=4, persistence=4.0), Layer(min_size=2, n_clusters=2, \
persistence=2.0), Layer(min_size=4, n_clusters=1, persistence=2.0)]
    """
    births, deaths = lives_in(tree)
    births = np.maximum(births, least - 1.0)
    alive = deaths > births
    births, deaths = births[alive], deaths[alive]
    lifetimes = deaths - births
    edges = np.unique(np.append(deaths, least - 1.0))
    born, dead = (np.searchsorted(edges, some) for some in (births, deaths))
    counts, sums = np.zeros(len(edges)), np.zeros(len(edges))
    for change, at in ((1, born), (-1, dead)):  # what is alive above an edge, up to the next
        np.add.at(counts, at, change)
        np.add.at(sums, at, change * lifetimes)
    counts, sums = np.cumsum(counts), np.cumsum(sums)
    sizes = np.floor(edges[1:])  # the largest whole number of each range, if it has one
    return [
        Layer(int(size), int(count), float(persistence))
        for size, low, count, persistence in zip(sizes, edges, counts, sums, strict=False)
        if size > low
    ]


def peaks(every: Sequence[Layer], most: int) -> list[Layer]:
    """The layers that last longest, of different numbers of clusters, the coarsest first.

    A peak lasts no shorter than the layers next to it. The highest comes first, of equal ones the
    coarsest; then others, as long as their numbers of clusters differ enough; where that leaves
    few, layers that are no peaks. One cluster is a layer only where there is no other.

    Examples
    --------
    >>> peaks([Layer(3, 9, 5.0), Layer(4, 8, 9.0), Layer(7, 4, 6.0), Layer(9, 2, 7.0)], 2)
    [Layer(min_size=9, n_clusters=2, persistence=7.0), Layer(min_size=4, n_clusters=8, \
persistence=9.0)]
    """
    some = [one for one in every if one.n_clusters > 1]
    if not some:
        return list(every[-1:])
    heights = np.array([-np.inf, *(one.persistence for one in some), -np.inf])
    is_peak = (heights[1:-1] >= heights[:-2]) & (heights[1:-1] >= heights[2:])
    order = sorted(
        range(len(some)), key=lambda i: (not is_peak[i], -some[i].persistence, some[i].n_clusters)
    )
    chosen: list[Layer] = []
    for i in order:
        one = some[i]
        if len(chosen) >= (most if is_peak[i] else min(most, FEWEST)):
            continue
        pairs = (sorted((one.n_clusters, other.n_clusters)) for other in chosen)
        if all(larger >= _APART * smaller for smaller, larger in pairs):
            chosen.append(one)
    return sorted(chosen, key=lambda one: one.n_clusters)


def layers_of(tree: Tree, most: object, min_size: object) -> list[Layer]:
    """The few layers of a tree.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.0], [9.0], [10.0]]).hierarchy()
    >>> layers_of(tree, 6, 2)
    [Layer(min_size=2, n_clusters=2, persistence=2.0)]
    """
    least = whole_number("min_size", min_size)
    few = whole_number("most", most)
    return peaks(all_layers(tree, min(least, int(tree.weights[tree.root]))), few)
