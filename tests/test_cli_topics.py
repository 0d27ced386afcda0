# SPDX-License-Identifier: BSD-3-Clause
"""From texts and vectors to a page of topics."""

import json

import numpy as np
import pytest

import ramify
from ramify import datasets
from tests.commands import done, fails

pytestmark = pytest.mark.no_asan


@pytest.fixture
def files(tmp_path):
    questions = datasets.intents()
    lines = (json.dumps({"id": i, "text": text}) for i, text in enumerate(questions.texts[:600]))
    (tmp_path / "texts.jsonl").write_text("\n".join(lines))
    np.save(tmp_path / "vectors.npy", questions.points[:600])
    return tmp_path


def test_a_page_of_topics_has_words_and_texts(files):
    words = (files / "texts.jsonl", "--vectors", files / "vectors.npy", "--json")
    told = done("topics", *words, "-o", files / "t.html", "--tree", files / "t.ramify")
    facts = json.loads(told.out)
    assert facts["texts"] == 600
    page = (files / "t.html").read_text()
    assert facts["bytes"] == len(page.encode())
    model = ramify.load(files / "t.ramify")
    assert (model.metric, model.linkage, model.n_points_) == ("cosine", "ward", 600)
    texts = datasets.intents().texts[:600]
    named = model.hierarchy().clusters(n_clusters=8, texts=list(texts))
    for said in named.keywords(3, stop_words="english"):
        assert " ".join(said) in page
    assert texts[17][:40].replace("'", "") in page.replace("'", "").replace("\\u0027", "")


def test_as_many_texts_as_vectors_are_wanted(files):
    np.save(files / "few.npy", np.ones((3, 2)))
    words = (files / "texts.jsonl", "--vectors", files / "few.npy", "-o", files / "t.html")
    assert "600 texts" in fails("topics", *words)
    assert not (files / "t.html").exists()


def test_a_page_is_html(files):
    words = (files / "texts.jsonl", "--vectors", files / "vectors.npy", "-o", files / "t.png")
    assert ".html" in fails("topics", *words, code=2)
