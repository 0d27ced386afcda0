"""graphs.py: `python -m tests.fuzz.graphs`: live graph trees beside offline ones, after anything.

An operation is a row or some rows that come, points that leave, edges that come, change and go,
or a model that is saved and loaded, or pickled. Rows lie on a coarse grid in half of the cases, so
that distances tie and rows are equal. After every few operations the live tree must be that of
GraphHAC of the same points, to the bit, and after every case all invariants must hold.
"""

import argparse
import json
import pickle
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import ramify
from ramify import GraphHAC, Last, LiveGraphHAC
from ramify.hierarchy import Hierarchy

Case: TypeAlias = Callable[[np.random.Generator, Path, int], None]

#: Operations of a case, and how many points there are at most.
LENGTH, MOST = 100, 60


def require_equal(live: Hierarchy, offline: Hierarchy) -> None:
    """Raise AssertionError unless two trees are one, to the bit."""
    assert np.array_equal(live.children, offline.children), "other merges"
    assert np.array_equal(live.heights, offline.heights), "other heights"


def of_rows(rng: np.random.Generator, folder: Path, length: int) -> None:
    """Rows come and go."""
    weight = str(rng.choice(["snn", "jaccard", "similarity"]))
    metric = str(rng.choice(["sqeuclidean", "cosine"]))
    how = {"weight": weight, "metric": metric, "n_neighbors": int(rng.integers(1, 9))}
    width, dtype = int(rng.choice([1, 2, 3, 40])), rng.choice([np.float32, np.float64])
    coarse = rng.random() < 0.5
    most = int(rng.choice([4, 20, MOST]))
    window = int(rng.integers(2, most)) if rng.random() < 0.2 else None
    model = LiveGraphHAC(**how, keep=window and Last(window))
    there: dict[int, Any] = {}
    arrived = 0

    def some(count: int) -> Any:
        rows = rng.normal(size=(count, width)) * 3
        if coarse:
            rows = np.round(rows) * rng.integers(0, 2, (count, width))
        rows[(rows == 0).all(axis=1)] = 1
        return rows.astype(dtype)

    for step in range(length):
        kind = rng.random()
        if kind < 0.45 or len(there) < 2:
            rows = some(1)
            assert model.insert(rows[0]) == arrived
        elif kind < 0.65:
            rows = some(int(rng.integers(2, 8)))
            model.partial_fit(rows)
        else:
            rows = some(0)
        there |= zip(range(arrived, arrived + len(rows)), rows, strict=True)
        arrived += len(rows)
        if window is not None:
            there = dict(list(there.items())[-window:])
        elif 0.65 <= kind < 0.95 or len(there) > most:
            least = max(len(there) - most, 1)
            count = min(least + int(rng.random() < 0.2) * 4, len(there))
            gone = rng.choice(list(there), count, replace=False).tolist()
            assert model.forget(gone) == len(gone)
            for one in gone:
                del there[one]
        if kind >= 0.95:
            model = again(model, rng, folder)
        if there and (step % 4 == 0 or step == length - 1):
            assert model.point_numbers_.tolist() == list(there)
            offline = GraphHAC(**how).fit(np.array(list(there.values())))
            require_equal(model.hierarchy(), offline.hierarchy())
    if there:
        model.check()


def of_edges(rng: np.random.Generator, folder: Path, length: int) -> None:
    """Edges come, change and go, and so do their points."""
    steps = int(rng.choice([1, 4, 1000, 2**30]))  # how many weights there are
    most = float(rng.choice([1.0, 15.0, 0.3]))
    text = rng.random() < 0.5
    model = LiveGraphHAC(max_weight=most)
    there: list[Any] = []
    made = 0
    for step in range(length):
        kind = rng.random()
        if len(there) > 2 and (kind < 0.25 or len(there) > MOST):
            gone = rng.choice(len(there), int(rng.integers(1, 3)), replace=False).tolist()
            names = [there[g] for g in gone]
            assert model.forget(names) == len(names)
            there = [one for one in there if one not in names]
        else:
            new: list[Any] = []
            for _ in range(int(rng.integers(0, 3)) if len(there) > 2 else 3):
                new.append(f"p{made}" if text else 3 * made - 50)
                made += 1
            ends = there[-12:] + new
            m = int(rng.integers(1, 8))
            i, j = rng.integers(0, len(ends), (2, m))
            weights = rng.integers(0, steps, m, endpoint=True) / steps * most
            pairs = ([ends[a] for a in i], [ends[b] for b in j], np.minimum(weights, most))
            model.partial_fit(edges=pairs, ids=new or None)
            there += new
        if kind >= 0.95:
            model = again(model, rng, folder)
        if there and (step % 4 == 0 or step == length - 1):
            assert model.ids_.tolist() == there
            offline = GraphHAC(max_weight=most).fit(edges=model.edges(), ids=there)
            require_equal(model.hierarchy(), offline.hierarchy())
    if there:
        model.check()


def again(model: LiveGraphHAC, rng: np.random.Generator, folder: Path) -> LiveGraphHAC:
    """The same model out of a file, or out of a pickle."""
    found: LiveGraphHAC
    if rng.random() < 0.5:
        found = pickle.loads(pickle.dumps(model))
    else:
        model.save(folder / "model.ramify")
        found = ramify.load(folder / "model.ramify")
    return found


CASES: dict[str, Case] = {"rows": of_rows, "edges": of_edges}


def run_case(seed: int, folder: Path, length: int = LENGTH) -> str:
    """One case; its kind. Raises what was wrong."""
    kind = "rows" if seed % 3 else "edges"
    CASES[kind](np.random.default_rng(seed), folder, length)
    return kind


def try_cases(seeds: Iterable[int], folder: Path, seconds: float) -> Counter[str]:
    """Case after case until the time is up. Operations of each kind; failures are told."""
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    for seed in seeds:
        try:
            counts[f"operations on graphs of {run_case(seed, folder)}"] += LENGTH
        except Exception:
            print(f"seed {seed} of graphs:\n{traceback.format_exc()}", file=sys.stderr)
            counts["failed"] += 1
        if time.monotonic() > end:
            break
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.graphs", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="seed of the first case")
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    seeds = range(options.first, options.first + -(-options.operations // LENGTH))
    with tempfile.TemporaryDirectory() as folder:
        counts = try_cases(seeds, Path(folder), options.seconds)
    print(json.dumps(counts))
    sys.exit("failed" in counts)


if __name__ == "__main__":
    main()
