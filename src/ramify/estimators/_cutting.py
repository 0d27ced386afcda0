# SPDX-License-Identifier: BSD-3-Clause
"""_cutting.py: cuts of a tree while it lives: labels of all points, of some, and such that stay.

Functions of a model, which has them as its methods (_reading.py).
"""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ramify.estimators._cut import Cut, WayOfLive
from ramify.estimators._guard import alone, live
from ramify.estimators._identity import InCluster
from ramify.estimators._live import Live
from ramify.estimators._sticky import cut_like, sticky_ids, wanted_number
from ramify.hierarchy import IntArray
from ramify.hierarchy.seam import STICKINESS, Like

if TYPE_CHECKING:
    from ramify.estimators._reading import TreeReader


def cut(
    model: "TreeReader",
    *,
    n_clusters: int | None = None,
    height: float | None = None,
    max_size: int | None = None,
    min_size: int | None = None,
    like: Like | None = None,
    stickiness: float = STICKINESS,
    by: WayOfLive = "height",
    resolution: float | None = None,
) -> IntArray:
    """Label every point so far with its cluster, in any cut of the tree as it is now.

    No snapshot is taken. O(n), by variance O(n d + n log n); a second cut by variance
    of the same tree is O(n). With ``like`` O(n k), of a snapshot. If there are points that
    must be apart (``edit.cannot_link``), the nodes that hold both of a pair are split, and
    then those that :meth:`Hierarchy.cut` would split.

    Parameters
    ----------
    n_clusters, height, max_size, min_size : optional
        The cut, as in :meth:`Hierarchy.cut`: give one, or ``min_size`` with one of the first
        two, or none for the model's own. With ``min_size`` a snapshot is taken; not if points
        must be apart.
    like, stickiness : optional
        With ``n_clusters``: the labels of an earlier cut, which this one holds on to, as
        in :meth:`Hierarchy.cut`. What this gave is good for the next time, also
        when points have left meanwhile; ``like=()`` begins. Not if points must be apart.
    by : {"height", "variance", "modularity"}, default="height"
        ``"variance"``, with ``n_clusters``: undo the merges first whose undoing makes
        clusters tight. ``"modularity"``, with nothing else: of all cuts of the tree the one
        that keeps near neighbours together best, which says itself how many clusters there are.
        As in :meth:`Hierarchy.cut`, on the rows as the model stores them; by modularity the
        search for all neighbours, once after a change, is what it costs. Not if points must be
        apart.
    resolution : float, optional
        By modularity: the larger, the more clusters. By default the steadiest.

    Returns
    -------
    array of shape (n,)
        In the order of ``labels_``, and numbered as these are. ``ramify.settle(labels,
        model.points())`` moves points to the cluster of their neighbours, or of the nearest mean.

    Raises
    ------
    ValueError
        If there are not enough clusters to keep them apart, or if two of them have
        become one leaf (``keep=Budget(...)``).

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC(n_clusters=4).fit([[0.0], [1.0], [9.0], [8.0], [4.0]])
    >>> model.edit.cannot_link(0, 1)
    >>> model.labels_, model.cut()
    (array([0, 0, 1, 2, 3]), array([0, 1, 2, 2, 3]))

    >>> X = [[0.0], [1.0], [2.0], [3.0], [9.0], [10.0], [11.0], [12.0], [30.0], [42.0]]
    >>> model = ramify.HAC().fit(X)
    >>> model.cut(n_clusters=3)
    array([0, 0, 0, 0, 0, 0, 0, 0, 1, 2])
    >>> model.cut(n_clusters=3, by="variance")
    array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2])

    Tomorrow the same four, although the tree would have others:

    >>> model = ramify.OHAC(linkage="ward").fit([[0.0], [1.5], [10.0], [12.0], [40.0]])
    >>> today = model.cut(n_clusters=4, like=())
    >>> model = model.partial_fit([[-2.0]])
    >>> model.cut(n_clusters=4)
    array([0, 0, 1, 1, 2, 3])
    >>> model.cut(n_clusters=4, like=today, stickiness=3.0)
    StickyLabels([0, 0, 1, 2, 3, 0], price=33.58%, moved=0, plainly=2)
    """
    tree = model._fitted()
    cut = model._cut(tree, n_clusters, height, max_size, min_size, by, resolution)
    if len(tree.apart()) == 0:
        return _cut_plainly(model, tree, cut, like, stickiness, by)
    if like is not None:
        raise ValueError("like: cuts that keep points apart hold on to no other cut")
    if by != "height":
        raise ValueError(f"by={by!r}: cuts that keep points apart go by height")
    if cut.joins:
        raise ValueError("min_size: cuts that keep points apart may leave small clusters")
    return _cut_apart(model, tree, cut)


