# SPDX-License-Identifier: BSD-3-Clause
"""What callers give to a folder is a plain value before the writer hears of it; no call hangs."""

import datetime as dt
import math
import threading
from decimal import Decimal

import numpy as np
import pytest

import ramify
from ramify.journal import JournalError
from ramify.journal._records import Operation
from tests.every import ONLINE

WEIRD = {
    "int64": np.int64(2),
    "uint8": np.uint8(2),
    "float32": np.float32(2.5),
    "numpy's NaN": np.float32("nan"),
    "NaN": math.nan,
    "infinity": math.inf,
    "numpy's bool": np.bool_(True),
    "array": np.array([0, 1]),
    "array of no dimension": np.array(2),
    "numpy's text": np.str_("x"),
    "half a character": "\ud800",
    "zero byte": "a\0b",
    "bytes": b"x",
    "date": dt.datetime(2020, 1, 1),
    "datetime64": np.datetime64("2020-01-01"),
    "timedelta64": np.timedelta64(3, "s"),
    "decimal": Decimal("1.5"),
    "huge": 10**30,
    "beyond all text": 10**6000,
    "mixed keys": {1: "x", "a": "y"},
    "keys that are one text": {1: "x", "1": "y"},
    "pairs as keys": {(1, 2): 3},
    "set": {1},
    "object": object(),
    "nested": [[{"k": np.float32(1.5), "n": [np.int64(3)]}]],
    "deep": eval("[" * 90 + "1" + "]" * 90),
}
ROW = [[9.0, 9.0]]
VERBS = {
    "stable_labels": lambda tree, x: tree.stable_labels(n_clusters=x),
    "stable_labels by height": lambda tree, x: tree.stable_labels(height=x),
    "polish": lambda tree, x: tree.polish(x),
    "set_params": lambda tree, x: tree.set_params(n_clusters=x),
    "payload": lambda tree, x: tree.add(ROW, payloads=[x]),
    "key": lambda tree, x: tree.add(ROW, key=x),
    "marks": lambda tree, x: tree.add(ROW, marks={"source": x}),
    "weight": lambda tree, x: tree.add(ROW, sample_weight=[x]),
    "time": lambda tree, x: tree.add(ROW, times=[x]),
    "id": lambda tree, x: tree.add(ROW, ids=[x]),
    "row": lambda tree, x: tree.add(x),
    "replace": lambda tree, x: tree.add(ROW, replace=x),
    "forget": lambda tree, x: tree.forget(x),
    "must_link": lambda tree, x: tree.edit.must_link(x, 1),
    "move": lambda tree, x: tree.edit.move(-5, x),
    "rename": lambda tree, x: tree.edit.rename(-5, x),
    "options": lambda tree, x: tree.submit_call("polish", {"m": x}).result(),
}
REFUSED = (ValueError, TypeError, LookupError, OverflowError)


def in_time(work):
    """What a call answers or raises; it must not hang."""
    said = []

    def run():
        try:
            said.append(work())
        except BaseException as error:
            said.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert said, "it hangs"
    return said[0]


@pytest.mark.parametrize("verb", VERBS)
def test_a_folder_hung_for_ever_when_a_value_was_no_json(verb, tmp_path):
    """One np.int64 ended the writer's thread: this call, all later ones and close() waited."""
    tree = ramify.open(tmp_path, ramify.OHAC())
    tree.add([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0], [6.0, 6.0]])
    for name, value in WEIRD.items():
        found = in_time(lambda value=value: VERBS[verb](tree, value))
        assert not isinstance(found, BaseException) or isinstance(found, REFUSED), name
        if isinstance(found, BaseException):
            assert "nanobind" not in str(found)
        assert tree._writer.broken is None, name
    assert len(in_time(lambda: tree.add([[2.0, 2.0]])).numbers) == 1
    wanted = tree.digest()
    assert in_time(tree.close) is None
    with ramify.open(tmp_path) as again:
        assert again.digest() == wanted


