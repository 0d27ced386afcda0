"""A command line that survives the night: bad rows, signals, full disks, silence, co-processes.

Pipes and signals are those of real processes.
"""

import csv
import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import termios
import time
from pathlib import Path

import numpy as np
import pytest

import ramify
from ramify.cli._every import Every, parse
from ramify.writing import whole_file, write_whole
from tests.commands import done, fails, files, start
from tests.commands import ramify as run

pytestmark = pytest.mark.no_asan  # a new process for almost every test

PIPE = subprocess.PIPE
POINTS = np.random.default_rng(0).normal(size=(60, 2))
LINES = [f"{x!r},{y!r}\n" for x, y in POINTS.tolist()]


@pytest.fixture(autouse=True)
def hangups_count():
    """Under nohup they do not, for the tests and for every command they start."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def tree_of(rows: np.ndarray) -> ramify.Hierarchy:
    return ramify.OHAC().fit(rows).hierarchy()


def wait_until(holds, command: subprocess.Popen) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert command.poll() is None, command.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.02)


def feed(command: subprocess.Popen, lines: list[str]) -> None:
    """Send lines, and wait until they have been read."""
    command.stdin.write("".join(lines).encode())
    command.stdin.flush()
    left = bytearray(4)

    def all_read() -> bool:
        fcntl.ioctl(command.stdin.fileno(), termios.FIONREAD, left)
        return not any(left)

    wait_until(all_read, command)
    time.sleep(0.5)  # until they are in the tree, too: nothing tells us so


def fed(*words: object, lines: list[str], saved: Path) -> subprocess.Popen:
    """A command that has read these lines, saved them, and waits for more."""
    command = start(*words, "--save-every", 1, stdin=PIPE, stderr=PIPE)
    command.stdin.write("".join(lines).encode())
    command.stdin.flush()
    wait_until(lambda: saved.exists() and len(ramify.load(saved)) == len(lines), command)
    return command


# --- bad rows -----------------------------------------------------------------------------


def test_one_bad_line_in_a_pipe_lost_the_whole_tree(tmp_path):
    tree = tmp_path / "t.ramify"
    text = "".join([*LINES[:40], "1,2,3\n", *LINES[40:]])
    sentence = fails("fit", "-", "-o", tree, "-q", stdin=text)
    assert "standard input, line 41: expected 2 cells, got 3; 40 rows are in" in sentence
    assert sentence.endswith(f"go on from line 41: ramify update {tree} DATA --from-line 41")
    assert ramify.load(tree).hierarchy() == tree_of(POINTS[:40])
    done("update", tree, "-", "--from-line", 42, "-q", stdin=text)
    assert ramify.load(tree).hierarchy() == tree_of(POINTS)


BROKEN = [
    '{"id": "a", "v": [1, 2]}',
    '{"id": "b", "v": [3, 4',
    '{"id": "c", "v": [5]}',
    '{"id": "a", "v": [7, 8]}',
    '{"id": "d", "v": [0, 0]}',
    '{"id": null, "v": [7, 8]}',
    '{"id": 7, "v": [7, 8]}',
    "",
    '{"id": "e", "v": [1e400, 8]}',
    '{"id": "f", "v": [9, 10]}',
]


@pytest.mark.parametrize("algorithm", ["ohac", "hac", "naive-hac", "birch"])
def test_broken_rows_are_skipped_counted_and_written_down(algorithm, tmp_path):
    tree, bad = tmp_path / "t.ramify", tmp_path / "bad.csv"
    words = ("-", "-o", tree, "--id-column", "id", "--algorithm", algorithm, "--json")
    if algorithm != "birch":
        words = (*words, "--metric", "cosine")
    stdin = "\n".join(BROKEN)
    facts = done("fit", *words, "--bad-rows", bad, stdin=stdin).json()
    zeros = algorithm != "birch"
    assert (facts["points"], facts["bad_rows"]) == (2 if zeros else 3, 7 if zeros else 6)
    assert ramify.load(tree).ids_.tolist() == (["a", "f"] if zeros else ["a", "d", "f"])
    with bad.open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["line", "reason", "text"]
    expected = {2, 3, 4, 5, 6, 7, 9} if zeros else {2, 3, 4, 6, 7, 9}
    assert {int(row[0]) for row in rows} == expected
    for line, reason, text in rows:
        assert text == BROKEN[int(line) - 1]
        assert reason
    by_line = {int(line): reason for line, reason, _ in rows}
    assert "not JSON" in by_line[2]
    assert "ids: 'a' (line 4) is already the id of point 0" in by_line[4]
    answer = done("fit", *words, "--bad-rows", "skip", stdin=stdin)
    assert answer.json()["bad_rows"] == len(expected)
    assert f"{len(expected)} bad rows were left out" in answer.err


def test_a_list_of_bad_rows_goes_on_and_is_never_written_over_something_else(tmp_path):
    tree, bad = tmp_path / "t.ramify", tmp_path / "bad.csv"
    done("fit", "-", "-o", tree, "--bad-rows", bad, "-q", stdin="1,2\nx,y\n")
    done("update", tree, "-", "--bad-rows", bad, "-q", stdin="1,2\n3\n")
    assert bad.read_text().splitlines()[0] == "line,reason,text"
    assert [line.split(",")[0] for line in bad.read_text().splitlines()[1:]] == ["2", "2"]
    precious = tmp_path / "precious.csv"
    precious.write_text("a,b\n1,2\n")
    sentence = fails("fit", "-", "-o", tmp_path / "u", "--bad-rows", precious, stdin="1,2\n3\n")
    assert "it does not begin with line,reason,text" in sentence
    assert precious.read_text() == "a,b\n1,2\n"
    for other in (tree, precious):
        words = ("update", tree, precious, "--bad-rows", other)
        assert "itself; choose another name" in fails(*words)


def test_rows_that_are_all_bad_are_no_tree(tmp_path):
    sentence = fails("fit", "-", "-o", tmp_path / "t", "--bad-rows", "skip", stdin="x,y\na,b\n")
    assert "no column of numbers" in sentence
    text = "x,y\n1,nan\n2\n"
    sentence = fails("fit", "-", "-o", tmp_path / "t", "--bad-rows", "skip", stdin=text)
    assert "holds no rows that can be used, and 2 bad ones; nothing was written" in sentence


def test_a_wrong_width_is_the_whole_files_fault(tmp_path):
    """Not one row after the other is bad: the file is another one than was meant."""
    done("fit", "-", "-o", tmp_path / "t", "-q", stdin="1,2\n")
    words = ("update", tmp_path / "t", "-", "--bad-rows", "skip", "-q")
    assert "X has 3 features, but OHAC is expecting 2" in fails(*words, stdin="1,2,3\n4,5,6\n")


def test_labels_stay_with_their_rows_when_some_are_skipped(tmp_path):
    text = "x,kind\n1,a\nx,b\n3,c\n4,\n5,e\n"
    tree = tmp_path / "t"
    words = ("-o", tree, "--label-column", "kind", "--bad-rows", "skip", "-q")
    done("fit", "-", *words, stdin=text)
    lines = (tmp_path / "t.labels.csv").read_text().splitlines()[1:]
    assert [line.split(",")[1] for line in lines] == ["a", "c", "e"]


# --- an early end -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [
        (signal.SIGTERM, 143, "stopped by SIGTERM"),
        (signal.SIGHUP, 129, "stopped by SIGHUP"),
        (signal.SIGINT, 130, "interrupted"),
    ],
)
def test_a_signal_lost_what_a_pipe_had_brought(number, code, word, tmp_path):
    tree = tmp_path / "t.ramify"
    command = start("fit", "-", "-o", tree, stdin=PIPE, stderr=PIPE)
    feed(command, ["x,y\n", *LINES[:30]])
    command.send_signal(number)
    _, err = command.communicate(timeout=60)
    assert command.returncode == code, err
    assert f"ramify fit: {word} when 30 points were in; 30 rows are in {tree}" in err.decode()
    assert "go on from line 32" in err.decode()
    assert ramify.load(tree).hierarchy() == tree_of(POINTS[:30])
    assert files(tmp_path) == ["t.ramify"]


def test_a_signal_in_the_middle_of_a_batch(tmp_path):
    """The line to go on from is that of the first row that is not in the tree."""
    X = np.random.default_rng(1).normal(size=(60_000, 40))
    data, tree = tmp_path / "rows.npy", tmp_path / "t.ramify"
    np.save(data, X)
    command = start("fit", data, "-o", tree, "--batch-size", len(X), stderr=PIPE)
    wait_until(lambda: (tmp_path / ".t.ramify.ramify-lock").exists(), command)
    time.sleep(1.5)
    command.send_signal(signal.SIGTERM)
    _, err = command.communicate(timeout=60)
    assert command.returncode == 143, err
    held = len(ramify.load(tree)) if tree.exists() else 0
    assert f"stopped by SIGTERM when {held:,} points were in" in err.decode()
    if held:
        assert (
            f"go on from row {held}: ramify update {tree} DATA --from-line {held}" in err.decode()
        )
        assert np.array_equal(ramify.load(tree).points(), X[:held])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_tree_is_saved_waits_for_it(number, tmp_path, monkeypatch):
    from ramify.cli._keeping import Keeper

    save = Keeper.save

    def signalled(self):
        os.kill(os.getpid(), number)
        return save(self)

    monkeypatch.setattr(Keeper, "save", signalled)
    answer = run("fit", "-", "-o", tmp_path / "t", "-q", stdin="".join(LINES))
    assert answer.code == 128 + number
    assert answer.err.endswith(", after the tree was saved\n")
    assert len(ramify.load(tmp_path / "t")) == 60
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, "handlers are given back"


def test_what_nohup_ignores_is_ignored(tmp_path):
    tree = tmp_path / "t.ramify"
    hidden = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    command = start(
        *("fit", "-", "-o", tree, "-q", "--save-every", 1),
        stdin=PIPE,
        stderr=PIPE,
        preexec_fn=hidden,
    )
    command.stdin.write(LINES[0].encode())
    command.stdin.flush()
    wait_until(tree.exists, command)
    command.send_signal(signal.SIGHUP)
    _, err = command.communicate("".join(LINES[1:]).encode(), timeout=60)
    assert (command.returncode, err) == (0, b"")
    assert len(ramify.load(tree)) == 60


def test_ears_that_have_gone_ended_the_work(tmp_path):
    """Notes had no reader any more, as in ``ramify fit - 2>&1 | head -1``."""
    tree = tmp_path / "t.ramify"
    command = fed("fit", "-", "-o", tree, lines=LINES[:3], saved=tree)
    command.stderr.close()
    command.stdin.write("".join(LINES[3:]).encode())
    command.stdin.close()
    command.stdin = command.stderr = None
    command.communicate(timeout=60)
    assert command.returncode == 0
    assert len(ramify.load(tree)) == 60


def test_a_folder_that_has_gone_lost_the_tree(tmp_path):
    """The tree goes where there is room: here, the folder that the command runs in."""
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    command = start(
        *("fit", "-", "-o", there / "t.ramify", "-q"), stdin=PIPE, stderr=PIPE, cwd=here
    )
    command.stdin.write("".join(LINES).encode())
    command.stdin.flush()
    lock = there / ".t.ramify.ramify-lock"
    wait_until(lambda: lock.exists() and lock.read_bytes() != b"", command)  # signed: it is held
    shutil.rmtree(there)
    _, err = command.communicate(timeout=60)
    assert command.returncode == 1
    assert "this tree is in" in err.decode()
    assert ramify.load(here / "t.ramify").hierarchy() == tree_of(POINTS)


def full_disk(monkeypatch, folder: Path) -> None:
    """Let a folder have no room: the disk says so when bytes have to arrive there."""
    sync = os.fsync

    def fsync(handle: int) -> None:
        path = os.readlink(f"/proc/self/fd/{handle}")
        if Path(path).is_relative_to(folder) and os.path.isfile(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux's /proc")
def test_a_full_disk_named_no_path_and_lost_the_tree(tmp_path, monkeypatch):
    full, here = tmp_path / "full", tmp_path / "here"
    full.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    full_disk(monkeypatch, full)
    with pytest.raises(OSError, match=r"No space left on device: '.*full/a\.txt'"):
        write_whole(full / "a.txt", "text")
    with pytest.raises(OSError, match=r"No space left on device: '.*full/t\.ramify'"):
        ramify.OHAC().fit(POINTS).save(full / "t.ramify")
    sentence = fails("fit", "-", "-o", full / "t.ramify", "-q", stdin="".join(LINES))
    assert f"{full / 't.ramify'}: No space left on device; this tree is in" in sentence
    assert ramify.load(here / "t.ramify").hierarchy() == tree_of(POINTS)
    assert files(full) == []


def test_an_error_of_another_file_keeps_its_name(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="other"),
        whole_file(tmp_path / "a.txt"),
        open(tmp_path / "other"),
    ):
        pass


def test_a_tree_that_was_there_is_not_replaced_by_half_of_another(tmp_path):
    """A file can be read again; yesterday's tree cannot be made again."""
    tree, beside = tmp_path / "t.ramify", tmp_path / "t-2.ramify"
    data = tmp_path / "rows.csv"
    data.write_text("".join(LINES))
    done("fit", data, "-o", tree, "-q")
    data.write_text("".join([*LINES[:5], "x,y\n"]))
    for verb in (("fit", data, "-o", tree), ("update", tree, data)):
        sentence = fails(*verb, "-q")
        assert f"{tree} stays as it was; 5 rows are in {beside}; go on from line 6" in sentence
        assert len(ramify.load(tree)) == 60
        assert len(ramify.load(beside)) == (5 if verb[0] == "fit" else 65)
        beside.unlink()


