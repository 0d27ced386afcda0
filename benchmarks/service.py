# SPDX-License-Identifier: BSD-3-Clause
"""How fast trees in folders and on a server are: ``python -m benchmarks.service``.

    load     rows of 384 numbers in batches of 1,000: into a model in memory, into the same in a
             folder, and over HTTP into the same on a server in a process of its own
    single   one row a request, while readers ask where rows belong, each so many times a second
    start    opening a folder with a tree of 1M x 3
    bodies   the same rows as Arrow, which a process of its own reads, and as .npy
    followed what followers of the changes cost who inserts: some that read, and some that never do
    crowded  the same of readers, each of whom asks without a pause

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
_CASES = ("load", "single", "bodies", "followed", "crowded")


class Server:
    """`ramify serve` in a process of its own."""

    def __init__(self, folder: Path, *more: str) -> None:
        words = ["serve", str(folder), "--port", "0", "-q", *more]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ramify.cli", *words], stderr=subprocess.PIPE, text=True
        )
        assert self._process.stderr is not None
        self.address = self._process.stderr.readline().split(" at ")[1].strip()
        while self.ask("GET", "/readyz")[0] != 200:
            time.sleep(0.02)
        threading.Thread(target=self._process.stderr.read, daemon=True).start()

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

    def threads_and_files(self) -> tuple[int, int]:
        """How many it has."""
        return tuple(  # type: ignore[return-value]
            len(os.listdir(f"/proc/{self._process.pid}/{what}")) for what in ("task", "fd")
        )

    def memory(self) -> float:
        """Megabytes that it holds; NaN where the system does not say."""
        try:
            lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        except OSError:
            return float("nan")
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

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
    server.ask("PUT", "/v1/trees/a", json.dumps({"metric": "cosine"}).encode(), "application/json")
    line = server.connect()
    begin = time.perf_counter()
    for batch in batches:
        status, told = call(line, "POST", "/v1/trees/a/points", npy(batch), "application/x-npy")
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
        status, told = call(line, "POST", "/v1/trees/a/assign?k=50", body, "application/json")
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
    server.ask("POST", "/v1/trees/a/points", npy(rows[:1]), "application/x-npy")
    alone(server, "assign", "/v1/trees/a/assign?k=50")
    alone(server, "insert", "/v1/trees/a/points")
    line, times, rng = server.connect(), [], np.random.default_rng(2)
    for thread in threads:
        thread.start()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        body = json.dumps({"vectors": rng.normal(size=(1, 3)).tolist()}).encode()
        begin = time.perf_counter()
        status, told = call(line, "POST", "/v1/trees/a/points", body, "application/json")
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


def arrow(rows: Rows) -> bytes:
    """Rows as an Arrow stream."""
    import pyarrow as pa

    column = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), rows.shape[1])
    table = pa.table({"vector": column})
    room = io.BytesIO()
    with pa.ipc.new_stream(room, table.schema) as out:
        out.write_table(table)
    return room.getvalue()


def bodies(folder: Path) -> None:
    """Requests of few rows and of many, in turns."""
    server = Server(folder / "bodies")
    line, rng = server.connect(), np.random.default_rng(0)
    kinds = {
        "Arrow": (arrow, "application/vnd.apache.arrow.stream"),
        ".npy": (npy, "application/x-npy"),
    }
    for count, width, rounds in ((1, 3, 400), (20_000, 3, 3), (5_000, 128, 3)):
        times: dict[str, list[float]] = {name: [] for name in kinds}
        for turn in range(rounds):
            rows = rng.normal(size=(count, width)).astype(np.float32)
            for name, (write, kind) in kinds.items():
                tree = f"/v1/trees/{count}-{turn if count > 1 else 0}-{name.strip('.').lower()}"
                server.ask("PUT", tree, b"{}", "application/json")
                begin = time.perf_counter()
                status, told = call(line, "POST", f"{tree}/points", write(rows), kind)
                assert status == 200, told
                times[name].append(time.perf_counter() - begin)
        said = {name: np.median(some) for name, some in times.items()}
        print(
            f"{count:,} x {width}: Arrow {1000 * said['Arrow']:.1f} ms, .npy "
            f"{1000 * said['.npy']:.1f} ms: {said['Arrow'] / said['.npy']:.2f} times"
        )
    server.stop()


#: A process of its own that follows, and throws away what it is told.
READER = """
import selectors, socket, sys
host, port, count, reads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "read"
ask = f"GET /v1/trees/a/changes/stream HTTP/1.1\\r\\nHost: {host}:{port}\\r\\n\\r\\n".encode()
chosen = selectors.DefaultSelector()
held = []
for _ in range(count):
    one = socket.create_connection((host, port))
    one.sendall(ask)
    held.append(one)
    one.recv(1 << 16)
    if reads:
        chosen.register(one, selectors.EVENT_READ)
