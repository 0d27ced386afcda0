# SPDX-License-Identifier: BSD-3-Clause
"""_crew.py: shards in this very process: for tests, for trying it, and for small streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ramify.ray._shard import Shard


def shard_folder(folder: Path, shard: int) -> Path:
    """Where a shard lives."""
    return folder / f"shard-{shard:04d}"


class LocalCrew:
    """Shards that are called one after the other."""

    def __init__(self, folder: Path, options: Mapping[str, Any], threads: int = 1) -> None:
        self._folder, self._options, self._threads = folder, options, threads
        self.shards: dict[int, Shard] = {}

    def start(self, shard: int) -> None:
        """Open a shard, if it is not."""
        if shard not in self.shards:
            folder = shard_folder(self._folder, shard)
            self.shards[shard] = Shard(folder, self._options, threads=self._threads)

    def ask(self, calls: Sequence[tuple[int, str, tuple[Any, ...]]]) -> list[Any]:
        """Call methods of shards."""
        return [getattr(self.shards[shard], name)(*given) for shard, name, given in calls]

    def close(self) -> None:
        """Close all of them."""
        for shard in self.shards.values():
            shard.close()
        self.shards.clear()
