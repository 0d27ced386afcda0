# SPDX-License-Identifier: BSD-3-Clause
"""_values.py: kinds of arrays, and how plain values are checked and frozen."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


def whole(children: npt.ArrayLike) -> npt.ArrayLike:
    """Refuse node numbers that are not whole, which a conversion would round."""
    array = np.asarray(children)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"children: expected whole numbers, got {array.dtype}")
    return array


def frozen(values: npt.ArrayLike, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """A read-only copy: nobody else holds the memory."""
    array = np.array(values, dtype=dtype, order="C")
    array.setflags(write=False)
    return array.view(dtype)  # see own


def own(array: IntArray) -> IntArray:
    """The same numbers as NumPy's own int64.

    The core's is C's ``long long``, an equal type that NumPy prints differently.
    """
    return array.view(np.int64)


def read_numbers(
    what: str, numbers: npt.ArrayLike | None, n: int, *, ascending: bool = True
) -> IntArray:
    """Numbers of the leaves, no two alike: 0, 1, 2, ... if none are given."""
    read = frozen(np.arange(n) if numbers is None else whole(numbers), np.int64)
    if read.shape != (n,):
        raise ValueError(f"{what}: expected shape {(n,)}, got {read.shape}")
    steps = np.diff(read if ascending else np.sort(read))
    if (steps <= 0).any() or read.min() < 0:
        how = "ascending numbers" if ascending else "numbers, no two alike,"
        raise ValueError(f"{what}: expected {how} from 0 on")
    return read


def read_weights(weights: npt.ArrayLike | None, n: int) -> FloatArray | None:
    """How many points each leaf stands for; None if all are one."""
    if weights is None:
        return None
    read = frozen(weights, np.float64)
    if read.shape != (n,):
        raise ValueError(f"leaf_weights: expected shape {(n,)}, got {read.shape}")
    if not (np.isfinite(read) & (read > 0)).all():
        raise ValueError("leaf_weights: expected finite numbers above 0")
    return read
