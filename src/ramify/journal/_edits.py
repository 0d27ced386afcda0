# SPDX-License-Identifier: BSD-3-Clause
"""_edits.py: what people say about a tree in a folder; on the disk when a call returns.

The estimator's own verbs, written down as operations first. Nodes and points stand in the
journal by their ids, which are the same when it is replayed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, SupportsIndex

from ramify.hierarchy import Cluster
from ramify.ids import Id
from ramify.journal._door import plain_name, plain_node, plain_point
from ramify.tree import Receipt


class Editing(ABC):
    """A tree that takes edits."""

    @abstractmethod
    def submit_call(
        self,
        verb: str,
        options: Mapping[str, Any],
        *,
        key: str | None = None,
        block: bool = True,
    ) -> Future[Receipt]:
        """Have a verb of the estimator carried out."""

    def must_link(self, i: Id, j: Id, *, key: str | None = None) -> None:
        """Have two points together from now on; as the estimator's.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC(n_clusters=2)) as tree:
        ...     tree.partial_fit([[0.0], [1.0], [9.0], [8.0]]).must_link(0, 2)
        ...     tree.labels_
        array([0, 0, 0, 1])
        """
        self.submit_call("must_link", _pair(i, j), key=key).result()

    def cannot_link(self, i: Id, j: Id, *, key: str | None = None) -> None:
        """Write down that two points are not to be in one cluster; as the estimator's.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.partial_fit([[0.0], [1.0], [9.0], [8.0]]).cannot_link(2, 3)
        ...     tree.edits().apart, tree.cut(n_clusters=3)
        (array([[2, 3]]), array([0, 0, 1, 2]))
        """
        self.submit_call("cannot_link", _pair(i, j), key=key).result()

    def unlink(self, i: Id, j: Id, *, key: str | None = None) -> None:
        """Take back :meth:`must_link` or :meth:`cannot_link`.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.partial_fit([[0.0], [1.0], [9.0]]).must_link(0, 2)
        ...     tree.unlink(2, 0)
        ...     tree.edits().linked
        []
        """
        self.submit_call("unlink", _pair(i, j), key=key).result()

    def move(
        self,
        node: SupportsIndex | str | Cluster,
        under: SupportsIndex | str | Cluster,
        *,
        key: str | None = None,
    ) -> None:
        """Take a node from its place and put it under another one; as the estimator's.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC(n_clusters=2)) as tree:
        ...     _ = tree.partial_fit([[0.0], [1.0], [9.0], [8.0], [7.0]])
        ...     tree.move(-5, under=tree.clusters()[0])
        ...     tree.labels_
        array([0, 0, 1, 1, 0])
        """
        named = {"node": plain_node(node), "under": plain_node(under)}
        self.submit_call("move", named, key=key).result()

    def release(self, node: SupportsIndex | Cluster, *, key: str | None = None) -> None:
        """Hold a node no more (:meth:`move`).

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.partial_fit([[0.0], [1.0], [9.0], [8.0], [7.0]])
        ...     tree.move(-5, under=tree.clusters(n_clusters=2)[0])
        ...     tree.release(tree.edits().held[0])
        ...     len(tree.edits().held)
        0
        """
        self.submit_call("release", {"node": plain_node(node)}, key=key).result()

    def rename(
        self, node: SupportsIndex | Cluster, text: str | None, *, key: str | None = None
    ) -> None:
        """Give a node a name, or take it away; as the estimator's.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.partial_fit([[0.0], [1.0], [9.0], [8.0]])
        ...     tree.rename(tree.clusters(n_clusters=2)[1], "refunds")
        ...     [cluster.name for cluster in tree.clusters(n_clusters=2)]
        [None, 'refunds']
        """
        named = {"node": plain_node(node), "text": plain_name(text)}
        self.submit_call("rename", named, key=key).result()


def _pair(i: Id, j: Id) -> dict[str, Any]:
    return {"i": plain_point(i), "j": plain_point(j)}
