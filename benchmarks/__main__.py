# SPDX-License-Identifier: BSD-3-Clause
"""Speed, memory and quality beside what a user could pick instead.

Every measurement is a process of its own; both sides of a ratio are measured in
turns, in this run. Machines are noisy and differ, so the ratios count, not the
seconds.
"""

import argparse
import os
from pathlib import Path

from benchmarks import report, results
from benchmarks.cases import all_cases
from benchmarks.host import Host
from benchmarks.plan import Case, Plan
from benchmarks.results import Results
from benchmarks.runner import run
from benchmarks.tables import tables
from benchmarks.terminal import progress, show


def main(words: list[str] | None = None) -> None:
    """Command line."""
    options = _parser().parse_args(words)
    if options.report is not None:
        report.write(results.load(options.out), options.report)
        print(f"written to {options.report}")
        return
    cases = chosen(options)
    if options.list:
        for case in cases:
            print(f"{case.section}: {case.name}{' (full)' if case.full else ''}")
        return
    if not cases:
        raise SystemExit("no case has such a name; --list shows all of them")
    found = measure(cases, options)
    names = {(case.section, case.name) for case in cases}
    fresh = [record for record in found.records if (record["section"], record["name"]) in names]
    for table in tables(Results(found.facts, fresh)):
        show(table)
    print(f"written to {options.out}")


def chosen(options: argparse.Namespace) -> list[Case]:
    """The cases that the options ask for."""
    cases = all_cases(Plan(options.data, options.scale))
    if options.only:
        wanted = [words.lower() for words in options.only]
        cases = [c for c in cases if any(w in f"{c.section}: {c.name}".lower() for w in wanted)]
    return [case for case in cases if options.full or options.list or not case.full]


def measure(cases: list[Case], options: argparse.Namespace) -> Results:
    """Run the cases; what is known is written after each group, so that Ctrl-C loses little."""
    found = results.begin(_command(options), options.scale)
    if options.keep:
        found.keep(results.load(options.out))
    every = all_cases(Plan(options.data, options.scale))
    order = {(case.section, case.name): place for place, case in enumerate(every)}
    with Host(options.limit) as host, progress() as told:
        for records in run(cases, host, options.repeats, told):
            found.add(records)
            found.records.sort(key=lambda r: order.get((r["section"], r["name"]), len(order)))
            found.save(options.out)
    return found


def _command(options: argparse.Namespace) -> str:
    """The command as a reader would type it, without this machine's folders."""
    words = ["python -m benchmarks"]
    words += ["--full"] if options.full else []
    words += ["--data DATA"] if options.data else []
    words += [f'--only "{only}"' for only in options.only]
    words += [f"--repeats {options.repeats}"] if options.repeats != 3 else []
    words += [f"--scale {options.scale:g}"] if options.scale != 1 else []
    return " ".join(words)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    add("--full", action="store_true", help="the large cases too")
    add(
        "--only",
        action="append",
        default=[],
        metavar="WORDS",
        help="cases whose section or name contains these words; may be given again",
    )
    add("--repeats", type=int, default=3, metavar="N", help="rounds (3)")
    add(
        "--data",
        default=os.environ.get("RAMIFY_DATA"),
        metavar="FOLDER",
        help="folder of real data: mnist, wcep, ilsvrc12-standin (environment: RAMIFY_DATA)",
    )
    add(
        "--scale",
        type=float,
        default=1.0,
        metavar="SHARE",
        help="shrink every stream to try things out; goals are then not judged",
    )
    add("--limit", type=float, default=1800.0, metavar="SECONDS", help="for one measurement (1800)")
    add("--out", type=Path, default=Path("build/bench.json"), metavar="FILE")
    add("--keep", action="store_true", help="keep what FILE holds of other cases")
    add(
        "--report",
        type=Path,
        metavar="PAGE",
        help="measure nothing: write FILE as a page, and its picture, for the documentation",
    )
    add("--list", action="store_true", help="measure nothing: list the cases")
    return parser  # fmt: skip


if __name__ == "__main__":
    main()
