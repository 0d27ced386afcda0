# SPDX-License-Identifier: BSD-3-Clause
"""_trees.py: the trees of a server, each in a folder of its own below one folder."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ramify.checks import whole_number
from ramify.journal import DurableTree, FolderInUseError, JournalError
from ramify.journal import open as open_tree
from ramify.journal import restore as restore_tree
from ramify.journal.seam import (
    ABOUT,
    DATABASE,
    ROUTER,
    FolderLock,
    clear_drafts,
    clear_removed,
    remove_files,
)
from ramify.serve._arrow import ArrowReaders
from ramify.serve._door import LOG
from ramify.serve._lists import Lists
from ramify.serve._settings import NAME, Settings, check_name
from ramify.serve._view import View
from ramify.spans import read_span
from ramify.writing import write_whole

if TYPE_CHECKING:
    from ramify.serve._feed import Feed

#: Between two looks at trees that others had open.
_AGAIN_SECONDS = 2.0

#: What a tree can be created with, beside its algorithm and dimension.
OPTIONS = (
    *("metric", "linkage", "zero_rows", "n_neighbors", "n_clusters", "distance_threshold"),
    *("min_size", "window", "max_age", "duplicates", "max_leaves", "history"),
    *("weight", "max_weight"),
)


#: What a tree in shards can be created with.
_BESIDE = frozenset(("algorithm", "dimension"))
_OF_SHARDED = _BESIDE | {
    *("metric", "linkage", "n_neighbors", "n_clusters", "distance_threshold", "min_size"),
    "history",
}


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
    def broken(self) -> str | None:
        """What has ended its writer, if something has."""
        found = getattr(getattr(self.tree, "_writer", None), "broken", None)
        return None if found is None else f"written down, and not taken: {found!r}"

    def _note(self, facts: dict[str, Any]) -> None:
        level = logging.ERROR if "failed" in facts else logging.INFO
        LOG.log(level, json.dumps({"tree": self.name, **facts}))

    def _told(self, version: int) -> None:
        if not self.versions or version > self.versions[-1]:
            self.versions.append(version)
        if self.feed is not None:
            self.feed.wake()


class Trees:
    """All trees below a folder. They are opened in the background, one after the other."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._trees: dict[str, Served] = {}
        self.readers = ArrowReaders(settings)
        self._lock = threading.Lock()
        self.lists = Lists()
        self._failures: dict[str, str] = {}
        self._in_use: set[str] = set()  #: of the failures, those that may end by themselves
        self.ready = threading.Event()
        self.ending = threading.Event()
        self.waiting = 0  #: trees that are still to be opened

    def open_all(self) -> None:
        """Open what is there; then, until the server ends, what others have let go."""
        clear_drafts(self._folder)
        clear_removed(self._folder)
        found = [path for path in sorted(self._folder.iterdir()) if _is_tree(path)]
        self.waiting = len(found)
        for path in found:
            self._try(path)
            self.waiting -= 1
        self.ready.set()
        while not self.ending.wait(_AGAIN_SECONDS):
            for name in sorted(self._in_use):
                with self._lock:
                    self._try(self._folder / name)

    def _try(self, path: Path) -> None:
        """Open one; if that fails, say so, and let the others be."""
        name, begin = path.name, time.monotonic()
        try:
            served = self._open(path, None, {})
        except Exception as error:  # whatever it is, the others must not suffer
            if self._failures.get(name) != str(error):
                LOG.error(json.dumps({"tree": name, "failed": str(error)}))
            self._failures[name] = str(error)
            self._in_use -= {name}
            self._in_use |= {name} if isinstance(error, FolderInUseError) else set()
            return
        seconds = round(time.monotonic() - begin, 3)
        told = {"tree": name, "opened": served.versions[-1], "seconds": seconds}
        if (report := getattr(served.tree, "report", None)) is not None:
            told |= {"replayed": report.replayed, "notes": list(report.notes)}
        LOG.info(json.dumps(told))
        self._trees[name] = served
        self._failures.pop(name, None)
        self._in_use.discard(name)

    def failed(self) -> dict[str, str]:
        """Trees that are there and cannot be used, and why."""
        broken = {one.name: one.broken for one in self.all() if one.broken is not None}
        return self._failures | broken

    def _open(self, path: Path, model: Any, about: dict[str, Any]) -> Served:
        in_shards = (path / ROUTER).exists()
        if in_shards and self._settings.ray is None:
            raise JournalError("this tree is in shards: serve it with --ray")
        if (path / DATABASE).exists() and self._settings.ray is not None:
            raise JournalError("this tree is not in shards: serve it without --ray")
        if (path / ABOUT).exists():
            about = json.loads((path / ABOUT).read_text(encoding="utf-8"))
        if self._settings.ray is not None:
            history = about.get("history", self._settings.history)
            return Served(path.name, self._open_shards(path, about, history), about, history)
        settings = self._settings
        tree = open_tree(
            path, model, queue_rows=settings.queue_rows, erase_within=settings.erase_within
        )
        return Served(path.name, tree, about, getattr(tree.model, "history", 0))

    def _open_shards(self, path: Path, about: dict[str, Any], history: int) -> Any:
        """A tree in shards on Ray, with the options that it was begun with."""
        from ramify.ray._head import read_only_facts
        from ramify.ray._served import ServedTree

        if about.get("algorithm") != "ohac" or not about.keys() <= _OF_SHARDED:
            raise ValueError(
                f"a tree in shards is of ohac, with no options but {', '.join(sorted(_OF_SHARDED))}"
            )
        options = {name: about[name] for name in _OF_SHARDED - _BESIDE if name in about}
        here = self._settings.ray == "local"
        engine = {"engine": "local"} if here else {"address": self._settings.ray}
        begun = read_only_facts(path)
        shards = self._settings.shards if begun is None else begun["plan"]["n_shards"]
        options |= {**engine, "n_shards": shards, "history": history}
        return ServedTree(path, options, self._settings.queue_rows)

    def get(self, name: str) -> Served:
        """The tree of a name."""
        found = self._trees.get(check_name(name))
        if found is None:
            self._require_sound(name)
            raise NoSuchTreeError(f"there is no tree {name!r}")
        return found

    def _require_sound(self, name: str) -> None:
        if name in self._failures:
            raise TreeFailedError(f"{name} is there and cannot be used: {self._failures[name]}")

    def all(self) -> list[Served]:
        """All of them, by name."""
        return [self._trees[name] for name in sorted(self._trees)]

    def create(self, name: str, asked: dict[str, Any]) -> tuple[Served, bool]:
        """A tree of this name, and whether it is new; ValueError if it is there and another."""
        model, about = _model_of(asked, self._settings.history)
        with self._lock:
            path = self._folder / check_name(name)
            if name not in self._trees and _is_tree(path):  # put there since the server began
                self._try(path)
            self._require_sound(name)
            if name in self._trees:
                served = self._trees[name]
                if served.about != about:
                    raise FileExistsError(f"there is a tree {name!r}, with other options")
                return served, False
            path.mkdir(exist_ok=True)
            write_whole(path / ABOUT, json.dumps(about))  # without a tree it says nothing
            served = self._open(path, model, about)
            self._trees[name] = served
            return served, True

    def delete(self, name: str) -> int:
        """Let a tree go, and remove its folder; how many points it had.

        Calls that wait for it are answered first; nobody can begin a tree of its name meanwhile.
        """
        with self._lock:
            path = self._folder / check_name(name)
            served = self._trees.pop(name, None)
            if served is None:
                return self._delete_failed(path)
            self.lists.forget(name)
            if served.feed is not None:
                served.feed.let_go()
            points = served.tree.stream.n_points
            if self._settings.ray is None:
                served.tree.delete()
            else:
                served.tree.close()
                remove_files(path)
            LOG.info(json.dumps({"tree": name, "deleted": points}))
            return points

    def _delete_failed(self, path: Path) -> int:
        """Of a tree that cannot be used: unless somebody else does."""
        if not _is_tree(path):
            raise NoSuchTreeError(f"there is no tree {path.name!r}")
        try:
            lock = FolderLock(path)
        except FolderInUseError as error:
            raise TreeFailedError(str(error)) from None
        try:
            remove_files(path)
        finally:
            lock.release()
        self._failures.pop(path.name, None)
        LOG.info(json.dumps({"tree": path.name, "deleted": None}))
        return 0

    def restore(self, name: str, file: Path) -> Served:
        """A tree of this name out of a backup."""
        path = self._folder / check_name(name)
        if name in self._trees or _is_tree(path):
            raise FileExistsError(f"there is a tree {name!r}: delete it, or take another name")
        if self._settings.ray is not None:
            raise ValueError("a tree out of a backup is not in shards: serve it without --ray")
        restore_tree(file, path)  # takes a while, and its name at the very end, if that is free
        with self._lock:
            if name not in self._trees:
                self._try(path)
            self._require_sound(name)
            return self._trees[name]

    def let_followers_go(self) -> None:
        """The server ends: nothing more is told."""
        for served in self.all():
            if served.feed is not None:
                served.feed.close()

    def close(self) -> None:
        """Finish what waits, take snapshots, and let the folders go."""
        self.readers.close()
        for served in self.all():
            begin = time.monotonic()
            try:
                served.tree.close()
                seconds = round(time.monotonic() - begin, 3)
                LOG.info(json.dumps({"tree": served.name, "closed": True, "seconds": seconds}))
            except JournalError as error:  # the others end well
                LOG.error(json.dumps({"tree": served.name, "failed": str(error)}))
        LOG.info(json.dumps({"server": "stopped", "trees": len(self._trees)}))


