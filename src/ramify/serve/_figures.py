# SPDX-License-Identifier: BSD-3-Clause
"""_figures.py: what Prometheus reads, in its own words."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version as version_of
from platform import python_version
from typing import Any

from ramify.journal import DurableTree
from ramify.journal.seam import sizes_of
from ramify.memory import resident
from ramify.ray._figures import of_shards
from ramify.serve._hooks import Hook
from ramify.serve._served import Served
from ramify.serve._trees import Trees

#: The format, by the name that Prometheus knows it by.
FIGURES = "text/plain; version=0.0.4"

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


def metrics(trees: Trees, door: Any) -> str:
    """The text of /metrics."""
    lines: list[str] = []
    found = [(served, _statistics(served)) for served in trees.all()]
    for name, kind, about, key in _OF_TREES:
        lines += _head(name, kind, about)
        lines += [f'{name}{{tree="{served.name}"}} {facts[key]:.9g}' for served, facts in found]
    for name, about, value in (
        ("ramify_points", "points in the tree", lambda one: len(one.tree)),
        ("ramify_version", "changes of the tree so far", lambda one: one.versions[-1]),
        ("ramify_vector_bytes", "bytes of the rows in memory", _vector_bytes),
        ("ramify_feed_readers", "who follows the changes", _followers),
        ("ramify_feed_dropped_total", "followers that did not read", _dropped),
        ("ramify_depth", "merges above the latest point", _depth),
        ("ramify_churn_nodes", "nodes that the latest commit touched", _churn),
    ):
        lines += _head(name, "counter" if name.endswith("_total") else "gauge", about)
        lines += [f'{name}{{tree="{served.name}"}} {value(served)}' for served, _ in found]
    lines += _of_files(found)
    lines += _of_commits(found)
    for served, _ in found:
        if hasattr(served.tree, "shard_statistics"):  # in shards: the same names, for each of them
            lines += of_shards(served.tree.shard_statistics(), served.name)
    lines += _head("ramify_trees_to_open", "gauge", "trees that are still being replayed")
    lines.append(f"ramify_trees_to_open {trees.waiting}")
    lines += _head("ramify_trees", "gauge", "trees by state")
    lines += [f'ramify_trees{{state="{one}"}} {n}' for one, n in trees.states().items()]
    lines += _head("ramify_tree_failed", "gauge", "1 for a tree that is out of order or in use")
    lines += [f'ramify_tree_failed{{tree="{name}"}} 1' for name in sorted(trees.failed())]
    lines += _head("ramify_connections", "gauge", "open connections")
    lines.append(f"ramify_connections {len(door.connections)}")
    lines += _head("ramify_connections_closed_total", "counter", "closed for keeping us waiting")
    lines.append(f"ramify_connections_closed_total {door.connections.closed}")
    for name, about, counted in (
        ("ramify_webhook_calls_total", "calls of webhooks that were answered", "called"),
        ("ramify_webhook_failures_total", "calls of webhooks that were not", "failed"),
    ):
        lines += _head(name, "counter", about)
        lines += [
            f'{name}{{webhook="{host}"}} {sum(getattr(one, counted) for one in hooks)}'
            for host, hooks in _by_host(trees.hooks.hooks).items()
        ]
    lines += _head("ramify_memory_bytes", "gauge", "memory of this process")
    lines.append(f"ramify_memory_bytes {resident()}")
    lines += _head("ramify_requests_total", "counter", "requests by method and status")
    for (method, status), count in sorted(door.requests.items()):
        lines.append(f'ramify_requests_total{{method="{method}",status="{status}"}} {count}')
    lines += _head("ramify_request_duration_seconds", "histogram", "until the end of an answer")
    for method, seconds in sorted(door.seconds.items()):
        lines.append(seconds.text("ramify_request_duration_seconds", f'method="{method}"'))
    lines += _head("ramify_build_info", "gauge", "1, with the versions as labels")
    lines.append(
        f'ramify_build_info{{version="{version_of("ramify")}",python="{python_version()}"}} 1'
    )
    return "\n".join(in_families(lines)) + "\n"


def _by_host(hooks: Iterable[Hook]) -> dict[str, list[Hook]]:
    found: dict[str, list[Hook]] = {}
    for one in hooks:
        found.setdefault(one.host, []).append(one)
    return found


def in_families(lines: Iterable[str]) -> list[str]:
    """All lines of a name together, behind one head: what is written for shards, too.

    Examples
    --------
    >>> a, b = "# TYPE a gauge", "# TYPE b gauge"
    >>> in_families([a, "a 1", b, "b 2", a, "a{c='1'} 3"])
    ['# TYPE a gauge', 'a 1', "a{c='1'} 3", '# TYPE b gauge', 'b 2']
    """
    heads: dict[str, dict[str, None]] = {}
    samples: dict[str, list[str]] = {}
    name = ""
    for line in "\n".join(lines).splitlines():
        if line.startswith("#"):
            name = line.split()[2]
            heads.setdefault(name, {}).setdefault(line)
            samples.setdefault(name, [])
        else:
            samples[name].append(line)
    return [line for name, head in heads.items() for line in [*_one_of_each(head), *samples[name]]]


def _one_of_each(head: Iterable[str]) -> list[str]:
    """A name has one line of help, however often it was explained."""
    return list({line.split()[1]: line for line in reversed(list(head))}.values())[::-1]


def _of_files(found: list[tuple[Served, dict[str, Any]]]) -> list[str]:
    lines = [*_head("ramify_file_bytes", "gauge", "bytes of the folder by kind of file")]
    for served, _ in found:
        if isinstance(served.tree, DurableTree):
            lines += [
                f'ramify_file_bytes{{tree="{served.name}",kind="{kind}"}} {size}'
                for kind, size in sizes_of(served.tree.folder).items()
                if kind != "total"
            ]
    return lines


def _of_commits(found: list[tuple[Served, dict[str, Any]]]) -> list[str]:
    lines: list[str] = []
    for name, about, key in (
        ("ramify_commit_duration_seconds", "until a commit was on the disk", "seconds"),
        ("ramify_commit_rows", "rows of a commit", "rows"),
    ):
        lines += _head(name, "histogram", about)
        for served, _ in found:
            if isinstance(served.tree, DurableTree):
                told = served.tree.histograms()[key]
                lines.append(told.text(name, f'tree="{served.name}"'))
    return lines


def _statistics(served: Served) -> dict[str, Any]:
    found = served.tree.statistics()
    return {**found, "lag": found["seq"] - found["snapshot_seq"]}


def _followers(served: Served) -> int:
    return 0 if served.feed is None else len(served.feed)


def _dropped(served: Served) -> int:
    return 0 if served.feed is None else served.feed.dropped


def _depth(served: Served) -> int:
    """Of one point: a tree that becomes a chain shows there."""
    stream = served.tree.stream
    number = stream.next_number - 1
    return stream.depth(number) if stream.has(number) else 0


def _vector_bytes(served: Served) -> int:
    stream = served.tree.stream
    width = stream.width if stream.begun else None
    return 0 if width is None else len(served.tree) * width * stream.dtype.itemsize


def _churn(served: Served) -> int:
    return served.tree.stream.n_touched


def _head(name: str, kind: str, about: str) -> Iterable[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
