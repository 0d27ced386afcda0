# SPDX-License-Identifier: BSD-3-Clause
"""_wal.py: a look at SQLite's write-ahead log before SQLite sees it.

SQLite reads the log up to the first frame whose checksum is wrong, and says nothing of the
rest. For an unfinished commit at the end that is right: nobody was told that it is there. For
a byte that has changed in the middle it would drop what was acknowledged. So frames are
checked here, each against the checksum that the frame before it *says* it has: a bad one
among good ones stands out. If a whole commit follows the one with the bad frame, the bad one
was on the disk once. If none does, it may never have got there: a torn end.

    header  magic, format, page size, checkpoint, salt 1, salt 2, checksum 1, checksum 2
    frame   page, pages after a commit or 0, salt 1, salt 2, checksum 1, checksum 2; the page

All numbers are big-endian words of 32 bits; the magic's last bit says how the words that the
checksums run over are read. Frames of older rounds, with other salts, may stand behind the
last one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

_MAGIC = 0x377F0682
_HEADER, _FRAME = 32, 24
#: The kind of a page; the beginning of a record of a text of four letters and a number; the bytes
#: of a number by its code, where 8 and 9 stand for 0 and 1.
_INDEX_LEAF, _NAMED_BY_FOUR = 10, b"\x03\x15"
_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
#: Frames that are checked together.
_AT_ONCE = 256


class LogState(NamedTuple):
    """What a log holds."""

    committed: int = 0  #: frames up to the end of the last commit
    unfinished: int = 0  #: frames, whole or not, behind it
    bad: int | None = None  #: number of the first one whose checksum is wrong
    done: int = 0  #: the last operation that frames behind it say was on the disk


def look_at_log(path: Path) -> LogState:
    """Check the frames of a log. O(its size)."""
    if not path.is_file() or path.stat().st_size < _HEADER:
        return LogState()
    with path.open("rb") as file:
        head = file.read(_HEADER)
        magic, _, page_size, _, *salts, first, second = struct.unpack(">8I", head)
        if magic & ~1 != _MAGIC:
            return LogState(unfinished=1)
        big = bool(magic & 1)
        if _checksum(head[:24], (0, 0), big) != (first, second):
            return LogState(unfinished=1)
        return _frames(file, page_size, tuple(salts), (first, second), big)


def _frames(
    file: BinaryIO, page_size: int, salts: tuple[int, ...], before: tuple[int, int], big: bool
) -> LogState:
    committed = seen = done = 0
    bad: int | None = None
    for frame, good, page in _checked(file, page_size, before, big):
        if frame[2:4] != salts:
            break  # of an older round
        seen += 1
        if not good:
            bad = bad or seen
        elif bad is not None:
            done = max(done, _done(page))
        elif frame[1]:
            committed = seen
    return LogState(committed, seen - committed, bad, done)


def _done(page: bytes) -> int:
    """``done``, if this is the page of ``facts``: a leaf of an index, as SQLite has them."""
    if page[0] != _INDEX_LEAF:
        return 0
    (cells,) = struct.unpack_from(">H", page, 3)
    for (at,) in struct.iter_unpack(">H", page[8 : 8 + 2 * cells]):
        head, kind = page[at + 1 : at + 3], page[at + 3 : at + 4]
        if head == _NAMED_BY_FOUR and page[at + 4 : at + 8] == b"done":
            size = _SIZES.get(kind[0], 0)
            return int.from_bytes(page[at + 8 : at + 8 + size], "big") if size else kind[0] & 1
    return 0


def _checked(
    file: BinaryIO, page_size: int, before: tuple[int, int], big: bool
) -> Iterator[tuple[tuple[int, ...], bool, bytes]]:
    """Heads of frames, whether their checksums are right, and the pages of those that may matter;
    many at once, as logs are long.
    """
    size = _FRAME + page_size
    while len(data := file.read(_AT_ONCE * size)) >= _FRAME:
        whole = len(data) // size
        frames = np.frombuffer(data, np.uint8, whole * size).reshape(whole, size)
        heads = frames[:, :_FRAME].copy().view(">u4")
        told = heads[:, 4:].astype(np.uint64)
        starts = np.concatenate([np.array([before], np.uint64), told])[:whole]
        inner = _checksums(frames[:, :8], starts, big)
        right = (_checksums(frames[:, _FRAME:], inner, big) == told).all(axis=1)
        for at, (head, good) in enumerate(zip(heads.tolist(), right.tolist(), strict=True)):
            yield tuple(head), good, data[at * size + _FRAME : (at + 1) * size]
            before = head[4], head[5]
        if len(data) - whole * size >= _FRAME:  # the last one is cut short
            yield struct.unpack(">6I", data[whole * size : whole * size + _FRAME]), False, b""


def _checksum(data: bytes, start: tuple[int, int], big: bool) -> tuple[int, int]:
    rows = np.frombuffer(data, np.uint8)[np.newaxis]
    first, second = _checksums(rows, np.array([start], np.uint64), big)[0].tolist()
    return first, second


def _checksums(rows: Any, starts: Any, big: bool) -> Any:
    """SQLite's: s1 += x + s2, s2 += y + s1, for each pair of words x, y; modulo 2^32."""
    words = np.ascontiguousarray(rows).view(">u4" if big else "<u4").astype(np.uint64)
    first, second, whole = _weights(words.shape[1] // 2)
    x, both = words[:, ::2], words[:, ::2] + words[:, 1::2]
    found = starts @ np.array(whole, np.uint64).T
    found += np.stack([x @ one[:, 0] + both @ one[:, 1] for one in (first, second)], axis=1)
    return found & np.uint64(0xFFFFFFFF)


@cache
def _weights(pairs: int) -> tuple[Any, Any, list[list[int]]]:
    """What each pair of words comes to in the end.

    One step is s -> M s + (x, x + y) with M = (1 1; 1 2), so pair i is multiplied by
    M^(pairs - 1 - i), and the start by M^pairs. Sums wrap at 2^64, which 2^32 divides.
    """
    powers, power = [], [[1, 0], [0, 1]]
    for _ in range(pairs):
        powers.append(power)
        (a, b), (c, d) = power
        power = [[(a + c) % 2**32, (b + d) % 2**32], [(a + 2 * c) % 2**32, (b + 2 * d) % 2**32]]
    array = np.array(powers[::-1], dtype=np.uint64).reshape(-1, 2, 2)
    return array[:, 0], array[:, 1], power
