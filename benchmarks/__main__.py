# SPDX-License-Identifier: BSD-3-Clause
"""Run the cases, print one table, write one JSON file.

Each measurement is a process of its own on one thread; the median of several is
shown. Machines are noisy and differ, so the ratio of two figures of one run is
what counts, not the seconds.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.cases import Case, Job, cases

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def measure(job: Job, repeats: int) -> dict[str, Any]:
    """Median of the repeats, and their spread."""
    runs = []
    for _ in range(repeats):
        command = [sys.executable, "-m", "benchmarks.worker", job.function]
        done = subprocess.run(
            [*command, json.dumps(job.options)],
            env=os.environ | ONE_THREAD,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            return {"error": done.stderr.strip().splitlines()[-1]}
        runs.append(json.loads(done.stdout))
    middle: dict[str, Any] = sorted(runs, key=lambda run: run["wall"])[len(runs) // 2]
    walls = [run["wall"] for run in runs]
    return middle | {"wall": statistics.median(walls), "spread": max(walls) / min(walls)}


def describe(case: Case, ours: dict[str, Any], peer: dict[str, Any] | None) -> str:
    """One line of the table."""
    if "error" in ours:
        return f"{case.name:34} failed: {ours['error']}"
    line = (
        f"{case.name:34} {ours['wall']:8.2f} s  cpu {ours['cpu']:7.2f}  {ours['peak_mb']:7.0f} MB"
    )
    if "points" in ours:
        line += f"  {ours['points'] / ours['wall'] / 1e3:8.0f}K pts/s"
    known = ("wall", "cpu", "peak_mb", "spread", "points")
    line += "".join(f"  {key} {value:.1f}" for key, value in ours.items() if key not in known)
    if peer is None:
        return line
    if "error" in peer:
        return f"{line}  | {case.peer_name} failed: {peer['error']}"
    ratio = ours["wall"] / peer["wall"]
    goal = (
        ""
        if case.goal is None
        else f" goal {case.goal:g} {'ok' if ratio <= case.goal else 'MISSED'}"
    )
    beside = f"{case.peer_name} {peer['wall']:.2f} s {peer['peak_mb']:.0f} MB"
    return f"{line}  | {beside}: {ratio:.3g}x{goal}"


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return {
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "commit": commit.stdout.strip(),
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the large cases too")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA"), help="folder of real data")
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"))
    arguments = parser.parse_args()
    results: dict[str, Any] = {"machine": machine(), "cases": {}}
    peers: dict[str, dict[str, Any]] = {}  # several cases share a peer's measurement
    for case in cases(arguments.data):
        if arguments.only not in case.name or (case.full and not arguments.full):
            continue
        ours = measure(case.ours, arguments.repeats)
        peer = None
        if case.peer is not None:
            key = repr(case.peer)
            peer = peers.setdefault(key, {}) or measure(case.peer, arguments.repeats)
            peers[key] = peer
        print(describe(case, ours, peer), flush=True)
        results["cases"][case.name] = {"ours": ours, "peer": peer, "goal": case.goal}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(results, indent=1))
    print(f"written to {arguments.out}")


if __name__ == "__main__":
    main()
