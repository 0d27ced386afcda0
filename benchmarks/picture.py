# SPDX-License-Identifier: BSD-3-Clause
"""picture.py: time against the number of points, drawn by matplotlib."""

from pathlib import Path
from typing import Any

from benchmarks.results import Results
from benchmarks.tables import series

WORDS = "Time of whole streams, and of one insert of OHAC, against the number of points"

_STYLES = {
    "OHAC": ("#0072b2", "o"),
    "HAC": ("#d55e00", "^"),
    "OTD": ("#009e73", "s"),
    "cKDTree, neighbours only": ("#888888", "x"),
    "fastcluster average": ("#cc79a7", "D"),
}


def draw(results: Results, path: Path) -> None:
    """Left, whole streams by size; right, the time of one insert while a tree grows."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    streams, inserts = figure.subplots(1, 2)
    for method, points in series(results).items():
        color, marker = _STYLES.get(method, ("#000000", "."))
        streams.plot(*zip(*points, strict=True), color=color, marker=marker, ms=5, label=method)
    for record in results.records:
        found = record["ours"]
        if "curve" in found:
            width = record["name"].rpartition(" x ")[2].partition(",")[0]
            label = f"{width} columns: n$^{{{found['exponent']:.2f}}}$"
            inserts.plot(*zip(*found["curve"], strict=True), marker="o", ms=4, label=label)
    _finish(streams, "points, uniform in the square", "seconds for all of them")
    _finish(inserts, "points in the tree", "µs for one insert of OHAC")
    inserts.set_yscale("linear")
    inserts.set_ylim(bottom=0)
    inserts.set_xlim(8e3, 1.2e6)
    inserts.xaxis.set_minor_formatter(NullFormatter())
    figure.savefig(path, dpi=110)


def _finish(ax: Any, x: str, y: str) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.grid(alpha=0.3)
    if ax.lines:
        ax.legend(frameon=False)
