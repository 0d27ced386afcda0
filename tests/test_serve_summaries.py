# SPDX-License-Identifier: BSD-3-Clause
"""Summaries that a program keeps beside a served tree, as the server tells them."""

import asyncio
from contextlib import ExitStack

import numpy as np
import pytest

import ramify
from ramify.client import NotThereError, RemoteError
from ramify.journal.seam import SUMMARIES
from ramify.serve import running
from ramify.summaries import SummaryTree
from tests.oracles.summaries import rows

pytestmark = pytest.mark.no_asan  # servers, and nothing new for the core

LEVELS = (4, 12, 40)
X = rows(3, 80)
TEXTS = [f"text {i}" for i in range(len(X))]


def say(parts, node):
    return f"{node.size} points: " + ", ".join(str(part.text) for part in parts)


def put(tree, begin, end):
    ids = [f"T{i}" for i in range(begin, end)]
    return tree.add(X[begin:end], ids=ids, payloads=TEXTS[begin:end])


@pytest.fixture(params=["folder", "shards"])
def tree(request, tmp_path):
    options = {} if request.param == "folder" else {"ray": "local", "shards": 2}
    with ExitStack() as stack:
        url = stack.enter_context(running(tmp_path, **options))
        client = stack.enter_context(ramify.Client(url))
        yield client.create("a", history=50)


@pytest.fixture
def keeper(tree, tmp_path):
    """The program that keeps the summaries."""
    with keeping(tree, tmp_path) as found:
        yield found


def keeping(tree, tmp_path, **options):
    return SummaryTree(
        tree, summarize=say, levels=LEVELS, store=tmp_path / "a" / SUMMARIES, **options
    )


def test_what_is_told_is_what_the_program_knows(tree, keeper):
    put(tree, 0, 60)
    keeper.update()
    for level in LEVELS:
        told, known = tree.summaries(level), keeper.summaries(level)
        assert [one[:5] for one in told] == [tuple(one) for one in known]
        assert len(known) > 1
    every = tree.summaries()
    assert [one["stale"] for one in every.about["levels"]] == [0, 0, 0]
    assert [one["level"] for one in every.about["levels"]] == list(LEVELS)
    assert len({one.node_id for one in every}) == len(every) == every.about["total"]
    assert tree.summaries(LEVELS[0], limit=2) == tree.summaries(LEVELS[0])[:2]
    one = tree.summary(every[-1].node_id)
    assert one.text == say([Said(part) for part in one.parts], one)
    assert sum(part["size"] for part in one.parts) == one.size
    above = tree.summary(one.path[-1]) if one.path else None
    assert above is None or one.node_id in [part["node"] for part in above.parts]


class Said:
    def __init__(self, part):
        self.text = part["text"]


def test_what_is_stale_is_what_the_next_update_makes(tree, keeper):
    put(tree, 0, 60)
    keeper.update()
    put(tree, 60, 63)
    stale = tree.summaries(stale=True)
    assert {one.text for one in stale} == {None}
    assert not any(one.fresh for one in stale)
    assert sum(one["stale"] for one in tree.summaries().about["levels"]) >= len(stale) > 0
    assert keeper.update().made == len(stale)
    assert tree.summaries(stale=True) == []
    tree.forget("T3")
    assert len(tree.summaries(stale=True)) == keeper.update().made > 0


def test_a_question_finds_what_the_program_finds(tmp_path):
    with (
        running(tmp_path) as url,
        ramify.Client(url) as client,
        ramify.open(tmp_path / "twin", ramify.OHAC(history=9)) as twin,
    ):
        tree = client.create("a", history=9)
        summaries = SummaryTree(twin, summarize=say, levels=LEVELS)
        for one in (tree, twin):
            put(one, 0, 80)
        with keeping(tree, tmp_path) as keeper:
            keeper.update()
        summaries.update()
        for row in X[:9] + 0.25:
            for mode in ("collapsed", "tree"):
                told = tree.retrieve(row, 5, mode=mode)
                assert [tuple(one) for one in told] == [
                    tuple(one) for one in summaries.retrieve(row, 5, mode=mode)
                ]


