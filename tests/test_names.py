# SPDX-License-Identifier: BSD-3-Clause
"""Names that people give to clusters, and that stay with the points."""

import pickle
import shutil
import tempfile
import threading

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import ramify
from ramify import HAC, OHAC, OTD, PERCH, Last, datasets
from ramify.estimators.stream import Stream
from ramify.journal import _model
from tests.oracles.names import NamedSets
from tests.strategies import examples


def clusters_of(model):
    """The points below every node, by id."""
    tree = model.hierarchy()
    ids = [*(-1 - tree.leaf_numbers).tolist(), *tree.node_ids.tolist()]
    leaf_of = model._live.leaf_of(model.point_numbers_)
    found = {}
    for node, id in enumerate(ids):
        leaves = tree.leaf_numbers[tree.leaves(node)]
        found[id] = frozenset(model.point_numbers_[np.isin(leaf_of, leaves)].tolist())
    return found


class Named(RuleBasedStateMachine):
    """Names, while points come and go, the tree is polished, and files are read again."""

    @initialize(
        seed=st.integers(0, 2**32 - 1),
        Estimator=st.sampled_from([OHAC, OHAC, OTD, PERCH]),
        window=st.sampled_from([None, 9, 14]),
        repeats=st.booleans(),
    )
    def begin(self, seed, Estimator, window, repeats):
        rng = np.random.default_rng(seed)
        centers = rng.normal(size=(4, 2)) * 8
        self.X = centers[rng.integers(4, size=300)] + rng.normal(size=(300, 2))
        more = {"duplicates": "count"} if repeats and Estimator is OHAC else {}
        self.X = self.X.round() if more else self.X
        self.model = Estimator(keep=window and Last(window), **more)
        self.window = 10**9 if window is None else window
        self.oracle = NamedSets()
        self.next = 0
        self.model.partial_fit(self.X[:5])
        self.next = 5

    @rule(count=st.integers(1, 12))
    def insert(self, count):
        """At once; the oracle takes them one by one, in a copy."""
        step = pickle.loads(pickle.dumps(self.model))
        rows = self.X[self.next : self.next + count]
        for row in rows:
            if len(step.point_numbers_) >= self.window:
                self.oracle.leave(clusters_of(step), {int(step.point_numbers_[0])})
            step.insert(row)
        self.next += len(rows)
        if len(rows):
            self.model.partial_fit(rows)

    @precondition(lambda self: len(self.model.point_numbers_) > 3)
    @rule(data=st.data())
    def forget(self, data):
        numbers = self.model.point_numbers_.tolist()
        some = data.draw(st.lists(st.sampled_from(numbers), unique=True, max_size=len(numbers) - 2))
        if some:
            self.oracle.leave(clusters_of(self.model), set(some))
            self.model.forget(some)

    @rule(data=st.data(), text=st.sampled_from(["refunds", "", "Größe ∞"]))
    def rename(self, data, text):
        clusters = clusters_of(self.model)
        id = data.draw(st.sampled_from(sorted(clusters)))
        self.oracle.rename(clusters, id, text)
        self.model.edit.rename(id, text)

    @rule(how=st.sampled_from(["file", "pickle", "polish"]))
    def reshape(self, how):
        if how == "polish" and isinstance(self.model, OHAC):
            self.model.polish(4)
        elif how == "pickle":
            self.model = pickle.loads(pickle.dumps(self.model))
        else:
            with tempfile.TemporaryDirectory() as folder:
                self.model.save(f"{folder}/tree.ramify")
                self.model = ramify.load(f"{folder}/tree.ramify")

    @invariant()
    def are_where_they_should_be(self):
        clusters, given = clusters_of(self.model), self.oracle.given
        homes, shown, lost = self.oracle.where(clusters)
        said = self.model.edit.list()
        assert said.names == {id: given[i][1] for id, i in homes.items()}
        assert said.lost_names == {given[i][0]: given[i][1] for i in lost}
        for k in range(1, len(self.model.hierarchy()) + 1, 3):
            found = self.model.clusters(n_clusters=k)
            wanted = [
                given[shown[id]][1] if id in shown else None for id in found.node_ids.tolist()
            ]
            assert (found.names or [None] * k) == wanted
            seen = [shown[id] for id in found.node_ids.tolist() if id in shown]
            assert len(seen) == len(set(seen)), "two clusters of a cut show one name"


TestNamed = Named.TestCase
TestNamed.settings = settings(max_examples=examples(12), stateful_step_count=12, deadline=None)


def lost_of(X, k, **options):
    """Names of all clusters of a cut, and how many are lost when a tenth more has come."""
    rows = X[np.random.default_rng(0).permutation(len(X))]
    begin = int(len(rows) / 1.1)
    model = OHAC(**options).fit(rows[:begin])
    for cluster in model.clusters(n_clusters=k):
        model.edit.rename(cluster, f"topic {cluster.label}")
    model.partial_fit(rows[begin:])
    return len(model.edit.list().lost_names), model


@pytest.mark.parametrize("k", [8, 150])
def test_names_of_intents_outlive_a_tenth_more(k):
    """Three of eight were lost: they hung on nodes, and inserts make nodes anew."""
    lost, model = lost_of(datasets.intents().points, k, metric="cosine")
    assert lost == 0
    assert sorted(model.hierarchy().node_names.values()) == sorted(
        text for id, text in model.edit.list().names.items() if id >= 0
    )


def test_names_of_cities_outlive_a_tenth_more():
    lost, model = lost_of(np.asarray(datasets.cities().points)[:5_000], 30)
    names = model.clusters(n_clusters=30).names
    assert lost == 0
    assert names.count(None) <= 1


