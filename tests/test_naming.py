"""Words and names of topics that stay while the tree goes on."""

import asyncio
from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

import ramify
from ramify.naming import Topics, Words
from ramify.naming._books import change
from ramify.summaries import SummaryTree
from tests.strategies import examples, seeds
from tests.test_homes import HOMES, KEEPERS, open_home, stream


def texts_of(rng, n):
    return [" ".join(f"word{one}" for one in rng.geometric(0.15, size=6)) for _ in range(n)]


@pytest.mark.parametrize("home", HOMES)
def test_words_are_those_of_a_count_from_scratch_in_every_home(tmp_path, home):
    X, ids, _ = stream()
    texts = dict(zip(ids, texts_of(np.random.default_rng(1), 60), strict=True))
    with ExitStack() as stack:
        tree = open_home(home, tmp_path, stack)
        words = Words(tree, texts=texts, stop_words=["word1"])
        asked = {"n_clusters": 4}, {"n_clusters": 2, "min_size": 3}, {}
        for begin in range(0, 60, 15):
            tree.partial_fit(X[begin : begin + 15], ids=ids[begin : begin + 15])
            if begin == 30:
                tree.forget([ids[2], ids[17]])
            still = tree.hierarchy()
            for cut in asked:
                own = cut or {"n_clusters": 3}
                wanted = still.clusters(**own, texts=texts).keywords(3, stop_words=["word1"])
                assert words.keywords(3, **cut) == wanted
            words._counts.check()


@pytest.mark.parametrize("home", KEEPERS)
def test_words_and_names_are_made_of_payloads_where_there_are_any(tmp_path, home):
    X, ids, payloads = stream()
    with ExitStack() as stack:
        tree = open_home(home, tmp_path, stack)
        tree.partial_fit(X, ids=ids, payloads=payloads)
        assert Words(tree).keywords(4, n_clusters=4) == tree.keywords(4, n_clusters=4)
        topics = stack.enter_context(Topics(tree, levels=(2, 4)))
        assert topics.update().named == 6
        assert topics.update()[1:] == (0, 6, 0)
        assert len(set(topics.names(4))) == 4


LISTED = ["red apple", "red pear", "train", "old train"]


@pytest.mark.parametrize("ids", [None, [2, 3, 0, 1], [-1, -2, -3, -4], list("abcd")], ids=str)
@pytest.mark.parametrize(
    "kind", [list, tuple, np.array, lambda some: pd.Series(some, [3, 1, 0, 2])]
)
def test_a_list_of_texts_was_looked_up_by_ids_that_are_whole_numbers(ids, kind):
    model = ramify.OHAC(history=9).fit([[0.0], [0.1], [9.0], [9.1]], ids=ids)
    texts = kind(LISTED)
    wanted = model.clusters(n_clusters=2, texts=texts).keywords(1)
    assert Words(model, texts=texts).keywords(1, n_clusters=2) == wanted == [["red"], ["train"]]
    told = SummaryTree(
        model,
        summarize=lambda parts, node: sorted(part.text for part in parts),
        levels=(2,),
        texts=texts,
    )
    told.update()
    assert [one.text for one in told.summaries(2)] == [sorted(LISTED[:2]), sorted(LISTED[2:])]
    model.partial_fit([[5.0]], ids=None if ids is None else [77 if ids[0] != "a" else "e"])
    with pytest.raises(LookupError, match="texts: there is none for the point"):
        Words(model, texts=texts).keywords(1, n_clusters=2)


@pytest.mark.parametrize(
    ("vectorizer", "said"),
    [
        (CountVectorizer(), "red apple"),
        (CountVectorizer(ngram_range=(2, 2)), "red apple"),
        (CountVectorizer(vocabulary=["apple"]), "apple"),
        (str.split, "apple Red"),
    ],
    ids=["plain", "pairs", "vocabulary", "function"],
)
def test_any_vectorizer_makes_the_words(vectorizer, said):
    model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
    words = Words(model, texts=["Red apple", "apple", "a train"], vectorizer=vectorizer)
    first = words.keywords(2, n_clusters=2)[0]
    assert set(" ".join(first).split()) == set(said.split())


