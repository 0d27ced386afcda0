"""The frozen tree: every question answered by the slow, obvious way too."""

import copy
import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree, fcluster

from ramify import HAC, OHAC, OTD, BrokenTreeError, Hierarchy, NaiveNN
from tests.strategies import grid_rows, loose_rows, scaled


def trees():
    """Trees with and without ties and inversions, shallow and chain-like."""
    rows = st.one_of(loose_rows(max_size=25), grid_rows(max_size=25))
    makers = st.sampled_from([HAC, OTD, centroid_ohac, ward_nn])
    return st.builds(lambda make, X: make().fit(X).hierarchy(), makers, rows)


def centroid_ohac() -> OHAC:
    return OHAC(linkage="centroid")


def ward_nn() -> NaiveNN:
    return NaiveNN(linkage="ward")


def chain(n: int) -> Hierarchy:
    """Point 1 joins point 0, then 2 joins both, and so on: depth n - 1."""
    inner = np.arange(n, 2 * n - 2)
    children = np.column_stack([np.concatenate([[0], inner]), np.arange(1, n)])
    return Hierarchy(children, np.arange(1.0, n))


def slow_path(tree: Hierarchy, node: int) -> list[int]:
    path = [node]
    while path[-1] != tree.root:
        path.append(
            next(tree.n_leaves + r for r, row in enumerate(tree.children) if path[-1] in row)
        )
    return path[::-1]


def slow_leaves(tree: Hierarchy, node: int) -> set[int]:
    if node < tree.n_leaves:
        return {node}
    first, second = tree.children[node - tree.n_leaves].tolist()
    return slow_leaves(tree, first) | slow_leaves(tree, second)


def slow_cut(tree: Hierarchy, merges: int) -> list[int]:
    """Labels when only the first so many merges are made."""
    tops = set(range(tree.n_leaves + merges))
    tops -= set(tree.children[:merges].ravel().tolist())
    clusters = sorted((slow_leaves(tree, top) for top in tops), key=min)
    return [next(k for k, c in enumerate(clusters) if i in c) for i in range(tree.n_leaves)]


# --- the arrays ------------------------------------------------------------------


@given(trees())
def test_every_tree_keeps_its_invariants(tree):
    tree.check()
    n = tree.n_leaves
    assert len(tree) == n
    assert tree.children.shape == (n - 1, 2)
    assert tree.root == 2 * n - 2
    assert tree.n_nodes == 2 * n - 1
    for node in range(tree.n_nodes):
        assert tree.sizes[node] == len(slow_leaves(tree, node))
    for row, pair in enumerate(tree.children.tolist()):
        below = [tree.monotone_heights[child - n] for child in pair if child >= n]
        assert tree.monotone_heights[row] == max([tree.heights[row], *below])
        assert tree.parents[pair[0]] == tree.parents[pair[1]] == n + row
    assert tree.parents[tree.root] == -1


def test_everything_is_frozen():
    tree = chain(4)
    for name in ("children", "heights", "monotone_heights", "sizes", "parents", "node_ids"):
        array = getattr(tree, name)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(tree, name, array)
    with pytest.raises((AttributeError, TypeError)):
        tree.colour = "red"


def test_the_constructor_copies():
    children, heights = np.array([[0, 1]]), np.array([1.0])
    tree = Hierarchy(children, heights)
    children[:] = 9
    heights[:] = 9
    assert tree.children.tolist() == [[0, 1]]
    assert tree.heights.tolist() == [1.0]


@pytest.mark.parametrize(
    ("children", "heights", "message"),
    [
        ([[0, 1, 2]], [1.0], "expected shape"),
        ([0, 1], [1.0], "expected shape"),
        ([[0, 1]], [1.0, 2.0], r"heights: expected shape \(1,\), got \(2,\)"),
        ([[0, 2]], [1.0], "not a tree"),
        ([[0, -1]], [1.0], "not a tree"),
        ([[0, 1], [0, 2]], [1.0, 2.0], "not a tree"),
        ([[0, 4], [1, 2]], [1.0, 2.0], "not a tree"),
    ],
)
def test_arrays_that_are_no_tree_are_refused(children, heights, message):
    with pytest.raises(ValueError, match=message):
        Hierarchy(children, heights)


