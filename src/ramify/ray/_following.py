# SPDX-License-Identifier: BSD-3-Clause
"""_following.py: what became of a sharded tree since a version: ``model.past``."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ramify.checks import whole_number
from ramify.errors import HistoryError
from ramify.estimators import Changes
from ramify.estimators.seam import DirtyClusters, check_history
from ramify.ray._tables import PointChanges

if TYPE_CHECKING:
    from ramify.ray._reading import ShardReader


def _version(since: object) -> int:
    if isinstance(since, datetime):
        raise TypeError(
            "since: a tree in shards is asked by version and not by time: keep what `version` says "
            "beside the time, or have the tree in one folder (ramify.open)"
        )
    return whole_number("since", since, least=0)


class ShardPast:
    """What became of a sharded tree.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.ray import ShardedOHAC
    >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local", history=9) as model:
    ...     model.partial_fit([[0.0], [1.0]]).past.changes(since=0).inserted
    array([0, 1])
    """

    __slots__ = ("_model",)

    def __init__(self, model: ShardReader) -> None:
        self._model = model

    def changes(self, since: int | datetime) -> Changes:
        """What became of the tree since a version: points, nodes, and how to replay it.

        As of :class:`ramify.OHAC`, and replayed on the ``hierarchy()`` of then it gives that of
        now. Ids of nodes below the top tree are their shard's own: those of a part that moved to
        another shard are new, though its points are the same. A node of the top tree is named by
        the earliest point of the later one of its two sides, and has that name as long as it is
        there.

        Parameters
        ----------
        since : int
            What ``version`` once said; one of the last ``history`` that were read. 0, before
            the first point, is always known. Versions from before a shard or the router was
            started anew are not.

        Returns
        -------
        Changes

        Raises
        ------
        HistoryError
            If that version is not remembered.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local", history=9) as model:
        ...     old = model.partial_fit([[0.0], [1.0], [9.0]]).hierarchy()
        ...     night = model.version
        ...     found = model.partial_fit([[8.0]]).past.changes(since=night)
        ...     found.apply(old) == model.hierarchy()
        True
        >>> found
        <Changes from version 1 to 2: 1 inserted, 0 forgotten; 1 born, 0 retired, 1 grown, 0 shrunk>
        """
        wanted = _version(since)
        found: Changes = self._model._ask("changes", wanted, self._remembered())
        return found

    def dirty(
        self,
        since: int | datetime,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
    ) -> DirtyClusters:
        """The clusters of a cut whose points are not those of any cluster of it then. O(n).

        As ``past.dirty`` of :class:`ramify.OHAC`, by a version as :meth:`changes` takes it.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> rows = [[0.0], [1.0], [9.0], [8.0], [30.0]]
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local", history=9) as model:
        ...     night = model.partial_fit(rows).version
        ...     model.partial_fit([[8.5]]).past.dirty(night, n_clusters=3).labels
        array([1])
        """
        cut = self._model._cut(
            n_clusters=n_clusters, height=height, max_size=max_size, min_size=min_size
        )
        wanted = _version(since)
        found: DirtyClusters = self._model._ask("dirty", wanted, cut, self._remembered())
        return found

    def _remembered(self) -> int:
        """How many versions can be asked about."""
        keep = check_history(self._model.history)
        if keep == 0:
            raise HistoryError(
                "this ShardedOHAC remembers no versions; set history= to how many it should, or "
                "ask for point_changes"
            )
        return keep

    def point_changes(self, since: int) -> PointChanges:
        """Which points came and went since a version; of the last 10,000, whatever has died since.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]]).past.point_changes(0).inserted
        array([0, 1])
        """
        found: PointChanges = self._model._ask(
            "point_changes", whole_number("since", since, least=0)
        )
        return found
