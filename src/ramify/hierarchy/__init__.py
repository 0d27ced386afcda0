# SPDX-License-Identifier: BSD-3-Clause
"""The frozen tree: what every model gives and everything downstream takes."""

from ramify.hierarchy._cluster import Cluster, Ground, Points
from ramify.hierarchy._clusters import Clusters
from ramify.hierarchy._condense import CondensedTree
from ramify.hierarchy._hierarchy import Hierarchy
from ramify.hierarchy._keywords import StopWords, keywords
from ramify.hierarchy._layers import Layers
from ramify.hierarchy._levels import Levels
from ramify.hierarchy._names import Names, read_names
from ramify.hierarchy._polish import Polished, PolishRound
from ramify.hierarchy._sticky import StickyLabels
from ramify.hierarchy._suggest import SuggestedCut
from ramify.hierarchy._values import FloatArray, IntArray

__all__ = [
    "Cluster",
    "Clusters",
    "CondensedTree",
    "FloatArray",
    "Ground",
    "Hierarchy",
    "IntArray",
    "Layers",
    "Levels",
    "Names",
    "Points",
    "PolishRound",
    "Polished",
    "StickyLabels",
    "StopWords",
    "SuggestedCut",
    "keywords",
    "read_names",
]
