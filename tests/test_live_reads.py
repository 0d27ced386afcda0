# SPDX-License-Identifier: BSD-3-Clause
"""Questions to a tree while it lives: the answers are a snapshot's, at any moment."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ramify
from ramify import OHAC, OTD, NaiveNN
from ramify.errors import NoLabelsError
from tests.every import every_estimator, every_online
from tests.strategies import SMALL, scaled

X = np.random.default_rng(0).normal(size=(120, 3))
CUTS = [{"n_clusters": 1}, {"n_clusters": 7}, {"height": 1.5}, {"max_size": 9}]


def assert_reads_as_its_snapshot(model, queries):
    tree = model.hierarchy()
    n = tree.n_leaves
    public = np.concatenate([-1 - np.arange(n), tree.node_ids])
    near, far = model.nearest(queries)
    for cut in CUTS:
        labels = tree.cut(**cut)
        clusters = model.clusters(**cut)
        assert clusters.sizes.tolist() == np.bincount(labels).tolist()
        assert clusters.first_points.tolist() == np.unique(labels, return_index=True)[1].tolist()
        for label, mean in enumerate(clusters.means):
            rows = model.points()[labels == label]
            np.testing.assert_allclose(mean, rows.mean(axis=0), atol=1e-6)
        found = model.assign(queries, **cut)
        assert found.points.tolist() == near.tolist()
        assert found.distances.tolist() == far.tolist()
        assert found.labels.tolist() == labels[near].tolist()
        assert found.node_ids.tolist() == clusters.node_ids[found.labels].tolist()
        nodes = [int(np.flatnonzero(public == node)[0]) for node in found.node_ids]
        assert found.path_codes == [tree.path_code(node) for node in nodes]
        some = np.arange(0, n, 5)
        of, ids = model.cluster_of(some, **cut)
        assert of.tolist() == labels[some].tolist()
        assert ids.tolist() == clusters.node_ids[of].tolist()
    for i in range(0, n, 17):
        assert model.path(i).tolist() == public[tree.path(i)].tolist()
        assert model.path_code(i) == tree.path_code(i)
        assert len(model.path(i)) - 1 == tree.depths()[i]
        assert model.lca(i, n - 1) == public[tree.lca(i, n - 1)]


@every_estimator
def test_answers_are_those_of_a_snapshot(Estimator):
    model = Estimator().fit(X)
    assert_reads_as_its_snapshot(model, X[:10] + 0.1)


@every_online
def test_answers_follow_every_insert(Estimator):
    model = Estimator(n_clusters=4).partial_fit(X[:40])
    for x in X[40:60]:
        model.insert(x)
        tree = model.hierarchy()
        assert model.labels_.tolist() == tree.cut(n_clusters=4).tolist()
        near = model.nearest(X[:9] + 0.3)[0]
        assert model.predict(X[:9] + 0.3).tolist() == model.labels_[near].tolist()
    assert_reads_as_its_snapshot(model.partial_fit(X[60:]), X[:5])


@pytest.mark.parametrize("metric", ["cosine", "dot"])
def test_answers_under_other_metrics(metric):
    model = OHAC(metric=metric).fit(X + 2)
    assert_reads_as_its_snapshot(model, X[:10] + 2.1)


def test_the_models_own_cut_is_the_default():
    model = OHAC(n_clusters=5).fit(X)
    assert len(model.clusters().sizes) == 5
    assert model.assign(X).labels.tolist() == model.labels_.tolist()
    assert model.cluster_of([3])[0].tolist() == [model.labels_[3]]
    model = OHAC(distance_threshold=2.0).fit(X)
    assert len(model.clusters().sizes) == model.n_clusters_


@pytest.mark.threads
@every_estimator
def test_threads_change_nothing(Estimator):
    queries = np.random.default_rng(1).normal(size=(1500, 3))
    model = Estimator(n_clusters=6).fit(X)
    alone, many = model.assign(queries), model.assign(queries, n_jobs=3)
    for one, other in zip(alone, many, strict=True):
        assert list(one) == list(other)
    assert model.predict(queries, n_jobs=2).tolist() == alone.labels.tolist()
    assert model.nearest(queries, n_jobs=-1)[0].tolist() == alone.points.tolist()


def test_wrong_questions():
    model = OHAC().fit(X)
    with pytest.raises(ValueError, match="give one of n_clusters, height, max_size"):
        model.clusters(n_clusters=2, height=1.0)
    with pytest.raises(NoLabelsError, match="n_clusters nor distance_threshold"):
        model.clusters()
    with pytest.raises(ValueError, match="1 to 120, the number of points"):
        model.assign(X[:1], n_clusters=121)
    with pytest.raises(ValueError, match="max_size=0"):
        model.clusters(max_size=0)
    with pytest.raises(TypeError, match=r"n_clusters=2\.5"):
        model.clusters(n_clusters=2.5)
    with pytest.raises(ValueError, match="height=nan"):
        model.clusters(height=float("nan"))
    with pytest.raises(IndexError, match="no point 120"):
        model.path(120)
    with pytest.raises(ValueError, match="point=-1"):
        model.path_code(-1)
    with pytest.raises(TypeError, match="points: expected a flat array"):
        model.cluster_of([0.5], n_clusters=2)
    with pytest.raises(ValueError, match=r"expected rows of 3|3 features"):
        model.assign(X[:, :2], n_clusters=2)


def test_one_point():
    model = OHAC(n_clusters=1).fit([[1.0, 2.0]])
    assert model.clusters().node_ids.tolist() == [-1]
    assert model.path(0).tolist() == [-1]
    assert model.lca(0, 0) == -1
    assert model.assign([[0.0, 0.0]]).path_codes == [""]


def test_a_chain_of_a_hundred_thousand():
    n = scaled(100_000)
    model = OTD(n_clusters=3).fit(np.random.default_rng(0).normal(size=(n, 1)))
    tree = model.hierarchy()
    assert len(model.path(0)) - 1 == tree.depths()[0]
    assert model.labels_.tolist() == tree.cut(n_clusters=3).tolist()


# --- while another thread's batch is under way ------------------------------------------


def long_enough(n):
    """Rows of a batch that is read while it lasts; a sanitizer makes fewer last as long."""
    return n // 10 if SMALL else n


def read_during(model, rows, read):
    """What ``read`` returned, again and again, while the rows went in; the batch's error."""
    answers, errors = [], []
    done = threading.Event()

    def work():
        try:
            while not done.is_set():
                answers.append(read(model))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        model.partial_fit(rows)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert errors == []
    return answers


