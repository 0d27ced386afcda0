# SPDX-License-Identifier: BSD-3-Clause
"""_graph_points.py: the points of a graph of edges, as ``Stream`` asks a tree of rows for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ramify.estimators._graph_stream import GraphStream
from ramify.hierarchy import IntArray
from ramify.ids import Id, IdArray, as_array


class GraphPoints:
    """A graph as a tree that has points with ids and no rows.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.LiveGraphHAC().fit(edges=(["a"], ["b"], [0.5]))
    >>> points = GraphPoints(model._graph)
    >>> len(points), points.has(1), points.known_ids().number_of("b"), list(points.ids)
    (2, True, 1, ['a', 'b'])
    """

    n_late = 0
    skipped = None
    past = None
    shared = False
    busy = False

    def __init__(self, graph: GraphStream) -> None:
        self._graph = graph
        self.n_points = len(graph)
        self.next_arrival = graph.next_number
        self.begun = graph.begun

    def __len__(self) -> int:
        return self.n_points

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"a tree of edges has no rows to answer this by ({name}); its snapshot, hierarchy(), "
            f"has cuts, clusters, paths and heights"
        )

    def numbers(self) -> IntArray:
        """Arrival numbers of the points, ascending."""
        return self._graph.numbers()

    def has(self, number: int) -> bool:
        """Whether there is a point of this number."""
        return number in self._graph.by_number()

    # --- ids, which all points have ------------------------------------------------

    @property
    def ids(self) -> "GraphPoints":
        """What the points are called."""
        return self

    @property
    def _name(self) -> Mapping[int, Id]:
        return self._graph.by_number()

    def __iter__(self) -> Iterator[Id]:
        return (one for _, one in sorted(self._name.items()))

    def known_ids(self) -> "GraphPoints":
        """What the points are called."""
        return self

    def id_array(self) -> IdArray:
        """Ids in order of arrival."""
        return as_array(list(self))

    def late(self) -> dict[int, Id]:
        """Ids that are known already of points that are not there yet: none."""
        return {}

    def of(self, numbers: Sequence[int]) -> list[Id]:
        """Ids of points that are there."""
        names = self._name
        return [names[number] for number in numbers]

    def number_of(self, point: Any) -> int | None:
        """The number of the point with this id; None if there is none."""
        try:
            return self._graph.number_of(point)
        except KeyError:
            return None

    def find(self, point: Any, before: int) -> int | None:
        """As :meth:`number_of`."""
        return self.number_of(point)
