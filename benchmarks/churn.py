# SPDX-License-Identifier: BSD-3-Clause
"""How long cluster ids last on a stream of news: ``python -m benchmarks.churn --data FOLDER``;
and names that people gave, when a tenth more points come: ``python -m benchmarks.churn --names``.

Rows stream in, and after every 500 of them somebody reads the id of every point's cluster.
Of two readings in a row, with n points at the first:

    kept     a cluster of the first reading, if one of the second shares more than half of
             the points of both (points that are new count for neither)
    churn    points of kept clusters whose id is another one, as a share of n
    merged   the same of clusters that are not kept, but most of which lie in a larger one
    changed  all points whose id is another one
    floor    the least that can change if each id goes to one cluster, by matching them

All are means over the readings, each weighing as much as it has points. ``labels`` are
dense, numbered by first points; ``ids`` are ``stable_labels``. scikit-learn's Birch numbers
its clusters as it likes.
"""

import argparse
import copy
import os
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.cluster import Birch

from benchmarks.streams import Rows, news
from ramify import OHAC, datasets

Ids = npt.NDArray[np.int64]


class Churn:
    """Sums over the readings so far."""

    def __init__(self) -> None:
        self._last: Ids | None = None
        self.points = self.churned = self.merged = self.changed = self.least = 0

    def read(self, ids: Ids) -> None:
        """The ids of all points so far."""
        if (then := self._last) is not None:
            now = ids[: len(then)]
            pairs, shared = np.unique(np.column_stack([then, now]), axis=0, return_counts=True)
            half = [2 * shared > _sizes(side, pairs[:, i]) for i, side in enumerate((then, now))]
            kept = pairs[half[0] & half[1], 0]
            together = np.setdiff1d(pairs[half[0], 0], kept)
            other = then != now
            self.points += len(then)
            self.changed += int(other.sum())
            self.churned += int((other & np.isin(then, kept)).sum())
            self.merged += int((other & np.isin(then, together)).sum())
            self.least += len(then) - _most_at_home(pairs, shared)
        self._last = ids

    def row(self) -> str:
        """The shares."""
        parts = self.churned, self.merged, self.changed, self.least
        return "".join(f"{100 * part / max(self.points, 1):9.2f} %" for part in parts)


def _sizes(ids: Ids, asked: Ids) -> Ids:
    """How many points have each of the ids asked for."""
    known, counts = np.unique(ids, return_counts=True)
    sizes: Ids = counts[np.searchsorted(known, asked)]
    return sizes


def _most_at_home(pairs: Ids, shared: Ids) -> int:
    """Points that can keep their id at best: a matching of old and new clusters."""
    from scipy.optimize import linear_sum_assignment

    table = np.zeros(tuple(len(np.unique(side)) for side in pairs.T))
    places = [np.unique(side, return_inverse=True)[1] for side in pairs.T]
    table[places[0], places[1]] = shared
    return int(table[linear_sum_assignment(table, maximize=True)].sum())


Reading = Callable[[Rows, int, int], Iterator[Ids]]


def _ours(linkage: Literal["average", "ward"], stable: bool) -> Reading:
    def readings(X: Rows, k: int, step: int) -> Iterator[Ids]:
        model = OHAC(n_clusters=k, metric="cosine", linkage=linkage)
        for start in range(0, len(X), step):
            model.partial_fit(X[start : start + step])
            if len(model) >= k:
                yield model.stable_labels() if stable else model.labels_

    return readings


def _birch(threshold: float) -> Reading:
    def readings(X: Rows, k: int, step: int) -> Iterator[Ids]:
        rows = X / np.linalg.norm(X, axis=1, keepdims=True)
        model: Any = Birch(threshold=threshold, n_clusters=None, compute_labels=False)
        for start in range(0, len(X), step):
            model.partial_fit(rows[start : start + step])
            if len(model.subcluster_centers_) >= k:
                model.set_params(n_clusters=k).partial_fit()  # its last step, and no rows
                yield model.predict(rows[: start + step])
                model.set_params(n_clusters=None)

    return readings


def names() -> None:
    """Name all clusters of a cut, let a tenth more come, and see where the names are."""
    heads = "node gone", "moved", "lost", "not shown", "id gone", "sticky"
    print(" " * 24 + "".join(f"{head:>12}" for head in heads))
    intents = datasets.intents().points
    cities = datasets.cities().points[:20_000]
    streams: list[tuple[str, Any, Literal["cosine", "sqeuclidean"]]] = [
        ("intents", intents, "cosine"),
        ("cities", cities, "sqeuclidean"),
    ]
    for what, rows, metric in streams:
        X = np.asarray(rows)[np.random.default_rng(0).permutation(len(rows))]
        begin = int(len(X) / 1.1)
        for k in 8, 30, 100, 1_000:
            model: Any = OHAC(metric=metric).fit(X[:begin])
            given = model.clusters(n_clusters=k)
            for cluster in given:
                model.edit.rename(cluster, f"{cluster.label}")
            sticky = copy.deepcopy(model)
            ids, held = model.stable_labels(n_clusters=k), sticky.stable_labels(n_clusters=k)
            model.partial_fit(X[begin:])
            sticky.partial_fit(X[begin:])
            later = sticky.stable_labels(n_clusters=k, stickiness=0.01)
            tree, now = model.hierarchy(), model.clusters(n_clusters=k)
            there = np.concatenate([tree.node_ids, -1 - tree.leaf_numbers])
            shown = {name for name in now.names or [] if name is not None}
            shares = [
                (~np.isin(given.node_ids, there)).mean(),
                (~np.isin(given.node_ids, now.node_ids)).mean(),
                len(model.edit.list().lost_names) / k,
                1 - len(shown) / k,
                (~np.isin(np.unique(ids), model.stable_labels(n_clusters=k))).mean(),
                (~np.isin(np.unique(held), later)).mean(),
            ]
            print(
                f"{f'{what}, {k} clusters':24}" + "".join(f"{s:12.1%}" for s in shares), flush=True
            )


def main() -> None:
    """Print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA"), help="has wcep/")
    parser.add_argument("--rows", type=int, default=None, help="only so many")
    parser.add_argument("--clusters", type=int, default=1_000)
    parser.add_argument("--every", type=int, default=500, help="rows between two readings")
    parser.add_argument("--threshold", type=float, default=0.85, help="Birch's")
    parser.add_argument("--names", action="store_true", help="names at a tenth more points")
    options = parser.parse_args()
    if options.names:
        names()
        return
    X = news(options.data, options.rows)
    print(f"{len(X):,} rows, {options.clusters:,} clusters, read every {options.every} rows")
    print(f"{'':32}{'churn':>11}{'merged':>11}{'changed':>11}{'floor':>11}{'seconds':>10}")
    runs = {
        "OHAC, average, ids": _ours("average", stable=True),
        "OHAC, ward, ids": _ours("ward", stable=True),
        "OHAC, average, labels": _ours("average", stable=False),
        f"Birch, threshold {options.threshold:g}": _birch(options.threshold),
    }
    for name, readings in runs.items():
        churn, start = Churn(), time.perf_counter()
        for ids in readings(X, options.clusters, options.every):
            churn.read(np.asarray(ids, np.int64))
        print(f"{name:32}{churn.row()}{time.perf_counter() - start:10.1f}", flush=True)


if __name__ == "__main__":
    main()
