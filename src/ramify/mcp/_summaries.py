# SPDX-License-Identifier: BSD-3-Clause
"""_summaries.py: the summaries that a program keeps beside a tree, for agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ramify.client import NotThereError, RemoteError
from ramify.journal.seam import SUMMARIES
from ramify.summaries.seam import SummaryReader


class Kept:
    """Summaries of a tree in a folder, by the store in it; or of a server's tree, by the server."""

    def __init__(self, tree: Any, reader: SummaryReader | None) -> None:
        self._tree, self._reader = tree, reader

    @classmethod
    def beside(cls, tree: Any) -> Kept | None:
        """Those of a tree; None if nobody keeps any."""
        if (folder := getattr(tree, "folder", None)) is not None:
            path = Path(folder, SUMMARIES)
            return cls(tree, SummaryReader(tree, path)) if path.exists() else None
        try:
            tree.summaries(limit=1)
        except NotThereError:
            return None
        except RemoteError as error:
            if error.status != 405:  # of a server before 0.2
                raise
            return None
        return cls(tree, None)

    def told(self, level: float | None, limit: int) -> dict[str, Any]:
        """Those of a level, or of the largest; and how many each level has."""
        if self._reader is None:
            levels = self._tree.summaries(limit=1).about["levels"]
            chosen = levels[-1]["level"] if level is None else level
            found = list(self._tree.summaries(chosen, limit=limit))
        else:
            reader = self._reader
            levels = [one._asdict() for one in reader.look()]
            chosen = levels[-1]["level"] if level is None else level
            some = (reader.summary(node, chosen) for node in reader.nodes(chosen)[:limit])
            found = [one for one in some if one is not None]
        shown = [{"node": one.node_id, "size": one.size, "text": one.text} for one in found]
        return {"level": chosen, "levels": levels, "summaries": shown}

    def of(self, node: int) -> Any:
        """The text about a node; None if there is none."""
        if self._reader is None:
            try:
                return self._tree.summary(node).text
            except NotThereError:
                return None
        self._reader.look()
        found = self._reader.summary(node)
        return None if found is None else found.text