def test_an_update_by_a_pipe_grows_the_tree_itself(tmp_path):
    tree = tmp_path / "t.ramify"
    done("fit", "-", "-o", tree, "-q", stdin="".join(LINES[:10]))
    sentence = fails("update", tree, "-", "-q", stdin="".join([*LINES[10:15], "x,y\n"]))
    assert f"5 rows are in {tree}; go on from line 6" in sentence
    assert ramify.load(tree).hierarchy() == tree_of(POINTS[:15])


def test_a_mistake_of_ours_saves_the_tree_and_keeps_its_traceback(tmp_path, monkeypatch):
    from ramify.cli._inserting import Inserter

    insert = Inserter.insert

    def broken(self, batch):
        insert(self, batch)
        raise RuntimeError("a bug")

    monkeypatch.setattr(Inserter, "insert", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        run("fit", "-", "-o", tmp_path / "t", "-q", stdin="".join(LINES))
    assert len(ramify.load(tmp_path / "t")) == 60


# --- saving while it grows ------------------------------------------------------------------


def test_times_and_rows_are_told_apart():
    assert parse(None) == Every()
    assert parse("10_000") == Every(rows=10_000)
    assert [parse(text).seconds for text in ("30s", "5m", "1h", "0.5s")] == [30, 300, 3600, 0.5]
    for wrong in ("0", "x", "1.5", "-3", "10 rows", "0s"):
        words = ("fit", "-", "-o", "t", "--save-every", wrong)
        assert "expected a number of rows" in fails(*words, code=2)


def test_a_killed_command_leaves_what_it_saved_last(tmp_path):
    tree = tmp_path / "t.ramify"
    command = start("fit", "-", "-o", tree, "--save-every", 20, stdin=PIPE, stderr=PIPE)
    command.stdin.write("".join(LINES[:50]).encode())
    command.stdin.flush()
    notes = [command.stderr.readline().decode() for _ in range(2)]
    command.kill()
    command.communicate(timeout=60)
    assert notes == [f"{tree}: {n} points, go on from line {n + 1}\n" for n in (20, 40)]
    assert ramify.load(tree).hierarchy() == tree_of(POINTS[:40])
    data = tmp_path / "rows.csv"
    data.write_text("".join(LINES))
    done("update", tree, data, "--from-line", 41, "-q")
    assert ramify.load(tree).hierarchy() == tree_of(POINTS)


def test_a_silent_stream_is_saved_in_time(tmp_path):
    """No row comes any more, and the command waits: the clock saves, not the next row."""
    tree = tmp_path / "t.ramify"
    words = ("fit", "-", "-o", tree, "-q", "--save-every", "0.3s")
    command = start(*words, stdin=PIPE, stderr=PIPE)
    command.stdin.write("".join(LINES[:7]).encode())
    command.stdin.flush()
    wait_until(lambda: tree.exists() and len(ramify.load(tree)) == 7, command)
    command.stdin.write("".join(LINES[7:9]).encode())
    command.stdin.flush()
    wait_until(lambda: len(ramify.load(tree)) == 9, command)
    _, err = command.communicate(timeout=60)
    assert (command.returncode, err) == (0, b"")


def test_a_disk_that_is_full_for_a_while_does_not_end_the_work(tmp_path, monkeypatch):
    from ramify.cli._keeping import Keeper

    save, tries = Keeper.save_some, []

    def full_at_first(self):
        tries.append(len(self.model))
        if len(tries) == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "t")
        return save(self)

    monkeypatch.setattr(Keeper, "save_some", full_at_first)
    answer = run("fit", "-", "-o", tmp_path / "t", "--save-every", 20, stdin="".join(LINES))
    assert answer.code == 0
    assert tries == [20, 40, 60]
    assert "could not save now, and goes on: t: No space left on device" in answer.err
    assert len(ramify.load(tmp_path / "t")) == 60


