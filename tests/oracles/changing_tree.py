"""A binary tree that is rearranged, in plain slow Python: nodes that know their neighbours."""

from __future__ import annotations

from collections.abc import Iterator


class Node:
    """A point (by its number) or a merge of two nodes (by its name)."""

    def __init__(self, number: int | None = None, name: int | None = None):
        self.number, self.name = number, name
        self.parent: Node | None = None
        self.children: list[Node] = []

    def below(self) -> Iterator[Node]:
        """This node and all below it."""
        yield self
        for child in self.children:
            yield from child.below()

    def points(self) -> list[int]:
        return sorted(node.number for node in self.below() if node.number is not None)

    def sibling(self) -> Node:
        a, b = self.parent.children
        return b if a is self else a


class ChangingTree:
    def __init__(self) -> None:
        self.root: Node | None = None
        self.next_id = 0

    def nodes(self) -> list[Node]:
        return [] if self.root is None else list(self.root.below())

    def _put(self, new: Node, parent: Node | None, old: Node) -> None:
        """`new` hangs where `old` hung."""
        new.parent = parent
        if parent is None:
            self.root = new
        else:
            parent.children[parent.children.index(old)] = new

    def attach(self, number: int, at: Node | None) -> None:
        """A new point, joined with `at` in its place."""
        leaf = Node(number)
        if at is None:
            self.root = leaf
            return
        merge = Node(name=self.next_id)
        self.next_id += 1
        self._put(merge, at.parent, at)
        merge.children = [at, leaf]
        at.parent = leaf.parent = merge

    def detach(self, leaf: Node) -> None:
        """Without the point and its parent."""
        if leaf.parent is None:
            self.root = None
        else:
            self._put(leaf.sibling(), leaf.parent.parent, leaf.parent)

    def swap(self, a: Node, b: Node) -> None:
        """Exchange two subtrees."""
        above_a, above_b = a.parent, b.parent
        at_a, at_b = above_a.children.index(a), above_b.children.index(b)
        above_a.children[at_a], above_b.children[at_b] = b, a
        a.parent, b.parent = above_b, above_a

    def move(self, v: Node, beside: Node) -> None:
        """v leaves its place, and is joined with `beside`, under the name of its old parent."""
        merge = v.parent
        self._put(v.sibling(), merge.parent, merge)
        self._put(merge, beside.parent, beside)
        merge.children = [beside, v]
        beside.parent = v.parent = merge
