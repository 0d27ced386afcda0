# SPDX-License-Identifier: BSD-3-Clause
"""Summaries of a live tree: exactly the stale ones are asked for, each once, and none is lost."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify.ray import ShardedOHAC
from ramify.serve import running
from ramify.summaries import SummaryTree
from tests.oracles.summaries import AskedFor, wanted
from tests.strategies import examples, seeds

pytestmark = pytest.mark.no_asan  # processes, servers, and nothing new for the core

LEVELS = (3, 8, 20)


def texts_of(parts):
    """The texts below, sorted: a summary that says what it is of."""
    return sorted(
        text
        for part in parts
        for text in ([part.text] if isinstance(part.text, str) else part.text)
    )


class Recorder:
    """Summarizes by :func:`texts_of`, and knows what it was asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, parts, node):
        found = texts_of(parts)
        self.asked.append(tuple(found))
        assert node.size == sum(part.size for part in parts) <= node.level
        return found

    def news(self):
        asked, self.asked = self.asked, []
        return asked


def rows(seed, n=60):
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=(n, 2)) + 6 * rng.normal(size=(5, 2))[rng.integers(5, size=n)])


# --- exactly the stale ones ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["OHAC", "PERCH", "NaiveNN", "OTD"])
@pytest.mark.parametrize("history", [0, 100])
@given(seed=seeds(), steps=st.lists(st.integers(-6, 9), min_size=1, max_size=8))
@settings(max_examples=examples(12), deadline=None)
def test_what_is_stale_is_what_member_sets_from_scratch_say(kind, history, seed, steps):
    X, rng = rows(seed), np.random.default_rng(seed)
    texts = [f"text {i % 50}" for i in range(200)]  # some say the same
    if not hasattr(getattr(ramify, kind), "forget"):
        steps = list(map(abs, steps))
    model, seen, oracle = getattr(ramify, kind)(history=history), Recorder(), AskedFor()
    summaries = SummaryTree(model, summarize=seen, levels=LEVELS, texts=texts)
    model.partial_fit(X[:5])
    for step in [0, *steps]:
        if step > 0:
            model.partial_fit(X[rng.integers(len(X), size=step)])
        elif step < 0 and len(model) > 1:
            there = model.point_numbers_
            model.forget(rng.permutation(there)[: min(-step, len(there) - 1)].tolist())
        told = summaries.update()
        asked = seen.news()
        assert set(asked) == oracle.stale(model, LEVELS, texts)
        assert len(asked) == len(set(asked)) == told.made
        assert told.pending == 0
        summaries._state.mirror.check()
        there = {tuple(one.text) for level in LEVELS for one in summaries.summaries(level)}
        assert there == wanted(model, LEVELS, texts)
        assert all(one.fresh for level in LEVELS for one in summaries.summaries(level))


@pytest.mark.parametrize("options", [{"max_leaves": 20}, {"duplicates": "count"}, {"window": 25}])
def test_leaves_of_several_points_and_windows_are_followed(options):
    X, seen = rows(3), Recorder()
    history = {} if "window" not in options else {"history": 50}
    model = ramify.OHAC(**options, **history)
    texts = [f"text {i}" for i in range(len(X))]
    summaries = SummaryTree(model, summarize=lambda parts, node: len(parts), texts=texts)
    for batch in np.array_split(X, 12):
        model.partial_fit(batch)
        summaries.update()
        summaries._state.mirror.check()
        mirror, clusters = summaries._state.mirror, model.clusters(max_size=10)
        assert {one.node_id: one.size for one in summaries.summaries(10)} == {
            one.node_id: one.size for one in clusters if one.node_id >= 0
        }
        assert mirror.size[mirror.root] == sum(one.size for one in clusters)
    assert summaries.update().made == 0
    assert seen.news() == []


def homes(tmp_path):
    yield "live", ramify.OHAC(history=50)
    with ramify.open(tmp_path / "folder", ramify.OHAC(history=50)) as tree:
        yield "folder", tree
    with ShardedOHAC(1, folder=tmp_path / "shards", engine="local", history=50) as tree:
        yield "shards", tree
    with running(tmp_path / "served") as url, ramify.Client(url) as client:
        yield "client", client.create("a", history=50)


