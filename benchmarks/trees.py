# SPDX-License-Identifier: BSD-3-Clause
"""trees.py: how good trees and their flat clusters are, beside each other: docs/quality.md.

    python -m benchmarks.trees                  # what is shipped, and what scikit-learn has
    python -m benchmarks.trees --data FOLDER    # MNIST and news embeddings, too
    python -m benchmarks.trees --only iris --method OHAC --keep
    python -m benchmarks.trees --page           # the page again, from docs/pictures/quality.csv

Every method gets the same shuffled streams. Trees are measured over the points in one
order, on the same pairs of points, so that differences are of the trees and not of the
sample. Seconds are of the processor's time, in one thread: what else the machine does at the
same time matters little. Results are written after every run; ``--keep`` goes on where a run
stopped.
"""

import argparse
import csv
import re
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import datasets as theirs
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import ramify
from benchmarks import streams, trees_page
from benchmarks.bisecting import bisecting_tree
from ramify import datasets, metrics
from ramify.hierarchy import Hierarchy
from ramify.metric import unit
from ramify.metrics._orders import _in_place
from ramify.paper.machine import machine

TABLE = Path(__file__).parent.parent / "docs" / "pictures" / "quality.csv"
EXACT, SAMPLE = 5_000, 1_000_000
MAIN = ("OHAC", "OHAC + polish")
CUTS = ("height", "variance", "stability")
FIELDS = ["data", "points", "dimensions", "method", "order", "seconds", "polishing"]
FIELDS += ["revenue", "ckmm"]
FIELDS += [f"{score}_{cut}" for cut in CUTS for score in ("rand", "information")]

Rows = npt.NDArray[Any]


class Case(NamedTuple):
    """Rows, and the group of each if that is known."""

    name: str
    rows: Rows
    labels: npt.NDArray[Any] | None
    orders: int  # shuffled streams
    few: int = 1000  # orders, at most, for all but MAIN, where points are many


class Grown(NamedTuple):
    """A tree, and how long it took."""

    tree: Hierarchy
    seconds: float
    polishing: float = float("nan")  # seconds of these, where they are known


def _fitted(make: Callable[[], Any]) -> Callable[[Rows], Grown]:
    def grow(rows: Rows) -> Grown:
        start = time.process_time()
        model = make().fit(rows)
        seconds = time.process_time() - start
        return Grown(model.hierarchy(), seconds)

    return grow


def _polished(rows: Rows) -> Grown:
    start = time.process_time()
    model = ramify.OHAC().fit(rows)
    grown = time.process_time()
    model.polish()
    end = time.process_time()
    return Grown(model.hierarchy(), end - start, end - grown)


def _bisected(rows: Rows) -> Grown:
    start = time.process_time()
    children = bisecting_tree(rows, np.random.default_rng(0))
    return Grown(Hierarchy.from_children(children), time.process_time() - start)


METHODS: dict[str, Callable[[Rows], Grown]] = {
    "HAC average": _fitted(ramify.HAC),
    "HAC ward": _fitted(lambda: ramify.HAC(linkage="ward")),
    "HAC centroid": _fitted(lambda: ramify.HAC(linkage="centroid")),
    "OHAC": _fitted(ramify.OHAC),
    "OHAC + polish": _polished,
    "OHAC polishing": _fitted(lambda: ramify.OHAC(polishing="auto")),
    "OHAC nni": _fitted(lambda: ramify.OHAC(update="nni")),
    "OHAC ward": _fitted(lambda: ramify.OHAC(linkage="ward")),
    "OTD": _fitted(ramify.OTD),
    "OTD split": _fitted(lambda: ramify.OTD(rule="split")),
    "OTD split, rotate": _fitted(lambda: ramify.OTD(rule="split", rotate=True)),
    "NaiveNN": _fitted(ramify.NaiveNN),
    "PERCH": _fitted(ramify.PERCH),
    "GRINCH": _fitted(ramify.GRINCH),
    "RandomCut": _fitted(ramify.RandomCut),
    "bisecting 2-means": _bisected,
}

#: Offline: the order of the points does not matter.
OFFLINE = ("HAC average", "HAC ward", "HAC centroid")


