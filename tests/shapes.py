"""Shapes of trees: as arrays of children, and as whole hierarchies."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from ramify import Hierarchy

KINDS = ("chain", "balanced", "random", "lopsided")


def shape(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """A tree over n shuffled leaves; children come before parents."""
    nodes = rng.permutation(n).tolist()
    children: list[tuple[int, int]] = []

    def join(a: int, b: int) -> int:
        children.append((a, b) if rng.random() < 0.5 else (b, a))
        return n + len(children) - 1

    if kind == "chain":
        top = nodes[0]
        for leaf in nodes[1:]:
            top = join(top, leaf)
    elif kind == "balanced":
        while len(nodes) > 1:
            pairs = range(0, len(nodes) - 1, 2)
            nodes = [join(nodes[i], nodes[i + 1]) for i in pairs] + nodes[len(pairs) * 2 :]
    else:
        while len(nodes) > 1:
            i = int(rng.integers(len(nodes)))
            a, nodes[i] = nodes[i], nodes[-1]
            nodes.pop()
            # A lopsided tree mostly grows where it grew last.
            last = kind == "lopsided" and rng.random() < 0.8
            j = len(nodes) - 1 if last else int(rng.integers(len(nodes)))
            nodes[j], nodes[-1] = nodes[-1], nodes[j]
            nodes[-1] = join(a, nodes[-1])
    return np.array(children, dtype=np.int64).reshape(-1, 2)


def chain(n: int) -> np.ndarray:
    """((0, 1), 2), 3 …: made at once, for large n."""
    rows = np.arange(n - 1)
    return np.column_stack([np.where(rows == 0, 0, n + rows - 1), rows + 1])


def balanced(n: int) -> np.ndarray:
    """Neighbours first, then neighbours of those …: made at once, for large n."""
    return np.arange(2 * n - 2).reshape(-1, 2)


def pairs_of(children: np.ndarray) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in children]


@st.composite
def trees(draw, min_size: int = 1, max_size: int = 24) -> np.ndarray:
    n = draw(st.integers(min_size, max_size), label="leaves")
    kind = draw(st.sampled_from(KINDS), label="kind")
    seed = draw(st.integers(0, 2**32 - 1), label="seed")
    return shape(kind, n, np.random.default_rng(seed))


@st.composite
def hierarchies(draw, min_size: int = 1, max_size: int = 24) -> Hierarchy:
    """Hierarchies of every shape, with and without ties and inversions."""
    children = draw(trees(min_size, max_size))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="heights"))
    kind = draw(st.sampled_from(["rising", "tied", "inverted", "zero"]), label="kind")
    rows = len(children)
    heights = {
        "rising": np.cumsum(rng.exponential(size=rows)),
        "tied": np.sort(rng.integers(0, 1 + rows // 2, size=rows)).astype(float),
        "inverted": rng.exponential(size=rows),
        "zero": np.zeros(rows),
    }[kind]
    return Hierarchy.from_children(children, heights)


def leaves_below(tree: Hierarchy) -> list[frozenset[int]]:
    """The points below every node, from the definition."""
    below = [frozenset([i]) for i in range(tree.n_leaves)]
    for a, b in tree.children.tolist():
        below.append(below[a] | below[b])
    return below


def long_chain(n: int, names=None) -> Hierarchy:
    """A chain of n leaves with heights 1, 2, 3 ..."""
    return Hierarchy(chain(n), np.arange(1.0, n), names=names)
