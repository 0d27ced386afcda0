# SPDX-License-Identifier: BSD-3-Clause
"""Beyond one machine: one tree whose points are in several places, on Ray."""

from ramify.ray._backup import backup, restore
from ramify.ray._model import ShardedOHAC
from ramify.ray._outline import Outline
from ramify.ray._plan import Plan
from ramify.ray._router import Router
from ramify.ray._shard import Shard, State
from ramify.ray._tables import PointChanges
from ramify.ray._top import Top

__all__ = [
    "Outline",
    "Plan",
    "PointChanges",
    "Router",
    "Shard",
    "ShardedOHAC",
    "State",
    "Top",
    "backup",
    "restore",
]
