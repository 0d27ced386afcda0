# SPDX-License-Identifier: BSD-3-Clause
"""results.py: what one run found, and the folder of JSON files that remembers it.

One file per run, so that an interrupted reproduction goes on where it stopped. A
stored result is used again only if its key is the same: the run, the version of
Ramify and the version of the protocol. A run that was stopped by a time limit is
tried again only under a longer one.
"""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import ramify
from ramify.paper import protocol
from ramify.writing import write_whole


@dataclass(frozen=True)
class Run:
    """One tree to build: a data set, how many of its rows, a method, an order."""

    column: str
    rows: int
    method: str
    order: str


@dataclass(frozen=True)
class Result:
    """What a run found; None where nothing was measured."""

    run: Run
    status: str  # "done", "stopped" by the time limit, "failed", or "left out"
    reason: str = ""  # why, unless done
    limit: float = 0.0  # seconds the cell was given
    n: int | None = None
    d: int | None = None
    groups: int | None = None
    seconds: float | None = None  # building the tree
    memory: float | None = None  # bytes at the peak, above the interpreter
    depth_mean: float | None = None
    depth_max: float | None = None
    revenue: float | None = None  # divided by the number of pairs
    revenue_stderr: float | None = None  # 0 where exact
    fraction: float | None = None  # of the maximum
    fraction_stderr: float | None = None
    similarity: float | None = None  # mean w of two points
    triplet: float | None = None  # distance to HAC's tree
    triplet_stderr: float | None = None
    purity: float | None = None

    @property
    def done(self) -> bool:
        return self.status == "done"


class Store:
    """Results in a folder; trees of HAC beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, run: Run, *, limit: float) -> Result | None:
        """The stored result of a run, if it still holds."""
        path = self._path(run)
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # never run, or cut off while being written
            return None
        if stored.get("key") != _key(run):
            return None
        result = Result(**{**stored["result"], "run": run})
        again = result.status == "failed" or (result.status == "stopped" and limit > result.limit)
        return None if again or (result.done and self._tree_is_lost(run)) else result

    def _tree_is_lost(self, run: Run) -> bool:
        measured = run.column in protocol.COLUMNS
        return measured and protocol.is_reference(run.method) and not self.tree(run).exists()

    def put(self, result: Result) -> None:
        """Remember a result; a reader sees the old file or the new one, never half."""
        path = self._path(result.run)
        path.parent.mkdir(parents=True, exist_ok=True)
        found = asdict(result)
        del found["run"]
        text = json.dumps({"key": _key(result.run), "result": found}, indent=1)
        write_whole(path, text + "\n")

    def tree(self, run: Run) -> Path:
        """Where the tree lies that this run is compared with; a shuffle with the file's."""
        order = run.order if run.order.startswith("seed") else "file"
        method = protocol.METHODS.get(run.method)
        reference = run.method if method is None else method.reference
        folder = self.folder / "trees" / f"{_slug(run.column)}-{run.rows}"
        return folder / f"{_slug(reference)}-{_slug(order)}.npy"

    def _path(self, run: Run) -> Path:
        folder = self.folder / "runs" / f"{_slug(run.column)}-{run.rows}"
        return folder / _slug(run.method) / f"{_slug(run.order)}.json"


def _key(run: Run) -> dict[str, Any]:
    return {**asdict(run), "ramify": ramify.__version__, "protocol": protocol.VERSION}


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())
