"""One seed, one history (tests/simulation); and what histories have found, each by itself."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ramify
from ramify.journal import DamagedJournalError, _wal
from ramify.serve import running

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX") or shutil.which("g++")

needs_the_disk = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs LD_PRELOAD"),
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"),
    pytest.mark.no_asan,
]


def simulation(*words):
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulation", *map(str, words)],
        cwd=HERE.parent,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


class TestHistories:
    pytestmark = needs_the_disk

    def test_all_that_follows_from_500_seeds_is_as_it_must_be(self):
        assert "all are as they must be" in simulation("--seeds", 500)

    def test_a_seed_has_one_history(self):
        words = ("--first", 5, "--seeds", 10)  # one of shards and one of a server among them
        one, other = (simulation(*words).splitlines()[-1] for _ in range(2))
        assert one == other
        assert one.startswith("digest")

    def test_each_planted_mistake_is_caught_within_100_seeds(self):
        found = simulation("--bugs")
        caught = dict(re.findall(r"^(\w+) +seed +(\d+)", found, re.MULTILINE))
        assert len(caught) == 11
        assert all(int(seed) < 100 for seed in caught.values())


# --- what they found ----------------------------------------------------------------------


@pytest.fixture
def crashed(tmp_path):
    """A folder as it is while its tree is at work: two points came, and one was forgotten."""
    with ramify.open(tmp_path / "tree", ramify.OHAC(), erase_within=None) as tree:
        tree.add([[0.0], [1.0]], ids=["ash", "elm"], payloads=["a secret", None])
        tree.forget("ash")
        shutil.copytree(tmp_path / "tree", tmp_path / "crashed")
    return tmp_path / "crashed"


def commits(log):
    """Begin and end of each commit in a log."""
    data = log.read_bytes()
    size = 24 + int.from_bytes(data[8:12], "big")
    ends = [
        at + size
        for at in range(32, len(data), size)
        if data[at + 4 : at + 8] != bytes(4) and data[at + 8 : at + 16] == data[16:24]
    ]
    return list(zip([32, *ends], ends, strict=False))


def test_a_power_cut_that_kept_a_later_commit_was_called_damage(tmp_path):
    """What operations came to is not synced: a disk may lose it, and keep the next operation."""
    with ramify.open(tmp_path / "tree", ramify.OHAC()) as tree:
        for i in range(3):
            tree.partial_fit([[float(i)]])
        for name in ("cut", "rotten"):
            shutil.copytree(tmp_path / "tree", tmp_path / name)
    for name in ("cut", "rotten"):
        log = tmp_path / name / "journal.sqlite-wal"
        *_, second, third, _ = commits(log)
        data = bytearray(log.read_bytes())
        data[second[0] + 24 : second[1]] = bytes(second[1] - second[0] - 24)
        if name == "cut":  # nobody was told of the third, whose sync had not ended
            del data[third[1] :]
        log.write_bytes(data)
        assert _wal.look_at_log(log).bad is not None
    with ramify.open(tmp_path / "cut") as again:
        assert len(again) == 2
    with pytest.raises(DamagedJournalError, match="is not what was written"):
        ramify.open(tmp_path / "rotten")


def test_a_crash_took_the_word_that_something_is_to_be_erased(crashed):
    """It is written without waiting for the disk, and was not found out again."""
    journal = sqlite3.connect(crashed / "journal.sqlite", isolation_level=None)
    journal.execute("DELETE FROM facts WHERE name IN ('owed', 'told')")
    journal.close()
    with ramify.open(crashed, erase_within=60.0) as tree:
        assert tree.statistics()["owed_seconds"] > 0
        assert tree.payload("elm") is None
    assert not [path for path in crashed.iterdir() if b"a secret" in path.read_bytes()]


def test_a_clock_that_was_set_back_put_an_erasure_off(crashed):
    journal = sqlite3.connect(crashed / "journal.sqlite", isolation_level=None)
    journal.execute("UPDATE facts SET value = ? WHERE name = 'owed'", (time.time() + 1e6,))
    journal.close()
    with ramify.open(crashed, erase_within=60.0) as tree:
        left = tree.between(tree._writer.upkeep.seconds_left)
    assert left is not None
    assert left <= 60.0


def test_a_request_for_points_that_were_there_did_not_keep_its_key(tmp_path):
    """It came once more when they had been forgotten, and they were there again."""
    with ramify.open(tmp_path / "tree", ramify.OHAC()) as tree:
        tree.add([[0.0], [1.0]], ids=["ash", "elm"])
        first = tree.add([[0.0]], ids=["ash"], key="once")
        tree.forget("ash")
        assert tree.add([[0.0]], ids=["ash"], key="once") == first
        assert tree.ids_.tolist() == ["elm"]


def test_followers_were_not_told_when_all_points_had_left(tmp_path):
    with running(tmp_path) as address, ramify.Client(address) as client:
        tree = client.create("tickets", history=9)
        since = tree.add([[0.0], [1.0]]).version
        tree.forget([0, 1])
        kind, told = next(one for one in tree.follow(since=since) if one[0] != "progress")
        assert (kind, told["forgotten"], told["retired"]) == ("change", [0, 1], [0])


def test_a_tree_whose_first_moment_a_crash_took_could_not_be_begun_again(tmp_path):
    (tmp_path / "tickets").mkdir()
    (tmp_path / "tickets" / "journal.sqlite").touch()
    with running(tmp_path) as address, ramify.Client(address) as client:
        assert client.create("tickets").add([[0.0]]).numbers == [0]
