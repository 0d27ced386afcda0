"""PERCH in plain slow Python, from the description of the authors' code.

A leaf is a node without children; a collapsed node is one too, and remembers in
`folded` what it was, so that all points can be found again. Ties: equally near
leaves, and equally small spreads, go to the node that holds the earliest point.
"""

from __future__ import annotations

import numpy as np


class Node:
    def __init__(self, points: list[int], children: list[Node] = ()):
        self.points = points
        self.children = list(children)
        self.folded: list[Node] = []
        self.parent: Node | None = None
        for child in self.children:
            child.parent = self

    @property
    def is_leaf(self) -> bool:
        return not self.children

    @property
    def sibling(self) -> Node:
        one, other = self.parent.children
        return other if one is self else one

    @property
    def aunt(self) -> Node | None:
        has_one = self.parent is not None and self.parent.parent is not None
        return self.parent.sibling if has_one else None


class Perch:
    def __init__(self, X, bounds="reference", balance="reference", T=10, max_leaves=None):
        self.X = np.asarray(X)
        self.bounds, self.balance_rule, self.T, self.max_leaves = bounds, balance, T, max_leaves
        self.root: Node | None = None
        self.count = 0
        self.leaf_of: list[Node] = []
        for i in range(len(self.X)):
            self.insert(i)

    # --- distances, all Euclidean, between points and nodes ----------------------------

    def box(self, v: Node) -> tuple[np.ndarray, np.ndarray]:
        rows = self.X[v.points].astype(np.float64)
        return rows.min(axis=0), rows.max(axis=0)

    def keeps_points(self, v: Node) -> bool:
        return len(v.points) <= self.T

    def gaps(self, x: np.ndarray, v: Node) -> np.ndarray:
        return np.sqrt(((self.X[v.points].astype(np.float64) - x) ** 2).sum(axis=1))

    def min_d(self, x: np.ndarray, v: Node) -> float:
        if self.keeps_points(v):
            return self.gaps(x, v).min()
        low, high = self.box(v)
        return np.sqrt((np.maximum(np.maximum(x - high, low - x), 0) ** 2).sum())

    def max_d(self, x: np.ndarray, v: Node) -> float:
        if self.keeps_points(v):
            return self.gaps(x, v).max()
        low, high = self.box(v)
        return np.sqrt((np.maximum(high - x, x - low) ** 2).sum())

    def lo(self, a: Node, b: Node) -> float:
        if self.bounds == "reference":
            one, other = self.box(a), self.box(b)
            return max(
                min(self.min_d(corner, a) for corner in other),
                min(self.min_d(corner, b) for corner in one),
            )
        return self.sound(a, b, self.min_d, min, _apart)

    def hi(self, a: Node, b: Node) -> float:
        if self.bounds == "reference":
            one, other = self.box(a), self.box(b)
            return min(
                max(self.max_d(corner, a) for corner in other),
                max(self.max_d(corner, b) for corner in one),
            )
        return self.sound(a, b, self.max_d, max, _across)

    def sound(self, a: Node, b: Node, to_node, best, boxes) -> float:
        for few, other in ((a, b), (b, a)):
            if self.keeps_points(few):
                return best(to_node(self.X[i].astype(np.float64), other) for i in few.points)
        return boxes(*self.box(a), *self.box(b))

    # --- insert ---------------------------------------------------------------------------

    def insert(self, i: int) -> None:
        self.count += 1
        new = Node([i])
        self.leaf_of.append(new)
        if self.root is None:
            self.root = new
            return
        near = self.nearest_leaf(self.X[i].astype(np.float64))
        self.split(near, new)
        self.unmask(near)
        if self.balance_rule is not None:
            self.rebalance(new.sibling)
        if self.max_leaves is not None and self.count > self.max_leaves:
            self.collapse_one()

    def leaves(self) -> list[Node]:
        return [v for v in self.nodes() if v.is_leaf]

    def nodes(self) -> list[Node]:
        """Every node that is not folded away."""
        found, stack = [], [self.root]
        while stack:
            found.append(stack.pop())
            stack += found[-1].children
        return found

    def nearest_leaf(self, x: np.ndarray) -> Node:
        """What A* finds: no leaf is nearer than the node above it."""
        if self.max_leaves is None:  # the same, quicker: every leaf is one point
            rows = self.X[: self.count - 1].astype(np.float64)
            return self.leaf_of[int(((rows - x) ** 2).sum(axis=1).argmin())]
        return min(self.leaves(), key=lambda v: (self.min_d(x, v), v.points[0]))

    def split(self, v: Node, new: Node) -> None:
        above = v.parent
        q = Node(sorted(v.points + new.points), [v, new])
        self.hang(q, v, above)
        while above is not None:
            above.points = sorted(above.points + new.points)
            above = above.parent

    def hang(self, new: Node, old: Node, above: Node | None) -> None:
        new.parent = above
        if above is None:
            self.root = new
        else:
            above.children = [new if child is old else child for child in above.children]

    def rotate(self, v: Node) -> None:
        grandparent, sibling, aunt = v.parent.parent, v.sibling, v.aunt
        fresh = Node(sorted(aunt.points + v.points), [aunt, v])
        grandparent.children = [fresh, sibling]
        fresh.parent = sibling.parent = grandparent

    def unmask(self, v: Node) -> None:
        while v is not self.root:
            aunt = v.aunt
            if aunt is not None and self.hi(v, aunt) < self.lo(v, v.sibling):
                self.rotate(v)
            elif not v.is_leaf:
                return
            v = v.parent

    def rebalance(self, v: Node) -> None:
        while v is not self.root:
            pair = [v, v.sibling]
            if self.balance_rule == "python":
                pair.reverse()
            pair.sort(key=lambda w: len(w.points))  # stable
            for w in pair:
                if self.can_balance(w):
                    self.rotate(w)
                    v = w
                    break
            v = v.parent

    def can_balance(self, v: Node) -> bool:
        if v.aunt is None:
            return False
        V, S, A = len(v.points), len(v.sibling.points), len(v.aunt.points)
        P = V + S
        if self.balance_rule == "reference":
            improves = abs(P - A - 2 * V) < abs(P - A)
        else:
            improves = _ratio(V, S) + _ratio(A, P) < _ratio(V, A) + _ratio(S, V + A)
        return improves and self.hi(v, v.sibling) > self.lo(v, v.aunt)

    def collapse_one(self) -> None:
        ready = [
            v for v in self.nodes() if v.children and all(child.is_leaf for child in v.children)
        ]
        v = min(ready, key=lambda v: (self.hi(*v.children), v.points[0]))
        v.folded, v.children = v.children, []

    # --- reading --------------------------------------------------------------------------

    def clusters(self) -> set[tuple[int, ...]]:
        found, stack = set(), [self.root]
        while stack:
            v = stack.pop()
            below = v.children or v.folded
            if below:
                found.add(tuple(v.points))
                stack += below
        return found


def _ratio(m: int, n: int) -> float:
    return min(m, n) / max(m, n)


def _apart(low_a, high_a, low_b, high_b) -> float:
    return np.sqrt((np.maximum(np.maximum(low_a - high_b, low_b - high_a), 0) ** 2).sum())


def _across(low_a, high_a, low_b, high_b) -> float:
    return np.sqrt((np.maximum(high_a - low_b, high_b - low_a) ** 2).sum())
