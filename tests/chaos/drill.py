# SPDX-License-Identifier: BSD-3-Clause
"""drill.py: lose the disk, restore yesterday's backup, catch up; the tree is what it was.

    python -m tests.chaos.drill                            # small: what the tests run
    python -m tests.chaos.drill --rows 20000 --columns 64  # the figures of docs/operating.md

A real server takes the rows of a source that keeps them, as a queue or a table does. Half of them
are in when the backup is made. When all are in, the server is killed and its folder deleted. The
backup becomes a folder, a server starts on it, and the source is sent once more from its beginning:
rows that are there are left out by their ids. The tree must be the one before, to the bit.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np

import ramify

_BATCH = 500


class Source:
    """Rows that can be read from the beginning as often as one likes."""

    def __init__(self, rows: int, columns: int) -> None:
        rng = np.random.default_rng(0)
        centres = rng.normal(size=(20, columns)) * 5
        self.rows = (
            centres[rng.integers(20, size=rows)] + rng.normal(size=(rows, columns))
        ).astype(np.float32)

    def send(self, tree: Any, up_to: int) -> int:
        """Have a tree take the rows up to one; how many it had already."""
        repeated = 0
        for begin in range(0, up_to, _BATCH):
            some = range(begin, min(begin + _BATCH, up_to))
            ids, texts = [f"T{i}" for i in some], [f"ticket {i}" for i in some]
            repeated += tree.add(
                self.rows[some.start : some.stop], ids=ids, payloads=texts
            ).repeated
        return repeated


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server in a process of its own, ready."""
    words = ["serve", str(folder), "--port", "0", "--quiet"]
    program = [sys.executable, "-m", "ramify.cli", *words]
    server = subprocess.Popen(program, stderr=subprocess.PIPE)
    try:
        assert server.stderr is not None
        address = server.stderr.readline().decode().split()[-1]
        while httpx.get(f"{address}/readyz").status_code != 200:
            time.sleep(0.02)
        yield address, server
    finally:
        server.kill()
        server.communicate()


def ramify_command(*words: object) -> None:
    """Run the command, which must succeed."""
    program = [sys.executable, "-m", "ramify.cli", *map(str, words)]
    subprocess.run(program, check=True, capture_output=True)


def state(address: str) -> tuple[Any, ...]:
    """All that the tree is: every merge, every id, and a payload."""
    with ramify.Client(address) as client:
        tree = client.tree("tickets")
        return tree.export("newick"), tree.version, tree.n_points_, tree.payloads(["T7"])


def _memory(address: str) -> int:
    lines = httpx.get(f"{address}/metrics").text.splitlines()
    return int(next(one for one in lines if one.startswith("ramify_memory_bytes ")).split()[1])


def drill(place: Path, rows: int, columns: int) -> dict[str, float]:
    """Go through it in a folder; figures, or AssertionError."""
    source, half = Source(rows, columns), rows // 2 // _BATCH * _BATCH
    figures: dict[str, float] = {}

    @contextmanager
    def timed(what: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        figures[f"{what}_seconds"] = round(time.perf_counter() - begin, 2)

    with serving(place / "trees") as (address, server), ramify.Client(address) as client:
        tree = client.create("tickets", dimension=columns)
        source.send(tree, half)
        ramify_command("backup", f"{address}/v1/trees/tickets", place / "yesterday.tar")
        source.send(tree, rows)
        before = state(address)
        with timed("backup"):
            ramify_command("backup", f"{address}/v1/trees/tickets", place / "today.tar")
        figures["backup_bytes"] = (place / "today.tar").stat().st_size
        figures["folder_bytes"] = tree.info()["journal"]["bytes"]
        figures["memory_bytes"] = _memory(address)
        os.kill(server.pid, signal.SIGKILL)
    shutil.rmtree(place / "trees")  # the disk is lost

    with timed("restore"):
        ramify_command("restore", place / "yesterday.tar", place / "trees" / "tickets")
    begin = time.perf_counter()
    with serving(place / "trees") as (address, _), ramify.Client(address) as client:
        figures["start_seconds"] = round(time.perf_counter() - begin, 2)
        tree = client.tree("tickets")
        assert tree.n_points_ == half, "the backup has what was there when it was made"
        with timed("catch_up"):
            assert source.send(tree, rows) == half, "what was there was sent again, and left out"
        assert state(address) == before, "the tree is another one than before"
    return {"rows": rows, "columns": columns, **figures}


def main(words: list[str] | None = None) -> None:
    """Run it once, and say what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=8)
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as place:
        for name, value in drill(Path(place), asked.rows, asked.columns).items():
            print(f"{name}: {value:,}")
    print("the tree is the one before the disk was lost")


if __name__ == "__main__":
    main()
