# SPDX-License-Identifier: BSD-3-Clause
"""What a folder says of itself, without being opened."""

import os

import numpy as np
import pytest

import ramify
from ramify.journal import DamagedJournalError, info
from ramify.serve import running
from tests.commands import done, fails


def rows(n):
    return np.random.default_rng(n).normal(size=(n, 2))


def look(folder):
    """What it says; nothing in the folder may change by it."""
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.name[-3:] != "shm"}
    found = info(folder)
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.name[-3:] != "shm"}
    assert before == after
    return found


def test_a_folder_says_what_is_in_it(tmp_path):
    with ramify.open(tmp_path / "a", ramify.OHAC(metric="cosine", n_clusters=3)) as tree:
        tree.add(rows(30), ids=[f"T{i}" for i in range(30)])
        used = look(tmp_path / "a")
        assert used["used_by"] == os.getpid()
        assert used["points"] == 30
        assert used["since_snapshot"] == {"operations": 1, "rows": 30}
        assert used["last"] == {"kind": "insert", "follows": True}
        assert used["bytes"]["log"] > 0
    found = look(tmp_path / "a")
    assert found["used_by"] is None
    assert (found["algorithm"], found["ids"], found["dimension"]) == ("OHAC", "str", 2)
    assert found["options"]["metric"] == "cosine"
    assert found["points"] == found["snapshot"]["points"] == 30
    assert found["operations"] == found["snapshot"]["operation"] == 1
    assert found["owed"] is None
    sizes = found["bytes"]
    assert sizes["total"] == sum(path.stat().st_size for path in (tmp_path / "a").iterdir())


def test_a_number_that_is_not_known_is_not_told(tmp_path):
    with ramify.open(tmp_path / "a", ramify.OHAC(), erase_within=None) as tree:
        tree.add(rows(30))
        tree.forget([3, 4])
        assert look(tmp_path / "a")["points"] is None
        assert look(tmp_path / "a")["owed"].endswith("Z")
    assert look(tmp_path / "a")["points"] == 28
    with ramify.open(tmp_path / "w", ramify.OHAC(keep=ramify.Last(10))) as tree:
        tree.add(rows(30))
        assert look(tmp_path / "w")["points"] is None
    assert look(tmp_path / "w")["points"] == 10


def test_the_command_says_it_while_the_tree_is_served(tmp_path):
    with running(tmp_path) as address, ramify.Client(address) as client:
        client.create("a", dimension=2).add(rows(20))
        facts = done("info", tmp_path / "a", "--json").json()
        assert facts["points"] == 20
        assert facts["used_by"] == os.getpid()
        text = done("info", tmp_path / "a").out
        assert f"process {os.getpid()}" in text
        assert "1 operations, 20 rows" in text
    assert "for files" in fails("info", tmp_path / "a", "--depth", code=2)
    assert "no tree in it" in fails("info", tmp_path)


def test_a_damaged_folder_says_so(tmp_path):
    with ramify.open(tmp_path / "a", ramify.OHAC()) as tree:
        tree.add(rows(3))
    (tmp_path / "a" / "snapshot-000001.ramify").write_bytes(b"x")
    with pytest.raises(DamagedJournalError, match="snapshot"):
        info(tmp_path / "a")
    (tmp_path / "a" / "journal.sqlite").write_bytes(b"x" * 5000)
    with pytest.raises(DamagedJournalError, match="SQLite"):
        info(tmp_path / "a")