# --- a co-process -----------------------------------------------------------------------------


def test_assign_answers_line_by_line_and_survives_bad_rows(tmp_path):
    tree = tmp_path / "t.ramify"
    done("fit", "-", "-o", tree, "-q", stdin="x,y\n1,2\n3,4\n50,60\n")
    words = ("assign", tree, "-", "-k", 2, "--to", "jsonl", "--bad-rows", "skip", "-q")
    program = start(*words, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    asked = ["x,y", "1,2", "nonsense", '"3,4', "49,61", "1,2,3", "3,nan", "3,4"]
    answers = []
    program.stdin.write(f"{asked[0]}\n".encode())
    for line in asked[1:]:
        program.stdin.write(f"{line}\n".encode())
        program.stdin.flush()
        answers.append(json.loads(program.stdout.readline()))  # no answer, no end
    _, err = program.communicate(timeout=60)
    assert (program.returncode, err) == (0, b"")
    assert [answer["row"] for answer in answers] == [*range(7)]
    assert [answer["nearest"] for answer in answers] == [0, None, None, 2, None, None, 1]
    assert [answer["cluster"] for answer in answers] == [0, None, None, 1, None, None, 0]
    assert answers[0]["error"] is None
    assert answers[1]["error"] == "expected 2 cells, got 1"
    assert answers[2]["error"] == "a quote is not closed"


@pytest.mark.parametrize("to", ["csv", "jsonl", "parquet"])
def test_assign_answers_bad_rows_of_files_in_their_places(to, tmp_path):
    import pyarrow.parquet as pq

    tree, data = tmp_path / "t.ramify", tmp_path / "new.csv"
    text = "who,x,y\na,1,2\nb,3,4\nc,50,60\n"
    words = ("--id-column", "who", "--metric", "cosine", "-q")
    done("fit", "-", "-o", tree, *words, stdin=text)
    data.write_text("who,x,y\np,1,2\nq,0,0\nr,x,1\ns,3,4\n")
    out, bad = tmp_path / f"places.{to}", tmp_path / "bad.csv"
    words = ("--id-column", "who", "-o", out, "--bad-rows", bad, "--json")
    facts = done("assign", tree, data, *words, "-q").json()
    assert (facts["rows"], facts["bad_rows"]) == (4, 2)
    if to == "parquet":
        rows = pq.read_table(out).to_pylist()
    elif to == "csv":
        rows = list(csv.DictReader(out.read_text().splitlines()))
    else:
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["nearest_id"] or None for row in rows] == ["a", None, None, "b"]
    assert "only zeros in line 3" in rows[1]["error"]
    lines = bad.read_text().splitlines()[1:]
    assert sorted(line.split(",")[0] for line in lines) == ["3", "4"]
    sentence = fails("assign", tree, data, "--id-column", "who", "-o", out, "-q")
    assert "new.csv, line 4, column 'x'" in sentence or "only zeros in line 3" in sentence
