# SPDX-License-Identifier: BSD-3-Clause
"""A deletion that is a promise: after a compaction no file has a byte of what was forgotten.

Every file of the folder is searched for texts, ids and the bytes of rows. A crash is a copy of
the folder at that moment.
"""

import contextlib
import shutil
import threading
import time
from itertools import count

import httpx
import numpy as np
import pytest

import ramify
from ramify.errors import UnreadableFileError
from ramify.journal import _snapshots, _store, _upkeep
from ramify.ray import ShardedOHAC
from ramify.serve import running
from tests.commands import done, fails

N = 60
GONE = list(range(3, N, 7))
MAKERS = {
    "average": ramify.OHAC,
    "cosine": lambda: ramify.OHAC(metric="cosine"),
    "repeats": lambda: ramify.OHAC(duplicates="count"),
    "history": lambda: ramify.OHAC(history=5),
    "otd": ramify.OTD,
}


def rows():
    return np.random.default_rng(0).normal(size=(N, 8)).astype(np.float32)


def text(i):
    return f"secret{i}word and more {'x' * (i * 37 % 300)}"


def name(i):
    return f"person-{i}-id"


def needles(gone=GONE):
    """What must not be found any more."""
    X = rows()
    for i in gone:
        yield from (X[i].tobytes(), f"secret{i}word".encode(), name(i).encode())


def contents(folder):
    """All files, of which some may go meanwhile."""
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):
            yield path.name, path.read_bytes()


def found(folder, gone=GONE):
    """Files that have any of it."""
    wanted = list(needles(gone))
    return sorted(at for at, data in contents(folder) if any(one in data for one in wanted))


def fill(tree):
    X = rows()
    for i in range(N):
        tree.insert(X[i], id=name(i), payload=text(i))


@pytest.mark.parametrize("kind", MAKERS)
def test_no_file_has_a_byte_of_what_was_forgotten(kind, tmp_path):
    with ramify.open(tmp_path, MAKERS[kind](), snapshot_every=20) as tree:
        fill(tree)
        for i in GONE[:-1]:
            tree.forget(name(i))
        tree.add(rows()[:1], ids=[name(GONE[-1])], payloads=["another"], replace=True, key="k")
        wanted = tree.digest()
        assert found(tmp_path, GONE[:-1])
        tree.compact()
        assert found(tmp_path, GONE[:-1]) == []
        assert found(tmp_path, [4])  # others are there
        made_way = f"secret{GONE[-1]}word".encode()
        assert not any(made_way in data for _, data in contents(tmp_path))
        assert [hit.id for hit in tree.search("secret4word")] == [name(4)]
        again = {"ids": [name(GONE[-1])], "payloads": ["another"], "replace": True}
        assert tree.add(rows()[:1], **again, key="k").numbers == [N]
        assert tree.digest() == wanted
    with ramify.open(tmp_path) as tree:
        assert tree.digest() == wanted
        assert [hit.id for hit in tree.search("secret4word")] == [name(4)]


def test_a_compaction_that_a_crash_interrupts_is_done_when_the_folder_is_opened(
    tmp_path, monkeypatch
):
    """At every step of it: nothing is lost, and nothing stays."""
    here, numbers = tmp_path / "here", count()
    tree = ramify.open(here, ramify.OHAC(), snapshot_every=20)
    fill(tree)
    for i in GONE:
        tree.forget(name(i))
    while tree._writer.upkeep.background.busy:  # a snapshot that was begun before
        time.sleep(0.01)
    tree.between(lambda: None)
    wanted = tree.digest()

    def crashing(owner, method):
        whole = getattr(owner, method)

        def step(*given, **options):
            shutil.copytree(here, tmp_path / f"crash-{next(numbers)}")
            answer = whole(*given, **options)
            shutil.copytree(here, tmp_path / f"crash-{next(numbers)}")
            return answer

        monkeypatch.setattr(owner, method, step)

    for owner, method in (
        (_store.Store, "set_facts"),
        (_store.Store, "add_snapshot"),
        (_store.Store, "drop"),
        (_store.Store, "shrink"),
        (_upkeep, "write_snapshot"),
        (_upkeep, "sync_folder"),
    ):
        crashing(owner, method)
    tree.compact()
    monkeypatch.undo()
    tree.close()
    crashes = sorted(tmp_path.glob("crash-*"), key=lambda path: int(path.name[6:]))
    assert len(crashes) >= 12
    for number, crash in enumerate(crashes):
        with ramify.open(crash) as again:
            assert again.digest() == wanted
            if number > 0:  # before, it had not begun
                assert found(crash) == []
            again.check()


def test_what_was_forgotten_is_erased_in_time_while_the_tree_is_served(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC(), erase_within=0.05) as tree:
        fill(tree)
        seen, stop = [], threading.Event()

        def read():
            while not stop.is_set():
                seen.append(len(tree.search("secret4word")))

        reader = threading.Thread(target=read)
        reader.start()
        for i in GONE:
            tree.forget(name(i))
        until = time.monotonic() + 60
        while found(tmp_path) and time.monotonic() < until:
            time.sleep(0.02)
        stop.set()
        reader.join()
        assert found(tmp_path) == []
        tree.between(lambda: None)  # the writer has ended it
        assert tree.statistics()["compactions"] >= 1
        assert set(seen) == {1}


