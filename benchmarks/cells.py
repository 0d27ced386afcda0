# SPDX-License-Identifier: BSD-3-Clause
"""Near neighbours beside exact ones: ``python -m benchmarks.cells --data FOLDER``.

The same stream, shuffled, grows a tree with exact neighbours, with cells, and with the
HNSW graph of usearch, if it is installed: rows as bytes, the ten that it finds compared as
they are. That graph was once an option of OHAC. For each:

    seconds   of one processor, for the whole stream, tree included
    recall    of the last 1,000 rows: is what they find before they come the nearest?
    recall_   what the model says about all of them
    query     microseconds to find one of these
    purity    of the tree, by stories, where rows have them
    revenue   as a fraction, from a sample of pairs
"""

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.streams import Rows, like_news, mixture, news, news_stories
from ramify import _core
from ramify.hierarchy import Hierarchy
from ramify.metrics import dendrogram_purity, revenue_fraction

#: Rows that are asked for before they come.
_ASKED = 1_000

Found = npt.NDArray[np.int64]


class Tree:
    """OHAC's tree in the core, with exact neighbours or cells."""

    def __init__(self, width: int, metric: str, recall: float | None = None) -> None:
        options = _core.Options.ohac(metric, "average", recall=recall)
        self._core = _core.LiveF32(width, options)

    def insert(self, rows: Rows) -> None:
        """Insert rows in order."""
        self._core.insert_many(rows)

    def nearest(self, rows: Rows) -> Found:
        """The number of the point that is found for each row."""
        return np.asarray(self._core.nearest(rows, 1)[0][:, 0])

    def hierarchy(self) -> Hierarchy:
        """The tree as it is now."""
        return Hierarchy(*self._core.snapshot())

    @property
    def recall(self) -> float | None:
        """What it says itself."""
        return float(self._core.recall)


class GraphTree(Tree):
    """The same, with neighbours from a graph."""

    def __init__(self, width: int, metric: str) -> None:
        from usearch.index import Index

        super().__init__(width, metric)
        kind = "ip" if metric == "cosine" else "l2sq"
        self._graph: Any = Index(
            ndim=width,
            metric=kind,
            dtype="i8" if kind == "ip" else "f32",
            connectivity=16,
            expansion_add=64,
            expansion_search=64,
        )
        self._rows: Rows = np.empty((0, width), np.float32)
        self._count = 0

    def insert(self, rows: Rows) -> None:
        """Look each one up, insert it, and add it to the graph."""
        self._rows = np.concatenate([self._rows[: self._count], rows])
        for row in rows:
            near = self._found(row)[np.newaxis, : min(self._count, 1)]
            self._core.insert_beside(row[np.newaxis], near.astype(np.uint64))
            self._graph.add(self._count, row, threads=1)
            self._count += 1

    def nearest(self, rows: Rows) -> Found:
        """The number of the point that is found for each row."""
        return np.array([self._found(row)[0] for row in rows])

    def _found(self, row: Rows) -> Found:
        """The best of ten that the graph leads to."""
        if self._count == 0:
            return np.empty(0, np.int64)
        keys = self._graph.search(row, 10, threads=1).keys.astype(np.int64)
        gaps = ((self._rows[keys] - row) ** 2).sum(axis=1)
        best: Found = keys[[gaps.argmin()]]
        return best

    @property
    def recall(self) -> float | None:
        """It does not know."""
        return None


def _nearest_of_all(X: Rows, queries: Rows) -> Found:
    """By block products."""
    half = (X**2).sum(axis=1) / 2
    return np.concatenate([(some @ X.T - half).argmax(axis=1) for some in np.split(queries, 10)])


def _tree(way: str, width: int, metric: str, recall: float) -> Tree:
    if way == "hnsw":
        return GraphTree(width, metric)
    return Tree(width, metric, recall if way == "cells" else None)


def run(tree: Tree, X: Rows, stories: Found | None) -> str:
    """One line of the table."""
    begin = time.process_time()
    tree.insert(X[:-_ASKED])
    took = time.process_time() - begin
    begin = time.process_time()
    found = tree.nearest(X[-_ASKED:])
    query = (time.process_time() - begin) / _ASKED * 1e6
    begin = time.process_time()
    tree.insert(X[-_ASKED:])
    took += time.process_time() - begin
    recall = float((found == _nearest_of_all(X[:-_ASKED], X[-_ASKED:])).mean())
    told = "" if tree.recall is None else f"{tree.recall:.3f}"
    hierarchy = tree.hierarchy()
    purity = "" if stories is None else f"{dendrogram_purity(hierarchy, stories):.4f}"
    revenue = revenue_fraction(hierarchy, X, sample=200_000, random_state=0)
    return f"{took:9.1f}{recall:9.3f}{told:>9}{query:9.0f}{purity:>9}{revenue:9.4f}"


def _shuffled(X: Rows, stories: Found) -> tuple[Rows, Found]:
    order = np.random.default_rng(0).permutation(len(X))
    rows = X[order] / np.linalg.norm(X[order], axis=1, keepdims=True)
    return rows.astype(np.float32), stories[order]


WAYS = ("exact", "cells", "hnsw")

#: Rows and stories, by name; the metric is cosine where there are stories.
SETS: dict[str, Callable[[str | None], tuple[Rows, Found | None]]] = {
    "news": lambda data: _shuffled(news(data), news_stories(data)),
    "mixture": lambda data: (mixture(100_000, 64).astype(np.float32), None),
    "300K": lambda data: like_news(data, 300_000),
    "1M": lambda data: like_news(data, 1_000_000),
}


def main() -> None:
    """Print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA"), help="has wcep/")
    parser.add_argument("--sets", nargs="+", default=["news", "mixture", "300K"], choices=SETS)
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS)
    parser.add_argument("--recall", type=float, default=0.97)
    options = parser.parse_args()
    for name in options.sets:
        X, stories = SETS[name](options.data)
        metric = "sqeuclidean" if stories is None else "cosine"
        print(f"{name}: {len(X):,} x {X.shape[1]}, {metric}")
        print(
            f"{'':8}{'seconds':>9}{'recall':>9}{'recall_':>9}{'query':>9}{'purity':>9}{'revenue':>9}"
        )
        for way in options.ways:
            tree = _tree(way, X.shape[1], metric, options.recall)
            print(f"{way:8}{run(tree, X, stories)}", flush=True)


if __name__ == "__main__":
    main()