def test_one_point():
    tree = OHAC().fit([[3.0]]).hierarchy()
    tree.check()
    assert tree.children.shape == (0, 2)
    assert tree.root == 0
    assert tree.sizes.tolist() == [1]
    assert tree.parents.tolist() == [-1]
    assert tree.cut(n_clusters=1).tolist() == [0]
    assert tree.cut(height=0.0).tolist() == [0]
    assert tree.path(0).tolist() == [0]
    assert tree.path_code(0) == ""
    assert tree.lca(0, 0) == 0
    assert tree.lca([0, 0], 0).tolist() == [0, 0]
    assert tree.leaves(0).tolist() == [0]
    assert tree.depths().tolist() == [0]
    assert repr(tree) == "<Hierarchy: 1 point>"
    assert pickle.loads(pickle.dumps(tree)) == tree


def test_integers_print_as_numpys_own():
    tree = chain(4)
    arrays = [tree.children, tree.sizes, tree.parents, tree.node_ids, tree.path(0), tree.depths()]
    arrays += [tree.leaves(6), tree.lca(0, [1]), tree.cut(n_clusters=2), tree.cut(height=1.0)]
    for array in arrays:
        assert array.dtype.num == np.dtype(np.int64).num
        assert "dtype" not in repr(array)


def test_repr_is_short_and_useful():
    assert repr(chain(1234)) == "<Hierarchy: 1,234 points, root height 1233, split 1,233 | 1>"


def test_node_ids_are_the_numbers_unless_given():
    assert chain(4).node_ids.tolist() == [4, 5, 6]
    assert Hierarchy([[0, 1]], [1.0], [77]).node_ids.tolist() == [77]
    with pytest.raises(ValueError, match=r"node_ids: expected shape \(1,\)"):
        Hierarchy([[0, 1]], [1.0], [7, 8])


# --- names -------------------------------------------------------------------------


def test_a_tree_without_names_has_none():
    assert chain(3).names is None
    assert pickle.loads(pickle.dumps(chain(3))).names is None


@pytest.mark.parametrize(
    "names",
    [
        ["ash", "elm", "oak"],
        [30, -10, 2**63 - 1],
        ("ash", "elm", "a much longer name"),
        np.array(["ash", "elm", "oak"]),
        np.array([3, 1, 2], dtype=np.uint8),
        np.array(["ash", "elm", "oak"], dtype=object),
        pd.Series(["ash", "elm", "oak"]),
        pl.Series([7, 8, 9]),
        [np.int32(4), np.int32(5), 6],
        range(3),
    ],
)
def test_names_are_kept(names):
    tree = Hierarchy([[0, 1], [3, 2]], [1.0, 2.0], names=names)
    assert tree.names.tolist() == list(names)
    assert tree.names.dtype in (np.int64, object)
    assert all(type(name) in (str, int) for name in tree.names.tolist())
    with pytest.raises(ValueError, match="read-only"):
        tree.names[0] = tree.names[1]
    with pytest.raises(ValueError, match="WRITEABLE"):
        tree.names.setflags(write=True)
    for copied in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree), copy.copy(tree)):
        assert copied.names.tolist() == list(names)
        assert copied.names.dtype == tree.names.dtype
    tree.check()


def test_names_are_copied():
    names = np.array(["ash", "elm"], dtype=object)
    tree = Hierarchy([[0, 1]], [1.0], names=names)
    names[0] = "oak"
    assert tree.names.tolist() == ["ash", "elm"]


def test_names_play_no_part_in_equality():
    tree = chain(3)
    assert tree.with_names(["a", "b", "c"]) == tree == tree.with_names([7, 8, 9])


