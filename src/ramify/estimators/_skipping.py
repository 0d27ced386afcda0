# SPDX-License-Identifier: BSD-3-Clause
"""_skipping.py: rows that are given and not kept.

A row is *skipped* that weighs nothing, or that is all zeros where directions are compared
and ``zero_rows="skip"`` says so; and one that is too old when it comes. It gets no
number and takes no id, and is counted; all others go on as if it had not come. Which rows of
the latest batch they were, the model's ``Live`` knows.

``zero_rows="apart"`` keeps rows of zeros: rows then have one more column in the core, which is
1 for a row of zeros and 0 for all others. So a row of zeros is at the distance 1 from every
other row, as one that is like nothing, and equal to every other row of zeros; no linkage
has to know of it.
"""

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify.checks import choices, one_of
from ramify.estimators._leaving import Along
from ramify.metric import COSINE, Metric
from ramify.points import Rows, zero_rows_of
from ramify.sparse import SparseRows

#: What becomes of rows of zeros under cosine.
ZeroRows: TypeAlias = Literal["error", "skip", "apart"]

#: Which rows of a batch; None for none of them.
Mask: TypeAlias = npt.NDArray[np.bool_] | None


def check_zero_rows(name: str, found: object) -> str:
    """Return the option if it is one."""
    return one_of(name, found, choices(ZeroRows))


def require_directions(zero_rows: str, metric: Metric) -> None:
    """Refuse to treat rows of zeros in a way of their own where they are rows like others."""
    if zero_rows != "error" and not metric.unit_rows:
        raise ValueError(
            f"zero_rows={zero_rows!r} is for metric={COSINE.name!r}, where a row of zeros has no "
            f"direction; under metric={metric.name!r} it is a row like any other: leave "
            f"zero_rows at 'error'"
        )


def skipped_rows(zero_rows: str, rows: Rows | SparseRows, weights: object) -> Mask:
    """Which rows are not kept: those of weight 0, and of zeros, if that is the option."""
    found: Mask = None
    if weights is not None:
        found = np.asarray(weights) == 0
    if zero_rows == "skip":
        zeros = zero_rows_of(rows)
        found = zeros if found is None else found | zeros
    return found if found is not None and found.any() else None


def kept(
    skipped: npt.NDArray[np.bool_], rows: Any, ids: list[Any] | None, along: Along
) -> tuple[Any, list[Any] | None, Along]:
    """A batch without the rows that are skipped."""
    here = ~skipped
    rows = SparseRows(rows.matrix[here]) if isinstance(rows, SparseRows) else rows[here]
    ids = None if ids is None else [one for one, keep in zip(ids, here, strict=True) if keep]
    weights = None if along.weights is None else along.weights[here]
    times = None if along.times is None else along.times[here]
    return rows, ids, along._replace(weights=weights, times=times)


def joined(first: Mask, later: Mask) -> Mask:
    """Which rows of a batch are skipped: the first, and of the others again some."""
    if first is None or later is None:
        return first if later is None else later
    both = first.copy()
    both[np.flatnonzero(~first)[later]] = True
    return both


def with_column(rows: Rows) -> Rows:
    """Rows with one more column: 1 for a row of zeros, and 0 for all others.

    Examples
    --------
    >>> import numpy as np
    >>> with_column(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[0., 0., 1.],
           [3., 4., 0.]])
    """
    wide = np.zeros((len(rows), rows.shape[1] + 1), rows.dtype)
    wide[:, :-1] = rows
    wide[:, -1] = ~rows.any(axis=1)
    return wide


def without_column(rows: Rows) -> Rows:
    """The inverse of :func:`with_column`, of rows or of means."""
    found: Rows = np.ascontiguousarray(rows[:, :-1])  # type: ignore[assignment]  # as they were
    return found
