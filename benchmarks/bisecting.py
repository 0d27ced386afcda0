# SPDX-License-Identifier: BSD-3-Clause
"""bisecting.py: bisecting 2-means down to single points, the top-down baseline.

scikit-learn's BisectingKMeans stops at k clusters and shows no tree of them.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[Any]
Places = npt.NDArray[np.int64]

_STEPS = 20


def bisecting_tree(rows: Rows, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Split the points in two by 2-means, and so on: the children of every merge."""
    n = len(rows)
    wide = rows.astype(np.float64)
    splits: list[list[int]] = []  # from the root down: two children each
    open_: list[tuple[int, Places]] = [(0, np.arange(n))]  # split, and its points
    if n > 1:
        splits.append([0, 0])
    while open_ and n > 1:
        split, points = open_.pop()
        side = _two_means(wide[points], rng)
        for place, part in enumerate((points[~side], points[side])):
            if len(part) == 1:
                splits[split][place] = int(part[0])
                continue
            splits[split][place] = n + len(splits)
            open_.append((len(splits), part))
            splits.append([0, 0])
    # A parent comes before its children here, and after them in an array of children.
    down = np.array(splits, dtype=np.int64).reshape(-1, 2)
    return np.where(down < n, down, 3 * n - 2 - down)[::-1].copy()


def _two_means(rows: Rows, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Which rows go to the second side; neither side is empty."""
    centre = rows[rng.integers(len(rows))]
    far = rows[((rows - centre) ** 2).sum(axis=1).argmax()]
    pair = np.stack([centre, far])
    side = np.zeros(len(rows), dtype=np.bool_)
    for _ in range(_STEPS):
        apart = ((rows - pair[0]) ** 2).sum(axis=1) - ((rows - pair[1]) ** 2).sum(axis=1)
        now = apart > 0
        if now.all() or not now.any() or (now == side).all():
            break
        side = now
        pair = np.stack([rows[~side].mean(axis=0), rows[side].mean(axis=0)])
    if side.all() or not side.any():  # equal rows
        side[:] = False
        side[: len(rows) // 2] = True
    return side
