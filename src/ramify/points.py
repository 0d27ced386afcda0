# SPDX-License-Identifier: BSD-3-Clause
"""points.py: everything a user may hand in -> checked float32 or float64 rows.

This is the only door to the core, which trusts what it gets: C-contiguous rows
of the model's type and width, all finite, none zero under cosine. Nothing here
changes a model; a batch that is refused leaves no trace.

float32 and float64 stay as they are, float16 becomes float32, every other
number becomes float64. A model keeps the type of its first batch.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from ramify import _core

Rows: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
RealType: TypeAlias = np.dtype[np.float32] | np.dtype[np.float64]

FLOAT32: np.dtype[np.float32] = np.dtype(np.float32)
FLOAT64: np.dtype[np.float64] = np.dtype(np.float64)

#: Squared distances of larger numbers would overflow float64.
LARGEST = 1e145


def read_rows(
    X: object,
    *,
    owner: str,
    metric: str,
    dtype: RealType | None = None,
    width: int | None = None,
) -> Rows:
    """Check a batch and return it as C-contiguous rows, copying only when needed.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Lists, arrays of any layout, byte order and number type, read-only
        memmaps, pandas and polars frames.
    owner : str
        Name of the estimator, for messages.
    metric : str
        ``"cosine"`` refuses rows of zeros.
    dtype : numpy.dtype, optional
        Type of the model's earlier rows; None for a first batch.
    width : int, optional
        Width of the model's earlier rows; None for a first batch.

    Examples
    --------
    >>> read_rows([[1, 2], [3, 4]], owner="OHAC", metric="sqeuclidean").dtype
    dtype('float64')
    """
    array = X if _is_plain(X) else _to_array(X, owner)
    assert isinstance(array, np.ndarray)
    _check_width(array, width, owner)
    rows = _to_real(array, dtype or _real_type(array.dtype))
    _check_values(rows, array)
    if metric == "cosine":
        _check_directions(rows)
    return rows


def read_row(
    x: object,
    *,
    owner: str,
    metric: str,
    dtype: RealType | None = None,
    width: int | None = None,
) -> Rows:
    """Check one point and return it as a batch of one row.

    Examples
    --------
    >>> read_row([1, 2], owner="OHAC", metric="sqeuclidean")
    array([[1., 2.]])
    """
    row = np.asarray(x)
    if row.ndim != 1:
        hint = "; use insert_many for several rows" if row.ndim == 2 else ""
        raise ValueError(
            f"insert takes one row of {width or 'd'} numbers, "
            f"got an array of shape {row.shape}{hint}"
        )
    return read_rows(row[np.newaxis], owner=owner, metric=metric, dtype=dtype, width=width)


def feature_names(X: object) -> npt.NDArray[np.object_] | None:
    """Column names of a frame whose names are all strings; None for anything else.

    Examples
    --------
    >>> feature_names([[1.0, 2.0]]) is None
    True
    """
    if type(X) is np.ndarray:
        return None
    # validate_data writes to the estimator it is given, so it gets a stand-in:
    # the model must not change before the whole batch has been accepted.
    stand_in = BaseEstimator()
    validate_data(stand_in, X, reset=True, skip_check_array=True, ensure_2d=False)
    return getattr(stand_in, "feature_names_in_", None)


def check_feature_names(model: BaseEstimator, X: object) -> None:
    """Compare a frame's column names with those of the model's first batch."""
    if type(X) is not np.ndarray or hasattr(model, "feature_names_in_"):
        validate_data(model, X, reset=False, skip_check_array=True, ensure_2d=False)


def check_not_negative(rows: Rows, why: str) -> None:
    """Refuse rows that hold a negative number; ``why`` names who needs that.

    Examples
    --------
    >>> import numpy as np
    >>> check_not_negative(np.array([[0.0, 1.0]]), "certify=True")
    """
    if rows.min(initial=0) < 0:
        row, column = np.argwhere(rows < 0)[0]
        raise ValueError(
            f"Input X contains {rows[row, column]:g} (row {row}, column {column}); {why} needs "
            f"similarities that cannot be negative, so every number must be at least 0"
        )


def _is_plain(X: object) -> bool:
    """True for arrays that need none of scikit-learn's care: the common, fast case."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (FLOAT32, FLOAT64)
        and X.shape[0] > 0
        and X.shape[1] > 0
    )


def _to_array(X: object, owner: str) -> npt.NDArray[np.generic]:
    try:
        array = check_array(
            X, dtype="numeric", ensure_all_finite=False, estimator=owner, input_name="X"
        )
        if array.dtype.kind == "O":  # a list that holds None, say
            array = array.astype(np.float64)
    except ValueError as error:
        reason = _ragged(X) or _text(X)
        if reason is None:
            raise
        raise ValueError(reason) from error
    if array.dtype.kind not in "fiub":
        raise ValueError(f"Input X holds values of type {array.dtype}; expected real numbers")
    return np.asarray(array)


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
                f"convert your data to numbers first"
            )
    return None


def _check_width(array: npt.NDArray[np.generic], width: int | None, owner: str) -> None:
    found = array.shape[1]
    if width is not None and found != width:
        # The first half is scikit-learn's sentence, which its checks look for.
        raise ValueError(
            f"X has {found} features, but {owner} is expecting {width} features as input: "
            f"expected rows of {width} numbers, got {found}"
        )


def _real_type(dtype: np.dtype[np.generic]) -> RealType:
    return FLOAT32 if dtype.kind == "f" and dtype.itemsize <= 4 else FLOAT64


def _to_real(array: npt.NDArray[np.generic], dtype: RealType) -> Rows:
    # Overflow becomes infinity here and is reported, with its place, by _check_values.
    with np.errstate(over="ignore"):
        if dtype == FLOAT32:
            return np.ascontiguousarray(array, dtype=FLOAT32)
        return np.ascontiguousarray(array, dtype=FLOAT64)


def _check_values(rows: Rows, array: npt.NDArray[np.generic]) -> None:
    """Refuse what the core cannot compute with; ``array`` is what the user gave."""
    place = _core.first_non_finite(rows)
    if place is not None:
        row, column = place
        value = array[row, column]
        where = f"(row {row}, column {column})"
        if np.isnan(value):
            raise ValueError(f"Input X contains NaN {where}; every number must be finite")
        if np.isinf(value):
            raise ValueError(f"Input X contains infinity {where}; every number must be finite")
        raise ValueError(
            f"Input X contains {value:g} {where}, too large for {rows.dtype}, "
            f"the type of this model's first batch"
        )
    if rows.dtype == FLOAT64 and (rows.max() > LARGEST or rows.min() < -LARGEST):
        row, column = np.argwhere(np.abs(rows) > LARGEST)[0]
        raise ValueError(
            f"Input X contains {rows[row, column]:g} (row {row}, column {column}); "
            f"its square overflows, so numbers must lie within {LARGEST:g} of zero: rescale X"
        )


def _check_directions(rows: Rows) -> None:
    row = _core.first_zero_row(rows)
    if row is not None:
        raise ValueError(
            f"Input X has only zeros in row {row}, which has no direction; "
            f"metric='cosine' needs non-zero rows"
        )
