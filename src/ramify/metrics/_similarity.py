# SPDX-License-Identifier: BSD-3-Clause
"""_similarity.py: how alike two points are, for the measures that ask.

rbf           exp(-gamma |x - y|^2)
cosine        x.y / (|x| |y|)
dot           x.y
sqeuclidean   -|x - y|^2
precomputed   a symmetric matrix, dense or sparse: what a sparse one does not store is 0
a callable    f(A, B) -> matrix of the rows of A against the rows of B
"""

import warnings
from collections.abc import Callable
from math import inf
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse
from scipy.spatial.distance import cdist

from ramify.checks import listed, number
from ramify.errors import FlatKernelWarning
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.metric import METRICS, SQEUCLIDEAN
from ramify.metrics._trees import repeats_of, require_leaves
from ramify.points import Expected, Rows, read_rows

#: What ``similarity=`` takes.
Similarity: TypeAlias = str | Callable[[Any, Any], Any]

#: Similarities whose sums follow from a node's size, mean and spread.
MOMENTS = tuple(METRICS)
NAMED = ("rbf", *MOMENTS, "precomputed")

_NUMBERS_AT_ONCE = 1 << 20  # coordinates of sampled pairs in memory at a time
_SQUARE = 32  # pairs that a callable is asked for at a time, as one small matrix


