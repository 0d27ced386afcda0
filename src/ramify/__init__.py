# SPDX-License-Identifier: BSD-3-Clause
"""Ramify: online hierarchical clustering, one live binary tree over all your points."""

from importlib.metadata import version

from ramify.errors import BrokenTreeError, HistoryError, NoLabelsError, UnreadableFileError
from ramify.estimators import BIRCH, GRINCH, HAC, OHAC, OTD, PERCH, NaiveHAC, NaiveNN
from ramify.hierarchy import Hierarchy
from ramify.saving import load

__version__ = version("ramify")

__all__ = [
    "BIRCH",
    "GRINCH",
    "HAC",
    "OHAC",
    "OTD",
    "PERCH",
    "BrokenTreeError",
    "Hierarchy",
    "HistoryError",
    "NaiveHAC",
    "NaiveNN",
    "NoLabelsError",
    "UnreadableFileError",
    "__version__",
    "load",
]
