# SPDX-License-Identifier: BSD-3-Clause
"""What a server with many small trees takes: ``python -m benchmarks.resting 10000``.

A tree of 100 x 8 with ids and payloads is copied as often as is asked for, and served: how long
until the server is ready, what it holds then, and while each of the trees is asked something.
``--files 1024`` has the system allow it so many open files. Linux alone says all that is printed.
"""

import argparse
import json
import resource
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

import ramify
from benchmarks.service import Server, call, percentiles


def fill(folder: Path, count: int) -> None:
    """As many folders of trees, all alike."""
    rows = np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32)
    first = folder / "t00000"
    with ramify.open(first, ramify.OHAC(history=1000)) as tree:
        ids = [f"id-{i}" for i in range(len(rows))]
        tree.add(rows, ids=ids, payloads=[f"some words about {one}" for one in ids])
    for number in range(1, count):
        shutil.copytree(first, folder / f"t{number:05}")


def told(server: Server) -> str:
    """What the server holds, and how many trees are in which state."""
    threads, files = server.threads_and_files()
    states = json.loads(server.ask("GET", "/v1/trees")[1])["states"]
    shown = ", ".join(f"{number:,} {name}" for name, number in states.items() if number)
    return f"{server.memory():.0f} MB, {threads} threads, {files} files ({shown})"


def served(folder: Path, count: int, more: list[str]) -> None:
    """Serve them, ask each of them something twice, and stop."""
    begin = time.perf_counter()
    server = Server(folder, *more)
    print(f"{count:,} trees: ready after {time.perf_counter() - begin:.2f} s", flush=True)
    try:
        ask_all(server, count)
    finally:
        begin = time.perf_counter()
        server.stop()
    print(f"  stopped in {time.perf_counter() - begin:.2f} s")


def ask_all(server: Server, count: int) -> None:
    """Ask each of the trees something, in any order, and give it something."""
    print(f"  just then:           {told(server)}", flush=True)
    row = json.dumps({"vectors": [[0.5] * 8], "ids": ["new"]}).encode()
    for what, path, body in (
        ("asked for clusters", "clusters?n_clusters=3&representatives=0", None),
        ("given a row", "points", row),
    ):
        line, times = server.connect(), []
        for number in np.random.default_rng(0).permutation(count).tolist():
            begin = time.perf_counter()
            method = "GET" if body is None else "POST"
            address = f"/v1/trees/t{number:05}/{path}"
            status, said = call(line, method, address, body, "application/json" if body else "")
            assert status == 200, said
            times.append(time.perf_counter() - begin)
        print(f"  each {what}: {percentiles(times)}", flush=True)
        print(f"  then:                {told(server)}", flush=True)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="A server with many small trees.")
    parser.add_argument("count", type=int, nargs="?", default=10_000)
    parser.add_argument("--files", type=int, default=None, help="that the system allows")
    parser.add_argument("--open-trees", type=int, default=None)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        fill(Path(name), asked.count)
        if asked.files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (asked.files, asked.files))
        more = [] if asked.open_trees is None else ["--open-trees", str(asked.open_trees)]
        served(Path(name), asked.count, more)


if __name__ == "__main__":
    main()
