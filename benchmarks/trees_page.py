# SPDX-License-Identifier: BSD-3-Clause
"""trees_page.py: what benchmarks/trees.py has measured, as docs/quality.md and its picture."""

import csv
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, stdev

PAGE = Path(__file__).parent.parent / "docs" / "quality.md"
PICTURE = "quality.svg"

HEAD = """\
# How good are the trees?

Every algorithm on the same points, in the same shuffled orders. **MW** is Moseley and Wang's
revenue as a fraction of its maximum (a random tree has 0.333), with the similarity
exp(-γ ‖x − y‖²) and the γ that fits the rows; **CKMM** the value of Cohen-Addad and others for
squared distances, also as a fraction (random: 0.667). **/ HAC** is MW divided by that of offline
average linkage, the paper's ceiling. **Rand** is the adjusted Rand index of a cut into as many
clusters as there are true groups, by height and by variance, and of the cut by stability, which is
told a least size instead; **MI** the adjusted mutual information of the same three. Figures are
means over the orders, ± their standard deviation where it is worth a digit; on the sets of 10,000
points and more that are not shipped, only OHAC and OHAC with polish have all orders, and the others
three or one. Up to 5,000 points MW is exact, above from a million pairs, the same ones for all.

**Which one to take.** `OHAC` for a stream; call `polish()` before the tree is used, where its top
matters: the mean is then that of offline HAC or above on every set here, on some by no more than
its error, for about a tenth more time at most. Under ward and centroid linkage it looks at the sum
of squares of cuts instead ([what that does](#what-polish-does-to-flat-clusters)).
`polishing="auto"` polishes on the way, and is at worst two parts in a thousand below.
`OHAC(update="nni")` where time is short.
`OTD(rule="split", rotate=True)` where it is very short and rows have few dimensions or clear
groups; in many dimensions without clear groups it is no better than the paper's `OTD`. For flat
clusters cut average linkage by variance, or take `linkage="ward"`; by stability only where groups
are islands in noise, which none of these are.

One command measures, and writes this page: `python -m benchmarks.trees`, with `--data FOLDER` for
MNIST and news, which are not shipped.

![Points per second against revenue beside offline HAC's](pictures/quality.svg)

"""

COUNTED = """\
## How many clusters, chosen

Nobody is told the number of groups here, but in the last five columns. `recommend` looks at the
rows and says a linkage and a number ([how](choosing.md#how-recommend-chooses)); *with graphs* is
the same, but where it says that a tree of neighbours is better, in that one. *layers* is the layer
that lasts longest. *average* and *GraphHAC* are `cut(by="modularity")` of these trees, the second
of ranked neighbours. Peers take what they take by themselves: scikit-learn's HDBSCAN, the same
after UMAP (ten dimensions, clusters of 15 points or more), and EVoC; points that they leave out go
to the cluster of the nearest point that is in one. Told k are the tree of the recommended linkage,
ward's, that of neighbours, ward's after `polish(by="neighbors")`, and the tree of neighbours where
`recommend` says that it is better, else the first. Cells are adjusted Rand index / adjusted mutual
information (number of clusters), means of samples of 1,500 rows: of the sets not looked at six of
ours, two of *average*, *GraphHAC*, HDBSCAN and EVoC, and one of UMAP; of the others two at most. A
dash is what was not measured.

The rule for the number was found on the sets *looked at*, among some 20 rules and settings. When
the 25 others were measured, the rule cut average linkage's tree everywhere (0.496 / 0.647 on
these). Decided after that: `recommend` cuts the tree of the linkage that it recommends, by height,
so that `labels_` have what it says; and cuts are compared by pairs. The rule before, a peak of the
silhouette or of modularity, had 0.403 / 0.540. The rule for trees of neighbours, which asks how
many dimensions the rows use, was set by one sample of each set looked at, between breast cancer
(0.25 of them) and glass (0.36); there it names three sets, which gain 0.15 in the mean. A sample of
the others was in view by then. That the rule holds for either linkage was decided after that, and
concerns one set, movement_libras.

On the 25 sets *recommend* has 0.496 / 0.636 and *with graphs* 0.525 / 0.654. That is above EVoC,
HDBSCAN and ward that is told the number, and below UMAP with HDBSCAN (0.584 / 0.684): the goal was
to be above every peer, and it is missed. By more than 0.02 *with graphs* loses to two peers or
three on circles, penguins, compound, unbalance and banking, and to one on topics with 15 equal
ones, optdigits, segment, texture, ecoli, yeast, chameleon and news by story. Layers are for looking
at several levels: the one that lasts longest is often too coarse (0.342). On queries about banking
it has 17 clusters for 30 intents, *recommend* 18, and EVoC 52.

Told the number, the trees that `recommend` names have 0.564 and ward's 0.493. They are worse on one
set by more than 0.02 (vowel, 0.026). Trees of neighbours are named on nine sets: letter,
movement_libras, optdigits, penbased, satimage, segment, texture, vehicle and vowel. Ward's trees
polished by neighbours have 0.563: better by more than 0.02 on 12, and worse on 4, none of which is
one of these nine (blobs in 8 d, s3, unbalance, and ecoli by 0.169).

What moving points after a cut gains, by votes of neighbours and by means, stands [beside it, set
by set](choosing.md#flat-clusters-finished).

`python -m benchmarks.counting --data FOLDER` measures. Rows that wind, as in circles, compound and
chameleon, are where the number fails: [what was tried](decisions/0015-good-clusters.md).

```{include} pictures/counting.inc
```

"""

