# SPDX-License-Identifier: BSD-3-Clause
"""_answers.py: what a server's answers become: the objects that a tree in this process has."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ramify.client._calls import plain
from ramify.estimators import Changes
from ramify.estimators.seam import (
    Edits,
    Era,
    Event,
    Group,
    InCluster,
    Levels,
    read_alpha,
    read_levels,
)
from ramify.hierarchy import FloatArray, Hierarchy, IntArray, StickyLabels
from ramify.hierarchy.seam import Sticky
from ramify.ids import Id, as_array
from ramify.saving import load
from ramify.tree import Receipt


@dataclass(frozen=True)
class RemoteCluster:
    """One cluster of a cut; its fields are those of :class:`ramify.hierarchy.Cluster`.

    Examples
    --------
    >>> RemoteCluster(0, 7, None, 2, 1.5, 0, (0,), ({"number": 0, "id": "a", "payload": None},))
    <RemoteCluster 0: 2 points, height 1.5>
    """

    label: int
    node_id: int  #: of the node, which stays while it is there
    name: str | None  #: what people call the node
    size: float
    height: float
    first_point: int
    representatives: tuple[int, ...]  #: numbers of points that show what it holds
    examples: tuple[dict[str, Any], ...]  #: the same points: number, id, payload
    parent: int | None = None  #: label of the cluster that holds it, at a level
    stable_id: int | None = None  #: that stays while the tree goes on; None if it is new

    def __repr__(self) -> str:
        label = f"{self.label}" if self.name is None else f"{self.label} {self.name!r}"
        points = f"{self.size:,} point{'s' if self.size > 1 else ''}"
        return f"<RemoteCluster {label}: {points}, height {self.height:.4g}>"


class RemoteAssignment(NamedTuple):
    """Where rows belong, one entry each: the fields of an estimator's ``assign``, and ids.

    Examples
    --------
    >>> RemoteAssignment([0], [-1], [0], [0.5], ["0"], ["T1"]).point_ids
    ['T1']
    """

    labels: IntArray
    node_ids: IntArray
    points: IntArray
    distances: FloatArray
    path_codes: list[str]
    point_ids: list[Id | None]
    #: How sure each cluster is, if that was asked; a column for each level, if of several.
    confidence: FloatArray | None = None
    new: Any = None  #: which rows are something new, if that was asked
    #: What ``stable_labels`` of the same cut last called each cluster; -1 if it is new since then.
    stable_ids: IntArray = np.empty(0, np.int64)


class RemoteDirty(NamedTuple):
    """The clusters of a cut that are not what they were, in order of their first points.

    Examples
    --------
    >>> RemoteDirty(np.array([1]), np.array([-3]), np.array([1]), np.array([-1])).labels
    array([1])
    """

    labels: IntArray
    node_ids: IntArray
    sizes: IntArray
    stable_ids: IntArray  #: what ``stable_labels`` last called each; -1 if it is new since then


class RemoteHit(NamedTuple):
    """A point that a search found, and the nodes from the root to it.

    Examples
    --------
    >>> RemoteHit(3, "T3", "No sound", [1, -4]).payload
    'No sound'
    """

    number: int
    id: Id | None
    payload: Any
    path: list[int]


class RemoteSummary(NamedTuple):
    """A summary that is kept beside a tree: the fields of :class:`ramify.summaries.Summary`.

    Examples
    --------
    >>> RemoteSummary(17, 10, 6, "Sound and screen", True).text
    'Sound and screen'
    """

    node_id: int
    level: float
    size: float
    text: Any  #: None while it is stale
    fresh: bool  #: whether it was made of the very points that are there
    path: tuple[int, ...] = ()  #: of one that was asked for: the summarized nodes above it
    parts: tuple[dict[str, Any], ...] = ()  #: and what it is made of: node, point, size, text


class RemoteRetrieved(NamedTuple):
    """A point or a summary that was found: the fields of :class:`ramify.summaries.Hit`.

    Examples
    --------
    >>> RemoteRetrieved("No sound", 0.25, "T7", -8, 1, (17, 3)).point
    'T7'
    """

    text: Any
    distance: float
    point: Id | None  #: None: a summary
    node_id: int
    size: float
    path: tuple[int, ...]


def summary_of(told: Mapping[str, Any]) -> RemoteSummary:
    """A summary as a server tells it."""
    rest = tuple(told.get("path", ())), tuple(told.get("parts", ()))
    plain: list[Any] = [*(told[name] for name in ("node", "level", "size", "text", "fresh")), *rest]
    return RemoteSummary(*plain)


def retrieved_of(told: Mapping[str, Any]) -> list[RemoteRetrieved]:
    """What is nearest to a vector, as a server tells it."""
    names = ("text", "distance", "point", "node", "size")
    plain: list[list[Any]] = [
        [*(one[name] for name in names), tuple(one["path"])] for one in told["hits"]
    ]
    return [RemoteRetrieved(*one) for one in plain]


def cluster_of(told: Mapping[str, Any]) -> RemoteCluster:
    """A cluster as a server tells it."""
    shown = tuple(told.get("representatives", ()))
    numbers = tuple(one["number"] for one in shown)
    names = ("label", "node", "name", "size", "height", "first_point")
    rest = numbers, shown, told.get("parent"), told.get("stable_id")
    plain: list[Any] = [*(told[name] for name in names), *rest]
    return RemoteCluster(*plain)


class RemoteLayers(list[list[RemoteCluster]]):
    """The clusters of a few levels, with the least size and the persistence of each."""

    min_sizes: IntArray
    persistence: FloatArray


def layers_of(told: Mapping[str, Any]) -> RemoteLayers:
    """Levels at which clusters last, as a server tells them."""
    found = RemoteLayers(list(map(cluster_of, level)) for level in told["levels"])
    found.min_sizes = integers(told["min_sizes"])
    found.persistence = np.array(told["persistence"], np.float64)
    return found


def dirty_of(told: Mapping[str, Any]) -> RemoteDirty:
    """Clusters that are not what they were, as a server tells them."""
    labels, nodes = integers(told["labels"]), integers(told["nodes"])
    return RemoteDirty(labels, nodes, np.array(told["sizes"]), stable_of(told))


def stable_of(told: Mapping[str, Any]) -> IntArray:
    """Ids of clusters that stay, as an estimator tells them."""
    return integers([-1 if one is None else one for one in told["stable_ids"]])


def located_of(told: Mapping[str, Any]) -> InCluster:
    """The clusters of points, as an estimator tells them."""
    return InCluster(integers(told["labels"]), integers(told["nodes"]), stable_of(told))


def edits_of(told: Mapping[str, Any]) -> Edits:
    """What people have said, as an estimator tells it."""
    names, lost = (
        {int(one["node"]): str(one["text"]) for one in told[name]}
        for name in ("names", "lost_names")
    )
    linked = [integers(group) for group in told["linked"]]
    return Edits(
        names, lost, linked, integers(told["apart"]).reshape(-1, 2), integers(told["held"])
    )


def plain_labels(like: Any) -> dict[str, Any]:
    """Labels of an earlier cut, as a server takes them."""
    if isinstance(like, StickyLabels):
        return {"numbers": like.point_numbers.tolist(), "labels": like.tolist()}
    if isinstance(like, Mapping):
        return {"points": plain(like.keys()), "labels": plain(like.values())}
    return {"labels": plain(like)}


def sticky_of(told: Mapping[str, Any]) -> StickyLabels:
    """A cut that held on to an earlier one, and what that has cost."""
    cost = Sticky(integers([]), told["price"], told["moved"], told["moved_plainly"])
    return StickyLabels(integers(told["labels"]), cost, integers(told["numbers"]))


def assignment_of(told: Mapping[str, Any]) -> RemoteAssignment:
    """Where rows belong, as a server tells it."""
    labels, nodes, points = (integers(told[name]) for name in ("labels", "nodes", "nearest"))
    distances = np.array(told["distances"], np.float64)
    more = told["paths"], told["nearest_ids"]
    sure, new = told.get("confidence"), told.get("new")
    return RemoteAssignment(
        *(labels, nodes, points, distances, *more),
        None if sure is None else np.array(sure, np.float64),
        None if new is None else np.array(new, bool),
        stable_of(told),
    )


def plain_sure(confidence: Levels, new: float | None) -> dict[str, Any]:
    """How sure an answer is, as a server is asked for it."""
    levels, alpha = read_levels(confidence), None if new is None else read_alpha(new)
    sure = {"confidence": levels or None} if isinstance(levels, bool) else {"levels": levels}
    return {**sure, "new": alpha}


#: Shapes of the arrays of changes that are not flat, and those that are not whole numbers.
_WIDE = {"families": 3, "absorbed": 2}
_IDS, _FLOATS = ("ids", "leaf_ids"), ("heights", "leaf_weights")


def changes_of(told: Mapping[str, Any]) -> Changes:
    """What became of a tree, as an estimator says it."""

    def array(name: str) -> Any:
        values = told.get(name)
        if values is None and name in ("leaf_weights", "leaf_points", *_IDS):
            return None
        if name in _IDS:
            return as_array(list(values or []))
        found = np.array(values or [], np.float64 if name in _FLOATS else np.int64)
        return found.reshape(-1, _WIDE[name]) if name in _WIDE else found

    names = (one.name for one in fields(Changes))
    arrays = {name: array(name) for name in names if name not in ("since", "version")}
    return Changes(told["since"], told["version"], **arrays)


def eras_of(told: Mapping[str, Any]) -> list[Era]:
    """What became of clusters, as an estimator tells it."""
    return [
        Era(
            **{
                **era,
                "time": datetime.fromisoformat(era["time"]),
                "events": tuple(map(_event_of, era["events"])),
            }
        )
        for era in told["eras"]
    ]


def _event_of(told: Mapping[str, Any]) -> Event:
    then, now = (
        tuple(Group(one["node"], one["size"], one["first_point"]) for one in told[side])
        for side in ("then", "now")
    )
    return Event(told["kind"], then, now)


def receipt_of(told: Mapping[str, Any]) -> Receipt:
    """What became of rows: their numbers one by one, or in runs."""
    numbers = told.get("numbers")
    if numbers is None:
        runs = told["runs"]
        numbers = [first + i for first, count in runs for i in range(count)]
    return Receipt(numbers, told["version"], told["repeated"])


def integers(values: Any) -> IntArray:
    """Whole numbers as the estimators have them."""
    return np.array(values, np.int64)


def hierarchy_of(content: bytes) -> Hierarchy:
    """A tree, from the bytes of its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tree.ramify")
        path.write_bytes(content)
        found: Hierarchy = load(path)
        return found


def ids_of(told: Mapping[str, Any]) -> Any:
    """Ids of all points; AttributeError if they have none."""
    if told["ids"] is None:
        raise AttributeError("the points of this tree have no ids")
    return as_array(told["ids"])


def frame_of_assignment(found: RemoteAssignment) -> Any:
    """As a frame of pandas, with a column for each thing that was asked."""
    columns = {name: value for name, value in found._asdict().items() if value is not None}
    if found.confidence is not None:
        columns["confidence"] = found.confidence.tolist()
    return frame_of(columns)


def frame_of(table: Any) -> Any:
    """Columns, or records, as a frame of pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError('frames need pandas: pip install "ramify[export]"') from error
    return pd.DataFrame(table)
