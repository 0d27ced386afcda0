# SPDX-License-Identifier: BSD-3-Clause
"""_figures.py: what Prometheus reads of a sharded tree.

Names that ``ramify serve`` has mean the same here, for all shards together; with a label
``shard`` they are of one of them.
"""

from __future__ import annotations

from typing import Any

#: Name, kind, what it is, and where it is in a shard's figures. As in serve/_figures.py.
_OF_SHARDS = (
    ("ramify_operations_total", "counter", "operations in the journal", "seq"),
    ("ramify_commits_total", "counter", "commits since start", "commits"),
    ("ramify_commit_seconds_total", "counter", "seconds in commits", "commit_seconds"),
    ("ramify_commit_p99_seconds", "gauge", "99 % of the last 512 commits", "commit_p99"),
    ("ramify_queue_rows", "gauge", "rows that wait to be written", "queue_rows"),
    ("ramify_bytes", "gauge", "bytes of the folder", "bytes"),
    ("ramify_snapshot_lag_operations", "gauge", "operations since the last snapshot", "lag"),
    ("ramify_points", "gauge", "points in the tree", "leaves"),
    ("ramify_shard_memory_bytes", "gauge", "memory of its process", "memory"),
    ("ramify_replayed_operations", "gauge", "operations replayed at the last start", "replayed"),
    ("ramify_recovery_seconds", "gauge", "seconds of the last start", "recovery_seconds"),
    ("ramify_up_seconds", "gauge", "seconds since the last start", "up_seconds"),
)


def metrics(figures: dict[str, Any], tree: str) -> str:
    """The text for Prometheus."""
    whole = (
        ("ramify_rows_total", "counter", "rows written since start", figures["rows"]),
        ("ramify_points", "gauge", "points in the tree", figures["points"]),
        ("ramify_version", "gauge", "changes of the tree so far", figures["op"]),
    )
    lines: list[str] = []
    for name, kind, about, value in whole:
        lines += _head(name, kind, about)
        lines.append(f'{name}{{tree="{tree}"}} {value:.9g}')
    return "\n".join([*lines, *of_shards(figures, tree)]) + "\n"


def of_shards(figures: dict[str, Any], tree: str) -> list[str]:
    """Lines for what a tree in one place has not."""
    whole = (
        ("ramify_rows_per_second", "gauge", "rows a second, lately", figures["rate"]),
        ("ramify_shards", "gauge", "shards", len(figures["sizes"])),
        ("ramify_splits_total", "counter", "splits of shards since start", figures["splits"]),
    )
    lines: list[str] = []
    for name, kind, about, value in whole:
        lines += _head(name, kind, about)
        lines.append(f'{name}{{tree="{tree}"}} {value:.9g}')
    for name, kind, about, key in _OF_SHARDS:
        lines += _head(name, kind, about)
        for shard, found in enumerate(figures["shards"]):
            value = found["seq"] - found["snapshot_seq"] if key == "lag" else found[key]
            lines.append(f'{name}{{tree="{tree}",shard="{shard}"}} {value:.9g}')
    lines += _head("ramify_step_seconds_total", "counter", "seconds of inserts, by step")
    for step, seconds in figures["seconds"].items():
        lines.append(f'ramify_step_seconds_total{{tree="{tree}",step="{step}"}} {seconds:.9g}')
    return lines


def _head(name: str, kind: str, about: str) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
