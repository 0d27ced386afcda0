# SPDX-License-Identifier: BSD-3-Clause
"""rankings.py: what a reader has to know before the tables: where the ranking is another one."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from ramify.paper.protocol import METHODS, Column
from ramify.paper.tables import Results, headline, paper_revenue, paper_triplets


class Value(NamedTuple):
    """Of one method, ours and the paper's."""

    method: str
    ours: float
    theirs: float


def sentences(columns: Sequence[Column], methods: Sequence[str], results: Results) -> list[str]:
    """Which data are not the paper's, and which two of its methods change places.

    Examples
    --------
    >>> sentences([], [], {})
    []
    """
    told = [_stand_in(column) for column in columns if _is_made(column, results)]
    compared = [name for name in methods if METHODS[name].paper == name]
    for column in columns:
        for measure, sign in (("fraction of maximum revenue", 1), ("triplet distance", -1)):
            values = [_values(column, name, measure, results) for name in compared]
            known = [value for value in values if value is not None]
            for one, other in combinations(known, 2):
                if (one.ours - other.ours) * (one.theirs - other.theirs) < 0:
                    ahead = sign * (one.ours - other.ours) > 0
                    first, second = (one, other) if ahead else (other, one)
                    told.append(_flip(column, measure, first, second))
    return told


def _is_made(column: Column, results: Results) -> bool:
    runs = [run for (name, _), found in results.items() if name == column.name for run in found]
    return column.name == "ILSVRC12" and any(one.run.order.startswith("seed") for one in runs)


def _stand_in(column: Column) -> str:
    return (
        f"{column.title} is a stand-in: points generated to the paper's size and mean similarity. "
        "Its columns say nothing about the pictures."
    )


def _values(column: Column, method: str, measure: str, results: Results) -> Value | None:
    found = results.get((column.name, method), [])
    if measure == "triplet distance":
        ours, near = headline(found, "triplet"), paper_triplets(column.name, method)
        return Value(method, ours.mean, near) if ours and near is not None else None
    ours, theirs = headline(found, "fraction"), paper_revenue(column.name, method)
    return Value(method, ours.mean, theirs[1]) if ours and theirs else None


def _flip(column: Column, measure: str, first: Value, second: Value) -> str:
    return (
        f"The ranking flips on {column.title}, by {measure}: here {first.method} "
        f"({first.ours:.3f}) comes before {second.method} ({second.ours:.3f}), in the paper "
        f"{second.method} ({second.theirs:.2f}) before {first.method} ({first.theirs:.2f})."
    )
