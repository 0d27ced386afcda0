"""The condensed tree: from its definition, and beside HDBSCAN's own."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs

from ramify import HAC, OTD, Hierarchy
from ramify.hierarchy import CondensedTree
from tests.oracles import cuts as oracle
from tests.shapes import balanced, hierarchies, long_chain
from tests.strategies import scaled, seeds

BIG = scaled(500_000)


def blobs(seed: int, n: int = 150) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X, _ = make_blobs(n, centers=int(rng.integers(1, 6)), cluster_std=1.2, random_state=seed % 1000)
    return np.concatenate([X, rng.uniform(-12, 12, size=(n // 10, 2))])


def single_linkage(X: np.ndarray) -> Hierarchy:
    return Hierarchy.from_linkage(linkage(X, "single"))


def same_labels(a, b) -> bool:
    """Equal but for the numbering; noise is noise."""
    a, b = np.asarray(a), np.asarray(b)
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist())) and np.array_equal(
        a == -1, b == -1
    )


def rows_of(condensed: CondensedTree) -> set:
    """(node of the parent, point or node of the child, lambda, size)"""
    n, node = condensed.n_points, condensed.nodes.tolist()
    table = (condensed.parent, condensed.child, condensed.lambda_val, condensed.child_size)
    return {
        (node[parent - n], child if child < n else node[child - n], level, size)
        for parent, child, level, size in zip(*(c.tolist() for c in table), strict=True)
    }


def oracle_rows(top: oracle.Cluster) -> set:
    rows = set()
    for cluster in top.everyone():
        rows |= {(cluster.node.v, i, level, 1) for i, level in cluster.leaving}
        parts = cluster.parts
        rows |= {(cluster.node.v, p.node.v, cluster.death, len(p.node)) for p in parts}
    return rows


def inverse(height: float) -> float:
    return 1 / height if height > 0 else math.inf


# --- from the definition ---------------------------------------------------------------


@given(hierarchies(min_size=2), st.data())
def test_the_rows(tree, data):
    least = data.draw(st.integers(2, tree.n_leaves))
    for scale, level in (("inverse", inverse), ("linear", lambda h: -h)):
        condensed = tree.condense(least, scale=scale)
        assert (condensed.n_points, condensed.min_size) == (tree.n_leaves, least)
        assert rows_of(condensed) == oracle_rows(oracle.condense(oracle.root(tree), least, level))
        assert len(condensed.parent) == tree.n_leaves + len(condensed.nodes) - 1


@given(hierarchies(min_size=2), st.data())
def test_the_numbering(tree, data):
    condensed = tree.condense(data.draw(st.integers(2, tree.n_leaves)))
    n, k = tree.n_leaves, len(condensed.nodes)
    assert condensed.nodes[0] == tree.root
    assert sorted(condensed.child.tolist()) == [*range(n), *range(n + 1, n + k)]
    assert set(condensed.parent.tolist()) == set(range(n, n + k))
    assert (condensed.child[condensed.child >= n] > condensed.parent[condensed.child >= n]).all()
    keys = (condensed.child, condensed.lambda_val, condensed.parent)
    assert np.lexsort(keys).tolist() == list(range(n + k - 1))


@given(hierarchies(min_size=2), st.data())
def test_stabilities_and_the_two_flat_cuts(tree, data):
    least = data.draw(st.integers(2, tree.n_leaves))
    condensed = tree.condense(least)
    levels = [inverse(h) for h in tree.monotone_heights.tolist()]
    largest = max((level for level in levels if level < math.inf), default=1.0)
    top = oracle.condense(oracle.root(tree), least, lambda h: min(inverse(h), largest))
    stability = {cluster.node.v: cluster.stability() for cluster in top.everyone()}
    np.testing.assert_allclose(
        condensed.stabilities, [stability[v] for v in condensed.nodes.tolist()], atol=1e-12
    )
    for whole in (False, True):
        best, _ = oracle.excess_of_mass(top, whole)
        chosen = condensed.clusters("eom", allow_single_cluster=whole) - tree.n_leaves
        assert condensed.stabilities[chosen].sum() == pytest.approx(best, abs=1e-9)
        check_labels(tree, condensed, "eom", whole)
        ends = oracle.ends(top) if whole or top.parts else []
        chosen = condensed.clusters("leaf", allow_single_cluster=whole)
        assert sorted(condensed.nodes[chosen - tree.n_leaves]) == sorted(c.node.v for c in ends)
        check_labels(tree, condensed, "leaf", whole)


def check_labels(tree, condensed, method, whole):
    """Labels are the leaves of the chosen nodes, numbered by first point."""
    nodes = condensed.nodes[condensed.clusters(method, allow_single_cluster=whole) - tree.n_leaves]
    members = [set(tree.leaves(v).tolist()) for v in nodes]
    labels = condensed.labels(method, allow_single_cluster=whole)
    assert labels.tolist() == oracle.labels_of(members, tree.n_leaves)
    assert [min(m) for m in members] == sorted(min(m) for m in members)
    assert sum(map(len, members)) == len(set().union(*members))


@given(hierarchies(min_size=2), st.data())
def test_leaves_are_the_clusters_of_a_cut_by_size(tree, data):
    least = data.draw(st.integers(2, tree.n_leaves))
    by_size = tree.cut(min_size=least, small="noise")
    labels = tree.condense(least).labels("leaf", allow_single_cluster=True)
    assert labels.tolist() == by_size.tolist()


# --- beside HDBSCAN ---------------------------------------------------------------------


@pytest.mark.parametrize("method", ["eom", "leaf"])
@given(seed=seeds(), least=st.integers(2, 20))
def test_labels_of_single_linkage_are_scikit_learns_hdbscan(method, seed, least):
    X = blobs(seed)
    # With min_samples=1 every point is a core point: HDBSCAN is single linkage.
    model = HDBSCAN(least, min_samples=1, cluster_selection_method=method, copy=True).fit(X)
    assert same_labels(single_linkage(X).condense(least).labels(method), model.labels_)


@pytest.mark.parametrize("method", ["eom", "leaf"])
@given(seed=seeds(), least=st.integers(2, 20))
def test_the_hdbscan_librarys_condensed_tree(method, seed, least):
    theirs = pytest.importorskip("hdbscan._hdbscan_tree")
    Z = linkage(blobs(seed), "single")
    tree = Hierarchy.from_linkage(Z)
    condensed = tree.condense(least)
    table = theirs.condense_tree(Z, least)
    n = tree.n_leaves
    # Their clusters are numbered otherwise: name each by its points.
    ours = {n + k: frozenset(tree.leaves(v).tolist()) for k, v in enumerate(condensed.nodes)}
    members: dict[int, set[int]] = {}
    for parent, child, _, _ in table[::-1].tolist():  # parts before parents
        members.setdefault(parent, set()).update(members[child] if child >= n else {child})
    other = {cluster: frozenset(points) for cluster, points in members.items()}
    assert {
        (ours[p], c if c < n else ours[c], level, size)
        for p, c, level, size in condensed.to_pandas().itertuples(index=False)
    } == {(other[p], c if c < n else other[c], level, size) for p, c, level, size in table.tolist()}
    stability = theirs.compute_stability(table)
    expected = {other[int(c)]: value for c, value in stability.items()}
    for cluster, points in ours.items():
        assert condensed.stabilities[cluster - n] == pytest.approx(expected[points])
    labels, *_ = theirs.get_clusters(table, dict(stability), method)
    assert same_labels(condensed.labels(method), labels)


def test_it_is_useful_on_trees_that_are_not_single_linkage():
    X, y = make_blobs(600, centers=[[0, 0], [10, 0], [0, 10]], random_state=0)
    tree = HAC(linkage="ward").fit(X).hierarchy()
    assert same_labels(tree.condense(100).labels(), y)


# --- edges ------------------------------------------------------------------------------


def test_nothing_but_duplicates():
    tree = Hierarchy.from_children(np.array(balanced(16)), np.zeros(15))
    condensed = tree.condense(2)
    assert np.isinf(condensed.lambda_val).all()
    assert np.isfinite(condensed.stabilities).all()
    assert condensed.labels().shape == (16,)
    assert condensed.labels("leaf").tolist() == (np.arange(16) // 2).tolist()


def test_duplicates_do_not_outweigh_everything():
    """With infinite stabilities, three equal points would pull this cluster apart."""
    children = [[0, 1], [10, 2], [11, 3], [4, 5], [13, 6], [7, 8], [15, 9], [12, 14], [17, 16]]
    tree = Hierarchy.from_children(children, [0, 0, 1, 1, 1, 1, 1, 1.1, 100])
    condensed = tree.condense(3)
    assert np.isinf(condensed.lambda_val).sum() == 3
    assert np.isfinite(condensed.stabilities).all()
    assert condensed.labels().tolist() == [0] * 7 + [1] * 3
    assert condensed.labels("leaf").tolist() == [0] * 4 + [1] * 3 + [2] * 3


def test_heights_below_zero_say_what_to_do():
    X = np.random.default_rng(0).normal(size=(60, 3)) + 1
    tree = OTD(metric="dot").fit(X).hierarchy()
    with pytest.raises(ValueError, match=r"scale='linear'\) takes -height"):
        tree.condense(5)
    condensed = tree.condense(5, scale="linear")
    assert set(condensed.lambda_val) <= set(-tree.monotone_heights)
    assert (condensed.stabilities >= 0).all()
    assert condensed.labels().max() >= 0


def test_one_cluster_is_noise_unless_allowed():
    tree = long_chain(20)
    assert tree.condense(5).labels().tolist() == [-1] * 20
    assert tree.condense(5).clusters().tolist() == []
    for method in ("eom", "leaf"):
        labels = tree.condense(5).labels(method, allow_single_cluster=True)
        assert labels.tolist() == [0] * 20


def test_everything_is_frozen():
    condensed = long_chain(20).condense(3)
    for field in ("parent", "child", "lambda_val", "child_size", "nodes", "stabilities"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(condensed, field)[0] = 1
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(condensed, field, None)
    again = pickle.loads(pickle.dumps(condensed))
    assert again.stabilities.tolist() == condensed.stabilities.tolist()
    assert repr(condensed) == "<CondensedTree: 20 points, 1 cluster of at least 3 points>"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"min_size": 1}, ValueError, "min_size=1: expected 2 to 4"),
        ({"min_size": 5}, ValueError, "min_size=5: expected 2 to 4, the number of points"),
        ({"min_size": 2.0}, TypeError, "expected an int"),
        ({"min_size": 2, "scale": "log"}, ValueError, "scale='log': expected 'inverse' or"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        long_chain(4).condense(**options)


def test_bad_method():
    with pytest.raises(ValueError, match="method='best': expected 'eom' or 'leaf'"):
        long_chain(4).condense(2).labels("best")


def test_one_point_has_nothing_to_condense():
    with pytest.raises(ValueError, match="one point"):
        HAC().fit([[1.0]]).hierarchy().condense(2)


def test_large_trees():
    chain = long_chain(BIG).condense(10)
    assert len(chain.nodes) == 1
    assert chain.labels(allow_single_cluster=True).tolist() == [0] * BIG
    tree = Hierarchy(balanced(2**14), np.arange(1.0, 2**14)).condense(2)
    assert len(tree.nodes) == 2**14 - 1
    assert tree.labels("leaf").tolist() == (np.arange(2**14) // 2).tolist()


def test_clusters_nested_as_deep_as_a_tree_can_be():
    pairs = BIG // 4
    n = 2 * pairs
    couples = np.arange(n).reshape(-1, 2)
    last = np.concatenate([[n], np.arange(n + pairs, n + 2 * pairs - 2)])
    spine = np.column_stack([last, np.arange(n + 1, n + pairs)])
    condensed = Hierarchy(np.concatenate([couples, spine]), np.arange(1.0, n)).condense(2)
    assert len(condensed.nodes) == 2 * pairs - 1
    assert condensed.labels("leaf").tolist() == (np.arange(n) // 2).tolist()
    assert condensed.labels().shape == (n,)
