# SPDX-License-Identifier: BSD-3-Clause
"""_lines.py: lines of text as they come, from a file, an archive or a pipe."""

import codecs
import gzip
import os
import zlib
from collections import deque
from pathlib import Path
from typing import Any, BinaryIO

_CHUNK = 1 << 16


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
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._arrived: deque[str] = deque()
        self._rest = ""  # of a line whose end has not come yet
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
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.name} is not text in UTF-8: {error.reason}") from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{self.name} is not a complete gzip file: {error}") from None
        *lines, self._rest = (self._rest + text).split("\n")
        self._arrived.extend(f"{line}\n" for line in lines)
        if not chunk:
            self._over = True
            if self._rest:
                self._arrived.append(self._rest)

    def close(self) -> None:
        """Close the file, if it is ours."""
        if self._ours:
            self._file.close()
        if self._position is not None:
            self._position.close()


def open_lines(path: Path) -> Lines:
    """Lines of a text file, which may be compressed by gzip whatever its name."""
    raw = path.open("rb")
    packed = raw.peek(2)[:2] == b"\x1f\x8b"
    position = raw if path.is_file() else None
    return Lines(gzip.GzipFile(fileobj=raw) if packed else raw, str(path), position=position)
