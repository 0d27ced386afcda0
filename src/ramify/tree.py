# SPDX-License-Identifier: BSD-3-Clause
"""tree.py: what every home of a tree can be asked and told, under one name each.

A tree lives in an estimator, in a folder (``ramify.open``), in shards (``ShardedOHAC``), in a
server, or on the other side of a connection (``Client``). Wherever it lives it has the verbs
below, with these parameters and these answers. ``tests/test_homes.py`` holds all homes to them.

The remote tree has lists where the others have arrays, and what it writes is answered when the
server has it on its disk. ``AsyncClient`` has the same verbs, to be awaited.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy.typing as npt

from ramify.estimators.seam import Edits, InCluster, Levels, WayOfLive
from ramify.hierarchy import FloatArray, Hierarchy, IntArray, StopWords
from ramify.hierarchy.seam import LEAST, MOST, STICKINESS, Like
from ramify.ids import Id


class Receipt(NamedTuple):
    """What became of a call.

    Examples
    --------
    >>> import tempfile, ramify
    >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
    ...     first = tree.add([[0.0], [1.0]], ids=["ash", "elm"])
    ...     again = tree.add([[1.0], [5.0]], ids=["elm", "oak"])
    >>> first.numbers, again.numbers, again.repeated
    ([0, 1], [1, 2], 1)
    """

    numbers: list[int]  #: of the points, in the order of the rows; -1 for one that was skipped
    version: int  #: of the tree; the first one of all, if all points were there already
    repeated: int = 0  #: rows that had been taken before
    forgotten: int = 0  #: points
    value: Any = None  #: what the estimator returned


class TreePast(Protocol):
    """What became of a tree: ``tree.past``.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.OHAC(history=9).fit([[0.0], [1.0], [9.0]])
    >>> tree.past.changes(since=0).inserted, tree.past.dirty(0, n_clusters=2).labels
    (array([0, 1, 2]), array([0, 1]))
    """

    def changes(self, since: int | datetime) -> Any:
        """What became of the tree since a version, or since the last one of a time."""

    def dirty(
        self,
        since: int | datetime,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
    ) -> Any:
        """Clusters of a cut that were none of it at a version, or at a time.

        Their labels, node_ids, stable_ids and sizes.
        """


class TreeEdits(Protocol):
    """What people say about a tree: ``tree.edit``. A node is an id, or a cluster.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.OHAC().fit([[0.0], [1.0], [9.0], [8.0]])
    >>> tree.edit.must_link(0, 1)
    >>> tree.edit.cannot_link(0, 2)
    >>> tree.edit.unlink(0, 2)
    >>> tree.edit.move(-3, under=tree.lca(0, 1))
    >>> tree.edit.release(tree.edit.list().held[0])
    >>> tree.edit.rename(-4, "refunds")
    >>> tree.edit.list().names
    {-4: 'refunds'}
    """

    def rename(self, node: Any, text: str | None) -> None:
        """Give the points below a node a name; None takes it away."""

    def must_link(self, i: Id, j: Id) -> None:
        """Have two points together from now on."""

    def cannot_link(self, i: Id, j: Id) -> None:
        """Write down that two points are not to be in one cluster."""

    def unlink(self, i: Id, j: Id) -> None:
        """Take back what was said about two points."""

    def move(self, node: Any, under: Any) -> None:
        """Take a node from its place and put it under another one, which is held."""

    def release(self, node: Any) -> None:
        """Hold a node no more."""

    def list(self) -> Edits:
        """What was said: names, lost_names, linked, apart, held."""


@runtime_checkable
class TreeReads(Protocol):
    """What a tree can be asked. No question changes it, nor waits for a writer.

    A point is named by its arrival number, or by its id if that is text. A cut is one of
    ``n_clusters``, ``height`` and ``max_size``, or ``min_size``, alone or with one of the first
    two: smaller branches join the clusters beside them.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.OHAC(n_clusters=2, history=9)
    >>> tree = tree.fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
    >>> tree.n_points_, tree.labels_, tree.ids_, tree.number_of("c")
    (3, array([0, 0, 1]), array(['a', 'b', 'c'], dtype=object), 2)
    >>> tree.cut(height=0.1), tree.stable_labels(n_clusters=2), tree.predict([[8.0]])
    (array([0, 1, 2]), array([0, 0, 1]), array([1]))
    >>> tree.cluster_of(["b", "c"], n_clusters=2), [one.size for one in tree.clusters(height=0.1)]
    (InCluster(labels=array([0, 1]), node_ids=array([ 0, -3])), [1, 1, 1])
    >>> [[(one.size, one.parent) for one in level] for level in tree.levels(1, 2)]
    [[(3, None)], [(2, 0), (1, 0)]]
    >>> [len(layer) for layer in tree.layers(min_size=1)]
    [3]
    >>> tree.assign([[8.0]], height=2.0).labels, tree.nearest([[8.0]]), tree.nearest([[8.0]], k=2)
    (array([1]), (array([2]), array([1.])), (array([[2, 1]]), array([[ 1., 49.]])))
    >>> tree.path("b"), tree.path_code("b"), tree.lca("a", "c")
    (array([ 1,  0, -2]), '01', 1)
    >>> tree.past.changes(since=0).inserted, tree.hierarchy()
    (array([0, 1, 2]), <Hierarchy: 3 points, root height 72.5, split 2 | 1>)
    """

    @property
    def version(self) -> int:
        """Grows with every change; one that was read can be asked about if history is kept."""

    @property
    def n_points_(self) -> int:
        """Number of points."""

    @property
    def point_numbers_(self) -> IntArray:
        """Arrival numbers of the points that are there, in order."""

    @property
    def ids_(self) -> Any:
        """Ids of the points, in that order; AttributeError if they have none."""

    @property
    def labels_(self) -> IntArray:
        """Cluster of every point in the tree's own cut, in that order."""

    def __len__(self) -> int:
        """Number of leaves."""

    def number_of(self, id: Id) -> int:
        """The arrival number of the point with this id; KeyError if there is none."""

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
        resolution: float | None = None,
    ) -> IntArray:
        """Cluster of every point in a cut, in the order of ``point_numbers_``.

        Here, and in ``clusters``, ``cluster_of`` and ``assign``, a cut goes ``by`` heights or
        "variance", or it is that of the highest "modularity", which needs no other option.
        With ``like``, the labels of an earlier cut into clusters, this one holds on to it as far as
        ``stickiness`` says, and tells what that has cost.
        """

    def stable_labels(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        stickiness: float = 0.0,
    ) -> IntArray:
        """The same under ids of clusters that stay while the tree goes on.

        With ``stickiness`` the cut, too, holds on to the one that was last asked for.
        """

    def clusters(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        by: WayOfLive = "height",
        resolution: float | None = None,
    ) -> Any:
        """The clusters of a cut, by label.

        Each has label, node_id, stable_id, size, height, first_point. ``stable_id`` is what
        ``stable_labels`` of the same cut last called it; None if it is new since then.
        """

    def levels(self, *n_clusters: int, min_size: int | None = None) -> Any:
        """The clusters of several cuts, the coarsest first; each knows its parent's label."""

    def layers(self, *, most: int = MOST, min_size: int = LEAST) -> Any:
        """The same of the few least sizes at which clusters last; has them as ``min_sizes``."""

    def cluster_of(
        self,
        points: npt.ArrayLike,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        by: WayOfLive = "height",
        resolution: float | None = None,
    ) -> InCluster:
        """Label and node id of the clusters of some points; the answer has stable_ids, too."""

    def predict(self, X: npt.ArrayLike, *, stable: bool = False) -> IntArray:
        """Label, in the tree's own cut, of the stored point nearest to each row.

        With ``stable`` the id that stays: what ``stable_labels`` last called that cluster.
        """

    def assign(
        self,
        X: npt.ArrayLike,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        by: WayOfLive = "height",
        resolution: float | None = None,
        confidence: Levels = False,
        new: float | None = None,
    ) -> Any:
        """Where rows belong: labels, node_ids, stable_ids, points, distances, path_codes.

        If asked also confidence, of this cut or of several levels, and which rows are new with a
        share of false alarms.
        """

    def nearest(self, X: npt.ArrayLike, *, k: int | None = None) -> tuple[IntArray, FloatArray]:
        """Numbers and distances of the stored points nearest to each row."""

    def path(self, point: int | str) -> IntArray:
        """Node ids from the root down to a point."""

    def path_code(self, point: int | str) -> str:
        """The same as turns: 0 to the child with the earlier first point."""

    def lca(self, i: int | str, j: int | str) -> int:
        """Node id of the lowest common ancestor of two points."""

    @property
    def past(self) -> TreePast:
        """What became of the tree since a version."""

    def hierarchy(self) -> Hierarchy:
        """The whole tree, frozen."""


