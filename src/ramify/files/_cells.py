# SPDX-License-Identifier: BSD-3-Clause
"""_cells.py: what a cell is: which texts are numbers, and ids and labels as plain values.

Ids and labels are exact. Integers never pass through an array of NumPy, which makes floats
of those on both sides of 2^63; and a float is a whole number only as far as its type has
every whole number. Beyond, it may stand for several, and nobody can say which was meant:
it stays a float, which no id may be.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.files._source import Name

#: Below this a float64 is exactly the whole number that was meant.
_EVERY_WHOLE_FLOAT = 2.0**53


def is_number(cell: object) -> bool:
    """True for a number, and for text that spells one.

    Examples
    --------
    >>> is_number("1e3"), is_number("1_000"), is_number(""), is_number(True)
    (True, False, False, False)
    """
    if isinstance(cell, str):
        try:
            float(cell)
        except ValueError:
            return False
        return "_" not in cell
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def python_only(numbers: list[Any]) -> bool:
    """Whether ``float`` took something that no file calls a number: 1_000, or true.

    Three quick looks at all of them, as a question to each would take as long as the reading.
    """
    kinds = set(map(type, numbers))
    texts = numbers if kinds == {str} else [cell for cell in numbers if isinstance(cell, str)]
    return bool in kinds or "_" in "".join(texts)


def is_whole_text(text: str) -> bool:
    """False for half a surrogate pair, which JSON can spell and no other file can hold."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain_number(number: float) -> Name:
    """A number of Python's as an id or label: whole ones become ints, also True.

    Examples
    --------
    >>> plain_number(3.0), plain_number(2.5), plain_number(2**64), plain_number(2.0**64)
    (3, 2.5, 18446744073709551616, 1.8446744073709552e+19)
    """
    if isinstance(number, int):
        return int(number)
    return int(number) if number % 1 == 0 and abs(number) < _EVERY_WHOLE_FLOAT else number


def plain_names(values: npt.NDArray[Any], where: str) -> list[Name]:
    """Ids or labels of an array as plain strings and numbers; whole numbers become ints.

    Each value by itself, so that a batch's other values do not matter.

    Examples
    --------
    >>> import numpy as np
    >>> plain_names(np.array([1.0, 2.5]), "a.npy"), plain_names(np.array(["elm"]), "a.npy")
    ([1, 2.5], ['elm'])
    """
    kind = values.dtype.kind
    if kind == "f":
        return _plain_floats(values)
    if kind == "S":
        try:
            values = np.char.decode(values, "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{where} holds text that is not UTF-8: {error.reason}") from None
    elif kind == "b":
        values = values.astype(np.int64)
    elif kind in "mM":  # times
        values = values.astype(str)
    elif kind not in "iuU":
        raise ValueError(f"{where}: expected text or numbers, got values of type {values.dtype}")
    return values.tolist()  # type: ignore[no-any-return]  # NumPy cannot know


def _plain_floats(values: npt.NDArray[Any]) -> list[Name]:
    """Whole numbers as ints, as far as their type has every one of them."""
    exact = min(2.0 ** (np.finfo(values.dtype).nmant + 1), _EVERY_WHOLE_FLOAT)
    with np.errstate(invalid="ignore"):  # infinity has no remainder
        whole = (values % 1 == 0) & (np.abs(values) < exact)
    if whole.all():
        return values.astype(np.int64).tolist()  # type: ignore[no-any-return]
    return [int(v) if w else float(v) for v, w in zip(values, whole, strict=True)]
