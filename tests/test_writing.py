"""Files are written whole or not at all, whoever writes them, and nothing is left lying about."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ramify
from ramify import datasets, demo, writing
from ramify.paper import Options, reproduce, write
from ramify.paper.results import Result, Run, Store
from ramify.plot import explore
from ramify.writing import whole_file, write_whole

TREE = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
WRITERS = {
    "page": lambda path: explore(TREE, path=path),
    "graphml": lambda path: TREE.to_graphml(path),
    "tree": lambda path: TREE.save(path),
    "model": lambda path: ramify.OHAC().fit([[0.0], [1.0]]).save(path),
    "text": lambda path: write_whole(path, "text"),
    "picture": lambda path: draw_demo(path),
}
POSIX = pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions, locks and signals")


def draw_demo(path):
    stream = demo._Stream(datasets.cities(), np.arange(3))
    demo._top(TREE, stream, ["#000000"] * 3, path)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture(params=WRITERS)
def writer(request):
    return WRITERS[request.param]


@pytest.fixture
def private_umask():
    before = os.umask(0o077)
    yield
    os.umask(before)


@POSIX
@pytest.mark.usefixtures("private_umask")
def test_pages_were_readable_by_all_whatever_the_umask(writer, tmp_path):
    path = tmp_path / "new.png"
    writer(path)
    assert mode_of(path) == 0o600


@POSIX
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_replaced_file_lost_its_permissions(writer, mode, tmp_path):
    path = tmp_path / "old.png"
    path.write_text("old")
    path.chmod(mode)
    writer(path)
    assert path.read_bytes() != b"old"
    assert mode_of(path) == mode
    assert os.listdir(tmp_path) == ["old.png"]


@POSIX
def test_a_link_was_replaced_by_a_file(writer, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link, real = tmp_path / "link.png", tmp_path / "elsewhere" / "real.png"
    link.symlink_to(real)
    writer(link)  # the link may lead nowhere yet
    assert link.is_symlink()
    real.write_text("old")
    writer(link)
    assert link.is_symlink()
    assert real.read_bytes() != b"old"
    assert os.listdir(tmp_path / "elsewhere") == ["real.png"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_writer_left_half_a_file(writer, step, tmp_path, monkeypatch):
    path = tmp_path / "old.png"
    path.write_text("old")

    def fail(*_):
        raise OSError(28, "no space")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="no space"):
        writer(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["old.png"]


@POSIX
@pytest.mark.usefixtures("private_umask")
def test_a_paper_report_left_half_a_file(tmp_path, monkeypatch):
    report = reproduce(Options(only=["iris", "otd"], seeds=1, out=tmp_path / "runs"))
    path = tmp_path / "report.md"
    path.write_text("old")
    path.chmod(0o640)
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write(report, tmp_path)
        with pytest.raises(ZeroDivisionError):
            Store(tmp_path / "store").put(Result(Run("iris", 150, "otd", "file"), "done"))
    assert path.read_text() == "old"
    assert [file for file in tmp_path.rglob("*") if ".tmp" in file.name] == []
    write(report, tmp_path)
    assert mode_of(path) == 0o640


@POSIX
def test_a_strange_group_does_not_get_what_another_was_allowed(tmp_path, monkeypatch):
    path = tmp_path / "old"
    path.write_text("old")
    path.chmod(0o2764)

    class Found:
        st_mode, st_uid, st_gid = os.stat(path).st_mode, os.getuid(), os.getgid() + 1

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "chown", refuse)
    writing._hand_on(Found, path)
    assert mode_of(path) == 0o744


def test_a_draft_keeps_the_ending_unless_it_is_none(tmp_path):
    with whole_file(tmp_path / "a.PNG") as lent:
        assert lent.suffix == ".PNG"
        assert lent.parent == tmp_path
    name = "a." + "b" * 240
    write_whole(tmp_path / name, b"x")
    assert sorted(os.listdir(tmp_path)) == sorted(["a.PNG", name])


def test_a_library_that_puts_a_file_in_place_of_the_draft(tmp_path):
    with whole_file(tmp_path / "a") as lent:
        (tmp_path / "b").write_text("new")
        os.replace(tmp_path / "b", lent)
    assert (tmp_path / "a").read_text() == "new"


@POSIX
def test_a_pipe_is_written_to_and_stays_a_pipe():
    code = "from ramify.writing import write_whole; write_whole('/dev/stdout', 'through')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("through", "")


# --- drafts of the dead -----------------------------------------------------------------

KILLED = """
import os, signal, sys
import ramify

os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
ramify.OHAC().fit([[0.0], [1.0]]).save(sys.argv[1])
"""
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux names its boots")


def draft_names(folder):
    return [name for name in os.listdir(folder) if name.startswith(".ramify-")]


@LINUX
def test_a_killed_process_left_its_draft_for_ever(writer, tmp_path):
    run = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "model")])
    assert run.returncode == -signal.SIGKILL
    assert len(draft_names(tmp_path)) == 1
    writer(tmp_path / "other.png")
    assert draft_names(tmp_path) == []


WAITING = """
import sys
from ramify.writing import whole_file

with whole_file(sys.argv[1]) as lent:
    lent.write_text("late")
    print("ready", flush=True)
    sys.stdin.read()
"""


@LINUX
def test_the_drafts_of_the_living_stay(tmp_path):
    command = [sys.executable, "-c", WAITING, str(tmp_path / "a")]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other,
        whole_file(tmp_path / "b") as lent,
    ):
        assert other.stdout.readline() == b"ready\n"
        write_whole(tmp_path / "c", "quick")
        lent.write_text("mine")
        other.communicate()
    for name, text in {"a": "late", "b": "mine", "c": "quick"}.items():
        assert (tmp_path / name).read_text() == text
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


@LINUX
def test_what_is_not_surely_dead_stays(tmp_path):
    boot = writing._this_boot()
    other_host = tmp_path / f".ramify-{'0' * len(boot)}-0123.tmp"
    other_host.touch()
    mine = tmp_path / "notes"
    mine.write_text("mine")
    (tmp_path / f".ramify-{boot}-link.tmp").symlink_to(mine)
    os.mkfifo(tmp_path / f".ramify-{boot}-pipe.tmp")
    (tmp_path / f".ramify-{boot}-folder.tmp").mkdir()
    before = sorted(os.listdir(tmp_path))
    write_whole(tmp_path / "new", "new")
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "new"])
    assert mine.read_text() == "mine"


@LINUX
def test_a_draft_taken_for_dead_before_it_was_locked_is_made_anew(tmp_path, monkeypatch):
    lock, taken = writing._lock, []

    def late(handle):
        if not taken:
            (name,) = draft_names(tmp_path)
            taken.append(name)
            writing._clear_dead(Path(tmp_path))
            assert draft_names(tmp_path) == []
        return lock(handle)

    monkeypatch.setattr(writing, "_lock", late)
    write_whole(tmp_path / "a", "whole")
    assert (tmp_path / "a").read_text() == "whole"
    assert os.listdir(tmp_path) == ["a"]
