# SPDX-License-Identifier: BSD-3-Clause
"""_lines.py: lines of text as they come, from a file, an archive or a pipe.

A line ends with a line feed, a carriage return, or both, and keeps its end. Each
character is looked at a fixed number of times, however long its line is. Bytes that are
no UTF-8 become halves of surrogate pairs, so that only their own line is lost.
"""

import codecs
import gzip
import io
import os
import zlib
from collections import deque
from pathlib import Path
from typing import Any, BinaryIO

_CHUNK = 1 << 16

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"

#: Characters of a line at most: a few packed bytes may unpack to one without an end.
LONGEST_LINE = 1 << 25


class Lines:
    """An iterator of lines that knows whether the next one has already arrived.

    A plain text file cannot say that, and a reader of a live stream has to know it:
    what has come is inserted before we wait for more.
    """

    def __init__(
        self, file: Any, name: str, *, position: BinaryIO | None = None, ours: bool = True
    ) -> None:
        self.name = name
        self._file = file
        self._ours = ours  # to close
        self._position = position  # where bytes are counted; under an archive
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._arrived: deque[str] = deque()
        self._begun: list[str] = []  # parts of a line whose end has not come yet
        self._begun_length = 0
        self._held = ""  # a carriage return at the end of what has come
        self._count = 0  # lines that have arrived
        self._over = False
        self._bytes = None if position is None else os.fstat(position.fileno()).st_size

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> str:
        while not self._arrived:
            if self._over:
                raise StopIteration
            self._fetch()
        return self._arrived.popleft()

    def peek(self) -> str:
        """The next line without taking it; empty at the end."""
        while not self._arrived and not self._over:
            self._fetch()
        return self._arrived[0] if self._arrived else ""

    @property
    def must_wait(self) -> bool:
        """Whether the next line is still to come."""
        return not self._arrived

    def fraction(self) -> float | None:
        """How many of the file's bytes have been read, from 0 to 1."""
        if self._position is None or not self._bytes:
            return None
        return min(self._position.tell() / self._bytes, 1.0)

    def _fetch(self) -> None:
        """Take what is there, waiting for at least one byte."""
        try:
            chunk = self._file.read1(_CHUNK)
            text = self._decoder.decode(chunk, final=not chunk)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{self.name} is not a complete gzip file: {error}") from None
        self._over = not chunk
        text = self._held + text
        # Whether a line feed belongs to a last carriage return can be told only later.
        self._held = "\r" if text.endswith("\r") and not self._over else ""
        self._take(text[: len(text) - len(self._held)])

    def _take(self, text: str) -> None:
        lines = list(io.StringIO(text, newline=""))
        beginning = "" if not lines or lines[-1].endswith(("\n", "\r")) else lines.pop()
        if lines:
            lines[0] = "".join([*self._begun, lines[0]])
            self._begun.clear()
            self._begun_length = 0
        if beginning:
            self._begun.append(beginning)
            self._begun_length += len(beginning)
        if self._over and self._begun:
            lines.append("".join(self._begun))
        self._arrived.extend(lines)
        self._count += len(lines)
        if self._begun_length > LONGEST_LINE:
            raise ValueError(
                f"{self.name}, line {self._count + 1} has more than {LONGEST_LINE:,} characters; "
                f"expected rows on lines of their own"
            )

    def close(self) -> None:
        """Close the file, if it is ours."""
        if self._ours:
            self._file.close()
        if self._position is not None:
            self._position.close()


def open_lines(path: Path) -> Lines:
    """Lines of a text file, which may be compressed by gzip or zstd whatever its name."""
    raw = path.open("rb")
    position = raw if path.is_file() else None
    return Lines(unpacked(raw, raw.peek(4), str(path)), str(path), position=position)


def unpacked(file: Any, beginning: bytes, name: str) -> Any:
    """The bytes of a file that begins so, unpacked if they are packed."""
    if beginning.startswith(GZIP):
        return gzip.GzipFile(fileobj=file)
    if beginning.startswith(ZSTD):
        from ramify.files._zstd import Unpacked

        return Unpacked(file, name)
    return file
