# SPDX-License-Identifier: BSD-3-Clause
"""What Windows has not, Ramify does without: names that only POSIX has are deleted first.

No test here ran on Windows. ``mypy --platform win32``, part of ``make check``, looks for such
names in all of ``src``; these tests run the branches for Windows, with the files of this system.
"""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="deletes what only POSIX has")

BEFORE = """
import asyncio, concurrent.futures, logging, multiprocessing, os, pathlib, random, shutil, signal
import sqlite3, subprocess, sys, tempfile, threading, types, uuid
import numpy, scipy.sparse, scipy.spatial, sklearn.base, sklearn.utils.validation, typer
import fcntl

def locking(handle, mode, count):  # as msvcrt has it: for this handle alone, or an OSError
    assert (mode, count) == (2, 1)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

sys.modules["msvcrt"] = types.ModuleType("msvcrt")
sys.modules["msvcrt"].locking, sys.modules["msvcrt"].LK_NBLCK = locking, 2
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for name in '''
    O_CLOEXEC O_NOFOLLOW O_NONBLOCK O_DIRECTORY O_SYNC O_DSYNC chown fchown lchown fchmod geteuid
    getuid getegid getgid fork forkpty register_at_fork getloadavg getpgid killpg mkfifo nice pread
    pwrite preadv pwritev sched_getaffinity setsid statvfs fstatvfs sysconf sync fdatasync uname
    wait3 wait4 WNOHANG posix_fallocate posix_fadvise sendfile
    '''.split():
    delattr(os, name)
for name in "SIGKILL SIGHUP SIGALRM SIGUSR1 SIGUSR2 SIGPIPE SIGCHLD alarm setitimer".split():
    delattr(signal, name)
sys.platform = "win32"
here = pathlib.Path(sys.argv[1])
X = numpy.random.default_rng(0).normal(size=(300, 3))
import ramify
"""


def run(script, folder):
    command = [sys.executable, "-c", BEFORE + script, str(folder)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    assert found.stdout == "done\n"


def test_files_are_written_and_read(tmp_path):
    run(
        """
from ramify.cli._target import only_writer

model = ramify.OHAC(n_clusters=5).fit(X)
path = here / "tree.ramify"
for _ in range(2):  # the second takes the place of the first
    with only_writer(path, wait=False, quiet=True):
        model.save(path)
assert ramify.load(path).hierarchy() == model.hierarchy()
assert [one.name for one in here.iterdir()] == ["tree.ramify"]
print("done")
""",
        tmp_path,
    )


def test_a_folder_has_one_writer(tmp_path):
    run(
        """
from ramify.journal import FolderInUseError

with ramify.open(here / "tree", ramify.OHAC(n_clusters=5)) as tree:
    tree.add(X)
    try:
        ramify.open(here / "tree")
    except FolderInUseError as error:
        assert f"process {os.getpid()}" in str(error)
    else:
        raise AssertionError("two writers")
with ramify.open(here / "tree") as tree:
    tree.add(X[:10])
    tree.forget([3])
    tree.compact()
    assert len(tree) == 309
print("done")
""",
        tmp_path,
    )
