# SPDX-License-Identifier: BSD-3-Clause
"""histogram.py: how often something took how long, in a few numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

#: Upper bounds of seconds, from a tenth of a millisecond to a minute.
SECONDS = (
    0.0001,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    10,
    60,
)


class Histogram:
    """Counts between bounds, as Prometheus has them. One thread writes, any may read.

    Examples
    --------
    >>> found = Histogram((0.1, 1.0))
    >>> for seconds in (0.05, 0.1, 0.5, 7.0):
    ...     found.observe(seconds)
    >>> found.cumulative(), found.total
    ([(0.1, 2), (1.0, 3), (inf, 4)], 7.65)
    >>> print(found.text("wait_seconds", 'tree="a"'))
    wait_seconds_bucket{tree="a",le="0.1"} 2
    wait_seconds_bucket{tree="a",le="1.0"} 3
    wait_seconds_bucket{tree="a",le="+Inf"} 4
    wait_seconds_sum{tree="a"} 7.65
    wait_seconds_count{tree="a"} 4
    """

    def __init__(self, bounds: Sequence[float] = SECONDS) -> None:
        self._bounds = tuple(map(float, bounds))
        self._counts = [0] * (len(self._bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """One more."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    def cumulative(self) -> list[tuple[float, int]]:
        """Bounds, and how many were not above each."""
        found, sum_ = [], 0
        for bound, count in zip((*self._bounds, float("inf")), list(self._counts), strict=True):
            sum_ += count
            found.append((bound, sum_))
        return found

    def text(self, name: str, labels: str = "") -> str:
        """Lines for Prometheus; ``labels`` are written as they are to be."""
        some = self.cumulative()
        before = f"{labels}," if labels else ""
        within = f"{{{labels}}}" if labels else ""
        ends = ["+Inf" if bound == float("inf") else repr(bound) for bound, _ in some]
        lines = [
            f'{name}_bucket{{{before}le="{end}"}} {count}'
            for end, (_, count) in zip(ends, some, strict=True)
        ]
        lines += [f"{name}_sum{within} {self.total:.9g}", f"{name}_count{within} {some[-1][1]}"]
        return "\n".join(lines)
