# SPDX-License-Identifier: BSD-3-Clause
"""points.py: everything a user may hand in -> checked float32 or float64 rows.

This is the only door to the core, which trusts what it gets: C-contiguous rows
of the model's type and width, all finite, and such as the metric can measure. Nothing here
changes a model; a batch that is refused leaves no trace.

float32 and float64 stay as they are, float16 becomes float32, every other
number becomes float64. A model keeps the type of its first batch.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from ramify import _core
from ramify.arrays import one_row, to_array
from ramify.frames import named_row, read_table, where
from ramify.memory import require_room
from ramify.metric import SQEUCLIDEAN, Metric
from ramify.sparse import SparseRows, is_sparse, to_csr

Rows: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
RealType: TypeAlias = np.dtype[np.float32] | np.dtype[np.float64]

FLOAT32: np.dtype[np.float32] = np.dtype(np.float32)
FLOAT64: np.dtype[np.float64] = np.dtype(np.float64)

#: Squared distances of larger numbers would overflow float64.
LARGEST = 1e145


class Expected(NamedTuple):
    """What rows must be like."""

    owner: str  #: name of the estimator, for messages
    metric: Metric = SQEUCLIDEAN  #: may refuse rows, of zeros say
    dtype: RealType | None = None  #: type of the model's earlier rows; None for a first batch
    width: int | None = None  #: width of these
    zeros: bool = False  #: whether rows of zeros come in that the metric cannot measure


def read_batch(X: object, expected: Expected) -> Rows | SparseRows:
    """Check a batch and return it as C-contiguous rows, copying only when needed.

    Sparse rows are checked as they are and stay sparse; see :func:`chunks`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Lists, arrays of any layout, byte order and number type, read-only
        memmaps, DLPack tensors on the CPU, frames of pandas and polars, Arrow
        tables, SciPy's sparse matrices.
    expected : Expected

    Examples
    --------
    >>> read_batch([[1, 2], [3, 4]], Expected("OHAC")).dtype
    dtype('float64')
    """
    if is_sparse(X):
        return _read_sparse(X, expected)
    columns = None
    array = X if _is_plain(X) else None
    if array is None:
        table = read_table(X)
        if table is not None and table.array.size > 0:
            array, columns = table
        else:
            array = to_array(X if table is None else table.array, expected.owner)
    assert isinstance(array, np.ndarray)
    _check_width(array.shape[1], expected)
    rows = _to_real(array, expected.dtype or _real_type(array.dtype))
    _check_values(rows, array, columns)
    if not expected.zeros:
        expected.metric.refuse_bad(rows)
    return rows


def read_rows(X: object, expected: Expected) -> Rows:
    """As :func:`read_batch`, and always dense.

    Examples
    --------
    >>> read_rows([[1, 2], [3, 4]], Expected("OHAC")).dtype
    dtype('float64')
    """
    rows = read_batch(X, expected)
    if not isinstance(rows, SparseRows):
        return rows
    require_room(*rows.shape, rows.dtype.itemsize)
    return rows.dense()


def zero_rows_of(rows: Rows | SparseRows) -> npt.NDArray[np.bool_]:
    """Which rows are all zeros.

    Examples
    --------
    >>> import numpy as np
    >>> zero_rows_of(np.array([[0.0, 0.0], [0.0, 1.0]]))
    array([ True, False])
    """
    if isinstance(rows, SparseRows):
        return rows.zero_rows()
    return np.logical_not(rows.any(axis=1))


def chunks(rows: Rows | SparseRows) -> Iterator[Rows]:
    """Dense rows in order: all at once, or of a sparse batch a bounded part at a time.

    Examples
    --------
    >>> import numpy as np
    >>> [len(chunk) for chunk in chunks(np.zeros((3, 2)))]
    [3]
    """
    if isinstance(rows, SparseRows):
        yield from rows.chunks()
    else:
        yield rows


def read_row(x: object, expected: Expected) -> Rows:
    """Check one point and return it as a batch of one row.

    Examples
    --------
    >>> read_row([1, 2], Expected("OHAC"))
    array([[1., 2.]])
    """
    row = one_row(x)
    if row.ndim != 1:
        hint = "; use partial_fit for several rows" if row.ndim == 2 else ""
        raise ValueError(
            f"insert takes one row of {expected.width or 'd'} numbers, "
            f"got an array of shape {row.shape}{hint}"
        )
    return read_rows(row[np.newaxis], expected)


def by_name(
    x: object, known: Sequence[str] | None, *, first: bool, owner: str
) -> tuple[object, npt.NDArray[np.object_] | None]:
    """One point's numbers in the model's order, and its column names if it brought any.

    Parameters
    ----------
    x : object
        A mapping or a pandas Series with strings as index is read by name, anything
        else passes through.
    known : sequence of str or None
        The model's column names.
    first : bool
        Whether this is the model's first point, which may name the columns.
    owner : str
        Name of the estimator, for messages.

    Examples
    --------
    >>> by_name({"b": 2.0, "a": 1.0}, ["a", "b"], first=False, owner="OHAC")[0]
    [1.0, 2.0]
    """
    named = named_row(x)
    if named is None:
        return x, None
    names, values = named
    if first:
        return values, np.array(names, dtype=object)
    if known is None:
        if isinstance(x, dict):
            raise ValueError(
                f"insert was given a row by name, and this {owner} began without column names; "
                f"give the numbers in order"
            )
        return x, None
    given = dict(zip(names, values, strict=True))
    if set(given) != set(known) or len(given) != len(names):
        unknown = [name for name in names if name not in set(known)]
        missing = [name for name in known if name not in given]
        raise ValueError(
            f"expected a row with the names {_some(known)}: missing {_some(missing)}, "
            f"unknown {_some(unknown)}"
        )
    return [given[name] for name in known], None


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


def check_columns(names: Sequence[str], known: Sequence[str]) -> None:
    """Refuse columns that are not those of a tree, or stand in another order.

    Examples
    --------
    >>> check_columns(["b", "a"], ["a", "b"])
    Traceback (most recent call last):
    ValueError: the columns are 'b', 'a', and those of this tree are 'a', 'b'; give them in that \
