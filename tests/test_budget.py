# SPDX-License-Identifier: BSD-3-Clause
"""A budget of leaves: the closest siblings become one, and every figure stays exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify import OHAC, Budget
from ramify.estimators.seam import from_flat
from tests.core_trees import core_options
from tests.every import leaf_of
from tests.strategies import examples, seeds


def exact(model, X):
    """Every weight, mean and ssd is that of the points below, by the points alone."""
    core = model._live._core
    core.check()
    numbers = core.numbers()
    leaves = core.leaf_of(numbers)
    names = np.unique(leaves)
    members = [np.flatnonzero(leaves == leaf) for leaf in names]
    for a, b in core.snapshot()[0].tolist():
        members.append(np.concatenate([members[a], members[b]]))
    sizes, means, ssds = core.summaries()
    for node, below in enumerate(members):
        rows = X[numbers[below]].astype(float)
        assert sizes[node] == len(rows)
        np.testing.assert_allclose(means[node], rows.mean(0), atol=1e-6)
        np.testing.assert_allclose(ssds[node], ((rows - rows.mean(0)) ** 2).sum(), atol=1e-5)


def closest_siblings(tree, weights, ssds, rows, linkage):
    """The documented choice, by looking at every pair of sibling leaves."""
    best = None
    for a, b in tree.children[(tree.children < tree.n_leaves).all(1)].tolist():
        gap = float(((rows[a] - rows[b]) ** 2).sum())
        n_a, n_b = weights[a], weights[b]
        value = {
            "average": gap + ssds[a] / n_a + ssds[b] / n_b,
            "centroid": gap,
            "ward": n_a * n_b / (n_a + n_b) * gap,
        }[linkage]
        key = (value, n_a + n_b, min(a, b), max(a, b))
        best = key if best is None or key < best else best
    return best[2:]


@pytest.mark.parametrize("linkage", ["average", "ward", "centroid"])
@pytest.mark.parametrize("d", [1, 2, 17, 40])
def test_each_point_too_many_draws_the_closest_siblings_together(linkage, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(120, d))
    budget = OHAC(linkage=linkage, keep=Budget(30))
    free = OHAC(linkage=linkage)  # of the same leaves, without a limit
    for i, row in enumerate(X):
        before = budget._live._core.state() if i >= 30 else None
        budget.insert(row)
        assert len(budget) == min(i + 1, 30)
        if before is None:
            free.insert(row)
            assert budget.hierarchy() == free.hierarchy()
            continue
        # What the tree was with one leaf too many, from its arrays and without a limit.
        again = ramify._core.LiveF64.from_state(
            d,
            core_options("ohac", linkage=linkage),
            {**before, "members": before["members"][:0], "shares": before["shares"][:0]},
        )
        again.insert_one(row)
        sizes, _, ssds = again.summaries()
        tree = ramify.Hierarchy(*again.snapshot())
        _, b = closest_siblings(tree, sizes, ssds, again.points(), linkage)
        kept = np.delete(again.numbers(), b)
        assert (
            np.unique(budget._live._core.leaf_of(budget.point_numbers_)).tolist() == kept.tolist()
        )
    exact(budget, X)


@settings(max_examples=examples(25))
@given(
    seeds(),
    st.integers(2, 20),
    st.lists(st.integers(1, 60), min_size=1, max_size=4),
    st.sampled_from(["sqeuclidean", "cosine"]),
    st.booleans(),
)
def test_whatever_the_batches(seed, most, sizes, metric, repeats):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(sum(sizes), 3))
    if repeats:
        X = X[rng.integers(max(len(X) // 2, 1), size=len(X))]
    options = {"metric": metric, "keep": Budget(most), "n_clusters": 1}
    options["duplicates"] = "count" if repeats else "keep"
    one, many = OHAC(**options), OHAC(**options)
    for i, row in enumerate(X):
        one.insert(row, id=i)
    at = 0
    for size in sizes:
        many.partial_fit(X[at : at + size], ids=range(at, at + size))
        at += size
    assert one.hierarchy() == many.hierarchy()
    assert len(one) <= most
    assert one.n_points_ == len(one.labels_) == len(one.ids_) == len(X)
    assert one.hierarchy().weights[-1] == len(X)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True) if metric == "cosine" else X
    exact(many, rows)


def test_a_model_with_a_budget_goes_on_from_its_file(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    model = OHAC(keep=Budget(40), n_clusters=4, metric="cosine").fit(X[:200], ids=range(200))
    model.save(tmp_path / "tree.ramify")
    again = ramify.load(tmp_path / "tree.ramify")
    for one in (model, again):
        one.partial_fit(X[200:], ids=range(200, 300))
    assert model.hierarchy() == again.hierarchy()
    np.testing.assert_array_equal(model.labels_, again.labels_)
    assert [leaf_of(model, i) for i in range(300)] == [leaf_of(again, i) for i in range(300)]


def test_without_members_only_leaves_are_known():
    X = np.random.default_rng(4).normal(size=(300, 3))
    model = OHAC(keep=Budget(40, members=False), n_clusters=4).fit(X)
    assert len(model) == len(model.labels_) == model.n_points_ == 40
    assert model.hierarchy().weights[-1] == 300
    assert "members" not in model._live.state()["arrays"]


def test_who_is_with_others_cannot_leave_alone():
    X = np.random.default_rng(5).normal(size=(100, 2))
    model = OHAC(keep=Budget(10)).fit(X)
    weights = model.hierarchy().weights[:10]
    assert weights.max() > 1
    crowded = next(i for i in range(100) if (X[i] != model.points()).any(1).all())
    with pytest.raises(ValueError, match="cannot leave alone"):
        model.forget(crowded)
    assert model.n_points_ == 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_leaves": 1}, "max_leaves=1: expected at least 2"),
        ({"max_leaves": 5, "window": 5}, "set no window"),
        ({"max_leaves": 5, "max_age": 5.0}, "set no window"),
    ],
)
def test_limits_that_do_not_go_together(options, message):
    with pytest.raises(ValueError, match=message):
        from_flat(OHAC, options)  # as the command line and a server have them


def test_some_points_had_left_when_another_could_not():
    """A call that was refused had forgotten those before the one that is in a leaf with others."""
    rows = np.random.default_rng(0).normal(size=(30, 2))
    model = OHAC(keep=Budget(7)).partial_fit(rows)
    leaves = np.array([leaf_of(model, i) for i in range(30)])
    alone = [i for i in range(30) if (leaves == leaves[i]).sum() == 1]
    together = [i for i in range(30) if (leaves == leaves[i]).sum() > 1]
    wanted = model.hierarchy()
    with pytest.raises(ValueError, match="cannot leave alone"):
        model.forget([*alone, together[0]])
    assert model.n_points_ == 30
    assert model.hierarchy() == wanted
    assert model.forget(alone) == len(alone) > 0
