# SPDX-License-Identifier: BSD-3-Clause
"""What an insert costs without an engine: ``python -m benchmarks.ways``.

OHAC's repair alone, without the search for neighbours, as it is and with one way to merge a
path forbidden. The tree is the same. Needs the core's own classes (``make
build/test-extension/.built``).
"""

import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import streams

_NEVER = 10**9
_CASES: tuple[tuple[str, Any, str, dict[str, Any]], ...] = (
    ("no table", lambda: streams.gaussian(4_000, 64), "average", {"path_from": _NEVER}),
    ("no table", lambda: streams.mixture(4_000, 64), "average", {"path_from": _NEVER}),
    ("no table", lambda: streams.gaussian(1_200, 64), "centroid", {"path_from": _NEVER}),
    ("no stable part", lambda: streams.gmm100(50_000), "average", {"asks": "never"}),
    ("no few", lambda: streams.gmm100(50_000), "average", {"by_matrix": True}),
    ("no few", lambda: streams.mixture(20_000, 10), "average", {"by_matrix": True}),
)


def microseconds(parts: Any, rows: Any, linkage: str, way: dict[str, Any]) -> float:
    """Of processor time for one insert."""
    width = rows.shape[1]
    tree, index = parts.TreeF32(width), parts.IndexF32(width, "sqeuclidean", "by dimension")
    ohac, took = parts.OhacF32(width, "sqeuclidean", linkage, **way), 0.0
    for i, row in enumerate(rows):
        tree.make_room(1)
        leaf = tree.add_leaf(row)
        nearest = index.nearest(tree.points, row, 1, i)[0]
        begun = time.process_time()
        ohac.insert(tree, leaf, nearest)
        took += time.process_time() - begun
        index.add(tree.points)
    return took / len(rows) * 1e6


def main() -> None:
    """Print a line for each case."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "build" / "test-extension"))
    import ramify_core_parts as parts  # type: ignore[import-not-found]

    for what, make, linkage, way in _CASES:
        rows = make()
        usual, without = (
            min(microseconds(parts, rows, linkage, one) for _ in range(2)) for one in ({}, way)
        )
        print(f"{rows.shape} {linkage}: {usual:.1f} us, {what} {without:.1f} us", flush=True)


if __name__ == "__main__":
    main()
