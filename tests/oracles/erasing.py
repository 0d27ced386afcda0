"""Taking points out again, from the definition: what each algorithm's tree becomes."""

from __future__ import annotations

import numpy as np

from tests.oracles.hac import hac
from tests.oracles.linkages import Linkage
from tests.oracles.ohac import nearest, split
from tests.oracles.trees import Tree, leaf, merge, replaced


def path_to(tree: Tree, i: int) -> list[Tree]:
    """Nodes from the root down to leaf i."""
    path = [tree]
    while not path[-1].is_leaf:
        path.append(path[-1].left if i in path[-1].left.leaves else path[-1].right)
    return path


def without(tree: Tree, i: int) -> Tree | None:
    """The tree without leaf i and its parent; the sibling fills the place."""
    path = path_to(tree, i)
    if len(path) == 1:
        return None
    *above, parent, gone = path
    new = parent.right if parent.left is gone else parent.left
    for node, below in zip(above[::-1], [parent, *above[::-1]], strict=False):
        new = merge(new, node.right) if node.left is below else merge(node.left, new)
    return new


def ohac_erase(tree: Tree, i: int, L: Linkage, gaps: list[float]) -> Tree | None:
    """OHAC: split the root path of the place that the sibling has taken, HAC the forest."""
    path = path_to(tree, i)
    if len(path) <= 2:
        return without(tree, i)
    *above, parent, gone = path
    forest = [parent.right if parent.left is gone else parent.left]
    below = parent
    for node in above[::-1]:
        forest.append(node.right if node.left is below else node.left)
        below = node
    return hac(forest, L, gaps)


def ohac_insert(tree: Tree | None, i: int, L: Linkage, k: int, gaps: list[float]) -> Tree:
    """OHAC: split the root paths of the k nearest living points, HAC the forest with i."""
    if tree is None:
        return leaf(i)
    ys = _nearest_of(tree, i, L, k, gaps)
    return hac([*split(tree, ys), leaf(i)], L, gaps)


def naive_insert(tree: Tree | None, i: int, L: Linkage, gaps: list[float]) -> Tree:
    """Naïve₂: the sibling of the nearest living point."""
    if tree is None:
        return leaf(i)
    (y,) = _nearest_of(tree, i, L, 1, gaps)
    at = path_to(tree, y)[-1]
    return replaced(tree, at, merge(at, leaf(i)))


def _nearest_of(tree: Tree, i: int, L: Linkage, k: int, gaps: list[float]) -> list[int]:
    living = list(tree.leaves)
    distances = L.distances[i, living]
    if len(living) > k:
        ordered = np.sort(distances)
        gaps.append(L.gap(float(ordered[k - 1]), float(ordered[k])))
    return [living[at] for at in nearest(distances, k)]
