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
