# SPDX-License-Identifier: BSD-3-Clause
"""_figures.py: what Prometheus reads, in its own words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ramify.memory import resident
from ramify.ray._figures import of_shards
from ramify.serve._trees import Served

#: Name, kind, what it is, and where it is in a tree's statistics.
_OF_TREES = (
    ("ramify_operations_total", "counter", "operations in the journal", "seq"),
    ("ramify_rows_total", "counter", "rows written since start", "rows"),
    ("ramify_commits_total", "counter", "commits since start", "commits"),
    ("ramify_commit_seconds_total", "counter", "seconds in commits", "commit_seconds"),
    ("ramify_commit_p99_seconds", "gauge", "99 % of the last 512 commits", "commit_p99"),
    ("ramify_refused_total", "counter", "operations that the disk did not take", "refused"),
    ("ramify_queue_rows", "gauge", "rows that wait to be written", "queue_rows"),
    ("ramify_bytes", "gauge", "bytes of the folder", "bytes"),
    ("ramify_snapshot_lag_operations", "gauge", "operations since the last snapshot", "lag"),
)


def metrics(trees: list[Served], door: Any, waiting: int) -> str:
    """The text of /metrics."""
    lines: list[str] = []
    found = [(served, _statistics(served)) for served in trees]
    for name, kind, about, key in _OF_TREES:
        lines += _head(name, kind, about)
        lines += [f'{name}{{tree="{served.name}"}} {facts[key]:.9g}' for served, facts in found]
    for name, about, value in (
        ("ramify_points", "points in the tree", lambda one: len(one.tree)),
        ("ramify_version", "changes of the tree so far", lambda one: one.versions[-1]),
        ("ramify_feed_readers", "who follows the changes", lambda one: one.readers),
        ("ramify_depth", "merges above the latest point", _depth),
        ("ramify_churn_nodes", "nodes that the latest commit touched", _churn),
    ):
        lines += _head(name, "gauge", about)
        lines += [f'{name}{{tree="{served.name}"}} {value(served)}' for served, _ in found]
    for served, _ in found:
        if hasattr(served.tree, "figures"):  # in shards: the same names, for each of them
            lines += of_shards(served.tree.figures(), served.name)
    lines += _head("ramify_trees_to_open", "gauge", "trees that are still being replayed")
    lines.append(f"ramify_trees_to_open {waiting}")
    lines += _head("ramify_memory_bytes", "gauge", "memory of this process")
    lines.append(f"ramify_memory_bytes {resident()}")
    lines += _head("ramify_requests_total", "counter", "requests by method and status")
    for (method, status), count in sorted(door.requests.items()):
        lines.append(f'ramify_requests_total{{method="{method}",status="{status}"}} {count}')
    return "\n".join(lines) + "\n"


def _statistics(served: Served) -> dict[str, Any]:
    found = served.tree.statistics()
    return {**found, "lag": found["seq"] - found["snapshot_seq"]}


def _depth(served: Served) -> int:
    """Of one point: a tree that becomes a chain shows there."""
    live = served.tree.model._live
    number = -1 if live is None else live.next_arrival - 1
    return live.depth(number) if live is not None and number >= 0 and live.has(number) else 0


def _churn(served: Served) -> int:
    past = None if served.tree.model._live is None else served.tree.model._live.past
    steps = [] if past is None else past._steps[-1:]
    return len(steps[0].families) if steps else 0


def _head(name: str, kind: str, about: str) -> Iterable[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
