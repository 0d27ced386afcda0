# SPDX-License-Identifier: BSD-3-Clause
"""checks.py: the door for plain values: numbers, choices, yes or no.

A wrong type is a TypeError, a wrong value a ValueError, and both say what was found
and what would be right. True and False are ints to Python, and no numbers here.
"""

from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypeGuard, TypeVar, get_args

_Method = TypeVar("_Method", bound=Callable[..., Any])

#: The core takes no larger whole numbers.
LARGEST = 2**63 - 1


def is_whole(found: object) -> TypeGuard[Integral]:
    """True for an int, of Python or NumPy.

    Examples
    --------
    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(found, Integral) and not isinstance(found, bool)


def whole_number(
    name: str,
    found: object,
    least: int = 1,
    most: int = LARGEST,
    *,
    why: str = "",
    kind: str = "an int",
) -> int:
    """Return a whole number if it is at least ``least`` and at most ``most``.

    ``why`` says what the bounds are, ``kind`` what the option takes.

    Examples
    --------
    >>> whole_number("n_clusters", 3, most=150, why="the number of points")
    3
    """
    if not is_whole(found):
        raise TypeError(f"{name}={found!r}: expected {kind}, got {type(found).__name__}")
    value = int(found)
    if least <= value <= most:
        return value
    expected = f"at least {least:,}" if value < least else f"at most {most:,}"
    if why and most < LARGEST:
        expected = f"{least:,} to {most:,}"
    raise ValueError(f"{name}={value}: expected {expected}{', ' if why else ''}{why}")


def whole_number_or_none(name: str, found: object) -> int | None:
    """As :func:`whole_number`, from 1, where None is a choice, too."""
    return None if found is None else whole_number(name, found)


def number(name: str, found: object, *, kind: str = "a number") -> float:
    """Return a number as a float; it may be infinite, but is not NaN."""
    if isinstance(found, bool) or not isinstance(found, Real):
        raise TypeError(f"{name}={found!r}: expected {kind}, got {type(found).__name__}")
    if found != found:
        raise ValueError(f"{name}={found!r}: expected {kind}")
    try:
        return float(found)
    except OverflowError:
        raise ValueError(f"{name} is beyond all floats: expected a number up to 1e308") from None


def number_above_zero(name: str, found: object) -> float:
    """Return a number if it is finite and more than 0."""
    size = number(name, found)
    if not 0 < size < float("inf"):
        raise ValueError(f"{name}={found!r}: expected a finite number above 0")
    return size


def one_of(name: str, found: object, offered: tuple[str, ...], *, hint: str = "") -> str:
    """Return a string if it is one of those offered; ``hint`` ends a refusal.

    Examples
    --------
    >>> one_of("bounds", "sound", ("reference", "sound"))
    'sound'
    """
    if not isinstance(found, str):
        raise TypeError(f"{name}={found!r}: expected a string, one of {listed(offered)}{hint}")
    if found not in offered:
        raise ValueError(f"{name}={found!r} is not offered; choose one of {listed(offered)}{hint}")
    return found


def choices(literal: Any) -> tuple[str, ...]:
    """The strings of a ``Literal`` type.

    Examples
    --------
    >>> from typing import Literal
    >>> choices(Literal["keep", "count"])
    ('keep', 'count')
    """
    return get_args(literal)


def one_of_or_none(name: str, found: object, offered: tuple[str, ...]) -> str | None:
    """As :func:`one_of`, where None is a choice, too."""
    return None if found is None else one_of(name, found, offered, hint=" or None")


def yes_or_no(name: str, found: object) -> bool:
    """Return True or False if it is one of them."""
    if not isinstance(found, bool):
        raise TypeError(f"{name}={found!r}: expected True or False, got {type(found).__name__}")
    return found


def listed(offered: tuple[str, ...]) -> str:
    """Choices as a message lists them."""
    return ", ".join(repr(choice) for choice in offered)


def by_name(*ways: str) -> Callable[[_Method], _Method]:
    """Let a method with keyword-only options say what to write, if it is given a bare value.

    ``ways`` are its likely meanings; ``{0}`` stands for the value.

    Examples
    --------
    >>> class Tree:
    ...     @by_name("n_clusters={0}", "height={0}")
    ...     def cut(self, *, n_clusters=None, height=None): ...
    >>> Tree().cut(10)
    Traceback (most recent call last):
    ...
    TypeError: cut(10): say what 10 is: cut(n_clusters=10) or cut(height=10)
    """

    def decorate(method: _Method) -> _Method:
        @wraps(method)
        def called(self: Any, /, *values: Any, **options: Any) -> Any:
            if values:
                name, found = method.__name__, repr(values[0])
                meant = " or ".join(f"{name}({way.format(found)})" for way in ways)
                raise TypeError(f"{name}({found}): say what {found} is: {meant}")
            return method(self, **options)

        return called  # type: ignore[return-value]  # it has the same options

    return decorate
