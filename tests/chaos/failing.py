"""failing.py: a tree on a disk that fails at its k-th write or sync, for every k.

`python -m tests.chaos.failing FOLDER TROUBLE FIRST LAST`, under failing_disk.cpp; prints the
last k, failures, and calls that were refused. After the
disk has failed the tree goes on when there is room again, and holds what was acknowledged.
"""

import contextlib
import ctypes
import shutil
import sys
from pathlib import Path

import ramify
from ramify.journal import JournalError, NotWrittenError, _model
from tests.chaos.stream import KINDS, operate, uncrashed

TROUBLE = {"full": 1, "short": 2, "sync": 3}
_OPERATIONS = 12

disk = ctypes.CDLL(None)
disk.disk_will_fail.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_int]
disk.disk_has_failed.restype = ctypes.c_long


def failed(tree, i: int) -> bool:
    """Try an operation; whether the disk did not take it. Anything else would be wrong."""
    try:
        operate(tree, i)
    except NotWrittenError:
        return True
    return False


def run(folder: Path, kind: int, k: int, always: bool) -> tuple[int, int]:
    """How often the disk failed, and how many calls were refused."""
    tree = ramify.open(folder, KINDS["ohac"](), snapshot_every=5)
    for i in range(4):
        operate(tree, i)
    disk.disk_will_fail(kind, k, always)
    at, refused = 4, 0
    while at < 4 + _OPERATIONS and refused < 3:
        version = tree.version
        if failed(tree, at):
            refused += 1
            assert tree.version == version
        else:
            at += 1
    times = disk.disk_has_failed()
    disk.disk_will_fail(0, 0, 0)  # there is room again
    for i in range(at, at + 3):
        operate(tree, i)
    same(tree, at + 3)
    try:
        tree.snapshot()
    except JournalError as error:
        raise AssertionError("no snapshot with room again") from error
    crash = folder.with_name("crash")
    copy(folder, crash)
    tree.close()
    for place in (folder, crash):
        with ramify.open(place) as again:
            same(again, at + 3)
    return times, refused


def copy(folder: Path, to: Path) -> None:
    """As a crash would leave it; an old snapshot may go while it is copied."""
    for _ in range(10):
        shutil.rmtree(to, ignore_errors=True)
        with contextlib.suppress(shutil.Error):
            shutil.copytree(folder, to)
            return
    raise AssertionError("files kept going")


def same(tree, count: int) -> None:
    assert tree.seq == count
    assert tree.digest() == _model.state_digest(_model.saved(uncrashed("ohac", count)))


def main() -> None:
    base, trouble, first, last = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    times = refused = 0
    for k in range(first, last):
        before = times
        for always in (False, True):
            folder = base / f"{k}-{always}" / "tree"
            found = run(folder, TROUBLE[trouble], k, always)
            times, refused = times + found[0], refused + found[1]
            shutil.rmtree(folder.parent)
        if times == before:  # there are no more writes, or syncs, that could fail
            break
    print(k, times, refused)


if __name__ == "__main__":
    main()
