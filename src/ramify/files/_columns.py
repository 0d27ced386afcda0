# SPDX-License-Identifier: BSD-3-Clause
"""_columns.py: which columns of a file are features, ids, labels, weights and times.

The same for every kind of file.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ramify.files._source import ReadOptions


class NoColumnError(ValueError):
    """A file has no column of a name.

    Examples
    --------
    >>> from ramify.files import NoColumnError
    >>> NoColumnError("a.csv", "z", ["x", "y"])
    NoColumnError("a.csv: no column 'z'; it has x, y")
    """

    def __init__(self, where: str, column: str, names: Sequence[str], kind: str = "column") -> None:
        super().__init__(f"{where}: no {kind} {column!r}; it has {listed(names)}")
        self.column = column


class Choice(NamedTuple):
    """Positions of columns."""

    features: tuple[int, ...]
    id: int | None = None
    label: int | None = None
    left_out: tuple[int, ...] = ()  # neither asked for nor numbers
    weight: int | None = None
    time: int | None = None

    @property
    def beside(self) -> tuple[int | None, ...]:
        """Ids, labels, weights and times, in this order."""
        return self.id, self.label, self.weight, self.time


def choose(
    names: Sequence[str], troubles: Sequence[str | None], options: ReadOptions, where: str
) -> Choice:
    """Decide what each column is.

    Parameters
    ----------
    names : one a column
    troubles : one a column
        None for numbers, else why the column cannot be a feature.
    options : ReadOptions
    where : str
        Name of the file.

    Examples
    --------
    >>> choose(["x", "y", "who"], [None, None, "text"], ReadOptions(id_column="who"), "a.csv")
    Choice(features=(0, 1), id=2, label=None, left_out=(), weight=None, time=None)
    """
    id_at, label_at, weight_at, time_at = beside = [
        _find_one(names, column, where) for column in options.beside
    ]
    chosen = Choice((), id_at, label_at, (), weight_at, time_at)
    if not options.features:
        return chosen
    asked = options.columns or _as_before(names, options.like, where)
    if asked:
        features = tuple(at for column in asked for at in _find(names, column, where))
        for at in features:
            if troubles[at] is not None:
                raise ValueError(f"{where}: column {names[at]!r} is not numbers: {troubles[at]}")
        return chosen._replace(features=features)
    rest = [at for at in range(len(names)) if at not in beside]
    features = tuple(at for at in rest if troubles[at] is None)
    if not features:
        why = f"; {troubles[rest[0]]}" if rest else ""
        raise ValueError(f"{where}: no column of numbers to make points of{why}")
    left_out = tuple(at for at in rest if troubles[at] is not None)
    return chosen._replace(features=features, left_out=left_out)


def _as_before(names: Sequence[str], like: Sequence[str], where: str) -> Sequence[str]:
    """The columns that have been features before; none if this file does not name its columns."""
    if not like or list(names) == [str(at) for at in range(len(names))]:
        return ()
    missing = [name for name in like if name not in names]
    if missing:
        raise ValueError(
            f"{where}: no column {missing[0]!r}, which the tree was made of; it has {listed(names)}"
        )
    return like


def _find_one(names: Sequence[str], column: str | None, where: str) -> int | None:
    if column is None:
        return None
    found = _find(names, column, where)
    if len(found) != 1:
        raise ValueError(f"{where}: expected one column, got {column!r}, which is {len(found)}")
    return found[0]


def _find(names: Sequence[str], column: str, where: str) -> list[int]:
    """Positions of a column named, numbered, or of a range of numbers."""
    if (count := tuple(names).count(column)) > 1:
        raise ValueError(f"{where}: {count} columns are named {column!r}; give its position")
    if count == 1:
        return [tuple(names).index(column)]
    everywhere = range(len(names))
    start, colon, stop = column.partition(":")
    try:
        if colon:
            found = list(
                everywhere[slice(*(int(part) if part else None for part in (start, stop)))]
            )
        else:
            found = [everywhere[int(column)]]
    except (ValueError, IndexError):
        found = []
    if not found:
        raise NoColumnError(where, column, names)
    return found


def listed(names: Sequence[str], most: int = 12) -> str:
    """The first names, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
