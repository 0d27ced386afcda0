# SPDX-License-Identifier: BSD-3-Clause
"""_along.py: weights and times that come along with rows, made sense of.

A file gives cells, text or numbers. What times are is decided by --max-age and never by a
cell: a number wants numbers, a span such as 90d wants dates. A cell that is neither is a
bad row like any other; it is told as row 0 of a batch of one, as the tree tells its own.
"""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.cli._console import WrongCallError
from ramify.estimators.seam import flat_options
from ramify.files import Batch
from ramify.spans import read_span

_EPOCH = datetime(1970, 1, 1)
_TICK = timedelta(microseconds=1)


def read_age(text: str | None) -> float | timedelta | np.timedelta64 | None:
    """What was typed after --max-age.

    Examples
    --------
    >>> read_age("1000"), read_age("12h")
    (1000.0, datetime.timedelta(seconds=43200))
    """
    if text is None:
        return None
    number = _number(text)
    if number is not None and number > 0:
        return number
    try:
        return read_span(text)
    except ValueError:
        raise WrongCallError(
            f"--max-age {text}: expected a number above 0, or a span of time with its unit, such "
            f"as 90d, 12h or 30m"
        ) from None


def check_columns(model: Any, weights: str | None, times: str | None, *, at_fit: bool) -> None:
    """Refuse columns that the model would not take, and a lack of those that it needs."""
    age = flat_options(model).get("max_age")
    if age is not None and times is None:
        whose = "--max-age" if at_fit else "this tree has a max age, which"
        raise WrongCallError(
            f"{whose} needs --time-column, the column that says when rows happened"
        )
    if age is None and times is not None:
        raise WrongCallError("--time-column goes with --max-age, which is not set")
    if weights is not None and not hasattr(model, "forget"):
        raise WrongCallError(f"--weights: trees of {type(model).__name__} have no weights")


def along(batch: Batch, model: Any) -> dict[str, Any]:
    """Weights and times of a batch, as ``partial_fit`` takes them."""
    found: dict[str, Any] = {}
    if batch.weights is not None:
        found["sample_weight"] = _weights(batch.weights)
    if batch.times is not None:
        plain = isinstance(flat_options(model)["max_age"], int | float)
        found["times"] = _numbers(batch.times) if plain else _dates(batch.times)
    return found


def _weights(cells: Sequence[Any]) -> npt.NDArray[np.float64]:
    weights = np.empty(len(cells))
    for row, cell in enumerate(cells):
        weight = _number(cell)
        if weight is None or weight < 0:
            raise ValueError(
                f"row {row} has the weight {cell!r}: expected a number from 0, and 0 for a row "
                f"that is not there"
            )
        weights[row] = weight
    return weights


def _numbers(cells: Sequence[Any]) -> npt.NDArray[np.float64]:
    times = np.empty(len(cells))
    for row, cell in enumerate(cells):
        time = _number(cell)
        if time is None:
            raise ValueError(
                f"row {row} has the time {cell!r}: expected a number, as the max age is one; for "
                f"dates it is a span such as 90d"
            )
        times[row] = time
    return times


def _dates(cells: Sequence[Any]) -> npt.NDArray[np.datetime64]:
    """Dates as ISO 8601 has them; with an offset or without, which is taken for UTC."""
    ticks = np.empty(len(cells), dtype=np.int64)
    for row, cell in enumerate(cells):
        try:
            ticks[row] = _ticks(datetime.fromisoformat(cell))
        except (ValueError, TypeError):
            raise ValueError(
                f"row {row} has the time {cell!r}: expected a date such as 2026-01-31 or "
                f"2026-01-31T12:00:00, as the max age is a span of time"
            ) from None
    return ticks.view("datetime64[us]")


def _ticks(date: datetime) -> int:
    """Microseconds since 1970: what Python's dates have, exactly."""
    plain = date if date.tzinfo is None else date.astimezone(UTC).replace(tzinfo=None)
    return (plain - _EPOCH) // _TICK


def _number(cell: object) -> float | None:
    """A finite number, or text that spells one; None for anything else."""
    if isinstance(cell, str) and "_" in cell:
        return None
    try:
        number = float(cell)  # type: ignore[arg-type]  # of what is none, it says so
    except (ValueError, TypeError, OverflowError):
        return None
    return number if math.isfinite(number) else None
