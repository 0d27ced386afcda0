# SPDX-License-Identifier: BSD-3-Clause
"""_text.py: rows of .csv, .tsv and .jsonl, line by line.

Each format is turned into *records*, lists of cells of equal length with a line
number, and from there on they are treated alike. What a column holds is decided by
its first cell that is not empty, among a thousand records of a file, or in the very
first of a live stream.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ramify.files._cells import is_number, is_whole_text, plain_number, python_only
from ramify.files._headers import check_width
from ramify.files._lines import LONGEST_LINE, Lines
from ramify.files._source import (
    Batch,
    Choice,
    Name,
    NoColumnError,
    ReadOptions,
    Source,
    choose,
    first_unusable,
    listed,
    real,
)

_LOOK_AT = 1_000  # records, to decide what is a number
_CELLS_TO_LOOK_AT = 1_000_000  # at most, if these are wide
_BYTES_A_CELL = 64  # of text, as Python keeps it
_DELIMITERS = ",\t;|"


class Record(NamedTuple):
    """One row of text."""

    line: int
    cells: Sequence[Any]


class Text(Source):
    """The rows of a text file, given its records and what to call its columns.

    The names are only for messages unless the columns are ``named`` by the file.
    """

    def __init__(
        self,
        lines: Lines,
        records: Iterator[Record],
        names: Sequence[str] | None,
        options: ReadOptions,
        *,
        named: bool = False,
        live: bool = False,
    ) -> None:
        self.name = lines.name
        self.endless = live
        self._lines = lines
        self._options = options
        first = list(islice(records, 1)) if live else _first_of(records)
        if not first:
            raise ValueError(f"{self.name} holds no rows")
        self._records = chain(first, records)
        columns = len(first[0].cells)
        check_width(columns, self.name)
        self.columns = tuple(map(str, range(columns)) if names is None else names)
        if len(self.columns) != columns:
            raise ValueError(
                f"{self.name}, line {first[0].line}: expected {len(self.columns)} cells as in "
                f"the header, got {columns}"
            )
        self._choice = self._choose(first)
        self.width = len(self._choice.features)
        if named and len(set(self.columns)) == len(self.columns):
            self.feature_names = tuple(self.columns[at] for at in self._choice.features)
        self.left_out = tuple(
            self.columns[at] or f"(unnamed, at {at})" for at in self._choice.left_out
        )

    def _choose(self, first: Sequence[Record]) -> Choice:
        troubles = [_trouble(first, at) for at in range(len(self.columns))]
        if not (
            self._options.columns or self._options.like
        ):  # a column without a name is some table's row numbers
            for at, name in enumerate(self.columns):
                troubles[at] = troubles[at] if name else "it has no name"
        return choose(self.columns, troubles, self._options, self.name)

    def _read(self) -> Iterator[Batch]:
        width = len(self.columns)
        size = self._options.rows_of_a_batch(width, _BYTES_A_CELL)
        batch: list[Record] = []
        for record in self._records:
            if len(record.cells) != width:
                raise ValueError(
                    f"{self.name}, line {record.line}: expected {width} cells, "
                    f"got {len(record.cells)}"
                )
            batch.append(record)
            if len(batch) == size or (self.endless and self._lines.must_wait):
                yield self._batch(batch)
                batch = []
        if batch:
            yield self._batch(batch)

    def _batch(self, records: Sequence[Record]) -> Batch:
        cells = [record.cells for record in records]
        features = self._choice.features
        picked: Iterable[Any] = cells
        if features != tuple(range(len(self.columns))):
            picked = map(_picker(features), cells)
        numbers = list(chain.from_iterable(picked))
        try:
            flat = np.fromiter(map(float, numbers), np.float64, count=len(numbers))
        except (ValueError, TypeError, OverflowError):
            raise self._not_a_number(records) from None
        if python_only(numbers):
            raise self._not_a_number(records)
        rows = real(flat.reshape(len(cells), len(features)), self._options.dtype)
        place = first_unusable(rows)
        if place is not None:
            row, column = place
            raise self._complaint(records[row], features[column], "every number must be finite")
        return Batch(
            rows,
            self._beside(records, self._choice.id),
            self._beside(records, self._choice.label),
        )

    def _beside(self, records: Sequence[Record], at: int | None) -> list[Name] | None:
        """Ids or labels: text as it stands, whole numbers as ints."""
        if at is None:
            return None
        return [self._as_name(record, at) for record in records]

    def _as_name(self, record: Record, at: int) -> Name:
        cell = record.cells[at]
        if isinstance(cell, str) and cell:
            if not is_whole_text(cell):
                raise self._complaint(record, at, "expected whole characters")
            return cell
        if isinstance(cell, int | float):
            return plain_number(cell)
        raise self._complaint(record, at, "expected text or a number")

    def _not_a_number(self, records: Sequence[Record]) -> ValueError:
        for record in records:
            for at in self._choice.features:
                if not is_number(record.cells[at]):
                    return self._complaint(record, at, "expected a number")
                try:
                    float(record.cells[at])
                except OverflowError:
                    return self._complaint(record, at, "every number must be finite")
        raise AssertionError("some cell is not a number")

    def _complaint(self, record: Record, at: int, wish: str) -> ValueError:
        cell = record.cells[at]
        found = "the cell is empty" if cell in ("", None) else f"{_shown(cell)} found"
        return ValueError(
            f"{self.name}, line {record.line}, column {self.columns[at]!r}: {found}; {wish}"
        )

    def fraction(self) -> float | None:
        return self._lines.fraction()

    def close(self) -> None:
        self._lines.close()


def open_csv(lines: Lines, delimiter: str | None, options: ReadOptions, *, live: bool) -> Text:
    """The rows of separated values, with a header or without."""
    opening = []  # up to the first line that is not blank
    for line in lines:
        opening.append(line)
        if line.strip():
            break
    mark = delimiter or _guess_delimiter(opening[-1] if opening else "")
    records = _separated(chain(opening, lines), mark, lines.name)
    head = next(records, None)
    if head is None:
        raise ValueError(f"{lines.name} holds no rows")
    header = options.header
    if header is None:
        header = not all(cell == "" or is_number(cell) for cell in head.cells)
    if header:
        names = [cell.strip() for cell in head.cells]
        return Text(lines, records, names, options, named=True, live=live)
    return Text(lines, chain([head], records), None, options, live=live)


def open_jsonl(lines: Lines, options: ReadOptions, *, live: bool) -> Text:
    """The rows of JSON lines: arrays, objects with an array, or objects of numbers."""
    values = _json_values(lines)
    first = next(values, None)
    if first is None:
        raise ValueError(f"{lines.name} holds no rows")
    values = chain([first], values)
    start = first[1]
    if isinstance(start, list):
        if options.field is not None:
            raise ValueError(f"{lines.name} holds arrays, which have no field {options.field!r}")
        return Text(lines, _arrays(values, lines.name), None, options, live=live)
    field = options.field or _only_array(start, options, lines.name)
    if field is not None:
        return _open_field(lines, values, field, start, options, live=live)
    names = list(start)
    records = _objects(values, names, lines.name)
    return Text(lines, records, names, options, named=True, live=live)


def _first_of(records: Iterator[Record]) -> list[Record]:
    """Some records to tell by what is a number: few if they are wide."""
    first: list[Record] = []
    cells = 0
    for record in islice(records, _LOOK_AT):
        first.append(record)
        cells += len(record.cells)
        if cells >= _CELLS_TO_LOOK_AT:
            break
    return first


def _trouble(first: Sequence[Record], at: int) -> str | None:
    """Why a column cannot be a feature; None if it can. Its first cell with anything decides.

    Later gaps and texts are no reason to drop a column silently: they are reported when
    they are read.
    """
    for record in first:
        cell = record.cells[at] if at < len(record.cells) else None
        if cell is not None and cell != "":
            return None if is_number(cell) else f"line {record.line} has {_shown(cell)}"
    return f"it is empty from line {first[0].line} on"


def _shown(cell: object) -> str:
    text = repr(cell)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _picker(features: Sequence[int]) -> Callable[[Any], tuple[Any, ...]]:
    if len(features) > 1:
        return itemgetter(*features)
    return lambda cells: tuple(cells[at] for at in features)


def _guess_delimiter(line: str) -> str:
    """The likeliest separator: the first of , tab ; | that is there, or blanks between numbers."""
    for mark in _DELIMITERS:
        if mark in line:
            return mark
    words = line.split()
    return " " if len(words) > 1 and all(map(is_number, words)) else ","


def _separated(lines: Iterable[str], delimiter: str, name: str) -> Iterator[Record]:
    length = 0  # of the present record, which may go on over many lines

    def text() -> Iterator[str]:
        nonlocal length
        for line in lines:
            length += len(line)
            if length > LONGEST_LINE:
                raise ValueError(
                    f"{name}, line {reader.line_num}: a row of more than {LONGEST_LINE:,} "
                    f"characters; is a quote missing?"
                )
            yield line.strip() if delimiter == " " else line

    reader = csv.reader(text(), delimiter=delimiter, skipinitialspace=True)
    try:
        for cells in reader:
            length = 0
            if cells:
                yield Record(reader.line_num, cells)
    except csv.Error as error:
        raise ValueError(f"{name}, line {reader.line_num}: {error}") from None


def _json_values(lines: Lines) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{lines.name}, line {number} is not JSON: {error}") from None
        except RecursionError:
            raise ValueError(f"{lines.name}, line {number} is nested too deeply") from None
        if not isinstance(value, list | dict):
            raise ValueError(
                f"{lines.name}, line {number}: expected an array or an object, got {_shown(value)}"
            )
        yield number, value


def _arrays(values: Iterable[tuple[int, Any]], name: str) -> Iterator[Record]:
    for line, value in values:
        if not isinstance(value, list):
            raise ValueError(f"{name}, line {line}: expected an array as before, got an object")
        yield Record(line, value)


def _objects(
    values: Iterable[tuple[int, Any]], names: Sequence[str], name: str
) -> Iterator[Record]:
    for line, value in values:
        if not isinstance(value, dict):
            raise ValueError(f"{name}, line {line}: expected an object as before, got an array")
        yield Record(line, [value.get(key) for key in names])


def _only_array(start: dict[str, Any], options: ReadOptions, name: str) -> str | None:
    """The one field that holds an array of numbers, if there is one and no columns are named."""
    if options.columns or options.like or not options.features:
        return None
    arrays = [key for key, value in start.items() if isinstance(value, list) and value]
    arrays = [key for key in arrays if all(map(is_number, start[key]))]
    if len(arrays) > 1:
        raise ValueError(f"{name}: choose one field by name (--field); arrays are {listed(arrays)}")
    return arrays[0] if arrays else None


def _open_field(
    lines: Lines,
    values: Iterable[tuple[int, Any]],
    field: str,
    start: dict[str, Any],
    options: ReadOptions,
    *,
    live: bool,
) -> Text:
    """Records of an array field: its numbers, then the id and the label."""
    beside = [key for key in (options.id_column, options.label_column) if key is not None]
    for key in (field, *beside):
        if key not in start:
            raise NoColumnError(lines.name, key, [*start], "field")
    width = len(start[field]) if isinstance(start[field], list) else 0

    def records() -> Iterator[Record]:
        for line, value in values:
            array = value.get(field) if isinstance(value, dict) else None
            if not isinstance(array, list) or len(array) != width or not array:
                raise ValueError(
                    f"{lines.name}, line {line}: expected an array of {width or 'some'} numbers "
                    f"in {field!r}, got {_shown(array)}"
                )
            yield Record(line, [*array, *(value.get(key) for key in beside)])

    names = [*(f"{field}[{at}]" for at in range(width)), *beside]
    numbers = replace(options, columns=options.columns or [f"0:{width}"])
    return Text(lines, records(), names, numbers, live=live)
