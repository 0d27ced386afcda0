"""python -m tests.chaos: as many kills as there is patience for; `make chaos`."""

import argparse
import tempfile
import time
from pathlib import Path

from tests.chaos.killing import kill
from tests.chaos.stream import KINDS

SMALL = [kind for kind in KINDS if kind != "large"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--trees", type=int, default=25, help="each is killed its share of times")
    parser.add_argument("--large", type=int, default=0, help="kills of a tree of 200,000 points")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    begin, done, operations = time.monotonic(), 0, 0
    for number in range(asked.trees):
        kind = SMALL[number % len(SMALL)]
        share = (asked.kills - done) // (asked.trees - number)
        with tempfile.TemporaryDirectory() as folder:
            operations += kill(Path(folder, "tree"), kind, share, asked.seed + number)
        done += share
        spent = time.monotonic() - begin
        print(f"{done} kills, {operations:,} operations, {spent:.0f} s: all is there", flush=True)
    if asked.large:
        with tempfile.TemporaryDirectory() as folder:
            found = kill(Path(folder, "tree"), "large", asked.large, asked.seed, compact=False)
        spent = time.monotonic() - begin
        print(f"{asked.large} kills of a large tree, {found:,} operations, {spent:.0f} s")


if __name__ == "__main__":
    main()
