"""world.py: chance, time and threads of one history; all of them come from one seed.

The code under test keeps its threads, conditions and futures. Its modules are lent other ones in
the place of ``threading`` and ``time``: a thread is a function that runs when the world says so,
until it would wait. There it is *parked*: left by an exception, and begun anew when it is woken.
That is right for threads whose state is all in their object, as the writer's is. Whoever waits for
a future lets others run meanwhile. So there is one real thread, and one order of all that happens.
"""

from __future__ import annotations

import concurrent.futures
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

#: Wall time at the beginning.
_DAWN = 1_700_000_000.0


class ParkedError(BaseException):
    """A thread waits."""


class PowerCutError(BaseException):
    """The disk is off: this life has ended."""


class StuckError(AssertionError):
    """Somebody waits for what nobody does."""


class Thread:
    """A function that runs when the world says so."""

    def __init__(self, world: World, target: Callable[[], Any], name: str = "") -> None:
        self._world, self._target, self.name = world, target, name
        self.done = self.running = False
        self.wakes: Callable[[], bool] = lambda: True
        self.deadline: float | None = None

    def start(self) -> None:
        self._world.threads.append(self)

    def join(self) -> None:
        self._world.wait_for(lambda: self.done)

    def run(self) -> None:
        """Go on, to the end or until it waits."""
        self.running, self.deadline = True, None
        before, self._world.current = self._world.current, self
        try:
            self._target()
            self.done = True
        except ParkedError:
            pass
        finally:
            self.running, self._world.current = False, before
        if self.done:
            self._world.threads.remove(self)


class Condition:
    """Of one real thread, whose turn is always its own."""

    def __init__(self, world: World) -> None:
        self._world, self._news = world, 0

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass

    def notify_all(self) -> None:
        self._news += 1

    def wait(self, timeout: float | None = None) -> bool:
        seen, thread = self._news, self._world.current
        if thread is None:  # a caller: others run
            self._world.wait_for(lambda: self._news != seen)
            return True
        thread.wakes = lambda: self._news != seen
        thread.deadline = None if timeout is None else self._world.clock.now + timeout
        raise ParkedError


class Timer:
    """What nobody here waits for so long."""

    def __init__(self, seconds: float, work: Callable[[], Any]) -> None:
        self.daemon = True

    def start(self) -> None:
        pass

    def cancel(self) -> None:
        pass


class Clock:
    """Time that goes on a little with every look; the wall's may be set, back as well."""

    def __init__(self, chance: random.Random) -> None:
        self._chance, self.now, self.wall = chance, 0.0, _DAWN

    def _look(self) -> float:
        self.now += self._chance.random() * 1e-3
        return self.now

    def time(self) -> float:
        return self.wall + self._look()

    def monotonic(self) -> float:
        return self._look()

    perf_counter = monotonic

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class World:
    """All that happens, in one order."""

    def __init__(self, seed: int, is_off: Callable[[], bool]) -> None:
        self.chance = random.Random(seed)
        self.clock = Clock(random.Random(seed + 1))
        self.threads: list[Thread] = []
        self.current: Thread | None = None
        self._is_off = is_off

    def reborn(self) -> None:
        """A new process: no thread is there any more."""
        self.threads, self.current = [], None

    def step(self) -> bool:
        """Let a thread run that can; False if none can."""
        if self._is_off():
            raise PowerCutError
        ready = [
            one
            for one in self.threads
            if not one.running
            and (one.wakes() or (one.deadline is not None and one.deadline <= self.clock.now))
        ]
        if ready:
            self.chance.choice(ready).run()
        return bool(ready)

    def wait_for(self, done: Callable[[], bool]) -> None:
        """Let others run until something is there; time passes if all of them wait for it."""
        while not done():
            if self.step():
                continue
            later = [one.deadline for one in self.threads if one.deadline is not None]
            if not later or any(one.running for one in self.threads):
                raise StuckError("all threads wait for each other")
            self.clock.now = max(self.clock.now, min(later))

    @contextmanager
    def lent(self, *modules: Any) -> Iterator[None]:
        """Have modules use these threads and this clock, and futures let others run."""
        threading = SimpleNamespace(
            Thread=lambda target, name="", daemon=True: Thread(self, target, name),
            Condition=lambda: Condition(self),
            Timer=Timer,
        )
        original = concurrent.futures.Future.result

        def result(future: Any, timeout: float | None = None) -> Any:
            self.wait_for(future.done)
            return original(future, 0)

        with (
            changed(concurrent.futures.Future, result=result),
            nested(
                changed(
                    module,
                    **{
                        name: _over(getattr(module, name), value)
                        for name, value in (("threading", threading), ("time", self.clock))
                        if hasattr(module, name)
                    },
                )
                for module in modules
            ),
        ):
            yield


class _over:  # noqa: N801
    """A module, some of whose names are others."""

    def __init__(self, module: Any, own: Any) -> None:
        self._module, self._own = module, own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own if hasattr(self._own, name) else self._module, name)


@contextmanager
def changed(place: Any, **names: Any) -> Iterator[None]:
    """Have names of a module or a class mean something else for a while."""
    before = {name: vars(place)[name] for name in names}
    for name, value in names.items():
        setattr(place, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(place, name, value)


@contextmanager
def nested(contexts: Any) -> Iterator[None]:
    """Several at once."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        for one in contexts:
            stack.enter_context(one)
        yield
