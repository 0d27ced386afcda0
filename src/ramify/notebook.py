# SPDX-License-Identifier: BSD-3-Clause
"""notebook.py: how trees and models show themselves in a notebook.

A small picture of the top of the tree, as SVG written by hand, and the figures one
asks for first. No matplotlib, and nothing that a notebook's own colours would hide:
text and trunk have the colour of the text around.
"""

from html import escape
from typing import TypeAlias

from ramify.hierarchy import Hierarchy
from ramify.outline import Top
from ramify.palette import cluster_colors

_TIPS = 24
_CLUSTERS = 4  # in colour, where the model does not say how many
_CUTS = (2, 4, 8)  # sizes of whose clusters are listed
_LISTED = 6  # sizes in a list
_WIDTH, _ROW = 300, 8  # pixels

#: Of each node that is shown.
Colors: TypeAlias = dict[int, str | None]


def tree_html(tree: Hierarchy, n_clusters: int | None = None) -> str:
    """A small picture and the key figures of a tree, cut into so many. O(n).

    Examples
    --------
    >>> import ramify
    >>> "<svg" in tree_html(ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy())
    True
    """
    rows = "".join(
        f'<tr><td style="text-align:left; opacity:.7">{escape(name)}</td>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in _figures(tree)
    )
    return (
        '<div style="display:flex; flex-wrap:wrap; gap:24px; align-items:center">'
        f"{tree_svg(tree, n_clusters)}<table>{rows}</table></div>"
    )


def _figures(tree: Hierarchy) -> list[tuple[str, str]]:
    figures = [("points", f"{tree.n_leaves:,}")]
    if tree.n_leaves == 1:
        return figures
    depths = tree.depths()
    figures.append(("depth", f"{depths.mean():,.1f} on average, {depths.max():,} at most"))
    figures.append(("root height", f"{tree.heights[-1]:.4g}"))
    for k in _CUTS:
        if k < tree.n_leaves:
            figures.append((f"cut into {k}", _sizes(tree, k)))
    return figures


def _sizes(tree: Hierarchy, k: int) -> str:
    """Sizes of the clusters of a cut, the largest first."""
    first = 2 * tree.n_leaves - k
    nodes = tree.children[first - tree.n_leaves :].ravel()
    sizes = sorted(tree.sizes[nodes[nodes < first]].tolist(), reverse=True)
    listed = " + ".join(f"{size:,}" for size in sizes[:_LISTED])
    return listed if len(sizes) <= _LISTED else f"{listed} + …"


def tree_svg(tree: Hierarchy, n_clusters: int | None = None) -> str:
    """The top of a tree as a small dendrogram, a cut in colour: into four, if none is wanted.

    More clusters than tips are not to be seen, and have no colours.

    Examples
    --------
    >>> import ramify
    >>> tree_svg(ramify.HAC().fit([[0.0], [1.0]]).hierarchy()).startswith("<svg")
    True
    """
    top = Top(tree, min(_TIPS, tree.n_leaves))
    colors = _colors(top, n_clusters)
    tall = _ROW * len(top.tips)
    label = f"The top of a tree of {tree.n_leaves:,} points"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{tall}" '
        f'viewBox="0 0 {_WIDTH} {tall}" role="img" aria-label="{label}" '
        'fill="none" stroke="currentColor" stroke-width="1.2" style="max-width:100%">'
        f"{''.join(_branches(top, colors))}{''.join(_wedges(top, colors))}</svg>"
    )


def _branches(top: Top, colors: Colors) -> list[str]:
    pieces = []
    for v in top.merges():
        x, (a, b) = _x(top, v), top.children(v)
        pieces.append(_path(f"M{x} {_y(top, a)}V{_y(top, b)}", colors[v]))
        for child in (a, b):
            pieces.append(_path(f"M{x} {_y(top, child)}H{_x(top, child)}", colors[child]))
    return pieces


def _wedges(top: Top, colors: Colors) -> list[str]:
    """At each tip, a wedge as high as its share of the largest."""
    largest = max(top.size(tip) for tip in top.tips)
    right = _WIDTH - 1
    pieces = []
    for tip in top.tips:
        half = round(0.5 + (_ROW / 2 - 1.5) * (top.size(tip) / largest) ** 0.5, 1)
        left, y = min(_x(top, tip), right - 4), _y(top, tip)
        path = f"M{left} {y}L{right} {y - half:g}V{y + half:g}Z"
        pieces.append(_path(path, colors[tip], filled=True))
    return pieces


def _path(path: str, color: str | None, *, filled: bool = False) -> str:
    paint = "" if color is None else f' stroke="{color}"'
    if filled:
        paint += f' fill="{color or "currentColor"}"'
    return f'<path d="{path}"{paint}/>'


def _colors(top: Top, n_clusters: int | None = None) -> Colors:
    """The colour of each node shown: of its cluster, None above the cut."""
    root, tips = 2 * top.n - 2, len(top.tips)
    if n_clusters is not None and n_clusters > tips:
        return dict.fromkeys([*top.merges(), *top.tips])
    first = 2 * top.n - min(n_clusters or _CLUSTERS, tips)
    fresh = iter(cluster_colors(tips))
    colors: Colors = {root: next(fresh) if first > root else None}
    for v in reversed(top.merges()):
        for child in sorted(top.children(v), key=lambda c: top.y[c]):
            above = colors[v] if v < first else None
            colors[child] = None if child >= first else above or next(fresh)
    return colors


def _x(top: Top, v: int) -> float:
    """From the root at the left to the leaves at the right."""
    root = top.height(2 * top.n - 2)
    share = (root - top.height(v)) / (root - top.base) if root > top.base else 0.0
    return round(2 + share * (_WIDTH - 4), 1)


def _y(top: Top, v: int) -> float:
    return round((top.y[v] + 0.5) * _ROW, 1)
