# SPDX-License-Identifier: BSD-3-Clause
"""_bits.py: rows of zeros and ones, 64 to a word, and the nearest of them by counts of bits.

Exact; `python -m benchmarks.graphs --bits` prints how much faster than scikit-learn's search.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ramify import _core
from ramify.estimators._lists import Lists
from ramify.jobs import thread_count

METRICS = ("hamming", "jaccard")

#: About so many pairs of rows are compared between two looks at Ctrl-C.
_PAIRS = 2**24


def are_bits(rows: Any, metric: object) -> bool:
    """Whether counts of bits tell how far these rows are: Jaccard asks what is not 0.

    Examples
    --------
    >>> are_bits(np.array([[0.0, 1.0]]), "hamming"), are_bits(np.array([[0.0, 2.0]]), "hamming")
    (True, False)
    """
    if metric == "hamming":
        matrix: Any = rows
        values = matrix.data if sparse.issparse(rows) else rows
        return bool(np.all((values == 0) | (values == 1)))
    return isinstance(metric, str) and metric == "jaccard"


def search(
    rows: Any, k: int, metric: str, ranks: npt.NDArray[np.uint32], n_jobs: int | None
) -> Lists:
    """The k nearest of the other rows; of rows that are equally far the smaller ranks.

    Examples
    --------
    >>> rows = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1]])
    >>> search(rows, 1, "jaccard", np.arange(3, dtype=np.uint32), None).points.tolist()
    [[1], [0], [1]]
    """
    n, columns = rows.shape
    if n == 1:
        return Lists(np.full((1, 1), -1), np.zeros((1, 1)))
    packed = pack(rows)
    step = max(_PAIRS // n, 1)

    def some(first: int) -> Any:
        last = min(first + step, n)
        return _core.bit_neighbours(packed, columns, metric, min(k, n - 1), first, last, ranks)

    with ThreadPoolExecutor(thread_count(n_jobs, none=1)) as pool:
        parts = list(pool.map(some, range(0, n, step)))
    points, distances = (np.concatenate(one) for one in zip(*parts, strict=True))
    return Lists(points.astype(np.int64), distances)


def pack(rows: Any) -> npt.NDArray[np.uint64]:
    """Which numbers are not 0, as words of 64 bits. A thousand rows at a time.

    Examples
    --------
    >>> pack(np.array([[0, 5, 1]])).tolist()
    [[6]]
    """
    n, columns = rows.shape
    words = np.zeros((n, -(-columns // 64)), np.uint64)
    found = words.view(np.uint8)  # in which the first column is the first bit
    for begin in range(0, n, 1000):
        block: Any = rows[begin : begin + 1000]
        dense = block.toarray() if hasattr(block, "toarray") else block
        bits = np.packbits(dense != 0, axis=1, bitorder="little")
        found[begin : begin + 1000, : bits.shape[1]] = bits
    return words
