# SPDX-License-Identifier: BSD-3-Clause
"""_reading.py: what a sharded model can be asked: the whole tree, ids, versions, figures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ramify import lean
from ramify.checks import whole_number
from ramify.estimators import OHAC
from ramify.estimators.seam import CUT, Cut, WayOfLive, check_history, with_names
from ramify.hierarchy import Hierarchy, Layers, Levels, StopWords
from ramify.hierarchy.seam import LEAST, MOST, MetricName
from ramify.ids import Id, IdArray, as_array
from ramify.journal import Backup, Hit
from ramify.journal.seam import Moment, backup_into, folder_path
from ramify.metric import METRICS
from ramify.points import Rows
from ramify.ray._backup import moment_of_shards
from ramify.ray._cuts import ShardCuts
from ramify.ray._figures import metrics
from ramify.ray._following import ShardPast
from ramify.ray._notes import ShardEdits
from ramify.ray._top import Top
from ramify.wording import LiveKeywords

_SomeLevels = TypeVar("_SomeLevels", bound=Levels)


class ShardReader(ShardCuts):
    """A sharded model, for reading."""

    # --- the whole ----------------------------------------------------------------------------

    def hierarchy(self) -> Hierarchy:
        """The whole tree, frozen, where it fits the memory of this process. O(n).

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [5.0]]).hierarchy()
        <Hierarchy: 3 points, root height 20.5, split 2 | 1>
        """
        self._require_points()
        found: Hierarchy = self._ask("hierarchy")
        names = self._ask("names").homes
        return found.with_node_names(names) if names else found

    def top(self) -> Top:
        """The top of the tree: its parts, and what is guaranteed. O(shards · frontier).

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(1, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [5.0]]).top()
        <Top: 1 parts of 1 shards, φ = 1.000, at least 0.000 of n·Σw>
        """
        self._require_points()
        found: Top = self._ask("top")
        return found

    def points(self) -> Rows:
        """A copy of all points as stored, in order of arrival, where they fit.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]]).points()
        array([[0.],
               [1.]])
        """
        self._require_points()
        rows: Rows = self._ask("points")[1]
        return rows

    def to_model(self) -> OHAC:
        """A plain model of the whole tree, which goes on from here on one machine.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]]).to_model()
        OHAC()
        """
        self._require_points()
        found: OHAC = self._ask("model")
        cut = {name: getattr(self, name) for name in CUT}
        found.set_params(**cut)
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole tree to one file, as a plain model, where it fits the memory.

        The journals need no saving. ``ramify.load`` reads the file.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import ramify
        >>> from ramify.ray import ShardedOHAC
        >>> file = pathlib.Path(tempfile.mkdtemp(), "tree.ramify")
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [5.0]]).save(file)
        >>> len(ramify.load(file))
        3
        """
        lean.write(path, *self.to_model()._to_saved())

    # --- ids, versions, figures -----------------------------------------------------------------

    @property
    def ids_(self) -> IdArray:
        """The points' ids in order of arrival; only if the stream has ids."""
        names = self.hierarchy().names
        if names is None:
            raise AttributeError("the points of this ShardedOHAC have no ids")
        return as_array(names.tolist())

    def payloads(self, points: Sequence[Id] | npt.NDArray[Any]) -> dict[Any, Any]:
        """The payloads of points that have one, by arrival numbers, or by ids that are text.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     texts = ["No sound", {"title": "Update fails"}]
        ...     model.partial_fit([[0.0], [1.0]], payloads=texts).payloads([1, 0])
        {1: {'title': 'Update fails'}, 0: 'No sound'}
        """
        numbers = self._numbers_of(np.asarray(points, dtype=None if len(points) else np.int64))
        found = self._ask("payloads", numbers.tolist())
        asked = [one if isinstance(one, str) else int(one) for one in points]
        pairs = zip(asked, numbers.tolist(), strict=True)
        return {one: found[number] for one, number in pairs if number in found}

    def search(self, text: str, *, limit: int = 20) -> list[Hit]:
        """Points whose payloads have all words of a text, the last one perhaps in part.

        Shards know which of their own fit best: the first answers are the best of each.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     texts = ["No sound after update", "Update fails"]
        ...     model.partial_fit([[0.0], [1.0]], payloads=texts).search("sou")
        [Hit(number=0, id=None, payload='No sound after update')]
        """
        found: list[Hit] = self._ask("search", text, whole_number("limit", limit))
        return found

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

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> texts = ["no sound", "sound is off", "a refund"]
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model = model.partial_fit([[0.0], [1.0], [9.0]], payloads=texts)
        ...     model.keywords(1, n_clusters=2)
        [['sound'], ['refund']]
        """
        self._require_points()
        given = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        cut = self._cut(by, resolution, **given, min_size=min_size)
        numbers, labels = self._ask("labels", cut)
        live: LiveKeywords = self.__dict__.setdefault("_live_keywords", LiveKeywords())
        how: Any = {"bigrams": bigrams, "stop_words": stop_words}
        return live.of(cut, numbers, labels, partial(self._ask, "payloads"), k, **how)

    def levels(self, *n_clusters: int, min_size: int | None = None) -> Levels:
        """Several cuts of the tree as it is now, as :meth:`ramify.OHAC.levels`. O(n d).

        All points are looked at in one place.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     coarse, fine = model.partial_fit([[0.0], [1.0], [9.0]]).levels(2, 3)
        >>> fine.parents
        array([0, 0, 1])
        """
        self._require_points()
        found = self.hierarchy().levels(
            *n_clusters, X=self.points(), min_size=min_size, metric=self._row_metric
        )
        return self._called(found, [Cut("n_clusters", count, min_size) for count in n_clusters])

    def layers(self, *, most: int = MOST, min_size: int = LEAST) -> Layers:
        """The few levels at which clusters last, as :meth:`ramify.OHAC.layers`. O(n d + n log n).

        All points are looked at in one place.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [9.0], [8.0]]).layers(min_size=2)
        <Layers: 2 clusters>
        """
        self._require_points()
        found = self.hierarchy().layers(
            self.points(), most=most, min_size=min_size, metric=self._row_metric
        )
        return self._called(found, [Cut("min_size", one) for one in found.min_sizes.tolist()])

    @property
    def _row_metric(self) -> MetricName:
        return "cosine" if METRICS[self.metric].unit_rows else "sqeuclidean"

    def _called(self, found: _SomeLevels, cuts: list[Cut]) -> _SomeLevels:
        """With the names and the ids that clusters of these cuts have."""
        shown = self._ask("names").shown
        for cut, level in zip(cuts, found, strict=True):
            with_names(level, shown)
            level._stable = self._ask("stable_ids", cut)
        return found

    @property
    def version(self) -> int:
        """Number of the last operation: it grows with every block of rows.

        With ``history`` set, a version that was read can be asked about later: see
        :meth:`changes`. Then the reading costs as much as :meth:`top`.
        """
        return int(self._ask("version", check_history(self.history)))

    @property
    def past(self) -> ShardPast:
        """What became of the tree, as :class:`ramify.OHAC` says it.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local", history=9) as model:
        ...     night = model.partial_fit([[0.0], [1.0], [9.0]]).version
        ...     model.partial_fit([[8.0]]).past.changes(since=night).inserted
        array([3])
        """
        return ShardPast(self)

    @property
    def edit(self) -> ShardEdits:
        """What people say about the tree: names; links and moves are for trees in one place.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0], [9.0]]).edit.rename(0, "near")
        ...     model.hierarchy().node_names[0]
        'near'
        """
        return ShardEdits(self)

    def statistics(self) -> dict[str, Any]:
        """What can be measured: sizes, rates, seconds and memory of the router and every shard.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]]).statistics()["sizes"]
        [2, 0]
        """
        found: dict[str, Any] = self._ask("figures")
        return found

    def prometheus(self) -> str:
        """The statistics for Prometheus, under the names that ``ramify serve`` has.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     text = model.partial_fit([[0.0], [1.0]]).prometheus()
        >>> [line for line in text.splitlines() if line.startswith("ramify_points{")][0]
        'ramify_points{tree="sharded"} 2'
        """
        return metrics(self.statistics(), "sharded")

    @property
    def marks(self) -> dict[str, str]:
        """How far sources were read, as the calls of :meth:`add` said."""
        found: dict[str, str] = self._ask("marks")
        return found

    def snapshot(self) -> None:
        """Have every shard write a snapshot now, so that its next restart is quick.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     model.partial_fit([[0.0], [1.0]]).snapshot()
        """
        self._ask("snapshot")

    def backup(self, file: str | os.PathLike[str]) -> Backup:
        """Write all of the tree into one file, as of one moment; writers and readers wait.

        :func:`ramify.ray.restore` makes a folder of it.

        Parameters
        ----------
        file : path
            In the tree's folder there must be room for the tree once more.

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     made = model.partial_fit([[0.0], [1.0]]).backup(tempfile.mkdtemp() + "/monday.tar")
        >>> made.operations
        1
        """
        folder = folder_path(self.folder).absolute()
        return backup_into(file, folder, lambda room: self._moment())

    def _moment(self) -> AbstractContextManager[Moment]:
        """The tree as it is now, to be read as the bytes of a backup."""
        folder = folder_path(self.folder).absolute()
        return moment_of_shards(folder, partial(self._ask, "copy"))

    def digests(self) -> list[str | None]:
        """A digest of all that each shard's tree is: equal for trees equal to the bit. O(n d).

        Examples
        --------
        >>> import tempfile
        >>> from ramify.ray import ShardedOHAC
        >>> with ShardedOHAC(2, folder=tempfile.mkdtemp(), engine="local") as model:
        ...     len(model.partial_fit([[0.0], [1.0]]).digests())
        2
        """
        found: list[str | None] = self._ask("digests")
        return found

    @property
    def n_leaves_(self) -> int:
        """Number of leaves of all shards' trees."""
        return len(self)

    @property
    def n_features_in_(self) -> int:
        """Width of the rows."""
        width = self._ask("about")["width"]
        if width is None:
            raise AttributeError("this ShardedOHAC holds no points yet")
        return int(width)
