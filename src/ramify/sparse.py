# SPDX-License-Identifier: BSD-3-Clause
"""sparse.py: rows that stay sparse until the moment they are inserted.

The core stores dense rows, so a tree over sparse data is as large as one over the
same data dense. What a sparse batch saves is the second copy: it is checked as it
is, and made dense ``DENSE_BYTES`` at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from scipy import sparse

#: Most memory that dense rows made from a sparse batch take at any time, if one row fits.
DENSE_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class SparseRows:
    """Checked rows, sparse: sorted, without duplicate or zero entries, of the model's type."""

    matrix: Any  #: csr_array

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers: float32 or float64."""
        found: np.dtype[Any] = self.matrix.dtype
        return found

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    def chunks(self) -> Iterator[npt.NDArray[Any]]:
        """The rows in order, dense, as few at a time as ``DENSE_BYTES`` says."""
        n, width = self.shape
        step = max(1, DENSE_BYTES // (width * self.dtype.itemsize))
        for start in range(0, n, step):
            yield self.matrix[start : start + step].toarray(order="C")

    def dense(self) -> npt.NDArray[Any]:
        """All rows at once, for an algorithm that cannot begin with fewer."""
        rows: npt.NDArray[Any] = self.matrix.toarray(order="C")
        return rows

    def zero_rows(self) -> npt.NDArray[np.bool_]:
        """Which rows have no entries."""
        found: npt.NDArray[np.bool_] = np.diff(self.matrix.indptr) == 0
        return found

    def first_zero_row(self) -> int | None:
        """Number of the first row without entries, None if there is none."""
        empty = np.flatnonzero(self.zero_rows())
        return int(empty[0]) if len(empty) else None

    def place(self, entry: int) -> tuple[int, int]:
        """Row and column of a stored entry."""
        row = np.searchsorted(self.matrix.indptr, entry, side="right") - 1
        return int(row), int(self.matrix.indices[entry])


def is_sparse(X: object) -> TypeGuard[Any]:
    """True for every matrix and array of ``scipy.sparse``."""
    return bool(sparse.issparse(X))


def to_csr(X: Any, dtype: np.dtype[Any]) -> SparseRows:
    """A copy of a sparse matrix in the one form that the rest of us reads.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> rows = to_csr(sparse.coo_array(([1, 2], ([0, 0], [1, 1])), shape=(2, 2)), np.dtype("f8"))
    >>> rows.dense().tolist()  # duplicates add up, as everywhere in SciPy
    [[0.0, 3.0], [0.0, 0.0]]
    """
    with np.errstate(over="ignore"):  # reported, with its place, by whoever checks
        matrix = sparse.csr_array(X, dtype=dtype, copy=True)
        matrix.sum_duplicates()  # sorts, too
    matrix.eliminate_zeros()
    return SparseRows(matrix)
