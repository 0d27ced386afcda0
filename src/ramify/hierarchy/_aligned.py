# SPDX-License-Identifier: BSD-3-Clause
"""_aligned.py: rows and texts of points, put in the order of the points that are there.

Users keep the rows or texts of a stream in order of arrival. Once points have left there are
two lengths that can be meant, and they are told apart: an entry for each point that is there,
or for each that ever came, of which entry ``number`` belongs to the point of that number.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify.hierarchy._values import IntArray

#: A text for each point in order, or by its id or number.
Texts: TypeAlias = Sequence[str] | Mapping[Any, str]


def entries_for(
    what: str, found: int, numbers: IntArray, total: int | None = None
) -> IntArray | None:
    """Which of so many entries belong to the points with these numbers; None: each to its own.

    ``total`` points have ever come; None if only the last number is known.

    Examples
    --------
    >>> import numpy as np
    >>> entries_for("X", 2, np.array([0, 3])), entries_for("X", 5, np.array([0, 3]))
    (None, array([0, 3]))
    """
    n, last = len(numbers), int(numbers.max(initial=-1))
    if found == n:
        return None
    if total is None and last >= n and found > last:
        return numbers
    if total is not None and found == total:
        return numbers
    wanted = f"{n}{' rows' if what == 'X' else ''}, one for each point"
    if (total or last + 1) > n:
        ever = f"{total}" if total is not None else f"at least {last + 1}"
        wanted += f" that is there, or {ever}, one for each that ever came"
    hint = f"; {what}[tree.point_numbers] are these" if what == "X" and found > n else ""
    raise ValueError(f"{what}: expected {wanted}, got {found}{hint}")


def texts_for(
    texts: Texts,
    numbers: IntArray,
    names: npt.NDArray[Any] | None = None,
    total: int | None = None,
) -> list[str]:
    """One text for each of these points.

    Examples
    --------
    >>> import numpy as np
    >>> texts_for(("a", "b", "c"), np.array([0, 2])), texts_for({0: "a", 2: "c"}, np.array([0, 2]))
    (['a', 'c'], ['a', 'c'])
    """
    if isinstance(texts, str | bytes):
        raise TypeError("texts: expected one text for each point, got one text")
    if isinstance(texts, Mapping):
        given = _looked_up(texts, numbers, names)
    else:
        if not hasattr(texts, "__iter__"):
            raise TypeError(f"texts: expected one text for each point, got {type(texts).__name__}")
        listed = list(texts)
        entries = entries_for("texts", len(listed), numbers, total)
        given = listed if entries is None else [listed[entry] for entry in entries.tolist()]
    wrong = next((i for i, text in enumerate(given) if not isinstance(text, str)), None)
    if wrong is not None:
        raise TypeError(
            f"texts: expected strings, got {type(given[wrong]).__name__} for point {numbers[wrong]}"
        )
    return given


def _looked_up(
    texts: Mapping[Any, str], numbers: IntArray, names: npt.NDArray[Any] | None
) -> list[str]:
    """By ids if points have some, or by numbers; where ids are whole numbers, these are ids."""
    keys: list[Any] = numbers.tolist()
    are_ids = isinstance(next(iter(texts), None), str)
    if names is not None and (names.dtype != object or are_ids):
        keys = names.tolist()
    missing = next((key for key in keys if key not in texts), None)
    if missing is not None:
        raise ValueError(f"texts: there is none for the point {missing!r}")
    return [texts[key] for key in keys]


def order_of(numbers: IntArray) -> IntArray | None:
    """How to sort numbers; None if they ascend. O(n).

    Examples
    --------
    >>> import numpy as np
    >>> order_of(np.array([0, 2, 5])), order_of(np.array([2, 0]))
    (None, array([1, 0]))
    """
    return None if (numbers[1:] > numbers[:-1]).all() else np.argsort(numbers)


def place_in(numbers: IntArray, wanted: npt.ArrayLike, order: IntArray | None = None) -> IntArray:
    """Places of points in a list of the numbers of those that are there, and its order.

    Examples
    --------
    >>> import numpy as np
    >>> place_in(np.array([0, 2, 5]), [5, 0])
    array([2, 0])
    """
    asked = np.asarray(wanted, dtype=np.int64)
    places = np.minimum(np.searchsorted(numbers, asked, sorter=order), len(numbers) - 1)
    if order is not None:
        places = order[places]
    gone = numbers[places] != asked
    if gone.any():
        raise IndexError(f"there is no point with the number {asked[gone].flat[0]}")
    return places
