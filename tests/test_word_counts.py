"""Words of clusters that are counted as points come and go, against counts from scratch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify.word_counts import WordCounts
from tests.oracles import word_counts as oracle
from tests.strategies import examples, seeds


def some_text(rng):
    """Words of which some are frequent and some are alike in all counts."""
    return " ".join(f"w{int(one)}" for one in rng.geometric(0.2, size=rng.integers(0, 7)))


@given(seeds(), st.integers(1, 40), st.integers(1, 6), st.integers(1, 5))
@settings(max_examples=examples(60))
def test_words_are_those_of_a_count_from_scratch_whatever_came_before(seed, steps, groups, k):
    rng = np.random.default_rng(seed)
    texts, there, counts = {}, [], WordCounts(str.split)
    for _ in range(steps):
        come = int(rng.integers(0, 4))
        gone = rng.permutation(len(there))[: rng.integers(0, 4)].tolist()
        there = [one for i, one in enumerate(there) if i not in gone]
        new = range(len(texts), len(texts) + come)
        texts.update({number: some_text(rng) for number in new})
        there += new
        numbers = np.array(there, np.int64)
        counts.follow(numbers, lambda some: [texts[one] for one in some.tolist()])
        for name in rng.permutation(2).tolist()[: rng.integers(1, 3)]:
            labels = rng.integers(-1, groups, size=len(there)) if rng.random() < 0.4 else None
            if labels is None:  # nearly as before
                labels = (numbers * (name + 2)) % groups
                labels[rng.random(len(labels)) < 0.1] = 0
            found = counts.telling(name, labels, groups, k)
            wanted = [texts[one] for one in there]
            assert found == oracle.telling(wanted, labels.tolist(), groups, k)
        counts.check()
    counts.follow(np.empty(0, np.int64), lambda some: [])
    assert counts.telling(0, np.empty(0, np.int64), groups, k) == [[]] * groups
    counts.check()


def test_words_of_texts_that_have_gone_are_let_go():
    counts = WordCounts(str.split)
    texts = [f"secret{i} common" for i in range(200)]
    told = lambda some: [texts[one] for one in some.tolist()]  # noqa: E731
    counts.follow(np.arange(200), told)
    counts.telling("a", np.zeros(200, np.int64), 1, 3)
    before = counts.nbytes
    counts.follow(np.arange(190, 200), told)
    assert counts.nbytes < before
    assert sorted(counts._word_of) == sorted(["common", *(f"secret{i}" for i in range(190, 200))])
    counts.check()


def test_a_text_that_cannot_be_read_leaves_all_as_it_was():
    def analyze(text):
        yield from text.split()
        if "bad" in text:
            raise RuntimeError("no words")

    counts = WordCounts(analyze)
    counts.follow(np.arange(2), lambda some: ["a b", "b c"])
    with pytest.raises(RuntimeError, match="no words"):
        counts.follow(np.arange(1, 4), lambda some: ["d e f g", "bad h"])
    counts.check()
    assert len(counts) == 2
    counts.follow(np.arange(3), lambda some: ["a d"])
    counts.check()
    assert counts.telling(0, np.array([0, 0, 1]), 2, 1) == [["b"], ["d"]]


def test_only_the_latest_cuts_are_kept():
    counts = WordCounts(str.split)
    counts.follow(np.arange(9), lambda some: ["a b"] * len(some))
    for name in range(30):
        counts.telling(name, np.arange(9) % 3, 3, 1)
    assert len(counts._cuts) == 8


@pytest.mark.parametrize("options", [{}, {"keep": ramify.Last(40)}])
def test_a_folder_counts_on_as_from_scratch(tmp_path, options):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3)).repeat(1, axis=0)
    texts = [f"{some_text(rng)} end{i % 5} of" for i in range(120)]
    cuts = [
        {"n_clusters": 4},
        {"n_clusters": 9},
        {"max_size": 12},
        {"n_clusters": 3, "min_size": 5},
    ]
    with ramify.open(tmp_path, ramify.OHAC(linkage="ward", **options)) as tree:
        for at in range(0, 120, 20):
            tree.add(X[at : at + 20], payloads=texts[at : at + 20])
            if at == 60:
                tree.forget(tree.point_numbers_[:7:2].tolist())
            here = [texts[number] for number in tree.point_numbers_.tolist()]
            for cut in cuts:
                for more in ({}, {"bigrams": True, "stop_words": ["end1"]}):
                    wanted = tree.clusters(**cut, texts=here).keywords(4, **more)
                    assert tree.keywords(4, **cut, **more) == wanted
        assert len(tree._live_keywords._ways) == 2
