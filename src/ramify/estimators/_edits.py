# SPDX-License-Identifier: BSD-3-Clause
"""_edits.py: what people say about a tree: names, and who belongs together.

Points that must be together, and nodes that something was moved to, are marks in the
core's tree, to which later inserts keep. Names and points that must be apart are only
written down here: no tree can keep two points apart, because its root has them both. A
cut can; ``cut`` does, and ``violations`` says what other cuts break.
docs/decisions/0018-edits.md has the reasons.
"""

import operator
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from ramify.estimators._groups import _place
from ramify.estimators._guard import alone, writes
from ramify.estimators._live import Live
from ramify.estimators._reading import WayOfLive
from ramify.estimators._tracking import TreeTracker
from ramify.hierarchy import Cluster, IntArray
from ramify.ids import Id


class Edits(NamedTuple):
    """What people have said about a tree; see ``edits``."""

    names: dict[int, str]  #: of nodes that are there, by node id
    lost_names: dict[int, str]  #: of nodes that are no more
    linked: list[IntArray]  #: groups of points that must be together: their numbers
    apart: IntArray  #: (m, 2): pairs of points that must be apart: their numbers
    held: IntArray  #: ids of nodes whose points stay below them


class Violations(NamedTuple):
    """What a cut breaks; see ``violations``."""

    linked: list[IntArray]  #: groups that are not in one cluster: numbers of their points
    apart: IntArray  #: (m, 2): pairs that are in one cluster: their numbers

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.linked) or len(self.apart) > 0


