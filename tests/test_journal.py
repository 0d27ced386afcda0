# SPDX-License-Identifier: BSD-3-Clause
"""Trees in folders: what was acknowledged is there again, once, and the tree is the same.

A crash is a copy of the folder at that moment; real kills are in test_journal_crash.py.
"""

import shutil
import sqlite3
import subprocess
import sys
import threading
from datetime import timedelta

import numpy as np
import pytest

import ramify
from ramify.journal import (
    BusyError,
    DamagedJournalError,
    FolderInUseError,
    JournalError,
    _model,
    _wal,
)
from tests.chaos.stream import KINDS, operate
from tests.commands import done, fails
from tests.every import ONLINE, leaf_of

OPTIONS = {
    "window": lambda: ramify.OHAC(keep=ramify.Last(40)),
    "max_age": lambda: ramify.OHAC(keep=ramify.Younger(6.0)),
    "dates": lambda: ramify.OTD(keep=ramify.Younger(timedelta(hours=6))),
    "repeats": lambda: ramify.OHAC(duplicates="count", metric="cosine"),
    "budget": lambda: ramify.OHAC(keep=ramify.Budget(30)),
    "history": lambda: ramify.OHAC(history=5, linkage="ward"),
    "perch": lambda: ramify.PERCH(max_leaves=30),
}
MAKERS = {kind.__name__: kind for kind in ONLINE} | OPTIONS


def steps(model, seed, count=40):
    """A stream of operations that such a model can take, the same for one seed."""
    rng = np.random.default_rng(seed)
    aged, number = isinstance(getattr(model, "keep", None), ramify.Younger), 0
    weighs = isinstance(model, (ramify.OHAC, ramify.OTD)) and not aged
    forgets = hasattr(model, "forget") and type(model) is not ramify.PERCH
    for step in range(count):
        n = int(rng.integers(1, 7))
        rows = np.round(rng.normal(size=(n, 3)), 1).astype(np.float32) + np.float32(0.05)
        ids = [f"p{number + i}" for i in range(n)]
        number += n
        more = {}
        if aged:
            times = step - rng.integers(0, 9, size=n)
            dates = isinstance(model.keep.age, timedelta)
            more["times"] = (times * 3_600_000_000_000).astype("M8[ns]") if dates else times * 1.0
        if weighs and step % 3 == 0:
            more["sample_weight"] = rng.integers(1, 4, size=n)
        yield "insert", rows, ids, more
        if forgets and step % 6 == 5:
            yield "forget", [f"p{number - 1}"], None, None
        if step % 10 == 9:
            yield "name", None, None, None
        if step % 15 == 14 and not aged:
            yield "settings", {"n_clusters": 2 + step % 4}, None, None


def take(model, step):
    """An operation on a plain model; a refusal is a refusal of the journal's, too."""
    kind, what, ids, more = step
    try:
        if kind == "insert":
            model.partial_fit(what, ids=ids, **more)
        elif kind == "forget":
            model.forget(what)
        elif kind == "settings":
            model.set_params(**what)
        elif len(model) >= 2:
            model.stable_labels(n_clusters=2)
    except (ValueError, LookupError):
        pass


def digest(model):
    return _model.state_digest(_model.saved(model))


def settled(tree):
    """Let the background finish, and the writer hear of it."""
    for _ in range(4):  # a snapshot is asked for, room is made for it, it is written and adopted
        ready = threading.Event()
        tree._writer.upkeep.background.submit(ready.set, lambda _: None)
        ready.wait()
        tree._writer.do(lambda: None).result()


#: Files that are being written: they may be gone before they are copied.
DRAFTS = shutil.ignore_patterns(".ramify-*")


def crashed(tree, to):
    """The folder as a crash at this moment would leave it."""
    settled(tree)  # a copy takes longer than a crash
    shutil.copytree(tree.folder, to, ignore=DRAFTS)
    return to


