# SPDX-License-Identifier: BSD-3-Clause
"""_open.py: which reader fits a file: by its name, or else by its first bytes."""

import os
import sys
from pathlib import Path

from ramify.files._lines import Lines, open_lines
from ramify.files._source import ReadOptions, Source
from ramify.files._tables import TABLES, TEXT
from ramify.files._text import open_csv, open_jsonl

#: Formats that can be read, and the endings of their files.
FORMATS = {
    "npy": (".npy",),
    "npz": (".npz",),
    **TABLES,
    "arrow": (*TABLES["arrow"], ".arrows"),
}
_GZIP = b"\x1f\x8b"
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
        for standard input, which is csv or jsonl and read as it comes. Text may be
        compressed by gzip.
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
    name = file.name.lower().removesuffix(".gz")
    for kind, endings in FORMATS.items():
        if name.endswith(endings):
            return kind
    return None


def _by_bytes(file: Path) -> str:
    if not file.is_file():
        return "csv"
    with file.open("rb") as opened:
        start = opened.read(8)
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            return kind
    if b"\x00" in start and not start.startswith(_GZIP):
        raise ValueError(
            f"{file}: not one of {', '.join(FORMATS)}, as far as its name and beginning tell"
        )
    lines = open_lines(file)
    try:
        return _text_kind(next(lines, ""))
    finally:
        lines.close()


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
    if format is not None and format not in TEXT:
        raise ValueError(f"standard input can be {', '.join(TEXT)}, not {format}")
    if sys.stdin is None:
        raise ValueError("standard input is closed; expected rows there, or the name of a file")
    lines = Lines(sys.stdin.buffer, "standard input", ours=False)
    first = lines.peek()
    return _open_text(lines, format or _text_kind(first), options, live=True)


def _open_binary(file: Path, kind: str, options: ReadOptions) -> Source:
    if kind == "npy":
        from ramify.files._numpy import Npy

        return Npy(file, options)
    if kind == "npz":
        from ramify.files._numpy import Npz

        return Npz(file, options)
    from ramify.files import _arrow

    return _arrow.Parquet(file, options) if kind == "parquet" else _arrow.Arrow(file, options)
