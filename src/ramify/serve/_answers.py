# SPDX-License-Identifier: BSD-3-Clause
"""_answers.py: what a tree says, as JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from ramify.estimators.stream import PointStream
from ramify.hierarchy import Layers, Levels
from ramify.journal import DurableTree
from ramify.journal.seam import of_one_version
from ramify.serve._lists import Listed
from ramify.serve._served import Served
from ramify.serve._view import Block, Still, blocks, heads, node_facts

FORMATS = ("json", "newick", "linkage", "ramify", "arrow", "graphml")

_LONGEST_TITLE = 160

#: Nodes and points that a brief account of changes names.
_MOST_TOLD = 2000


def clusters(tree: DurableTree, cut: dict[str, Any], representatives: int) -> Listed:
    """The clusters of a cut: ids that stay, sizes, heights and points that show what they are."""
    cut = _possible(tree, cut)

    def look() -> tuple[Any, Any]:
        found = tree.clusters(**cut)
        return found, found.stable_ids

    version, (found, ids) = of_one_version(tree, look)
    called = stable(ids)
    order = np.argsort(-np.asarray(found.sizes), kind="stable")
    nodes, sizes = np.asarray(found.node_ids)[order], np.asarray(found.sizes)[order]
    heights, firsts = np.asarray(found.heights)[order], np.asarray(found.first_points)[order]
    means = None
    if representatives > 0 and found.means is not None:
        means = np.asarray(found.means)[order]

    def show(begin: int, end: int) -> list[dict[str, Any]]:
        some = slice(begin, end)
        examples = _examples(tree, nodes[some], firsts[some], means, begin, cut, representatives)
        known = describe(tree, [one for those in examples for one in those])
        names = names_in_cuts(tree)
        return [
            {
                "label": int(order[at]),
                "node": int(nodes[at]),
                "stable_id": called[int(order[at])],
                "name": names.get(int(nodes[at])),
                "size": _plain(sizes[at]),
                "height": float(heights[at]),
                "first_point": int(firsts[at]),
                "representatives": [known[one] for one in examples[at - begin]],
            }
            for at in range(begin, end)
        ]

    arrays = (order, ids, nodes, sizes, heights, firsts, *(() if means is None else (means,)))
    return Listed(version, len(order), sum(one.nbytes for one in arrays), show)


def stable(ids: Any) -> list[int | None]:
    """Ids of clusters that stay; None: a cluster is new since they were given."""
    return [None if one < 0 else one for one in ids.tolist()]


def levels(tree: DurableTree, ask: Callable[[], Levels]) -> dict[str, Any]:
    """Several cuts, each inside of the one before."""

    def look() -> Any:
        found = ask()
        return found, [(level, level.stable_ids) for level in found]

    version, (several, found) = of_one_version(tree, look)
    names = names_in_cuts(tree)
    about: dict[str, Any] = {}
    if isinstance(several, Layers):
        about["min_sizes"] = several.min_sizes.tolist()
        about["persistence"] = several.persistence.tolist()
    return {
        "version": version,
        **about,
        "levels": [
            [
                {
                    "label": cluster.label,
                    "node": cluster.node_id,
                    "stable_id": cluster.stable_id,
                    "name": names.get(cluster.node_id),
                    "size": _plain(cluster.size),
                    "height": cluster.height,
                    "first_point": cluster.first_point,
                    "parent": cluster.parent,
                }
                for cluster in level
            ]
            for level, _ in found
        ],
    }


def _possible(tree: DurableTree, cut: dict[str, Any]) -> dict[str, Any]:
    """A cut into at most as many clusters as there are leaves."""
    if "n_clusters" in cut:
        return cut | {"n_clusters": min(cut["n_clusters"], max(len(tree), 1))}
    return cut


def _examples(
    tree: DurableTree, wanted: Any, firsts: Any, means: Any, begin: int, cut: Any, count: int
) -> list[list[int]]:
    """The points nearest to each cluster's mean that are in it. The tree may grow meanwhile."""
    stream = tree.stream
    if means is None:  # of a tree of edges: there are no rows to be near to
        return [[one] if count > 0 and stream.has(one) else [] for one in firsts.tolist()]
    most = min(2 * count, len(stream))
    if most == 0 or len(wanted) == 0:
        return [[] for _ in wanted]
    numbers, _ = stream.nearest(_unit(means[begin : begin + len(wanted)], stream), most)
    _, nodes = tree.cluster_of(numbers.reshape(-1), **cut)
    nodes = nodes.reshape(numbers.shape)
    examples: list[list[int]] = []
    for at, node in enumerate(wanted.tolist()):
        inside = numbers[at][nodes[at] == node][:count].tolist()
        first = int(firsts[at])
        examples.append(inside or ([first] if stream.has(first) else []))
    return examples


