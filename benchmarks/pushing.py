# SPDX-License-Identifier: BSD-3-Clause
"""Many rows into a tree of a server, by a client: ``python -m benchmarks.pushing``.

Rows alone, with ids, with ids and texts; by `add`, 1,000 a call, and by `push`, 50,000, as `ramify
push` has it. The server is a process of its own on the same machine.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import ramify
from benchmarks.service import Server


def pushed(n: int, folder: Path) -> None:
    """Each in a tree of its own."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    ids, texts = ([f"{word} {i}" for i in range(n)] for word in ("T", "text"))
    for name, along in (
        ("rows alone", {}),
        ("with ids", {"ids": ids}),
        ("with ids and texts", {"ids": ids, "payloads": texts}),
    ):
        seconds, busy = [], []
        for how, step in (("add", 1000), ("push", 50_000)):
            server = Server(folder / how / name.replace(" ", "-"))
            with ramify.Client(server.address) as client:
                tree = client.create("a")
                before, begin = server.processor_seconds(), time.perf_counter()
                for at in range(0, n, step):
                    some: Any = {what: column[at : at + step] for what, column in along.items()}
                    getattr(tree, how)(X[at : at + step], **some)
                seconds.append(time.perf_counter() - begin)
                busy.append(server.processor_seconds() - before)
                assert tree.n_points_ == n
            server.stop()
        print(
            f"{n:,} x 3, {name}: add {seconds[0]:.1f} s, push {seconds[1]:.1f} s; of the server's "
            f"processor {busy[0]:.1f} and {busy[1]:.1f} s",
            flush=True,
        )


def main() -> None:
    """For the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pushing")
    parser.add_argument("--points", type=int, default=1_000_000)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pushed(told.points, Path(folder))


if __name__ == "__main__":
    main()
