# SPDX-License-Identifier: BSD-3-Clause
"""_edits.py: what people say about a tree: names, and who belongs together.

Points that must be together, and nodes that something was moved to, are marks in the
core's tree, to which later inserts keep. Names and points that must be apart are only
written down here: no tree can keep two points apart, because its root has them both. A
cut can; ``cut`` does, and ``violations`` says what other cuts break.
docs/decisions/0018-edits.md has the reasons.
"""

import operator
from typing import NamedTuple, SupportsIndex

import numpy as np

from ramify.checks import is_whole
from ramify.estimators._cut import Cut, WayOfLive
from ramify.estimators._guard import alone, writes
from ramify.estimators._live import Live
from ramify.estimators._tracking import TreeTracker
from ramify.hierarchy import Cluster, IntArray
from ramify.hierarchy.seam import STICKINESS, Like
from ramify.ids import Id


class Edits(NamedTuple):
    """What people have said about a tree; see ``edits``."""

    names: dict[int, str]  #: by the id of the node that has the name now
    lost_names: dict[int, str]  #: that no node has, by the id of the node of then
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
        """Give the points below a node a name, which the cluster has that holds most of them. O(n).

        The name stays with the points while the tree goes on, and is found again in every
        cut: at the cluster that holds more than half of those that are still there, if they are
        more than half of what it has of the points of then. Points that come have no say.
        Before most of the points have left, the name passes to those that are with them.
        A name that no node holds is in ``edits().lost_names``, of which the thousand youngest
        are kept. Names are kept in files and pickles.

        Parameters
        ----------
        node : int or Cluster
            A node id, as ``clusters``, ``assign``, ``path`` and ``lca`` give it, or a cluster.
        text : str or None
            None takes the name away again, also one that is lost.

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
        if text is None:
            id = _id_of(node)
            tree.anchors = tree.anchors.taken(id, tree.found_names())
            return
        id = _node_id(tree, _id_of(node))
        tree.anchors = tree.anchors.given(id, text, *tree.moment(), tree.next_arrival)

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
        if len(tree.pairs_apart) > 0:
            pair = tree.pairs_apart.between(tree.together(one), set(tree.together(other)))
            if pair is not None:
                a, b = pair
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
        if _are_linked(tree, one, other):
            raise ValueError(f"cannot_link: {one} and {other} are linked; unlink them first")
        tree.pairs_apart.add(one, other)

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
        if (one, other) in tree.pairs_apart:
            tree.pairs_apart.remove(one, other)
        elif _are_linked(tree, one, other):
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
        self._edit(tree, "move", _node_id(tree, node), _node_id(tree, under))

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
        if not tree.is_held(id):
            raise ValueError(f"release: the node {id} is not held")
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
        found = tree.found_names()
        names, lost = (dict(sorted(some.items())) for some in (found.homes, found.lost))
        return Edits(names, lost, tree.linked(), tree.apart(), tree.held())

    @alone
    def violations(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
    ) -> Violations:
        """Who is not together in a cut that must be, and who is that must not. O(n).

        Parameters
        ----------
        n_clusters, height, max_size, min_size : optional
            The cut, as in :meth:`cut`; none for the model's own.

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
        labels = tree.labels(self._cut(tree, n_clusters, height, max_size, min_size))
        return _broken(tree, tree.numbers(), labels)

    def cut(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        like: Like | None = None,
        stickiness: float = STICKINESS,
        by: WayOfLive = "height",
        resolution: float = 1.0,
    ) -> IntArray:
        """Label every point with its cluster; pairs that must be apart are. O(n).

        If there are points that must be apart (:meth:`cannot_link`), the nodes that hold
        both of a pair are split, and then those that :meth:`Hierarchy.cut` would split.

        Parameters
        ----------
        n_clusters, height, max_size, min_size : optional
            The cut, as in :meth:`Hierarchy.cut`: give one, or ``min_size`` with one of the first
            two, or none for the model's own. No ``min_size`` if points must be apart.
        like, stickiness : optional
            With ``n_clusters``: the labels of an earlier cut, which this one holds on to, as
            in :meth:`Hierarchy.cut`; O(n k). What this gave is good for the next time, also
            when points have left meanwhile; ``like=()`` begins. Not if points must be apart.
        by : {"height", "variance", "modularity"}, default="height"
            ``"variance"``, with ``n_clusters``: undo the merges first whose undoing makes
            clusters tight. ``"modularity"``, with nothing else: of all cuts of the tree the one
            that keeps near neighbours together best, which says itself how many clusters there are.
            As in :meth:`Hierarchy.cut`, on the rows as the model stores them. Not if points must
            be apart.
        resolution : float, default=1.0
            By modularity: the larger, the more clusters.

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

        Tomorrow the same four, although the tree would have others:

        >>> model = ramify.OHAC(linkage="ward").fit([[0.0], [1.5], [10.0], [12.0], [40.0]])
        >>> today = model.cut(n_clusters=4, like=())
        >>> model = model.partial_fit([[-2.0]])
        >>> model.cut(n_clusters=4)
        array([0, 0, 1, 1, 2, 3])
        >>> model.cut(n_clusters=4, like=today, stickiness=3.0)
        StickyLabels([0, 0, 1, 2, 3, 0], price=33.58%, moved=0, plainly=2)
        """
        if len(self._fitted().apart()) == 0:
            return super().cut(
                n_clusters=n_clusters,
                height=height,
                max_size=max_size,
                min_size=min_size,
                like=like,
                stickiness=stickiness,
                by=by,
                resolution=resolution,
            )
        if like is not None:
            raise ValueError("like: cuts that keep points apart hold on to no other cut")
        if by != "height":
            raise ValueError(f"by={by!r}: cuts that keep points apart go by height")
        return self._cut_apart(self._cut(self._fitted(), n_clusters, height, max_size, min_size))

    @alone
    def _cut_apart(self, cut: Cut) -> IntArray:
        if cut.joins:
            raise ValueError("min_size: cuts that keep points apart may leave small clusters")
        tree = self._fitted()
        still, numbers = tree.hierarchy(), tree.numbers()
        place = np.searchsorted(still.leaf_numbers, tree.leaf_of(numbers))
        pairs = tree.leaf_of(tree.apart().ravel(), by_first=True).reshape(-1, 2)
        return still.cut(**cut.options, apart=pairs)[place]

    @alone
    def _edit(self, tree: Live, what: str, *about: int) -> None:
        tree.edit(what, *about)

    def _require_editable(self, tree: Live, wanted: str) -> None:
        why = tree.settings.options.uneditable
        if why is not None:
            raise ValueError(f"{wanted}: {why}")


def _id_of(node: "SupportsIndex | Cluster") -> int:
    return node.node_id if isinstance(node, Cluster) else operator.index(node)


def _node_id(tree: Live, node: object) -> int:
    """The id of a node that is there."""
    if isinstance(node, str):
        return -1 - int(tree.leaf_of(tree.wanted(node))[0])
    if isinstance(node, Cluster):
        id = node.node_id
    elif is_whole(node):
        id = operator.index(node)
    else:
        raise TypeError(f"node={node!r}: expected a node id, a cluster, or a point's id as text")
    if not tree.has_node(id):
        raise KeyError(f"the tree has no node with the id {id}")
    return id


def _are_linked(tree: Live, one: int, other: int) -> bool:
    wholes = tree.wholes(np.array([one, other])).tolist() if tree.keeps_marks() else [0, 1]
    return bool(wholes[0] == wholes[1])


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
    apart = tree.apart()
    together = label(apart)
    return Violations(linked, apart[together[:, 0] == together[:, 1]])