def _unit(means: Any, stream: PointStream) -> Any:
    rows = np.ascontiguousarray(means, dtype=stream.dtype)
    if stream.metric.unit_rows:  # a mean of directions may be none
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = np.where(lengths > 0, rows, 1.0).astype(stream.dtype)
    return rows


def describe(tree: DurableTree, numbers: list[int]) -> dict[int, dict[str, Any]]:
    """Number, id and payload of points."""
    payloads = tree.payloads(numbers)
    return {
        number: {"number": number, "id": name, "payload": payloads.get(number)}
        for number, name in zip(numbers, tree.ids_of(numbers), strict=True)
    }


def names_of(tree: DurableTree) -> dict[int, str]:
    """What people call nodes, by their ids."""
    found: dict[int, str] = tree.stream.node_names
    return found


def names_in_cuts(tree: DurableTree) -> dict[int, str]:
    """What clusters of any cut are called, by the ids of their nodes."""
    found: dict[int, str] = tree.stream.names_in_cuts
    return found


def title(described: dict[str, Any]) -> str:
    """A few words for a point: its payload's text, or its id."""
    payload = described["payload"]
    if isinstance(payload, dict):
        words = (payload.get(name) for name in ("title", "name", "text", "subject"))
        texts = [value for value in payload.values() if isinstance(value, str)]
        payload = next((one for one in words if isinstance(one, str)), next(iter(texts), None))
    if isinstance(payload, str) and payload.strip():
        text = " ".join(payload.split())
        return text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 1]}…"
    name = described["id"]
    return f"point {described['number']}" if name is None else str(name)[:_LONGEST_TITLE]


