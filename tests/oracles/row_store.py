"""Rows that come and go, in plain slow Python: a list with holes."""

from __future__ import annotations

import itertools

import numpy as np

from tests.oracles.neighbours import summed


class Rows:
    """Slots in order of arrival; a slot is (arrival number, row), or None for a hole."""

    def __init__(self) -> None:
        self.slots: list[tuple[int, np.ndarray] | None] = []
        self.next = 0

    def append(self, row: np.ndarray) -> None:
        self.slots.append((self.next, row))
        self.next += 1

    def erase(self, slot: int) -> None:
        self.slots[slot] = None

    def truncate(self, slots: int) -> None:
        """As if the last ones had never come; none of them may be a hole."""
        self.next -= len(self.slots) - slots
        del self.slots[slots:]

    def new_slots(self) -> list[int]:
        """Where each slot goes when holes are closed; a hole's: where the next living one does."""
        lives = [one is not None for one in self.slots]
        return list(itertools.accumulate(lives, initial=0))[:-1]

    def compact(self) -> None:
        self.slots = [one for one in self.slots if one is not None]

    def living(self, end: int | None = None) -> list[int]:
        """Slots that are no holes."""
        return [at for at, one in enumerate(self.slots[:end]) if one is not None]

    def find(self, number: int) -> int | None:
        return next((at for at, one in enumerate(self.slots) if one and one[0] == number), None)

    def nearest(
        self, x: np.ndarray, k: int, end: int, metric: str, ruled_out: set[int] | None = None
    ) -> tuple[list[int], list[float]]:
        """Slots and distances of the k nearest below `end`; equal ones in order of arrival."""
        slots = [at for at in self.living(end) if not ruled_out or at not in ruled_out]
        if not slots:
            return [], []
        rows = np.array([self.slots[at][1] for at in slots], dtype=np.float64)
        x = x.astype(np.float64)
        distances = -summed(x * rows) if metric == "dot" else summed((x - rows) ** 2)
        order = np.argsort(distances, kind="stable")[:k]
        return [slots[i] for i in order], [float(distances[i]) for i in order]
