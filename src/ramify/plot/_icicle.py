# SPDX-License-Identifier: BSD-3-Clause
"""_icicle.py: a tree as rectangles below rectangles, as wide as they have points."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ramify.checks import whole_number
from ramify.hierarchy import Hierarchy, IntArray
from ramify.outline import Outline, clusters_of_nodes, outline
from ramify.palette import TRUNK, mix
from ramify.plot._axes import new_axes, only_axis
from ramify.plot._options import Names, check_colors, check_names, check_tree, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A block narrower than this share of the picture could not be seen.
_NARROWEST = 1 / 400
_INCHES_PER_LETTER = 0.075
#: Height of the pale stubs that say: there is more below.
_STUB = 0.35


def icicle(
    tree: Hierarchy,
    *,
    k: int | None = None,
    colors: Sequence[str] | None = None,
    names: Names | None = None,
    levels: int = 14,
    ax: Axes | None = None,
) -> Axes:
    """Draw a tree as an icicle: the root on top, each part below as wide as it has points.

    What is too narrow to see is left out: where a branch only loses a few points it
    stays one block, and the points lost are the gap below it, at the right. So a chain
    of a million points can be drawn, and is as wide as it is.

    Parameters
    ----------
    tree : Hierarchy
    k : int, optional
        Colour the clusters of ``tree.cut(n_clusters=k)``; blocks above the cut are grey.
    colors : sequence of colours, optional
        One per cluster, in the numbering of that cut; `k` is then their number.
    names : sequence, optional
        A name per point, written where there is room.
    levels : int
        How many rows of blocks to draw; a pale stub says that a block goes on below.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import ramify
    >>> from ramify.datasets import iris
    >>> from ramify.plot import icicle
    >>> ax = icicle(ramify.HAC().fit(iris().points).hierarchy(), k=3)
    >>> print(*ax.get_xlim())
    0.0 150.0
    """
    palette = check_colors(k, colors, check_tree(tree).n_leaves, "the number of points")
    texts = check_names(tree, names)
    rows = whole_number("levels", levels)
    top = outline(tree, tree.n_nodes, min_size=ceil(_NARROWEST * tree.n_leaves))
    shown = np.flatnonzero(top.level < rows)
    n_rows = int(top.level[shown].max()) + 1
    if ax is None:
        ax = new_axes(9.0, 0.8 + 0.32 * n_rows)[0]
    faces = _faces(top, palette)
    _draw_blocks(ax, top, shown, faces, below=0)
    _draw_texts(ax, top, shown, faces, texts)
    more = shown[(top.level[shown] == rows - 1) & (top.child[shown] >= 0)]
    if len(more) > 0:
        _draw_blocks(ax, top, more, [mix(face, "#ffffff", 0.6) for face in faces], below=1)
    ax.set_xlim(0, tree.n_leaves)
    ax.set_ylim(n_rows + (_STUB if len(more) > 0 else 0), 0)
    ax.set_yticks([])
    ax.set_xlabel("points")
    if tree.n_leaves > 1 and len(top) == 1:
        ax.set_title(
            "nearly a chain: what splits off is too narrow to see",
            fontsize=10,
            loc="left",
            color="#555555",
        )
    ax.xaxis.set_major_formatter("{x:,.0f}")
    only_axis(ax, "bottom")
    return ax


def _faces(top: Outline, colors: Sequence[str] | None) -> list[str]:
    """Colour of every block: its cluster's. Without a cut, blocks fade from level to level."""
    if colors is None:
        shade = np.minimum(0.15 + 0.05 * top.level, 0.75).tolist()
        return [mix("#335577", "#ffffff", share) for share in shade]
    clusters = clusters_of_nodes(top.tree, _mainly(top, len(colors)), len(colors)).tolist()
    return [mix(TRUNK, "#ffffff", 0.5) if c < 0 else colors[c] for c in clusters]


def _mainly(top: Outline, k: int) -> IntArray:
    """The node that a block's colour comes from: where it ends.

    A block that ends above the cut, in parts too narrow to see, has the colour of its
    largest cluster if that is most of it.
    """
    tree = top.tree
    above = 2 * tree.n_leaves - k
    nodes = top.bottom.copy()
    for i in np.flatnonzero((top.child < 0) & (nodes >= above)).tolist():
        v = nodes.item(i)
        while v >= above:  # at most k - 1 steps
            v = max(tree.children[v - tree.n_leaves].tolist(), key=tree.sizes.item)
        if 2 * tree.sizes[v] > tree.sizes[nodes[i]]:
            nodes[i] = v
    return nodes


def _draw_blocks(
    ax: Axes, top: Outline, shown: NDArray[Any], faces: list[str], *, below: int
) -> None:
    """Blocks on their own row, or as stubs on the row below."""
    from matplotlib.collections import PolyCollection

    left, right = top.x[shown], (top.x + top.size)[shown]
    upper = top.level[shown] + below
    lower = upper + (_STUB if below else 1)
    corners = np.stack([left, upper, right, upper, right, lower, left, lower], axis=1)
    # Thin white lines part the blocks; around a narrow one they would hide it.
    share = (right - left) / top.tree.n_leaves
    blocks = PolyCollection(
        list(corners.reshape(-1, 4, 2)),
        facecolors=[faces[i] for i in shown],
        edgecolors="white",
        linewidths=np.clip(share * 60, 0.0, 0.8),
    )
    ax.add_collection(blocks)


def _draw_texts(
    ax: Axes,
    top: Outline,
    shown: NDArray[Any],
    faces: list[str],
    names: Sequence[object] | None,
) -> None:
    """The size of each block, or its point's name, where there is room for it."""
    inches = ax.get_window_extent().width / ax.figure.dpi
    size, left = top.size, top.x
    for i in shown.tolist():
        text = f"{size[i]:,}"
        if names is not None and size[i] == 1:
            text = short(names[int(top.top[i])])
        room = inches * size[i] / top.tree.n_leaves
        if len(text) * _INCHES_PER_LETTER <= room:
            ax.text(
                left[i] + size[i] / 2,
                top.level[i] + 0.5,
                text,
                ha="center",
                va="center",
                fontsize=8,
                color=_readable_on(faces[i]),
                parse_math=False,
                clip_on=True,
            )


def _readable_on(color: str) -> str:
    from matplotlib.colors import to_rgb

    r, g, b = to_rgb(color)
    return "white" if 0.299 * r + 0.587 * g + 0.114 * b < 0.6 else "#222222"