def test_with_names_shares_the_arrays():
    tree = Hierarchy([[0, 1], [3, 2]], [1.0, 2.0], [50, 51], names=[1, 2, 3])
    named = tree.with_names(["a", "b", "c"])
    assert named.names.tolist() == ["a", "b", "c"]
    assert tree.names.tolist() == [1, 2, 3]
    assert named.with_names(None).names is None
    for field in ("children", "heights", "node_ids", "monotone_heights", "sizes", "parents"):
        assert getattr(named, field) is getattr(tree, field)
    assert named.lca(0, 2) == 4


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["a", "b"], ValueError, "expected 3, one for each point, got 2"),
        (["a", "b", "a"], ValueError, "'a' stands at positions 0 and 2"),
        ([5, 7, 7], ValueError, "7 stands at positions 1 and 2"),
        (["a", 1, "b"], TypeError, "got 1 .int. at position 1"),
        ([1, "a", 2], TypeError, "got 'a' .str. at position 1"),
        ([1.0, 2.0, 3.0], TypeError, "got 1.0 .float. at position 0"),
        ([True, False, 2], TypeError, "got True"),
        (["a", None, "b"], TypeError, "got None"),
        ("abc", TypeError, "got one text"),
        ([1, 2, 2**63], ValueError, "64 bits"),
        ([[1], [2], [3]], TypeError, "got .1."),
    ],
)
def test_bad_names(names, error, message):
    with pytest.raises(error, match=message):
        chain(3).with_names(names)
    with pytest.raises(error, match=message):
        Hierarchy([[0, 1], [3, 2]], [1.0, 2.0], names=names)


@given(loose_rows(min_size=3))
def test_nodes_off_the_path_of_an_insert_keep_their_ids(X):
    model = OHAC().fit(X[:-1])
    before = model.hierarchy()
    model.insert(X[-1])
    after = model.hierarchy()
    nearest = ((X[:-1] - X[-1]) ** 2).sum(axis=1).argmin()
    ids = {frozenset(members): node_id for members, node_id in members_and_ids(after)}
    assert len(set(ids.values())) == len(X) - 1
    for members, node_id in members_and_ids(before):
        if nearest not in members:
            assert ids[frozenset(members)] == node_id


def members_and_ids(tree):
    inner = range(tree.n_leaves, tree.n_nodes)
    return [(slow_leaves(tree, v), i) for v, i in zip(inner, tree.node_ids.tolist(), strict=True)]


# --- cuts --------------------------------------------------------------------------


@given(trees())
def test_cut_by_number_undoes_the_last_merges(tree):
    for k in range(1, tree.n_leaves + 1):
        labels = tree.cut(n_clusters=k)
        assert labels.dtype == np.int64
        assert labels.tolist() == slow_cut(tree, tree.n_leaves - k)


@given(trees(), st.data())
def test_cut_by_height_keeps_merges_strictly_below(tree, data):
    at = st.sampled_from([*tree.monotone_heights.tolist(), -1.0, 0.0, 1e9, np.inf, -np.inf])
    height = data.draw(at | st.floats(-1, 1000))
    merges = int((tree.monotone_heights < height).sum())
    assert tree.cut(height=height).tolist() == slow_cut(tree, merges)


@given(loose_rows(min_size=2, max_size=25))
def test_cuts_agree_with_scipy(X):
    tree = HAC().fit(X).hierarchy()
    Z = np.column_stack([tree.children, tree.monotone_heights, tree.sizes[tree.n_leaves :]])
    for k in range(1, len(X) + 1):
        assert same_partition(tree.cut(n_clusters=k), cut_tree(Z, n_clusters=k).ravel())
    middle = np.mean(tree.monotone_heights[[0, -1]])
    if middle not in tree.monotone_heights:  # fcluster's rule is "at or below"
        assert same_partition(tree.cut(height=middle), fcluster(Z, middle, "distance"))


def same_partition(a, b) -> bool:
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


def test_cut_returns_an_array_of_ones_own():
    tree = chain(4)
    tree.cut(n_clusters=2)[:] = 9
    assert tree.cut(n_clusters=2).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, "give one of n_clusters, height, max_size, min_size; .* got none"),
        ({"n_clusters": 2, "height": 1.0}, ValueError, "got n_clusters=2, height=1.0"),
        ({"n_clusters": 0}, ValueError, "n_clusters=0: expected 1 to 4"),
        ({"n_clusters": 5}, ValueError, "n_clusters=5: expected 1 to 4"),
        ({"n_clusters": 2.0}, TypeError, "float"),
        ({"height": float("nan")}, ValueError, "height=nan"),
    ],
)
def test_bad_cuts(options, error, message):
    with pytest.raises(error, match=message):
        chain(4).cut(**options)


