# SPDX-License-Identifier: BSD-3-Clause
"""Where does an insert suddenly cost more? ``python -m benchmarks.steps``.

A sweep over kinds of rows, options and numbers of columns. It prints microseconds an insert
of OHAC, by the processor's clock, of a small and a large stream, and marks

    width  more than twice what the next smaller number of columns takes
    size   growing faster than n^0.5 from the small stream to the large one

A mark is a place to look at: some rows are simply harder than others. NumPy's products leave
threads behind that wait busily, and would be counted: they are switched off.
"""

import os

from benchmarks.host import ONE_THREAD

if __name__ == "__main__":  # before NumPy is loaded
    os.environ.update(ONE_THREAD)

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import ramify
from benchmarks.streams import Rows, gaussian, latent, records, words


def _clusters(n: int, width: int) -> Rows:
    """Fifty, well apart."""
    rng = np.random.default_rng(width)
    centres = 4 * rng.standard_normal((50, width))
    return centres[rng.integers(50, size=n)] + rng.standard_normal((n, width))


def _walk(n: int, width: int) -> Rows:
    """A random walk: no row is far from the one before."""
    return np.cumsum(0.1 * gaussian(n, width), axis=0)


def _words(n: int, width: int) -> Rows:
    """No row is without any: cosine would refuse it."""
    rows = words(n, width)
    rows[np.arange(n), np.arange(n) % width] = 1
    return rows


KINDS: dict[str, Callable[[int, int], Rows]] = {
    "latent": latent,
    "gaussian": gaussian,
    "repeats": records,
    "clusters": _clusters,
    "walk": _walk,
    "words": _words,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "average": {},
    "ward": {"linkage": "ward"},
    "cosine": {"metric": "cosine"},
}
WIDTHS = (2, 3, 5, 8, 12, 15, 16, 20, 31, 32, 64, 128, 256, 512)
SIZES = (2_000, 8_000)

#: Cheaper inserts are never marked, in microseconds.
_CHEAP = 15


@dataclass(frozen=True)
class Place:
    """What an insert costs in one place, in microseconds, and whether that is a step."""

    kind: str
    option: str
    width: int
    small: float
    large: float
    by_width: bool
    by_size: bool

    @property
    def marks(self) -> int:
        """How many there are."""
        return self.by_width + self.by_size


def _cost(rows: Rows, options: dict[str, Any]) -> float:
    model = ramify.OHAC(n_jobs=1, **options)
    begun = time.process_time()
    model.partial_fit(rows.astype(np.float32))
    return (time.process_time() - begun) / len(rows) * 1e6


def _ramp(kind: str, option: str, sizes: tuple[int, int]) -> Iterator[Place]:
    """One kind of rows under one option, by growing width."""
    before = float("inf")
    for width in WIDTHS:
        small, large = (_cost(KINDS[kind](n, width), OPTIONS[option]) for n in sizes)
        counts = large > _CHEAP
        growth = 1.2 * (sizes[1] / sizes[0]) ** 0.5
        yield Place(kind, option, width, small, large,
                    counts and large > 2 * before, counts and large > growth * small)  # fmt: skip
        before = large


def sweep(sizes: tuple[int, int] = SIZES) -> Iterator[Place]:
    """All places, one after the other."""
    ramify.OHAC().partial_fit(np.random.default_rng(0).normal(size=(50, 2)))  # load what is lazy
    for kind in KINDS:
        for option in OPTIONS:
            yield from _ramp(kind, option, sizes)


def main() -> None:
    """Print the table and the number of marks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.steps", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs=2, default=SIZES, help="rows of both streams")
    small, large = parser.parse_args().sizes
    print(f"{'':20}{'columns':>8}{small:>10,}{large:>10,}  µs an insert")
    marks = 0
    for place in sweep((small, large)):
        words = " ".join(
            word for word, is_so in (("width", place.by_width), ("size", place.by_size)) if is_so
        )
        print(
            f"{place.kind:10}{place.option:10}{place.width:8}{place.small:10.1f}{place.large:10.1f}"
            f"  {words}",
            flush=True,
        )
        marks += place.marks
    print(f"{marks} places to look at")


if __name__ == "__main__":
    main()
