"""LiveGraphHAC: a graph that changes, as users see it; its tree is GraphHAC's, to the bit."""

import copy
import pickle
import threading
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import ramify
from ramify import GraphHAC, LiveGraphHAC, NoLabelsError, UnreadableFileError, archive
from tests.oracles.recount import core_of
from tests.strategies import examples, scaled


def offline(model):
    """GraphHAC of the graph that a live model holds."""
    ids = model.ids_.tolist()
    return GraphHAC(max_weight=model.max_weight).fit(edges=model.edges(), ids=ids).hierarchy()


def agree(model):
    live, expected = model.hierarchy(), offline(model)
    assert live == expected
    assert np.array_equal(live.names, expected.names)


def some_stream(rng, steps, name=str):
    """Calls: edges among old and new points, new weights, points that leave."""
    there, made = [], 0
    for _ in range(steps):
        if len(there) > 5 and rng.random() < 0.25:
            gone = rng.choice(len(there), int(rng.integers(1, 3)), False)
            names = [there[g] for g in gone]
            there = [one for one in there if one not in names]
            yield "forget", names
            continue
        if rng.random() < 0.8 or len(there) < 3:
            there.append(name(made))
            made += 1
        m = int(rng.integers(1, 6))
        i, j = (rng.integers(max(0, len(there) - 20), len(there), m) for _ in range(2))
        pairs = [(there[a], there[b]) for a, b in zip(i, j, strict=True)]
        weights = rng.integers(0, 5, m) / 4
        yield "edges", ([a for a, _ in pairs], [b for _, b in pairs], weights)


@settings(max_examples=examples(25), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), steps=st.integers(1, 60), numbers=st.booleans())
def test_after_every_call_the_tree_is_the_offline_one(seed, steps, numbers):
    model = LiveGraphHAC()
    name = (lambda i: 5 * i - 7) if numbers else (lambda i: f"p{i}")
    for i, (call, given_) in enumerate(some_stream(np.random.default_rng(seed), steps, name)):
        if call == "edges":
            model.partial_fit(edges=given_)
        else:
            there = [one for one in given_ if one in model.ids_.tolist()]
            assert model.forget(there) == len(there)
        if len(model) > 1 and i % 7 == 0:
            agree(model)
            model.check()
    if len(model) > 1:
        agree(model)


def group_edges(n, seed):
    """Edges of a graph with groups, and ids of its points."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 6, n)
    i, j = rng.integers(0, n, (2, 8 * n))
    kept = (i != j) & ((group[i] == group[j]) | (rng.random(8 * n) < 0.1))
    first, second = np.minimum(i, j)[kept], np.maximum(i, j)[kept]
    pairs = np.unique(np.column_stack([first, second]), axis=0)
    return pairs, rng.integers(1, 4, len(pairs)) / 3


def test_twenty_shuffles_and_a_sorted_stream_give_one_tree():
    n = scaled(150)
    pairs, weights = group_edges(n, 0)

    def named(model):
        tree = model.hierarchy()
        below = [frozenset([one]) for one in tree.names]
        for a, b in tree.children.tolist():
            below.append(below[a] | below[b])
        return dict(zip(below[tree.n_leaves :], tree.heights.tolist(), strict=True))

    expected = named(LiveGraphHAC().fit(edges=(*pairs.T, weights), ids=range(n)))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(pairs))
        model = LiveGraphHAC().partial_fit(ids=[*rng.permutation(n).tolist(), 10_000])
        for part in np.array_split(order, int(rng.integers(2, 40))):
            turned = pairs[part][:, ::-1] if seed % 2 else pairs[part]
            model.partial_fit(edges=(*turned.T, weights[part]))
        model.partial_fit(edges=([10_000] * 3, [0, 1, 2], [1.0, 0.4, 0.9])).forget(10_000)
        assert named(model) == expected


@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine"])
@pytest.mark.parametrize("ties", [False, True])
def test_rows_in_twenty_orders_and_sorted_are_one_tree_and_that_of_graph_hac(ties, metric):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(scaled(200) + 10, 3)) + 1
    if ties:  # many equal distances, and equal rows
        rows = np.round(rows) + (np.round(rows) == 0).all(axis=1, keepdims=True)
    how = {"n_neighbors": 6, "metric": metric, "weight": "jaccard"}

    kept = core_of(LiveGraphHAC(**how).fit(rows)).points()  # at unit length under cosine

    def contents(model, given_):
        """Of every cluster its rows and its height: equal rows are one another's equals."""
        tree = model.hierarchy()
        below = [(row,) for row in map(bytes, given_)]
        for a, b in tree.children.tolist():
            below.append(tuple(sorted(below[a] + below[b])))
        return Counter(zip(below[tree.n_leaves :], tree.heights.tolist(), strict=True))

    expected = contents(GraphHAC(**how).fit(rows), kept)
    for seed in range(20):
        order = rng.permutation(len(rows))
        if seed == 0:
            order = np.lexsort(rows.T)
        model = LiveGraphHAC(**how)
        for part in np.array_split(rows[order], min(int(rng.integers(1, 60)), len(rows))):
            model.partial_fit(part)
        assert contents(model, kept[order]) == expected
        assert model.hierarchy() == GraphHAC(**how).fit(rows[order]).hierarchy()


