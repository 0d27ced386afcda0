# SPDX-License-Identifier: BSD-3-Clause
"""_ckmm.py: the value of a tree for dissimilarities, of Cohen-Addad, Kanade, Mallmann-Trenn
and Mathieu.

    value   sum over pairs of d(i, j) |lca(i, j)|: large when dissimilar points meet high

No tree has more than n Σd. It is Dasgupta's cost with dissimilarities for similarities,
and to be made large.
"""

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from ramify.metrics._measure import Measure, RandomState
from ramify.metrics._revenue import dasgupta_cost, revenue_fraction
from ramify.metrics._trees import Tree, read_tree
from ramify.progress import Progress


def ckmm_value(
    tree: Tree,
    X: npt.ArrayLike,
    *,
    dissimilarity: str | Callable[[Any, Any], Any] = "sqeuclidean",
    sample: int | None = None,
    random_state: RandomState = None,
    progress: Progress = False,
) -> Measure:
    """Cohen-Addad and others' value of a tree: large when dissimilar points meet high.

    Each pair of points is worth its dissimilarity once for every point below its lowest
    common ancestor.

    Parameters
    ----------
    tree : Hierarchy, SciPy linkage matrix, or scikit-learn ``children_`` array
    X : array-like
        The points, in the order of the leaves; or with ``"precomputed"`` the symmetric
        matrix of dissimilarities, dense or SciPy's sparse.
    dissimilarity : str or callable, default="sqeuclidean"
        ``"sqeuclidean"``: ‖x - y‖²; ``"precomputed"``; or a symmetric callable that takes
        two blocks of a and b rows and returns a matrix of shape (a, b).
    sample : int, optional
        Estimate from this many pairs; by default exact.
    random_state : int, numpy generator or None
        Of ``sample`` only.
    progress : bool or callable

    Returns
    -------
    Measure

    Notes
    -----
    Exact in O(n d) for ``"sqeuclidean"``, else O(n² d).

    Examples
    --------
    >>> from ramify.metrics import ckmm_value
    >>> ckmm_value([[0, 1], [3, 2]], [[0.0], [1.0], [5.0]])
    125.0
    """
    similarity, sign = _turned(dissimilarity)
    cost = dasgupta_cost(
        tree,
        X,
        similarity=similarity,
        sample=sample,
        random_state=random_state,
        progress=progress,
    )
    return Measure(sign * cost, cost.stderr, exact=cost.exact)


def ckmm_fraction(
    tree: Tree,
    X: npt.ArrayLike,
    *,
    dissimilarity: str | Callable[[Any, Any], Any] = "sqeuclidean",
    sample: int | None = None,
    random_state: RandomState = None,
    progress: Progress = False,
) -> Measure:
    """:func:`ckmm_value` as a fraction of n Σd, which no tree exceeds.

    A random tree has 2/3 of it.

    Parameters
    ----------
    tree : Hierarchy, SciPy linkage matrix, or scikit-learn ``children_`` array
    X : array-like
        As in :func:`ckmm_value`, like all that follow.
    dissimilarity : str or callable, default="sqeuclidean"
    sample : int, optional
    random_state : int, numpy generator or None
    progress : bool or callable

    Returns
    -------
    Measure

    Examples
    --------
    >>> import ramify
    >>> from ramify.metrics import ckmm_fraction
    >>> X = [[0.0], [1.0], [5.0], [7.0]]
    >>> round(ckmm_fraction(ramify.OHAC().fit(X).hierarchy(), X), 3)
    0.981
    """
    similarity, _ = _turned(dissimilarity)
    n = read_tree(tree).n_leaves
    if n < 3:
        return Measure(1.0)
    earned = revenue_fraction(
        tree,
        X,
        similarity=similarity,
        sample=sample,
        random_state=random_state,
        progress=progress,
    )
    # cost + revenue = n Σd, for every tree.
    share = (n - 2) / n
    return Measure(1 - share * earned, share * earned.stderr, exact=earned.exact)


def _turned(
    dissimilarity: str | Callable[[Any, Any], Any],
) -> tuple[str | Callable[[Any, Any], Any], int]:
    """The similarity to measure by, and the sign that makes a dissimilarity of it."""
    if callable(dissimilarity) or dissimilarity == "precomputed":
        return dissimilarity, 1
    if dissimilarity != "sqeuclidean":
        raise ValueError(
            f"dissimilarity={dissimilarity!r} is not offered; choose 'sqeuclidean', "
            f"'precomputed' or a callable"
        )
    return dissimilarity, -1
