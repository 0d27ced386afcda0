# SPDX-License-Identifier: BSD-3-Clause
"""Which engine merges the forests of each stream: ``make engines``.

Needs a build that counts (``RAMIFY_TALLY``). Streams are the cases of ``make bench`` that fit
one of our estimators, cut short; a sweep over kinds of data, columns and linkages; the streams
of ``lives.py``; and streams on which an insert opens nearly the whole tree. For each group and
engine: how many forests it merged, how many merges those were, the largest forest, and how
often it could not tell and left the forest to the next engine. Then the table's own ways, by
merge.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import ramify
from benchmarks import builds, lives, streams
from benchmarks.plan import Plan
from ramify import _core

#: In the order of `Engine` (core/forest/tally.hpp).
ENGINES = (
    "table, chain",
    "table, greedy",
    "stable part, foot of two",
    "few, in registers",
    "matrix",
    "buckets",
    "scan",
)
WAYS = (
    "table: several at once",
    "table: one at a time",
    "table: settled exactly",
    "table: settled as the matrix",
)
Stream = tuple[str, Callable[[], Any]]


def fitted(rows: Any, options: dict[str, Any]) -> None:
    """Grow one of our trees."""
    model = dict(options)
    getattr(ramify, model.pop("algorithm", "OHAC"))(**model).fit(rows)


def made_and_fitted(rows: dict[str, Any], options: dict[str, Any]) -> None:
    """The same of rows that are made now."""
    fitted(streams.rows_of(**rows), options)


def cases(most: int) -> Iterator[Stream]:
    """Of ``make bench``, up to so many rows."""
    plan = Plan(os.environ.get("RAMIFY_DATA"))
    for case in builds.cases(plan, full=True).values():
        if "data" in case.ours.rows and plan.data is None:
            continue
        rows = {**case.ours.rows, "n": min(case.ours.rows.get("n", most), most)}
        yield case.name, partial(made_and_fitted, rows, case.ours.options)


def sweep(most: int) -> Iterator[Stream]:
    """Kinds of data, columns and linkages: where an insert might suddenly cost more."""
    for kind in ("latent", "gaussian", "mixture", "records", "words", "positive"):
        for width in (2, 8, 16, 31, 64, 256):
            if kind == "records" and width < 8:
                continue
            for name, options in lives.MODELS.items():
                n = min(most, 200_000 // width, 1_500 if "centroid" in name else most)
                rows = getattr(streams, kind)(n, width)
                if options.get("metric") == "cosine":
                    rows = rows + 1
                yield (
                    f"{kind} {n} x {width}, {name}",
                    partial(fitted, rows, options),
                )


def bombs() -> Iterator[Stream]:
    """Each insert opens a path through much of the tree."""
    rng = np.random.default_rng(0)
    for name in ("average", "centroid", "dot"):
        for n in (300, 1_200):
            scale = np.exp(-np.arange(n) / n * 100)[:, np.newaxis]
            for what, rows in (
                ("shrinking", rng.standard_normal((n, 20)) * scale),
                ("one-hot", np.eye(min(n, 300))),
            ):
                yield (
                    f"{what} {len(rows)}, {name}",
                    partial(fitted, rows, lives.MODELS[name]),
                )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000, help="at most, of each stream")
    parser.add_argument("--each", action="store_true", help="a line for every stream as well")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # that trees are deep is the point
    groups: dict[str, Iterator[Stream]] = {
        "make bench": cases(arguments.rows),
        "sweep": sweep(arguments.rows),
        "lives": ((f"{stream}, {model}", live) for stream, model, live in lives.lives()),
        "deep trees": bombs(),
    }
    print(f"{'':28}{'forests':>10}{'merges':>12}{'largest':>9}{'gave up':>9}")
    for group, some in groups.items():
        total = np.zeros((len(ENGINES) + len(WAYS), 4), np.int64)
        for name, stream in some:
            _core.tallies()  # type: ignore[attr-defined]
            stream()
            found = np.array(_core.tallies())  # type: ignore[attr-defined]
            total[:, :3] += found[:, :3]
            total[:, 3] = np.maximum(total[:, 3], found[:, 3])
            if arguments.each:
                show(f"  {name}", found)
        show(group, total)


def show(group: str, counted: Any) -> None:
    """Lines of one group; what did nothing is left out."""
    print(f"\n{group}")
    for name, (forests, merges, given_up, largest) in zip(ENGINES + WAYS, counted, strict=True):
        if forests or given_up:
            print(f"  {name:26}{forests:10,}{merges:12,}{largest:9,}{given_up:9,}", flush=True)


if __name__ == "__main__":
    main()