@pytest.mark.parametrize("name", MAKERS)
def test_after_a_crash_the_tree_is_that_of_a_run_without_one(name, tmp_path):
    make = MAKERS[name]
    plain, todo = make(), list(steps(make(), 1))
    here = tmp_path / "0"
    tree = ramify.open(here, make(), snapshot_every=17, hash_every=8)
    try:
        for at, step in enumerate(todo, 1):
            take(tree, step)
            take(plain, step)
            if at % 12 == 0 or at == len(todo):
                new = crashed(tree, tmp_path / str(at))
                tree.close()
                here, tree = new, ramify.open(new, snapshot_every=17, hash_every=8)
                assert tree.digest() == digest(plain)
                assert tree.hierarchy() == plain.hierarchy()
    finally:
        tree.close()
    with ramify.open(here) as tree:  # now from the last snapshot
        assert tree.report.replayed == 0
        assert tree.digest() == digest(plain)


def test_a_journal_is_replayed_and_proves_itself(tmp_path):
    tree = ramify.open(tmp_path / "a", ramify.OHAC(), hash_every=8)
    for i in range(100):
        tree.insert([float(i % 7), i / 3])
        if i % 8 == 0:
            settled(tree)
    tree.partial_fit(np.zeros((3, 2)))
    new = crashed(tree, tmp_path / "b")
    wanted = tree.digest()
    tree.close()
    with ramify.open(new) as again:
        assert again.report.snapshot == 0
        assert again.report.replayed == 101
        assert again.report.proven > 0
        assert again.digest() == wanted


def test_another_tree_than_the_one_that_was_there_is_refused(tmp_path):
    tree = ramify.open(tmp_path / "a", ramify.OHAC())
    tree.partial_fit(np.random.default_rng(0).normal(size=(20, 2)))
    new = crashed(tree, tmp_path / "b")
    tree.close()
    with sqlite3.connect(new / "journal.sqlite") as write:
        write.execute("INSERT INTO hashes VALUES (1, 'of another tree')")
    write.close()
    with pytest.raises(DamagedJournalError, match="after operation 1 is not the one"):
        ramify.open(new)


# --- answers ----------------------------------------------------------------------------


def test_a_point_or_a_request_that_was_acknowledged_gets_its_first_answer(tmp_path):
    tree = ramify.open(tmp_path / "a", ramify.OHAC(keep=ramify.Last(3)))
    first = tree.add([[0.0], [1.0]], ids=["a", "b"], key="r1")
    tree.add([[5.0], [6.0]], ids=["c", "d"])  # "a" leaves by itself
    assert tree.add([[0.0]], ids=["a"]).numbers == [0]
    assert len(tree) == 3
    mixed = tree.add([[9.0], [0.0], [7.0]], ids=["x", "b", "y"], key="r2")
    assert mixed.numbers == [4, 1, 5]
    assert mixed.repeated == 1
    new = crashed(tree, tmp_path / "b")
    tree.close()
    for folder in (tmp_path / "a", new):
        with ramify.open(folder) as again:
            assert again.add([[0.0], [1.0]], ids=["a", "b"], key="r1") == first
            assert again.add([[9.0], [0.0], [7.0]], ids=["x", "b", "y"], key="r2") == mixed
            assert again.add([[0.0], [1.0]], ids=["a", "b"]) == first._replace(repeated=2)
            with pytest.raises(ValueError, match="used for another request"):
                again.add([[0.0]], ids=["z"], key="r1")


def test_answers_are_made_again_where_a_crash_took_them(tmp_path):
    """What operations came to is written without waiting; here it was lost."""
    tree = ramify.open(tmp_path / "a", ramify.OHAC())
    first = tree.add([[0.0], [1.0]], ids=["a", "b"], key="r1", payloads=["one", "two"])
    gone = tree.submit_forget("a", key="r2").result()
    new = crashed(tree, tmp_path / "b")
    tree.close()
    with sqlite3.connect(new / "journal.sqlite") as write:
        for table in ("points", "requests", "payloads"):
            write.execute(f"DELETE FROM {table}")
        write.execute("UPDATE facts SET value = 0 WHERE name = 'done'")
    write.close()
    with ramify.open(new) as again:
        assert again.add([[0.0], [1.0]], ids=["a", "b"], key="r1", payloads=["one", "two"]) == first
        assert again.submit_forget("a", key="r2").result() == gone
        assert [hit.id for hit in again.search("two")] == ["b"]
        assert again.search("one") == []


