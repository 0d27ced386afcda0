# SPDX-License-Identifier: BSD-3-Clause
"""polishing.py: what polish() does to flat clusters, by every linkage: a table of docs/quality.md.

    python -m benchmarks.polishing                  # what is shipped, made, or scikit-learn's
    python -m benchmarks.polishing --data FOLDER    # MNIST, too
    python -m benchmarks.polishing --page           # the page again, from polishing.csv

The adjusted Rand index with the true groups, of a cut by height into as many clusters as there
are groups: of an online tree, of the same tree polished, and of offline HAC. And how often
``suggest_cuts`` finds more than 30 clusters.
"""

import argparse
import csv
import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import datasets as theirs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import ramify
from benchmarks import trees, trees_page
from ramify import datasets
from ramify.hierarchy import Hierarchy

TABLE = trees.TABLE.with_name("polishing.csv")
LINKAGES = ("ward", "average", "centroid")
ORDERS, FIRST, MANY = 10, 100, 30
FIELDS = ["data", "points", "groups", "chosen", "linkage", "order", "before", "after", "offline"]
FIELDS += ["many_before", "many_after", "many_offline"]

SAID = f"""\
Adjusted Rand index of a cut by height into as many clusters as there are true groups, of an online
tree, of the same tree polished, and of offline HAC: means over {ORDERS} shuffled streams. A
polished tree is never worse by its own count ([Polished](api.md#better-trees)); true groups are
another matter.

How the count was chosen: for ward 21 settings, three ways to split by seven counts, after nine
without any count; for centroid and average 14 each, of which average linkage took none and has
revenue as before. That was on the sets of the first mean, in three other orders of each, and on
four sets that are not here (covertype, ILSVRC's stand-in, two made ones). Ward and centroid linkage
took the sum of SSE(k)/k, and split the node of the largest sum of squares. The sets of the second
mean were not looked at before. One command measures: `python -m benchmarks.polishing`, with
`--data FOLDER` for MNIST.

"""

Rows = npt.NDArray[Any]


class Case(NamedTuple):
    """Rows with true groups, and whether the objective was chosen on them, in other orders."""

    name: str
    rows: Rows
    labels: Any
    chosen: bool


def cases(data: str | None) -> Iterator[Case]:
    """All sets, first those on which splits and objectives were tried."""
    scaled = StandardScaler().fit_transform
    iris, glass = datasets.iris(), datasets.glass()
    yield Case("iris", iris.points, iris.labels, True)
    yield Case("glass, scaled", scaled(glass.points), glass.labels, True)
    for name in ("wine", "breast_cancer"):
        rows, labels = getattr(theirs, f"load_{name}")(return_X_y=True)
        yield Case(f"{name.replace('_', ' ')}, scaled", scaled(rows), labels, True)
    rows, labels = theirs.load_digits(return_X_y=True)
    yield Case("digits", rows, labels, True)
    queries, cities = datasets.intents(), datasets.cities()
    yield Case("queries, intents", queries.points, queries.intent, True)
    yield Case("queries, domains", queries.points, queries.domain, True)
    some = np.random.default_rng(0).permutation(len(cities))[:4000]
    yield Case("cities", cities.points[some], cities.country[some], True)
    for name, options in (
        ("5 blobs", {"centers": 5, "n_features": 2, "cluster_std": 1.5, "random_state": 1}),
        ("20 blobs", {"centers": 20, "n_features": 5, "cluster_std": 2.0, "random_state": 1}),
        ("8 wide blobs", {"centers": 8, "n_features": 10, "cluster_std": 4.0, "random_state": 1}),
    ):
        rows, labels, *_ = theirs.make_blobs(2000, **options)
        yield Case(name, rows, labels, True)
    yield Case("classification", *_classes(3), True)
    eight = datasets.gmm_8()
    yield Case("gmm-8", eight.points, eight.labels, False)
    yield Case("12 blobs, 30 columns", *_blobs(12, 30, 6.0, 11), False)
    yield Case("40 blobs", *_blobs(40, 3, 0.8, 12), False)
    yield Case(
        "blobs of unequal width", *_blobs(10, 4, (0.5, 1, 2, 4, 1, 1, 3, 1, 2, 1), 13), False
    )
    yield Case("blobs of unequal size", *_unequal(14), False)
    yield Case("stretched blobs", *_stretched(15), False)
    yield Case("classification, another", *_classes(16), False)
    rows, labels = theirs.make_moons(2000, noise=0.15, random_state=17)
    yield Case("moons", rows, labels, False)
    try:
        yield Case("MNIST, 4,000", *trees._mnist(data, 4000), False)
    except FileNotFoundError as error:
        print(f"MNIST: left out, {error}")


def _blobs(groups: int, width: int, spread: Any, seed: int) -> tuple[Rows, Rows]:
    options = {"centers": groups, "n_features": width, "cluster_std": spread, "random_state": seed}
    rows, labels, *_ = theirs.make_blobs(2000, **options)
    return rows, labels


