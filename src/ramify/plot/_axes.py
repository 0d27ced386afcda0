# SPDX-License-Identifier: BSD-3-Clause
"""_axes.py: matplotlib, asked for only when something is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes(width: float, height: float, rows: int = 1) -> list[Axes]:
    """A new figure of this size in inches, with plots below one another that share x."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError(
            'drawing needs matplotlib, which is not installed: pip install "ramify[plot]"'
        ) from error
    _, axes = plt.subplots(
        rows, squeeze=False, sharex=True, figsize=(width, height), layout="constrained"
    )
    return list(axes[:, 0])


def only_axis(ax: Axes, *kept: str) -> None:
    """Remove the frame, but for the kept sides."""
    for side in {"left", "right", "top", "bottom"} - set(kept):
        ax.spines[side].set_visible(False)


#: A legend of more clusters has no room.
MOST_IN_LEGEND = 50


def draw_legend(
    ax: Axes, sizes: Sequence[int], colors: Sequence[str], *, below: bool = False
) -> None:
    """Say which colour is which cluster: its number, as the cut has it, and its points.

    It stands right of the picture, or ``below`` it where texts are on the right.
    """
    from matplotlib.lines import Line2D
    from matplotlib.transforms import ScaledTranslation

    if len(colors) > MOST_IN_LEGEND:
        return
    handles = [
        Line2D([], [], marker="o", linestyle="", markersize=6, color=color, label=_entry(c, size))
        for c, (color, size) in enumerate(zip(colors, sizes, strict=True))
    ]
    room = -0.65 if below else 0.0  # inches: the ticks of the axis, and a label of two lines
    inches = ScaledTranslation(0.0, room, ax.figure.dpi_scale_trans)
    ax.legend(
        handles=handles,
        title="cluster: points",
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0) if below else (1.0, 1.0),
        bbox_transform=ax.transAxes + inches,
        ncols=min(len(handles), 5) if below else 1 + (len(handles) - 1) // 20,
        frameon=False,
        fontsize=8.5,
        title_fontsize=8.5,
        handletextpad=0.2,
        columnspacing=1.2,
    )


def _entry(number: int, size: int) -> str:
    return f"{number}: {size:,}"
