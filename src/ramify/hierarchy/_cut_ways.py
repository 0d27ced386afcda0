# SPDX-License-Identifier: BSD-3-Clause
"""_cut_ways.py: cuts that keep points apart, and cuts by a largest or a least size."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ramify.checks import number, whole_number
from ramify.hierarchy._aligned import order_of, place_in
from ramify.hierarchy._forks import Forks, fork_rows, read_least
from ramify.hierarchy._labels import by_first_point
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import IntArray


def clusters_left(tree: Tree, n_clusters: int | None, height: float | None) -> int:
    """How many clusters a cut leaves."""
    if height is not None:
        below = number("height", height)
        kept_merges = np.searchsorted(tree.monotone_heights, below, side="left")
        return tree.n_leaves - int(kept_merges)
    why = "the number of points"
    return whole_number("n_clusters", n_clusters, most=tree.n_leaves, why=why)


def tops_by_max_size(tree: Tree, max_size: int) -> IntArray:
    """The widest nodes of at most so many points; a leaf, whatever it stands for."""
    fits = tree.weights <= whole_number("max_size", max_size)
    fits[: tree.n_leaves] = True  # there is no smaller cluster than a leaf
    too_large_above = ~fits[tree.parents]
    too_large_above[tree.root] = True
    return np.flatnonzero(fits & too_large_above)


def cut_apart(
    tree: Tree,
    apart: npt.ArrayLike,
    n_clusters: int | None,
    height: float | None,
    max_size: int | None,
) -> IntArray:
    """A cut that keeps pairs apart which must be; see :meth:`Hierarchy.cut`."""
    n, pairs = tree.n_leaves, _read_pairs(apart)
    split = np.append(np.zeros(tree.n_nodes, bool), True)  # the last: what is above the root
    try:
        of_pairs = place_in(tree.point_numbers, pairs, order_of(tree.point_numbers)).tolist()
    except IndexError as error:
        raise IndexError(
            f"apart: {error}; where leaves stand for several points, a snapshot knows the "
            f"earliest of each: cut the model, or name the numbers in point_numbers"
        ) from None
    for (i, j), places in zip(pairs.tolist(), of_pairs, strict=True):
        v = cast(Any, tree).lca(*places)  # another mixin's
        if v < n:
            raise ValueError(f"apart: {i} and {j} are one leaf, which no cut can split")
        while not split[v]:
            split[v] = True
            v = int(tree.parents[v])
    forced = int(split.sum()) - 1
    if max_size is not None:
        split[n:-1] |= tree.weights[n:] > whole_number("max_size", max_size)
    else:
        more = clusters_left(tree, n_clusters, height) - 1
        if n_clusters is not None and forced > more:
            raise ValueError(
                f"n_clusters={n_clusters}: to keep these apart takes {forced + 1} clusters"
            )
        if height is not None:
            split[tree.n_nodes - more : -1] = True
        else:
            others = n + np.flatnonzero(~split[n:-1])
            split[others[len(others) - (more - forced) :]] = True
    tops = np.flatnonzero(~split[:-1] & split[tree.parents])
    leaves, start = tree._leaf_ordering()
    tops = tops[np.argsort(start[tops])]
    return _spread(np.arange(len(tops)), tree.sizes[tops], leaves)


def cut_by_min_size(
    tree: Tree, min_size: int, small: str, n_clusters: int | None, height: float | None
) -> IntArray:
    least = read_least(tree, min_size, lowest=1)
    forks = Forks.of(tree, least, undone_forks(tree, least, n_clusters, height))
    kept = forks.kept()
    kept = kept[np.argsort(forks.start[kept])]
    parts = [kept]
    groups = [np.arange(len(kept))]
    aside = np.flatnonzero(~forks.big & forks.above_fork[tree.parents])
    parts.append(aside)
    if small == "noise":
        groups.append(np.full(len(aside), -1))
    else:
        # The first leaf of the parent is where going to the larger side ends.
        end = forks.start[tree.parents[aside]]
        groups.append(np.searchsorted(forks.start[kept], end, side="right") - 1)
    tops = np.concatenate(parts)
    order = np.argsort(forks.start[tops])
    return _spread(np.concatenate(groups)[order], tree.sizes[tops[order]], forks.leaves)


def undone_forks(tree: Tree, least: int, n_clusters: int | None, height: float | None) -> IntArray:
    """Rows of the forks that a cut undoes: the highest, or those from a height on."""
    rows = fork_rows(tree, least)
    if height is not None:
        return rows[tree.monotone_heights[rows] >= number("height", height)]
    if n_clusters is None:
        return rows
    count = whole_number("n_clusters", n_clusters)
    most = len(rows) + 1
    if count > most:
        raise ValueError(
            f"n_clusters={count}, min_size={least}: the tree has {most:,} "
            f"cluster{'s' if most > 1 else ''} of at least {least:,} points, and no more"
        )
    return rows[most - count :]


def labels_at(tree: Tree, tops: IntArray) -> IntArray:
    """Labels of the clusters that are below these nodes, which hold every leaf once."""
    leaves, start = tree._leaf_ordering()
    tops = tops[np.argsort(start[tops])]
    return _spread(np.arange(len(tops)), tree.sizes[tops], leaves)


def _spread(groups: IntArray, sizes: IntArray, leaves: IntArray) -> IntArray:
    """Labels of points from the groups of the stretches of leaves that cover them."""
    group = np.empty(len(leaves), dtype=np.int64)
    group[leaves] = np.repeat(groups, sizes)
    labels, _ = by_first_point(group, int(groups.max()) + 1)
    return labels


def _read_pairs(apart: npt.ArrayLike) -> IntArray:
    """Pairs of arrival numbers.

    Examples
    --------
    >>> _read_pairs([(0, 4)])
    array([[0, 4]])
    """
    pairs = np.asarray(apart)
    if pairs.size == 0:
        return np.empty((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError("apart: expected pairs of points' arrival numbers, as [(0, 4), (2, 7)]")
    return pairs.astype(np.int64)
