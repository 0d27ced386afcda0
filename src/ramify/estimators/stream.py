# SPDX-License-Identifier: BSD-3-Clause
"""stream.py: the points of a model as the other rooms see them: how many, which, under what ids.

An estimator refuses most questions before its first point. A room that keeps a model for somebody
else (a journal, a server, the command line) asks at any time, also while a batch is under way. A
:class:`Stream` has an answer then, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np

from ramify.checks import is_whole
from ramify.estimators._graph_points import GraphPoints
from ramify.estimators._live import Live
from ramify.estimators._log import Shelf
from ramify.estimators._settings import Options, Settings
from ramify.hierarchy import FloatArray, IntArray, Points
from ramify.ids import Id, IdArray
from ramify.metric import Metric
from ramify.points import Expected, RealType, Rows

#: Of so many the ids of clusters that stay are found at once.
_FEW_POINTS = 10_000


class PointStream(Protocol):
    """The points of a served tree, which can be asked about before the first of them.

    Of one tree it is :class:`Stream`; shards have one of their own.
    """

    @property
    def begun(self) -> bool:
        """Whether type and width of the rows are settled."""

    @property
    def metric(self) -> Metric:
        """How rows are compared."""

    @property
    def width(self) -> int | None:
        """Numbers in a row; None before the first."""

    @property
    def dtype(self) -> RealType:
        """Type of the rows, once it is settled."""

    @property
    def n_points(self) -> int:
        """Number of points."""

    @property
    def next_number(self) -> int:
        """The arrival number of the next point to come."""

    @property
    def id_kind(self) -> str | None:
        """``"str"`` or ``"int"``; None: points have no ids."""

    @property
    def quick(self) -> bool:
        """Whether a question takes microseconds now."""

    @property
    def n_touched(self) -> int:
        """Number of nodes that the latest remembered change touched."""

    @property
    def node_names(self) -> dict[int, str]:
        """What people call nodes, by their ids."""

    def __len__(self) -> int:
        """Number of leaves."""

    def has(self, number: int) -> bool:
        """Whether there is a point of this number."""

    def find_meanwhile(self, point: Any) -> int | None:
        """The number of a point by its id, or by its number where there are no ids."""

    def all_points(self) -> Points | None:
        """The points of the latest snapshot, and the places of their leaves."""

    def path(self, number: int) -> tuple[IntArray, str]:
        """Node ids from the root to a point, and the turns on the way, of one moment."""

    def depth(self, number: int) -> int:
        """Number of merges above a point."""

    def nearest(self, rows: Rows, k: int) -> tuple[IntArray, FloatArray]:
        """Numbers and distances of the k stored points nearest to each checked row."""


class Stream:
    """The points of a model, from before the first of them on.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC()
    >>> stream = Stream(model)
    >>> stream.begun, stream.n_points
    (False, 0)
    >>> _ = model.partial_fit([[0.0], [1.0]], ids=["ash", "elm"])
    >>> stream.begun, stream.n_points, stream.ids_of([1, 7])
    (True, 2, ['elm', None])
    """

    __slots__ = ("_model",)

    def __init__(self, model: Any) -> None:
        self._model = model

    @property
    def _rows(self) -> Live | None:
        """The tree, if it is one of rows."""
        found: Live | None = self._model._live
        return found

    @property
    def _tree(self) -> Live | None:
        graph = getattr(self._model, "_graph", None)
        of_graph: Any = None if graph is None else GraphPoints(graph)
        found: Live | None = of_graph or self._rows
        return found

    @property
    def of_edges(self) -> bool:
        """Whether the points came with edges, and have no rows."""
        return getattr(self._model, "_graph", None) is not None

    @property
    def _begun_tree(self) -> Live:
        tree = self._tree
        if tree is None:
            raise LookupError("there are no points yet")
        return tree

    @property
    def first_version(self) -> int:
        """Of the stream that it holds. Another ``fit`` begins one, and numbers start at 0 again."""
        tree = self._tree
        return 0 if tree is None else tree.begun

    # --- what its rows are like -------------------------------------------------------

    @property
    def begun(self) -> bool:
        """Whether type and width of the rows are settled."""
        return self._tree is not None

    @property
    def _settings(self) -> Settings:
        tree = self._rows
        found: Settings = self._model._settings() if tree is None else tree.settings
        return found

    @property
    def options(self) -> Options:
        """What the algorithm can do, and was told to."""
        return self._settings.options

    @property
    def metric(self) -> Metric:
        """How rows are compared."""
        return self._settings.metric

    @property
    def width(self) -> int | None:
        """Numbers in a row; None before the first."""
        return None if self._rows is None else self._rows.settings.width

    @property
    def dtype(self) -> RealType:
        """Type of the rows, once it is settled."""
        return self._begun_tree.dtype

    def expected(self) -> Expected:
        """What the next rows must be like."""
        tree, model = self._rows, self._model
        if self.of_edges:
            model._require_rows()
        if tree is not None:
            found: Expected = model._expected(tree)
            return found
        first: Expected = model._expected_first(model._settings())
        return first

    # --- which points there are ---------------------------------------------------------

    def __len__(self) -> int:
        return 0 if self._tree is None else len(self._tree)

    @property
    def n_points(self) -> int:
        """Number of points, of which a leaf may stand for several."""
        return 0 if self._tree is None else int(self._tree.n_points)

    @property
    def next_number(self) -> int:
        """The arrival number of the next point to come."""
        return 0 if self._tree is None else int(self._tree.next_arrival)

    @property
    def n_late(self) -> int:
        """Number of rows that were too old when they came."""
        return 0 if self._tree is None else int(self._tree.n_late)

    @property
    def skipped(self) -> Any:
        """Which rows of the latest batch were skipped; None: none was."""
        return None if self._tree is None else self._tree.skipped

    @property
    def numbers(self) -> IntArray:
        """Arrival numbers of the points, in order."""
        return np.empty(0, np.int64) if self._tree is None else self._tree.numbers()

    def has(self, number: int) -> bool:
        """Whether there is a point of this number."""
        return self._tree is not None and self._tree.has(number)

    def leaf_of(self, numbers: IntArray, *, by_first: bool = False) -> IntArray:
        """The ids of the leaves that points are in, or the earliest point in each."""
        return self._begun_tree.leaf_of(numbers, by_first=by_first)

    def all_points(self) -> Points | None:
        """The points of the latest snapshot, and the places of their leaves."""
        return None if self._rows is None else self._rows.all_points()

    def compared_rows(self) -> Rows:
        """A copy of the rows as the tree compares them."""
        return self._begun_tree.compared_points()

    # --- their ids --------------------------------------------------------------------

    @property
    def has_ids(self) -> bool:
        """Whether the points have ids."""
        return self._tree is not None and self._tree.ids is not None

    @property
    def id_kind(self) -> str | None:
        """``"str"`` or ``"int"``; None: points have no ids."""
        ids = None if self._tree is None else self._tree.ids
        return None if ids is None else next((type(one).__name__ for one in ids), "str")

    @property
    def ids(self) -> IdArray | None:
        """Ids of the points, in order of arrival; None: they have none."""
        return None if self._tree is None else self._tree.id_array()

    def find(self, point: object) -> int | None:
        """The number of the point with this id, or with this number where there are no ids."""
        tree = self._tree
        if tree is None:
            return None
        known = tree.known_ids()
        if known is not None:
            return known.number_of(point)
        return int(point) if is_whole(point) and tree.has(int(point)) else None

    def find_meanwhile(self, point: Any) -> int | None:
        """As :meth:`find`, while a batch may be under way."""
        tree = self._tree
        if tree is None:
            return None
        number = point if tree.ids is None else tree.ids.find(point, tree.next_arrival)
        return int(number) if number is not None and tree.has(int(number)) else None

    def number_of(self, point: Any) -> int:
        """The number of a point: by its id, or by its number where ids are no numbers."""
        tree = self._tree
        known = None if tree is None else tree.known_ids()
        number = None if known is None else known.number_of(point)
        if number is None and not any(is_whole(one) for one in islice(known or (), 1)):
            number = point
        if not is_whole(number) or not self.has(int(number)):
            raise KeyError(f"there is no point {point!r}")
        return int(number)

    def numbers_of(self, points: object) -> IntArray:
        """The numbers of points: by ids if there are any. Each must be there, and named once."""
        return self._begun_tree.wanted(points)

    def read_ids(self, ids: object, n: int) -> list[Any] | None:
        """Check the ids of n rows to come; None if this stream has none."""
        return self._begun_tree.read_ids(ids, n)

    def ids_of(self, numbers: Sequence[int]) -> list[Id | None]:
        """Ids of points; None for one that has none, or is gone."""
        tree = self._tree
        if tree is None or tree.ids is None:
            return [None] * len(numbers)
        late, known = tree.ids.late(), tree.ids._name
        if known is None:
            there = [one for one in numbers if tree.has(one)]
            known = dict(zip(there, tree.ids.of(there), strict=True))
        return [known.get(one, late.get(one)) if tree.has(one) else None for one in numbers]

    @property
    def knows_names(self) -> bool:
        """Whether :meth:`ids_of` costs nothing but the answer."""
        tree = self._tree
        return tree is None or tree.ids is None or tree.ids._name is not None

    def learn_names(self) -> None:
        """From now on keep ids by numbers, too. O(n), once, while nobody writes."""
        if not self.knows_names:
            ids = self._begun_tree.ids
            assert ids is not None
            ids.expect_to_leave([])

    # --- where they are ---------------------------------------------------------------

    @property
    def quick(self) -> bool:
        """Whether a question takes microseconds now: the tree is the core's, and nobody writes."""
        if self._rows is None or self._model.min_size is not None:
            return False
        named = any(self._rows.identity.cuts())  # whose ids are found once after each change
        few = self._rows.n_points <= _FEW_POINTS
        return self._rows.shared and not self._rows.busy and (few or not named)

    def nearest(self, rows: Rows, k: int, threads: int = 1) -> tuple[IntArray, FloatArray]:
        """Numbers and distances of the k stored points nearest to each checked row."""
        return self._begun_tree.nearest(rows, k, threads)

    def path(self, number: int) -> tuple[IntArray, str]:
        """Node ids from the root to a point, and the turns on the way, of one moment."""
        if self.of_edges:
            return self._model.path(number), self._model.path_code(number)
        return self._begun_tree.path(number)

    def depth(self, number: int) -> int:
        """Number of merges above a point."""
        if self.of_edges:
            return len(self.path(number)[1])
        return self._begun_tree.depth(number)

    def lca(self, one: int, other: int) -> int:
        """Node id of the lowest common ancestor of two points."""
        if self.of_edges:
            return int(self._model.lca(one, other))
        return self._begun_tree.lca(one, other)

    @property
    def node_names(self) -> dict[int, str]:
        """What people call nodes, by their ids."""
        return {} if self._rows is None else self._model._found_names().homes

    @property
    def names_in_cuts(self) -> dict[int, str]:
        """What clusters of any cut are called, by the ids of their nodes."""
        return {} if self._rows is None else self._model._found_names().shown

    def keep_past_in(self, shelf: Shelf) -> None:
        """Have what becomes of the tree kept there; of a graph of edges nothing is told."""
        if self._rows is not None:
            self._rows.keep_past_in(shelf)

    @property
    def n_touched(self) -> int:
        """Number of nodes that the latest remembered change touched."""
        past = None if self._tree is None else self._tree.past
        return 0 if past is None else past.n_touched