print("ready", flush=True)
while True:
    for key, _ in chosen.select(None if reads else 3600):
        if not key.fileobj.recv(1 << 20):
            chosen.unregister(key.fileobj)
"""


def inserts(server: Server, count: int, seed: int) -> list[float]:
    """Seconds of requests of 20 rows each, one after the other."""
    rng, line, times = np.random.default_rng(seed), server.connect(), []
    for _ in range(count):
        body = json.dumps({"vectors": rng.normal(size=(20, 3)).tolist()}).encode()
        begin = time.perf_counter()
        status, told = call(line, "POST", "/v1/trees/a/points", body, "application/json")
        assert status == 200, told
        times.append(time.perf_counter() - begin)
    return times


def followed(count: int, rounds: int, folder: Path) -> None:
    """Requests of 20 rows into a tree of 5,000, with followers and without, in turns."""
    for kind in ("read", "never read"):
        server = Server(folder / kind)
        server.ask("PUT", "/v1/trees/a", b'{"dimension": 3}', "application/json")
        rows = np.random.default_rng(0).normal(size=(5000, 3)).astype(np.float32)
        server.ask("POST", "/v1/trees/a/points", npy(rows), "application/x-npy")
        alone_times: list[float] = []
        times: list[float] = []
        for turn in range(rounds):
            alone_times += inserts(server, 1000, 2 * turn)
            host, port = urlsplit(server.address).netloc.split(":")
            words = [sys.executable, "-c", READER, host, port, str(count), kind]
            readers = subprocess.Popen(words, stdout=subprocess.PIPE)
            assert readers.stdout is not None
            readers.stdout.readline()
            before = server.memory()
            times += inserts(server, 1000, 2 * turn + 1)
            after = server.memory()
            readers.kill()
            readers.communicate()
        ratios = [what(times) / what(alone_times) for what in (np.median, np.mean)]
        print(
            f"20 rows a request: {percentiles(alone_times)}; {count} followers that {kind}: "
            f"{percentiles(times)}, {ratios[0]:.2f} times, means {ratios[1]:.2f}; "
            f"memory {before:.0f} to {after:.0f} MB"
        )
        server.stop()


#: A process of its own that asks without a pause on each of its connections.
ASKER = """
import http.client, itertools, sys, threading
asked = ["clusters?k=200", "outline", "search?q=word", "clusters?k=2000&representatives=20"]
done = []
def ask(first):
    line = http.client.HTTPConnection(sys.argv[1], timeout=600)
    for at in itertools.count(first):
        line.request("GET", "/v1/trees/a/" + asked[at % len(asked)])
        line.getresponse().read()
        done.append(at)
for first in range(int(sys.argv[2])):
    threading.Thread(target=ask, args=(first,), daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
print(len(done), flush=True)
"""


def crowded(counts: list[int], folder: Path) -> None:
    """Requests of 20 rows into a tree of 50,000, while readers ask."""
    server = Server(folder / "crowded")
    server.ask("PUT", "/v1/trees/a", b'{"dimension": 3}', "application/json")
    rows = np.random.default_rng(0).normal(size=(50_000, 3)).astype(np.float32)
    server.ask("POST", "/v1/trees/a/points", npy(rows), "application/x-npy")
    inserts(server, 100, 0)
    for count in counts:
        words = [sys.executable, "-c", ASKER, urlsplit(server.address).netloc, str(count)]
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
        with subprocess.Popen(words, text=True, **pipes) as readers:
            assert readers.stdin is not None
            assert readers.stdout is not None
            readers.stdout.readline()
            time.sleep(1)
            begin, times = time.perf_counter(), inserts(server, 100, count + 1)
            seconds = time.perf_counter() - begin
            readers.stdin.close()
            asked = int(readers.stdout.readline())
        said = f"{asked} questions in {seconds + 1:.1f} s"
        print(f"20 rows a request, {count} readers: {percentiles(times)}; {said}", flush=True)
    server.stop()


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="Speed of trees in folders and on a server.")
    parser.add_argument("--rows", type=int, default=20_000, help="of 384 numbers")
    parser.add_argument("--points", type=int, default=1_000_000, help="of 3 numbers")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--rate", type=float, default=10.0, help="questions of a reader a second")
    parser.add_argument("--only", choices=_CASES, default=None)
    parser.add_argument("--followers", type=int, default=100)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if asked.only in (None, "load"):
            load(asked.rows, Path(name))
        if asked.only in (None, "bodies"):
            bodies(Path(name))
        if asked.only in (None, "followed"):
            followed(asked.followers, 3, Path(name))
        if asked.only in (None, "crowded"):
            crowded([0, 8, 32, 64], Path(name))
        if asked.only in (None, "single"):
            single(asked.points, asked.seconds, asked.readers, asked.rate, Path(name))


if __name__ == "__main__":
    main()