# --- ways through the tree -----------------------------------------------------------


@given(trees())
def test_paths_codes_and_depths(tree):
    depths = tree.depths()
    assert depths.shape == (tree.n_leaves,)
    for node in range(tree.n_nodes):
        path = tree.path(node)
        assert path.tolist() == slow_path(tree, node)
        at = tree.root
        for turn in tree.path_code(node):
            at = tree.children[at - tree.n_leaves, int(turn)]
        assert at == node
        assert len(tree.path_code(node)) == len(path) - 1
        if node < tree.n_leaves:
            assert depths[node] == len(path) - 1


@given(trees())
def test_lca_is_the_last_common_node_of_two_paths(tree):
    nodes = np.arange(tree.n_nodes)
    table = tree.lca(nodes[:, np.newaxis], nodes)
    assert table.dtype == np.int64
    paths = [slow_path(tree, node) for node in nodes]
    for i in nodes:
        for j in nodes:
            assert table[i, j] == max(set(paths[i]) & set(paths[j]), key=paths[i].index)


def test_lca_takes_numbers_lists_and_arrays():
    tree = chain(4)
    assert tree.lca(0, 3) == 6
    assert type(tree.lca(0, 3)) is int
    assert type(tree.lca(np.int32(0), np.uint8(3))) is int
    assert tree.lca([0, 1], [[2], [3]]).tolist() == [[5, 5], [6, 6]]
    assert tree.lca(np.zeros((0, 2), dtype=int), 1).shape == (0, 2)
    assert tree.lca([], []).shape == (0,)


@given(trees())
def test_leaves_are_sorted(tree):
    for node in range(tree.n_nodes):
        assert tree.leaves(node).tolist() == sorted(slow_leaves(tree, node))


@pytest.mark.parametrize("node", [-1, 7, 10**30])
def test_nodes_that_do_not_exist(node):
    tree = chain(4)
    for call in (tree.path, tree.path_code, tree.leaves):
        with pytest.raises(IndexError, match=f"node {node}: expected 0 to 6"):
            call(node)
    if abs(node) < 100:
        for i, j in ((node, 0), (0, node), ([0, node], 1)):
            with pytest.raises(IndexError, match=f"node {node}: expected 0 to 6"):
                tree.lca(i, j)


def test_nodes_that_are_no_integers():
    tree = chain(4)
    for call in (tree.path, tree.path_code, tree.leaves):
        with pytest.raises(TypeError):
            call(1.5)
    for bad in (1.5, [0.0, 1.0], None, ["a", None]):
        with pytest.raises(TypeError, match="nodes: expected integers"):
            tree.lca(bad, 0)
    for call in (tree.path, tree.leaves, lambda name: tree.lca(0, name)):
        with pytest.raises(KeyError, match="have no names; none is called 'a'"):
            call("a")


# --- equality, copies, depth -----------------------------------------------------------


def test_equality_is_of_merges_and_heights():
    tree = chain(4)
    assert tree == chain(4)
    assert tree == Hierarchy(tree.children, tree.heights, [7, 8, 9])
    assert tree != Hierarchy(tree.children, tree.heights + 1)
    assert tree != chain(5)
    assert tree != Hierarchy([[0, 1], [2, 3], [4, 5]], tree.heights)
    assert tree != "tree"
    with pytest.raises(TypeError, match="unhashable"):
        hash(tree)


@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_copies_are_equal_and_frozen(clone):
    tree = OHAC().fit(np.random.default_rng(0).normal(size=(20, 2))).hierarchy()
    tree.lca(0, 1)  # prepared tables need not travel
    twin = clone(tree)
    assert twin == tree
    assert np.array_equal(twin.node_ids, tree.node_ids)
    assert twin.lca(0, 1) == tree.lca(0, 1)
    twin.check()


