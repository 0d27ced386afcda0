# SPDX-License-Identifier: BSD-3-Clause
"""worker.py: measures jobs, each in a process of its own. ``python -m benchmarks.worker``

Reads jobs, a line of JSON each, forks for each one (importing our libraries takes
longer than many cases), and answers with a line of JSON. The work is first done
on a few of the rows, so that libraries are loaded and pages touched. Then the peak
of memory is set back and the clock started. What is counted:

    wall, cpu     seconds of the work alone; cpu of all threads
    peak_bytes    most memory held during the work, beyond what the process held
                  before it with interpreter, libraries and rows loaded: a copy of
                  the rows that the model keeps counts, the caller's array does not
    held_bytes    the same, after the work, with the model alive
"""

import ctypes
import gc
import hashlib
import importlib
import json
import os
import sys
import time
import traceback
from typing import Any

import numpy as np

from benchmarks import streams
from benchmarks.ours import SkippedError, Timed
from benchmarks.quality import flat_fraction, tree_fraction
from ramify.memory import peak, reset_peak, resident
from ramify.metrics._trees import read_tree

WARM = 1_000  # rows at most


def main() -> None:
    """Answer every line of standard input."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is not an answer
    print("ready", file=answers)
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            code = 1
            try:
                print(json.dumps(_answer(json.loads(line))), file=answers, flush=True)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if (code := os.waitstatus_to_exitcode(status)) != 0:
            story = f"ended by signal {-code}" if code < 0 else f"ended with code {code}"
            print(json.dumps({"error": story}), file=answers)


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    try:
        return measure(job)
    except (SkippedError, FileNotFoundError) as reason:
        return {"skipped": str(reason)}
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        return {"skipped": f'needs {library}: pip install "ramify[bench]"'}
    except ImportError as error:  # our own, which names the extra
        return {"skipped": str(error)}
    except BaseException as error:
        return {"error": " ".join(traceback.format_exception_only(error)[-1].split())}


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Figures by name."""
    module, name = job["function"].split(".")
    function = getattr(importlib.import_module(f"benchmarks.{module}"), name)
    X = streams.rows_of(**job["rows"])
    function(X[: min(WARM, max(len(X) // 10, 20))].copy(), **job["options"])()
    timed: Timed = function(X, **job["options"])
    _settle()
    before = resident()
    reset_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    found = timed()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    figures = {
        "points": len(X),
        "wall": wall,
        "cpu": cpu,
        "peak_bytes": max(peak() - before, 0),
        "held_bytes": max(resident() - before, 0),
        "input_bytes": X.nbytes,
    }
    later = {name: value for name, value in found.items() if callable(value)}
    found = {name: value for name, value in found.items() if name not in later}
    return figures | found | _judge(X, later, job["judge"])


def _settle() -> None:
    """Give back what the warm-up has left, so that it does not hide what the work takes."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):  # not glibc
        return


def _judge(X: streams.Rows, made: dict[str, Any], wanted: list[str]) -> dict[str, Any]:
    """How good the result is, and which one it is."""
    figures: dict[str, Any] = {}
    if "recall" in wanted and "recall" in made:
        figures["recall"] = made["recall"]()
    if "revenue" in wanted and "labels" in made:
        labels = made["labels"]()
        figures |= {"revenue": flat_fraction(X, labels), "clusters": len(np.unique(labels))}
    if "tree" not in made or not {"revenue", "digest", "depth"} & set(wanted):
        return figures
    tree = read_tree(made["tree"]())
    if "revenue" in wanted:
        figures["revenue"] = tree_fraction(X, tree)
    if "digest" in wanted:
        whole = tree.children.tobytes() + tree.heights.tobytes()
        figures["digest"] = hashlib.sha256(whole).hexdigest()[:16]
    if "depth" in wanted:
        figures["depth"] = float(tree.depths()[: tree.n_leaves].mean())
    return figures


if __name__ == "__main__":
    main()
