"""Trees as the oracles see them: two children and the sorted tuple of leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np


class Tree:
    """A leaf (no children) or a merge of two trees. Compared by identity."""

    __slots__ = ("leaves", "left", "right")

    def __init__(
        self, leaves: tuple[int, ...], left: Tree | None = None, right: Tree | None = None
    ):
        self.leaves = leaves
        self.left = left
        self.right = right

    @property
    def is_leaf(self) -> bool:
        return self.left is None

    @property
    def first(self) -> int:
        return self.leaves[0]

    def __len__(self) -> int:
        return len(self.leaves)

    def __repr__(self) -> str:
        return f"Tree{self.leaves}"


def leaf(i: int) -> Tree:
    return Tree((int(i),))


def merge(left: Tree, right: Tree) -> Tree:
    return Tree(tuple(sorted(left.leaves + right.leaves)), left, right)


def inner_nodes(tree: Tree) -> Iterator[Tree]:
    """Every merge in the tree, parents first."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if not node.is_leaf:
            yield node
            stack += [node.left, node.right]


def clusters(tree: Tree) -> set[tuple[int, ...]]:
    """The leaf sets of all merges: two trees are equal when these are."""
    return {node.leaves for node in inner_nodes(tree)}


def from_children(children: np.ndarray) -> Tree:
    """The tree of a (n-1, 2) array in which children come before parents."""
    n = len(children) + 1
    nodes = [leaf(i) for i in range(n)]
    for left, right in children:
        nodes.append(merge(nodes[left], nodes[right]))
    assert nodes[-1].leaves == tuple(range(n)), "the last merge must hold every leaf once"
    return nodes[-1]


def replaced(tree: Tree, old: Tree, new: Tree) -> Tree:
    """The tree with subtree `old` exchanged for `new`; merges above it are made again."""
    path = [tree]
    while path[-1] is not old:
        inside_left = set(old.leaves) <= set(path[-1].left.leaves)
        path.append(path[-1].left if inside_left else path[-1].right)
    for above, below in zip(path[-2::-1], path[:0:-1], strict=True):
        new = merge(new, above.right) if above.left is below else merge(above.left, new)
    return new


def fingerprints(children: np.ndarray, seed: int = 0) -> np.ndarray:
    """One 64-bit number for each merge that depends only on its set of leaves.

    Random numbers of the leaves, added up: for trees too large for sets of tuples.
    """
    n = len(children) + 1
    marks = np.random.default_rng(seed).integers(0, 2**63, size=n, dtype=np.uint64).tolist()
    for left, right in np.asarray(children).tolist():
        marks.append((marks[left] + marks[right]) % 2**64)
    return np.array(marks[n:], dtype=np.uint64)


def leaves_below(children: np.ndarray, nodes: Iterable[int]) -> dict[int, np.ndarray]:
    """The leaves of a few chosen nodes of a large snapshot."""
    n = len(children) + 1
    found = {}
    for node in nodes:
        below, stack = [], [int(node)]
        while stack:
            top = stack.pop()
            if top < n:
                below.append(top)
            else:
                stack += children[top - n].tolist()
        found[int(node)] = np.array(sorted(below))
    return found
