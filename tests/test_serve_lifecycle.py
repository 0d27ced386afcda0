# SPDX-License-Identifier: BSD-3-Clause
"""Trees that are copied, come back, and go: over HTTP, by clients and on the command line."""

import asyncio
import errno
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
import numpy as np
import pytest

import ramify
from ramify.client import NotThereError, RemoteError
from ramify.journal import DamagedBackupError, backup, restore
from ramify.serve import running
from tests.commands import done, fails, files

pytestmark = pytest.mark.no_asan  # other libraries at work


def grow(tree, n=30, begin=0):
    rows = np.random.default_rng(begin).normal(size=(n, 3))
    names = [f"T{i}" for i in range(begin, begin + n)]
    tree.add(rows, ids=names, payloads=[f"ticket {name}" for name in names])
    return tree


@pytest.fixture
def server(tmp_path):
    with running(tmp_path / "trees") as address, ramify.Client(address) as client:
        yield client, address, tmp_path / "trees"


@pytest.fixture
def saved(tmp_path):
    """A backup of a folder with several snapshots behind it, and the tree's digest."""
    with ramify.open(tmp_path / "a", ramify.OHAC(), snapshot_every=2) as tree:
        for begin in range(0, 150, 30):
            grow(tree, begin=begin)
        tree.forget("T7")
        backup(tmp_path / "a", tmp_path / "a.tar")
        return tmp_path / "a.tar", tree.digest()


# --- backups ------------------------------------------------------------------------------------


def test_a_restored_tree_is_the_one_that_was_backed_up(saved, tmp_path):
    file, digest = saved
    found = restore(file, tmp_path / "b")
    assert found.operations == 6
    assert found.points == 149
    with ramify.open(tmp_path / "a") as old, ramify.open(tmp_path / "b") as new:
        assert old.digest() == new.digest() == digest
        assert new.payload("T8") == "ticket T8"
        assert new.search("T9")[0].id == "T9"
        assert grow(new, begin=200).digest() == grow(old, begin=200).digest()
        assert grow(new, begin=30) is new  # known ids are still known
        assert len(new) == 179
    assert done("journal", "check", tmp_path / "b").code == 0


def test_a_backup_of_a_tree_that_is_written_is_of_one_moment(tmp_path):
    with ramify.open(tmp_path / "a", ramify.OHAC(), snapshot_every=5) as tree:
        grow(tree)
        ended = threading.Event()

        def write():
            at = 1000
            while not ended.is_set():
                grow(tree, 3, at)
                at += 3

        writer = threading.Thread(target=write)
        writer.start()
        try:
            made = [backup(tmp_path / "a", tmp_path / f"{i}.tar") for i in range(3)]
        finally:
            ended.set()
            writer.join()
    for i, facts in enumerate(made):
        found = restore(tmp_path / f"{i}.tar", tmp_path / f"b{i}")
        assert found.operations == facts.operations
        with ramify.open(tmp_path / f"b{i}") as copy:
            assert len(copy) == 30 + 3 * (facts.operations - 1)
    assert not list(tmp_path.glob(".ramify*"))


