# SPDX-License-Identifier: BSD-3-Clause
"""past.py: what it costs a tree in a folder to keep what became of it, and to be asked.

    python -m benchmarks.past [--points 100000] [--inserts 3000] [--columns 3] [--bytes 67108864]

One tree with a history and one without take the same rows, one a call, in turns: how long each
call takes, what the steps take of the folder, and what the history takes of memory. Then the tree
is opened anew, and asked what became of it since its first version, and since the one before last.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import ramify


def resident() -> float:
    """Megabytes that this process has; NaN where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of it."""
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def grow(folder: Path, points: int, inserts: int, columns: int, most: int) -> int:
    """Rows into both trees, in turns; the first version that the one with a history knows."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(points + inserts, columns)).astype(np.float32)
    trees: list[Any] = []
    times: list[list[float]] = []
    for history in (0, 1):
        before = resident()
        tree = ramify.open(folder / str(history), ramify.OHAC(history=history), history_bytes=most)
        tree.partial_fit(rows[:points])
        trees.append(tree)
        times.append([])
        kept = "a history" if history else "none"
        print(f"{points:,} x {columns} with {kept}: {resident() - before:.0f} MB of memory")
    first: int = trees[1].version
    before = resident()
    for i, row in enumerate(rows[points:]):
        for which in (0, 1) if i % 2 else (1, 0):
            times[which].append(timed(partial(trees[which].insert, row))[0])
    print(f"memory after {inserts:,} inserts into each: {resident() - before:+.0f} MB")
    p50 = [1000 * float(np.median(some)) for some in times]
    mean = [1000 * float(np.mean(some)) for some in times]
    print(
        f"an insert: p50 {p50[0]:.2f} ms without, {p50[1]:.2f} with: {p50[1] / p50[0]:.2f} times; "
        f"means {mean[1] / mean[0]:.2f} times"
    )
    for tree in trees:
        tree.close()
    return first


def ask(folder: Path, first: int) -> None:
    """Open the tree anew, and ask."""
    seconds, tree = timed(lambda: ramify.open(folder / "1"))
    with tree:
        ask = "SELECT count(*), sum(length(body)) FROM past"
        count, size = tree._writer.store._connection.execute(ask).fetchone()
        print(f"{count:,} versions in {size / 1e6:.1f} MB: {size / count:,.0f} bytes each")
        print(f"opened in {seconds:.2f} s")
        oldest = tree.past.oldest
        print(f"known since {'the first' if oldest == first else f'{oldest - first:,} later'}")
        for name, since in (("oldest", oldest), ("last but one", tree.version - 1)):
            seconds, found = timed(partial(tree.past.changes, since))
            print(f"changes since the {name}: {seconds:.3f} s, {len(found.inserted):,} points")
            seconds, dirty = timed(partial(tree.past.dirty, since, n_clusters=100))
            print(f"dirty of 100 clusters: {seconds:.3f} s, {len(dirty.labels)} of them")


def main() -> None:
    """For the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.past")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--inserts", type=int, default=3000)
    parser.add_argument("--columns", type=int, default=3)
    parser.add_argument("--bytes", type=int, default=64 << 20)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        first = grow(Path(place), told.points, told.inserts, told.columns, told.bytes)
        ask(Path(place), first)


if __name__ == "__main__":
    main()
