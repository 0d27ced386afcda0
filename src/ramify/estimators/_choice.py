# SPDX-License-Identifier: BSD-3-Clause
"""_choice.py: options of which one is chosen together with what belongs to it.

``keep=Last(100)`` and ``neighbors=Cells(0.9)`` are values, so that nobody can set a share of
neighbours to find where all are found, or a window for leaves that cannot grow old. Files,
folders, servers and the command line have one plain value an option instead (*flat* options:
``window``, ``max_age``, ``max_leaves``, ``track_members``, ``neighbors``, ``recall``), as 0.1 had
them. This file is the only place that knows both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from functools import cache
from typing import Any, ClassVar, Literal, TypeAlias

from ramify.checks import number, one_of, whole_number, yes_or_no
from ramify.estimators._leaving import check_max_age, check_window


class Choice:
    """One way that an option can be chosen; frozen, and equal if all that belongs to it is."""

    #: The flat options that it decides, and their values where it is not chosen.
    unchosen: ClassVar[Mapping[str, Any]]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What belongs to it by name, for scikit-learn's searches and clones.

        Examples
        --------
        >>> import ramify
        >>> ramify.Budget(500).get_params()
        {'leaves': 500, 'members': True}
        """
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]

    def _flat(self) -> dict[str, Any]:
        """The values of its flat options."""
        raise NotImplementedError


@dataclass(frozen=True)
class Last(Choice):
    """Keep the last ``n`` points: the oldest leaves just before a new one comes.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC(keep=ramify.Last(2)).partial_fit([[0.0], [5.0], [6.0]])
    >>> model.point_numbers_
    array([1, 2])
    """

    n: int

    unchosen: ClassVar[Mapping[str, Any]] = {"window": None}

    def __post_init__(self) -> None:
        whole_number("n", self.n)

    def _flat(self) -> dict[str, Any]:
        """The values of its flat options."""
        return {"window": self.n}


@dataclass(frozen=True)
class Younger(Choice):
    """Keep points that are at most ``age`` older than the latest, by the ``times`` of rows.

    ``age`` is a number or a timedelta, as times are numbers or dates. With ``most``, no more
    points than that stay: the oldest leave, as with :class:`Last`.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC(keep=ramify.Younger(3.0))
    >>> model.partial_fit([[0.0], [5.0], [6.0]], times=[0, 1, 4]).point_numbers_
    array([1, 2])
    """

    age: float | timedelta
    most: int | None = field(default=None, kw_only=True)

    unchosen: ClassVar[Mapping[str, Any]] = {"window": None, "max_age": None}

    def __post_init__(self) -> None:
        if self.age is None:
            raise TypeError("age=None: expected a number or a timedelta")
        check_max_age(self.age, "age")
        check_window(self.most, "most")

    def _flat(self) -> dict[str, Any]:
        """The values of its flat options."""
        return {"max_age": self.age, "window": self.most}


@dataclass(frozen=True)
class Budget(Choice):
    """Keep at most so many ``leaves``, which come to stand for several points.

    Beyond it, the two closest that are siblings become one, which keeps their number, mean and
    spread. Later points may join it. Memory stays as it is then, and all counts, means and
    linkages are those of the points seen; equally close ones: as for merges. A model's budget
    may change, but neither begin nor end: one that is larger than the stream is none.

    Which point is in which leaf is remembered, at 32 bytes a point. With ``members=False``
    points are known by their leaves alone: ``labels_`` has an entry for each leaf.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC(keep=ramify.Budget(2)).fit([[0.0], [0.1], [9.0]])
    >>> model.n_leaves_, model.n_points_
    (2, 3)
    """

    leaves: int
    members: bool = field(default=True, kw_only=True)

    unchosen: ClassVar[Mapping[str, Any]] = {"max_leaves": None, "track_members": True}

    def __post_init__(self) -> None:
        whole_number("leaves", self.leaves, least=2)
        yes_or_no("members", self.members)

    def _flat(self) -> dict[str, Any]:
        """The values of its flat options."""
        return {"max_leaves": self.leaves, "track_members": self.members}


@dataclass(frozen=True)
class Cells(Choice):
    """Find neighbours by dividing the rows into cells, and looking into those near a row.

    The nearest leaf is found most of the time, not always, in a fraction of the time where rows
    are long and many (from about 100,000 of some hundred columns on). Below 32,768 rows the
    search is exact. ``recall`` is the share of rows that should find their nearest leaf: some
    rows are searched for exactly as well, and cells are looked into accordingly. Only for
    distances, not for ``metric="dot"``. One stream still gives one tree.

    Examples
    --------
    >>> import ramify
    >>> ramify.OHAC(neighbors=ramify.Cells(recall=0.9)).fit([[0.0], [0.1], [9.0]]).recall_
    1.0
    """

    recall: float = 0.97

    unchosen: ClassVar[Mapping[str, Any]] = {"neighbors": "exact", "recall": 0.97}

    def __post_init__(self) -> None:
        check_recall("recall", self.recall)

    def _flat(self) -> dict[str, Any]:
        """The values of its flat options."""
        return {"neighbors": "cells", "recall": self.recall}


Keep: TypeAlias = Last | Younger
Neighbors: TypeAlias = Literal["exact"] | Cells

#: The choices of estimators whose points leave by themselves.
KEEPS: Mapping[str, tuple[type[Choice], ...]] = {"keep": (Last, Younger)}

