"""OHAC: Algorithm 2 with Definition 3 (Split); Naïve₁ and Naïve₂ beside it."""

from __future__ import annotations

import numpy as np

from tests.oracles.hac import hac, offline_hac
from tests.oracles.linkages import Linkage
from tests.oracles.trees import Tree, leaf, merge, replaced


def nearest(distances: np.ndarray, k: int) -> list[int]:
    """The k smallest by scanning; equal ones in order of arrival."""
    return sorted(range(len(distances)), key=lambda i: (distances[i], i))[:k]


def split(tree: Tree, ys: list[int]) -> list[Tree]:
    """What remains when the root paths of the leaves ys are taken out."""
    forest, stack, wanted = [], [tree], set(ys)
    while stack:
        node = stack.pop()
        if node.is_leaf or wanted.isdisjoint(node.leaves):
            forest.append(node)
        else:
            stack += [node.left, node.right]
    return forest


def ohac(
    X: np.ndarray,
    metric: str = "sqeuclidean",
    linkage: str = "average",
    n_neighbors: int = 1,
    gaps: list[float] | None = None,
) -> Tree:
    """The tree of Algorithm 2. `gaps` collects how clear every choice was."""
    L = Linkage(X, metric, linkage)
    tree = leaf(0)
    for i in range(1, len(X)):
        to_earlier = L.distances[i, :i]
        ys = nearest(to_earlier, n_neighbors)
        _note_neighbours(gaps, L, to_earlier, n_neighbors)
        tree = hac([*split(tree, ys), leaf(i)], L, gaps)
    return tree


def naive_hac(X: np.ndarray, metric: str, linkage: str, gaps: list[float] | None = None) -> Tree:
    """Naïve₁: offline HAC of everything."""
    return offline_hac(len(X), Linkage(X, metric, linkage), gaps)


def naive_nn(X: np.ndarray, metric: str = "sqeuclidean", gaps: list[float] | None = None) -> Tree:
    """Naïve₂: each point becomes the sibling of its nearest leaf."""
    L = Linkage(X, metric, "average")
    tree, leaves = leaf(0), {}
    leaves[0] = tree
    for i in range(1, len(X)):
        to_earlier = L.distances[i, :i]
        (y,) = nearest(to_earlier, 1)
        _note_neighbours(gaps, L, to_earlier, 1)
        leaves[i] = leaf(i)
        tree = replaced(tree, leaves[y], merge(leaves[y], leaves[i]))
    return tree


def _note_neighbours(gaps: list[float] | None, L: Linkage, d: np.ndarray, k: int) -> None:
    """Only the step from the k-th to the next neighbour decides anything."""
    if gaps is not None and len(d) > k:
        ordered = np.sort(d)
        gaps.append(L.gap(float(ordered[k - 1]), float(ordered[k])))
