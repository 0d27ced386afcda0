"""every.py: the estimators, from the house's one list, for what must hold for each of them.

A new algorithm is in these tests as soon as it is in the registry.
"""

import pytest

from ramify.estimators._registry import ALGORITHMS
from ramify.estimators.stream import Stream
from ramify.metric import METRICS

ESTIMATORS = [algorithm.estimator for algorithm in ALGORITHMS]
ONLINE = [algorithm.estimator for algorithm in ALGORITHMS if algorithm.online]
OFFLINE = [algorithm.estimator for algorithm in ALGORITHMS if not algorithm.online]

#: Online, and an insert does not build the whole tree: for long streams.
STEADY = [one.estimator for one in ALGORITHMS if one.online and not one.at_once]

WITH_LINKAGE = [algorithm.estimator for algorithm in ALGORITHMS if algorithm.has("linkage")]

#: Every estimator with every metric that it offers.
WITH_METRIC = [
    (one.estimator, metric.name)
    for one in ALGORITHMS
    for metric in one.metrics
    if not metric.rooted  # it is another name, with some linkages
]


def leaf_of(model, point):
    """The leaf that a point is in, by the number of the earliest point that is in it."""
    stream = Stream(model)
    return int(stream.leaf_of(stream.numbers_of(point), by_first=True)[0])


every_estimator = pytest.mark.parametrize("Estimator", ESTIMATORS)
every_online = pytest.mark.parametrize("Estimator", ONLINE)
every_offline = pytest.mark.parametrize("Estimator", OFFLINE)
every_steady = pytest.mark.parametrize("Estimator", STEADY)
every_metric = pytest.mark.parametrize("metric", list(METRICS))
every_estimator_and_metric = pytest.mark.parametrize(("Estimator", "metric"), WITH_METRIC)
every_steady_and_metric = pytest.mark.parametrize(
    ("Estimator", "metric"), [pair for pair in WITH_METRIC if pair[0] in STEADY]
)
