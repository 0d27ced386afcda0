# SPDX-License-Identifier: BSD-3-Clause
"""_archive.py: the arrays of an .npz, piece by piece.

A zip file says of each member how large it is when unpacked, and may lie. Deflate packs
at most 1032 to 1, so what a member claims is held against the bytes that are there.
"""

import errno
import struct
import zipfile
import zlib
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ramify.files._headers import Header, read_header

_ENDING = ".npy"
_DEFLATE_AT_MOST = 1032

# How zipfile says that an archive is damaged, encrypted, or packed in a way it does not know.
_TROUBLES = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,  # also NotImplementedError
    ValueError,
)


class Archive:
    """Arrays by name. ``headers`` has what each says of itself, checked against its size."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        self._name = name or str(path)
        self._bytes = path.stat().st_size
        try:
            self._zip = zipfile.ZipFile(path)
        except _TROUBLES as error:
            raise ValueError(f"{self._name} is not an .npz file: {error}") from None
        try:
            self.headers = {
                name.removesuffix(_ENDING): self._header(name.removesuffix(_ENDING))
                for name in self._zip.namelist()
                if name.endswith(_ENDING)
            }
        except BaseException:
            self.close()
            raise

    def where(self, member: str) -> str:
        """The place of an array, for messages."""
        return f"{self._name}, array {member!r}"

    def _header(self, member: str) -> Header:
        with self._open(member) as file:
            return self._read_header(file, member)

    def _read_header(self, file: IO[bytes], member: str) -> Header:
        size = self._zip.getinfo(member + _ENDING).file_size
        try:
            return read_header(file, size, self.where(member))
        except (zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"{self.where(member)} is damaged: {error}") from None

    def _open(self, member: str) -> IO[bytes]:
        entry = self._zip.getinfo(member + _ENDING)
        packed = entry.compress_type != zipfile.ZIP_STORED
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{self.where(member)} is packed in a way that NumPy never uses")
        most = min(entry.compress_size, self._bytes) * (_DEFLATE_AT_MOST if packed else 1)
        if entry.file_size > most:
            raise ValueError(
                f"{self.where(member)} ends too early: it claims {entry.file_size:,} bytes, and "
                f"the file has room for {most:,}"
            )
        try:
            return self._zip.open(entry.filename)  # by name, which its errors repeat
        except _TROUBLES as error:
            raise ValueError(f"{self.where(member)} cannot be read: {error}") from None
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            # The directory of the archive sent the reader to before the file's beginning.
            raise ValueError(f"{self.where(member)} is not where the archive says") from None

    def pieces(self, member: str, size: int) -> Iterator[npt.NDArray[Any]]:
        """An array in pieces of so many rows."""
        with self._open(member) as file:
            header = self._read_header(file, member)
            if header.dtype.hasobject:
                raise ValueError(f"{self.where(member)} holds a pickle, which is never opened")
            if header.column_by_column and len(header.shape) == 2:
                yield from self._transposed(file, header, member, size)
                return
            row = header.dtype.itemsize * prod(header.shape[1:])
            for start in range(0, header.shape[0], size):
                count = min(size, header.shape[0] - start)
                data = self._exactly(file, count * row, member)
                yield np.frombuffer(data, header.dtype).reshape(count, *header.shape[1:])

    def _transposed(
        self, file: IO[bytes], header: Header, member: str, size: int
    ) -> Iterator[npt.NDArray[Any]]:
        """Columns come first, so no row is complete before the last: all into memory."""
        n, columns = header.shape
        data = self._exactly(file, header.dtype.itemsize * n * columns, member)
        matrix = np.frombuffer(data, header.dtype).reshape(columns, n).T
        for start in range(0, n, size):
            yield matrix[start : start + size]

    def _exactly(self, file: IO[bytes], count: int, member: str) -> bytes:
        try:
            data = file.read(count)
        except _TROUBLES as error:
            raise ValueError(f"{self.where(member)} is damaged: {error}") from None
        if len(data) < count:
            raise ValueError(f"{self.where(member)} ends too early")
        return data

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
