# SPDX-License-Identifier: BSD-3-Clause
"""One tree in several shards, without Ray: neighbours, trees, cuts and journals, by definition.

A crash is a copy of the folders at that moment. Real kills, on a real cluster, are in
test_ray.py.
"""

import shutil
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ramify
import ramify._core
from ramify.estimators._cut import Cut
from ramify.estimators._identity import Identity
from ramify.journal import NotWrittenError
from ramify.ray import Plan, Router, Shard, ShardedOHAC
from ramify.ray._batches import Along
from ramify.ray._crew import LocalCrew
from ramify.ray._routing import routes
from ramify.ray._turns import Turns
from tests.core_trees import core_tree
from tests.oracles.shards import ShardedTree
from tests.oracles.trees import clusters, from_children
from tests.strategies import examples, rows_for, seeds

METRICS = ("sqeuclidean", "cosine", "dot")


def sharded(path, n_shards=3, **options):
    options = {"block": 8, "frontier": 3, **options}
    return ShardedOHAC(n_shards, folder=path, engine="local", **options)


def mixture(n, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 6 * rng.normal(size=(5, d))[rng.integers(5, size=n)]


@pytest.fixture(scope="module")
def folders():
    """A new folder with every call; in memory if there is such a place, for disks are slow."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield lambda: tempfile.mkdtemp(dir=folder)


@pytest.fixture
def folder(folders):
    return Path(folders())


# --- neighbours ---------------------------------------------------------------------------


@given(st.data(), st.sampled_from(METRICS), st.integers(1, 3))
def test_neighbours_are_those_of_one_machine_with_all_ties(data, metric, k):
    """Rows on a small grid: most are equally near, and many are equal."""
    rng = np.random.default_rng(data.draw(seeds()))
    n, before, shards = 40, data.draw(st.integers(0, 30)), data.draw(st.integers(1, 4))
    X = rng.integers(1, 4, size=(n, data.draw(st.sampled_from([1, 2, 20])))).astype(np.float64)
    of = rng.integers(shards, size=before)
    proposals = [_proposal(X, np.flatnonzero(of == s), before, metric, k) for s in range(shards)]
    batch = np.ascontiguousarray(X[before:])
    mates = ramify._core.nearest_before(batch, metric, k)
    found = routes(batch, before, proposals, mates, k)
    holder = [*of.tolist(), *found.shards.tolist()]
    for i in range(max(before, 1), n):
        one = ramify.OHAC(metric=metric).fit(X[:i])
        nearest = one.nearest(X[i : i + 1], k=min(k, i))[0][0]
        shard = holder[nearest[0]]
        assert found.shards[i - before] == shard
        beside = [int(y) for y in found.nearest[i - before] if y >= 0]
        assert beside == [y for y in nearest.tolist() if holder[y] == shard]


def _proposal(X, points, before, metric, k):
    numbers = np.full((len(X) - before, k), -1)
    distances = np.full((len(X) - before, k), np.inf)
    if len(points):
        own = ramify.OHAC(metric=metric).fit(X[points])
        there = min(k, len(points))
        places, distances[:, :there] = own.nearest(X[before:], k=there)
        numbers[:, :there] = points[places]
    return numbers, distances


# --- trees --------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
@given(data=st.data())
def test_the_tree_is_that_of_the_definition(metric, folders, data):
    X = data.draw(rows_for(metric, min_size=2, max_size=45))
    linkage = data.draw(st.sampled_from(["average", "ward"] if metric != "dot" else ["average"]))
    n_shards, k = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 2))
    block, m = data.draw(st.integers(2, 16)), data.draw(st.integers(1, 5))
    oracle = ShardedTree(X, n_shards, block, metric, linkage, k)
    options = {"metric": metric, "linkage": linkage, "n_neighbors": k}
    with sharded(folders(), n_shards, block=block, frontier=m, **options) as model:
        model.partial_fit(X)
        tree = model.hierarchy()
        sizes = model.statistics()["sizes"]
    tree.check()
    assert sizes == [0 if one is None else len(one) for one in oracle.shards]
    assert clusters(from_children(tree.children)) == clusters(oracle.whole(m))


@settings(max_examples=examples(12))
@given(st.data())
def test_one_shard_is_the_plain_model_to_the_bit(folders, data):
    X = data.draw(rows_for("sqeuclidean", max_size=60))
    X = X.astype(data.draw(st.sampled_from([np.float32, np.float64])))
    plain = ramify.OHAC(linkage="ward", n_neighbors=2)
    with sharded(folders(), 1, linkage="ward", n_neighbors=2) as model:
        for part in np.array_split(X, data.draw(st.integers(1, 4))):
            if len(part):
                model.partial_fit(part)
                plain.partial_fit(part)
        assert model.hierarchy() == plain.hierarchy()
        assert model.hierarchy().node_ids.tolist() == plain.hierarchy().node_ids.tolist()
        assert model.to_model()._to_saved()[1].keys() == plain._to_saved()[1].keys()
        for name, array in model.to_model()._to_saved()[1].items():
            assert array.tobytes() == plain._to_saved()[1][name].tobytes(), name


@settings(max_examples=examples(8))
@given(st.data())
def test_the_tree_does_not_depend_on_how_the_stream_is_cut_into_calls(folders, data):
    X = mixture(90, seed=data.draw(seeds()))
    cuts = sorted(data.draw(st.lists(st.integers(0, 90), max_size=6)))
    with sharded(folders()) as one, sharded(folders()) as other:
        one.partial_fit(X)
        for part in np.split(X, cuts):
            if len(part):
                other.partial_fit(part)
        assert one.digests() == other.digests()
        assert one.hierarchy() == other.hierarchy()


def test_shards_that_grow_too_large_are_split_but_not_beyond_the_limit(folder):
    rng = np.random.default_rng(0)
    spread = rng.normal(size=(64, 2)) * 50
    crowd = rng.normal(size=(400, 2)) * 0.01  # all of these go where the first of them went
    with sharded(folder, 3, max_shards=5) as model:
        model.partial_fit(np.concatenate([spread, crowd]))
        figures = model.statistics()
        model.hierarchy().check()
    assert len(figures["sizes"]) == 5
    assert figures["splits"] == 4
    assert sum(figures["sizes"]) == 464


def test_a_split_takes_no_crumbs(folder):
    """Outliers hang from the root one by one; a part that goes is a third at least."""
    X = np.concatenate([mixture(60, 2), 10.0 ** np.arange(3, 15)[:, np.newaxis] * np.ones((1, 2))])
    with sharded(folder, 2, block=72) as model:
        sizes = model.partial_fit(X).statistics()["sizes"]
    assert min(sizes) >= 72 / 3


# --- what can be asked ----------------------------------------------------------------------


@settings(max_examples=examples(12))
@given(st.data())
def test_cuts_of_the_shards_are_cuts_of_the_whole_tree(folders, data):
    X = mixture(data.draw(st.integers(2, 80)), seed=data.draw(seeds()))
    with sharded(folders(), data.draw(st.integers(1, 4))) as model:
        tree = model.partial_fit(X).hierarchy()
        height = data.draw(st.sampled_from([0.0, *tree.monotone_heights.tolist(), 1e9]))
        k = data.draw(st.integers(1, len(X)))
        for cut in (
            {"n_clusters": k},
            {"height": height},
            {"max_size": data.draw(st.integers(1, 40))},
        ):
            labels = tree.cut(**cut)
            assert model.cut(**cut).tolist() == labels.tolist()
            found = model.clusters(**cut)
            assert found.sizes.tolist() == np.bincount(labels).tolist()
            expected = tree.clusters(X, **cut)
            assert found.node_ids.tolist() == expected.node_ids.tolist()
            assert found.first_points.tolist() == expected.first_points.tolist()
            assert found.heights.tolist() == expected.heights.tolist()
            np.testing.assert_allclose(found.means, expected.means, atol=1e-9)
            np.testing.assert_allclose(found.spreads, expected.spreads, atol=1e-9)


@settings(max_examples=examples(8))
@given(st.data())
def test_rows_are_assigned_as_the_whole_tree_would(folders, data):
    X = mixture(70, seed=data.draw(seeds()))
    new = mixture(20, seed=1)
    with sharded(folders(), n_clusters=4) as model:
        tree = model.partial_fit(X).hierarchy()
        one = ramify.OHAC.from_hierarchy(tree, X)
        found, expected = model.assign(new, n_clusters=9), one.assign(new, n_clusters=9)
        assert found.labels.tolist() == expected.labels.tolist()
        assert found.points.tolist() == expected.points.tolist()
        assert found.distances.tolist() == expected.distances.tolist()
        assert found.path_codes == expected.path_codes
        assert model.predict(new).tolist() == one.assign(new, n_clusters=4).labels.tolist()
        labels, nodes = model.cluster_of([3, 69], n_clusters=9)
        assert labels.tolist() == tree.cut(n_clusters=9)[[3, 69]].tolist()
        assert set(nodes.tolist()) <= set(model.clusters(n_clusters=9).node_ids.tolist())
        near, far = model.nearest(new, k=5)
        plain_near, plain_far = one.nearest(new, k=5)
        assert near.tolist() == plain_near.tolist()
        assert far.tolist() == plain_far.tolist()


@settings(max_examples=examples(12))
@given(st.data())
def test_the_guarantee_holds(folders, data):
    """Rev >= (1 - 2φ)/3 · n · Σw, for whatever similarity c - d² that is nowhere negative."""
    X = mixture(data.draw(st.integers(20, 90)), seed=data.draw(seeds()))
    with sharded(folders(), data.draw(st.integers(2, 4)), frontier=6) as model:
        model.partial_fit(X)
        top, tree = model.top(), model.hierarchy()
    assume(len(np.unique(top.shards)) > 1)
    assert top.sizes.sum() == len(X)
    assert top.share == top.sizes.max() / len(X)
    apart = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    w = apart.max() - apart
    assert _revenue(tree, w) >= top.guarantee * len(X) * w[np.triu_indices(len(X), 1)].sum()


def _revenue(tree, w):
    n, total = tree.n_leaves, 0.0
    for row, (a, b) in enumerate(tree.children.tolist()):
        one, other = tree.leaves(a), tree.leaves(b)
        total += (n - tree.sizes[n + row]) * w[np.ix_(one, other)].sum()
    return total


def test_the_top_tree_is_the_top_of_the_whole(folder):
    X = mixture(200)
    with sharded(folder, frontier=7) as model:
        top, tree = model.partial_fit(X).top(), model.hierarchy()
    weights = dict(zip(tree.node_ids.tolist(), tree.sizes[200:].tolist(), strict=True))
    heights = dict(zip(tree.node_ids.tolist(), tree.heights.tolist(), strict=True))
    parts = top.tree.n_leaves
    assert parts == 7 * len(set(top.shards.tolist()))
    for node, size, height in zip(
        top.tree.node_ids.tolist(), top.tree.weights[parts:], top.tree.heights, strict=True
    ):
        assert (weights[node], heights[node]) == (size, height)


@settings(max_examples=examples(12))
@given(st.data())
def test_points_leave_and_others_come(folders, data):
    X = mixture(80, seed=data.draw(seeds()))
    names = [f"p{i}" for i in range(80)]
    gone = data.draw(st.lists(st.integers(0, 49), unique=True, min_size=1, max_size=49))
    with sharded(folders()) as model:
        before = model.partial_fit(X[:50], ids=names[:50]).version
        assert model.forget([names[i] for i in gone]) == len(gone)
        model.partial_fit(X[50:], ids=names[50:])
        left = [i for i in range(80) if i not in gone]
        tree = model.hierarchy()
        tree.check()
        assert tree.point_numbers.tolist() == left
        assert model.ids_.tolist() == [names[i] for i in left]
        assert model.points().tolist() == X[left].tolist()
        assert model.number_of("p60") == 60
        changes = model.past.point_changes(before)
        assert changes.inserted.tolist() == list(range(50, 80))
        assert changes.forgotten.tolist() == sorted(gone)
        assert model.past.point_changes(0).inserted.tolist() == left
        assert (model.cut(n_clusters=5) == tree.cut(n_clusters=5)).all()
        whole = model.to_model()
        assert whole.hierarchy() == tree
        assert whole.ids_.tolist() == model.ids_.tolist()
        whole.check()


@settings(max_examples=examples(60))
@given(st.data())
def test_changes_replayed_on_an_old_export_give_the_new_one(folders, data):
    """Through blocks, splits, moved parts, points that leave, and shards that become empty."""
    X = mixture(150, seed=data.draw(seeds()))
    named = data.draw(st.booleans())
    there, number, seen = set(), 0, {}
    shape = {"n_shards": data.draw(st.integers(1, 4)), "frontier": data.draw(st.integers(1, 9))}
    with sharded(folders(), **shape, history=30) as model:
        for _ in range(data.draw(st.integers(2, 9))):
            most = data.draw(st.sampled_from([2, 25]))
            count = data.draw(st.integers(0, min(most, 150 - number)))
            if count:
                names = [f"p{i}" for i in range(number, number + count)]
                model.partial_fit(X[number : number + count], ids=names if named else None)
                there |= set(range(number, number + count))
                number += count
            if there and data.draw(st.booleans()):
                gone = data.draw(st.lists(st.sampled_from(sorted(there)), unique=True))
                gone = sorted(there) if len(gone) > 12 else gone  # now and then all of them
                if gone:
                    model.forget([f"p{i}" if named else i for i in gone])
                there -= set(gone)
            if data.draw(st.booleans()) and there:
                seen[model.version] = model.hierarchy()
        if not there:
            return
        tree = model.hierarchy()
        for version, old in [(0, None), *seen.items()]:
            found = model.past.changes(version)
            assert found.version == model.version
            assert found.apply(old) == tree
            _assert_fits(found, old, tree)


def _assert_fits(found, old, new):
    """What is said of nodes follows from the two trees."""
    then, now = ({} if tree is None else _leaf_sets(tree) for tree in (old, new))
    assert found.born.tolist() == sorted(now.keys() - then.keys())
    assert found.retired.tolist() == sorted(then.keys() - now.keys())
    both = sorted(then.keys() & now.keys())
    assert found.grown.tolist() == [node for node in both if now[node] - then[node]]
    assert found.shrunk.tolist() == [node for node in both if then[node] - now[node]]
    points = [set() if tree is None else set(tree.point_numbers.tolist()) for tree in (old, new)]
    assert found.inserted.tolist() == sorted(points[1] - points[0])
    assert found.forgotten.tolist() == sorted(points[0] - points[1])


def _leaf_sets(tree):
    numbers = tree.point_numbers
    return {
        node: set(numbers[tree.leaves(tree.n_leaves + row)].tolist())
        for row, node in enumerate(tree.node_ids.tolist())
    }


def test_versions_are_remembered_as_far_as_history_says(folder):
    X = mixture(100)
    with sharded(folder, history=2) as model:
        versions = []
        for begin in range(0, 100, 10):
            versions.append(model.partial_fit(X[begin : begin + 10]).version)
        for known in versions[-3:]:
            assert model.past.changes(known).version == versions[-1]
        for unknown in (*versions[:-3], versions[-1] + 1):
            with pytest.raises(ramify.HistoryError, match="not remembered"):
                model.past.changes(unknown)
        assert not model.past.changes(versions[-1])
    with sharded(folder, history=2) as model, pytest.raises(ramify.HistoryError):
        model.past.changes(versions[-2])  # a log ends with its process


def test_stable_labels_are_those_of_the_plain_model_and_outlive_the_router(folder):
    X = mixture(90)
    plain, rule = ramify.OHAC(), Identity()
    cuts = Cut("n_clusters", 4), Cut("max_size", 20)
    for begin in range(0, 90, 30):
        rows = X[begin : begin + 30]
        plain.partial_fit(rows)
        with sharded(folder / "one", 1) as model:
            model.partial_fit(rows)
            for by, value, _ in cuts:
                found = model.stable_labels(**{by: value})
                assert found.tolist() == plain.stable_labels(**{by: value}).tolist()
        with sharded(folder / "three", 3) as model:
            model.partial_fit(rows)
            for by, value, _ in cuts:
                labels = model.cut(**{by: value})
                expected = rule.name(Cut(by, value), np.arange(begin + 30), labels)
                assert model.stable_labels(**{by: value}).tolist() == expected.tolist()


def test_all_may_leave_and_the_stream_goes_on(folder):
    with sharded(folder) as model:
        model.partial_fit(mixture(30)).forget(range(30))
        assert len(model) == 0
        with pytest.raises(Exception, match="no points yet"):
            model.hierarchy()
        assert model.insert([1.0, 2.0, 3.0]) == 30
        assert model.partial_fit(mixture(30)).hierarchy().point_numbers.tolist() == list(
            range(30, 61)
        )


def test_what_is_wrong_is_refused_and_changes_nothing(folder):
    X = mixture(20)
    with sharded(folder, n_clusters=3) as model:
        assert len(model) == 0
        model.partial_fit(X, ids=list(range(20)))
        before = model.digests()
        for wrong, kind, words in (
            (lambda: model.partial_fit(X), ValueError, "ids from its first"),
            (lambda: model.partial_fit(X, ids=range(20)), ValueError, "already the id"),
            (lambda: model.partial_fit(X, ids=list("abcdefghijklmnopqrst")), TypeError, "type int"),
            (lambda: model.partial_fit(X[:, :2], ids=range(20, 40)), ValueError, "3"),
            (lambda: model.partial_fit([[0, 1, np.nan]], ids=[99]), ValueError, "NaN"),
            (lambda: model.forget([3, 99]), KeyError, "99"),
            (lambda: model.forget([3, 3]), ValueError, "twice"),
            (lambda: model.cut(n_clusters=21), ValueError, "n_clusters"),
            (lambda: model.cut(n_clusters=2, height=1.0), ValueError, "give one"),
            (lambda: model.past.point_changes(99), LookupError, "not remembered"),
            (lambda: model.past.changes(1), LookupError, "set history="),
            (lambda: model.fit(X), ValueError, "has a stream"),
        ):
            with pytest.raises(kind, match=words):
                wrong()
        assert model.digests() == before
    for wrong in ({"metric": "dot"}, {"block": 9}, {"frontier": 9}):
        with pytest.raises(ValueError, match="was asked for"):
            len(sharded(folder, **wrong))
    with pytest.raises(ValueError, match="engine"):
        ShardedOHAC(2, folder=folder / "other", engine="spark").partial_fit(X)


def test_a_saved_tree_goes_on_as_a_plain_model(folder):
    X = mixture(60)
    with sharded(folder / "shards", n_clusters=4) as model:
        model.partial_fit(X).save(folder / "tree.ramify")
        tree, labels = model.hierarchy(), model.labels_
    loaded = ramify.load(folder / "tree.ramify")
    assert loaded.hierarchy() == tree
    assert loaded.labels_.tolist() == labels.tolist()
    assert loaded.insert(X[0]) == 60


def test_figures_have_the_names_of_the_service(folder):
    from ramify.serve._figures import _OF_TREES

    with sharded(folder) as model:
        text = model.partial_fit(mixture(60)).prometheus()
    told = {line.split("{")[0] for line in text.splitlines() if not line.startswith("#")}
    served = {name for name, *_ in _OF_TREES} - {"ramify_refused_total"}
    assert served <= told
    assert 'ramify_points{tree="sharded"} 60' in text
    assert 'ramify_points{tree="sharded",shard="2"}' in text
    assert "ramify_memory_bytes" not in told  # that of the process which answers


class DataSet:
    """As ``ray.data.Dataset`` hands out its rows; on_a_cluster.py reads a real one."""

    __module__ = "ray.data"

    def __init__(self, columns):
        self._columns = columns

    def count(self):
        return len(next(iter(self._columns.values())))

    def iter_batches(self, *, batch_size, batch_format, prefetch_batches):
        assert batch_format == "numpy"
        n = len(next(iter(self._columns.values())))
        for at in range(0, n, batch_size):
            yield {name: column[at : at + batch_size] for name, column in self._columns.items()}


def test_arrow_tables_and_data_sets_give_the_tree_of_their_rows(folder):
    pa = pytest.importorskip("pyarrow")
    X = mixture(100)
    names = np.array([f"p{i}" for i in range(100)])
    columns = {name: X[:, j] for j, name in enumerate("abc")}
    lists = np.empty(100, object)
    lists[:] = X.tolist()
    with sharded(folder / "array") as model:
        tree = model.partial_fit(X).hierarchy()
    with sharded(folder / "arrow") as model:
        assert model.partial_fit(pa.table(columns)).hierarchy() == tree
    for kind, data in (
        ("columns", {"name": names, **columns}),
        ("vectors", {"name": names, "vector": X}),
        ("lists", {"vector": lists, "name": names}),
    ):
        with sharded(folder / kind) as model:
            model.partial_fit(DataSet(data), ids="name")
            assert model.hierarchy() == tree
            assert model.number_of("p77") == 77
    with sharded(folder / "wrong") as model, pytest.raises(ValueError, match="no such column"):
        model.partial_fit(DataSet({"vector": X}), ids="name")


# --- readers and writers ------------------------------------------------------------------


def test_readers_are_answered_between_the_blocks_of_a_long_batch(folder):
    """With answers of versions that the writer passed through, and the tree is the same."""
    X = mixture(1600)
    with sharded(folder / "alone") as model:
        wanted = model.partial_fit(X).digests()
    passed = {0, *range(8, 1601, 8)}
    seen, near = [], []
    with sharded(folder / "read") as model:
        model.partial_fit(X[:8])
        writer = threading.Thread(target=lambda: model.partial_fit(X[8:]))
        writer.start()
        while writer.is_alive():
            seen.append((int(model.clusters(n_clusters=1).sizes[0]), int(model.top().sizes.sum())))
            near.append(model.assign(X[:3], n_clusters=2))
        writer.join()
        assert model.digests() == wanted
    within = [one for pair in seen for one in pair if 8 < one < 1600]
    assert len(set(within)) > 20
    assert set(within) <= passed
    assert [one for pair in seen for one in pair] == sorted(one for pair in seen for one in pair)
    assert all(one.points.tolist() == [0, 1, 2] for one in near)


def test_writers_take_their_turns_with_whole_batches(folder):
    X = mixture(300)
    with sharded(folder) as model:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(model.add, np.split(X, 6)))
        assert np.sort(np.concatenate(found)).tolist() == list(range(300))
        points = model.points()
        for rows, numbers in zip(np.split(X, 6), found, strict=True):
            assert points[numbers].tolist() == rows.tolist()
        model.hierarchy().check()


def test_turns_are_given_in_order_and_nobody_waits_for_one_who_left():
    turns, order = Turns(), []

    def take(name):
        with turns:
            order.append(name)

    with turns:
        waiting = []
        for name in range(5):
            waiting.append(threading.Thread(target=take, args=(name,), daemon=True))
            waiting[-1].start()
            while len(turns._waiting) <= name:
                time.sleep(0.001)
        turns._give_up(turns._waiting[2])
    for thread in (*waiting[:2], *waiting[3:]):
        thread.join()
    assert order == [0, 1, 3, 4]
    assert not turns.taken


def test_progress_is_told_and_may_stop_a_batch(folder):
    X = mixture(200)
    told = []
    with sharded(folder) as model:
        model.partial_fit(X[:100], progress=lambda done, total: told.append((done, total)))
        assert told == [(32, 100), (64, 100), (96, 100), (100, 100)]  # four blocks at once

        def stop(done, total):
            if done > 40:
                raise RuntimeError("enough")

        with pytest.raises(RuntimeError, match="enough"):
            model.partial_fit(X[100:], progress=stop)
        assert len(model) == 164
        data = DataSet({"vector": X[164:]})
        model.partial_fit(data, progress=lambda done, total: told.append((done, total)))
        assert told[-2:] == [(32, 36), (36, 36)]
        with pytest.raises(TypeError, match="progress"):
            model.partial_fit(X, progress="yes")
    with sharded(folder) as model:
        assert model.points().tolist() == X.tolist()


def test_payloads_are_where_their_points_are(folder):
    X = mixture(120)
    words = ["sound", "screen", "update"]
    payloads = [None if i % 4 == 3 else {"text": f"{words[i % 3]} {i}", "n": i} for i in range(120)]
    names = [f"p{i}" for i in range(120)]
    with sharded(folder) as model:
        for part in (slice(0, 50), slice(50, 120)):
            model.partial_fit(X[part], ids=names[part], payloads=payloads[part])
        assert model.statistics()["splits"] > 1  # parts have moved, and their payloads with them
        assert model.payloads(names) == {
            name: one for name, one in zip(names, payloads, strict=True) if one is not None
        }
        gone = names[::5]
        model.forget(gone)
    with sharded(folder) as model:
        left = [i for i in range(120) if names[i] not in gone]
        assert model.payloads([names[i] for i in left]) == {
            names[i]: payloads[i] for i in left if payloads[i] is not None
        }
        found = model.search("screen", limit=100)
        expected = [i for i in left if payloads[i] and i % 3 == 1]
        assert sorted(hit.number for hit in found) == expected
        assert all(
            (hit.id, hit.payload) == (names[hit.number], payloads[hit.number]) for hit in found
        )
        assert len(model.search("screen", limit=4)) == 4
        with pytest.raises(KeyError, match="p0"):
            model.payloads(["p0"])
        with pytest.raises(ValueError, match="payloads: expected 1"):
            model.partial_fit(X[:1], ids=["new"], payloads=["a", "b"])
        assert "new" not in model.ids_.tolist()


@settings(max_examples=examples(12))
@given(st.data())
def test_a_weight_counts_as_so_many_points(folders, data):
    """One shard is the weighted plain model; several are cut as the whole weighted tree."""
    X = mixture(data.draw(st.integers(10, 80)), seed=data.draw(seeds()))
    rng = np.random.default_rng(0)
    weights = rng.choice([1.0, 2.0, 5.0, 0.5], size=len(X))
    half = len(X) // 2
    plain = ramify.OHAC().partial_fit(X[:half]).partial_fit(X[half:], None, weights[half:])
    weights[:half] = 1.0
    with sharded(folders(), 1) as model:
        model.partial_fit(X[:half]).partial_fit(X[half:], None, weights[half:])
        assert model.hierarchy() == plain.hierarchy()
    with sharded(folders(), 3, history=9) as model:
        night, old = model.partial_fit(X[:half]).version, model.hierarchy()
        tree = model.partial_fit(X[half:], None, weights[half:]).hierarchy()
        tree.check()
        assert tree.weights[: len(X)].tolist() == weights.tolist()
        assert model.past.changes(night).apply(old) == tree
        assert model.past.changes(0).apply(None) == tree
        found = model.clusters(n_clusters=4)
        labels = tree.cut(n_clusters=4)
        assert model.cut(n_clusters=4).tolist() == labels.tolist()
        expected = tree.clusters(X, n_clusters=4)
        assert found.sizes.tolist() == expected.sizes.tolist()
        np.testing.assert_allclose(found.means, expected.means, atol=1e-9)
        assert model.to_model().hierarchy() == tree


# --- journals -------------------------------------------------------------------------------


def test_a_reopened_stream_goes_on_to_the_bit(folder):
    X = mixture(150)
    with sharded(folder / "whole") as one:
        whole, tree = one.partial_fit(X).digests(), one.hierarchy()
    for part in np.array_split(X, 7):
        with sharded(folder / "parts") as model:
            model.partial_fit(part)
    with sharded(folder / "parts") as model:
        assert model.digests() == whole
        assert model.hierarchy() == tree


class Crash(BaseException):
    """A process that ends."""


class Doomed(LocalCrew):
    """Shards whose process ends before or after a given call; all that is left is the disk."""

    def __init__(self, folder, options, calls, after):
        super().__init__(folder, options)
        self.calls, self.after = calls, after

    def ask(self, calls):
        answers = []
        for one in calls:
            if self.calls == 0 and not self.after:
                raise Crash
            answers += super().ask([one])
            if self.calls == 0:
                raise Crash
            self.calls -= 1
        return answers


def operations():
    """Blocks, splits, points that leave, and ends of blocks that nobody looks at."""
    X = mixture(60)
    for begin in range(0, 48, 6):
        ids = list(range(begin, begin + 6))
        along = Along(ids, np.full(6, 1.5) if begin > 18 else None, [f"text {i}" for i in ids])
        yield "insert", X[begin : begin + 6], along, f"k{begin}"
        if begin in (12, 30):
            yield "forget", [begin, begin - 5], f"f{begin}"


PLAN = Plan(3, {}, frontier=3, block=8, max_shards=6)


def carry_out(router):
    for verb, *about in operations():
        getattr(router, verb)(*about)


@pytest.mark.parametrize("after", [False, True])
def test_a_crash_at_any_call_changes_nothing_about_the_tree(folder, after):
    """Callers whose call got no answer send it again; the disk is copied as it was."""
    router = Router(folder / "whole", PLAN, LocalCrew(folder / "whole", {}))
    carry_out(router)
    wanted, tree = router.digests(), router.hierarchy()
    texts = router.payloads(range(60))
    assert texts == {number: f"text {number}" for number in tree.point_numbers.tolist()}
    router.close()
    crashes = 0
    for calls in range(0, 1000, 5):
        folder = folder / f"crash{calls}"
        folder.mkdir()
        crew = Doomed(folder, {}, calls, after)
        try:
            carry_out(Router(folder, PLAN, crew))
            break
        except Crash:
            crashes += 1
        left = folder / f"left{calls}"
        shutil.copytree(folder, left)
        for shard in crew.shards.values():
            shard._tree._writer.stop()
        router = Router(left, PLAN, LocalCrew(left, {}))
        carry_out(router)
        assert router.digests() == wanted, f"a crash at call {calls}"
        assert router.hierarchy() == tree
        assert router.payloads(range(60)) == texts
        router.close()
    assert crashes > 15


class Full(LocalCrew):
    """Shards, one of which has no room for some of its operations."""

    def __init__(self, folder, options):
        super().__init__(folder, options)
        self.left = None

    def ask(self, calls):
        answers = []
        for one in calls:
            if one[1] == "insert" and self.left is not None:
                self.left -= 1
                if self.left == 0:
                    raise NotWrittenError("the disk is full")
            answers += super().ask([one])
        return answers


@pytest.mark.parametrize("which", [1, 2, 3])
def test_a_shard_that_could_not_take_an_operation_gets_it_again(folder, which):
    X = mixture(60)
    with sharded(folder / "whole") as model:
        wanted = model.partial_fit(X).digests()
    crew = Full(folder / "full", {})
    router = Router(folder / "full", Plan(3, {}, frontier=3, block=8, max_shards=12), crew)
    router.insert(X[:40], key="first")
    crew.left = which
    with pytest.raises(NotWrittenError):
        router.insert(X[40:], key="second")
    crew.left = None  # there is room again, and the caller asks again
    assert router.insert(X[40:], key="second").tolist() == list(range(40, 60))
    assert router.digests() == wanted
    crew.left = 1
    with pytest.raises(NotWrittenError):
        router.insert(X[:1], key="third")
    crew.left = None  # nobody asks again: what was written down is in
    assert router.hierarchy().n_leaves == 61
    router.close()


def test_a_shard_takes_an_operation_once_and_proves_what_it_replays(folder):
    X = mixture(2000)
    shard = Shard(folder / "shard", {})
    op = 0
    while op < 40 or (not shard._tree._writer.store.hashes(0) and op < 2000):
        near = np.array([[3 * op - 3 if op else -1]])
        for _ in range(2):
            state = shard.insert(op + 1, X[op : op + 1], np.array([3 * op]), near)
        op += 1
        assert state == (op, op, None)
    whole = shard.state(digest=True)
    shutil.copytree(folder / "shard", folder / "left")
    shard.close()
    again = Shard(folder / "left", {})
    assert again.report.replayed == op
    assert again.report.proven >= 1
    assert again.state(digest=True) == whole
    assert again.nearest(X[:1], 1)[0].tolist() == [[0]]
    held = again.holds(np.array([0, 1, 3, 3 * op]))
    assert held.tolist() == [True, False, True, False]
    again.close()


def test_a_part_that_moves_is_on_a_disk_at_every_moment(folder):
    """The folder of the shard that gets it is there or not, never in part."""
    X = mixture(40)
    one, other = Shard(folder / "one", {}), Shard(folder / "other", {})
    near = np.maximum(np.arange(40) - 1, -1)[:, np.newaxis]
    one.insert(1, X, np.arange(40), near)
    numbers, part, _ = one.part(2)
    assert other.adopt(2, part).leaves == len(numbers)
    assert other.adopt(2, part).leaves == len(numbers)
    assert one.give_up(2, numbers).leaves == 40 - len(numbers)
    assert one.part(2) is None
    assert sorted([*one.points()[0], *other.points()[0]]) == list(range(40))
    for shard in (one, other):
        shard.model.check()
        shard.close()
    assert not Path(folder / "other.new").exists()


def test_numbers_from_outside_are_new_and_ascending():
    live = core_tree("ohac", 1)
    rows, nobody = np.zeros((2, 1)), np.full((2, 1), 2**64 - 1, np.uint64)
    near = np.array([[2**64 - 1], [5]], np.uint64)
    live.insert_beside(rows, near, np.array([5, 9], np.uint64))
    assert live.numbers().tolist() == [5, 9]
    assert live.next_arrival == 10
    for wrong in ([9, 10], [12, 12], [13, 11], [10]):
        with pytest.raises(ValueError, match="new and ascending"):
            live.insert_beside(rows, nobody, np.array(wrong, np.uint64))
    with pytest.raises(ValueError, match="not among the points"):
        live.insert_beside(rows, np.full((2, 1), 7, np.uint64), np.array([20, 21], np.uint64))
    live.check()
    live.insert_beside(rows[:1], near[1:], np.array([30], np.uint64))
    assert live.numbers().tolist() == [5, 9, 30]
