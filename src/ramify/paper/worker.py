# SPDX-License-Identifier: BSD-3-Clause
"""worker.py: works on cells, each in a process of its own. `python -m ramify.paper.worker`

It reads jobs, a line of JSON each, and forks for each one: importing our libraries
takes longer than most cells. A job's process writes one line of JSON per event:

    {"event": "start"}                           a run of the job begins
    {"event": "progress", "done": 8, "total": 9}
    {"event": "found", "seconds": 1.2, ...}      fields of Result, as they become known
    {"event": "end"}                             of this run

and the worker itself {"event": "over", "code": 0} after it. When standard input
closes, the parent is gone, and so are both. Where nothing can fork, on Windows, a
worker does one job and ends.
"""

import json
import os
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify import metrics
from ramify.datasets import Dataset
from ramify.errors import DeepTreeWarning, FlatKernelWarning
from ramify.hierarchy import Hierarchy, IntArray
from ramify.memory import cap, peak, reset_peak, resident
from ramify.paper import protocol
from ramify.writing import whole_file

_PULSE = 0.25  # seconds between two reports of progress


def main() -> None:
    """Work on the jobs that come in on standard input."""
    while line := sys.stdin.readline():
        if not hasattr(os, "fork"):
            os._exit(_job(json.loads(line)))
        child = os.fork()
        if child == 0:
            os._exit(_job(json.loads(line)))
        _, status = os.waitpid(child, 0)
        _say("over", code=os.waitstatus_to_exitcode(status))


def _job(job: dict[str, Any]) -> int:
    """All runs of a job. Returns the exit code; an error is left on stderr."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    for kind in (DeepTreeWarning, FlatKernelWarning):
        warnings.simplefilter("ignore", kind)  # the paper's linkages and gamma, come what may
    try:
        if job["memory_cap"] is not None:
            cap(job["memory_cap"])
        # The first call of a method pays for what is set up once.
        _build(job["runs"][0]["method"], np.random.default_rng(0).random((16, 2)))
        for place, run in enumerate(job["runs"]):
            _say("start")
            seconds = _work(job, run, first=place == 0)
            _say("end")
            if job["enough"] is not None and seconds > job["enough"]:
                break
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _leave_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


def _say(event: str, **fields: Any) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)  # flushed: os._exit does not


def _work(job: dict[str, Any], run: dict[str, Any], *, first: bool) -> float:
    """One run: load, build, measure. Returns the seconds of building."""
    before = resident()
    folder = None if job["data"] is None else Path(job["data"])
    data = protocol.load(run["column"], run["rows"], run["order"], folder)
    rows = protocol.permutation(len(data), run["order"])
    points = data.points if run["order"].partition(" ")[0] != "shuffle" else data.points[rows]
    _say("found", n=len(points), d=points.shape[1], groups=_groups(data))
    reset_peak()
    start = time.perf_counter()
    tree = _build(run["method"], points)
    seconds = time.perf_counter() - start
    # Later runs of this process find memory that earlier ones have left.
    _say("found", seconds=seconds, memory=max(peak() - before, 0) if first else None)
    if tree is not None:
        depths = tree.depths()
        _say("found", depth_mean=float(depths.mean()), depth_max=float(depths.max()))
        if job["measure"]:
            labels = None if data.labels is None else data.labels[rows]
            _measure(tree, points, labels)
            _compare(tree, run, rows, Path(run["tree"]))
    return seconds


def _build(method: str, points: npt.NDArray[Any]) -> Hierarchy | None:
    """The tree; None for SciPy's, of which only the time is wanted."""
    if method == "SciPy linkage":
        from scipy.cluster.hierarchy import linkage
        from scipy.spatial.distance import pdist

        linkage(pdist(points, "sqeuclidean"), "average")
        return None
    model = protocol.METHODS[method].make()
    return model.fit(points, progress=_progress()).hierarchy()


def _progress() -> Callable[[int, int], None]:
    last = time.perf_counter()

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= _PULSE:
            last = now
            _say("progress", done=done, total=total)

    return report


def _groups(data: Dataset) -> int | None:
    return None if data.labels is None else len(np.unique(data.labels))


def _measure(tree: Hierarchy, points: npt.NDArray[Any], labels: npt.NDArray[Any] | None) -> None:
    n = len(points)
    pairs = n * (n - 1) / 2
    sample = None if n <= protocol.EXACT_REVENUE else protocol.SAMPLE
    options: dict[str, Any] = {"similarity": "rbf", "gamma": 1.0, "sample": sample}
    revenue = metrics.revenue(tree, points, **options, random_state=0)
    fraction = metrics.revenue_fraction(tree, points, **options, random_state=0)
    _say(
        "found",
        revenue=float(revenue) / pairs,
        revenue_stderr=float(revenue.stderr) / pairs,
        fraction=float(fraction),
        fraction_stderr=float(fraction.stderr),
        similarity=float(revenue) / (pairs * (n - 2) * float(fraction)),
    )
    if labels is not None and len(np.unique(labels)) > 1:
        _say("found", purity=float(metrics.dendrogram_purity(tree, labels)))


def _compare(tree: Hierarchy, run: dict[str, Any], rows: IntArray, path: Path) -> None:
    """Triplet distance to HAC's tree, which HAC's own run leaves behind."""
    if protocol.is_reference(run["method"]):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as lent, lent.open("wb") as file:
            np.save(file, tree.children.astype(np.int32))
        return
    if not path.exists():
        return
    n = tree.n_leaves
    place = np.empty(n, dtype=np.int64)  # where each row of the data set arrived
    place[rows] = np.arange(n)
    children = np.load(path).astype(np.int64)
    reference = np.where(children < n, place[np.minimum(children, n - 1)], children)
    sample = None if n <= protocol.EXACT_TRIPLETS else protocol.SAMPLE
    distance = metrics.triplet_distance(tree, reference, sample=sample, random_state=0)
    _say("found", triplet=float(distance), triplet_stderr=float(distance.stderr))


if __name__ == "__main__":
    main()
