# SPDX-License-Identifier: BSD-3-Clause
"""frames.py: tables with named columns -> one array, and whose column is at fault.

narwhals reads pandas, polars and Arrow tables in one way. Without it frames are
read through ``__array__``, as any other object; errors then count columns and do
not name them. Nothing here is imported before a table has come in.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Table(NamedTuple):
    """What a frame holds: one array, and the names of its columns."""

    array: npt.NDArray[Any]
    columns: list[Any]


def open_arrow(X: object) -> object:
    """Turn Arrow data that is no table yet into one; anything else passes through.

    Arrow streams can be read only once, so this happens once, before anyone looks.
    """
    if not (hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")):
        return X
    if hasattr(X, "__array__") and type(X).__module__.split(".")[0] != "pyarrow":
        return X  # pandas and polars, which speak Arrow, too
    try:
        return import_module("pyarrow").table(X)
    except ImportError as error:
        raise ImportError(
            f"reading {type(X).__name__} needs pyarrow, which is not installed: "
            f'pip install "ramify[arrow]"'
        ) from error
    except (TypeError, ValueError):  # a single column, say
        return X


def read_table(X: object) -> Table | None:
    """A frame as an array of real numbers; None for what is no frame, or without narwhals.

    Examples
    --------
    >>> read_table([[1.0, 2.0]]) is None
    True
    """
    frame = _as_frame(X)
    if frame is None:
        return None
    narwhals = import_module("narwhals")
    if isinstance(frame, narwhals.LazyFrame):
        raise TypeError("X is a lazy frame, which holds no rows yet; call its collect() first")
    columns = list(frame.columns)
    if len(columns) == 0 or len(frame) == 0:
        return Table(np.empty((len(frame), len(columns))), columns)
    if all(dtype.is_float() for dtype in frame.schema.values()):
        array = frame.to_numpy()  # at once, and often the memory of the frame itself
        if array.dtype.kind == "f":
            return Table(array, columns)  # in which nulls are NaN
    checked = [_column(one, j, columns) for j, one in enumerate(frame.iter_columns())]
    return Table(_side_by_side(checked), columns)


def where(row: int, column: int, columns: Sequence[Any] | None) -> str:
    """The place of a number, for messages.

    Examples
    --------
    >>> where(3, 1, None)
    '(row 3, column 1)'
    >>> where(3, 1, ["width", "height"])
    "(row 3, column 1: 'height')"
    """
    name = "" if columns is None else f": {columns[column]!r}"
    return f"(row {row}, column {column}{name})"


def named_row(x: object) -> tuple[list[str], list[Any]] | None:
    """Names and values of one point given by name: a mapping, or a pandas Series.

    Examples
    --------
    >>> named_row({"a": 1.0, "b": 2.0})
    (['a', 'b'], [1.0, 2.0])
    >>> named_row([1.0, 2.0]) is None
    True
    """
    if isinstance(x, Mapping):
        if odd := [name for name in x if not isinstance(name, str)]:
            raise TypeError(f"a row given by name needs strings as names, got {odd[0]!r}")
        return list(x), list(x.values())
    if type(x).__name__ == "Series" and type(x).__module__.split(".")[0] == "pandas":
        names = list(getattr(x, "index"))  # noqa: B009 - untyped on purpose: pandas is optional
        if names and all(isinstance(name, str) for name in names):
            return names, list(getattr(x, "array"))  # noqa: B009
    return None


def _as_frame(X: object) -> Any:
    """The frame as narwhals sees it, None if it is none, or if narwhals is missing."""
    if isinstance(X, np.ndarray | list | tuple):
        return None
    try:
        narwhals = import_module("narwhals")
    except ImportError:
        return None
    try:
        frame = narwhals.from_native(X, pass_through=True)
        known = isinstance(frame, narwhals.DataFrame | narwhals.LazyFrame)
        if known and isinstance(frame, narwhals.DataFrame):
            frame.schema  # noqa: B018 - refuses columns of one name, which arrays allow
    except narwhals.exceptions.NarwhalsError:
        return None
    return frame if known else None


def _column(series: Any, j: int, columns: list[Any]) -> npt.NDArray[Any]:
    """One column as numbers. O(n)."""
    if series.null_count() > 0:
        row = int(np.argmax(series.is_null().to_numpy()))
        raise ValueError(
            f"Input X contains NaN or null {where(row, j, columns)}; every number must be finite"
        )
    dtype = series.dtype
    if dtype.is_numeric() or dtype == import_module("narwhals").Boolean:
        values = series.to_numpy()
    else:
        values = np.asarray(series.to_native())
    if values.dtype.kind in "fiub":
        return np.asarray(values)
    if values.dtype.kind in "OUTS":
        return _numbers(values.astype(object), j, columns)
    raise ValueError(
        f"Input X holds values of type {dtype} in column {j}: {columns[j]!r}; expected real numbers"
    )


def _numbers(values: npt.NDArray[np.object_], j: int, columns: list[Any]) -> npt.NDArray[Any]:
    """Python objects as floats, if all of them are numbers."""
    for row, value in enumerate(values):
        at = where(row, j, columns)
        if isinstance(value, str | bytes):
            raise ValueError(
                f"Input X contains text: {value!r} {at}; convert your data to numbers first, "
                "as sklearn.compose.ColumnTransformer does for columns of categories and of texts"
            )
        decimal = type(value).__name__ == "Decimal"
        if not isinstance(value, Real | np.bool) and not decimal:
            kind = type(value).__name__
            raise ValueError(f"Input X contains {value!r} ({kind}) {at}; expected real numbers")
    return values.astype(np.float64)


def _side_by_side(columns: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    single = all(one.dtype.kind == "f" and one.dtype.itemsize <= 4 for one in columns)
    array = np.empty((len(columns[0]), len(columns)), dtype=np.float32 if single else np.float64)
    for j, column in enumerate(columns):
        array[:, j] = column
    return array
