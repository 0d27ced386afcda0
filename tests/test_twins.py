# SPDX-License-Identifier: BSD-3-Clause
"""What is saved, read again and goes on is what was never saved: every option, every verb."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings

import ramify
from ramify import _core
from ramify.ray import ShardedOHAC
from tests.core_trees import core_options
from tests.strategies import examples, seeds
from tests.twins import Rows, Twins, again, follow, seen


@settings(max_examples=examples(12), deadline=None)
@given(seeds())
def test_a_model_that_is_read_again_after_every_operation_goes_on_as_one_that_was_not(number):
    follow(number, steps=25)


def test_the_same_streams_every_time():
    assert repr(Twins(3)) == repr(Twins(3))


@pytest.mark.parametrize(
    ("metric", "linkage"), [("cosine", "average"), ("sqeuclidean", "ward"), ("dot", "average")]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_tree_whose_leaves_all_stand_for_several_points_can_be_read(
    tmp_path, metric, linkage, dtype
):
    """No row of length 1 was left to look at, and means of leaves said how far points may be."""
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal((100, 7)).astype(dtype)
        model = ramify.OHAC(metric=metric, linkage=linkage, keep=ramify.Budget(2)).fit(X)
        model.save(tmp_path / "tree.ramify")
        other = ramify.load(tmp_path / "tree.ramify")
        assert seen(other).keys() == seen(model).keys()


def test_numbers_that_lie_next_to_each_other_have_a_possible_spread(tmp_path):
    """Each mean of them is rounded to one of the two, so sums of squares are far from right."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.where(rng.random((300, 2)) < 0.5, 1, np.nextafter(np.float32(1), 2))
        model = ramify.HAC(linkage="ward").fit(X.astype(np.float32))
        model.save(tmp_path / "tree.ramify")
        ramify.load(tmp_path / "tree.ramify")


def test_a_spread_that_no_points_could_have_is_refused(tmp_path):
    model = ramify.OHAC(keep=ramify.Budget(5)).fit(np.random.default_rng(0).random((40, 3)))
    from ramify.estimators._saved import from_saved, to_saved

    content, arrays = to_saved(model)
    arrays["ssd"] = arrays["ssd"] * 1e6
    with pytest.raises(ValueError, match="a spread is impossible"):
        from_saved(ramify.OHAC, content, arrays)


@pytest.mark.parametrize("options", [{}, {"rotate": True}, {"rule": "split"}])
def test_weights_that_are_not_whole_are_added_up_in_one_way(options):
    """OTD kept running sums, and a tree that is read adds up those of children."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, weights = rng.standard_normal((40, 1)), rng.random(40) * 5
        model = ramify.OTD(**options).partial_fit(X[:20], sample_weight=weights[:20])
        other = pickle.loads(pickle.dumps(model))
        for one in (model, other):
            one.partial_fit(X[20:], sample_weight=weights[20:])
        np.testing.assert_array_equal(model.hierarchy().heights, other.hierarchy().heights)


@pytest.mark.parametrize("forgets", [False, True])
def test_counted_repeats_go_on_as_if_they_had_never_been_saved(forgets):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (90, 7)).astype(float)
    model, other = ramify.OHAC(duplicates="count"), ramify.OHAC(duplicates="count")
    for i, row in enumerate(X):
        for one in (model, other):
            one.partial_fit([row])
            if forgets and i % 3 == 2:
                one.forget([i // 3])
        other = again(other, rng)
    assert all(np.array_equal(seen(model)[name], seen(other)[name]) for name in seen(model))


def test_a_pair_of_leaves_is_looked_at_again_when_one_of_them_gets_lighter():
    """A budget forgot it: then no pair was left, and memory was read that is nobody's."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        model = ramify.OHAC(keep=ramify.Budget(6), update="nni")
        model.partial_fit(rng.integers(0, 2, (60, 2)).astype(float))
        for number in rng.permutation(60)[:40].tolist():
            try:
                model.forget([number])
            except ValueError:
                continue  # in a leaf with others that lie elsewhere
        model.set_params(keep=ramify.Budget(2))
        other = again(model, rng)
        for one in (model, other):
            one.partial_fit([[0.5, 0.5]])
            one.check()
        np.testing.assert_array_equal(model.hierarchy().children, other.hierarchy().children)


