# SPDX-License-Identifier: BSD-3-Clause
"""_graph_stream.py: a live graph of the core, and what its points are called.

Every change is made up as a whole and checked before the core sees it, and the core makes it
in one piece: points that go, points that come, and new weights of edges.
"""

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.archive import Array
from ramify.estimators._edges import MOST_POINTS, read_triple, unit_of, whole_weights
from ramify.estimators._keys import keys_of_ids
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.hierarchy.seam import canonical
from ramify.ids import Id, Ids, as_array, kind_of, pack, unpack

Weights = dict[tuple[Id, Id], int]


class _Change(NamedTuple):
    """A change that the core makes: it counts as made when the core has counted it."""

    updates: int
    gone: list[Id]
    came: dict[Id, int]
    next_number: int


class GraphStream:
    """The graph that there is now; points are called by their ids."""

    def __init__(self, max_weight: float) -> None:
        self.max_weight = max_weight
        self.next_number = 0
        self.version = 0  #: number of changes
        self.begun = 0  #: above all versions of a graph that was there before ``fit``
        self._vertex: dict[Id, int] = {}
        self._name: dict[int, Id] = {}
        self._number: dict[Id, int] = {}
        self._core = _core.LiveGraph(int(whole_weights([max_weight], max_weight)[0]))
        self._tree: Hierarchy | None = None
        self._by_number: tuple[int, dict[int, Id]] | None = None
        self._under_way: _Change | None = None

    def __len__(self) -> int:
        return len(self._vertex)

    def __contains__(self, id: object) -> bool:
        return id in self._vertex

    def number_of(self, id: Id) -> int:
        """Arrival number of a point; KeyError if there is none of this id."""
        try:
            return self._number[id]
        except (KeyError, TypeError):
            raise KeyError(f"no point has the id {id!r}") from None

    def read_ids(self, ids: object, what: str) -> list[Any]:
        """Ids as plain values of one kind, which is that of this graph; no two alike."""
        listed = plain_list(ids, what)
        found = Ids().read(listed, len(listed))
        kind = type(next(iter(self._vertex), None))
        if found and self._vertex and type(found[0]) is not kind:
            raise TypeError(
                f"{what}: {found[0]!r} is of type {type(found[0]).__name__}, and the ids of this "
                f"graph have been of type {kind.__name__} so far; use one type"
            )
        return found

    def read_edges(self, edges: object) -> tuple[list[Any], Weights]:
        """Points in the order in which they are named, and new weights of pairs of them.

        A pair that comes twice has the largest of its weights.
        """
        columns = tuple(edges) if isinstance(edges, list | tuple) else ()
        read_triple(edges)  # which finds the words
        a, b = (plain_list(column, "edges") for column in columns[:2])
        whole = whole_weights(columns[2], self.max_weight).tolist()
        unique = list(dict.fromkeys(end for pair in zip(a, b, strict=True) for end in pair))
        plain = dict(zip(unique, self.read_ids(unique, "edges"), strict=True))
        found: Weights = {}
        for i, j, weight in zip(a, b, whole, strict=True):
            pair = (plain[i], plain[j]) if plain[i] < plain[j] else (plain[j], plain[i])
            found[pair] = max(weight, found.get(pair, 0))
        return list(plain.values()), found

    def change(self, gone: Sequence[Id], came: Sequence[Id], weights: Weights) -> None:
        """Let checked points go and come, and give edges new weights."""
        if self.next_number + len(came) > MOST_POINTS:
            raise ValueError(f"a graph has at most {MOST_POINTS:,} points in its life")
        numbers = range(self.next_number, self.next_number + len(came))
        leaving = np.array([self._vertex[one] for one in gone], np.uint32)
        coming = self._core.announce(keys_of_ids(came), np.array(numbers, np.uint64))
        there = dict(zip(came, coming.tolist(), strict=True))
        pairs = [(i, j, w) for (i, j), w in weights.items() if i != j]
        known = ChainMap(there, self._vertex)
        a, b = (np.array([known[pair[side]] for pair in pairs], np.uint32) for side in (0, 1))
        values = np.array([w for *_, w in pairs], np.uint64)
        self._under_way = _Change(self._core.updates, list(gone), there, self.next_number)
        self._core.update(leaving, coming, a, b, values)
        self.settle()

    def settle(self) -> None:
        """Take down what the core has made of the last change, also if Ctrl-C came in between."""
        change = self._under_way
        if change is None:
            return
        if self._core.updates > change.updates:
            self._tree = None
            for one in change.gone:
                vertex = self._vertex.pop(one, None)
                self._number.pop(one, None)
                if vertex is not None and self._name.get(vertex) == one:
                    del self._name[vertex]
            self._vertex.update(change.came)
            self._name.update((vertex, one) for one, vertex in change.came.items())
            numbers = range(change.next_number, change.next_number + len(change.came))
            self._number.update(zip(change.came, numbers, strict=True))
            self.next_number = change.next_number + len(change.came)
            self.version += 1
        self._under_way = None

    def numbers(self) -> npt.NDArray[np.int64]:
        """Arrival numbers of the points that are there, ascending."""
        return np.sort(np.array(list(self._number.values()), np.int64))

    def by_number(self) -> dict[int, Id]:
        """Ids of the points that are there, by arrival number. O(n) after a change."""
        version, known = self.version, self._by_number
        if known is None or known[0] != version:
            known = version, {number: one for one, number in list(self._number.items())}
            self._by_number = known
        return known[1]

    def hierarchy(self) -> Hierarchy:
        """The tree as it is now."""
        if self._tree is None:
            points, children, means = self._core.snapshot()
            names = [self._name[vertex] for vertex in points.tolist()]
            heights = 1.0 - means * (unit_of(self.max_weight) / self.max_weight)
            rows, sorted_heights = canonical(children, heights)
            numbers = np.array([self._number[one] for one in names], np.int64)
            ids = _node_ids(rows, numbers)
            self._tree = Hierarchy(rows, sorted_heights, ids, as_array(names), numbers)
        return self._tree

    def edges(self) -> tuple[Array, Array, FloatArray]:
        """Ids of both ends of every edge, by arrival, and the weights as they were rounded."""
        a, b, weight = self._core.edges()
        number = np.zeros(max(self._vertex.values(), default=0) + 1, np.int64)
        for one, vertex in self._vertex.items():
            number[vertex] = self._number[one]
        first, second = np.sort([number[a], number[b]], axis=0)
        order = np.lexsort((second, first))
        places = {n: i for i, n in enumerate(self.numbers().tolist())}
        names = as_array(self._names())
        ends = [
            names[[places[n] for n in numbers[order].tolist()]] if len(order) else names[:0]
            for numbers in (first, second)
        ]
        return ends[0], ends[1], weight[order].astype(np.float64) * unit_of(self.max_weight)

    def check(self) -> None:
        """Raise RuntimeError naming an invariant that does not hold."""
        self._core.check()

    # --- files ---------------------------------------------------------------------

    def _names(self) -> list[Any]:
        return sorted(self._number, key=self._number.__getitem__)

    def saved(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Content and arrays from which the very same graph is made again."""
        names = self._names()
        a, b, weight = self._core.edges()
        place = np.zeros(max(self._vertex.values(), default=0) + 1, np.uint32)
        for i, one in enumerate(names):
            place[self._vertex[one]] = i
        ends = np.sort([place[a], place[b]], axis=0)
        order = np.lexsort(ends[::-1])  # the same whatever the core calls its vertices
        arrays: dict[str, Array] = {
            "numbers": self.numbers(),
            "ends": np.ascontiguousarray(ends.T[order], np.uint32),
            "weights": weight[order],
        }
        content: dict[str, Any] = {"points": len(names), "next": self.next_number, "ids": None}
        content["version"] = self.version
        if names:
            content["ids"] = kind_of(as_array(names))
            arrays |= pack(as_array(names))
        return content, arrays

    @classmethod
    def restored(
        cls, max_weight: float, content: Mapping[str, Any], arrays: Mapping[str, Array]
    ) -> "GraphStream":
        """The graph that was saved; ValueError if there can be none."""
        graph = cls(max_weight)
        names = Ids().read(unpack(arrays) or [], content["points"])
        numbers, ends, weights = (arrays[one] for one in ("numbers", "ends", "weights"))
        n, version = len(names), content.get("version", content["next"])
        most = int(whole_weights([max_weight], max_weight)[0])
        possible = (
            numbers.dtype == np.int64
            and numbers.shape == (n,)
            and (numbers[1:] > numbers[:-1]).all()
            and ends.dtype == np.uint32
            and weights.dtype == np.uint64
            and ends.shape == (len(weights), 2)
            and (ends < n).all()
            and (ends[:, 0] != ends[:, 1]).all()
            and ((weights >= 1) & (weights <= most)).all()
            and len(np.unique(np.sort(ends, axis=1), axis=0)) == len(ends)
            and type(content["next"]) is type(version) is int
            and version >= 0
            and (n == 0 or 0 <= numbers[0] <= numbers[-1] < content["next"] <= MOST_POINTS)
        )
        if not possible:
            raise ValueError("its edges are none of a graph")
        vertices = graph._core.announce(keys_of_ids(names), numbers.astype(np.uint64))
        a, b = (np.ascontiguousarray(vertices[ends[:, side]]) for side in (0, 1))
        graph._core.update(np.empty(0, np.uint32), vertices, a, b, weights)
        graph._vertex = dict(zip(names, vertices.tolist(), strict=True))
        graph._name = {vertex: one for one, vertex in graph._vertex.items()}
        graph._number = dict(zip(names, numbers.tolist(), strict=True))
        graph.next_number, graph.version = content["next"], version
        return graph


def _node_ids(children: IntArray, numbers: IntArray) -> IntArray:
    """An id of each merge that stays while its two halves begin with the same points.

    The points of every node have an earliest one, and a merge is where the later of two such is
    earliest no longer: its number is the merge's id, as in trees of rows. O(n log depth).

    Examples
    --------
    >>> _node_ids(np.array([[1, 2], [0, 3]]), np.array([4, 7, 9]))
    array([9, 7])
    """
    first = np.concatenate([np.arange(len(numbers)), children[:, 0]])
    while not np.array_equal(first[first], first):
        first = first[first]
    found: IntArray = numbers[first[children[:, 1]]]
    return found


def plain_list(values: object, what: str) -> list[Any]:
    """The values of a sequence, an array or a column.

    Examples
    --------
    >>> plain_list(np.array([1, 2]), "edges"), plain_list(("a", 1), "edges")
    ([1, 2], ['a', 1])
    """
    for name in ("tolist", "to_list", "to_pylist"):
        convert = getattr(values, name, None)
        if convert is not None:
            found = convert()
            return found if isinstance(found, list) else [found]
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{what}: expected a sequence of ids, got {values!r}")
    return list(values)
