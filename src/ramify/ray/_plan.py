# SPDX-License-Identifier: BSD-3-Clause
"""_plan.py: what shapes a sharded tree, and what its router asks of a crew of shards."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar

from ramify.estimators.seam import FREE
from ramify.journal import FolderInUseError
from ramify.ray._top import MOST_SHARDS

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds to wait for a process that has been killed, and has its folder still.
_PATIENCE = 30.0


class Plan(NamedTuple):
    """What shapes a sharded tree, beside the model's own options."""

    n_shards: int
    options: dict[str, Any]  #: of OHAC
    frontier: int = 64  #: parts that each shard is opened into
    block: int = 8192  #: rows between two looks at the balance
    max_shards: int = 64


class Crew(Protocol):
    """The shards, wherever they are."""

    def start(self, shard: int) -> None:
        """Have a shard of this number running, from its folder."""

    def ask(self, calls: Sequence[tuple[int, str, tuple[Any, ...]]]) -> list[Any]:
        """Call methods of shards at once, and return what they return, in this order."""

    def close(self) -> None:
        """End all of them."""


def agreed(plan: Plan, known: Mapping[str, Any]) -> Plan:
    """The plan of a stream that is there; what shapes it must be the same."""
    if plan.n_shards > MOST_SHARDS or plan.max_shards > MOST_SHARDS:
        raise ValueError(f"at most {MOST_SHARDS} shards")
    if not known:
        return plan
    for name, then in known["plan"].items():
        now = getattr(plan, name)
        if name == "max_shards" or now == then:
            continue
        if name == "options":
            shaping = {key for key in {*now, *then} if now.get(key) != then.get(key)}
            shaping -= set(FREE)
            if not shaping:
                continue
        raise ValueError(f"{name} of the stream here is {then!r}, and {now!r} was asked for")
    return plan


def patiently(open_it: Callable[P, T], *given: P.args, **options: P.kwargs) -> T:
    """Open a folder that a killed process may hold for another moment."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return open_it(*given, **options)
        except FolderInUseError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
