# SPDX-License-Identifier: BSD-3-Clause
"""seam.py: what other rooms use of this one beside the estimators themselves.

Which there are, the types of their options, what is read along with rows, and the history of a
tree. Files whose names begin with an underscore are the room's own.
"""

from ramify.estimators._anchors import Anchors
from ramify.estimators._anchors import Found as FoundNames
from ramify.estimators._between import changes_between
from ramify.estimators._changes import net_changes, touched, weighed
from ramify.estimators._changing import ChangingClusterer
from ramify.estimators._choice import (
    Keep,
    flat_options,
    flattened,
    from_flat,
    keep_of,
    refuse_gone,
    set_flat,
)
from ramify.estimators._cut import Cut, Joined, WayOfLive, possible, read_cut
from ramify.estimators._dirty import Labelled, labelled, unchanged_labels
from ramify.estimators._edges import read_triple, unit_of
from ramify.estimators._graph_stream import plain_list
from ramify.estimators._groups import with_names
from ramify.estimators._identity import MOST_CUTS, Identity, InCluster
from ramify.estimators._leaving import read_times, read_weights
from ramify.estimators._log import Shelf, step_of
from ramify.estimators._notes import Edits, Notes, Violations, id_of
from ramify.estimators._of_edges import OfEdgesError
from ramify.estimators._online import OnlineClusterer
from ramify.estimators._options import Linkage, check_cut, check_history, check_metric
from ramify.estimators._registry import ALGORITHMS, BY_CLASS, BY_CLASS_NAME, BY_NAME
from ramify.estimators._rehearsing import rehearse, rehearse_forget, rehearse_options
from ramify.estimators._replay import Families, Step, families_of, hierarchy_of, no_tree, replay
from ramify.estimators._saved import _plain as plain_settings
from ramify.estimators._saved import from_saved, parameters_of
from ramify.estimators._settings import CUT, FREE, Duplicates
from ramify.estimators._sharing import Sharing
from ramify.estimators._skipping import ZeroRows, skipped_rows
from ramify.estimators._steps import packed, unpacked
from ramify.estimators._sticky import Moment, cut_of_moment, wanted_number
from ramify.estimators._sureness import (
    Asked,
    Assignment,
    Levels,
    judge,
    read_alpha,
    read_levels,
    read_sure,
    spread,
)
from ramify.estimators._timeline import Era, Event, Group, moments
from ramify.estimators._tracking import DirtyClusters

__all__ = [
    "ALGORITHMS",
    "BY_CLASS",
    "BY_CLASS_NAME",
    "BY_NAME",
    "CUT",
    "FREE",
    "MOST_CUTS",
    "Anchors",
    "Asked",
    "Assignment",
    "ChangingClusterer",
    "Cut",
    "DirtyClusters",
    "Duplicates",
    "Edits",
    "Era",
    "Event",
    "Families",
    "FoundNames",
    "Group",
    "Identity",
    "InCluster",
    "Joined",
    "Keep",
    "Labelled",
    "Levels",
    "Linkage",
    "Moment",
    "Notes",
    "OfEdgesError",
    "OnlineClusterer",
    "Sharing",
    "Shelf",
    "Step",
    "Violations",
    "WayOfLive",
    "ZeroRows",
    "changes_between",
    "check_cut",
    "check_history",
    "check_metric",
    "cut_of_moment",
    "families_of",
    "flat_options",
    "flattened",
    "from_flat",
    "from_saved",
    "hierarchy_of",
    "id_of",
    "judge",
    "keep_of",
    "labelled",
    "moments",
    "net_changes",
    "no_tree",
    "packed",
    "parameters_of",
    "plain_list",
    "plain_settings",
    "possible",
    "read_alpha",
    "read_cut",
    "read_levels",
    "read_sure",
    "read_times",
    "read_triple",
    "read_weights",
    "refuse_gone",
    "rehearse",
    "rehearse_forget",
    "rehearse_options",
    "replay",
    "set_flat",
    "skipped_rows",
    "spread",
    "step_of",
    "touched",
    "unchanged_labels",
    "unit_of",
    "unpacked",
    "wanted_number",
    "weighed",
    "with_names",
]
