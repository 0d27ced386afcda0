# SPDX-License-Identifier: BSD-3-Clause
"""_keys.py: by what ties between points of a graph are broken: what they are, not when they came.

A point has a key of 64 bits: its id if that is a number, else a hash of its id or of its row.
Points with equal keys, such as equal rows, are told apart by who came first.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.ids import Id

Keys = npt.NDArray[np.uint64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)


def keys_of_ids(ids: Sequence[Id]) -> Keys:
    """Whole numbers keep their order; texts are hashed.

    Examples
    --------
    >>> keys_of_ids([-1, 7]).argsort().tolist()
    [0, 1]
    """
    if len(ids) > 0 and isinstance(ids[0], str):
        digests = b"".join(blake2b(str(one).encode(), digest_size=8).digest() for one in ids)
        return np.frombuffer(digests, "<u8").astype(np.uint64)
    return np.array(ids, np.int64).view(np.uint64) ^ np.uint64(2**63)


def keys_of_rows(rows: npt.NDArray[Any]) -> Keys:
    """Equal rows have equal keys, also if one is float32; zeros have no sign. O(n d).

    Examples
    --------
    >>> keys = keys_of_rows(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]]))
    >>> keys[0] == keys[1], keys[0] == keys[2]
    (np.True_, np.False_)
    """
    keys = np.zeros(len(rows), np.uint64)
    for j in range(rows.shape[1]):
        column = np.ascontiguousarray(rows[:, j], np.float64) + 0.0
        keys = (keys ^ column.view(np.uint64)) * _ODD
        keys = (keys ^ (keys >> np.uint64(29))) * _MIX
        keys ^= keys >> np.uint64(32)
    return keys


def ranks_of(keys: Keys) -> npt.NDArray[np.uint32]:
    """Place of each point in the order of keys, and of arrival where these are equal.

    Examples
    --------
    >>> ranks_of(np.array([7, 3, 7], np.uint64)).tolist()
    [1, 0, 2]
    """
    ranks = np.empty(len(keys), np.uint32)
    ranks[np.argsort(keys, kind="stable")] = np.arange(len(keys), dtype=np.uint32)
    return ranks
