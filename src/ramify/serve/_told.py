# SPDX-License-Identifier: BSD-3-Clause
"""_told.py: what answers are made of, for the description of the calls; tests check answers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, RootModel

Id = str | int


class Told(BaseModel):
    """An answer with these parts and no others."""

    model_config = ConfigDict(extra="forbid")


class TreeFacts(BaseModel):
    """A tree's figures, and the options that it was begun with."""

    model_config = ConfigDict(extra="allow")

    name: str
    state: str
    dimension: int | None
    points: int | None
    leaves: int | None
    version: int | None
    oldest_version: int | None
    ids: str | None
    journal: dict[str, Any] | None


class AllTrees(Told):
    """Trees that can be used, those that cannot and why, and how many are in which state."""

    trees: list[TreeFacts]
    failed: dict[str, str]
    states: dict[str, int]


class Deleted(Told):
    """What was deleted, and how many points it had."""

    deleted: str
    points: int


class Erased(Told):
    """Bytes that the folder has afterwards."""

    bytes: int


class SnapshotTaken(Told):
    """The operation that a snapshot was taken after."""

    operation: int


class Inserted(Told):
    """Of a body of JSON: the number of each row, -1 for one that was left out."""

    numbers: list[int]
    version: int
    repeated: int


class InsertedStream(Told):
    """Of a body in pieces: numbers as runs, the first of each and how many."""

    rows: int
    first: int | None
    repeated: int
    version: int
    skipped: list[int]
    runs: list[list[int]]


class Came(RootModel[Inserted | InsertedStream]):
    """Which of the two depends on the body."""


class AllPoints(Told):
    """Numbers, and ids if there are any, in one order."""

    version: int
    numbers: list[int]
    ids: list[Id] | None


class Point(Told):
    """A point."""

    number: int
    id: Id | None
    payload: Any


class Points(Told):
    """Several."""

    points: list[Point]


class Hit(Point):
    """A point that was found, with the nodes from the root to it."""

    path: list[int]


class PathTo(Told):
    """From the root to a point; the code has a letter for each step."""

    number: int
    nodes: list[int]
    code: str


class Forgotten(Told):
    """How many points have left."""

    forgotten: int
    version: int


class PolishRound(Told):
    """An attempt to merge the top anew."""

    m: int
    before: float
    after: float
    kept: bool
    gain: float


class Polished(Told):
    """What merging the top anew has gained."""

    changed: bool
    by: str
    rounds: list[PolishRound]
    version: int


class Edited(Told):
    """The version with the edit in it."""

    version: int


class NodeName(Told):
    """What people call a node."""

    node: int
    text: str


class Edits(Told):
    """All that people have said."""

    names: list[NodeName]
    lost_names: list[NodeName]
    linked: list[list[int]]
    apart: list[list[int]]
    held: list[int]


class Assigned(Told):
    """Where vectors belong, each at its place."""

    labels: list[int]
    nodes: list[int]
    nearest: list[int]
    nearest_ids: list[Id | None]
    stable_ids: list[int | None]
    distances: list[float]
    paths: list[str]
    confidence: list[float | None] | list[list[float | None]] | None = None
    new: list[bool] | None = None


class Page(Told):
    """A part of a list: `next` is the cursor of the part behind it."""

    version: int
    total: int
    next: str | None


class Cluster(Told):
    """A cluster of a cut."""

    label: int
    node: int
    stable_id: int | None
    name: str | None
    size: float
    height: float
    first_point: int


class ShownCluster(Cluster):
    """With points that show what it is about."""

    representatives: list[Point]


class Clusters(Page):
    """The clusters of a cut, the largest first."""

    clusters: list[ShownCluster]


class LevelCluster(Cluster):
    """With the label of the cluster that it sits in, one level up."""

    parent: int | None


class Levels(Told):
    """Several cuts."""

    version: int
    levels: list[list[LevelCluster]]
    min_sizes: list[int] | None = None
    persistence: list[float] | None = None


class Node(Told):
    """A node and some of the points below it."""

    version: int
    id: int
    size: int
    height: float
    parent: int | None
    children: list[int]
    name: str | None
    path: list[int]
    leaves: int
    members: list[Point]
    representatives: list[Point]


class Members(Page):
    """Points below a node."""

    members: list[Point]


class Hits(Page):
    """Points by words of their payloads."""

    hits: list[Hit]


class Block(BaseModel):
    """A branch as the page draws it; what else the page needs may come and go."""

    id: int
    last: int
    parent: int
    size: float
    height: float
    split: float
    title: str
    cluster: int | None


class Outline(BaseModel):
    """What can be seen of a tree, for the page."""

    version: int
    leaves: int
    root: int
    path: list[int]
    cut: bool
    blocks: list[Block]


class Labels(Told):
    """The cluster of every point; of a cut that holds on to another, what that has cost."""

    version: int
    numbers: list[int]
    labels: list[int]
    price: float | None = None
    moved: float | None = None
    moved_plainly: float | None = None


class StableLabels(Told):
    """By ids that stay; or only how many there are."""

    labels: list[int] | None = None
    clusters: int | None = None


class Keywords(Told):
    """Words of each cluster."""

    keywords: list[list[str]]


class ClustersOf(Told):
    """The clusters of some points."""

    labels: list[int]
    nodes: list[int]
    stable_ids: list[int | None]


class Nearest(Told):
    """Numbers of the nearest points, and how far they are, a list for each row."""

    points: list[list[int]]
    distances: list[list[float]]


class Dirty(Told):
    """Clusters that are not what they were."""

    labels: list[int]
    nodes: list[int]
    stable_ids: list[int | None]
    sizes: list[float]


class Changes(BaseModel):
    """The net effect between two versions; all lists are there if it has changed."""

    since: int
    version: int
    changed: bool


class Group(Told):
    """A cluster that something happened to; a point that it began with, if that is still there."""

    node: int
    size: float
    first_point: int
    point: Point | None


class Event(Told):
    """Clusters that were born or have gone, were split or joined: before and after."""

    kind: Literal["born", "gone", "split", "joined"]
    then: list[Group]
    now: list[Group]


class Era(Told):
    """What happened between two versions."""

    since: int
    version: int
    time: str
    inserted: int
    forgotten: int
    events: list[Event]


class Timeline(Told):
    """What became of the clusters of a cut, the earliest first."""

    version: int
    eras: list[Era]


class StreamToken(Told):
    """A token that stands in an address, and the seconds in which it opens the stream."""

    token: str
    seconds: int


class Ready(Told):
    """Whether it is, and how many trees are in the way."""

    ready: bool
    waiting: int
    failed: int
    in_use: int
