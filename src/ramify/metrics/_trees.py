# SPDX-License-Identifier: BSD-3-Clause
"""_trees.py: the door for trees, from whichever library they come.

    Hierarchy           used as it is, with whatever it has prepared for queries
    (n - 1, 4) numbers  a SciPy linkage matrix: two children, height, size
    (n - 1, 2) ints     a scikit-learn ``children_`` array: no heights

In all three, row r describes node n + r, and both of its children come before it.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.hierarchy.seam import canonical, check_linkage, read_children

#: What every measure takes as a tree.
Tree: TypeAlias = Hierarchy | npt.ArrayLike


def read_tree(tree: Tree, *, name: str = "tree") -> Hierarchy:
    """Check a tree and return it as a Hierarchy.

    The rows of the result are in an order that can be cut: sorted by height, or,
    where there are none, as they came, with their numbers for heights.

    Examples
    --------
    >>> read_tree([[0, 1], [3, 2]])
    <Hierarchy: 3 points, root height 2, split 2 | 1>
    """
    if isinstance(tree, Hierarchy):
        return tree
    rows = _read_rows(tree, name)
    if rows.shape[1] == 2:
        children = read_children(rows, name)
        return Hierarchy(children, np.arange(1.0, len(rows) + 1))
    children = read_children(rows[:, :2], name)
    heights = rows[:, 2].astype(np.float64)
    check_linkage(rows, children, heights, name)
    monotone = _core.monotone(children, heights)
    if (monotone[1:] < monotone[:-1]).any():  # centroid and median linkages may invert
        children, heights = canonical(children, heights)
    return Hierarchy(children, heights)


def read_tree_with_heights(tree: Tree, *, name: str = "tree") -> Hierarchy:
    """As :func:`read_tree`, but refuse a tree that has no heights.

    Examples
    --------
    >>> read_tree_with_heights([[0, 1, 0.5, 2]]).heights
    array([0.5])
    """
    if not isinstance(tree, Hierarchy) and _read_rows(tree, name).shape[1] == 2:
        raise ValueError(
            f"{name} is an array of children without heights; pass a Hierarchy, or a SciPy "
            f"linkage matrix (from scikit-learn: stack children_, distances_ and sizes)"
        )
    return read_tree(tree, name=name)


def require_leaves(tree: Hierarchy, found: int, what: str) -> None:
    """Refuse things of which there is not one for each leaf.

    Examples
    --------
    >>> require_leaves(read_tree([[0, 1]]), 2, "rows in X")
    """
    if found != tree.n_leaves:
        hint = ""
        if found > tree.n_leaves and int(tree.point_numbers.max()) < found:
            hint = "; entries tree.point_numbers are those of the leaves"
        raise ValueError(f"the tree has {tree.n_leaves} leaves, but there are {found} {what}{hint}")


def repeats_of(tree: Hierarchy) -> IntArray | None:
    """How often each leaf counts; None if all count once. ValueError if that is no number.

    A measure of a tree whose leaves stand for several points is that of the tree with a
    leaf for each of them.

    Examples
    --------
    >>> repeats_of(Hierarchy([[0, 1]], [1.0], leaf_weights=[2, 1]))
    array([2, 1])
    """
    if tree.leaf_weights is None or (tree.leaf_weights == 1).all():
        return None
    counts = tree.leaf_weights.astype(np.int64)
    if (counts != tree.leaf_weights).any():
        leaf = int(np.argmax(counts != tree.leaf_weights))
        raise ValueError(
            f"leaf {leaf} has the weight {tree.leaf_weights[leaf]:g}, and measures count whole "
            f"points; Hierarchy(tree.children, tree.heights) is the tree without weights"
        )
    return counts


def expanded(tree: Hierarchy) -> Hierarchy:
    """The tree with a leaf for every point that its leaves stand for.

    Examples
    --------
    >>> expanded(Hierarchy([[0, 1]], [1.0], leaf_weights=[2, 1])).n_leaves
    3
    """
    return tree if repeats_of(tree) is None else tree.expanded()


def gaps_between_leaves(tree: Hierarchy, values: npt.NDArray[Any]) -> tuple[IntArray, FloatArray]:
    """Leaves from left to right, and the value of the inner node between neighbours.

    If values never fall towards the root, the value of the lowest common ancestor
    of two leaves is the largest over the gaps between them.

    Examples
    --------
    >>> import numpy as np
    >>> gaps_between_leaves(read_tree([[0, 2], [3, 1]]), np.array([2, 3]))
    (array([0, 2, 1]), array([2., 3.]))
    """
    order, start = _core.leaf_layout(tree.children)
    gaps = np.empty(tree.n_leaves - 1)
    gaps[start[tree.n_leaves :] + tree.sizes[tree.children[:, 0]] - 1] = values
    return order.view(np.int64), gaps


def _read_rows(tree: object, name: str) -> npt.NDArray[Any]:
    if hasattr(tree, "children_") or hasattr(tree, "hierarchy"):
        hint = "model.hierarchy()" if hasattr(tree, "hierarchy") else "model.children_"
        raise TypeError(f"{name} is a model, {type(tree).__name__}; pass {hint}")
    rows = np.asarray(tree)
    if rows.dtype.kind not in "iuf":
        raise TypeError(
            f"{name}: expected a Hierarchy, a linkage matrix or an array of children, "
            f"got {type(tree).__name__} of {rows.dtype}"
        )
    if rows.ndim != 2 or rows.shape[1] not in (2, 4):
        raise ValueError(
            f"{name}: expected a linkage matrix of shape (n - 1, 4) or an array of children of "
            f"shape (n - 1, 2), got shape {rows.shape}"
        )
    if rows.shape[1] == 2 and rows.dtype.kind == "f" and len(rows) > 0:
        raise TypeError(
            f"{name}: an array of children holds whole numbers, got {rows.dtype}; are these points?"
        )
    return rows
