# SPDX-License-Identifier: BSD-3-Clause
"""_answers.py: what a server's answers become: the objects that a tree in this process has."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ramify.hierarchy import FloatArray, Hierarchy, IntArray
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

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> RemoteCluster:
        """A cluster as a server tells it.

        Examples
        --------
        >>> plain = {"label": 0, "node": -1, "name": None, "size": 1, "height": 0.0}
        >>> RemoteCluster.read({**plain, "first_point": 0, "representatives": []}).node_id
        -1
        """
        shown = tuple(told["representatives"])
        return cls(
            told["label"],
            told["node"],
            told["name"],
            told["size"],
            told["height"],
            told["first_point"],
            tuple(one["number"] for one in shown),
            shown,
        )

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

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> RemoteAssignment:
        """As a server tells it.

        Examples
        --------
        >>> told = {"labels": [0], "nodes": [-1], "nearest": [0], "nearest_ids": [None]}
        >>> RemoteAssignment.read({**told, "distances": [0.5], "paths": ["0"]}).points
        array([0])
        """
        return cls(
            integers(told["labels"]),
            integers(told["nodes"]),
            integers(told["nearest"]),
            np.array(told["distances"], np.float64),
            told["paths"],
            told["nearest_ids"],
        )


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


#: Shapes of the arrays of changes that are not flat, and those that are not whole numbers.
_WIDE = {"families": 3, "absorbed": 2}
_IDS, _FLOATS = ("ids", "leaf_ids"), ("heights", "leaf_weights")


def changes_of(told: Mapping[str, Any]) -> Any:
    """What became of a tree, as an estimator says it."""
    from ramify.estimators import Changes

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


def listed_ids(points: Any) -> list[Id]:
    """Points as JSON names them: ids or numbers."""
    if isinstance(points, str) or not isinstance(points, Sequence | np.ndarray | range):
        points = [points]
    return [one.item() if isinstance(one, np.generic) else one for one in points]
