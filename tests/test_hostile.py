# SPDX-License-Identifier: BSD-3-Clause
"""What hostile trials found that cross two features, each named after what went wrong."""

from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import ramify
from ramify.naming import Topics, Words
from ramify.ray import ShardedOHAC
from ramify.serve import running
from ramify.summaries import SummaryTree
from tests.test_homes import HOMES, KEEPERS, open_home

pytestmark = pytest.mark.no_asan  # other libraries at work


@pytest.mark.parametrize("seed", range(6))
def test_cuts_of_shards_under_dot_split_what_was_highest_last(tmp_path, seed):
    """Merges below 0 were taken for merges at 0, the height that leaves are said to have."""
    X = np.random.default_rng(seed).standard_normal((24, 2 + 5 * (seed % 2)))
    options = {"engine": "local", "block": 4, "frontier": 4, "metric": "dot"}
    with ShardedOHAC(3, folder=tmp_path, **options) as tree:
        still = tree.partial_fit(X).hierarchy()
        for k in range(1, 25):
            assert tree.cut(n_clusters=k).tolist() == still.cut(n_clusters=k).tolist()
        for height in np.unique(still.monotone_heights[len(X) :]).tolist():
            assert tree.cut(height=height).tolist() == still.cut(height=height).tolist()


@pytest.mark.parametrize("options", [{}, {"history": 9, "duplicates": "count"}], ids=str)
def test_summaries_of_a_tree_that_all_points_had_left_could_not_be_brought_up_to_date(options):
    model = ramify.OHAC(**options).fit([[0.0], [0.0], [9.0]], ids=["a", "b", "c"])
    summaries = SummaryTree(model, summarize=lambda parts, node: len(parts), levels=(3,))
    assert summaries.update().made == 1
    model.forget(["a", "b", "c"])
    assert summaries.update()[1:] == (0, 0, 0, 0)
    assert summaries.summaries(3) == []
    model.partial_fit([[1.0], [2.0]], ids=["a", "d"])
    assert summaries.update().made == 1


@pytest.mark.parametrize("options", [{}, {"duplicates": "count"}], ids=str)
def test_what_became_of_a_tree_that_all_points_had_left_was_not_told(options):
    model = ramify.OHAC(history=9, **options).fit([[0.0], [0.0], [9.0]])
    seen = model.version
    model.forget([0, 1, 2])
    assert not model.past.changes(0)
    assert model.past.changes(seen).forgotten.tolist() == [0, 1, 2]


def test_points_of_shards_that_all_points_had_left_raised_what_numpy_says(tmp_path):
    with ShardedOHAC(2, folder=tmp_path, engine="local") as tree:
        tree.partial_fit([[0.0], [1.0]]).forget([0, 1])
        with pytest.raises(NotFittedError, match="holds no points yet"):
            tree.point_numbers_  # noqa: B018


def frame():
    return pd.DataFrame({"a": [0.0, 1.0, 9.0], "b": [50.0, 51.0, 59.0]})


def test_columns_of_a_frame_in_another_order_went_into_shards(tmp_path):
    swapped = frame()[["b", "a"]]
    with ShardedOHAC(2, folder=tmp_path, engine="local", n_clusters=2) as tree:
        tree.partial_fit(frame()).partial_fit(frame().to_numpy())
    with ShardedOHAC(2, folder=tmp_path, engine="local", n_clusters=2) as tree:
        for ask in (tree.partial_fit, tree.predict, tree.assign, tree.nearest):
            with pytest.raises(ValueError, match="the columns are 'b', 'a', and those of this"):
                ask(swapped)
        assert tree.predict(frame()).tolist() == [0, 0, 1]
        assert tree.n_points_ == 6


@pytest.mark.parametrize("home", KEEPERS)
@pytest.mark.parametrize(
    "what", [{0: "x", 1: "y", 2: "z"}, {"x", "y", "z"}, "xyz"], ids=["mapping", "set", "text"]
)
def test_keys_of_a_mapping_were_kept_as_payloads(tmp_path, home, what):
    with ExitStack() as stack:
        tree = open_home(home, tmp_path, stack)
        with pytest.raises(TypeError, match="expected a sequence"):
            tree.add([[0.0], [1.0], [2.0]], payloads=what)
        assert len(tree) == 0


