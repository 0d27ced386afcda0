"""Count again, from the points alone, everything a live tree has stored."""

from __future__ import annotations

import numpy as np

from ramify import LiveGraphHAC
from tests.oracles.linkages import Linkage, unit_rows
from tests.oracles.trees import leaves_below

# Pairs of points are only counted up to here.
PAIRS_LIMIT = 400


def core_of(model):
    """The core's own object inside an estimator."""
    return model._live._core


def examine(model, X: np.ndarray, sample: int = 200) -> None:
    """check(), then compare points, sizes, means, ssd and heights with fresh ones.

    Sizes are counted for every node; the rest for up to `sample` nodes, the root
    among them; heights only where all pairs of points can be looked at.
    """
    live = core_of(model)
    live.check()
    n = len(X)
    assert len(live) == len(model) == n
    points = live.points()
    assert points.dtype == X.dtype
    if model.metric == "cosine":
        np.testing.assert_allclose(points, unit_rows(X), rtol=0, atol=digits_of(X.dtype))
    else:
        np.testing.assert_array_equal(points, X)
    children, heights, _ = live.snapshot()
    sizes, means, ssd = live.summaries()
    assert sizes.shape == ssd.shape == (2 * n - 1,)
    assert means.shape == (2 * n - 1, X.shape[1])
    np.testing.assert_array_equal(sizes, counted_sizes(children))
    np.testing.assert_array_equal(means[:n], points)
    assert not ssd[:n].any()
    nodes = np.arange(n, 2 * n - 1)
    if len(nodes) > sample:
        nodes = np.append(np.random.default_rng(0).choice(nodes[:-1], sample - 1, False), nodes[-1])
    recount_moments(points, children, means, ssd, nodes)
    if n <= PAIRS_LIMIT and not isinstance(model, LiveGraphHAC):  # heights of a graph
        recount_heights(model, points, children, heights, nodes)


def counted_sizes(children: np.ndarray) -> np.ndarray:
    sizes = [1] * (len(children) + 1)
    for left, right in children.tolist():
        sizes.append(sizes[left] + sizes[right])
    return np.array(sizes)


def recount_moments(points, children, means, ssd, nodes) -> None:
    rows = points.astype(np.float64)
    digits = digits_of(points.dtype)
    for node, below in leaves_below(children, nodes).items():
        members = rows[below] - rows[below[0]]
        mean = members.mean(axis=0)
        reach = float(np.abs(rows[below]).max())
        np.testing.assert_allclose(
            means[node].astype(np.float64) - rows[below[0]], mean, rtol=0, atol=digits * reach
        )
        fresh = float(((members - mean) ** 2).sum())
        # A mean that is off by e moves each term of the sum by about 2 e |gap|.
        slack = digits * (fresh + reach * np.sqrt(fresh * len(below)))
        assert abs(float(ssd[node]) - fresh) <= slack, (node, ssd[node], fresh)


def recount_heights(model, points, children, heights, nodes) -> None:
    """A height is the linkage of the two children, whenever they were merged."""
    n = len(points)
    L = Linkage(points, model.metric, getattr(model, "linkage", "average"))
    digits = digits_of(points.dtype)
    reach = float(np.abs(points).max())
    for node in nodes:
        parts = leaves_below(children, children[node - n])
        fresh = L.of_leaves(*parts.values())
        off = digits * reach * np.sqrt(points.shape[1])  # of a mean
        if model.metric == "dot":
            slack = off * reach * np.sqrt(points.shape[1])
        elif L.name == "average":
            slack = 2 * off * np.sqrt(abs(fresh)) + off**2
        else:
            slack = off * (np.sqrt(2 * n) if L.name == "ward" else 1)
        if model.metric == "cosine":
            slack += 1e-15  # of our own 1 - cos
        found = float(heights[node - n])
        assert abs(found - fresh) <= slack + digits * abs(fresh), (node, found, fresh)


def digits_of(dtype: np.dtype) -> float:
    return 1e-5 if dtype == np.float32 else 1e-12
