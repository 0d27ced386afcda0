# SPDX-License-Identifier: BSD-3-Clause
"""hierarchy.py: a frozen binary tree over n points, as plain arrays.

    n        number of leaves             v < n    a leaf: the point's arrival index
    v >= n   an inner node, described by row v - n of ``children`` and ``heights``

Everything downstream of a live model works on this snapshot, so a reader never
races a writer. Trees may be chains of a million nodes: nothing here recurses.
"""

import operator
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from numbers import Integral, Real
from typing import Any, NamedTuple, SupportsIndex, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from ramify import _core, container
from ramify.errors import BrokenTreeError
from ramify.ids import kind_of, pack

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]

#: One name for each point: all strings or all integers, no two alike.
Names: TypeAlias = Sequence[str] | Sequence[int] | npt.NDArray[Any]


class _LeafOrder(NamedTuple):
    """The leaves from left to right; the leaves of any node are one stretch of them."""

    leaves: IntArray  # the leaf at each position
    start: IntArray  # position of each node's first leaf


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Hierarchy:
    """A frozen binary tree over the points ``0 .. n-1``: the snapshot of a model.

    Invariants, tested by :meth:`check`:

    1. Arrays have the shapes and types listed below, are read-only, and heights
       are finite.
    2. Every node but the root is the child of exactly one row.
    3. Children come before parents: row ``r`` describes node ``n + r``, and both
       of its children have smaller numbers.
    4. In a row, the first child holds the point that arrived first.
    5. ``monotone_heights`` is the running maximum of ``heights`` over children, and
       rows are sorted by it, then by size, then by earliest point.
    6. ``sizes`` and ``parents`` agree with ``children``.

    Parameters
    ----------
    children : array of shape (n - 1, 2)
        The two nodes that each merge joined. The constructor refuses arrays that
        break 2 or 3, so that no method can step outside the tree.
    heights : array of shape (n - 1,)
        Linkage of each merge. An online tree may hold inversions: a merge that is
        lower than one below it.
    node_ids : array of shape (n - 1,), optional
        Ids of the inner nodes that survive later inserts, unlike their numbers
        ``n .. 2n-2``. By default the numbers themselves.
    names : sequence of str or of int, one for each point, optional
        What the points are called in exports. All of one kind, no two alike.

    Attributes
    ----------
    names : array of shape (n,), or None
        The names, read-only: int64, or ``str`` objects. They play no part in ``==``.
    monotone_heights : array of shape (n - 1,)
        ``heights`` made non-decreasing towards the root; cuts use these.
    sizes : array of shape (2n - 1,)
        Number of points below each node.
    parents : array of shape (2n - 1,)
        Parent of each node, -1 for the root.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
    >>> tree
    <Hierarchy: 3 points, root height 20.5, split 2 | 1>
    >>> tree.children
    array([[0, 1],
           [3, 2]])
    >>> tree.cut(n_clusters=2)
    array([0, 0, 1])
    """

    children: IntArray
    heights: FloatArray
    node_ids: IntArray
    names: npt.NDArray[Any] | None
    monotone_heights: FloatArray
    sizes: IntArray
    parents: IntArray
    # Prepared by the first query that needs them. Two threads may both do the
    # work; they store equal arrays.
    _leaf_order: _LeafOrder | None
    _range_maxima: npt.NDArray[np.int32] | None

    def __init__(
        self,
        children: npt.ArrayLike,
        heights: npt.ArrayLike,
        node_ids: npt.ArrayLike | None = None,
        names: Names | None = None,
    ) -> None:
        merges = _frozen(_whole(children), np.int64)
        if merges.ndim != 2 or merges.shape[1] != 2:
            raise ValueError(f"children: expected shape (n - 1, 2), got {merges.shape}")
        n = len(merges) + 1
        linkages = _frozen(heights, np.float64)
        ids = _frozen(np.arange(n, 2 * n - 1) if node_ids is None else node_ids, np.int64)
        for name, array in (("heights", linkages), ("node_ids", ids)):
            if array.shape != (n - 1,):
                raise ValueError(f"{name}: expected shape {(n - 1,)}, got {array.shape}")
        self._store("children", merges)
        self._store("heights", linkages)
        self._store("node_ids", ids)
        self._store("names", None if names is None else read_names(names, n))
        monotone = _frozen(_core.monotone(merges, linkages), np.float64)
        if not np.isfinite(linkages).all():
            raise ValueError("heights: expected finite numbers, found NaN or infinity")
        if (monotone[1:] < monotone[:-1]).any():
            row = int(np.argmax(monotone[1:] < monotone[:-1])) + 1
            raise ValueError(
                f"rows must come in order of monotone height, lowest first, but row {row} "
                f"({monotone[row]:g}) is below row {row - 1} ({monotone[row - 1]:g})"
            )
        self._store("monotone_heights", monotone)
        self._store("sizes", _frozen(_core.sizes(merges), np.int64))
        self._store("parents", _frozen(_core.parents(merges), np.int64))
        self._store("_leaf_order", None)
        self._store("_range_maxima", None)

    def _store(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # the one way past `frozen`

    def __reduce__(self) -> tuple[type["Hierarchy"], tuple[object, ...]]:
        return Hierarchy, (self.children, self.heights, self.node_ids, self.names)

    def with_names(self, names: Names | None) -> "Hierarchy":
        """The same tree with other names for its points, or with None without names.

        The arrays are shared, not copied.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        >>> tree.with_names(["ash", "elm", "oak"]).names.tolist()
        ['ash', 'elm', 'oak']
        """
        named = object.__new__(Hierarchy)
        for field in self.__slots__:
            named._store(field, getattr(self, field))
        named._store("names", None if names is None else read_names(names, self.n_leaves))
        return named

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree to one file, which ``ramify.load`` reads; as a model's ``save``.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import ramify
        >>> path = pathlib.Path(tempfile.mkdtemp(), "tree.ramify")
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        >>> tree.save(path)
        >>> ramify.load(path) == tree
        True
        """
        content = {
            "kind": "hierarchy",
            "library": version("ramify"),
            "points": self.n_leaves,
            "ids": None if self.names is None else kind_of(self.names),
        }
        arrays = {"children": self.children, "heights": self.heights, "node_ids": self.node_ids}
        named = {} if self.names is None else pack(self.names)
        container.write(path, content, {**arrays, **named})

    @property
    def n_leaves(self) -> int:
        """Number of points."""
        return len(self.children) + 1

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
        if not isinstance(other, Hierarchy):
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

    # --- cuts -----------------------------------------------------------------

    def cut(self, *, n_clusters: int | None = None, height: float | None = None) -> IntArray:
        """Label every point with its cluster. O(n), also on a chain.

        Parameters
        ----------
        n_clusters : int, optional
            Undo the last ``n_clusters - 1`` merges, so that this many clusters remain.
        height : float, optional
            Keep only merges strictly below this height (of ``monotone_heights``), as
            scikit-learn's ``distance_threshold`` does.

        Returns
        -------
        array of shape (n,)
            Labels from 0, numbered in the order of the clusters' first points.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [5.0], [1.0]]).hierarchy()
        >>> tree.cut(n_clusters=2)
        array([0, 1, 0])
        >>> tree.cut(height=1.0)  # 0 and 2 merge at 1.0, which is not below 1.0
        array([0, 1, 2])
        """
        if (n_clusters is None) == (height is None):
            raise ValueError(
                f"give n_clusters or height, one of the two; "
                f"got n_clusters={n_clusters}, height={height}"
            )
        if height is not None:
            return self._cut_at_height(height)
        assert n_clusters is not None
        wanted = int(_expect(Integral, "an int", "n_clusters", n_clusters))
        if not 1 <= wanted <= self.n_leaves:
            raise ValueError(
                f"n_clusters={wanted}: expected 1 to {self.n_leaves}, the number of points"
            )
        return _own(_core.cut_labels(self.children, wanted))

    def _cut_at_height(self, height: float) -> IntArray:
        height = float(_expect(Real, "a number", "height", height))
        if np.isnan(height):
            raise ValueError("height=nan: expected a number")
        kept_merges = int(np.searchsorted(self.monotone_heights, height, side="left"))
        return _own(_core.cut_labels(self.children, self.n_leaves - kept_merges))

    # --- ways through the tree --------------------------------------------------

    def path(self, i: SupportsIndex) -> IntArray:
        """Nodes from the root down to node ``i``, both included. O(depth).

        Examples
        --------
        >>> import ramify
        >>> ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy().path(1)
        array([4, 3, 1])
        """
        node = self._one_node(i)
        nodes = []
        while node >= 0:
            nodes.append(node)
            node = self.parents.item(node)
        return np.array(nodes[::-1], dtype=np.int64)

    def path_code(self, i: SupportsIndex) -> str:
        """The path to node ``i`` as turns: 0 to the first child, 1 to the second.

        The root's code is empty, and a node's code starts with its ancestors' codes.

        Examples
        --------
        >>> import ramify
        >>> ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy().path_code(1)
        '01'
        """
        nodes = self.path(i)
        second = self.children[nodes[:-1] - self.n_leaves, 1] == nodes[1:]
        return "".join(np.where(second, "1", "0"))

    def depths(self) -> IntArray:
        """Number of merges above each leaf. O(n).

        Examples
        --------
        >>> import ramify
        >>> ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy().depths()
        array([2, 2, 1])
        """
        return _own(_core.depths(self.children))[: self.n_leaves]

    def leaves(self, node: SupportsIndex) -> IntArray:
        """Points below a node, in order of arrival; a leaf is below itself.

        O(n) the first time, then O(k log k) for k points.

        Examples
        --------
        >>> import ramify
        >>> ramify.HAC().fit([[0.0], [5.0], [1.0]]).hierarchy().leaves(3)
        array([0, 2])
        """
        v = self._one_node(node)
        leaves, start = self._leaf_ordering()
        return np.sort(leaves[start[v] : start[v] + self.sizes[v]])

    @overload
    def lca(self, i: int, j: int) -> int: ...
    @overload
    def lca(self, i: npt.ArrayLike, j: npt.ArrayLike) -> IntArray | int: ...
    def lca(self, i: npt.ArrayLike, j: npt.ArrayLike) -> IntArray | int:
        """Lowest common ancestor of nodes ``i`` and ``j``: numbers or arrays, broadcast.

        O(1) a pair, after O(n log n) time and memory for the first call. A node is
        its own ancestor: ``lca(i, i) == i``.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        >>> tree.lca(0, 1)
        3
        >>> tree.lca(0, [0, 1, 2])
        array([0, 3, 4])
        """
        first, second = np.broadcast_arrays(self._nodes(i), self._nodes(j))
        start = self._leaf_ordering().start
        low = np.minimum(start[first], start[second])
        high = np.maximum(start[first] + self.sizes[first], start[second] + self.sizes[second])
        gaps = high - low - 1  # of neighbouring leaves between low and high
        ancestor = np.array(first, dtype=np.int64)  # right where there is no gap: i is j
        apart = gaps > 0
        ancestor[apart] = self._maximum_between(low[apart], gaps[apart])
        return int(ancestor) if ancestor.ndim == 0 else ancestor

    def _maximum_between(self, low: IntArray, gaps: IntArray) -> npt.NDArray[np.int32]:
        """Largest inner node over ``gaps`` gaps from position ``low``: two table entries."""
        maxima = self._gap_maxima()
        level = np.frexp(gaps)[1] - 1  # floor of log2, exactly
        right = low + gaps - (1 << level)
        ancestors: npt.NDArray[np.int32] = np.maximum(maxima[level, low], maxima[level, right])
        return ancestors

    def _gap_maxima(self) -> npt.NDArray[np.int32]:
        """Sparse table of range maxima over the gaps between neighbouring leaves.

        The gap between the last leaf of v's first child and the first leaf of its
        second belongs to v. An ancestor has a larger number than what lies below
        it, so the lca of two leaves is the maximum over the gaps between them.
        Row k holds the maxima of 2^k gaps.
        """
        if self._range_maxima is None:
            n_gaps = self.n_leaves - 1
            table = np.zeros((max(n_gaps.bit_length(), 1), n_gaps), dtype=np.int32)
            inner = np.arange(self.n_leaves, self.n_nodes)
            first_child = self.children[:, 0]
            start = self._leaf_ordering().start
            table[0, start[inner] + self.sizes[first_child] - 1] = inner
            for level in range(1, len(table)):
                half = 1 << (level - 1)
                entries = n_gaps - 2 * half + 1
                before = table[level - 1]
                np.maximum(
                    before[:entries], before[half : half + entries], out=table[level, :entries]
                )
            self._store("_range_maxima", table)
        assert self._range_maxima is not None
        return self._range_maxima

    def _leaf_ordering(self) -> _LeafOrder:
        if self._leaf_order is None:
            leaves, start = _core.leaf_layout(self.children)
            self._store("_leaf_order", _LeafOrder(_own(leaves), _own(start)))
        assert self._leaf_order is not None
        return self._leaf_order

    def _one_node(self, node: SupportsIndex) -> int:
        v = operator.index(node)
        if not 0 <= v < self.n_nodes:
            raise IndexError(f"node {v}: expected 0 to {self.root}")
        return v

    def _nodes(self, nodes: npt.ArrayLike) -> npt.NDArray[np.integer[Any]]:
        array = np.asarray(nodes)
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
        self._check_arrays()
        inner = np.arange(self.n_leaves, self.n_nodes)
        named = np.sort(self.children, axis=None)
        _require(np.array_equal(named, np.arange(self.root)), 2, "a node has two parents, or none")
        in_front = bool((self.children < inner[:, np.newaxis]).all())
        _require(in_front, 3, "a parent comes before its child")
        leaves, start = self._leaf_ordering()
        earliest = leaves[start]  # by 4, which says that the first leaf is the earliest
        first, second = self.children.T
        _require(bool((earliest[first] < earliest[second]).all()), 4, "children are swapped")
        self._check_order(earliest[self.n_leaves :])
        inner_sizes = self.sizes[first] + self.sizes[second]
        _require(np.array_equal(self.sizes[self.n_leaves :], inner_sizes), 6, "wrong size")
        _require(bool((self.sizes[: self.n_leaves] == 1).all()), 6, "a leaf's size is not 1")
        _require(self.parents[self.root] == -1, 6, "the root has a parent")
        agree = (self.parents[first] == inner) & (self.parents[second] == inner)
        _require(bool(agree.all()), 6, "wrong parent")

    def _check_arrays(self) -> None:
        n = self.n_leaves
        expected: list[tuple[str, type, tuple[int, ...]]] = [
            ("children", np.int64, (n - 1, 2)),
            ("heights", np.float64, (n - 1,)),
            ("node_ids", np.int64, (n - 1,)),
            ("monotone_heights", np.float64, (n - 1,)),
            ("sizes", np.int64, (2 * n - 1,)),
            ("parents", np.int64, (2 * n - 1,)),
        ]
        for name, dtype, shape in expected:
            array = getattr(self, name)
            _require(array.dtype == dtype and array.shape == shape, 1, f"{name} is misshapen")
            _require(not array.flags.writeable, 1, f"{name} can be written to")
        _require(bool(np.isfinite(self.heights).all()), 1, "a height is not finite")

    def _check_order(self, earliest: IntArray) -> None:
        below = np.concatenate([np.full(self.n_leaves, -np.inf), self.monotone_heights])
        running = np.maximum(self.heights, below[self.children].max(axis=1, initial=-np.inf))
        _require(np.array_equal(self.monotone_heights, running), 5, "wrong monotone height")
        key = (earliest, self.sizes[self.n_leaves :], self.monotone_heights)
        in_order = np.array_equal(np.lexsort(key), np.arange(self.n_leaves - 1))
        _require(in_order, 5, "rows are not sorted")


def read_names(names: Names, n: int) -> npt.NDArray[Any]:
    """Check the names of n points; return them as a read-only array of our own.

    Strings stay Python's own: an array of fixed width would give every name the
    room of the longest.

    Examples
    --------
    >>> read_names([30, 10, 20], 3)
    array([30, 10, 20])
    """
    if isinstance(names, str | bytes):
        raise TypeError(f"names={names!r}: expected one name for each point, got one text")
    given: list[Any] = names.tolist() if isinstance(names, np.ndarray) else list(names)
    if len(given) != n:
        raise ValueError(f"names: expected {n}, one for each point, got {len(given)}")
    kind = str if isinstance(given[0], str) else Integral
    for i, name in enumerate(given):
        if isinstance(name, bool) or not isinstance(name, kind):
            raise TypeError(
                f"names: expected all strings or all integers, got {name!r} "
                f"({type(name).__name__}) at position {i}"
            )
    _refuse_twins(given)
    try:
        array = np.array(given, dtype=np.int64 if kind is Integral else object)
    except OverflowError:
        raise ValueError("names: expected integers of at most 64 bits; use strings") from None
    array.setflags(write=False)
    return array.view(array.dtype)  # whose owner nobody holds: it stays read-only


def _refuse_twins(names: list[Any]) -> None:
    if len(set(names)) == len(names):
        return
    seen: dict[Any, int] = {}
    for i, name in enumerate(names):
        if name in seen:
            raise ValueError(f"names: {name!r} stands at positions {seen[name]} and {i}")
        seen[name] = i


def _expect(kind: type, what: str, name: str, value: Any) -> Any:
    """Refuse what is not of this kind of number; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, kind):
        raise TypeError(f"{name}={value!r}: expected {what}, got {type(value).__name__}")
    return value


def _whole(children: npt.ArrayLike) -> npt.ArrayLike:
    """Refuse node numbers that are not whole, which a conversion would round."""
    array = np.asarray(children)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"children: expected whole numbers, got {array.dtype}")
    return array


def _frozen(values: npt.ArrayLike, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """A read-only copy: nobody else holds the memory."""
    array = np.array(values, dtype=dtype, order="C")
    array.setflags(write=False)
    return array.view(dtype)  # see _own


def _own(array: IntArray) -> IntArray:
    """The same numbers as NumPy's own int64.

    The core's is C's ``long long``, an equal type that NumPy prints differently.
    """
    return array.view(np.int64)


def _require(holds: bool | np.bool, invariant: int, what: str) -> None:
    if not holds:
        raise BrokenTreeError(f"hierarchy breaks invariant {invariant}: {what}")
