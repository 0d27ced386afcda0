# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of trees: dendrogram, icicle, scatter, growth, a world map, a page to explore.

All but `explore` draw into matplotlib Axes and return them. matplotlib is imported
only when something is drawn, so that `import ramify` needs neither it nor a display.

Clusters are numbered here as `Hierarchy.cut` numbers them, so one list of colours
serves a scatter plot and the dendrogram beside it.
"""

from ramify.palette import PALETTE, cluster_colors
from ramify.plot._colors import distinct_colors
from ramify.plot._dendrogram import dendrogram
from ramify.plot._explore import explore
from ramify.plot._growth import Growth, growth, measure_growth
from ramify.plot._icicle import icicle
from ramify.plot._map import world_map
from ramify.plot._page import Page
from ramify.plot._scatter import scatter

__all__ = [
    "PALETTE",
    "Growth",
    "Page",
    "cluster_colors",
    "dendrogram",
    "distinct_colors",
    "explore",
    "growth",
    "icicle",
    "measure_growth",
    "scatter",
    "world_map",
]
