# SPDX-License-Identifier: BSD-3-Clause
"""archive.py: named arrays and what they mean, in one file that strangers may send.

The file is a safetensors file, which many tools open, with a little more order:

    8 bytes   N, little-endian
    N bytes   JSON: format, version, *content* (JSON again, as one string), and of
              every array its type, shape and place; padded with blanks
    32 bytes  the array "header_sha256": SHA-256 of all bytes before it
    the rest  the arrays, one behind the other; content["sha256"] has a digest of each

So every byte is under a digest, and the header's is checked before anything in it
is believed. There is nothing to execute and nothing to unpack: no pickles, and what
is allocated is never more than what the file really holds.

``content`` belongs to the layer above, which knows models; nothing here does.
"""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify.errors import UnreadableFileError
from ramify.writing import whole_file

#: Raised when the layout above changes.
FORMAT = 3
#: Formats that can be read. In 1, a point's arrival number was its place.
#: Up to 2, a model had all of its means (lean.py).
FORMATS = (1, 2, FORMAT)

Array: TypeAlias = npt.NDArray[Any]
Path: TypeAlias = str | os.PathLike[str]

_BEGINNING = b'{"__metadata__":{"format":"ramify","version":"'
_DIGEST = "header_sha256"
_DTYPES: dict[str, np.dtype[Any]] = {
    "U8": np.dtype("u1"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}

_LARGEST_HEADER = 16 * 2**20
_MOST_ARRAYS = 64
_PIECE = 4 * 2**20  # bytes read and digested at a time


class Contents(NamedTuple):
    """What a file holds."""

    content: dict[str, Any]
    arrays: dict[str, Array]


class _Entry(NamedTuple):
    """Where an array lies, counted from the end of the header."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int


class _Header(NamedTuple):
    content: dict[str, Any]
    entries: list[_Entry]
    start: int  # of the arrays


# --- writing --------------------------------------------------------------------------


def write(path: Path, content: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a file, whole or not at all. O(size), without a copy in memory."""
    _require_plain_place(path)
    pieces = encode(content, arrays)
    with whole_file(path) as lent, open(lent, "wb") as file:
        for piece in pieces:
            file.write(piece)


def encode(content: Mapping[str, Any], arrays: Mapping[str, Array]) -> list[bytes | memoryview]:
    """The bytes of a file, piece by piece; the arrays lend theirs."""
    # Wide types first, so that each begins at a multiple of its width.
    stored = dict(sorted(arrays.items(), key=lambda item: -item[1].dtype.itemsize))
    pieces = {name: _bytes_of(array) for name, array in stored.items()}
    digests = {name: hashlib.sha256(piece).hexdigest() for name, piece in pieces.items()}
    header = _header({**content, "sha256": digests}, stored)
    return [header, hashlib.sha256(header).digest(), *pieces.values()]


def _header(content: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    head: dict[str, Any] = {
        "__metadata__": {
            "format": "ramify",
            "version": str(FORMAT),
            "content": json.dumps(content, separators=(",", ":")),
        },
        _DIGEST: {"dtype": "U8", "shape": [32], "data_offsets": [0, 32]},
    }
    at = 32
    for name, array in arrays.items():
        code = _CODES[array.dtype.newbyteorder("<")]
        offsets = [at, at + array.nbytes]
        head[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": offsets}
        at += array.nbytes
    text = json.dumps(head, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    assert text.startswith(_BEGINNING)
    if len(text) > _LARGEST_HEADER:
        raise ValueError(
            f"column names and options take {len(text):,} bytes, and a file has room for "
            f"{_LARGEST_HEADER:,}; use shorter names"
        )
    return len(text).to_bytes(8, "little") + text


def _bytes_of(array: Array) -> memoryview:
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return _room(little)


def _room(array: Array) -> memoryview:
    """The memory of an array as bytes."""
    return memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]  # before 3.12


def _require_plain_place(path: Path) -> None:
    """Refuse a name that a file could not have, or that something else than a file has."""
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, "expected the name of a file", os.fspath(path))
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(errno.EINVAL, "not a plain file, so it cannot be replaced", os.fspath(path))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to save in", folder)


# --- reading --------------------------------------------------------------------------


def read(path: Path) -> Contents:
    """Read a file and check every byte of it; UnreadableFileError if anything is wrong."""
    with _opened(path) as (file, size):
        header = _read_header(file, size)
        digests = header.content.get("sha256")
        arrays = {}
        for entry in header.entries:
            expected = digests.get(entry.name) if isinstance(digests, dict) else None
            arrays[entry.name] = _read_array(file, entry, expected)
        if file.read(1):
            raise UnreadableFileError("grew while it was read")
        return Contents(header.content, arrays)


def read_content(path: Path) -> dict[str, Any]:
    """Read and check the header alone, however large the file is."""
    with _opened(path) as (file, size):
        return _read_header(file, size).content


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """The file and its size; errors of ours get its name in front."""
    with open(path, "rb") as file:
        try:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise UnreadableFileError("is not a plain file")
            yield file, found.st_size
        except UnreadableFileError as error:
            raise UnreadableFileError(f"{os.fspath(path)}: {error}") from error.__cause__


def _read_header(file: BinaryIO, size: int) -> _Header:
    length = _read_version(file, size)
    start = 8 + length
    if length > _LARGEST_HEADER:
        raise UnreadableFileError("is damaged: its header has an absurd length")
    if size < start + 32:
        raise UnreadableFileError("is cut short: it ends inside its header")
    file.seek(0)
    head = _exactly(file, start)
    if hashlib.sha256(head).digest() != _exactly(file, 32):
        raise UnreadableFileError("is damaged: its header is not what was written")
    try:
        content, entries = _parse(head[8:])
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise UnreadableFileError(f"is damaged: its header makes no sense ({error})") from error
    end = start + (entries[-1].end if entries else 32)
    if size != end:
        state = "is cut short" if size < end else "is damaged"
        raise UnreadableFileError(f"{state}: expected {end:,} bytes, found {size:,}")
    return _Header(content, entries, start)


def _read_version(file: BinaryIO, size: int) -> int:
    """Length of the header, if this is a file of ours and not of a later format."""
    if size == 0:
        raise UnreadableFileError("is empty")
    length = file.read(8)
    beginning = file.read(len(_BEGINNING))
    if beginning != _BEGINNING:
        if size < 8 + len(_BEGINNING) and _BEGINNING.startswith(beginning):
            raise UnreadableFileError("is cut short: it ends inside its header")
        raise UnreadableFileError("is not a file that Ramify has saved")
    version, quote, _ = file.read(20).partition(b'"')
    if not quote:
        raise UnreadableFileError("is cut short: it ends inside its header")
    if version not in [str(known).encode() for known in FORMATS]:
        if version.isdigit() and int(version) > FORMAT:
            raise UnreadableFileError(
                f"has format {int(version)}, and this version of Ramify reads up to {FORMAT}: "
                f"it was saved by a later version; upgrade Ramify to read it"
            )
        raise UnreadableFileError("is damaged: it names no known format")
    return int.from_bytes(length, "little")


def _parse(text: bytes) -> tuple[dict[str, Any], list[_Entry]]:
    head = _json(text)
    content = _json(head.pop("__metadata__")["content"])
    if not isinstance(content, dict) or len(head) > _MOST_ARRAYS:
        raise ValueError("it is of another kind")
    entries = [_entry(name, **fields) for name, fields in head.items()]
    if entries[0] != _Entry(_DIGEST, np.dtype("u1"), (32,), 0, 32):
        raise ValueError("its own digest is not where it should be")
    at = 0
    for entry in entries:
        if entry.begin != at:
            raise ValueError(f"array {entry.name!r} is not where it should be")
        at = entry.end
    return content, entries[1:]


def _json(text: bytes | str) -> Any:
    return json.loads(text, object_pairs_hook=_no_twins)


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands there twice")
    return found


def _entry(name: str, *, dtype: str, shape: list[int], data_offsets: list[int]) -> _Entry:
    begin, end = data_offsets
    numbers = [*shape, begin, end]
    if len(shape) > 2 or not all(type(n) is int and 0 <= n < 2**48 for n in numbers):
        raise ValueError(f"array {name!r} has no possible shape")
    size = _DTYPES[dtype].itemsize
    for length in shape:
        size *= length
    if end - begin != size:
        raise ValueError(f"array {name!r} does not fill its place")
    return _Entry(name, _DTYPES[dtype], tuple(shape), begin, end)


def _read_array(file: BinaryIO, entry: _Entry, expected: object) -> Array:
    array = np.empty(entry.shape, dtype=entry.dtype)
    room = _room(array)
    digest = hashlib.sha256()
    for begin in range(0, len(room), _PIECE):
        piece = room[begin : begin + _PIECE]
        if file.readinto(piece) != len(piece):  # type: ignore[attr-defined]
            raise UnreadableFileError("is cut short: it shrank while it was read")
        digest.update(piece)
    if digest.hexdigest() != expected:
        raise UnreadableFileError(f"is damaged: its array {entry.name!r} is not what was written")
    return array.astype(entry.dtype.newbyteorder("="), copy=False)


def _exactly(file: BinaryIO, count: int) -> bytes:
    found = file.read(count)
    if len(found) < count:
        raise UnreadableFileError("is cut short: it shrank while it was read")
    return found