def _unequal(seed: int) -> tuple[Rows, Rows]:
    rng = np.random.default_rng(seed)
    sizes = [1000, 500, 200, 100, 50, 30, 20]
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return 3 * rng.normal(size=(len(sizes), 4))[labels] + rng.normal(size=(len(labels), 4)), labels


def _stretched(seed: int) -> tuple[Rows, Rows]:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(6), 300)
    turned = rng.normal(size=(6, 6, 6))[labels]
    rows = np.einsum("ij,ijk->ik", rng.normal(size=(len(labels), 6)), turned)
    return rows + 5 * rng.normal(size=(6, 6))[labels], labels


def _classes(seed: int) -> tuple[Rows, Rows]:
    rows, labels = theirs.make_classification(
        2000, 12, n_informative=6, n_classes=5, n_clusters_per_class=1, class_sep=1.5,
        random_state=seed,
    )  # fmt: skip
    return rows, labels


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", metavar="FOLDER", help="MNIST is looked for here")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    if not options.page:
        warnings.simplefilter("ignore")  # depths of centroid trees
        with TABLE.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(FIELDS)
            for case in cases(options.data):
                for linkage in LINKAGES:
                    writer.writerows(_measured(case, linkage))
                print(case.name, flush=True)
    trees_page.write(trees.TABLE, TABLE)


def _measured(case: Case, linkage: str) -> Iterator[list[str]]:
    """A line for each order."""
    options: Any = {"linkage": linkage}
    groups = len(np.unique(case.labels))
    head = [case.name, str(len(case.rows)), str(groups), "1" if case.chosen else "0", linkage]
    for order in range(FIRST, FIRST + ORDERS):
        places = np.random.default_rng(order).permutation(len(case.rows))
        rows, labels = np.ascontiguousarray(case.rows[places]), case.labels[places]
        model: Any = ramify.OHAC(**options).fit(rows)
        grown = [model.hierarchy()]
        model.polish()
        grown += [model.hierarchy(), ramify.HAC(**options).fit(rows).hierarchy()]
        rand = [adjusted_rand_score(labels, tree.cut(n_clusters=groups)) for tree in grown]
        yield [*head, str(order), *(f"{one:.4f}" for one in rand), *map(_many, grown)]


def _many(tree: Hierarchy) -> str:
    """How many suggestions are of more clusters than anybody looks at."""
    return str(sum(cut.n_clusters > MANY for cut in tree.suggest_cuts()))


def section(table: Path) -> Iterator[str]:
    """The table as a part of the page; nothing if nothing has been measured."""
    if not table.is_file():
        return
    lines = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    yield "## What polish does to flat clusters\n\n"
    yield SAID
    columns = [f"{linkage}: {what}" for linkage in LINKAGES for what in ("OHAC", "polished", "HAC")]
    yield f"| data | groups | {' | '.join(columns)} |\n|---|---:|{'---:|' * len(columns)}\n"
    for chosen, name in (("1", "mean of these"), ("0", "mean of the sets not looked at before")):
        part = [line for line in lines if line["chosen"] == chosen]
        for data in dict.fromkeys(line["data"] for line in part):
            mine = [line for line in part if line["data"] == data]
            yield f"| {data} | {mine[0]['groups']} | {' | '.join(_cells(mine))} |\n"
        yield f"| **{name}** | | {' | '.join(_cells(part))} |\n"
    yield "\n"
    for linkage in LINKAGES:
        yield _sentence(linkage, [line for line in lines if line["linkage"] == linkage])
    yield "\n"


def _cells(lines: list[dict[str, str]]) -> Iterator[str]:
    for linkage in LINKAGES:
        for field in ("before", "after", "offline"):
            yield f"{mean(float(x[field]) for x in lines if x['linkage'] == linkage):.3f}"


def _sentence(linkage: str, lines: list[dict[str, str]]) -> str:
    """The mean gain over sets, the worst set, and what `suggest_cuts` finds."""
    gains = {
        data: mean(float(x["after"]) - float(x["before"]) for x in lines if x["data"] == data)
        for data in dict.fromkeys(x["data"] for x in lines)
    }
    worst = min(gains, key=lambda data: gains[data])
    many = [sum(int(x[f"many_{what}"]) for x in lines) for what in ("before", "after", "offline")]
    return (
        f"- **{linkage}**: {mean(gains.values()):+.3f} ± "
        f"{stdev(gains.values()) / len(gains) ** 0.5:.3f} in the mean of {len(gains)} sets, on "
        f"{sum(gain >= -0.0005 for gain in gains.values())} of them no worse; worst {worst}, "
        f"{gains[worst]:+.3f}. Suggestions of more than {MANY} clusters: {many[0]} of the online "
        f"trees, {many[1]} polished, {many[2]} offline.\n"
    )


if __name__ == "__main__":
    main()
