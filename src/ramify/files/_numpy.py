# SPDX-License-Identifier: BSD-3-Clause
"""_numpy.py: rows of .npy files and of .npz members, read piece by piece.

Rows stored one after the other are read one batch after the other. A memory map is
used only where rows are asked for out of order (shuffled, or stored column by column):
its pages would count as ours while we hold it. Nothing is ever unpickled.
"""

from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.files._archive import Archive
from ramify.files._cells import plain_names
from ramify.files._columns import Choice, choose, listed
from ramify.files._headers import Header, check_matrix, read_header
from ramify.files._shuffled import random_order
from ramify.files._source import BadRow, Batch, Name, ReadOptions, Source, real, unusable


class _Blocks(Source):
    """Rows that lie in a matrix, read block by block."""

    _choice: Choice

    def _batches(
        self,
        block: npt.NDArray[Any],
        places: Sequence[int],
        beside: Sequence[list[Name] | None],
    ) -> Iterator[Batch]:
        """The rows of a block that can be used, as one batch; ids, labels, weights and times
        if these are not columns of it.
        """
        features = self._choice.features
        everything = features == tuple(range(block.shape[1]))
        rows = real(block if everything else block[:, features], self._options.dtype)

        def make(good: Any) -> Batch:
            ids, labels, weights, times = (
                self._column(block[good], at) or _some(names, good)
                for at, names in zip(self._choice.beside, beside, strict=True)
            )
            return Batch(
                np.ascontiguousarray(rows[good]),
                ids,
                labels,
                places if isinstance(good, slice) else [places[row] for row in good],
                weights=weights,
                times=times,
            )

        bad = {}
        for row, column in unusable(rows):
            value = block[row, features[column]]
            too_large = f", too large for {rows.dtype}" if np.isfinite(value) else ""
            reason = f"{value:g}{too_large}; every number must be finite"
            bad[row] = BadRow(places[row], f"column {features[column]}: {reason}")
        if bad:
            yield from self._without(len(rows), bad, make)
        else:
            yield make(slice(None))

    def _column(self, block: npt.NDArray[Any], at: int | None) -> list[Name] | None:
        return None if at is None else plain_names(block[:, at], self.name)

    def _starts(self, size: int) -> range:
        """Where the blocks begin; those before the first row that is wanted are left out."""
        assert self.n_rows is not None
        return range(self._options.start // size * size, self.n_rows, size)


def _some(names: list[Name] | None, good: Any) -> list[Name] | None:
    if names is None:
        return None
    return names[good] if isinstance(good, slice) else [names[i] for i in good]


class Npy(_Blocks):
    """The rows of an .npy file."""

    def __init__(
        self,
        path: Path,
        options: ReadOptions,
        order: npt.NDArray[np.int64] | None = None,
        *,
        name: str | None = None,
    ):
        self.name = name or str(path)
        self._path = path
        self._options = options
        self._order = order
        self.ordered = order is None
        with path.open("rb") as file:
            self._header = read_header(file, path.stat().st_size, self.name)
        self.n_rows, columns = check_matrix(self._header, self.name)
        self.columns = tuple(map(str, range(columns)))
        self._choice = choose(self.columns, [None] * columns, options, self.name)
        self.width = len(self._choice.features)

    def _read(self) -> Iterator[Batch]:
        size = self._options.rows_of_a_batch(self._header.shape[1])
        in_order = self._order is None and not self._header.column_by_column
        blocks = self._blocks(size) if in_order else self._mapped_blocks(size)
        for start, block in zip(self._starts(size), blocks, strict=True):
            cut = slice(max(self._options.start - start, 0), None)
            places: Sequence[int] = range(start, start + len(block))[cut]
            ids: list[Name] | None = None
            if self._order is not None:
                places = ids = self._order[start : start + len(block)][cut].tolist()
            yield from self._batches(block[cut], places, (ids, None, None, None))

    def _blocks(self, size: int) -> Iterator[npt.NDArray[Any]]:
        assert self.n_rows is not None
        columns = self._header.shape[1]
        with self._path.open("rb") as file:
            skipped = self._starts(size).start * columns * self._header.dtype.itemsize
            file.seek(self._header.start + skipped)
            for start in self._starts(size):
                count = min(size, self.n_rows - start) * columns
                yield np.fromfile(file, self._header.dtype, count).reshape(-1, columns)

    def _mapped_blocks(self, size: int) -> Iterator[npt.NDArray[Any]]:
        matrix = np.load(self._path, mmap_mode="r", allow_pickle=False)
        for start in self._starts(size):
            part: Any = slice(start, start + size)
            yield np.array(matrix[part if self._order is None else self._order[part]])

    def shuffled(self, seed: int) -> Source:
        assert self.n_rows is not None
        order = random_order(self.n_rows, seed)
        return Npy(self._path, self._options, order, name=self.name)


class Npz(_Blocks):
    """The rows of one member of an .npz; ids, labels and the like may be other members."""

    def __init__(self, path: Path, options: ReadOptions, name: str | None = None) -> None:
        self.name = name or str(path)
        self._archive = Archive(path, self.name)
        self._options = options
        try:
            self._settle(self._archive.headers, options)
        except BaseException:
            self.close()
            raise

    def _settle(self, headers: dict[str, Header], options: ReadOptions) -> None:
        """Decide which member is what."""
        self._member = self._choose_member(headers)
        self._header = headers[self._member]
        self.name = self._archive.where(self._member)
        self.n_rows, columns = check_matrix(self._header, self.name)
        self._members = [self._beside(column, headers) for column in options.beside]
        ids, labels, weights, times = (
            None if member else column
            for member, column in zip(self._members, options.beside, strict=True)
        )
        rest = ReadOptions(
            columns=options.columns,
            id_column=ids,
            label_column=labels,
            weight_column=weights,
            time_column=times,
        )
        self.columns = tuple(map(str, range(columns)))
        self._choice = choose(self.columns, [None] * columns, rest, self.name)
        self.width = len(self._choice.features)

    def _choose_member(self, headers: dict[str, Header]) -> str:
        member = self._options.member
        if member is not None:
            if member not in headers:
                raise ValueError(f"{self.name}: no array {member!r}; it has {listed([*headers])}")
            return member
        matrices = [name for name, header in headers.items() if header.is_matrix]
        if len(matrices) != 1:
            raise ValueError(
                f"{self.name}: choose one array by name (--member); it has "
                f"{listed(matrices) if matrices else 'no'} matrices of numbers"
            )
        return matrices[0]

    def _beside(self, column: str | None, headers: dict[str, Header]) -> str | None:
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
        size = self._options.rows_of_a_batch(self._header.shape[1])
        rows = self._archive.pieces(self._member, size)
        members = [self._names(member, size) for member in self._members]
        for start, block in zip(range(0, self.n_rows, size), rows, strict=True):
            cut = slice(max(self._options.start - start, 0), None)
            places = range(start, start + len(block))[cut]
            beside = [_some(next(names), cut) for names in members]
            if len(places):
                yield from self._batches(block[cut], places, beside)

    def _names(self, member: str | None, size: int) -> Iterator[list[Name] | None]:
        """Ids, say, of one batch after the other; None where they are no member."""
        if member is None:
            yield from repeat(None)
            return
        for piece in self._archive.pieces(member, size):
            yield plain_names(piece, self._archive.where(member))

    def close(self) -> None:
        self._archive.close()
