# SPDX-License-Identifier: BSD-3-Clause
"""cells.py: run cells, each in a process of its own, under a time limit.

A crash, a lack of memory or a hopeless cell ends that process and nothing else.
Every result is stored the moment it is complete.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, Self, TypeAlias

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


class _Worker:
    """A process that works on one job after the other; see worker.py."""

    def __init__(self) -> None:
        self._stderr: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed by kill
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ramify.paper.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            encoding="utf-8",
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is ours to handle
        )
        self._killed = False
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, job: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has died; `events` will tell
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()

    def events(self, deadline: float) -> Iterator[dict[str, Any]]:
        """Events of the job up to "over", or "late" at the deadline."""
        while True:
            try:
                line = self._lines.get(timeout=max(deadline - time.monotonic(), 0.0))
            except queue.Empty:
                yield {"event": "late"}
                return
            if line is None:
                yield {"event": "over", "code": self._process.wait()}
                return
            event = json.loads(line)
            last = event["event"] == "over"
            yield event
            if last:
                return

    def last_words(self) -> str:
        """The last line on stderr: what the latest exception said."""
        self._stderr.seek(0)
        return (self._stderr.read().strip().splitlines() or [""])[-1]

    def alive(self) -> bool:
        return not self._killed and self._process.poll() is None

    def kill(self) -> None:
        """End it and its job."""
        self._killed = True  # it may take a moment to die
        with suppress(ProcessLookupError):  # gone
            if sys.platform != "win32":
                os.killpg(self._process.pid, signal.SIGKILL)  # it leads its own session
        self._process.kill()

    def close(self) -> None:
        """End it, and give back what it held here."""
        self.kill()
        self._reader.join()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._stderr.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stdout:
            for line in stdout:
                self._lines.put(line)
        self._lines.put(None)


class CellRunner:
    """Runs cells, from any thread, and can end them all. Use it in a `with`."""

    def __init__(
        self, store: Store, *, data: Path | None, limit: float, watch: Watcher | None = None
    ) -> None:
        self._store = store
        self._data = data
        self._limit = limit
        self._watch = watch or (lambda run, progress: None)
        self._lock = threading.Lock()  # guards the next three
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []
        self._stopping = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._idle:
            worker.close()
        self._idle = []

    def work(self, cell: Cell) -> list[Result]:
        """A result for every run of a cell; those in the store are not run again."""
        bound = cell.enough or self._limit
        results = {run: self._store.get(run, limit=bound) for run in cell.runs}
        missing = tuple(run for run, result in results.items() if result is None)
        if missing and not self._stopping:
            for result in self._run(replace(cell, runs=missing)):
                self._store.put(replace(result, limit=bound))
                results[result.run] = replace(result, limit=bound)
        return [result for result in results.values() if result is not None]

    def stop(self) -> None:
        """End all work now; `work` returns with what it has stored."""
        with self._lock:
            self._stopping = True
            for worker in self._busy:
                worker.kill()

    def _run(self, cell: Cell) -> Iterator[Result]:
        left = list(cell.runs)
        found: dict[str, Any] = {}
        progress: tuple[int, int] | None = None
        with self._worker() as worker:
            worker.send(self._job(cell))
            for event in worker.events(time.monotonic() + self._limit):
                match event.pop("event"):
                    case "start":
                        found, progress = {}, None
                    case "found":
                        found |= event
                    case "progress":
                        progress = event["done"], event["total"]
                    case "end":
                        yield Result(left.pop(0), "done", **found)
                    case "late":
                        worker.kill()
                        yield from self._out_of_time(left, found, progress)
                    case "over" if not self._stopping:
                        words = worker.last_words()
                        yield from _left_behind(cell, left, found, event["code"], words)
                if left:
                    self._watch(left[0], progress)

    @contextmanager
    def _worker(self) -> Iterator[_Worker]:
        """A worker without work; afterwards it is kept for the next cell, if it lives."""
        with self._lock:
            worker = self._idle.pop() if self._idle else _Worker()
            self._busy.append(worker)
        keep = False
        try:
            yield worker
            keep = worker.alive() and not self._stopping
        finally:
            with self._lock:
                self._busy.remove(worker)
                if keep:
                    self._idle.append(worker)
            if not keep:
                worker.close()

    def _job(self, cell: Cell) -> dict[str, Any]:
        return {
            "runs": [{**asdict(run), "tree": str(self._store.tree(run))} for run in cell.runs],
            "measure": cell.measure,
            "enough": cell.enough,
            "memory_cap": cell.memory_cap,
            "data": None if self._data is None else str(self._data),
        }

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


def _left_behind(
    cell: Cell, left: list[Run], found: dict[str, Any], code: int, words: str
) -> Iterator[Result]:
    """Results for the runs that a job has left behind by ending."""
    if code == 0:
        assert cell.enough is not None or not left
        for run in left:
            reason = f"left out: a smaller run took more than {cell.enough:,.0f} s"
            yield Result(run, "stopped", reason)
        return
    if "MemoryError" in words.partition(":")[0]:
        most = "" if cell.memory_cap is None else f" of {cell.memory_cap / 1e9:.3g} GB"
        status, reason = "stopped", f"out of memory{most}"
    else:
        ending = f"ended by signal {-code}" if code < 0 else f"failed: {words[:300]}"
        status, reason = "failed", ending
    yield Result(left[0], status, reason, **found)
    for run in left[1:]:
        yield Result(run, status, f"not tried after an earlier run of the cell: {reason}")
