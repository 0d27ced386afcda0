# SPDX-License-Identifier: BSD-3-Clause
"""_linkage.py: to and from the arrays of SciPy, scikit-learn and their kin.

    Z          SciPy's linkage matrix, (n - 1, 4): two children, height, size
    children   scikit-learn's and genieclust's ``children_``, (n - 1, 2)

In both, row r describes node n + r, and its children come before it. Beyond
that anything goes: rows out of order, inversions, children either way round.
"""

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import number
from ramify.hierarchy._names import Names
from ramify.hierarchy._order import canonical
from ramify.hierarchy._tree import Tree
from ramify.hierarchy._values import FloatArray, IntArray


class Linkages(Tree):
    """Trees as other libraries write them."""

    __slots__ = ()

    def to_linkage(self, *, shift: float | Literal["lowest"] = 0.0) -> FloatArray:
        """SciPy's linkage matrix: sorted, monotone, valid for all of ``scipy.cluster.hierarchy``.

        Heights are ``monotone_heights``: SciPy cuts trees wrongly, and without a word,
        when a merge is lower than one below it. ``fcluster(Z, t, "distance")`` keeps
        merges at or below ``t``, :meth:`cut` those strictly below.

        SciPy refuses negative heights, which the dot metric has. Then say by how
        much to raise them; the tree and the order of its merges stay the same.

        Parameters
        ----------
        shift : float or "lowest"
            Added to every height. ``"lowest"`` puts the lowest merge at zero.

        Returns
        -------
        array of shape (n - 1, 4), float64
            Two children, height and size of each merge.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        >>> tree.to_linkage()
        array([[ 0. ,  1. ,  1. ,  2. ],
               [ 3. ,  2. , 20.5,  3. ]])
        >>> from scipy.cluster.hierarchy import fcluster
        >>> fcluster(tree.to_linkage(), 2, "maxclust")
        array([1, 1, 2], dtype=int32)
        """
        lowest = float(self.monotone_heights.min(initial=np.inf))
        if shift == "lowest":
            raised = -lowest if self.n_leaves > 1 else 0.0
        else:
            raised = number("shift", shift, kind="a number or 'lowest'")
        heights = self.monotone_heights + raised
        if not np.isfinite(heights).all():
            raise ValueError(f"shift={shift}: expected a finite number")
        if heights.min(initial=0.0) < 0:
            raise ValueError(
                f"heights go down to {lowest:g}, and SciPy refuses negative ones; "
                f"to_linkage(shift='lowest') puts the lowest merge at zero"
            )
        sizes = self.sizes[self.n_leaves :]
        return np.column_stack([self.children, heights, sizes]).astype(np.float64, copy=False)

    @classmethod
    def from_linkage(cls, Z: npt.ArrayLike, names: Names | None = None) -> Self:
        """A tree from a linkage matrix of SciPy, fastcluster, hdbscan or their kin.

        Rows and children are put in our order; inversions, as of SciPy's centroid and
        median linkages, are kept in ``heights``. O(n log n).

        Parameters
        ----------
        Z : array of shape (n - 1, 4)
            Two children, height and size of each merge.
        names : sequence of str or of int, one for each point, optional

        Examples
        --------
        >>> import ramify
        >>> from scipy.cluster.hierarchy import linkage
        >>> ramify.Hierarchy.from_linkage(linkage([[0.0], [1.0], [5.0]]))
        <Hierarchy: 3 points, root height 4, split 2 | 1>
        """
        rows = np.asarray(Z)
        if rows.dtype.kind not in "iuf":
            raise TypeError(f"Z: expected a linkage matrix of numbers, got {rows.dtype}")
        if rows.ndim != 2 or rows.shape[1] != 4:
            raise ValueError(
                f"Z: expected a linkage matrix of shape (n - 1, 4), got {rows.shape}; "
                f"for children alone there is from_children"
            )
        children = read_children(rows[:, :2], "Z")
        heights = rows[:, 2].astype(np.float64)
        check_linkage(rows, children, heights, "Z")
        return cls(*canonical(children, heights), names=names)

    @classmethod
    def from_children(
        cls,
        children: npt.ArrayLike,
        heights: npt.ArrayLike | None = None,
        names: Names | None = None,
    ) -> Self:
        """A tree from ``children_`` of scikit-learn, genieclust or their kin.

        Rows and children are put in our order, unlike in the constructor, which
        takes them as they are. O(n log n).

        Parameters
        ----------
        children : array of shape (n - 1, 2)
            The two nodes that each merge joined; row ``r`` describes node ``n + r``.
        heights : array of shape (n - 1,), optional
            Such as ``distances_``. By default 1, 2, 3 ...: the order of the rows.
        names : sequence of str or of int, one for each point, optional

        Examples
        --------
        >>> import ramify
        >>> from sklearn.cluster import AgglomerativeClustering
        >>> model = AgglomerativeClustering(compute_distances=True).fit([[0.0], [1.0], [5.0]])
        >>> tree = ramify.Hierarchy.from_children(model.children_, model.distances_)
        >>> tree.cut(n_clusters=2)
        array([0, 0, 1])
        """
        rows = np.asarray(children)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise ValueError(f"children: expected shape (n - 1, 2), got {rows.shape}")
        if rows.dtype.kind not in "iu" and rows.size > 0:
            raise TypeError(f"children: expected whole numbers, got {rows.dtype}")
        merges = read_children(rows, "children")
        at = np.arange(1.0, len(rows) + 1) if heights is None else _read_heights(heights, len(rows))
        return cls(*canonical(merges, at), names=names)


