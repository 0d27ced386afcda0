# SPDX-License-Identifier: BSD-3-Clause
"""_axes.py: matplotlib, asked for only when something is drawn."""

from __future__ import annotations

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
