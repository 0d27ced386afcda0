# SPDX-License-Identifier: BSD-3-Clause
"""_threads.py: how many threads work at once, and for whom: writers do not starve under readers.

    reads   questions: the framework runs them in the threads of its own limit
    writes  bodies that are taken apart, calls of operators, what followers are told

Threads of Python take turns, and so do the loop that answers and the writer of a tree: each of them
waits for all that are at work. So few are, and others wait in line, readers behind readers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio
from anyio.lowlevel import RunVar

from ramify.serve._settings import Settings

_Answer = TypeVar("_Answer")

_WRITES: RunVar[anyio.CapacityLimiter | None] = RunVar("ramify-writes", None)


def set_limits(settings: Settings) -> None:
    """Of the loop that runs."""
    anyio.to_thread.current_default_thread_limiter().total_tokens = settings.reads
    _WRITES.set(anyio.CapacityLimiter(settings.writes))


async def run_for_writers(work: Callable[..., _Answer], *given: object) -> _Answer:
    """Have something done in a thread that no reader takes away."""
    return await anyio.to_thread.run_sync(work, *given, limiter=_WRITES.get())
