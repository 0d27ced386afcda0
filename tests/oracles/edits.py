"""OHAC with edits by people: docs/decisions/0018-edits.md, word by word."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.oracles.hac import hac
from tests.oracles.linkages import Linkage
from tests.oracles.ohac import nearest
from tests.oracles.trees import Tree


class Node:
    """A leaf, or a node that may be "held" or "linked"."""

    def __init__(self, point: int | None = None, parts: tuple[Node, ...] = ()) -> None:
        self.point = point
        self.parts = list(parts)
        self.above: Node | None = None
        self.mark: str | None = None
        for part in parts:
            part.above = self

    @property
    def leaves(self) -> tuple[int, ...]:
        return tuple(sorted(node.point for node in self.walk() if not node.parts))

    def walk(self) -> Iterator[Node]:
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += node.parts

    def beside(self) -> Node:
        return next(part for part in self.above.parts if part is not self)


class EditedOhac:
    """The rows of X as they come, and what is said about them."""

    def __init__(self, X: np.ndarray, linkage: str = "average", n_neighbors: int = 1) -> None:
        self.L = Linkage(X, "sqeuclidean", linkage)
        self.k = n_neighbors
        self.root: Node | None = None

    # --- looking ------------------------------------------------------------------------

    def leaf(self, i: int) -> Node:
        return next(node for node in self.root.walk() if node.point == i)

    def node(self, points: frozenset[int]) -> Node:
        return next(node for node in self.root.walk() if set(node.leaves) == points)

    def clusters(self) -> set[tuple[int, ...]]:
        return {node.leaves for node in self.root.walk() if node.parts}

    def marked(self, mark: str) -> set[tuple[int, ...]]:
        """Of linked ones the topmost."""
        return {
            node.leaves
            for node in self.root.walk()
            if node.mark == mark and not (mark == "linked" and _is_linked(node.above))
        }

    # --- changing -----------------------------------------------------------------------

    def take_shape(self, tree) -> None:
        """Be a tree of another shape, in which marked nodes are as they were."""
        marks = {node.leaves: node.mark for node in self.root.walk() if node.parts}
        nodes = [Node(i) for i in tree.point_numbers.tolist()]
        for a, b in tree.children.tolist():
            nodes.append(Node(parts=(nodes[a], nodes[b])))
        self.root = nodes[-1]
        for node in self.root.walk():
            node.mark = marks.get(node.leaves) if node.parts else None
        assert sorted(filter(None, marks.values())) == sorted(
            node.mark for node in self.root.walk() if node.mark is not None
        )

    def insert(self, i: int) -> None:
        if self.root is None:
            self.root = Node(i)
            return
        there = list(self.root.leaves)
        ys = [self.leaf(there[at]) for at in nearest(self.L.distances[i, there], self.k)]
        top = _holder(ys[0])
        starts = [_start(y, top) for y in ys]
        starts = [start for start in starts if start is not None]
        self._merge_anew(top, starts, coming=[Node(i)])

    def forget(self, i: int) -> None:
        leaf = self.leaf(i)
        above = leaf.above
        if above is None:
            self.root = None
            return
        mark, left = above.mark, leaf.beside()
        top = _holder(above)
        if mark is not None or above is self.root:
            self._replace(above, left)
            if mark == "held":
                self._hand_over(left)
            return
        starts = [above]
        self._merge_anew(top, starts, instead=(above, left))

    def must_link(self, i: int, j: int) -> None:
        one, other = _whole(self.leaf(i)), _whole(self.leaf(j))
        if one is other:
            return
        top = _holder(one)
        if _holder(other) is not top:
            raise ValueError("held elsewhere")
        self._merge_anew(top, [one, other], together=(one, other))

    def unlink(self, i: int) -> None:
        for node in _whole(self.leaf(i)).walk():
            node.mark = None

    def move(self, node: Node, under: Node) -> None:
        below = set(map(id, node.walk()))
        if node is self.root or id(under) in below:
            raise ValueError("nowhere to go")
        if _is_linked(node.above) or _is_linked(under.above):
            raise ValueError("linked")
        old = node.above
        if old is under:
            under.mark = "held"
            return
        left = node.beside()
        self._replace(old, left)
        if old.mark == "held" and left is not under:
            self._hand_over(left)
        place, anchor = under.above, Node()
        if place is None:
            self.root = anchor
        else:
            place.parts[place.parts.index(under)] = anchor
        anchor.above = place
        anchor.parts = [under, node]
        under.above = node.above = anchor
        if under.mark == "held":
            under.mark = None
        anchor.mark = "held"

    def release(self, node: Node) -> None:
        node.mark = None

    def _hand_over(self, left: Node) -> None:
        if left.parts and left.mark is None:
            left.mark = "held"

    def _replace(self, old: Node, new: Node) -> None:
        """A node, or one from below it, in the place of another."""
        above = old.above
        new.above = above
        if above is None:
            self.root = new
        else:
            above.parts[above.parts.index(old)] = new

    def _merge_anew(
        self,
        top: Node | None,
        starts: list[Node],
        coming: list[Node] | None = None,
        instead: tuple[Node, Node] | None = None,
        together: tuple[Node, Node] | None = None,
    ) -> None:
        """Take out what is above `starts`, up to `top`, and HAC what is left."""
        taken = []
        for start in starts:
            v = start
            while v is not top and v.above is not None:
                v = v.above
                if v not in taken:
                    taken.append(v)
        root = top or self.root
        forest = [part for node in taken for part in node.parts if part not in taken]
        forest = forest or [root]
        if instead is not None:
            forest[forest.index(instead[0])] = instead[1]
        if together is not None:
            both = Node(parts=together)
            both.mark = "linked"
            forest = [part for part in forest if part not in together] + [both]
        above, mark = root.above, root.mark
        new = self._hac([*forest, *(coming or [])])
        if new is not root:
            new.above = above
            if above is None:
                self.root = new
            else:
                above.parts[above.parts.index(root)] = new
        if taken and mark == "held" and new.mark is None:
            new.mark = "held"

    def _hac(self, forest: list[Node]) -> Node:
        known = {part.leaves: part for part in forest}
        tree = hac([Tree(leaves) for leaves in known], self.L)

        def made(tree: Tree) -> Node:
            if tree.leaves in known:
                return known[tree.leaves]
            return Node(parts=(made(tree.left), made(tree.right)))

        return made(tree)


def _is_linked(node: Node | None) -> bool:
    return node is not None and node.mark == "linked"


def _whole(node: Node) -> Node:
    while _is_linked(node.above):
        node = node.above
    return node


def _holder(node: Node) -> Node | None:
    node = node.above
    while node is not None and node.mark != "held":
        node = node.above
    return node


def _start(y: Node, top: Node | None) -> Node | None:
    """Where the path of a neighbour begins; None if it is not below the top."""
    start, v = y, y.above
    while v is not None and v is not top:
        if v.mark is not None:
            start = v
        v = v.above
    return start if v is top else None
