# SPDX-License-Identifier: BSD-3-Clause
"""graph_hac.py: offline HAC of a graph of neighbours, for any metric or none."""

import os
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import NotFittedError

from ramify import _core, archive
from ramify.checks import one_of, whole_number
from ramify.estimators import _drawn, _edges, _graph_saved, _lists
from ramify.estimators._frozen import FrozenReader
from ramify.estimators._options import check_cut
from ramify.estimators._reading import needs_cut
from ramify.hierarchy import Hierarchy, IntArray
from ramify.hierarchy.seam import canonical
from ramify.jobs import thread_count
from ramify.progress import Progress, check_progress, watch

LINKAGES = ("average", "single")


class GraphHAC(FrozenReader, ClusterMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Offline hierarchical clustering of a graph: of neighbours, or of pair scores.

    Starting from single points, the two clusters with the heaviest edges between them
    merge until one is left. The graph may come as it is (scores of pairs of records, say)
    or be made of rows, each of which is joined to its nearest ones. So any metric will do,
    as edges need no vectors; clusters may be long and winding, as only near points count;
    and memory is that of the edges.

    The tree follows from the graph alone, and not from the order of points or edges: of
    equal merges, the smaller union comes first, then the one whose points come first by id
    (text by a hash of it), or by a hash of their rows, or else by number. Under
    ``linkage="single"`` the heaviest edge whose ends come first decides. Of rows by squared
    Euclidean distance or cosine, neighbours and merges that tie go by a hash of the rows alone,
    so that the tree is that of :class:`LiveGraphHAC`, to the bit.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters in ``labels_``. At most one of this and ``distance_threshold``
        may be set; with neither there are no labels, and ``hierarchy().cut(...)`` makes them.
    distance_threshold : float, optional
        Clusters merge only strictly below this height. A height is 1 minus the mean (or
        for single linkage the largest) weight between the two clusters as a share of
        ``max_weight``: 1 is not connected, so that ``distance_threshold=1`` gives the
        connected components.
    min_size : int, optional
        Of clusters in ``labels_``, beside ``n_clusters`` or ``distance_threshold``: a branch of
        fewer points is no cluster and stays with the branch beside it
        (:meth:`Hierarchy.cut`). Where groups are of like size, half of their mean size,
        ``n // (2 * n_clusters)``, is a good one: no clusters are then spent on crumbs.
    metric : str or callable, default="sqeuclidean"
        Of rows: any that scikit-learn's ``NearestNeighbors`` takes, such as ``"cosine"``,
        ``"jaccard"``, ``"hamming"``, ``"manhattan"``, or a function of two rows. Rows of zeros
        and ones are searched by counts of bits under ``"jaccard"`` and ``"hamming"``, dense or
        sparse; of equal distances the point that is first in the order of ties is nearer.
    linkage : {"average", "single"}, default="average"
        The mean weight over all pairs of points between two clusters, where a pair without
        an edge counts as 0; or the largest weight between them.
    n_neighbors : int, default=15
        How many nearest rows each row is joined to.
    weight : {"snn", "jaccard", "ranked", "similarity"}, default="snn"
        Of an edge between rows: how many nearest neighbours they have in common, of
        ``n_neighbors``; the same as a share of those that either has; the mean share that the
        first 1, 2, ... ``n_neighbors`` of both have in common, which looks at small groups and
        at large ones and wants longer lists, such as 30 (:doc:`choosing`); or 1 minus their
        distance where distances are at most 1 (cosine, jaccard, hamming, ...), and
        1 / (1 + distance) for others.
    max_weight : float, default=1.0
        The largest weight that ``graph=`` or ``edges=`` may have: that of two points that
        are one and the same. Weights are rounded to about ``max_weight / 2**30``.
    n_jobs : int, optional
        Threads of the search for neighbours. None for one, -1 for one a processor.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of every point, numbered from 0 in order of first points.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    n_leaves_ : int
        Number of points.
    children_ : array of shape (n - 1, 2)
        The two nodes that each merge joined; see :class:`Hierarchy`.
    distances_ : array of shape (n - 1,)
        Non-decreasing heights of the merges, from 0 to 1.
    n_features_in_ : int
        Width of the rows, if there were rows.
    feature_names_in_ : array of shape (d,)
        Column names, if the rows were a frame with string names.
    ids_ : array of shape (n,)
        Ids of the points, if they were given any.

    Examples
    --------
    Scores of pairs of records; a pair that was not compared counts as 0:

    >>> import ramify
    >>> scores = [0, 0, 1, 3], [1, 2, 2, 4], [0.9, 0.8, 0.7, 0.6]
    >>> model = ramify.GraphHAC(distance_threshold=0.5).fit(edges=scores)
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    >>> model.distances_.round(2)
    array([0.1 , 0.25, 0.4 , 1.  ])

    Rows of zeros and ones:

    >>> rows = [[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]]
    >>> ramify.GraphHAC(2, metric="jaccard", n_neighbors=1, weight="similarity").fit_predict(rows)
    array([0, 0, 1, 1])
    """

    _tree: Hierarchy | None = None

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        min_size: int | None = None,
        metric: Any = "sqeuclidean",
        linkage: str = "average",
        n_neighbors: int = 15,
        weight: str = "snn",
        max_weight: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.min_size = min_size
        self.metric = metric
        self.linkage = linkage
        self.n_neighbors = n_neighbors
        self.weight = weight
        self.max_weight = max_weight
        self.n_jobs = n_jobs

    def fit(
        self,
        X: npt.ArrayLike | None = None,
        y: object = None,
        *,
        graph: Any = None,
        edges: Any = None,
        columns: Any = None,
        neighbors: Any = None,
        n_points: int | None = None,
        ids: Any = None,
        progress: Progress = False,
    ) -> Self:
        """Build the tree of these rows or of this graph; what was there before is forgotten.

        Give one of ``X``, ``graph``, ``edges`` and ``neighbors``.

        Parameters
        ----------
        X : array-like of shape (n, d), optional
            Rows. Also a frame of pandas or polars, an Arrow table, a CPU tensor, or a SciPy
            sparse matrix of rows.
        y : ignored
        graph : sparse matrix or array of shape (n, n), optional
            Weights of pairs of points, 0 to ``max_weight``. Where the weights of (i, j) and
            (j, i) differ, the larger one counts. The diagonal does not.
        edges : tuple of three arrays (i, j, weight), or a table of them, optional
            Pairs of points and their weights. Points are ids in a table (a frame of pandas or
            polars, an Arrow table, a dict of columns) and where they are texts; in arrays, whole
            numbers are numbers from 0, unless ``ids`` are whole numbers, too. Without ``ids``
            points come in the order in which pairs name them. A pair that comes more than once
            has the largest of its weights.
        columns : tuple of three names, optional
            With a table: its columns of the two ends and of the weight. Without, the table has
            three columns, in this order.
        neighbors : array of shape (n, k), or tuple (points, distances), optional
            Nearest points that another library has found (pynndescent's ``neighbor_graph``,
            faiss), -1 for none; a point itself is no neighbour.
        n_points : int, optional
            With ``edges`` between numbers: how many points there are, if some have no edge.
        ids : sequence of str or of int, optional
            What you call the points, all strings or all integers, no two alike; with ``edges``
            all points, also those without an edge.
        progress : bool or callable
            True draws a bar. A callable is called as ``f(done, total)`` now and then; it may
            raise to stop, and the model then stays as it was, as after Ctrl-C.

        Returns
        -------
        self

        Examples
        --------
        >>> import ramify
        >>> model = ramify.GraphHAC(n_clusters=2)
        >>> model.fit(edges=(["elm"], ["oak"], [0.5]), ids=["ash", "elm", "oak"]).labels_
        array([0, 1, 1])

        A table of pair scores, with ids and columns as they are:

        >>> import pandas as pd
        >>> pairs = pd.DataFrame({"l": ["p7", "p7"], "r": ["p9", "q1"], "score": [0.9, 0.2]})
        >>> dict(zip(model.fit(edges=pairs).ids_, model.labels_.tolist()))
        {'p7': 0, 'p9': 0, 'q1': 1}
        """
        check_progress(progress)
        self._check_parameters()
        given = [one is not None for one in (X, graph, edges, neighbors)]
        if sum(given) != 1:
            raise TypeError(
                f"fit takes one of X, graph, edges and neighbors, got "
                f"{'none' if not any(given) else sum(given)} of them"
            )
        if n_points is not None and edges is None:
            raise TypeError(
                "n_points goes with edges; graph, neighbors and X say how many there are"
            )
        if columns is not None and edges is None:
            raise TypeError("columns goes with edges")
        if X is not None:
            drawn = _drawn.of_rows(X, ids, self)
        elif edges is not None:
            drawn = _drawn.of_pairs(edges, columns, n_points, ids, self)
        elif graph is not None:
            drawn = _drawn.of_graph(graph, ids, self)
        else:
            drawn = _drawn.of_lists(neighbors, ids, self)
        n = drawn.edges.n
        if self.n_clusters is not None and self.n_clusters > n:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the number of rows, n_samples = {n}"
            )
        with watch(progress, n - 1, "merging", "merges") as pulse:
            found = _core.graph_hac(*drawn.edges[:4], self.linkage, drawn.ranks, pulse)
        children, means = found
        tree = Hierarchy(*canonical(children, drawn.edges.heights(means)), names=drawn.ids)
        self._adopt(tree, drawn.width, drawn.columns)
        return self

    @needs_cut
    def fit_predict(
        self,
        X: npt.ArrayLike | None = None,
        y: object = None,
        *,
        graph: Any = None,
        edges: Any = None,
        columns: Any = None,
        neighbors: Any = None,
        n_points: int | None = None,
        ids: Any = None,
        progress: Progress = False,
    ) -> IntArray:
        """``fit``, then the labels. Only on models with a cut option set.

        Parameters
        ----------
        X : array-like of shape (n, d), optional
        y : ignored
        graph, edges, columns, neighbors, n_points, ids, progress : optional
            As in ``fit``.

        Returns
        -------
        array of shape (n,)

        Examples
        --------
        >>> import ramify
        >>> ramify.GraphHAC(n_clusters=2).fit_predict(edges=([0], [2], [0.5]))
        array([0, 1, 0])
        """
        source = {"graph": graph, "edges": edges, "columns": columns, "neighbors": neighbors}
        self.fit(X, n_points=n_points, ids=ids, progress=progress, **source)
        return self.labels_.copy()

    def hierarchy(self) -> Hierarchy:
        """The tree.

        Examples
        --------
        >>> import ramify
        >>> ramify.GraphHAC().fit(graph=[[0, 0.5], [0.5, 0]]).hierarchy()
        <Hierarchy: 2 points, root height 0.5, split 1 | 1>
        """
        if self._tree is None:
            name = type(self).__name__
            raise NotFittedError(f"This {name} instance holds no points yet; call 'fit' first")
        return self._tree

    def check(self) -> None:
        """Test every invariant of the tree; raise ``BrokenTreeError`` naming a broken one.

        Examples
        --------
        >>> import ramify
        >>> ramify.GraphHAC().fit(edges=([0], [1], [1.0])).check()
        """
        self.hierarchy().check()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, which ``ramify.load`` reads: options, tree and ids.

        The graph is not in the file. A ``metric`` that is a function cannot be saved.

        Parameters
        ----------
        path : str or path-like
            By custom with the ending ``.ramify``.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import ramify
        >>> path = pathlib.Path(tempfile.mkdtemp(), "tree.ramify")
        >>> model = ramify.GraphHAC().fit(edges=([0], [1], [1.0]))
        >>> model.save(path)
        >>> ramify.load(path).hierarchy() == model.hierarchy()
        True
        """
        archive.write(path, *self._to_saved())

    def __sklearn_is_fitted__(self) -> bool:
        return self._tree is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # --- the door --------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_cut(self.n_clusters, self.distance_threshold, self.min_size)
        one_of("linkage", self.linkage, LINKAGES)
        one_of("weight", self.weight, _lists.WEIGHTS)
        whole_number("n_neighbors", self.n_neighbors)
        _edges.check_max_weight(self.max_weight)
        thread_count(self.n_jobs, none=1)
        if not callable(self.metric) and not isinstance(self.metric, str):
            raise TypeError(
                f"metric={self.metric!r}: expected the name of a metric or a function of two rows, "
                f"got {type(self.metric).__name__}"
            )

    def _adopt(
        self, tree: Hierarchy, width: int | None, columns: npt.NDArray[np.object_] | None
    ) -> None:
        self.__dict__.update(_tree=tree, _labels=None)  # in one piece, whenever Ctrl-C comes
        for name, value in (("n_features_in_", width), ("feature_names_in_", columns)):
            if value is None:
                self.__dict__.pop(name, None)
            else:
                setattr(self, name, value)

    def _to_saved(self) -> tuple[dict[str, Any], dict[str, archive.Array]]:
        self._check_parameters()
        return _graph_saved.content_of(self, self._tree)


def from_saved(content: dict[str, Any], arrays: dict[str, archive.Array]) -> GraphHAC:
    """The model that ``save`` wrote; UnreadableFileError if there cannot be such a model.

    Examples
    --------
    >>> len(from_saved(*GraphHAC().fit(edges=([0], [1], [1.0]))._to_saved()))
    2
    """
    found: GraphHAC = _graph_saved.from_saved(GraphHAC, content, arrays)
    return found