def test_all_homes_have_the_same_summaries(tmp_path):
    X, found = rows(8), {}
    texts = {f"T{i}": f"text {i}" for i in range(len(X))}
    for name, tree in homes(tmp_path):
        seen = Recorder()
        said = {"texts": texts} if name in ("live", "shards") else {}
        summaries = SummaryTree(tree, summarize=seen, levels=LEVELS, **said)
        assert summaries.update().made == 0  # an empty tree
        for begin, end in ((0, 40), (40, 41), (41, 60)):
            ids = [f"T{i}" for i in range(begin, end)]
            along = {} if said else {"payloads": [texts[one] for one in ids]}
            tree.partial_fit(X[begin:end], ids=ids, **along)
            summaries.update()
        summaries.forget("T7")
        found[name] = seen.news(), [summaries.summaries(level) for level in LEVELS]
    assert found["live"] == found["folder"] == found["client"]
    assert sorted(found["live"][0]) == sorted(found["shards"][0])


def test_ids_that_are_whole_numbers_are_no_numbers_of_points(tmp_path):
    X, seen = rows(8, 12), {}
    ids = list(range(len(X)))[::-1]

    def note(parts, node):
        seen.update((one.point, one.text) for one in parts)
        return "-"

    for name, tree in homes(tmp_path):
        if name in ("folder", "client"):
            tree.add(X, ids=ids, payloads=[f"text of {one}" for one in ids])
            summaries = SummaryTree(tree, summarize=note, levels=(20,))
            seen.clear()
            summaries.update()
            assert seen == {one: f"text of {one}" for one in ids}
            summaries.forget(3)
            assert 3 not in tree.ids_


def test_points_without_texts_are_told_by_their_names():
    X, seen = rows(8, 12), []
    model = ramify.OHAC(history=9).fit(X[:10], ids=[f"T{i}" for i in range(10)])
    note = lambda parts, node: seen.append([(one.text, one.point) for one in parts]) or "-"  # noqa: E731
    SummaryTree(model, summarize=note, levels=(20,)).update()
    assert seen == [[(None, f"T{i}") for i in range(10)]]


# --- the kinds of callables ----------------------------------------------------------------------


def test_async_and_batched_callables_make_the_same_summaries():
    X = rows(4)
    texts = [f"text {i}" for i in range(len(X))]
    under_way, most = 0, 0

    async def one(parts, node):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return texts_of(parts)

    async def some(parts, nodes):
        return [texts_of(each) for each in parts]

    def kinds():
        yield {"summarize": lambda parts, node: texts_of(parts)}
        yield {"summarize": lambda parts, nodes: [texts_of(one) for one in parts], "batch": 7}
        yield {"summarize": one, "at_once": 4}
        yield {"summarize": some, "batch": 3}

    found = []
    for kind in kinds():
        model = ramify.OHAC().fit(X)
        summaries = SummaryTree(model, levels=LEVELS, texts=texts, **kind)
        summaries.update()
        found.append([summaries.summaries(level) for level in LEVELS])
    assert all(one == found[0] for one in found)
    assert most == 4


def test_in_a_running_loop_update_names_the_way_out():
    async def summarize(parts, node):
        return "x"

    async def main():
        model = ramify.OHAC().fit(rows(1, 9), ids=[f"a#{i}" for i in range(9)])
        summaries = SummaryTree(model, summarize=summarize)
        with pytest.raises(RuntimeError, match="_async"):
            summaries.update()
        both = await asyncio.gather(summaries.update_async(), summaries.update_async())
        assert sorted(one.made for one in both) == [0, 1]
        model.partial_fit(rows(2, 3), ids=["b#1", "b#2", "c"])
        assert (await summaries.forget_async("b")).made == 1

    asyncio.run(main())


def test_a_call_that_fails_costs_no_other():
    X, seen = rows(5), []
    broken = True

    def summarize(parts, node):
        if broken and len(seen) == 4:
            raise ConnectionError("the model is away")
        seen.append(texts_of(parts))
        return seen[-1]

    texts = [f"text {i}" for i in range(len(X))]
    summaries = SummaryTree(ramify.OHAC().fit(X), summarize=summarize, levels=LEVELS, texts=texts)
    with pytest.raises(ConnectionError):
        summaries.update()
    broken = False
    summaries.update()
    assert max(Counter(map(str, seen)).values()) == 1
    assert all(one.fresh for level in LEVELS for one in summaries.summaries(level))


