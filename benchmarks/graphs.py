# SPDX-License-Identifier: BSD-3-Clause
"""Trees of graphs: ``python -m benchmarks.graphs``.

Two graphs, made from a seed: of a million rows in five dimensions with their 15 nearest, by
the neighbours that they share; and five million scores of pairs among a million records. For
each linkage: seconds of one processor for edges, tree and sorted snapshot, and the most
memory that the process held meanwhile, the graph's own arrays included. With ``--live``, what
a point costs that comes with its edges, and one that goes. With ``--rows``, what a row costs that
comes by itself: beside OHAC, at several sizes, and with the power of n that it grows by; with
``--rows --growth --data FOLDER`` the same of MNIST. With ``--rows --data FOLDER`` all of a stream
of 10,000 rows of MNIST. With ``--bits``, the nearest of rows of zeros and ones beside
scikit-learn's brute search.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from benchmarks import choosing
from ramify import OHAC, GraphHAC, LiveGraphHAC, _core
from ramify.estimators import _bits
from ramify.memory import peak, reset_peak

Array: TypeAlias = npt.NDArray[Any]


def neighbours(n: int, k: int, seed: int = 0) -> Array:
    """The k nearest of n rows of noise."""
    rows = np.random.default_rng(seed).normal(size=(n, 5))
    return np.asarray(cKDTree(rows).query(rows, k + 1)[1])[:, 1:]


def pair_scores(n: int, pairs: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Scores of records that fall into groups of four or so, each compared with a few."""
    rng = np.random.default_rng(seed)
    order = np.argsort(rng.integers(0, n // 4, n), kind="stable")
    steps = -(-pairs // n) + 1
    a = np.concatenate([order[:-s] for s in range(1, steps + 1)])[:pairs]
    b = np.concatenate([order[s:] for s in range(1, steps + 1)])[:pairs]
    return a, b, rng.random(pairs)


def offline(n: int) -> None:
    """Print a line for each graph and linkage."""
    lists, scores = neighbours(n, 15), pair_scores(n, 5 * n)
    for name, given in (("15 nearest", {"neighbors": lists}), ("pair scores", {"edges": scores})):
        for linkage in ("average", "single"):
            reset_peak()
            begun = time.process_time()
            model = GraphHAC(linkage=linkage).fit(**given)
            seconds = time.process_time() - begun
            most = peak() / 2**20
            print(f"{name:12} {linkage:8} {len(model):,} points  {seconds:.1f} s  {most:,.0f} MiB")


def shared(lists: Array) -> tuple[Array, Array, Array]:
    """The graph of these lists: how many neighbours two points share, of k."""
    n, k = lists.shape
    common = _core.shared_neighbours(lists.astype(np.uint32))[0]
    return np.repeat(np.arange(n), k), lists.ravel(), common / k


def live(n: int, asked: int = 500) -> None:
    """Print a line for each graph: all points but a few at once, these one by one, and back."""
    for name, graph in (
        ("15 nearest", shared(neighbours(n, 15))),
        ("pair scores", pair_scores(n, 5 * n)),
    ):
        last = np.maximum(graph[0], graph[1])
        begun = time.process_time()
        early = last < n - asked
        model = LiveGraphHAC().fit(edges=[one[early] for one in graph], ids=range(n - asked))
        loaded = time.process_time() - begun
        spent = []
        for point in range(n - asked, n):
            edges = [one[last == point] for one in graph]
            begun = time.process_time()
            model.partial_fit(edges=edges, ids=[point])
            spent.append(time.process_time() - begun)
        gone = []
        for point in range(n - asked, n):
            begun = time.process_time()
            model.forget(point)
            gone.append(time.process_time() - begun)
        assert model._graph is not None
        held = model._graph._core.bytes / len(model)
        print(
            f"{name:12} {n:,} points  {loaded:.1f} s to begin  {held:.0f} bytes a point  "
            f"{1e3 * np.mean(spent):.2f} ms a point that comes (at most {1e3 * max(spent):.1f})  "
            f"{1e3 * np.mean(gone):.2f} ms one that goes (at most {1e3 * max(gone):.1f})"
        )


def mixture(n: int, width: int = 64, seed: int = 0) -> Array:
    """Rows of many groups of unequal sizes, long ones, as embeddings of texts are."""
    rng = np.random.default_rng(seed)
    groups = max(n // 50, 2)
    centres = rng.normal(size=(groups, width))
    group = np.minimum((groups * rng.random(n) ** 2).astype(int), groups - 1)
    return np.asarray(centres[group] + 0.7 * rng.normal(size=(n, width)), np.float32)


def each_row(model: Any, rows: Array) -> float:
    """Mean seconds of one processor for a row that is inserted by itself."""
    begun = time.process_time()
    for row in rows:
        model.insert(row)
    return (time.process_time() - begun) / len(rows)


def mnist(data: Path) -> Array:
    """All its rows that there are, shuffled."""
    rows = choosing._mnist(data / "mnist")[0]
    return np.asarray(rows[np.random.default_rng(0).permutation(len(rows))], np.float32)


def single_rows(n: int, some_rows: Callable[[int], Array], asked: int = 300) -> None:
    """Print a line for each size: an eighth of n, a quarter, a half and n."""
    sizes, spent = [n // 8, n // 4, n // 2, n], []
    for size in sizes:
        rows = some_rows(size + asked)
        first, last = rows[:size], rows[size:]
        model = LiveGraphHAC(n_neighbors=15).fit(first)
        spent.append(each_row(model, last))
        peer = each_row(OHAC(linkage="ward").fit(first), last)
        told = f"{size:,} rows  {1e3 * spent[-1]:.2f} ms a row"
        print(f"{told}  {spent[-1] / peer:.1f} times OHAC ward", flush=True)
    power = np.polyfit(np.log(sizes), np.log(spent), 1)[0]
    print(f"time of a row grows as n^{power:.2f}")


def mnist_stream(data: Path, n: int = 10_000) -> None:
    """Print how long the whole stream takes, row by row, three times beside OHAC."""
    rows = mnist(data)[:n]
    for _ in range(3):
        peer, ours = each_row(OHAC(linkage="ward"), rows), each_row(LiveGraphHAC(), rows)
        print(f"MNIST {n:,}  {n * ours:.1f} s  {ours / peer:.1f} times OHAC ward", flush=True)


def bits(n: int, columns: int = 1024, k: int = 15) -> None:
    """Print a line for each metric: fingerprints of 1,024 bits, one of sixteen set."""
    rows = np.random.default_rng(0).random((n, columns)) < 1 / 16
    for metric in _bits.METRICS:
        begun = time.process_time()
        ranks = np.arange(n, dtype=np.uint32)
        ours = _bits.search(rows, k, metric, ranks, None)
        took = time.process_time() - begun
        asked = rows[:200]  # of all, as scikit-learn takes long
        begun = time.process_time()
        finder = NearestNeighbors(n_neighbors=k + 1, metric=metric, algorithm="brute").fit(rows)
        theirs = finder.kneighbors(asked)[0][:, 1:]
        peer = (time.process_time() - begun) * n / len(asked)
        assert ours.distances is not None
        assert np.allclose(theirs, ours.distances[: len(asked)])
        print(f"{metric:8} {n:,} rows  {took:.1f} s  scikit-learn {peer / took:.0f} times as long")


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--live", action="store_true", help="points that come and go one by one")
    parser.add_argument("--rows", action="store_true", help="rows that come one by one")
    parser.add_argument("--data", metavar="FOLDER", type=Path, help="with --rows: MNIST")
    parser.add_argument("--growth", action="store_true", help="with --data: at several sizes")
    parser.add_argument("--bits", action="store_true", help="rows of zeros and ones")
    options = parser.parse_args()
    if options.rows and options.data is None:
        single_rows(options.points, mixture)
    elif options.rows and options.growth:
        rows = mnist(options.data)
        single_rows(min(options.points, len(rows) - 300), lambda n: rows[:n])
    elif options.rows:
        mnist_stream(options.data)
    else:
        (bits if options.bits else live if options.live else offline)(options.points)


if __name__ == "__main__":
    main()
