# SPDX-License-Identifier: BSD-3-Clause
"""_notes.py: what people say about any tree, ``model.edit``: names, and who must be apart.

Both are only written down: no tree can keep two points apart, because its root has them
both. A cut can; ``cut`` does, and ``violations`` says what other cuts break. Links and moves,
to which a tree has to keep, are in _edits.py.
"""

import operator
from typing import Any, NamedTuple, Self, SupportsIndex

import numpy as np

from ramify.checks import is_whole
from ramify.estimators._aspect import Aspect
from ramify.estimators._guard import alone, writes
from ramify.estimators._live import Live
from ramify.hierarchy import Cluster, IntArray
from ramify.ids import Id


class Edits(NamedTuple):
    """What people have said about a tree; see ``edit.list``."""

    names: dict[int, str]  #: by the id of the node that has the name now
    lost_names: dict[int, str]  #: that no node has, by the id of the node of then
    linked: list[IntArray]  #: groups of points that must be together: their numbers
    apart: IntArray  #: (m, 2): pairs of points that must be apart: their numbers
    held: IntArray  #: ids of nodes whose points stay below them


class Violations(NamedTuple):
    """What a cut breaks; see ``edit.violations``."""

    linked: list[IntArray]  #: groups that are not in one cluster: numbers of their points
    apart: IntArray  #: (m, 2): pairs that are in one cluster: their numbers

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.linked) or len(self.apart) > 0


class Notes(Aspect):
    """What people say about a tree: ``model.edit`` of every model.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OTD().fit([[0.0], [1.0], [9.0], [8.0]])
    >>> model.edit.rename(model.clusters(n_clusters=2)[1], "refunds")
    >>> list(model.edit.list().names.values())
    ['refunds']
    """

    __slots__ = ("_rehearses",)

    def __init__(self, model: Any = None, rehearses: bool = False) -> None:
        super().__init__(model)
        self._rehearses = rehearses

    def _rehearsal(self) -> Self:
        """The same verbs, which refuse what these would, and change nothing."""
        return type(self)(self._model, rehearses=True)

    def __getattr__(self, name: str) -> Any:
        if name in ("must_link", "move", "release"):
            raise AttributeError(f"{name}: only trees of OHAC keep to it")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @writes
    def rename(self, node: "SupportsIndex | Cluster", text: str | None) -> None:
        """Give the points below a node a name, which the cluster has that holds most of them. O(n).

        The name stays with the points while the tree goes on, and is found again in every
        cut: at the cluster that holds more than half of those that are still there, if they are
        more than half of what it has of the points of then. Points that come have no say.
        Before most of the points have left, the name passes to those that are with them.
        A name that no node holds is in ``edit.list().lost_names``, of which the thousand youngest
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
        >>> model.edit.rename(model.clusters(n_clusters=2)[1], "refunds")
        >>> [cluster.name for cluster in model.clusters(n_clusters=2)]
        [None, 'refunds']
        """
        if not (text is None or isinstance(text, str)):
            raise TypeError(f"text={text!r}: expected a text, or None")
        tree = self._fitted()
        if text is None:
            anchors = tree.anchors.taken(id_of(node), tree.found_names())
        else:
            id = node_id(tree, id_of(node))
            anchors = tree.anchors.given(id, text, *tree.moment(), tree.next_arrival)
        if not self._rehearses:
            tree.anchors = anchors

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
        >>> model.edit.cannot_link(2, 3)
        >>> model.edit.violations(n_clusters=2).apart
        array([[2, 3]])
        >>> model.cut(n_clusters=3)
        array([0, 0, 1, 2])
        """
        tree = self._fitted()
        one, other = two(tree, i, j)
        if len(set(tree.leaf_of(np.array([one, other])).tolist())) == 1:
            raise ValueError(f"cannot_link: points {one} and {other} are in one leaf")
        if _are_linked(tree, one, other):
            raise ValueError(f"cannot_link: {one} and {other} are linked; unlink them first")
        if not self._rehearses:
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
        >>> model.edit.must_link(0, 2)
        >>> model.edit.unlink(2, 0)
        >>> model.edit.list().linked
        []
        """
        tree = self._fitted()
        one, other = two(tree, i, j)
        if (one, other) in tree.pairs_apart:
            if not self._rehearses:
                tree.pairs_apart.remove(one, other)
        elif _are_linked(tree, one, other):
            self._edit(tree, "unlink", one)
        else:
            raise ValueError(f"unlink: nothing was said about points {one} and {other}")

    @alone
    def list(self) -> Edits:
        """What people have said about this tree, and which names are lost. O(n).

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0], [8.0], [7.0]])
        >>> model.edit.must_link(0, 2)
        >>> model.edit.cannot_link(1, 4)
        >>> model.edit.list().linked, model.edit.list().apart
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
        >>> model.edit.must_link(0, 2)
        >>> bool(model.edit.violations(n_clusters=2)), model.edit.violations(n_clusters=4).linked
        (False, [array([0, 2])])
        """
        tree = self._fitted()
        labels = tree.labels(self._model._cut(tree, n_clusters, height, max_size, min_size))
        return _broken(tree, tree.numbers(), labels)

    @alone
    def _edit(self, tree: Live, what: str, *about: int) -> None:
        if not self._rehearses:
            tree.edit(what, *about)
        elif what in ("link", "move"):
            tree.edit(f"check_{what}", *about)


def id_of(node: "SupportsIndex | Cluster") -> int:
    """The id of a node, which need not be there."""
    return node.node_id if isinstance(node, Cluster) else operator.index(node)


def node_id(tree: Live, node: object) -> int:
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


def two(tree: Live, i: Id, j: Id) -> tuple[int, int]:
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
