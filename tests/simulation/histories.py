"""histories.py: which kind of history a seed is."""

from __future__ import annotations

from pathlib import Path

from tests.simulation.journal import History
from tests.simulation.server import ServerHistory
from tests.simulation.shards import ShardsHistory


def history_of(seed: int, place: Path) -> History:
    """The history of a seed, in a folder that is empty."""
    kind: type[History] = {9: ShardsHistory, 14: ServerHistory}.get(seed % 20, History)
    return kind(seed, place)