GRAPHS = """\
## Graph trees beside peers

Adjusted Rand index of a cut into as many clusters as there are groups: means of six samples a
set. The ways to weigh edges were chosen on other samples (`python -m benchmarks.graph_tried`).
*sized* is `min_size`, half of the mean size or less; *ranked 30* is `weight="ranked"` with 30
neighbours. EVoC and Leiden are told the number of clusters, too; UMAP + HDBSCAN is told a least
size of a quarter of the mean. EVoC and HDBSCAN leave points out as noise: the first figure counts
these as one more group, the second gives each to the cluster of the nearest point, and in
brackets is their share. `python -m benchmarks.graph_quality --data FOLDER` measures, and writes
the table. No method finds countries among cities or types of forest: these are no groups of
neighbours.

```{include} pictures/graph_quality.inc
```

What these figures say about the choice of a method stands in
[choosing](choosing.md#graphs-of-neighbours-and-pair-scores).

"""

Line = dict[str, str]


def write(table: Path, polishing: Path) -> None:
    """The page and the picture, from the tables."""
    from benchmarks import polishing as flat

    first, *rest = table.read_text(encoding="utf-8").splitlines()
    lines = list(csv.DictReader(rest))
    parts = [HEAD, *_reading(lines), *_polish(lines), COUNTED, GRAPHS]
    parts += flat.section(polishing)
    for data in dict.fromkeys(line["data"] for line in lines):
        parts += _section(data, [line for line in lines if line["data"] == data])
    host = first.removeprefix("# ").strip()
    parts.append(f"Measured on {host}. Seconds are processor time of one thread.\n")
    PAGE.write_text("".join(parts), encoding="utf-8")
    _draw(lines, table.parent / PICTURE)


def _section(data: str, lines: list[Line]) -> Iterator[str]:
    """One data set: a row for each method."""
    points, width = lines[0]["points"], lines[0]["dimensions"]
    orders = 1 + max(int(line["order"]) for line in lines)
    yield f"## {data}\n\n{int(points):,} points, {width} dimensions, {orders} orders.\n\n"
    labelled = lines[0]["rand_height"] != "nan"
    head = ["algorithm", "seconds", "MW", "/ HAC", "CKMM"]
    head += [
        "Rand, height",
        "variance",
        "stability",
        "MI, height",
        "variance",
        "stability",
    ] * labelled
    yield f"| {' | '.join(head)} |\n|---|{'---:|' * (len(head) - 1)}\n"
    best = _mean(lines, "HAC average", "revenue")
    for method in dict.fromkeys(line["method"] for line in lines):
        mine = [line for line in lines if line["method"] == method]
        ratio = mean(float(line["revenue"]) for line in mine) / best if best else float("nan")
        cells = [method, f"{_one(mine, 'seconds'):.3g}", _spread(mine, "revenue")]
        cells += [f"{ratio:.4f}", f"{_one(mine, 'ckmm'):.4f}"]
        if labelled:
            for score in ("rand", "information"):
                for cut in ("height", "variance", "stability"):
                    cells.append(f"{_one(mine, f'{score}_{cut}'):.3f}")
        yield f"| {' | '.join(cells)} |\n"
    yield "\n"


