# SPDX-License-Identifier: BSD-3-Clause
"""arrays.py: lists, arrays and tensors of any library -> NumPy arrays of real numbers."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array

from ramify.sparse import is_sparse

#: DLPack's numbers for memory that the processor can read: its own, and that which a
#: GPU's driver has pinned or manages.
_READABLE_DEVICES = (1, 3, 11, 13)


def to_array(X: object, owner: str) -> npt.NDArray[np.generic]:
    """Several points as an array of two dimensions, refusing what is none.

    Examples
    --------
    >>> to_array([[1, 2], [3, 4]], "OHAC").shape
    (2, 2)
    """
    X = _unmasked(_from_dlpack(X))
    try:
        array = check_array(
            X, dtype="numeric", ensure_all_finite=False, estimator=owner, input_name="X"
        )
        if array.dtype.kind == "O":  # a list that holds None, say
            array = array.astype(np.float64)
    except ValueError as error:
        reason = _ragged(X) or _odd_type(X) or _text(X)
        if reason is None:
            raise
        raise ValueError(reason) from error
    if array.dtype.kind not in "fiub":
        raise ValueError(f"Input X holds values of type {array.dtype}; expected real numbers")
    return np.asarray(array)


def one_row(x: object) -> npt.NDArray[Any]:
    """One point as an array, whatever it comes in; of one dimension, if it is one point.

    Examples
    --------
    >>> one_row((1, 2))
    array([1, 2])
    """
    if is_sparse(x):
        row: npt.NDArray[Any] = x.toarray()
        return row[0] if row.shape[:1] == (1,) and row.ndim == 2 else row
    array = np.asarray(_unmasked(_from_dlpack(x)))
    if array.dtype.kind == "U" and isinstance(x, list | tuple):
        return np.array(x, dtype=object)  # the numbers as they were, so that the text is found
    return array


def _from_dlpack(X: object) -> object:
    """The same memory as an array, for tensors of other libraries; else X itself."""
    if isinstance(X, np.ndarray) or not hasattr(X, "__dlpack__"):
        return X
    device = int(X.__dlpack_device__()[0]) if hasattr(X, "__dlpack_device__") else 1
    if device not in _READABLE_DEVICES:
        raise ValueError(
            f"X is on another device than the CPU (DLPack device type {device}); "
            f"copy it there first, with X.cpu() or your library's word for it"
        )
    try:
        return np.from_dlpack(X)
    except (BufferError, RuntimeError, TypeError) as error:
        if hasattr(X, "__array__"):
            return X  # it knows a way of its own
        raise ValueError(f"X offers DLPack, but NumPy cannot read it: {error}") from error


def _unmasked(X: object) -> object:
    """Refuse masked values, whose numbers mean nothing; no mask, no difference."""
    if isinstance(X, np.ma.MaskedArray):
        if np.ma.is_masked(X):
            place = ", ".join(map(str, np.argwhere(np.ma.getmaskarray(X))[0]))
            raise ValueError(
                f"Input X has a masked value at ({place}); fill it or leave its row out"
            )
        return X.data
    return X


def _ragged(X: object) -> str | None:
    """Say which row of a nested list differs in length, if one does."""
    if not isinstance(X, list | tuple):
        return None
    lengths = [len(row) if hasattr(row, "__len__") else None for row in X]
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            found = "is a single value" if length is None else f"has {length} numbers"
            first = "is a single value" if lengths[0] is None else f"has {lengths[0]}"
            return f"Input X is ragged: row {row} {found}, row 0 {first}; rows must be equally long"
    return None


def _text(X: object) -> str | None:
    """Say where the first string is, if there is one."""
    cells = np.asarray(X, dtype=object)
    if cells.ndim != 2:
        return None
    for (row, column), value in np.ndenumerate(cells):
        if isinstance(value, str | bytes):
            return (
                f"Input X contains text: {value!r} (row {row}, column {column}); "
                f"convert your data to numbers first, "
                "as sklearn.compose.ColumnTransformer does for columns of categories and of texts"
            )
    return None


def _odd_type(X: object) -> str | None:
    """Say which type it is that NumPy has no numbers for: records, or another library's."""
    dtype = getattr(X, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind == "V":
        return f"Input X holds values of type {dtype}; convert them to float32 or float64 first"
    return None
