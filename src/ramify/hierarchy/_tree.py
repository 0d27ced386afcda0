# SPDX-License-Identifier: BSD-3-Clause
"""_tree.py: what a tree is: its arrays, and the invariants that they keep.

    n        number of leaves             v < n    a leaf: point ``point_numbers[v]``
    v >= n   an inner node, described by row v - n of ``children`` and ``heights``

The number of a leaf, v < n, is its *place*: where it stands in this tree's arrays, and in the
labels of its cuts. It is its point's arrival number as long as no point has left.

The questions that a tree answers live in the other files, a mixin each; the
class :class:`ramify.Hierarchy` puts them together.
"""

import operator
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, NamedTuple, Self, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.hierarchy._names import Names, read_names
from ramify.hierarchy._trust import require_whole
from ramify.hierarchy._values import (
    FloatArray,
    IntArray,
    frozen,
    own,
    read_numbers,
    read_weights,
    whole,
)
from ramify.ids import Id

#: A node: its number, a cluster, or for a leaf the name of its point, if that is text.
NodeLike: TypeAlias = SupportsIndex | str


class _LeafOrder(NamedTuple):
    """The leaves from left to right; the leaves of any node are one stretch of them."""

    leaves: IntArray  # the leaf at each position
    start: IntArray  # position of each node's first leaf


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Tree:
    """The arrays of a :class:`ramify.Hierarchy`: checked, frozen, compared, copied."""

    children: IntArray
    heights: FloatArray
    node_ids: IntArray
    leaf_numbers: IntArray
    names: npt.NDArray[Any] | None
    point_numbers: IntArray
    leaf_weights: FloatArray | None
    node_names: Mapping[int, str]
    monotone_heights: FloatArray
    sizes: IntArray
    parents: IntArray
    # Prepared by the first query that needs them. Two threads may both do the
    # work; they store equal arrays.
    _leaf_order: _LeafOrder | None
    _range_maxima: npt.NDArray[np.int32] | None
    _places: dict[Any, int] | None

    def __init__(
        self,
        children: npt.ArrayLike,
        heights: npt.ArrayLike,
        node_ids: npt.ArrayLike | None = None,
        names: Names | None = None,
        point_numbers: npt.ArrayLike | None = None,
        leaf_weights: npt.ArrayLike | None = None,
        leaf_numbers: npt.ArrayLike | None = None,
    ) -> None:
        merges = frozen(whole(children), np.int64)
        if merges.ndim != 2 or merges.shape[1] != 2:
            raise ValueError(f"children: expected shape (n - 1, 2), got {merges.shape}")
        n = len(merges) + 1
        linkages = frozen(heights, np.float64)
        ids = frozen(np.arange(n, 2 * n - 1) if node_ids is None else node_ids, np.int64)
        for name, array in (("heights", linkages), ("node_ids", ids)):
            if array.shape != (n - 1,):
                raise ValueError(f"{name}: expected shape {(n - 1,)}, got {array.shape}")
        self._store("children", merges)
        self._store("heights", linkages)
        self._store("node_ids", ids)
        self._store("names", None if names is None else read_names(names, n))
        numbers = read_numbers("point_numbers", point_numbers, n, ascending=leaf_numbers is None)
        self._store("point_numbers", numbers)
        read = numbers if leaf_numbers is None else read_numbers("leaf_numbers", leaf_numbers, n)
        self._store("leaf_numbers", read)
        self._store("leaf_weights", read_weights(leaf_weights, n))
        self._store("node_names", MappingProxyType({}))
        monotone = frozen(_core.monotone(merges, linkages), np.float64)
        if not np.isfinite(linkages).all():
            raise ValueError("heights: expected finite numbers, found NaN or infinity")
        if (monotone[1:] < monotone[:-1]).any():
            row = int(np.argmax(monotone[1:] < monotone[:-1])) + 1
            raise ValueError(
                f"rows must come in order of monotone height, lowest first, but row {row} "
                f"({monotone[row]:g}) is below row {row - 1} ({monotone[row - 1]:g})"
            )
        self._store("monotone_heights", monotone)
        self._store("sizes", frozen(_core.sizes(merges), np.int64))
        self._store("parents", frozen(_core.parents(merges), np.int64))
        self._store("_leaf_order", None)
        self._store("_range_maxima", None)
        self._store("_places", None)

    def _store(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # the one way past `frozen`

    def __reduce__(self) -> tuple[type["Tree"], tuple[object, ...], dict[int, str] | None]:
        arrays = self.children, self.heights, self.node_ids, self.names, self.point_numbers
        leaves = None if self.leaf_numbers is self.point_numbers else self.leaf_numbers
        return type(self), (*arrays, self.leaf_weights, leaves), dict(self.node_names) or None

    def __setstate__(self, node_names: dict[int, str]) -> None:
        self._store("node_names", MappingProxyType(dict(node_names)))

    def with_names(self, names: Names | None) -> Self:
        """The same tree with other names for its points, or with None without names.

        The arrays are shared, not copied.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        >>> tree.with_names(["ash", "elm", "oak"]).names.tolist()
        ['ash', 'elm', 'oak']
        """
        named = self._twin()
        named._store("names", None if names is None else read_names(names, self.n_leaves))
        named._store("_places", None)
        return named

    def with_node_names(self, node_names: Mapping[int, str]) -> Self:
        """The same tree with names for inner nodes, which exports and pictures show.

        A snapshot of a model has those that people gave (``rename``), and so has its file. They
        play no part in ``==``.

        Parameters
        ----------
        node_names : mapping of int to str
            By node id, as in ``node_ids``; others are left out. Those before are replaced.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        >>> tree.with_node_names({0: "low"}).to_newick(lengths=False)
        '((0,1)low,2);'
        """
        for text in node_names.values():
            if not isinstance(text, str):
                raise TypeError(f"node_names: expected texts, got {text!r}")
        wanted = np.fromiter(node_names, np.int64, len(node_names))
        there = wanted[np.isin(wanted, self.node_ids)]
        named = self._twin()
        kept = {int(one): node_names[int(one)] for one in there}
        named._store("node_names", MappingProxyType(kept))
        return named

    def _twin(self) -> Self:
        """Another tree with the same arrays."""
        twin = object.__new__(type(self))
        for field in fields(self):
            twin._store(field.name, getattr(self, field.name))
        return twin

    def _named_nodes(self) -> dict[int, str]:
        """Names of inner nodes, by their numbers n .. 2n-2."""
        if not self.node_names:
            return {}
        places = np.flatnonzero(np.isin(self.node_ids, list(self.node_names)))
        ids = self.node_ids[places].tolist()
        numbers = (places + self.n_leaves).tolist()
        return {v: self.node_names[one] for v, one in zip(numbers, ids, strict=True)}

    def place_of(self, point: Id) -> int:
        """Place of a point in this tree: its leaf, and its entry in the labels of a cut.

        O(n) the first time. Where a node is asked for, the name itself will do if it is text;
        a whole number is always a node's.

        Parameters
        ----------
        point : str or int
            The name of the point; its arrival number, if points have no names.

        Raises
        ------
        KeyError
            If there is no such point.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.HAC().fit([[0.0], [1.0], [5.0]], ids=["ash", "elm", "oak"])
        >>> tree = model.hierarchy()
        >>> tree.place_of("oak"), tree.path("oak")
        (2, array([4, 2]))
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0]])
        >>> model.forget(0), model.hierarchy().place_of(2)
        (1, 1)
        """
        if self.names is None and isinstance(point, str):
            raise KeyError(f"the points of this tree have no names; none is called {point!r}")
        if self._places is None:
            called = self.point_numbers if self.names is None else self.names
            self._store("_places", {one: i for i, one in enumerate(called.tolist())})
        assert self._places is not None
        found = None if isinstance(point, bool) else self._places.get(point)
        if found is None:
            raise KeyError(
                f"no point has the {'number' if self.names is None else 'name'} {point!r}"
            )
        return found

    def node_of(self, node_id: int) -> int:
        """Number of the node with a stable id, as a live model tells it.

        A leaf's is -1 - its entry in ``leaf_numbers``; -1 - its entry in ``point_numbers`` will
        do, too.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [5.0]])
        >>> tree = model.hierarchy()
        >>> tree.node_of(model.lca(0, 1)), tree.lca(0, 1), tree.node_of(-1)
        (3, 3, 0)
        """
        wanted = operator.index(node_id)
        if wanted < 0:
            number = -1 - wanted
            (found,) = np.nonzero((self.leaf_numbers == number) | (self.point_numbers == number))
        else:
            (found,) = np.nonzero(self.node_ids == wanted)
        if len(found) == 0:
            raise KeyError(f"the tree has no node with the id {wanted}")
        return int(found[0]) + (0 if wanted < 0 else self.n_leaves)

    def _called(self) -> npt.NDArray[Any] | None:
        """What leaves are called: their names; or else numbers of points that are no places."""
        if self.names is not None or int(self.point_numbers.max()) < self.n_leaves:
            return self.names
        return self.point_numbers

    def _public_ids(self, nodes: IntArray) -> IntArray:
        """Stable ids of nodes."""
        is_leaf = nodes < self.n_leaves
        ids = np.empty(len(nodes), dtype=np.int64)
        ids[is_leaf] = -1 - self.leaf_numbers[nodes[is_leaf]]
        ids[~is_leaf] = self.node_ids[nodes[~is_leaf] - self.n_leaves]
        return ids

    def _nodes_of(self, ids: IntArray) -> IntArray:
        """The inverse of :meth:`_public_ids`, for ids that are there. O(n log n)."""
        known = np.concatenate([-1 - self.leaf_numbers, self.node_ids])
        order = np.argsort(known)
        return order[np.searchsorted(known, ids, sorter=order)]

    @property
    def n_leaves(self) -> int:
        """Number of points."""
        return len(self.children) + 1

    @property
    def weights(self) -> IntArray | FloatArray:
        """How many points each node stands for: ``sizes``, unless leaves have weights."""
        if self.leaf_weights is None:
            return self.sizes
        leaves, start = self._leaf_ordering()
        sums = np.concatenate([[0.0], np.cumsum(self.leaf_weights[leaves])])
        weights: FloatArray = sums[start + self.sizes] - sums[start]
        weights[: self.n_leaves] = self.leaf_weights
        counts = weights.astype(np.int64)
        return counts if (counts == weights).all() else weights

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included: ``2n - 1``."""
        return 2 * self.n_leaves - 1

    @property
    def root(self) -> int:
        """Number of the root: ``2n - 2``."""
        return self.n_nodes - 1

    def __len__(self) -> int:
        return self.n_leaves

    def __eq__(self, other: object) -> bool:
        """Same merges at exactly the same heights; node ids and names do not count."""
        if not isinstance(other, Tree):
            return NotImplemented
        return np.array_equal(self.children, other.children) and np.array_equal(
            self.heights, other.heights
        )

    def __repr__(self) -> str:
        if self.n_leaves == 1:
            return "<Hierarchy: 1 point>"
        first, second = self.sizes[self.children[-1]]
        return (
            f"<Hierarchy: {self.n_leaves:,} points, root height "
            f"{self.heights[-1]:.6g}, split {first:,} | {second:,}>"
        )

    # --- for the mixins ----------------------------------------------------------

    def _leaf_ordering(self) -> _LeafOrder:
        if self._leaf_order is None:
            leaves, start = _core.leaf_layout(self.children)
            self._store("_leaf_order", _LeafOrder(own(leaves), own(start)))
        assert self._leaf_order is not None
        return self._leaf_order

    def _node_heights(self) -> FloatArray:
        """Monotone height of every node. Leaves are at 0, or under the dot metric, whose
        heights may be negative, at the lowest merge: no branch is of negative length."""
        ground = self.monotone_heights.min(initial=0.0)
        return np.concatenate([np.full(self.n_leaves, ground), self.monotone_heights])

    def _one_node(self, node: NodeLike) -> int:
        v = self.place_of(node) if isinstance(node, str) else operator.index(node)
        if not 0 <= v < self.n_nodes:
            raise IndexError(f"node {v}: expected 0 to {self.root}")
        return v

    def _nodes(self, nodes: npt.ArrayLike) -> npt.NDArray[np.integer[Any]]:
        array = np.asarray(nodes)
        named = array.dtype.kind in "UO" and array.size > 0  # names, or clusters
        given = array.ravel().tolist() if named else []
        if given and all(isinstance(one, NodeLike) for one in given):
            array = np.array([self._one_node(one) for one in given]).reshape(array.shape)
        if array.dtype.kind not in "iu" and array.size > 0:
            raise TypeError(f"nodes: expected integers, got {array.dtype}")
        wrong = (array < 0) | (array >= self.n_nodes)
        if wrong.any():
            raise IndexError(f"node {array[wrong].flat[0]}: expected 0 to {self.root}")
        return array.astype(np.int64, copy=False)

    # --- trust ------------------------------------------------------------------

    def check(self) -> None:
        """Test every numbered invariant; raise ``BrokenTreeError`` naming a broken one.

        O(n log n).

        Examples
        --------
        >>> import ramify
        >>> ramify.OTD().fit([[0.0], [1.0], [5.0]]).hierarchy().check()
        """
        require_whole(self)
