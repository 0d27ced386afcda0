# SPDX-License-Identifier: BSD-3-Clause
"""choice.py: speed against quality of all algorithms, for "Choosing an algorithm".

    python tools/choice.py           # measure anew, then draw
    python tools/choice.py --draw    # draw what docs/pictures/choice.csv holds

Writes docs/pictures/choice.csv, choice.inc (the same for the page) and choice.svg.
Seconds are the best of three runs of ``fit`` on one shuffled stream; purity is exact,
revenue sampled.
"""

from __future__ import annotations

import argparse
import csv
import re
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import ramify
from ramify import datasets, metrics
from ramify.paper.machine import machine

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
TABLE = PICTURES / "choice.csv"
FIELDS = ["data", "algorithm", "points", "dimensions", "seconds", "revenue", "purity"]
SAMPLE = 1_000_000

MODELS = {
    "OTD": ramify.OTD,
    "NaiveNN": ramify.NaiveNN,
    "PERCH": ramify.PERCH,
    "GRINCH": ramify.GRINCH,
    "BIRCH": lambda: ramify.BIRCH(threshold=0.1),
    "OHAC": ramify.OHAC,
    "OHAC k=5": lambda: ramify.OHAC(n_neighbors=5),
    "OHAC, ward": lambda: ramify.OHAC(linkage="ward"),
    "HAC, offline": ramify.HAC,
}


def streams() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    cities, queries = datasets.cities(), datasets.intents()
    order = np.random.default_rng(0).permutation(len(cities))[:20_000]
    return {
        "20,000 cities, 3 dimensions": (cities.points[order], cities.country[order]),
        "4,500 queries, 64 dimensions": (queries.points, queries.intent),
    }


def measure() -> None:
    """Run everything and write the table."""
    lines = []
    for data, (X, labels) in streams().items():
        for name, make in MODELS.items():
            seconds = []
            for _ in range(3):
                start = time.perf_counter()
                tree = make().fit(X).hierarchy()
                seconds.append(time.perf_counter() - start)
            revenue = metrics.revenue_fraction(tree, X, sample=SAMPLE, random_state=0)
            purity = metrics.dendrogram_purity(tree, labels)
            line = [data, name, *X.shape, f"{min(seconds):.4f}", f"{revenue:.4f}", f"{purity:.4f}"]
            lines.append(line)
            print(*line, sep=", ", flush=True)
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        today = datetime.now(UTC).date()
        file.write(f"# {today}, {re.sub(r'Linux .*', 'Linux', machine())}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([FIELDS, *lines])


def tell() -> None:
    """The table for the page."""
    head, *rows = read()
    shown = ["data", "algorithm", "seconds", "revenue", "purity"]
    lines = [f"| {' | '.join(shown)} |", "|---|---|---:|---:|---:|"]
    for row in csv.DictReader(rows):
        numbers = [f"{float(row[name]):.3g}" for name in shown[2:]]
        lines.append(f"| {row['data']} | {row['algorithm']} | {' | '.join(numbers)} |")
    lines += ["", f"Measured on {head.removeprefix('# ').strip()}."]
    (PICTURES / "choice.inc").write_text("\n".join(lines) + "\n", encoding="utf-8")


def read() -> list[str]:
    """The lines of the table, the one about the machine first."""
    return TABLE.read_text(encoding="utf-8").splitlines()


def draw() -> None:
    """Speed to the right, purity upwards: the best is at the top right."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "ramify"  # the same file from the same table
    from matplotlib import pyplot as plt

    from ramify.palette import PALETTE

    rows = list(csv.DictReader(read()[1:]))
    names = list(dict.fromkeys(row["data"] for row in rows))
    figure, axes = plt.subplots(1, len(names), figsize=(10, 4.2), layout="constrained")
    for ax, data in zip(axes, names, strict=True):
        for row in (row for row in rows if row["data"] == data):
            at = list(MODELS).index(row["algorithm"])
            speed, purity = int(row["points"]) / float(row["seconds"]), float(row["purity"])
            style = {"color": PALETTE[at], "marker": "o^vD<sPX*"[at], "label": row["algorithm"]}
            ax.plot(speed, purity, linestyle="none", markersize=10, alpha=0.9, **style)
        ax.set(xscale="log", xlabel="points per second", title=data)
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    axes[0].set_ylabel("dendrogram purity")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    figure.savefig(PICTURES / "choice.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draw", action="store_true", help="only draw")
    if not parser.parse_args().draw:
        measure()
    tell()
    draw()
