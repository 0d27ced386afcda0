# SPDX-License-Identifier: BSD-3-Clause
"""_features.py: river's dicts and frames as rows: which feature has which column."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import isfinite
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from ramify.frames import Table, read_table, where
from ramify.points import Rows

Features: TypeAlias = Mapping[Hashable, Any]


def numbers_of(x: Features) -> dict[Hashable, float]:
    """A point's values as floats; whatever is none is refused by name."""
    if not isinstance(x, Mapping):
        raise TypeError(f"expected a dict of numbers by feature, got {type(x).__name__}")
    if not x:
        raise ValueError("expected a dict of numbers by feature, got an empty one")
    numbers = {}
    for name, value in x.items():
        if not isinstance(value, Real | np.bool) or not isfinite(value):
            raise ValueError(f"feature {name!r} is {value!r}: expected a finite number")
        numbers[name] = float(value)
    return numbers


def table_of(X: object, who: str) -> Table:
    """A frame as an array of finite numbers, with the names of its columns."""
    names = list(getattr(X, "columns", ()))
    if all(isinstance(name, Hashable) for name in names) and len(set(names)) < len(names):
        raise ValueError(f"{who} expected one column for each feature, got two of one name")
    table = read_table(X)
    if table is None:
        kind = type(X).__name__
        raise TypeError(f"{who} expected a frame of pandas, polars or Arrow, got {kind}")
    if len(table.columns) == 0:
        raise ValueError(f"{who} expected a frame of numbers, got one without columns")
    finite = np.isfinite(table.array)
    if not finite.all():
        row, j = np.argwhere(~finite)[0]
        at = where(int(row), int(j), table.columns)
        raise ValueError(f"{who} got {table.array[row, j]} {at}: expected finite numbers")
    return table


def with_new(columns: Mapping[Hashable, int], names: Iterable[Hashable]) -> dict[Hashable, int]:
    """The columns of all features, new ones last, sorted, so that no dict's order matters."""
    new = sorted((name for name in names if name not in columns), key=_by_text)
    return {**columns, **{name: len(columns) + j for j, name in enumerate(new)}}


def _by_text(name: Hashable) -> tuple[str, str]:
    return str(name), type(name).__name__  # 1 and "1" are two features


def spread(table: Table, columns: Mapping[Hashable, int], width: int) -> Rows:
    """Rows with each feature in its column, 0 elsewhere; unknown features are left out."""
    dtype = np.float32 if table.array.dtype == np.float32 else np.float64
    rows = np.zeros((len(table.array), width), dtype=dtype)
    known = [j for j, name in enumerate(table.columns) if name in columns]
    rows[:, _places(table.columns, known, columns)] = table.array[:, known]
    return rows


def _places(
    names: Sequence[Hashable], known: Sequence[int], columns: Mapping[Hashable, int]
) -> list[int]:
    return [columns[names[j]] for j in known]
