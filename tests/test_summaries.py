# SPDX-License-Identifier: BSD-3-Clause
"""Summaries of a live tree: exactly the stale ones are asked for, each once, and none is lost."""

import asyncio
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify.ray import ShardedOHAC
from ramify.serve import running
from ramify.summaries import SummaryTree
from tests.oracles.summaries import AskedFor, Recorder, rows, texts_of, wanted
from tests.strategies import examples, seeds

pytestmark = pytest.mark.no_asan  # processes, servers, and nothing new for the core

LEVELS = (3, 8, 20)


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


@pytest.mark.parametrize(
    "options", [{"keep": ramify.Budget(20)}, {"duplicates": "count"}, {"keep": ramify.Last(25)}]
)
def test_leaves_of_several_points_and_windows_are_followed(options):
    X, seen = rows(3), Recorder()
    history = {} if options.get("keep") != ramify.Last(25) else {"history": 50}
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
        await asyncio.sleep(0.05)
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
        model.partial_fit(rows(3, 2), ids=["d#0", "e#0"])
        both = asyncio.gather(summaries.update_async(), summaries.forget_async("d"))
        assert all(one.made > 0 for one in await asyncio.wait_for(both, 20))

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
