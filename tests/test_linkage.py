"""Trees as SciPy and others write them: there, and back again."""

import numpy as np
import pytest
from hypothesis import given
from scipy.cluster import hierarchy as scipy_tree
from scipy.cluster.hierarchy import (
    cophenet,
    cut_tree,
    dendrogram,
    fcluster,
    is_monotonic,
    is_valid_linkage,
    linkage,
)
from sklearn.cluster import AgglomerativeClustering

from ramify import HAC, OHAC, OTD, Hierarchy
from tests import shapes
from tests.shapes import hierarchies, leaves_below, long_chain
from tests.strategies import loose_rows, scaled

RNG = np.random.default_rng(5)


def same_partition(a, b) -> bool:
    pairs = set(zip(np.ravel(a).tolist(), np.ravel(b).tolist(), strict=True))
    return len(pairs) == len(np.unique(a)) == len(np.unique(b))


def merges(tree: Hierarchy) -> set:
    """What a tree is, however its rows are ordered: leaf sets and heights."""
    return set(zip(leaves_below(tree)[tree.n_leaves :], tree.heights.tolist(), strict=True))


# --- to SciPy ----------------------------------------------------------------------


@given(hierarchies(min_size=2))
def test_scipy_finds_nothing_wrong_with_our_linkage(tree):
    Z = tree.to_linkage()
    assert Z.dtype == np.float64
    assert Z.shape == (tree.n_leaves - 1, 4)
    assert is_valid_linkage(Z, throw=True)
    assert is_monotonic(Z)
    assert Z[:, 2].tolist() == tree.monotone_heights.tolist()
    assert (np.diff(Z[:, 2]) >= 0).all()


@given(loose_rows(min_size=2, max_size=25))
def test_scipys_cuts_are_ours(X):
    tree = OHAC().fit(X).hierarchy()
    Z = tree.to_linkage()
    heights = tree.monotone_heights
    for k in range(1, len(X) + 1):
        assert same_partition(tree.cut(n_clusters=k), cut_tree(Z, n_clusters=k))
        if k == 1 or k == len(X) or heights[-k] < heights[-k + 1]:  # no tie just there
            assert same_partition(tree.cut(n_clusters=k), fcluster(Z, k, "maxclust"))
    for height in np.unique(heights):
        above = np.nextafter(height, np.inf)  # fcluster's rule is "at or below"
        assert same_partition(tree.cut(height=above), fcluster(Z, height, "distance"))


@given(hierarchies(min_size=2))
def test_cophenetic_distances_are_heights_of_common_ancestors(tree):
    i, j = np.triu_indices(tree.n_leaves, 1)
    ours = tree.monotone_heights[tree.lca(i, j) - tree.n_leaves]
    np.testing.assert_array_equal(cophenet(tree.to_linkage()), ours)


@given(hierarchies(min_size=2))
def test_scipys_dendrogram_is_our_tree(tree):
    drawn = dendrogram(tree.to_linkage(), no_plot=True)
    assert sorted(drawn["leaves"]) == list(range(tree.n_leaves))
    assert sorted(height for _, height, _, _ in drawn["dcoord"]) == tree.monotone_heights.tolist()
    places = np.empty(tree.n_leaves, dtype=int)
    places[drawn["leaves"]] = np.arange(tree.n_leaves)
    for below in leaves_below(tree):  # every subtree is drawn in one piece
        assert np.ptp(places[list(below)]) == len(below) - 1


def test_scipy_takes_our_linkage_of_one_merge_and_of_many():
    tree = HAC(linkage="ward").fit(RNG.normal(size=(500, 3))).hierarchy()
    leaders = scipy_tree.leaders(tree.to_linkage(), (1 + tree.cut(n_clusters=7)).astype(np.int32))
    assert sorted(leaders[1].tolist()) == list(range(1, 8))
    assert HAC().fit([[0.0], [1.0]]).hierarchy().to_linkage().tolist() == [[0, 1, 1, 2]]


def test_one_point_has_an_empty_linkage():
    tree = HAC().fit([[1.0]]).hierarchy()
    for shift in (0.0, "lowest"):
        assert tree.to_linkage(shift=shift).shape == (0, 4)
    assert Hierarchy.from_linkage(tree.to_linkage()) == tree


def test_negative_heights_say_what_to_do():
    tree = OTD(metric="dot").fit(RNG.normal(size=(40, 3)) + 2).hierarchy()
    with pytest.raises(ValueError, match="negative ones; to_linkage"):
        tree.to_linkage()
    Z = tree.to_linkage(shift="lowest")
    assert is_valid_linkage(Z)
    assert is_monotonic(Z)
    assert Z[0, 2] == 0
    for k in range(1, 41):
        assert same_partition(tree.cut(n_clusters=k), cut_tree(Z, n_clusters=k))
    np.testing.assert_array_equal(tree.to_linkage(shift=1e3)[:, 2], tree.monotone_heights + 1e3)


def test_a_shift_may_also_lower():
    tree = long_chain(4)
    assert tree.to_linkage(shift="lowest")[:, 2].tolist() == [0, 1, 2]
    assert tree.to_linkage(shift=-1)[:, 2].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="negative"):
        tree.to_linkage(shift=-2)


@pytest.mark.parametrize(
    ("shift", "error"),
    [("most", TypeError), (None, TypeError), (np.inf, ValueError), (np.nan, ValueError)],
)
def test_bad_shifts(shift, error):
    with pytest.raises(error, match="shift="):
        long_chain(3).to_linkage(shift=shift)


# --- from others --------------------------------------------------------------------


