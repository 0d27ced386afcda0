# SPDX-License-Identifier: BSD-3-Clause
"""_pairs.py: every pair of leaves once, a block at a time.

Leaves are taken from left to right. ``gaps[p]`` is the value of the inner node
between leaves p and p + 1, and the value at the lowest common ancestor of p < q is
the largest of gaps p .. q-1: two running maxima make a whole block of them.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.hierarchy import FloatArray

#: Leaves on a side of a block: 8 MB of numbers.
WIDTH = 1024


class Block(NamedTuple):
    """Pairs of the leaves at two stretches of positions."""

    rows: slice
    columns: slice
    at_lca: FloatArray  # value at the lowest common ancestor, one a pair
    pairs: npt.NDArray[np.bool_] | None  # which count; None: all of them

    def select(self, values: FloatArray) -> FloatArray:
        """The values of those pairs that count, in one row."""
        return values.ravel() if self.pairs is None else values[self.pairs]


def blocks_of_pairs(gaps: FloatArray, width: int = WIDTH) -> Iterator[Block]:
    """Blocks that together hold every pair of ``len(gaps) + 1`` leaves once.

    Examples
    --------
    >>> import numpy as np
    >>> for block in blocks_of_pairs(np.array([2.0, 5.0, 3.0]), width=2):
    ...     print(block.rows.start, block.columns.start, block.select(block.at_lca))
    0 0 [2.]
    0 2 [5. 5. 5. 5.]
    2 2 [3.]
    """
    n = len(gaps) + 1
    for begin in range(0, n, width):
        end = min(begin + width, n)
        rows = slice(begin, end)
        square = np.full((end - begin, end - begin), -np.inf)
        square[:, 1:] = gaps[begin : end - 1]
        later = np.triu(np.ones(square.shape, dtype=bool), 1)
        square[~later] = -np.inf
        np.maximum.accumulate(square, axis=1, out=square)
        yield Block(rows, rows, square, later)
        reach = square[:, -1]
        for first in range(end, n, width):
            last = min(first + width, n)
            reach = np.maximum(reach, gaps[first - 1])
            within = np.maximum.accumulate(np.append(-np.inf, gaps[first : last - 1]))
            at_lca = np.maximum(reach[:, np.newaxis], within)
            yield Block(rows, slice(first, last), at_lca, None)
            reach = at_lca[:, -1]
