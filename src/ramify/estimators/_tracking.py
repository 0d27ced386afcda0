# SPDX-License-Identifier: BSD-3-Clause
"""_tracking.py: what became of a tree since the last look at it: ``model.past``.

Versions, changes and dirty clusters are read off a log (_log.py), for which ``history``
says how many versions it goes back. Ids of clusters that stay (_identity.py) need no log.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from ramify.checks import whole_number
from ramify.errors import HistoryError
from ramify.estimators._aspect import Aspect
from ramify.estimators._changes import Changes, before, net_changes
from ramify.estimators._dirty import unchanged, unchanged_joined
from ramify.estimators._guard import alone, live
from ramify.estimators._lineage import Lineage, lineage
from ramify.estimators._live import Live
from ramify.estimators._replay import (
    Families,
    Step,
    families_of,
    hierarchy_of,
    no_tree,
    rewind,
)
from ramify.estimators._timeline import Era, Span, timeline
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.points import Rows


class DirtyClusters(NamedTuple):
    """The clusters of a cut that are not what they were, in order of their first points."""

    labels: IntArray  #: which cluster of the cut each is
    node_ids: IntArray  #: stable id of the node; a single point's is -1 - its number
    sizes: IntArray  #: number of points
    means: Rows  #: of the points as stored, a row each
    heights: FloatArray  #: monotone height of the node, 0 for a single point
    first_points: IntArray  #: number of the earliest point
    #: What ``stable_labels`` of the same cut last called each; -1 if it is new since then.
    stable_ids: IntArray


class Tracker(Aspect):
    """What became of a tree: ``model.past``. The parameter ``history`` says how far back it goes.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC(history=10).fit([[0.0], [1.0], [9.0]])
    >>> night = model.version
    >>> model.partial_fit([[8.0]]).past.changes(since=night).inserted
    array([3])
    """

    __slots__ = ()

    @alone
    def changes(self, since: int | datetime) -> Changes:
        """What became of the tree since a version: points, nodes, and how to replay it.

        Only the net effect: what came and went in between is not told. The time it takes
        depends on the size of the log and not on that of the tree, unless points have ids.

        Parameters
        ----------
        since : int or datetime
            What ``version`` once said; one of the last ``history`` that were read. What it
            said before the first row, 0 for a new model, is always known: then all is new.
            A time means the last version that was read until then.

        Returns
        -------
        Changes

        Raises
        ------
        HistoryError
            If that version is not remembered.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(history=10).fit([[0.0], [1.0], [9.0]])
        >>> night = model.version
        >>> found = model.partial_fit([[8.0]]).past.changes(since=night)
        >>> found.inserted, found.born, found.grown
        (array([3]), array([2]), array([1]))
        """
        tree = self._fitted() if self._live is None else self._live  # all may have left since
        since = self._version(tree, since)
        if since == tree.begun:
            return self._everything(tree)
        steps, newest = self._steps_since(tree, since)
        return with_ids(tree, net_changes(before(steps), steps, since, newest))

    @alone
    def dirty(
        self,
        since: int | datetime,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
    ) -> DirtyClusters:
        """The clusters of a cut whose points are not those of any cluster of it then.

        For whoever keeps something about each cluster that is dear to make, such as a
        text: only these have to be made anew. O(n log n): the tree of then is put together.

        Parameters
        ----------
        since : int or datetime
            As in :meth:`changes`.
        n_clusters, height, max_size, min_size : optional
            The cut, as in ``model.cut``; none for the model's own. If
            the tree of then had fewer points than ``n_clusters``, each was a cluster.

        Returns
        -------
        DirtyClusters
            As ``clusters``, with ``labels`` in front; empty if nothing has changed.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(history=10).fit([[0.0], [1.0], [9.0], [8.0], [30.0]])
        >>> night = model.version
        >>> found = model.partial_fit([[8.5]]).past.dirty(night, n_clusters=3)
        >>> found.labels, found.sizes, found.first_points
        (array([1]), array([3]), array([2]))
        """
        tree = self._fitted()
        cut = self._model._cut(tree, n_clusters, height, max_size, min_size)
        now: Any = tree.clusters(cut)
        changed = np.arange(len(now[0]))
        since = self._version(tree, since)
        if since != tree.begun:
            steps, _ = self._steps_since(tree, since)
            if cut.joins:
                same = unchanged_joined(_rewound(tree, steps), steps, cut, tree.joined(cut))
            else:
                same = unchanged(tree.hierarchy(), steps, cut, now[0])
            changed = np.flatnonzero(~same)
        columns = [changed, *(part[changed] for part in now)]
        columns.append(tree.stable_of(cut, columns[1]))
        return DirtyClusters(*columns)

    @alone
    def lineage(self, node: int, since: int | datetime) -> Lineage:
        """What a node of the tree was made of then, and what became of it since.

        Points that have come or gone since then have no say. What a node was merged from are
        the largest nodes of then whose points all lie in it now: itself if it only grew.
        What it was split into are the largest nodes of now whose points all lay in it then.
        A new node is a renamed one if it shares more than half of the points of both with an
        inner node that has gone. O(n log n).

        Parameters
        ----------
        node : int
            Id of a node of now, of then, or of both: an inner node's, or -1 - the number of
            a point.
        since : int or datetime
            As in :meth:`changes`.

        Returns
        -------
        Lineage

        Raises
        ------
        KeyError
            If there is no such node, neither then nor now.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(history=10).fit([[0.0], [1.0], [20.0], [21.0], [40.0]])
        >>> night = model.version
        >>> model = model.partial_fit([[41.0], [39.0]])
        >>> new = int(model.clusters(n_clusters=3).node_ids[2])
        >>> model.past.lineage(new, since=night).merged_from  # a single point
        array([-5])
        """
        tree = self._fitted()
        return lineage(node, self._tree_at(tree, since), tree.hierarchy())

    def timeline(self, n_clusters: int, *, eras: int = 12) -> list[Era]:
        """What became of the clusters of a cut, as far back as versions are remembered.

        Clusters are born of new points, go with their points, are split or joined: of two versions
        the clusters are compared by the points that are in both. O(n log n) for each era.

        Parameters
        ----------
        n_clusters : int
            Of the cut, in each version.
        eras : int, default=12
            So many spans, at most, evenly in time.

        Returns
        -------
        list of Era
            The earliest first.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(history=10).fit([[0.0], [1.0], [20.0], [21.0]])
        >>> begun = model.version
        >>> model = model.partial_fit([[90.0], [91.0], [92.0]])
        >>> era = model.past.timeline(2)[0]
        >>> [(event.kind, [one.size for one in event.now]) for event in era.events]
        [('born', [3]), ('joined', [4])]
        """
        k, most = whole_number("n_clusters", n_clusters), whole_number("eras", eras)
        return timeline(*self._spans(most), k)  # the model may go on meanwhile

    @alone
    def _spans(self, most: int) -> tuple[Families, list[Span]]:
        tree = self._fitted()
        self._settle(tree)
        assert tree.past is not None
        return families_of(tree.hierarchy()), tree.past.spans(most)

    @property
    @live
    def oldest(self) -> int:
        """The oldest version that can be asked about, beside that of the empty tree."""
        tree = self._fitted()
        self._settle(tree)
        assert tree.past is not None
        return tree.past.oldest

    @property
    @live
    def n_late(self) -> int:
        """Number of rows that came too late for a limit of age; ``n_skipped_`` counts them, too."""
        return self._fitted().n_late

    # --- the log ----------------------------------------------------------------------

    def _steps_since(self, tree: Live, since: int) -> tuple[list[Step], int]:
        """The steps since a version, and the version that they lead to, which is that of now."""
        self._settle(tree)
        assert tree.past is not None
        return tree.past.since(since), tree.past.newest

    def _version(self, tree: Live, since: int | datetime) -> int:
        """The version that is meant."""
        if not isinstance(since, datetime):
            return whole_number("since", since, least=0)
        self._settle(tree)
        assert tree.past is not None
        return tree.past.at(since)

    def _settle(self, tree: Live) -> None:
        """The log is up to date; HistoryError if there is none."""
        model, name = self._model, type(self._model).__name__
        keep: int = model._history()
        if not hasattr(model, "history"):
            raise HistoryError(f"{name} makes its tree anew each time, and remembers no versions")
        if keep == 0:
            raise HistoryError(
                f"this {name} remembers no versions; set history= to how many it should"
            )
        tree.settle(keep)

    def _tree_at(self, tree: Live, since: int | datetime) -> Hierarchy | None:
        """The tree at a version, None if it was empty."""
        since = self._version(tree, since)
        if since == tree.begun:
            return None
        return _rewound(tree, self._steps_since(tree, since)[0])

    def _everything(self, tree: Live) -> Changes:
        """All that there is, as if it came at once."""
        whole = families_of(tree.hierarchy()) if len(tree) else no_tree()
        families = np.column_stack([whole.ids, whole.children])
        none = np.empty(0, np.int64)
        version = tree.settle(self._model._history())
        numbers = tree.numbers()
        members = np.column_stack([numbers, tree.leaf_of(numbers)])
        absorbed = members[members[:, 0] != members[:, 1]]
        told = whole.points, none, none, families, whole.values, whole.points, whole.weights
        step = Step(version, *told, numbers, none.reshape(0, 2), absorbed)
        return with_ids(tree, net_changes(no_tree(), [step], tree.begun, version))


def _rewound(tree: Live, steps: list[Step]) -> Hierarchy | None:
    """The tree before the last steps; None if it was empty. O(n log n)."""
    now = families_of(tree.hierarchy()) if len(tree) else no_tree()
    old = rewind(now, steps)
    return hierarchy_of(old) if len(old.points) else None


def with_ids(tree: Live, changes: Changes) -> Changes:
    """The same with ids of the points, where these have any."""
    leaves, known = changes.leaves, tree.known_ids()
    if tree.settings.options.tracks_members:
        if len(leaves):
            still = tree.hierarchy()
            leaves = still.point_numbers[np.searchsorted(still.leaf_numbers, leaves)]
        changes = replace(changes, leaf_points=leaves)
    if known is None:
        return changes
    ids = known.array_of(changes.inserted.tolist())
    return replace(changes, ids=ids, leaf_ids=known.array_of(leaves.tolist()))
