# SPDX-License-Identifier: BSD-3-Clause
"""_arrow.py: rows of .parquet, .feather and .arrow files, record batch by record batch."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.files._cells import plain_names
from ramify.files._columns import Choice, choose, listed
from ramify.files._source import BadRow, Batch, Name, ReadOptions, Rows, Source, real, unusable

_FILE_MAGIC = b"ARROW1"
_OLD_MAGIC = b"FEA1"


def require_pyarrow(what: str) -> None:
    """Say how to get pyarrow, if it is not there.

    Examples
    --------
    >>> from ramify.files import require_pyarrow
    >>> require_pyarrow("reading rows.parquet")  # ImportError, or nothing
    """
    if find_spec("pyarrow") is None:
        raise ImportError(
            f'{what} needs pyarrow, which is not installed: pip install "ramify[cli]"'
        )


class _ArrowSource(Source):
    """Rows of record batches, whatever they come from."""

    _batches_done = 0.0

    def __init__(self, name: str, schema: Any, options: ReadOptions) -> None:
        self.name = name
        self._options = options
        self._field = _choose_field(schema, options, name)
        self._choice = self._choose(schema)
        names: list[str] = schema.names
        beside = [at for at in self._choice.beside if at is not None]
        features = () if self._field is not None else self._choice.features
        own = [names.index(self._field)] if self._field is not None else []
        self._needed = [names[at] for at in dict.fromkeys([*features, *own, *beside])]
        if len({*self._needed}) < len(self._needed) or any(
            names.count(column) > 1 for column in self._needed
        ):
            raise ValueError(f"{name}: two columns have the same name; rename one of them")
        self.columns = tuple(names)
        self.width = self._list_width(schema) if self._field is not None else len(features)
        if self._field is None:
            self.feature_names = tuple(names[at] for at in features)
            self.left_out = tuple(names[at] for at in self._choice.left_out)

    def _choose(self, schema: Any) -> Choice:
        troubles = [_trouble(column) for column in schema]
        if self._field is None:
            return choose(schema.names, troubles, self._options, self.name)
        beside = replace(self._options, columns=[self._field], like=(), features=True)
        return choose(schema.names, [None] * len(troubles), beside, self.name)

    def _list_width(self, schema: Any) -> int:
        kind = schema.field(self._field).type
        return kind.list_size if hasattr(kind, "list_size") else 0  # not known in advance

    @abstractmethod
    def _record_batches(self, size: int) -> Iterator[Any]:
        """Record batches of at least the needed columns."""

    def _read(self) -> Iterator[Batch]:
        size = self._options.rows_of_a_batch(self.width or 1_000)
        start = 0
        for done, record_batch in enumerate(self._record_batches(size)):
            needed = _checked(record_batch.select(self._needed), self.name)
            for offset in range(0, needed.num_rows, size):
                skipped = max(self._options.start - start - offset, 0)
                part = needed.slice(offset + skipped, max(size - skipped, 0))
                if part.num_rows:
                    yield from self._batches(part, start + offset + skipped)
                self._batches_done = done + min(offset + size, needed.num_rows) / needed.num_rows
            start += needed.num_rows

    def _batches(self, part: Any, start: int) -> Iterator[Batch]:
        """The rows of a part that can be used, as one batch."""
        reasons = self._gaps(part)
        whole = [row for row in range(part.num_rows) if row not in reasons] if reasons else None
        kept = part if whole is None else part.take(whole)
        rows = self._rows(kept)
        for row, column in unusable(rows):
            reason = self._not_finite(column, rows[row, column])
            reasons[row if whole is None else whole[row]] = reason
        if not reasons:
            yield self._batch(part, range(start, start + part.num_rows), rows)
            return
        bad = {row: BadRow(start + row, reason) for row, reason in reasons.items()}
        yield from self._without(
            part.num_rows,
            bad,
            lambda good: self._batch(part.take(good), [start + row for row in good]),
        )

    def _gaps(self, part: Any) -> dict[int, str]:
        """Rows with arrays of a wrong length, or without an id, label, weight or time."""
        reasons = {}
        for at in reversed(self._choice.beside):
            if at is None:
                continue
            column = part.column(self.columns[at])
            if hasattr(column, "dictionary_decode"):  # whose words may have a gap, too
                column = column.dictionary_decode()
            empty = column.is_null().to_numpy(zero_copy_only=False)
            reason = "the cell is empty; expected text or a number"
            for row in np.flatnonzero(empty).tolist():
                reasons[row] = f"column {self.columns[at]!r}: {reason}"
        if self._field is None:
            return reasons
        lengths = _lengths(part.column(self._field))
        if self.width == 0:
            self.width = int(next((length for length in lengths if length), 0))
        for row in np.flatnonzero((lengths != self.width) | (lengths == 0)).tolist():
            reason = f"expected {self.width} numbers in {self._field!r}, got {lengths[row]}"
            reasons[row] = reason
        return reasons

    def _not_finite(self, column: int, value: float) -> str:
        which = f"{self._field}[{column}]"
        if self._field is None:
            which = self.columns[self._choice.features[column]]
        return f"column {which!r}: {_what(value)}; every number must be there and finite"

    def _batch(self, part: Any, places: Sequence[int], rows: Rows | None = None) -> Batch:
        ids, labels, weights, times = (self._beside(part, at) for at in self._choice.beside)
        rows = self._rows(part) if rows is None else rows
        return Batch(rows, ids, labels, places, weights=weights, times=times)

    def _rows(self, part: Any) -> Rows:
        if self._field is not None:
            return self._list_rows(part)
        names = [self.columns[at] for at in self._choice.features]
        return _side_by_side(part, names, self._options)

    def _list_rows(self, part: Any) -> Rows:
        column = part.column(self._field)
        numbers = _plain(column.flatten())
        rows = real(numbers.reshape(len(column), self.width), self._options.dtype)
        if not self._options.columns:
            return rows
        positions = [str(at) for at in range(self.width)]
        asked = ReadOptions(columns=self._options.columns)
        chosen = choose(positions, [None] * self.width, asked, self.name)
        return real(rows[:, chosen.features], rows.dtype)

    def _beside(self, part: Any, at: int | None) -> list[Name] | None:
        if at is None:
            return None
        column = part.column(self.columns[at])
        where = f"{self.name}, column {self.columns[at]!r}"
        return _names(column, _python_values(column, where), where)


class Parquet(_ArrowSource):
    """The rows of a Parquet file."""

    def __init__(self, path: Path, options: ReadOptions, name: str) -> None:
        require_pyarrow(f"reading {name}")
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            # In small pieces: a row group may be the whole file.
            self._file = pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 16)
        except PermissionError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{name} is not a Parquet file: {_sentence(error)}") from None
        super().__init__(name, self._file.schema_arrow, options)
        self.n_rows = _some(self._file.metadata.num_rows, self.name)

    def _record_batches(self, size: int) -> Iterator[Any]:
        batches = self._file.iter_batches(size, columns=self._needed, use_threads=False)
        return _readable(batches, self.name)

    def close(self) -> None:
        self._file.close()


class Arrow(_ArrowSource):
    """The rows of an Arrow file or stream, which Feather is, too."""

    def __init__(self, path: Path, options: ReadOptions, name: str) -> None:
        require_pyarrow(f"reading {name}")
        import pyarrow as pa

        with path.open("rb") as file:
            magic = file.read(len(_FILE_MAGIC))
        if magic.startswith(_OLD_MAGIC):
            raise ValueError(f"{name} is Feather of version 1; write it anew as version 2")
        try:
            self._map = pa.memory_map(str(path))
            is_file = magic == _FILE_MAGIC
            self._reader = pa.ipc.open_file(self._map) if is_file else pa.ipc.open_stream(self._map)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{name} is not an Arrow file: {_sentence(error)}") from None
        super().__init__(name, self._reader.schema, options)
        self._is_file = is_file

    def _record_batches(self, size: int) -> Iterator[Any]:
        if not self._is_file:
            return _readable(iter(self._reader), self.name)
        batches = (self._reader.get_batch(i) for i in range(self._reader.num_record_batches))
        return _readable(batches, self.name)

    def fraction(self) -> float | None:
        if self._is_file:
            return self._batches_done / max(int(self._reader.num_record_batches), 1)
        return None if self._map.closed else float(self._map.tell() / max(self._map.size(), 1))

    def close(self) -> None:
        self._map.close()


class ArrowStream(_ArrowSource):
    """The rows of a stream of Arrow on a pipe, record batch by record batch as they come."""

    endless = True

    def __init__(self, file: Any, name: str, options: ReadOptions) -> None:
        require_pyarrow(f"reading {name}")
        import pyarrow as pa

        try:
            self._reader = pa.ipc.open_stream(pa.PythonFile(file, mode="r"))
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{name} is not a stream of Arrow: {_sentence(error)}") from None
        super().__init__(name, self._reader.schema, options)

    def _record_batches(self, size: int) -> Iterator[Any]:
        return _readable(iter(self._reader), self.name)


def _readable(batches: Iterator[Any], name: str) -> Iterator[Any]:
    """The same batches; damage becomes a sentence."""
    import pyarrow as pa

    try:
        yield from batches
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{name} cannot be read: {_sentence(error)}") from None


def _checked(batch: Any, name: str) -> Any:
    """The same batch, if its cells lie where it says: Arrow itself would look anywhere. O(n)."""
    import pyarrow as pa

    try:
        batch.validate(full=True)
    except pa.ArrowException as error:
        raise ValueError(f"{name} is damaged: {_sentence(error)}") from None
    return batch


def _sentence(error: BaseException) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else "unknown"


def _some(n_rows: int, name: str) -> int:
    if n_rows == 0:
        raise ValueError(f"{name} holds no rows")
    return n_rows


def _choose_field(schema: Any, options: ReadOptions, name: str) -> str | None:
    """The column that holds arrays of numbers: the one named, or the only one."""
    names: list[str] = schema.names
    arrays: list[str] = [column.name for column in schema if _is_list_of_numbers(column.type)]
    if options.field is not None:
        if options.field not in names:
            raise ValueError(f"{name}: no column {options.field!r}; it has {listed(names)}")
        if options.field not in arrays:
            kind = schema.field(options.field).type
            raise ValueError(
                f"{name}: column {options.field!r} holds {kind}, not arrays of numbers"
            )
        return options.field
    if options.columns or options.like or not arrays or not options.features:
        return None
    if len(arrays) > 1:
        raise ValueError(f"{name}: choose one column of arrays by name (--field): {listed(arrays)}")
    return arrays[0]


def _is_list_of_numbers(kind: Any) -> bool:
    import pyarrow.types as types

    lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(lists and _is_number(kind.value_type))


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def _python_values(column: Any, where: str) -> list[Any]:
    """Cells as Python's own values: integers of any size stay exact."""
    import pyarrow as pa

    try:
        values: list[Any] = column.to_pylist()
    except (pa.ArrowException, ValueError, OverflowError, LookupError, ImportError) as error:
        # Dates that Python has no room for, or in a zone that nobody knows.
        raise ValueError(f"{where}, which holds {column.type}: {_sentence(error)}") from None
    return values