def test_what_the_program_erases_is_told_no_more(tree, keeper):
    put(tree, 0, 60)
    keeper.update()
    assert any("text 7," in one.text for one in tree.summaries())
    keeper.forget("T7")
    assert not any(one.text is None or "text 7," in one.text for one in tree.summaries())
    keeper._store.erase(keeper._store.missing([]) or [keeper._state.mirror.content[-1]])
    assert tree.summaries(stale=True)  # another program has erased some, and the tree is the same


def test_compacting_a_tree_leaves_no_summary_of_what_has_left(tree, tmp_path):
    put(tree, 0, 60)
    with keeping(tree, tmp_path, lazy=0.9) as keeper:
        keeper.update()
        tree.forget("T7")
        keeper.update()  # which holds on to what was said of T7
        assert any("text 7," in one.text for one in tree.summaries())
        kept = b"".join(path.read_bytes() for path in tmp_path.glob(f"a/{SUMMARIES}*"))
        assert b"text 7," in kept
        tree.compact()
        assert not any("text 7," in (one.text or "") for one in tree.summaries())
        assert any(one.text for one in tree.summaries())
        kept = b"".join(path.read_bytes() for path in tmp_path.glob(f"a/{SUMMARIES}*"))
        assert b"text 7," not in kept
        assert keeper.update().pending == 0
        assert tree.summaries(stale=True) == []


def test_a_lazy_program_goes_on_with_what_is_good_enough(tree, tmp_path):
    put(tree, 0, 60)
    with keeping(tree, tmp_path, lazy=0.5) as keeper:
        keeper.update()
        put(tree, 60, 62)
        done = keeper.update()
        assert done.kept > 0
        told = [one[:5] for level in LEVELS for one in tree.summaries(level)]
        assert told == [tuple(one) for level in LEVELS for one in keeper.summaries(level)]
        assert not all(one[4] for one in told)


def test_without_a_store_the_way_out_is_named(tree, tmp_path):
    put(tree, 0, 9)
    with pytest.raises(NotThereError, match="have a SummaryTree of it keep them"):
        tree.summaries()
    with keeping(tree, tmp_path) as keeper:
        keeper.update()
    assert len(tree.summaries(LEVELS[0])) > 0
    with pytest.raises(RemoteError, match=r"level=5.0: expected one of \(4, 12, 40\)"):
        tree.summaries(5)
    with pytest.raises(NotThereError, match="has no summary"):
        tree.summary(10**9)
    with pytest.raises(RemoteError, match="expected 2 numbers"):
        tree.retrieve([1.0], 3)
    for path in tmp_path.glob(f"a/{SUMMARIES}*"):
        path.unlink()
    with pytest.raises(NotThereError, match="have a SummaryTree of it keep them"):
        tree.summaries()
    with keeping(tree, tmp_path) as keeper:
        keeper.update()
    assert tree.summaries(stale=True) == []
    tree.delete()
    assert not (tmp_path / "a").exists()


def test_an_empty_tree_has_no_summaries_yet(tree, keeper):
    keeper.update()
    assert tree.summaries() == []
    assert [one["summaries"] for one in tree.summaries().about["levels"]] == [0, 0, 0]
    assert tree.retrieve([0.0, 0.0], 3) == []


def test_the_async_client_and_readers_may_ask(tmp_path):
    tokens = {"token": "a-token-of-writers", "read_token": "a-token-of-readers"}
    with running(tmp_path, **tokens) as url:
        with ramify.Client(url, token=tokens["token"]) as client:
            tree = client.create("a", history=9)
            put(tree, 0, 40)
            with keeping(tree, tmp_path) as keeper:
                keeper.update()
                known = keeper.summaries(LEVELS[1])

        async def main():
            async with ramify.AsyncClient(url, token=tokens["read_token"]) as client:
                tree = client.tree("a")
                told = await tree.summaries(LEVELS[1])
                assert (await tree.summary(told[0].node_id)).text == told[0].text
                assert len(await tree.retrieve(np.array([0.0, 1.0]), 3)) == 3
                return told

        assert [one[:5] for one in asyncio.run(main())] == [tuple(one) for one in known]
