"""shards.py: histories of a router and its shards, whose calls are lost, repeated and out of order.

Ray runs the constructor of a dead actor again and sends its calls once more; here that happens all
the time. Shards are killed between two calls, the router in the middle of an operation, and the
power of the whole machine is cut. The oracle is a router to which nothing ever happens.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ramify.journal import _model
from ramify.ray import _router, _shard
from ramify.ray._batches import Along
from ramify.ray._crew import LocalCrew, shard_folder
from ramify.ray._plan import Plan
from ramify.ray._router import Router
from ramify.ray._shard import Shard
from tests.simulation.journal import History, require
from tests.simulation.story import Asked
from tests.simulation.world import PowerCutError

_MOST_ACTS, _MOST_CALLS = 30, 900


class RouterKilledError(BaseException):
    """The router is no more, in the middle of something."""


class BadCrew:
    """Shards that die, and a way to them on which calls and answers are lost."""

    def __init__(self, history: ShardsHistory, bad: float) -> None:
        self._history, self._chance, self.bad = history, history.chance, bad
        self.shards: dict[int, Shard] = {}

    def start(self, shard: int) -> None:
        if shard not in self.shards:
            folder = shard_folder(self._history.disk.folder / "tree", shard)
            self.shards[shard] = Shard(folder, self._history.plan.options)

    def ask(self, calls: Sequence[tuple[int, str, tuple[Any, ...]]]) -> list[Any]:
        order = list(range(len(calls)))
        self._chance.shuffle(order)
        answers: dict[int, Any] = {}
        for at in order:
            answers[at] = self._call(*calls[at])
        return [answers[at] for at in range(len(calls))]

    def _call(self, shard: int, name: str, given: tuple[Any, ...]) -> Any:
        while True:
            if self._happens():
                self.kill(shard)
                self.start(shard)
            answer = getattr(self.shards[shard], name)(*given)
            if self._happens():
                raise RouterKilledError
            if not self._happens():  # otherwise the answer is lost, and the call made again
                return answer

    def _happens(self) -> bool:
        return self._chance.random() < self.bad

    def kill(self, shard: int) -> None:
        """The process of a shard is no more."""
        self._history.forsake(self.shards.pop(shard)._tree)

    def close(self) -> None:
        for shard in self.shards.values():
            shard.close()
        self.shards.clear()


class ShardsHistory(History):
    """All that follows from one seed, of a router."""

    kinds = ("plain",)
    most_calls = _MOST_CALLS

    def __init__(self, seed: int, place: Path) -> None:
        super().__init__(seed, place / "simulated")
        chance = self.chance
        linkage = chance.choice(("average", "centroid", "ward"))
        options = {"linkage": linkage, "n_neighbors": chance.choice((1, 2))}
        self.plan = Plan(
            chance.choice((1, 2, 3)), options, 8, chance.choice((4, 8, 16)), chance.choice((3, 6))
        )
        self.bad = chance.choice((0.0, 0.01, 0.04))
        self._rows = random.Random(seed + 2)
        self._points: list[Any] = []
        self._asked: Asked | None = None
        self.router: Router | None = None
        self._honest = place / "honest"
        self._answers: list[Any] = []
        self._looks: list[tuple[int, Any]] = []  # after so many answers, what there was

    def lent(self, *more: Any) -> AbstractContextManager[None]:
        return super().lent(_router, _shard)

    def run(self) -> None:
        super().run()
        self._judge()

    def _judge(self) -> None:
        """What a router says and has to which nothing ever happens."""
        crew = LocalCrew(self._honest, self.plan.options)
        honest = Router(self._honest, self.plan, crew)
        try:
            looks = iter([*self._looks, (-1, None)])
            count, found = next(looks)
            for at, asked in enumerate([*self.requests.values(), None]):
                while count == at:
                    require(found == seen(honest, crew.shards), f"other shards after {at} answers")
                    count, found = next(looks)
                if asked is not None:
                    wanted, answer = sent(honest, asked), self._answers[at]
                    require(answer == wanted, f"{asked.key} was told {answer}, and not {wanted}")
        finally:
            honest.close()

    @property
    def is_over(self) -> bool:
        return len(self.requests) >= self.most and self._asked is None

    # --- one life -------------------------------------------------------------------------

    def live(self, *, last: bool) -> None:
        self.begin_life(last)
        self.crew = BadCrew(self, self.bad)
        try:
            self._begin()
            for _ in range(self.chance.randint(1, _MOST_ACTS)):
                if last or self.is_over:
                    break
                self.act()
            if last or self.is_over:
                self.compare()
            if last or self.chance.random() < 0.5:
                self.router.close()
                self.router = None
        except PowerCutError:
            pass
        self.end_life()

    def _begin(self) -> None:
        """Begin the router, however often it dies on the way."""
        while self.router is None:
            with suppress(RouterKilledError):
                self.router = Router(self.disk.folder / "tree", self.plan, self.crew)
        self.compare()

    def abandon(self) -> None:
        self.disk.cut()
        if self.router is not None:
            self.router._head.close()
            self.router = None
        for shard in list(self.crew.shards):
            self.crew.kill(shard)
        super().abandon()

    def forsake(self, tree: Any) -> None:
        """The process of a tree is no more."""
        writer = tree._writer
        gone = (writer, writer.upkeep.background)
        self.world.threads = [one for one in self.world.threads if one.of not in gone]
        tree._payloads.close()
        writer.store.abandon()
        tree._lock.release()

    # --- what happens -----------------------------------------------------------------------

    def act(self) -> None:
        dice = self.chance.random()
        try:
            if dice < 0.85:
                self._ask()
            elif dice < 0.9:
                self.router.snapshot()
            elif dice < 0.93:
                self.router.compact()
            elif dice < 0.96:
                self.compare()
            else:
                self.world.step()
        except RouterKilledError:
            self.router._head.close()
            self.router = None
            self._begin()

    def _ask(self) -> None:
        if self._asked is None:
            if len(self.requests) >= self.most:
                return
            self._asked = self._think()
            self.requests[self._asked.key] = self._asked
        asked = self._asked
        answer = sent(self.router, asked)
        if self.disk.is_off:
            return
        self._answers.append(answer)
        if asked.verb == "forget":
            self._points = [one for one in self._points if one not in asked.points]
        else:
            self._points += asked.ids or answer
        self._asked = None

    def _think(self) -> Asked:
        chance, key = self._rows, f"request {len(self.requests)}"
        if len(self._points) > 4 and chance.random() < 0.2:
            return Asked(key, "forget", points=tuple(chance.sample(self._points, 3)))
        n = chance.choice((1, 2, 5, 11))
        if chance.random() < 0.3:
            rows = [[chance.randint(0, 3), chance.randint(0, 3)] for _ in range(n)]
        else:
            rows = [[chance.gauss(0, 3), chance.gauss(0, 3)] for _ in range(n)]
        ids = tuple(f"{key}/{at}" for at in range(n)) if self.has_ids else None
        payloads = tuple(f"payload {key} {at}" for at in range(n))
        return Asked(key, "add", np.array(rows, float), ids, payloads)

    # --- what must be -----------------------------------------------------------------------

    def compare(self) -> None:
        """Look at all shards, for who judges."""
        if self._asked is not None or self.disk.is_off:
            return
        bad, self.crew.bad = self.crew.bad, 0.0
        self._looks.append((len(self._answers), seen(self.router, self.crew.shards)))
        self.crew.bad = bad


def seen(router: Router, shards: dict[int, Shard]) -> Any:
    """All that a stream is: its next number, the trees, and their payloads."""
    payloads = {}
    for one in shards.values():
        payloads |= one._tree._payloads.of(_model.numbers_there(one.model))
    return router.number, router.digests(), payloads


def sent(router: Router, asked: Asked) -> Any:
    """Ask a router."""
    if asked.verb == "forget":
        return router.forget(list(asked.points), asked.key)
    ids = None if asked.ids is None else list(asked.ids)
    along = Along(ids, None, list(asked.payloads or ()))
    return router.insert(asked.rows, along, asked.key).tolist()