def _names(column: Any, values: list[Any], where: str) -> list[Name]:
    """Ids or labels of one type, which is that of the first value.

    Integers never meet NumPy, which makes floats of those on both sides of 2^63.
    """
    first = values[0] if values else ""
    if isinstance(first, str):
        return values
    if isinstance(first, int):
        return [int(value) for value in values]  # also of True
    if isinstance(first, float | np.floating):
        return plain_names(column.to_numpy(zero_copy_only=False), where)
    if isinstance(first, bytes):
        try:
            return [value.decode() for value in values]
        except UnicodeDecodeError as error:
            raise ValueError(f"{where} holds bytes that are not UTF-8: {error.reason}") from None
    return [str(value) for value in values]  # dates and the like


def _trouble(column: Any) -> str | None:
    return None if _is_number(column.type) else f"it holds {column.type}"


def _side_by_side(part: Any, names: Sequence[str], options: ReadOptions) -> Rows:
    """Columns as a matrix; float32 only if all of them are. Gaps become NaN."""
    arrays = [_plain(part.column(name)) for name in names]
    small = all(array.dtype.kind == "f" and array.dtype.itemsize <= 4 for array in arrays)
    dtype = options.dtype or np.dtype(np.float32 if small else np.float64)
    rows: Rows = np.empty((part.num_rows, len(arrays)), dtype=dtype)
    with np.errstate(over="ignore"):
        for at, array in enumerate(arrays):
            rows[:, at] = array
    return rows


def _lengths(column: Any) -> npt.NDArray[np.int64]:
    """Of the arrays of a column; 0 for one that is not there."""
    return np.array([length or 0 for length in column.value_lengths().to_pylist()])


def _plain(column: Any) -> npt.NDArray[Any]:
    import pyarrow as pa

    if pa.types.is_decimal(column.type) or pa.types.is_boolean(column.type):
        column = column.cast(pa.float64())
    numbers: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return numbers


def _what(value: float) -> str:
    return "the cell is empty or not a number" if np.isnan(value) else f"{value:g}"
