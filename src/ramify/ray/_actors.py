# SPDX-License-Identifier: BSD-3-Clause
"""_actors.py: shards and router as actors of Ray.

Ray runs the constructor of a dead actor again and sends the calls that were under way once
more, and does nothing else: what the actor was is in its folder, and the constructor reads it.
Calls may come twice, and are known by their numbers (shards) and keys (router).

Actors have names, made of the folder, and no owner: another process finds them by the folder,
and they outlive the one that began them until somebody calls ``close``. Folders must be on a
disk that every machine sees on which an actor may be restarted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ramify.ray._crew import shard_folder
from ramify.ray._head import read_only_facts
from ramify.ray._plan import Plan, agreed
from ramify.ray._router import Router
from ramify.ray._shard import Shard

NAMESPACE = "ramify"
#: Restarted as often as it takes, and asked again.
_FOR_EVER = {"max_restarts": -1, "max_task_retries": -1, "lifetime": "detached"}
#: Calls that change the tree, one at a time and in order; all others go beside them, and the
#: router gives each its turn.
_CHANGING = frozenset(("insert", "forget", "compact", "close"))
_READING = "reading"
_READERS = 8
#: Arrays that are put where all actors of a machine see them, instead of being sent to each.
_LARGE = 1 << 16


def require_ray() -> Any:
    """The module ``ray``, or an error that says how to get it."""
    if find_spec("ray") is None:
        raise ImportError(
            'ShardedOHAC on Ray needs ray, which is not installed: pip install "ramify[ray]"; '
            "engine='local' keeps the shards in this process, without Ray"
        )
    return import_module("ray")


def connect(address: str | None) -> Any:
    """Ray, connected: to the cluster at this address, to that of ``RAY_ADDRESS``, or a new one."""
    ray = require_ray()
    if not ray.is_initialized():
        ray.init(
            address=address,
            namespace=NAMESPACE,
            include_dashboard=None if address else False,
            log_to_driver=False,
            configure_logging=False,
        )
    return ray


def name_of(folder: Path, role: str) -> str:
    """What an actor is called: the same for everybody who names the folder."""
    digest = hashlib.blake2b(str(folder).encode(), digest_size=8).hexdigest()
    return f"ramify-{digest}-{role}"


class RayCrew:
    """Shards as actors."""

    def __init__(
        self, folder: Path, options: Mapping[str, Any], threads: int, resources: Mapping[str, Any]
    ) -> None:
        self._ray = require_ray()
        self._folder, self._options, self._threads = folder, dict(options), threads
        self._resources = dict(resources)
        self._actors: dict[int, Any] = {}

    def start(self, shard: int) -> None:
        """Find the actor of a shard, or begin it."""
        kind = self._ray.remote(Shard)
        self._actors[shard] = kind.options(
            name=name_of(self._folder, f"shard-{shard}"),
            namespace=NAMESPACE,
            get_if_exists=True,
            **_FOR_EVER,
            **self._resources,
        ).remote(str(shard_folder(self._folder, shard)), self._options, threads=self._threads)

    def ask(self, calls: Sequence[tuple[int, str, tuple[Any, ...]]]) -> list[Any]:
        """Call methods of shards at once. What goes to several of them goes out once."""
        sent: dict[int, Any] = {}
        asked = [
            getattr(self._actors[shard], method).remote(*(self._sent(one, sent) for one in given))
            for shard, method, given in calls
        ]
        answers = []
        for (shard, method, given), reference in zip(calls, asked, strict=True):
            try:
                answers.append(self._ray.get(reference))
            except self._ray.exceptions.ActorDiedError:  # for good: somebody meant it
                self.start(shard)
                again = getattr(self._actors[shard], method).remote(*given)
                answers.append(self._ray.get(again))
            except self._ray.exceptions.RayTaskError as error:
                raise own_error(error) from None
        return answers

    def _sent(self, value: Any, sent: dict[int, Any]) -> Any:
        if not (isinstance(value, np.ndarray) and value.nbytes > _LARGE):
            return value
        if id(value) not in sent:
            sent[id(value)] = self._ray.put(value)
        return sent[id(value)]

    def close(self) -> None:
        """Have all shards take a snapshot, and end them."""
        self.ask([(shard, "close", ()) for shard in self._actors])
        for actor in self._actors.values():
            self._ray.kill(actor, no_restart=True)
        self._actors.clear()


class RouterActor(Router):
    """A router whose shards are actors."""

    def __init__(
        self,
        folder: str,
        plan: Mapping[str, Any],
        threads: int = 1,
        resources: Mapping[str, Any] | None = None,
    ) -> None:
        crew = RayCrew(Path(folder), plan["options"], threads, resources or {})
        super().__init__(folder, Plan(**plan), crew)


def own_error(error: Any) -> BaseException:
    """What an actor raised, without the story of how it travelled."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, BaseException) else error


class RayPort:
    """The way to a router that is an actor."""

    def __init__(
        self,
        folder: Path,
        plan: Plan,
        *,
        address: str | None,
        threads: int,
        resources: Mapping[str, Any],
    ) -> None:
        agreed(plan, read_only_facts(folder) or {})  # before an actor fails for it
        self._ray = connect(address)
        self._actor = (
            self._ray.remote(concurrency_groups={_READING: _READERS})(RouterActor)
            .options(
                name=name_of(folder, "router"),
                namespace=NAMESPACE,
                get_if_exists=True,
                **_FOR_EVER,
            )
            .remote(str(folder), plan._asdict(), threads, dict(resources))
        )
        self.call("agree", plan._asdict())

    def call(self, method: str, *given: Any) -> Any:
        """Ask the router, and wait."""
        asked = getattr(self._actor, method)
        if method not in _CHANGING:
            asked = asked.options(concurrency_group=_READING)
        try:
            return self._ray.get(asked.remote(*given))
        except self._ray.exceptions.RayTaskError as error:
            raise own_error(error) from None

    def close(self) -> None:
        """End router and shards, in good order."""
        self.call("close")
        self._ray.kill(self._actor, no_restart=True)
