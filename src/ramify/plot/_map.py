# SPDX-License-Identifier: BSD-3-Clause
"""_map.py: labelled places on a world map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify.plot._axes import new_axes
from ramify.plot._colors import distinct_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WATER = "#f3f6f9"
_GRATICULE = "#d5dde5"


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
        ax = new_axes(12.0, 6.4)[0]
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
