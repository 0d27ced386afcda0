# SPDX-License-Identifier: BSD-3-Clause
"""runner.py: cases in, records out: who is measured when, and the median of the rounds."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.figures import FIGURES, Goal, Measurement
from benchmarks.host import Host
from benchmarks.plan import Case, Job

#: Called before every measurement with how many are done, of how many, and whose turn it is.
Report = Callable[[int, int, str], None]
Record = dict[str, Any]


def run(cases: Sequence[Case], host: Host, repeats: int, report: Report) -> Iterator[list[Record]]:
    """Records of one group after the other."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.together, []).append(case)
    known: dict[str, Measurement] = {}
    turns = {together: _turns(group, repeats) for together, group in groups.items()}
    total = sum(len(turn) for turn in turns.values())
    done = 0
    for together, group in groups.items():
        runs: dict[str, list[Measurement]] = {}
        for job in turns[together]:
            report(done, total, f"{group[0].section}: {_title(job)}")
            done += 1
            if job.key not in known and _is_needed(job, group, runs):
                runs.setdefault(job.key, []).append(host.measure(job))
        known |= {key: middle(found) for key, found in runs.items()}
        yield [record(case, known) for case in group]


def _turns(group: Sequence[Case], repeats: int) -> list[Job]:
    """Who is measured when: everyone once a round, ours first."""
    wanted: dict[str, tuple[Job, int]] = {}
    sides = [case.ours for case in group] + [case.peer for case in group if case.peer is not None]
    for job in sides:
        most = max(1 if case.once else repeats for case in group if job in case.jobs)
        wanted.setdefault(job.key, (job, most))
    return [job for turn in range(repeats) for job, most in wanted.values() if turn < most]


def _is_needed(job: Job, group: Sequence[Case], runs: dict[str, list[Measurement]]) -> bool:
    """Not after a failure, and not as the peer of nobody."""

    def failed(key: str) -> bool:
        return key in runs and "wall" not in runs[key][-1]

    wanted = any(job in case.jobs and not failed(case.ours.key) for case in group)
    return wanted and not failed(job.key)


def _title(job: Job) -> str:
    name = job.options.get("algorithm", job.function.partition(".")[2])
    return f"{name} on {job.rows.get('name', job.rows['stream'])}"


def middle(runs: Sequence[Measurement]) -> Measurement:
    """The median of every figure over the runs, and the range of the times."""
    if failures := [run for run in runs if "wall" not in run]:
        return failures[0]
    figures = {name: _median([run[name] for run in runs if name in run]) for name in runs[0]}
    walls = [run["wall"] for run in runs]
    return figures | {"runs": len(runs), "fastest": min(walls), "slowest": max(walls)}


def _median(values: Sequence[Any]) -> Any:
    """Of numbers; of lists, place by place; of anything else the one value there is."""
    if all(isinstance(value, list) for value in values):
        return [_median(place) for place in zip(*values, strict=True)]
    if all(isinstance(value, int | float) for value in values):
        return statistics.median(values)
    return values[0] if len(set(values)) == 1 else "differs from run to run"


def record(case: Case, known: dict[str, Measurement]) -> Record:
    """All there is to say about a case, fit for JSON."""
    ours = known[case.ours.key]
    peer = None if case.peer is None else known.get(case.peer.key)
    return {
        "section": case.section,
        "name": case.name,
        "note": case.note,
        "ours": ours,
        "peer_name": case.peer_name,
        "peer": peer,
        "figures": [_figure(goal, ours, peer) for goal in case.goals],
    }


def _figure(goal: Goal, ours: Measurement, peer: Measurement | None) -> dict[str, Any]:
    value = goal.value(ours, peer or {})
    return {
        "figure": goal.figure,
        "value": value,
        "words": FIGURES[goal.figure].write(ours, peer or {}),
        "goal": goal.words,
        "met": None if value is None else goal.met(value),
    }
