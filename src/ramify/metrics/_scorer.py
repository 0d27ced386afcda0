# SPDX-License-Identifier: BSD-3-Clause
"""_scorer.py: revenue as a scorer, for scikit-learn's searches over options.

A search fits a model to some rows and scores it on others. A tree says nothing about
rows that it does not hold, so a score on new rows is that of a tree of these rows,
grown with the same options.
"""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
from sklearn.base import clone

from ramify.hierarchy import Hierarchy
from ramify.metric import SQEUCLIDEAN
from ramify.metrics._revenue import revenue_fraction
from ramify.metrics._similarity import Similarity


@dataclass(frozen=True)
class RevenueScorer:
    """Scores a clusterer by :func:`revenue_fraction`: ``scorer(estimator, X, y=None)``.

    For ``GridSearchCV(..., scoring=RevenueScorer())`` and its like. Each score is that
    of a new tree, which a clone of the estimator grows from the rows to be scored; the
    rows are compared as given, before any steps of a pipeline, so that pipelines which
    scale in different ways can be compared.

    It is for options of one linkage. Revenue is earned by what average linkage does, so that
    a search over linkages takes average even where its flat clusters are crumbs: ask
    :func:`ramify.recommend` for the linkage, or score by labels of some points.

    Parameters
    ----------
    similarity : {"rbf", "cosine", "dot"} or callable, default="rbf"
        As in :func:`revenue`; one for which more is better.
    gamma : float, optional
        Of ``"rbf"`` only; by default :func:`fitting_gamma` of the rows to be scored, the same
        for all candidates.
    sample : int, optional
        Estimate from this many pairs. By default exact, which for ``"rbf"`` is
        quadratic in the number of rows.
    random_state : int, default=0
        Of ``sample`` only.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> import ramify
    >>> from ramify import datasets
    >>> from ramify.metrics import RevenueScorer
    >>> search = GridSearchCV(
    ...     ramify.OHAC(), {"n_neighbors": [1, 5]}, scoring=RevenueScorer(), cv=3
    ... )
    >>> found = search.fit(datasets.iris().points).best_params_
    >>> sorted(found)
    ['n_neighbors']
    """

    similarity: Similarity = "rbf"
    gamma: float | None = None
    sample: int | None = None
    random_state: int = 0

    def __call__(self, estimator: Any, X: npt.ArrayLike, y: object = None) -> float:
        if self.similarity in (SQEUCLIDEAN.name, "precomputed"):
            raise ValueError(
                f"similarity={self.similarity!r} cannot score a search: choose 'rbf', 'cosine', "
                f"'dot' or a callable, for which more revenue is better"
            )
        return float(
            revenue_fraction(
                _tree(clone(estimator).fit(X)),
                X,
                similarity=self.similarity,
                gamma=self.gamma,
                sample=self.sample,
                random_state=self.random_state,
            )
        )


def _tree(fitted: Any) -> Hierarchy:
    """The tree of a clusterer, or of the last step of a pipeline."""
    last = fitted[-1] if hasattr(fitted, "steps") else fitted
    if not hasattr(last, "hierarchy"):
        raise TypeError(
            f"expected a clusterer of Ramify, or a pipeline that ends in one, "
            f"got {type(last).__name__}"
        )
    tree: Hierarchy = last.hierarchy()
    return tree