def test_edges_come_change_and_go():
    model = LiveGraphHAC(distance_threshold=0.5)
    model.partial_fit(edges=(["a", "b"], ["b", "c"], [0.9, 0.8]))
    assert model.labels_.tolist() == [0, 0, 1]
    model.partial_fit(edges=(["c"], ["a"], [1.0]))
    assert model.labels_.tolist() == [0, 0, 0]
    model.partial_fit(edges=(["a", "a", "a"], ["b", "c", "a"], [0, 0, 0.5]))
    assert model.labels_.tolist() == [0, 1, 1]
    a, b, w = model.edges()
    assert (a.tolist(), b.tolist(), np.round(w, 6).tolist()) == (["b"], ["c"], [0.8])
    agree(model)


def test_a_pair_that_comes_twice_in_a_call_has_its_largest_weight():
    twice = ([1, 2, 1], [2, 1, 2], [0.2, 0.9, 0.5])
    live = LiveGraphHAC().fit(edges=twice)
    assert live.edges()[2].round(6).tolist() == [0.9]
    assert live.hierarchy() == GraphHAC().fit(edges=twice, ids=[1, 2]).hierarchy()
    live.partial_fit(edges=([2], [1], [0.1]))  # a later call has the last word
    assert live.edges()[2].round(6).tolist() == [0.1]


def test_points_have_numbers_for_ever_and_ids_may_come_again():
    model = LiveGraphHAC().fit(edges=([7, 8], [8, 9], [0.5, 0.5]))
    assert model.forget(8) == 1
    model.partial_fit(edges=([8], [9], [0.25]))
    assert model.ids_.tolist() == [7, 9, 8]
    assert model.point_numbers_.tolist() == [0, 2, 3]
    assert model.hierarchy().point_numbers.tolist() == [0, 2, 3]
    assert model.number_of(8) == 3
    assert model.forget([7, 8, 9]) == 3
    assert len(model) == 0
    assert model.partial_fit(ids=["now", "texts"]).ids_.tolist() == ["now", "texts"]


def test_a_cut_by_modularity_goes_by_the_graphs_own_edges():
    ends = [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]
    weights = [0.9, 0.8, 0.7, 0.9, 0.8, 0.7, 0.1]
    names = [7, 3, 9, 1, 8, 2]
    model = LiveGraphHAC().fit(
        edges=([names[i] for i in ends[0]], [names[i] for i in ends[1]], weights), ids=names
    )
    graph = sparse.coo_array((weights, ends), shape=(6, 6)).toarray()
    expected = model.hierarchy().cut(by="modularity", graph=sparse.csr_array(graph + graph.T))
    assert model.cut(by="modularity").tolist() == expected.tolist() == [0, 0, 0, 1, 1, 1]
    fine = model.hierarchy().cut(
        by="modularity", resolution=9.0, graph=sparse.csr_array(graph + graph.T)
    )
    assert model.cut(by="modularity", resolution=9.0).tolist() == fine.tolist() != expected.tolist()
    assert model.clusters(by="modularity").sizes.tolist() == [3, 3]
    assert model.cluster_of([5], by="modularity")[0].tolist() == [1]


