# SPDX-License-Identifier: BSD-3-Clause
"""looking.py: what some rows look like: what `recommend` decides by.

    sample    a few thousand of the rows; of many columns, as few as tell the rows apart
    cuts      of both linkages by height, each with its modularity: how many of the pairs of near
              neighbours are together, beyond what chance would put there
    gap       heights between which nothing merges

Modularity is Newman's, of the graph that joins each row to its 10 nearest.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from ramify import _core
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.hierarchy.seam import alike
from ramify.metric import Metric
from ramify.points import Rows, chunks
from ramify.sparse import SparseRows

#: Rows of more columns are looked at by their main directions, of which there are so many: of 2,000
#: rows, all, so that no distance changes. With 256 of them trees lost the clusters of few points.
MANY_COLUMNS, DIRECTIONS = 1_000, 2_000
#: Numbers of a sample of dense rows, at most.
_NUMBERS = 2**26
#: Numbers of clusters that are looked at; twice as many from a quarter of a number to four times.
_COUNTS, _AROUND = 20, 4
#: Neighbours of each row by which it is told how many dimensions rows use.
_DIMENSION_OF = 20


@dataclass(frozen=True)
class Sample:
    """Some of the rows as they came, and what can be said of them at once."""

    rows: Any  #: dense, or a sparse matrix
    lengths: FloatArray
    zeros: float  #: share of the numbers that are zero
    least: float  #: of all numbers

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.rows.shape[1])

    @property
    def is_wide(self) -> bool:
        """Whether there are so many columns that a few stand for them."""
        return self.width > MANY_COLUMNS

    def without_empty(self) -> "Sample":
        """Without rows of zeros."""
        full = self.lengths > 0
        return (
            self if full.all() else replace(self, rows=self.rows[full], lengths=self.lengths[full])
        )

    def dense(self) -> FloatArray:
        """All numbers, of rows that are not wide."""
        found: FloatArray = self.rows.toarray() if is_matrix(self.rows) else self.rows
        return found


def is_matrix(rows: object) -> bool:
    """Whether rows are a sparse matrix."""
    return hasattr(rows, "toarray")


def sampled(rows: Rows | SparseRows, most: int) -> Sample:
    """Some of the rows, drawn with a fixed seed, in their order."""
    n, width = rows.shape
    if not isinstance(rows, SparseRows):
        most = min(most, max(_NUMBERS // width, 100))
    chosen = np.sort(np.random.default_rng(0).permutation(n)[:most])
    if isinstance(rows, SparseRows):
        some = rows.matrix[chosen].astype(np.float64)
        lengths = np.sqrt(np.asarray(some.multiply(some).sum(axis=1)).ravel())
        zeros = 1 - some.nnz / (len(chosen) * width)
        return Sample(some, lengths, zeros, min(float(some.data.min(initial=0)), 0.0))
    (every,) = chunks(rows)
    here = every[chosen].astype(np.float64)
    lengths = np.linalg.norm(here, axis=1)
    return Sample(here, lengths, float((here == 0).mean()), float(here.min()))


def narrowed(sample: Sample, metric: Metric) -> tuple[FloatArray, float]:
    """Rows of a wide sample in few columns, as the metric compares them, and their gamma."""
    rows, lengths = sample.rows, sample.lengths
    if metric.unit_rows:
        scale = 1 / lengths[:, np.newaxis]
        rows = rows.multiply(scale).tocsr() if is_matrix(rows) else rows * scale
        lengths = np.ones(len(lengths))
    elif not is_matrix(rows):  # distances stay, and far from the origin so do their digits
        rows = rows - rows.mean(axis=0)
        lengths = np.linalg.norm(rows, axis=1)
    n = len(lengths)
    middle = np.asarray(rows.sum(axis=0)).ravel() / n
    spread = max(float((lengths**2).mean() - middle @ middle), 0.0)
    gamma = (n - 1) / (2 * n * spread) if spread > 0 and n > 1 else 1.0
    directions = min(DIRECTIONS, n)
    # By the products of rows with each other, of which there are few, however many columns.
    products = rows @ rows.T
    products = np.asarray(products.toarray() if is_matrix(products) else products)
    strengths, along = eigh(products, subset_by_index=(n - directions, n - 1))
    found = along * np.sqrt(np.maximum(strengths, 0))
    if metric.unit_rows:  # what was left out is left out of the lengths, too
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
    return np.ascontiguousarray(found), gamma


def twins(sample: Sample) -> float:
    """Share of the rows that are there more than once."""
    if is_matrix(sample.rows):
        matrix = sample.rows.tocsr()
        ends = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
        told: list[Any] = [
            (matrix.indices[a:b].tobytes(), matrix.data[a:b].tobytes()) for a, b in ends
        ]
    else:
        told = [(row + 0.0).tobytes() for row in sample.rows]  # minus zero is zero
    counts = np.array(list(Counter(told).values()))
    return float(counts[counts > 1].sum() / len(told))


def dimension(rows: FloatArray) -> float:
    """How many dimensions the rows use: how fast their neighbours become more (Levina and Bickel).

    Rows that are there twice count once; of no more rows than neighbours it is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> along = np.random.default_rng(0).random((500, 2))
    >>> round(dimension(np.column_stack([along, along @ np.ones((2, 6))])), 1)
    1.9
    """
    distinct = np.unique(rows, axis=0)
    if len(distinct) <= _DIMENSION_OF:
        return np.inf
    _, squares, _ = _core.nearest_rows(np.ascontiguousarray(distinct), _DIMENSION_OF, False, 1)
    squares = np.maximum(squares, np.finfo(np.float64).tiny)
    return float(2 / np.log(squares[:, -1:] / squares[:, :-1]).mean())


class Gap(NamedTuple):
    """Heights between which nothing merges."""

    groups: int
    low: float  #: height of the last merge within a group
    high: float  #: height of the first between two

    @property
    def middle(self) -> float:
        """Between the two, as a factor of each."""
        return float((self.low * self.high) ** 0.5)


def widest_gap(tree: Hierarchy, least: float) -> Gap | None:
    """The widest gap, of at least a factor, between groups that hold nearly everything, and
    of which none is nearly all."""
    n, heights = tree.n_leaves, tree.monotone_heights
    counts = np.arange(2, min(2 * int(n**0.5), n - 1) + 1)
    low, high = heights[n - counts - 1], heights[n - counts]
    wide = counts[(low > 1e-9 * heights[-1]) & (high > least * low)]
    best: Gap | None = None
    for count in wide.tolist():
        sizes = np.bincount(tree.cut(n_clusters=count))
        held = sizes[sizes >= min(5, n // 4)].sum()
        gap = Gap(count, float(heights[n - count - 1]), float(heights[n - count]))
        wider = best is None or gap.high * best.low > best.high * gap.low
        if held >= 0.95 * n and sizes.max() <= 0.8 * n and wider:
            best = gap
    return best


class Cuts(NamedTuple):
    """Cuts of one tree, coarse to fine."""

    counts: IntArray
    labels: IntArray  #: (n, m)
    modularity: FloatArray

    @property
    def best(self) -> int:
        """The place of the one with the highest modularity; of equal ones, the coarsest."""
        return int(np.argmax(self.modularity))

    @property
    def even_count(self) -> float:
        """How many clusters of one size would be as uneven as those of the best cut."""
        shares = np.bincount(self.labels[:, self.best]) / len(self.labels)
        return float(1 / (shares @ shares))


def cuts_of(trees: Sequence[Hierarchy], near: IntArray) -> list[Cuts]:
    """Cuts of trees, and how they treat these neighbours of each leaf."""
    n = len(near)
    finest = max(n // 8, 3)
    counts = np.unique(np.geomspace(2, finest, _COUNTS).astype(np.int64))
    found = []
    for tree in trees:
        labels = tree.cut_many(counts)
        scores = [modularity(near, column) for column in labels.T]
        found.append(Cuts(counts, labels, np.array(scores)))
    return found


def modularity(near: npt.NDArray[np.int64], labels: IntArray) -> float:
    """Newman's modularity of clusters on the graph that joins each row to its neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> near = np.array([[1], [0], [3], [2]])
    >>> modularity(near, np.array([0, 0, 1, 1])), modularity(near, np.array([0, 0, 0, 0]))
    (0.5, 0.0)
    """
    n, k = near.shape
    degrees = k + np.bincount(near.ravel(), minlength=n)
    together = float((labels[near] == labels[:, np.newaxis]).mean())
    shares = np.bincount(labels, degrees) / (2 * n * k)
    return together - float(shares @ shares)


def count_like(tree: Hierarchy, labels: IntArray) -> int:
    """How many clusters the cut by height has that is most like this one; of equals the fewest.

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.0], [9.0], [10.0], [90.0]]).hierarchy()
    >>> count_like(tree, np.array([0, 0, 1, 1, 1]))
    3
    """
    k, n = int(labels.max()) + 1, len(labels)
    near = np.geomspace(max(k / _AROUND, 1), min(k * _AROUND, n), 2 * _COUNTS)
    counts = np.unique(np.append(np.round(near).astype(np.int64), k))
    return int(counts[np.argmax([alike(labels, column) for column in tree.cut_many(counts).T])])
