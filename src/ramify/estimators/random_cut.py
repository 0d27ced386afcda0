# SPDX-License-Identifier: BSD-3-Clause
"""random_cut.py: the robust random cut tree, whose distribution knows no order."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import whole_number
from ramify.estimators._changing import ChangingClusterer
from ramify.estimators._choice import Keep
from ramify.estimators._guard import live
from ramify.estimators._live import Live, State
from ramify.estimators._settings import (
    Arrays,
    CountingOptions,
    Duplicates,
    Options,
    Settings,
    Shape,
    remembered,
)
from ramify.estimators._skipping import ZeroRows
from ramify.hierarchy import FloatArray
from ramify.metric import MetricName
from ramify.points import zero_rows_of
from ramify.sparse import SparseRows

#: The core's generator begins with a number of 64 bits.
_LARGEST_SEED = 2**63 - 1


def _check_seed(name: str, found: object) -> int | None:
    kind = "an int or None"
    if found is None:
        return None
    return whole_number(name, found, least=0, most=_LARGEST_SEED, kind=kind)


@dataclass(frozen=True, kw_only=True)
class RandomCutOptions(CountingOptions):
    """See :class:`RandomCut`."""

    random_state: int | None = field(default=0, metadata={"check": _check_seed})

    def for_core(self, settings: Settings) -> _core.Options:
        """These options as the core takes them."""
        return _core.Options.random_cut(
            settings.metric.core,
            settings.linkage,
            random_state=self.random_state,
            count_repeats=self.counts_repeats,
        )

    def memory(self, slots: int, width: int, arrays: Arrays) -> dict[str, Shape]:
        """The generator's state, and the cut of every inner node."""
        return remembered(marks=2 + slots, numbers=slots)

    def check_memory(self, points: int, width: int, arrays: Arrays) -> None:
        """Raise ValueError if a cut is impossible."""
        if not np.isfinite(arrays["numbers"]).all():
            raise ValueError("a cut is at no place")


