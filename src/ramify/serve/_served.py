# SPDX-License-Identifier: BSD-3-Clause
"""_served.py: one tree of a server that is open, and the way from its folder to it."""

from __future__ import annotations

import json
import logging
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ramify.errors import HistoryError
from ramify.journal import DurableTree, JournalError
from ramify.journal import open as open_tree
from ramify.journal.seam import ABOUT, DATABASE, ROUTER
from ramify.serve._creating import BESIDE, OF_SHARDED
from ramify.serve._door import LOG
from ramify.serve._settings import NAME, Settings
from ramify.serve._summaries import Beside
from ramify.serve._view import View

if TYPE_CHECKING:
    from ramify.serve._feed import Feed
    from ramify.serve._hooks import Hooks


class NoSuchTreeError(LookupError):
    """There is no tree of that name."""


class TreeFailedError(Exception):
    """A tree that is there, and cannot be used: damaged, in use elsewhere, or of another kind."""


class Served:
    """A tree, and what the server knows of it beside."""

    def __init__(self, name: str, tree: DurableTree, about: dict[str, Any], history: int) -> None:
        self.name, self.tree, self.about = name, tree, about
        self.view = View(tree)
        self.versions: deque[int] = deque(maxlen=history + 1)  #: that can be asked about
        self.feed: Feed | None = None  #: those who follow it, once there is one
        self.hooks: Hooks | None = None  #: programs that are called
        self.summaries = Beside(tree)  #: that another program makes
        self.versions.append(tree.between(lambda: tree.version))
        tree.listen(self._told)
        if hasattr(tree, "listen_to_upkeep"):
            tree.listen_to_upkeep(self._note)

    @property
    def dimension(self) -> int | None:
        """Width of the rows, if it is settled."""
        width = self.tree.stream.width
        return self.about.get("dimension") if width is None else width

    @property
    def oldest(self) -> int:
        """The oldest version that can be asked about."""
        if isinstance(self.tree, DurableTree):
            with suppress(HistoryError, ValueError):
                found: int = self.tree.past.oldest
                return found
        return self.versions[0]

    @property
    def broken(self) -> str | None:
        """What has ended its writer, if something has."""
        found = getattr(getattr(self.tree, "_writer", None), "broken", None)
        return None if found is None else f"written down, and not taken: {found!r}"

    def facts(self) -> dict[str, Any]:
        """What is known of it without looking at its points."""
        tree, stream = self.tree, self.tree.stream
        return {
            "name": self.name,
            **self.about,
            "state": "open",
            "dimension": self.dimension,
            "points": stream.n_points,
            "leaves": len(tree),
            "version": self.versions[-1],
            "oldest_version": self.oldest,
            "ids": stream.id_kind,
            "journal": tree.statistics(),
        }

    def _note(self, facts: dict[str, Any]) -> None:
        level = logging.ERROR if "failed" in facts else logging.INFO
        LOG.log(level, json.dumps({"tree": self.name, **facts}))

    def _told(self, version: int) -> None:
        if not self.versions or version > self.versions[-1]:
            self.versions.append(version)
        if self.feed is not None:
            self.feed.wake()
        if self.hooks is not None:
            self.hooks.changed(self)


def is_tree(path: Path) -> bool:
    """Whether a folder is that of a tree, of either kind."""
    begun = any((path / name).exists() for name in (DATABASE, ROUTER))
    return NAME.fullmatch(path.name) is not None and begun


def require_engine(path: Path, settings: Settings) -> None:
    """Refuse a tree of the other kind."""
    if settings.ray is None and (path / ROUTER).exists():
        raise JournalError("this tree is in shards: serve it with --ray")
    if settings.ray is not None and (path / DATABASE).exists():
        raise JournalError("this tree is not in shards: serve it without --ray")


def about_of(path: Path, otherwise: dict[str, Any]) -> dict[str, Any]:
    """The options that a tree was begun with."""
    if not (path / ABOUT).exists():
        return otherwise
    found: dict[str, Any] = json.loads((path / ABOUT).read_text(encoding="utf-8"))
    return found


def open_served(path: Path, settings: Settings, model: Any, about: dict[str, Any]) -> Served:
    """A tree of a folder, or one that begins there with a model and what was asked for."""
    require_engine(path, settings)
    about = about_of(path, about)
    if settings.ray is not None:
        history = about.get("history", settings.history)
        return Served(path.name, _open_shards(path, settings, about, history), about, history)
    tree = open_tree(
        path,
        model,
        queue_rows=settings.queue_rows,
        erase_within=settings.erase_within,
        max_points=settings.tree_points or None,
        max_bytes=settings.tree_bytes or None,
    )
    return Served(path.name, tree, about, getattr(tree.model, "history", 0))


def _open_shards(path: Path, settings: Settings, about: dict[str, Any], history: int) -> Any:
    """A tree in shards on Ray, with the options that it was begun with."""
    from ramify.ray._head import read_only_facts
    from ramify.ray._served import ServedTree

    if about.get("algorithm") != "ohac" or not about.keys() <= OF_SHARDED:
        raise ValueError(
            f"a tree in shards is of ohac, with no options but {', '.join(sorted(OF_SHARDED))}"
        )
    options = {name: about[name] for name in OF_SHARDED - BESIDE if name in about}
    here = settings.ray == "local"
    engine = {"engine": "local"} if here else {"address": settings.ray}
    begun = read_only_facts(path)
    shards = settings.shards if begun is None else begun["plan"]["n_shards"]
    options |= {**engine, "n_shards": shards, "history": history}
    return ServedTree(path, options, settings.queue_rows)