def two_topics(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + np.where(np.arange(n) % 2, 50, 0)[:, None]


@pytest.mark.parametrize("step", [1, 7, 400])
def test_names_outlive_all_the_points_that_they_were_given_to(step):
    """A name passes to the points that are with it, at the same row however rows come."""
    X = two_topics(400)
    model = OHAC(keep=Last(40)).fit(X[:40])
    for cluster in model.clusters(n_clusters=2):
        model.edit.rename(cluster, f"topic {cluster.first_point}")
    for start in range(40, 400, step):
        model.partial_fit(X[start : start + step])
    assert model.point_numbers_.min() == 360
    assert model.clusters(n_clusters=2).names == ["topic 0", "topic 1"]
    assert model.edit.list().lost_names == {}
    state = model._to_saved()
    whole = OHAC(keep=Last(40)).fit(X[:40])
    for cluster in whole.clusters(n_clusters=2):
        whole.edit.rename(cluster, f"topic {cluster.first_point}")
    other = whole.partial_fit(X[40:])._to_saved()
    assert state[0]["name_points"] == other[0]["name_points"]
    assert state[1]["name_points"].tolist() == other[1]["name_points"].tolist()


def test_names_outlive_trees_that_are_made_anew():
    X = two_topics(60)
    model = HAC().fit(X[:40])
    model.edit.rename(model.clusters(n_clusters=2)[1], "odd")
    again = HAC().fit(X)
    assert model.clusters(n_clusters=2).names == [None, "odd"]
    assert again.edit.list().names == {}


def test_names_in_a_folder_are_there_again(tmp_path):
    X = two_topics(300)
    with ramify.open(tmp_path, OHAC(keep=Last(60))) as tree:
        tree.partial_fit(X[:60])
        tree.edit.rename(tree.clusters(n_clusters=2)[0], "even")
        for start in range(60, 300, 16):
            tree.partial_fit(X[start : start + 16])
        wanted, digest = tree.edit.list().names, tree.digest()
        assert tree.clusters(n_clusters=2).names == ["even", None]
    with ramify.open(tmp_path) as again:
        assert again.edit.list().names == wanted
        assert again.digest() == digest


def test_a_folder_of_before_has_its_names(tmp_path, monkeypatch):
    """Its digests were of a tree whose names hung on nodes, and do not come out again."""
    saved = _model.saved

    def of_before(model):
        content, arrays = saved(model)
        content.pop("name_points", None)
        arrays.pop("name_points", None)
        return content | {"node_names": sorted(content["node_names"])}, arrays

    X = two_topics(60)
    with monkeypatch.context() as patched:
        patched.setattr(_model, "saved", of_before)
        tree = ramify.open(tmp_path / "a", OHAC(), hash_every=2)
        tree.partial_fit(X[:40])
        tree.edit.rename(tree.clusters(n_clusters=2)[1], "odd")
        for row in X[40:]:
            tree.partial_fit(row[None])
        shutil.copytree(tmp_path / "a", tmp_path / "b", ignore=shutil.ignore_patterns(".ramify-*"))
        tree.close()
    for folder in "ab":
        with ramify.open(tmp_path / folder) as again:
            assert again.clusters(n_clusters=2).names == [None, "odd"]


def test_a_file_of_before_has_its_names():
    """Names hung on nodes, and files did not say on which points."""
    model = OHAC().fit(two_topics(40))
    cluster = model.clusters(n_clusters=2)[1]
    model.edit.rename(cluster, "odd")
    content, arrays = model._to_saved()
    del content["name_points"], arrays["name_points"]
    content["node_names"].append([10**6, "gone"])
    from ramify.estimators._saved import from_saved

    old = from_saved(OHAC, content, arrays)
    assert old.edit.list().names == {cluster.node_id: "odd"}
    assert old.edit.list().lost_names == {10**6: "gone"}
    old.partial_fit(two_topics(20, seed=1))
    assert old.clusters(n_clusters=2).names == [None, "odd"]


def test_a_name_can_be_given_anew_and_taken_away():
    model = OHAC().fit(two_topics(40))
    first, second = model.clusters(n_clusters=2)
    model.edit.rename(first, "even")
    model.edit.rename(second, "odd")
    model.partial_fit(two_topics(400, seed=1))
    first, second = model.clusters(n_clusters=2)
    assert (first.name, second.name) == ("even", "odd")
    model.edit.rename(first, None)
    assert model.clusters(n_clusters=2).names == [None, "odd"]
    model.forget(second.members)
    assert list(model.edit.list().lost_names.values()) == ["odd"]
    model.edit.rename(next(iter(model.edit.list().lost_names)), None)
    assert model.edit.list().lost_names == {}


def test_a_part_of_what_was_named_does_not_have_the_name():
    X = np.concatenate([np.linspace(0, 1, 6), [5.0, 5.1, 5.2, 5.3], [90, 91]])[:, None]
    model = OHAC().fit(X)
    model.edit.rename(model.clusters(n_clusters=2)[0], "all the small ones")
    assert model.clusters(n_clusters=2).names == ["all the small ones", None]
    assert model.clusters(n_clusters=3).names is None


def test_who_reads_names_reads_a_tree_that_was_there():
    """A batch is under way in another thread; PERCH's tree is not all the core's own."""
    for Estimator in (OHAC, PERCH):
        model = Estimator().fit(two_topics(40))
        for cluster in model.clusters(n_clusters=2):
            model.edit.rename(cluster, f"topic {cluster.first_point}")
        grown = threading.Thread(target=model.partial_fit, args=(two_topics(3_000, seed=1),))
        grown.start()
        while grown.is_alive():
            names = Stream(model).node_names
            assert set(names.values()) <= {"topic 0", "topic 1"}
        grown.join()
        assert set(Stream(model).names_in_cuts.values()) == {"topic 0", "topic 1"}
