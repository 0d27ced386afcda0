# SPDX-License-Identifier: BSD-3-Clause
"""What a summary tree keeps: what was paid for, and nothing of what was forgotten; mistakes."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest

import ramify
from ramify.summaries import SummaryTree
from tests.oracles.summaries import Recorder, rows

pytestmark = pytest.mark.no_asan  # processes, and nothing new for the core

LEVELS = (3, 8, 20)


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
        ({"summarize": lambda parts, node: ["x", "y", "z"], "batch": 9}, "expected 1 answers"),
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
