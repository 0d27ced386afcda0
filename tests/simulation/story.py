"""story.py: what clients ask for, and the oracle: an estimator that was never in a folder.

The story of a seed is the same however often the power is cut: each client asks for one thing
after the other, and asks again until it is answered. The oracle takes what the journal says was
written, in that order; it knows nothing of journals, snapshots or retries.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ramify
from ramify.estimators.stream import Stream
from ramify.journal import _model

#: How a tree says no.
REFUSED = "refused"

KINDS: Mapping[str, Any] = {
    "plain": lambda: ramify.OHAC(n_clusters=3),
    "window": lambda: ramify.OHAC(keep=ramify.Last(9), linkage="ward"),
    "leaves": lambda: ramify.OHAC(keep=ramify.Budget(7)),
    "age": lambda: ramify.OHAC(keep=ramify.Younger(12.0)),
    "otd": lambda: ramify.OTD(),
    "history": lambda: ramify.OHAC(history=4),
}


@dataclass(frozen=True)
class Asked:
    """A request that can be made again."""

    key: str
    verb: str  #: add, forget, or an edit
    rows: Any = None
    ids: tuple[str, ...] | None = None
    payloads: tuple[str | None, ...] | None = None
    times: tuple[float, ...] | None = None
    marks: Mapping[str, str] | None = None
    replace: bool = False
    points: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def send(self, tree: Any) -> Future[Any]:
        """Ask a tree in a folder."""
        if self.verb == "add":
            return tree.submit_add(
                self.rows,
                ids=self.ids,
                times=self.times,
                payloads=self.payloads,
                key=self.key,
                marks=self.marks,
                replace=self.replace,
                block=False,
            )
        if self.verb == "forget":
            return tree.submit_forget(list(self.points), key=self.key, block=False)
        return tree.submit_call(self.verb, self.options, key=self.key, block=False)


class Client:
    """Who asks for one thing after the other."""

    def __init__(self, name: str, chance: random.Random, kind: str, has_ids: bool) -> None:
        self.name, self._chance, self._kind, self._has_ids = name, chance, kind, has_ids
        self._edits = has_ids and kind != "otd"
        self._count = 0
        self._points: list[Any] = []  # that were acknowledged
        self.asked: Asked | None = None
        self.future: Future[Any] | None = None  #: of this life

    def think(self) -> Asked:
        """The next thing to ask for."""
        chance, self._count = self._chance, self._count + 1
        key = f"{self.name} {self._count}"
        dice = chance.random()
        if self._points and dice < 0.15:
            gone = tuple(chance.sample(self._points, min(len(self._points), chance.randint(1, 3))))
            return Asked(key, "forget", points=gone)
        if self._edits and len(self._points) > 2 and dice < 0.25:
            one, other = chance.sample(self._points, 2)
            verb = chance.choice(("must_link", "cannot_link", "unlink", "move"))
            names = ("node", "under") if verb == "move" else ("i", "j")
            return Asked(key, verb, options=dict(zip(names, (one, other), strict=True)))
        return self._more(key)

    def _more(self, key: str) -> Asked:
        chance = self._chance
        n = chance.choice((1, 1, 1, 2, 3, 8))
        if chance.random() < 0.5:  # many ties, and points at one place
            rows = np.array([[chance.randint(0, 3), chance.randint(0, 2)] for _ in range(n)], float)
        else:
            rows = np.array([[chance.gauss(0, 1), chance.gauss(0, 1)] for _ in range(n)])
        ids, replace = None, False
        if self._has_ids:
            ids = tuple(f"{self.name}/{self._count}/{at}" for at in range(n))
            if self._points and chance.random() < 0.2:  # some that were there before
                again = chance.sample(self._points, min(n, len(self._points)))
                ids = (*again, *ids[len(again) :])
                replace = chance.random() < 0.5
        times = tuple(float(self._count) for _ in range(n)) if self._kind == "age" else None
        payloads = tuple(f"secret {key} {at}" for at in range(n)) if chance.random() < 0.5 else None
        marks = {self.name: str(self._count)}
        return Asked(key, "add", rows, ids, payloads, times, marks, replace)

    def told(self, answer: Any) -> None:
        """It was answered: by a receipt, or not at all well."""
        asked, self.asked, self.future = self.asked, None, None
        assert asked is not None
        if answer == REFUSED:
            return
        if asked.verb == "forget":
            self._points = [one for one in self._points if one not in asked.points]
        elif asked.verb == "add":
            came = answer.numbers if asked.ids is None else asked.ids
            self._points += [one for one in came if one not in self._points]


class Oracle:
    """An estimator, and what is known beside it."""

    def __init__(self, kind: str) -> None:
        self.model = KINDS[kind]()
        self.payloads: dict[int, str] = {}
        self.forgotten: list[str] = []  #: payloads of points that were told to go
        self.marks: dict[str, str] = {}
        self.answers: dict[str, Any] = {}  #: by key: numbers, or how many were forgotten
        self.count = 0  #: operations that it took
        self._taken: dict[str, int] = {}

    def take(self, asked: Asked) -> None:
        """Carry out an operation."""
        self.count += 1
        if self.answers.get(asked.key, REFUSED) != REFUSED:
            raise AssertionError(f"{asked.key!r} is in the journal twice")
        try:
            self.answers[asked.key] = self._took(asked)
        except _model.REFUSALS:
            self.answers[asked.key] = REFUSED

    def _took(self, asked: Asked) -> Any:
        if asked.verb == "forget":
            self._forget(asked.points)
            return len(asked.points)
        if asked.verb != "add":
            getattr(self.model.edit, asked.verb)(**asked.options)
            return []
        numbers = self._add(asked)
        self.marks |= asked.marks or {}
        return numbers

    def _add(self, asked: Asked) -> list[int]:
        ids = asked.ids
        if asked.replace and ids is not None:
            self._forget([one for one in ids if Stream(self.model).find(one) is not None])
            fresh = list(range(len(ids)))
        elif ids is not None:
            fresh = [at for at, one in enumerate(ids) if one not in self._taken]
        else:
            fresh = list(range(len(asked.rows)))
        first = Stream(self.model).next_number
        numbers = {at: first + i for i, at in enumerate(fresh)}
        if fresh:
            more: dict[str, Any] = {}
            if asked.times is not None:
                more["times"] = np.array([asked.times[at] for at in fresh])
            named = None if ids is None else [ids[at] for at in fresh]
            self.model.partial_fit(asked.rows[fresh], ids=named, **more)
        for at in fresh:
            if ids is not None:
                self._taken[ids[at]] = numbers[at]
            if asked.payloads is not None and asked.payloads[at] is not None:
                self.payloads[numbers[at]] = asked.payloads[at]
        if ids is None:
            return list(numbers.values())
        return [self._taken[one] for one in ids]

    def _forget(self, points: Any) -> None:
        if len(points) == 0:
            return
        numbers = [Stream(self.model).find(one) for one in points]
        self.model.forget(list(points))
        for one, number in zip(points, numbers, strict=True):
            if number in self.payloads:
                self.forgotten.append(self.payloads.pop(number))
            self._taken.pop(one, None)

    def there(self) -> dict[int, str]:
        """Payloads of the points that there are."""
        numbers = _model.numbers_there(self.model)
        return {one: self.payloads[one] for one in numbers if one in self.payloads}

    def digest(self) -> str:
        return _model.state_digest(_model.saved(self.model))