class RandomCut(ChangingClusterer):
    """The robust random cut tree: random, and blind to the order of the points.

    The box around the points is cut in two along a coordinate that is drawn in proportion
    to the length of its side, at a place drawn evenly from that side, and so on in both
    halves. A new point is put where such a tree of all points could have it, and a point
    that leaves takes its parent with it: both are exact, so that the *distribution* of the
    tree is that of the points there are, in whatever order they came, and whatever came and
    went. One tree is a rough one; :meth:`codisp` averaged over several tells outliers.

    Guha, Mishra, Roy and Schrijvers, *Robust random cut forest based anomaly detection on
    streams*, ICML 2016. Trees of separated groups follow them; in many dimensions, most of
    which say nothing, cuts are spent on those.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters in ``labels_``. At most one of this and
        ``distance_threshold`` may be set; with neither there are no labels, and
        ``hierarchy().cut(...)`` makes them.
    distance_threshold : float, optional
        Clusters merge only strictly below this height.
    min_size : int, optional
        Of clusters in ``labels_``, beside one of these: a branch of fewer points is no
        cluster and stays with the branch beside it (:meth:`Hierarchy.cut`).
    metric : {"sqeuclidean", "cosine", "dot"}, default="sqeuclidean"
        What heights are, by average linkage. Under cosine, rows are scaled to unit length
        before they are cut.
    zero_rows : {"error", "skip", "apart"}, default="error"
        What becomes of rows of zeros under ``metric="cosine"``. ``"error"``: the batch is
        refused. ``"skip"``: they are not kept; see ``n_skipped_``. ``"apart"``: they are kept,
        as rows that are like nothing but each other: at the distance 1 from every other row,
        and 0 from other rows of zeros.
    random_state : int or None, default=0
        Seed of the cuts. One seed and one order give one tree; None takes another seed each
        time.
    keep : Last or Younger, optional
        Which points stay: the last so many (:class:`Last`), or those young enough
        (:class:`Younger`).
    duplicates : {"keep", "count"}, default="keep"
        ``"count"``: a row that equals a stored one raises the weight of its leaf, instead
        of adding a leaf. ``labels_`` still has an entry for each point.
    history : int, default=0
        How many versions, of those that were read from ``version``, can be asked about
        later: see :meth:`changes`, :meth:`dirty` and :meth:`lineage`. 0 remembers none and
        costs nothing; otherwise inserts note what they touch, and a copy of the tree as it
        was then is kept. May change at any time.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of every point so far, numbered from 0 in order of first points.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    n_leaves_ : int
        Number of leaves: one for each point that is there, unless some stand for
        several (``duplicates``).
    n_points_ : int
        Number of points that are there.
    n_skipped_ : int
        Number of rows that were given and not kept: of weight 0, or of zeros with
        ``zero_rows="skip"``, or too old already.
    children_ : array of shape (n - 1, 2)
        The two nodes that each merge joined; see :class:`Hierarchy`.
    distances_ : array of shape (n - 1,)
        Non-decreasing heights of the merges: the mean distance between the points of the
        two children, or the largest height below if that is larger.
    n_features_in_ : int
        Width of the rows.
    feature_names_in_ : array of shape (d,)
        Column names, if the first batch was a frame with string names.
    ids_ : array of shape (n,)
        Ids of the points, if they were given any.

    Notes
    -----
    O(depth · d) a point, to insert and to forget.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.RandomCut(n_clusters=2)
    >>> model.fit_predict([[0.0], [1.0], [99.0], [100.0]])
    array([0, 0, 1, 1])
    """

    _algorithm: ClassVar[str] = "random_cut"
    _Options: ClassVar[type[Options]] = RandomCutOptions

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        min_size: int | None = None,
        metric: MetricName = "sqeuclidean",
        zero_rows: ZeroRows = "error",
        random_state: int | None = 0,
        keep: Keep | None = None,
        duplicates: Duplicates = "keep",
        history: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.min_size = min_size
        self.metric = metric
        self.zero_rows = zero_rows
        self.random_state = random_state
        self.keep = keep
        self.duplicates = duplicates
        self.history = history

    @live
    def codisp(self) -> FloatArray:
        """How far each point stands out, in order of arrival: collusive displacement. O(n).

        As :meth:`Hierarchy.codisp`. Average it over trees of several seeds.

        Returns
        -------
        array of shape (n,)

        Examples
        --------
        >>> import numpy as np
        >>> import ramify
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> X[7] = 20
        >>> scores = [ramify.RandomCut(random_state=seed).fit(X).codisp() for seed in range(20)]
        >>> int(np.mean(scores, axis=0).argmax())
        7
        """
        tree = self._fitted()
        scores = tree.hierarchy().codisp()
        if not tree.settings.options.tracks_members:
            return scores
        leaves = tree.leaf_of(tree.numbers())
        return scores[np.searchsorted(tree.hierarchy().leaf_numbers, leaves)]

    @live
    def score_samples(self, X: npt.ArrayLike) -> FloatArray:
        """Minus how far each row would stand out if it came alone: the lower, the odder.

        The collusive displacement (:meth:`codisp`) of each row in a copy of the tree that has
        taken it in, as scikit-learn's outlier detectors count: low scores are outliers.
        Nothing is inserted, and no row has a say about another. O(n d) for each row: meant for
        trees of a few hundred points, of which one averages several.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        array of shape (m,)
            NaN for rows that the tree would skip.

        Examples
        --------
        >>> import numpy as np
        >>> import ramify
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> forest = [ramify.RandomCut(random_state=seed).fit(X) for seed in range(20)]
        >>> near, far = np.mean([tree.score_samples([[0, 0], [9, 9]]) for tree in forest], axis=0)
        >>> bool(far < 5 * near)
        True
        """
        tree = self._fitted()
        given = self._read_more(X, tree)
        rows = given.dense() if isinstance(given, SparseRows) else given
        state: State = {**tree.state(), "ids": None}
        scores = np.full(len(rows), np.nan)
        skips = tree.settings.options.zero_rows == "skip"
        for at in np.flatnonzero(~zero_rows_of(rows)) if skips else range(len(rows)):
            copy = Live.from_state(state, self._Options)
            number = copy.insert_one(rows[at])
            still = copy.hierarchy()
            leaf = np.searchsorted(still.leaf_numbers, copy.leaf_of(np.array([number])))
            scores[at] = -still.codisp()[leaf[0]]
        return scores