def test_topics_of_more_levels_than_cuts_keep_ids_were_all_named_anew_at_each_update():
    model = ramify.OHAC().fit(np.arange(40.0).reshape(-1, 1))
    texts = [f"word{i % 7} text" for i in range(40)]
    topics = Topics(model, levels=range(2, 18), texts=texts)
    assert topics.update().kept == 0
    assert topics.update().named == 0
    with pytest.raises(ValueError, match="levels: expected at most 16, got 17"):
        Topics(model, levels=range(2, 19), texts=texts)


@pytest.mark.parametrize("home", ["live", "folder", "remote"])
def test_trees_of_edges_had_no_words_and_no_second_summaries(tmp_path, home):
    said = dict(zip("abcd", ["red", "red red", "blue", "blue x"], strict=True))
    edges = (list("abc"), list("bcd"), [0.9, 0.1, 0.8])
    with ExitStack() as stack:
        if home == "live":
            tree = ramify.LiveGraphHAC()
        elif home == "folder":
            tree = stack.enter_context(ramify.open(tmp_path, ramify.LiveGraphHAC()))
        else:
            address = stack.enter_context(running(tmp_path))
            client = stack.enter_context(ramify.Client(address))
            tree = client.create("a", algorithm="live-graph-hac")
        add = tree.partial_fit if home == "live" else tree.add
        add(edges=edges, ids=list("abcd"))
        words = Words(tree, texts=said)
        summaries = SummaryTree(
            tree,
            summarize=lambda parts, node: [part.text for part in parts],
            levels=(2,),
            texts=said,
        )
        assert words.keywords(1, n_clusters=2) == [["red"], ["blue"]]
        assert summaries.update().made == 2
        tree.forget("a")
        assert words.keywords(1, n_clusters=2) == [["red"], ["blue"]]
        assert summaries.update()[1:] == (0, 0, 0, 0)
        assert [one.text for one in summaries.summaries(2)] == [["blue", "blue x"]]
        if home == "live":
            said |= {"a": "green", "b": "green", "c": "old", "d": "old"}
            tree.fit(edges=edges, ids=list("abcd"))
            assert words.keywords(1, n_clusters=2) == [["green"], ["old"]]


def test_words_of_rows_were_told_of_the_edges_that_took_their_place():
    said = dict(zip("abcd", ["red", "red", "blue", "blue"], strict=True))
    model = ramify.LiveGraphHAC().fit([[0.0], [0.1], [9.0], [9.1]], ids=list("abcd"))
    words = Words(model, texts=said)
    assert words.keywords(1, n_clusters=1) == model.clusters(n_clusters=1, texts=said).keywords(1)
    edges = (list("abc"), list("bcd"), [0.9, 0.1, 0.8])
    for begin, said["a"] in [({"edges": edges}, "old"), ({"X": [[0.0], [9.0]]}, "new")]:
        before = model.version
        model.fit(**begin, ids=list("abcd") if "edges" in begin else ["a", "b"])
        assert model.version > before
        wanted = model.hierarchy().clusters(n_clusters=2, texts=said).keywords(1)
        assert words.keywords(1, n_clusters=2) == wanted


@pytest.mark.parametrize("home", HOMES)
def test_to_forget_no_points_was_an_error_in_some_homes(tmp_path, home):
    with ExitStack() as stack:
        tree = open_home(home, tmp_path, stack)
        tree.partial_fit([[0.0], [1.0]], ids=["a", "b"])
        before = tree.version
        for nobody in ([], (), np.array([], dtype=object)):
            assert tree.forget(nobody) == 0
        assert (tree.n_points_, tree.version) == (2, before)


def test_a_number_with_a_point_in_it_was_the_id_of_another_point():
    large = 2**53
    model = ramify.OHAC().fit([[0.0], [1.0]], ids=[large, large + 1])
    for wrong in (float(large + 1), True, 1.5):
        with pytest.raises(KeyError, match="no point has the id"):
            model.forget([wrong])
    assert model.forget(np.array([large + 1])) == 1
    assert model.ids_.tolist() == [large]
