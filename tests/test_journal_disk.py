# SPDX-License-Identifier: BSD-3-Clause
"""What a folder takes of a disk, what it says of a disk that fails, and whose folder it is."""

import contextlib
import errno
import shutil
import sqlite3
import threading
import time

import numpy as np
import pytest

import ramify
from ramify.journal import (
    DamagedJournalError,
    DifferentTreeError,
    DiskError,
    JournalError,
    WrongEngineError,
    _folder,
    _model,
)
from ramify.journal._errors import disk_error
from ramify.journal._store import LOG_BYTES
from ramify.ray import ShardedOHAC
from ramify.serve import running
from tests.commands import done, fails

#: What a folder may have beyond three times its rows and payloads.
SPARE = 2 * LOG_BYTES


def size(folder):
    return sum(path.stat().st_size for path in folder.iterdir())


def rested(tree):
    """Let snapshots that are under way be written."""
    upkeep = tree._writer.upkeep
    while upkeep.background.busy or upkeep._room_for:
        tree.between(lambda: time.sleep(0.001))


# --- room -------------------------------------------------------------------------------


def test_the_log_of_single_rows_only_grew(tmp_path):
    """5 MB of rows and payloads made a log of 124 MB; at most 3 times as much, and a constant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 384)).astype(np.float32)
    raw = 0
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        reader = threading.Event()

        def read():
            while not reader.wait(0.001):
                tree.search("word1")

        thread = threading.Thread(target=read)
        thread.start()
        try:
            for i, row in enumerate(X):
                payload = " ".join(f"word{i * j % 977}" for j in range(30))
                tree.insert(row, id=f"ticket-{i}", payload=payload)
                raw += row.nbytes + len(payload)
                log = (tmp_path / "journal.sqlite-wal").stat().st_size
                assert log <= SPARE
                assert size(tmp_path) <= 3 * raw + SPARE
        finally:
            reader.set()
            thread.join()


def test_three_snapshots_made_a_folder_of_four_times_its_rows(tmp_path):
    """A snapshot held a mean for every merge, and two were there while a third was written."""
    rows = np.random.default_rng(0).normal(size=(25, 4000)).astype(np.float32)
    sizes, ended = [], threading.Event()

    def watch():
        while not ended.wait(0.0005):
            with contextlib.suppress(FileNotFoundError):  # files go meanwhile
                raw = number * rows.nbytes  # before: more rows may come
                sizes.append(size(tmp_path) - 3 * (raw + rows.nbytes))

    number = 0
    with ramify.open(tmp_path, ramify.OHAC(), snapshot_every=15) as tree:
        thread = threading.Thread(target=watch)
        thread.start()
        try:
            for i in range(45):
                tree.partial_fit(rows + np.float32(i))
                number = i + 1
                if number % 15 == 0:
                    rested(tree)
        finally:
            ended.set()
            thread.join()
    assert max(sizes) <= SPARE


@pytest.mark.parametrize("rotten", [False, True])
def test_an_older_snapshot_makes_room_only_for_one_that_is_whole(tmp_path, rotten):
    """Of a crash while the third snapshot is written: there is always one to begin with."""
    here, crash = tmp_path / "tree", tmp_path / "crash"
    go_on = threading.Event()
    with ramify.open(here, ramify.OHAC()) as tree:
        for i in range(3):
            tree.partial_fit(np.random.default_rng(i).normal(size=(20, 3)))
            if i < 2:
                tree.snapshot()
        older, latest = sorted(here.glob("snapshot-*"))
        if rotten:
            latest.write_bytes(latest.read_bytes()[:-1] + b"?")
        upkeep = tree._writer.upkeep

        def begin():
            upkeep._begin_snapshot(upkeep._adopt)
            upkeep.background.submit(go_on.wait, lambda done: None)  # before it is written

        tree.between(begin)
        while upkeep._room_for:
            tree.between(lambda: None)
        tree.between(lambda: shutil.copytree(here, crash))
        go_on.set()
        assert (crash / older.name).exists() == rotten
        wanted = tree.digest()
    with ramify.open(crash) as again:
        assert again.digest() == wanted
        assert again.report.replayed == (2 if rotten else 1)
    if not rotten:
        done("journal", "check", crash)


def test_a_reader_that_stays_does_not_stop_the_log_for_ever(tmp_path):
    """While it reads the log grows; when it ends, the log begins anew."""
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        tree.insert(np.zeros(2000))
        reader = sqlite3.connect(tmp_path / "journal.sqlite", isolation_level=None)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM operations").fetchone() == (1,)
        X = np.random.default_rng(0).normal(size=(400, 2000))
        for row in X[:350]:
            tree.insert(row)
        log = tmp_path / "journal.sqlite-wal"
        assert log.stat().st_size > LOG_BYTES
        reader.close()
        for _ in range(2):
            for row in X[350:]:
                tree.insert(row)
        assert log.stat().st_size <= SPARE


# --- the engine -------------------------------------------------------------------------


@pytest.fixture
def in_shards(tmp_path):
    folder = tmp_path / "trees" / "sharded"
    with ShardedOHAC(2, folder=folder, engine="local", block=4) as model:
        model.partial_fit([[0.0], [1.0], [9.0], [8.0]], ids=["a", "b", "c", "d"])
    return folder


@pytest.fixture
def plain(tmp_path):
    folder = tmp_path / "trees" / "plain"
    with ramify.open(folder, ramify.OHAC()) as tree:
        tree.partial_fit([[0.0], [1.0]], ids=["a", "b"])
    return folder


def test_a_tree_was_split_in_two_by_the_wrong_engine(in_shards, plain, tmp_path):
    before = sorted(path.name for path in tmp_path.rglob("*"))
    for inside in (in_shards, in_shards / "shard-0000", in_shards / "anything" / "new"):
        for model in (None, ramify.OHAC()):
            with pytest.raises(WrongEngineError, match="ShardedOHAC"):
                ramify.open(inside, model)
    (tmp_path / "link").symlink_to(in_shards)
    with pytest.raises(WrongEngineError, match="tree in shards"):
        ramify.open(tmp_path / "link", ramify.OHAC())
    (tmp_path / "link").unlink()
    for inside in (plain, plain / "below"):
        with pytest.raises(WrongEngineError, match=r"ramify\.open"):
            ShardedOHAC(2, folder=inside, engine="local").partial_fit([[0.0]])
    for verb in ("check", "repair", "compact"):
        assert "in shards" in fails("journal", verb, in_shards)
    assert done("journal", "check", in_shards / "shard-0000").code == 0
    saved = tmp_path / "saved.ramify"
    ramify.OHAC().fit([[0.0], [1.0]]).save(saved)
    assert "in shards" in fails("journal", "begin", in_shards, saved)
    saved.unlink()
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
    with ShardedOHAC(2, folder=in_shards, engine="local", block=4) as model:
        assert len(model) == 4
    with ramify.open(plain) as tree:
        assert len(tree) == 2


def test_a_folder_that_an_earlier_version_split_says_how_to_have_both(in_shards, plain, tmp_path):
    for path in plain.iterdir():
        shutil.copy2(path, in_shards)
    with pytest.raises(WrongEngineError, match="has two trees"):
        ramify.open(in_shards)
    with pytest.raises(WrongEngineError, match="has two trees"):
        len(ShardedOHAC(2, folder=in_shards, engine="local", block=4))
    (tmp_path / "other").mkdir()
    for pattern in ("journal.sqlite*", "snapshot-*.ramify"):
        for path in in_shards.glob(pattern):
            path.rename(tmp_path / "other" / path.name)
    with ramify.open(tmp_path / "other") as tree:
        assert tree.ids_.tolist() == ["a", "b"]
    with ShardedOHAC(2, folder=in_shards, engine="local", block=4) as model:
        assert len(model) == 4


@pytest.mark.parametrize("name", ["", None, 7, b"tree", "a\0b"])
def test_an_empty_name_was_the_current_folder(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call in (
        lambda: ramify.open(name, ramify.OHAC()),
        lambda: ShardedOHAC(2, folder=name, engine="local").partial_fit([[0.0]]),
        lambda: len(ShardedOHAC(2, folder=name, engine="local")),
        lambda: running(name).__enter__(),
    ):
        with pytest.raises((ValueError, TypeError), match="expected the name of a folder"):
            call()
    if isinstance(name, str):
        assert "name of a folder" in fails("journal", "check", name)
        assert "name of a folder" in fails("serve", name)
    assert list(tmp_path.iterdir()) == []


# --- trouble that is no damage ------------------------------------------------------------


def crashed(folder, to):
    """A folder with operations to be replayed."""
    tree = ramify.open(folder, ramify.OHAC())
    for i in range(12):
        tree.insert([float(i), i / 3], id=i, payload=f"text {i}")
    tree.between(lambda: shutil.copytree(folder, to))
    tree.close()
    return to


@pytest.mark.parametrize(
    "code", ["FULL", "IOERR_READ", "IOERR_WRITE", "CANTOPEN", "READONLY", "PERM"]
)
def test_what_sqlite_says_of_the_disk_is_no_damage(code, tmp_path):
    error = sqlite3.OperationalError("said")
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{code}")
    assert isinstance(disk_error(tmp_path, error), DiskError)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    assert disk_error(tmp_path, error) is None
    assert isinstance(disk_error(tmp_path, OSError(errno.ENOSPC, "full")), DiskError)
    assert disk_error(tmp_path, FileNotFoundError(errno.ENOENT, "none")) is None


def test_a_file_that_may_not_be_read_is_no_damage(tmp_path):
    """A folder in the place of the database: it cannot be opened, and is not said to be damaged."""
    folder = crashed(tmp_path / "a", tmp_path / "b")
    (folder / "journal.sqlite").rename(tmp_path / "aside")
    (folder / "journal.sqlite").mkdir()
    with pytest.raises(DiskError, match="Nothing here is said to be damaged"):
        ramify.open(folder)
    (folder / "journal.sqlite").rmdir()
    (tmp_path / "aside").rename(folder / "journal.sqlite")
    with ramify.open(folder) as tree:
        assert len(tree) == 12


def test_a_lock_that_could_not_be_written_was_held_for_ever(tmp_path, monkeypatch):
    def full(*given):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(_folder.os, "write", full)
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        tree.partial_fit([[0.0]])
    monkeypatch.undo()
    ramify.open(tmp_path).close()


# --- another tree than the one that was there ---------------------------------------------


def with_another_digest(folder, seq):
    with sqlite3.connect(folder / "journal.sqlite") as write:
        write.execute("INSERT OR REPLACE INTO hashes VALUES (?, 'of another tree')", (seq,))
    write.close()


def test_a_tree_that_goes_on_otherwise_loses_no_point(tmp_path):
    """Repair dropped every operation after the digest that did not come out again."""
    folder = crashed(tmp_path / "a", tmp_path / "b")
    with_another_digest(folder, 5)
    with pytest.raises(DifferentTreeError, match=r"no operation is damaged or lost.*repair"):
        ramify.open(folder)
    said = done("journal", "repair", folder).err
    assert "12 operations, 12 points" in said
    assert "after operation 5 is not the one that was there, and was accepted" in said
    with ramify.open(folder) as tree:
        assert tree.ids_.tolist() == list(range(12))
        assert tree.payload(11) == "text 11"
        tree.check()
    assert (folder / "damaged-1" / "journal.sqlite").exists()


def test_an_earlier_snapshot_is_tried_when_the_tree_comes_out_otherwise(tmp_path, monkeypatch):
    """A model that goes on differently after a load is replayed from before the load."""
    tree = ramify.open(tmp_path / "a", ramify.OHAC(), hash_every=4)
    for i in range(30):
        tree.insert([float(i * i % 17), i / 3])
        if i == 9:
            tree.snapshot()
    seq, wanted = tree.seq, tree.digest()
    tree.between(lambda: tree._writer.store.note([], [(seq, wanted)]))
    tree.between(lambda: shutil.copytree(tmp_path / "a", tmp_path / "b"))
    tree.close()
    from_file = _model.from_file

    def wrong(whole):
        model = from_file(whole)
        if len(model):  # the later one
            model.insert([1e6, 1e6])
        return model

    monkeypatch.setattr(_model, "from_file", wrong)
    with ramify.open(tmp_path / "b") as again:
        assert again.digest() == wanted
        assert again.report.snapshot == 0
        assert "came out as another one" in again.report.notes[0]


def test_an_operation_that_no_tree_can_take_is_left_out_by_repair(tmp_path, monkeypatch):
    folder = crashed(tmp_path / "a", tmp_path / "b")
    apply = _model.apply

    def refused(model, operation):
        if operation.head.get("ids") == [7]:
            raise RuntimeError("never")
        return apply(model, operation)

    monkeypatch.setattr(_model, "apply", refused)
    with pytest.raises(DamagedJournalError, match="cannot take operation 8"):
        ramify.open(folder)
    done("journal", "repair", folder)
    monkeypatch.undo()
    with ramify.open(folder) as tree:
        assert tree.ids_.tolist() == [i for i in range(12) if i != 7]


def test_repair_keeps_the_log_as_it_was(tmp_path):
    """SQLite tidied it up when it was read, and what came after the damage was in no copy."""
    tree = ramify.open(tmp_path / "a", ramify.OHAC())
    for i in range(12):
        tree.insert([float(i)])
    tree.between(lambda: shutil.copytree(tmp_path / "a", tmp_path / "b"))
    tree.close()
    log = tmp_path / "b" / "journal.sqlite-wal"
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(bytes(data))
    done("journal", "repair", tmp_path / "b")
    assert (tmp_path / "b" / "damaged-1" / log.name).read_bytes() == bytes(data)
    with ramify.open(tmp_path / "b") as tree:
        assert 0 < len(tree) < 12


def test_repair_keeps_the_names_of_columns(tmp_path):
    pd = pytest.importorskip("pandas")
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        tree.partial_fit(pd.DataFrame({"x": [0.0, 1.0], "y": [1.0, 2.0]}))
    done("journal", "repair", tmp_path)
    with ramify.open(tmp_path) as tree, pytest.raises(ValueError, match="the columns are"):
        tree.partial_fit(pd.DataFrame({"y": [0.0], "x": [1.0]}))
    with pytest.raises(JournalError):
        ramify.open(tmp_path / "none")
