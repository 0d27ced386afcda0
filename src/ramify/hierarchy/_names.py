# SPDX-License-Identifier: BSD-3-Clause
"""_names.py: the names of points, checked."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify.checks import is_whole
from ramify.ids import as_array, refuse_twins

#: One name for each point: all strings or all integers, no two alike.
Names: TypeAlias = Sequence[str] | Sequence[int] | npt.NDArray[Any]


def read_names(names: Names, n: int) -> npt.NDArray[Any]:
    """Check the names of n points; return them as a read-only array of our own.

    Strings stay Python's own: an array of fixed width would give every name the
    room of the longest.

    Examples
    --------
    >>> read_names([30, 10, 20], 3)
    array([30, 10, 20])
    """
    if isinstance(names, str | bytes):
        raise TypeError(f"names={names!r}: expected one name for each point, got one text")
    given: list[Any] = names.tolist() if isinstance(names, np.ndarray) else list(names)
    if len(given) != n:
        raise ValueError(f"names: expected {n}, one for each point, got {len(given)}")
    are_text = isinstance(given[0], str)
    for i, name in enumerate(given):
        if not (isinstance(name, str) if are_text else is_whole(name)):
            raise TypeError(
                f"names: expected all strings or all integers, got {name!r} "
                f"({type(name).__name__}) at position {i}"
            )
    refuse_twins("names", "positions", given)
    try:
        return as_array(given)
    except OverflowError:
        raise ValueError(
            "names: expected integers of 64 bits with a sign, -2^63 to 2^63 - 1; use strings"
        ) from None
