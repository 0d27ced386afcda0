# SPDX-License-Identifier: BSD-3-Clause
"""_triplets.py: the triplet distance, how differently two trees resolve three points.

Of any three points, a binary tree joins two before the third. The distance is the
fraction of triples on which two trees disagree: 0 exactly when they are the same tree,
2/3 on average for unrelated ones. (The paper's definition counts every triple twice in
both numerator and denominator.)
"""

from math import comb, sqrt

import numpy as np

from ramify import _core
from ramify.hierarchy import Hierarchy, IntArray
from ramify.metrics._measure import Measure, RandomState, check_sample, draw_triples, generator
from ramify.metrics._trees import Tree, read_tree, repeats_of
from ramify.progress import Progress, watch


def triplet_distance(
    first: Tree,
    second: Tree,
    *,
    sample: int | None = None,
    random_state: RandomState = None,
    progress: Progress = False,
) -> Measure:
    """Fraction of triples of points that two trees over the same points resolve differently.

    Parameters
    ----------
    first, second : Hierarchy, SciPy linkage matrix, or scikit-learn ``children_`` array
        Leaf i of both is the same point, or the same points. Heights do not matter.
    sample : int, optional
        Estimate from this many triples, drawn with replacement. By default exact, in
        O(n log² n), for up to 2²² points.
    random_state : int, numpy generator or None
        Of ``sample`` only.
    progress : bool or callable
        True draws a bar, or a plain line; a callable is called as
        ``f(done, total)`` now and then.

    Returns
    -------
    Measure
        0.0 for fewer than three points. The standard error of a sample is that of one
        more agreement and one more disagreement, so that it is never 0.

    Examples
    --------
    >>> from ramify.metrics import triplet_distance
    >>> triplet_distance([[0, 1], [3, 2]], [[1, 0], [2, 3]])
    0.0
    >>> triplet_distance([[0, 1], [3, 2]], [[1, 2], [3, 0]])
    1.0
    """
    one, other = read_tree(first, name="first"), read_tree(second, name="second")
    n = one.n_leaves
    if n != other.n_leaves:
        raise ValueError(f"the first tree has {n} leaves, the second {other.n_leaves}")
    one, other = _weighed_alike(one, other)
    n = one.n_leaves
    if n < 3:
        return Measure(0.0)
    if sample is not None:
        return _sampled(one, other, check_sample(sample), random_state)
    if n > _core.max_triplet_leaves:
        raise ValueError(
            f"the trees have {n:,} leaves, and triples of more than "
            f"{_core.max_triplet_leaves:,} are not counted exactly; use sample="
        )
    with watch(progress, n, "comparing") as pulse:
        agreeing = _core.agreeing_triplets(one.children, other.children, pulse)
    return Measure((comb(n, 3) - agreeing) / comb(n, 3))


def _weighed_alike(one: Hierarchy, other: Hierarchy) -> tuple[Hierarchy, Hierarchy]:
    """Both with a leaf for every point. Where only one has weights, its leaves are the other's."""
    counts = [repeats_of(tree) for tree in (one, other)]
    if all(found is None for found in counts):
        return one, other
    if one.leaf_weights is not None and other.leaf_weights is not None:
        if not np.array_equal(one.leaf_weights, other.leaf_weights):
            raise ValueError("the leaves of the two trees stand for different numbers of points")
        return one.expanded(), other.expanded()
    weights = one.leaf_weights if one.leaf_weights is not None else other.leaf_weights
    both = (Hierarchy(tree.children, tree.heights, leaf_weights=weights) for tree in (one, other))
    return tuple(tree.expanded() for tree in both)  # type: ignore[return-value]


def _sampled(one: Hierarchy, other: Hierarchy, sample: int, random_state: RandomState) -> Measure:
    triples = draw_triples(generator(random_state), one.n_leaves, sample)
    differ = int(np.count_nonzero(_third(one, *triples) != _third(other, *triples)))
    share = (differ + 1) / (sample + 2)
    return Measure(differ / sample, sqrt(share * (1 - share) / sample), exact=False)


def _third(tree: Hierarchy, i: IntArray, j: IntArray, k: IntArray) -> IntArray:
    """Which of three leaves a tree joins last: 0, 1 or 2.

    Of the three lowest common ancestors two are the same; the other one belongs to the
    pair that is joined first.
    """
    ij, ik, jk = tree.lca(i, j), tree.lca(i, k), tree.lca(j, k)
    return np.where(ik == jk, 2, np.where(ij == jk, 1, 0))
