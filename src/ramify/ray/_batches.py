# SPDX-License-Identifier: BSD-3-Clause
"""_batches.py: rows as they come: arrays, Arrow tables, and data sets of Ray, a batch at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.files import FORMATS, Batch, ReadOptions, open_rows
from ramify.hierarchy import FloatArray, IntArray


class Along(NamedTuple):
    """What comes along with rows, or does not."""

    ids: Any = None
    weights: FloatArray | None = None
    payloads: list[Any] | None = None

    def some(self, places: slice | IntArray) -> Along:
        """What comes along with some of the rows."""
        weights = None if self.weights is None else np.ascontiguousarray(self.weights[places])
        return Along(_some(self.ids, places), weights, _some(self.payloads, places))


def _some(values: list[Any] | None, places: slice | IntArray) -> list[Any] | None:
    if values is None or isinstance(places, slice):
        return None if values is None else values[places]
    return [values[at] for at in places.tolist()]


def is_dataset(X: object) -> bool:
    """Whether this is a ``ray.data.Dataset``, which need not fit the memory."""
    kind = type(X)
    return kind.__module__.split(".")[0] == "ray" and hasattr(X, "iter_batches")


def batches(
    X: Any, named: Mapping[str, Any], rows: int
) -> Iterator[tuple[npt.NDArray[Any], dict[str, Any]]]:
    """Rows of a data set and what comes along, some at a time; the next are read meanwhile."""
    for batch in X.iter_batches(batch_size=rows, batch_format="numpy", prefetch_batches=1):
        yield columns_as_rows(batch, named)


def columns_as_rows(
    columns: Mapping[str, npt.NDArray[Any]], named: Mapping[str, Any]
) -> tuple[npt.NDArray[Any], dict[str, Any]]:
    """Columns side by side, but for those that come along; a column may hold vectors.

    ``named`` says what comes along, and in which column it is; None: nowhere.

    Examples
    --------
    >>> import numpy as np
    >>> columns_as_rows({"x": np.array([1.0, 2.0]), "name": np.array(["a", "b"])}, {"ids": "name"})
    (array([[1.],
           [2.]]), {'ids': array(['a', 'b'], dtype='<U1')})
    """
    named = {what: column for what, column in named.items() if column is not None}
    for what, column in named.items():
        if not isinstance(column, str) or column not in columns:
            raise ValueError(
                f"{what}={column!r}: the data has no such column, but {', '.join(columns)}"
            )
    apart = set(named.values())
    parts = [_block(column) for name, column in columns.items() if name not in apart]
    if not parts:
        raise ValueError("the data has no columns of numbers")
    rows = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
    return rows, {what: columns[column] for what, column in named.items()}


def files_of(source: str | os.PathLike[str]) -> list[tuple[str, Path]]:
    """A file, or those of a folder and of folders in it, by their names, in the order of these."""
    place = Path(os.path.abspath(source))
    if not place.is_dir():
        return [(place.name, place)]
    endings = tuple(end for ends in FORMATS.values() for end in ends)
    found = {
        (PurePath(place.name) / path.relative_to(place)).as_posix(): path
        for path in place.rglob("*")
        if path.is_file() and path.name.lower().endswith(endings)
    }
    if not found:
        raise ValueError(f"{source} has no files that end in {', '.join(endings)}")
    return sorted(found.items())


def batches_of(path: Path, options: ReadOptions, begin: int) -> Iterator[tuple[Batch, int]]:
    """Rows of a file from one of them on, and where the next ones begin."""
    with open_rows(path, replace(options, start=begin)) as source:
        if source.n_rows is not None and source.n_rows < begin:
            raise ValueError(f"{path} has {source.n_rows:,} rows; {begin:,} of it were read before")
        for batch in source:
            if len(batch):
                yield batch, batch.places[-1] + 1


def _block(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column as an array of two dimensions."""
    if column.dtype == object:  # lists, one for each row
        column = np.stack([np.asarray(one) for one in column])
    return column.reshape(len(column), -1)
