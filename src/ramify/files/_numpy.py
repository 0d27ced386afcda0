# SPDX-License-Identifier: BSD-3-Clause
"""_numpy.py: rows of .npy files and of .npz members, read piece by piece.

Rows stored one after the other are read one batch after the other. A memory map is
used only where rows are wanted out of order (shuffled, or stored column by column):
its pages would count as ours while we hold it. Nothing is ever unpickled.
"""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.files._shuffled import random_order
from ramify.files._source import (
    Batch,
    Choice,
    Name,
    Source,
    Wanted,
    choose,
    first_unusable,
    listed,
    plain_names,
    real,
)

_NUMBERS = "fiub"
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class _Header(NamedTuple):
    """The beginning of an .npy file."""

    shape: tuple[int, ...]
    column_by_column: bool
    dtype: np.dtype[Any]


class Npy(Source):
    """The rows of an .npy file."""

    def __init__(self, path: Path, wanted: Wanted, order: npt.NDArray[np.int64] | None = None):
        self.name = str(path)
        self._path = path
        self._wanted = wanted
        self._order = order
        with path.open("rb") as file:
            self._header = _read_header(file, self.name)
            self._start = file.tell()
        self.n_rows, columns = _check_matrix(self._header, self.name)
        self.columns = tuple(map(str, range(columns)))
        self._choice = choose(self.columns, [None] * columns, wanted, self.name)
        self.width = len(self._choice.features)
        if path.stat().st_size < self._start + self.n_rows * columns * self._header.dtype.itemsize:
            raise ValueError(f"{self.name} ends too early: it is not a complete .npy file")

    def _read(self) -> Iterator[Batch]:
        assert self.n_rows is not None
        size = self._wanted.rows_of_a_batch(self._header.shape[1])
        in_order = self._order is None and not self._header.column_by_column
        blocks = self._blocks(size) if in_order else self._mapped_blocks(size)
        for start, block in zip(range(0, self.n_rows, size), blocks, strict=True):
            batch = pick(block, self._choice, self._wanted, self.name, start, self._order)
            if self._order is not None and batch.ids is None:
                numbers: list[Name] = self._order[start : start + size].tolist()
                batch = Batch(batch.rows, numbers, batch.labels)
            yield batch

    def _blocks(self, size: int) -> Iterator[npt.NDArray[Any]]:
        assert self.n_rows is not None
        columns = self._header.shape[1]
        with self._path.open("rb") as file:
            file.seek(self._start)
            for start in range(0, self.n_rows, size):
                count = min(size, self.n_rows - start) * columns
                yield np.fromfile(file, self._header.dtype, count).reshape(-1, columns)

    def _mapped_blocks(self, size: int) -> Iterator[npt.NDArray[Any]]:
        assert self.n_rows is not None
        matrix = np.load(self._path, mmap_mode="r", allow_pickle=False)
        for start in range(0, self.n_rows, size):
            part: Any = slice(start, start + size)
            yield np.array(matrix[part if self._order is None else self._order[part]])

    def shuffled(self, seed: int) -> Source:
        assert self.n_rows is not None
        return Npy(self._path, self._wanted, random_order(self.n_rows, seed))


