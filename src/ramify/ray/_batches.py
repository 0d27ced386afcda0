# SPDX-License-Identifier: BSD-3-Clause
"""_batches.py: rows as they come: arrays, Arrow tables, and data sets of Ray, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


def is_dataset(X: object) -> bool:
    """Whether this is a ``ray.data.Dataset``, which need not fit the memory."""
    kind = type(X)
    return kind.__module__.split(".")[0] == "ray" and hasattr(X, "iter_batches")


def batches(X: Any, ids: str | None, rows: int) -> Iterator[tuple[npt.NDArray[Any], Any]]:
    """Rows and ids of a data set, some at a time; the next are read meanwhile."""
    for batch in X.iter_batches(batch_size=rows, batch_format="numpy", prefetch_batches=1):
        yield columns_as_rows(batch, ids)


def columns_as_rows(
    columns: Mapping[str, npt.NDArray[Any]], ids: str | None
) -> tuple[npt.NDArray[Any], Any]:
    """Columns side by side, but for that of the ids; a column may hold vectors.

    Examples
    --------
    >>> import numpy as np
    >>> columns_as_rows({"x": np.array([1.0, 2.0]), "name": np.array(["a", "b"])}, "name")
    (array([[1.],
           [2.]]), array(['a', 'b'], dtype='<U1'))
    """
    if ids is not None and ids not in columns:
        raise ValueError(f"ids={ids!r}: the data has no such column, but {', '.join(columns)}")
    parts = [_block(column) for name, column in columns.items() if name != ids]
    if not parts:
        raise ValueError("the data has no columns of numbers")
    rows = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
    return rows, None if ids is None else columns[ids]


def _block(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column as an array of two dimensions."""
    if column.dtype == object:  # lists, one for each row
        column = np.stack([np.asarray(one) for one in column])
    return column.reshape(len(column), -1)
