# SPDX-License-Identifier: BSD-3-Clause
"""folder.py: what a tree in a folder takes of the disk while single rows come, and how fast.

    python -m benchmarks.folder 25000 [--columns 384] [--on FOLDER]

Rows of float32 with ids and payloads of 30 words, one call each. Printed at each tenth:
bytes of rows, ids and payloads, bytes of all files, the largest that the log has been. At the
end the crash: how long a copy of the folder takes to be opened.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

import ramify

_WORDS = 30


def sizes(folder: Path) -> dict[str, int]:
    """Bytes of all files, of which some may go meanwhile."""
    found = {}
    for path in folder.iterdir():
        try:
            found[path.name] = path.stat().st_size
        except FileNotFoundError:
            continue
    return found


def grow(folder: Path, n: int, columns: int) -> None:
    """Insert n rows one by one, and print what becomes of the folder."""
    rng = np.random.default_rng(0)
    raw = log = 0
    worst, times = 0.0, []
    with ramify.open(folder, ramify.OHAC(metric="cosine")) as tree:
        for i in range(n):
            row = rng.normal(size=columns).astype(np.float32)
            name = f"ticket-{i:07d}"
            text = " ".join(f"w{word}" for word in rng.integers(3000, size=_WORDS))
            begin = time.perf_counter()
            tree.insert(row, id=name, payload=text)
            times.append(time.perf_counter() - begin)
            raw += row.nbytes + len(name) + len(text)
            if i % 20 == 0:
                now = sizes(folder)
                log = max(log, now.get("journal.sqlite-wal", 0))
                worst = max(worst, sum(now.values()) / raw if 10 * i >= n else 0.0)
            if (i + 1) % max(1, n // 10) == 0:
                whole = sum(sizes(folder).values())
                megabytes = f"{raw / 1e6:8.1f} MB of rows, {whole / 1e6:8.1f} MB of files"
                print(f"{i + 1:9,} rows: {megabytes} ({whole / raw:.2f})", flush=True)
        crash = folder.with_name("crash")
        tree.between(lambda: shutil.copytree(folder, crash))
    begin = time.perf_counter()
    ramify.open(crash).close()
    opened = time.perf_counter() - begin
    times.sort()
    print(f"log at most {log / 1e6:.1f} MB; files at most {worst:.2f} times rows, ids, payloads")
    print(f"insert: p50 {times[n // 2] * 1e3:.2f} ms, p99 {times[int(n * 0.99)] * 1e3:.2f} ms")
    print(f"opened and closed after a crash in {opened:.2f} s")


def main() -> None:
    """For the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.folder")
    parser.add_argument("rows", nargs="?", type=int, default=25_000)
    parser.add_argument("--columns", type=int, default=384)
    parser.add_argument("--on", metavar="FOLDER", help="where to make the folder")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=told.on) as place:
        grow(Path(place, "tree"), told.rows, told.columns)


if __name__ == "__main__":
    main()