@live
def _cut_plainly(
    model: "TreeReader",
    tree: Live,
    cut: Cut,
    like: Like | None,
    stickiness: float,
    by: WayOfLive,
) -> IntArray:
    if like is None:
        return tree.labels(cut).copy()
    return cut_like(tree, like, wanted_number(cut), stickiness, by)


@alone
def _cut_apart(model: "TreeReader", tree: Live, cut: Cut) -> IntArray:
    still, numbers = tree.hierarchy(), tree.numbers()
    place = np.searchsorted(still.leaf_numbers, tree.leaf_of(numbers))
    pairs = tree.leaf_of(tree.apart().ravel(), by_first=True).reshape(-1, 2)
    return still.cut(**cut.options, apart=pairs)[place]


@live
def cluster_of(
    model: "TreeReader",
    points: npt.ArrayLike,
    *,
    n_clusters: int | None = None,
    height: float | None = None,
    max_size: int | None = None,
    min_size: int | None = None,
    by: WayOfLive = "height",
    resolution: float | None = None,
) -> InCluster:
    """Label and node id of the clusters of some points, without labelling all.

    Parameters
    ----------
    points : array-like of int or of str
        Arrival numbers, or ids if those are text.
    n_clusters, height, max_size, min_size, by, resolution : optional
        The cut, as in :meth:`cut`; none for the model's own.

    Returns
    -------
    labels : array of shape (m,)
    node_ids : array of shape (m,)
        The answer is a tuple of these two, which also has ``stable_ids``: what
        ``stable_labels`` of the same cut last called each cluster; -1 if it is new since then.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0], [6.0], [20.0]])
    >>> labels, node_ids = model.cluster_of([3, 4], n_clusters=3)
    >>> labels, model.stable_labels(n_clusters=3)
    (array([1, 2]), array([0, 0, 1, 1, 2]))
    >>> model.partial_fit([[-40.0]]).cluster_of([3, 4], n_clusters=3).stable_ids
    array([-1,  2])
    """
    tree = model._fitted()
    cut = model._cut(tree, n_clusters, height, max_size, min_size, by, resolution)
    labels, nodes = tree.cluster_of(numbers_of(tree, points), cut)
    return InCluster(labels, nodes, tree.stable_of(cut, nodes))


@alone
def stable_labels(
    model: "TreeReader",
    *,
    n_clusters: int | None = None,
    height: float | None = None,
    max_size: int | None = None,
    min_size: int | None = None,
    stickiness: float = 0.0,
) -> IntArray:
    """Ids of the clusters of all points that stay while the tree goes on.

    A cluster has the id that a cluster of the same cut had when this was last asked, if
    they share more than half of the points of both, by their weights; points that have
    come or gone since then have no say. Otherwise its id is a new one. No two clusters of
    a cut have the same, none is used again, and none is negative. They are kept in files
    and pickles, for the 16 cuts that were last asked for. O(n log n).

    Parameters
    ----------
    n_clusters, height, max_size, min_size : optional
        The cut, as in :meth:`cut`; none for the model's own.
    stickiness : float, default=0.0
        Above 0, with ``n_clusters``: the cut, too, holds on to the one that was last asked
        for, as ``cut(like=...)`` does, so that fewer ids are new. O(n k).

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC().fit([[9.0], [0.0], [8.0], [9.5]])
    >>> model.stable_labels(n_clusters=2)
    array([0, 1, 0, 0])
    >>> model.partial_fit([[8.8], [-50.0]]).stable_labels(n_clusters=2)
    array([0, 0, 0, 0, 0, 2])
    """
    tree = model._fitted()
    cut = model._cut(tree, n_clusters, height, max_size, min_size)
    return sticky_ids(tree, cut, stickiness)


def numbers_of(tree: Live, points: npt.ArrayLike) -> IntArray:
    """Arrival numbers of points that are given by them, or by ids that are text."""
    given = np.atleast_1d(np.asarray(points))
    if given.ndim == 1 and given.dtype.kind in "UO" and given.size > 0:
        names = given.tolist()
        if all(isinstance(name, str) for name in names):
            return np.array([tree.number_of(name) for name in names], dtype=np.int64)
    if given.ndim != 1 or (given.size > 0 and not np.issubdtype(given.dtype, np.integer)):
        raise TypeError(
            "points: expected a flat array of whole numbers, the points' numbers, or of ids that "
            "are text"
        )
    return np.ascontiguousarray(given, dtype=np.int64)
