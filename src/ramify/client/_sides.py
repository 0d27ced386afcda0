# SPDX-License-Identifier: BSD-3-Clause
"""_sides.py: what a tree of a server has verbs of its own for: ``tree.edit`` and ``tree.past``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ramify.client import _answers as answers
from ramify.client._calls import Dialogue, plain_node
from ramify.client._table import Awaited, Waits, address, entry, verb
from ramify.estimators.seam import Era
from ramify.tree import TreeEdits, TreePast


class _Side:
    """Verbs of a tree that belong together."""

    def __init__(self, tree: Any) -> None:
        self._say: Callable[[Dialogue[Any]], Any] = tree._say
        self.name: str = tree.name


class _Past(_Side):
    changes = entry(TreePast.changes, "GET /changes", answers.changes_of)
    dirty = entry(TreePast.dirty, "GET /dirty", answers.dirty_of)

    @verb
    def timeline(self, n_clusters: int, *, eras: int = 12) -> Dialogue[list[Era]]:
        """What became of the clusters of a cut, as ``past.timeline`` of an estimator tells it."""
        asked = {"n_clusters": n_clusters, "eras": eras}
        return answers.eras_of((yield address(self, "GET /timeline", **asked)))


class _Edits(_Side):
    """A ``key`` names a call, so that it is done once however often it is made."""

    list = entry(TreeEdits.list, "GET /edits", answers.edits_of)

    def _edit(self, edit: str, key: str | None, **about: Any) -> Dialogue[None]:
        body = {name: plain_node(value) for name, value in about.items()}
        yield address(self, "POST /edits", {"edit": edit, **body}).once(key)

    @verb
    def rename(self, node: Any, text: str | None, *, key: str | None = None) -> Dialogue[None]:
        return self._edit("rename", key, node=node, text=text)

    @verb
    def must_link(self, i: Any, j: Any, *, key: str | None = None) -> Dialogue[None]:
        return self._edit("must_link", key, i=i, j=j)

    @verb
    def cannot_link(self, i: Any, j: Any, *, key: str | None = None) -> Dialogue[None]:
        return self._edit("cannot_link", key, i=i, j=j)

    @verb
    def unlink(self, i: Any, j: Any, *, key: str | None = None) -> Dialogue[None]:
        return self._edit("unlink", key, i=i, j=j)

    @verb
    def move(self, node: Any, under: Any, *, key: str | None = None) -> Dialogue[None]:
        return self._edit("move", key, node=node, under=under)

    @verb
    def release(self, node: Any, *, key: str | None = None) -> Dialogue[None]:
        return self._edit("release", key, node=node)


class RemotePast(_Past, Waits):
    """What became of a tree of a server since a version."""


class AsyncRemotePast(_Past, Awaited):
    """The same, to be awaited."""


class RemoteEdits(_Edits, Waits):
    """What people say about a tree of a server."""


class AsyncRemoteEdits(_Edits, Awaited):
    """The same, to be awaited."""
