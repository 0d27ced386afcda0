# SPDX-License-Identifier: BSD-3-Clause
"""seam.py: what other rooms use of this one beside the tree and its clusters.

Files and names that begin with an underscore are the room's own.
"""

from ramify.hierarchy._aligned import Texts, entries_for, order_of, place_in, texts_for
from ramify.hierarchy._cut_options import By, check_way, require_one_cut
from ramify.hierarchy._forks import fork_rows
from ramify.hierarchy._keywords import analyzer
from ramify.hierarchy._layers import LEAST, MOST
from ramify.hierarchy._linkage import check_linkage, read_children
from ramify.hierarchy._modularity import alike, edges_between, read_resolution, steadiest
from ramify.hierarchy._order import canonical, canonical_order
from ramify.hierarchy._polish import core_over, kept
from ramify.hierarchy._rows import MetricName, Rows, read_own_rows
from ramify.hierarchy._sticky import (
    STICKINESS,
    Like,
    Numbered,
    Sticky,
    Then,
    labels_then,
    read_stickiness,
    sticky_cut,
)

__all__ = [
    "LEAST",
    "MOST",
    "STICKINESS",
    "By",
    "Like",
    "MetricName",
    "Numbered",
    "Rows",
    "Sticky",
    "Texts",
    "Then",
    "alike",
    "analyzer",
    "canonical",
    "canonical_order",
    "check_linkage",
    "check_way",
    "core_over",
    "edges_between",
    "entries_for",
    "fork_rows",
    "kept",
    "labels_then",
    "order_of",
    "place_in",
    "read_children",
    "read_own_rows",
    "read_resolution",
    "read_stickiness",
    "require_one_cut",
    "steadiest",
    "sticky_cut",
    "texts_for",
]
