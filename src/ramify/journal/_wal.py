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
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

_MAGIC = 0x377F0682
_HEADER, _FRAME = 32, 24


class LogState(NamedTuple):
    """What a log holds."""

    committed: int = 0  #: frames up to the end of the last commit
    unfinished: int = 0  #: frames, whole or not, behind it: of a commit that never ended
    damaged: int | None = None  #: number of a bad frame that whole commits follow


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
    committed = seen = 0
    bad: int | None = None
    ended = False  # the commit with the bad frame in it
    while len(frame := file.read(_FRAME + page_size)) >= _FRAME:
        _, commit, salt1, salt2, first, second = struct.unpack(">6I", frame[:_FRAME])
        if (salt1, salt2) != salts:
            break  # of an older round
        seen += 1
        good = len(frame) == _FRAME + page_size and (first, second) == _checksum(
            frame[_FRAME:], _checksum(frame[:8], before, big), big
        )
        if bad is not None:
            if good and commit and ended:
                return LogState(committed, damaged=bad)
            ended = ended or commit != 0
        elif not good:
            bad, ended = seen, commit != 0
        elif commit:
            committed = seen
        before = first, second
    return LogState(committed, unfinished=seen - committed)


def _checksum(data: bytes, start: tuple[int, int], big: bool) -> tuple[int, int]:
    """SQLite's: s1 += x + s2, s2 += y + s1, for each pair of words x, y; modulo 2^32."""
    words = np.frombuffer(data, ">u4" if big else "<u4").astype(np.uint64)
    first, second, whole = _weights(len(words) // 2)
    x, both = words[::2], words[::2] + words[1::2]
    s1 = whole[0][0] * start[0] + whole[0][1] * start[1] + int((first[:, 0] * x).sum())
    s1 += int((first[:, 1] * both).sum())
    s2 = whole[1][0] * start[0] + whole[1][1] * start[1] + int((second[:, 0] * x).sum())
    s2 += int((second[:, 1] * both).sum())
    return s1 & 0xFFFFFFFF, s2 & 0xFFFFFFFF


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
