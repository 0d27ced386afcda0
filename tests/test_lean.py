# SPDX-License-Identifier: BSD-3-Clause
"""Files without the means that the rest of a tree gives again."""

import numpy as np
import pytest

import ramify
from ramify import UnreadableFileError, archive, lean
from ramify.estimators._saved import to_saved
from tests.every import ESTIMATORS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 9)) + RNG.integers(0, 4, size=(60, 1))


def trees():
    """Of every algorithm, and OHAC in each of its ways to change a tree."""
    for dtype in (np.float32, np.float64):
        rows = X.astype(dtype)
        for Estimator in ESTIMATORS:
            yield Estimator().fit(rows)
        forgetful = ramify.OHAC(linkage="ward").fit(rows)
        forgetful.forget(list(range(0, 60, 3)))
        yield forgetful
        yield ramify.OTD().fit(rows, sample_weight=RNG.random(60) + 0.1)
        yield ramify.OHAC(keep=ramify.Last(20), metric="cosine").fit(
            rows, sample_weight=RNG.random(60) + 0.1
        )
        yield ramify.OHAC(duplicates="count").fit(np.round(rows))
        yield ramify.OHAC(keep=ramify.Budget(20)).fit(rows)


def places(arrays):
    """Nodes whose means are not what merging gives, by NumPy alone."""
    points, links, mean = arrays["points"], arrays["links"].astype(int), arrays["mean"]
    weights, order = {}, []
    (root,) = np.flatnonzero(links[:, 0] == 2**32 - 1)
    waiting = [root]
    while waiting:
        order.append(waiting.pop())
        waiting += [child >> 1 for child in links[order[-1], 1:] if child & 1]
    found = []
    for slot in reversed(order):
        sides = []
        for child in links[slot, 1:]:
            at = child >> 1
            if child & 1:
                sides.append((weights[at], mean[at].astype(float)))
            else:
                own = arrays["standings"][at, 0] if len(arrays.get("standings", ())) else 1.0
                sides.append((own, points[at].astype(float)))
        (a, here), (b, there) = sides
        weights[slot] = a + b
        merged = (here + b / (a + b) * (there - here)).astype(mean.dtype)
        if merged.tobytes() != mean[slot].tobytes():
            found.append(slot)
    return sorted(found)


def test_only_means_that_merging_would_not_give_are_listed():
    listed = {}
    for model in trees():
        arrays = to_saved(model)[1]
        short = lean.without_means(arrays)
        assert short["mean_of"].tolist() == places(arrays)
        again = lean.with_means(short)
        assert {name: array.tobytes() for name, array in again.items()} == {
            name: array.tobytes() for name, array in arrays.items()
        }
        name = type(model).__name__
        listed[name] = listed.get(name, 0) + len(short["mean"])
    assert listed["OTD"] > 0  # it adds points one by one
    assert listed["OHAC"] == 0


def test_a_file_held_a_mean_for_every_merge(tmp_path):
    rows = RNG.normal(size=(300, 100)).astype(np.float32)
    for Estimator in (ramify.OHAC, ramify.HAC):
        Estimator().fit(rows).save(tmp_path / "model.ramify")
        assert (tmp_path / "model.ramify").stat().st_size < 1.2 * rows.nbytes


def forged():
    """What is wrong, and the arrays that say so."""
    yield "no such node", {"mean_of": np.array([5], np.uint32), "mean": np.ones((1, 9))}
    yield "out of order", {"mean_of": np.array([2, 1], np.uint32), "mean": np.ones((2, 9))}
    yield "too few", {"mean_of": np.array([1, 2], np.uint32), "mean": np.ones((1, 9))}
    yield "too narrow", {"mean_of": np.array([1], np.uint32), "mean": np.ones((1, 8))}
    yield "type", {"mean_of": np.array([1], np.uint64), "mean": np.ones((1, 9))}
    yield "not finite", {"mean_of": np.array([1], np.uint32), "mean": np.full((1, 9), np.nan)}
    yield "outside", {"mean_of": np.array([1], np.uint32), "mean": np.full((1, 9), 1e9)}
    yield "points", {"points": X[:5]}
    yield "wider points", {"points": np.ones((6, 10))}
    yield "short links", {"links": np.ones((4, 3), np.uint32)}
    links = to_saved(ramify.OHAC().fit(X[:6]))[1]["links"]
    for name, child in (("itself", 1), ("no leaf", 100), ("no slot", 101), ("two parents", 3)):
        wrong = links.copy()
        wrong[0, 1] = wrong[2, 1] = child
        yield name, {"links": wrong}


FORGED = dict(forged())


@pytest.mark.parametrize("wrong", FORGED)
def test_forged_lists_of_means_are_refused(tmp_path, wrong):
    path = tmp_path / "model.ramify"
    content, arrays = to_saved(ramify.OHAC().fit(X[:6]))
    archive.write(path, content, {**lean.without_means(arrays), **FORGED[wrong]})
    with pytest.raises(UnreadableFileError, match=r"model\.ramify: holds no valid model"):
        ramify.load(path)