def _is_tree(path: Path) -> bool:
    begun = any((path / name).exists() for name in (DATABASE, ROUTER))
    return NAME.fullmatch(path.name) is not None and begun


def _model_of(asked: dict[str, Any], history: int) -> tuple[Any, dict[str, Any]]:
    """An estimator as it was asked for, and what was asked."""
    from ramify.estimators.seam import ALGORITHMS

    asked = {name: value for name, value in asked.items() if value is not None}
    online = {one.name: one for one in ALGORITHMS if one.online}
    algorithm = asked.pop("algorithm", "ohac")
    if algorithm not in online:
        raise ValueError(f"algorithm={algorithm!r}: expected one of {', '.join(online)}")
    about: dict[str, Any] = {"algorithm": algorithm, **asked}
    dimension = asked.pop("dimension", None)
    if dimension is not None:
        about["dimension"] = whole_number("dimension", dimension, most=65_536, why="the limit")
    kind = online[algorithm]
    options: dict[str, Any] = {"history": history} if kind.has("history") else {}
    if "history" in options and (asked.get("duplicates") == "count" or asked.get("max_leaves")):
        options["history"] = 0  # leaves of several points have no feed
    for name, value in asked.items():
        if name not in OPTIONS:
            raise ValueError(f"unknown option {name!r}; known: {', '.join(OPTIONS)}")
        if not kind.has(name):
            raise ValueError(f"{algorithm} has no option {name!r}")
        options[name] = _span(value) if name == "max_age" else value
    model = kind.estimator(**options)
    model._check_parameters()
    return model, about


def _span(value: Any) -> Any:
    """90d and the like as a span of time; numbers as they are."""
    return read_span(value) if isinstance(value, str) else value