@given(hierarchies())
def test_there_and_back_again(tree):
    monotone = Hierarchy(tree.children, tree.monotone_heights)
    assert Hierarchy.from_linkage(tree.to_linkage()) == monotone
    assert Hierarchy.from_children(tree.children, tree.heights) == tree


@pytest.mark.parametrize("method", ["single", "complete", "average", "centroid", "median", "ward"])
def test_scipys_trees(method):
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(30, 2))
        Z = linkage(X, method)
        tree = Hierarchy.from_linkage(Z)
        tree.check()
        assert merges(tree) == {
            (below, height)
            for below, height in zip(
                leaves_below(Hierarchy(Z[:, :2].astype(int), np.arange(29.0)))[30:],
                Z[:, 2].tolist(),
                strict=True,
            )
        }


def test_scipys_centroid_linkage_inverts_and_is_taken():
    X = [[0.0, 0.0], [1.0, 0.0], [0.5, 0.87]]  # the third is nearer to the middle
    Z = linkage(X, "centroid")
    assert Z[1, 2] < Z[0, 2]
    tree = Hierarchy.from_linkage(Z)
    assert tree.heights.tolist() == Z[:, 2].tolist()
    assert is_monotonic(tree.to_linkage())


@pytest.mark.parametrize("way", ["ward", "complete", "average", "single"])
def test_scikit_learns_trees(way):
    X = RNG.normal(size=(60, 3))
    for k in (2, 5, 17):
        model = AgglomerativeClustering(k, linkage=way, compute_distances=True).fit(X)
        tree = Hierarchy.from_children(model.children_, model.distances_)
        tree.check()
        assert same_partition(tree.cut(n_clusters=k), model.labels_)
        without = Hierarchy.from_children(model.children_)
        without.check()
        assert same_partition(without.cut(n_clusters=k), model.labels_)


def test_genieclusts_trees():
    genieclust = pytest.importorskip("genieclust")
    X = RNG.normal(size=(60, 3))
    model = genieclust.Genie(n_clusters=4).fit(X)
    tree = Hierarchy.from_children(model.children_, model.distances_)
    tree.check()
    assert same_partition(Hierarchy.from_children(model.children_).cut(n_clusters=4), model.labels_)


@given(shapes.trees())
def test_children_without_heights_keep_the_order_of_their_rows(children):
    tree = Hierarchy.from_children(children)
    tree.check()
    assert tree.heights.tolist() == list(range(1, len(children) + 1))
    assert leaves_below(tree) == leaves_below(Hierarchy(children, np.arange(len(children))))


@given(hierarchies(min_size=3))
def test_any_order_of_rows_gives_the_same_tree(tree):
    """Rows shuffled as far as parents allow, children swapped."""
    rng = np.random.default_rng(tree.n_leaves)
    n = tree.n_leaves
    number, rows, heights = {i: i for i in range(n)}, [], []
    waiting = set(range(n, tree.n_nodes))
    while waiting:
        ready = [v for v in sorted(waiting) if set(tree.children[v - n].tolist()) <= set(number)]
        v = ready[rng.integers(len(ready))]
        waiting.remove(v)
        pair = [number[child] for child in tree.children[v - n].tolist()]
        number[v] = n + len(rows)
        rows.append(pair[:: rng.choice([-1, 1])])
        heights.append(tree.heights[v - n])
    again = Hierarchy.from_children(rows, heights)
    again.check()
    assert again == tree


def test_names_come_along():
    tree = Hierarchy.from_linkage(linkage([[0.0], [1.0], [5.0]]), names=["a", "b", "c"])
    assert tree.names.tolist() == ["a", "b", "c"]
    assert Hierarchy.from_children([[0, 1]], names=[7, 3]).names.tolist() == [7, 3]


def test_a_long_chain_goes_there_and_back():
    tree = long_chain(scaled(500_000))
    assert Hierarchy.from_linkage(tree.to_linkage()) == tree


@pytest.mark.parametrize(
    ("Z", "error", "message"),
    [
        ([[0, 1, 1.0, 3]], ValueError, "row 0 says that its cluster has 3 points"),
        ([[0, 1, np.nan, 2]], ValueError, "row 0 has height nan"),
        ([[0, 1, np.inf, 2]], ValueError, "row 0 has height inf"),
        ([[0, 2, 1.0, 2]], ValueError, "names 2 as a child"),
        ([[0.5, 1, 1.0, 2]], ValueError, "names 0.5 as a child"),
        ([[0, 0, 1.0, 2]], ValueError, "node 0 is the child of more than one row"),
        ([[0, 1]], ValueError, "there is from_children"),
        ([], ValueError, "shape"),
        ("tree", TypeError, "expected a linkage matrix"),
        (RNG.normal(size=(150, 4)), ValueError, "as a child"),
    ],
)
def test_what_is_no_linkage_is_refused(Z, error, message):
    with pytest.raises(error, match=message):
        Hierarchy.from_linkage(Z)


@pytest.mark.parametrize(
    ("children", "heights", "error", "message"),
    [
        ([[0, 1, 1.0, 2]], None, ValueError, "children: expected shape"),
        ([[0.0, 1.0]], None, TypeError, "whole numbers"),
        ([[0, 3], [1, 2]], None, ValueError, "row 0 describes node 3 and names 3"),
        ([[0, 1]], [1.0, 2.0], ValueError, "heights: expected shape"),
        ([[0, 1]], [np.nan], ValueError, "finite"),
        ([[0, -1]], None, ValueError, "names -1"),
    ],
)
def test_what_are_no_children_is_refused(children, heights, error, message):
    with pytest.raises(error, match=message):
        Hierarchy.from_children(children, heights)
