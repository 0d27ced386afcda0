# SPDX-License-Identifier: BSD-3-Clause
"""metric.py: how far apart two rows are, and all that follows from the choice.

    sqeuclidean   |x - y|^2
    cosine        1 - cos(x, y): of rows at unit length, half of |x - y|^2
    dot           -x.y
    euclidean     |x - y|, where trees are those of its square: with linkages whose heights
                  are roots themselves

Two facts make the difference, and code that treats metrics differently asks for one of
them and not for a name: whether rows count at unit length, and whether they are
multiplied or subtracted. The core has its own copy of the arithmetic.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import listed
from ramify.sparse import SparseRows

#: What users call the metrics, for signatures.
MetricName: TypeAlias = Literal["sqeuclidean", "cosine", "dot"]
LinkedMetricName: TypeAlias = Literal["sqeuclidean", "euclidean", "cosine", "dot"]
DistanceName: TypeAlias = Literal["sqeuclidean", "cosine"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One way to measure."""

    name: str  #: as users and the core say it
    unit_rows: bool = False  #: only directions count, and rows of zeros have none
    product: bool = False  #: rows are multiplied: it is no distance, and may be negative
    rooted: bool = False  #: distances are told as roots; trees are those of the squares

    @property
    def core(self) -> str:
        """The name of what the core compares by."""
        return SQEUCLIDEAN.name if self.rooted else self.name

    def told(self, distances: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Distances of the core as users are told them."""
        return np.sqrt(distances) if self.rooted else distances

    @property
    def allows_ward(self) -> bool:
        """Whether there are squared distances to a mean that could be the least."""
        return not self.product

    @property
    def can_be_alike(self) -> bool:
        """Whether similarities can be positive, as a guarantee of revenue needs them."""
        return self.unit_rows or self.product

    @property
    def squares_per_distance(self) -> int:
        """The squared difference of two prepared rows, as a multiple of their distance."""
        return 2 if self.unit_rows else 1

    def refuse_bad(self, rows: npt.NDArray[Any] | SparseRows) -> None:
        """Refuse rows of finite numbers that this metric cannot measure from."""
        if not self.unit_rows:
            return
        row = (
            rows.first_zero_row()
            if isinstance(rows, SparseRows)
            else _core.first_zero_row(cast(Any, rows))
        )
        if row is not None:
            raise ValueError(
                f"Input X has only zeros in row {row}, which has no direction; "
                f"metric={self.name!r} needs non-zero rows. An estimator with zero_rows='skip' "
                f"leaves such rows out; with zero_rows='apart' they are a group of their own"
            )

    def prepared(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Rows as they are stored and compared.

        Examples
        --------
        >>> import numpy as np
        >>> COSINE.prepared(np.array([[3.0, 4.0]]))
        array([[0.6, 0.8]])
        """
        return unit(rows) if self.unit_rows else rows

    def similarities(
        self, a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """How alike each row of ``a`` is to the same row of ``b``: the larger the nearer.

        Examples
        --------
        >>> import numpy as np
        >>> SQEUCLIDEAN.similarities(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
        array([-8.])
        """
        if self.can_be_alike:
            return _products(self.prepared(a), self.prepared(b))
        apart = a - b
        return -_products(apart, apart)


SQEUCLIDEAN = Metric("sqeuclidean")
EUCLIDEAN = Metric("euclidean", rooted=True)
COSINE = Metric("cosine", unit_rows=True)
DOT = Metric("dot", product=True)

#: Those that every linkage goes with, by name, the default first.
METRICS = {metric.name: metric for metric in (SQEUCLIDEAN, COSINE, DOT)}
#: All of them.
BY_NAME = METRICS | {EUCLIDEAN.name: EUCLIDEAN}
DISTANCES = tuple(metric for metric in METRICS.values() if not metric.product)
SIMILARITIES = tuple(metric for metric in METRICS.values() if metric.can_be_alike)


def names_of(metrics: tuple[Metric, ...]) -> tuple[str, ...]:
    """What users call these metrics."""
    return tuple(metric.name for metric in metrics)


def either(metrics: tuple[Metric, ...]) -> str:
    """A choice of metrics as a message puts it.

    Examples
    --------
    >>> print(either(DISTANCES))
    'sqeuclidean' or 'cosine'
    """
    return listed(names_of(metrics)).replace(", ", " or ")


def unit(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rows at unit length, none of which is zero, in their own type.

    As the core does it: the largest entry is divided out first, so that no square
    overflows or vanishes.

    Examples
    --------
    >>> import numpy as np
    >>> unit(np.array([[3e200, 4e200]]))
    array([[0.6, 0.8]])
    """
    wide = rows.astype(np.float64)
    wide /= np.abs(wide).max(axis=1, keepdims=True)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    return wide.astype(rows.dtype, copy=False)


def _products(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Inner product of each row of ``a`` with the same row of ``b``."""
    return np.asarray(np.einsum("ij,ij->i", a, b))
