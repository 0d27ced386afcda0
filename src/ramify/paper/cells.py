# SPDX-License-Identifier: BSD-3-Clause
"""cells.py: run cells, each in a process of its own, under a time limit.

A crash, a lack of memory or a hopeless cell ends that process and nothing else.
Every result is stored the moment it is complete.
"""

import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from ramify.paper.results import Result, Run, Store


@dataclass(frozen=True)
class Cell:
    """Runs that share a process and its time: a data set and method in all orders."""

    runs: tuple[Run, ...]
    measure: bool = True  # else only time
    enough: float | None = None  # no further run after one that took this many seconds
    memory_cap: int | None = None  # bytes beyond the interpreter's


#: Hears, now and then, which run of a cell is at work and how far it is: (done, total) or None.
Watcher: TypeAlias = Callable[[Run, tuple[int, int] | None], None]


class _Worker(NamedTuple):
    process: "subprocess.Popen[str]"
    lines: "queue.Queue[str | None]"  # its output; None at the end
    stderr: IO[str]


class Crew:
    """Runs cells, from any thread, and can end them all."""

    def __init__(
        self, store: Store, *, data: Path | None, limit: float, watch: Watcher | None = None
    ) -> None:
        self._store = store
        self._data = data
        self._limit = limit
        self._watch = watch or (lambda run, progress: None)
        self._workers: set[subprocess.Popen[str]] = set()
        self._stopping = False

    def work(self, cell: Cell) -> list[Result]:
        """A result for every run of a cell; those in the store are not run again."""
        bound = cell.enough or self._limit
        results = {run: self._store.get(run, limit=bound) for run in cell.runs}
        missing = tuple(run for run, result in results.items() if result is None)
        if missing and not self._stopping:
            for result in self._run(replace(cell, runs=missing)):
                result = replace(result, limit=bound)
                self._store.put(result)
                results[result.run] = result
        return [result for result in results.values() if result is not None]

    def stop(self) -> None:
        """End all processes now. What they had found so far is stored."""
        self._stopping = True
        for process in tuple(self._workers):
            process.kill()

    def _run(self, cell: Cell) -> Iterator[Result]:
        left = list(cell.runs)
        found: dict[str, Any] = {}
        progress: tuple[int, int] | None = None
        deadline = time.monotonic() + self._limit
        with self._worker(cell) as worker:
            while True:
                try:
                    line = worker.lines.get(timeout=max(deadline - time.monotonic(), 0.0))
                except queue.Empty:
                    yield from self._out_of_time(left, found, progress)
                    return
                if line is None:
                    break
                event = json.loads(line)
                kind = event.pop("event")
                if kind == "start":
                    found, progress = {}, None
                elif kind == "found":
                    found |= event
                elif kind == "progress":
                    progress = event["done"], event["total"]
                else:
                    yield Result(left.pop(0), "done", **found)
                if left:
                    self._watch(left[0], progress)
            if not self._stopping:
                yield from _after_the_end(worker, cell, left, found)

    def _out_of_time(
        self, left: list[Run], found: dict[str, Any], progress: tuple[int, int] | None
    ) -> Iterator[Result]:
        after = f"stopped after {self._limit:,.0f} s"
        if "seconds" in found:
            reason = f"measuring {after}"
        elif progress is not None:
            reason = f"{after} at {progress[0]:,} of {progress[1]:,} points"
        else:
            reason = after
        yield Result(left[0], "stopped", reason, **found)
        for run in left[1:]:
            yield Result(run, "stopped", f"{after}, which earlier runs of the cell had used up")

    @contextmanager
    def _worker(self, cell: Cell) -> Iterator[_Worker]:
        """A worker at work on a cell; ended on leaving, whatever happens."""
        job = {
            "runs": [{**asdict(run), "tree": str(self._store.tree(run))} for run in cell.runs],
            "measure": cell.measure,
            "enough": cell.enough,
            "memory_cap": cell.memory_cap,
            "data": None if self._data is None else str(self._data),
        }
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr,
            subprocess.Popen(
                [sys.executable, "-P", "-m", "ramify.paper.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C is ours to handle
            ) as process,
        ):
            self._workers.add(process)
            try:
                assert process.stdin is not None
                process.stdin.write(json.dumps(job) + "\n")
                process.stdin.flush()
                lines: queue.Queue[str | None] = queue.Queue()
                threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
                yield _Worker(process, lines, stderr)
            finally:
                process.kill()
                self._workers.discard(process)


def _read(stdout: IO[str], lines: "queue.Queue[str | None]") -> None:
    try:
        for line in stdout:
            lines.put(line)
    finally:
        lines.put(None)


def _after_the_end(
    worker: _Worker, cell: Cell, left: list[Run], found: dict[str, Any]
) -> Iterator[Result]:
    """Results for the runs that a worker has left behind by ending."""
    code = worker.process.wait()
    if code == 0:
        assert cell.enough is not None or not left
        for run in left:
            reason = f"left out: a smaller run took more than {cell.enough:,.0f} s"
            yield Result(run, "stopped", reason)
        return
    worker.stderr.seek(0)
    last = (worker.stderr.read().strip().splitlines() or [""])[-1]
    if "MemoryError" in last.partition(":")[0]:
        limit = "" if cell.memory_cap is None else f" of {cell.memory_cap / 1e9:.0f} GB"
        status, reason = "stopped", f"out of memory{limit}"
    else:
        ending = f"ended by signal {-code}" if code < 0 else f"failed: {last[:300]}"
        status, reason = "failed", ending
    yield Result(left[0], status, reason, **found)
    for run in left[1:]:
        yield Result(run, status, f"not tried after an earlier run of the cell: {reason}")
