# SPDX-License-Identifier: BSD-3-Clause
"""_drawn.py: the graph of what ``fit`` was given: rows, pairs, a matrix or lists of neighbours."""

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ramify.estimators import _bits, _edges, _lists, _pairs
from ramify.estimators._edges import Edges
from ramify.estimators._keys import keys_of_ids, keys_of_rows, ranks_of
from ramify.frames import open_arrow
from ramify.ids import Id, Ids
from ramify.metric import COSINE, SQEUCLIDEAN
from ramify.points import Expected, feature_names, read_batch
from ramify.sparse import SparseRows

#: Metrics of scikit-learn that look at rows as yes or no.
_BINARY = (
    "dice",
    "jaccard",
    "rogerstanimoto",
    "russellrao",
    "sokalmichener",
    "sokalsneath",
    "yule",
)


class Drawn(NamedTuple):
    """A graph that has been accepted, and what is known of its points."""

    edges: Edges
    ranks: npt.NDArray[np.uint32]
    ids: list[Any] | None
    width: int | None = None
    columns: npt.NDArray[np.object_] | None = None


class Options(Protocol):
    """What of a model says how a graph is drawn."""

    metric: Any
    n_neighbors: int
    weight: str
    max_weight: float
    n_jobs: int | None


def of_rows(X: object, ids: object, options: Options) -> Drawn:
    """Each row with its nearest ones."""
    X = open_arrow(X)
    columns = feature_names(X)
    metric = COSINE if options.metric == "cosine" else SQEUCLIDEAN
    rows = read_batch(X, Expected(type(options).__name__, metric))
    names = None if ids is None else Ids().read(ids, len(rows))
    matrix = rows.matrix if isinstance(rows, SparseRows) else rows
    if isinstance(options.metric, str) and options.metric in _lists.LIVE and matrix is rows:
        lists, keys = _lists.nearest_rows(rows, options.n_neighbors, options.metric, options.n_jobs)
        edges = _lists.graph_of(lists, options.weight, options.metric, options.n_neighbors)
        return Drawn(edges, ranks_of(keys), names, rows.shape[1], columns)
    if names is not None:
        keys = keys_of_ids(names)
    else:
        keys = keys_of_rows(rows.dense() if isinstance(rows, SparseRows) else rows)
    ranks = ranks_of(keys)
    if _bits.are_bits(matrix, options.metric):
        lists = _bits.search(matrix, options.n_neighbors, options.metric, ranks, options.n_jobs)
    else:
        if options.metric in _BINARY and not isinstance(rows, SparseRows):
            matrix = rows != 0  # as scikit-learn would do it, with a warning
        lists = _lists.search(matrix, options.n_neighbors, options.metric, options.n_jobs)
    edges = _lists.graph_of(lists, options.weight, options.metric, options.n_neighbors)
    return Drawn(edges, ranks, names, rows.shape[1], columns)


def of_pairs(
    edges: object, columns: object, n_points: object, ids: object, options: Options
) -> Drawn:
    """Scores of pairs, whose ends are numbers or ids."""
    pairs, named = _pairs.read_pairs(edges, columns)
    names = None if ids is None else Ids().read(ids, len(np.asarray(ids)))
    a, b, weights = _edges.read_triple(pairs)
    if names is None and (named or (a.dtype.kind in "OU" and len(a) > 0)):
        if n_points is not None:
            raise TypeError("n_points goes with edges between numbers; give ids= of all points")
        names, a, b = _pairs.name_points(a, b)
        found = _edges.of_pairs((a, b, weights), len(names) or None, None, options.max_weight)
    else:
        found = _edges.of_pairs((a, b, weights), n_points, names, options.max_weight)
    return _named(found, names)


def of_graph(graph: object, ids: object, options: Options) -> Drawn:
    """A matrix of weights."""
    found = _edges.of_matrix(graph, options.max_weight)
    return _named(found, None if ids is None else Ids().read(ids, found.n))


def of_lists(neighbors: object, ids: object, options: Options) -> Drawn:
    """Lists of nearest points that another library has found."""
    lists = _lists.read_lists(neighbors, options.weight)
    found = _lists.graph_of(lists, options.weight, options.metric)
    return _named(found, None if ids is None else Ids().read(ids, found.n))


def _named(edges: Edges, names: list[Id] | None) -> Drawn:
    """A graph whose ties go by ids, or if there are none by number."""
    keys = np.arange(edges.n, dtype=np.uint64) if names is None else keys_of_ids(names)
    return Drawn(edges, ranks_of(keys), names)