def test_a_forgotten_id_is_free_and_replace_makes_way(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        tree.add([[0.0], [1.0]], ids=["a", "b"], payloads=["old", "other"])
        assert tree.forget("a") == 1
        assert tree.add([[2.0]], ids=["a"], payloads=["new"]).numbers == [2]
        assert tree.add([[3.0]], ids=["b"], payloads=["newer"], replace=True).numbers == [3]
        assert tree.payload("a") == "new"
        assert tree.payload("b") == "newer"
        assert [hit.number for hit in tree.search("new")] == [2, 3]
        assert tree.search("old") == []
        with pytest.raises(KeyError, match="there is no point 'q'"):
            tree.forget(["a", "q"])
        assert sorted(tree.ids_.tolist()) == ["a", "b"]


def test_marks_say_how_far_a_source_was_read(tmp_path):
    tree = ramify.open(tmp_path / "a", ramify.OHAC())
    tree.partial_fit([[0.0]], ids=["m1"], marks={"stream": "5-0"})
    tree.partial_fit([[0.0]], ids=["m1"], marks={"stream": "6-0"})  # nothing new but the mark
    new = crashed(tree, tmp_path / "b")
    tree.close()
    with ramify.open(new) as again:
        assert again.marks == {"stream": "6-0"}
        assert len(again) == 1


def test_what_a_tree_refuses_changes_nothing_then_and_later(tmp_path):
    tree = ramify.open(tmp_path / "a", ramify.OHAC(keep=ramify.Budget(5)))
    tree.partial_fit(np.random.default_rng(0).normal(size=(20, 2)), ids=range(20))
    merged = next(one for one in range(20) if leaf_of(tree.model, one) != one)
    with pytest.raises(ValueError, match="cannot leave alone"):
        tree.forget(merged)
    for bad in ([[np.nan, 1.0]], [[1.0]], [["x", "y"]]):
        with pytest.raises(ValueError):  # noqa: PT011 - in the estimator's words
            tree.add(bad, ids=[99])
    with pytest.raises(ValueError, match="no ids were given"):
        tree.add([[1.0, 2.0]])
    tree.partial_fit([[0.0, 1.0]], ids=[50])
    wanted = tree.digest()
    new = crashed(tree, tmp_path / "b")
    tree.close()
    with ramify.open(new) as again:
        assert again.digest() == wanted


def test_verbs_that_reshape_a_tree_are_replayed(tmp_path, monkeypatch):
    def polish(model, m):
        return model.forget(model.ids_[:m].tolist()) > 0  # any change that can be made again

    monkeypatch.setattr(ramify.OHAC, "polish", polish, raising=False)
    tree = ramify.open(tmp_path / "a", ramify.OHAC())
    tree.partial_fit(np.random.default_rng(0).normal(size=(20, 2)), ids=range(20))
    assert tree.polish(3) is True
    tree.partial_fit([[0.0, 0.0]], ids=[20])
    wanted = tree.digest()
    new = crashed(tree, tmp_path / "b")
    tree.close()
    with ramify.open(new) as again:
        assert again.digest() == wanted
        assert len(again) == 18
        with pytest.raises(TypeError, match="OHAC cannot delete"):
            again.submit_call("delete", {})


def test_the_digest_of_an_edited_tree_does_not_depend_on_where_nodes_lie(tmp_path):
    """Marks name places in the core's arena, and those are others after a file."""
    plain, other = KINDS["ohac"](), KINDS["ohac"]()
    for i in range(260):
        operate(plain, i)
        operate(other, i)
        if i % 9 == 0:
            other.save(tmp_path / "other.ramify")
            other = ramify.load(tmp_path / "other.ramify")
            assert digest(plain) == digest(other)


def test_edits_are_replayed(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"T{i}" for i in range(60)]
    tree = ramify.open(tmp_path / "a", ramify.OHAC(n_clusters=3), hash_every=4)
    plain = ramify.OHAC(n_clusters=3)
    rows = rng.normal(size=(60, 2))
    for one in (tree, plain):
        one.partial_fit(rows[:40], ids=names[:40])
        one.edit.must_link("T1", "T30")
        one.edit.must_link("T1", "T31")
        one.edit.cannot_link("T2", "T3")
        one.edit.cannot_link("T4", "T5")
        one.edit.move("T7", under=one.clusters()[1])
        one.edit.move(one.clusters(n_clusters=6)[2], under=one.clusters(n_clusters=6)[4])
        one.edit.release(one.edit.list().held[0])
        one.edit.rename(one.clusters()[0], "refunds")
        one.edit.rename(one.lca("T10", "T11"), "gone soon")
        one.partial_fit(rows[40:], ids=names[40:])
        one.edit.unlink("T4", "T5")
        one.edit.must_link("T50", "T51")
        one.edit.unlink("T50", "T51")
    wanted = tree.digest()
    assert wanted == digest(plain)
    new = crashed(tree, tmp_path / "b")
    tree.close()
    for folder in (new, tmp_path / "a"):
        with ramify.open(folder) as again:
            assert again.digest() == wanted
            assert again.report.notes == ()
            found, expected = again.edit.list(), plain.edit.list()
            assert found.names == expected.names
            assert found.lost_names == expected.lost_names
            assert [one.tolist() for one in found.linked] == [[1, 30, 31]]
            assert found.apart.tolist() == [[2, 3]]
            assert found.held.tolist() == expected.held.tolist()
            assert again.cut(n_clusters=5).tolist() == plain.cut(n_clusters=5).tolist()
            assert bool(again.edit.violations(n_clusters=1)) is True
            again.model.check()


def test_edits_that_make_no_sense_change_nothing(tmp_path):
    tree = ramify.open(tmp_path / "a", ramify.OHAC())
    with pytest.raises(ValueError, match="holds no points"):
        tree.edit.must_link(0, 1)
    tree.partial_fit([[0.0], [1.0], [9.0]], ids=["ash", "elm", "oak"])
    before = tree.digest()
    for call, error in (
        (lambda: tree.edit.must_link("ash", "fir"), KeyError),
        (lambda: tree.edit.must_link("ash", "ash"), ValueError),
        (lambda: tree.edit.must_link("ash", 1.5), TypeError),
        (lambda: tree.edit.must_link("ash", True), TypeError),
        (lambda: tree.edit.unlink("ash", "elm"), ValueError),
        (lambda: tree.edit.rename(1000, "nowhere"), LookupError),
        (lambda: tree.edit.rename(0, 7), TypeError),
        (lambda: tree.edit.rename(0, "x" * 2000), ValueError),
        (lambda: tree.edit.rename(0, "\ud800"), ValueError),
        (lambda: tree.edit.move("fir", "ash"), LookupError),
        (lambda: tree.edit.release(0), ValueError),
    ):
        with pytest.raises(error):
            call()
    assert tree.digest() == before
    new = crashed(tree, tmp_path / "b")
    tree.close()
    with ramify.open(new) as again:
        assert again.digest() == before
    with ramify.open(tmp_path / "c", ramify.OTD()) as other:
        other.partial_fit([[0.0], [1.0], [9.0]])
        with pytest.raises(TypeError, match="OTD cannot must_link"):
            other.edit.must_link(0, 1)


def test_an_edit_with_a_key_is_made_once(tmp_path):
    tree = ramify.open(tmp_path / "a", ramify.OHAC())
    tree.partial_fit(np.arange(12.0).reshape(-1, 1))
    tree.edit.must_link(0, 5, key="one")
    tree.edit.unlink(0, 5, key="two")
    seq = tree.seq
    new = crashed(tree, tmp_path / "b")
    tree.close()
    for folder in (tmp_path / "a", new):
        with ramify.open(folder) as again:
            again.edit.must_link(0, 5, key="one")  # the first answer again
            again.edit.unlink(0, 5, key="two")
            assert again.seq == seq
            assert again.edit.list().linked == []
            with pytest.raises(ValueError, match="used for another request"):
                again.edit.must_link(0, 6, key="one")


@pytest.mark.threads
def test_many_callers_share_commits_and_each_gets_its_answer(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        tree.insert([0.0, 0.0], id="begin")
        numbers: dict[str, int] = {}

        def work(name):
            rng = np.random.default_rng(len(name))
            for i in range(40):
                one = f"{name}{i}"
                numbers[one] = tree.insert(rng.normal(size=2), id=one, payload=one)

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcdefgh"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(tree) == 321
        assert tree.statistics()["commits"] < 321
        for one, number in numbers.items():
            assert tree.number_of(one) == number
            assert tree.payloads([number]) == {number: one}


def test_a_full_queue_says_so(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC(), queue_rows=10) as tree:
        tree.partial_fit(np.zeros((4, 2)))
        wait = threading.Event()
        tree._writer.do(wait.wait)
        tree.submit_add(np.ones((8, 2)), block=False)
        with pytest.raises(BusyError, match="8 rows wait"):
            tree.submit_add(np.ones((8, 2)), block=False)
        wait.set()
        tree.partial_fit(np.zeros((4, 2)))  # which waits until there is room
        assert len(tree) == 16


def test_frames_keep_their_columns(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"x": [0.0, 1.0, 9.0], "y": [1.0, 2.0, 3.0]})
    with ramify.open(tmp_path, ramify.OHAC(n_clusters=2)) as tree:
        tree.partial_fit(frame)
    with ramify.open(tmp_path) as tree:
        tree.partial_fit(frame)
        assert tree.predict(frame).tolist() == [0, 0, 1]
        with pytest.raises(ValueError, match="the columns are 'y', 'x'"):
            tree.partial_fit(frame[["y", "x"]])


# --- payloads ---------------------------------------------------------------------------


def test_payloads_are_found_by_their_words_whatever_is_typed(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC(), payload_bytes=100) as tree:
        payloads = ["Kein Ton nach Update", {"title": "Ünïcode Sound", "tags": ["a b", 7]}, None]
        tree.add([[0.0], [1.0], [2.0]], ids=["1", "2", "3"], payloads=payloads)
        assert [hit.id for hit in tree.search("unicode soun")] == ["2"]
        assert [hit.id for hit in tree.search("7")] == ["2"]
        assert tree.search("title") == []  # a name of a field, not a value
        for odd in ("", "  ", '"', "NEAR(", "a AND", "*", "x:y", "-", "(", "\0", "\ud83c", "^a"):
            assert isinstance(tree.search(odd), list)
        with pytest.raises(ValueError, match="row 0 has 102 bytes, and 100"):
            tree.add([[1.0]], ids=["4"], payloads=["x" * 100])
        for bad in (float("nan"), object(), {1, 2}):
            with pytest.raises(ValueError, match="nothing that JSON can hold"):
                tree.add([[1.0]], ids=["4"], payloads=[bad])
        with pytest.raises(ValueError, match="no text that can be written"):
            tree.add([[1.0]], ids=["\ud83c"])


def test_payloads_of_points_that_left_are_gone(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC(keep=ramify.Last(2))) as tree:
        tree.add([[0.0], [1.0], [2.0]], payloads=["first", "second", "third"])
        assert tree.search("first") == []
        tree.snapshot()
        assert tree.payloads([0, 1, 2]) == {1: "second", 2: "third"}


def test_compacting_leaves_nothing_of_what_was_forgotten(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        tree.add([[0.0], [1.0]], ids=["one-secret-id", "b"], payloads=["a secret word", "b"])
        tree.forget("one-secret-id")
        tree.compact()
        for path in tmp_path.iterdir():
            data = path.read_bytes()
            assert b"one-secret-id" not in data
            assert b"a secret word" not in data
        tree.partial_fit([[3.0]], ids=["c"])
        wanted = tree.digest()
    with ramify.open(tmp_path) as tree:
        assert tree.digest() == wanted


# --- folders ----------------------------------------------------------------------------


def test_one_process_owns_a_folder(tmp_path):
    script = f"import ramify; ramify.open({str(tmp_path)!r}, ramify.OHAC())"
    with ramify.open(tmp_path, ramify.OHAC()):
        with pytest.raises(FolderInUseError, match="in use by process"):
            ramify.open(tmp_path)
        other = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )
        assert "FolderInUseError" in other.stderr
    ramify.open(tmp_path).close()


def test_a_folder_says_what_it_is_not(tmp_path):
    with pytest.raises(JournalError, match="has no tree in it"):
        ramify.open(tmp_path / "nothing")
    with pytest.raises(TypeError, match="HAC cannot be opened"):
        ramify.open(tmp_path / "a", ramify.HAC())
    ramify.open(tmp_path / "a", ramify.OHAC(metric="cosine")).close()
    with pytest.raises(ValueError, match="is of OHAC, and OTD was asked for"):
        ramify.open(tmp_path / "a", ramify.OTD())
    with pytest.raises(ValueError, match="metric of the tree here is 'cosine'"):
        ramify.open(tmp_path / "a", ramify.OHAC())
    with pytest.raises(ValueError, match="there is a tree here already"):
        ramify.open(tmp_path / "a", ramify.OHAC(metric="cosine").fit([[0.5], [1.0]]))
    with ramify.open(tmp_path / "a", ramify.OHAC(metric="cosine", n_clusters=3)) as tree:
        assert tree.get_params()["n_clusters"] == 3
        with pytest.raises(ValueError, match="linkage shapes the tree"):
            tree.set_params(linkage="ward")
    with pytest.raises(JournalError, match="has been closed"):
        tree.insert([1.0])


def test_a_saved_tree_goes_on_in_a_folder(tmp_path):
    plain = ramify.OHAC().fit([[0.0], [1.0], [5.0]], ids=["a", "b", "c"])
    with ramify.open(tmp_path / "a", plain) as tree:
        assert tree.add([[1.0], [9.0]], ids=["b", "d"]).numbers == [1, 3]
    plain.save(tmp_path / "tree.ramify")
    done("journal", "begin", tmp_path / "b", tmp_path / "tree.ramify")
    with ramify.open(tmp_path / "b") as again, ramify.open(tmp_path / "a") as tree:
        assert again.digest() == tree.digest()


def test_a_folder_that_was_never_finished_is_begun_again(tmp_path):
    (tmp_path / "journal.sqlite").touch()
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        assert len(tree.partial_fit([[0.0]])) == 1


def test_a_log_without_tables_was_taken_for_damage(tmp_path):
    """As a process leaves it that is killed before its first commit is complete."""
    script = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute('PRAGMA journal_mode = WAL'); c.execute('BEGIN'); "
        "c.execute('CREATE TABLE t (x)'); os._exit(0)"
    )
    place = str(tmp_path / "journal.sqlite")
    subprocess.run([sys.executable, "-c", script, place], check=True)
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        assert len(tree.partial_fit([[0.0]])) == 1


