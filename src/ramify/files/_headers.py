# SPDX-License-Identifier: BSD-3-Clause
"""_headers.py: the beginning of an .npy array, believed only as far as its bytes are there.

A header is a claim of a few bytes that may speak of terabytes. So nothing that grows
with the claim is made before the claim has been held against the size of the file.
"""

from io import BytesIO
from math import prod
from typing import IO, Any, NamedTuple

import numpy as np

_MAGIC = b"\x93NUMPY"
_LONGEST = 10_000  # NumPy's own limit: it parses headers as Python
_MOST_COLUMNS = 1_000_000  # each costs a hundred bytes of names and choices
_NUMBERS = "fiub"

# Of each version: the bytes that hold the header's length, and who reads the header.
_VERSIONS: dict[tuple[int, ...], tuple[int, Any]] = {
    (1, 0): (2, np.lib.format.read_array_header_1_0),
    (2, 0): (4, np.lib.format.read_array_header_2_0),
}


class Header(NamedTuple):
    """What an array says of itself."""

    shape: tuple[int, ...]
    column_by_column: bool
    dtype: np.dtype[Any]
    start: int  # of the numbers, in bytes

    @property
    def is_matrix(self) -> bool:
        """Whether these may be rows."""
        return len(self.shape) == 2 and self.dtype.kind in _NUMBERS


def read_header(file: IO[bytes], size: int, where: str) -> Header:
    """Read the header of an array in a file of ``size`` bytes, which must have room for it all."""
    try:
        header = _parse(file)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{where} is not an .npy array: {error}") from None
    needed = header.start + prod(header.shape) * header.dtype.itemsize
    if size < needed and not header.dtype.hasobject:  # a pickle, which nobody will read
        raise ValueError(
            f"{where} ends too early: an array of shape {header.shape} takes {needed:,} bytes, "
            f"and there are {size:,}"
        )
    return header


def _parse(file: IO[bytes]) -> Header:
    beginning = _exactly(file, len(_MAGIC) + 2)
    if not beginning.startswith(_MAGIC):
        raise ValueError("it does not begin like one")
    version = tuple(beginning[len(_MAGIC) :])
    if version not in _VERSIONS:
        raise ValueError(f"format {version} is not one of plain numbers")
    width, read = _VERSIONS[version]
    length = _exactly(file, width)
    count = int.from_bytes(length, "little")
    if count > _LONGEST:
        raise ValueError(f"its header claims {count:,} bytes; expected at most {_LONGEST:,}")
    text = _exactly(file, count)
    try:
        shape, column_by_column, dtype = read(BytesIO(length + text))
    except Exception as error:
        # Python's parser, tokenizer and NumPy's types each have their own ways to fail.
        raise ValueError(f"its header makes no sense ({type(error).__name__})") from None
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"its shape is {shape}")
    return Header(shape, bool(column_by_column), dtype, len(beginning) + width + count)


def _exactly(file: IO[bytes], count: int) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise EOFError("it ends inside its header")
    return data


def check_matrix(header: Header, where: str) -> tuple[int, int]:
    """Number of rows and columns, if these are rows of numbers."""
    if header.dtype.kind not in _NUMBERS:
        raise ValueError(f"{where}: expected real numbers, got values of type {header.dtype}")
    if len(header.shape) != 2:
        raise ValueError(f"{where}: expected an array of shape (n, d), got {header.shape}")
    n, columns = header.shape
    if n == 0 or columns == 0:
        raise ValueError(f"{where}: expected at least one row and column, got {header.shape}")
    check_width(columns, where)
    return n, columns


def check_width(columns: int, where: str) -> None:
    """Refuse a table that is wider than anybody's: a few packed bytes may claim to be one.

    Examples
    --------
    >>> check_width(2_000_000, "a.npy")
    Traceback (most recent call last):
    ...
    ValueError: a.npy: expected at most 1,000,000 columns, got 2,000,000
    """
    if columns > _MOST_COLUMNS:
        raise ValueError(f"{where}: expected at most {_MOST_COLUMNS:,} columns, got {columns:,}")