def test_plain_values_come_back_as_they_were_meant(tmp_path):
    payload = {"n": np.int64(3), "v": np.array([1.5, 2.5]), 7: (1, None)}
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        tree.add([[0.0], [1.0], [9.0]], payloads=[payload, None, np.float32(0.5)])
        payload["n"] = "changed afterwards"
        assert tree.payloads([0, 2]) == {0: {"n": 3, "v": [1.5, 2.5], "7": [1, None]}, 2: 0.5}
        assert tree.stable_labels(n_clusters=np.int64(2)).tolist() == [0, 0, 1]
        for bad, why in (
            ({1: "x", "1": "y"}, "the same text"),
            (b"x", "an object of type bytes"),
            ("\ud800", "no text that can be written"),
            ([["\ud800"]], "half a surrogate"),
            ([math.nan], "JSON"),
            (eval("[" * 150 + "]" * 150), "deeper than 100"),
        ):
            with pytest.raises(ValueError, match=why):
                tree.add([[1.0]], payloads=[bad])


@pytest.mark.parametrize("kind", ONLINE)
def test_a_verb_that_an_estimator_has_not_is_refused_and_breaks_nothing(kind, tmp_path):
    """``add(replace=True)`` on a tree that cannot forget was written down, and never opened."""
    tree = ramify.open(tmp_path, kind())
    tree.add([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], ids=["a", "b", "c"])
    calls = (
        lambda: tree.add([[7.0, 7.0]], ids=["a"], replace=True),
        lambda: tree.forget("b"),
        lambda: tree.stable_labels(n_clusters=2),
        lambda: tree.polish(3),
        lambda: tree.edit.must_link("a", "c"),
        lambda: tree.edit.rename(-1, "x"),
        lambda: tree.add([[8.0, 8.0]], ids=["d"], sample_weight=[2]),
        lambda: tree.set_params(keep=ramify.Last(3)),
    )
    for call in calls:
        found = in_time(call)
        assert not isinstance(found, BaseException) or isinstance(found, REFUSED)
        assert tree._writer.broken is None
    wanted = tree.digest()
    tree.close()
    with ramify.open(tmp_path) as again:
        assert again.digest() == wanted


def test_what_nobody_thought_of_reaches_its_caller_later_calls_and_close(tmp_path, monkeypatch):
    tree = ramify.open(tmp_path, ramify.OHAC())
    tree.add([[0.0], [1.0]])
    wanted = tree.digest()
    with monkeypatch.context() as patch:
        patch.setattr(tree._writer, "_count", lambda *_: 1 / 0)
        found = in_time(lambda: tree.add([[5.0]]))
    assert isinstance(found, JournalError)
    assert "ZeroDivisionError" in str(found)
    for later in (lambda: tree.add([[6.0]]), lambda: tree.snapshot(), lambda: tree.compact()):
        found = in_time(later)
        assert isinstance(found, JournalError)
        assert "close it and open it again" in str(found)
    found = in_time(tree.close)
    assert isinstance(found, JournalError)
    assert in_time(tree.close) is None  # it was closed, and the folder let go
    with ramify.open(tmp_path) as again:
        assert len(again) == 3  # it had been written down
        assert again.forget(2) == 1
        assert again.cut(n_clusters=1).tolist() == [0, 0]
    assert wanted != again.digest()


