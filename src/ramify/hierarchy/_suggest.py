# SPDX-License-Identifier: BSD-3-Clause
"""_suggest.py: at which numbers of clusters a tree has a gap that is more than chance.

    h_1 <= ... <= h_(n-1)   heights of the merges (or prices, by variance)
    gap of k clusters       log h_(n-k+1) - log h_(n-k): a cut into k is right for all
                            heights in between

If heights fell off as a power of their rank, with chance between them (a Pareto law), the
numbers k · gap(k) would be independent draws of one exponential law (Rényi, 1953). So a
gap is measured in units of that law's mean, which is read off the median of all of them,
and what the largest of so many draws may be says which gaps are more than chance.

Where trees have inversions, a merge may be undone with one below it that is higher. Several
that are lifted so to one height leave a gap behind them that no merge has made. So a gap
begins at the lowest *own* height of the merges that are undone.
"""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.checks import one_of, whole_number
from ramify.hierarchy._cuts import Cuts
from ramify.hierarchy._rows import MetricName, read_own_rows

#: Gaps that chance alone would make less often than this.
_RARE = 0.01


class SuggestedCut(NamedTuple):
    """A cut at a gap of the tree: see :meth:`Hierarchy.suggest_cuts`."""

    n_clusters: int  #: so many clusters
    low: float  #: height, or price, of the highest merge that stays
    high: float  #: of the lowest that is undone; any ``cut(height=)`` between gives this cut
    ratio: float  #: ``high / low``
    strength: float  #: the gap in units of a usual one at this number of clusters
    chance: float  #: how likely the largest of all gaps would be this large by chance


class Suggestions(Cuts):
    """Cuts that a tree itself suggests."""

    __slots__ = ()

    def suggest_cuts(
        self,
        X: npt.ArrayLike | None = None,
        *,
        by: Literal["height", "variance"] = "height",
        most: int = 5,
        max_clusters: int | None = None,
        metric: MetricName = "sqeuclidean",
    ) -> list[SuggestedCut]:
        """The few numbers of clusters at which the tree has a real gap, the clearest first.

        A tree has a gap at k clusters if the merge that would make them k - 1 is much
        higher, by its own height, than the one that made them k. How much is much depends on k:
        heights at the top are far apart anyway. So k times the logarithm of the ratio is
        compared with that of all other k. None is suggested where no gap stands out: a tree does
        not owe anybody a number of clusters. ``chance`` treats heights as independent, which
        merges are only nearly: read it as a scale, not as a test.

        Parameters
        ----------
        X : array-like of shape (n, d), optional
            The rows that the tree was grown on, for ``by="variance"``.
        by : {"height", "variance"}, default="height"
            Which heights are looked at: those of the merges, or the prices at which
            :meth:`cut` by variance undoes them. Single points far away make gaps in
            heights, and hardly any in prices.
        most : int, default=5
            At most so many suggestions.
        max_clusters : int, optional
            The largest number looked at; by default the square root of the number of
            points, and at least 20.
        metric : "sqeuclidean" or "cosine"
            Of X.

        Returns
        -------
        list of SuggestedCut
            ``n_clusters``, ``low``, ``high``, ``ratio``, ``strength`` and ``chance`` of each.

        Examples
        --------
        >>> import ramify
        >>> from ramify import datasets
        >>> groups = datasets.gmm_8()
        >>> tree = ramify.OHAC().fit(groups.points).hierarchy()
        >>> for cut in tree.suggest_cuts():
        ...     print(cut.n_clusters, round(cut.ratio, 1), round(cut.strength, 1))
        8 7.3 34.5
        4 4.2 12.5
        """
        few = whole_number("most", most)
        n = self.n_leaves
        usual = min(max(int(np.sqrt(n)), 20), n - 1)
        last = usual if max_clusters is None else min(whole_number("max_clusters", max_clusters), n)
        if one_of("by", by, ("height", "variance")) == "height" and X is not None:
            raise ValueError("X goes with by='variance'; by='height' looks at the tree alone")
        rows = None if X is None else read_own_rows(X, self, metric)
        tree = self._ordered(by, rows).tree
        heights = tree.monotone_heights[::-1]  # entry k - 1: merge to k
        undone = np.minimum.accumulate(tree.heights[::-1])  # the lowest down to there
        if (heights < 0).any():
            raise ValueError("heights below 0, as of the dot metric, have no ratios: by='variance'")
        return _clearest(heights, undone, np.arange(2, min(last, n - 1) + 1), few)


def _clearest(
    heights: npt.NDArray[np.float64],
    undone: npt.NDArray[np.float64],
    number: npt.NDArray[np.int64],
    few: int,
) -> list[SuggestedCut]:
    """Of these numbers of clusters those with a gap, given heights from the top down."""
    number = number[heights[number - 1] > 0]
    high, low = heights[number - 2], heights[number - 1]
    usual = _mean_of(np.log(high / low) * number.astype(np.float64))
    if usual == 0:
        return []
    own = np.maximum(undone[number - 2], low)
    strength = np.log(own / low) * number.astype(np.float64) / usual
    chance = -np.expm1(len(number) * np.log1p(-np.exp(-np.maximum(strength, 1e-9))))
    best = [i for i in np.lexsort((number, -strength))[:few].tolist() if chance[i] <= _RARE]
    columns = low, high, high / low, strength, chance
    return [SuggestedCut(int(number[i]), *(float(values[i]) for values in columns)) for i in best]


def _mean_of(spacings: npt.NDArray[np.float64]) -> float:
    """The mean of an exponential law of which these are draws, a few of them spoilt.

    Ties, and merges that are undone together, have no spacing: their neighbours' is theirs.
    """
    apart = spacings[spacings > 0]
    if len(apart) < 3:
        return 0.0
    return float(np.median(apart) / np.log(2) * len(apart) / len(spacings))
