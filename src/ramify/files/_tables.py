# SPDX-License-Identifier: BSD-3-Clause
"""_tables.py: tables with named columns into csv, tsv, jsonl, parquet and arrow.

A table is written piece by piece. To a file it goes whole or not at all; text may
also go to standard output.
"""

import io
import json
import os
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ramify.files._arrow import require_pyarrow
from ramify.files._cells import is_number
from ramify.files._whole import appended, whole_file

#: Formats that can be written, and the endings of their files.
TABLES = {
    "csv": (".csv", ".txt"),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
}
TEXT = ("csv", "tsv", "jsonl")

# What a spreadsheet may run: also in the full width of East Asian type, and behind a cell or a
# line that a careless reader thinks has ended.
_FORMULA_STARTS = tuple("=+-@＝＋－＠")
_LINE_STARTS = tuple("\t\r\n")


class Table(ABC):
    """A table that is being written.

    Examples
    --------
    >>> from ramify.files import Table, open_table
    >>> with open_table(None, ["point", "label"]) as table:
    ...     assert isinstance(table, Table)
    ...     table.write(["elm"], [0])
    point,label
    elm,0
    """

    @abstractmethod
    def write(self, *columns: Any) -> None:
        """Append rows: one list or array a column, all of one length.

        Examples
        --------
        >>> from ramify.files import open_table
        >>> with open_table(None, ["point", "label"], format="jsonl") as table:
        ...     table.write(["elm", "oak"], [0, 1])
        {"point": "elm", "label": 0}
        {"point": "oak", "label": 1}
        """

    @abstractmethod
    def close(self) -> None:
        """Write the end.

        Examples
        --------
        >>> from ramify.files import open_table
        >>> with open_table(None, ["point", "label"]) as table:
        ...     table.close()  # open_table does so itself; a table of no rows has a head
        point,label
        """


@contextmanager
def open_table(
    path: str | os.PathLike[str] | None,
    names: Sequence[str],
    *,
    format: str | None = None,
    quote_formulas: bool = False,
) -> Iterator[Table]:
    """Lend a table to write to.

    Parameters
    ----------
    path : path or None
        Where to, whole or not at all; None for standard output.
    names : sequence of str
        Of the columns.
    format : str, optional
        One of ``TABLES``; by default told from the name, csv for standard output.
    quote_formulas : bool
        In csv and tsv, write an apostrophe before text that a spreadsheet would run as a
        formula: what begins with ``=``, ``+``, ``-`` or ``@``, unless it is a number, or with
        a tab or a line end.

    Yields
    ------
    Table

    Examples
    --------
    >>> from ramify.files import open_table
    >>> with open_table(None, ["row", "label"]) as table:
    ...     table.write([0, 1], ["a", "b"])
    row,label
    0,a
    1,b
    """
    kind = table_format(path, format)
    if path is None:
        if kind not in TEXT:
            raise ValueError(f"{kind} is not text: write it to a file with -o")
        table = _text_table(kind, sys.stdout, names, quote_formulas=quote_formulas)
        yield table
        table.close()
        sys.stdout.flush()
        return
    with whole_file(path) as lent:
        if kind in TEXT:
            with lent.open("w", encoding="utf-8", newline="") as file:
                table = _text_table(kind, file, names, quote_formulas=quote_formulas)
                yield table
                table.close()
            return
        require_pyarrow(f"writing {path}")
        binary = _Parquet(lent, names) if kind == "parquet" else _Arrow(lent, names)
        try:
            yield binary
        finally:
            binary.close()


@contextmanager
def open_log(path: str | os.PathLike[str], names: Sequence[str]) -> Iterator[Table]:
    """Lend a csv table to append to, row by row: what is written stays, whatever happens.

    Parameters
    ----------
    path : path
        A new file, or one that has the same columns.
    names : sequence of str
        Of the columns.

    Yields
    ------
    Table

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify.files import open_log
    >>> with TemporaryDirectory() as folder:
    ...     for line in (1, 2):
    ...         with open_log(f"{folder}/bad.csv", ["line", "reason"]) as log:
    ...             log.write([line], ["empty"])
    ...     Path(folder, "bad.csv").read_text().split()
    ['line,reason', '1,empty', '2,empty']
    """
    head = io.StringIO()
    _Separated(head, names, ",", quote_formulas=False).close()
    with appended(path, head.getvalue()) as file:
        yield _Log(file, names, ",", quote_formulas=False)


def table_format(path: str | os.PathLike[str] | None, format: str | None = None) -> str:
    """The format of a table to be written.

    Examples
    --------
    >>> table_format("labels.parquet")
    'parquet'
    """
    if format is not None:
        if format not in TABLES:
            raise ValueError(f"format {format!r}: expected one of {', '.join(TABLES)}")
        return format
    if path is None:
        return "csv"
    name = Path(path).name.lower()
    for kind, endings in TABLES.items():
        if name.endswith(endings):
            return kind
    endings_ = ", ".join(endings[0] for endings in TABLES.values())
    raise ValueError(f"{path}: a table is written to a file that ends in one of {endings_}")


