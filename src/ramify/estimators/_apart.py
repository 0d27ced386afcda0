# SPDX-License-Identifier: BSD-3-Clause
"""_apart.py: pairs of points that must be apart, found by either of the two."""

from collections.abc import Callable, Iterable

import numpy as np

from ramify.hierarchy import IntArray

Pair = tuple[int, int]


class Apart:
    """Pairs in the order in which they were said, the smaller number first.

    Examples
    --------
    >>> pairs = Apart([(1, 4)])
    >>> pairs.add(7, 4)
    >>> pairs.of(4), (4, 1) in pairs, pairs.between([1, 2], {4, 7})
    ({1, 7}, True, (1, 4))
    """

    __slots__ = ("_pairs", "_partners")

    def __init__(self, pairs: Iterable[Iterable[int]] = ()) -> None:
        self._pairs: dict[Pair, None] = {}
        self._partners: dict[int, set[int]] = {}
        for i, j in pairs:
            self.add(int(i), int(j))

    def __len__(self) -> int:
        return len(self._pairs)

    def __contains__(self, pair: Pair) -> bool:
        return _ordered(*pair) in self._pairs

    def of(self, point: int) -> set[int]:
        """Whoever must be apart from a point."""
        return self._partners.get(point, set())

    def between(self, some: Iterable[int], others: set[int]) -> Pair | None:
        """One of some points and one of the others that must be apart, if there are any."""
        for one in some:
            for other in self.of(one) & others:
                return _ordered(one, other)
        return None

    def add(self, i: int, j: int) -> None:
        """These two must be apart from now on."""
        self._pairs[_ordered(i, j)] = None
        for one, other in ((i, j), (j, i)):
            self._partners.setdefault(one, set()).add(other)

    def remove(self, i: int, j: int) -> None:
        """These two, which had to be apart, need not any more."""
        del self._pairs[_ordered(i, j)]
        for one, other in ((i, j), (j, i)):
            self._partners[one].discard(other)
            if not self._partners[one]:
                del self._partners[one]

    def array(self, there: Callable[[int], bool]) -> IntArray:
        """(m, 2): the pairs of which both are there. Others will never be again. O(m)."""
        for i, j in [pair for pair in self._pairs if not all(map(there, pair))]:
            self.remove(i, j)
        return np.array(list(self._pairs), dtype=np.int64).reshape(-1, 2)


def _ordered(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)
