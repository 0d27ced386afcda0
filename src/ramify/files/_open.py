# SPDX-License-Identifier: BSD-3-Clause
"""_open.py: which reader fits a file: by its name, or else by its first bytes."""

import io
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from ramify.files._lines import GZIP, ZSTD, Lines, open_lines, unpacked
from ramify.files._source import ReadOptions, Source
from ramify.files._tables import TABLES, TEXT
from ramify.files._text import open_csv, open_jsonl
from ramify.files._whole import whole_file

#: Formats that can be read, and the endings of their files.
FORMATS = {
    "npy": (".npy",),
    "npz": (".npz",),
    **TABLES,
    "arrow": (*TABLES["arrow"], ".arrows"),
}
_INPUT = "standard input"
_MAGIC = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream
}


def open_rows(
    path: str | os.PathLike[str], options: ReadOptions | None = None, *, format: str | None = None
) -> Source:
    """Open a file of rows; iterate over the result for batches of them.

    Parameters
    ----------
    path : path
        An .npy, .npz, .csv, .tsv, .jsonl, .parquet, .feather or .arrow file, or ``"-"``
        for standard input, which may be any of these: text and streams of Arrow are
        read as they come, the others when all has come. Text may be compressed by gzip
        or zstd.
    options : ReadOptions, optional
        Which columns, and more.
    format : str, optional
        One of ``FORMATS``; by default told from the name, or from the first bytes.

    Returns
    -------
    Source
        Close it, or use it in a ``with`` block.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify.files import ReadOptions, open_rows
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "points.csv")
    ...     _ = file.write_text("who,x,y\\nann,1,2\\nbob,3,4\\n")
    ...     with open_rows(file, ReadOptions(id_column="who")) as source:
    ...         for batch in source:
    ...             print(batch.ids, batch.rows.tolist())
    ['ann', 'bob'] [[1.0, 2.0], [3.0, 4.0]]
    """
    options = options or ReadOptions()
    if options.batch_size is not None and options.batch_size < 1:
        raise ValueError(f"batch_size={options.batch_size}: expected at least 1")
    if format is not None and format not in FORMATS:
        raise ValueError(f"format={format!r}: expected one of {', '.join(FORMATS)}")
    if str(path) == "-":
        return _open_input(options, format)
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; expected a file of rows")
    if not file.exists():
        raise FileNotFoundError(f"no file {file}")
    kind = format or _by_name(file) or _by_bytes(file)
    if kind in TEXT:
        # A named pipe is a live stream, too.
        return _open_text(open_lines(file), kind, options, live=not file.is_file())
    if not file.is_file():
        raise ValueError(f"{file} is not a regular file; a pipe can be {', '.join(TEXT)}")
    return _open_binary(file, kind, options)


def _by_name(file: Path) -> str | None:
    name = file.name.lower().removesuffix(".gz").removesuffix(".zst")
    for kind, endings in FORMATS.items():
        if name.endswith(endings):
            return kind
    return None


def _by_bytes(file: Path) -> str:
    if not file.is_file():
        return "csv"
    with file.open("rb") as opened:
        start = opened.read(8)
    kind = _binary_kind(start, str(file))
    if kind is not None:
        return kind
    lines = open_lines(file)
    try:
        return _text_kind(next(lines, ""))
    finally:
        lines.close()


def _binary_kind(start: bytes, name: str) -> str | None:
    """The kind of a file that begins so; None for text, packed or not."""
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            return kind
    if b"\x00" in start and not start.startswith((GZIP, ZSTD)):
        raise ValueError(
            f"{name}: not one of {', '.join(FORMATS)}, as far as its name and beginning tell"
        )
    return None


def _text_kind(line: str) -> str:
    return "jsonl" if line.lstrip()[:1] in ("{", "[") else "csv"


def _open_text(lines: Lines, kind: str, options: ReadOptions, *, live: bool) -> Source:
    try:
        if kind == "jsonl":
            return open_jsonl(lines, options, live=live)
        return open_csv(lines, "\t" if kind == "tsv" else None, options, live=live)
    except BaseException:
        lines.close()
        raise


def _open_input(options: ReadOptions, format: str | None) -> Source:
    if sys.stdin is None:
        raise ValueError("standard input is closed; expected rows there, or the name of a file")
    file = _Begun(sys.stdin.buffer)
    kind = format or _binary_kind(file.beginning, _INPUT)
    if kind is not None and kind not in TEXT:
        return _open_binary_input(file, kind, options)
    lines = Lines(unpacked(file, file.beginning, _INPUT), _INPUT, ours=False)
    return _open_text(lines, kind or _text_kind(lines.peek()), options, live=True)


class _Begun(io.RawIOBase):
    """A stream whose first bytes have been looked at; it gives what is there.

    No more bytes are waited for than it takes to tell what it is: a program may send a
    line and wait for the answer.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self.beginning = b""
        while _may_be_packed(self.beginning) and (more := file.read1(1)):
            self.beginning += more
        self._left = self.beginning

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        data = self._left or self._file.read1(len(room))
        data, self._left = data[: len(room)], data[len(room) :]
        room[: len(data)] = data
        return len(data)

    def read1(self, count: int) -> bytes:
        return self.read(count) or b""


def _may_be_packed(beginning: bytes) -> bool:
    """Whether more bytes could still make it something else than plain text."""
    marks = (*_MAGIC, GZIP, ZSTD)
    return any(len(beginning) < len(mark) and mark.startswith(beginning) for mark in marks)


def _open_binary_input(file: _Begun, kind: str, options: ReadOptions) -> Source:
    """Rows that come by a pipe: of a stream as they come, else by way of a file of our own."""
    if kind == "arrow" and not file.beginning.startswith(b"ARROW1"):
        from ramify.files._arrow import ArrowStream

        return ArrowStream(io.BufferedReader(file), _INPUT, options)
    folder = tempfile.TemporaryDirectory(prefix="ramify-")
    try:
        copy = Path(folder.name, f"input.{kind}")
        with whole_file(copy) as lent, lent.open("wb") as room:
            shutil.copyfileobj(file, room)
        source = _open_binary(copy, kind, options, _INPUT)
    except BaseException:
        folder.cleanup()
        raise
    source.folder = folder
    return source


def _open_binary(file: Path, kind: str, options: ReadOptions, name: str | None = None) -> Source:
    name = name or str(file)
    if kind == "npy":
        from ramify.files._numpy import Npy

        return Npy(file, options, name=name)
    if kind == "npz":
        from ramify.files._numpy import Npz

        return Npz(file, options, name)
    from ramify.files import _arrow

    return (_arrow.Parquet if kind == "parquet" else _arrow.Arrow)(file, options, name)
