# SPDX-License-Identifier: BSD-3-Clause
"""figure.py: run time against the number of points, as in the paper's Figure.

Uniform points in the unit square; every method goes on until it has had enough time
or memory. Times of an algorithm with cost c * n^e lie on a line of slope e; we fit
the slope to the larger half of the sizes, where constant costs no longer show.
"""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from ramify.paper.cells import Cell
from ramify.paper.results import Result, Run
from ramify.paper.tables import Results, Table

NAME = "uniform square"
METHODS = ("OHAC", "OTD", "HAC", "SciPy linkage")

#: Where the paper's offline HAC ran out of memory.
PAPER_HAC_DIED = 70_000

#: SciPy may not take more than this beyond the interpreter.
MEMORY_CAP = 4_000_000_000

_COLORS = {"OHAC": "#0072b2", "OTD": "#009e73", "HAC": "#d55e00", "SciPy linkage": "#888888"}
_MARKERS = {"OHAC": "o", "OTD": "s", "HAC": "^", "SciPy linkage": "x"}


def cells(*, full: bool) -> list[Cell]:
    """One series per method, smallest size first."""
    sizes = [1_000 * 2**k for k in range(11)] if full else [1_000 * 4**k for k in range(5)]
    return [
        Cell(
            tuple(Run(NAME, n, method, "seed 0") for n in sizes),
            measure=False,
            enough=120.0 if full else 2.0,
            memory_cap=MEMORY_CAP if method == "SciPy linkage" else None,
        )
        for method in METHODS
    ]


def times(results: Sequence[Result]) -> tuple[list[int], list[float]]:
    """Sizes and seconds of the finished runs of a series."""
    runs = sorted((r.run.rows, r.seconds) for r in results if r.done and r.seconds is not None)
    return [n for n, _ in runs], [seconds for _, seconds in runs]


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Slope of log seconds over log n on the larger half; None with fewer than 2 sizes."""
    if len(sizes) < 2:
        return None
    half = max(2, (len(sizes) + 1) // 2)
    slope, _ = np.polyfit(np.log(sizes[-half:]), np.log(np.maximum(seconds[-half:], 1e-9)), 1)
    return float(slope)


def table(results: Results) -> Table:
    """The same as numbers."""
    series = {method: results.get((NAME, method), []) for method in METHODS}
    sizes = sorted({r.run.rows for found in series.values() for r in found})
    rows = [[[f"{n:,}"], *([_cell(series[m], n)] for m in METHODS)] for n in sizes]
    slopes = [exponent(*times(series[method])) for method in METHODS]
    rows.append([["exponent"], *([["–" if s is None else f"{s:.2f}"]][0] for s in slopes)])
    return Table(
        "Run time in seconds on uniform points in the unit square",
        ["points", *METHODS],
        rows,
        [
            f"The paper's offline HAC ran out of memory at {PAPER_HAC_DIED:,} points. SciPy may "
            f"use {MEMORY_CAP / 1e9:.0f} GB. Exponents are fitted to the larger half of the sizes."
        ],
    )


def _cell(found: Sequence[Result], n: int) -> str:
    for result in found:
        if result.run.rows == n:
            return f"{result.seconds:.3g}" if result.seconds is not None else result.reason
    return "–"


def draw(results: Results) -> Any:
    """The figure, as a matplotlib Figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 5.0), layout="constrained")
    ax = figure.subplots()
    for method in METHODS:
        sizes, seconds = times(results.get((NAME, method), []))
        if not sizes:
            continue
        slope = exponent(sizes, seconds)
        label = method if slope is None else f"{method}, n$^{{{slope:.2f}}}$"
        color, marker = _COLORS[method], _MARKERS[method]
        ax.plot(sizes, seconds, label=label, color=color, marker=marker, markersize=5)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.axvline(PAPER_HAC_DIED, color="#d55e00", linestyle=":", linewidth=1)
    ax.annotate(
        "the paper's offline HAC\nran out of memory here",
        (PAPER_HAC_DIED, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(-4, 0),
        textcoords="offset points",
        ha="right",
        fontsize=8,
        color="#d55e00",
    )
    ax.set_xlabel("points, uniform in the unit square")
    ax.set_ylabel("seconds for all points, one after the other")
    ax.grid(which="major", alpha=0.3)
    ax.legend(frameon=False)
    return figure


def svg(figure: Any) -> str:
    """The figure as an SVG element, without anything that changes from run to run."""
    import matplotlib as mpl

    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "ramify", "svg.fonttype": "path"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    whole = text.getvalue()
    return whole[whole.index("<svg") :]
