"""`model.nearest`: the exact nearest point of rows, and its distance, on every estimator."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import ramify
from tests.every import every_estimator_and_metric

X = np.random.default_rng(0).normal(size=(80, 3))
QUERIES = np.random.default_rng(1).normal(size=(25, 3))


def distances(metric: str) -> np.ndarray:
    if metric == "sqeuclidean":
        return ((QUERIES[:, np.newaxis] - X) ** 2).sum(axis=2)
    if metric == "dot":
        return -QUERIES @ X.T
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return 1 - (QUERIES / np.linalg.norm(QUERIES, axis=1, keepdims=True)) @ unit.T


@every_estimator_and_metric
def test_nearest_is_that_of_brute_force(Estimator, metric):
    points, found = Estimator(metric=metric).fit(X).nearest(QUERIES)
    expected = distances(metric)
    np.testing.assert_array_equal(points, expected.argmin(axis=1))
    np.testing.assert_allclose(found, expected.min(axis=1), atol=1e-12)
    assert points.dtype == np.int64


def test_ties_go_to_the_first_and_nothing_is_inserted():
    model = ramify.OHAC().fit([[1.0], [0.0], [0.0]])
    points, found = model.nearest([[0.5], [0.0]])
    assert points.tolist() == [0, 1]
    assert found.tolist() == [0.25, 0.0]
    assert len(model) == 3


def test_nearest_needs_points_of_the_same_width():
    with pytest.raises(NotFittedError):
        ramify.OHAC().nearest([[1.0]])
    with pytest.raises(ValueError, match="X has 2 features, but OHAC is expecting 1"):
        ramify.OHAC().fit([[1.0]]).nearest([[1.0, 2.0]])
