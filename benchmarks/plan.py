# SPDX-License-Identifier: BSD-3-Clause
"""plan.py: what a case is: jobs to be measured, and what to read off them."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.figures import Goal


@dataclass(frozen=True)
class Job:
    """A function of ours.py or peers.py, its rows, its options, and what to judge afterwards."""

    function: str
    rows: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)
    judge: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Equal for equal jobs; also what the worker reads."""
        return json.dumps(vars(self), sort_keys=True)


@dataclass(frozen=True)
class Case:
    """One row of a table."""

    section: str
    name: str
    ours: Job
    goals: tuple[Goal, ...] = ()
    peer: Job | None = None
    peer_name: str = ""
    full: bool = False  # only in ``make bench-full``
    once: bool = False  # too slow, or too steady, to repeat
    note: str = ""
    group: str = ""

    @property
    def together(self) -> str:
        """What cases measured in turns have in common: by default the rows."""
        return self.group or json.dumps(self.ours.rows, sort_keys=True)

    @property
    def jobs(self) -> list[Job]:
        """Ours, and the peer's if there is one."""
        return [self.ours] if self.peer is None else [self.ours, self.peer]


@dataclass(frozen=True)
class Plan:
    """Where the data is, and how large a stream is made: 1 in earnest, less to try things out."""

    data: str | None = None
    scale: float = 1.0

    def rows(self, stream: str, n: int, **options: Any) -> dict[str, Any]:
        """A stream of n rows, scaled."""
        return {"stream": stream, "n": max(int(n * self.scale), min(n, 200)), **options}

    def has(self, folder: str) -> bool:
        """Whether the data folder holds this one."""
        return self.data is not None and Path(self.data, folder).is_dir()

    def real(self, stream: str, n: int) -> dict[str, Any]:
        """A stream from the data folder."""
        return self.rows(stream, n, data=self.data)