#: The same of OHAC.
OF_OHAC: Mapping[str, tuple[type[Choice], ...]] = {
    "keep": (Last, Younger, Budget),
    "neighbors": (Cells,),
}

_USUAL = {"keep": None, "neighbors": "exact"}

#: Parameters of 0.1, and what took their places.
_GONE = {
    "window": "keep=ramify.Last({value})",
    "max_age": "keep=ramify.Younger({value})",
    "max_leaves": "keep=ramify.Budget({value})",
    "track_members": "keep=ramify.Budget(leaves, members={value})",
    "recall": "neighbors=ramify.Cells(recall={value})",
}


def check_recall(name: str, found: object) -> float:
    """Return a share of neighbours to find."""
    share = number(name, found)
    if not 0 < share < 1:
        raise ValueError(
            f"{name}={found!r}: expected a share between 0 and 1; neighbors='exact' finds all"
        )
    return share


def check_neighbors(name: str, found: object) -> str:
    """Return how neighbours are found, of flat options."""
    gone = "; 'cells' took the place of 'hnsw': no library is needed, and points may leave"
    return one_of(name, found, ("exact", "cells"), hint=gone if found == "hnsw" else "")


def refuse_gone(kind: Any, options: Mapping[str, Any]) -> None:
    """TypeError for a parameter of 0.1, with what is to be written now."""
    for name in _GONE.keys() & options.keys():
        if name not in kind._get_param_names() and name in flat_names(kind):
            now = _GONE[name].format(value=repr(options[name]))
            raise TypeError(f"{kind.__name__} has no {name!r} since 0.2: write {now}")


# --- flat options ---------------------------------------------------------------------------


def flat_options(model: Any) -> dict[str, Any]:
    """A model's options as files, folders, servers and the command line have them, by name."""
    return flattened(type(model), model.get_params(deep=False), model.__dict__.get("_idle", {}))


def flattened(
    kind: Any, parameters: Mapping[str, Any], idle: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Parameters of an estimator as flat options, in the order of their names.

    ``idle`` are values of flat options that mean nothing as things are, and yet are in a file.
    """
    found: dict[str, Any] = {}
    for name, value in parameters.items():
        offered = kind._choices.get(name)
        if offered is None:
            found[name] = value
            continue
        for one in offered:
            found |= one.unchosen
        found |= {one: kept for one, kept in (idle or {}).items() if one in found}
        if isinstance(value, offered):
            found |= value._flat()
        elif not (isinstance(value, str | None) and value == _USUAL[name]):
            raise _no_choice(name, value, offered)
    return dict(sorted(found.items()))


def _no_choice(name: str, value: object, offered: tuple[type[Choice], ...]) -> Exception:
    ways = ", ".join(f"ramify.{one.__name__}(...)" for one in offered)
    error = ValueError if isinstance(value, str | Choice) else TypeError
    return error(f"{name}={value!r}: expected {_USUAL[name]!r} or {ways}")


def keep_of(flat: Mapping[str, Any]) -> Last | Younger | Budget | None:
    """Which points stay, by flat options."""
    window, age = check_window(flat["window"]), flat["max_age"]
    check_max_age(age)
    leaves = flat.get("max_leaves")
    if leaves is not None:
        if window is not None or age is not None:
            raise ValueError("max_leaves: leaves of several points cannot grow old; set no window")
        whole_number("max_leaves", leaves, least=2)
        return Budget(leaves, members=yes_or_no("track_members", flat["track_members"]))
    if age is not None:
        return Younger(age, most=window)
    return None if window is None else Last(window)


def _neighbors_of(flat: Mapping[str, Any]) -> str | Cells:
    if check_neighbors("neighbors", flat["neighbors"]) == "exact":
        return "exact"
    return Cells(flat["recall"])


_READ = {"keep": keep_of, "neighbors": _neighbors_of}


def nested(kind: Any, flat: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The inverse of :func:`flattened`: parameters, and flat options that mean nothing.

    What is no option passes through.
    """
    parameters = dict(flat)
    idle: dict[str, Any] = {}
    for name, offered in choices_of(kind).items():
        unchosen = {one: value for way in offered for one, value in way.unchosen.items()}
        given = {one: parameters.pop(one) for one in unchosen if one in parameters}
        chosen = _READ[name](unchosen | given)
        says = unchosen if chosen == _USUAL[name] else unchosen | chosen._flat()  # type: ignore[union-attr]
        idle |= {one: value for one, value in given.items() if value != says[one]}
        parameters[name] = chosen
    return parameters, idle


def from_flat(kind: Any, options: Mapping[str, Any]) -> Any:
    """A model without points, of flat options."""
    parameters, idle = nested(kind, options)
    model = kind(**parameters)
    if idle:
        model._idle = idle
    return model


def set_flat(model: Any, options: Mapping[str, Any]) -> None:
    """Give a model other flat options, as far as they are named."""
    model.set_params(**nested(type(model), {**flat_options(model), **options})[0])


@cache
def flat_names(kind: Any) -> frozenset[str]:
    """Names of an estimator's flat options."""
    usual = {name: _USUAL[name] for name in choices_of(kind)}
    return frozenset(flattened(kind, dict.fromkeys(kind._get_param_names()) | usual))


@cache
def choices_of(kind: Any) -> Mapping[str, tuple[type[Choice], ...]]:
    """Which parameters of an estimator are such choices, and among what."""
    names = kind._get_param_names()
    return {name: offered for name, offered in kind._choices.items() if name in names}