def assigned(
    tree: DurableTree, X: Any, cut: dict[str, Any], sure: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Where rows belong, and how sure that is, if asked; nothing is inserted."""
    found = tree.assign(X, **_possible(tree, cut), **(sure or {}))
    points = [int(point) for point in found.points]
    told: dict[str, Any] = {}
    if found.confidence is not None:
        told["confidence"] = _or_null(found.confidence)
    if found.new is not None:
        told["new"] = found.new.tolist()
    return {
        "labels": found.labels.tolist(),
        "nodes": found.node_ids.tolist(),
        "stable_ids": stable(found.stable_ids),
        "nearest": points,
        "nearest_ids": tree.ids_of(points),
        "distances": found.distances.tolist(),
        "paths": found.path_codes,
        **told,
    }


def _or_null(values: Any) -> Any:
    """Numbers as JSON has them, in which there is no NaN."""
    plain = np.asarray(values).astype(object)
    plain[np.isnan(values)] = None
    return plain.tolist()


def node(served: Served, wanted: int, members: int) -> dict[str, Any]:
    """A node: its parts, its neighbours, and some of the points below it."""
    still, place = _place(served, wanted)
    below = still.numbers_below(place, members)
    shown = still.spread(place, 5)
    known = describe(served.tree, [*below, *shown])
    path = [still.public(one) for one in still.tree.path(place).tolist()]
    return {
        "version": still.version,
        **node_facts(still, place),
        "name": names_of(served.tree).get(still.public(place)),
        "path": path,
        "leaves": still.count(place),
        "members": [known[one] for one in below],
        "representatives": [known[one] for one in shown],
    }


def members(served: Served, wanted: int) -> Listed:
    """The points below a node, from left to right; those that have left meanwhile are left out."""
    still, place = _place(served, wanted)
    numbers = np.array(still.numbers_below(place, still.n_points(place)), np.int64)

    def show(begin: int, end: int) -> list[dict[str, Any]]:
        stream = served.tree.stream
        some = [one for one in numbers[begin:end].tolist() if stream.has(one)]
        known = describe(served.tree, some)
        return [known[one] for one in some]

    return Listed(still.version, len(numbers), numbers.nbytes, show)


def hits(tree: DurableTree, text: str) -> Listed:
    """Points by words of their payloads, the best first, with the path to each."""
    version, found = tree.version, tree.ranked(text)

    def show(begin: int, end: int) -> list[dict[str, Any]]:
        stream = tree.stream
        some = [one for one in found[begin:end].tolist() if stream.has(one)]
        known = describe(tree, some)
        return [{**known[one], "path": _path(stream, one)} for one in some]

    return Listed(version, len(found), found.nbytes, show)


def _path(stream: PointStream, number: int) -> list[int]:
    try:
        found: list[int] = stream.path(number)[0].tolist()
    except (LookupError, ValueError):  # it has left in between
        found = []
    return found


def _place(served: Served, wanted: int) -> tuple[Still, int]:
    """A tree at rest that has this node, and where; a node may be younger than the one at hand."""
    still = served.view.still()
    for _ in range(2):
        try:
            return still, still.tree.node_of(wanted)
        except (KeyError, ValueError, IndexError):
            still = served.view.still(at_least=served.versions[-1])
    raise LookupError(f"there is no node {wanted} in version {still.version}")


def outline(served: Served, wanted: int | None, most: int, k: int) -> dict[str, Any]:
    """The part of a tree that can be seen, for the page."""
    if wanted is None:
        still = served.view.still()
        root = still.tree.root
    else:
        still, root = _place(served, wanted)
    found = blocks(still, root, most)
    shown = [still.middle(block.node) for block in found]
    clusters_of = heads(still, found, k)
    known, names = describe(served.tree, shown), names_of(served.tree)
    return {
        "version": still.version,
        "leaves": still.tree.n_leaves,
        "root": still.public(root),
        "path": [still.public(one) for one in still.tree.path(root).tolist()],
        "cut": len(found) == most,  # there may be more
        "blocks": [
            {
                "id": still.public(block.node),
                "last": still.public(block.last),
                "parent": block.parent,
                "size": block.size,
                "height": still.height(block.node),
                "split": still.height(block.last),
                "name": _name(still, block, names),
                "title": title(known[number]),
                "cluster": None if head is None else still.public(head),
            }
            for block, number, head in zip(found, shown, clusters_of, strict=True)
        ],
    }


def _name(still: Still, block: Block, names: dict[int, str]) -> str | None:
    """What people call a branch: the name of its upper end, or of its lower one."""
    if not names:
        return None
    return names.get(still.public(block.node)) or names.get(still.public(block.last))


def changes(found: Any, brief: bool = False) -> dict[str, Any]:
    """What became of a tree between two versions."""
    told = {"since": found.since, "version": found.version}
    names = ("inserted", "forgotten", "born", "retired", "grown", "shrunk")
    if brief:
        shown = ("inserted", "born", "grown")
        some = {name: getattr(found, name)[:_MOST_TOLD].tolist() for name in shown}
        return {**told, **some, "counts": {name: len(getattr(found, name)) for name in names}}
    return {
        **told,
        **{name: getattr(found, name).tolist() for name in (*names, "rewired", "moved")},
        "families": found.families.tolist(),
        "heights": found.heights.tolist(),
        "ids": _listed(found.ids),
        **{name: getattr(found, name).tolist() for name in ("absorbed", "leaves", "removed")},
        "leaf_weights": _listed(found.leaf_weights),
        "leaf_ids": _listed(found.leaf_ids),
        "leaf_points": _listed(found.leaf_points),
    }


def _listed(array: Any) -> Any:
    return None if array is None else array.tolist()


def export(version: int, tree: Any, format: str) -> tuple[bytes, str]:
    """A tree as a file, and what kind of file it is."""
    if format == "json":
        from ramify.estimators.seam import families_of

        whole = families_of(tree)
        told = {
            "version": version,
            "points": tree.point_numbers.tolist(),
            "leaves": whole.points.tolist(),
            "ids": _listed(tree.names),
            "leaf_weights": _listed(whole.weights),
            "families": np.column_stack([whole.ids, whole.children]).tolist(),
            "heights": whole.values[:, 0].tolist(),
            "node_names": dict(tree.node_names),
        }
        return json.dumps(told).encode(), "application/json"
    if format == "newick":
        return tree.to_newick().encode("utf-8", "replace"), "text/plain; charset=utf-8"
    room = io.BytesIO()
    if format == "linkage":
        np.save(room, tree.to_linkage())
        return room.getvalue(), "application/x-npy"
    if format == "graphml":
        tree.to_graphml(room)
        return room.getvalue(), "application/xml"
    if format == "arrow":
        import pyarrow as pa

        table = tree.to_arrow()
        with pa.ipc.new_stream(room, table.schema) as out:
            out.write_table(table)
        return room.getvalue(), "application/vnd.apache.arrow.stream"
    return _ramify_file(tree), "application/octet-stream"


def _ramify_file(tree: Any) -> bytes:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tree.ramify")
        tree.save(path)
        return path.read_bytes()


def _plain(value: Any) -> int | float:
    number = float(value)
    return int(number) if number.is_integer() else number
