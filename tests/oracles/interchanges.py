"""Interchanges of neighbouring branches, from the definition, and what is built on them.

w is the matrix of similarities; every mean runs over all pairs of points. `gaps` collects
how clear every comparison was.
"""

from __future__ import annotations

import numpy as np

from tests.oracles.hac import hac
from tests.oracles.linkages import Linkage, distance_matrix, mean_between, mean_within
from tests.oracles.revenue import revenue
from tests.oracles.trees import Tree, inner_nodes, leaf, merge, replaced

Gaps = list[float]


def note(gaps: Gaps, w: np.ndarray, a: float, b: float) -> None:
    scale = float(np.abs(w).max())
    gaps.append(abs(a - b) / scale if scale > 0 else 0.0)


def interchanged(u: Tree, A: Tree, w: np.ndarray, gaps: Gaps) -> Tree | None:
    """What becomes of (u, A), if an interchange at u gains; else None."""
    if u.is_leaf:
        return None
    B, C = u.left, u.right
    now = mean_between(w, B.leaves, C.leaves)
    with_b = mean_between(w, A.leaves, B.leaves)
    with_c = mean_between(w, A.leaves, C.leaves)
    note(gaps, w, max(with_b, with_c), now)
    if max(with_b, with_c) <= now:
        return None
    note(gaps, w, with_b, with_c)
    return merge(merge(A, B), C) if with_b >= with_c else merge(merge(A, C), B)


def upwards(tree: Tree, start: Tree, w: np.ndarray, gaps: Gaps) -> Tree:
    """Interchanges of each node from `start` up to the root, and of its sibling."""
    path = [tree]
    while path[-1] is not start:
        inside_left = set(start.leaves) <= set(path[-1].left.leaves)
        path.append(path[-1].left if inside_left else path[-1].right)
    v = start
    for above, below in zip(path[-2::-1], path[:0:-1], strict=True):
        A = above.right if above.left is below else above.left
        changed = interchanged(v, A, w, gaps) or interchanged(A, v, w, gaps)
        v = changed or merge(v, A)
    return v


def is_local_optimum(tree: Tree, w: np.ndarray, slack: float) -> bool:
    """Whether no interchange makes two branches more alike by more than `slack`."""
    for above in inner_nodes(tree):
        for u, A in ((above.left, above.right), (above.right, above.left)):
            if u.is_leaf:
                continue
            now = mean_between(w, u.left.leaves, u.right.leaves)
            for part in (u.left, u.right):
                if mean_between(w, A.leaves, part.leaves) > now + slack:
                    return False
    return True


# --- algorithms ------------------------------------------------------------------------


def ohac_nni(X: np.ndarray, metric: str, gaps: Gaps) -> Tree:
    """OHAC(update="nni"): beside the nearest leaf, then interchanges up the path."""
    D = distance_matrix(X, metric)
    tree = leaf(0)
    for k in range(1, len(X)):
        order = np.argsort(D[k, :k], kind="stable")
        if k > 1:
            note(gaps, D, D[k, order[0]], D[k, order[1]])
        y = tree
        while not y.is_leaf:
            y = y.left if int(order[0]) in y.left.leaves else y.right
        new = merge(y, leaf(k))
        tree = upwards(replaced(tree, y, new), new, -D, gaps)
    return tree


def otd_variant(X: np.ndarray, metric: str, rule: str, rotate: bool, gaps: Gaps) -> Tree:
    """OTD with the split rule, with rotations, or with both."""
    w = -distance_matrix(X, metric)
    tree = leaf(0)
    for k in range(1, len(X)):
        at = _stop(tree, (k,), w, rule, gaps)
        new = merge(at, leaf(k))
        tree = replaced(tree, at, new)
        if rotate:
            tree = upwards(tree, new, w, gaps)
    return tree


def _stop(at: Tree, x: tuple[int], w: np.ndarray, rule: str, gaps: Gaps) -> Tree:
    while not at.is_leaf:
        left, right = (mean_between(w, part.leaves, x) for part in (at.left, at.right))
        if rule == "split":
            inside, outside = mean_between(w, at.left.leaves, at.right.leaves), max(left, right)
        else:
            inside, outside = mean_within(w, at.leaves), mean_between(w, at.leaves, x)
        note(gaps, w, inside, outside)
        if inside >= outside:
            return at
        note(gaps, w, left, right)
        at = at.right if left <= right else at.left
    return at


def polished(
    tree: Tree, X: np.ndarray, metric: str, m: int, gaps: Gaps, linkage: str = "average"
) -> Tree:
    """The top of a tree merged anew by HAC, if that is better."""
    L = Linkage(X, metric, linkage)
    by_revenue = linkage == "average" or metric == "dot"
    forest = [tree]
    while len(forest) < m and any(not part.is_leaf for part in forest):
        widths = [(_squares(L.points, part), part) for part in forest]
        if by_revenue:
            widths = [(len(part) * width, part) for width, part in widths]
        inner = sorted((size for size, part in widths if not part.is_leaf), reverse=True)
        if len(inner) > 1:
            gaps.append((inner[0] - inner[1]) / inner[0] if inner[0] > 0 else 0.0)
        widest = max((pair for pair in widths if not pair[1].is_leaf), key=lambda pair: pair[0])[1]
        forest.remove(widest)
        forest += [widest.left, widest.right]
    found = hac(forest, L, gaps)
    if by_revenue:
        before, after = (revenue(one, -distance_matrix(X, metric)) for one in (tree, found))
    else:
        before, after = (-squares_of_cuts(one, forest, L) for one in (tree, found))
    if before != 0 and before != after:  # where they are the same tree they agree to the digit
        gaps.append(abs(after - before) / abs(before))
    return found if after > before else tree


def squares_of_cuts(tree: Tree, forest: list[Tree], L: Linkage) -> float:
    """The sum of SSE(k)/k: the frontier is cut by height, as far as this forest."""
    below = {part.leaves for part in forest}

    def height(node: Tree) -> float:
        top = [one for one in inner_nodes(node) if not _inside(one, below)]
        return max(L(one.left, one.right) for one in top)

    frontier, total = [tree], 0.0
    while True:
        total += sum(_squares(L.points, part) for part in frontier) / len(frontier)
        open_ones = [part for part in frontier if part.leaves not in below]
        if not open_ones:
            return total
        highest = max(open_ones, key=lambda part: (height(part), len(part), -part.first))
        frontier.remove(highest)
        frontier += [highest.left, highest.right]


def _inside(node: Tree, below: set[tuple[int, ...]]) -> bool:
    return any(set(node.leaves) <= set(part) for part in below)


def _squares(points: np.ndarray, part: Tree) -> float:
    rows = points[list(part.leaves)]
    return float(((rows - rows.mean(axis=0)) ** 2).sum())