class Npz(Source):
    """The rows of one member of an .npz; ids and labels may be other members."""

    def __init__(self, path: Path, wanted: Wanted) -> None:
        self.name = str(path)
        self._path = path
        try:
            self._archive = zipfile.ZipFile(path)
        except zipfile.BadZipFile:
            raise ValueError(f"{self.name} is not an .npz file") from None
        self._wanted = wanted
        headers = self._headers()
        self._member = self._choose_member(headers)
        self._header = headers[self._member]
        self.name = self._where(self._member)
        self.n_rows, columns = _check_matrix(self._header, self.name)
        self._ids = self._beside(wanted.id_column, headers)
        self._labels = self._beside(wanted.label_column, headers)
        rest = Wanted(
            columns=wanted.columns,
            id_column=None if self._ids else wanted.id_column,
            label_column=None if self._labels else wanted.label_column,
        )
        self.columns = tuple(map(str, range(columns)))
        self._choice = choose(self.columns, [None] * columns, rest, self.name)
        self.width = len(self._choice.features)

    def _headers(self) -> dict[str, _Header]:
        headers = {}
        for entry in self._archive.namelist():
            if entry.endswith(".npy"):
                with self._archive.open(entry) as file:
                    headers[entry.removesuffix(".npy")] = _read_header(
                        file, f"{self.name}, array {entry.removesuffix('.npy')!r}"
                    )
        return headers

    def _choose_member(self, headers: dict[str, _Header]) -> str:
        member = self._wanted.member
        if member is not None:
            if member not in headers:
                raise ValueError(f"{self.name}: no array {member!r}; it has {listed([*headers])}")
            return member
        matrices = [
            name
            for name, header in headers.items()
            if len(header.shape) == 2 and header.dtype.kind in _NUMBERS
        ]
        if len(matrices) != 1:
            raise ValueError(
                f"{self.name}: choose one array by name (--member); it has "
                f"{listed(matrices) if matrices else 'no'} matrices of numbers"
            )
        return matrices[0]

    def _beside(self, column: str | None, headers: dict[str, _Header]) -> str | None:
        """The member of this name, if it is one and has one entry a row."""
        if column is None or column not in headers:
            return None
        shape = headers[column].shape
        if shape != (self.n_rows,):
            raise ValueError(
                f"{self.name}: expected {self.n_rows:,} entries in array {column!r}, one a row, "
                f"got shape {shape}"
            )
        return column

    def _read(self) -> Iterator[Batch]:
        assert self.n_rows is not None
        size = self._wanted.rows_of_a_batch(self._header.shape[1])
        rows = self._pieces(self._member, size)
        ids = self._pieces(self._ids, size) if self._ids else None
        labels = self._pieces(self._labels, size) if self._labels else None
        for start, block in zip(range(0, self.n_rows, size), rows, strict=True):
            batch = pick(block, self._choice, self._wanted, self.name, start)
            yield Batch(
                batch.rows,
                batch.ids if ids is None else plain_names(next(ids), self._where(self._ids)),
                batch.labels
                if labels is None
                else plain_names(next(labels), self._where(self._labels)),
            )

    def _where(self, member: str | None) -> str:
        return f"{self._path}, array {member!r}"

    def _pieces(self, member: str, size: int) -> Iterator[npt.NDArray[Any]]:
        """An array in pieces of so many rows."""
        with self._archive.open(f"{member}.npy") as file:
            header = _read_header(file, self.name)
            if header.column_by_column and len(header.shape) == 2:
                yield from self._transposed(file, header, size)
                return
            row = header.dtype.itemsize * int(np.prod(header.shape[1:]))
            for start in range(0, header.shape[0], size):
                count = min(size, header.shape[0] - start)
                data = self._exactly(file, count * row)
                yield np.frombuffer(data, header.dtype).reshape(count, *header.shape[1:])

    def _transposed(self, file: IO[bytes], header: _Header, size: int) -> Iterator[Any]:
        """Columns come first, so no row is complete before the last: all into memory."""
        n, columns = header.shape
        data = self._exactly(file, header.dtype.itemsize * n * columns)
        matrix = np.frombuffer(data, header.dtype).reshape(columns, n).T
        for start in range(0, n, size):
            yield matrix[start : start + size]

    def _exactly(self, file: IO[bytes], count: int) -> bytes:
        try:
            data = file.read(count)
        except (EOFError, zlib.error, zipfile.BadZipFile) as error:
            raise ValueError(f"{self.name} is damaged: {error}") from None
        if len(data) < count:
            raise ValueError(f"{self.name} ends too early")
        return data

    def close(self) -> None:
        self._archive.close()


def pick(
    block: npt.NDArray[Any],
    choice: Choice,
    wanted: Wanted,
    where: str,
    start: int,
    order: npt.NDArray[np.int64] | None = None,
) -> Batch:
    """A batch of a block of rows, the first of which is row ``start`` of the file."""
    everything = choice.features == tuple(range(block.shape[1]))
    rows = real(block if everything else block[:, choice.features], wanted.dtype)
    place = first_unusable(rows)
    if place is not None:
        row, column = place
        value = block[row, choice.features[column]]
        number = start + row if order is None else order[start + row]
        too_large = f", too large for {rows.dtype}" if np.isfinite(value) else ""
        raise ValueError(
            f"{where}, row {number}, column {choice.features[column]}: {value:g}{too_large}; "
            f"every number must be finite"
        )
    return Batch(
        rows,
        None if choice.id is None else plain_names(block[:, choice.id], where),
        None if choice.label is None else plain_names(block[:, choice.label], where),
    )


def _read_header(file: IO[bytes], where: str) -> _Header:
    try:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"format {version} is not one of plain numbers")
        return _Header(*_HEADERS[version](file))
    except (ValueError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise ValueError(f"{where} is not an .npy array: {error}") from None


def _check_matrix(header: _Header, where: str) -> tuple[int, int]:
    if header.dtype.kind not in _NUMBERS:
        raise ValueError(f"{where}: expected real numbers, got values of type {header.dtype}")
    if len(header.shape) != 2:
        raise ValueError(f"{where}: expected an array of shape (n, d), got {header.shape}")
    n, columns = header.shape
    if n == 0 or columns == 0:
        raise ValueError(f"{where}: expected at least one row and column, got {header.shape}")
    return n, columns
