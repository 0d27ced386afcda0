# SPDX-License-Identifier: BSD-3-Clause
"""demo.py: a server with a tree of real questions that goes on growing. `make demo-serve`."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ramify.serve import require


def main(words: Sequence[str] | None = None) -> None:
    """Serve 4,500 questions to an assistant, half of them at once and the rest one by one.

    Parameters
    ----------
    words : sequence of str, optional
        The command's words; by default those of the process.

    Examples
    --------
    >>> import tempfile
    >>> main([tempfile.mkdtemp(), "--seconds", "0.5", "--port", "0"])  # doctest: +ELLIPSIS
    open http://127.0.0.1:... in a browser; Ctrl-C ends it
    """
    require()
    parser = argparse.ArgumentParser(description="A live tree of questions.")
    parser.add_argument("folder", nargs="?", default="demo-output/trees")
    parser.add_argument("--port", type=int, default=8750)
    parser.add_argument("--rate", type=float, default=5.0, help="questions a second")
    parser.add_argument("--seconds", type=float, default=None, help="end after so long")
    asked = parser.parse_args(words)
    from ramify.client import Client
    from ramify.serve._run import running

    with running(Path(asked.folder), port=asked.port) as address, Client(address) as client:
        tree = client.create("questions", metric="cosine", linkage="ward")
        print(f"open {address} in a browser; Ctrl-C ends it", flush=True)
        stop = threading.Event()
        feeder = threading.Thread(target=_feed, args=(tree, asked.rate, stop), daemon=True)
        feeder.start()
        try:
            stop.wait(asked.seconds)  # None: until somebody ends it
        except KeyboardInterrupt:
            print("ending")
        stop.set()
        feeder.join()


def _feed(tree: Any, rate: float, stop: threading.Event) -> None:
    from ramify.datasets import intents

    queries = intents()
    ids = [f"Q{i}" for i in range(len(queries.points))]
    size, half = 250, len(ids) // 2
    begin = 0
    while begin < len(ids) and not stop.is_set():  # what is there already is not inserted again
        end = begin + (size if begin < half else 1)
        tree.add(queries.points[begin:end], ids=ids[begin:end], payloads=queries.texts[begin:end])
        if begin >= half:
            stop.wait(1 / rate)
        begin = end


if __name__ == "__main__":
    main()
