# SPDX-License-Identifier: BSD-3-Clause
"""How fast trees in folders and on a server are: ``python -m benchmarks.service``.

    load     rows of 384 numbers in batches of 1,000: into a model in memory, into the same in a
             folder, and over HTTP into the same on a server in a process of its own
    single   one row a request, while readers ask where rows belong, each so many times a second
    start    opening a folder with a tree of 1M x 3

Latencies are those that a client sees, with HTTP and a kept connection. What else the machine does
at the same time is in them; processor time of the server for each request is told beside.
"""

import argparse
import http.client
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

import ramify

Rows = npt.NDArray[np.float32]


class Server:
    """`ramify serve` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        words = ["serve", str(folder), "--port", "0", "-q"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ramify.cli", *words], stderr=subprocess.PIPE, text=True
        )
        assert self._process.stderr is not None
        self.address = self._process.stderr.readline().split(" at ")[1].strip()
        while self.ask("GET", "/readyz")[0] != 200:
            time.sleep(0.02)

    def connect(self) -> http.client.HTTPConnection:
        """A connection that is kept."""
        return http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=300)

    def ask(self, method: str, path: str, body: bytes | None = None, kind: str = "") -> Any:
        """One call on a connection of its own; status and body, or 0 if nobody listens yet."""
        try:
            return call(self.connect(), method, path, body, kind)
        except ConnectionError:
            return 0, b""

    def processor_seconds(self) -> float:
        """Of all its threads so far; NaN where the system does not say."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return float("nan")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """Let it finish."""
        self._process.terminate()
        self._process.wait()


def call(
    line: http.client.HTTPConnection, method: str, path: str, body: bytes | None, kind: str
) -> tuple[int, bytes]:
    """One call on a kept connection."""
    line.request(method, path, body, {"content-type": kind} if kind else {})
    told = line.getresponse()
    return told.status, told.read()


def npy(rows: Rows) -> bytes:
    """Rows as the body of a request."""
    room = io.BytesIO()
    np.save(room, rows)
    return room.getvalue()


def load(n: int, folder: Path) -> None:
    """Batches of 1,000 rows of 384 numbers."""
    rows = np.random.default_rng(0).normal(size=(n, 384)).astype(np.float32)
    batches = [rows[begin : begin + 1000] for begin in range(0, n, 1000)]
    plain = ramify.OHAC(metric="cosine", history=1000)
    begin = time.perf_counter()
    for batch in batches:
        plain.partial_fit(batch)
        _ = plain.version
    in_memory = n / (time.perf_counter() - begin)
    with ramify.open(folder / "a", ramify.OHAC(metric="cosine", history=1000)) as tree:
        begin = time.perf_counter()
        for batch in batches:
            tree.partial_fit(batch)
        in_folder = n / (time.perf_counter() - begin)
    server = Server(folder / "served")
    server.ask("PUT", "/trees/a", json.dumps({"metric": "cosine"}).encode(), "application/json")
    line = server.connect()
    begin = time.perf_counter()
    for batch in batches:
        status, told = call(line, "POST", "/trees/a/points", npy(batch), "application/x-npy")
        assert status == 200, told
    over_http = n / (time.perf_counter() - begin)
    server.stop()
    print(
        f"load, {n:,} x 384, rows a second: in memory {in_memory:,.0f}, in a folder "
        f"{in_folder:,.0f}, over HTTP {over_http:,.0f}: {over_http / in_folder:.2f} of the folder's"
    )


def percentiles(seconds: list[float]) -> str:
    """Half of them, 99 %, and the longest."""
    some = np.percentile(np.array(seconds) * 1000, [50, 99, 100])
    return f"p50 {some[0]:.1f} ms, p99 {some[1]:.1f} ms, longest {some[2]:.1f} ms"


def read(server: Server, rate: float, stop: threading.Event, times: list[float], seed: int) -> None:
    """Ask where rows belong, so many times a second."""
    rng, line = np.random.default_rng(seed), server.connect()
    while not stop.is_set():
        body = json.dumps({"vectors": rng.normal(size=(1, 3)).tolist()}).encode()
        begin = time.perf_counter()
        status, told = call(line, "POST", "/trees/a/assign?k=50", body, "application/json")
        assert status == 200, told
        times.append(time.perf_counter() - begin)
        time.sleep(max(0.0, 1 / rate - times[-1]))


def alone(server: Server, what: str, path: str, count: int = 2000) -> None:
    """One question or insert after the other, and nothing else: what each costs."""
    rng, line, times = np.random.default_rng(3), server.connect(), []
    before = server.processor_seconds()
    for _ in range(count):
        body = json.dumps({"vectors": rng.normal(size=(1, 3)).tolist()}).encode()
        begin = time.perf_counter()
        status, told = call(line, "POST", path, body, "application/json")
        assert status == 200, told
        times.append(time.perf_counter() - begin)
    spent = 1000 * (server.processor_seconds() - before) / count
    print(f"{what} alone: {spent:.2f} ms of the processor each, {percentiles(times)}")


def single(n: int, seconds: float, readers: int, rate: float, folder: Path) -> None:
    """One row a request, and readers beside."""
    rows = np.random.default_rng(1).normal(size=(n, 3)).astype(np.float32)
    path = folder / "single" / "a"
    begin = time.perf_counter()
    with ramify.open(path, ramify.OHAC(history=1000).fit(rows)):
        pass
    print(f"fit and first snapshot of {n:,} x 3: {time.perf_counter() - begin:.1f} s")
    begin = time.perf_counter()
    tree = ramify.open(path)
    print(f"start, {n:,} x 3 from a snapshot: {time.perf_counter() - begin:.2f} s")
    tree.close()
    server = Server(path.parent)
    stop, asked = threading.Event(), [[] for _ in range(readers)]  # type: ignore[var-annotated]
    threads = [
        threading.Thread(target=read, args=(server, rate, stop, times, i), daemon=True)
        for i, times in enumerate(asked)
    ]
    server.ask("POST", "/trees/a/points", npy(rows[:1]), "application/x-npy")
    alone(server, "assign", "/trees/a/assign?k=50")
    alone(server, "insert", "/trees/a/points")
    line, times, rng = server.connect(), [], np.random.default_rng(2)
    for thread in threads:
        thread.start()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        body = json.dumps({"vectors": rng.normal(size=(1, 3)).tolist()}).encode()
        begin = time.perf_counter()
        status, told = call(line, "POST", "/trees/a/points", body, "application/json")
        assert status == 200, told
        times.append(time.perf_counter() - begin)
    stop.set()
    for thread in threads:
        thread.join()
    server.stop()
    print(f"single inserts at {n:,} x 3: {len(times) / seconds:.0f} a second, {percentiles(times)}")
    if readers:
        every = [one for some in asked for one in some]
        print(f"assign, {readers} readers of {rate:g} a second: {percentiles(every)}")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="Speed of trees in folders and on a server.")
    parser.add_argument("--rows", type=int, default=20_000, help="of 384 numbers")
    parser.add_argument("--points", type=int, default=1_000_000, help="of 3 numbers")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--rate", type=float, default=10.0, help="questions of a reader a second")
    parser.add_argument("--only", choices=["load", "single"], default=None)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if asked.only != "single":
            load(asked.rows, Path(name))
        if asked.only != "load":
            single(asked.points, asked.seconds, asked.readers, asked.rate, Path(name))


if __name__ == "__main__":
    main()
