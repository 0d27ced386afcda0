# SPDX-License-Identifier: BSD-3-Clause
"""How good a tree is: revenue and cost, purity, distance to another tree.

Every measure takes a :class:`ramify.Hierarchy`, a SciPy linkage matrix or a
scikit-learn ``children_`` array, so that trees of other libraries can be judged
too, and returns a :class:`Measure`: a float that knows its standard error.
"""

from ramify.metrics._certificate import TreeCertificate, certificate
from ramify.metrics._ckmm import ckmm_fraction, ckmm_value
from ramify.metrics._cophenetic import cophenetic_correlation
from ramify.metrics._cuts import CutScores, cut_scores
from ramify.metrics._measure import Measure
from ramify.metrics._orders import OrderSensitivity, order_sensitivity
from ramify.metrics._purity import dendrogram_purity
from ramify.metrics._revenue import dasgupta_cost, revenue, revenue_fraction
from ramify.metrics._scorer import RevenueScorer
from ramify.metrics._similarity import fitting_gamma
from ramify.metrics._triplets import triplet_distance

__all__ = [
    "CutScores",
    "Measure",
    "OrderSensitivity",
    "RevenueScorer",
    "TreeCertificate",
    "certificate",
    "ckmm_fraction",
    "ckmm_value",
    "cophenetic_correlation",
    "cut_scores",
    "dasgupta_cost",
    "dendrogram_purity",
    "fitting_gamma",
    "order_sensitivity",
    "revenue",
    "revenue_fraction",
    "triplet_distance",
]
