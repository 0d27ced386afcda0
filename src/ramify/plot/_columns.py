# SPDX-License-Identifier: BSD-3-Clause
"""_columns.py: what is known of the points beside their place, block by block, to colour by.

A block of numbers has their mean; a block of anything else what most of its points have,
and the share of those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.hierarchy.seam import entries_for
from ramify.outline import Outline
from ramify.plot._options import short

#: Columns of a page at most.
_MOST = 20
#: Values of a column that have a colour of their own; the rest is "other".
_VALUES = 24
_LONGEST = 60


def columns_of(
    top: Outline, owner: NDArray[np.uint32], columns: Mapping[str, Sequence[object]] | None
) -> list[dict[str, Any]]:
    """All columns as the page has them; ``owner`` is the innermost block of each point."""
    if columns is None:
        return []
    named = [(str(name), columns[name]) for name in columns]
    if len(named) > _MOST:
        raise ValueError(f"columns: expected at most {_MOST}, got {len(named)}")
    return [_column(top, owner, name, values) for name, values in named]


def _column(
    top: Outline, owner: NDArray[np.uint32], name: str, values: Sequence[object]
) -> dict[str, Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"column {name!r}: expected one value a point, got {array.shape}")
    entries = entries_for(f"column {name!r}", len(array), top.tree.point_numbers)
    if entries is not None:
        array = array[entries]
    about: dict[str, Any] = {"name": short(name, _LONGEST)}
    if array.dtype.kind in "fiu" and len(np.unique(array[:1000])) > 2:
        return about | _numbers(top, owner, array.astype(np.float64))
    return about | _words(top, owner, array)


def _numbers(
    top: Outline, owner: NDArray[np.uint32], values: NDArray[np.float64]
) -> dict[str, Any]:
    known = np.isfinite(values)
    sums = np.zeros((len(top), 2))
    np.add.at(sums, owner[known], np.column_stack([values[known], np.ones(known.sum())]))
    _add_up(top, sums)
    with np.errstate(invalid="ignore"):
        means = sums[:, 0] / sums[:, 1]
    low, high = np.percentile(values[known], [2, 98]) if known.any() else (0.0, 0.0)
    shown = [None if np.isnan(mean) else float(f"{mean:.5g}") for mean in means.tolist()]
    return {"kind": "number", "values": shown, "low": float(low), "high": float(high)}


def _words(top: Outline, owner: NDArray[np.uint32], values: NDArray[Any]) -> dict[str, Any]:
    texts, codes, counts = np.unique(values.astype(str), return_inverse=True, return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[:_VALUES]
    place = np.full(len(texts), len(frequent))  # of the others
    place[frequent] = np.arange(len(frequent))
    words = [short(texts[i], _LONGEST) for i in frequent]
    if len(texts) > len(frequent):
        words.append("other")
    sums = np.zeros((len(top), len(words)))
    np.add.at(sums, (owner, place[codes]), 1)
    _add_up(top, sums)
    share = sums.max(axis=1) / sums.sum(axis=1)
    return {
        "kind": "text",
        "words": words,
        "values": sums.argmax(axis=1).tolist(),
        "share": [round(one, 3) for one in share.tolist()],
    }


def _add_up(top: Outline, sums: NDArray[np.float64]) -> None:
    """From blocks to the blocks above, which come before them."""
    for i in range(len(top) - 1, 0, -1):
        sums[top.parent.item(i)] += sums[i]
