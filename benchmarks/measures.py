# SPDX-License-Identifier: BSD-3-Clause
"""How long measures take on large trees: ``python benchmarks/measures.py``.

Wall seconds, of one run each; cpu seconds beside them, which a busy machine does not
stretch as much.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ramify import HAC, OHAC, OTD
from ramify.metrics import dendrogram_purity, revenue, revenue_fraction, triplet_distance


def gmm(n: int, seed: int = 0) -> npt.NDArray[np.float64]:
    """100 Gaussians in the unit cube."""
    rng = np.random.default_rng(seed)
    return rng.random((100, 3))[rng.integers(100, size=n)] + 0.05 * rng.normal(size=(n, 3))


def timed(what: str, work: Callable[[], object]) -> None:
    """Run once and print one line."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{what:58} {wall:8.3f} s  cpu {cpu:8.3f} s   {result!r}", flush=True)


def main() -> None:
    """Print one line a measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaves", type=int, default=100_000, help="of compared trees")
    parser.add_argument("--points", type=int, default=1_000_000, help="of sampled trees")
    options = parser.parse_args()

    n = options.leaves
    X = gmm(n)
    hac, ohac, otd = (model.fit(X).hierarchy() for model in (HAC(), OHAC(), OTD()))
    timed(
        f"triplet distance, exact, {n:,} leaves, HAC and OHAC", lambda: triplet_distance(hac, ohac)
    )
    timed(f"triplet distance, exact, {n:,} leaves, HAC and OTD", lambda: triplet_distance(hac, otd))
    timed(f"triplet distance, exact, {n:,} leaves, OTD and HAC", lambda: triplet_distance(otd, hac))
    timed("the same, 1,000,000 triples", lambda: triplet_distance(otd, hac, sample=10**6))
    some = HAC().fit(X[:20_000]).hierarchy()
    timed("rbf revenue, exact, 20,000 points", lambda: revenue_fraction(some, X[:20_000]))

    n = options.points
    X = gmm(n)
    tree = HAC().fit(X).hierarchy()
    labels = tree.cut(n_clusters=100)[np.random.default_rng(0).permutation(n)]
    draw = {"sample": 100_000, "random_state": 0}
    timed(f"prepare samples, {n:,} points", lambda: tree.lca(0, 1))
    timed("rbf revenue, 100,000 pairs", lambda: revenue(tree, X, **draw))  # type: ignore[arg-type]
    draw["sample"] = 1_000_000
    timed(
        "rbf revenue fraction, 1,000,000 pairs",
        lambda: revenue_fraction(tree, X, **draw),  # type: ignore[arg-type]
    )
    timed(
        f"sqeuclidean revenue, exact, {n:,} points",
        lambda: revenue_fraction(tree, X, similarity="sqeuclidean"),
    )
    timed(f"purity, exact, {n:,} points", lambda: dendrogram_purity(tree, labels))


if __name__ == "__main__":
    main()
