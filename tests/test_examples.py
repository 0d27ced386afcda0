"""Every script in examples/ runs in an empty folder, and says and writes what it promises."""

import runpy
import shutil
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.image import imread
from sklearn.datasets import make_blobs

import ramify

pytestmark = pytest.mark.no_asan  # nothing new for the core

EXAMPLES = Path(__file__).parent.parent / "examples"

#: Lines that must be printed, and files that must be there afterwards.
PROMISES = {
    "cities": ([], ["cities.png", "tree.png"]),
    "compare_trees": (["OHAC, online", "SciPy, ward"], []),
    "duplicates": (["200 records, 127 spellings, 13 people", "wrong pairs: 0"], []),
    "growing": ([], ["growing.gif"]),
    "kafka_feeder": (["give a broker, a topic and a folder"], []),
    "queries": (
        ["hour 8: 4,500 questions", "302 questions about car oil tires", "agreement 0.73"],
        ["queries.ramify", "queries.html"],
    ),
    "redis_feeder": (
        ["after the crash: 140 tickets", "at the end: 300 tickets, 300 different ones"]
        if shutil.which("redis-server")
        else ["there is no redis-server here"],
        [],
    ),
    "summaries": (
        ["2,000 questions: 345 summaries", "one by one: 3.3 summaries each", "one is forgotten: 3"],
        ["questions", "summaries.sqlite"],
    ),
    "topics": (
        ["day 1: 60 texts in topics [0, 1, 2]", "topics [0, 1, 2, 3]", "a new text: [1]"],
        [],
    ),
    "with_ray": ([], []),
    "with_pandas": (["['latitude' 'longitude']"], ["clusters.csv"]),
    "with_river": (["<Hierarchy: 150 points"], []),
    "with_scipy": (["the same cut: True"], []),
}


def scripts() -> list[str]:
    return sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")


@pytest.mark.parametrize("name", scripts())
def test_example(name, tmp_path, capsys, monkeypatch):
    if name == "with_river":
        pytest.importorskip("river")
    if name == "with_ray":
        pytest.skip("test_ray.py runs it, on the cluster that it has started")
    monkeypatch.setattr(sys, "argv", [name])
    if name == "redis_feeder":
        pytest.importorskip("redis")
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    said, files = PROMISES[name]  # a new script must promise something
    printed = capsys.readouterr().out
    for line in said:
        assert line in printed
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)
    for file in files:
        assert (tmp_path / file).stat().st_size > 0
        if file.endswith(".png"):
            assert imread(tmp_path / file)[..., :3].std() > 0.02  # something was drawn


def test_the_questions_go_on_from_their_file():
    runpy.run_path(str(EXAMPLES / "queries.py"))
    model = ramify.load("queries.ramify")
    assert len(model.partial_fit(np.ones((1, 64)), ids=["extra"])) == 4_501


# --- the protocol of a topic model's clusterer --------------------------------------------


def topic_tree():
    return runpy.run_path(str(EXAMPLES / "topics.py"))["TopicTree"]


def topic_model(clusterer, batches):
    """What BERTopic does with a clusterer when it is fed batch by batch."""
    topics = []
    for batch in batches:
        clusterer = clusterer.partial_fit(batch)
        labels = clusterer.labels_
        assert len(labels) == len(batch)  # they become a column beside the documents
        topics.append(np.array(labels))
    return clusterer, topics


def test_a_topic_tree_is_a_clusterer_of_batches():
    X, truth = make_blobs(300, centers=4, n_features=8, random_state=0)
    tree, topics = topic_model(
        topic_tree()(ramify.OHAC(n_clusters=4, metric="cosine")), np.array_split(X, 6)
    )
    found = np.concatenate(topics[1:])  # topics of later batches keep their numbers:
    pairs = set(zip(found.tolist(), truth[50:].tolist(), strict=True))
    assert len(pairs) == 4
    assert np.array_equal(tree.predict(X), tree.topics)


def test_a_topic_tree_starts_anew_with_fit():
    X, _ = make_blobs(60, centers=3, n_features=4, random_state=1)
    tree = topic_tree()(ramify.OHAC(n_clusters=3)).partial_fit(X[:30])
    again = tree.fit(X, y=None)
    assert again is tree
    assert np.array_equal(tree.labels_, ramify.OHAC(n_clusters=3).fit(X).labels_)


@pytest.mark.parametrize("Estimator", [ramify.OHAC, ramify.OTD, ramify.BIRCH])
def test_the_estimators_are_clusterers_by_themselves_when_all_documents_come_at_once(Estimator):
    X, _ = make_blobs(60, centers=3, n_features=4, random_state=1)
    model = Estimator(n_clusters=3)
    model.fit(X, y=None)  # as BERTopic calls it
    assert len(model.labels_) == 60
    assert set(model.predict(X[:5])) <= set(model.labels_)