def test_snapshots_are_few_and_operations_behind_them_are_dropped(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC(), snapshot_every=10) as tree:
        for i in range(60):
            tree.insert([float(i)])
            if i % 10 == 9:
                tree.snapshot()
    assert len(list(tmp_path.glob("snapshot-*"))) == 2
    with sqlite3.connect(tmp_path / "journal.sqlite") as ask:
        (least,) = ask.execute("SELECT min(seq) FROM operations").fetchone()
    ask.close()
    assert least > 40


def test_a_snapshot_that_comes_late_does_not_take_the_file_of_its_twin(tmp_path):
    """One was asked for while the background wrote the same; a later one was there first."""
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        for i in range(2):
            tree.insert([float(i)])
            tree.snapshot()
        upkeep = tree._writer.upkeep
        late = upkeep._store.snapshots()[1]
        tree.between(lambda: upkeep.adopt(late, 2))
        assert len(list(tmp_path.glob("snapshot-*"))) == 2


# --- damage -----------------------------------------------------------------------------


def long_one(folder, n=30, **options):
    """A crashed folder with n operations since its snapshot."""
    tree = ramify.open(folder.parent / "whole", ramify.OHAC(), **options)
    rng = np.random.default_rng(0)
    for i in range(n):
        tree.partial_fit(rng.normal(size=(2, 3)), ids=[2 * i, 2 * i + 1])
    crashed(tree, folder)
    tree.close()
    return folder


