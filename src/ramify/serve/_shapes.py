# SPDX-License-Identifier: BSD-3-Clause
"""_shapes.py: what calls are made of: names, numbers, bodies."""

# No postponed annotations here: FastAPI reads them.
from datetime import datetime
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import Depends, Header, Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ramify.estimators.seam import Linkage, WayOfLive, ZeroRows
from ramify.hierarchy.seam import STICKINESS, Numbered
from ramify.metric import LinkedMetricName
from ramify.serve._bodies import JSON, KINDS

BIGGEST = 2**53  # beyond, JSON's readers differ

Name = Annotated[str, Path(description="Name of a tree", pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
PointId = Annotated[str, Path(description="Id of a point, or its number", min_length=1)]
By = Annotated[Literal["id", "number"], Query(description="What the point is named by")]
Node = Annotated[int, Path(ge=-BIGGEST, le=BIGGEST, description="Id of a node")]
_Clusters = Annotated[int | None, Query(ge=1, le=100_000, description="Number of clusters")]
_K = Annotated[
    int | None, Query(ge=1, le=100_000, deprecated=True, description="`n_clusters`, until 0.3")
]
_Height = Annotated[float | None, Query(allow_inf_nan=False, description="Cut at this height")]
_MaxSize = Annotated[int | None, Query(ge=1, le=BIGGEST, description="Largest cluster")]


MinSize = Annotated[
    int | None,
    Query(ge=1, le=BIGGEST, description="Smallest cluster: smaller ones join the nearest one"),
]


def _cut(
    n_clusters: _Clusters = None,
    height: _Height = None,
    max_size: _MaxSize = None,
    min_size: MinSize = None,
    k: _K = None,
) -> dict[str, Any]:
    """The options of a cut that were given; none for the tree's own."""
    asked = {"n_clusters": n_clusters, "k": k, "height": height, "max_size": max_size}
    given = {name: value for name, value in asked.items() if value is not None}
    if len(given) > 1:
        raise ValueError("give one of n_clusters, height and max_size")
    cut = {"n_clusters" if name == "k" else name: value for name, value in given.items()}
    return cut if min_size is None else {**cut, "min_size": min_size}


def _cut_by(
    cut: Annotated[dict[str, Any], Depends(_cut)],
    by: Annotated[WayOfLive, Query(description="What decides; `modularity` says how many")] = (
        "height"
    ),
    resolution: Annotated[
        float | None,
        Query(gt=0, allow_inf_nan=False, description="By modularity: the larger, the more"),
    ] = None,
) -> dict[str, Any]:
    """The same, and what the cut goes by, if not by height."""
    given = {"by": None if by == "height" else by, "resolution": resolution}
    return cut | {name: value for name, value in given.items() if value is not None}


def _sure(
    confidence: Annotated[bool, Query(description="Say how sure each cluster is")] = False,
    levels: Annotated[
        list[Annotated[int, Field(ge=1, le=100_000)]] | None,
        Query(max_length=20, description="Or at cuts into these numbers of clusters, ascending"),
    ] = None,
    new: Annotated[
        float | None,
        Query(gt=0, lt=1, description="Say what is new, with this share of false alarms"),
    ] = None,
) -> dict[str, Any]:
    """What was asked of how sure an answer is."""
    if confidence and levels:
        raise ValueError("give confidence or levels, one of the two")
    asked = {"confidence": levels or confidence or None, "new": new}
    return {name: value for name, value in asked.items() if value is not None}


Cut = Annotated[dict[str, Any], Depends(_cut)]
AnyCut = Annotated[dict[str, Any], Depends(_cut_by)]
Sure = Annotated[dict[str, Any], Depends(_sure)]
Cursor = Annotated[
    str | None, Query(max_length=100, description="`next` of the page before, for the next one")
]
Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=180, min_length=1)]
Version = Annotated[int, Query(ge=0, le=BIGGEST, description="One that an answer has named")]


def _since(text: object) -> int | datetime:
    if isinstance(text, str) and text.isascii() and text.isdigit() and int(text) <= BIGGEST:
        return int(text)
    try:
        return datetime.fromisoformat(str(text))
    except ValueError:
        raise ValueError("expected a version, or a time such as 2026-11-18T09:00:00Z") from None


