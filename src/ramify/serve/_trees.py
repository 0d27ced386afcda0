# SPDX-License-Identifier: BSD-3-Clause
"""_trees.py: the trees of a server, each in a folder of its own below one folder."""

from __future__ import annotations

import json
import threading
from collections import deque
from pathlib import Path
from typing import Any

from ramify.checks import whole_number
from ramify.journal import DurableTree
from ramify.journal import open as open_tree
from ramify.serve._settings import NAME, Settings, check_name
from ramify.serve._view import View
from ramify.spans import read_span
from ramify.writing import write_whole

_ABOUT = "about.json"

#: What a tree can be created with, beside its algorithm and dimension.
OPTIONS = (
    *("metric", "linkage", "n_neighbors", "n_clusters", "distance_threshold"),
    *("window", "max_age", "duplicates", "max_leaves", "history"),
)


#: What a tree in shards can be created with.
_BESIDE = frozenset(("algorithm", "dimension"))
_OF_SHARDED = _BESIDE | {
    *("metric", "linkage", "n_neighbors", "n_clusters", "distance_threshold", "history")
}


class NoSuchTreeError(LookupError):
    """There is no tree of that name."""


class Served:
    """A tree, and what the server knows of it beside."""

    def __init__(self, name: str, tree: DurableTree, about: dict[str, Any], history: int) -> None:
        self.name, self.tree, self.about = name, tree, about
        self.view = View(tree)
        self.versions: deque[int] = deque(maxlen=history + 1)  #: that can be asked about
        self._listeners: set[Any] = set()
        self._lock = threading.Lock()
        self.versions.append(tree.between(lambda: tree.version))
        tree.listen(self._told)

    @property
    def dimension(self) -> int | None:
        """Width of the rows, if it is settled."""
        live = self.tree.model._live
        found: int | None = self.about.get("dimension") if live is None else live.settings.width
        return found

    def _told(self, version: int) -> None:
        if not self.versions or version > self.versions[-1]:
            self.versions.append(version)
        with self._lock:
            listeners = list(self._listeners)
        for wake in listeners:
            wake()

    def add_listener(self, wake: Any) -> None:
        """Have a function called whenever there is a new version."""
        with self._lock:
            self._listeners.add(wake)

    def remove_listener(self, wake: Any) -> None:
        """The reverse."""
        with self._lock:
            self._listeners.discard(wake)

    @property
    def readers(self) -> int:
        """Who follows the changes."""
        return len(self._listeners)


class Trees:
    """All trees below a folder. They are opened in the background, one after the other."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._trees: dict[str, Served] = {}
        self._lock = threading.Lock()
        self.failures: dict[str, str] = {}
        self.ready = threading.Event()
        self.waiting = 0  #: trees that are still to be opened

    def open_all(self) -> None:
        """Open what is there."""
        found = [path for path in sorted(self._folder.iterdir()) if _is_tree(path)]
        self.waiting = len(found)
        for path in found:
            try:
                self._trees[path.name] = self._open(path, None, {})
            except Exception as error:  # the others must not suffer
                self.failures[path.name] = str(error)
            self.waiting -= 1
        self.ready.set()

    def _open(self, path: Path, model: Any, about: dict[str, Any]) -> Served:
        if (path / _ABOUT).exists():
            about = json.loads((path / _ABOUT).read_text(encoding="utf-8"))
        if self._settings.ray is not None:
            history = about.get("history", self._settings.history)
            return Served(path.name, self._open_shards(path, about, history), about, history)
        tree = open_tree(path, model, queue_rows=self._settings.queue_rows)
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
            if name in self.failures:
                raise NoSuchTreeError(f"{name} could not be opened: {self.failures[name]}")
            raise NoSuchTreeError(f"there is no tree {name!r}")
        return found

    def all(self) -> list[Served]:
        """All of them, by name."""
        return [self._trees[name] for name in sorted(self._trees)]

    def create(self, name: str, asked: dict[str, Any]) -> tuple[Served, bool]:
        """A tree of this name, and whether it is new; ValueError if it is there and another."""
        model, about = _model_of(asked, self._settings.history)
        with self._lock:
            if check_name(name) in self._trees:
                served = self._trees[name]
                if served.about != about:
                    raise FileExistsError(f"there is a tree {name!r}, with other options")
                return served, False
            path = self._folder / name
            served = self._open(path, model, about)
            write_whole(path / _ABOUT, json.dumps(about))
            self._trees[name] = served
            return served, True

    def close(self) -> None:
        """Finish what waits, take snapshots, and let the folders go."""
        for served in self.all():
            served.tree.close()


def _is_tree(path: Path) -> bool:
    begun = any((path / name).exists() for name in ("journal.sqlite", "router.sqlite"))
    return NAME.fullmatch(path.name) is not None and begun


def _model_of(asked: dict[str, Any], history: int) -> tuple[Any, dict[str, Any]]:
    """An estimator as it was asked for, and what was asked."""
    from ramify.estimators._registry import ALGORITHMS

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
