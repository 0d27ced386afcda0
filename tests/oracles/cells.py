"""Rows in cells, in plain slow Python: what a plan says, and what a search then finds.

A plan is read from the numbers in which the core stores it. Codes are recomputed from its
projection to the bit: products in float32, summed from the first column to the last.
"""

from __future__ import annotations

import numpy as np

from tests.oracles.neighbours import summed
from tests.oracles.row_store import Rows

#: core/math/kernels.hpp and byte_codes.hpp: what lies side by side.
LANES, GROUP = 16, 4
#: core/index/cell_plan.cpp and cell_rows.hpp.
TRAINING, STEPS, REMEMBERED, CELLS = 16, 2, 512, 8


def whole(count: int, of: int) -> int:
    return -(-count // of) * of


class Plan:
    """What holds for an epoch."""

    def __init__(self, stored: np.ndarray, dim: int) -> None:
        numbers = iter(stored.tolist())

        def take(count: int) -> list[float]:
            return [next(numbers) for _ in range(count)]

        self.slack, self.begun, self.next, self.made, self.made_at = map(int, take(5))
        self.rows, self.hits = take(2)
        self.needed = [int(one) for one in take(int(take(1)[0]))]
        rest = list(numbers)
        self.fitted = bool(rest)
        if not rest:
            return
        numbers = iter(rest)
        directions, has_rest, self.scale, self.step, _, self.shift = take(6)
        self.directions, self.has_rest = int(directions), bool(has_rest)
        self.centre = np.array(take(dim))
        lanes = np.array(take(whole(self.directions, LANES) * dim), np.float32)
        blocks = lanes.reshape(-1, dim, LANES)  # directions side by side, by coordinate
        self.basis = np.concatenate([block.T for block in blocks])[: self.directions]
        self.width = whole(self.directions + self.has_rest, GROUP)
        self.cells = int(take(1)[0])
        self.centroids = np.array(take(self.cells * self.width), np.int64).reshape(self.cells, -1)
        assert next(numbers, None) is None

    def code(self, x: np.ndarray) -> np.ndarray:
        """Whole numbers from -127 to 127; zeros for a row that float32 cannot tell."""
        centred = (x.astype(np.float64) - self.centre) * self.scale
        out = np.zeros(self.width, np.int64)
        radius = summed(centred * centred)
        if not radius < 1e30:
            return out
        narrow = centred.astype(np.float32)
        entries = np.zeros(self.directions, np.float32)
        for j, here in enumerate(narrow):
            entries = entries + here * self.basis[:, j]
        values = entries.astype(np.float64)
        if self.has_rest:
            inside = 0.0
            for value in values.tolist():
                inside += value * value
            length = np.float32(np.sqrt(max(0.0, radius - inside)) - self.shift)
            values = np.append(values, np.float64(length))
        out[: len(values)] = np.clip(np.rint(values / self.step), -127, 127)
        return out

    def values(self, code: np.ndarray) -> np.ndarray:
        """Large where a centroid is near."""
        return values_of(self.centroids, code)

    def home(self, x: np.ndarray) -> int:
        return int(self.values(self.code(x)).argmax())

    def needed_for(self, x: np.ndarray, near: np.ndarray) -> int:
        """The slack with which a search for x looks into the cell of another row."""
        values = self.values(self.code(x))
        return int(values.max() - values[self.home(near)])


def values_of(centroids: np.ndarray, code: np.ndarray) -> np.ndarray:
    return centroids @ code - (centroids**2).sum(axis=1) // 2


def found(
    plan: Plan,
    rows: Rows,
    x: np.ndarray,
    k: int,
    end: int,
    ruled_out: set[int] | None = None,
    by_hash: bool = True,
) -> tuple[list[int], list[float]]:
    """Slots and distances of what a search for the k nearest finds."""
    equal = [at for at in rows.living(end) if np.array_equal(rows.slots[at][1], x)]
    if by_hash and len(equal) >= k:
        return equal[:k], [0.0] * k
    if not plan.fitted:
        return rows.nearest(x, k, end, "sqeuclidean", ruled_out)
    values = plan.values(plan.code(x))
    homes = {at: plan.home(rows.slots[at][1]) for at in rows.living(end)}
    looked = {cell for cell in range(plan.cells) if values[cell] >= values.max() - plan.slack}
    others = sorted(set(range(plan.cells)) - looked, key=lambda cell: (-values[cell], cell))
    while True:
        hidden = {at for at, home in homes.items() if home not in looked} | (ruled_out or set())
        answer = rows.nearest(x, k, end, "sqeuclidean", hidden)
        if len(answer[0]) == k or not others:
            return answer
        looked.add(others.pop(0))


def divided(plan: Plan, rows: list[np.ndarray]) -> tuple[np.ndarray, list[int], list[int]]:
    """Centroids that these rows, all different, should have; and which were left out of it.

    The plan gives codes and the number of cells.
    """
    n = len(rows)
    begin, apart = n - n // 4, (n // 4) // REMEMBERED + 1
    left_out = list(range(begin, n, apart)) if plan.cells > 1 else []
    others = [i for i in range(n) if i not in set(left_out)]
    codes = {i: plan.code(rows[i]) for i in others}

    def spread(count: int) -> list[int]:
        return [others[i * len(others) // count] for i in range(count)]

    centroids = np.array([codes[i] for i in spread(plan.cells)])
    training = np.array([codes[i] for i in spread(min(len(others), TRAINING * plan.cells))])
    for _ in range(STEPS):
        homes = np.array([values_of(centroids, code).argmax() for code in training])
        for cell in range(plan.cells):
            mine = training[homes == cell]
            if len(mine):
                centroids[cell] = (2 * mine.sum(axis=0) + len(mine)) // (2 * len(mine))
    return centroids, left_out, others


def quantile(needed: list[int], recall: float) -> int:
    """The slack that so large a share of searches needs."""
    ordered = sorted(needed[-REMEMBERED:])
    rank = int(np.ceil(recall * (len(ordered) + 1)))
    return ordered[min(rank, len(ordered)) - 1]