def test_an_empty_model_that_was_read_takes_another_budget(tmp_path):
    model = ramify.OHAC(keep=ramify.Budget(5)).fit([[0.0], [1.0]])
    model.forget([0, 1])
    model.save(tmp_path / "tree.ramify")
    other = ramify.load(tmp_path / "tree.ramify").set_params(keep=ramify.Budget(2))
    other.partial_fit(np.arange(9.0)[:, None])
    assert other.n_leaves_ == 2


@pytest.mark.parametrize("linkage", ["average", "centroid"])
@pytest.mark.parametrize("scale", [1e-30, 1e-19])
def test_tiny_rows_give_one_tree_whatever_is_kept_of_paths(linkage, scale):
    rng = np.random.default_rng(7)
    X = (rng.integers(0, 3, (110, 24)) * scale).astype(np.float32)
    model, other = ramify.OHAC(linkage=linkage), ramify.OHAC(linkage=linkage)
    for i, row in enumerate(X):
        for one in (model, other):
            one.partial_fit([row])
            if i % 4 == 3:
                one.forget([i // 4])
        if i % 2:
            other = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(model.hierarchy().children, other.hierarchy().children)


@pytest.mark.parametrize("d", [2, 5, 40])
def test_shards_have_the_rows_of_one_machine_to_the_last_bit(tmp_path, d):
    """A subtree that moved to another shard was scaled to length 1 once more."""
    rng = np.random.default_rng(d)
    X, asked = rng.normal(size=(300, d)), rng.normal(size=(50, d))
    one = ramify.OHAC(metric="cosine").fit(X)
    with ShardedOHAC(4, folder=tmp_path, engine="local", metric="cosine", block=8) as model:
        model.partial_fit(X)
        for mine, other in zip(model.nearest(asked, k=3), one.nearest(asked, k=3), strict=True):
            np.testing.assert_array_equal(mine, other)


def test_files_do_not_say_on_which_way_a_tree_came(tmp_path):
    """Nodes are stored by id, not by the slot in which each happens to be."""
    model = ramify.OHAC().fit(np.random.default_rng(0).normal(size=(60, 3)))
    model.forget(list(range(20)))
    names = model._live.state()["arrays"]["names"]
    assert (np.diff(names.astype(np.int64)) > 0).all()


def test_rows_of_streams_are_numbers():
    for number in range(30):
        assert np.isfinite(Rows(np.random.default_rng(number)).some(5)).all()


@pytest.mark.parametrize("number", range(255, 285))
def test_long_paths_of_short_rows_go_on_as_if_they_had_never_been_saved(number):
    """How much of a path changes is counted, and no file says it: it decides who is asked."""
    rng = np.random.default_rng(number)
    step = float(rng.choice([1.3, 1.5, 1.7, 2.0, 2.2, 3.0]))
    top = step ** np.arange(min(200, int(140 / np.log10(step)) - 4))[::-1]
    top *= rng.choice([-1, 1], len(top))
    low = rng.integers(-20, 21, size=300) * 0.1
    high = rng.random(300) < 0.5
    low[high] = rng.choice(top, high.sum()) * rng.integers(-3, 4, high.sum())
    X = np.concatenate([top, low])[:, None]
    what = 1, core_options("ohac")
    tree, other = _core.LiveF64(*what), _core.LiveF64(*what)
    for row in range(len(X)):
        beside = np.array([[rng.integers(row)] if row else []], dtype=np.uint64)
        for one in (tree, other):
            one.insert_beside(X[row : row + 1], beside)
        if row % 10 == 0:
            other = _core.LiveF64.from_state(*what, other.state())
    for mine, its in zip(tree.snapshot(), other.snapshot(), strict=True):
        np.testing.assert_array_equal(mine, its)
    for mine, its in zip(tree.summaries(), other.summaries(), strict=True):
        np.testing.assert_array_equal(mine, its)
