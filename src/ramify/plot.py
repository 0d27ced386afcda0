# SPDX-License-Identifier: BSD-3-Clause
"""Pictures: the top of a tree, and labelled places on a world map.

Both draw into a matplotlib Axes and return it. matplotlib is imported only when
something is drawn, so that `import ramify` needs neither it nor a display.

Clusters are numbered here as `Hierarchy.cut` numbers them, so one list of
colours serves a map and the dendrogram beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from ramify.hierarchy import Hierarchy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PALETTE", "dendrogram", "distinct_colors", "world_map"]

PALETTE = (
    "#4477aa",
    "#ee6677",
    "#228833",
    "#ddaa33",
    "#66ccee",
    "#aa3377",
    "#ee7733",
    "#44aa99",
    "#332288",
    "#999933",
    "#882255",
    "#bb99dd",
)
"""Twelve colours easy to tell apart, most of them from Paul Tol's colour-blind safe schemes."""

_TRUNK = "#777777"
_WATER = "#f3f6f9"
_GRATICULE = "#d5dde5"


def dendrogram(
    tree: Hierarchy,
    *,
    n_tips: int = 30,
    colors: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the top of a tree: its `n_tips` largest-height clusters as wedges, root at the left.

    A wedge starts at the height of its cluster's own last merge and grows wider
    with the number of points, which is written beside it. Only the top is
    looked at, so trees of any size and depth can be drawn.

    Parameters
    ----------
    tree : Hierarchy
    n_tips : int
        How many clusters to show; all points when the tree has fewer.
    colors : sequence of colours, optional
        Colour the branches of the clusters of ``tree.cut(n_clusters=len(colors))``,
        in the numbering of that cut. At most `n_tips`.
    labels : sequence of str, optional
        A text per tip, in the numbering of ``tree.cut(n_clusters=n_tips)``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure of fitting size by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np, ramify
    >>> from ramify.plot import PALETTE, dendrogram
    >>> model = ramify.OHAC().fit(np.random.default_rng(0).normal(size=(500, 2)))
    >>> ax = dendrogram(model.hierarchy(), n_tips=12, colors=PALETTE[:4])
    >>> len(ax.get_yticklabels())
    12
    """
    if n_tips < 1:
        raise ValueError(f"n_tips must be at least 1, got {n_tips}")
    if not isinstance(tree, Hierarchy):
        raise TypeError(
            f"expected a Hierarchy, such as model.hierarchy(), got {type(tree).__name__}"
        )
    top = _Top(tree, min(n_tips, tree.n_leaves))
    if colors is not None and not 1 <= len(colors) <= len(top.tips):
        raise ValueError(f"expected 1 to {len(top.tips)} colors (one tip each), got {len(colors)}")
    if labels is not None and len(labels) != len(top.tips):
        raise ValueError(f"expected {len(top.tips)} labels, one per tip, got {len(labels)}")
    if ax is None:
        ax = _new_axes(8.0, 1.2 + 0.22 * len(top.tips))
    color = top.node_colors(colors)
    _draw_branches(ax, top, color)
    _draw_wedges(ax, top, color)
    _draw_tip_texts(ax, top, labels)
    return ax


class _Top:
    """The last merges of a tree, laid out. No recursion: the top itself may be a chain.

    Notation: n leaves, p tips. Children come before parents and rows are sorted
    by monotone height, so the p - 1 highest merges are the nodes from 2n - p on,
    and every child below that number is a tip.
    """

    def __init__(self, tree: Hierarchy, p: int) -> None:
        self.tree = tree
        self.n = tree.n_leaves
        self.first = 2 * self.n - p
        heights = tree.monotone_heights
        # Under the dot metric heights are negative; leaves then sit below the lowest merge.
        self.base = min(0.0, float(heights.min())) if len(heights) else 0.0
        self.tips = self._tips_in_order()
        self.y: dict[int, float] = {tip: float(i) for i, tip in enumerate(self.tips)}
        self.leaf: dict[int, int] = {tip: int(tree.leaves(tip)[0]) for tip in self.tips}
        for v in self.merges():
            a, b = self.children(v)
            self.y[v] = (self.y[a] + self.y[b]) / 2
            self.leaf[v] = self.leaf[a]

    def merges(self) -> range:
        """The merges shown, each after its children."""
        return range(self.first, 2 * self.n - 1)

    def children(self, v: int) -> tuple[int, int]:
        a, b = self.tree.children[v - self.n]
        return int(a), int(b)

    def height(self, v: int) -> float:
        return self.base if v < self.n else float(self.tree.monotone_heights[v - self.n])

    def size(self, v: int) -> int:
        return int(self.tree.sizes[v])

    def _tips_in_order(self) -> list[int]:
        """Tips from top to bottom: at each merge the larger part first, so outliers gather."""
        tips, stack = [], [2 * self.n - 2]
        while stack:
            v = stack.pop()
            if v < self.first:
                tips.append(v)
            else:
                stack.extend(sorted(self.children(v), key=self.size))
        return tips

    def node_colors(self, colors: Sequence[str] | None) -> dict[int, str]:
        """Colour of every node shown: its cluster's, or the trunk's above the cut."""
        if colors is None:
            return dict.fromkeys(self.y, _TRUNK)
        cluster = self.tree.cut(n_clusters=len(colors))
        above = 2 * self.n - len(colors)
        return {v: _TRUNK if v >= above else colors[cluster[leaf]] for v, leaf in self.leaf.items()}


def _draw_branches(ax: Axes, top: _Top, color: dict[int, str]) -> None:
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


def _draw_wedges(ax: Axes, top: _Top, color: dict[int, str]) -> None:
    from matplotlib.collections import PolyCollection

    sizes = np.array([top.size(tip) for tip in top.tips])
    half = 0.06 + 0.34 * np.sqrt(sizes / sizes.max())
    wedges = [
        [(top.height(tip), y), (top.base, y - w), (top.base, y + w)]
        for y, (tip, w) in enumerate(zip(top.tips, half, strict=True))
    ]
    faces = [color[tip] for tip in top.tips]
    ax.add_collection(PolyCollection(wedges, facecolors=faces, edgecolors=faces, linewidths=0.8))


def _draw_tip_texts(ax: Axes, top: _Top, labels: Sequence[str] | None) -> None:
    texts = [f"{top.size(tip):,}" for tip in top.tips]
    if labels is None:
        texts = [
            text if tip >= top.n else f"point {tip}"
            for text, tip in zip(texts, top.tips, strict=True)
        ]
    else:
        number = top.tree.cut(n_clusters=len(top.tips))
        texts = [
            f"{text}  {labels[number[top.leaf[tip]]]}"
            for text, tip in zip(texts, top.tips, strict=True)
        ]
    root = top.height(2 * top.n - 2)
    margin = 0.03 * (root - top.base) or 1.0
    ax.set_xlim(root + margin, top.base)
    ax.set_ylim(len(top.tips) - 0.4, -0.6)
    ax.set_yticks(range(len(texts)), texts)
    ax.yaxis.tick_right()
    ax.tick_params(axis="y", length=0, pad=5)
    ax.set_xlabel("height")
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)


def world_map(
    latitude: ArrayLike,
    longitude: ArrayLike,
    clusters: ArrayLike,
    *,
    colors: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Scatter places over the globe, coloured by cluster, in the Equal Earth projection.

    No coast lines are drawn and none are needed: enough cities draw the continents.

    Parameters
    ----------
    latitude, longitude : (n,) array-like
        Degrees.
    clusters : (n,) array-like of int
        Cluster numbers from 0, as `Hierarchy.cut` gives them.
    colors : sequence of colours, optional
        One per cluster; by default `distinct_colors` of the places.
    names : sequence of str, optional
        One per cluster; given, a legend below the map lists them from west to east.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from ramify.plot import world_map
    >>> ax = world_map([64.1, -33.9, 35.7], [-21.9, 18.4, 139.7], [0, 0, 1])
    """
    labels = np.asarray(clusters)
    latitude, longitude = np.asarray(latitude, float), np.asarray(longitude, float)
    if not latitude.shape == longitude.shape == labels.shape or labels.ndim != 1:
        raise ValueError(
            "expected latitude, longitude and clusters of one length, got shapes "
            f"{latitude.shape}, {longitude.shape} and {labels.shape}"
        )
    x, y = _equal_earth(latitude, longitude)
    if colors is None:
        colors = distinct_colors(np.column_stack([x, y]), labels)
    for what, given in (("colors", colors), ("names", names)):
        if given is not None and len(given) <= labels.max(initial=-1):
            raise ValueError(
                f"expected {labels.max() + 1} {what}, one per cluster, got {len(given)}"
            )
    if ax is None:
        ax = _new_axes(12.0, 6.4)
    _draw_globe(ax)
    dot = float(np.clip(100_000 / max(len(x), 1), 0.6, 12.0))
    ax.scatter(x, y, s=dot, c=np.array(colors)[labels], linewidths=0, zorder=2)
    if names is not None:
        _draw_legend(ax, x, labels, colors, names)
    return ax


def _draw_globe(ax: Axes) -> None:
    """Sea, a graticule every 30 degrees, nothing else."""
    pole_to_pole, around = np.linspace(-90, 90, 181), np.linspace(-180, 180, 361)
    edge_x, edge_y = _equal_earth(
        np.concatenate([pole_to_pole, pole_to_pole[::-1]]), np.repeat([-180.0, 180.0], 181)
    )
    ax.fill(edge_x, edge_y, facecolor=_WATER, edgecolor=_GRATICULE, linewidth=0.8, zorder=0)
    for meridian in range(-150, 180, 30):
        x, y = _equal_earth(pole_to_pole, np.full(181, float(meridian)))
        ax.plot(x, y, color=_GRATICULE, linewidth=0.5, zorder=1)
    for parallel in range(-60, 90, 30):
        x, y = _equal_earth(np.full(361, float(parallel)), around)
        ax.plot(x, y, color=_GRATICULE, linewidth=0.5, zorder=1)
    ax.set_aspect("equal")
    ax.margins(0.01)
    ax.set_axis_off()


def _draw_legend(
    ax: Axes,
    x: NDArray[np.float64],
    labels: NDArray[np.int64],
    colors: Sequence[str],
    names: Sequence[str],
) -> None:
    from matplotlib.lines import Line2D

    present = np.unique(labels)
    west_to_east = sorted(present.tolist(), key=lambda c: float(np.median(x[labels == c])))
    handles = [
        Line2D([], [], marker="o", linestyle="", markersize=6, color=colors[c], label=names[c])
        for c in west_to_east
    ]
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=3,
        frameon=False,
        fontsize=8.5,
        handletextpad=0.2,
        columnspacing=1.5,
    )