def _reading(lines: list[Line]) -> Iterator[str]:
    """Ratios to offline HAC of every data set, in one table."""
    names = list(dict.fromkeys(line["data"] for line in lines))
    methods = [m for m in dict.fromkeys(line["method"] for line in lines) if m != "HAC average"]
    yield "## MW beside offline average linkage\n\n"
    yield f"| algorithm | {' | '.join(names)} |\n|---|{'---:|' * len(names)}\n"
    for method in methods:
        cells = []
        for data in names:
            mine = [line for line in lines if line["data"] == data]
            own, best = _mean(mine, method, "revenue"), _mean(mine, "HAC average", "revenue")
            cells.append(f"{own / best:.4f}" if own and best else "")
        yield f"| {method} | {' | '.join(cells)} |\n"
    yield "\n"


def _polish(lines: list[Line]) -> Iterator[str]:
    """What polish gains, and what it costs."""
    yield "## What polish gains and costs\n\n"
    yield (
        "MW beside offline average linkage, with the standard error of the mean over the orders, "
        "and processor\ntime of `polish()` as a share of the time in which OHAC grew the same "
        "tree.\n\n"
    )
    yield "| data | orders | OHAC | with polish | polish, seconds | of OHAC's time |\n"
    yield f"|---|{'---:|' * 5}\n"
    for data in dict.fromkeys(line["data"] for line in lines):
        here = [line for line in lines if line["data"] == data]
        mine = [line for line in here if line["method"] == "OHAC + polish"]
        best = _mean(here, "HAC average", "revenue")
        if not mine or not best:
            continue
        ratios = [float(line["revenue"]) / best for line in mine]
        off = stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else 0.0
        polish = _one(mine, "polishing")
        share = polish / (_one(mine, "seconds") - polish)
        cells = [data, str(len(mine)), f"{_mean(here, 'OHAC', 'revenue') / best:.4f}"]
        cells += [f"{mean(ratios):.4f} ± {off:.4f}", f"{polish:.2g}", f"{share:.1%}"]
        yield f"| {' | '.join(cells)} |\n"
    yield "\n"


def _mean(lines: list[Line], method: str, field: str) -> float:
    values = [float(line[field]) for line in lines if line["method"] == method]
    return mean(values) if values else 0.0


def _one(lines: list[Line], field: str) -> float:
    return mean(float(line[field]) for line in lines)


def _spread(lines: list[Line], field: str) -> str:
    values = [float(line[field]) for line in lines]
    off = stdev(values) if len(values) > 1 else 0.0
    return f"{mean(values):.4f}" + (f" ± {off:.4f}" if off >= 0.00005 else "")


def _draw(lines: list[Line], path: Path) -> None:
    """Speed to the right, revenue beside HAC's upwards: the best is at the top right."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "ramify"  # the same file from the same table
    from matplotlib import pyplot as plt

    from ramify.palette import PALETTE

    wanted = [
        name
        for name in ("digits", "queries", "cities")
        if any(name == line["data"] for line in lines)
    ]
    methods = list(dict.fromkeys(line["method"] for line in lines))
    colors = [PALETTE[at % len(PALETTE)] for at in range(len(methods))]
    figure, axes = plt.subplots(
        1, max(len(wanted), 1), figsize=(11, 4.4), layout="constrained", squeeze=False
    )
    for ax, data in zip(axes[0], wanted, strict=False):
        here = [line for line in lines if line["data"] == data]
        best = _mean(here, "HAC average", "revenue")
        for at, method in enumerate(methods):
            mine = [line for line in here if line["method"] == method]
            if not mine or not best:
                continue
            speed = int(mine[0]["points"]) / _one(mine, "seconds")
            ratio = _one(mine, "revenue") / best
            mark = "o^vD<sPX*hp8>d"[at % 14]
            ax.plot(
                speed,
                ratio,
                linestyle="none",
                markersize=9,
                color=colors[at],
                marker=mark,
                label=method,
            )
        ax.axhline(1, color="0.6", linewidth=0.8)
        ax.set(xscale="log", xlabel="points per second", title=data)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
        ax.xaxis.set_minor_formatter("")
    axes[0][0].set_ylabel("revenue beside offline HAC's")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
