# SPDX-License-Identifier: BSD-3-Clause
"""_choices.py: what one may type where there is a choice: the lists that the library has.

typer asks for an enum, and mypy for one that it knows before the program runs.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from ramify.estimators._options import LINKAGES
from ramify.estimators._registry import BY_NAME
from ramify.files import FORMATS, TABLES
from ramify.metric import METRICS


def _enum(name: str, choices: Iterable[str]) -> Any:
    return StrEnum(name, {choice: choice for choice in choices})


if TYPE_CHECKING:
    Algorithm: TypeAlias = StrEnum
    Metric: TypeAlias = StrEnum
    Linkage: TypeAlias = StrEnum
    Similarity: TypeAlias = StrEnum
    Format: TypeAlias = StrEnum
    TableFormat: TypeAlias = StrEnum
    Real: TypeAlias = StrEnum
    OHAC: Algorithm
    RBF: Similarity
else:
    Algorithm = _enum("Algorithm", BY_NAME)
    Metric = _enum("Metric", METRICS)
    Linkage = _enum("Linkage", LINKAGES)
    Similarity = _enum("Similarity", ("rbf", *METRICS))
    Format = _enum("Format", FORMATS)
    TableFormat = _enum("TableFormat", TABLES)
    Real = _enum("Real", ("float32", "float64"))
    OHAC, RBF = Algorithm("ohac"), Similarity("rbf")  # by default
