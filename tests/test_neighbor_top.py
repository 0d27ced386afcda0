"""polish(by="neighbors"): a top by the edges between subtrees, beside the slow version."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

import ramify
from ramify import _core
from ramify.hierarchy import Hierarchy
from tests.oracles.graph_hac import graph_hac
from tests.strategies import examples


def below(tree):
    """The leaves below each node."""
    found = [frozenset([i]) for i in range(tree.n_leaves)]
    for a, b in tree.children.tolist():
        found.append(found[a] | found[b])
    return found


@st.composite
def trees_with_graphs(draw):
    """Rows with ties, their tree, a graph of small whole weights, and a number of subtrees."""
    n = draw(st.integers(3, 14))
    X = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=n, max_size=n))
    scale, offset = draw(st.sampled_from([(1.0, 0.0), (1e-9, 0.0), (1.0, 1e8)]))
    tree = ramify.HAC(linkage=draw(st.sampled_from(["average", "ward"]))).fit(
        np.array(X, float) * scale + offset
    )
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] < p[1])
    graph = draw(st.dictionaries(pair, st.integers(1, 3), max_size=3 * n))
    return tree.hierarchy(), graph, draw(st.integers(3, n))


def matrix_of(n, graph):
    ends = np.array(list(graph), np.int64).reshape(-1, 2)
    return sparse.coo_array((list(graph.values()), (ends[:, 0], ends[:, 1])), shape=(n, n))


@given(trees_with_graphs())
@settings(max_examples=examples(200))
def test_the_subtrees_merge_as_the_slow_version_has_them(case):
    tree, graph, m = case
    n, nodes = tree.n_leaves, below(tree)
    found = tree.polish(graph=matrix_of(n, graph), m=m, by="neighbors")
    found.check()
    labels = tree.cut(n_clusters=m)
    begun = [frozenset(np.flatnonzero(labels == one).tolist()) for one in range(m)]
    merges = graph_hac(range(n), graph, begun=begun)
    kept = {one for one in nodes[n:] if any(one <= part for part in begun)}
    assert set(below(found)[n:]) == kept | {one.left | one.right for one in merges}
    assert found.cut(n_clusters=m).tolist() == labels.tolist()
    most = max(graph.values(), default=1)
    heights = dict(zip(below(found)[n:], found.heights.tolist(), strict=True))
    for one in merges:
        wanted = 2 - one.weight / Fraction(2 * most)
        assert heights[one.left | one.right] == pytest.approx(float(wanted), abs=1e-12)
    below_top = [heights[one] for one in kept]
    assert max(below_top, default=0) <= 0.5
    assert min((heights[one.left | one.right] for one in merges), default=1) >= 1
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_weight_is_so_many_points():
    X = [[0.0], [1.0], [5.0], [6.0], [20.0], [21.0]]
    repeated = ramify.OHAC(duplicates="count").fit(X + X[:3] * 2)
    tree = repeated.hierarchy()
    found = tree.polish([[x] for x in (0.0, 1.0, 5.0, 6.0, 20.0, 21.0)], 3, by="neighbors")
    assert found.leaf_weights.tolist() == tree.leaf_weights.tolist()
    assert found.weights[found.root] == 12
    found.check()


def test_winding_groups_are_found():
    X, labels = make_moons(1500, noise=0.07, random_state=0)
    tree = ramify.OHAC(linkage="ward").fit(X).hierarchy()
    polished = tree.polish(X, by="neighbors")
    before, after = (adjusted_rand_score(labels, one.cut(n_clusters=2)) for one in (tree, polished))
    assert before < 0.7 < 0.95 < after
    assert polished.point_numbers.tolist() == tree.point_numbers.tolist()
    assert polished == tree.polish(X, by="neighbors")


def test_a_chain_of_half_a_million_and_no_edges():
    n = 500_000
    children = np.column_stack([np.append(0, np.arange(n, 2 * n - 2)), np.arange(1, n)])
    tree = Hierarchy(children, np.arange(n - 1, dtype=float))
    graph = sparse.coo_array(([1.0], ([0], [n - 1])), shape=(n, n))
    found = tree.polish(graph=graph, by="neighbors")
    assert found.n_leaves == n
    assert found.lca(0, n - 1) < found.node_ids[-1]  # the edge counts before what has none


def test_few_points_and_all_points():
    X = [[0.0], [1.0], [9.0]]
    tree = ramify.HAC().fit(X).hierarchy()
    assert tree.polish(X, by="neighbors", n_neighbors=1).cut(n_clusters=2).tolist() == [0, 0, 1]
    one = ramify.HAC().fit([[1.0]]).hierarchy()
    assert one.polish([[1.0]], by="neighbors") == one
    same = ramify.HAC().fit(np.zeros((40, 2))).hierarchy()
    same.polish(np.zeros((40, 2)), by="neighbors").check()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "neighbors"}, "needs a graph of the leaves"),
        ({"by": "neighbors", "X": [[0.0], [1.0]]}, "expected"),
        ({"by": "neighbors", "X": [[0.0], [1.0], [9.0]], "linkage": "ward"}, "linkage goes with"),
        ({"by": "neighbors", "X": [[0.0], [1.0], [9.0]], "metric": "dot"}, "metric='dot'"),
        ({"by": "neighbors", "X": [[0.0], [1.0], [9.0]], "n_neighbors": 0}, "n_neighbors"),
        ({"by": "density", "X": [[0.0], [1.0], [9.0]]}, "by='density'"),
        ({}, "needs X"),
        ({"graph": sparse.eye_array(3)}, "needs X"),
        ({"by": "neighbors", "graph": sparse.eye_array(4)}, "shape"),
    ],
)
def test_errors_at_the_door(options, said):
    tree = ramify.HAC().fit([[0.0], [1.0], [9.0]]).hierarchy()
    with pytest.raises(ValueError, match=said):
        tree.polish(**options)


def test_it_goes_on_as_any_tree_does(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3)) + 8 * np.eye(3)[rng.integers(3, size=300)]
    names = [f"T{i}" for i in range(300)]
    with ramify.open(tmp_path / "folder", ramify.OHAC(linkage="ward")) as tree:
        tree.add(X, ids=names)
        tree.forget(names[:20])
        polished = tree.hierarchy().polish(tree.points(), by="neighbors")
    assert polished.names.tolist() == names[20:]
    assert polished.cut_many([2, 3])[:, 1].tolist() == polished.cut(n_clusters=3).tolist()
    held = polished.cut(n_clusters=3, like=polished.cut(n_clusters=3))
    assert held.moved == 0
    polished.save(tmp_path / "tree.ramify")
    again = ramify.load(tmp_path / "tree.ramify")
    assert again == polished
    grown = ramify.OHAC.from_hierarchy(again, X[20:]).partial_fit(X[:20], ids=names[:20])
    grown.check()
    assert len(grown) == 300
    by_edges = polished.polish(graph=sparse.coo_array((280, 280)), by="neighbors", m=280)
    assert by_edges.heights.tolist() == [2.0] * 279


@pytest.mark.parametrize("sizes", [[], [1, 0], [2**31, 2**31]])
def test_the_core_refuses_clusters_that_are_none(sizes):
    ends, weights = np.zeros(1, np.uint32), np.ones(1, np.uint64)
    with pytest.raises(ValueError, match="clusters"):
        _core.graph_hac_of_clusters(ends, ends, weights, np.array(sizes, np.uint32))
    with pytest.raises(ValueError, match="no point"):
        _core.graph_hac_of_clusters(ends, ends + 5, weights, np.ones(3, np.uint32))