def test_a_torn_tail_is_cut_off_and_reported(tmp_path):
    folder = long_one(tmp_path / "torn")
    log = folder / "journal.sqlite-wal"
    whole = log.read_bytes()
    log.write_bytes(whole[: len(whole) - 7000])
    with ramify.open(folder) as tree:
        assert any("never finished was cut off" in note for note in tree.report.notes)
        assert 0 < len(tree) <= 60
        tree.check()


def test_a_changed_byte_in_the_log_was_taken_for_its_end(tmp_path):
    folder = long_one(tmp_path / "changed")
    log = folder / "journal.sqlite-wal"
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(bytes(data))
    with pytest.raises(DamagedJournalError, match=r"frame \d+ of journal.sqlite-wal"):
        ramify.open(folder)
    assert log.read_bytes() == bytes(data)  # nothing was changed


def changed_operation(folder, seq):
    """An operation of which one byte is another."""
    with sqlite3.connect(folder / "journal.sqlite") as write:
        (body,) = write.execute("SELECT body FROM operations WHERE seq = ?", (seq,)).fetchone()
        body = bytes([body[0] ^ 1]) + body[1:]
        write.execute("UPDATE operations SET body = ? WHERE seq = ?", (body, seq))
    write.close()


def test_damage_in_the_middle_is_refused_and_can_be_repaired(tmp_path):
    folder = long_one(tmp_path / "middle")
    changed_operation(folder, 12)
    with pytest.raises(DamagedJournalError, match="operation 12 is not what was written"):
        ramify.open(folder)
    assert "operation 12" in fails("journal", "check", folder)
    said = done("journal", "repair", folder).err
    assert "11 operations" in said
    with ramify.open(folder) as tree:
        assert tree.ids_.tolist() == list(range(22))
    assert done("journal", "check", folder).code == 0
    assert list(folder.glob("damaged-*"))