def test_words_of_another_stream_are_counted_anew():
    model = ramify.OHAC().fit([[0.0], [9.0]])
    texts = ["red", "green"]
    words = Words(model, texts=lambda names: [texts[one] for one in names])
    assert words.keywords(1, n_clusters=2) == [["red"], ["green"]]
    texts = ["up", "down"]
    model.fit([[0.0], [9.0]])
    assert words.keywords(1, n_clusters=2) == [["up"], ["down"]]


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"vectorizer": CountVectorizer(min_df=2)}, ValueError, "min_df=2 is about all texts"),
        ({"vectorizer": 3}, TypeError, "expected a CountVectorizer"),
        ({"vectorizer": str.split, "bigrams": True}, ValueError, "options of the vectorizer"),
        ({"stop_words": "german"}, ValueError, "expected a list of words"),
        ({"levels": (9, 3)}, ValueError, "ascending"),
        ({"share": -1}, ValueError, "from 0"),
        ({"name": "x"}, TypeError, "expected a function of"),
        ({"batch": 0}, ValueError, "batch"),
    ],
)
def test_bad_options(options, error, says):
    with pytest.raises(error, match=says):
        Topics(ramify.OHAC(), **options)


class Asked:
    """A function that names, and remembers whom it was asked about."""

    def __init__(self, answer):
        self.answer, self.topics = answer, []

    def __call__(self, topic):
        self.topics.append(topic)
        return self.answer(topic)


@given(
    seeds(),
    st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    st.sampled_from([0.0, 0.05]),
    st.sampled_from([None, 25]),
    st.integers(1, 3),
)
@settings(max_examples=examples(40))
def test_a_name_changes_only_when_its_members_did_and_no_two_are_alike(
    seed, share, stickiness, window, kinds
):
    """The function gives few names, so that most of them are taken."""
    rng = np.random.default_rng(seed)
    texts = texts_of(rng, 90)
    model = ramify.OHAC(linkage="ward", keep=window and ramify.Last(window))
    asked = Asked(lambda topic: f"kind {len(asked.topics) % kinds}")
    topics = Topics(
        *(model,), name=asked, texts=texts, levels=(3, 7), share=share, stickiness=stickiness
    )
    members, names = {}, {}
    for begin in range(0, 90, 15):
        model.partial_fit(rng.normal(size=(15, 2)))
        if window is None:
            model.forget(rng.permutation(model.point_numbers_)[: rng.integers(0, 8)].tolist())
        if rng.random() < 0.2 and begin:
            model.polish()
        asked.topics.clear()
        done = topics.update()
        numbers, there = model.point_numbers_, set()
        for level in (3, 7):
            found = topics.names(level)
            assert None not in found
            assert len({one.casefold() for one in found}) == len(found)
            assert np.array_equal(np.unique(topics.labels(level)), np.arange(len(found)))
            for at, (topic, name) in enumerate(zip(topics.ids(level).tolist(), found, strict=True)):
                now = numbers[topics.labels(level) == at]
                there.add(topic)
                stays = topic in names and change(members[topic], now) <= share
                assert stays == (topic not in {one.id for one in asked.topics})
                if stays:
                    assert names[topic] == name
                else:
                    names[topic], members[topic] = name, now
        assert done[1:] == (len({one.id for one in asked.topics}), 10 - done.named, 0)
        for topic in names.keys() - there:
            del names[topic], members[topic]
        assert topics._books.named.keys() == there
    assert change(np.arange(4), np.arange(1, 5)) == 0.5


def test_what_is_seen_of_a_topic():
    X = [[0.0], [1.0], [4.0], [5.0], [50.0], [51.0], [56.0]]
    texts = ["red apple", "red pear", "red plum", "red fig", "old train", "train", "old bus"]
    asked = Asked(lambda topic: f"about {topic.words[0]} {topic.id}")
    topics = Topics(
        *(ramify.OHAC().fit(X),), name=asked, levels=(2, 4), texts=texts, words=2, examples=2
    )
    assert topics.update().named == 6
    fine, coarse = asked.topics[:4], asked.topics[4:]
    assert [one.level for one in asked.topics] == [4] * 4 + [2] * 2
    assert [one.size for one in fine] == [2, 2, 2, 1]
    assert coarse[0].children == [topics.name_of(one.id) for one in fine[:2]]
    assert coarse[0].words[0] == "red"
    assert coarse[0].examples == ["red apple", "red pear"]
    assert (coarse[0].siblings, coarse[0].parent, coarse[0].before) == ([], None, None)
    assert topics.parents(4).tolist() == [0, 0, 1, 1]
    asked.topics.clear()
    topics._books.named.pop(fine[1].id)
    assert topics.update().named == 1
    (again,) = asked.topics
    assert again.parent == topics.names(2)[0]
    assert again.siblings == [topics.name_of(fine[0].id)]


