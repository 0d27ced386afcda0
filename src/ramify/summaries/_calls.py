# SPDX-License-Identifier: BSD-3-Clause
"""_calls.py: calls of what makes summaries: one by one, in batches, or several at once.

Whatever an answer is, it is kept before the next call begins. Where a call fails, those under way
are waited for and kept, no other begins, and the error goes on its way.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ramify.checks import is_whole
from ramify.summaries._store import Members


class Part(NamedTuple):
    """Something that a summary is made of: a point, or a smaller summary.

    Examples
    --------
    >>> Part("No sound after update", 1, point="T7", node_id=-4).text
    'No sound after update'
    """

    text: Any  #: the point's text or payload, None if it has none; or the summary
    size: float  #: points that it stands for
    point: Any = None  #: id of the point, or its number if points have no ids; None: a summary
    node_id: int = 0  #: of the node; a point's is -1 - its number


class SummaryNode(NamedTuple):
    """What a summary is wanted of.

    Examples
    --------
    >>> SummaryNode(17, 10, 6, before="Sound and screen").level
    10
    """

    node_id: int  #: of the node, which stays while it is there
    level: float  #: the size level that it belongs to
    size: float  #: points below it
    before: Any = None  #: the summary that this node had until now, if any: to be revised


class Job(NamedTuple):
    """A call to be made."""

    content: int
    parts: list[Part]
    node: SummaryNode
    members: Members  #: who is spoken of in the parts


#: What is told of each answer, or of a batch of them.
Keep = Callable[[list[tuple[Job, Any]]], None]


class Budget:
    """How many calls may be made: in an update, and in any minute.

    Examples
    --------
    >>> budget = Budget.read({"update": 2, "minute": 9})
    >>> budget.begin(), [budget.take(), budget.take(), budget.take()]
    (None, [True, True, False])
    """

    def __init__(self, update: int | None, minute: int | None) -> None:
        self._update, self._minute = update, minute
        self._recent: deque[float] = deque()
        self.begin()

    @classmethod
    def read(cls, budget: object) -> Budget:
        """A number of calls an update, or a mapping with ``update`` and ``minute``."""
        told = {"update": budget} if budget is None or is_whole(budget) else budget
        known = isinstance(told, dict) and not told.keys() - {"update", "minute"}
        values = list(told.values()) if isinstance(told, dict) else []
        if not known or not all(one is None or (is_whole(one) and int(one) >= 0) for one in values):
            raise ValueError(
                f"budget={budget!r}: expected how many calls an update may make, or "
                f"{{'update': 100, 'minute': 60}} with one of them or both"
            )
        assert isinstance(told, dict)
        return cls(told.get("update"), told.get("minute"))

    def begin(self) -> None:
        """A new update."""
        self._made = 0

    def take(self) -> bool:
        """Whether one more call may be made now; if so, it counts."""
        now = time.monotonic()
        while self._recent and now - self._recent[0] >= 60.0:
            self._recent.popleft()
        if self._update is not None and self._made >= self._update:
            return False
        if self._minute is not None and len(self._recent) >= self._minute:
            return False
        self._made += 1
        if self._minute is not None:
            self._recent.append(now)
        return True


class Caller:
    """A callable of any of the four kinds: plain or async, of one node or of a batch."""

    what, takes = "summarize", "(parts, node)"

    def __init__(self, summarize: Callable[..., Any], batch: int | None, at_once: int) -> None:
        if not callable(summarize):
            raise TypeError(
                f"{self.what}={summarize!r}: expected a function of {self.takes}, plain or async"
            )
        self._summarize, self._batch, self._at_once = summarize, batch, at_once
        self.is_async = inspect.iscoroutinefunction(summarize) or inspect.iscoroutinefunction(
            type(summarize).__call__
        )

    def make(self, jobs: Sequence[Job], keep: Keep) -> None:
        """Have all of these made, one call after the other."""
        for some in self._calls(jobs):
            keep(self._read(some, self._summarize(*self._arguments(some))))

    async def make_at_once(self, jobs: Sequence[Job], keep: Keep) -> None:
        """Have all of these made by an async function, several at a time."""
        waiting = deque(self._calls(jobs))
        errors: list[BaseException] = []

        async def work() -> None:
            while waiting and not errors:
                some = waiting.popleft()
                try:
                    keep(self._read(some, await self._summarize(*self._arguments(some))))
                except BaseException as error:  # raised below, when the others are done
                    errors.append(error)

        await asyncio.gather(*(work() for _ in range(self._at_once)))
        if errors:
            raise errors[0]

    def _calls(self, jobs: Sequence[Job]) -> list[tuple[Job, ...]]:
        n = self._batch or 1
        return [tuple(jobs[begin : begin + n]) for begin in range(0, len(jobs), n)]

    def _arguments(self, some: tuple[Job, ...]) -> tuple[Any, ...]:
        if self._batch is None:
            return some[0].parts, some[0].node
        return [job.parts for job in some], [job.node for job in some]

    def _read(self, some: tuple[Job, ...], answer: Any) -> list[tuple[Job, Any]]:
        if inspect.isawaitable(answer):
            raise TypeError(
                f"{self.what} answered with something to await, but is no async function; define "
                "it with 'async def'"
            )
        answers = [answer] if self._batch is None else list(answer)
        if len(answers) != len(some):
            raise ValueError(
                f"{self.what}: expected {len(some)} answers, one for each entry of the batch, got "
                f"{len(answers)}"
            )
        for one in answers:
            try:
                if one is None:
                    raise TypeError("None is none")
                json.dumps(one)
            except (TypeError, ValueError) as error:
                raise TypeError(
                    f"{self.what}: expected a text, or what JSON can hold, got {one!r} ({error})"
                ) from None
        return list(zip(some, answers, strict=True))
