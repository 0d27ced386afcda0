# SPDX-License-Identifier: BSD-3-Clause
"""_arrow.py: Arrow bodies, read by processes that may die of them.

A process is started when a body comes and none is idle (a quarter of a second), and kept for the
next. What one says is held against what it says of it: it may have been taken over.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ramify.journal import BusyError
from ramify.serve._bodies import BodyError, Rows
from ramify.serve._door import TooLargeError
from ramify.serve._settings import Settings

_LONGEST_HEAD = 4096
_LARGEST_PIECE = 1 << 30

#: A body may unpack to so many times its size, or to so many bytes if it is small.
_UNPACKS, _UNPACKS_AT_LEAST = 100, 64 << 20

#: Idle processes that are kept.
_KEPT = 2


class _EndedError(Exception):
    """A process that is no more."""


class _RefusedError(Exception):
    """What a process that goes on has said of a body, and the status of the answer."""


class _Process:
    """One that reads bodies, one after the other."""

    def __init__(self) -> None:
        ours = {name: value for name, value in os.environ.items() if not name.startswith("RAMIFY")}
        ours["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        ours |= {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
        ours |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ramify.serve._arrow_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ours,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout

    def begin(self, asked: dict[str, Any]) -> None:
        """Hand over a body; _EndedError if this process had died before."""
        try:
            self._in.write(json.dumps(asked).encode() + b"\n")
            self._in.flush()
        except OSError:
            raise _EndedError from None
        self.head()

    def head(self) -> dict[str, Any]:
        """What comes next."""
        line = self._out.readline(_LONGEST_HEAD)
        if not line.endswith(b"\n"):
            raise _EndedError
        found: dict[str, Any] = json.loads(line)
        return found

    def bytes(self, count: int) -> bytes:
        """So many bytes."""
        if not 0 <= count <= _LARGEST_PIECE:
            raise _EndedError
        found = self._out.read(count)
        if len(found) < count:
            raise _EndedError
        return found

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def end(self) -> str:
        """End it; what it died of, if it was dead."""
        with suppress(OSError):
            self._in.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        code = self._process.poll()
        self._process.kill()
        self._process.wait()
        self._out.close()
        if code is not None and code == -getattr(signal, "SIGALRM", 0):
            return "its reader had no more time"
        named = code is not None and -code in [one.value for one in signal.Signals]
        return f"its reader ended by {signal.Signals(-(code or 0)).name}" if named else "it ended"


class ArrowReaders:
    """The processes that read Arrow bodies for one server."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.idle: list[_Process] = []
        self.busy: set[_Process] = set()
        self._lock = threading.Lock()
        self._taken = 0

    def read(self, path: Path) -> Iterator[Rows]:
        """The rows of a body some at a time: "vector", or columns of numbers; "id", "payload"...

        BodyError says what is wrong with it, and BusyError that so many are read already.
        """
        size = path.stat().st_size
        asked = {
            "path": str(path),
            "batch_bytes": self._settings.batch_bytes,
            "most_bytes": min(
                max(_UNPACKS * size, _UNPACKS_AT_LEAST), self._settings.stream_bytes + size
            ),
            "memory": self._settings.reader_bytes,
            "seconds": self._settings.reader_seconds,
        }
        with self._lock:
            if self._taken == self._settings.readers:
                raise BusyError(f"{self._taken} Arrow bodies are being read already")
            self._taken += 1
        try:
            process = self._begun(asked)
            whole = False
            try:
                whole = yield from _pieces(process)
            except _EndedError:
                died = process.end()
                raise BodyError(f"this is no Arrow stream that can be read: {died}") from None
            except _RefusedError as error:
                whole = True
                kind = TooLargeError if error.args[1] == 413 else BodyError
                raise kind(error.args[0]) from None
            finally:
                self._let_go(process, whole=whole)
        finally:
            with self._lock:
                self._taken -= 1

    def _begun(self, asked: dict[str, Any]) -> _Process:
        """A process that has the body; one that died while it was idle is not worth a word."""
        while True:
            with self._lock:
                kept = self.idle.pop() if self.idle else None
            process = kept or _Process()
            try:
                process.begin(asked)
                self.busy.add(process)
                return process
            except _EndedError:
                process.end()
                if kept is None:
                    raise BusyError("no process that reads Arrow could be started") from None

    def _let_go(self, process: _Process, *, whole: bool) -> None:
        self.busy.discard(process)
        with self._lock:
            keep = whole and len(self.idle) < _KEPT
            if keep:
                self.idle.append(process)
        if not keep:
            process.end()

    def close(self) -> None:
        """End those that are idle."""
        with self._lock:
            idle, self.idle = self.idle, []
        for process in idle:
            process.end()


def _pieces(process: _Process) -> Generator[Rows, None, bool]:
    """The rows of a body; true at its end."""
    while not (head := process.head()).get("end"):
        if "error" in head:
            raise _RefusedError(str(head["error"])[:1000], head.get("status"))
        try:
            rows, width = int(head["rows"]), int(head["width"])
            numbers = _array(process, head["dtype"], rows * width, "fiu").reshape(rows, width)
            times = None
            if "times" in head:
                times = _array(process, head["times"], rows, "fiuM")
            text = process.bytes(int(head["along"]))
            along = json.loads(text) if text else {}
        except (KeyError, ValueError, TypeError) as error:
            raise BodyError(f"this is no Arrow stream that can be read: {error}") from None
        times = along.get("time", times)
        yield Rows(numbers, along.get("id"), along.get("payload"), along.get("weight"), times)
    return True


def _array(process: _Process, dtype: Any, count: int, kinds: str) -> Any:
    kind = np.dtype(str(dtype))
    if kind.kind not in kinds:
        raise ValueError(f"numbers of type {kind}")
    return np.frombuffer(process.bytes(count * kind.itemsize), kind)
