# SPDX-License-Identifier: BSD-3-Clause
"""_labels.py: groups of points, numbered as every cut numbers them."""

import numpy as np

from ramify.hierarchy._values import IntArray


def by_first_point(group: IntArray, n_groups: int) -> tuple[IntArray, IntArray]:
    """Labels from 0 in the order of the groups' first points, and the group of each label.

    A point of group -1 is labelled -1; a group without points gets no label. O(n).

    Examples
    --------
    >>> import numpy as np
    >>> by_first_point(np.array([5, -1, 2, 5]), 6)
    (array([ 0, -1,  1,  0]), array([5, 2]))
    """
    n = len(group)
    first = np.full(n_groups + 1, n)  # one more for -1, at the end
    first[group[::-1]] = np.arange(n)[::-1]  # of several values the last one stays
    order = np.argsort(first[:-1], kind="stable")
    order = order[first[order] < n]
    label = np.full(n_groups + 1, -1)
    label[order] = np.arange(len(order))
    return label[group], order
