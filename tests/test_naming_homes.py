"""Trees and topics in other packages: the real ones, where they are installed."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import ramify
from ramify import datasets
from ramify.naming import Topics
from ramify.naming.homes import ForBERTopic, for_toponymy, label_layers, label_table

pytestmark = [pytest.mark.no_asan, pytest.mark.filterwarnings("ignore")]  # of those packages


def questions(n=600):
    found = datasets.intents()
    return found.points[:n], list(found.texts[:n])


def named(levels=(4, 12)):
    rows, texts = questions()
    model = ramify.OHAC(metric="cosine", linkage="ward").fit(rows)
    topics = Topics(model, levels=levels, texts=texts, stop_words="english")
    topics.update()
    return model, topics, texts


def test_labels_are_of_the_latest_batch_and_keep_their_numbers():
    rows, _ = questions()
    model = ramify.OHAC(metric="cosine", linkage="ward", keep=ramify.Last(400))
    topics, whole = ForBERTopic(model, 10), []
    for begin in range(0, 600, 100):
        labels = topics.partial_fit(rows[begin : begin + 100]).labels_
        ids = model.stable_labels(n_clusters=10, stickiness=0.01)
        assert labels.tolist() == ids[-100:].tolist()
        assert topics.predict(rows[begin : begin + 100]).tolist() == labels.tolist()
        whole.append(set(ids.tolist()))
    assert all(len(a & b) >= 5 for a, b in pairwise(whole))


def test_rows_that_were_not_kept_took_the_labels_of_others():
    """A row of zeros that is skipped, and rows of a batch that is longer than the window."""
    model = ramify.OHAC(metric="cosine", zero_rows="skip", keep=ramify.Last(4))
    topics = ForBERTopic(model, 2)
    topics.partial_fit([[1.0, 0.0], [0.0, 1.0]])
    a, b = topics.labels_.tolist()
    assert topics.partial_fit([[0.0, 2.0], [0.0, 0.0], [3.0, 0.0]]).labels_.tolist() == [b, -1, a]
    rows = [[1.0, 0.1], *[[4.0, 0.0]] * 2, *[[0.0, 4.0]] * 3]
    left = topics.partial_fit(rows).labels_.tolist()  # all of before have gone, and their ids
    assert left == [-1, -1, left[2], left[3], left[3], left[3]]
    assert left[2] != left[3]
    assert {a, b}.isdisjoint(left)
    assert topics.fit([[0.0, 0.0], [1.0, 0.0]]).labels_[0] == -1


def test_bertopic_grows_with_the_tree():
    bertopic = pytest.importorskip("bertopic")
    from bertopic.backend import BaseEmbedder
    from bertopic.dimensionality import BaseDimensionalityReduction
    from bertopic.vectorizers import OnlineCountVectorizer

    rows, texts = questions()
    options = {
        "umap_model": BaseDimensionalityReduction(),
        "embedding_model": BaseEmbedder(),
    }
    tree = ForBERTopic(ramify.OHAC(metric="cosine", linkage="ward"), 10)
    once = bertopic.BERTopic(hdbscan_model=tree, **options)
    labels, _ = once.fit_transform(texts, rows)
    groups = tree.model.cut(n_clusters=10)
    assert len(set(labels)) == 10
    assert len(set(zip(labels, groups.tolist(), strict=True))) == 10
    again, _ = once.transform(texts[:50], rows[:50])
    assert list(again) == list(labels[:50])

    tree = ForBERTopic(ramify.OHAC(metric="cosine", linkage="ward"), 10)
    counts = OnlineCountVectorizer(stop_words="english")
    grown = bertopic.BERTopic(hdbscan_model=tree, vectorizer_model=counts, **options)
    seen = set()
    for begin in range(0, 600, 200):
        grown.partial_fit(texts[begin : begin + 200], rows[begin : begin + 200])
        assert len(grown.topics_) == 200
        seen |= set(tree.labels_.tolist())
    assert set(grown.topic_mapper_.get_mappings()) == seen
    assert all(grown.get_topic(topic) for topic in set(grown.topics_))


def test_toponymy_names_the_layers_of_a_tree(monkeypatch):
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    toponymy = pytest.importorskip("toponymy")
    from toponymy.llm_wrappers import LLMWrapper

    class Namer(LLMWrapper):
        """No model: it tells a topic by a number."""

        supports_system_prompts, model, count = False, "none", 0

        def _call_llm(self, prompt, temperature, max_tokens):
            Namer.count += 1
            return f'{{"topic_name": "topic {Namer.count}", "topic_specificity": 0.5}}'

        _call_llm_with_system_prompt = _call_llm

    class Embedder:
        def encode(self, texts, **options):
            rng = np.random.default_rng(0)
            return rng.normal(size=(len(texts), 64)).astype(np.float32)

    rows, texts = questions(300)
    model = ramify.OHAC(metric="cosine", linkage="ward").fit(rows)
    clusterer = for_toponymy(model, (3, 9))
    named = toponymy.Toponymy(Namer(), Embedder(), clusterer, verbose=False)
    named.fit(texts, rows, rows)
    assert [len(names) for names in named.topic_names_] == [9, 3]
    fine, coarse = named.cluster_layers_
    assert fine.cluster_labels.tolist() == model.cut(n_clusters=9).tolist()
    assert coarse.cluster_labels.tolist() == model.cut(n_clusters=3).tolist()
    parents = {label: coarse.cluster_labels[fine.cluster_labels == label] for label in range(9)}
    for (layer, parent), children in clusterer.cluster_tree_.items():
        if layer == 1:
            assert all(set(parents[child].tolist()) == {parent} for _, child in children)
    with pytest.raises(ValueError, match="ascending"):
        for_toponymy(model, (9, 3))


def test_layers_of_labels_are_those_of_datamapplot(monkeypatch):
    _, topics, _ = named()
    layers = label_layers(topics)
    assert [len(set(layer.tolist())) for layer in layers] == [12, 4]
    for fine in set(layers[0].tolist()):
        assert len(set(layers[1][layers[0] == fine].tolist())) == 1
    datamapplot = pytest.importorskip("datamapplot")
    # It asks for a font on the internet, and does without if there is none of that name.
    no_font = SimpleNamespace(ok=False)
    monkeypatch.setattr(datamapplot.interactive_rendering.requests, "get", lambda url: no_font)
    xy = np.random.default_rng(0).normal(size=(600, 2)) + 9 * np.eye(2)[topics.labels(4) % 2]
    page = datamapplot.create_interactive_plot(xy, *layers, enable_search=False)
    assert len(str(page)) > 10_000
    shown = datamapplot.interactive_rendering.label_text_and_polygon_dataframes
    for level, layer in zip((12, 4), layers, strict=True):
        found = shown(layer, xy)
        assert {" ".join(one.split()) for one in found.label} == set(topics.names(level))


def test_a_table_of_labels_opens_in_embedding_atlas(tmp_path):
    _, topics, texts = named()
    xy = np.random.default_rng(0).normal(size=(600, 2))
    table = label_table(topics, xy, texts=texts)
    assert list(table) == ["point", "text", "x", "y", "topic_4", "topic_12"]
    assert table["topic_4"] == label_layers(topics)[1].tolist()
    with pytest.raises(ValueError, match="one for each point"):
        label_table(topics, texts=texts[:5])
    widget = pytest.importorskip("embedding_atlas.widget")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table)
    shown = widget.EmbeddingAtlasWidget(frame, row_id="point", x="x", y="y", text="text")
    assert shown is not None
    frame.to_parquet(tmp_path / "topics.parquet")
    from embedding_atlas.utils import load_pandas_data

    assert load_pandas_data(str(tmp_path / "topics.parquet")).topic_12.tolist() == table["topic_12"]
