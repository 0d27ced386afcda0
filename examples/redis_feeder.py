# SPDX-License-Identifier: BSD-3-Clause
"""redis_feeder.py: a Redis stream into a tree, so that a restart loses nothing and doubles nothing.

How far the stream has been read is written into the journal together with the rows, in one
commit: `tree.marks`. Whoever starts again asks the tree, not Redis, where to go on.

    python examples/redis_feeder.py redis://localhost:6379 tickets ./tree [UNTIL]

Without arguments it starts a Redis of its own, and shows itself what a crash does.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import ramify


def feed(stream, name, tree, batch=100, until=None):
    """Read a stream from where the tree stands, and insert what comes."""
    while until is None or len(tree) < until:
        at = tree.marks.get(name, "0-0")
        found = stream.xread({name: at}, count=batch, block=1000)
        if not found:
            continue
        entries = found[0][1]
        rows = [json.loads(fields[b"vector"]) for _, fields in entries]
        tree.partial_fit(
            np.array(rows, dtype=np.float32),
            ids=[number.decode() for number, _ in entries],
            payloads=[fields[b"text"].decode() for _, fields in entries],
            marks={name: entries[-1][0].decode()},  # in the same commit as the rows
        )


def demonstrate(stream):
    """300 tickets; the feeder dies in the middle, between a commit and the next."""
    rng = np.random.default_rng(0)
    for i in range(300):
        row = (rng.normal(size=4) + 10 * (i % 3)).tolist()
        stream.xadd("tickets", {"vector": json.dumps(row), "text": f"ticket {i}"})
    folder = tempfile.mkdtemp()
    with ramify.open(f"{folder}/tree", ramify.OHAC()) as tree:
        feed(stream, "tickets", tree, batch=70, until=140)
        crash = shutil.copytree(f"{folder}/tree", f"{folder}/crash")  # as kill -9 would leave it
    with ramify.open(crash) as tree:
        print(f"after the crash: {len(tree)} tickets")
        feed(stream, "tickets", tree, batch=70, until=300)
        ids = tree.ids_.tolist()
        print(f"at the end: {len(tree)} tickets, {len(set(ids))} different ones")
        print(f"clusters: {sorted(tree.clusters(n_clusters=3).sizes.tolist())}")
    shutil.rmtree(folder)


def own_redis():
    """A Redis without files, on a socket of its own."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "redis.sock")
    options = ["--port", "0", "--unixsocket", path, "--save", "", "--dir", folder]
    process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    while not os.path.exists(path):
        time.sleep(0.02)
    return process, f"unix://{path}"


def main():
    if shutil.which("redis-server") is None and len(sys.argv) < 4:
        print("there is no redis-server here")
        return
    import redis

    if len(sys.argv) >= 4:
        address, name, folder, *until = sys.argv[1:]
        with ramify.open(folder, ramify.OHAC()) as tree, redis.Redis.from_url(address) as stream:
            feed(stream, name, tree, until=int(until[0]) if until else None)
        return
    process, address = own_redis()
    try:
        with redis.Redis.from_url(address) as stream:
            demonstrate(stream)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
