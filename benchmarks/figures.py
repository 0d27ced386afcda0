# SPDX-License-Identifier: BSD-3-Clause
"""figures.py: what is read off a measurement, alone or beside a peer's, and goals for it.

A measurement is a dict of numbers: those of worker.py, and what the work adds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Measurement = dict[str, Any]

SAME_TREE = "the same tree"


@dataclass(frozen=True)
class Figure:
    """How a number is found, and how it is written."""

    read: Callable[[Measurement, Measurement], float | None]
    words: str  # with {} for the number
    digits: str = ".3g"
    by_cpu: Callable[[Measurement, Measurement], float | None] | None = None  # busy machines

    def write(self, ours: Measurement, peer: Measurement) -> str:
        """The number in words, and beside it the same by the processor's clock."""
        value = self.read(ours, peer)
        if value is None:
            return ""
        if self.words == SAME_TREE:
            return SAME_TREE if value else "ANOTHER TREE"
        cpu = None if self.by_cpu is None else self.by_cpu(ours, peer)
        more = "" if cpu is None else f" (cpu {cpu:{self.digits}}×)"
        return self.words.format(format(value, self.digits)) + more


def _own(name: str) -> Callable[[Measurement, Measurement], float | None]:
    return lambda ours, peer: ours.get(name)


def _ratio(name: str) -> Callable[[Measurement, Measurement], float | None]:
    return lambda ours, peer: _divide(ours.get(name), peer.get(name))


def _per_point(name: str) -> Callable[[Measurement, Measurement], float | None]:
    def read(ours: Measurement, peer: Measurement) -> float | None:
        parts = (_divide(one.get(name), one.get("points")) for one in (ours, peer))
        return _divide(*parts)

    return read


def _each(name: str) -> Callable[[Measurement, Measurement], float | None]:
    return lambda ours, peer: _divide(ours.get(name), ours.get("points"))


def _divide(a: float | None, b: float | None) -> float | None:
    return None if a is None or not b else a / b


def _inverse(name: str) -> Callable[[Measurement, Measurement], float | None]:
    return lambda ours, peer: _divide(peer.get(name), ours.get(name))


def _same_tree(ours: Measurement, peer: Measurement) -> float | None:
    if "digest" not in ours or "digest" not in peer:
        return None
    return float(ours["digest"] == peer["digest"])


FIGURES: dict[str, Figure] = {
    "time": Figure(_ratio("wall"), "{}× its time", by_cpu=_ratio("cpu")),
    "faster": Figure(_inverse("wall"), "{}× faster", by_cpu=_inverse("cpu")),
    "speed-up": Figure(_inverse("wall"), "{}× faster"),
    "memory": Figure(_ratio("peak_bytes"), "{}× its memory"),
    "time per insert": Figure(
        _per_point("wall"), "{}× the time an insert", by_cpu=_per_point("cpu")
    ),
    "memory per point": Figure(_per_point("peak_bytes"), "{}× the memory a point"),
    "points/s": Figure(
        lambda ours, peer: _divide(ours.get("points"), ours.get("wall")), "{} points/s", ",.0f"
    ),
    "each": Figure(
        lambda ours, peer: _divide(1e6 * ours.get("wall", 0), ours.get("points")),
        "{} µs an insert",
    ),
    "bytes": Figure(_each("peak_bytes"), "{} bytes a point", ",.0f"),
    "held": Figure(_each("held_bytes"), "{} bytes a point kept", ",.0f"),
    "input": Figure(
        lambda ours, peer: _divide(ours.get("peak_bytes"), ours.get("input_bytes")),
        "{}× the input's bytes",
    ),
    "beyond": Figure(_own("beyond_us"), "{} µs an insert beyond the search", ".0f"),
    "steps": Figure(_own("steps"), "{} places to look at", ".0f"),
    "extra": Figure(_own("extra_us"), "{} µs more"),
    "exponent": Figure(_own("exponent"), "time an insert ~ n^{}", ".2f"),
    "median": Figure(_own("median_us"), "median {} µs"),
    "p99": Figure(_own("p99"), "p99 {}× the median"),
    "p99.9": Figure(_own("p999"), "p99.9 {}× the median"),
    "worst": Figure(_own("worst"), "worst {}× the median", ",.0f"),
    "predict": Figure(_own("predict"), "insert + predict {}× insert + nearest"),
    "clusters": Figure(_own("clusters_ms"), "clusters() {} ms"),
    "labels": Figure(_own("labels_ms"), "labels_ {} ms"),
    "hierarchy": Figure(_own("hierarchy_ms"), "hierarchy() {} ms"),
    "readers": Figure(_own("read_p99_ms"), "p99 of a read {} ms"),
    "window": Figure(_own("window"), "a window {}× plain inserts"),
    "marked": Figure(_own("marked"), "after a must_link {}× plain inserts"),
    "single window": Figure(_own("single_window"), "in a window {}×"),
    "budget": Figure(_own("budget_us"), "{} µs an insert"),
    "window memory": Figure(_own("window_memory"), "grows to {}× after the second window"),
    "window revenue": Figure(_own("window_revenue"), "revenue {} beside a fresh tree", "+.4f"),
    "same tree": Figure(_same_tree, SAME_TREE),
    "heard": Figure(_own("heard_ms"), "stopped after {} ms"),
    "recall": Figure(_own("recall"), "recall {}", ".4f"),
    "depth": Figure(_own("depth"), "mean depth {}"),
    "revenue": Figure(_ratio("revenue"), "{}× its revenue", ".4f"),
}


@dataclass(frozen=True)
class Goal:
    """A figure, and what it should reach; with neither bound it is only shown."""

    figure: str
    most: float | None = None
    least: float | None = None

    def value(self, ours: Measurement, peer: Measurement) -> float | None:
        """The figure's number, if it can be found."""
        return FIGURES[self.figure].read(ours, peer)

    @property
    def words(self) -> str:
        """The goal as it is written in the table."""
        if self.figure == "same tree":
            return SAME_TREE
        if self.most is not None:
            return f"≤ {self.most:,.3g}"
        return "" if self.least is None else f"≥ {self.least:,.10g}"

    def met(self, value: float) -> bool | None:
        """Whether the number is good enough; None without a goal."""
        if self.most is not None:
            return value <= self.most
        return None if self.least is None else value >= self.least
