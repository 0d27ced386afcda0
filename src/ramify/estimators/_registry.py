# SPDX-License-Identifier: BSD-3-Clause
"""_registry.py: the algorithms, a line each.

Files, the command line, river and the tests read this list and keep none of their
own. What an algorithm can do is read off its estimator, where it is written down.
"""

from dataclasses import dataclass
from typing import Any

from ramify.estimators._choice import flat_names
from ramify.estimators._online import OnlineClusterer
from ramify.estimators.birch import BIRCH
from ramify.estimators.grinch import GRINCH
from ramify.estimators.hac import HAC
from ramify.estimators.live_graph_hac import LiveGraphHAC
from ramify.estimators.naive import NaiveHAC, NaiveNN
from ramify.estimators.ohac import OHAC
from ramify.estimators.otd import OTD
from ramify.estimators.perch import PERCH
from ramify.estimators.random_cut import RandomCut
from ramify.metric import Metric


@dataclass(frozen=True)
class Algorithm:
    """One algorithm."""

    name: str  #: as one types it
    estimator: Any  #: its class
    at_once: bool = False  #: builds the tree from all points that there are

    @property
    def online(self) -> bool:
        """Whether its tree takes new points at any time."""
        return issubclass(self.estimator, OnlineClusterer)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that it offers."""
        metrics: tuple[Metric, ...] = self.estimator._metrics
        return metrics

    def has(self, option: str) -> bool:
        """Whether its estimator has this option, such as ``"linkage"`` or ``"window"``."""
        return option in flat_names(self.estimator) or option in self.estimator._get_param_names()


ALGORITHMS = (
    Algorithm("ohac", OHAC),
    Algorithm("otd", OTD),
    Algorithm("naive-hac", NaiveHAC, at_once=True),
    Algorithm("naive-nn", NaiveNN),
    Algorithm("perch", PERCH),
    Algorithm("grinch", GRINCH),
    Algorithm("birch", BIRCH),
    Algorithm("random-cut", RandomCut),
    Algorithm("live-graph-hac", LiveGraphHAC),
    Algorithm("hac", HAC, at_once=True),
)

BY_NAME = {algorithm.name: algorithm for algorithm in ALGORITHMS}
BY_CLASS = {algorithm.estimator: algorithm for algorithm in ALGORITHMS}

#: As files name them.
BY_CLASS_NAME = {algorithm.estimator.__name__: algorithm for algorithm in ALGORITHMS}