def test_a_snapshot_is_not_changed_by_later_calls():
    model = LiveGraphHAC(2).fit(edges=([1, 2], [2, 3], [0.9, 0.1]))
    tree, labels = model.hierarchy(), model.labels_
    assert model.hierarchy() is tree
    assert model.labels_ is labels
    model.partial_fit(edges=([1], [3], [1.0]))
    assert tree.n_leaves == 3
    assert tree.heights.tolist()[0] == pytest.approx(0.1)
    assert model.hierarchy() != tree
    assert labels.tolist() == [0, 0, 1]
    assert model.labels_.tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", [str, int])
def test_what_comes_back_goes_on_in_the_same_way(name, tmp_path):
    rng = np.random.default_rng(3)
    model = LiveGraphHAC(3, max_weight=2.0)
    for call, given_ in some_stream(rng, 80, name):
        if call == "edges":
            model.partial_fit(edges=given_)
        else:
            model.forget([one for one in given_ if one in model.ids_.tolist()])
    model.save(tmp_path / "graph.ramify")
    others = [
        ramify.load(tmp_path / "graph.ramify"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ]
    more = ([name(900), name(901)], [model.ids_[0], model.ids_[1]], [1.5, 0.5])
    before = model.hierarchy()
    assert all(other.hierarchy() == before for other in others)
    model.partial_fit(edges=more)
    for other in others:
        assert other.get_params() == model.get_params()
        assert other.partial_fit(edges=more).hierarchy() == model.hierarchy()
        assert np.array_equal(other.point_numbers_, model.point_numbers_)
        assert other.ids_.tolist() == model.ids_.tolist()
        other.check()
    assert ramify.saving.describe(tmp_path / "graph.ramify")["kind"] == "live graph"
    LiveGraphHAC().save(tmp_path / "empty.ramify")
    assert len(ramify.load(tmp_path / "empty.ramify")) == 0
    assert len(clone(model)) == 0


def test_a_forged_file_is_refused(tmp_path):
    model = LiveGraphHAC().fit(edges=([1, 2, 3], [2, 3, 4], [0.9, 0.1, 0.5]))
    model.forget(1)
    content, arrays = model._to_saved()

    def with_ends(ends):
        return content, {**arrays, "ends": np.array(ends, np.uint32)}

    for forged in (
        ({**content, "parameters": {"max_weight": -1}}, arrays),
        ({**content, "kept_max_weight": 0}, arrays),
        ({**content, "next": 2}, arrays),
        ({**content, "points": 7}, arrays),
        with_ends([[0, 9], [1, 2]]),
        with_ends([[0, 0], [1, 2]]),
        with_ends([[0, 1], [1, 0]]),
        (content, {**arrays, "weights": arrays["weights"] * 0}),
        (content, {**arrays, "weights": arrays["weights"] + 2**40}),
        (content, {**arrays, "numbers": arrays["numbers"][::-1].copy()}),
        (content, {one: arrays[one] for one in ("ends", "weights")}),
    ):
        archive.write(tmp_path / "forged.ramify", *forged)
        with pytest.raises(UnreadableFileError, match="no valid model"):
            ramify.load(tmp_path / "forged.ramify")


BAD_CALLS = {
    "rows": ({"X": [[1.0]], "edges": ([1], [2], [1])}, TypeError, "not both at once"),
    "nothing": ({}, TypeError, r"expected rows, or edges=\(i, j, weight\)"),
    "too heavy": ({"edges": ([1], [9], [7])}, ValueError, "give max_weight=7 or more"),
    "negative": ({"edges": ([1], [9], [-1])}, ValueError, "larger is more alike"),
    "another type": ({"edges": (["a"], ["b"], [1])}, TypeError, "of type str.*of type int so far"),
    "two types": ({"edges": ([5, "a"], [6, 7], [1, 1])}, TypeError, "all strings or all integers"),
    "floats": ({"edges": ([5.5], [6], [1])}, TypeError, "strings or integers"),
    "there already": ({"ids": [9, 1]}, ValueError, "1 is the id of a point already"),
    "twins": ({"ids": [9, 9]}, ValueError, "unique"),
    "lengths": ({"edges": ([1, 2], [3], [1])}, ValueError, "one length"),
    "no triple": ({"edges": ([1], [2])}, TypeError, "of 2"),
    "not ids": ({"ids": 7}, TypeError, "sequence of ids"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_a_bad_call_says_what_would_be_right_and_changes_nothing(case):
    given_, kind, message = BAD_CALLS[case]
    model = LiveGraphHAC().fit(edges=([1, 2], [2, 3], [0.9, 0.1]))
    before = model.hierarchy()
    for call in (model.partial_fit, model.fit):
        if call == model.fit and case in ("another type", "there already", "nothing"):
            continue
        with pytest.raises(kind, match=message):
            call(**{"edges": None, **given_})
        assert model.hierarchy() == before
        assert model.ids_.tolist() == [1, 2, 3]
    model.check()


def test_forgetting_names_what_is_not_there_and_forgets_nothing():
    model = LiveGraphHAC().fit(edges=([1, 2], [2, 3], [0.9, 0.1]))
    with pytest.raises(KeyError, match="no point has the id 7"):
        model.forget([1, 7])
    with pytest.raises(ValueError, match="unique"):
        model.forget([1, 1])
    with pytest.raises(TypeError, match="of type str"):
        model.forget("a")
    assert len(model) == 3
    agree(model)


def test_the_scale_cannot_change_half_way():
    model = LiveGraphHAC().fit(edges=([1], [2], [0.5]))
    model.set_params(max_weight=2.0)
    with pytest.raises(ValueError, match=r"max_weight was 1 .* is now 2; set it back, or begin"):
        model.partial_fit(edges=([1], [2], [0.5]))
    assert model.fit(edges=([1], [2], [0.5])).distances_.tolist() == [0.75]


def test_an_empty_model_says_so():
    model = LiveGraphHAC(2)
    assert len(model) == 0
    assert model
    for call in (model.hierarchy, model.edges, model.check, lambda: model.forget(1)):
        with pytest.raises(NotFittedError, match="call 'fit' first"):
            call()
    with pytest.raises(NoLabelsError, match="more than the 1 points"):
        model.partial_fit(ids=[1]).labels_  # noqa: B018
    with pytest.raises(NoLabelsError, match="neither n_clusters nor"):
        LiveGraphHAC().fit(edges=([1], [2], [0.5])).labels_  # noqa: B018


@pytest.mark.parametrize("made", [False, True])
def test_ctrl_c_on_either_side_of_a_change_leaves_all_of_it_or_nothing(made):
    model = LiveGraphHAC().fit(edges=(["a", "b"], ["b", "c"], [0.9, 0.1]))
    core = model._graph._core

    class Interrupted:
        """The core, with a signal that arrives before its update or right after it."""

        def update(self, *change):
            if made:
                core.update(*change)
            raise KeyboardInterrupt

        def __getattr__(self, name):
            return getattr(core, name)

    def interrupted(call, *given_, **more):
        model._graph._core = Interrupted()
        with pytest.raises(KeyboardInterrupt):
            call(*given_, **more)
        model._graph._core = core
        agree(model)
        model.check()

    interrupted(model.partial_fit, edges=(["d"], ["a"], [0.5]))
    assert model.ids_.tolist() == list("abcd" if made else "abc")
    interrupted(model.forget, "b")
    assert model.ids_.tolist() == list("acd" if made else "abc")
    model.partial_fit(edges=(["b"], ["a"], [0.7]))
    agree(model)


@pytest.mark.threads
def test_threads_that_change_one_graph_take_turns():
    model = LiveGraphHAC()
    model.partial_fit(ids=list(range(40)))

    def work(k):
        for i in range(k, 40, 4):
            model.partial_fit(edges=([i] * 3, [(i + s) % 40 for s in (1, 2, 5)], [1, 0.5, 0.25]))
            model.hierarchy()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(model.edges()[0]) == 120
    agree(model)
