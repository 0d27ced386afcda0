# SPDX-License-Identifier: BSD-3-Clause
"""_top.py: one tree over all shards.

The shards' frontiers are merged by exact HAC, from their summaries alone: the *top tree*. What
hangs from the frontier is as its shard has it. Cuts, labels and paths of the whole follow
from outlines (``_outline.py``): the nodes that a cut may split are all in them.

    place    of a node here: first all shards' outlines, one after the other, then the merges
    units    nodes that no cut of this kind splits: what shards say of their points
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ramify import _core
from ramify.estimators.part import whole
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.hierarchy.seam import canonical_order
from ramify.points import Rows
from ramify.ray._outline import Outline

#: Ids of a shard's inner nodes begin here times the shard's number; those of the top tree's
#: above all of them. All are below 2^53, which every reader of JSON knows.
_IDS_OF_A_SHARD = 2**42
_IDS_OF_THE_TOP = 2**52
MOST_SHARDS = _IDS_OF_THE_TOP // _IDS_OF_A_SHARD


def global_ids(ids: IntArray, shard: int) -> IntArray:
    """A shard's ids of nodes as those of the whole; a point's is -1 - its number everywhere."""
    return np.where(ids < 0, ids, ids + shard * _IDS_OF_A_SHARD)


@dataclass(frozen=True)
class Top:
    """The top of a tree over shards: its parts, and what is guaranteed.

    Attributes
    ----------
    tree : Hierarchy
        Over the parts, in the order of their first points, with their sizes as weights.
    sizes : array of shape (p,)
        Points of each part.
    means : array of shape (p, d)
    spreads : array of shape (p,)
        Mean squared distance of each part's points from their mean.
    shards : array of shape (p,)
        Who holds it.
    share : float
        φ, the largest part's share of all points.
    guarantee : float or None
        At least this fraction of the largest conceivable Moseley–Wang revenue n·Σw is
        reached, ⅓(1 − 2φ), by the similarity that average linkage merges by, where it is
        nowhere negative, however rows were routed. None for other linkages, and 0 if φ is
        too large to say anything.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.ray import ShardedOHAC
    >>> rows = [[0.0], [1.0], [8.0], [9.0], [20.0], [21.0]]
    >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local", block=4) as model:
    ...     top = model.partial_fit(rows).top()
    >>> top.sizes.tolist(), top.share < 0.5
    ([1, 1, 1, 1, 1, 1], True)
    """

    tree: Hierarchy
    sizes: IntArray
    means: Rows
    spreads: FloatArray
    shards: IntArray
    share: float
    guarantee: float | None

    def __repr__(self) -> str:
        held = len(np.unique(self.shards))
        said = "" if self.guarantee is None else f", at least {self.guarantee:.3f} of n·Σw"
        return f"<Top: {len(self.sizes)} parts of {held} shards, φ = {self.share:.3f}{said}>"


class CutNodes(NamedTuple):
    """The clusters of a cut, by label."""

    places: IntArray
    labels: IntArray  #: of every place that is a cluster or below one; -1 above


class Stitched:
    """The tree over all shards, as far as their outlines go."""

    def __init__(self, outlines: list[Outline], metric: str, linkage: str) -> None:
        self.linkage = linkage
        held = [(shard, one) for shard, one in enumerate(outlines) if len(one.ids)]
        sizes = [len(one.ids) for one in outlines]
        self.offsets = np.concatenate([[0], np.cumsum(sizes)])  #: where each shard's begin
        self.n_units = int(self.offsets[-1])
        self.shards = np.repeat(np.arange(len(outlines)), sizes)
        self.ids = np.concatenate([global_ids(one.ids, shard) for shard, one in held])
        self.children = np.concatenate([_children(one, self.offsets[s]) for s, one in held])
        self.weights = np.concatenate([one.weights for _, one in held])
        self.counts = np.concatenate([one.counts for _, one in held])
        self.ssds = np.concatenate([one.ssds for _, one in held])
        self.firsts = np.concatenate([one.firsts for _, one in held])
        self.means: Any = np.concatenate([one.means for _, one in held])
        self.own, self.monotone = np.concatenate([one.heights for _, one in held]).T
        fronts = [self.offsets[shard] + np.arange(one.frontier) for shard, one in held]
        self.frontier = np.concatenate(fronts)
        self.frontier = self.frontier[np.argsort(self.firsts[self.frontier])]
        self._merge(metric, linkage)

    def _merge(self, metric: str, linkage: str) -> None:
        """HAC of the frontier, whose parts are in the order of their first points."""
        at = self.frontier
        merges, heights, ssds, means = _core.merge_summaries(
            np.ascontiguousarray(self.means[at]),
            self.ssds[at],
            self.weights[at],
            self.counts[at],
            np.arange(len(at)),
            metric,
            linkage,
        )
        self.merges, self.merge_heights = merges.view(np.int64), heights
        joined = np.concatenate([at, self.n_units + np.arange(len(merges))])[merges.ravel()]
        pairs = joined.reshape(-1, 2)
        grown: dict[str, list[Any]] = {
            name: getattr(self, name).tolist() for name in ("weights", "counts", "firsts")
        }
        # A leaf is no merge, and says 0; under dot all merges may be lower.
        monotone = np.where(self.counts > 1, self.monotone, -np.inf).tolist()
        ids = []
        for (one, other), height in zip(pairs.tolist(), heights.tolist(), strict=True):
            for name in ("weights", "counts"):
                grown[name].append(grown[name][one] + grown[name][other])
            ids.append(_IDS_OF_THE_TOP + max(grown["firsts"][one], grown["firsts"][other]))
            grown["firsts"].append(min(grown["firsts"][one], grown["firsts"][other]))
            monotone.append(max(height, monotone[one], monotone[other]))
        self.weights = np.array(grown["weights"])
        self.monotone = np.concatenate([self.monotone, monotone[self.n_units :]])
        self.counts, self.firsts = np.array(grown["counts"]), np.array(grown["firsts"])
        self.ids = np.concatenate([self.ids, np.array(ids, np.int64)])
        self.children = np.concatenate([self.children, pairs])
        self.own = np.concatenate([self.own, heights])
        self.ssds = np.concatenate([self.ssds, ssds])
        self.means = np.concatenate([self.means, means.astype(self.means.dtype)])
        self.root = len(self.ids) - 1 if len(merges) else int(at[0])
        self.parents = np.full(len(self.ids), -1)
        inner = np.flatnonzero(self.children[:, 0] >= 0)
        self.parents[self.children[inner]] = inner[:, np.newaxis]

    def cut(self, by: str, value: float) -> CutNodes:
        """The clusters of a cut, numbered in the order of their first points."""
        inner = np.flatnonzero(self.children[:, 0] >= 0)
        if by == "n_clusters":
            keys = self.firsts[inner], self.counts[inner], self.monotone[inner]
            split = inner[np.lexsort(keys)[len(inner) - (int(value) - 1) :]]
        elif by == "height":
            split = inner[self.monotone[inner] >= value]
        else:
            split = inner[self.weights[inner] > value]
        is_split = np.zeros(len(self.ids), bool)
        is_split[split] = True
        above = np.where(self.parents >= 0, is_split[self.parents], True)
        places = np.flatnonzero(above & ~is_split)
        places = places[np.argsort(self.firsts[places])]
        labels = np.full(len(self.ids), -1)
        labels[places] = np.arange(len(places))
        for place in self._top_down():
            if labels[place] < 0 and (parent := self.parents[place]) >= 0:
                labels[place] = labels[parent]
        return CutNodes(places, labels)

    def _top_down(self) -> list[int]:
        """All places, parents first."""
        merges = np.arange(len(self.ids) - 1, self.n_units - 1, -1)
        return [*merges.tolist(), *range(self.n_units)]

    def codes(self, places: IntArray) -> list[str]:
        """The turns from the root to each place: 0 to the child with the earlier point."""
        found = []
        for place in places.tolist():
            turns = []
            while (parent := int(self.parents[place])) >= 0:
                pair = self.children[parent]
                other = pair[1] if pair[0] == place else pair[0]
                turns.append("0" if self.firsts[place] < self.firsts[other] else "1")
                place = parent
            found.append("".join(reversed(turns)))
        return found

    def path(self, place: int) -> list[int]:
        """Places from the root down to one."""
        found = [place]
        while (parent := int(self.parents[found[-1]])) >= 0:
            found.append(parent)
        return found[::-1]

    def top(self) -> Top:
        """The top tree, and what it guarantees."""
        at = self.frontier
        children, order = canonical_order(self.merges, self.merge_heights)
        tree = Hierarchy(
            children,
            self.merge_heights[order],
            self.ids[self.n_units :][order],
            None,
            self.firsts[at],
            self.weights[at],
        )
        share = float(self.weights[at].max() / self.weights[at].sum())
        known = self.linkage == "average"
        return Top(
            tree,
            whole(self.weights[at]),
            self.means[at],
            self.ssds[at] / self.weights[at],
            self.shards[at],
            share,
            max(0.0, (1 - 2 * share) / 3) if known else None,
        )


def _children(outline: Outline, offset: int) -> IntArray:
    """Two places for each node of an outline; -1 for a unit."""
    first = outline.children
    pairs = np.stack([first, first + 1], axis=1) + offset
    return np.where(first[:, np.newaxis] < 0, -1, pairs)


def spliced(
    stitched: Stitched, outlines: list[Outline], wholes: list[Hierarchy | None]
) -> Hierarchy:
    """The whole tree, leaf by leaf: what hangs from the frontier, and the top tree over it."""
    trees = [(shard, tree) for shard, tree in enumerate(wholes) if tree is not None]
    numbers = np.concatenate([tree.point_numbers for _, tree in trees])
    order = np.argsort(numbers, kind="stable")
    leaf = np.empty(len(numbers), np.int64)
    leaf[order] = np.arange(len(numbers))
    named = trees[0][1].names is not None
    node_of = np.empty(stitched.n_units, np.int64)  # by place, of the frontier
    children, heights, ids, begin, base = [], [], [], 0, len(numbers)
    for shard, tree in trees:
        n = tree.n_leaves
        front = tree._nodes_of(outlines[shard].ids[: outlines[shard].frontier])
        kept = ~_above(tree, front)
        number = np.concatenate([leaf[begin : begin + n], base + np.cumsum(kept) - 1])
        children.append(number[tree.children[kept]])
        heights.append(tree.heights[kept])
        ids.append(global_ids(tree.node_ids[kept], shard))
        node_of[stitched.offsets[shard] : stitched.offsets[shard] + len(front)] = number[front]
        begin, base = begin + n, base + int(kept.sum())
    parts = np.concatenate([node_of[stitched.frontier], base + np.arange(len(stitched.merges))])
    children.append(parts[stitched.merges].reshape(-1, 2))
    heights.append(stitched.merge_heights)
    ids.append(stitched.ids[stitched.n_units :])
    all_heights = np.concatenate(heights)
    merges, place = canonical_order(np.concatenate(children), all_heights)
    names = np.concatenate([tree.names for _, tree in trees])[order] if named else None
    node_ids = np.concatenate(ids)[place]
    weights = _leaf_weights([tree for _, tree in trees])
    leaf_weights = None if weights is None else weights[order]
    return Hierarchy(merges, all_heights[place], node_ids, names, numbers[order], leaf_weights)


def _leaf_weights(trees: list[Hierarchy]) -> FloatArray | None:
    """What leaves stand for, one tree after the other; None if each is a point."""
    if all(tree.leaf_weights is None for tree in trees):
        return None
    return np.concatenate([tree.weights[: tree.n_leaves] for tree in trees])


def _above(tree: Hierarchy, front: IntArray) -> Any:
    """Which inner nodes are above some of these nodes, that are a cut of the tree."""
    above = np.zeros(len(tree.children), bool)
    for node in front.tolist():
        parent = int(tree.parents[node])
        while parent >= 0 and not above[parent - tree.n_leaves]:
            above[parent - tree.n_leaves] = True
            parent = int(tree.parents[parent])
    return above