def test_damage_at_the_end_is_cut_off(tmp_path):
    folder = long_one(tmp_path / "end")
    changed_operation(folder, 30)
    with ramify.open(folder) as tree:
        assert "the end of the journal was torn" in tree.report.notes[0]
        assert len(tree) == 58
        assert tree.partial_fit([[0.0, 0.0, 0.0]], ids=[58]).number_of(58) == 58


def test_a_damaged_snapshot_is_left_aside_for_the_one_before(tmp_path):
    tree = ramify.open(tmp_path, ramify.OHAC())
    for i in range(20):
        tree.insert([float(i)])
        if i in (9, 14):
            tree.snapshot()
    wanted = tree.digest()
    tree.close()
    latest = max(tmp_path.glob("snapshot-*"))
    data = bytearray(latest.read_bytes())
    data[-5] ^= 1
    latest.write_bytes(bytes(data))
    with ramify.open(tmp_path) as tree:
        assert tree.report.snapshot == 15
        assert "left aside" in tree.report.notes[0]
        assert tree.digest() == wanted


def test_a_ruined_database_is_refused_and_its_snapshot_saved(tmp_path):
    with ramify.open(tmp_path / "a", ramify.OHAC()) as tree:
        tree.partial_fit(np.arange(40.0).reshape(20, 2), ids=range(20))
    (tmp_path / "a" / "journal.sqlite").write_bytes(b"ruins" * 5000)
    with pytest.raises(DamagedJournalError, match="SQLite says"):
        ramify.open(tmp_path / "a")
    done("journal", "repair", tmp_path / "a")
    with ramify.open(tmp_path / "a") as tree:
        assert len(tree) == 20


def test_the_command_checks_and_compacts(tmp_path):
    folder = tmp_path / "a"
    with ramify.open(folder, ramify.OHAC()) as tree:
        for i in range(50):
            tree.insert([float(i), 1.0])
        assert "in use" in fails("journal", "check", folder)
    said = done("journal", "check", folder, "--json").json()
    assert said["operations"] == 50
    assert said["points"] == 50
    said = done("journal", "compact", folder, "--json").json()
    assert said["bytes"] < 200_000
    assert "has no tree" in fails("journal", "check", tmp_path)


def test_checksums_of_the_log_are_sqlites(tmp_path):
    write = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    write.execute("PRAGMA journal_mode = WAL")
    write.execute("CREATE TABLE t (x)")
    for i in range(20):
        write.execute("INSERT INTO t VALUES (?)", (b"x" * i * 100,))
    found = _wal.look_at_log(tmp_path / "a.db-wal")
    write.close()
    assert found.committed > 20
    assert found.unfinished == 0
    assert found.bad is None
