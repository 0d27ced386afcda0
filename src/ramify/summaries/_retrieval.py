# SPDX-License-Identifier: BSD-3-Clause
"""_retrieval.py: what the summaries and points nearest to a question say.

    collapsed   of all summaries and points the nearest, however large
    tree        from the largest summaries down: of each layer the nearest, and then their parts.
                A summary is as near there as itself or the nearest summary that it is made of:
                the mean of a thousand points says little about the ten that a question is after.

Points are found by the tree's own search (``nearest``), summaries by a look at all of their
vectors, of which there is one for every few points. Both are as far away as the tree's metric says.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.checks import one_of, whole_number
from ramify.metric import BY_NAME, Metric
from ramify.summaries._state import State
from ramify.summaries._store import Store
from ramify.summaries._vectors import Vectors

_Floats = npt.NDArray[np.float64]


class Hit(NamedTuple):
    """A point or a summary that was found.

    Examples
    --------
    >>> Hit("No sound", 0.25, "T7", -8, 1, (17, 3)).point
    'T7'
    """

    text: Any  #: the point's text or payload, or the summary
    distance: float  #: by the tree's metric
    point: Any  #: id of the point, or its number if points have no ids; None: a summary
    node_id: int  #: of the node; a point's is -1 - its number
    size: float  #: points that it stands for
    path: tuple[int, ...]  #: ids of the nodes above that have summaries, the largest first


class Retrieving:
    """Asking summaries and points."""

    tree: Any
    _state: State
    _store: Store
    _lock: threading.RLock
    _vectors: Vectors

    def retrieve(
        self,
        vector: npt.ArrayLike,
        k: int = 10,
        *,
        mode: str = "collapsed",
        max_tokens: int | None = None,
        count: Callable[[Any], int] | None = None,
    ) -> list[Hit]:
        """The summaries and points nearest to a vector, as of the last update.

        Parameters
        ----------
        vector : array-like of shape (d,)
            As the points' are.
        k : int
            So many, at most; with ``mode="tree"`` of each layer.
        mode : {"collapsed", "tree"}
            The nearest of all; or from the largest summaries down, the nearest of each layer and
            then among their parts. A summary is as near then as the nearest that it is made of.
        max_tokens : int, optional
            Whatever does not fit in any more is left out.
        count : callable, optional
            How many tokens a text has. Needed with ``max_tokens``.

        Returns
        -------
        list of Hit
            The nearest first.

        Examples
        --------
        >>> import ramify
        >>> from ramify.summaries import SummaryTree
        >>> words = ["red", "green", "up", "down"]
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [8.0], [9.0]])
        >>> summarize = lambda parts, node: " ".join(part.text for part in parts)
        >>> summaries = SummaryTree(model, levels=(2, 4), summarize=summarize, texts=words)
        >>> _ = summaries.update()
        >>> [(hit.text, round(hit.distance, 2), hit.path) for hit in summaries.retrieve([8.6], 2)]
        [('up down', 0.01, (1,)), ('down', 0.16, (1, 2))]
        >>> [hit.text for hit in summaries.retrieve([8.6], 1, mode="tree")]
        ['up down', 'down', 'red green up down']
        >>> [hit.text for hit in summaries.retrieve([8.6], max_tokens=6, count=len)]
        ['down', 'up']
        """
        wanted = whole_number("k", k)
        one_of("mode", mode, ("collapsed", "tree"))
        if max_tokens is not None and (count is None or whole_number("max_tokens", max_tokens) < 1):
            raise ValueError("max_tokens needs count=: a function that tells the tokens of a text")
        with self._lock:
            asked = _Question(self, np.asarray(vector, np.float64))
            hits = asked.tree(wanted) if mode == "tree" else asked.collapsed(wanted)
        return hits if max_tokens is None or count is None else _fitting(hits, max_tokens, count)


class _Question:
    """A vector, and how far it is from things."""

    def __init__(self, home: Retrieving, vector: _Floats) -> None:
        if vector.ndim != 1 or not np.isfinite(vector).all():
            raise ValueError(f"vector: expected finite numbers of shape (d,), got {vector.shape}")
        self._tree, self._state, self._store = home.tree, home._state, home._store
        self._row = vector
        self._firsts: dict[int, int] | None = None  # leaves by their first points
        self._index = home._vectors.index()
        rows = self._index.rows
        if len(rows) and rows.shape[1] != len(vector):
            raise ValueError(
                f"vector: expected {rows.shape[1]} numbers, as summaries have, got {len(vector)}"
            )
        apart = distances(metric_of(home.tree), vector, rows) if len(rows) else np.empty(0)
        self._distances = apart

    def collapsed(self, k: int) -> list[Hit]:
        """The nearest of all summaries and points."""
        nodes = self._index.nodes
        order = np.lexsort((nodes, self._distances))[:k]
        found = list(zip(nodes[order].tolist(), self._distances[order].tolist(), strict=True))
        return self._hits(_in_order([*found, *self._points(k).items()])[:k])

    def tree(self, k: int) -> list[Hit]:
        """Of each layer the nearest, and of all their points the nearest."""
        state, mirror = self._state, self._state.mirror
        known = dict(zip(self._index.nodes.tolist(), self._distances.tolist(), strict=True))
        layer, points = set(self._index.tops), set(self._index.alone)
        found: list[tuple[int, float]] = []
        while layer:
            parts = {one: mirror.parts(one, state.levels) for one in layer if one in known}
            near = [
                (node, min(known[one] for one in (node, *below) if one in known))
                for node, below in parts.items()
            ]
            nearest = [node for node, _ in _in_order(near)[:k]]
            found += [(node, known[node]) for node in nearest]
            below = {part for node in nearest for part in parts[node]}
            points |= {one for one in below if one not in mirror.children}
            layer = {one for one in below if one in mirror.children}
        return self._hits(_in_order([*found, *self._points(k, among=points).items()]))

    def _points(self, k: int, among: set[int] | None = None) -> dict[int, float]:
        """The nearest leaves, perhaps of these only, by the tree's own search."""
        mirror, n = self._state.mirror, int(self._tree.n_points_) if self._state.mirror.size else 0
        enough = k if among is None else min(k, len(among))
        ask = k if among is None else max(64, 4 * k)
        while n and enough:
            numbers, told = self._tree.nearest(self._row[np.newaxis], k=min(ask, n))
            leaves = [self._leaf(number) for number in np.asarray(numbers)[0].tolist()]
            pairs = zip(leaves, np.asarray(told)[0].tolist(), strict=True)
            known = {one: apart for one, apart in pairs if one in mirror.size}
            if among is not None:
                known = {one: apart for one, apart in known.items() if one in among}
            if len(known) >= enough or ask >= n:
                return dict(list(known.items())[:enough])
            ask *= 4
        return {}

    def _leaf(self, number: int) -> int | None:
        """The leaf of a point; where a leaf's first point has left, the one that it is first in."""
        first = self._state.mirror.first
        if first.get(-1 - number) == number:
            return -1 - number
        if self._firsts is None:
            self._firsts = {first[leaf]: leaf for leaf in self._state.leaves()}
        return self._firsts.get(number)

    def _hits(self, found: list[tuple[int, float]]) -> list[Hit]:
        mirror, state = self._state.mirror, self._state
        texts = state.texts(node for node, _ in found if node not in mirror.children)
        return [
            Hit(
                texts[node] if node in texts else self._store.body(state.held[node]),
                apart,
                mirror.name(node) if node in texts else None,
                node,
                mirror.size[node],
                tuple(state.path(node)),
            )
            for node, apart in found
        ]


def _in_order(found: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """The nearest first."""
    return sorted(found, key=lambda one: (one[1], one[0]))


def metric_of(tree: Any) -> Metric:
    """How a tree compares rows, wherever it lives."""
    said = getattr(getattr(tree, "model", tree), "metric", None)
    if said is None:
        said = tree.info().get("metric", "sqeuclidean")
    return BY_NAME[said]


def distances(metric: Metric, row: _Floats, rows: _Floats) -> _Floats:
    """How far a row is from others, as ``nearest`` says it.

    Examples
    --------
    >>> distances(BY_NAME["cosine"], np.array([1.0, 0.0]), np.array([[2.0, 0.0], [0.0, 0.0]]))
    array([0., 1.])
    """
    if metric.product:
        return -(rows @ row)
    if metric.unit_rows:
        lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(row)
        found: _Floats = 1.0 - (rows @ row) / np.where(lengths > 0, lengths, 1.0)
        return found
    return metric.told(((rows - row) ** 2).sum(axis=1))


def _fitting(hits: list[Hit], most: int, count: Callable[[Any], int]) -> list[Hit]:
    left, found = most, []
    for hit in hits:
        if (size := count(hit.text)) <= left:
            left -= size
            found.append(hit)
    return found
