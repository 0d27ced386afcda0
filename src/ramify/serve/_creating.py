# SPDX-License-Identifier: BSD-3-Clause
"""_creating.py: what a tree can be begun with, over HTTP."""

from __future__ import annotations

from typing import Any

from ramify.checks import whole_number
from ramify.spans import read_span

#: What a tree can be created with, beside its algorithm and dimension.
OPTIONS = (
    *("metric", "linkage", "zero_rows", "n_neighbors", "n_clusters", "distance_threshold"),
    *("min_size", "window", "max_age", "duplicates", "max_leaves", "history"),
    *("weight", "max_weight"),
)


#: What a tree in shards can be created with.
BESIDE = frozenset(("algorithm", "dimension"))
OF_SHARDED = BESIDE | {
    *("metric", "linkage", "n_neighbors", "n_clusters", "distance_threshold", "min_size"),
    "history",
}


def model_of(asked: dict[str, Any], history: int) -> tuple[Any, dict[str, Any]]:
    """An estimator as it was asked for, and what was asked."""
    from ramify.estimators.seam import ALGORITHMS, from_flat

    asked = {name: value for name, value in asked.items() if value is not None}
    online = {one.name: one for one in ALGORITHMS if one.online}
    algorithm = asked.pop("algorithm", "ohac")
    if algorithm not in online:
        raise ValueError(f"algorithm={algorithm!r}: expected one of {', '.join(online)}")
    about: dict[str, Any] = {"algorithm": algorithm, **asked}
    dimension = asked.pop("dimension", None)
    if dimension is not None:
        about["dimension"] = whole_number("dimension", dimension, most=65_536, why="the limit")
    kind = online[algorithm]
    options: dict[str, Any] = {"history": history} if kind.has("history") else {}
    if "history" in options and (asked.get("duplicates") == "count" or asked.get("max_leaves")):
        options["history"] = 0  # leaves of several points have no feed
    for name, value in asked.items():
        if name not in OPTIONS:
            raise ValueError(f"unknown option {name!r}; known: {', '.join(OPTIONS)}")
        if not kind.has(name):
            raise ValueError(f"{algorithm} has no option {name!r}")
        options[name] = _span(value) if name == "max_age" else value
    model = from_flat(kind.estimator, options)
    model._check_parameters()
    return model, about


def _span(value: Any) -> Any:
    """90d and the like as a span of time; numbers as they are."""
    return read_span(value) if isinstance(value, str) else value
