"""killing.py: a process that grows a tree is killed, again and again, at any moment.

The parent has everything imported and forks, so that a life is short: most are killed
within some milliseconds, during start-up, inserts, snapshots or compaction. After each
kill the parent knows what was acknowledged (a pipe), and a child that is left alone opens
the folder and compares.
"""

import os
import random
import signal
import struct
import sys
import time
from pathlib import Path

import ramify
from ramify.journal import JournalError, _model
from tests.chaos.stream import KINDS, ids_of, is_edit, is_forget, operate, uncrashed


def opened(folder: Path, kind: str, **options: int):
    """The tree, which may not have been begun yet."""
    try:
        return ramify.open(folder, **options)
    except JournalError as error:
        if "has no tree" not in str(error):
            raise
        return ramify.open(folder, KINDS[kind](), **options)


def live(folder: Path, kind: str, pipe: int, options: dict, compact: bool) -> None:
    """Grow the tree until somebody ends this; say after each operation that it is there."""
    tree = opened(folder, kind, **options)
    i = tree.seq
    os.write(pipe, struct.pack("<q", -1 - i))
    while True:
        operate(tree, i)
        os.write(pipe, struct.pack("<q", i))
        i += 1
        if compact and i % 97 == 0:
            tree.compact()


def kill_one(
    folder: Path, kind: str, seconds: float, options: dict, compact: bool
) -> tuple[int, bool]:
    """One life; how many operations it has acknowledged in all, and whether it got to work."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            live(folder, kind, writing, options, compact)
        except BaseException as error:
            print(f"the child failed: {error!r}", file=sys.stderr)
        os._exit(1)
    os.close(writing)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    said = b""
    while piece := os.read(reading, 1 << 16):
        said += piece
    os.close(reading)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the child ended by itself"
    told = [one for (one,) in struct.iter_unpack("<q", said[: len(said) // 8 * 8])]
    return (told[-1] + 1 if told[-1] >= 0 else -1 - told[-1]) if told else 0, bool(told)


def examine(folder: Path, kind: str, acknowledged: int) -> int:
    """Open the folder in a process of its own and compare; how many operations there are."""
    child = os.fork()
    if child == 0:
        try:
            _examine(folder, kind, acknowledged)
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"{folder}: not what was acknowledged"
    return 0


def _examine(folder: Path, kind: str, acknowledged: int) -> None:
    if not (folder / "journal.sqlite").exists():
        assert acknowledged == 0
        return
    tree = opened(folder, kind)
    assert tree.seq >= acknowledged, f"{acknowledged} were acknowledged, {tree.seq} are there"
    plain = uncrashed(kind, tree.seq)
    if tree.seq == 0:
        tree.close()
        return
    assert tree.digest() == _model.state_digest(_model.saved(plain))
    assert tree.hierarchy() == plain.hierarchy()
    tree.check()
    numbers = plain.number_of
    for one in [one for one in plain.ids_.tolist()[-50:] if not one.startswith("begin")]:
        assert tree.payload(one) == f"payload of {one}"
        assert [hit.number for hit in tree.search(f'"{one}"', limit=5) if hit.id == one] == [
            numbers(one)
        ]
    last = tree.seq - 1
    answered = tree._writer.store.request(f"op {last}") is not None
    assert answered or is_forget(last)
    if answered:  # a retry gets the first answer
        operate(tree, last)
        assert tree.seq == last + 1
    if not is_forget(last) and not is_edit(last):
        assert [numbers(one) for one in ids_of(last)] == [
            tree.number_of(one) for one in ids_of(last)
        ]
    tree.close()


def kill(
    folder: Path, kind: str, kills: int, seed: int, *, every: int = 5, compact: bool = True
) -> int:
    """Kill so many lives of one tree; how many operations it came to."""
    chance = random.Random(seed)
    options = {"snapshot_every": 23, "hash_every": 16}
    acknowledged, idle = 0, 0
    if kind == "large":
        opened(folder, kind).close()
    for number in range(kills):
        # Often very soon, in the middle of start-up; sometimes after a while.
        slow = 10 if kind == "large" else 1
        seconds = slow * chance.choice((0.005, 0.02, 0.05, 0.15, 0.4)) * (0.5 + chance.random())
        if idle >= 4:
            seconds = slow * 1.5  # a busy machine: let one get to work
        found, worked = kill_one(folder, kind, seconds, options, compact)
        idle = 0 if worked else idle + 1
        acknowledged = max(acknowledged, found)
        if number % every == every - 1 or number == kills - 1:
            examine(folder, kind, acknowledged)
    return acknowledged