def _read_heights(heights: npt.ArrayLike, n_rows: int) -> FloatArray:
    array = np.asarray(heights, dtype=np.float64)
    if array.shape != (n_rows,):
        raise ValueError(f"heights: expected shape {(n_rows,)}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("heights: expected finite numbers, found NaN or infinity")
    return np.ascontiguousarray(array)


def read_children(columns: npt.NDArray[Any], name: str) -> IntArray:
    """The children as int64: each node once, before its parent.

    Examples
    --------
    >>> import numpy as np
    >>> read_children(np.array([[0.0, 2.0], [3.0, 1.0]]), "Z")
    array([[0, 2],
           [3, 1]])
    """
    n = len(columns) + 1
    parents = np.arange(n, 2 * n - 1)[:, np.newaxis]
    wrong = ~((columns >= 0) & (columns < parents) & (columns == np.floor(columns)))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"{name}: row {row} describes node {n + row} and names {columns[row, column]:g} as a "
            f"child; expected a whole number from 0 to {n + row - 1}: leaves are 0 to {n - 1}, "
            f"and children come before their parents"
        )
    children = np.ascontiguousarray(columns, dtype=np.int64)
    times = np.bincount(children.ravel(), minlength=2 * n - 2)
    if times.max(initial=0) > 1:
        raise ValueError(f"{name}: node {int(times.argmax())} is the child of more than one row")
    return children


def check_linkage(
    rows: npt.NDArray[Any], children: IntArray, heights: FloatArray, name: str
) -> None:
    """Refuse heights that are not finite, and sizes that are not the children's.

    Four columns of data look like a linkage matrix; their last one gives them away.

    Examples
    --------
    >>> import numpy as np
    >>> check_linkage(np.array([[0, 1, 0.5, 2]]), np.array([[0, 1]]), np.array([0.5]), "Z")
    """
    if not np.isfinite(heights).all():
        row = int(np.flatnonzero(~np.isfinite(heights))[0])
        raise ValueError(f"{name}: row {row} has height {heights[row]}; expected a finite number")
    sizes = _core.sizes(children)[len(rows) + 1 :]
    wrong = np.flatnonzero(rows[:, 3] != sizes)
    if len(wrong) > 0:
        row = int(wrong[0])
        raise ValueError(
            f"{name}: row {row} says that its cluster has {rows[row, 3]:g} points, but its "
            f"children have {sizes[row]}; is this a linkage matrix?"
        )
