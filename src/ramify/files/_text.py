# SPDX-License-Identifier: BSD-3-Clause
"""_text.py: rows of .csv, .tsv and .jsonl, line by line.

Each format is turned into *records* (``_records.py``), and from there on they are treated
alike. What a column holds is decided by its first cell that is not empty, among a
thousand records of a file, or in the very first of a live stream.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from typing import Any, TypeGuard

import numpy as np

from ramify.files._cells import is_number, plain_number, python_only
from ramify.files._columns import Choice, NoColumnError, choose, listed
from ramify.files._headers import check_width
from ramify.files._lines import Lines
from ramify.files._records import (
    Json,
    Line,
    Record,
    Value,
    arrays,
    json_values,
    objects,
    of_width,
    place_of,
    separated,
    separated_line_by_line,
    shown,
    wish_of_name,
)
from ramify.files._source import (
    BadRow,
    Batch,
    Name,
    ReadOptions,
    Source,
    first_unusable,
    real,
    said_of,
)

_LOOK_AT = 1_000  # records, to decide what is a number
_CELLS_TO_LOOK_AT = 1_000_000  # at most, if these are wide
_BYTES_A_CELL = 64  # of text, as Python keeps it
_DELIMITERS = ",\t;|"


class Text(Source):
    """The rows of a text file, given its records and what to call its columns.

    The names are only for messages unless the columns are ``named`` by the file.
    """

    counted = "line"

    def __init__(
        self,
        lines: Lines,
        records: Iterator[Line],
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
        self.width = 0  # not known yet
        width = None if names is None else len(names)
        begun, first = self._begin(records, width, 1 if live else _LOOK_AT)
        self._records = chain(begun, records)
        columns = len(first[0].cells)
        check_width(columns, self.name)
        self.columns = tuple(map(str, range(columns)) if names is None else names)
        self._choice = self._choose(first)
        self.width = len(self._choice.features)
        if named and len(set(self.columns)) == len(self.columns):
            self.feature_names = tuple(self.columns[at] for at in self._choice.features)
        self.left_out = tuple(
            self.columns[at] or f"(unnamed, at {at})" for at in self._choice.left_out
        )

    def _begin(
        self, records: Iterator[Line], width: int | None, most: int
    ) -> tuple[list[Line], list[Record]]:
        """The first lines, and those of them that tell what a column is: few if they are wide."""
        begun: list[Line] = []
        first: list[Record] = []
        cells = 0
        for line in records:
            begun.append(line)
            wrong = of_width(line, width, " as in the header")
            if isinstance(wrong, Record):
                first.append(wrong)
                cells += len(wrong.cells)
            elif not first and self._options.bad_rows is None:
                self._refuse(wrong)
            if len(first) >= most or cells >= _CELLS_TO_LOOK_AT:
                break
        if not first:
            raise ValueError(f"{self.name} holds no rows")
        return begun, first

    def _choose(self, first: Sequence[Record]) -> Choice:
        troubles = [_trouble(first, at) for at in range(len(self.columns))]
        if not (
            self._options.columns or self._options.like
        ):  # a column without a name is some table's row numbers
            for at, name in enumerate(self.columns):
                troubles[at] = troubles[at] if name else "it has no name"
        return choose(self.columns, troubles, self._options, self.name)

    def _read(self) -> Iterator[Batch]:
        size = self._options.rows_of_a_batch(len(self.columns), _BYTES_A_CELL)
        batch: list[Line] = []
        records = self._from_start()
        while True:
            try:
                line = next(records, None)
            except (ValueError, OSError):
                yield from self._batches(batch)  # what has been read so far is not lost
                raise
            if line is not None:
                batch.append(line)
            if line is None or len(batch) == size or (self.endless and self._lines.must_wait):
                yield from self._batches(batch)
                batch = []
            if line is None:
                return

    def _from_start(self) -> Iterator[Line]:
        start, width = self._options.start, len(self.columns)
        for line in self._records:
            if place_of(line) >= start:
                yield of_width(line, width)

    def _batches(self, lines: Sequence[Line]) -> Iterator[Batch]:
        """One batch, without the rows that are bad; none for no lines."""
        if not lines:
            return
        if _all_records(lines):
            try:
                yield self._batch(lines)
                return
            except ValueError:
                pass  # some are bad: which?
        checked = [self._checked(line) for line in lines]
        bad = {at: line for at, line in enumerate(checked) if isinstance(line, BadRow)}

        def make(good: list[int]) -> Batch:
            return self._batch([line for at in good if isinstance(line := lines[at], Record)])

        yield from self._without(len(lines), bad, make)

    def _batch(self, records: Sequence[Record]) -> Batch:
        cells = [record.cells for record in records]
        features = self._choice.features
        picked: Iterable[Any] = cells
        if features != tuple(range(len(self.columns))):
            picked = map(_picker(features), cells)
        numbers = list(chain.from_iterable(picked))
        try:
            flat = np.fromiter(map(float, numbers), np.float64, count=len(numbers))
        except (TypeError, OverflowError) as error:
            raise ValueError("not numbers") from error
        if python_only(numbers):
            raise ValueError("not numbers")
        rows = real(flat.reshape(len(cells), len(features)), self._options.dtype)
        if first_unusable(rows) is not None:
            raise ValueError("not finite")
        ids, labels, weights, times = (self._beside(records, at) for at in self._choice.beside)
        return Batch(
            rows,
            ids,
            labels,
            [record.line for record in records],
            () if self._options.bad_rows is None else [record.text for record in records],
            weights,
            times,
        )

    def _checked(self, line: Line) -> Line:
        """The same line, or a bad row instead of a record that cannot be used."""
        if isinstance(line, BadRow):
            return line
        for at in self._choice.features:
            if not is_number(line.cells[at]):
                return self._complaint(line, at, "expected a number")
            if not self._is_finite(line.cells[at]):
                return self._complaint(line, at, "every number must be finite")
        for at_name in self._choice.beside:
            if at_name is not None and (wish := wish_of_name(line.cells[at_name])) is not None:
                return self._complaint(line, at_name, wish)
        return line

    def _is_finite(self, cell: Any) -> bool:
        try:
            return first_unusable(real(np.array([[float(cell)]]), self._options.dtype)) is None
        except OverflowError:
            return False

    def _beside(self, records: Sequence[Record], at: int | None) -> list[Name] | None:
        """Ids, labels and the like: text as it stands, whole numbers as ints."""
        if at is None:
            return None
        return [self._as_name(record, at) for record in records]

    def _as_name(self, record: Record, at: int) -> Name:
        cell: Name = record.cells[at]
        if wish_of_name(cell) is not None:
            raise ValueError("not a name")
        return cell if isinstance(cell, str) else plain_number(cell)

    def _complaint(self, record: Record, at: int, wish: str) -> BadRow:
        cell = record.cells[at]
        found = "the cell is empty" if cell in ("", None) else f"{shown(cell)} found"
        return BadRow(record.line, f"column {self.columns[at]!r}: {found}; {wish}", record.text)

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
    read = separated if options.bad_rows is None else separated_line_by_line
    records = read(chain(opening, lines), mark, lines.name)
    head = next(records, None)
    if head is None:
        raise ValueError(f"{lines.name} holds no rows")
    if isinstance(head, BadRow):  # nobody could say what the columns are
        raise ValueError(said_of(lines.name, "line", head))
    header = options.header
    if header is None:
        header = not all(cell == "" or is_number(cell) for cell in head.cells)
    if header:
        names = [cell.strip() for cell in head.cells]
        return Text(lines, records, names, options, named=True, live=live)
    return Text(lines, chain([head], records), None, options, live=live)


def open_jsonl(lines: Lines, options: ReadOptions, *, live: bool) -> Text:
    """The rows of JSON lines: arrays, objects with an array, or objects of numbers."""
    values = json_values(lines, keep=options.bad_rows is not None)
    opening: list[Value] = []
    start: Any = None
    for value in values:
        opening.append(value)
        if isinstance(value, Json):
            start = value.value
            break
        if options.bad_rows is None:
            raise ValueError(said_of(lines.name, "line", value))
    if start is None:
        raise ValueError(f"{lines.name} holds no rows")
    values = chain(opening, values)
    if isinstance(start, list):
        if options.field is not None:
            raise ValueError(f"{lines.name} holds arrays, which have no field {options.field!r}")
        return Text(lines, arrays(values), None, options, live=live)
    field = options.field or _only_array(start, options, lines.name)
    if field is not None:
        return _open_field(lines, values, field, start, options, live=live)
    names = list(start)
    records = objects(values, names)
    return Text(lines, records, names, options, named=True, live=live)


def _trouble(first: Sequence[Record], at: int) -> str | None:
    """Why a column cannot be a feature; None if it can. Its first cell with anything decides.

    Later gaps and texts are no reason to drop a column silently: they are reported when
    they are read.
    """
    for record in first:
        cell = record.cells[at] if at < len(record.cells) else None
        if cell is not None and cell != "":
            return None if is_number(cell) else f"line {record.line} has {shown(cell)}"
    return f"it is empty from line {first[0].line} on"


def _all_records(lines: Sequence[Line]) -> TypeGuard[Sequence[Record]]:
    return not any(isinstance(line, BadRow) for line in lines)


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
    values: Iterable[Value],
    field: str,
    start: dict[str, Any],
    options: ReadOptions,
    *,
    live: bool,
) -> Text:
    """Records of an array field: its numbers, then the id, the label, the weight, the time."""
    beside = [key for key in options.beside if key is not None]
    for key in (field, *beside):
        if key not in start:
            raise NoColumnError(lines.name, key, [*start], "field")
    width = len(start[field]) if isinstance(start[field], list) else 0

    def records() -> Iterator[Line]:
        for found in values:
            if isinstance(found, BadRow):
                yield found
                continue
            value = found.value
            array = value.get(field) if isinstance(value, dict) else None
            if isinstance(array, list) and len(array) == width and array:
                beside_it = (value.get(key) for key in beside)
                yield Record(found.line, [*array, *beside_it], found.text)
                continue
            wish = f"expected an array of {width or 'some'} numbers in {field!r}"
            yield BadRow(found.line, f"{wish}, got {shown(array)}", found.text)

    names = [*(f"{field}[{at}]" for at in range(width)), *beside]
    numbers = replace(options, columns=options.columns or [f"0:{width}"])
    return Text(lines, records(), names, numbers, live=live)