order
    """
    if list(names) != list(known):
        raise ValueError(
            f"the columns are {_some(names)}, and those of this tree are {_some(known)}; give "
            f"them in that order"
        )


def check_feature_names(model: BaseEstimator, X: object) -> None:
    """Compare a frame's column names with those of the model's first batch."""
    if type(X) is not np.ndarray or hasattr(model, "feature_names_in_"):
        validate_data(model, X, reset=False, skip_check_array=True, ensure_2d=False)


def check_not_negative(rows: Rows | SparseRows, why: str) -> None:
    """Refuse rows that hold a negative number; ``why`` names who needs that.

    Examples
    --------
    >>> import numpy as np
    >>> check_not_negative(np.array([[0.0, 1.0]]), "certify=True")
    """
    values = rows.matrix.data if isinstance(rows, SparseRows) else rows
    if values.min(initial=0) < 0:
        at = np.argwhere(values < 0)[0]
        row, column = rows.place(int(at[0])) if isinstance(rows, SparseRows) else at
        raise ValueError(
            f"Input X contains {values[tuple(at)]:g} (row {row}, column {column}); {why} needs "
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


def _read_sparse(X: Any, expected: Expected) -> SparseRows:
    if X.ndim == 2 and X.dtype.kind in "fiub" and 0 not in X.shape:
        _check_width(X.shape[1], expected)
        rows = to_csr(X, expected.dtype or _real_type(X.dtype))
        _check_sparse_values(rows)
        if not expected.zeros:
            expected.metric.refuse_bad(rows)
        return rows
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: expected real numbers")
    # What is left is refused in scikit-learn's words.
    check_array(X, accept_sparse=True, estimator=expected.owner, input_name="X")
    raise ValueError(f"Input X is sparse, of type {X.dtype} and shape {X.shape}: expected rows")


def _check_sparse_values(rows: SparseRows) -> None:
    values = rows.matrix.data
    largest = np.finfo(rows.dtype).max if rows.dtype == FLOAT32 else LARGEST
    if values.size == 0 or (values.max() <= largest and values.min() >= -largest):
        return  # which no NaN passes
    entry = int(np.argmin(np.abs(values) <= largest))
    row, column = rows.place(entry)
    value = values[entry]
    at = where(row, column, None)
    if np.isnan(value):
        raise ValueError(f"Input X contains NaN {at}; every number must be finite")
    if np.isinf(value):
        raise ValueError(
            f"Input X contains infinity {at}, or a number too large for {rows.dtype}; "
            f"every number must be finite"
        )
    raise ValueError(_too_large(value, at))


def _check_width(found: int, expected: Expected) -> None:
    owner, width = expected.owner, expected.width
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


def _check_values(
    rows: Rows, array: npt.NDArray[np.generic], columns: Sequence[Any] | None
) -> None:
    """Refuse what the core cannot compute with; ``array`` is what the user gave."""
    place = _core.first_non_finite(rows)
    if place is not None:
        row, column = place
        value = array[row, column]
        at = where(row, column, columns)
        if np.isnan(value):
            missing = "NaN" if columns is None else "NaN or null"
            raise ValueError(f"Input X contains {missing} {at}; every number must be finite")
        if np.isinf(value):
            raise ValueError(f"Input X contains infinity {at}; every number must be finite")
        raise ValueError(
            f"Input X contains {value:g} {at}, too large for {rows.dtype}, "
            f"the type of this model's first batch"
        )
    if rows.dtype == FLOAT64 and (rows.max() > LARGEST or rows.min() < -LARGEST):
        row, column = np.argwhere(np.abs(rows) > LARGEST)[0]
        raise ValueError(_too_large(rows[row, column], where(row, column, columns)))


def _too_large(value: float, at: str) -> str:
    return (
        f"Input X contains {value:g} {at}; its square overflows, so numbers must lie "
        f"within {LARGEST:g} of zero: rescale X"
    )


def _some(names: Sequence[str]) -> str:
    """A few of the names, for messages."""
    shown = ", ".join(map(repr, list(names)[:5]))
    return (shown + ", …" if len(names) > 5 else shown) or "none"
