# SPDX-License-Identifier: BSD-3-Clause
"""_edits.py: what people say about a tree in a folder; on the disk when a call returns.

The estimator's own verbs, written down as operations first. Nodes and points stand in the
journal by their ids, which are the same when it is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from ramify.estimators.seam import Edits, Violations
from ramify.hierarchy import Cluster
from ramify.ids import Id
from ramify.journal._door import plain_name, plain_node, plain_point

if TYPE_CHECKING:
    from ramify.journal._calling import Calling


class Editing:
    """What people say about a tree in a folder: ``tree.edit``.

    Examples
    --------
    >>> import tempfile, ramify
    >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
    ...     _ = tree.partial_fit([[0.0], [1.0], [9.0], [8.0]])
    ...     tree.edit.rename(tree.clusters(n_clusters=2)[1], "refunds")
    ...     list(tree.edit.list().names.values()), bool(tree.edit.violations(n_clusters=2))
    (['refunds'], False)
    """

    __slots__ = ("_tree",)

    def __init__(self, tree: Calling) -> None:
        self._tree = tree

    def _say(self, verb: str, options: Mapping[str, Any], key: str | None) -> None:
        self._tree.submit_call(verb, options, key=key).result()

    @property
    def list(self) -> Callable[[], Edits]:
        """All that was said so far, as the estimator tells it."""
        found: Callable[[], Edits] = self._tree.model.edit.list
        return found

    @property
    def violations(self) -> Callable[..., Violations]:
        """What a cut breaks of it, as the estimator tells it."""
        found: Callable[..., Violations] = self._tree.model.edit.violations
        return found

    def must_link(self, i: Id, j: Id, *, key: str | None = None) -> None:
        """Have two points together from now on; as the estimator's.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC(n_clusters=2)) as tree:
        ...     tree.partial_fit([[0.0], [1.0], [9.0], [8.0]]).edit.must_link(0, 2)
        ...     tree.labels_
        array([0, 0, 0, 1])
        """
        self._say("must_link", _pair(i, j), key)

    def cannot_link(self, i: Id, j: Id, *, key: str | None = None) -> None:
        """Write down that two points are not to be in one cluster; as the estimator's.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.partial_fit([[0.0], [1.0], [9.0], [8.0]]).edit.cannot_link(2, 3)
        ...     tree.edit.list().apart, tree.cut(n_clusters=3)
        (array([[2, 3]]), array([0, 0, 1, 2]))
        """
        self._say("cannot_link", _pair(i, j), key)

    def unlink(self, i: Id, j: Id, *, key: str | None = None) -> None:
        """Take back :meth:`must_link` or :meth:`cannot_link`.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.partial_fit([[0.0], [1.0], [9.0]]).edit.must_link(0, 2)
        ...     tree.edit.unlink(2, 0)
        ...     tree.edit.list().linked
        []
        """
        self._say("unlink", _pair(i, j), key)

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
        ...     tree.edit.move(-5, under=tree.clusters()[0])
        ...     tree.labels_
        array([0, 0, 1, 1, 0])
        """
        named = {"node": plain_node(node), "under": plain_node(under)}
        self._say("move", named, key)

    def release(self, node: SupportsIndex | Cluster, *, key: str | None = None) -> None:
        """Hold a node no more (:meth:`move`).

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.partial_fit([[0.0], [1.0], [9.0], [8.0], [7.0]])
        ...     tree.edit.move(-5, under=tree.clusters(n_clusters=2)[0])
        ...     tree.edit.release(tree.edit.list().held[0])
        ...     len(tree.edit.list().held)
        0
        """
        self._say("release", {"node": plain_node(node)}, key)

    def rename(
        self, node: SupportsIndex | Cluster, text: str | None, *, key: str | None = None
    ) -> None:
        """Give a node a name, or take it away; as the estimator's.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.partial_fit([[0.0], [1.0], [9.0], [8.0]])
        ...     tree.edit.rename(tree.clusters(n_clusters=2)[1], "refunds")
        ...     [cluster.name for cluster in tree.clusters(n_clusters=2)]
        [None, 'refunds']
        """
        named = {"node": plain_node(node), "text": plain_name(text)}
        self._say("rename", named, key)


def _pair(i: Id, j: Id) -> dict[str, Any]:
    return {"i": plain_point(i), "j": plain_point(j)}