def test_of_async_calls_those_under_way_are_kept_when_one_fails():
    X, paid = rows(5), []
    broken = True

    async def summarize(parts, node):
        if broken and len(paid) == 3:
            raise ConnectionError("the model is away")
        paid.append(str(texts_of(parts)))
        await asyncio.sleep(0.001)
        return texts_of(parts)

    texts = [f"text {i}" for i in range(len(X))]
    summaries = SummaryTree(ramify.OHAC().fit(X), summarize=summarize, levels=LEVELS, texts=texts)
    with pytest.raises(ConnectionError):
        summaries.update()
    broken = False
    summaries.update()
    assert max(Counter(paid).values()) == 1


def test_texts_that_cannot_be_read_leave_the_books_in_order():
    X, seen, away = rows(5), Recorder(), True

    def texts(names):
        if away:
            raise ConnectionError("the texts are away")
        return [f"text {one}" for one in names]

    model = ramify.OHAC(history=9).fit(X[:50])
    summaries = SummaryTree(model, summarize=seen, levels=LEVELS, texts=texts)
    away = False
    summaries.update()
    away = True
    model.partial_fit(X[50:])
    with pytest.raises(ConnectionError):
        summaries.update()
    away = False
    summaries.update()
    every = [f"text {i}" for i in range(len(X))]
    assert {tuple(one.text) for one in summaries.summaries(8)} <= wanted(model, LEVELS, every)
    assert max(Counter(seen.news()).values()) == 1


# --- budgets, lazy trees, progress ---------------------------------------------------------------


