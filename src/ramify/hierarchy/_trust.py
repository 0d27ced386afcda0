# SPDX-License-Identifier: BSD-3-Clause
"""_trust.py: every numbered invariant of a tree, tested."""

from typing import TYPE_CHECKING

import numpy as np

from ramify.errors import BrokenTreeError
from ramify.hierarchy._order import canonical_rows
from ramify.hierarchy._values import IntArray

if TYPE_CHECKING:
    from ramify.hierarchy._tree import Tree


def require_whole(tree: "Tree") -> None:
    """BrokenTreeError if an invariant is broken. O(n log n)."""
    _require_arrays(tree)
    inner = np.arange(tree.n_leaves, tree.n_nodes)
    named = np.sort(tree.children, axis=None)
    _require(np.array_equal(named, np.arange(tree.root)), 2, "a node has two parents, or none")
    in_front = bool((tree.children < inner[:, np.newaxis]).all())
    _require(in_front, 3, "a parent comes before its child")
    leaves, start = tree._leaf_ordering()
    earliest = leaves[start]  # by 4, which says that the first leaf is the earliest
    first, second = tree.children.T
    _require(bool((earliest[first] < earliest[second]).all()), 4, "children are swapped")
    _require_order(tree, earliest[tree.n_leaves :])
    inner_sizes = tree.sizes[first] + tree.sizes[second]
    _require(np.array_equal(tree.sizes[tree.n_leaves :], inner_sizes), 6, "wrong size")
    _require(bool((tree.sizes[: tree.n_leaves] == 1).all()), 6, "a leaf's size is not 1")
    _require(tree.parents[tree.root] == -1, 6, "the root has a parent")
    agree = (tree.parents[first] == inner) & (tree.parents[second] == inner)
    _require(bool(agree.all()), 6, "wrong parent")


def _require_arrays(tree: "Tree") -> None:
    n = tree.n_leaves
    expected: list[tuple[str, type, tuple[int, ...]]] = [
        ("children", np.int64, (n - 1, 2)),
        ("heights", np.float64, (n - 1,)),
        ("node_ids", np.int64, (n - 1,)),
        ("point_numbers", np.int64, (n,)),
        ("leaf_numbers", np.int64, (n,)),
        ("monotone_heights", np.float64, (n - 1,)),
        ("sizes", np.int64, (2 * n - 1,)),
        ("parents", np.int64, (2 * n - 1,)),
    ]
    for name, dtype, shape in expected:
        array = getattr(tree, name)
        _require(array.dtype == dtype and array.shape == shape, 1, f"{name} is misshapen")
        _require(not array.flags.writeable, 1, f"{name} can be written to")
    _require(bool(np.isfinite(tree.heights).all()), 1, "a height is not finite")
    if tree.names is not None:
        _require(tree.names.shape == (n,), 1, "names is misshapen")
        _require(not tree.names.flags.writeable, 1, "names can be written to")


def _require_order(tree: "Tree", earliest: IntArray) -> None:
    below = np.concatenate([np.full(tree.n_leaves, -np.inf), tree.monotone_heights])
    running = np.maximum(tree.heights, below[tree.children].max(axis=1, initial=-np.inf))
    _require(np.array_equal(tree.monotone_heights, running), 5, "wrong monotone height")
    rows = canonical_rows(tree.monotone_heights, tree.sizes[tree.n_leaves :], earliest)
    in_order = np.array_equal(rows, np.arange(tree.n_leaves - 1))
    _require(in_order, 5, "rows are not sorted")


def _require(holds: bool | np.bool, invariant: int, what: str) -> None:
    if not holds:
        raise BrokenTreeError(f"hierarchy breaks invariant {invariant}: {what}")
