# SPDX-License-Identifier: BSD-3-Clause
"""_order.py: the one order in which a tree's merges stand.

Rows by monotone height, then size, then earliest point; of two children, the one
with the earlier point first. So one tree has one array, whichever library made it.
"""

import numpy as np

from ramify import _core
from ramify.hierarchy._values import FloatArray, IntArray


def canonical(children: IntArray, heights: FloatArray) -> tuple[IntArray, FloatArray]:
    """The same merges in the order of invariants 4 and 5.

    A parent comes after its children: it is at least as high, and larger.

    Examples
    --------
    >>> import numpy as np
    >>> canonical(np.array([[3, 2], [1, 0], [5, 4]]), np.array([2.0, 1.0, 3.0]))
    (array([[0, 1],
           [2, 3],
           [4, 5]]), array([1., 2., 3.]))
    """
    merges, order = canonical_order(children, heights)
    return merges, heights[order]


def canonical_order(children: IntArray, heights: FloatArray) -> tuple[IntArray, IntArray]:
    """As :func:`canonical`: the children, and the place where each row stood before.

    Examples
    --------
    >>> import numpy as np
    >>> canonical_order(np.array([[3, 2], [1, 0], [5, 4]]), np.array([2.0, 1.0, 3.0]))[1]
    array([1, 0, 2])
    """
    n = len(children) + 1
    earliest = earliest_points(children)
    swapped = earliest[children[:, 0]] > earliest[children[:, 1]]
    rows = np.where(swapped[:, np.newaxis], children[:, ::-1], children)
    sizes = _core.sizes(children)[n:]
    order = canonical_rows(_core.monotone(children, heights), sizes, earliest[n:])
    number = np.arange(2 * n - 1)
    number[n + order] = np.arange(n, 2 * n - 1)
    return number[rows[order]], order


def canonical_rows(monotone: FloatArray, sizes: IntArray, earliest: IntArray) -> IntArray:
    """Positions of the merges, first to last, given what is known of each.

    Examples
    --------
    >>> import numpy as np
    >>> canonical_rows(np.array([2.0, 1.0]), np.array([2, 2]), np.array([2, 0]))
    array([1, 0])
    """
    return np.lexsort((earliest, sizes, monotone))


def earliest_points(children: IntArray) -> IntArray:
    """Smallest leaf below every node.

    The core knows running maxima over inner nodes, so each gets the leaf that hangs
    from it, if any, turned upside down. Whole numbers this small are exact floats.

    Examples
    --------
    >>> import numpy as np
    >>> earliest_points(np.array([[2, 1], [3, 0]]))
    array([0, 1, 2, 1, 0])
    """
    n = len(children) + 1
    nearest = np.where(children < n, children, n).min(axis=1).astype(np.float64)
    inner = -_core.monotone(children, -nearest)
    return np.concatenate([np.arange(n), inner.astype(np.int64)])
