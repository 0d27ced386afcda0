# SPDX-License-Identifier: BSD-3-Clause
"""Threads that read at once: ``python -m benchmarks.readers``.

Questions a second of one thread, and of several together as a multiple of it, with a GIL or
without, as this Python has it. *live* asks one live model where single rows belong, *live, 500*
where 500 rows belong: readers of a live tree share it. *snapshot* cuts one frozen tree, which all
share. *own* and *own, 500* ask a model of its own in each thread: what the machine and Python
allow at most. Rounds of one thread and of several alternate, and the best of each counts.
"""

import argparse
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

import ramify

_SECONDS = 0.5


def _questions(ask: list[Callable[[], object]]) -> float:
    """Answers a second of threads that ask without a pause."""
    start = threading.Barrier(len(ask) + 1)
    counts = [0] * len(ask)

    def work(which: int) -> None:
        start.wait()
        begun = time.perf_counter()
        count = 0
        while time.perf_counter() - begun < _SECONDS:
            ask[which]()
            count += 1
        counts[which] = count

    threads = [threading.Thread(target=work, args=(which,)) for which in range(len(ask))]
    for thread in threads:
        thread.start()
    start.wait()
    for thread in threads:
        thread.join()
    return sum(counts) / _SECONDS


def _asking(kind: str, threads: int, n: int) -> list[Callable[[], object]]:
    rows = np.random.default_rng(0).normal(size=(n, 8))
    if kind == "snapshot":
        tree = ramify.OHAC().fit(rows).hierarchy()
        return [lambda: tree.cut(n_clusters=50)] * threads
    name, _, count = kind.partition(", ")
    asked = rows[: int(count or 1)]
    models = [ramify.OHAC(n_clusters=50).fit(rows) for _ in range(threads if name == "own" else 1)]

    def of(model: ramify.OHAC) -> Callable[[], object]:
        return lambda: model.predict(asked)

    return [of(models[which % len(models)]) for which in range(threads)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(
        f"Python {sys.version.split()[0]}, GIL {'on' if gil else 'off'}, {options.points:,} points"
    )
    for kind in ("live", "live, 500", "snapshot", "own", "own, 500"):
        asking = _asking(kind, options.threads, options.points)
        best = [0.0, 0.0]
        for _ in range(options.rounds):
            for place, some in enumerate((asking[:1], asking)):
                best[place] = max(best[place], _questions(some))
        print(
            f"{kind:<9} {best[0]:>9,.0f} a second, {options.threads} threads "
            f"{best[1] / best[0]:.2f} times as many"
        )


if __name__ == "__main__":
    main()
