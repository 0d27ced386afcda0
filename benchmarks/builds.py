# SPDX-License-Identifier: BSD-3-Clause
"""Two builds of ramify side by side: ``python -m benchmarks.builds FOLDER``.

FOLDER is where another build was installed with ``pip install --target FOLDER``. Every case
of ``make bench`` that fits one of our estimators is fitted by both, in turns, so that a
machine that is busy at times slows down both; the least time of each counts. What only one
of them can do is left out.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.cases import all_cases
from benchmarks.host import ONE_THREAD
from benchmarks.plan import Case, Plan


class Build:
    """A process that fits with the ramify in this folder, or with the one that is installed."""

    def __init__(self, folder: Path | None) -> None:
        here = str(Path(__file__).parent.parent)
        path = here if folder is None else os.pathsep.join((str(folder), here))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "benchmarks.builds", "--answer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | ONE_THREAD | {"PYTHONPATH": path},
        )

    def seconds(self, job: str) -> float | None:
        """Processor time of one fit; None if it cannot do that."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(job, file=self._process.stdin, flush=True)
        answer: float | None = json.loads(self._process.stdout.readline())
        return answer


def answer() -> None:
    """What a build's process does: a line for every job."""
    from benchmarks import streams

    kept: tuple[Any, Any] = (None, None)
    for line in sys.stdin:
        job = json.loads(line)
        if kept[0] != job["rows"]:
            kept = (job["rows"], streams.rows_of(**job["rows"]))
        print(json.dumps(_fit(kept[1], **job["options"])), flush=True)


def _fit(rows: Any, algorithm: str, **options: Any) -> float | None:
    import ramify

    try:
        model = getattr(ramify, algorithm)(**options)
        begun = time.process_time()
        model.fit(rows)
        return time.process_time() - begun
    except (AttributeError, TypeError, ValueError):
        return None


def cases(plan: Plan, full: bool) -> dict[str, Case]:
    """By job: those that fit, each once."""
    found: dict[str, Case] = {}
    for case in all_cases(plan):
        fits = case.ours.function == "ours.fit" and "n_jobs" not in case.ours.options
        if fits and (full or not case.full):
            job = {"rows": case.ours.rows, "options": case.ours.options}
            found.setdefault(json.dumps(job, sort_keys=True), case)
    return found


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.builds", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA"), help="real data")
    parser.add_argument("--full", action="store_true", help="also the cases of make bench-full")
    parser.add_argument("--only", default="", help="cases with this in their names")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    other, ours = Build(options.folder), Build(None)
    print(f"{'seconds, least of ' + str(options.repeats):60}{'other':>9}{'ours':>9}{'ratio':>8}")
    for job, case in cases(Plan(options.data), options.full).items():
        if options.only not in case.name:
            continue
        times = [(other.seconds(job), ours.seconds(job)) for _ in range(options.repeats)]
        theirs, mine = (
            [one for one in column if one is not None] for column in zip(*times, strict=True)
        )
        if theirs and mine:
            least = min(theirs), min(mine)
            print(
                f"{case.name:60}{least[0]:9.3f}{least[1]:9.3f}{least[1] / least[0]:8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    answer() if sys.argv[1:] == ["--answer"] else main()