class Similarities:
    """The points and the similarity between them, checked.

    Parameters
    ----------
    X : array-like
        Rows, or the matrix itself under ``"precomputed"``.
    similarity : str or callable
    gamma : float or None
        None: :func:`fitting_gamma` of the rows.
    owner : str
        Name of the measure, for messages.
    tree : Hierarchy
        A row for each of its leaves, which count as often as their weights say.
    """

    def __init__(
        self,
        X: npt.ArrayLike,
        similarity: Similarity,
        gamma: float | None,
        owner: str,
        tree: Hierarchy,
    ) -> None:
        self.name = _check_similarity(similarity)
        given = None if gamma is None else _check_gamma(gamma)
        self._function = similarity if callable(similarity) else None
        if self.name == "precomputed":
            self._matrix = _read_matrix(X)
            require_leaves(tree, self._matrix.shape[0], "rows in X")
        else:
            self._metric = METRICS.get(self.name, SQEUCLIDEAN)
            self.rows: Rows = read_rows(X, Expected(owner, self._metric))
            require_leaves(tree, len(self.rows), "rows in X")
        if (counts := repeats_of(tree)) is not None:
            self._repeat(np.repeat(np.arange(len(counts)), counts))
        self.n = (self._matrix if self.name == "precomputed" else self.rows).shape[0]
        #: Of rbf only.
        self.gamma: float | None = None
        if self.name == "rbf":
            self.gamma = _fitting(self.rows) if given is None else given

    def _repeat(self, leaves: IntArray) -> None:
        """Have a row for each point that leaves stand for."""
        if self.name == "precomputed":
            self._matrix = self._matrix[np.ix_(leaves, leaves)]
        else:
            self.rows = self.rows[leaves]

    def warn_if_flat(self, mean: float) -> None:
        """Warn if a mean similarity of two points says that gamma does not fit.

        Below: all others of a point are together worth less than a tenth of a twin.
        Above: no two pairs differ by more than about a thousandth.
        """
        if self.gamma is None or self.n < 3 or (mean * (self.n - 1) >= 0.1 and mean <= 0.999):
            return
        if mean > 0.999 and not self.rows.std(axis=0).any():
            return  # they are all the same, under any gamma
        left = "are all nearly 0" if mean < 0.5 else "are all nearly 1"
        warnings.warn(
            f"similarities exp(-{self.gamma:.3g} |x - y|²) of these rows {left} ({mean:.2g} on "
            f"average), so that all trees measure alike; leave gamma out, or give about "
            f"{_fitting(self.rows):.3g}",
            FlatKernelWarning,
            stacklevel=4,
        )

    def block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Similarities of some points to some others."""
        if self._function is not None:
            return _checked(self._function(self.rows[rows], self.rows[columns]), rows, columns)
        if self.name != "precomputed":
            return self._named_block(rows, columns)
        there = _checked(_part(self._matrix, rows, columns), rows, columns)
        back = _part(self._matrix, columns, rows).T
        differ = ~np.isclose(there, back, rtol=1e-6, atol=1e-12)
        if differ.any():
            row, column = np.argwhere(differ)[0]
            raise _not_symmetric(rows[row], columns[column], there[row, column], back[row, column])
        return there

    def _named_block(self, rows: IntArray, columns: IntArray) -> FloatArray:
        a, b = (
            self._metric.prepared(self.rows[some]).astype(np.float64) for some in (rows, columns)
        )
        if self._metric.can_be_alike:
            return np.asarray(a @ b.T)
        near = cdist(a, b, "sqeuclidean")
        return -near if self.gamma is None else np.exp(-self.gamma * near)

    def pairs(self, first: IntArray, second: IntArray) -> FloatArray:
        """Similarity of each pair."""
        if self.name == "precomputed":
            values = np.asarray(self._matrix[first, second], dtype=np.float64).ravel()
            back = np.asarray(self._matrix[second, first], dtype=np.float64).ravel()
            if not np.isfinite(values).all():
                bad = int(np.argmin(np.isfinite(values)))
                raise ValueError(
                    f"the matrix of similarities holds NaN or infinity, at "
                    f"({first[bad]}, {second[bad]})"
                )
            differ = ~np.isclose(values, back, rtol=1e-6, atol=1e-12)
            if differ.any():
                bad = int(np.argmax(differ))
                raise _not_symmetric(first[bad], second[bad], values[bad], back[bad])
            return values
        width = _SQUARE if self._function else max(_NUMBERS_AT_ONCE // self.rows.shape[1], 1)
        out = np.empty(len(first))
        for begin in range(0, len(first), width):
            some = slice(begin, begin + width)
            out[some] = self._pairs_at_once(first[some], second[some])
        return out

    def _pairs_at_once(self, first: IntArray, second: IntArray) -> FloatArray:
        if self._function is not None:
            return self.block(first, second).diagonal()
        a = self.rows[first].astype(np.float64)
        b = self.rows[second].astype(np.float64)
        alike = self._metric.similarities(a, b)
        return alike if self.gamma is None else np.exp(self.gamma * alike)


def fitting_gamma(X: npt.ArrayLike) -> float:
    """A gamma for ``similarity="rbf"`` that fits data of any scale.

    One over the mean squared distance of two different points, so that two points at that
    distance have similarity 1/e; 1 if all points are the same. O(n d).

    This is the gamma of every measure that is not told another one: :func:`revenue`,
    :func:`revenue_fraction`, :func:`dasgupta_cost`, :class:`RevenueScorer`,
    :func:`ramify.plot.growth` and the command ``ramify evaluate``. Only the reproduction of
    the paper, ``ramify paper``, uses the paper's gamma of 1. A figure says which gamma it
    has: :attr:`Measure.gamma`.

    Parameters
    ----------
    X : array-like of shape (n, d)

    Returns
    -------
    float

    Examples
    --------
    >>> from ramify.metrics import fitting_gamma
    >>> fitting_gamma([[0.0], [2.0]])
    0.25
    """
    return _fitting(read_rows(X, Expected("fitting_gamma")))


def _fitting(rows: Rows) -> float:
    n = len(rows)
    # Over all pairs, squared distances sum up to n times those from the mean.
    spread = float(np.var(rows, axis=0, dtype=np.float64).sum())
    mean = 2 * spread * n / (n - 1) if n > 1 else 0.0
    return 1 / mean if mean > 0 and 1 / mean < inf else 1.0


def _check_similarity(similarity: object) -> str:
    if callable(similarity):
        return "callable"
    if not isinstance(similarity, str):
        raise TypeError(
            f"similarity={similarity!r}: expected a string or a callable f(A, B), "
            f"got {type(similarity).__name__}"
        )
    if similarity not in NAMED:
        raise ValueError(
            f"similarity={similarity!r} is not offered; choose one of {listed(NAMED)}, "
            f"or a callable"
        )
    return similarity


def _check_gamma(gamma: object) -> float:
    value = number("gamma", gamma)
    if not 0 <= value < inf:
        raise ValueError(f"gamma={gamma!r}: expected a finite number from 0")
    return value


def _part(matrix: Any, rows: IntArray, columns: IntArray) -> npt.NDArray[Any]:
    """Some rows and columns of a dense or sparse matrix, dense."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(matrix[np.ix_(rows, columns)])
    return np.asarray(matrix[rows][:, columns].todense())


def _read_matrix(X: npt.ArrayLike) -> Any:
    given: Any = X
    matrix: Any = cast(Any, csr_matrix)(given) if issparse(given) else np.asarray(given)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"similarity='precomputed': expected X to be a square matrix of similarities, "
            f"got shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "fiub":
        raise TypeError(f"X holds values of type {matrix.dtype}; expected real numbers")
    return matrix


def _checked(values: object, rows: IntArray, columns: IntArray) -> FloatArray:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.shape != (len(rows), len(columns)):
        raise ValueError(
            f"similarity returned an array of shape {matrix.shape} for {len(rows)} and "
            f"{len(columns)} rows; expected {(len(rows), len(columns))}"
        )
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(
            f"the similarity of points {rows[row]} and {columns[column]} is "
            f"{matrix[row, column]}; expected a finite number"
        )
    return matrix


def _not_symmetric(row: int, column: int, there: float, back: float) -> ValueError:
    return ValueError(
        f"the matrix of similarities is not symmetric: {there:g} at ({row}, {column}), "
        f"{back:g} the other way round"
    )
