# SPDX-License-Identifier: BSD-3-Clause
"""_vectors.py: where summaries are: at the means of their points, or where their texts are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.hierarchy import FloatArray, IntArray
from ramify.summaries._state import State

#: From a list of summaries to as many vectors.
Embed = Callable[[list[Any]], Any]


class Index(NamedTuple):
    """The summaries that there are, and where."""

    nodes: IntArray
    rows: FloatArray  #: a vector for each
    tops: list[int]  #: nodes with summaries that are in no other summary
    alone: list[int]  #: leaves that are in no summary


class Vectors:
    """The vectors of a tree's summaries, found once for each state of the books.

    Examples
    --------
    >>> import ramify
    >>> from ramify.summaries import SummaryTree
    >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
    >>> summaries = SummaryTree(model, summarize=lambda parts, node: "a pair", levels=(2,))
    >>> _ = summaries.update()
    >>> Vectors(model, summaries._state, None).index()
    Index(nodes=array([0]), rows=array([[0.5]]), tops=[0], alone=[-3])
    """

    def __init__(self, tree: Any, state: State, embed: Embed | None) -> None:
        self._tree, self._state, self._embed = tree, state, embed
        self._kept: tuple[int, Index] | None = None

    def index(self) -> Index:
        """All of them, as of now."""
        edition = self._state.edition
        if self._kept is None or self._kept[0] != edition:
            found = self._means() if self._embed is None else self._embedded(self._embed)
            nodes = np.array(list(found), np.int64)
            rows = np.array(list(found.values()), np.float64) if found else np.empty((0, 0))
            self._kept = edition, Index(nodes, rows, *self._outside())
        return self._kept[1]

    def _means(self) -> dict[int, npt.NDArray[Any]]:
        held = self._state.held
        found: dict[int, npt.NDArray[Any]] = {}
        for level in self._state.levels if held else ():
            some = self._tree.clusters(max_size=int(level))
            means = getattr(some, "means", None)
            if means is None:
                raise ValueError(
                    f"a {type(self._tree).__name__} does not tell the means of its clusters; give "
                    f"embed=, a function from a list of summaries to their vectors"
                )
            pairs = zip(some.node_ids.tolist(), means, strict=True)
            found.update((node, mean) for node, mean in pairs if node in held)
        return found

    def _embedded(self, embed: Embed) -> dict[int, npt.NDArray[Any]]:
        held, store = self._state.held, self._state.store
        known = {content: store.vector(content) for content in set(held.values())}
        new = [content for content, vector in known.items() if vector is None]
        if new:
            told = np.asarray(embed([store.body(one) for one in new]), np.float32)
            if told.ndim != 2 or len(told) != len(new):
                raise ValueError(
                    f"embed: expected {len(new)} vectors, one for each text, got an array of shape "
                    f"{told.shape}"
                )
            made = dict(zip(new, told, strict=True))
            store.put_vectors(made)
            known |= made
        return {node: np.asarray(known[one]) for node, one in held.items()}

    def _outside(self) -> tuple[list[int], list[int]]:
        """The largest nodes with summaries, and what is above none."""
        mirror, wanted = self._state.mirror, self._state.wanted
        tops, alone = [], []
        waiting = [] if mirror.root is None else [mirror.root]
        while waiting:
            node = waiting.pop()
            if node in wanted:
                tops.append(node)
            elif node in mirror.children:
                waiting += mirror.children[node]
            else:
                alone.append(node)
        return tops, alone
