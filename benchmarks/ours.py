# SPDX-License-Identifier: BSD-3-Clause
"""ours.py: the work of ours that is timed.

Each function takes the rows, gets ready, and returns the part to be timed: a
function without arguments, whose figures are added to the measurement. A figure
named ``tree`` is a function that makes the tree; it is called after the clock
has stopped, by those who want to judge it.
"""

import inspect
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import ramify
from benchmarks.steps import sweep
from benchmarks.streams import Rows
from ramify.metrics import revenue_fraction

Figures = dict[str, Any]
Timed = Callable[[], Figures]


class SkippedError(Exception):
    """This cannot be measured here; the message says why."""


def _model(algorithm: str, options: dict[str, Any]) -> Any:
    """One of our estimators, on one thread unless told otherwise."""
    kind = getattr(ramify, algorithm)
    known = inspect.signature(kind).parameters
    if "n_jobs" in known:
        options = {"n_jobs": 1, **options}
    elif "n_jobs" in options:
        raise SkippedError(f"{algorithm} has no option n_jobs")
    return kind(**options)


def fit(X: Rows, algorithm: str, **options: Any) -> Timed:
    """All rows in one call of ``fit``."""
    model = _model(algorithm, options)

    def work() -> Figures:
        model.fit(X)
        return {"tree": model.hierarchy}

    return work


def batches(X: Rows, algorithm: str, size: int) -> Timed:
    """All rows, in calls of ``partial_fit`` with ``size`` rows each."""
    model = _model(algorithm, {})

    def work() -> Figures:
        for start in range(0, len(X), size):
            model.partial_fit(X[start : start + size])
        return {"tree": model.hierarchy}

    return work


def inserts(X: Rows, block: int = 2_000) -> Timed:
    """Single ``insert`` calls, block by block in turns with ``partial_fit`` of the same rows.

    By the processor's clock, which a busy machine stretches less.
    """
    single, whole = _model("OHAC", {}), _model("OHAC", {})
    rows = list(X)

    def work() -> Figures:
        extra = []
        for start in range(0, len(X), block):
            some, clock, insert = rows[start : start + block], time.process_time, single.insert
            begin = clock()
            whole.partial_fit(X[start : start + block])
            between = clock()
            for row in some:
                insert(row)
            extra.append(((clock() - between) - (between - begin)) / len(some))
        return {"extra_us": float(np.median(extra)) * 1e6, "tree": single.hierarchy}

    return work


def _at_the_end(algorithm: str, X: Rows, measured: int) -> float:
    """Microseconds of one of the last inserts, in a batch, by the processor's clock."""
    model = _model(algorithm, {}).fit(X[:-measured])
    begin = time.process_time()
    model.partial_fit(X[-measured:])
    return (time.process_time() - begin) / measured * 1e6


