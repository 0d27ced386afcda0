# SPDX-License-Identifier: BSD-3-Clause
"""work.py: what is timed. Each function makes its rows, then returns the timed part.

A timed part is a function without arguments; it may return a dict of further
figures (depth, revenue, ...). Ours and the peers' stand side by side.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import streams

Timed = Callable[[], dict[str, Any] | None]


def rows_of(stream: str, **options: Any) -> streams.Rows:
    """Rows by the name of a function of streams.py."""
    rows: streams.Rows = getattr(streams, stream)(**options)
    return rows


def ramify_stream(algorithm: str, rows: dict[str, Any], **options: Any) -> Timed:
    """One of our online algorithms over a whole stream, in one ``partial_fit``."""
    import ramify

    X = rows_of(**rows)
    model = getattr(ramify, algorithm)(**options)

    def work() -> dict[str, Any]:
        model.partial_fit(X)
        return {"points": len(X)}

    return work


def ramify_fit(rows: dict[str, Any], **options: Any) -> Timed:
    """Our exact offline HAC."""
    import ramify

    X = rows_of(**rows)
    model = ramify.HAC(**options)

    def work() -> dict[str, Any]:
        model.fit(X)
        return {"points": len(X)}

    return work


def ramify_inserts(rows: dict[str, Any], batch: int) -> Timed:
    """Single ``insert`` calls from Python, beside the same rows in batches."""
    import ramify

    X = rows_of(**rows)

    def work() -> dict[str, Any]:
        whole = ramify.OHAC()
        start = time.perf_counter()
        whole.partial_fit(X[:batch])
        inside = time.perf_counter() - start
        single = ramify.OHAC()
        insert = single.insert
        start = time.perf_counter()
        for row in X[:batch]:
            insert(row)
        outside = time.perf_counter() - start
        return {"extra_us": (outside - inside) / batch * 1e6}

    return work


def ramify_latency(rows: dict[str, Any], measured: int) -> Timed:
    """Latencies of the last single inserts of a stream."""
    import ramify

    X = rows_of(**rows)
    model = ramify.OHAC()
    model.partial_fit(X[:-measured])
    model.insert(X[-measured])

    def work() -> dict[str, Any]:
        insert, clock = model.insert, time.perf_counter
        took = []
        for row in X[-measured + 1 :]:
            start = clock()
            insert(row)
            took.append(clock() - start)
        median, p99, p999 = np.quantile(took, [0.5, 0.99, 0.999])
        return {
            "median_us": median * 1e6,
            "p99": p99 / median,
            "p999": p999 / median,
            "worst": max(took) / median,
        }

    return work


def ckdtree(rows: dict[str, Any], sample: int | None = None) -> Timed:
    """SciPy's k-d tree: build, then everyone's nearest neighbour (or a sample's, scaled)."""
    from scipy.spatial import cKDTree

    X = rows_of(**rows).astype(np.float64)

    def work() -> dict[str, Any]:
        start = time.perf_counter()
        tree = cKDTree(X)
        built = time.perf_counter() - start
        queries = X if sample is None else X[:: max(1, len(X) // sample)]
        start = time.perf_counter()
        tree.query(queries, k=2)
        queried = time.perf_counter() - start
        return {"wall": built + queried * len(X) / len(queries)}

    return work


def block_products(rows: dict[str, Any], block: int = 2048) -> Timed:
    """NumPy's float32 products of all n^2/2 pairs of rows, block by block."""
    X = rows_of(**rows)

    def work() -> None:
        for start in range(0, len(X), block):
            for other in range(0, start + 1, block):
                X[start : start + block] @ X[other : other + block].T

    return work


def fastcluster_average(rows: dict[str, Any]) -> Timed:
    """fastcluster's average linkage on squared distances."""
    import fastcluster

    X = rows_of(**rows).astype(np.float64)

    def work() -> None:
        fastcluster.linkage(X, method="average", metric="sqeuclidean")

    return work