class TreeEditor(TreeTracker):
    """Edits by people."""

    @writes
    def rename(self, node: "SupportsIndex | Cluster", text: str | None) -> None:
        """Give a node a name, which ``clusters`` shows as long as the node has its id.

        Names are kept in files and pickles. A node keeps its id as :meth:`lineage` and the
        pages on identity have it; when that is no more, ``edits().lost_names`` has the name.

        Parameters
        ----------
        node : int or Cluster
            A node id, as ``clusters``, ``assign``, ``path`` and ``lca`` give it, or a cluster.
        text : str or None
            None takes the name away again, also that of a node which is no more.

        Raises
        ------
        KeyError
            If there is no such node.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0], [8.0]])
        >>> model.rename(model.clusters(n_clusters=2)[1], "refunds")
        >>> [cluster.name for cluster in model.clusters(n_clusters=2)]
        [None, 'refunds']
        """
        if not (text is None or isinstance(text, str)):
            raise TypeError(f"text={text!r}: expected a text, or None")
        tree = self._fitted()
        id = _id_of(node)
        if text is None:
            tree.names = {key: value for key, value in tree.names.items() if key != id}
            return
        _place(tree.hierarchy(), id)
        tree.names = {**tree.names, id: text}

    @writes
    def must_link(self, i: Id, j: Id) -> None:
        """Have two points together from now on, as if they were one.

        They, and all that they are linked with already, become one branch of the tree, at
        height 0, so that no cut separates them unless it has more clusters than there are
        such branches and other points. The root paths of both are split, and HAC merges what
        hung off them with the two as one. Nothing that comes later gets between them. What
        is left of them when one is forgotten stays where it is.

        Only in trees of :class:`OHAC`, and not with ``metric="dot"``, under which nothing
        is closest of all.

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
        >>> model.must_link(0, 2)
        >>> model.labels_
        array([0, 0, 0, 1])
        """
        tree = self._fitted()
        one, other = _two(tree, i, j)
        self._require_editable(tree, "must_link")
        if tree.settings.metric.product:
            raise ValueError("must_link: under metric='dot' no two points are closest of all")
        groups = tree.linked()
        together = {one, other}.union(
            *(group.tolist() for group in groups if np.isin(group, [one, other]).any())
        )
        for a, b in tree.apart.tolist():
            if a in together and b in together:
                raise ValueError(f"must_link: points {a} and {b} must be apart; unlink them first")
        self._edit(tree, "link", one, other)

    @writes
    def cannot_link(self, i: Id, j: Id) -> None:
        """Write down that two points are not to be in one cluster.

        The tree does not change: its root holds all points, so they are together somewhere,
        and only a cut can keep them apart. :meth:`cut` does, and :meth:`violations` says
        where other cuts do not.

        Parameters
        ----------
        i, j : id or number
            As in :meth:`must_link`.

        Raises
        ------
        ValueError
            If they must be together, or are in one leaf.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0], [8.0]])
        >>> model.cannot_link(2, 3)
        >>> model.violations(n_clusters=2).apart
        array([[2, 3]])
        >>> model.cut(n_clusters=3)
        array([0, 0, 1, 2])
        """
        tree = self._fitted()
        one, other = _two(tree, i, j)
        if len(set(tree.leaf_of(np.array([one, other])).tolist())) == 1:
            raise ValueError(f"cannot_link: points {one} and {other} are in one leaf")
        for group in tree.linked():
            if np.isin([one, other], group).all():
                raise ValueError(f"cannot_link: {one} and {other} are linked; unlink them first")
        pair = sorted((one, other))
        if pair not in tree.apart.tolist():
            tree.keep_apart(np.vstack([tree.apart, [pair]]))

    @writes
    def unlink(self, i: Id, j: Id) -> None:
        """Take back :meth:`must_link` or :meth:`cannot_link`.

        If the two are linked, all that they are linked with are points like others again;
        the tree is as it was, until others come near them.

        Parameters
        ----------
        i, j : id or number
            As in :meth:`must_link`.

        Raises
        ------
        ValueError
            If nothing was said about the two.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(n_clusters=2).fit([[0.0], [1.0], [9.0], [8.0]])
        >>> model.must_link(0, 2)
        >>> model.unlink(2, 0)
        >>> model.edits().linked
        []
        """
        tree = self._fitted()
        one, other = _two(tree, i, j)
        same = (tree.apart == sorted((one, other))).all(axis=1)
        if same.any():
            tree.keep_apart(tree.apart[~same])
        elif any(np.isin([one, other], group).all() for group in tree.linked()):
            self._edit(tree, "unlink", one)
        else:
            raise ValueError(f"unlink: nothing was said about points {one} and {other}")

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

        Only in trees of :class:`OHAC`.

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
        >>> model.move(-5, under=model.clusters()[0])
        >>> model.labels_, model.insert([7.1])
        (array([0, 0, 1, 1, 0]), 5)
        >>> model.labels_
        array([0, 0, 1, 1, 0, 0])
        """
        tree = self._fitted()
        self._require_editable(tree, "move")
        still = tree.hierarchy()
        places = np.array([_place(still, one) for one in (node, under)])
        self._edit(tree, "move", *still._public_ids(places).tolist())

    @writes
    def release(self, node: "SupportsIndex | Cluster") -> None:
        """Hold a node no more (:meth:`move`): inserts may take it apart again.

        Parameters
        ----------
        node : int or Cluster
            One of ``edits().held``, or its cluster.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0], [8.0], [7.0]])
        >>> model.move(-5, under=model.clusters(n_clusters=2)[0])
        >>> model.release(model.edits().held[0])
        >>> model.edits().held
        array([], dtype=int64)
        """
        tree = self._fitted()
        self._require_editable(tree, "release")
        id = _id_of(node)
        if id not in tree.held().tolist():
            raise ValueError(f"release: nobody holds the node {id}")
        self._edit(tree, "release", id)

    @alone
    def edits(self) -> Edits:
        """What people have said about this tree, and which names are lost. O(n).

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0], [8.0], [7.0]])
        >>> model.must_link(0, 2)
        >>> model.cannot_link(1, 4)
        >>> model.edits().linked, model.edits().apart
        ([array([0, 2])], array([[1, 4]]))
        """
        tree = self._fitted()
        still = tree.hierarchy()
        there = {*still.node_ids.tolist(), *(-1 - still.point_numbers).tolist()}
        names = {True: {}, False: {}}  # type: dict[bool, dict[int, str]]
        for id, text in sorted(tree.names.items()):
            names[id in there][id] = text
        return Edits(names[True], names[False], tree.linked(), tree.apart, tree.held())

    @alone
    def violations(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
    ) -> Violations:
        """Who is not together in a cut that must be, and who is that must not. O(n).

        Parameters
        ----------
        n_clusters, height, max_size : optional
            The cut, as in :meth:`Hierarchy.cut`: give one, or none for the model's own.

        Returns
        -------
        Violations

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0], [8.0]])
        >>> model.must_link(0, 2)
        >>> bool(model.violations(n_clusters=2)), model.violations(n_clusters=4).linked
        (False, [array([0, 2])])
        """
        tree = self._fitted()
        labels = tree.labels(self._cut(tree, n_clusters, height, max_size))
        return _broken(tree, tree.numbers(), labels)

    def cut(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        by: WayOfLive = "height",
    ) -> IntArray:
        """Label every point with its cluster; nobody is with whom it must not be. O(n).

        If there are points that must be apart (:meth:`cannot_link`), the nodes that hold
        both of a pair are split, and then those that :meth:`Hierarchy.cut` would split.

        Parameters
        ----------
        n_clusters, height, max_size : optional
            The cut: give one, or none for the model's own.
        by : {"height", "variance"}, default="height"
            ``"variance"``, with ``n_clusters``: undo the merges first whose undoing makes
            clusters tight, as in :meth:`Hierarchy.cut`, on the rows as the model stores them.
            Not if points must be apart.

        Returns
        -------
        array of shape (n,)
            Labels from 0, numbered in the order of the clusters' first points.

        Raises
        ------
        ValueError
            If there are not enough clusters to keep them apart, or if two of them have
            become one leaf (``max_leaves``).

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(n_clusters=4).fit([[0.0], [1.0], [9.0], [8.0], [4.0]])
        >>> model.cannot_link(0, 1)
        >>> model.labels_, model.cut()
        (array([0, 0, 1, 2, 3]), array([0, 1, 2, 2, 3]))
        """
        if len(self._fitted().apart) == 0:
            return super().cut(n_clusters=n_clusters, height=height, max_size=max_size, by=by)
        if by != "height":
            raise ValueError(f"by={by!r}: cuts that keep points apart go by height")
        return self._cut_apart(n_clusters, height, max_size)

    @alone
    def _cut_apart(
        self, n_clusters: int | None, height: float | None, max_size: int | None
    ) -> IntArray:
        tree = self._fitted()
        by, value = self._cut(tree, n_clusters, height, max_size)
        still, numbers = tree.hierarchy(), tree.numbers()
        place = np.searchsorted(still.point_numbers, tree.leaf_of(numbers))
        pairs = place[np.searchsorted(numbers, tree.apart)]
        options: Any = {by: value if by == "height" else int(value)}
        return still.cut(**options, apart=pairs)[place]

    @alone
    def _edit(self, tree: Live, what: str, *about: int) -> None:
        tree.edit(what, *about)

    def _require_editable(self, tree: Live, wanted: str) -> None:
        if tree.settings.algorithm != "ohac":
            name = type(self).__name__
            raise ValueError(f"{wanted}: only trees of OHAC keep to it, not those of {name}")


def _id_of(node: "SupportsIndex | Cluster") -> int:
    return node.node_id if isinstance(node, Cluster) else operator.index(node)


def _two(tree: Live, i: Id, j: Id) -> tuple[int, int]:
    """The numbers of two points."""
    one, other = (int(tree.wanted(point)[0]) for point in (i, j))
    if one == other:
        raise ValueError(f"{i!r} and {j!r} are the same point")
    return one, other


def _broken(tree: Live, numbers: IntArray, labels: IntArray) -> Violations:
    """What labels of these points break."""

    def label(points: IntArray) -> IntArray:
        return labels[np.searchsorted(numbers, points)]

    linked = [group for group in tree.linked() if len(set(label(group).tolist())) > 1]
    together = label(tree.apart)
    return Violations(linked, tree.apart[together[:, 0] == together[:, 1]])
