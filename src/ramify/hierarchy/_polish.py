# SPDX-License-Identifier: BSD-3-Clause
"""_polish.py: a tree with a better top, by the core's live tree."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import one_of, whole_number
from ramify.hierarchy._modularity import N_NEIGHBORS, edges_for
from ramify.hierarchy._neighbor_top import with_neighbor_top
from ramify.hierarchy._rows import MetricName, Rows, read_own_rows
from ramify.hierarchy._tree import Tree
from ramify.metric import BY_NAME, LinkedMetricName, Metric

_LINKAGES = ("average", "ward", "centroid")
_OF_NEIGHBORS = ("sqeuclidean", "euclidean", "cosine")
#: Heights of float32 rows agree so far, at least.
_SAME_HEIGHT = 1e-4


class PolishRound(NamedTuple):
    """One try at a better top: see :class:`Polished`."""

    m: int  #: subtrees that were merged anew
    before: float  #: what the old top counts for
    after: float  #: and the one that the tree has now
    kept: bool  #: whether the new top was better, and is there now

    @property
    def gain(self) -> float:
        """By which share of it the count became better: 0 if the old top stays."""
        off = abs(self.after - self.before)
        return off / abs(self.before) if off > 0 and self.before != 0 else 0.0


@dataclass(frozen=True, slots=True)
class Polished:
    """What polishing a tree has gained: true if the tree has changed.

    Counts are over the top alone, the m - 1 merges of its m subtrees; what is below is the
    same before and after. A round is kept only if its count is better.

    Attributes
    ----------
    by : {"revenue", "squares"}
        ``"revenue"``, of average linkage: what the top earns (Moseley and Wang) under the
        similarity of the metric, minus the squared distance or the inner product; more is
        better. ``"squares"``, of ward and centroid linkage: the sum of SSE(k)/k over k from 1 to
        m, where SSE(k) is the sum of squares that the cut by height into k clusters leaves; less
        is better. So each doubling of the number of clusters counts the same.
    rounds : tuple of PolishRound
        ``m``, ``before``, ``after``, ``kept`` and ``gain`` of each.

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> ramify.OHAC(linkage="ward").fit(X).polish(m=20)
    <Polished: squares 0.18% better with 20 subtrees>
    """

    by: Literal["revenue", "squares"]
    rounds: tuple[PolishRound, ...]

    def __bool__(self) -> bool:
        """Whether the tree has changed."""
        return any(each.kept for each in self.rounds)

    def __repr__(self) -> str:
        said = [
            f"{self.by} {100 * each.gain:.2g}% better with {each.m} subtrees"
            for each in self.rounds
            if each.kept
        ]
        return f"<Polished: {', '.join(said) or 'no top is better'}>"

    @classmethod
    def read(cls, rounds: list[tuple[int, float, float, bool]], metric: str, linkage: str) -> Self:
        """As the core tells it, which counts what is lost as less than nothing."""
        revenue = linkage == "average" or BY_NAME[metric].product
        sign = 1.0 if revenue else -1.0
        told = (
            PolishRound(m, sign * before, sign * after, better)
            for m, before, after, better in rounds
            if m > 0
        )
        return cls("revenue" if revenue else "squares", tuple(told))


class Polishing(Tree):
    """Trees that are made better."""

    __slots__ = ()

    def polish(
        self,
        X: npt.ArrayLike | None = None,
        m: int | None = None,
        *,
        by: Literal["linkage", "neighbors"] = "linkage",
        metric: LinkedMetricName = "sqeuclidean",
        linkage: Literal["average", "centroid", "ward"] | None = None,
        n_neighbors: int = N_NEIGHBORS,
        graph: Any = None,
    ) -> Self:
        """The tree with its top merged anew, as offline HAC would, if that makes it better.

        From the root down the widest node is split until ``m`` subtrees remain, and the linkage
        merges these. The new top is taken only if it is better: under average linkage if the tree
        earns more revenue (Moseley and Wang), under ward and centroid linkage if cuts leave a
        smaller sum of squares; :class:`Polished` says how both are counted. Works on trees of
        other libraries, too. A snapshot knows nothing of links and held nodes; ``model.polish()``
        does.

        By neighbours, the m - 1 highest merges are undone, and those subtrees merge first that
        have the most edges for each pair of their points, in a graph of near rows. That finds
        groups that wind, or differ in width, in rows that use fewer dimensions than they have
        columns: tables and images. On rows that fill their columns it does harm. Nothing but
        labels says which is better, so this top is always taken; :func:`ramify.recommend` says
        when it mostly is.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows that the tree was grown on, in the same order. Leaves' weights count.
        m : int, optional
            Number of subtrees, from 3. HAC of m clusters is O(m² d) at worst. By default there
            are up to five rounds, from few subtrees to more, each kept only if it gains; the
            last has one for 10 points, but at least 24 and at most 1000. By neighbours there is
            one round, with a subtree for 5 leaves, at least 24, and at most 1000.
        by : {"linkage", "neighbors"}, default="linkage"
            What merges the subtrees.
        metric : {"sqeuclidean", "euclidean", "cosine", "dot"}, default="sqeuclidean"
            "euclidean" goes with ward and centroid linkage, and is then as "sqeuclidean".
        linkage : {"average", "centroid", "ward"}, optional
            By which the top is merged and judged, and whose the heights of a new tree are. By
            default the one whose heights the tree has on these rows; "average" if it has none's.
        n_neighbors : int, default=10
            By neighbours: how many others each row is joined to.
        graph : sparse matrix of shape (n, n), optional
            By neighbours, instead of X: as in :meth:`cut` by modularity.

        Returns
        -------
        Hierarchy
            This tree itself if it is not better; otherwise a new one, with all heights
            computed anew, the same names and numbers of points, and its own node ids. By
            neighbours a height of the new top is 2 minus the mean weight between two subtrees, as
            a share of the largest there can be; heights below keep their order, up to 1/2.

        Examples
        --------
        >>> import ramify
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> tree = ramify.Hierarchy.from_children([[0, 2], [1, 3], [4, 5]])
        >>> tree.polish(X, m=4).children
        array([[0, 1],
               [2, 3],
               [4, 5]])
        """
        wanted = None if m is None else whole_number("m", m, least=3)
        if one_of("by", by, ("linkage", "neighbors")) == "neighbors":
            if linkage is not None:
                raise ValueError("linkage goes with by='linkage'; neighbours are merged by average")
            one_of("metric", metric, _OF_NEIGHBORS)
            as_cosine: MetricName = "cosine" if metric == "cosine" else "sqeuclidean"
            rows = None if X is None else read_own_rows(X, self, as_cosine)
            edges = edges_for(self, rows, n_neighbors, graph, "by='neighbors'")
            return type(self)(*with_neighbor_top(self, edges, wanted), None, *kept(self))
        if X is None or graph is not None:
            raise ValueError("by='linkage' needs X, the rows that the tree was grown on, not graph")
        way = own_linkage(self, X, metric) if linkage is None else linkage
        core = live_core(self, X, metric, way)
        if not Polished.read(core.polish(wanted), metric, way):
            return self
        return type(self)(*core.snapshot(), *kept(self))


def own_linkage(tree: Tree, X: npt.ArrayLike, metric: str) -> str:
    """The linkage whose heights a tree has on these rows; "average" if it has none's.

    Heights of 0 say nothing: those of linked points are. With metric="euclidean", which
    "average" does not go with, a tree that has none's counts as one of "ward".

    Examples
    --------
    >>> import ramify
    >>> X = [[0.0], [1.0], [9.0], [7.0]]
    >>> own_linkage(ramify.HAC(linkage="ward").fit(X).hierarchy(), X, "sqeuclidean")
    'ward'
    """
    heights, how = tree.heights[tree.heights > 0], _known(metric)
    if len(heights) > 0 and how.allows_ward:
        for linkage in _LINKAGES[how.rooted :]:
            _, there, *_ = live_core(tree, X, metric, linkage).snapshot()
            there = np.sort(there)
            at = np.clip(np.searchsorted(there, heights), 1, len(there) - 1)
            off = np.minimum(abs(there[at] - heights), abs(there[at - 1] - heights))
            if (off <= _SAME_HEIGHT * heights).all():
                return linkage
    return "ward" if how.rooted else "average"


def _known(metric: object) -> Metric:
    return BY_NAME[one_of("metric", metric, tuple(BY_NAME))]


def kept(tree: Tree) -> tuple[Any, ...]:
    """What a tree of another shape over the same points keeps: names, numbers and weights.

    Examples
    --------
    >>> import ramify
    >>> kept(ramify.HAC().fit([[0.0], [1.0]]).hierarchy())
    (None, array([0, 1]), None, array([0, 1]))
    """
    return tree.names, tree.point_numbers, tree.leaf_weights, tree.leaf_numbers


def live_core(tree: Tree, X: npt.ArrayLike, metric: str, linkage: str = "average") -> Any:
    """A live tree of the core with the shape of a frozen one.

    Examples
    --------
    >>> import ramify
    >>> X = [[0.0], [1.0], [9.0]]
    >>> live_core(ramify.HAC().fit(X).hierarchy(), X, "sqeuclidean").depth(0)
    2
    """
    how = _known(metric)
    of_core = one_of("linkage", linkage, _LINKAGES)
    if of_core == "average" and how.rooted:
        raise ValueError(
            "metric='euclidean' goes with linkage 'ward' and 'centroid'; for the mean of the "
            "squares, choose metric='sqeuclidean'"
        )
    if of_core == "ward" and not how.allows_ward:
        raise ValueError(f"linkage='ward' has no heights under metric={metric!r}")
    rows = read_own_rows(X, tree, "cosine" if how.unit_rows else "sqeuclidean")
    return core_over(tree, rows, how.core, of_core)


def core_over(tree: Tree, rows: Rows, metric: str, linkage: str = "average") -> Any:
    """As :func:`live_core`, of rows and names that have been checked."""
    kind = _core.LiveF32 if rows.dtype == np.float32 else _core.LiveF64
    core = kind(rows.shape[1], _core.Options.naive_nn(metric, linkage))
    core.adopt(np.ascontiguousarray(rows), tree.children, tree.leaf_weights)
    return core
