"""What an outline of a tree is, one node at a time."""

from __future__ import annotations


def below(tree, v: int) -> set[int]:
    """All nodes below v, and v."""
    found, todo = set(), [v]
    while todo:
        u = todo.pop()
        found.add(u)
        if u >= tree.n_leaves:
            todo += tree.children[u - tree.n_leaves].tolist()
    return found


def chosen_merges(tree, count: int, min_size: int, n_highest: int) -> set[int]:
    """The highest merges; then those whose smaller side is largest, the higher first."""
    n = tree.n_leaves
    merges = sorted(range(n, 2 * n - 1), reverse=True)
    highest, rest = merges[:n_highest], merges[n_highest:]

    def smaller(v: int) -> int:
        return min(len(below(tree, c) & set(range(n))) for c in tree.children[v - n].tolist())

    rest = [v for v in rest if smaller(v) >= min_size]
    rest.sort(key=lambda v: (smaller(v), v), reverse=True)
    return set((highest + rest)[:count])


def blocks(tree, n_blocks: int, min_size: int = 1, n_highest: int = 0) -> set[tuple[int, int]]:
    """Every block as (top, bottom)."""
    chosen = chosen_merges(tree, max((n_blocks - 1) // 2, 0), min_size, n_highest)
    found, todo = set(), [tree.root]
    while todo:
        top = todo.pop()
        inside = below(tree, top) & chosen
        bottom = max(inside, default=top)  # the highest: all others are below it
        found.add((top, bottom))
        if inside:
            todo += tree.children[bottom - tree.n_leaves].tolist()
    return found