def test_a_long_chain_needs_no_recursion():
    n = scaled(500_000)
    tree = chain(n)
    tree.check()
    assert tree.cut(n_clusters=3).tolist()[-3:] == [0, 1, 2]
    assert tree.cut(height=2.0).max() == n - 2
    assert tree.path(0).tolist() == [*range(2 * n - 2, n - 1, -1), 0]
    assert tree.path_code(0) == "0" * (n - 1)
    assert tree.path_code(n - 1) == "1"
    assert tree.depths()[[0, 1, n - 1]].tolist() == [n - 1, n - 1, 1]
    rng = np.random.default_rng(0)
    i, j = rng.integers(n, size=(2, scaled(100_000)))
    expected = np.where(i == j, i, n - 1 + np.maximum(i, j))
    assert np.array_equal(tree.lca(i, j), expected)
    assert np.array_equal(tree.leaves(tree.root - 1), np.arange(n - 1))
    assert pickle.loads(pickle.dumps(tree)) == tree


# --- check() finds what is broken ----------------------------------------------------------


def breaks(**arrays) -> Hierarchy:
    """A good tree with some arrays replaced behind its back."""
    tree = Hierarchy([[0, 1], [2, 3], [4, 5]], [1.0, 2.0, 3.0])
    for name, values in arrays.items():
        array = np.array(values)
        array.setflags(write=False)
        object.__setattr__(tree, name, array)
    return tree


WRITEABLE = Hierarchy([[0, 1]], [1.0])
object.__setattr__(WRITEABLE, "sizes", np.array([1, 1, 2]))

BROKEN = {
    "float32 heights": (breaks(heights=np.float32([1, 2, 3])), 1),
    "too many names": (breaks(names=["a", "b", "c", "d", "e"]), 1),
    "short sizes": (breaks(sizes=[1, 1, 1]), 1),
    "not finite": (breaks(heights=[1.0, float("nan"), 3.0]), 1),
    "writeable": (WRITEABLE, 1),
    "twice the same child": (breaks(children=[[0, 1], [2, 2], [4, 5]]), 2),
    "parent first": (breaks(children=[[0, 6], [2, 3], [4, 1]]), 2),
    "later child": (breaks(children=[[0, 5], [2, 3], [4, 1]]), 3),
    "swapped children": (Hierarchy([[1, 0]], [1.0]), 4),
    "swapped further up": (Hierarchy([[1, 2], [3, 0]], [1.0, 2.0]), 4),
    "wrong monotone": (breaks(monotone_heights=[1.0, 2.0, 4.0]), 5),
    "unsorted": (breaks(heights=[2.0, 1.0, 3.0], monotone_heights=[2.0, 1.0, 3.0]), 5),
    "unsorted sizes": (Hierarchy([[0, 1], [4, 2], [3, 5]], [1.0, 1.0, 0.5]), 4),
    "unsorted ties": (Hierarchy([[2, 3], [0, 1], [5, 4]], [1.0, 1.0, 3.0]), 5),
    "wrong size": (breaks(sizes=[1, 1, 1, 1, 2, 2, 5]), 6),
    "wrong leaf size": (breaks(sizes=[2, 0, 1, 1, 2, 2, 4]), 6),
    "wrong parent": (breaks(parents=[5, 4, 5, 5, 6, 6, -1]), 6),
    "root with a parent": (breaks(parents=[4, 4, 5, 5, 6, 6, 0]), 6),
}


@pytest.mark.parametrize("case", BROKEN)
def test_check_names_the_broken_invariant(case):
    tree, invariant = BROKEN[case]
    with pytest.raises(BrokenTreeError, match=f"breaks invariant {invariant}:"):
        tree.check()


@pytest.mark.parametrize(
    ("children", "heights", "error", "why"),
    [
        ([[0, 1], [2, 3], [4, 5]], [5.0, 1.0, 9.0], ValueError, "row 1"),
        ([[0, 1]], [np.nan], ValueError, "finite"),
        ([[0.7, 1.0]], [1.0], TypeError, "whole numbers"),
    ],
)
def test_what_no_cut_could_be_right_for_is_refused(children, heights, error, why):
    with pytest.raises(error, match=why):
        Hierarchy(children, heights)


@pytest.mark.parametrize(
    "cut", [{"n_clusters": 2.5}, {"n_clusters": True}, {"height": "a"}, {"height": [1.0, 2.0]}]
)
def test_a_cut_says_what_it_expected(cut):
    with pytest.raises(TypeError, match="expected a"):
        Hierarchy([[0, 1]], [1.0]).cut(**cut)