def test_an_answer_that_is_taken_is_asked_for_once_more_and_then_told_apart():
    X, texts = [[0.0], [9.0], [20.0]], ["red apple", "red pear", "red plum"]
    asked = Asked(lambda topic: "Fruit" if not topic.taken or topic.id == 2 else "other fruit")
    topics = Topics(ramify.OHAC().fit(X), name=asked, levels=(3,), texts=texts)
    assert topics.update().named == 3
    assert topics.names(3) == ["Fruit", "other fruit", "Fruit (plum)"]
    assert [list(one.taken) for one in asked.topics[3:]] == [["Fruit"], ["Fruit"]]
    same = Topics(ramify.OHAC().fit(X), name=lambda topic: "x", levels=(3,), texts=["", "", ""])
    same.update()
    assert same.names(3) == ["x", "x 2", "x 3"]


@pytest.mark.parametrize("batch", [None, 2])
@pytest.mark.parametrize("is_async", [False, True])
def test_functions_of_all_kinds(batch, is_async):
    sizes = []

    def plain(topics):
        some = [topics] if batch is None else topics
        sizes.append(len(some))
        found = [f"{one.words[0]}!" for one in some]
        return found[0] if batch is None else found

    async def later(topics):
        await asyncio.sleep(0)
        return plain(topics)

    model = ramify.OHAC().fit([[0.0], [9.0], [20.0]])
    topics = Topics(
        *(model,),
        name=later if is_async else plain,
        levels=(3,),
        texts=["red", "green", "blue"],
        batch=batch,
    )
    assert topics.update().named == 3
    assert topics.names(3) == ["red!", "green!", "blue!"]
    assert sorted(sizes) == ([1, 1, 1] if batch is None else [1, 2])

    async def inside():
        with pytest.raises(RuntimeError if is_async else TypeError):
            topics.update() if is_async else await topics.update_async()
        if is_async:
            return await topics.update_async()
        return topics.update()

    assert asyncio.run(inside()).named == 0


def test_a_budget_and_a_function_that_fails_leave_the_rest_for_later():
    model = ramify.OHAC().fit([[0.0], [9.0], [20.0], [40.0]])
    texts = ["red", "green", "blue", "grey"]
    answers = iter(["a", RuntimeError("no"), "b", 7, "  ", "c", "d"])

    def name(topic):
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found

    topics = Topics(model, name=name, levels=(4,), texts=texts, budget=2)
    with pytest.raises(RuntimeError, match="no"):
        topics.update()
    assert topics.names(4) == ["a", None, None, None]
    for _ in range(2):
        with pytest.raises(TypeError, match="expected a text that is not empty"):
            topics.update()
    assert topics.update()[1:] == (2, 2, 0)
    assert topics.names(4) == ["a", "b", "c", "d"]
    few = Topics(model, levels=(4,), texts=texts, budget=3)
    assert few.update()[1:] == (3, 0, 1)
    assert few.update()[1:] == (1, 3, 0)


@pytest.mark.parametrize("home", ["live", "folder"])
def test_names_survive_a_restart(tmp_path, home):
    X, ids, _ = stream()
    texts = dict(zip(ids, texts_of(np.random.default_rng(2), 60), strict=True))
    asked = Asked(lambda topic: f"{topic.words[0]} {topic.id}")
    more = {"name": asked, "texts": texts, "levels": (3, 6), "store": tmp_path / "names.db"}
    with ExitStack() as stack:
        tree = open_home(home, tmp_path / "tree", stack)
        tree.partial_fit(X[:50], ids=ids[:50])
        with Topics(tree, **more) as topics:
            assert topics.update().named == 9
            before = [topics.names(level) for level in (3, 6)]
        if home == "live":
            tree.save(tmp_path / "saved")
    with ExitStack() as stack:
        if home == "live":
            tree = ramify.load(tmp_path / "saved")
        else:
            tree = open_home(home, tmp_path / "tree", stack)
        with Topics(tree, **more) as topics:
            assert [topics.names(level) for level in (3, 6)] == before
            assert topics.update()[1:] == (0, 9, 0)
            tree.partial_fit(X[50:51], ids=ids[50:51])
            assert topics.update().named <= 2
    (tmp_path / "names.db").write_bytes(b"no file of SQLite" * 99)
    with pytest.raises(ValueError, match="no store of names"):
        Topics(tree, **more)
