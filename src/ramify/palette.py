# SPDX-License-Identifier: BSD-3-Clause
"""palette.py: the colours of all pictures, so that cluster 3 is the same everywhere."""

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

#: What is stirred in when the palette is used up: darker, lighter, then more of both.
_SHADES = (("#000000", 0.35), ("#ffffff", 0.45), ("#000000", 0.6), ("#ffffff", 0.7))

#: Branches that belong to no cluster, because they are above the cut.
TRUNK = "#777777"


def cluster_colors(k: int) -> list[str]:
    """A colour for each of k clusters: the palette, then its shades; 60 before one comes again.

    Examples
    --------
    >>> from ramify.palette import cluster_colors
    >>> cluster_colors(2)
    ['#4477aa', '#ee6677']
    >>> len(set(cluster_colors(60)))
    60
    """
    shades = [*PALETTE]
    for other, share in _SHADES:
        shades += [mix(color, other, share) for color in PALETTE]
    return [shades[i % len(shades)] for i in range(k)]


def mix(color: str, other: str, share: float) -> str:
    """``color`` with a share of ``other`` stirred in; both as "#rrggbb".

    Examples
    --------
    >>> mix("#000000", "#ffffff", 0.2)
    '#333333'
    """
    parts = [
        round((1 - share) * int(color[i : i + 2], 16) + share * int(other[i : i + 2], 16))
        for i in (1, 3, 5)
    ]
    return "#{:02x}{:02x}{:02x}".format(*parts)
