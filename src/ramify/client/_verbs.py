# SPDX-License-Identifier: BSD-3-Clause
"""_verbs.py: what a server's trees can be asked, once for both clients.

Each verb is a dialogue (_calls.py): calls that it wants made, and what it makes of the answers. The
client for plain programs holds it and returns what comes of it; the other returns something to
await.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy.typing as npt

from ramify.client import _calls
from ramify.client._answers import (
    RemoteAssignment,
    RemoteCluster,
    RemoteHit,
    changes_of,
)
from ramify.client._calls import Call, Dialogue
from ramify.client._writes import TreeOrders
from ramify.ids import Id


class ClientVerbs:
    """What a server can be asked."""

    def _say(self, dialogue: Dialogue) -> Any:
        raise NotImplementedError

    def tree(self, name: str) -> Any:
        raise NotImplementedError

    def trees(self) -> Any:
        """Figures of all trees; ``about["failed"]`` has those that are there and cannot be used.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     _ = client.create("tickets")
        ...     print([tree["name"] for tree in client.trees()], client.trees().about["failed"])
        ['tickets'] {}
        """
        return self._say(_calls.listing(Call("GET", "/trees"), "trees"))

    def create(self, name: str, **options: Any) -> Any:
        """Begin a tree, or find it if it was begun with the same options.

        Parameters
        ----------
        name : str
        **options
            ``algorithm``, ``dimension``, ``metric``, ``linkage``, ``window``, ``max_leaves``, ...

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     print(client.create("tickets", metric="cosine", window=1000))
        <RemoteTree tickets>
        """
        return self._say(self._creating(name, options))

    def _creating(self, name: str, options: dict[str, Any]) -> Dialogue:
        yield _calls.creating(name, options)
        return self.tree(name)


class TreeVerbs(TreeOrders):
    """What a tree of a server can be asked, and told."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def info(self) -> Any:
        """Figures: points, version, options, the journal's.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     print(tree.info()["points"])
        0
        """
        return self._say(_calls.one(self._get("")))

    def assign(
        self,
        X: npt.ArrayLike,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        frame: bool = False,
    ) -> Any:
        """Where rows belong, without inserting them.

        Parameters
        ----------
        X : array-like of shape (m, d)
        n_clusters, height, max_size : optional
            The cut: one of them, or none for the tree's own.
        frame : bool
            A frame of pandas instead of a RemoteAssignment.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.assign([[8.0]], n_clusters=2).labels)
        [1]
        """
        cut = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        call = _calls.assigning(self.name, X, cut)
        found = RemoteAssignment.read
        return self._told(call, lambda told: _frame(found(told)) if frame else found(told))

    def clusters(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        representatives: int = 3,
        limit: int | None = None,
        frame: bool = False,
    ) -> Any:
        """The clusters of a cut, by their labels, with points that show what they are.

        Parameters
        ----------
        n_clusters, height, max_size : optional
            The cut: one of them, or none for the tree's own.
        representatives : int
            Points of each cluster, at most.
        limit : int, optional
            So many of the largest, the largest first; by default all, and all of one version.
        frame : bool
            A frame of pandas instead of a list.

        Returns
        -------
        Listed
            ``about`` has the ``total``, and the ``version`` of the tree.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.clusters(n_clusters=2))
        [<RemoteCluster 0: 2 points, height 1>, <RemoteCluster 1: 1 point, height 0>]
        """
        cut = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        call = self._get("/clusters", **_calls.given({**cut, "representatives": representatives}))

        def read(found: Any) -> Any:
            found = found.of(RemoteCluster.read)
            if limit is None:
                found.sort(key=lambda one: one.label)
            return _calls.frame_of([asdict(one) for one in found]) if frame else found

        return self._say(_calls.pages(call, "clusters", limit, read=read))

    def point(self, point: Id) -> Any:
        """A point: number, id, payload.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     texts = ["no sound", "x", "y"]
        ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
        ...     print(tree.point("a"))
        {'number': 0, 'id': 'a', 'payload': 'no sound'}
        """
        return self._say(_calls.one(Call("GET", _calls.point_path(self.name, point))))

    def node(self, node: int, *, members: int = 20) -> Any:
        """A node: size, height, children, and some of the points below it.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.node(1)["size"])
        3
        """
        return self._say(_calls.one(self._get(f"/nodes/{node}", members=members)))

    def members(self, node: int, *, limit: int | None = None) -> Any:
        """All points below a node, from left to right: number, id, payload.

        Parameters
        ----------
        node : int
        limit : int, optional
            So many of them; ``about["total"]`` of the answer says how many there are.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print([point["id"] for point in tree.members(1)])
        ['a', 'b', 'c']
        """
        return self._say(_calls.pages(self._get(f"/nodes/{node}/members"), "members", limit))

    def edits(self) -> Any:
        """What people have said: ``names``, ``lost_names``, ``linked``, ``apart``, ``held``.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     _ = tree.edit("rename", node=tree.path("a")[0], text="all")
        ...     print(tree.edits()["names"])
        [{'node': 1, 'text': 'all'}]
        """
        return self._say(_calls.one(self._get("/edits")))

    def search(self, text: str, *, limit: int | None = 20) -> Any:
        """Points by words of their payloads, the best first, with the path to each.

        Parameters
        ----------
        text : str
        limit : int or None
            So many of the best; None for all. ``about["total"]`` of the answer says how many
            there are.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     texts = ["no sound", "x", "y"]
        ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
        ...     print([hit.id for hit in tree.search("sound")])
        ['a']
        """
        call = self._get("/search", q=text)
        read = lambda found: found.of(lambda one: RemoteHit(**one))  # noqa: E731
        return self._say(_calls.pages(call, "hits", limit, read=read))

    def changes(self, since: int) -> Any:
        """What became of the tree since a version that an answer has named.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.changes(since=0).inserted)
        [0 1 2]
        """
        return self._told(self._get("/changes", since=since), changes_of)

    def export(self, format: str = "json") -> Any:
        """The whole tree: JSON as a dict, other formats as bytes.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.export()["ids"])
        ['a', 'b', 'c']
        """
        call = self._get("/export", format=format)
        call.as_bytes = format != "json"
        return self._say(_calls.one(call))


def _frame(found: RemoteAssignment) -> Any:
    columns = found._asdict()
    return _calls.frame_of(
        [dict(zip(columns, row, strict=True)) for row in zip(*found, strict=True)]
    )
