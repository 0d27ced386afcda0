# SPDX-License-Identifier: BSD-3-Clause
"""A tree in shards as one file, and back: the tree that was backed up, to the bit, or nothing."""

import shutil
import tarfile
import threading

import httpx
import numpy as np
import pytest

import ramify
from ramify import journal
from ramify.journal import DamagedBackupError, FolderInUseError, JournalError
from ramify.ray import ShardedOHAC, backup, restore
from ramify.serve import running
from tests.commands import done, fails

pytestmark = pytest.mark.no_asan  # other libraries at work

ROWS = np.random.default_rng(0).normal(size=(900, 3)).astype(np.float32)
IDS = [f"T{i}" for i in range(len(ROWS))]
NAMED = {"ids": IDS, "payloads": [f"about {one}" for one in IDS]}


def sharded(folder):
    return ShardedOHAC(3, folder=folder, engine="local", block=64, frontier=8)


def grow(model, begin, end):
    for at in range(begin, end, 50):
        some = slice(at, min(at + 50, end))
        model.add(ROWS[some], **{name: values[some] for name, values in NAMED.items()})


@pytest.fixture
def saved(tmp_path):
    """A backup of a tree of several shards, some of whose points left, and what it is."""
    with sharded(tmp_path / "a") as model:
        grow(model, 0, 500)
        model.forget(["T3", "T77"])
        model.edit.rename(-1, "the first")
        model.backup(tmp_path / "a.tar")
        grow(model, 500, 600)
        return tmp_path / "a.tar", model.version


def test_a_restored_tree_goes_on_as_the_one_that_was_backed_up(saved, tmp_path):
    file, _ = saved
    found = restore(file, tmp_path / "b")
    assert found.points == 498
    assert not list((tmp_path / "b").glob("*.tar"))
    with sharded(tmp_path / "b") as model:
        assert len(model) == 498
        assert model.payloads(["T9"]) == {"T9": "about T9"}
        assert model.edit.list().names == {-1: "the first"}
        assert [hit.id for hit in model.search("T499")] == ["T499"]
        grow(model, 500, 600)
        again, tree = model.digests(), model.hierarchy()
        assert len(again) > 2
    with sharded(tmp_path / "a") as model:
        assert model.digests() == again
        assert np.array_equal(model.hierarchy().children, tree.children)


def test_a_folder_that_nobody_has_open_is_backed_up_as_it_is(saved, tmp_path):
    made = backup(tmp_path / "a", tmp_path / "later.tar")
    assert made.operations == journal.seam.require_backup(tmp_path / "later.tar").operations
    restore(tmp_path / "later.tar", tmp_path / "b")
    digests = []
    for name in "ab":
        with sharded(tmp_path / name) as model:
            digests.append(model.digests())
            with pytest.raises(FolderInUseError):
                backup(tmp_path / name, tmp_path / "no.tar")
    assert digests[0] == digests[1]
    assert not (tmp_path / "no.tar").exists()
    assert not list((tmp_path / "a").glob(".ramify-copy-*"))
    (tmp_path / "none").mkdir()
    with pytest.raises(JournalError, match="no tree in shards"):
        backup(tmp_path / "none", tmp_path / "no.tar")


def test_a_backup_while_others_write_is_of_one_moment(tmp_path):
    with sharded(tmp_path / "a") as model:
        grow(model, 0, 100)
        stop = threading.Event()

        def write():
            for at in range(100, 900, 50):
                if not stop.is_set():
                    grow(model, at, at + 50)

        thread = threading.Thread(target=write)
        thread.start()
        try:
            files = [tmp_path / f"{i}.tar" for i in range(3)]
            for file in files:
                model.backup(file)
        finally:
            stop.set()
            thread.join()
    for i, file in enumerate(files):
        n = restore(file, tmp_path / f"b{i}").points
        assert n % 50 == 0
        with sharded(tmp_path / f"b{i}") as found, sharded(tmp_path / f"c{i}") as wanted:
            grow(wanted, 0, n)
            assert found.digests() == wanted.digests()
            assert len(found) == n


def test_what_is_damaged_or_of_another_kind_makes_no_folder(saved, tmp_path):
    file, _ = saved
    whole = file.read_bytes()
    for cut in (whole[:1000], whole[: len(whole) // 2], whole[:-2000]):
        file.write_bytes(cut)
        with pytest.raises(DamagedBackupError):
            restore(file, tmp_path / "b")
    for at in range(2000, len(whole), len(whole) // 7):
        changed = bytearray(whole)
        changed[at] ^= 255
        if bytes(changed[at : at + 1]) == whole[at : at + 1]:
            continue
        file.write_bytes(changed)
        try:
            restore(file, tmp_path / "b")
        except DamagedBackupError:
            continue
        shutil.rmtree(tmp_path / "b")  # a byte that fills a block up, and says nothing
    file.write_bytes(whole)
    assert not (tmp_path / "b").exists()
    with pytest.raises(DamagedBackupError, match="in shards"):
        journal.restore(file, tmp_path / "b")
    with ramify.open(tmp_path / "plain", ramify.OHAC()) as tree:
        tree.partial_fit(ROWS)
    journal.backup(tmp_path / "plain", tmp_path / "plain.tar")
    with pytest.raises(DamagedBackupError, match="not in shards"):
        restore(tmp_path / "plain.tar", tmp_path / "b")
    with pytest.raises(FileExistsError):
        restore(file, tmp_path / "a")
    assert not (tmp_path / "b").exists()


def test_the_commands_know_which_kind_it_is(saved, tmp_path):
    file, _ = saved
    told = done("backup", tmp_path / "a", tmp_path / "by.tar", "--json").json()
    with tarfile.open(tmp_path / "by.tar") as archive:
        names = archive.getnames()
    assert told["operations"] > 0
    assert names[0] == "manifest.json"
    assert {"router.sqlite", "shard-0000.tar"} <= set(names)
    assert done("restore", tmp_path / "by.tar", tmp_path / "b", "--json").json()["points"] == 598
    assert "--version" in fails("restore", file, tmp_path / "c", "--version", "3", code=2)


def test_a_server_backs_trees_in_shards_up_and_takes_them_back(tmp_path):
    options = {"ray": "local", "shards": 2}
    with running(tmp_path / "s", **options) as address, ramify.Client(address) as client:
        tree = client.create("t")
        tree.add(ROWS[:300].tolist(), ids=IDS[:300], payloads=NAMED["payloads"][:300])
        assert tree.backup(tmp_path / "t.tar") == (tmp_path / "t.tar").stat().st_size
        again = client.restore("again", tmp_path / "t.tar")
        assert again.n_points_ == 300
        assert again.export("newick") == tree.export("newick")
        again.add(ROWS[300:310].tolist(), ids=IDS[300:310])
        told = httpx.put(
            f"{address}/v1/trees/third/backup?version=3", content=(tmp_path / "t.tar").read_bytes()
        )
        assert told.status_code == 422
        assert "version" in told.text
    with (
        running(tmp_path / "plain") as address,
        ramify.Client(address) as client,
        pytest.raises(ramify.client.RemoteError, match="in shards"),
    ):
        client.restore("t", tmp_path / "t.tar")
    with running(tmp_path / "s", **options) as address, ramify.Client(address) as client:
        assert client.tree("again").n_points_ == 310
