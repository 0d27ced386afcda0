# SPDX-License-Identifier: BSD-3-Clause
"""_managed.py: trees of a server that are created, renamed, restored and deleted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ramify.journal import FolderInUseError
from ramify.journal import restore as restore_tree
from ramify.journal.seam import ABOUT, FolderLock, remove_files, sync_folder
from ramify.ray import restore as restore_shards
from ramify.serve._creating import model_of
from ramify.serve._door import LOG
from ramify.serve._resting import Resting
from ramify.serve._served import NoSuchTreeError, Served, TreeFailedError, is_tree, open_served
from ramify.serve._settings import check_name
from ramify.serve._trees import Trees
from ramify.writing import write_whole


class Managed(Trees):
    """All trees below a folder, and those that come and go."""

    def create(self, name: str, asked: dict[str, Any]) -> tuple[Served, bool]:
        """A tree of this name, and whether it is new; ValueError if it is there and another."""
        model, about = model_of(asked, self._settings.history)
        path = self._folder / check_name(name)
        with self._turn(name):
            self.wake(name)
            if name not in self._trees and is_tree(path):  # put there since the server began
                with self._room():
                    self._try(path)
            self._require_sound(name)
            if name in self._trees:
                served = self._trees[name]
                if served.about != about:
                    raise FileExistsError(f"there is a tree {name!r}, with other options")
                return served, False
            with self._room():
                path.mkdir(exist_ok=True)
                write_whole(path / ABOUT, json.dumps(about))  # without a tree it says nothing
                served = open_served(path, self._settings, model, about)
                self.uses.opened(name)
                self._trees[name] = served
                self.hooks.opened(served)
            return served, True

    def delete(self, name: str) -> int:
        """Let a tree go, and remove its folder; how many points it had.

        Calls that wait for it are answered first; nobody can begin a tree of its name meanwhile.
        """
        path = self._folder / check_name(name)
        with self._turn(name):
            self.wake(name)
            served = self._trees.pop(name, None)
            if served is None:
                return self._delete_failed(path)
            self.lists.forget(name)
            if served.feed is not None:
                served.feed.let_go()
            served.hooks = None
            served.summaries.close()
            self.hooks.renamed(name, None)
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
        if not is_tree(path):
            raise NoSuchTreeError(f"there is no tree {path.name!r}")
        try:
            lock = FolderLock(path)
        except FolderInUseError as error:
            raise TreeFailedError(str(error)) from None
        try:
            remove_files(path)
        finally:
            lock.release()
        self._forget_failure(path.name)
        LOG.info(json.dumps({"tree": path.name, "deleted": None}))
        return 0

    def rename(self, name: str, to: str) -> Served:
        """Have a tree go by another name; nobody else can take either meanwhile.

        Calls that wait for it are answered first. In between it is closed: who has its name from
        before is told that there is none, and followers are let go.
        """
        source, target = self._folder / check_name(name), self._folder / check_name(to)
        first, second = sorted((name, to))
        with self._turn(first), self._turn(second):
            if to in self._trees or to in self._resting or to in self._failures or target.exists():
                raise FileExistsError(f"there is a tree {to!r}: take another name")
            self.wake(name)
            served = self.get(name)
            self._trees.pop(name)
            self.lists.forget(name)
            if served.feed is not None:
                served.feed.let_go()
            self._close_one(served, "closed")
            try:
                source.rename(target)
                sync_folder(self._folder)
                self.hooks.renamed(name, to)
            finally:  # under the one name or the other
                now = to if target.exists() else name
                self._resting[now] = Resting()
                self.wake(now)
            LOG.info(json.dumps({"tree": to, "renamed_from": name}))
            return self.get(to)

    def restore(self, name: str, file: Path, version: int | None = None) -> Served:
        """A tree of this name out of a backup."""
        path = self._folder / check_name(name)
        if name in self._trees or is_tree(path):
            raise FileExistsError(f"there is a tree {name!r}: delete it, or take another name")
        # Takes a while, and its name at the very end, if that is free.
        if self._settings.ray is None:
            restore_tree(file, path, version=version)
        elif version is None:
            restore_shards(file, path)
        else:
            raise ValueError("version: a tree in shards comes back as it was when it was backed up")
        with self._turn(name):
            if name not in self._trees:
                with self._room():
                    self._try(path)
            self._require_sound(name)
            return self._trees[name]
