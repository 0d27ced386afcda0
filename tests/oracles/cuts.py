"""Cuts by size and condensed trees in plain slow Python, from their definitions.

A tree is a Hierarchy; a node's points come as a frozenset. Functions recurse:
for small trees only.
"""

from __future__ import annotations

import math


class Node:
    """One node, its points and its two children."""

    def __init__(self, tree, v: int):
        n = tree.n_leaves
        self.v = v
        self.children = [] if v < n else [Node(tree, int(w)) for w in tree.children[v - n]]
        below = [child.points for child in self.children]
        self.points = frozenset([v]) if v < n else frozenset.union(*below)
        self.height = None if v < n else float(tree.monotone_heights[v - n])

    def __len__(self) -> int:
        return len(self.points)


def root(tree) -> Node:
    return Node(tree, tree.root)


def labels_of(clusters, n: int) -> list[int]:
    """Labels in the order of first points; what is in no cluster is -1."""
    ordered = sorted(clusters, key=min)
    return [next((k for k, c in enumerate(ordered) if i in c), -1) for i in range(n)]


# --- by size -----------------------------------------------------------------------


def at_most(node: Node, most: int) -> list[frozenset[int]]:
    if len(node) <= most:
        return [node.points]
    return [cluster for child in node.children for cluster in at_most(child, most)]


def at_least(node: Node, least: int, small: str) -> list[set[int]]:
    """Clusters below a node that is large enough; join small branches or drop them."""
    if not splits(node, least):
        return [set(node.points)]
    first, second = node.children
    if len(first) >= least and len(second) >= least:
        return at_least(first, least, small) + at_least(second, least, small)
    kept, aside = (first, second) if len(first) >= least else (second, first)
    clusters = at_least(kept, least, small)
    if small == "join":
        target = downhill(kept, least)
        next(c for c in clusters if target <= c).update(aside.points)
    return clusters


def forks(node: Node, least: int) -> list[Node]:
    """All nodes below with two large enough children, and the node itself."""
    below = [fork for child in node.children for fork in forks(child, least)]
    return below + ([node] if is_fork(node, least) else [])


def is_fork(node: Node, least: int) -> bool:
    return bool(node.children) and all(len(child) >= least for child in node.children)


def at_least_among(node: Node, least: int, small: str, undone: set[int]) -> list[set[int]]:
    """As at_least, where only the forks in ``undone`` (by number) are split."""
    if not any(fork.v in undone for fork in forks(node, least)):
        return [set(node.points)]
    first, second = node.children
    if node.v in undone:
        return at_least_among(first, least, small, undone) + at_least_among(
            second, least, small, undone
        )
    kept, aside = (first, second) if len(first) >= least else (second, first)
    clusters = at_least_among(kept, least, small, undone)
    if small == "join":
        while any(fork.v in undone for fork in forks(kept, least)):
            first, second = kept.children
            kept = second if len(second) > len(first) else first
        next(c for c in clusters if kept.points <= c).update(aside.points)
    return clusters


def k_of_at_least(node: Node, k: int, least: int, small: str) -> list[set[int]]:
    """k clusters: the k - 1 highest forks are undone, of equal ones the later node first."""
    ordered = sorted(forks(node, least), key=lambda fork: (fork.height, fork.v))
    return at_least_among(node, least, small, {f.v for f in ordered[len(ordered) + 1 - k :]})


def splits(node: Node, least: int) -> bool:
    """Does a node with two large enough children lie here or below?"""
    if not node.children:
        return False
    return all(len(c) >= least for c in node.children) or any(
        splits(c, least) for c in node.children
    )


def downhill(node: Node, least: int) -> frozenset[int]:
    """The points of the cluster that one comes to by always going to the larger side."""
    while splits(node, least):
        first, second = node.children
        node = second if len(second) > len(first) else first
    return node.points


# --- condensed ---------------------------------------------------------------------


class Cluster:
    """A cluster of the condensed tree: where it starts, when points and clusters leave."""

    def __init__(self, node: Node, birth: float):
        self.node, self.birth = node, birth
        self.leaving: list[tuple[int, float]] = []  # point, lambda
        self.parts: list[Cluster] = []
        self.death = math.nan  # lambda at which it falls apart, if it does

    def everyone(self) -> list[Cluster]:
        return [self, *(c for part in self.parts for c in part.everyone())]

    def stability(self) -> float:
        gone = sum(level - self.birth for _, level in self.leaving)
        return gone + sum((self.death - self.birth) * len(part.node) for part in self.parts)


def condense(node: Node, least: int, level) -> Cluster:
    """level: height -> lambda."""
    cluster = Cluster(node, 0.0)
    _fill(cluster, node, least, level)
    return cluster


def _fill(cluster: Cluster, node: Node, least: int, level) -> None:
    large = [child for child in node.children if len(child) >= least]
    if len(large) == 2:
        cluster.death = level(node.height)
        for child in node.children:
            part = Cluster(child, cluster.death)
            cluster.parts.append(part)
            _fill(part, child, least, level)
        return
    for child in node.children:
        if child not in large:
            cluster.leaving += [(i, level(node.height)) for i in child.points]
    for child in large:
        _fill(cluster, child, least, level)


def excess_of_mass(cluster: Cluster, may_stay_whole: bool) -> tuple[float, list[Cluster]]:
    """The best total stability, and the clusters that have it."""
    below = [excess_of_mass(part, True) for part in cluster.parts]
    total = sum(value for value, _ in below)
    chosen = [c for _, clusters in below for c in clusters]
    if may_stay_whole and not total > cluster.stability():
        return cluster.stability(), [cluster]
    return total, chosen


def ends(cluster: Cluster) -> list[Cluster]:
    return [c for c in cluster.everyone() if not c.parts]
