# SPDX-License-Identifier: BSD-3-Clause
"""_records.py: lines of text, taken apart.

A line becomes a *record*, a list of cells with a line number, or a *bad row* with a
reason. Bad rows go the way of the records and are not raised, so that the reader can
do without them: a generator that has raised is over.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from ramify.files._cells import is_whole_text
from ramify.files._lines import LONGEST_LINE, Lines
from ramify.files._source import BadRow, said_of


class Record(NamedTuple):
    """One row of text."""

    line: int
    cells: Sequence[Any]
    text: str = ""  # kept only where bad rows are


#: What a line of text is, or the lines of a record that has several.
Line: TypeAlias = Record | BadRow


def place_of(line: Line) -> int:
    return line.line if isinstance(line, Record) else line.place


def of_width(line: Line, width: int | None, as_in: str = "") -> Line:
    """A bad row instead of a record of another width than the one expected, if there is one."""
    if isinstance(line, BadRow) or width is None or len(line.cells) == width:
        return line
    reason = f"expected {width} cells{as_in}, got {len(line.cells)}"
    return BadRow(line.line, reason, line.text)


def wish_of_name(cell: object) -> str | None:
    """What an id or a label should be, if this cannot be one."""
    if isinstance(cell, str) and cell:
        return None if is_whole_text(cell) else "expected whole characters"
    return None if isinstance(cell, int | float) else "expected text or a number"


def _not_utf8(number: int, line: str) -> BadRow | None:
    """Bytes that are no text; :class:`Lines` has made halves of characters of them."""
    if is_whole_text(line):
        return None
    return BadRow(number, "not text in UTF-8", line.rstrip("\r\n"))


def separated(lines: Iterable[str], delimiter: str, name: str) -> Iterator[Line]:
    """Records, which may go on over many lines inside of quotes."""
    length = 0  # of the present record
    count = 0  # of lines

    def text() -> Iterator[str]:
        nonlocal length, count
        for line in lines:
            count += 1
            length += len(line)
            if length > LONGEST_LINE:
                raise ValueError(
                    f"{name}, line {count - 1}: a row of more than {LONGEST_LINE:,} "
                    f"characters; is a quote missing?"
                )
            if (wrong := _not_utf8(count, line)) is not None:
                raise ValueError(said_of(name, "line", wrong))
            yield line.strip() if delimiter == " " else line

    reader = csv.reader(text(), delimiter=delimiter, skipinitialspace=True)
    try:
        for cells in reader:
            length = 0
            if cells:
                yield Record(reader.line_num, cells)
    except csv.Error as error:
        raise ValueError(f"{name}, line {reader.line_num}: {error}") from None


def separated_line_by_line(lines: Iterable[str], delimiter: str, name: str) -> Iterator[Line]:
    """Records of a line each: a quote that is never closed costs its own line alone."""
    for number, line in enumerate(lines, start=1):
        wrong = _not_utf8(number, line)
        text = line.rstrip("\r\n")
        if wrong is not None or not text.strip():
            yield from [] if wrong is None else [wrong]
            continue
        row = text.strip() if delimiter == " " else text
        # A second line is read only if the first one did not end in its place.
        reader = csv.reader([row, ""], delimiter=delimiter, skipinitialspace=True)
        try:
            cells = next(reader)
        except csv.Error as error:
            yield BadRow(number, str(error), text)
            continue
        if reader.line_num > 1:
            yield BadRow(number, "a quote is not closed", text)
        elif cells:
            yield Record(number, cells, text)


class Json(NamedTuple):
    """What a line holds, which is an array or an object."""

    line: int
    value: Any
    text: str


Value: TypeAlias = Json | BadRow


def json_values(lines: Lines, *, keep: bool) -> Iterator[Value]:
    """What the lines hold, and if ``keep`` also their text."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            text = line.rstrip("\r\n")
            value = _not_utf8(number, line) or _json_value(number, text)
            yield value._replace(text=text if keep else "")


def _json_value(number: int, text: str) -> Value:
    try:
        value = json.loads(text)
    except ValueError as error:
        return BadRow(number, f"not JSON: {error}")
    except RecursionError:
        return BadRow(number, "nested too deeply")
    if not isinstance(value, list | dict):
        return BadRow(number, f"expected an array or an object, got {shown(value)}")
    return Json(number, value, "")


def arrays(values: Iterable[Value]) -> Iterator[Line]:
    for found in values:
        if isinstance(found, BadRow):
            yield found
        elif isinstance(found.value, list):
            yield Record(*found)
        else:
            yield BadRow(found.line, "expected an array as before, got an object", found.text)


def objects(values: Iterable[Value], names: Sequence[str]) -> Iterator[Line]:
    for found in values:
        if isinstance(found, BadRow):
            yield found
        elif isinstance(found.value, dict):
            yield Record(found.line, [found.value.get(key) for key in names], found.text)
        else:
            yield BadRow(found.line, "expected an object as before, got an array", found.text)


def shown(cell: object) -> str:
    text = repr(cell)
    return text if len(text) <= 40 else f"{text[:37]}..."