def _equal_earth(
    latitude: NDArray[np.float64], longitude: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Šavrič, Patterson and Jenny, 2018, doi:10.1080/13658816.2018.1504949."""
    a1, a2, a3, a4 = 1.340264, -0.081106, 0.000893, 0.003796
    root3 = np.sqrt(3.0)
    t = np.arcsin(root3 / 2 * np.sin(np.radians(latitude)))
    slope = 9 * a4 * t**8 + 7 * a3 * t**6 + 3 * a2 * t**2 + a1
    x = 2 * root3 * np.radians(longitude) * np.cos(t) / (3 * slope)
    return x, a4 * t**9 + a3 * t**7 + a2 * t**3 + a1 * t


def distinct_colors(
    points: ArrayLike, clusters: ArrayLike, *, palette: Sequence[str] = PALETTE
) -> list[str]:
    """One colour per cluster, so that clusters side by side differ.

    With more clusters than colours some must share: large clusters choose first,
    each the colour whose other users are farthest away.

    Parameters
    ----------
    points : (n, d) array-like
        Where the points lie in the picture (or in space).
    clusters : (n,) array-like of int
        Cluster numbers from 0, none left out.
    palette : sequence of colours

    Returns
    -------
    list of colours
        In the order of the cluster numbers.

    Examples
    --------
    >>> from ramify.plot import distinct_colors
    >>> line = [[0.0], [1.0], [2.0], [3.0]]
    >>> distinct_colors(line, [0, 1, 2, 3], palette=["red", "blue"])
    ['red', 'blue', 'red', 'blue']
    """
    points, labels = np.asarray(points, float), np.asarray(clusters)
    sizes = np.bincount(labels)
    closeness = _closeness(points, labels, sizes)
    chosen = np.full(len(sizes), -1)
    for cluster in np.argsort(-sizes, kind="stable"):
        clash = [closeness[cluster, chosen == c].sum() for c in range(len(palette))]
        chosen[cluster] = int(np.argmin(clash))
    return [palette[c] for c in chosen]


def _closeness(
    points: NDArray[np.float64], labels: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How bad it is if two clusters share a colour: touching is worst, then near."""
    k = len(sizes)
    centres = np.stack([np.bincount(labels, column, k) / sizes for column in points.T], axis=1)
    gaps = cdist(centres, centres, "sqeuclidean")
    scale = max(float(gaps.max(initial=0.0)), np.finfo(float).tiny)
    closeness = 1 / (gaps / scale + 1e-6)
    _, nearest = cKDTree(points).query(points, k=min(6, len(points)))
    pairs = labels[np.asarray(nearest).reshape(len(points), -1)]
    closeness[np.repeat(labels, pairs.shape[1]), pairs.ravel()] += 1e9
    return np.maximum(closeness, closeness.T)


def _new_axes(width: float, height: float) -> Axes:
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError(
            'drawing needs matplotlib, which is not installed: pip install "ramify[plot]"'
        ) from error
    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax
