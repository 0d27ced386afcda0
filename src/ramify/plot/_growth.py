# SPDX-License-Identifier: BSD-3-Clause
"""_growth.py: how a tree got better and deeper while its points arrived.

A live tree does not remember its past. But one stream always gives one tree, so
the past can be had again: the model's own points go through a fresh clone, which
is measured on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from ramify.checks import whole_number
from ramify.estimators.seam import OnlineClusterer
from ramify.hierarchy import FloatArray, IntArray
from ramify.metrics import Measure, fitting_gamma, revenue_fraction
from ramify.plot._axes import new_axes, only_axis
from ramify.points import Rows
from ramify.progress import Progress, watch

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Growth:
    """A model's tree at some moments of its stream; entry i of every array is one moment.

    Attributes
    ----------
    n_points : array
        Points that had arrived.
    revenue : array
        Moseley–Wang revenue of the tree of these points, as a fraction of its bound.
    revenue_error : array
        Standard error of each, 0 where it is exact.
    mean_depth, max_depth : arrays
        Merges above a leaf: on average, and for the deepest.
    similarity : str
        Of what the revenue is.
    gamma : float
        Of the similarity ``"rbf"``: exp(-gamma ‖x - y‖²).

    Examples
    --------
    >>> import ramify
    >>> from ramify.plot import measure_growth
    >>> grown = measure_growth(ramify.OHAC().fit([[0.0], [1.0], [5.0], [6.0]]))
    >>> int(grown.n_points[-1]), int(grown.max_depth[-1])
    (4, 2)
    """

    n_points: IntArray
    revenue: FloatArray
    revenue_error: FloatArray
    mean_depth: FloatArray
    max_depth: IntArray
    similarity: str
    gamma: float


def measure_growth(
    model: OnlineClusterer,
    *,
    points: int = 20,
    similarity: str = "rbf",
    gamma: float | None = None,
    sample: int = 100_000,
    random_state: int = 0,
    progress: Progress = False,
) -> Growth:
    """Replay a model's own stream and measure the tree on the way; the model is not touched.

    Costs one more growing of the whole tree, and beyond that O(n) for each moment,
    which are spaced evenly on a logarithmic scale and end with the last point.

    Parameters
    ----------
    model : an online model, such as OHAC, with points
    points : int
        At how many moments to look.
    similarity : {"rbf", "cosine", "dot", "sqeuclidean"}
        What revenue is measured with, as in :func:`ramify.metrics.revenue`.
    gamma : float, optional
        Of ``"rbf"`` only; by default :func:`ramify.metrics.fitting_gamma`, one over the
        mean squared distance of two points, so that it fits data of any scale.
    sample : int
        Under ``"rbf"``, pairs of points to estimate the revenue from; trees with fewer
        pairs are measured exactly. The others are always exact.
    random_state : int
        Of the sample.
    progress : bool or callable
        As in ``fit``.

    Returns
    -------
    Growth

    Notes
    -----
    Under ``metric="cosine"`` a model keeps rows of unit length. They go through the
    clone as they are kept, so that where two distances agree to the last digit the
    replayed tree may differ from the model's.

    Examples
    --------
    >>> import numpy as np, ramify
    >>> from ramify.plot import measure_growth
    >>> model = ramify.OHAC().fit(np.random.default_rng(0).normal(size=(500, 2)))
    >>> growth = measure_growth(model, points=4)
    >>> growth.n_points
    array([  3,  17,  91, 500])
    >>> bool(growth.max_depth[-1] == model.hierarchy().depths().max())
    True
    """
    rows = _rows_of(model)
    moments = _moments(len(rows), whole_number("points", points))
    if gamma is None:
        gamma = fitting_gamma(rows)
    again = clone(model)
    revenues: list[Measure] = []
    depths: list[IntArray] = []
    with watch(progress, len(rows), "replaying") as pulse:
        for before, now in pairwise([0, *moments.tolist()]):
            again.partial_fit(rows[before:now])
            tree = again.hierarchy()
            depths.append(tree.depths())
            exact = similarity != "rbf" or now * (now - 1) // 2 <= sample
            revenues.append(
                revenue_fraction(
                    tree,
                    rows[:now],
                    similarity=similarity,
                    gamma=gamma,
                    sample=None if exact else sample,
                    random_state=random_state,
                )
            )
            if pulse is not None:
                pulse(now)
    return Growth(
        n_points=moments,
        revenue=np.array(revenues, dtype=np.float64),
        revenue_error=np.array([revenue.stderr for revenue in revenues]),
        mean_depth=np.array([depth.mean() for depth in depths]),
        max_depth=np.array([depth.max() for depth in depths]),
        similarity=similarity,
        gamma=gamma,
    )


def growth(
    model: OnlineClusterer,
    *,
    points: int = 20,
    similarity: str = "rbf",
    gamma: float | None = None,
    sample: int = 100_000,
    random_state: int = 0,
    progress: Progress = False,
    label: str | None = None,
    axes: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw revenue and depth of a model's tree while its points arrived.

    The stream is replayed through a clone: see :func:`measure_growth`, which returns
    the numbers, for what that costs and for all options but the last two.

    Parameters
    ----------
    model : an online model, such as OHAC, with points
    points : int
    similarity : str
    gamma : float, optional
    sample : int
    random_state : int
    progress : bool or callable
    label : str, optional
        Name of the model in the legend; by default that of its class.
    axes : two matplotlib Axes, optional
        Where to draw revenue and depth, for instance those of another model; a new
        figure by default.

    Returns
    -------
    list of two matplotlib Axes

    Examples
    --------
    >>> import numpy as np, ramify
    >>> from ramify.plot import growth
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> axes = growth(ramify.OHAC().fit(X), points=5)
    >>> axes = growth(ramify.OTD().fit(X), points=5, axes=axes)
    >>> [text.get_text() for text in axes[0].get_legend().get_texts()]
    ['OHAC', 'OTD']
    """
    if axes is not None and len(axes) != 2:
        raise ValueError(f"axes: expected two, for revenue and for depth, got {len(axes)}")
    seen = measure_growth(
        model,
        points=points,
        similarity=similarity,
        gamma=gamma,
        sample=sample,
        random_state=random_state,
        progress=progress,
    )
    if axes is None:
        axes = new_axes(7.0, 5.6, rows=2)
    _draw(list(axes), seen, type(model).__name__ if label is None else label)
    return list(axes)