class _Separated(Table):
    """Separated values.

    Not ``csv.writer``: that of Python 3.11 leaves a carriage return without quotes, which
    ends the row for every reader; and a blank at the beginning of a cell, which many skip.
    """

    def __init__(
        self, file: TextIO, names: Sequence[str], delimiter: str, *, quote_formulas: bool
    ) -> None:
        self._file = file
        self._delimiter = delimiter
        self._needs_quotes = re.compile(rf'[{delimiter}"\r\n]|\A |\A\Z').search
        self._quote_formulas = quote_formulas
        self._head: Sequence[str] | None = names  # not before there is something below it

    def write(self, *columns: Any) -> None:
        self.close()
        self._write_rows([self._cell(value) for value in _plain(column)] for column in columns)

    def close(self) -> None:
        if self._head is not None:
            self._write_rows([self._cell(name)] for name in self._head)
            self._head = None

    def _write_rows(self, columns: Iterable[list[str]]) -> None:
        rows = zip(*columns, strict=True)
        self._file.writelines(f"{self._delimiter.join(row)}\n" for row in rows)

    def _cell(self, value: Any) -> str:
        if not isinstance(value, str):
            return "" if value is None else str(value)
        text = f"'{value}" if self._quote_formulas and _is_formula(value) else value
        if not self._needs_quotes(text):
            return text
        doubled = text.replace('"', '""')
        return f'"{doubled}"'


class _Log(_Separated):
    """Separated values without a head, which is there already; each row at once."""

    def write(self, *columns: Any) -> None:
        self._head = None
        super().write(*columns)
        self._file.flush()


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet might run a cell. Numbers are harmless, also with a sign.

    Examples
    --------
    >>> [_is_formula(text) for text in ("=1+1", " @A1", "-2.5", "-2+3", "\\tx", "x=1")]
    [True, True, False, True, True, False]
    """
    begins_a_formula = text.lstrip()[:1] in _FORMULA_STARTS and not is_number(text)
    return begins_a_formula or text[:1] in _LINE_STARTS


class _JsonLines(Table):
    """One object a line."""

    def __init__(self, file: TextIO, names: Sequence[str]) -> None:
        self._file = file
        self._names = names

    def write(self, *columns: Any) -> None:
        for cells in zip(*map(_plain, columns), strict=True):
            row = dict(zip(self._names, cells, strict=True))
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def close(self) -> None:
        pass


def _text_table(kind: str, file: TextIO, names: Sequence[str], *, quote_formulas: bool) -> Table:
    if kind == "jsonl":
        return _JsonLines(file, names)
    return _Separated(file, names, "," if kind == "csv" else "\t", quote_formulas=quote_formulas)


class _Binary(Table):
    """Record batches. The first one decides the types of the columns."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self._path = path
        self._names = list(names)
        self._schema: Any = None
        self._writer: Any = None

    def write(self, *columns: Any) -> None:
        import pyarrow as pa

        kinds = [None] * len(columns) if self._schema is None else self._schema.types
        arrays = [
            _arrow_column(name, column, kind)
            for name, column, kind in zip(self._names, columns, kinds, strict=True)
        ]
        table = pa.table(arrays, names=self._names)
        if self._writer is None:
            self._begin(table.schema)
        self._writer.write_table(table)

    def _begin(self, schema: Any) -> None:
        self._schema = schema
        self._writer = self._open(schema)

    @abstractmethod
    def _open(self, schema: Any) -> Any:
        """The library's writer."""

    def close(self) -> None:
        import pyarrow as pa

        if self._writer is None:  # no rows at all: columns of nothing
            self._begin(pa.schema([(name, pa.null()) for name in self._names]))
        self._writer.close()


class _Parquet(_Binary):
    def _open(self, schema: Any) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetWriter(self._path, schema)


class _Arrow(_Binary):
    def _open(self, schema: Any) -> Any:
        import pyarrow as pa

        self._sink = pa.OSFile(str(self._path), "wb")
        return pa.ipc.new_file(self._sink, schema)

    def close(self) -> None:
        super().close()
        self._sink.close()


def _arrow_column(name: str, column: Any, kind: Any) -> Any:
    """A column as Arrow's, of a type if one has been decided on; never with values changed."""
    import pyarrow as pa

    try:
        if kind is None and not isinstance(column, np.ndarray) and _needs_all_64_bits(column):
            kind = pa.uint64()
        return pa.array(column, kind)
    except (pa.ArrowException, OverflowError) as error:
        wish = "of one type" if kind is None else f"of type {kind}, as the first rows are"
        reason = str(error).splitlines()[0]
        raise ValueError(f"column {name!r}: expected values {wish}: {reason}") from None


def _needs_all_64_bits(column: Any) -> bool:
    """True for whole numbers of which some are beyond 2^63; Arrow would take them for int64."""
    numbers = all(type(value) is int for value in column)
    return numbers and len(column) > 0 and max(column) >= 2**63


def _plain(column: Any) -> Any:
    """Python's own numbers: csv and json write those shortest, and exactly."""
    return column.tolist() if isinstance(column, np.ndarray) else column
