# SPDX-License-Identifier: BSD-3-Clause
"""_core_tree.py: the core's tree as this room has it, whatever type its rows have.

A stored tree without points has no core yet; something stands in its place.
"""

from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from ramify import _core
from ramify.estimators._settings import Arrays, Settings
from ramify.hierarchy import IntArray
from ramify.points import FLOAT32, Rows

if TYPE_CHECKING:
    from ramify.estimators._live_points import LivePoints


class Core(Protocol):
    """What LiveF32 and LiveF64 have in common."""

    def __len__(self) -> int: ...
    def insert_many(self, rows: Any, pulse: Any = ..., threads: int = ..., **more: Any) -> int: ...
    def insert_one(self, row: Any) -> int: ...
    def erase_many(self, numbers: Any) -> int: ...
    def has(self, number: int) -> bool: ...
    def numbers(self) -> Any: ...
    def leaf_of(self, numbers: Any, by_first: bool = ...) -> Any: ...
    def held(self) -> Any: ...
    def weights(self) -> Any: ...
    @property
    def n_points(self) -> int: ...
    @property
    def next_arrival(self) -> int: ...
    @property
    def version(self) -> int: ...
    def nearest(self, rows: Any, k: int, threads: int = ...) -> tuple[Any, Any]: ...
    def assign(
        self, rows: Any, by: str, value: float, threads: int = ..., with_codes: bool = ...
    ) -> tuple[Any, Any, Any, Any, list[str]]: ...
    def cluster_of(self, numbers: Any, by: str, value: float) -> tuple[Any, Any, Any]: ...
    def labels(self, by: str, value: float) -> Any: ...
    def clusters(self, by: str, value: float) -> tuple[Any, Any, Any, Any, Any]: ...
    def path(self, number: int) -> tuple[Any, str]: ...
    def lca(self, one: int, other: int) -> int: ...
    def depth(self, number: int) -> int: ...
    def versioned_snapshot(
        self, with_points: bool = ...
    ) -> tuple[int, Any, Any, Any, Any, Any, tuple[Any, Any, Any]]: ...
    def points(self) -> Any: ...
    def check(self) -> None: ...
    def state(self) -> Any: ...


class NotBegun:
    """In place of the core, for a stored tree without points, as an interrupt leaves one.

    No row vouches for the width that such a file claims, and the core sets rows of
    scratch aside for it. So there is no core before the first row of that width.
    """

    owner: "LivePoints"
    version = 0

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def __len__(self) -> int:
        return 0

    def insert_one(self, row: Rows) -> int:
        return self._begin().insert_one(row)

    def insert_many(self, *batch: Any, **more: Any) -> int:
        return self._begin().insert_many(*batch, **more)

    def state(self) -> Arrays:
        return self._arrays

    @property
    def n_points(self) -> int:
        return 0

    @property
    def next_arrival(self) -> int:
        return int(self._arrays["next_arrival"][0])

    def set_max_leaves(self, most: int) -> None:
        """The core will be told when it begins, by the settings."""

    def has(self, number: int) -> bool:
        return False

    def numbers(self) -> IntArray:
        return np.empty(0, np.int64)

    def _begin(self) -> Core:
        live = self.owner
        live._core = old_core(live.settings, live.dtype, self._arrays)
        return live._core


def plain(numbers: IntArray) -> IntArray:
    """The core's numbers in NumPy's own int64, which shows itself without its type."""
    return numbers.view(np.int64)


def stored_version(core: Any) -> int:
    """The core's version, without having a tree made that nobody has looked at."""
    version: int = getattr(core, "_store", core).version
    return version


def plain_arrivals(n: int) -> Arrays:
    """The arrival numbers of n points that were the only ones ever, as the core stores them."""
    return {"arrivals": np.empty(0, np.uint64), "next_arrival": np.array([n], np.uint64)}


def core_class(dtype: np.dtype[Any]) -> Any:
    return _core.LiveF32 if dtype == FLOAT32 else _core.LiveF64


def new_core(settings: Settings, dtype: np.dtype[Any]) -> Core:
    store = core_class(dtype)(*settings.for_core())
    return cast(Core, settings.options.tree_over(store, settings))


def old_core(settings: Settings, dtype: np.dtype[Any], arrays: Arrays) -> Core:
    store = core_class(dtype).from_state(*settings.for_core(), arrays)
    return cast(Core, settings.options.tree_over(store, settings, arrays))