def test_points_that_leave_by_themselves_are_erased_in_time(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC(keep=ramify.Last(30)), erase_within=0.05) as tree:
        fill(tree)
        until = time.monotonic() + 60
        gone = [text(i)[:12].encode() for i in range(N - 30)]

        def there():
            return any(one in data for _, data in contents(tmp_path) for one in gone)

        while there() and time.monotonic() < until:
            time.sleep(0.02)
        assert not there()


def test_a_clean_stop_leaves_nothing_of_what_was_forgotten(tmp_path):
    """It stayed in the journal until the second snapshot after it, which might never come."""
    with ramify.open(tmp_path / "a", ramify.OHAC()) as tree:
        fill(tree)
        tree.forget([name(i) for i in GONE])
    assert found(tmp_path / "a") == []
    with ramify.open(tmp_path / "b", ramify.OHAC(), erase_within=None) as tree:
        fill(tree)
        tree.forget([name(i) for i in GONE])
    assert found(tmp_path / "b")
    with ramify.open(tmp_path / "b") as tree:  # what is owed is known after the restart
        pass
    assert found(tmp_path / "b") == []


def test_points_that_leave_while_a_compaction_is_under_way_are_owed_anew(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        fill(tree)
        tree.forget([name(i) for i in GONE[1:]])
        hold = threading.Event()
        tree._writer.upkeep.background.submit(hold.wait, print)
        waiting = tree.submit_compact()
        tree.forget(name(GONE[0]))
        hold.set()
        waiting.result()
        assert found(tmp_path, GONE[1:]) == []
        assert found(tmp_path, GONE[:1])
        assert tree.statistics()["owed_seconds"] > 0
    assert found(tmp_path) == []


def test_an_older_snapshot_that_comes_late_does_not_bring_it_back(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC()) as tree:
        fill(tree)
        hold = threading.Event()
        background = tree._writer.upkeep.background
        background.submit(hold.wait, print)
        tree._writer.do(
            lambda: tree._writer.upkeep._begin_snapshot(
                lambda new: tree._writer._later(lambda: tree._writer.upkeep._adopt(new))
            )
        ).result()
        tree.forget([name(i) for i in GONE])
        tree.snapshot()
        waiting = tree.submit_compact()
        tree.between(lambda: None)
        assert not waiting.done()  # the older snapshot is still to be written, with what is to go
        hold.set()
        waiting.result()
        tree.between(lambda: None)
        assert found(tmp_path) == []
        assert len(list(tmp_path.glob("snapshot-*"))) == 1


@pytest.mark.parametrize("n_shards", [1, 3])
def test_shards_and_their_router_keep_nothing(n_shards, tmp_path):
    options = {"folder": tmp_path, "engine": "local", "block": 8, "frontier": 3}
    with ShardedOHAC(n_shards, **options) as model:
        for i in range(0, N, 6):
            some = range(i, i + 6)
            payloads = [text(j) for j in some]
            model.add(rows()[i : i + 6], ids=[name(j) for j in some], payloads=payloads)
        model.forget([name(i) for i in GONE])
        assert "router.sqlite-wal" in found(tmp_path) or "router.sqlite" in found(tmp_path)
        model.compact()
        assert found(tmp_path) == []
        assert len(model) == N - len(GONE)
        model.forget(name(4))
    assert found(tmp_path, [*GONE, 4]) == []  # and after a clean stop
    with ShardedOHAC(n_shards, **options) as model:
        assert len(model) == N - len(GONE) - 1


def test_a_server_erases_while_it_serves(tmp_path):
    with running(tmp_path) as url, ramify.Client(url) as client:
        tree = client.create("people")
        tree.add(rows(), ids=[name(i) for i in range(N)], payloads=[text(i) for i in range(N)])
        assert tree.forget(name(3))
        assert found(tmp_path / "people", [3])
        assert "POST" in fails("journal", "compact", tmp_path / "people")
        assert tree.compact() > 0
        assert found(tmp_path / "people", [3]) == []
        assert tree.forget(name(10))
        said = done("journal", "compact", f"{url}/trees/people", "--json").json()
        assert said["bytes"] > 0
        assert found(tmp_path / "people", [3, 10]) == []
        assert httpx.post(f"{url}/trees/nothing/compact").status_code == 404
        assert tree.info()["points"] == N - 2


def test_what_cannot_be_read_again_does_not_replace_what_can(tmp_path, monkeypatch):
    """A snapshot of right bytes that no tree could be made of was all that was left."""
    with ramify.open(tmp_path, ramify.OHAC(), erase_within=None) as tree:
        tree.add([[0.0], [1.0], [2.0]])
        before = tree.hierarchy()

        def unreadable(found):
            raise UnreadableFileError("holds no valid model")

        with monkeypatch.context() as patch:
            patch.setattr(_snapshots, "from_file", unreadable)
            with pytest.raises(UnreadableFileError):
                tree.compact()
    with ramify.open(tmp_path) as tree:
        assert tree.hierarchy() == before
