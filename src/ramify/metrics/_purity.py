# SPDX-License-Identifier: BSD-3-Clause
"""_purity.py: dendrogram purity, how well a tree keeps known classes together."""

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.hierarchy import Hierarchy, IntArray
from ramify.metrics._measure import (
    Measure,
    RandomState,
    check_sample,
    generator,
    mean_and_error,
)
from ramify.metrics._trees import Tree, read_tree, repeats_of, require_leaves
from ramify.progress import Progress, watch


def dendrogram_purity(
    tree: Tree,
    labels: npt.ArrayLike,
    *,
    sample: int | None = None,
    random_state: RandomState = None,
    progress: Progress = False,
) -> Measure:
    """Mean purity of the lowest common ancestors of all pairs of one class.

    For two points of a class, the share of that class among the points below their
    lowest common ancestor: 1 everywhere exactly when every class is a subtree.

    Parameters
    ----------
    tree : Hierarchy, SciPy linkage matrix, or scikit-learn ``children_`` array
    labels : array-like of shape (n,)
        Class of each leaf: numbers, strings, or anything else that can be hashed. -1
        is a class like any other; leave out noise before you build the tree.
    sample : int, optional
        Estimate from this many pairs, drawn with replacement from all pairs of one
        class. By default exact, in O(n log n).
    random_state : int, numpy generator or None
        Of ``sample`` only.
    progress : bool or callable
        True draws a bar, or a plain line; a callable is called as
        ``f(done, total)`` now and then.

    Returns
    -------
    Measure
        1.0 when no two points share a class.

    Examples
    --------
    >>> from ramify.metrics import dendrogram_purity
    >>> dendrogram_purity([[0, 1], [3, 2]], ["a", "a", "b"])
    1.0
    >>> dendrogram_purity([[0, 1], [3, 2]], ["a", "b", "a"]) == 2 / 3
    True
    """
    checked = read_tree(tree)
    classes = read_labels(labels, checked)
    if (counts := repeats_of(checked)) is not None:
        checked, classes = checked.expanded(), np.repeat(classes, counts)
    if sample is not None:
        return _sampled(checked, classes, check_sample(sample), random_state)
    with watch(progress, checked.n_leaves, "measuring") as pulse:
        return Measure(_core.dendrogram_purity(checked.children, classes, pulse))


def read_labels(labels: npt.ArrayLike, tree: Hierarchy) -> IntArray:
    """Classes as numbers from 0, one a leaf.

    Examples
    --------
    >>> read_labels(["b", "a", "b"], read_tree([[0, 1], [3, 2]]))
    array([1, 0, 1])
    """
    found = np.asarray(labels)
    if found.dtype.kind == "f" and not hasattr(labels, "dtype"):
        # NumPy makes floats of integers on both sides of 2^63, and one class of several.
        found = np.asarray(labels, dtype=object)
    if found.ndim != 1:
        raise ValueError(f"labels: expected shape (n,), got {found.shape}")
    require_leaves(tree, len(found), "labels")
    if bool((found != found).any()):
        raise ValueError("labels contain NaN, which equals nothing; give missing ones a class")
    if found.dtype.kind == "O":
        numbers: dict[object, int] = {}
        return np.array([numbers.setdefault(label, len(numbers)) for label in found], np.int64)
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def _sampled(tree: Hierarchy, classes: IntArray, sample: int, random_state: RandomState) -> Measure:
    """Pairs are drawn as a point with weight (size of its class - 1) and a partner."""
    n = tree.n_leaves
    sizes = np.bincount(classes)
    by_class = np.argsort(classes, kind="stable")  # the members of each class in one stretch
    begin = np.cumsum(sizes) - sizes
    partners = sizes[classes[by_class]] - 1
    ends = np.cumsum(partners)
    if ends[-1] == 0:
        return Measure(1.0)
    rng = generator(random_state)
    ticket = rng.integers(ends[-1], size=sample)  # an ordered pair of one class
    first = np.searchsorted(ends, ticket, side="right")
    chosen = classes[by_class[first]]
    second = begin[chosen] + ticket - (ends[first] - partners[first])
    second += second >= first
    node = np.asarray(tree.lca(by_class[first], by_class[second]))
    # Members of a class below a node: leaves of a node are one stretch from left to
    # right, so positions sorted by class are searched twice.
    order, start = _core.leaf_layout(tree.children)
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    key = np.sort(classes * n + position)
    low = np.searchsorted(key, chosen * n + start[node])
    high = np.searchsorted(key, chosen * n + start[node] + tree.sizes[node])
    mean, error = mean_and_error((high - low) / tree.sizes[node])
    return Measure(mean, error, exact=False)
