# SPDX-License-Identifier: BSD-3-Clause
"""Ramify: online hierarchical clustering, one live binary tree over all your points.

Names are loaded when they are first asked for: scikit-learn takes a second, and the
command's help and completion need nothing of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramify.advice import Recommendation, recommend
    from ramify.client import AsyncClient, Client
    from ramify.errors import BrokenTreeError, HistoryError, NoLabelsError, UnreadableFileError
    from ramify.estimators import (
        BIRCH,
        GRINCH,
        HAC,
        OHAC,
        OTD,
        PERCH,
        Budget,
        Cells,
        GraphHAC,
        Last,
        LiveGraphHAC,
        NaiveHAC,
        NaiveNN,
        RandomCut,
        Younger,
    )
    from ramify.hierarchy import Hierarchy
    from ramify.journal import open
    from ramify.refining import Refinement, refine
    from ramify.saving import load
    from ramify.settling import Settled, settle

    __version__: str

__all__ = [
    "BIRCH",
    "GRINCH",
    "HAC",
    "OHAC",
    "OTD",
    "PERCH",
    "AsyncClient",
    "BrokenTreeError",
    "Budget",
    "Cells",
    "Client",
    "GraphHAC",
    "Hierarchy",
    "HistoryError",
    "Last",
    "LiveGraphHAC",
    "NaiveHAC",
    "NaiveNN",
    "NoLabelsError",
    "RandomCut",
    "Recommendation",
    "Refinement",
    "Settled",
    "UnreadableFileError",
    "Younger",
    "__version__",
    "load",
    "open",
    "recommend",
    "refine",
    "settle",
]

#: Who has which of these names.
_HOMES = {
    "advice": ("Recommendation", "recommend"),
    "client": ("AsyncClient", "Client"),
    "errors": ("BrokenTreeError", "HistoryError", "NoLabelsError", "UnreadableFileError"),
    "estimators": (
        "BIRCH",
        "GRINCH",
        "HAC",
        "OHAC",
        "OTD",
        "PERCH",
        "Budget",
        "Cells",
        "GraphHAC",
        "Last",
        "LiveGraphHAC",
        "NaiveHAC",
        "NaiveNN",
        "RandomCut",
        "Younger",
    ),
    "hierarchy": ("Hierarchy",),
    "journal": ("open",),
    "refining": ("Refinement", "refine"),
    "saving": ("load",),
    "settling": ("Settled", "settle"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

#: Modules that a user may reach for without an import of their own.
_MODULES = (
    *("client", "datasets", "errors", "estimators", "files", "hierarchy", "journal"),
    *("metrics", "plot", "saving", "serve", "summaries"),
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        found = import_module("importlib.metadata").version("ramify")
    elif name in _HOME_OF:
        found = getattr(import_module(f"ramify.{_HOME_OF[name]}"), name)
    elif name in _MODULES:
        found = import_module(f"ramify.{name}")
    else:
        raise AttributeError(f"module 'ramify' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
