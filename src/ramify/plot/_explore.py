# SPDX-License-Identifier: BSD-3-Clause
"""_explore.py: a tree as a page to walk in.

The page holds the outline of the tree (at most `max_blocks` blocks), for each
block a few of its points, and an index that says for each point in which block
it is. All three are bounded, so that the page of any tree opens at once:

    blocks   10,000 by default, of 150 bytes at most      1.5 MB
    index    all points, or half a million of them        4 MB
    names    as many as fit                               4 MB
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify import _core
from ramify.checks import whole_number
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.outline import LeafOrder, Outline, leaf_order, outline
from ramify.palette import cluster_colors
from ramify.plot._columns import columns_of
from ramify.plot._options import Names, check_names, check_points, check_tree, short
from ramify.plot._page import Page, fill_page

#: The slider's end. Each step takes two blocks of the budget.
_MOST_CLUSTERS = 200
#: Points listed for each block.
_MEMBERS = 5
#: Of how many of a block's points the nearest to the mean are taken.
_CANDIDATES = 512
#: Turns of a path that the page spells out.
_TURNS = 64
#: All points are in the index up to this many, or else half as many.
_INDEXED = 1_000_000
#: Room for names.
_NAME_BYTES = 4_000_000
_LONGEST_NAME = 80
#: Rows that are added up at a time.
_NUMBERS_AT_ONCE = 1 << 22


def explore(
    tree: Hierarchy,
    X: ArrayLike | None = None,
    names: Names | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    k: int | None = None,
    columns: Mapping[str, Sequence[object]] | None = None,
    title: str | None = None,
    max_blocks: int = 10_000,
) -> Page:
    """Make a page on which a tree can be explored: one HTML file that needs no network.

    It shows an icicle of the tree that can be walked into, with a slider for the number
    of clusters, which have the numbers that :meth:`Hierarchy.cut` gives them; search by
    name or number of a point, which lights all that fit; and for each part its size,
    height, path, most typical points, and all points as csv. The address of the page has
    the view in it, to be kept or sent. It works with a mouse, a finger and the keyboard.

    Of a large tree the page has an outline: the merges whose smaller side is largest,
    and the 199 highest, so that cuts up to 200 clusters are exact. Whatever the tree,
    the file has less than 10 MB; that of a million points takes a few seconds to make.

    Parameters
    ----------
    tree : Hierarchy
    X : array-like of shape (n, d), optional
        The points, in the order of the leaves; where points have left, also all that ever
        came, as for ``names`` and ``columns``. With them, the points listed for a part
        are those nearest to its mean, in Euclidean distance, among at most 512 of its
        points that are spread evenly over it. Without, they are some of its points.
    names : sequence, optional
        A name per point, shown and searched; by default what the tree calls them, their
        arrival numbers where points have left. Longer ones than 80 characters are cut, and
        names beyond 4 MB are left out: the page says how many can be searched. Inner nodes
        that have names of their own (``tree.node_names``) are shown by them.
    path : str or path, optional
        Where to write the file. It can also be written later: ``page.save(path)``.
    k : int, optional
        Number of clusters to begin with; by default 8, or fewer if there are fewer points.
    columns : mapping of str to sequences, optional
        What else is known of the points, one value each, to colour the tree by: numbers
        by their mean in a part, anything else by what most of its points have. Also a
        frame.
    title : str, optional
    max_blocks : int
        How many parts of the tree the page has, at least 399.

    Returns
    -------
    Page
        Shows itself in a notebook; ``page.html`` is the text.

    Examples
    --------
    >>> import ramify
    >>> from ramify.datasets import iris
    >>> from ramify.plot import explore
    >>> X = iris().points
    >>> page = explore(ramify.OHAC().fit(X).hierarchy(), X)
    >>> page.html[:15]
    '<!doctype html>'
    """
    rows = None if X is None else check_points(check_tree(tree), X)
    texts = check_names(check_tree(tree), names)
    n = tree.n_leaves
    most = min(n, _MOST_CLUSTERS)
    why = "the clusters that a page can show"
    k = min(8, n) if k is None else whole_number("k", k, most=most, why=why)
    blocks = whole_number("max_blocks", max_blocks, least=2 * _MOST_CLUSTERS - 1)
    if title is None:
        title = "A tree of 1 point" if n == 1 else f"A tree of {n:,} points"
    data = _payload(tree, rows, texts, k, blocks, columns)
    page = Page(fill_page(title, data))
    return page if path is None else page.save(path)


def _payload(
    tree: Hierarchy,
    rows: NDArray[Any] | None,
    names: Sequence[object] | None,
    k: int,
    max_blocks: int,
    columns: Mapping[str, Sequence[object]] | None = None,
) -> dict[str, Any]:
    """All that the page knows, as plain lists."""
    most = min(tree.n_leaves, _MOST_CLUSTERS)
    top = outline(tree, max_blocks, n_highest=most - 1)
    order = leaf_order(tree)
    stretches = _stretches(top, order)
    members = _members(top, order, rows, stretches)
    turn, run = _turns(top, order)
    heights = np.concatenate([np.zeros(tree.n_leaves), tree.monotone_heights])
    depths = _core.depths(tree.children)
    owner = np.empty(tree.n_leaves, dtype=np.uint32)
    owner[order.leaves] = np.repeat(stretches.block, stretches.length)
    return {
        "n": tree.n_leaves,
        "k": k,
        "max_k": most,
        "colors": cluster_colors(60),
        "columns": columns_of(top, owner, columns),
        "nearest": rows is not None,
        "candidates": _CANDIDATES,
        "top": top.top.tolist(),
        "last": top.bottom.tolist(),
        "parent": top.parent.tolist(),
        "size": top.size.tolist(),
        "height": [float(f"{height:.6g}") for height in heights[top.top].tolist()],
        "depth": depths[top.top].tolist(),
        "first": _first_points(top, owner),
        "turn": turn,
        "run": run,
        "members": members,
        "index": _index(tree.n_leaves, owner, members, names),
        "called": _called(top),
    }


def _called(top: Outline) -> list[tuple[int, str]]:
    """Blocks that people have named: by their upper end, or else by their lower one."""
    known = top.tree._named_nodes()
    if not known:
        return []
    ends = zip(top.top.tolist(), top.bottom.tolist(), strict=True)
    found = ((i, known.get(upper) or known.get(lower)) for i, (upper, lower) in enumerate(ends))
    return [(i, short(text, _LONGEST_NAME)) for i, text in found if text]


def _first_points(top: Outline, owner: NDArray[np.uint32]) -> list[int]:
    """The earliest point of each block, by which cuts number their clusters."""
    first = np.full(len(top), top.tree.n_leaves)
    np.minimum.at(first, owner, np.arange(top.tree.n_leaves))
    for i in range(len(top) - 1, 0, -1):
        parent = top.parent.item(i)
        first[parent] = min(first[parent], first[i])
    return first.tolist()


class _Stretches(NamedTuple):
    """The leaves from left to right, in pieces that belong to one innermost block each."""

    start: IntArray  # position of the first leaf
    length: IntArray
    block: IntArray


def _stretches(top: Outline, order: LeafOrder) -> _Stretches:
    """Leaves of blocks lie inside one another or apart: one pass finds the innermost."""
    left = order.start[top.top]
    right = left + top.size
    begin: list[int] = []
    block: list[int] = []
    around: list[int] = []  # blocks around the present place, innermost last
    place = 0

    def go_on(to: int) -> None:
        nonlocal place
        if to > place:
            begin.append(place)
            block.append(around[-1])
            place = to

    for i in np.lexsort((-top.size, left)).tolist():
        while around and right.item(around[-1]) <= left.item(i):
            go_on(right.item(around[-1]))
            around.pop()
        go_on(left.item(i))
        around.append(i)
    while around:
        go_on(right.item(around[-1]))
        around.pop()
    start = np.array(begin, dtype=np.int64)
    length = np.diff(start, append=top.tree.n_leaves)
    return _Stretches(start, length, np.array(block, dtype=np.int64))


# --- points of a block --------------------------------------------------------------


def _members(
    top: Outline, order: LeafOrder, rows: NDArray[Any] | None, stretches: _Stretches
) -> list[list[int]]:
    """A few points of every block: the nearest to its mean, or some."""
    start, sizes = order.start[top.top].tolist(), top.size.tolist()
    if rows is None:
        return [
            np.sort(order.leaves[left + _spread(size, _MEMBERS)]).tolist()
            for left, size in zip(start, sizes, strict=True)
        ]
    means = _means(top, order, rows, stretches)
    members = []
    for mean, left, size in zip(means, start, sizes, strict=True):
        candidates = np.sort(order.leaves[left + _spread(size, _CANDIDATES)])
        gaps = rows[candidates] - mean
        nearest = np.argsort(np.einsum("ij,ij->i", gaps, gaps), kind="stable")
        members.append(candidates[nearest[:_MEMBERS]].tolist())
    return members


def _spread(size: int, count: int) -> IntArray:
    """At most ``count`` numbers below ``size``, evenly spaced."""
    return np.arange(size) if size <= count else np.arange(count) * size // count


def _means(top: Outline, order: LeafOrder, rows: NDArray[Any], stretches: _Stretches) -> FloatArray:
    """The mean of every block: each row is added once, then blocks to the blocks above."""
    origin = rows[0].astype(np.float64)  # far from zero, sums would lose digits
    sums = np.zeros((len(top), rows.shape[1]))
    for pieces, block, some in _batches(order, rows.shape[1], stretches):
        np.add.at(sums, block, np.add.reduceat(rows[some] - origin, pieces, axis=0))
    for i in range(len(top) - 1, 0, -1):
        sums[top.parent.item(i)] += sums[i]
    means: FloatArray = origin + sums / top.size[:, np.newaxis]
    return means


def _batches(
    order: LeafOrder, d: int, stretches: _Stretches
) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Leaves in order, some at a time: where pieces begin, their blocks, and the leaves."""
    n = len(order.leaves)
    step = max(_NUMBERS_AT_ONCE // d, 1)
    for begin in range(0, n, step):
        end = min(begin + step, n)
        first, last = np.searchsorted(stretches.start, [begin, end - 1], side="right") - 1
        pieces = np.maximum(stretches.start[first : last + 1], begin) - begin
        yield pieces, stretches.block[first : last + 1], order.leaves[begin:end]


# --- ways and index ----------------------------------------------------------------


def _turns(top: Outline, order: LeafOrder) -> tuple[list[str], list[str]]:
    """The turn into each block from the one above, and the turns inside it; the first 64."""
    tree, start = top.tree, order.start
    n = tree.n_leaves
    turn: list[str] = []
    run: list[str] = []
    so_far: list[int] = []
    for i, (v, end, parent) in enumerate(
        zip(top.top.tolist(), top.bottom.tolist(), top.parent.tolist(), strict=True)
    ):
        above = top.bottom.item(parent) if i else -1
        turn.append("" if i == 0 else str(int(tree.children.item(above - n, 1) == v)))
        inside: list[str] = []
        known = (so_far[parent] if i else 0) + len(turn[i])
        while v != end and known + len(inside) < _TURNS:
            first, second = tree.children[v - n].tolist()
            right = start.item(end) >= start.item(second)
            inside.append("1" if right else "0")
            v = second if right else first
        run.append("".join(inside))
        so_far.append(known + len(inside))
    return turn, run


def _index(
    n: int,
    owner: NDArray[np.uint32],
    members: list[list[int]],
    names: Sequence[object] | None,
) -> dict[str, Any]:
    """The innermost block of each point, and its name: of all points or of a part."""
    kept, texts = _named(n, members, names)
    narrow = owner.max() < 2**16
    return {
        "points": None if kept is None else _packed(kept, "<u4"),
        "owner": _packed(owner if kept is None else owner[kept], "<u2" if narrow else "<u4"),
        "width": 2 if narrow else 4,
        "names": texts,
    }


def _named(
    n: int, members: list[list[int]], names: Sequence[object] | None
) -> tuple[IntArray | None, list[str] | None]:
    """Points for the index, None for all, and their names.

    Where there is not room for all: first the points that are listed somewhere, those
    of large blocks before those of small ones, then others by chance.
    """
    most = n if n <= _INDEXED else _INDEXED // 2
    if names is None and most == n:
        return None, None
    listed = np.array([point for some in members for point in some], dtype=np.int64)
    chance = np.random.default_rng(0).permutation(n)
    points, first = np.unique(np.concatenate([listed, chance]), return_index=True)
    wanted = points[np.argsort(first, kind="stable")][:most]
    if names is None:
        return np.sort(wanted), None
    texts = _names_that_fit(wanted.tolist(), names)
    if len(texts) == n:
        return None, [texts[point] for point in range(n)]
    kept = sorted(list(texts)[: _INDEXED // 2])
    return np.array(kept, dtype=np.int64), [texts[point] for point in kept]


def _names_that_fit(wanted: list[int], names: Sequence[object]) -> dict[int, str]:
    """Names of the first points that there is room for, as the page will write them."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    room = _NAME_BYTES
    texts = {}
    for point in wanted:
        text = short(names[point], _LONGEST_NAME)
        # A comma comes after it, and "<" is written in six letters.
        room -= len(encode(text).encode("utf-8", "replace")) + 1 + 5 * text.count("<")
        if room < 0:
            break
        texts[point] = text
    return texts


def _packed(numbers: NDArray[Any], dtype: str) -> str:
    return base64.b64encode(numbers.astype(dtype).tobytes()).decode("ascii")