def test_a_budget_ends_an_update_and_the_next_goes_on():
    X, seen = rows(6), Recorder()
    texts = [f"text {i}" for i in range(len(X))]
    model = ramify.OHAC(history=9).fit(X)
    summaries = SummaryTree(model, summarize=seen, levels=LEVELS, texts=texts, budget=5)
    total = len(wanted(model, LEVELS, texts))
    told = [summaries.update() for _ in range(-(-total // 5))]
    assert [one.made for one in told[:-1]] == [5] * (len(told) - 1)
    assert told[0].pending == total - 5
    assert told[-1].pending == 0
    assert set(seen.news()) == wanted(model, LEVELS, texts)
    in_a_minute = {"update": None, "minute": 7}
    twin = SummaryTree(model, summarize=seen, levels=LEVELS, texts=texts, budget=in_a_minute)
    assert [twin.update().made, twin.update().made] == [7, 0]
    assert any(one.text is None for level in LEVELS for one in twin.summaries(level))


def test_a_lazy_tree_asks_again_only_after_its_share_has_changed(tmp_path):
    X, seen = rows(7, 200), Recorder()
    texts = [f"text {i}" for i in range(len(X))]
    model = ramify.OHAC(history=300).fit(X[:100])
    kept = tmp_path / "summaries.sqlite"
    options = {"summarize": seen, "levels": LEVELS, "texts": texts, "lazy": 0.3, "store": kept}
    summaries = SummaryTree(model, **options)
    eager = SummaryTree(model, **options | {"lazy": 0.0, "store": None, "summarize": Recorder()})
    summaries.update(), eager.update()
    asked = {"lazy": 0, "eager": 0}
    for x in X[100:]:
        model.insert(x)
        asked["lazy"] += summaries.update().made
        asked["eager"] += eager.update().made
        for level in LEVELS:
            for one in summaries.summaries(level):
                now = {texts[i] for i in members(model, one.node_id)}
                assert len(now ^ set(one.text)) <= 0.3 * len(one.text)
    assert 0 < asked["lazy"] < asked["eager"]
    summaries.close()
    with SummaryTree(model, **options) as again:  # knows what it was content with
        assert again.update().made == 0


def members(model, node):
    tree = model.hierarchy()
    at = len(tree) + tree.node_ids.tolist().index(node)
    return tree.point_numbers[tree.leaves(at)].tolist()


def test_progress_tells_how_many_are_done():
    told = []
    model = ramify.OHAC().fit(rows(6))
    tell = lambda done, total: told.append((done, total))  # noqa: E731
    made = SummaryTree(model, summarize=lambda parts, node: "x", progress=tell).update().made
    assert told == [(i + 1, made) for i in range(made)]


# --- documents -----------------------------------------------------------------------------------


@pytest.mark.parametrize("lazy", [0.0, 0.9])
def test_forgetting_a_document_leaves_no_trace_of_it(lazy, tmp_path):
    X, seen = rows(9), Recorder()
    ids = [f"doc{i % 20}#{i}" for i in range(len(X))]
    texts = {one: f"secret of {one}" for one in ids}
    model = ramify.OHAC(history=50).fit(X[:50], ids=ids[:50])
    path = tmp_path / "kept.sqlite"
    options = {"levels": LEVELS, "texts": texts, "lazy": lazy, "store": path}
    summaries = SummaryTree(model, summarize=seen, **options)
    summaries.update()
    model.partial_fit(X[50:], ids=ids[50:])
    summaries.update()
    summaries._budget = type(summaries._budget)(0, None)
    told = summaries.forget("doc4")
    assert told.made == 0
    assert told.pending > 0
    assert not any("doc4#" in one for one in model.ids_)
    for level in LEVELS:
        for one in summaries.summaries(level):
            assert "doc4#" not in str(one.text)
    summaries._budget = type(summaries._budget)(None, None)
    assert summaries.update().pending == 0
    with pytest.raises(KeyError, match="doc4"):
        summaries.forget("doc4")
    summaries.close()
    for file in tmp_path.iterdir():
        assert b"doc4#" not in file.read_bytes()


def test_what_others_have_said_as_well_stays():
    model = ramify.OHAC().fit([[0.0], [0.1], [9.0], [9.1]], ids=["a#0", "a#1", "b#0", "b#1"])
    texts = {"a#0": "x", "a#1": "y", "b#0": "x", "b#1": "z"}
    seen = Recorder()
    summaries = SummaryTree(model, summarize=seen, levels=(2, 4), texts=texts)
    summaries.update()
    seen.news()
    assert summaries.forget("a").made == 0  # x and z are summarized already
    assert [one.text for one in summaries.summaries(2)] == [["x", "z"]]


def test_documents_can_be_named_by_a_function():
    model = ramify.OHAC().fit([[0.0], [1.0], [9.0]], ids=[10, 11, 20])
    summaries = SummaryTree(
        model, summarize=lambda parts, node: "x", document=lambda one: one // 10
    )
    summaries.update()
    summaries.forget(1)
    assert model.ids_.tolist() == [20]


# --- what was paid for ---------------------------------------------------------------------------


def test_another_process_and_another_tree_of_the_same_texts_pay_nothing(tmp_path):
    X, seen = rows(10), Recorder()
    texts = [f"text {i}" for i in range(len(X))]
    options = {"summarize": seen, "levels": LEVELS, "store": tmp_path / "kept"}
    with SummaryTree(ramify.OHAC().fit(X), texts=texts, **options) as summaries:
        assert summaries.update().made > 0
    ids = [f"T{i}" for i in range(len(X))]
    named = ramify.OHAC().fit(X, ids=ids)
    with SummaryTree(named, texts=dict(zip(ids, texts, strict=True)), **options) as again:
        told = again.update()
    assert told.made == 0
    assert told.found > 0


CHILD = """
    import os, signal, sys
    import numpy as np, ramify
    from ramify.summaries import SummaryTree

    folder, stop, batch = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = np.random.default_rng(1)
    model = ramify.OHAC().fit(rng.normal(size=(400, 2)))
    paid = open(folder + "/paid", "a")
    asked = 0

    def one(parts, node):
        global asked
        asked += 1
        if asked == stop:
            os.kill(os.getpid(), signal.SIGKILL)  # before this one is paid for
        content = sorted(sum(([p.point] if p.point is not None else p.text for p in parts), []))
        print(content, file=paid, flush=True)
        return content

    def some(parts, nodes):
        return [one(*pair) for pair in zip(parts, nodes)]

    texts = [str(i) for i in range(400)]
    how = {"summarize": some, "batch": batch} if batch else {"summarize": one}
    told = SummaryTree(model, **how, store=folder + "/kept", texts=texts).update()
    print(told.made, told.pending)
"""


def child(folder, stop, batch=0):
    words = [sys.executable, "-c", textwrap.dedent(CHILD), str(folder), str(stop), str(batch)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs SIGKILL")
def test_kill_9_in_the_middle_loses_no_summary_that_was_paid_for(tmp_path):
    for stop in (1, 2, 30, 7):
        done = child(tmp_path, stop)
        assert done.returncode == -signal.SIGKILL, done.stderr
    done = child(tmp_path, 0)
    assert done.returncode == 0, done.stderr
    paid = (tmp_path / "paid").read_text().splitlines()
    assert len(paid) == len(set(paid))  # nothing twice
    made, pending = map(int, done.stdout.split())
    assert pending == 0
    assert len(paid) - made == 0 + 1 + 29 + 6
    with sqlite3.connect(tmp_path / "kept") as kept:
        assert kept.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert kept.execute("SELECT count(*) FROM summaries").fetchone() == (len(paid),)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs SIGKILL")
def test_kill_9_in_a_batch_loses_that_batch_at_most(tmp_path):
    assert child(tmp_path, 18, batch=5).returncode == -signal.SIGKILL
    assert child(tmp_path, 0, batch=5).returncode == 0
    paid = Counter((tmp_path / "paid").read_text().splitlines())
    assert sorted(paid.values())[-3:] == [2, 2, 1] or sum(paid.values()) - len(paid) == 2


# --- mistakes ------------------------------------------------------------------------------------


def summarize(parts, node):
    return "x"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": ()}, "levels"),
        ({"levels": (100, 10)}, "ascending"),
        ({"levels": (1, 10)}, "from 2"),
        ({"levels": 10}, "levels"),
        ({"lazy": -0.1}, "lazy"),
        ({"budget": "many"}, "budget"),
        ({"budget": {"hour": 1}}, "minute"),
        ({"budget": -1}, "budget"),
        ({"batch": 0}, "batch"),
        ({"at_once": 0}, "at_once"),
        ({"progress": 3}, "progress"),
        ({"summarize": "gpt"}, "summarize"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SummaryTree(ramify.OHAC(), **{"summarize": summarize} | options)


def test_a_store_that_cannot_be_one_is_refused(tmp_path):
    (tmp_path / "other").write_bytes(b"no store at all" * 100)
    for path in (tmp_path / "other", tmp_path / "nowhere" / "kept"):
        with pytest.raises(ValueError, match="store"):
            SummaryTree(ramify.OHAC(), summarize=summarize, store=path)
    with sqlite3.connect(tmp_path / "later") as later:
        later.execute("PRAGMA user_version=7")
    with pytest.raises(ValueError, match="later ramify"):
        SummaryTree(ramify.OHAC(), summarize=summarize, store=tmp_path / "later")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"summarize": lambda parts, node: None}, "None"),
        ({"summarize": lambda parts, node: {1, 2}}, "JSON"),
        ({"summarize": lambda parts, node: asyncio.sleep(0)}, "async def"),
        ({"summarize": lambda parts, node: ["x", "y", "z"], "batch": 9}, "expected 1 summaries"),
        ({"summarize": summarize, "texts": lambda names: []}, "expected a text"),
    ],
)
@pytest.mark.filterwarnings("ignore:coroutine")
def test_wrong_answers_are_refused(options, message):
    summaries = SummaryTree(ramify.OHAC().fit([[0.0], [1.0]]), **options)
    with pytest.raises((ValueError, TypeError), match=message):
        summaries.update()


def test_an_unknown_level_is_refused():
    with pytest.raises(ValueError, match="expected one of"):
        SummaryTree(ramify.OHAC(), summarize=summarize).summaries(7)


def test_the_files_of_a_store_are_where_they_were_asked_for(tmp_path):
    with SummaryTree(ramify.OHAC(), summarize=summarize, store=tmp_path / "kept"):
        assert Path(tmp_path / "kept").exists()