def beyond(X: Rows, measured: int = 2_000, rounds: int = 5) -> Timed:
    """What OHAC adds to the search for the nearest point, beside which NaiveNN hangs a new one.

    The median of some rounds: fresh memory comes in large pieces, and differences double what
    that does to a figure.
    """
    measured = min(measured, len(X) // 4)

    def work() -> Figures:
        took = [
            [_at_the_end(name, X, measured) for name in ("OHAC", "NaiveNN")] for _ in range(rounds)
        ]
        ohac, search = np.median(took, axis=0)
        return {"beyond_us": float(ohac - search), "search_us": float(search)}

    return work


def latency(X: Rows, measured: int) -> Timed:
    """How long each of the last single inserts of a stream takes."""
    measured = min(measured, len(X) // 2)
    model = _model("OHAC", {})
    model.partial_fit(X[:-measured])
    model.insert(X[-measured])
    rows = list(X[1 - measured :])

    def work() -> Figures:
        insert, clock = model.insert, time.perf_counter
        took = []
        for row in rows:
            start = clock()
            insert(row)
            took.append(clock() - start)
        median, p99, p999 = np.quantile(took, [0.5, 0.99, 0.999])
        return {
            "points": len(rows),
            "median_us": float(median) * 1e6,
            "p99": float(p99 / median),
            "p999": float(p999 / median),
            "worst": max(took) / float(median),
        }

    return work


def reads(X: Rows, n_clusters: int = 100, rounds: int = 500) -> Timed:
    """Reading a tree after every insert: one row at a time, clusters, labels, a snapshot."""
    rounds = min(rounds, len(X) // 8)
    few = min(10, rounds // 2)
    model = _model("OHAC", {"n_clusters": min(n_clusters, len(X) // 4)})
    model.partial_fit(X[: -4 * rounds])
    model.hierarchy()  # what the first reader pays for everybody
    rows, queries = iter(X[-4 * rounds :]), X[:rounds]

    def after_an_insert(read: Callable[[int], object], times: int) -> tuple[float, float]:
        """Seconds of the insert and the read, and of the read alone."""
        both, alone = [], []
        for i in range(times):
            row, start = next(rows), time.perf_counter()
            model.insert(row)
            between = time.perf_counter()
            read(i)
            both.append(time.perf_counter() - start)
            alone.append(time.perf_counter() - between)
        return float(np.median(both)), float(np.median(alone))

    def work() -> Figures:
        nearest, _ = after_an_insert(lambda i: model.nearest(queries[i : i + 1]), rounds)
        predict, _ = after_an_insert(lambda i: model.predict(queries[i : i + 1]), rounds)
        _, clusters = after_an_insert(lambda i: model.clusters(), rounds)
        _, labels = after_an_insert(lambda i: model.labels_, few)
        _, snapshot = after_an_insert(lambda i: model.hierarchy(), few)
        return {
            "predict": predict / nearest,
            "clusters_ms": clusters * 1e3,
            "labels_ms": labels * 1e3,
            "hierarchy_ms": snapshot * 1e3,
        }

    return work


def readers(X: Rows, threads: int = 4, share: int = 5) -> Timed:
    """Several threads that assign rows, one by one, while a batch goes in."""
    first = len(X) - len(X) // share
    model = _model("OHAC", {"n_clusters": min(100, first)})
    model.partial_fit(X[:first])
    model.hierarchy()
    took: list[float] = []
    done = threading.Event()

    def read(number: int) -> None:
        rng = np.random.default_rng(number)
        while not done.is_set():
            i, start = int(rng.integers(first)), time.perf_counter()
            model.assign(X[i : i + 1])
            took.append(time.perf_counter() - start)

    def work() -> Figures:
        crew = [threading.Thread(target=read, args=(i,)) for i in range(threads)]
        for thread in crew:
            thread.start()
        try:
            model.partial_fit(X[first:])
        finally:
            done.set()
            for thread in crew:
                thread.join()
        return {"points": len(X) - first, "read_p99_ms": float(np.quantile(took, 0.99)) * 1e3}

    return work


def window(X: Rows, share: int = 10) -> Timed:
    """A window over a stream, beside plain inserts of the same rows, by the processor's clock.

    Also how much the process grows after its second window, and the revenue of what is
    left beside that of a fresh tree.
    """
    size = len(X) // share

    def pass_through(model: Any, held: list[float]) -> float:
        took = 0.0
        for start in range(0, len(X), size):
            begin = time.process_time()
            model.partial_fit(X[start : start + size])
            took += time.process_time() - begin
            held.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return took

    def work() -> Figures:
        held: list[float] = []
        windowed = _model("OHAC", {"keep": ramify.Last(size)})
        in_window, plain = pass_through(windowed, held), pass_through(_model("OHAC", {}), [])
        kept, fresh = windowed.points(), _model("OHAC", {}).fit(X[-size:])
        draw: dict[str, Any] = {"sample": 200_000, "random_state": 0}
        revenue = [
            float(revenue_fraction(model.hierarchy(), kept, **draw)) for model in (windowed, fresh)
        ]
        return {
            "points": len(X),
            "window": in_window / plain,
            "window_memory": max(held) / held[1],
            "window_revenue": revenue[0] - revenue[1],
        }

    return work


def live_use(X: Rows) -> Timed:
    """Rows that come one at a time: as they are, into a marked tree, and into a window."""
    half = len(X) // 2

    def each(model: Any) -> float:
        begin = time.process_time()
        for row in X[half:]:
            model.insert(row)
        return time.process_time() - begin

    def work() -> Figures:
        plain, marked = (_model("OHAC", {}).partial_fit(X[:half]) for _ in range(2))
        marked.edit.must_link(0, 1)
        took = each(plain)
        return {
            "points": half,
            "marked": each(marked) / took,
            "single_window": each(_model("OHAC", {"keep": ramify.Last(half)}).partial_fit(X[:half]))
            / took,
        }

    return work


def budget(X: Rows, leaves: int = 50_000, share: int = 10, held_out: int = 20_000) -> Timed:
    """A stream through a budget of leaves, beside the first of its rows without one.

    Also how much the process grows after its second part, and the revenue of both trees on
    rows that neither has seen, each hung beside its nearest leaf.
    """
    held_out, leaves = min(held_out, len(X) // 10), min(leaves, len(X) // 4)
    rows, unseen = X[:-held_out], X[-held_out:]
    size = len(rows) // share
    model = _model("OHAC", {"keep": ramify.Budget(leaves, members=False)})

    def work() -> Figures:
        held, took = [], 0.0
        for start in range(0, size * share, size):
            begin = time.process_time()
            model.partial_fit(rows[start : start + size])
            took += time.process_time() - begin
            held.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        free = _model("OHAC", {}).fit(rows[: max(size, leaves)])
        draw: dict[str, Any] = {"sample": 200_000, "random_state": 0}
        revenue = [
            float(revenue_fraction(_beside(tree, unseen), unseen, **draw)) for tree in (model, free)
        ]
        return {
            "points": len(rows),
            "budget_us": took / len(rows) * 1e6,
            "window_memory": max(held) / held[1],
            "window_revenue": revenue[0] - revenue[1],
        }

    return work


def _beside(model: Any, rows: Rows) -> Any:
    """The model's tree over other rows alone, each of them in the leaf of its nearest point."""
    near = np.asarray(model.nearest(rows)[0]).ravel()
    tree = model.hierarchy()
    at = np.searchsorted(tree.point_numbers, near)
    used, inside = np.unique(at, return_inverse=True)
    order = np.argsort(inside, kind="stable")
    n = len(rows)
    node: dict[int, int] = {}
    merges: list[tuple[int, int]] = []
    heights: list[float] = []

    def join(a: int, b: int, height: float) -> int:
        merges.append((a, b))
        heights.append(height)
        return n + len(merges) - 1

    groups = np.split(order, np.cumsum(np.bincount(inside))[:-1])
    for leaf, group in zip(used.tolist(), groups, strict=True):
        top = int(group[0])
        for one in group[1:].tolist():
            top = join(top, int(one), 0.0)
        node[leaf] = top
    for row, (a, b) in enumerate(tree.children.tolist()):
        inner = tree.n_leaves + row
        if a in node and b in node:
            node[inner] = join(node[a], node[b], float(tree.monotone_heights[row]))
        elif a in node or b in node:
            node[inner] = node[a] if a in node else node[b]
    return ramify.Hierarchy.from_children(np.array(merges), np.array(heights))


def growth(X: Rows, algorithm: str = "OHAC", first: int = 10_000) -> Timed:
    """Time per insert while the tree grows: a curve, and the exponent of n that fits it.

    By the processor's clock, which a busy machine stretches less.
    """
    model = _model(algorithm, {})
    first = min(first, len(X) // 10)
    steps = int(np.ceil(4 * np.log10(len(X) / first)))  # four a decade
    marks = np.geomspace(first, len(X), steps + 1).astype(int)

    def work() -> Figures:
        model.partial_fit(X[:first])
        curve = []
        for start, stop in pairwise(marks.tolist()):
            begin = time.process_time()
            model.partial_fit(X[start:stop])
            took = time.process_time() - begin
            curve.append([float(np.sqrt(start * stop)), took / (stop - start) * 1e6])
        n, cost = np.log(np.array(curve)).T
        return {"curve": curve, "exponent": float(np.polyfit(n, cost, 1)[0])}

    return work


def interrupted(X: Rows, after: float = 0.3) -> Timed:
    """Press Ctrl-C in the middle of a batch: how long until it is heard, and is the tree valid?"""
    model = _model("OHAC", {})

    def work() -> Figures:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
        begin = time.perf_counter()
        timer.start()
        try:
            model.fit(X)
            timer.cancel()
        except KeyboardInterrupt:
            model.check()
            return {"heard_ms": (time.perf_counter() - begin - after) * 1e3, "points": len(model)}
        return {}  # the batch was over before the signal

    return work


def steps(X: Rows) -> Timed:
    """Places where one more column, or more rows, suddenly cost more, in streams as long as X."""

    def work() -> Figures:
        return {"steps": sum(place.marks for place in sweep((len(X) // 4, len(X))))}

    return work


def near(X: Rows, metric: str = "sqeuclidean") -> Timed:
    """OHAC with near neighbours; and how many of them, it says, were the nearest."""
    model = _model("OHAC", {"neighbors": ramify.Cells(), "metric": metric})

    def work() -> Figures:
        model.fit(X)
        return {"tree": model.hierarchy, "recall": lambda: float(model.recall_)}

    return work
