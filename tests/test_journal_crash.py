# SPDX-License-Identifier: BSD-3-Clause
"""Real processes killed at any moment, and disks that fail at any write; `make chaos` is longer."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
LONG = os.environ.get("CHAOS") == "long"

pytestmark = [
    pytest.mark.no_asan,  # processes of their own
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]


def python(*words: object, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        env={**os.environ, **environment},
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr[-4000:]}"
    return done.stdout


def test_kill_9_at_any_moment_loses_nothing_that_was_acknowledged():
    said = python("tests.chaos", "--kills", 30, "--trees", 3, "--seed", os.getpid())
    assert "30 kills" in said


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("disk") / "failing_disk.so"
    source = HERE / "failing_disk.cpp"
    command = [COMPILER, "-std=c++20", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"]
    subprocess.run([str(word) for word in command], check=True)
    return library


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs LD_PRELOAD")
@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("trouble", ["full", "short", "sync"])
def test_a_disk_that_fails_says_so_and_the_tree_goes_on(trouble, disk, tmp_path):
    last = 150 if LONG else 10
    words = ("tests.chaos.failing", tmp_path, trouble, 0, last)
    found = python(*words, LD_PRELOAD=str(disk), RAMIFY_FAILING_DISK=str(tmp_path))
    tried, failures, refused = map(int, found.split())
    assert tried >= 9  # of a dozen operations, each with a commit
    assert failures >= tried
    assert refused > 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs LD_PRELOAD")
@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("trouble", ["full", "sync"])
def test_a_full_disk_at_opening_was_called_damage(trouble, disk, tmp_path):
    words = ("tests.chaos.opening", tmp_path, trouble, 60 if LONG else 12)
    refused = python(*words, LD_PRELOAD=str(disk), RAMIFY_FAILING_DISK=str(tmp_path))
    assert int(refused) > 0
