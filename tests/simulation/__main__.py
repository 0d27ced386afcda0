"""Run histories, one for each seed, and say which of them must not be.

python -m tests.simulation --seeds 10000           all that follows from these seeds
python -m tests.simulation --first 17 --seeds 1    the one of seed 17, once more
python -m tests.simulation --bugs                  whether each planted mistake is caught
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
LIBRARY = ROOT / "build" / "simulation" / "disk.so"

#: A planted mistake is caught within so many seeds.
SEEDS_OF_A_BUG = 100


def with_the_disk() -> None:
    """Begin anew with the library that records what is done to the disk, and fixed hashes."""
    if LIBRARY.exists() and os.environ.get("LD_PRELOAD") == str(LIBRARY):
        return
    source = HERE / "disk.cpp"
    if not LIBRARY.exists() or LIBRARY.stat().st_mtime < source.stat().st_mtime:
        LIBRARY.parent.mkdir(parents=True, exist_ok=True)
        draft = LIBRARY.with_suffix(f".{os.getpid()}")
        compiler = os.environ.get("CXX", "g++")
        words = [compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-o", draft, source, "-ldl"]
        subprocess.run([str(word) for word in words], check=True)
        draft.replace(LIBRARY)
    fixed = {"LD_PRELOAD": str(LIBRARY), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    again = [sys.executable, "-m", "tests.simulation", *sys.argv[1:]]
    os.execve(sys.executable, again, {**os.environ, **fixed})


def history(seed: int, bug: str | None = None) -> tuple[int, str | None]:
    """Run the history of a seed: how many lives it had, and what was wrong."""
    from contextlib import nullcontext

    from tests.simulation.bugs import BUGS
    from tests.simulation.histories import history_of

    memory = Path("/dev/shm")
    place = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    lives = 0
    try:
        with nullcontext() if bug is None else BUGS[bug]():
            one = history_of(seed, place)
            one.run()
        lives = one.lives
    except Exception:
        return lives, traceback.format_exc()
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return lives, None


def _history(seed: int) -> tuple[int, int, str | None]:
    return (seed, *history(seed))


def run(seeds: range, jobs: int) -> bool:
    """Run histories; whether all of them are as they must be."""
    begin, lives, wrong = time.monotonic(), 0, 0
    with multiprocessing.Pool(jobs) as pool:
        for seed, lived, trouble in pool.imap_unordered(_history, seeds, 8):
            lives += lived
            if trouble is not None:
                wrong += 1
                print(f"{trouble}seed {seed}: python -m tests.simulation --first {seed} --seeds 1")
    seconds = time.monotonic() - begin
    found = f"{wrong} must not be" if wrong else "all are as they must be"
    print(f"{len(seeds):,} histories, {lives:,} lives, {seconds:.0f} s: {found}")
    return wrong == 0


def catch_all() -> bool:
    """Plant each mistake; whether each is caught."""
    from tests.simulation.bugs import BUGS

    blind = False
    for bug in BUGS:
        for seed in range(SEEDS_OF_A_BUG):
            _, trouble = history(seed, bug)
            if trouble is not None:
                print(f"{bug:24} seed {seed:3}  {trouble.strip().splitlines()[-1][:140]}")
                break
        else:
            print(f"{bug:24} not caught")
            blind = True
    return not blind


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--bugs", action="store_true", help="plant mistakes instead")
    options = parser.parse_args()
    with_the_disk()
    logging.disable(logging.CRITICAL)  # lives that have ended complain
    seeds = range(options.first, options.first + options.seeds)
    raise SystemExit(0 if (catch_all() if options.bugs else run(seeds, options.jobs)) else 1)


if __name__ == "__main__":
    main()
