"""soak.py: single rows into a folder, one call each: it stays small, and opens soon after a crash.

    python -m tests.chaos.soak --rows 25000                  # the figures of docs/durability.md
    python -m tests.chaos.soak --rows 25000 --log 1000000000 # with a log that is never emptied

Rows of float32 with ids and payloads of 30 words. While they come, all files together must be at
most three times the bytes of rows, ids and payloads, and 8 MB. With ``--log`` the log may grow up
to so many bytes, as it did in 0.1. At the end the crash: a copy of the folder is opened, and its
tree must be the one that was there.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

import ramify
from ramify.journal import _store

_WORDS = 30
LOG = "journal.sqlite-wal"


def sizes(folder: Path) -> dict[str, int]:
    """Bytes of all files, of which some may go meanwhile."""
    found = {}
    for path in folder.iterdir():
        try:
            found[path.name] = path.stat().st_size
        except FileNotFoundError:
            continue
    return found


def soak(folder: Path, n: int, columns: int, log_bytes: int | None = None) -> None:
    """Insert n rows one by one, crash, open; figures, or AssertionError."""
    rng, before = np.random.default_rng(0), _store.LOG_BYTES
    raw = log = 0
    worst, times = 0.0, []
    _store.LOG_BYTES = log_bytes or before
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
                log, whole = max(log, now.get(LOG, 0)), sum(now.values())
                worst = max(worst, whole / raw if 10 * i >= n else 0.0)
                assert log_bytes or whole <= 3 * raw + 2 * before, f"{i}: {now}, {raw} of rows"
            if (i + 1) % max(1, n // 10) == 0:
                whole = sum(sizes(folder).values())
                megabytes = f"{raw / 1e6:8.1f} MB of rows, {whole / 1e6:8.1f} MB of files"
                print(f"{i + 1:9,} rows: {megabytes} ({whole / raw:.2f})", flush=True)
        crash = folder.with_name("crash")
        tree.between(lambda: shutil.copytree(folder, crash))
        was = tree.digest()
    _store.LOG_BYTES = before
    left = sizes(crash)[LOG]
    begin = time.perf_counter()
    with ramify.open(crash) as again:
        opened = time.perf_counter() - begin
        assert again.digest() == was
    times.sort()
    print(f"log at most {log / 1e6:.1f} MB; files at most {worst:.2f} times rows, ids, payloads")
    print(f"insert: p50 {times[n // 2] * 1e3:.2f} ms, p99 {times[int(n * 0.99)] * 1e3:.2f} ms")
    print(f"opened with a log of {left / 1e6:.1f} MB in {opened:.2f} s, the tree that was there")


def main() -> None:
    """For the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.soak")
    parser.add_argument("--rows", type=int, default=25_000)
    parser.add_argument("--columns", type=int, default=384)
    parser.add_argument("--log", type=int, default=None, metavar="BYTES")
    parser.add_argument("--on", metavar="FOLDER", help="where to make the folder")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=told.on) as place:
        soak(Path(place, "tree"), told.rows, told.columns, told.log)


if __name__ == "__main__":
    main()
