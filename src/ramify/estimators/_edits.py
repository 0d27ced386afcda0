# SPDX-License-Identifier: BSD-3-Clause
"""_edits.py: what people say about a tree and the tree keeps to: ``model.edit`` of OHAC.

Points that must be together, and nodes that something was moved to, are marks in the
core's tree, to which later inserts keep. docs/decisions/0018-edits.md has the reasons.
"""

from typing import SupportsIndex

from ramify.estimators._guard import writes
from ramify.estimators._live import Live
from ramify.estimators._notes import Notes, id_of, node_id, two
from ramify.hierarchy import Cluster
from ramify.ids import Id


class Editor(Notes):
    """Links, moves and names by people.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC(n_clusters=2).fit([[0.0], [1.0], [9.0], [8.0]])
    >>> model.edit.must_link(0, 2)
    >>> model.labels_
    array([0, 0, 0, 1])
    """

    __slots__ = ()

    @writes
    def must_link(self, i: Id, j: Id) -> None:
        """Have two points together from now on, as if they were one.

        They, and all that they are linked with already, become one branch of the tree, at
        height 0, so that no cut separates them unless it has more clusters than there are
        such branches and other points. The root paths of both are split, and HAC merges what
        hung off them with the two as one. Nothing that comes later gets between them. What
        is left of them when one is forgotten stays where it is.

        Not with ``metric="dot"``, under which nothing is closest of all.

        Parameters
        ----------
        i, j : id or number
            Points: by id if the stream has ids, else by arrival number.

        Raises
        ------
        ValueError
            If they must be apart, or if one is held (see :meth:`move`) below a node that the
            other is not below. Then nothing changes.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(n_clusters=2).fit([[0.0], [1.0], [9.0], [8.0]])
        >>> model.edit.must_link(0, 2)
        >>> model.labels_
        array([0, 0, 0, 1])
        """
        tree = self._fitted()
        one, other = two(tree, i, j)
        self._require_editable(tree, "must_link")
        if tree.settings.metric.product:
            raise ValueError("must_link: under metric='dot' no two points are closest of all")
        if len(tree.pairs_apart) > 0:
            pair = tree.pairs_apart.between(tree.together(one), set(tree.together(other)))
            if pair is not None:
                a, b = pair
                raise ValueError(f"must_link: points {a} and {b} must be apart; unlink them first")
        self._edit(tree, "link", one, other)

    @writes
    def move(
        self, node: "SupportsIndex | str | Cluster", under: "SupportsIndex | str | Cluster"
    ) -> None:
        """Take a node from its place and put it under another one.

        Its sibling fills its place. Its new parent is ``under``, which keeps its id; what that
        had before is its other child, under a new id. Nothing else moves. ``under`` is held
        from now on: its points stay below it, whatever comes, and new points that find their
        nearest among them join them. To what happens below, a held node is the root of the
        tree; of the nodes above only the summaries change. :meth:`release` lets it go.

        Parameters
        ----------
        node, under : int, str or Cluster
            Node ids, as ``clusters``, ``assign``, ``path`` and ``lca`` give them; clusters; or
            points' ids, if those are text. A point's node id is -1 - its number.

        Raises
        ------
        ValueError
            If ``node`` is the root or above ``under``, or if it would part points that are
            linked. Then nothing changes.
        KeyError
            If there is no such node.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(n_clusters=2).fit([[0.0], [1.0], [9.0], [8.0], [7.0]])
        >>> model.edit.move(-5, under=model.clusters()[0])
        >>> model.labels_, model.insert([7.1])
        (array([0, 0, 1, 1, 0]), 5)
        >>> model.labels_
        array([0, 0, 1, 1, 0, 0])
        """
        tree = self._fitted()
        self._require_editable(tree, "move")
        self._edit(tree, "move", node_id(tree, node), node_id(tree, under))

    @writes
    def release(self, node: "SupportsIndex | Cluster") -> None:
        """Hold a node no more (:meth:`move`): inserts may take it apart again.

        Parameters
        ----------
        node : int or Cluster
            One of ``edit.list().held``, or its cluster.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0], [8.0], [7.0]])
        >>> model.edit.move(-5, under=model.clusters(n_clusters=2)[0])
        >>> model.edit.release(model.edit.list().held[0])
        >>> model.edit.list().held
        array([], dtype=int64)
        """
        tree = self._fitted()
        self._require_editable(tree, "release")
        id = id_of(node)
        if not tree.is_held(id):
            raise ValueError(f"release: the node {id} is not held")
        self._edit(tree, "release", id)

    def _require_editable(self, tree: Live, wanted: str) -> None:
        why = tree.settings.options.uneditable
        if why is not None:
            raise ValueError(f"{wanted}: {why}")
