# SPDX-License-Identifier: BSD-3-Clause
"""_guard.py: one caller at a time, whatever comes in between.

Threads wait for each other, by a lock. A progress callable or a signal handler cannot
wait: it runs in the very thread that is at work, in the middle of a call. If it uses
the same model, it is refused. What is under way is the guard's ``use``:

    IDLE       nothing
    PREPARING  a call reads its input, which may be lazy and ask the model: others may
               read, no thread may write
    AT_WORK    the tree is read or changed: no other thread may do either

Ctrl-C raises wherever Python looks for signals: when a function begins, after a call
has returned, at the end of a loop's round. So there is one pattern, below and in
``insert``: the lock is taken by ``with``, which is C and does it in one piece; ``use``
is set inside of a ``try``, and set back by one store in its ``finally``. A function or
a generator that did the setting could be cut off between that and the ``try``, and
would leave a model that refuses every call.
"""

import os
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

_Model = TypeVar("_Model")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Method = Callable[Concatenate[_Model, _Arguments], _Result]

IDLE, PREPARING, AT_WORK = range(3)
_LOST = 3  # a copy in a forked process, taken while another thread was at work


class Guard:
    """A model's lock, what is under way while it is held, and who reads without it."""

    __slots__ = ("__weakref__", "lock", "readers", "use")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.use = IDLE
        self.readers: set[int] = set()
        _GUARDS.add(self)

    def refusal(self) -> RuntimeError:
        """Why a call cannot be let in now."""
        if self.use == _LOST:
            return RuntimeError(
                "this model was in use by another thread when this process was forked, so its "
                "copy here may be half changed; fork when no thread uses it, or load it from a file"
            )
        return RuntimeError(
            "this model is in the middle of a batch or of another call; a progress callable or "
            "signal handler cannot use it before that is done"
        )


def _turn(most: int, use: int) -> Callable[[_Method[Any, _Arguments, _Result]], Any]:
    """A decorator of methods that come in up to ``most`` and are then in ``use``."""

    def decorate(method: _Method[Any, _Arguments, _Result]) -> Any:
        @wraps(method)
        def guarded(model: Any, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
            guard: Guard = model._lock()
            with guard.lock:
                before = guard.use
                if before > most or (most == IDLE and threading.get_ident() in guard.readers):
                    raise guard.refusal()
                try:
                    guard.use = use
                    return method(model, *args, **kwargs)
                finally:
                    guard.use = before

        return guarded

    return decorate


def reads(method: _Method[_Model, _Arguments, _Result]) -> _Method[_Model, _Arguments, _Result]:
    """A method that reads its input and then the tree, by one that works ``alone``."""
    guarded: _Method[_Model, _Arguments, _Result] = _turn(PREPARING, PREPARING)(method)
    return guarded


def writes(method: _Method[_Model, _Arguments, _Result]) -> _Method[_Model, _Arguments, _Result]:
    """A method that reads its input and then changes the tree, by one that works ``alone``."""
    guarded: _Method[_Model, _Arguments, _Result] = _turn(IDLE, PREPARING)(method)
    return guarded


def alone(method: _Method[_Model, _Arguments, _Result]) -> _Method[_Model, _Arguments, _Result]:
    """A method that reads or changes the tree."""
    guarded: _Method[_Model, _Arguments, _Result] = _turn(PREPARING, AT_WORK)(method)
    return guarded


def live(method: _Method[_Model, _Arguments, _Result]) -> _Method[_Model, _Arguments, _Result]:
    """A method that reads the tree, also while another thread's batch is under way.

    The core lets readers in between two inserts. A tree that is not all the core's own
    (``Live.shared``) has to itself whoever reads it.
    """
    guarded = alone(method)

    @wraps(method)
    def reading(model: Any, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        tree = model._live
        if tree is None or not tree.shared:
            return guarded(model, *args, **kwargs)
        guard: Guard = model._lock()
        if guard.use == _LOST or (guard.use == AT_WORK and cast(Any, guard.lock)._is_owned()):
            raise guard.refusal()
        me = threading.get_ident()
        if me in guard.readers:  # a reader may read, as lazy input does
            return method(model, *args, **kwargs)
        try:
            guard.readers.add(me)
            return method(model, *args, **kwargs)
        finally:
            guard.readers.discard(me)

    return reading


# --- forks ------------------------------------------------------------------------------

_GUARDS: "weakref.WeakSet[Guard]" = weakref.WeakSet()


def _free_the_child() -> None:
    """Only the thread that forked lives on in the child; locks of other threads stay held."""
    for guard in list(_GUARDS):
        if guard.lock.acquire(blocking=False):
            guard.lock.release()
        else:
            guard.lock = threading.RLock()
            guard.use = _LOST
        guard.readers.intersection_update({threading.get_ident()})


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_the_child)