@runtime_checkable
class TreeWrites(Protocol):
    """What a tree can be told.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.OHAC().partial_fit([[0.0], [1.0]], ids=["a", "b"])
    >>> tree.insert([9.0], id="c"), tree.forget(["a", "c"]), tree.ids_
    (2, 2, array(['b'], dtype=object))
    """

    def partial_fit(
        self, X: npt.ArrayLike, *, ids: Any = None, sample_weight: npt.ArrayLike | None = None
    ) -> Any:
        """Insert rows; the tree itself."""

    def insert(
        self, x: npt.ArrayLike, *, id: Id | None = None, sample_weight: float | None = None
    ) -> int:
        """Insert one point; its arrival number."""

    def forget(self, points: Id | Sequence[Id]) -> int:
        """Take one point out, or many: by ids, or by numbers where there are no ids; how many."""


@runtime_checkable
class Keeps(TreeReads, TreeWrites, Protocol):
    """A tree whose points are on a disk, with what came along with them.

    Examples
    --------
    >>> import tempfile, ramify
    >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
    ...     tree.add([[0.0], [1.0]], ids=["a", "b"], payloads=["no sound", None]).numbers
    ...     tree.payloads(["a", "b"]), [hit.id for hit in tree.search("sound")]
    ...     tree.keywords(1, n_clusters=2), tree.compact() > 0, tree.statistics()["rows"]
    [0, 1]
    ({'a': 'no sound'}, ['a'])
    ([['no'], []], True, 2)
    """

    def add(
        self,
        X: npt.ArrayLike,
        *,
        ids: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        payloads: Sequence[Any] | None = None,
        key: str | None = None,
    ) -> Any:
        """Insert rows, but for those whose ids are known: numbers, version, repeated."""

    def payloads(self, points: Sequence[Id] | npt.NDArray[Any]) -> dict[Any, Any]:
        """The payloads of points that have one, by what they were asked by."""

    def search(self, text: str, *, limit: int = 20) -> Any:
        """Points by words of their payloads, the best first: number, id, payload."""

    def keywords(
        self,
        k: int = 5,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        by: WayOfLive = "height",
        resolution: float | None = None,
        bigrams: bool = False,
        stop_words: StopWords = (),
    ) -> list[list[str]]:
        """Words that tell the payloads of each cluster of a cut from the others, by label.

        At most k of each; with ``bigrams`` pairs of words, too; without ``stop_words``, which are
        words or ``"english"``.
        """

    def compact(self) -> int:
        """Erase from the disk what was forgotten; the bytes of the folder then."""

    def statistics(self) -> dict[str, Any]:
        """Figures about the journal: operations, rows, commits, bytes, ..."""


def lowest_common(one: Sequence[int] | IntArray, other: Sequence[int] | IntArray) -> int:
    """The last node that two paths from the root share.

    Examples
    --------
    >>> lowest_common([1, 0, -1], [1, 0, -2])
    0
    """
    shared = [a for a, b in zip(one, other, strict=False) if a == b]
    return int(shared[-1])


def meaning_of(verb: str) -> str | None:
    """What a verb means, in the words of its protocol; None if it is none of a protocol.

    Examples
    --------
    >>> meaning_of("path")
    'Node ids from the root down to a point.'
    """
    for protocol in (TreeReads, TreeWrites, Keeps, TreePast, TreeEdits):
        if verb in vars(protocol):
            return inspect.getdoc(vars(protocol)[verb])
    return None


#: The names of what a tree can be asked, for homes that hand them on.
READS = frozenset(name for name in vars(TreeReads) if not name.startswith("_"))
