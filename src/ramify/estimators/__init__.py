# SPDX-License-Identifier: BSD-3-Clause
"""estimators: the clusterers, one file each; ``_base`` is the contract they share."""

from ramify.estimators._changes import Changes
from ramify.estimators._choice import Budget, Cells, Last, Younger
from ramify.estimators._timeline import Era, Event, Group
from ramify.estimators.birch import BIRCH
from ramify.estimators.certificate import Certificate
from ramify.estimators.graph_hac import GraphHAC
from ramify.estimators.grinch import GRINCH
from ramify.estimators.hac import HAC
from ramify.estimators.live_graph_hac import LiveGraphHAC
from ramify.estimators.naive import NaiveHAC, NaiveNN
from ramify.estimators.ohac import OHAC
from ramify.estimators.otd import OTD
from ramify.estimators.perch import PERCH
from ramify.estimators.random_cut import RandomCut

__all__ = [
    "BIRCH",
    "GRINCH",
    "HAC",
    "OHAC",
    "OTD",
    "PERCH",
    "Budget",
    "Cells",
    "Certificate",
    "Changes",
    "Era",
    "Event",
    "GraphHAC",
    "Group",
    "Last",
    "LiveGraphHAC",
    "NaiveHAC",
    "NaiveNN",
    "RandomCut",
    "Younger",
]
