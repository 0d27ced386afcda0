# SPDX-License-Identifier: BSD-3-Clause
"""_summaries.py: the addresses about summaries that another program keeps beside a tree.

That program is a :class:`ramify.summaries.SummaryTree` of the served tree, whose store is
``summaries.sqlite`` in the tree's folder. The server asks no model: it knows from the tree which
summaries there are to be, and looks into the store for their texts. It writes there in one case:
when a tree is compacted, what was made of points that have left goes as well.
"""

# No postponed annotations here: FastAPI reads them.
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from ramify.journal.seam import SUMMARIES
from ramify.serve._lists import Listed, Lists
from ramify.serve._shapes import Cursor, Name, Node
from ramify.summaries.seam import SummaryReader, compact_beside


class NoSummariesError(LookupError):
    """A tree without a store beside it."""


class Question(BaseModel):
    """A vector, and how many summaries and points are wanted."""

    model_config = ConfigDict(extra="forbid", strict=True)

    vector: Annotated[list[float], Field(min_length=1, max_length=65_536)]
    k: Annotated[int, Field(ge=1, le=1000)] = 10
    mode: Literal["collapsed", "tree"] = "collapsed"


class Beside:
    """The reader of the store beside one tree, as long as it is that store."""

    def __init__(self, tree: Any) -> None:
        self._tree, self._path = tree, Path(tree.folder, SUMMARIES)
        self._lock = threading.Lock()
        self._kept: tuple[int, SummaryReader] | None = None

    def reader(self) -> SummaryReader:
        """The summaries."""
        with self._lock:
            try:
                file = self._path.stat().st_ino
            except FileNotFoundError:
                self._let_go()
                raise NoSummariesError(
                    f"this tree has no summaries: have a SummaryTree of it keep them, with "
                    f"store= the file {SUMMARIES} in the tree's folder"
                ) from None
            if self._kept is None or self._kept[0] != file:
                self._let_go()
                self._kept = file, SummaryReader(self._tree, self._path)
            return self._kept[1]

    def compact(self) -> None:
        """Erase what was made of points that have left."""
        if self._path.exists():
            compact_beside(self._tree, self._path)

    def close(self) -> None:
        """The tree closes."""
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        if self._kept is not None:
            self._kept[1].close()
            self._kept = None


def add(api: APIRouter, find: Callable[[str], Any], lists: Lists) -> None:
    """Add these addresses."""

    @api.get("/trees/{name}/summaries", summary="Summaries that are kept beside a tree")
    def summaries(
        name: Name,
        level: Annotated[float | None, Query(gt=0, description="One of its levels")] = None,
        stale: Annotated[bool, Query(description="Those alone that are to be made anew")] = False,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
        cursor: Cursor = None,
    ) -> dict[str, Any]:
        """Of one level or of all, in order of their first points; and how many each level has."""
        reader = find(name).summaries.reader()
        levels = [one._asdict() for one in reader.look()]

        def look() -> Listed:
            nodes = reader.nodes(level, stale=stale)

            def show(begin: int, end: int) -> list[dict[str, Any]]:
                told = (reader.summary(node, level) for node in nodes[begin:end])
                return [plain(one) for one in told if one is not None]

            return Listed(reader.version, len(nodes), 8 * len(nodes), show)

        what = f"{name} summaries {level} {stale}"
        where, found = lists.page(what, look, cursor, limit)
        return {**where, "levels": levels, "summaries": found}

    @api.get("/trees/{name}/summaries/{node}", summary="The summary of a node, and its parts")
    def summary(name: Name, node: Node) -> dict[str, Any]:
        reader = find(name).summaries.reader()
        reader.look()
        found = reader.summary(node)
        if found is None:
            raise LookupError(f"node {node} has no summary, or is no more")
        parts = [plain(one) for one in reader.parts(node)]
        return {
            "version": reader.version,
            **plain(found),
            "path": reader.path(node),
            "parts": parts,
        }

    @api.post("/trees/{name}/retrieve", summary="The summaries and points nearest to a vector")
    def retrieve(name: Name, asked: Question) -> dict[str, Any]:
        reader = find(name).summaries.reader()
        reader.look()
        hits = reader.retrieve(asked.vector, asked.k, mode=asked.mode)
        return {"version": reader.version, "hits": [plain(one) for one in hits]}


def plain(found: Any) -> dict[str, Any]:
    """A summary, a part of one, or a hit, as it is told."""
    told = found._asdict()
    return {"node": told.pop("node_id"), **told}
