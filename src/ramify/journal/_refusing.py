# SPDX-License-Identifier: BSD-3-Clause
"""_refusing.py: what a tree would refuse is refused before it is written down.

Rows, edges and ids are settled by the door and by ``_resolving.py``. Here are the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ramify.estimators.seam import rehearse, rehearse_forget, rehearse_options
from ramify.journal._model import archive_options
from ramify.journal._records import Operation

_Head = Mapping[str, Any]


def _settings(model: Any, head: _Head) -> None:
    rehearse_options(model, archive_options(type(model), head["options"]))


_CHECKS: Mapping[str, Callable[[Any, _Head], None]] = {
    "forget": lambda model, head: rehearse_forget(model, head["points"]),
    "insert": lambda model, head: rehearse_forget(model, head.get("forget") or []),
    "settings": _settings,
    "call": lambda model, head: rehearse(model, head["verb"], head["options"]),
    "name": lambda model, head: rehearse(model, "stable_labels", head["options"]),
}


def refuse(model: Any, operation: Operation) -> None:
    """Raise what the tree would raise at an operation that is about to be written down."""
    check = _CHECKS.get(operation.kind)
    if check is not None:
        check(model, operation.head)
