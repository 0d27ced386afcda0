# SPDX-License-Identifier: BSD-3-Clause
"""_notes.py: names that people give to clusters of a sharded tree: ``model.edit``.

The router has them, by the rule of the estimators: a name stays with the points below its node,
whatever shard these are in. Links and moves are for trees in one place.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ramify.estimators.seam import Anchors, Edits, FoundNames, id_of
from ramify.hierarchy import Cluster, Hierarchy, IntArray, Points
from ramify.journal.seam import plain_name
from ramify.ray._naming import Naming
from ramify.ray._turns import in_turn

if TYPE_CHECKING:
    from ramify.ray._reading import ShardReader

_NONE = np.empty((0, 2), np.int64)


def packed(anchors: Anchors) -> bytes:
    """Names, as the router's file has them.

    Examples
    --------
    >>> len(unpacked(packed(Anchors())))
    0
    """
    heads = [(one.node, one.text, one.before) for one in anchors]
    arrays: dict[str, Any] = {f"points{at}": one.points for at, one in enumerate(anchors)}
    room = io.BytesIO()
    np.savez(room, head=np.array(json.dumps(heads)), **arrays)
    return room.getvalue()


def unpacked(body: bytes) -> Anchors:
    """The inverse of :func:`packed`."""
    with np.load(io.BytesIO(body)) as found:
        heads = json.loads(str(found["head"]))
        plain = [(*one, found[f"points{at}"]) for at, one in enumerate(heads)]
    return Anchors.from_plain(plain, None)


class Noted(Naming):
    """Names that people gave, for the router."""

    _anchors: Anchors | None = None  # as they were last read or written

    @in_turn
    def names(self) -> FoundNames:
        """Where the names are. O(n) after a change, if there are any."""
        return self._known_anchors().found(self.op, self._moment)

    @in_turn
    def rename(self, node: int, text: str | None) -> None:
        """Give the points below a node a name, or take it away; on the disk when this returns."""
        known = self._known_anchors()
        if text is None:
            self._keep_anchors(known.taken(node, self.names()))
            return
        tree, points = self._moment()
        tree.node_of(node)  # KeyError if there is none
        self._keep_anchors(known.given(node, text, tree, points, self.number))

    def _known_anchors(self) -> Anchors:
        if self._anchors is None:
            body = self._head.texts()
            self._anchors = Anchors() if body is None else unpacked(body)
        return self._anchors

    def _keep_anchors(self, anchors: Anchors) -> None:
        self._head.set_texts(packed(anchors))
        self._anchors = anchors

    def _renew_names(self, leaving: Sequence[int]) -> None:
        """Write down anew the names of whose points half are about to leave."""
        known, going = self._known_anchors(), np.array(leaving, np.int64)
        before = np.zeros(len(going), np.int64)
        if known.rows_until_renewal(going, before, self._numbers) is not None:
            tree, points = self._moment()
            self._keep_anchors(known.renewed(going, tree, points, self.number, self._numbers))

    def _moment(self) -> tuple[Hierarchy, Points]:
        tree = self.hierarchy()
        return tree, tree._points()

    def _numbers(self) -> IntArray:
        return self.hierarchy().point_numbers


class ShardEdits:
    """What people say about a sharded tree: names.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.ray import ShardedOHAC
    >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
    ...     _ = model.partial_fit([[0.0], [1.0], [9.0], [8.0]])
    ...     model.edit.rename(model.clusters(n_clusters=2)[1], "refunds")
    ...     [cluster.name for cluster in model.clusters(n_clusters=2)]
    [None, 'refunds']
    """

    __slots__ = ("_model",)

    def __init__(self, model: ShardReader) -> None:
        self._model = model

    def rename(self, node: SupportsIndex | Cluster, text: str | None) -> None:
        """Give the points below a node a name, as :class:`ramify.OHAC` does; None takes it away.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [9.0]]).edit.rename(-3, "far away")
        ...     model.edit.list().names
        {-3: 'far away'}
        """
        self._model._require_points()
        self._model._ask("rename", id_of(node), plain_name(text))

    def list(self) -> Edits:
        """What people have said: names, and those that no node holds any more.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [9.0]]).edit.list().names
        {}
        """
        self._model._require_points()
        found: FoundNames = self._model._ask("names")
        names, lost = (dict(sorted(some.items())) for some in (found.homes, found.lost))
        return Edits(names, lost, [], _NONE, np.empty(0, np.int64))

    def __getattr__(self, name: str) -> Any:
        if name in ("must_link", "cannot_link", "unlink", "move", "release", "violations"):
            raise AttributeError(only_names(name))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def only_names(verb: str) -> str:
    """Why a sharded tree has no such verb.

    Examples
    --------
    >>> only_names("move")
    'a tree in shards keeps names alone: to move, go on with model.to_model(), or in a folder'
    """
    way = f"to {verb}, go on with model.to_model(), or in a folder"
    return f"a tree in shards keeps names alone: {way}"
