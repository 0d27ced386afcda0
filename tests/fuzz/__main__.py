"""`python -m tests.fuzz`: a third of the time each for files, properties and graphs."""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.properties import one_pass

#: A process reads files for so many seconds; then another one does, in memory of its own.
SHIFT = 30


def fuzz_files(seed: int, seconds: float, folder: Path) -> tuple[Counter[str], bool]:
    """Damaged files until the time is up. How many of which kind, and whether all was well."""
    counts: Counter[str] = Counter()
    well, end = True, time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        shifts = [
            _begin_shift(seed + k * 10**6, min(left, SHIFT), folder / str(k))
            for k in range(os.cpu_count() or 1)
        ]
        for k, shift in enumerate(shifts):
            found = _end_shift(shift, folder / str(k))
            well = well and shift.returncode == 0
            counts += found
        seed += 10**8
    return counts, well


def _begin_shift(first: int, seconds: float, folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.fuzz.files", str(folder)]
    command += ["--first", str(first), "--seconds", str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _end_shift(shift: "subprocess.Popen[str]", folder: Path) -> Counter[str]:
    out, err = shift.communicate()
    if shift.returncode != 0:
        print(err)
    try:
        return Counter(json.loads(out))
    except ValueError:  # it did not live to tell
        seed = (folder / "seed").read_text()
        kept = folder.with_name(f"crash-{seed}")
        shutil.copytree(folder, kept, dirs_exist_ok=True)
        print(f"seed {seed} ended its process ({shift.returncode}); its file is in {kept}")
        return Counter({"crashed": 1})


def fuzz_properties(seed: int, seconds: float) -> tuple[int, bool]:
    """Pass after pass over the property tests. How many examples, and whether all was well."""
    examples, well, end = 0, True, time.time() + seconds
    while time.time() < end:
        found, passed = one_pass(seed, end)
        examples, well, seed = examples + found, well and passed, seed + 1
    return examples, well


def fuzz_graphs(seed: int, seconds: float) -> tuple[Counter[str], bool]:
    """Operations on live graph trees. How many of which kind, and whether all was well."""
    counts: Counter[str] = Counter()
    command = [sys.executable, "-m", "tests.fuzz.graphs", "--seconds", str(seconds)]
    command += ["--operations", str(10**8)]
    runs = [
        subprocess.Popen([*command, "--first", str(seed + k * 10**6)], stdout=subprocess.PIPE)
        for k in range(os.cpu_count() or 1)
    ]
    outputs = [run.communicate()[0] for run in runs]
    for out in outputs:
        counts += Counter(json.loads(out)) if out else Counter({"crashed": 1})
    return counts, all(run.returncode == 0 for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, help="by default another one every time")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    options = parser.parse_args()
    seed = random.randrange(10**6) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    counts, files_well = fuzz_files(seed, options.seconds / 3, options.folder)
    for kind, number in sorted(counts.items()):
        print(f"{number:9,} {kind}")
    print(f"{counts.total():9,} files in all", flush=True)
    graphs, graphs_well = fuzz_graphs(seed, options.seconds / 3)
    for kind, number in sorted(graphs.items()):
        print(f"{number:9,} {kind}", flush=True)
    examples, properties_well = fuzz_properties(seed, options.seconds / 3)
    print(f"{examples:9,} examples of properties")
    sys.exit(not (files_well and graphs_well and properties_well))


if __name__ == "__main__":
    main()