@pytest.mark.threads
@pytest.mark.parametrize(("Estimator", "n"), [(OHAC, 60_000), (NaiveNN, 150_000)])
def test_readers_see_versions_that_the_writer_passed_through(Estimator, n):
    rows = np.random.default_rng(0).normal(size=(long_enough(n), 2))
    model = Estimator(n_clusters=4).partial_fit(rows[:100])
    trees = read_during(model, rows[100:], lambda model: model.hierarchy())
    sizes = sorted({tree.n_leaves for tree in trees})
    assert len(sizes) > 2, "nobody was let in"
    for size in (sizes[0], sizes[len(sizes) // 2]):
        wanted = Estimator().fit(rows[:size]).hierarchy()
        assert all(tree == wanted for tree in trees if tree.n_leaves == size)


@pytest.mark.threads
def test_assignments_during_a_batch_are_those_of_some_moment():
    rows = np.random.default_rng(0).normal(size=(long_enough(80_000), 2))
    model = OHAC(n_clusters=4).partial_fit(rows[:100])
    query = np.zeros((1, 2))
    answers = read_during(model, rows[100:], lambda model: (len(model), model.assign(query)))
    assert len({before for before, _ in answers}) > 2, "nobody was let in"
    distances = ((rows**2).sum(axis=1)).tolist()
    best = np.minimum.accumulate(distances)
    for before, found in answers:
        point = int(found.points[0])
        assert found.distances[0] == pytest.approx(distances[point])
        assert best[min(before, len(rows) - 1)] >= found.distances[0] or point < before
    model.check()


@pytest.mark.threads
@pytest.mark.parametrize("Estimator", [OHAC, OTD])
def test_readers_who_come_at_once_share_the_tree(Estimator):
    """Each wants something that is not ready: another cut, rows without holes, an index."""
    rows = np.random.default_rng(0).normal(size=(3_000, 3))

    def questions(model):
        return [
            lambda: model.assign(rows[:200], n_clusters=3),
            lambda: model.assign(rows[:200], n_clusters=30).node_ids,
            lambda: model.cut(height=0.5),
            lambda: model.clusters(max_size=50).sizes,
            lambda: model.nearest(rows[:200], k=3),
            lambda: model.hierarchy().children,
            lambda: (model.path(900), model.lca(900, 901)),
        ]

    def grown(model):  # step by step: the first questions come to a tree that is stale
        for start in range(0, 3_000, 1_000):
            yield model.partial_fit(rows[start : start + 1_000])
            yield model.forget(range(start + 5, start + 205, 7)) and model

    alone, shared = Estimator(n_clusters=4), Estimator(n_clusters=4)
    for one, other in zip(grown(alone), grown(shared), strict=True):
        wanted = [ask() for ask in questions(one)]
        with ThreadPoolExecutor(len(wanted)) as pool:
            found = [pool.submit(ask) for ask in 3 * questions(other)]
        for number, answer in enumerate(found):
            np.testing.assert_equal(answer.result(), wanted[number % len(wanted)])
    shared.check()


def test_a_progress_callable_may_not_read_in_the_middle():
    model = ramify.OHAC(n_clusters=2).partial_fit(X)
    rows = np.random.default_rng(0).normal(size=(scaled(2_000_000), 3))
    with pytest.raises(RuntimeError, match="in the middle of a batch"):
        model.partial_fit(rows, progress=lambda done, total: model.predict(X))
    model.check()
