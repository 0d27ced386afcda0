# SPDX-License-Identifier: BSD-3-Clause
"""_sticky.py: a cut that holds on to the clusters of an earlier one.

    loss   of a cut: the sum of the heights of the merges that it keeps. By ward's heights it
           is the sum of squares within the clusters; the plain cut has the least of all.
    kept   points that stay in their cluster. A cluster of now goes on with one of then if
           it has more than half of the points of both that were there then and are there now.
           At most one does so, and it goes on with one alone: the rule of ``stable_labels``.
    moved  all other points that were there then
    unit   loss of the plain cut, for each point

Of all cuts of the tree into k clusters the sticky one has the least loss + stickiness · unit ·
moved. Which cluster of then a node goes on with depends on the node alone, so the best cut is
found exactly, from the leaves up (core/tree/best_frontier.hpp).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import number
from ramify.hierarchy._aligned import entries_for
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import FloatArray, IntArray, own

#: How much a cut holds on to an earlier one unless it is told: `python -m benchmarks.sticky`.
STICKINESS = 0.01

#: What ``like`` may be: labels in order, or by id or arrival number, or a sticky cut.
Like: TypeAlias = npt.ArrayLike | Mapping[Any, int]


class Then(NamedTuple):
    """Points that were in a cluster of an earlier cut and are there still."""

    places: IntArray  #: of their leaves
    labels: IntArray  #: of their clusters then: 0, 1, 2, ...
    weights: FloatArray | None = None  #: how much each counts; None: once


class Numbered(NamedTuple):
    """Labels of points by arrival number."""

    numbers: IntArray
    labels: IntArray


class Sticky(NamedTuple):
    """A sticky cut as nodes of a tree."""

    nodes: IntArray  #: ascending
    price: float  #: by how much its loss is above the least, as a share of the least
    moved: float  #: points that are not in their cluster of then
    moved_plainly: float  #: the same of the plain cut


class StickyLabels(np.ndarray[tuple[Any, ...], np.dtype[np.int64]]):
    """Labels of a sticky cut: an array that says what holding on has cost.

    What is computed from it is an array like any other, and says nothing.

    Attributes
    ----------
    price : float
        How much worse than the best cut: the sum of the heights of the merges that are kept
        is by this share larger than that of the plain cut.
    moved, moved_plainly : float
        Points that are not in the cluster that goes on with theirs: in this cut, and in the
        plain one.
    point_numbers : array of shape (n,)
        Arrival numbers of the points, so that the next cut can be ``like`` this one.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.5], [10.0], [12.0]]).hierarchy()
    >>> tree.cut(n_clusters=3)
    array([0, 0, 1, 2])
    >>> tree.cut(n_clusters=3, like=[0, 1, 2, 2], stickiness=1.0)
    StickyLabels([0, 1, 2, 2], price=77.78%, moved=0, plainly=4)
    """

    price: float
    moved: float
    moved_plainly: float
    point_numbers: IntArray

    def __new__(cls, labels: IntArray, sticky: Sticky, point_numbers: IntArray) -> Self:
        made = labels.view(cls)
        made.price, made.moved, made.moved_plainly = sticky[1:]
        made.point_numbers = point_numbers
        return made

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __reduce__(self) -> tuple[Any, ...]:
        sticky = Sticky(np.empty(0, np.int64), self.price, self.moved, self.moved_plainly)
        return type(self), (np.array(self), sticky, self.point_numbers)

    def __repr__(self) -> str:
        if not hasattr(self, "price"):
            return repr(np.asarray(self))
        shown = repr(np.asarray(self)).removeprefix("array(").removesuffix(")")
        told = f"price={self.price:.2%}, moved={self.moved:g}, plainly={self.moved_plainly:g}"
        return f"StickyLabels({shown}, {told})"


def sticky_cut(tree: Tree, then: Then, n_clusters: int, stickiness: float) -> Sticky:
    """The cut into so many clusters that is best where moving a point has a price. O(n k).

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.5], [10.0], [12.0]]).hierarchy()
    >>> then = Then(np.arange(4), np.array([0, 1, 2, 2]))
    >>> sticky_cut(tree, then, 3, 0.0).nodes, sticky_cut(tree, then, 3, 1.0).nodes
    (array([2, 3, 4]), array([0, 1, 5]))
    """
    n, heights = tree.n_leaves, tree.monotone_heights
    gains = heights - heights.min(initial=0.0)
    first = tree.n_nodes - (n_clusters - 1)  # merge above the plain cut
    above = np.append(tree.children[first - n :].ravel(), tree.root)
    plain = np.sort(above[above < first])
    kept = kept_in(tree, then)
    least = float(gains[: n - n_clusters].sum())
    nodes = plain
    if stickiness > 0 and kept.any():
        weight = stickiness * least / float(tree.weights[tree.root])
        nodes = own(_core.best_frontier(tree.children, gains, kept, weight, n_clusters))
    more = float(gains[first - n :].sum() - gains[_undone(tree, nodes)].sum())
    price = more / least if more > 0 else 0.0
    total = float(len(then.places) if then.weights is None else then.weights.sum())
    moved, plainly = (total - float(kept[some].sum()) for some in (nodes, plain))
    return Sticky(nodes, price, moved, plainly)


def _undone(tree: Tree, nodes: IntArray) -> IntArray:
    """Rows of the merges above these nodes, which hold every leaf once."""
    _, start = tree._leaf_ordering()
    begins = np.sort(start[nodes])
    from_, to = start[tree.n_leaves :], start[tree.n_leaves :] + tree.sizes[tree.n_leaves :]
    held = np.searchsorted(begins, to) - np.searchsorted(begins, from_)
    return np.flatnonzero(held > 1)


def kept_in(tree: Tree, then: Then) -> FloatArray:
    """For each node the points of the cluster of then that it goes on with; 0 if with none.

    O((n + m) log(n m)) for m points: the one cluster that may have more than half of a node is
    read bit by bit, each bit off the larger half, and then counted.

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.5], [10.0], [12.0]]).hierarchy()
    >>> kept_in(tree, Then(np.arange(4), np.array([0, 1, 2, 2])))
    array([1., 1., 0., 0., 0., 2., 0.])
    """
    m = len(then.places)
    if m == 0:
        return np.zeros(tree.n_nodes)
    _, start = tree._leaf_ordering()
    order = np.argsort(start[then.places], kind="stable")
    places, labels = start[then.places[order]], then.labels[order]
    weights = np.ones(m) if then.weights is None else then.weights[order]
    first = np.searchsorted(places, start)
    end = np.searchsorted(places, start + tree.sizes)
    there = _between(weights, first, end)
    candidate = np.zeros(tree.n_nodes, dtype=np.int64)
    for bit in range(int(labels.max()).bit_length()):
        with_bit = _between(weights * (labels >> bit & 1), first, end)
        candidate |= (2 * with_bit > there).astype(np.int64) << bit
    by_label = np.argsort(labels, kind="stable")
    key = labels[by_label] * (m + 1) + by_label
    spans = (np.searchsorted(key, candidate * (m + 1) + edge) for edge in (first, end))
    shared = _between(weights[by_label], *spans)
    sizes = np.bincount(labels, weights)
    sizes = np.append(sizes, np.zeros(max(0, int(candidate.max()) + 1 - len(sizes))))
    goes_on = (2 * shared > there) & (2 * shared > sizes[candidate])
    return np.where(goes_on, shared, 0.0)


def _between(values: FloatArray, first: IntArray, end: IntArray) -> FloatArray:
    sums = np.concatenate([[0.0], np.cumsum(values)])
    found: FloatArray = sums[end] - sums[first]
    return found


def read_stickiness(found: object) -> float:
    """Check a stickiness.

    Examples
    --------
    >>> read_stickiness(1)
    1.0
    """
    size = number("stickiness", found)
    if not 0 <= size < float("inf"):
        raise ValueError(f"stickiness={found!r}: expected a finite number from 0 on")
    return size


def read_like(tree: Tree, like: Like) -> Then:
    """Which leaves were in which cluster.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.5], [10.0], [12.0]]).hierarchy()
    >>> read_like(tree, [7, 7, -1, 3]).labels
    array([1, 1, 0])
    """
    numbers, names = tree.point_numbers, tree.names
    places, labels = labels_then(like, numbers, names)
    weights = None if tree.leaf_weights is None else tree.leaf_weights[places]
    return Then(places, labels, weights)


def labels_then(
    like: Like | Numbered,
    numbers: IntArray,
    names: npt.NDArray[Any] | None = None,
    total: int | None = None,
) -> tuple[IntArray, IntArray]:
    """Of the points with these numbers those that were in a cluster, and its dense label.

    Examples
    --------
    >>> labels_then({5: 1, 9: 1, 2: 0}, np.array([2, 5]))
    (array([0, 1]), array([0, 1]))
    """
    if isinstance(like, StickyLabels):
        like = Numbered(like.point_numbers, np.asarray(like))
    if isinstance(like, Numbered):
        _, here, there = np.intersect1d(numbers, like.numbers, return_indices=True)
        given = np.full(len(numbers), -1)
        given[here] = like.labels[there]
    elif isinstance(like, Mapping):
        are_ids = isinstance(next(iter(like), None), str)
        by_id = names is not None and (names.dtype != object or are_ids)
        keys = names.tolist() if by_id and names is not None else numbers.tolist()
        given = np.array([like.get(key, -1) for key in keys])
    else:
        given = _in_order(np.asarray(like), numbers, total)
    if given.dtype.kind not in "iu" and given.size > 0:
        raise TypeError(f"like: expected whole numbers, labels of clusters, got {given.dtype}")
    places = np.flatnonzero(given >= 0)
    return places, np.unique(given[places], return_inverse=True)[1]


def _in_order(given: npt.NDArray[Any], numbers: IntArray, total: int | None) -> npt.NDArray[Any]:
    """Labels of these points out of those of a stream, or of its beginning."""
    n, found = len(numbers), len(np.atleast_1d(given))
    if given.ndim != 1:
        raise ValueError(f"like: expected a flat sequence, got {given.ndim} dimensions")
    ever = int(numbers.max()) + 1 if total is None else total
    if found == 0 or (found < n and ever == n):
        return np.append(given, np.full(n - found, -1)).astype(given.dtype if found else np.int64)
    if found < n:
        raise ValueError(
            f"like: got {found} labels for {n} points, and points have left: say whose they are, "
            f"as like=dict(zip(point_numbers, labels))"
        )
    entries = entries_for("like", found, numbers, total)
    return given if entries is None else given[entries]
