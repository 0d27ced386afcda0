# SPDX-License-Identifier: BSD-3-Clause
"""_told_summaries.py: what answers about summaries are made of."""

from __future__ import annotations

from typing import Any

from ramify.serve._told import Id, Page, Told


class SummaryLevel(Told):
    """How many summaries a level is to have, and how many of these are stale."""

    level: float
    summaries: int
    stale: int


class Summary(Told):
    """A summary; its text is null while it is stale."""

    node: int
    level: float
    size: float
    text: Any
    fresh: bool


class Summaries(Page):
    """Summaries that are kept beside a tree."""

    levels: list[SummaryLevel]
    summaries: list[Summary]


class SummaryPart(Told):
    """What a summary is made of: a point, or a smaller summary, whose `point` is null."""

    node: int
    point: Id | None
    size: float
    text: Any


class WholeSummary(Summary):
    """With the summarized nodes above, the largest first, and what it is made of."""

    version: int
    path: list[int]
    parts: list[SummaryPart]


class Retrieved(Told):
    """A summary or a point, and the summarized nodes above it."""

    node: int
    point: Id | None
    size: float
    text: Any
    distance: float
    path: list[int]


class Retrieval(Told):
    """What is nearest to a vector, the nearest first."""

    version: int
    hits: list[Retrieved]
