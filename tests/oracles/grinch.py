"""GRINCH in plain slow Python, from the description of the authors' code.

Similarities, as there: e(a, b) is minus the mean squared distance across (or the
mean product), higher is closer. What a node remembers of its points is brought up
to date only when it is used, and a swap tells nobody: both are the authors' doing.
"""

from __future__ import annotations

import numpy as np


class Node:
    def __init__(self, points: list[int] = (), children: list[Node] = ()):
        self.points = list(points)  # as remembered
        self.children = list(children)
        self.parent: Node | None = None
        for child in self.children:
            child.parent = self
        self.count = len(self.points)  # as told
        self.stale = bool(self.children)
        self.known_score: float | None = None

    @property
    def sibling(self) -> Node:
        one, other = self.parent.children
        return other if one is self else one

    def leaves(self) -> list[Node]:
        found, stack = [], [self]
        while stack:
            node = stack.pop()
            stack += node.children
            if not node.children:
                found.append(node)
        return found

    def ancestors(self) -> list[Node]:
        found, node = [], self.parent
        while node is not None:
            found.append(node)
            node = node.parent
        return found


class Grinch:
    def __init__(
        self, X, graft="reference", restructure=True, rotate_cap=None, graft_cap=None,
        restructure_cap=None, metric="sqeuclidean",
    ):  # fmt: skip
        self.X = np.asarray(X, dtype=np.float64)
        self.graft_rule, self.restructures, self.metric = graft, restructure, metric
        self.rotate_cap = rotate_cap or np.inf
        self.graft_cap = graft_cap or np.inf
        self.restructure_cap = restructure_cap or np.inf
        self.leaf_of: list[Node] = []
        self.grafts = self.swaps = 0
        for i in range(len(self.X)):
            self.insert(i)

    # --- similarity ---------------------------------------------------------------------

    def remembered(self, v: Node) -> list[int]:
        """The points of a node, as of the last time it had to know."""
        waiting = [v] if v.stale else []
        for node in waiting:
            waiting += [child for child in node.children if child.stale]
        for node in reversed(waiting):
            node.points = [i for child in node.children for i in child.points]
            node.stale = False
        return v.points

    def e(self, a: Node, b: Node) -> float:
        A, B = self.X[self.remembered(a)], self.X[self.remembered(b)]
        mean_a, mean_b = A.mean(axis=0), B.mean(axis=0)
        if self.metric == "dot":
            return mean_a @ mean_b
        spread = ((A - mean_a) ** 2).sum() / len(A) + ((B - mean_b) ** 2).sum() / len(B)
        return -(((mean_a - mean_b) ** 2).sum() + spread)

    def score(self, v: Node) -> float:
        if v.known_score is None:
            v.known_score = self.e(*v.children)
        return v.known_score

    def best_leaf(self, v: Node, off: set[Node]) -> Node | None:
        """The leaf most similar to v. What v adds is the same for all: its mean decides."""
        allowed = [i for i, leaf in enumerate(self.leaf_of) if leaf not in off]
        if not allowed:
            return None
        mean = self.X[self.remembered(v)].mean(axis=0)
        rows = self.X[allowed]
        value = rows @ mean if self.metric == "dot" else -((rows - mean) ** 2).sum(axis=1)
        return self.leaf_of[allowed[int(value.argmax())]]

    def tell(self, v: Node | None) -> None:
        while v is not None:
            v.count = sum(child.count for child in v.children)
            v.stale, v.known_score = True, None
            v = v.parent

    # --- insert -------------------------------------------------------------------------

    def insert(self, i: int) -> None:
        g = Node([i])
        if self.leaf_of:
            nearest = self.best_leaf(g, set())
            c = self.join(self.rotate(g, nearest), g)
            self.tell(c)
            self.leaf_of.append(g)
            if self.graft_rule is not None:
                self.graft(c)
        else:
            self.leaf_of.append(g)

    def rotate(self, g: Node, nearest: Node) -> Node:
        v = nearest
        while v.parent is not None:
            e, score = self.e(g, v), self.score(v.parent)
            if not (e < score and v.parent.count <= self.rotate_cap):
                break
            v = v.parent
        return v

    def join(self, at: Node, other: Node) -> Node:
        """A new parent of `at` and the free node `other`, in at's place."""
        above = at.parent
        new = Node(children=[at, other])
        new.parent = above
        if above is not None:
            above.children = [new if child is at else child for child in above.children]
        return new

    def graft(self, c: Node) -> None:
        off = {c, *c.leaves()}
        if c.parent is not None:
            off.add(c.sibling)
        while c.parent is not None and c.count < self.graft_cap:
            n = self.best_leaf(c, off)
            if n is None:
                c = c.parent
            else:
                c, capped = self.try_graft(c, n)
                if capped:
                    return
            if self.graft_rule == "reference" or c.parent is None:
                return
            off.update(c.parent.leaves())

    def try_graft(self, c: Node, n: Node) -> tuple[Node, bool]:
        mine = [c, *c.ancestors()]
        lca = next(v for v in [n, *n.ancestors()] if v in mine)
        while c is not lca and n is not lca and c.sibling is not n:
            if c.count > self.graft_cap or n.count > self.graft_cap:
                return c, True
            s = self.e(c, n)
            i_like_you, you_like_me = s > self.score(c.parent), s > self.score(n.parent)
            if not you_like_me:
                n = n.parent
            elif not i_like_you:
                c = c.parent
            else:
                self.move(n, c)
                return c.parent, False
        return lca, False

    def move(self, n: Node, c: Node) -> None:
        self.grafts += 1
        z, old, stays = c.sibling, n.parent, n.sibling
        grandparent = old.parent
        stays.parent = grandparent
        if grandparent is not None:
            grandparent.children = [stays if v is old else v for v in grandparent.children]
        new = self.join(c, n)
        self.tell(grandparent)
        self.tell(new)
        if self.restructures and old is not z:
            self.restructure(z)

    def restructure(self, z: Node) -> None:
        candidates = []
        for a in z.ancestors():
            if a.count >= self.restructure_cap:
                break
            if a.parent is not None:
                candidates.append(a.sibling)
        values = [self.e(z, b) for b in candidates]
        now = self.score(z.parent)
        if values and max(values) > now:
            self.swaps += 1
            self.swap(z.sibling, candidates[int(np.argmax(values))])

    def swap(self, a: Node, b: Node) -> None:
        above_a, above_b = a.parent, b.parent
        above_a.children = [b if v is a else v for v in above_a.children]
        above_b.children = [a if v is b else v for v in above_b.children]
        a.parent, b.parent = above_b, above_a

    # --- reading --------------------------------------------------------------------------

    def clusters(self) -> set[tuple[int, ...]]:
        """The true ones, whatever the nodes remember."""
        root = [self.leaf_of[0], *self.leaf_of[0].ancestors()][-1]
        order, stack = [], [root]
        while stack:
            order.append(stack.pop())
            stack += order[-1].children
        below: dict[Node, tuple[int, ...]] = {leaf: (i,) for i, leaf in enumerate(self.leaf_of)}
        for v in reversed(order):
            if v.children:
                below[v] = tuple(sorted(sum((below[child] for child in v.children), ())))
        return {points for v, points in below.items() if v.children}
