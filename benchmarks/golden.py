# SPDX-License-Identifier: BSD-3-Clause
"""golden.py: digests of the trees that every benchmark stream gives, kept in a file.

A redesign of the core must leave every tree as it is, to the bit: children, heights and
stable ids, and in the streams of ``lives.py`` also what is stored for each node.
``python -m benchmarks.golden`` compares all of them with ``tests/golden/trees.json``
and fails on a difference; ``--write`` writes the file anew, when trees are meant to change.
The test suite compares the small ones. Streams that go through a matrix product are left
out: their rows depend on the machine's BLAS.
"""

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ramify
from benchmarks import lives
from benchmarks.streams import HARD, rows_of
from ramify.errors import DeepTreeWarning

PATH = Path(__file__).parents[1] / "tests" / "golden" / "trees.json"

#: Algorithm and options, by the name they have in the file.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "OTD": ("OTD", {}),
    "OTD dot": ("OTD", {"metric": "dot"}),
    "OTD cosine": ("OTD", {"metric": "cosine"}),
    "OHAC": ("OHAC", {}),
    "OHAC k=3": ("OHAC", {"n_neighbors": 3}),
    "OHAC cosine": ("OHAC", {"metric": "cosine"}),
    "OHAC ward": ("OHAC", {"linkage": "ward"}),
    "OHAC centroid": ("OHAC", {"linkage": "centroid"}),
    "OHAC dot": ("OHAC", {"metric": "dot"}),
    "HAC": ("HAC", {}),
    "HAC ward": ("HAC", {"linkage": "ward"}),
    "HAC centroid": ("HAC", {"linkage": "centroid"}),
    "NaiveNN": ("NaiveNN", {}),
    "PERCH": ("PERCH", {}),
    "PERCH 100": ("PERCH", {"max_leaves": 100}),
    "GRINCH": ("GRINCH", {}),
    "GRINCH full": ("GRINCH", {"graft": "full"}),
    "BIRCH": ("BIRCH", {"threshold": 0.1}),
}
_QUICK = ("OTD", "OHAC", "OHAC ward", "HAC", "NaiveNN", "PERCH", "GRINCH")


def streams(*, small: bool) -> Iterator[tuple[str, dict[str, Any], tuple[str, ...]]]:
    """Name of a stream, how its rows are made, and which models see it."""
    every = tuple(MODELS)
    n = 300
    for width in (1, 2, 3, 10, 15, 16, 20, 31, 32, 40, 64, 200):
        yield f"mixture {n} x {width}", {"stream": "mixture", "n": n, "width": width}, every
    for name in HARD:
        yield f"{name} {n} x 3", {"stream": "hard", "name": name, "n": n, "width": 3}, _QUICK
    yield "gmm100 2000 x 3", {"stream": "gmm100", "n": 2000}, _QUICK
    yield (
        "mixture 1500 x 40",
        {"stream": "mixture", "n": 1500, "width": 40},
        ("OHAC", "HAC", "PERCH"),
    )
    if small:
        return
    yield "gmm100 1M x 3", {"stream": "gmm100", "n": 1_000_000}, ("OTD", "OHAC", "HAC", "PERCH")
    yield "uniform 1M x 2", {"stream": "uniform", "n": 1_000_000}, ("OHAC", "NaiveNN")
    yield (
        "gmm100 100K x 3",
        {"stream": "gmm100", "n": 100_000},
        (*_QUICK, "OHAC k=3", "OHAC cosine"),
    )
    for width, n in ((2, 20_000), (10, 50_000), (20, 5_000), (64, 10_000), (200, 3_000)):
        yield f"mixture {n} x {width}", {"stream": "mixture", "n": n, "width": width}, _QUICK
    for name in HARD:
        if name != "exponentially spaced":
            rows = {"stream": "hard", "name": name, "n": 50_000, "width": 3}
            yield f"{name} 50K x 3", rows, ("OTD", "OHAC", "PERCH")
    rows = {"stream": "hard", "name": "exponentially spaced", "n": 2_000, "width": 3}
    yield "exponentially spaced 2K x 3", rows, ("OTD", "OHAC", "PERCH")


def digest(rows: Any, model: str) -> str:
    """Of the tree after three batches and a few single rows, so that all paths are taken."""
    name, options = MODELS[model]
    if options.get("metric") == "cosine" and not rows.any(axis=1).all():
        rows = rows + 1
    estimator = getattr(ramify, name)(**options)
    if name == "HAC":
        estimator.fit(rows)
    else:
        cut = len(rows) - 20
        estimator.partial_fit(rows[: cut // 10])
        estimator.partial_fit(rows[cut // 10 : cut])
        for row in rows[cut:]:
            estimator.insert(row)
    tree = estimator.hierarchy()
    arrays = (tree.children, tree.heights, tree.node_ids)
    parts = (np.ascontiguousarray(array).tobytes() for array in arrays)
    return hashlib.sha256(b"".join(parts)).hexdigest()[:20]


def digests(*, small: bool, progress: bool = False) -> dict[str, dict[str, str]]:
    """Digest of every stream under every model that sees it."""
    out: dict[str, dict[str, str]] = {}
    for stream, how, models in streams(small=small):
        rows = rows_of(**how)
        if progress:
            print(stream, file=sys.stderr, flush=True)
        out[stream] = {model: digest(rows, model) for model in models}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeepTreeWarning)
        for stream, model, live in lives.lives():
            out.setdefault(stream, {})[model] = lives.digest(live())
    return out


def differences(found: dict[str, dict[str, str]], kept: dict[str, dict[str, str]]) -> list[str]:
    """Streams and models whose tree is another one."""
    return [
        f"{stream}: {model}"
        for stream, models in found.items()
        for model, value in models.items()
        if kept.get(stream, {}).get(model) != value
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write into the file what is found")
    parser.add_argument("--small", action="store_true", help="only what the test suite compares")
    options = parser.parse_args()
    found = digests(small=options.small, progress=True)
    if options.write:
        kept = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
        text = json.dumps(kept | found, indent=1, ensure_ascii=False)
        PATH.write_text(text + "\n", encoding="utf-8")
        return 0
    wrong = differences(found, json.loads(PATH.read_text(encoding="utf-8")))
    count = sum(map(len, found.values()))
    print(f"{count - len(wrong)} of {count} trees are the same", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
