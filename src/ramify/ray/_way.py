# SPDX-License-Identifier: BSD-3-Clause
"""_way.py: the way from a handle to its router, and the checks before a question goes there."""

from __future__ import annotations

import threading
import uuid
from itertools import count
from pathlib import Path
from typing import Any, Self

import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ramify.checks import whole_number
from ramify.errors import NoLabelsError
from ramify.estimators import OHAC
from ramify.estimators.seam import Cut, check_cut, check_metric, read_cut
from ramify.journal.seam import folder_path, require_shards
from ramify.metric import METRICS
from ramify.points import FLOAT32, FLOAT64, Expected, Rows, feature_names, read_rows
from ramify.ray._crew import LocalCrew
from ramify.ray._head import read_only_facts
from ramify.ray._plan import Plan
from ramify.ray._router import Router

#: Options of OHAC that a sharded one has.
_OPTIONS = ("metric", "linkage", "n_neighbors")
#: Threads that share a handle find one way.
_CONNECTING = threading.Lock()


class LocalPort:
    """The way to a router in this process."""

    def __init__(self, folder: Path, plan: Plan, threads: int) -> None:
        self.router = Router(folder, plan, LocalCrew(folder, plan.options, threads))

    def call(self, method: str, *given: Any) -> Any:
        """Ask the router."""
        return getattr(self.router, method)(*given)

    def close(self) -> None:
        """End it."""
        self.router.close()


class Handle(BaseEstimator):  # type: ignore[misc]  # untyped
    """A sharded model without its verbs."""

    def _ask(self, method: str, *given: Any) -> Any:
        return self._port().call(method, *given)

    def _port(self) -> Any:
        port = self.__dict__.get("_way")
        if port is None:
            with _CONNECTING:
                if (port := self.__dict__.get("_way")) is None:
                    self.__dict__["_me"], self.__dict__["_calls"] = uuid.uuid4().hex, count(1)
                    port = self.__dict__["_way"] = self._connect()
        return port

    def _connect(self) -> Any:
        plan = self._plan()
        folder = folder_path(self.folder).absolute()
        require_shards(folder)
        threads = whole_number("n_jobs", self.n_jobs)
        if self.engine == "local":
            return LocalPort(folder, plan, threads)
        if self.engine != "ray":
            raise ValueError(f"engine={self.engine!r}: expected 'ray' or 'local'")
        from ramify.ray._actors import RayPort

        resources = dict(self.shard_options or {})
        return RayPort(folder, plan, address=self.address, threads=threads, resources=resources)

    def _plan(self) -> Plan:
        shards = whole_number("n_shards", self.n_shards)
        options = {name: getattr(self, name) for name in _OPTIONS}
        check_metric(self.metric, tuple(METRICS.values()))
        OHAC(**options)._check_parameters()
        most = self.max_shards
        return Plan(
            shards,
            options,
            whole_number("frontier", self.frontier),
            whole_number("block", self.block, least=2),
            4 * shards if most is None else whole_number("max_shards", most, least=shards),
        )

    def _key(self) -> str:
        """A name for a call, so that one that is sent twice is taken once."""
        return f"{self.__dict__['_me']}-{next(self.__dict__['_calls'])}"

    def compact(self) -> int:
        """Erase from the disk what has left the tree; the bytes of the shards' folders then.

        As :meth:`ramify.journal.DurableTree.compact`, in all shards and in the router's file.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     _ = model.partial_fit([[0.0], [1.0]], ids=["ash", "elm"]).forget("ash")
        ...     model.compact() < 1_000_000
        True
        """
        return int(self._ask("compact"))

    def close(self) -> None:
        """Have the shards take snapshots, and end them and the router; the folder stays.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local").close()
        """
        port = self.__dict__.pop("_way", None)
        if port is not None:
            port.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process finds its own way."""
        state: dict[str, Any] = {**super().__getstate__()}
        for name in ("_way", "_me", "_calls", "_live_keywords"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy made by 0.1 calls the folder its path."""
        if "path" in state:
            state["folder"] = state.pop("path")
        super().__setstate__(state)

    def __len__(self) -> int:
        if "_way" not in self.__dict__ and read_only_facts(folder_path(self.folder)) is None:
            return 0
        return int(self._ask("about")["points"])

    def __bool__(self) -> bool:
        return True

    # --- checks -----------------------------------------------------------------------------------

    def _expected(self) -> Expected:
        about = self._ask("about")
        metric = METRICS[self.metric]
        if about["width"] is None:
            return Expected(type(self).__name__, metric)
        dtype = FLOAT32 if about["dtype"] == "float32" else FLOAT64
        return Expected(type(self).__name__, metric, dtype, about["width"])

    def _rows(self, X: npt.ArrayLike, *, coming: bool = False) -> Rows:
        """Rows that are asked about, or are coming; a frame's columns are those of the stream."""
        rows = read_rows(X, self._expected())
        if (names := feature_names(X)) is not None:
            self._ask("check_columns", [str(name) for name in names], coming)
        return rows

    def _require_points(self) -> None:
        if self._ask("about")["points"] == 0:
            raise NotFittedError("This ShardedOHAC holds no points yet; call 'partial_fit' first")

    def _own_cut(self) -> Cut:
        if self.n_clusters is None and self.distance_threshold is None:
            raise NoLabelsError(
                "ShardedOHAC has no labels, because neither n_clusters nor distance_threshold is "
                "set; set one, or use cut(...)"
            )
        try:
            check_cut(self.n_clusters, self.distance_threshold, self.min_size)
        except (TypeError, ValueError) as error:
            raise NoLabelsError(str(error)) from error
        given = {"n_clusters": self.n_clusters, "height": self.distance_threshold}
        return self._cut(**given, min_size=self.min_size)

    def _cut(self, by: object = "height", resolution: object = None, **asked: object) -> Cut:
        """The cut that a call asks for, or the model's own."""
        if by == "height" and all(value is None for value in asked.values()):
            return self._own_cut()
        self._require_points()
        found = read_cut(asked, len(self), by, resolution)
        assert found is not None
        return found
