# SPDX-License-Identifier: BSD-3-Clause
"""_quota.py: how large a tree may become: points, and bytes of its folder.

The writer asks when a request's turn has come, before anything is written. Rows with known ids and
calls that were answered before come to nothing new, and are never refused. What makes a tree
smaller is not refused either, although it grows the journal for a while.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ramify.estimators.seam import flat_options
from ramify.estimators.stream import Stream
from ramify.journal._errors import QuotaError
from ramify.journal._folder import folder_bytes
from ramify.journal._records import Operation
from ramify.journal._requests import Policy, Request

_GROWING = ("insert", "edges", "beside")


def require_quota(
    folder: Path,
    model: Any,
    policy: Policy,
    found: Operation,
    group: Iterable[tuple[Request, Operation]],
) -> None:
    """QuotaError if a tree would become too large by an operation, behind a group of others."""
    if found.kind not in _GROWING or policy.max_points is policy.max_bytes is None:
        return
    waiting = [*(one for _, one in group), found]
    if policy.max_points is not None:
        points = Stream(model).n_points + sum(_comes(one) for one in waiting)
        points = min(points, flat_options(model).get("window") or points)
        if points > policy.max_points:
            raise QuotaError(
                f"the tree would have {points:,} points, and may have {policy.max_points:,}: "
                f"forget some, or allow more (max_points of ramify.open, tree_points of ramify "
                f"serve); nothing of this call is in the tree"
            )
    if policy.max_bytes is not None:
        size = folder_bytes(folder) + sum(len(one.body) + len(one.text) for one in waiting)
        if size > policy.max_bytes:
            raise QuotaError(
                f"the tree's folder would have {size:,} bytes, and may have {policy.max_bytes:,}: "
                f"forget points and compact the tree, or allow more (max_bytes of ramify.open, "
                f"tree_bytes of ramify serve); nothing of this call is in the tree"
            )


def _comes(operation: Operation) -> int:
    """Points that an operation brings, less those that it tells to go."""
    head = operation.head
    if operation.kind == "forget":
        return -len(head["points"])
    return int(head.get("n", 0)) - len(head.get("forget") or ())
