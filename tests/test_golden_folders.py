# SPDX-License-Identifier: BSD-3-Clause
"""Folders that earlier versions wrote are opened, say what they said, and go on."""

import json
import tarfile
from pathlib import Path

import pytest

import ramify
from ramify.journal import backup, info, restore
from tests.golden_folders import MODEL, ROWS, batch, facts, make

GOLDEN = Path(__file__).parent / "golden"
FOLDERS = [GOLDEN / f"folders-{version}.tar.xz" for version in ("0.2",)]


def unpacked(file, room):
    with tarfile.open(file) as archive:
        archive.extractall(room, filter="data")
    return json.loads((room / "facts.json").read_text())


@pytest.mark.parametrize("file", FOLDERS, ids=lambda path: path.name)
@pytest.mark.parametrize("state", ["closed", "left"])
def test_a_folder_of_an_earlier_version_says_what_it_said_and_goes_on(file, state, tmp_path):
    said = unpacked(file, tmp_path)
    folder = tmp_path / state
    assert info(folder)["points"] in (len(said["ids"]), None)  # None: there is some to replay
    with ramify.open(folder, erase_within=None) as tree:
        assert facts(tree) == said
        assert (tree.report.replayed > 0) == (state == "left")
        assert tree.add(ROWS[:3], ids=["p0", "p1", "p2"]).repeated == 3
        assert tree.add(ROWS[:6], **batch(0)).numbers == list(range(6))
        tree.add(ROWS[31:], ids=[f"new {i}" for i in range(5)])
        after = facts(tree)
    fresh = ramify.OHAC(**MODEL).partial_fit(ROWS[:30], ids=[f"p{i}" for i in range(30)])
    fresh.forget(["p3", "p4"])
    fresh.partial_fit(ROWS[30:], ids=["later", *(f"new {i}" for i in range(5))])
    assert fresh.hierarchy().to_linkage().tolist() == after["linkage"]
    backup(folder, tmp_path / "kept.tar")
    restore(tmp_path / "kept.tar", tmp_path / "again")
    with ramify.open(tmp_path / "again") as tree:
        assert facts(tree) == after


def test_the_file_is_made_by_its_command(tmp_path):
    make(tmp_path / "folders.tar.xz")
    assert unpacked(tmp_path / "folders.tar.xz", tmp_path)["ids"]
