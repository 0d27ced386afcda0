"""Layers: levels at which clusters last over all least sizes, compared with size by size."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify.hierarchy import Layers
from ramify.hierarchy._layers import Layer, all_layers, peaks
from tests.oracles import layers as oracle
from tests.shapes import balanced, chain
from tests.strategies import examples, few_values, loose_rows, scaled
from tests.test_sticky import hierarchies


@given(hierarchies(1, 16), st.integers(1, 5))
@settings(max_examples=examples(150))
def test_persistence_is_that_of_counting_size_by_size(tree, least):
    least = min(least, tree.n_leaves)
    found = all_layers(tree, least)
    sizes = [one.min_size for one in found]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == tree.n_leaves
    for size, count, persistence in oracle.persistence(tree, least):
        here = found[int(np.searchsorted(sizes, size))]
        assert (here.n_clusters, here.persistence) == (count, persistence)


@given(st.one_of(loose_rows(1, 60), few_values(1, 60)), st.integers(1, 6), st.integers(1, 4))
@settings(max_examples=examples(80))
def test_layers_are_nested_cuts_and_few(rows, most, least):
    tree = ramify.HAC(linkage="ward").fit(rows).hierarchy()
    layers = tree.layers(rows, most=most, min_size=least)
    assert isinstance(layers, Layers)
    assert 1 <= len(layers) <= most
    assert layers.labels.shape == (len(rows), len(layers))
    for size, level in zip(layers.min_sizes, layers, strict=True):
        np.testing.assert_array_equal(level.labels, tree.cut(min_size=int(size)))
    for coarse, fine in itertools.pairwise(layers):
        assert 1.5 * len(coarse) <= len(fine)
        np.testing.assert_array_equal(coarse.labels, fine.parents[fine.labels])
    known = {one.min_size: one.persistence for one in all_layers(tree, min(least, len(rows)))}
    assert [known[size] for size in layers.min_sizes.tolist()] == layers.persistence.tolist()


def test_groups_of_groups_are_found_on_both_levels():
    rng = np.random.default_rng(0)
    turns = np.arange(5)[:, np.newaxis] * (2 * np.pi / 5)
    five = np.hstack([np.cos(turns), np.sin(turns)])
    fine = (five[:4, np.newaxis] * 2000 + five * 100).reshape(20, 2)
    rows = np.repeat(fine, 30, axis=0) + rng.normal(size=(600, 2))
    layers = ramify.OHAC().fit(rows).hierarchy().layers()
    assert {4, 20} <= {len(level) for level in layers}


def test_peaks_come_first_and_differ_in_number():
    every = [Layer(3, 30, 4.0), Layer(4, 20, 9.0), Layer(5, 18, 8.0), Layer(9, 3, 7.0)]
    assert [one.n_clusters for one in peaks(every, 6)] == [3, 20, 30]
    assert [one.n_clusters for one in peaks(every, 1)] == [20]
    assert peaks([Layer(3, 1, 5.0)], 6) == [Layer(3, 1, 5.0)]


def test_leaves_that_stand_for_several_points_count_each():
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.normal(size=(100, 2)), rng.normal(size=(60, 2)) + 50])
    layers = ramify.OHAC(keep=ramify.Budget(30)).fit(rows).hierarchy().layers()
    assert sum(layers[0].sizes) == 160
    assert min(min(level.sizes) for level in layers) >= 3
    half = ramify.OHAC().fit(rows[:20], sample_weight=np.linspace(0.3, 4.7, 20)).hierarchy()
    for size, level in zip((found := half.layers()).min_sizes.tolist(), found, strict=True):
        np.testing.assert_array_equal(level.labels, half.cut(min_size=size))


def test_deep_and_wide_trees():
    n = scaled(500_000)
    for children in (chain(n), balanced(n)):
        layers = all_layers(ramify.Hierarchy.from_children(children, np.arange(n - 1.0)), 3)
        assert layers[-1].min_size == n


@pytest.mark.parametrize("options", [{"most": 0}, {"min_size": 0}, {"min_size": 2.5}])
def test_refuses_what_makes_no_sense(options):
    with pytest.raises((TypeError, ValueError), match=next(iter(options))):
        ramify.HAC().fit([[0.0], [1.0]]).hierarchy().layers(**options)
