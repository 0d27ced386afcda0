# SPDX-License-Identifier: BSD-3-Clause
"""What might make graph trees better: ``python -m benchmarks.graph_tried --data FOLDER``.

Each idea is tried on the samples on which ideas are chosen, at most 3,000 rows each; the
table of docs/quality.md is of other samples (graph_quality.py). For each idea the adjusted
Rand index of a cut into K clusters, and of K clusters that are not too small.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import eigsh
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from benchmarks.graph_quality import CASES, Sample, given_away, sample, sized, ward
from ramify import GraphHAC
from ramify.estimators import _lists
from ramify.hierarchy import Hierarchy

Array: TypeAlias = npt.NDArray[Any]

CHOSEN_ON = (100, 101, 102)
MOST_ROWS = 3_000


def nearest(rows: Array, k: int) -> tuple[Array, Array]:
    distances, points = NearestNeighbors(n_neighbors=k).fit(rows).kneighbors()
    return points, distances


def graph(points: Array, weight: str = "snn") -> Any:
    """The graph of GraphHAC as a symmetric sparse matrix, weights from 0 to 1."""
    edges = _lists.graph_of(_lists.Lists(points.astype(np.int64), None), weight, None)
    ends = (edges.a, edges.b)
    found = sparse.csr_array((edges.weight * edges.share, ends), (edges.n, edges.n))
    return found.maximum(found.T)


def tree(found: Any, linkage: str = "average") -> Hierarchy:
    most = float(found.max())
    return GraphHAC(max_weight=most, linkage=linkage).fit(graph=found).hierarchy()


def scaled(found: Any, power: float) -> Any:
    """Each weight through a power of what its ends weigh in all: local scaling of a graph."""
    less = sparse.diags_array(np.maximum(found.sum(axis=1), 1e-9) ** -power)
    return less @ found @ less


def steps(found: Any) -> Any:
    """Rows that add up to 1: where a random walk goes next."""
    return sparse.diags_array(1 / np.maximum(found.sum(axis=1), 1e-9)) @ found


def two_steps(found: Any) -> Any:
    """Diffusion: one step of a random walk, or two."""
    walk = steps(found)
    twice = (walk @ walk).tocsr()
    twice.setdiag(0)
    twice.data[twice.data < 0.002] = 0
    twice.eliminate_zeros()
    return (walk + walk.T + twice + twice.T) / 4


def reachable(one: Sample, k: int) -> Any:
    """Mutual reachability, as HDBSCAN has it, of near pairs."""
    points, distances = nearest(one.rows, k)
    n = len(points)
    core = distances[:, min(k, 5) - 1]
    a, b = np.repeat(np.arange(n), k), points.ravel()
    apart = np.maximum(distances.ravel(), np.maximum(core[a], core[b]))
    found = sparse.csr_array((1 / (1 + apart / apart.mean()), (a, b)), (n, n))
    return found.maximum(found.T)


def smoothed(one: Sample, rounds: int) -> Array:
    """Rows that have moved to the middle of themselves and their neighbours, some times."""
    rows, near = one.rows, nearest(one.rows, 15)[0]
    for _ in range(rounds):
        rows = (rows + rows[near].sum(axis=1)) / 16
    return rows


def spectral(found: Any, columns: int = 24) -> Array:
    """The first eigenvectors of the walk on a graph."""
    degree = np.maximum(found.sum(axis=1), 1e-9)
    less = sparse.diags_array(degree**-0.5)
    _, vectors = eigsh(less @ found @ less, k=columns, which="LA", v0=np.ones(found.shape[0]))
    return np.asarray(vectors / np.sqrt(degree)[:, np.newaxis])


IDEAS: dict[str, Callable[[Sample], Hierarchy]] = {
    "shared neighbours, 10": lambda one: tree(graph(nearest(one.rows, 10)[0])),
    "shared neighbours, 15": lambda one: tree(graph(nearest(one.rows, 15)[0])),
    "shared neighbours, 30": lambda one: tree(graph(nearest(one.rows, 30)[0])),
    "shared neighbours, 50": lambda one: tree(graph(nearest(one.rows, 50)[0])),
    "ranked, 15": lambda one: tree(graph(nearest(one.rows, 15)[0], "ranked")),
    "ranked, 30": lambda one: tree(graph(nearest(one.rows, 30)[0], "ranked")),
    "ranked, 50": lambda one: tree(graph(nearest(one.rows, 50)[0], "ranked")),
    "jaccard, 30": lambda one: tree(graph(nearest(one.rows, 30)[0], "jaccard")),
    "squares, 30": lambda one: tree(graph(nearest(one.rows, 30)[0]) ** 2),
    "local scaling, 15": lambda one: tree(scaled(graph(nearest(one.rows, 15)[0]), 0.5)),
    "local scaling, ranked 30": lambda one: tree(
        scaled(graph(nearest(one.rows, 30)[0], "ranked"), 0.5)
    ),
    "diffusion, two steps": lambda one: tree(two_steps(graph(nearest(one.rows, 15)[0]))),
    "mutual reachability, average": lambda one: tree(reachable(one, 15)),
    "mutual reachability, single": lambda one: tree(reachable(one, 15), "single"),
    "rows smoothed once": lambda one: tree(graph(nearest(smoothed(one, 1), 30)[0])),
    "rows smoothed three times": lambda one: tree(graph(nearest(smoothed(one, 3), 30)[0])),
    "rows smoothed twice, HAC ward": lambda one: ward(one._replace(rows=smoothed(one, 2))),
    "spectral rows": lambda one: tree(
        graph(nearest(spectral(graph(nearest(one.rows, 15)[0])), 15)[0])
    ),
}


def persistent(one: Sample) -> tuple[float, int]:
    """Clusters that last longest: score with noise given to the nearest, and their number."""
    found = tree(graph(nearest(one.rows, 15)[0]))
    labels = found.cut(min_size=max(len(one.rows) // (4 * one.k), 5), by="stability")
    return adjusted_rand_score(one.truth, given_away(one, labels)), int(labels.max()) + 1


def lines(data: Path, names: list[str]) -> Iterator[str]:
    """A line an idea."""
    some = {}
    for name in names:
        drawn = [sample(name, data, seed) for seed in CHOSEN_ON]
        cut = [(one.rows[:MOST_ROWS], one.truth[:MOST_ROWS], one.cosine) for one in drawn]
        some[name] = [
            Sample(rows, np.unique(truth, return_inverse=True)[1], cosine)
            for rows, truth, cosine in cut
        ]
    yield "| idea | " + " | ".join(names) + " | mean |"
    yield "|---|" + "---:|" * (len(names) + 1)
    for idea, make in IDEAS.items():
        means = []
        for name in names:
            scores = []
            for one in some[name]:
                found = make(one)
                cuts = found.cut(n_clusters=one.k), sized(found, one.k)
                scores.append([adjusted_rand_score(one.truth, labels) for labels in cuts])
            means.append(np.mean(scores, axis=0))
        cells = [f"{plain:.2f}, {kept:.2f}" for plain, kept in [*means, np.mean(means, axis=0)]]
        yield "| " + " | ".join([idea, *cells]) + " |"
    cells = []
    for name in names:
        told = [persistent(one) for one in some[name]]
        clusters = np.mean([count for _, count in told])
        cells.append(f"{np.mean([score for score, _ in told]):.2f} ({clusters:.0f})")
    yield "| " + " | ".join(["by stability (and how many clusters)", *cells, ""]) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", metavar="FOLDER", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=CASES, default=list(CASES)[:6])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for line in lines(options.data, options.sets):
        print(line, flush=True)


if __name__ == "__main__":
    main()
