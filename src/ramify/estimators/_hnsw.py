# SPDX-License-Identifier: BSD-3-Clause
"""_hnsw.py: approximate neighbours, by the HNSW graph of usearch, for OHAC's tree.

A row's nearest points are looked up in the graph instead of in the core's exact
index; the rest of an insert is the core's. The graph holds the rows as the core
stores them (unit length under cosine), in order of arrival.

The same rows in the same order always give the same graph: usearch draws levels
from a fixed seed, and we use one thread. So the graph need not be stored: a copy
or a loaded model makes it again from its rows when it needs it, and grows on
exactly as the first one would have. Another version of usearch, or another
processor, may give another graph, and so another tree.

usearch looks for signals itself, between two rows. What a handler raises then is lost,
and usearch raises an error of its own; we make a KeyboardInterrupt of it. The graph
holds the rows that came before, so nothing needs mending.
"""

import threading
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.metric import Metric
from ramify.points import FLOAT32, Rows
from ramify.progress import Pulse

#: Links a node, and how many candidates an insert and a search keep.
_LINKS, _WIDTH_ADD, _WIDTH_SEARCH = 16, 128, 64
#: Rows added to the graph between two looks for Ctrl-C.
_STEP = 256


def require_usearch() -> None:
    """Refuse to begin without the library."""
    if find_spec("usearch") is None:
        raise ImportError(
            "neighbors='hnsw' needs usearch, which is not installed: pip install \"ramify[hnsw]\""
        )


class HnswTree:
    """OHAC's tree in the core, and a graph of its first rows, by which new ones find theirs.

    Invariant: node i of the graph is row i; rows that it lacks are added before it is asked.
    """

    def __init__(self, store: Any, metric: Metric, n_neighbors: int) -> None:
        self._store = store
        self._metric = metric
        self._k = n_neighbors
        self._graph: Any = None

    def __len__(self) -> int:
        return len(self._store)

    def insert_one(self, row: Rows) -> int:
        """Insert one row; returns its arrival number."""
        nearest = self._search(row[np.newaxis], min(self._k, len(self)))[0]
        self._store.insert_beside(row[np.newaxis], nearest.astype(np.uint64))
        return len(self) - 1

    def insert_many(self, rows: Rows, pulse: Pulse | None = None, threads: int = 1) -> int:
        """Insert rows in order; returns how many. One thread does it all."""
        for done, row in enumerate(rows):
            if pulse is not None and done % _STEP == 0:
                pulse(done)
            self.insert_one(row)
        return len(rows)

    def __getattr__(self, name: str) -> Any:
        """Whatever needs no neighbours is asked of the core's tree."""
        if name == "_store":  # not there yet, as while being unpickled
            raise AttributeError(name)
        return getattr(self._store, name)

    def assign(
        self, rows: Rows, by: str, value: float, threads: int = 1, with_codes: bool = False
    ) -> tuple[Any, Any, Any, Any, list[str]]:
        """Label and node id of the cluster of each row's near point; it, distance, path code."""
        points, distances = (np.ascontiguousarray(part[:, 0]) for part in self.nearest(rows, 1))
        labels, nodes, codes = self._store.cluster_of(points, by, value, with_codes)
        return labels, nodes, points, distances, codes

    def nearest(
        self, rows: Rows, k: int, threads: int = 1
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Numbers and distances of k near points of each row: most likely the nearest."""
        points, distances = self._search(rows, k)
        # The graph has squared differences, or 1 - x.y where ours is -x.y.
        return points, distances / self._metric.squares_per_distance - self._metric.product

    def check(self) -> None:
        """Raise RuntimeError when the tree or the graph breaks an invariant."""
        self._store.check()
        if self._graph is not None and len(self._graph) > len(self):
            raise RuntimeError("the graph of neighbours holds rows that the tree lacks")

    def _search(self, rows: Rows, k: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """The k points that the graph leads to from each row, and their distances in it."""
        try:
            return self._ask(rows, k)
        except (RuntimeError, SystemError) as error:
            if (interrupt := _interrupt_behind(error)) is None:
                raise
            raise interrupt from None

    def _ask(self, rows: Rows, k: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        self._catch_up(rows.dtype)
        queries = self._metric.prepared(rows)
        points = np.empty((len(rows), k), dtype=np.int64)
        distances = np.empty((len(rows), k))
        for i, query in enumerate(queries if k > 0 else ()):
            found = self._graph.search(query, k, threads=1)
            if len(found) < k:  # parts of a graph can get lost, of heaps of equal rows say
                return self._store_nearest(rows, k)
            points[i], distances[i] = found.keys, found.distances
        return points, distances

    def _store_nearest(self, rows: Rows, k: int) -> tuple[Any, Any]:
        """The exact answer, in the graph's units."""
        points, distances = self._store.nearest(rows, k)
        return points, distances * self._metric.squares_per_distance + self._metric.product

    def _catch_up(self, dtype: np.dtype[Any]) -> None:
        """Add the rows that the graph lacks: the last one, or all of a loaded model."""
        if self._graph is None:
            self._graph = _new_graph(self._store.dim, self._metric, dtype)
        held = len(self._graph)
        if held == len(self):
            return
        rows = self._store.points(held)
        for step in range(0, len(rows), _STEP):
            some = rows[step : step + _STEP]
            self._graph.add(np.arange(held + step, held + step + len(some)), some, threads=1)


def _interrupt_behind(error: Exception) -> BaseException | None:
    """What a signal handler raised inside of usearch, if that is why it stopped.

    It says so in these words, or, before it knew them, as the cause of a SystemError.
    Only the main thread handles signals, and we give usearch nothing else to stop for.
    """
    if isinstance(error, SystemError):
        return error.__cause__
    terminated = str(error) == "Operation has been terminated"
    in_main_thread = threading.current_thread() is threading.main_thread()
    return KeyboardInterrupt() if terminated and in_main_thread else None


def _new_graph(width: int, metric: Metric, dtype: np.dtype[Any]) -> Any:
    require_usearch()  # a model may have been loaded where the library is missing
    from usearch.index import Index

    return Index(
        ndim=width,
        metric="ip" if metric.product else "l2sq",
        dtype="f32" if dtype == FLOAT32 else "f64",
        connectivity=_LINKS,
        expansion_add=_WIDTH_ADD,
        expansion_search=_WIDTH_SEARCH,
    )
