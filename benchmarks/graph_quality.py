# SPDX-License-Identifier: BSD-3-Clause
"""Flat clusters of graph trees beside peers: ``python -m benchmarks.graph_quality --data FOLDER``.

Every method is told the true number of groups K, as far as it can be told:

    GraphHAC, HAC    a cut into K; "sized" asks for at least n / (2 K) points a cluster, or half
                     of that as often as the tree has no K of that size
    k-means          K; ten starts
    EVoC             approx_n_clusters=K, noise_level=0
    UMAP, HDBSCAN    ten dimensions, then clusters of at least n / (4 K) points
    Leiden           modularity of the graph of GraphHAC, at the resolution that comes nearest to K

Scores are adjusted Rand indices over all points. Where a method leaves points out as noise, the
noise counts as one more group; "given" is the score after each such point has gone to the
cluster of the nearest point that is in one; "noise" is the share of such points.

Methods were chosen on samples 100 to 102 of each set (docs/quality.md says how many settings
were tried); the table is of samples 0 to 5, which overlap with those where a set is small. Results
are kept line by line in benchmarks/graph_quality.csv, so that a run can go on later.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from benchmarks import choosing
from ramify import HAC, GraphHAC, datasets
from ramify.hierarchy import Hierarchy
from ramify.metric import unit

Array: TypeAlias = npt.NDArray[Any]

RESULTS = Path(__file__).with_suffix(".csv")
PAGE = Path(__file__).parent.parent / "docs" / "pictures" / "graph_quality.inc"
HEAD = ["set", "method", "sample", "rand", "given", "noise", "clusters", "seconds"]
SAMPLES = range(6)


class Case(NamedTuple):
    """Rows, their groups, how many are taken, and whether only directions count."""

    load: Callable[[Path], tuple[Array, Array]]
    size: int
    cosine: bool


def _digits(_: Path) -> tuple[Array, Array]:
    rows, labels = load_digits(return_X_y=True)
    return rows, labels


def _queries(_: Path) -> tuple[Array, Array]:
    return datasets.intents().points, datasets.intents().intent


def _cities(_: Path) -> tuple[Array, Array]:
    return datasets.cities().points, datasets.cities().country


def _intents(data: Path) -> tuple[Array, Array]:
    rows, labels = choosing._clinc(data / "clinc150", "intent")
    return rows[labels != "oos"], labels[labels != "oos"]


def _banking(data: Path) -> tuple[Array, Array]:
    rows, labels = choosing._clinc(data / "clinc150", "intent")
    domains = choosing._clinc(data / "clinc150", "domain")[1]
    kept = np.isin(domains, ["banking", "credit_cards"])
    return rows[kept], labels[kept]


CASES = {
    "MNIST": Case(lambda data: choosing._mnist(data / "mnist"), 9_000, True),
    "banking": Case(_banking, 2_500, True),
    "intents": Case(_intents, 3_000, True),
    "queries": Case(_queries, 3_000, True),
    "news": Case(lambda data: choosing._news(data / "wcep", "story", 60), 3_000, True),
    "digits": Case(_digits, 1_500, False),
    "cities": Case(_cities, 2_000, False),
    "covertype": Case(lambda data: choosing._covertype(data / "covtype"), 2_000, False),
}


class Sample(NamedTuple):
    """Some rows of a set."""

    rows: Array
    truth: Array
    cosine: bool

    @property
    def k(self) -> int:
        return int(self.truth.max()) + 1


@cache
def _whole(name: str, data: Path) -> tuple[Array, Array]:
    rows, labels = CASES[name].load(data)
    return (unit(rows) if CASES[name].cosine else rows), labels


def sample(name: str, data: Path, seed: int) -> Sample:
    """Rows drawn with this seed, at most nine in ten of the set."""
    rows, labels = _whole(name, data)
    size = min(CASES[name].size, len(rows) * 9 // 10)
    some = np.random.default_rng(seed).permutation(len(rows))[:size]
    truth = np.unique(labels[some], return_inverse=True)[1]
    return Sample(np.ascontiguousarray(rows[some], np.float32), truth, CASES[name].cosine)


# --- methods ---------------------------------------------------------------------------


def sized(tree: Hierarchy, k: int) -> Array:
    """K clusters that are not too small."""
    least = tree.n_leaves // (2 * k)
    while least > 1:
        try:
            return tree.cut(n_clusters=k, min_size=least)
        except ValueError:  # there are fewer of that size
            least //= 2
    return tree.cut(n_clusters=k)


def graph_tree(one: Sample, weight: str, k: int) -> Hierarchy:
    """Of the exact neighbours; euclidean, as rows of cosine sets have length 1."""
    return GraphHAC(weight=weight, n_neighbors=k).fit(one.rows).hierarchy()


def ward(one: Sample) -> Hierarchy:
    return (
        HAC(metric="cosine" if one.cosine else "sqeuclidean", linkage="ward")
        .fit(one.rows)
        .hierarchy()
    )


def kmeans(one: Sample) -> Array:
    return np.asarray(KMeans(one.k, n_init=10, random_state=0).fit_predict(one.rows))


def evoc(one: Sample) -> Array:
    from evoc import EVoC

    model = EVoC(approx_n_clusters=one.k, noise_level=0.0, random_state=0)
    return np.asarray(model.fit_predict(one.rows))


def umap_hdbscan(one: Sample) -> Array:
    from hdbscan import HDBSCAN
    from umap import UMAP

    metric = "cosine" if one.cosine else "euclidean"
    near = UMAP(n_components=10, min_dist=0.0, metric=metric, random_state=0)
    least = max(len(one.rows) // (4 * one.k), 5)
    return np.asarray(HDBSCAN(min_cluster_size=least).fit_predict(near.fit_transform(one.rows)))


def leiden(one: Sample) -> Array:
    import igraph
    import leidenalg

    points = NearestNeighbors(n_neighbors=15).fit(one.rows).kneighbors()[1]
    n = len(points)
    graph = igraph.Graph(n, list(zip(np.repeat(np.arange(n), 15), points.ravel(), strict=True)))
    graph.simplify()
    low, high, found = -4.0, 6.0, np.zeros(n, int)
    for _ in range(12):
        middle = (low + high) / 2
        parts = leidenalg.find_partition(
            graph,
            leidenalg.RBConfigurationVertexPartition,
            resolution_parameter=2.0**middle,
            seed=0,
        )
        labels = np.array(parts.membership)
        if abs(labels.max() + 1 - one.k) <= abs(found.max() + 1 - one.k):
            found = labels
        if labels.max() + 1 == one.k:
            break
        low, high = (middle, high) if labels.max() + 1 < one.k else (low, middle)
    return found


METHODS: dict[str, Callable[[Sample], Array]] = {
    "GraphHAC": lambda one: graph_tree(one, "snn", 15).cut(n_clusters=one.k),
    "GraphHAC, sized": lambda one: sized(graph_tree(one, "snn", 15), one.k),
    "GraphHAC ranked 30": lambda one: graph_tree(one, "ranked", 30).cut(n_clusters=one.k),
    "GraphHAC ranked 30, sized": lambda one: sized(graph_tree(one, "ranked", 30), one.k),
    "HAC ward": lambda one: ward(one).cut(n_clusters=one.k),
    "k-means": kmeans,
    "EVoC": evoc,
    "UMAP + HDBSCAN": umap_hdbscan,
    "Leiden": leiden,
}


# --- scores ----------------------------------------------------------------------------


def given_away(one: Sample, labels: Array) -> Array:
    """Noise goes to the cluster of the nearest point that is in one."""
    noise = labels < 0
    if noise.all() or not noise.any():
        return labels
    finder = NearestNeighbors(n_neighbors=1).fit(one.rows[~noise])
    found = labels.copy()
    found[noise] = labels[~noise][finder.kneighbors(one.rows[noise])[1][:, 0]]
    return found


def result(name: str, method: str, seed: int, data: Path) -> list[str]:
    """A line of results."""
    one = sample(name, data, seed)
    begun = time.process_time()
    labels = METHODS[method](one)
    seconds = time.process_time() - begun
    rand = adjusted_rand_score(one.truth, labels)
    given = adjusted_rand_score(one.truth, given_away(one, labels))
    clusters = len(np.unique(labels[labels >= 0]))
    noise = float((labels < 0).mean())
    return [
        name,
        method,
        str(seed),
        f"{rand:.4f}",
        f"{given:.4f}",
        f"{noise:.3f}",
        str(clusters),
        f"{seconds:.2f}",
    ]


def _known() -> list[list[str]]:
    if not RESULTS.is_file():
        return []
    return list(csv.reader(RESULTS.read_text(encoding="utf-8").splitlines()))[1:]


def _write(lines: list[list[str]]) -> None:
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        writer.writerows(sorted(lines))


def table(lines: list[list[str]]) -> Iterator[str]:
    """Means over samples: a line a method that has all of the first six sets, a column a set."""
    yield "| method | " + " | ".join(CASES) + " | mean of the first six |"
    yield "|---|" + "---:|" * (len(CASES) + 1)
    for method in METHODS:
        cells, means = [], []
        for name in CASES:
            found = [line for line in lines if line[0] == name and line[1] == method]
            if not found:
                cells.append("")
                continue
            scores = np.array([[float(cell) for cell in line[3:6]] for line in found])
            rand, given, noise = scores.mean(axis=0).tolist()
            means.append(given)
            cells.append(f"{given:.2f}" if noise == 0 else f"{rand:.2f}, {given:.2f} ({noise:.0%})")
        if all(cells[:6]):
            yield "| " + " | ".join([method, *cells, f"{np.mean(means[:6]):.3f}"]) + " |"


def main() -> None:
    """Measure what is missing, and print the table of what there is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", metavar="FOLDER", type=Path, help="MNIST and others")
    parser.add_argument("--sets", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--samples", nargs="+", type=int, default=list(SAMPLES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines: list[list[str]] = list(_known())
    done = {(line[0], line[1], int(line[2])) for line in lines}
    for method in options.methods if options.data else []:
        for name in options.sets:
            for seed in options.samples:
                if (name, method, seed) in done:
                    continue
                try:
                    lines.append(result(name, method, seed, options.data))
                except (
                    ImportError,
                    ValueError,
                ) as error:  # EVoC wants more columns than cities have
                    print(f"{method} is left out: {error}")
                    break
                print(*lines[-1], sep=", ", flush=True)
                _write(lines)
    text = "\n".join(table(lines)) + "\n"
    PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