Since = Annotated[
    int | datetime,
    BeforeValidator(_since),
    Query(description="A version that an answer has named, or a time: the last version of then"),
]


_Point = Annotated[str, Field(max_length=1000)] | Annotated[int, Field(ge=-BIGGEST, le=BIGGEST)]


class SomePoints(BaseModel):
    """Points, by their ids, or by numbers."""

    model_config = ConfigDict(extra="forbid", strict=True)

    points: Annotated[list[_Point], Field(min_length=1, max_length=100_000)]


class Earlier(BaseModel):
    """Labels of an earlier cut, in order, or of some points: by ids, or by numbers."""

    model_config = ConfigDict(extra="forbid", strict=True)

    labels: Annotated[list[int], Field(max_length=10_000_000)]
    points: Annotated[list[_Point], Field(max_length=10_000_000)] | None = None
    numbers: Annotated[list[int], Field(max_length=10_000_000)] | None = None
    stickiness: Annotated[float, Field(ge=0, allow_inf_nan=False)] = STICKINESS

    def like(self) -> Any:
        """As the tree takes it."""
        told = self.points if self.numbers is None else self.numbers
        if told is not None and len(told) != len(self.labels):
            raise ValueError(f"{len(told)} points, and {len(self.labels)} labels of an earlier cut")
        if self.numbers is not None:
            return Numbered(np.array(self.numbers, np.int64), np.array(self.labels, np.int64))
        if self.points is not None:
            return dict(zip(self.points, self.labels, strict=True))
        return self.labels


class NewName(BaseModel):
    """What a tree is to be called."""

    model_config = ConfigDict(extra="forbid", strict=True)

    to: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]


class NewTree(BaseModel):
    """How to begin a tree."""

    model_config = ConfigDict(extra="forbid", strict=True)

    algorithm: str = "ohac"
    dimension: Annotated[int, Field(ge=1, le=65_536)] | None = None
    metric: LinkedMetricName | None = None
    linkage: Linkage | None = None
    zero_rows: ZeroRows | None = None
    n_neighbors: Annotated[int, Field(ge=1, le=100)] | None = None
    n_clusters: Annotated[int, Field(ge=1, le=BIGGEST)] | None = None
    distance_threshold: Annotated[float, Field(allow_inf_nan=False)] | None = None
    min_size: Annotated[int, Field(ge=1, le=BIGGEST)] | None = None
    window: Annotated[int, Field(ge=1, le=BIGGEST)] | None = None
    max_age: Annotated[float, Field(gt=0, allow_inf_nan=False)] | str | None = None
    duplicates: Literal["keep", "count"] | None = None
    max_leaves: Annotated[int, Field(ge=2, le=BIGGEST)] | None = None
    history: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    weight: Literal["snn", "jaccard", "similarity"] | None = None
    max_weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None


_POINT = {
    "type": "object",
    "required": ["vector"],
    "properties": {
        "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "vector": {"type": "array", "items": {"type": "number"}, "minItems": 1},
        "payload": {},
        "weight": {"type": "number"},
        "time": {},
    },
}
_EDGE = {
    "type": "array",
    "minItems": 3,
    "maxItems": 3,
    "items": {"anyOf": [{"type": "string"}, {"type": "number"}]},
    "description": "Of a tree of edges: two ids and a weight; 0 takes the edge away",
}
_EDGES = {
    "type": "object",
    "required": ["edges"],
    "properties": {
        "edges": {"type": "array", "items": _EDGE},
        "ids": {"type": "array", "items": _POINT["properties"]["id"]},  # type: ignore[index]
        "payloads": {"type": "array"},
    },
}
POINTS = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {
                "schema": {
                    "anyOf": [
                        {
                            "type": "object",
                            "required": ["points"],
                            "properties": {
                                "points": {"type": "array", "items": _POINT, "minItems": 1}
                            },
                        },
                        _EDGES,
                    ]
                }
            },
            **{kind: {"schema": {"type": "string", "format": "binary"}} for kind in KINDS[1:]},
        },
    }
}
VECTORS = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {
                "schema": {
                    "type": "object",
                    "required": ["vectors"],
                    "properties": {
                        "vectors": {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "array", "items": {"type": "number"}, "minItems": 1},
                        }
                    },
                }
            }
        },
    }
}