def cases(data: str | None, orders: int) -> Iterator[Case]:
    """All data sets that can be had, each when its turn comes."""
    one, eight = datasets.gmm_1(), datasets.gmm_8()
    yield Case("gmm-1", one.points, None, orders)
    yield Case("gmm-8", eight.points, eight.labels, orders)
    for small in (datasets.iris(), datasets.glass()):
        yield Case(small.name, small.points, small.labels, orders)
    wine, digits = theirs.load_wine(), theirs.load_digits()
    yield Case("wine, scaled", StandardScaler().fit_transform(wine.data), wine.target, orders)
    yield Case("digits", digits.data, digits.target, orders)
    queries, cities = datasets.intents(), datasets.cities()
    yield Case("queries", queries.points, queries.intent, orders)
    some = np.random.default_rng(0).permutation(len(cities))[:20_000]
    yield Case("cities", cities.points[some], cities.country[some], orders)
    for name, load, count, few in (
        ("MNIST 10K, unit rows", _mnist, 10_000, 3),
        ("news 10K", _news, 10_000, 3),
        ("MNIST 55K, unit rows", _mnist, 55_000, 1),
        ("news 39K", _news, 38_918, 1),
    ):
        try:
            rows, labels = load(data, count)
        except FileNotFoundError as error:
            print(f"{name}: left out, {error}")
        else:
            yield Case(name, rows, labels, orders, few)


def _mnist(data: str | None, count: int) -> tuple[Rows, npt.NDArray[Any] | None]:
    import gzip

    rows = unit(streams.mnist(data, count))
    assert data is not None
    packed = Path(data, "mnist", "train-labels-idx1-ubyte.gz").read_bytes()
    labels = np.frombuffer(gzip.decompress(packed), np.uint8, offset=8)[5_000 : 5_000 + count]
    return rows, labels


def _news(data: str | None, count: int) -> tuple[Rows, npt.NDArray[Any] | None]:
    return np.asarray(streams.news(data, count)), None


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", metavar="FOLDER", help="MNIST and news are looked for here")
    parser.add_argument("--orders", type=int, default=10, help="shuffled streams")
    parser.add_argument("--only", action="append", help="data sets whose name has this in it")
    parser.add_argument("--method", action="append", help="only these methods")
    parser.add_argument("--keep", action="store_true", help="keep what has been measured")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    if not options.page:
        warnings.simplefilter("ignore")  # depths of centroid trees, and the like
        measure(options)
    trees_page.write(TABLE, TABLE.with_name("polishing.csv"))


def measure(options: argparse.Namespace) -> None:
    """Run everything that is asked for, writing each result as it comes."""
    known = _read() if options.keep else []
    done = {(line["data"], line["method"], line["order"]) for line in known}
    for case in cases(options.data, options.orders):
        if options.only and not any(one in case.name for one in options.only):
            continue
        for name in options.method or METHODS:
            for order in range(_orders(case, name)):
                if (case.name, name, str(order)) in done:
                    continue
                known.append(_result(case, name, order))
                print(*known[-1].values(), sep=", ", flush=True)
                _write(known)


def _orders(case: Case, method: str) -> int:
    if method in OFFLINE:
        return 1
    return case.orders if method in MAIN else min(case.orders, case.few)


def _result(case: Case, name: str, order: int) -> dict[str, str]:
    """Grow one tree, and measure it."""
    places = np.random.default_rng(order).permutation(len(case.rows))
    grown = METHODS[name](np.ascontiguousarray(case.rows[places]))
    tree = _in_place(grown.tree, places)
    sample = None if len(case.rows) <= EXACT else SAMPLE
    mw = metrics.revenue_fraction(tree, case.rows, sample=sample, random_state=0)
    numbers = [grown.seconds, grown.polishing, mw, metrics.ckmm_fraction(tree, case.rows)]
    numbers += _agreement(tree, case)
    head = [case.name, *map(str, case.rows.shape), name, str(order)]
    return dict(zip(FIELDS, [*head, *(f"{one:.5f}" for one in numbers)], strict=True))


def _agreement(tree: Hierarchy, case: Case) -> list[float]:
    """Adjusted Rand index and mutual information of each cut with the true groups."""
    if case.labels is None:
        return [float("nan")] * 2 * len(CUTS)
    k = len(np.unique(case.labels))
    least = max(len(case.rows) // (20 * k), 5)
    cuts = (
        tree.cut(n_clusters=k),
        tree.cut(n_clusters=k, by="variance", X=case.rows),
        tree.cut(min_size=least, by="stability"),
    )
    found = []
    for labels in cuts:
        found.append(adjusted_rand_score(case.labels, labels))
        found.append(adjusted_mutual_info_score(case.labels, labels))
    return found


def _read() -> list[dict[str, str]]:
    if not TABLE.is_file():
        return []
    return list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()[1:]))


def _write(lines: list[dict[str, str]]) -> None:
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        host = re.sub(r"Linux .*", "Linux", machine())
        file.write(f"# {datetime.now(UTC).date()}, {host}\n")
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
