# SPDX-License-Identifier: BSD-3-Clause
"""What an insert costs on paths of every length: ``python -m benchmarks.paths --out PICTURE``.

Rows without structure make paths longer the more of them there are. Each stream is inserted
in parts; a part's point in the plot is the mean depth of the tree after it, and the mean time
of its inserts. Beside each stream, the slope of these points in a plot whose both axes are
logarithmic: 1 is linear.

Then the ceiling: streams on which an insert opens most of the tree. An insert that opens m
subtrees costs at most O(m²), so nanoseconds of an insert, divided by m², must not grow.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.streams import gaussian, positive
from ramify import OHAC

#: What is inserted: name, rows, options, number of parts.
_STREAMS: tuple[tuple[str, Any, dict[str, Any], int], ...] = (
    ("average, 64 columns", lambda: gaussian(16_000, 64), {}, 8),
    ("average, 128 columns", lambda: gaussian(6_000, 128), {}, 8),
    ("centroid, 64 columns", lambda: gaussian(2_400, 64), {"linkage": "centroid"}, 12),
    ("dot, 20 columns", lambda: positive(4_000, 20), {"metric": "dot"}, 8),
)


def _shrinking(n: int) -> Any:
    """Ever closer to one point, 20 columns."""
    scale = np.exp(-np.arange(n) / n * 100)
    return np.random.default_rng(0).standard_normal((n, 20)) * scale[:, np.newaxis]


#: Where an insert opens nearly the whole tree: name, rows of so many points, options.
_BOMBS: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("one-hot, centroid", np.eye, {"linkage": "centroid"}),
    ("one-hot, average", np.eye, {}),
    ("shrinking, centroid", _shrinking, {"linkage": "centroid"}),
    ("shrinking, average", _shrinking, {}),
    ("shrinking, dot", _shrinking, {"metric": "dot"}),
)
_BOMB_ROWS = (300, 600, 1_200)
_TIMED = 16  # inserts at the end of a stream

Curve = list[tuple[float, float]]


def curve(rows: Any, options: dict[str, Any], parts: int) -> Curve:
    """Mean depth and microseconds an insert, part by part."""
    model, found = OHAC(**options), []
    for part in np.array_split(rows, parts):
        begun = time.process_time()
        model.partial_fit(part)
        took = time.process_time() - begun
        found.append((float(model.hierarchy().depths().mean()), took / len(part) * 1e6))
    return found


def ceiling(rows: Any, options: dict[str, Any]) -> tuple[float, float]:
    """Of the last inserts: subtrees that one opens, and nanoseconds over the square of that."""
    model = OHAC(**options).partial_fit(rows[:-_TIMED])
    squares, took = 0.0, 0.0
    for row in rows[-_TIMED:, np.newaxis]:
        beside = int(model.nearest(row)[0].flat[0])
        squares += ((len(model.path(beside)) - 1) + 2) ** 2
        begun = time.process_time()
        model.partial_fit(row)
        took += time.process_time() - begun
    return float(np.sqrt(squares / _TIMED)), took / squares * 1e9


def slope(points: Curve) -> float:
    """Of the straight line through these points, both axes being logarithmic."""
    lengths, times = np.log(np.array(points)).T
    return float(np.polyfit(lengths, times, 1)[0])


def draw(curves: dict[str, Curve], ceilings: dict[str, Curve], path: Path) -> None:
    """Time against length with a line of slope 1, and the ceiling."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 5), layout="constrained")
    axes, below = figure.subplots(1, 2)
    for name, points in curves.items():
        axes.loglog(
            *zip(*points, strict=True), marker="o", ms=4, label=f"{name}: {slope(points):.2f}"
        )
    axes.loglog([20, 1_000], [20, 1_000], color="#888888", ls=":", label="1 µs a level")
    axes.set_xlabel("mean length of root paths")
    axes.set_ylabel("µs for one insert of OHAC")
    axes.legend(title="slope")
    for name, points in ceilings.items():
        below.loglog(*zip(*points, strict=True), marker="o", ms=4, label=name)
    below.set_xlabel("m, subtrees that an insert opens")
    below.set_ylabel("ns for one insert of OHAC, divided by m²")
    below.legend(title="the ceiling")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Print the figures; draw them if a path is given."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paths", description=__doc__)
    parser.add_argument("--out", type=Path, help="picture to write")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # that trees are deep is the point
    curves, ceilings = {}, {}
    for name, rows, options, parts in _STREAMS:
        curves[name] = points = curve(rows(), options, parts)
        shown = ", ".join(f"{length:.0f}: {each:.0f} µs" for length, each in points)
        print(f"{name}: slope {slope(points):.2f} ({shown})", flush=True)
    for name, make, options in _BOMBS:
        ceilings[name] = points = [ceiling(make(n), options) for n in _BOMB_ROWS]
        shown = ", ".join(f"{m:.0f}: {each:.1f}" for m, each in points)
        print(f"ceiling of {name}: ns over m² by m: {shown}", flush=True)
    if arguments.out:
        draw(curves, ceilings, arguments.out)


if __name__ == "__main__":
    main()
