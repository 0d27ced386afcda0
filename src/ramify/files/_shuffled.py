# SPDX-License-Identifier: BSD-3-Clause
"""_shuffled.py: the rows of a whole file in random order, by way of memory."""

from collections.abc import Iterator

import numpy as np

from ramify.files._source import Batch, Name, Source


def random_order(n: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The order of n rows that a seed stands for.

    Examples
    --------
    >>> sorted(random_order(3, seed=0).tolist())
    [0, 1, 2]
    """
    return np.random.default_rng(seed).permutation(n)


class Shuffled(Source):
    """All rows of another source, shuffled."""

    ordered = False

    def __init__(self, source: Source, seed: int) -> None:
        self._source = source
        self._seed = seed
        self.counted = source.counted
        self.name = source.name
        self.columns = source.columns
        self.width = source.width
        self.feature_names = source.feature_names
        self.left_out = source.left_out
        self.n_rows = source.n_rows

    def _read(self) -> Iterator[Batch]:
        batches = list(self._source)
        if not batches:
            return
        size = max(map(len, batches))
        rows = np.concatenate([batch.rows for batch in batches])
        ids = _joined([batch.ids for batch in batches])
        labels = _joined([batch.labels for batch in batches])
        weights = _joined([batch.weights for batch in batches])
        times = _joined([batch.times for batch in batches])
        places = [place for batch in batches for place in batch.places]
        del batches
        self.n_rows = len(rows)
        order = random_order(len(rows), self._seed)
        for start in range(0, len(rows), size):
            part = order[start : start + size]
            numbers = part.tolist()
            yield Batch(
                rows[part],
                numbers if ids is None else [ids[i] for i in numbers],
                _picked(labels, numbers),
                [places[i] for i in numbers],
                weights=_picked(weights, numbers),
                times=_picked(times, numbers),
            )

    def close(self) -> None:
        self._source.close()


def _joined(parts: list[list[Name] | None]) -> list[Name] | None:
    if parts[0] is None:
        return None
    return [name for part in parts if part is not None for name in part]


def _picked(names: list[Name] | None, numbers: list[int]) -> list[Name] | None:
    return None if names is None else [names[i] for i in numbers]