def test_of_calls_in_one_commit_only_the_one_that_cannot_be_written_is_refused(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        tree.add([[0.0], [1.0]])
        hold = threading.Event()
        tree._writer.do(hold.wait)
        good = tree.submit_add([[2.0]])
        bad = tree.submit_operation(Operation("mark", {"marks": {"a": object()}}))
        last = tree.submit_add([[3.0]])
        hold.set()
        assert isinstance(in_time(bad.result), TypeError)
        assert [good.result().numbers, last.result().numbers] == [[2], [3]]


def test_a_listener_that_fails_is_not_the_trees_affair(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        tree.listen(lambda version: 1 / 0)
        assert in_time(lambda: tree.add([[0.0], [1.0]])).numbers == [0, 1]
        assert in_time(lambda: tree.add([[2.0]])).numbers == [2]


def test_the_background_goes_on_after_work_that_failed(tmp_path):
    """Anything but an OSError ended its thread, and there were no snapshots any more."""
    tree = ramify.open(tmp_path, ramify.OHAC(), snapshot_every=2)
    done = threading.Event()
    tree._writer.upkeep.background.submit(lambda: 1 / 0, print)
    tree._writer.upkeep.background.submit(lambda: 1, lambda _: done.set())
    assert done.wait(60)
    tree.add([[0.0], [1.0]])
    tree.close()


def of_rows(tree):
    tree.add([[0.0], [1.0], [9.0], [8.0], [7.0]])
    return (
        (lambda: tree.edit.must_link(1, 1), "same point"),
        (lambda: tree.edit.must_link(0, 99), "99"),
        (lambda: tree.edit.move(tree.path(0)[0], under=-1), "the root has nowhere to go"),
        (lambda: tree.edit.move(-1, under=-1), "below itself"),
        (lambda: tree.edit.move(77, under=-1), "no node with the id 77"),
        (lambda: tree.edit.release(-1), "not held"),
        (lambda: tree.edit.unlink(0, 1), "nothing was said"),
        (lambda: tree.edit.cannot_link(2, 2), "same point"),
        (lambda: tree.edit.rename(77, "x"), "no node with the id 77"),
        (lambda: tree.polish(2), "at least 3"),
        (lambda: tree.forget([0, 0]), "named twice"),
        (lambda: tree.stable_labels(n_clusters=9), "n_clusters=9"),
        (lambda: tree.stable_labels(height=1.0, stickiness=0.5), "n_clusters"),
        (lambda: tree.set_params(n_clusters=0), "n_clusters=0"),
        (lambda: tree.set_params(n_clusters=2, distance_threshold=1.0), "both set"),
    )


def of_a_budget(tree):
    tree.add([[0.0], [0.1], [9.0]])
    return ((lambda: tree.forget(0), "cannot leave alone"),)


def of_edges(tree):
    tree.add(edges=([1, 2], [2, 3], [0.9, 0.1]))
    return ((lambda: tree.forget([1, 7]), "7"), (lambda: tree.edit.rename(-1, "x"), "rows"))


@pytest.mark.parametrize(
    ("model", "calls"),
    [
        (ramify.OHAC(), of_rows),
        (ramify.OHAC(keep=ramify.Budget(2)), of_a_budget),
        (ramify.LiveGraphHAC(), of_edges),
    ],
)
def test_what_is_refused_is_not_written_down(model, calls, tmp_path):
    """Edits that OHAC refuses were on the disk first, and refused again by every replay."""
    with ramify.open(tmp_path, model) as tree:
        for call, message in calls(tree):
            seq, digest = tree._writer.seq, tree.digest()
            with pytest.raises((ValueError, TypeError, LookupError), match=message):
                call()
            assert (tree._writer.seq, tree.digest()) == (seq, digest), message


def test_links_that_cannot_be_are_not_written_down(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        tree.add([[0.0], [1.0], [9.0], [8.0], [7.0]])
        tree.edit.must_link(0, 1)
        tree.edit.cannot_link(1, 2)
        tree.edit.move(-4, under=-5)
        seq, digest = tree._writer.seq, tree.digest()
        for call, message in (
            (lambda: tree.edit.must_link(0, 2), "must be apart"),
            (lambda: tree.edit.cannot_link(0, 1), "linked"),
            (lambda: tree.edit.move(-1, under=-3), "linked with other points"),
            (lambda: tree.edit.must_link(0, 3), "held below a node"),
        ):
            with pytest.raises(ValueError, match=message):
                call()
        assert (tree._writer.seq, tree.digest()) == (seq, digest)
