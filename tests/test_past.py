"""What became of a tree, as bytes and in a folder: all that an estimator which keeps it knows."""

import shutil
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify import HistoryError
from ramify.estimators._steps import merged
from ramify.estimators.seam import packed, unpacked
from tests.strategies import examples
from tests.test_changes import MODELS, STANDING, looks, same_snapshot, stories


def same_step(one, other):
    assert one.version == other.version
    for name in ("inserted", "forgotten", "retired", "weighed", "came", "left", "absorbed"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for mine, yours in ((one.weights, other.weights), (one.before.weights, other.before.weights)):
        np.testing.assert_array_equal(mine, yours)
    np.testing.assert_array_equal(one.before.leaves, other.before.leaves)
    for mine, heights, yours, others in (
        (one.families, one.values[:, 0], other.families, other.values[:, 0]),
        (one.before.families, one.before.heights, other.before.families, other.before.heights),
    ):
        a, b = np.argsort(mine[:, 0]), np.argsort(yours[:, 0])
        np.testing.assert_array_equal(mine[a], yours[b])
        np.testing.assert_array_equal(heights[a], others[b])


@pytest.mark.parametrize("name", ["ohac", "otd", "perch, collapsed", *STANDING])
def test_steps_as_bytes_and_merged_are_the_same(name):
    make, erases = (MODELS | STANDING)[name]

    @settings(max_examples=examples(10))
    @given(stories(), st.data())
    def check(story, data):
        model, seen = make(), []
        for _ in looks(model, *story, erases):
            seen += [(model.version, model.hierarchy())] if len(model) else []
        past = model._live.past
        steps = [unpacked(step.version, [packed(step)]) for step in past._shelf._steps]
        for step, again in zip(past._shelf._steps, steps, strict=True):
            same_step(step, again)
        while len(steps) > 1 and data.draw(st.booleans()):
            at = data.draw(st.integers(0, len(steps) - 2))
            steps[at : at + 2] = [merged(steps[at : at + 2])]
        past._shelf._steps.clear()
        past._shelf._steps.extend(steps)
        versions = {past.oldest, *(step.version for step in steps)}
        for version, old in seen:
            if version in versions:
                same_snapshot(model.past.changes(version).apply(old), model.hierarchy())
                found = model.past._tree_at(model._live, version)
                np.testing.assert_array_equal(found.node_ids, old.node_ids)
                np.testing.assert_array_equal(found.heights, old.heights)
                np.testing.assert_array_equal(found.weights, old.weights)

    check()


def same_answers(tree, oracle, since, **cut):
    one, other = tree.past.changes(since), oracle.past.changes(since)
    for name in one.__slots__:
        mine, yours = getattr(one, name), getattr(other, name)
        np.testing.assert_array_equal(mine, yours, err_msg=name)
    for mine, yours in zip(
        tree.past.dirty(since, **cut), oracle.past.dirty(since, **cut), strict=True
    ):
        np.testing.assert_array_equal(mine, yours)


HAPPENS = st.one_of(st.integers(1, 9), st.sampled_from(["forget", "close", "crash", "snapshot"]))


@settings(max_examples=examples(12), deadline=None)
@given(st.lists(HAPPENS, max_size=14), st.integers(0, 1 << 16), st.booleans())
def test_a_folder_knows_what_an_estimator_knows_that_kept_everything(
    tmp_path_factory, what, seed, few
):
    rng, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("tree")
    options = {"history_bytes": 3000} if few else {}
    oracle = ramify.OHAC(history=1000).partial_fit(np.round(rng.normal(size=(9, 2)), 1))
    versions = [oracle.version]
    tree = ramify.open(folder, ramify.OHAC(history=1), **options)
    tree.partial_fit(oracle.points())
    for one in what:
        if isinstance(one, int):
            X = np.round(rng.normal(size=(one, 2)), 1)
            oracle.partial_fit(X)
            tree.partial_fit(X)
        elif one == "forget" and len(oracle) > 2:
            number = int(rng.choice(oracle.point_numbers_))
            oracle.forget(number)
            tree.forget(number)
        elif one == "snapshot":
            tree.snapshot()
        elif one in ("close", "crash"):
            if one == "crash":
                copy = tmp_path_factory.mktemp("copy")
                shutil.copytree(folder, copy, dirs_exist_ok=True)
            tree.close()
            folder = copy if one == "crash" else folder
            tree = ramify.open(folder, **options)
        assert tree.version == oracle.version
        versions.append(oracle.version)
    with tree:
        known = [since for since in versions if since >= tree.past.oldest]
        assert known[-1] == tree.version
        for since in known:
            try:
                same_answers(tree, oracle, since, n_clusters=3)
            except HistoryError:
                assert few  # two steps have become one
        if few:
            with pytest.raises(HistoryError, match="no such version yet"):
                tree.past.changes(tree.version + 1)
        else:
            assert tree.past.oldest == versions[0]
            node = int(tree.hierarchy().node_ids[-1])
            told = [one.past.lineage(node, versions[0]).merged_from for one in (tree, oracle)]
            np.testing.assert_array_equal(*told)


def test_what_has_become_of_it_since_a_moment(tmp_path):
    begin = datetime.now().astimezone()
    with ramify.open(tmp_path, ramify.OHAC(history=1)) as tree:
        tree.partial_fit([[0.0], [1.0], [9.0]])
        night, moment = tree.version, datetime.now()  # of this machine's zone
    with ramify.open(tmp_path) as tree:
        tree.partial_fit([[8.0]])
        assert tree.past.changes(moment).since == night
        assert tree.past.changes(moment.astimezone()).inserted.tolist() == [3]
        assert tree.past.dirty(moment, n_clusters=2).labels.tolist() == [1]
        assert not tree.past.changes(moment + timedelta(days=1))
        with pytest.raises(HistoryError, match="is younger"):
            tree.past.changes(begin)


def test_what_was_not_kept_is_not_made_up(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC(history=1)) as tree:
        night = tree.partial_fit([[0.0], [1.0], [9.0]]).version
        tree.set_params(history=0)
        tree.partial_fit([[8.0]])
        tree.set_params(history=1)
        with pytest.raises(HistoryError, match="oldest version that is remembered is 4"):
            tree.past.changes(night)
    with ramify.open(tmp_path) as tree:
        assert tree.past.oldest == 4
        tree.partial_fit([[8.5]])
        assert tree.past.changes(4).inserted.tolist() == [4]


def test_a_tree_that_went_back_has_another_past_from_there_on(tmp_path):
    rng = np.random.default_rng(0)
    with ramify.open(tmp_path / "a", ramify.OHAC(history=1)) as tree:
        first = tree.partial_fit(rng.normal(size=(9, 2))).version
        night = tree.partial_fit(rng.normal(size=(3, 2))).version
        old = tree.hierarchy()
        tree.partial_fit(rng.normal(size=(3, 2)))
        ramify.journal.restore(tmp_path / "a", tmp_path / "b", version=night)
    with ramify.open(tmp_path / "b") as tree:
        assert tree.past.oldest == first
        assert len(tree.past.changes(first).inserted) == 3
        tree.partial_fit(rng.normal(size=(5, 2)))
        assert tree.past.changes(night).apply(old) == tree.hierarchy()
        assert len(tree.past.changes(first).inserted) == 8


def test_the_past_takes_so_many_bytes_at_most(tmp_path):
    rng = np.random.default_rng(0)
    with ramify.open(tmp_path, ramify.OHAC(history=1), history_bytes=20_000) as tree:
        first = tree.partial_fit(rng.normal(size=(50, 2))).version
        for _ in range(100):
            tree.partial_fit(rng.normal(size=(1, 2)))
        kept = tree._writer.store._connection.execute(
            "SELECT sum(length(body)), count(*) FROM past"
        ).fetchone()
        assert kept[0] <= 20_000
        assert kept[1] < 100
        oldest = tree.past.oldest
        assert first <= oldest < tree.version - kept[1]  # farther apart, the longer ago
        assert len(tree.past.changes(oldest).inserted) == tree.version - oldest


@pytest.mark.no_asan  # other libraries at work
def test_a_server_that_is_started_anew_knows_what_was_before(tmp_path):
    from ramify.client import Client
    from ramify.serve import running

    rng = np.random.default_rng(0)
    with running(tmp_path) as address, Client(address) as client:
        tree = client.create("a", dimension=2)
        tree.add(rng.normal(size=(40, 2)))
        night, moment, old = tree.info()["version"], datetime.now(), tree.hierarchy()
    with running(tmp_path) as address, Client(address) as client:
        tree = client.tree("a")
        tree.add(rng.normal(size=(3, 2)))
        assert tree.info()["oldest_version"] == night
        found = tree.past.changes(night)
        assert found.inserted.tolist() == [40, 41, 42]
        assert found.apply(old) == tree.hierarchy()
        assert tree.past.changes(moment).since == night  # of this machine's zone, here and there
        _, event = next(one for one in tree.follow(since=night) if one[0] == "change")
        assert (event["since"], event["version"]) == (night, found.version)
        one, other = (tree.past.dirty(since, n_clusters=4) for since in (night, moment))
        np.testing.assert_array_equal(one.labels, other.labels)
        with pytest.raises(Exception, match="time such as 2026"):
            tree.past.changes("yesterday")
        with pytest.raises(Exception, match=r"the oldest version is 40"):
            tree.past.changes(moment - timedelta(days=1))


def test_shards_are_asked_by_version(tmp_path):
    from ramify.ray import ShardedOHAC

    with ShardedOHAC(2, folder=tmp_path, engine="local", history=9) as model:
        model.partial_fit([[0.0], [1.0], [9.0]])
        with pytest.raises(TypeError, match="by version and not by time"):
            model.past.changes(datetime.now())
