# SPDX-License-Identifier: BSD-3-Clause
"""ids.py: what users call their points, beside the arrival numbers we give them.

A stream has ids from its first point or never, all strings or all integers (of
64 bits): "7" and 7 in one stream are one mistake sooner or later, and a table
column has one type, too.

The core cannot keep ids, and a batch may be cut short anywhere. So a batch's ids
are announced before its rows go in, and counted off afterwards by the number of
points that are really there: whenever someone looks, ids and points are in step.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify.checks import is_whole

Id: TypeAlias = str | int
IdArray: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.object_]

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class Ids:
    """The ids of a stream's points: arrival number by id, in order of arrival.

    Invariants:

    1. The keys of ``_place`` are ids of points before ``_next``, in order, all of one type,
       and each of these points that is there has one.
    2. Points from ``_next`` on have the first of the ``_coming`` ids. They are numbered one
       after the other, unless ``_numbers`` says otherwise.
    3. Of points that are not there, only those in ``_leaving`` may have an id still.
    4. ``_name`` is the inverse of ``_place``, or None: nobody has left yet, and numbers have
       no gaps.
    """

    __slots__ = ("_coming", "_leaving", "_name", "_next", "_numbers", "_place")

    def __init__(self, begin: int = 0) -> None:
        self._place: dict[Id, int] = {}
        self._coming: list[Any] = []
        self._numbers: list[int] | None = None
        self._next = begin
        self._leaving: list[int] = []
        self._name: dict[int, Id] | None = None

    @classmethod
    def of_points(cls, ids: list[Any], numbers: list[int], next_number: int) -> "Ids":
        """The ids of a stored stream."""
        known = cls(next_number)
        if len(ids) != len(numbers):
            raise ValueError(f"there are {len(ids)} ids for {len(numbers)} points")
        known._place = dict(zip(known.read(ids, len(ids)), numbers, strict=True))
        if len(numbers) < next_number:
            known._name = dict(zip(numbers, known._place, strict=True))
        return known

    def __len__(self) -> int:
        return len(self._place)

    def __iter__(self) -> Iterator[Id]:
        return iter(self._place)

    def expect(self, ids: list[Any], numbers: list[int] | None = None) -> None:
        """Announce checked ids for points that are about to be inserted.

        Without numbers the points have the next ones.
        """
        if numbers is not None:
            self._know_names()
        self._coming, self._numbers = ids, numbers

    def _know_names(self) -> None:
        if self._name is None:
            self._name = {number: one for one, number in self._place.items()}

    def expect_to_leave(self, numbers: list[int]) -> None:
        """Announce points that are about to leave."""
        self._know_names()
        self._leaving = self._leaving + numbers

    def settle(self, next_number: int, is_there: Callable[[int], bool]) -> None:
        """Give the announced ids to the points that did arrive, and take those of who left.

        An interrupt in here does no harm: each step runs in one piece, and what is
        left to do is worked out anew next time.
        """
        done, n = self._next, next_number
        if n > done:
            told = self._numbers
            numbers = range(done, n) if told is None else told[: bisect_left(told, n)]
            ids = self._coming[: len(numbers)]
            if self._name is not None:
                self._name.update(zip(numbers, ids, strict=True))
            self._place.update(zip(ids, numbers, strict=True))
            self._next = n
        self._coming, self._numbers = [], None
        if self._leaving:
            self._forget(is_there)

    def _forget(self, is_there: Callable[[int], bool]) -> None:
        assert self._name is not None
        for number in self._leaving:
            if not is_there(number) and (one := self._name.get(number)) is not None:
                self._place.pop(one, None)
                self._name.pop(number, None)
        self._leaving = []

    def of(self, numbers: Sequence[int]) -> list[Any]:
        """Ids of points, while a batch may be under way: nothing is settled."""
        late, known = self.late(), self._name
        if known is None:  # no gaps: from behind as far as is needed, which is often not far
            end = self._next
            first = min((number for number in numbers if number < end), default=end)
            known = dict(zip(range(end - 1, first - 1, -1), reversed(self._place), strict=False))
        return [known[number] if number in known else late[number] for number in numbers]

    def array_of(self, numbers: Sequence[int]) -> IdArray:
        """As :meth:`of`, of the type that all ids have."""
        found = self.of(numbers)
        return as_array(found) if found else self.array()[:0]

    def late(self) -> dict[int, Any]:
        """Announced ids by the numbers that their points have or will have."""
        begin, coming, numbers = self._next, self._coming, self._numbers
        if numbers is not None:
            return dict(zip(numbers, coming, strict=True))
        return {begin + i: one for i, one in enumerate(coming)}

    def number_of(self, wanted: object) -> int | None:
        """Arrival number of the point with this id, None if there is none."""
        if isinstance(wanted, bool) or not isinstance(wanted, str | int | np.integer):
            return None  # 1.0 equals 1, and a large number as a float may equal another's
        return self._place.get(wanted)  # type: ignore[arg-type]

    def find(self, wanted: str, n: int) -> int | None:
        """As :meth:`number_of` among points before number n, while a batch may be under way."""
        # First: whoever settles moves them to the others.
        done, coming, numbers = self._next, self._coming, self._numbers
        found = self._place.get(wanted)
        if found is None and wanted in coming:
            at = coming.index(wanted)
            found = done + at if numbers is None else numbers[at]
        return found if found is not None and found < n else None

    def array(self) -> IdArray:
        """All ids in order of arrival, read-only: int64, or ``str`` objects."""
        return as_array(list(self._place))

    def read_one(self, one: object) -> list[Any]:
        """Check the id of one new row, as :meth:`read` does for many."""
        kind = type(one)
        plain = kind is str or (kind is int and _SMALLEST <= one <= _LARGEST)  # type: ignore[operator]
        if plain and one not in self._place and kind is type(next(iter(self._place), one)):
            return [one]
        return self.read([one], 1)  # which finds the words

    def read(self, ids: object, n: int) -> list[Any]:
        """Check the ids of n new rows against each other and all earlier ones."""
        new = _as_list(ids)
        if len(new) != n:
            raise ValueError(f"ids: expected {n}, one for each row, got {len(new)}")
        new = _of_one_kind(new, type(next(iter(self._place))) if self._place else None)
        refuse_twins("ids", "rows", new)
        if not self._place.keys().isdisjoint(new):
            row = next(row for row, one in enumerate(new) if one in self._place)
            raise ValueError(
                f"ids: {new[row]!r} (row {row}) is already the id of point "
                f"{self._place[new[row]]}; every id must be new"
            )
        return new


def as_array(ids: list[Any]) -> IdArray:
    """Checked ids as a read-only array."""
    array = np.array(ids, dtype=object if ids and isinstance(ids[0], str) else np.int64)
    array.setflags(write=False)
    return array.view(array.dtype)  # whose owner nobody holds: it stays read-only


def kind_of(ids: npt.NDArray[Any]) -> str:
    """``"str"`` or ``"int"``."""
    return "str" if ids.dtype == object else "int"


def pack(ids: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Ids as plain arrays for a file: the integers, or text and where each id ends.

    Examples
    --------
    >>> import numpy as np
    >>> {name: array.tolist() for name, array in pack(np.array(["a", "bc"], dtype=object)).items()}
    {'ids_text': [97, 98, 99], 'ids_ends': [1, 3]}
    """
    if ids.dtype != object:
        return {"ids": np.asarray(ids, dtype=np.int64)}
    # Python allows half a surrogate pair in a string, so we keep it as it is.
    text = [one.encode("utf-8", "surrogatepass") for one in ids.tolist()]
    ends = np.cumsum([len(one) for one in text], dtype=np.int64)
    return {"ids_text": np.frombuffer(b"".join(text), dtype=np.uint8), "ids_ends": ends}