def test_a_damaged_backup_is_refused_and_leaves_nothing(saved, tmp_path):
    file, _ = saved
    whole = file.read_bytes()
    bad = [whole[:at] for at in (0, 100, 5000, len(whole) // 2, len(whole) - 4096)]
    for at in range(300, len(whole), len(whole) // 12):
        changed = bytearray(whole)
        changed[at] ^= 0x11
        bad.append(bytes(changed))
    for content in bad:
        file.write_bytes(content)
        with pytest.raises(DamagedBackupError, match=r"a\.tar"):
            restore(file, tmp_path / "b")
        assert not (tmp_path / "b").exists()
    assert files(tmp_path) == ["a", "a.tar"]


def test_nothing_is_restored_over_what_is_there(saved, tmp_path):
    file, _ = saved
    with pytest.raises(FileExistsError, match="has a tree in it"):
        restore(file, tmp_path / "a")
    (tmp_path / "b").mkdir()
    restore(file, tmp_path / "b")  # empty
    assert "b has a tree" in fails("restore", file, tmp_path / "b")


def test_a_rotten_snapshot_is_left_out_of_a_backup(tmp_path):
    with ramify.open(tmp_path / "a", ramify.OHAC()) as tree:
        for begin in range(0, 90, 30):
            grow(tree, begin=begin).snapshot()
        digest = tree.digest()
    latest = sorted((tmp_path / "a").glob("snapshot-*"))[-1]
    content = bytearray(latest.read_bytes())
    content[-5] ^= 1
    latest.write_bytes(content)
    assert backup(tmp_path / "a", tmp_path / "a.tar").snapshot == 2
    restore(tmp_path / "a.tar", tmp_path / "b")
    with ramify.open(tmp_path / "b") as tree:
        assert tree.digest() == digest


def test_a_backup_and_back_over_http(server, tmp_path):
    client, _, trees = server
    tree = grow(client.create("tickets", metric="cosine"))
    assert tree.backup(tmp_path / "t.tar") == (tmp_path / "t.tar").stat().st_size
    again = client.restore("again", tmp_path / "t.tar")
    assert again.export("newick") == tree.export("newick")
    assert again.info()["metric"] == "cosine"
    assert grow(again, begin=100).export("newick") == grow(tree, begin=100).export("newick")
    with pytest.raises(RemoteError, match="409"):
        client.restore("again", tmp_path / "t.tar")
    (tmp_path / "bad.tar").write_bytes((tmp_path / "t.tar").read_bytes()[:-5000])
    with pytest.raises(RemoteError, match="422"):
        client.restore("third", tmp_path / "bad.tar")
    with pytest.raises(NotThereError):
        client.tree("none").backup(tmp_path / "none.tar")
    assert files(trees) == ["again", "tickets"]
    assert not (tmp_path / "none.tar").exists()


def test_a_full_disk_is_said_to_be_full_when_a_backup_finds_it(server, tmp_path, monkeypatch):
    client, address, trees = server
    grow(client.create("tickets"))

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("ramify.journal._backup.tempfile.TemporaryDirectory", full)
        told = httpx.get(f"{address}/v1/trees/tickets/backup")
    assert told.status_code == 503
    assert "is it full" in told.json()["error"]
    assert client.tree("tickets").backup(tmp_path / "t.tar") > 0
    deadline = time.monotonic() + 60  # the copy goes when all of the answer has been sent
    while files(trees) != ["tickets"] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert files(trees) == ["tickets"]


def test_a_tree_is_not_begun_twice_while_it_is_restored(server, tmp_path):
    client, _, _ = server
    tree = grow(client.create("tickets"))
    tree.backup(tmp_path / "t.tar")
    told = []

    def ask(work):
        try:
            told.append(work().n_points_)
        except RemoteError as error:
            told.append(error.status)

    for attempt in range(5):
        name = f"t{attempt}"
        both = (
            partial(client.restore, name, tmp_path / "t.tar"),
            partial(client.create, name, dimension=3),
        )
        askers = [threading.Thread(target=ask, args=(work,)) for work in both]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        assert client.tree(name).n_points_ in (0, 30)
    assert set(told) <= {0, 30, 409}
    assert not client.trees().about["failed"]


def test_backups_to_be_awaited(server, tmp_path):
    _, address, _ = server

    async def main():
        async with ramify.AsyncClient(address) as client:
            tree = await client.create("a")
            await tree.add([[0.0], [1.0]])
            assert await tree.snapshot() == 1
            await tree.backup(tmp_path / "a.tar")
            assert await (await client.restore("b", tmp_path / "a.tar")).n_points_ == 2
            return await tree.delete()

    assert asyncio.run(main()) == 2


def test_the_commands_back_up_and_restore(server, tmp_path):
    client, address, trees = server
    grow(client.create("tickets"))
    url = f"{address}/v1/trees/tickets"
    by_url = done("backup", url, tmp_path / "1.tar", "--json").json()
    by_folder = done("backup", trees / "tickets", tmp_path / "2.tar", "--json").json()
    assert by_url["operations"] == by_folder["operations"] == 1
    told = done("restore", tmp_path / "1.tar", f"{address}/v1/trees/two", "--json").json()
    assert told["points"] == 30
    assert done("restore", tmp_path / "2.tar", tmp_path / "f", "--json").json()["points"] == 30
    assert "no tree" in fails("backup", tmp_path, tmp_path / "3.tar")
    assert done("journal", "snapshot", url, "--json").json()["operation"] == 1
    assert "--yes" in fails("journal", "delete", url, code=2)
    assert done("journal", "delete", url, "--yes", "--json").json()["points"] == 30
    (tmp_path / "f" / "letter.txt").write_text("mine")
    assert "letter.txt" in fails("journal", "delete", tmp_path / "f", "--yes")
    (tmp_path / "f" / "letter.txt").unlink()
    done("journal", "delete", tmp_path / "f", "--yes")
    assert not (tmp_path / "f").exists()


def test_who_may_only_read_may_not_copy_or_delete(tmp_path):
    token, reader = "w" * 20, "r" * 20
    with running(tmp_path, token=token, read_token=reader) as address:
        with ramify.Client(address, token=token) as client:
            client.create("a").add([[0.0]])
        with ramify.Client(address, token=reader) as client:
            for ask in (lambda t: t.backup(tmp_path / "x"), lambda t: t.delete()):
                with pytest.raises(RemoteError, match="403"):
                    ask(client.tree("a"))
            assert client.tree("a").info()["points"] == 1


# --- the end ------------------------------------------------------------------------------------


def test_of_a_deleted_tree_nothing_is_left(server):
    client, address, trees = server
    tree = grow(client.create("tickets"))
    page = httpx.get(f"{address}/v1/trees/tickets/clusters?n_clusters=9&limit=1").json()
    followed = []
    follower = threading.Thread(target=lambda: followed.extend(_followed(address)))
    follower.start()
    while 'ramify_feed_readers{tree="tickets"} 1' not in httpx.get(f"{address}/metrics").text:
        time.sleep(0.01)
    assert tree.delete() == 30
    follower.join(30)
    assert not follower.is_alive()
    assert files(trees) == []
    for ask in (tree.info, tree.delete):
        with pytest.raises(NotThereError):
            ask()
    grow(client.create("tickets", metric="dot"), 5)  # its name is free, and nothing is known of it
    asked = {"n_clusters": 9, "limit": 1, "cursor": page["next"]}
    assert httpx.get(f"{address}/v1/trees/tickets/clusters", params=asked).status_code == 410
    assert tree.info()["points"] == 5


def _followed(address):
    with httpx.stream("GET", f"{address}/v1/trees/tickets/changes/stream", timeout=60) as lines:
        yield from lines.iter_lines()


def test_writers_who_were_there_first_are_answered_before_a_tree_goes(server):
    client, address, trees = server
    patient = client.create("tickets")
    refused = []

    def write(begin):
        with ramify.Client(address, attempts=1) as hasty:
            for at in range(begin, begin + 10_000, 10):
                try:
                    hasty.tree("tickets").add(np.zeros((10, 3)) + at)
                except RemoteError as error:
                    refused.append(error)
                    return

    writers = [threading.Thread(target=write, args=(begin,)) for begin in (0, 10_000)]
    for writer in writers:
        writer.start()
    while patient.n_points_ == 0:
        time.sleep(0.01)
    assert patient.delete() > 0
    for writer in writers:
        writer.join()
    assert [error.status in (404, 503) for error in refused] == [True, True]
    assert files(trees) == []


def test_a_damaged_tree_can_be_deleted_and_one_in_use_cannot(tmp_path):
    for name in ("bad", "used"):
        with ramify.open(tmp_path / name, ramify.OHAC()) as tree:
            grow(tree)
    (tmp_path / "bad" / "journal.sqlite").write_bytes(b"no database")
    with (
        ramify.open(tmp_path / "used"),
        running(tmp_path) as address,
        ramify.Client(address, attempts=1) as client,
    ):
        with pytest.raises(RemoteError, match="in use"):
            client.tree("used").delete()
        client.tree("bad").delete()
        assert list(client.trees().about["failed"]) == ["used"]
        client.create("bad")
    assert (tmp_path / "used" / "journal.sqlite").exists()


def test_what_a_killed_deletion_or_backup_left_goes_at_the_next_start(tmp_path):
    for name in (".ramify-removed-0", ".ramify-copy-0"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "journal.sqlite").write_text("forgotten")
    with running(tmp_path):
        assert files(tmp_path) == []


def test_a_tree_in_shards_is_deleted_and_snapshots_itself(tmp_path):
    with (
        running(tmp_path / "t", ray="local", shards=2) as address,
        ramify.Client(address, attempts=1) as client,
    ):
        tree = client.create("a", dimension=2)
        tree.add(np.random.default_rng(0).normal(size=(20, 2)))
        with pytest.raises(RemoteError, match="by itself"):
            tree.snapshot()
        assert tree.delete() == 20
        assert files(tmp_path / "t") == []


# --- another name -------------------------------------------------------------------------------


def test_a_renamed_tree_is_the_one_of_before_and_goes_on(server):
    client, address, room = server
    tree = grow(client.create("old", dimension=3))
    version, labels = tree.version, tree.cut(n_clusters=4).tolist()
    cursor = httpx.get(f"{address}/v1/trees/old/search?q=ticket&limit=3").json()["next"]
    tree.rename("new")
    assert tree.name == "new"
    assert (tree.version, tree.cut(n_clusters=4).tolist()) == (version, labels)
    assert tree.search("T7")[0].id == "T7"
    grow(tree, begin=30)
    assert tree.version == version + 30
    assert {path.name for path in room.iterdir()} == {"new"}
    with pytest.raises(NotThereError):
        client.tree("old").info()
    old = httpx.get(f"{address}/v1/trees/new/search?q=ticket&limit=3&cursor={cursor}")
    assert old.status_code == 410
    grow(client.create("old", dimension=3))
    with pytest.raises(RemoteError, match="take another name"):
        tree.rename("old")
    with pytest.raises(RemoteError, match="to:"):
        tree.rename("../old")
    with pytest.raises(NotThereError):
        client.tree("none").rename("some")
    assert [one["name"] for one in client.trees()] == ["new", "old"]
    done("journal", "rename", f"{address}/v1/trees/new", "newest")
    assert client.tree("newest").n_points_ == 60
    assert "by mv" in fails("journal", "rename", room / "newest", "x", code=2)


def test_a_tree_that_rests_and_one_in_shards_can_be_renamed(tmp_path):
    with (
        running(tmp_path / "one", open_trees=1) as address,
        ramify.Client(address) as client,
    ):
        for name in ("a", "b"):
            grow(client.create(name, dimension=3))
        client.tree("a").rename("c")
        assert client.tree("c").n_points_ == client.tree("b").n_points_ == 30
    options = {"ray": "local", "shards": 2}
    with running(tmp_path / "two", **options) as address, ramify.Client(address) as client:
        tree = grow(client.create("a", dimension=3))
        labels = tree.cut(n_clusters=3).tolist()
        tree.rename("b")
        assert tree.cut(n_clusters=3).tolist() == labels
    with running(tmp_path / "two", **options) as address, ramify.Client(address) as client:
        assert client.tree("b").n_points_ == 30


def test_names_that_are_exchanged_by_many_at_once_lose_no_tree(server):
    client, _, _ = server
    trees = {name: grow(client.create(name, dimension=3), 5 + i) for i, name in enumerate("ab")}
    assert trees

    def work(i):
        name = "abc"[i % 3]
        try:
            client.tree(name).rename("abc"[(i + 1) % 3])
        except RemoteError:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(12))) > 0
    assert sorted(one["points"] for one in client.trees()) == [5, 6]
