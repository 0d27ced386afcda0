# SPDX-License-Identifier: BSD-3-Clause
"""The frozen tree: what every model gives and everything downstream takes."""

from ramify.hierarchy._condense import CondensedTree
from ramify.hierarchy._hierarchy import Hierarchy
from ramify.hierarchy._names import Names, read_names
from ramify.hierarchy._values import FloatArray, IntArray

__all__ = ["CondensedTree", "FloatArray", "Hierarchy", "IntArray", "Names", "read_names"]