def unpack(arrays: Mapping[str, npt.NDArray[Any]]) -> list[Any] | None:
    """The inverse of :func:`pack`; None where there are no ids. ValueError if damaged."""
    if "ids" in arrays:
        return list(arrays["ids"].tolist())
    if "ids_ends" not in arrays:
        return None
    text = arrays["ids_text"].tobytes()
    ends = [0, *arrays["ids_ends"].tolist()]
    if ends[-1] != len(text) or any(a > b for a, b in pairwise(ends)):
        raise ValueError("the stored ids do not fit their text")
    return [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends)]


def _as_list(ids: object) -> list[Any]:
    if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        raise TypeError(f"ids={ids!r}: expected a sequence of ids, one for each row")
    if isinstance(ids, Set | Mapping):
        raise TypeError(f"ids: expected a sequence in the order of the rows, got {_kind(ids)}")
    # Arrays and columns of NumPy, pandas, polars and Arrow turn into plain values fastest.
    for name in ("tolist", "to_list", "to_pylist"):
        convert = getattr(ids, name, None)
        if convert is not None:
            plain = convert()
            return plain if isinstance(plain, list) else [plain]
    return list(ids)


def _of_one_kind(ids: list[Any], earlier: type | None) -> list[Any]:
    """Plain ids of one type, which is that of the earlier ones, if there are any."""
    kinds = set(map(type, ids))
    if not kinds <= {str, int}:
        ids = [_plain(one, row) for row, one in enumerate(ids)]
        kinds = set(map(type, ids))
    if earlier is not None and kinds - {earlier}:
        row = next(row for row, one in enumerate(ids) if type(one) is not earlier)
        raise TypeError(
            f"ids: {ids[row]!r} (row {row}) is of type {_kind(ids[row])}, and the ids of this "
            f"stream have been of type {earlier.__name__} so far; use one type"
        )
    if len(kinds) == 2:
        row = next(row for row, one in enumerate(ids) if type(one) is not type(ids[0]))
        raise TypeError(
            f"ids: expected all strings or all integers, got {ids[0]!r} (row 0) and "
            f"{ids[row]!r} (row {row})"
        )
    if int in kinds and not (min(ids) >= _SMALLEST and max(ids) <= _LARGEST):
        row = next(row for row, one in enumerate(ids) if not _SMALLEST <= one <= _LARGEST)
        raise ValueError(
            f"ids: {ids[row]} (row {row}) does not fit 64 bits with a sign, which hold -2^63 to "
            f"2^63 - 1; use strings"
        )
    return ids


def _plain(one: object, row: int) -> Id:
    if isinstance(one, str):
        return str.__str__(one)
    if is_whole(one):
        return int(one)
    raise TypeError(f"ids: expected strings or integers, got {one!r} ({_kind(one)}, row {row})")


def refuse_twins(what: str, places: str, values: list[Any]) -> None:
    """Refuse ids or names of which two are alike."""
    if len(set(values)) == len(values):
        return
    seen: dict[Id, int] = {}
    for at, one in enumerate(values):
        if one in seen:
            raise ValueError(
                f"{what}: {one!r} stands at {places} {seen[one]} and {at}; {what} are unique"
            )
        seen[one] = at


def _kind(value: object) -> str:
    return type(value).__name__