def _rows_of(model: object) -> Rows:
    if not isinstance(model, OnlineClusterer):
        raise TypeError(
            f"model: expected an online model, one with partial_fit, got {type(model).__name__}"
        )
    return model.points()


def _moments(n: int, count: int) -> IntArray:
    """Sizes of the stream to look at: from 3 points, below which all trees are alike, to all."""
    return np.unique(np.geomspace(min(3, n), n, count).round().astype(np.int64))


def _draw(axes: list[Axes], seen: Growth, label: str) -> None:
    upper, lower = axes
    (line,) = upper.plot(seen.n_points, seen.revenue, marker=".", label=label)
    color = line.get_color()
    upper.fill_between(
        seen.n_points,
        seen.revenue - 2 * seen.revenue_error,
        seen.revenue + 2 * seen.revenue_error,
        color=color,
        alpha=0.2,
        linewidth=0,
    )
    lower.plot(seen.n_points, seen.max_depth, color=color, marker=".", linestyle=":")
    lower.plot(seen.n_points, seen.mean_depth, color=color, marker=".")
    scale = f", γ = {seen.gamma:.3g}" if seen.similarity == "rbf" else ""
    upper.set_ylabel(f"revenue ({seen.similarity}{scale}),\nfraction of its bound")
    lower.set_ylabel("depth of leaves:\nmean, and deepest (dotted)")
    lower.set_xlabel("points so far")
    lower.set_xscale("log")
    lower.set_yscale("log")
    lower.xaxis.set_major_formatter("{x:,.0f}")
    lower.yaxis.set_major_formatter("{x:,.0f}")
    upper.legend(frameon=False)
    for ax in axes:
        only_axis(ax, "left", "bottom")
        ax.grid(True, color="#dddddd", linewidth=0.6)
        ax.set_axisbelow(True)
