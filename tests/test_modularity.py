"""Cuts by modularity: the best of all cuts of a tree, compared with all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array

import ramify
from ramify import _core
from ramify.hierarchy._modularity import Edges, best_by_modularity, edges_between, steadiest
from ramify.looking import count_like
from ramify.looking import modularity as modularity_of_lists
from tests.oracles import modularity as oracle
from tests.shapes import balanced, chain
from tests.strategies import examples, few_values, grid_rows, loose_rows, scaled, seeds
from tests.test_sticky import hierarchies


@st.composite
def graphs(draw, most: int = 9):
    """A small tree, and edges between its leaves: some twice, some from a leaf to itself."""
    tree = draw(hierarchies(1, most))
    rng = np.random.default_rng(draw(seeds()))
    m = draw(st.integers(0, 3 * tree.n_leaves))
    ends = rng.integers(tree.n_leaves, size=(m, 2))
    return tree, ends, rng.integers(0, 4, size=m).astype(np.float64)


def nodes_of(tree, ends, weights, resolution):
    return best_by_modularity(tree, Edges(ends.reshape(-1, 2), weights), resolution)


@given(graphs(), st.sampled_from([0.25, 1.0, 2.0, 5.0]))
@settings(max_examples=examples(250))
def test_no_cut_is_better_and_of_equal_ones_it_is_the_coarsest(graph, resolution):
    tree, ends, weights = graph
    edges = [(int(a), int(b), int(w)) for (a, b), w in zip(ends, weights, strict=True)]
    every = oracle.of_all_cuts(tree.children, edges, resolution)
    found = nodes_of(tree, ends, weights, resolution)
    best = max(every.values())
    assert every[frozenset(found.nodes.tolist())] == best
    assert found.modularity == pytest.approx(float(best), abs=1e-12)
    assert len(found.nodes) == min(len(cut) for cut, value in every.items() if value == best)


@given(loose_rows(2, 40), st.integers(1, 12), st.sampled_from([0.5, 1.0, 3.0]))
@settings(max_examples=examples(60))
def test_no_cut_into_any_number_is_better(rows, k, resolution):
    tree = ramify.HAC(linkage="ward").fit(rows).hierarchy()
    edges = edges_between(tree, rows, k)
    near = edges.ends[:, 1].reshape(len(rows), -1)
    found = best_by_modularity(tree, edges, resolution)
    for count in range(1, len(rows) + 1):
        for labels in (
            tree.cut(n_clusters=count),
            tree.cut(n_clusters=count, by="variance", X=rows),
        ):
            ends = np.bincount(near.ravel(), minlength=len(rows)) + near.shape[1]
            shares = np.bincount(labels, ends) / (2 * near.size)
            plain = modularity_of_lists(near, labels)
            assert found.modularity >= plain - (resolution - 1) * float(shares @ shares) - 1e-12


@given(st.one_of(loose_rows(2, 40), few_values(2, 40), grid_rows(2, 40)))
@settings(max_examples=examples(60))
def test_more_resolution_makes_no_fewer_clusters(rows):
    """And the best of a larger one has no less within, by its own count, than any other."""
    tree = ramify.HAC().fit(rows).hierarchy()
    edges = edges_between(tree, rows, 3)
    counts = [len(best_by_modularity(tree, edges, r).nodes) for r in (0.25, 0.5, 1, 2, 4)]
    assert counts[0] <= counts[-1]
    assert min(counts) >= 1
    assert max(counts) <= len(rows)


@given(st.one_of(loose_rows(2, 40), few_values(2, 30)), st.sampled_from([1, 2]))
@settings(max_examples=examples(40))
def test_the_steadiest_resolution_is_taken(rows, n_trees):
    """By all pairs of points, of one tree or of two."""
    linkages = ["average", "ward"][:n_trees]
    trees = [ramify.HAC(linkage=linkage).fit(rows).hierarchy() for linkage in linkages]
    edges = edges_between(trees[0], rows, 4)
    every = [2.0 ** (i / 4) for i in range(-12, 13)]
    cuts = {
        r: [tree._labels_at(best_by_modularity(tree, edges, r).nodes) for tree in trees]
        for r in every
    }
    pairs = {r: [pairs_of(labels) for labels in cuts[r]] for r in every}

    def terms(r):
        beside = [(one, pairs[s][i]) for i, one in enumerate(pairs[r]) for s in (2 * r, r / 2)]
        return beside + [tuple(pairs[r])] * 2 * (n_trees - 1)

    likeness = {
        r: np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in terms(r)])
        for r in every
        if 1 / 4 <= r <= 4 and all(labels.max() > 0 for labels in cuts[r])
    }
    wanted = max(likeness, key=lambda r: (round(likeness[r], 9), -r)) if likeness else 1.0
    found = steadiest(trees, edges)
    assert found.likeness == pytest.approx(likeness.get(wanted, 0.0))
    assert found.coarser == [labels.max() + 1 for labels in cuts[wanted / 2]]
    assert found.finer == [labels.max() + 1 for labels in cuts[wanted * 2]]
    for i, labels in enumerate(cuts[wanted]):
        assert pairs_of(found.labels[i]) == pairs[wanted][i]
        np.testing.assert_array_equal(trees[i]._labels_at(found.cuts[i].nodes), labels)
    if n_trees == 1:
        np.testing.assert_array_equal(
            trees[0].cut(by="modularity", X=rows, n_neighbors=4), cuts[wanted][0]
        )


@given(st.one_of(loose_rows(4, 10), few_values(4, 10)), st.integers(3, 4))
@settings(max_examples=examples(40))
def test_the_number_whose_cut_by_height_is_most_like(rows, k):
    tree, other = (ramify.HAC(linkage=one).fit(rows).hierarchy() for one in ("average", "ward"))
    labels = other.cut(n_clusters=k)
    wanted = pairs_of(labels)
    counts = range(1, len(rows) + 1)
    every = [pairs_of(tree.cut(n_clusters=count)) for count in counts]
    likeness = [len(wanted & a) / len(wanted | a) if wanted | a else 1.0 for a in every]
    assert count_like(tree, labels) == 1 + int(np.argmax(likeness))
    assert count_like(other, labels) == k


def pairs_of(labels):
    return {(i, j) for j in range(len(labels)) for i in range(j) if labels[i] == labels[j]}


@given(loose_rows(4, 40), seeds())
@settings(max_examples=examples(12))
def test_live_cuts_are_those_of_snapshots(rows, seed):
    rng = np.random.default_rng(seed)
    model = ramify.OHAC(linkage="ward").fit(rows)
    model.forget([int(rng.integers(len(rows)))])
    for resolution in (1.0, 3.0):
        live = model.cut(by="modularity", resolution=resolution)
        tree = model.hierarchy()
        there = rows[tree.point_numbers]
        frozen = tree.cut(by="modularity", resolution=resolution, X=there)
        np.testing.assert_array_equal(live, frozen)
        clusters = model.clusters(by="modularity", resolution=resolution)
        np.testing.assert_array_equal(clusters.labels, live)
        assert clusters.sizes.tolist() == np.bincount(live).tolist()
        held = tree.clusters(there, by="modularity", resolution=resolution)
        np.testing.assert_array_equal(held.node_ids, clusters.node_ids)
        number = int(tree.point_numbers[-1])
        label, node = model.cluster_of([number], by="modularity", resolution=resolution)
        assert (label[0], node[0]) == (live[-1], clusters.node_ids[live[-1]])
        found = model.assign(rows[number : number + 1], by="modularity", resolution=resolution)
        assert found.labels.tolist() == [live[-1]]


def test_groups_of_neighbours_are_found_at_different_heights():
    rng = np.random.default_rng(0)
    wide, narrow = rng.normal(size=(40, 2)) * 3, rng.normal(size=(2, 40, 2)) * 0.05
    rows = np.concatenate([wide, narrow[0] + [20, 0], narrow[1] + [21, 0]])
    tree = ramify.HAC().fit(rows).hierarchy()
    labels = tree.cut(by="modularity", X=rows, resolution=0.5)
    assert labels.tolist() == [0] * 40 + [1] * 40 + [2] * 40
    assert not any((tree.cut(n_clusters=k) == labels).all() for k in range(1, 20))


def test_a_graph_may_be_given():
    tree = ramify.GraphHAC().fit(edges=([0, 2, 1], [1, 3, 2], [0.9, 0.8, 0.1])).hierarchy()
    graph = coo_array(([0.9, 0.8, 0.1], ([0, 2, 1], [1, 3, 2])), shape=(4, 4))
    assert tree.cut(by="modularity", graph=graph).tolist() == [0, 0, 1, 1]
    assert [one.size for one in tree.clusters(by="modularity", graph=graph)] == [2, 2]
    both = (graph + graph.T).tocsr()
    assert tree.cut(by="modularity", graph=both).tolist() == [0, 0, 1, 1]


def test_leaves_that_stand_for_several_points_count_so_often():
    rng = np.random.default_rng(2)
    rows = np.concatenate([rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + 30])
    model = ramify.OHAC(keep=ramify.Budget(40)).fit(rows)
    labels = model.cut(by="modularity", resolution=0.2)
    assert len(labels) == 300
    assert labels.max() == 1
    assert (labels[:150] == 0).all()


def test_one_point_and_none_near():
    assert ramify.HAC().fit([[1.0]]).cut(by="modularity").tolist() == [0]
    tree = ramify.HAC().fit([[0.0], [1.0]]).hierarchy()
    assert tree.cut(by="modularity", graph=coo_array((2, 2))).tolist() == [0, 0]


def test_deep_and_wide_trees():
    n = scaled(500_000)
    beside = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    for children in (chain(n), balanced(n)):
        tree = ramify.Hierarchy.from_children(children, np.arange(n - 1.0))
        found = best_by_modularity(tree, Edges(beside, np.ones(n - 1)), 1.0)
        assert sum(tree.sizes[found.nodes]) == n
        assert 0 <= found.modularity < 1


@pytest.mark.parametrize(
    ("options", "error", "what"),
    [
        ({}, ValueError, "needs a graph of the leaves"),
        ({"X": [[0.0]] * 4, "graph": coo_array((4, 4))}, ValueError, "one of the two"),
        ({"X": [[0.0]] * 4, "n_clusters": 2}, ValueError, "leave out n_clusters"),
        ({"X": [[0.0]] * 4, "resolution": 0}, ValueError, "a finite number above 0"),
        ({"X": [[0.0]] * 4, "resolution": float("nan")}, ValueError, "resolution=nan"),
        ({"X": [[0.0]] * 4, "resolution": "high"}, TypeError, "resolution='high'"),
        ({"X": [[0.0]] * 4, "n_neighbors": 0}, ValueError, "n_neighbors=0"),
        ({"graph": coo_array((3, 3))}, ValueError, r"shape \(4, 4\)"),
        ({"graph": np.ones((4, 4))}, ValueError, "expected a sparse matrix"),
        ({"graph": coo_array(([-1.0], ([0], [1])), shape=(4, 4))}, ValueError, "not below 0"),
        ({"X": [[0.0]] * 4, "like": [0, 0, 1, 1]}, ValueError, "like goes with n_clusters"),
        ({"X": [[0.0]] * 4, "apart": [(0, 1)]}, ValueError, "apart goes with"),
    ],
)
def test_refuses_what_does_not_go_together(options, error, what):
    tree = ramify.HAC().fit([[0.0], [1.0], [5.0], [7.0]]).hierarchy()
    with pytest.raises(error, match=what):
        tree.cut(by="modularity", **options)


def test_refuses_a_graph_that_is_not_asked_for():
    tree = ramify.HAC().fit([[0.0], [1.0]]).hierarchy()
    with pytest.raises(ValueError, match="graph goes with by='modularity'"):
        tree.cut(n_clusters=2, graph=coo_array((2, 2)))
    model = ramify.OHAC().fit([[0.0], [1.0]])
    model.edit.cannot_link(0, 1)
    with pytest.raises(ValueError, match="go by height"):
        model.cut(by="modularity")


def test_the_core_refuses_ends_that_are_no_leaves():
    children = np.array([[0, 1]])
    for ends in ([[0, 2]], [[-1, 0]]):
        with pytest.raises(ValueError, match="must be leaves"):
            _core.best_by_modularity(children, np.array(ends), np.ones(1), 1.0)
    with pytest.raises(ValueError, match="one entry a pair"):
        _core.best_by_modularity(children, np.array([[0, 1]]), np.ones(2), 1.0)
