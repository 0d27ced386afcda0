# SPDX-License-Identifier: BSD-3-Clause
"""_dendrogram.py: the top of a tree, its clusters as wedges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ramify.checks import whole_number
from ramify.hierarchy import Hierarchy
from ramify.outline import Top, clusters_of_nodes
from ramify.palette import TRUNK
from ramify.plot._axes import draw_legend, new_axes, only_axis
from ramify.plot._options import Names, check_colors, check_names, check_tree, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def dendrogram(
    tree: Hierarchy,
    *,
    truncate: int | None = 30,
    k: int | None = None,
    colors: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    names: Names | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the top of a tree: its `truncate` highest clusters as wedges, root at the left.

    A wedge starts at the height of its cluster's own last merge and grows wider
    with the number of points, which is written beside it. Only the top is
    looked at, so trees of any size and depth can be drawn.

    Parameters
    ----------
    tree : Hierarchy
    truncate : int or None
        How many clusters to show, the tips of the picture; all points when the tree
        has fewer. None shows every point: for small trees only.
    k : int, optional
        Colour the branches of the clusters of ``tree.cut(n_clusters=k)``. At most the
        number of tips. A legend has their numbers and sizes, up to 50 of them.
    colors : sequence of colours, optional
        One per cluster, in the numbering of that cut; `k` is then their number.
    labels : sequence of str, optional
        A text per tip, in the numbering of ``tree.cut(n_clusters=truncate)``.
    names : sequence, optional
        A name per point, written at tips that are one point.
    ax : matplotlib Axes, optional
        Where to draw; a new figure of fitting size by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np, ramify
    >>> from ramify.plot import dendrogram
    >>> model = ramify.OHAC().fit(np.random.default_rng(0).normal(size=(500, 2)))
    >>> ax = dendrogram(model.hierarchy(), truncate=12, k=4)
    >>> len(ax.get_yticklabels())
    12
    """
    top = _top(check_tree(tree), truncate)
    palette = check_colors(k, colors, len(top.tips), "the number of tips")
    texts = check_names(tree, names)
    if labels is not None and len(labels) != len(top.tips):
        raise ValueError(f"expected {len(top.tips)} labels, one per tip, got {len(labels)}")
    if ax is None:
        ax = new_axes(8.0, 1.2 + 0.22 * len(top.tips))[0]
    color = _node_colors(top, palette)
    _draw_branches(ax, top, color)
    _draw_wedges(ax, top, color)
    _draw_tip_texts(ax, top, labels, texts)
    if palette is not None:
        sizes = np.bincount(tree.cut(n_clusters=len(palette))).tolist()
        draw_legend(ax, sizes, palette, below=True)
    return ax


def _top(tree: Hierarchy, truncate: int | None) -> Top:
    n = tree.n_leaves
    return Top(tree, n if truncate is None else min(whole_number("truncate", truncate), n))


def _node_colors(top: Top, colors: Sequence[str] | None) -> dict[int, str]:
    """Colour of every node shown: its cluster's, or the trunk's above the cut."""
    if colors is None:
        return dict.fromkeys(top.y, TRUNK)
    nodes = np.array(list(top.y))
    clusters = clusters_of_nodes(top.tree, nodes, len(colors)).tolist()
    return {v: TRUNK if c < 0 else colors[c] for v, c in zip(nodes.tolist(), clusters, strict=True)}


def _draw_branches(ax: Axes, top: Top, color: dict[int, str]) -> None:
    from matplotlib.collections import LineCollection

    lines, line_colors = [], []
    for v in top.merges():
        x, (a, b) = top.height(v), top.children(v)
        lines.append([(x, top.y[a]), (x, top.y[b])])
        line_colors.append(color[v])
        for child in (a, b):
            lines.append([(x, top.y[child]), (top.height(child), top.y[child])])
            line_colors.append(color[child])
    ax.add_collection(LineCollection(lines, colors=line_colors, linewidths=1.4, capstyle="round"))


def _draw_wedges(ax: Axes, top: Top, color: dict[int, str]) -> None:
    from matplotlib.collections import PolyCollection

    sizes = np.array([top.size(tip) for tip in top.tips])
    half = 0.06 + 0.34 * np.sqrt(sizes / sizes.max())
    wedges = [
        [(top.height(tip), y), (top.base, y - w), (top.base, y + w)]
        for y, (tip, w) in enumerate(zip(top.tips, half, strict=True))
    ]
    faces = [color[tip] for tip in top.tips]
    ax.add_collection(PolyCollection(wedges, facecolors=faces, edgecolors=faces, linewidths=0.8))


def _draw_tip_texts(
    ax: Axes, top: Top, labels: Sequence[str] | None, names: Sequence[object] | None
) -> None:
    texts = _tip_texts(top, labels, names)
    root = top.height(2 * top.n - 2)
    margin = 0.03 * (root - top.base) or 1.0
    ax.set_xlim(root + margin, top.base)
    ax.set_ylim(len(top.tips) - 0.4, -0.6)
    ax.set_yticks(range(len(texts)), texts, parse_math=False)  # a name may hold dollar signs
    ax.yaxis.tick_right()
    ax.tick_params(axis="y", length=0, pad=5)
    ax.set_xlabel("height")
    only_axis(ax, "bottom")


def _tip_texts(top: Top, labels: Sequence[str] | None, names: Sequence[object] | None) -> list[str]:
    """What to write at each tip: its label, or its point's name, and its size."""
    if labels is not None:
        number = clusters_of_nodes(top.tree, np.array(top.tips), len(top.tips)).tolist()
        return [f"{top.size(tip):,}  {labels[c]}" for tip, c in zip(top.tips, number, strict=True)]
    return [
        f"{top.size(tip):,}"
        if tip >= top.n
        else f"point {tip}"
        if names is None
        else short(names[tip])
        for tip in top.tips
    ]
