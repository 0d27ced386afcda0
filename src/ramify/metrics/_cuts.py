# SPDX-License-Identifier: BSD-3-Clause
"""_cuts.py: scikit-learn's scores of flat clusterings, for one cut of a tree."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.metrics import adjusted_rand_score, homogeneity_completeness_v_measure

from ramify.metrics._purity import read_labels
from ramify.metrics._trees import Tree, read_tree, read_tree_with_heights, repeats_of


@dataclass(frozen=True, slots=True)
class CutScores:
    """What scikit-learn says of a cut, against known classes.

    Attributes
    ----------
    n_clusters : int
        Clusters in the cut.
    adjusted_rand : float
        ``sklearn.metrics.adjusted_rand_score``: 1 for the classes themselves, 0 on
        average for chance.
    homogeneity : float
        1 when every cluster holds points of one class only.
    completeness : float
        1 when every class lies in one cluster.
    v_measure : float
        Harmonic mean of the last two.

    Examples
    --------
    >>> from ramify.metrics import cut_scores
    >>> cut_scores([[0, 1], [3, 2]], ["a", "a", "b"], n_clusters=2).adjusted_rand
    1.0
    """

    n_clusters: int
    adjusted_rand: float
    homogeneity: float
    completeness: float
    v_measure: float


def cut_scores(
    tree: Tree,
    labels: npt.ArrayLike,
    *,
    n_clusters: int | None = None,
    height: float | None = None,
    by: Literal["height", "variance"] = "height",
    X: npt.ArrayLike | None = None,
) -> CutScores:
    """Cut a tree and compare the clusters with known classes.

    Parameters
    ----------
    tree : Hierarchy, SciPy linkage matrix, or scikit-learn ``children_`` array
        The last has no heights and can be cut by ``n_clusters`` only.
    labels : array-like of shape (n,)
        Class of each leaf, as in :func:`dendrogram_purity`.
    n_clusters, height : as in :meth:`ramify.Hierarchy.cut`
        Exactly one of the two.
    by, X : as in :meth:`ramify.Hierarchy.cut`

    Returns
    -------
    CutScores

    Examples
    --------
    >>> from ramify.metrics import cut_scores
    >>> scores = cut_scores([[0, 1], [3, 2]], ["a", "b", "b"], n_clusters=2)
    >>> scores.n_clusters, round(scores.homogeneity, 6)
    (2, 0.274018)
    """
    checked = read_tree(tree) if height is None else read_tree_with_heights(tree)
    classes = read_labels(labels, checked)
    clusters = checked.cut(n_clusters=n_clusters, height=height, by=by, X=X)
    if (counts := repeats_of(checked)) is not None:
        classes, clusters = np.repeat(classes, counts), np.repeat(clusters, counts)
    homogeneity, completeness, v_measure = homogeneity_completeness_v_measure(classes, clusters)
    return CutScores(
        n_clusters=int(clusters.max()) + 1,
        adjusted_rand=float(adjusted_rand_score(classes, clusters)),
        homogeneity=float(homogeneity),
        completeness=float(completeness),
        v_measure=float(v_measure),
    )
