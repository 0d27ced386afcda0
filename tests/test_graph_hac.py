"""GraphHAC: trees of graphs and of neighbours, as users see them."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import ramify
from ramify import GraphHAC, NoLabelsError, UnreadableFileError, _core, archive
from ramify.estimators import _edges
from tests.oracles.graph_hac import graph_hac
from tests.strategies import examples

LINKAGES = ("average", "single")
X = np.random.default_rng(0).normal(size=(60, 3))


def clusters_of(tree):
    """Every cluster of a tree with its height."""
    below = [frozenset([i]) for i in range(tree.n_leaves)]
    for a, b in tree.children.tolist():
        below.append(below[a] | below[b])
    return dict(zip(below[tree.n_leaves :], tree.heights.tolist(), strict=True))


def some_edges(n, m, seed, top=1.0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, n, m), rng.integers(0, n, m), rng.random(m) * top


# --- scikit-learn ------------------------------------------------------------------


@pytest.mark.parametrize("n_clusters", [None, 3])
def test_scikit_learns_own_checks(n_clusters):
    results = check_estimator(GraphHAC(n_clusters), on_skip=None)
    assert len(results) > 40


def test_in_a_pipeline_and_cloned():
    pipeline = make_pipeline(StandardScaler(), GraphHAC(3))
    labels = pipeline.fit_predict(X)
    assert np.array_equal(labels, GraphHAC(3).fit_predict(StandardScaler().fit_transform(X)))
    twin = clone(pipeline[-1])
    assert twin.get_params() == pipeline[-1].get_params()
    assert len(twin) == 0


# --- what the tree is --------------------------------------------------------------


@pytest.mark.parametrize("linkage", LINKAGES)
@settings(max_examples=examples(40), deadline=None)
@given(n=st.integers(2, 12), m=st.integers(0, 40), seed=st.integers(0, 2**32 - 1))
def test_edges_give_the_tree_of_the_definition(linkage, n, m, seed):
    i, j, _ = some_edges(n, m, seed)
    weights = np.random.default_rng(seed).integers(0, 5, m) / 4
    model = GraphHAC(linkage=linkage).fit(edges=(i, j, weights), n_points=n)
    model.check()
    graph = {}
    for a, b, w in zip(i.tolist(), j.tolist(), weights.tolist(), strict=True):
        pair = (min(a, b), max(a, b))
        if a != b:
            graph[pair] = max(graph.get(pair, Fraction(0)), Fraction(w))
    expected = {m.left | m.right: float(1 - m.weight) for m in graph_hac(range(n), graph, linkage)}
    found = clusters_of(model.hierarchy())
    assert found.keys() == expected.keys()
    assert all(abs(found[one] - expected[one]) < 1e-15 for one in expected)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_edges_graph_and_both_halves_of_it_are_one_input(linkage):
    i, j, w = some_edges(50, 200, 1)
    first = GraphHAC(linkage=linkage).fit(edges=(i, j, w), n_points=50).hierarchy()
    order = np.random.default_rng(2).permutation(200)
    matrix = np.zeros((50, 50))
    np.maximum.at(matrix, (i, j), w)
    np.fill_diagonal(matrix, 7)  # a diagonal counts for nothing, but must be weights
    np.fill_diagonal(matrix, 1)
    for given_ in (
        {"edges": (j[order], i[order], w[order]), "n_points": 50},
        {
            "edges": [np.r_[i, j].tolist(), np.r_[j, i].tolist(), np.r_[w, w].tolist()],
            "n_points": 50,
        },
        {"graph": matrix},
        {"graph": sparse.csr_matrix(matrix)},
        {"graph": sparse.coo_array(np.maximum(matrix, matrix.T))},
        {"graph": sparse.lil_matrix(matrix.T)},
    ):
        assert GraphHAC(linkage=linkage).fit(**given_).hierarchy() == first


def test_entries_of_a_sparse_matrix_that_come_twice_are_added_as_scipy_does():
    twice = sparse.csr_matrix(([0.25, 0.5], ([0, 0], [1, 1])), shape=(2, 2))
    raw = sparse.csr_array((np.array([0.25, 0.5]), np.array([1, 1]), np.array([0, 2, 2])), (2, 2))
    assert GraphHAC().fit(graph=twice).distances_.tolist() == [0.25]
    assert GraphHAC().fit(graph=raw).distances_.tolist() == [0.25]
    assert raw.nnz == 2  # as it was


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("weight", ["snn", "jaccard", "ranked", "similarity"])
def test_shuffled_rows_give_the_same_clusters(linkage, weight):
    expected = clusters_of(GraphHAC(linkage=linkage, weight=weight).fit(X).hierarchy())
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        tree = GraphHAC(linkage=linkage, weight=weight).fit(X[order]).hierarchy()
        renamed = {frozenset(order[list(one)].tolist()): h for one, h in clusters_of(tree).items()}
        assert renamed == expected


@pytest.mark.parametrize("names", [list("qwertyuiopasdfghjklz"), list(range(40, 0, -2))])
def test_ids_and_not_numbers_break_ties(names):
    rng = np.random.default_rng(4)
    i, j = rng.integers(0, 20, (2, 50))
    by_name = np.array(names)
    first = GraphHAC().fit(edges=(by_name[i], by_name[j], np.ones(50)), ids=names).hierarchy()
    order = rng.permutation(20)
    shuffled = [names[o] for o in order]
    second = GraphHAC().fit(edges=(by_name[i], by_name[j], np.ones(50)), ids=shuffled).hierarchy()

    def named(tree):
        return {
            frozenset(tree.names[list(one)].tolist()): h for one, h in clusters_of(tree).items()
        }

    assert named(first) == named(second)


def test_beside_ids_that_are_texts_numbers_are_numbers():
    names = ["oak", "elm", "ash"]
    by_number = GraphHAC().fit(edges=([0, 2], [1, 1], [0.9, 0.5]), ids=names).hierarchy()
    by_id = GraphHAC().fit(edges=(["oak", "ash"], ["elm", "elm"], [0.9, 0.5]), ids=names)
    assert by_id.hierarchy() == by_number
    assert by_number.names.tolist() == names


TABLE = {
    "probability": [0.9, 0.25, 0.5, 0.75],
    "left": [7, 3, 9, 12],
    "right": [3, 12, 9, 5],
    "note": list("abcd"),
}


@pytest.mark.parametrize("names", ["numbers", "texts"])
@pytest.mark.parametrize("kind", ["dict", "pandas", "nullable", "polars", "arrow", "stream"])
def test_a_table_of_pairs_keeps_its_ids(kind, names):
    table = dict(TABLE)
    if names == "texts":
        table |= {side: [f"r{one}" for one in table[side]] for side in ("left", "right")}
    frame = pd.DataFrame(table)
    made = {
        "dict": table,
        "pandas": frame,
        "nullable": frame.convert_dtypes(),
        "polars": pl.DataFrame(table),
        "arrow": pa.table(table),
        "stream": pa.RecordBatchReader.from_batches(
            pa.table(table).schema, pa.table(table).to_batches()
        ),
    }[kind]
    model = GraphHAC(distance_threshold=1.0)
    model.fit(edges=made, columns=("left", "right", "probability"))
    ids = [7, 3, 12, 9, 5]  # as they are named, pair by pair
    if names == "texts":
        ids = [f"r{one}" for one in ids]
    assert model.ids_.tolist() == ids
    assert model.labels_.tolist() == [0, 0, 0, 1, 0]
    asked = GraphHAC().fit(edges=(table["left"], table["right"], table["probability"]), ids=ids)
    assert asked.hierarchy() == model.hierarchy()
    alone = {"dict": {one: table[one] for one in ("left", "right", "probability")}}
    assert GraphHAC().fit(edges=alone["dict"]).hierarchy() == model.hierarchy()


def test_a_table_beside_ids_may_leave_points_out():
    model = GraphHAC(distance_threshold=1.0)
    model.fit(edges={"a": [7], "b": [9], "w": [0.5]}, ids=[9, 8, 7])
    assert model.labels_.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="none of the ids"):
        model.fit(edges={"a": [6], "b": [9], "w": [0.5]}, ids=[9, 8, 7])


def test_pairs_of_texts_need_no_ids():
    model = GraphHAC(distance_threshold=0.5).fit(edges=(["b", "a"], ["c", "b"], [0.9, 0.1]))
    assert model.ids_.tolist() == ["b", "c", "a"]
    assert model.labels_.tolist() == [0, 0, 1]


@settings(max_examples=examples(40), deadline=None)
@given(m=st.integers(1, 30), seed=st.integers(0, 2**32 - 1))
def test_ids_come_in_the_order_of_their_pairs(m, seed):
    a, b, w = some_edges(9, m, seed)
    order = list(dict.fromkeys(np.stack([a, b], axis=1).ravel().tolist()))
    model = GraphHAC().fit(edges={"a": a - 4, "b": b - 4, "w": w})
    assert model.ids_.tolist() == [one - 4 for one in order]
    texts = GraphHAC().fit(edges=(a.astype(str), b.astype(str), w))
    assert texts.ids_.tolist() == [str(one) for one in order]


def test_heights_are_shares_of_the_largest_weight():
    model = GraphHAC(max_weight=15).fit(edges=([0, 1], [1, 2], [15, 6]))
    assert model.distances_.tolist() == [0.0, 1 - 6 / 2 / 15]
    counts = GraphHAC(max_weight=15, linkage="single").fit(edges=([0, 1], [1, 2], [15, 6]))
    assert counts.distances_.tolist() == [0.0, 1 - 6 / 15]


def test_what_is_not_connected_is_joined_at_one_and_the_small_parts_first():
    edges = [0, 1, 4, 5, 4], [1, 2, 5, 6, 6], np.ones(5)
    model = GraphHAC(distance_threshold=1.0).fit(edges=edges, n_points=9)
    assert model.labels_.tolist() == [0, 0, 0, 1, 2, 2, 2, 3, 4]
    labels = model.set_params(distance_threshold=None, n_clusters=3).labels_
    assert labels.tolist() == [0, 0, 0, 1, 2, 2, 2, 1, 1]
    assert model.distances_.tolist()[-4:] == [1.0] * 4


def test_clusters_are_of_a_least_size():
    rng = np.random.default_rng(6)
    rows = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(50, 2)) + 9, [[40, 40]]])
    model = GraphHAC(2).fit(rows)
    sizes = np.bincount(model.set_params(min_size=40).labels_)
    assert sorted(sizes.tolist()) == [51, 60]
    assert np.array_equal(model.labels_, model.hierarchy().cut(n_clusters=2, min_size=40))
    with pytest.raises(NoLabelsError, match="and no more"):
        model.set_params(min_size=60).labels_  # noqa: B018
    with pytest.raises(NoLabelsError, match="and no more"):
        model.fit_predict(rows)
    model.set_params(n_clusters=None, distance_threshold=1.0, min_size=40)
    assert np.array_equal(model.labels_, model.hierarchy().cut(height=1.0, min_size=40))


def test_tiny_weights_stay_edges_and_whole_numbers_stay_exact():
    model = GraphHAC(distance_threshold=1.0).fit(edges=([0, 1], [1, 2], [1e-300, 1.0]))
    assert model.n_clusters_ == 1
    assert _edges.whole_weights([1, 2, 3], 15.0).tolist() == [2**26, 2**27, 3 * 2**26]
    assert _edges.whole_weights([2**30, 5], 2**30).tolist() == [2**30, 5]


def test_scipy_takes_the_tree():
    tree = GraphHAC().fit(X).hierarchy()
    Z = tree.to_linkage()
    assert is_valid_linkage(Z)
    theirs = fcluster(Z, 4, "maxclust")
    assert adjusted_rand_score(theirs, tree.cut(n_clusters=4)) == 1


def test_long_winding_groups_are_found_whole():
    moons, truth = make_moons(600, noise=0.05, random_state=0)
    assert adjusted_rand_score(truth, GraphHAC(2).fit_predict(moons)) == 1
    assert adjusted_rand_score(truth, ramify.HAC(2).fit(moons).labels_) < 0.7


# --- rows --------------------------------------------------------------------------


def brute_lists(distances, k):
    far = distances + np.where(np.eye(len(distances)), np.inf, 0)
    return np.argsort(far, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("weight", ["snn", "jaccard", "ranked", "similarity"])
def test_weights_of_rows_are_what_they_say(weight):
    rows, k, n = X[:14], 4, 14
    rows = rows[np.argsort(_core.nearest_rows(rows, k, False, 1)[2])]  # in the order of ties
    apart = ((rows[:, np.newaxis] - rows) ** 2).sum(axis=2)
    lists = [set(row) for row in brute_lists(apart, k).tolist()]

    def of_pair(i, j):
        common = len(lists[i] & lists[j])
        jaccard = Fraction(common, 2 * k - common)
        known = {"snn": Fraction(common, k), "jaccard": jaccard, "ranked": ranked(i, j)}
        return known.get(weight, 1 / (1 + apart[i, j]))

    def ranked(i, j):
        a, b = (brute_lists(apart, k)[one].tolist() for one in (i, j))
        near = [
            Fraction(len({*a[:s]} & {*b[:s]}), s) if j in a[:s] or i in b[:s] else 0
            for s in range(1, k + 1)
        ]
        return sum(near, Fraction(0)) / k

    near = [(i, j) for j in range(n) for i in range(j) if j in lists[i] or i in lists[j]]
    graph = {(i, j): Fraction(of_pair(i, j)) for i, j in near}
    merges = graph_hac(range(n), graph)
    model = GraphHAC(n_neighbors=k, weight=weight).fit(rows, ids=range(n))
    found = clusters_of(model.hierarchy())
    assert found.keys() == {merge.left | merge.right for merge in merges}
    for merge in merges:  # to the rounding of weights
        assert abs(found[merge.left | merge.right] - float(1 - merge.weight)) < 2e-9


@pytest.mark.parametrize(
    "metric", ["chebyshev", "manhattan", "correlation", lambda a, b: np.abs(a - b).max()]
)
def test_any_metric_of_scikit_learn_will_do(metric):
    found = NearestNeighbors(n_neighbors=7, metric=metric).fit(X).kneighbors()[::-1]
    for weight in ("snn", "similarity"):
        options = {"metric": metric, "weight": weight, "n_neighbors": 7}
        given_ = GraphHAC(**options).fit(neighbors=found, ids=range(60))
        assert given_.hierarchy() == GraphHAC(**options).fit(X, ids=range(60)).hierarchy()


@pytest.mark.parametrize("metric", ["jaccard", "hamming"])
def test_rows_of_zeros_and_ones(metric):
    rng = np.random.default_rng(3)
    prototypes = rng.random((4, 80)) < 0.5
    truth = rng.integers(0, 4, 200)
    rows = prototypes[truth] ^ (rng.random((200, 80)) < 0.05)
    for wrapped in (rows, rows.astype(float), sparse.csr_matrix(rows.astype(float))):
        if sparse.issparse(wrapped) and metric != "hamming":
            continue
        if sparse.issparse(wrapped):
            wrapped = wrapped.toarray()
        model = GraphHAC(4, metric=metric, weight="jaccard")
        assert adjusted_rand_score(truth, model.fit_predict(wrapped)) == 1


def test_neighbours_of_another_library_may_name_the_points_themselves():
    distances, points = NearestNeighbors(n_neighbors=8).fit(X).kneighbors()
    with_self = np.c_[np.arange(len(X)), points]
    short = points.copy()
    short[:, -1] = -1
    model = GraphHAC(n_neighbors=8).fit(neighbors=points)
    assert (
        clusters_of(model.hierarchy()).keys()
        == clusters_of(GraphHAC(n_neighbors=8).fit(neighbors=with_self).hierarchy()).keys()
    )
    seven = GraphHAC().fit(neighbors=points[:, :-1]).hierarchy()
    assert (
        clusters_of(GraphHAC().fit(neighbors=short).hierarchy()).keys() == clusters_of(seven).keys()
    )
    assert distances.shape == points.shape


def test_few_rows_have_fewer_neighbours():
    for n in (1, 2, 3, 5):
        model = GraphHAC().fit(X[:n])
        assert len(model) == n
        model.check()
    assert GraphHAC(1).fit([[0.0]]).labels_.tolist() == [0]


def test_a_frame_of_rows_keeps_its_names():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = GraphHAC().fit(frame, ids=[f"p{i}" for i in range(60)])
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    assert model.ids_[7] == model.hierarchy().names[7] == "p7"
    model.fit(edges=([0], [1], [0.5]))
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(AttributeError, match="have no ids"):
        model.ids_  # noqa: B018


def test_graphs_of_scikit_learn_go_in():
    graph = kneighbors_graph(X, 6, mode="connectivity")
    assert GraphHAC(3).fit(graph=graph).labels_.shape == (60,)


# --- reading, files ------------------------------------------------------------------


def test_attributes_are_those_of_the_hierarchy():
    for cut, height in (
        ({"n_clusters": 4}, {"n_clusters": 4}),
        ({"distance_threshold": 0.6}, {"height": 0.6}),
    ):
        model = GraphHAC(**cut).fit(X)
        tree = model.hierarchy()
        assert np.array_equal(model.labels_, tree.cut(**height))
        assert model.labels_ is model.labels_
        assert not model.labels_.flags.writeable
        assert model.n_clusters_ == model.labels_.max() + 1
        assert np.array_equal(model.children_, tree.children)
        assert np.array_equal(model.distances_, tree.monotone_heights)
        assert model.n_leaves_ == len(model) == 60
        labels = model.fit_predict(X)
        labels[:] = 9
        assert model.labels_.max() < 9
        assert "svg" in model._repr_mimebundle_()["text/html"]


def test_without_a_cut_there_are_no_labels():
    model = GraphHAC().fit(X)
    for name in ("labels_", "n_clusters_"):
        assert not hasattr(model, name)
    with pytest.raises(NoLabelsError, match=r"set one, or use hierarchy\(\).cut"):
        model.fit_predict(X)
    with pytest.raises(NoLabelsError, match="more than the 60 points"):
        model.set_params(n_clusters=61).labels_  # noqa: B018


@pytest.mark.parametrize("ids", [None, "text", "numbers"])
def test_files_and_pickles_bring_the_model_back(ids, tmp_path):
    names = {"text": [f"ä{i}" for i in range(60)], "numbers": list(range(60))}.get(ids)
    model = GraphHAC(3, min_size=2, linkage="single", metric="cosine").fit(X, ids=names)
    model.save(tmp_path / "model.ramify")
    for other in (ramify.load(tmp_path / "model.ramify"), pickle.loads(pickle.dumps(model))):
        assert type(other) is GraphHAC
        assert other.get_params() == model.get_params()
        assert other.hierarchy() == model.hierarchy()
        assert np.array_equal(other.labels_, model.labels_)
        assert other.n_features_in_ == 3
        assert names is None or other.ids_.tolist() == names
    about = ramify.saving.describe(tmp_path / "model.ramify")
    assert (about["algorithm"], about["points"]) == ("GraphHAC", 60)
    GraphHAC().save(tmp_path / "empty.ramify")
    assert len(ramify.load(tmp_path / "empty.ramify")) == 0


def test_a_forged_file_is_refused(tmp_path):
    content, arrays = GraphHAC(3).fit(X)._to_saved()
    swapped = arrays["children"].copy()
    swapped[0] = swapped[0, ::-1]
    for forged in (
        ({**content, "parameters": {"linkage": "ward"}}, arrays),
        ({**content, "parameters": {"nonsense": 1}}, arrays),
        ({**content, "columns": -3}, arrays),
        ({**content, "feature_names": ["a"]}, arrays),
        (content, {**arrays, "children": swapped}),
        (content, {**arrays, "heights": arrays["heights"][::-1].copy()}),
        (content, {"children": arrays["children"]}),
    ):
        archive.write(tmp_path / "forged.ramify", *forged)
        with pytest.raises(UnreadableFileError, match="no valid model"):
            ramify.load(tmp_path / "forged.ramify")


def test_a_function_as_metric_cannot_be_saved(tmp_path):
    model = GraphHAC(metric=lambda a, b: abs(a - b).sum()).fit(X[:10])
    with pytest.raises(TypeError, match="cannot be saved; pickle"):
        model.save(tmp_path / "model.ramify")


# --- the door ------------------------------------------------------------------------

BAD_CALLS = {
    "nothing": ({}, TypeError, "one of X, graph, edges and neighbors, got none"),
    "two things": ({"X": X, "graph": np.eye(3)}, TypeError, "got 2 of them"),
    "not square": ({"graph": X}, ValueError, r"square matrix.*rows of numbers go in as fit\(X\)"),
    "negative": ({"edges": ([0], [1], [-0.5])}, ValueError, "larger is more alike"),
    "not a number": ({"edges": ([0], [1], [np.nan])}, ValueError, r"weight nan \(edge 0\)"),
    "infinite": ({"edges": ([0], [1], [np.inf])}, ValueError, r"weight inf \(edge 0\)"),
    "too heavy": ({"edges": ([0, 1], [1, 2], [3, 37])}, ValueError, "give max_weight=37 or more"),
    "heavy matrix": ({"graph": [[0, 4], [0, 0]]}, ValueError, "is above max_weight=1"),
    "texts as weights": ({"edges": ([0], [1], ["a"])}, TypeError, "weights of edges as numbers"),
    "two columns": ({"edges": ([0], [1])}, TypeError, r"\(i, j, weight\), got tuple of 2"),
    "not columns": ({"edges": 7}, TypeError, r"\(i, j, weight\), got int"),
    "lengths": ({"edges": ([0, 1], [1], [1.0])}, ValueError, "one length"),
    "no point": ({"edges": ([0], [-1], [1.0])}, ValueError, r"-1 \(edge 0\) is no point"),
    "half a point": ({"edges": ([0.5], [1], [1.0])}, TypeError, "whole numbers"),
    "points of mixed kinds": (
        {"edges": (np.array(["a", 1], object), ["b", "c"], [1.0, 1.0])},
        TypeError,
        "all strings or all integers",
    ),
    "number of named points": (
        {"edges": (["a"], ["b"], [1.0]), "n_points": 3},
        TypeError,
        "give ids= of all points",
    ),
    "too many columns": (
        {"edges": {"a": [1], "b": [2], "c": [0.5], "d": [0]}},
        ValueError,
        r"of 4 columns \('a', 'b', 'c', 'd'\); say which",
    ),
    "no such column": (
        {"edges": {"a": [1], "b": [2], "c": [0.5]}, "columns": ("a", "b", "score")},
        ValueError,
        "there is no 'score'; there are 'a', 'b', 'c'",
    ),
    "a table of nothing": (
        {"edges": {"a": [], "b": [], "c": []}},
        ValueError,
        "at least one edge",
    ),
    "two names": (
        {"edges": {"a": [1], "b": [2], "c": [0.5]}, "columns": ("a", "b")},
        TypeError,
        "three names",
    ),
    "a text as columns": (
        {"edges": {"a": [1], "b": [2], "c": [0.5]}, "columns": "abc"},
        TypeError,
        "three names",
    ),
    "columns of arrays": (
        {"edges": ([0], [1], [1.0]), "columns": ("a", "b", "c")},
        TypeError,
        "columns go with edges= of a table",
    ),
    "columns of rows": ({"X": X, "columns": ("a", "b", "c")}, TypeError, "goes with edges"),
    "lazy pairs": (
        {"edges": pl.LazyFrame({"a": [1], "b": [2], "c": [0.5]})},
        TypeError,
        r"lazy frame.*collect\(\)",
    ),
    "a missing id": (
        {"edges": pd.DataFrame({"a": ["x", None], "b": ["y", "z"], "c": [0.5, 0.5]})},
        TypeError,
        r"all integers, got nan beside 'x' \(edge 1\)",
    ),
    "a missing score": (
        {"edges": pd.DataFrame({"a": ["x"], "b": ["y"], "c": [None]}, dtype=object)},
        TypeError,
        "weights of edges as numbers",
    ),
    "unknown name": ({"edges": (["a"], ["b"], [1.0]), "ids": ["a"]}, ValueError, "none of the ids"),
    "number beyond ids": (
        {"edges": ([0], [9], [1.0]), "ids": ["a"]},
        ValueError,
        "there are 1 ids",
    ),
    "no edges": ({"edges": ([], [], [])}, ValueError, "at least one edge, or n_points"),
    "too few points": (
        {"edges": ([0], [5], [1.0]), "n_points": 3},
        ValueError,
        "there are 6 points",
    ),
    "n_points with rows": ({"X": X, "n_points": 3}, TypeError, "n_points goes with edges"),
    "lists of distances": ({"neighbors": X}, ValueError, "array of whole numbers"),
    "list of nobody": ({"neighbors": [[1], [2]]}, ValueError, r"2 \(list 1\) is no point"),
    "twice in a list": ({"neighbors": [[1, 1], [0, -1]]}, ValueError, "names point 1 twice"),
    "twins": ({"graph": np.eye(2), "ids": ["a", "a"]}, ValueError, "'a'"),
    "too few ids": ({"graph": np.eye(2), "ids": ["a"]}, ValueError, "expected 2"),
    "too many clusters": ({"edges": ([0], [1], [1.0])}, ValueError, "n_clusters=3 is more than"),
    "rows of nothing": ({"X": [[np.nan]]}, ValueError, "NaN"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_a_bad_call_says_what_would_be_right_and_changes_nothing(case):
    given_, kind, message = BAD_CALLS[case]
    model = GraphHAC(3).fit(X)
    before = model.hierarchy()
    with pytest.raises(kind, match=message):
        model.fit(**given_)
    assert model.hierarchy() is before
    assert model.n_features_in_ == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"linkage": "ward"}, "linkage='ward' is not offered; choose one of 'average', 'single'"),
        ({"weight": "umap"}, "weight='umap' is not offered"),
        ({"n_neighbors": 0}, "n_neighbors=0: expected at least 1"),
        ({"max_weight": 0}, "max_weight=0: expected a finite number above 0"),
        ({"metric": 3}, "name of a metric or a function"),
        ({"metric": "nonsense"}, r"scikit-learn could not search.*fit\(neighbors=\(points"),
        ({"n_clusters": 2, "distance_threshold": 1.0}, "both set"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"min_size": 3}, "min_size goes with n_clusters or distance_threshold"),
        ({"n_clusters": 2, "min_size": 0}, "min_size=0"),
    ],
)
def test_bad_options_are_refused_by_fit(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        GraphHAC(**options).fit(X)


def test_similarity_of_lists_needs_their_distances():
    with pytest.raises(ValueError, match=r"neighbors=\(points, distances\)"):
        GraphHAC(weight="similarity").fit(neighbors=[[1], [0]])


def test_progress_is_told_and_may_stop_the_work():
    told = []
    GraphHAC().fit(X, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (59, 59)
    model = GraphHAC(2).fit(X)
    before = model.hierarchy()

    def stop(done, total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        model.fit(X[:30], progress=stop)
    assert model.hierarchy() is before


def test_an_empty_model_says_so():
    assert len(GraphHAC()) == 0
    assert GraphHAC()
    with pytest.raises(NotFittedError, match="call 'fit' first"):
        GraphHAC().hierarchy()


def test_blobs_are_found_by_every_weight():
    rows, truth = make_blobs(300, centers=4, random_state=1, cluster_std=0.7)
    for weight in ("snn", "jaccard", "ranked", "similarity"):
        assert adjusted_rand_score(truth, GraphHAC(4, weight=weight).fit_predict(rows)) > 0.9
