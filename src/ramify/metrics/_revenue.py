# SPDX-License-Identifier: BSD-3-Clause
"""_revenue.py: what a tree earns and costs, given similarities w of its points.

    revenue   sum over pairs of w(i, j) (n - |lca(i, j)|)     Moseley and Wang
    cost      sum over pairs of w(i, j) |lca(i, j)|           Dasgupta

|v| is the number of leaves below v. With all w >= 0 no tree earns more than
(n - 2) times the sum of w; cost + revenue is n times that sum for every tree.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.hierarchy import FloatArray, Hierarchy
from ramify.jobs import thread_count
from ramify.metrics._measure import (
    Measure,
    RandomState,
    check_sample,
    draw_pairs,
    generator,
    mean_and_error,
)
from ramify.metrics._pairs import blocks_of_pairs
from ramify.metrics._similarity import MOMENTS, Similarities, Similarity
from ramify.metrics._trees import Tree, expanded, gaps_between_leaves, read_tree
from ramify.progress import Progress, check_progress, watch


class _Sums(NamedTuple):
    """Over all pairs, in the order the core gives them."""

    total: float
    revenue: float
    cost: float


class _Sample(NamedTuple):
    """Some pairs, each as likely as any other."""

    w: FloatArray  # similarity
    size: FloatArray  # leaves below the lowest common ancestor


def revenue(
    tree: Tree,
    X: npt.ArrayLike,
    *,
    similarity: Similarity = "rbf",
    gamma: float | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress = False,
) -> Measure:
    """Moseley and Wang's revenue of a tree: large when similar points meet low.

    Each pair of points earns its similarity once for every point outside of its
    lowest common ancestor.

    Parameters
    ----------
    tree : Hierarchy, SciPy linkage matrix, or scikit-learn ``children_`` array
    X : array-like of shape (n, d)
        The points, in the order of the leaves; or, with ``similarity="precomputed"``,
        the symmetric matrix of similarities, of shape (n, n), dense or SciPy's sparse.
    similarity : str or callable, default="rbf"
        ``"rbf"``: exp(-gamma ‖x - y‖²); ``"cosine"``; ``"dot"``; ``"sqeuclidean"``:
        -‖x - y‖²; ``"precomputed"``; or a symmetric callable that takes two blocks of
        a and b rows and returns a matrix of shape (a, b).
    gamma : float, optional
        Of ``"rbf"`` only; by default :func:`fitting_gamma` of the rows. The result says
        which it was: ``.gamma``.
    sample : int, optional
        Estimate from this many pairs, drawn with replacement; unbiased. By default
        exact.
    random_state : int, numpy generator or None
        Of ``sample`` only.
    n_jobs : int, optional
        Threads for exact ``"rbf"``; by default one for each core. The result does not
        depend on it.
    progress : bool or callable
        True draws a bar, or a plain line; a callable is called as
        ``f(done, total)`` now and then.

    Returns
    -------
    Measure

    Notes
    -----
    Exact: O(n d) for dot, cosine and sqeuclidean, else O(n² d) time; memory is O(n)
    beyond the points in all cases. A callable is asked for blocks of at most 1024
    rows. Sampled: O(1) a pair, after O(n log n) preparation that a Hierarchy keeps for
    the next time; a callable is asked for 32 by 32 blocks and their diagonals used.

    Examples
    --------
    >>> import ramify
    >>> from ramify.metrics import revenue
    >>> X = [[0.0], [1.0], [5.0]]
    >>> tree = ramify.HAC().fit(X).hierarchy()
    >>> revenue(tree, X)
    Measure(0.931063, gamma=0.0714)
    >>> round(revenue(tree, X, gamma=1.0), 6)
    0.367879
    >>> revenue(tree, [[9, 2, 1], [2, 9, 3], [1, 3, 9]], similarity="precomputed")
    2.0
    """
    checked, w = _read(tree, X, similarity, gamma, progress, "revenue")
    n = checked.n_leaves
    if sample is None or n < 2:
        return Measure(_sum_up(checked, w, n_jobs, progress).revenue, gamma=w.gamma)
    drawn = _draw(checked, w, sample, random_state)
    return _scaled_up(w, drawn.w * (n - drawn.size))


def dasgupta_cost(
    tree: Tree,
    X: npt.ArrayLike,
    *,
    similarity: Similarity = "rbf",
    gamma: float | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress = False,
) -> Measure:
    """Dasgupta's cost of a tree: small when similar points meet low.

    Each pair of points costs its similarity once for every point below its lowest
    common ancestor.

    Parameters
    ----------
    tree : Hierarchy, SciPy linkage matrix, or scikit-learn ``children_`` array
    X : array-like
        As in :func:`revenue`, like all that follow.
    similarity : str or callable, default="rbf"
    gamma : float, optional
    sample : int, optional
    random_state : int, numpy generator or None
    n_jobs : int, optional
    progress : bool or callable

    Returns
    -------
    Measure

    Examples
    --------
    >>> from ramify.metrics import dasgupta_cost
    >>> W = [[9, 2, 1], [2, 9, 3], [1, 3, 9]]
    >>> dasgupta_cost([[0, 1], [3, 2]], W, similarity="precomputed")
    16.0
    """
    checked, w = _read(tree, X, similarity, gamma, progress, "dasgupta_cost")
    n = checked.n_leaves
    if sample is None or n < 2:
        return Measure(_sum_up(checked, w, n_jobs, progress).cost, gamma=w.gamma)
    drawn = _draw(checked, w, sample, random_state)
    return _scaled_up(w, drawn.w * drawn.size)


def revenue_fraction(
    tree: Tree,
    X: npt.ArrayLike,
    *,
    similarity: Similarity = "rbf",
    gamma: float | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress = False,
) -> Measure:
    """Revenue as a fraction of (n - 2) Σw, which no tree exceeds if all w >= 0.

    A random tree earns 1/3. Trees over at most two points earn all there is: 1.
    Where all similarities are negative, as under ``"sqeuclidean"``, both numbers are,
    and a smaller fraction is better.

    Parameters
    ----------
    tree : Hierarchy, SciPy linkage matrix, or scikit-learn ``children_`` array
    X : array-like
        As in :func:`revenue`, like all that follow.
    similarity : str or callable, default="rbf"
    gamma : float, optional
    sample : int, optional
        With a sample, the ratio of two sums over the same pairs: its bias is of the
        order of 1 / sample, far below its standard error.
    random_state : int, numpy generator or None
    n_jobs : int, optional
    progress : bool or callable

    Returns
    -------
    Measure

    Examples
    --------
    >>> import ramify
    >>> from ramify.metrics import revenue_fraction
    >>> X = [[0.0], [0.1], [5.0]]
    >>> fraction = revenue_fraction(ramify.OHAC().fit(X).hierarchy(), X)
    >>> round(fraction, 3), round(fraction.gamma, 3)
    (0.691, 0.061)
    """
    checked, w = _read(tree, X, similarity, gamma, progress, "revenue_fraction")
    n = checked.n_leaves
    if n < 3:
        return Measure(1.0, gamma=w.gamma)
    if sample is None:
        sums = _sum_up(checked, w, n_jobs, progress)
        return Measure(_ratio(sums.revenue, (n - 2) * sums.total, "all pairs"), gamma=w.gamma)
    drawn = _draw(checked, w, sample, random_state)
    earned = drawn.w * ((n - drawn.size) / (n - 2))
    ratio = _ratio(float(earned.sum()), float(drawn.w.sum()), f"the {len(drawn.w)} sampled pairs")
    mean, _ = mean_and_error(drawn.w)
    _, error = mean_and_error(earned - ratio * drawn.w)
    stderr = error / abs(mean) if mean != 0 else 0.0
    return Measure(ratio, stderr, exact=False, gamma=w.gamma)


def _read(
    tree: Tree,
    X: npt.ArrayLike,
    similarity: Similarity,
    gamma: float | None,
    progress: Progress,
    owner: str,
) -> tuple[Hierarchy, Similarities]:
    check_progress(progress)
    checked = read_tree(tree)
    w = Similarities(X, similarity, gamma, owner, checked)
    return expanded(checked), w


def _sum_up(tree: Hierarchy, w: Similarities, n_jobs: int | None, progress: Progress) -> _Sums:
    """Exactly, over all pairs."""
    threads = thread_count(n_jobs, none=-1)
    with watch(progress, w.n, "measuring") as pulse:
        if w.gamma is not None:
            sums = _Sums(*_core.rbf_sums(tree.children, w.rows, w.gamma, threads, pulse))
            w.warn_if_flat(sums.total / max(w.n * (w.n - 1) / 2, 1))
            return sums
        if w.name in MOMENTS:
            return _Sums(*_core.moment_sums(tree.children, w.rows, w.name, pulse))
        order, gaps = gaps_between_leaves(tree, tree.sizes[tree.n_leaves :])
        parts = np.zeros(3)
        for block in blocks_of_pairs(gaps):
            alike = block.select(w.block(order[block.rows], order[block.columns]))
            size = block.select(block.at_lca)
            parts += (alike.sum(), alike @ (w.n - size), alike @ size)
            if pulse is not None and block.pairs is not None:
                pulse(block.rows.start)
        return _Sums(*parts.tolist())


def _draw(tree: Hierarchy, w: Similarities, sample: object, random_state: RandomState) -> _Sample:
    first, second = draw_pairs(generator(random_state), w.n, check_sample(sample))
    size = tree.sizes[tree.lca(first, second)].astype(np.float64)
    drawn = w.pairs(first, second)
    w.warn_if_flat(float(drawn.mean()))
    return _Sample(drawn, size)


def _scaled_up(w: Similarities, values: FloatArray) -> Measure:
    """From the mean over a sample of pairs to the sum over all of them."""
    mean, error = mean_and_error(values)
    pairs = w.n * (w.n - 1) / 2
    return Measure(pairs * mean, pairs * error, exact=False, gamma=w.gamma)


def _ratio(earned: float, most: float, whence: str) -> float:
    if most != 0:
        return earned / most
    if earned == 0:
        return 1.0  # nothing to be had, and nothing missed
    raise ValueError(f"the similarities of {whence} add up to 0; there is no maximum to compare to")
