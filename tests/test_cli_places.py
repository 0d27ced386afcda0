"""Where the command writes: never over what it reads, nor over another command's work."""

import json
import subprocess
import time
from pathlib import Path

import pytest

import ramify
from ramify.cli import _growing
from tests.commands import done, fails, files, start
from tests.commands import ramify as run
from tests.flowers import FEATURES, write

# --- what is read is not written over ------------------------------------------------


def other_names(file: Path) -> list[Path]:
    """The same file by a link, a hard link, and the long way round."""
    folder = file.parent
    link, hard = folder / f"link{file.suffix}", folder / f"hard{file.suffix}"
    link.symlink_to(file)
    hard.hardlink_to(file)
    (folder / "sub").mkdir()
    return [file, link, hard, folder / "sub" / ".." / file.name]


def test_an_output_that_was_its_own_input_destroyed_it(tree, tmp_path):
    data = write(tmp_path / "rows.csv")
    more = ("--id-column", "name", "-q")
    for out in other_names(data):
        before = data.read_bytes()
        assert "it is DATA itself" in fails("fit", data, "-o", out, *more)
        assert "it is DATA itself" in fails("update", tree, data, "-o", out, *more)
        assert "it is DATA itself" in fails("assign", tree, data, "-o", out, "-q")
        assert data.read_bytes() == before


@pytest.mark.parametrize("ending", [".csv", ".png", ".html", ".npy"])
def test_an_output_that_was_its_own_tree_destroyed_it(ending, tree, flowers, tmp_path):
    (tmp_path / "folder").mkdir()
    odd = tree.rename(tmp_path / "folder" / f"tree{ending}")
    verbs = {
        ".csv": [("cut", odd, "-k", 2), ("assign", odd, flowers, "--path-depth", 0)],
        ".png": [("plot", odd)],
        ".html": [("plot", odd)],
        ".npy": [("export", odd, "--to", "newick"), ("export", odd)],
    }
    for out in other_names(odd):
        for words in verbs[ending]:
            assert "it is the tree itself" in fails(*words, "-o", out, "-q")
    assert len(ramify.load(odd)) == 150


def test_a_tree_under_another_name_is_not_replaced_by_its_update(tree, flowers, tmp_path):
    (tmp_path / "hard").hardlink_to(tree)
    assert "it is the tree itself" in fails("update", tree, flowers, "-o", tmp_path / "hard")
    (tmp_path / "link").symlink_to(tree)
    (tmp_path / "more.csv").write_text("name,a,b,c,d,species\nnew,1,2,3,4,setosa\n")
    words = ("-o", tmp_path / "link", "--id-column", "name", "-q")
    done("update", tree, tmp_path / "more.csv", *words)
    assert len(ramify.load(tree)) == 151, "a link is the tree's own name"


def test_the_place_of_labels_was_written_over(tree, flowers, tmp_path):
    beside = tmp_path / "tree.ramify.labels.csv"
    before = beside.read_bytes()
    for words in (
        ("cut", tree, "-k", 3),
        ("assign", tree, flowers),
        ("export", tree, "--to", "newick"),
        ("update", tree, flowers, "--id-column", "name"),
    ):
        assert "where the labels of" in fails(*words, "-o", beside, "-q")
    assert beside.read_bytes() == before
    sentence = fails("fit", beside, "-o", tree, "--columns", "0", "-q")
    assert f"cannot write {beside}: it is DATA itself" in sentence
    odd = tree.rename(tmp_path / "new.labels.csv")
    assert "where labels are kept" in fails("update", odd, flowers, "-o", tmp_path / "new", "-q")


def test_standard_input_was_its_own_output(tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("1,2\n3,4\n")
    with data.open("rb") as stdin:
        fit = start("fit", "-", "-o", data, "-q", stdin=stdin, stderr=subprocess.PIPE)
        _, err = fit.communicate(timeout=60)
    assert fit.returncode == 1
    assert b"it is DATA itself" in err
    assert data.read_text() == "1,2\n3,4\n"


# --- labels that are kept -----------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["precious\n", "", "a,b\n1,2\n", "\x00\xff", "row,label,x\n1,2,3\n"]
)
def test_fit_removed_a_file_that_was_not_its_own(text, flowers, tmp_path):
    theirs = tmp_path / "t.labels.csv"
    theirs.write_text(text, encoding="latin-1")
    done("fit", flowers, "-o", tmp_path / "t", "-q")
    assert theirs.read_text(encoding="latin-1") == text
    answer = done("evaluate", tmp_path / "t", "--json")
    assert "classes" not in answer.json()
    assert "t.labels.csv: not labels that ramify keeps" in answer.err
    words = ("--label-column", "species", "-q")
    sentence = fails("fit", flowers, "-o", tmp_path / "t", *words)
    assert "t.labels.csv, which is there and was not written by ramify" in sentence
    assert theirs.read_text(encoding="latin-1") == text


def old_labels(tree: Path) -> Path:
    """Labels as they were kept before they had a mark."""
    beside = tree.with_name(f"{tree.name}.labels.csv")
    rows = [line.rsplit(",", 1)[0] for line in beside.read_text().splitlines()]
    beside.write_text("\n".join(rows) + "\n")
    assert beside.read_text().startswith("id,label\n")
    return beside


def test_labels_without_a_mark_are_read_and_never_removed(tree, flowers, tmp_path):
    beside = old_labels(tree)
    before = beside.read_text()
    assert done("evaluate", tree, "--json").json()["classes"] == 3
    assert "would be taken for the labels of" in fails("fit", flowers, "-o", tree, "-q")
    (tmp_path / "more.csv").write_text("name,a,b,c,d,kind\nnew,1,2,3,4,setosa\n")
    words = ("update", tree, tmp_path / "more.csv", "--id-column", "name", "-q")
    assert "name the column of labels in DATA with --label-column" in fails(*words)
    assert "has no mark that ramify wrote it" in fails(*words, "--drop-labels")
    assert beside.read_text() == before
    done(*words, "--label-column", "kind")
    assert done("evaluate", tree, "--json").json()["points"] == 151


def test_update_without_labels_made_evaluate_fail(tree, tmp_path):
    more, less = tmp_path / "more.csv", tmp_path / "less.csv"
    more.write_text("name,a,b,c,d,species\nnew,1,2,3,4,unknown\n")
    less.write_text("name,a,b,c,d\nnewer,1,2,3,4\n")
    done("update", tree, more, "--id-column", "name", "-q")
    facts = done("evaluate", tree, "--json").json()
    assert (facts["points"], facts["classes"]) == (151, 4), "the column was remembered"
    words = ("update", tree, less, "--id-column", "name", "-q")
    sentence = fails(*words)
    assert "no column 'species'; it has name, a, b, c, d; the labels of" in sentence
    assert "or give them up with --drop-labels" in sentence
    assert len(ramify.load(tree)) == 151
    assert "one of the two" in fails(*words, "--drop-labels", "--label-column", "a", code=2)
    done(*words, "--drop-labels")
    facts = done("evaluate", tree, "--json").json()
    assert facts["points"] == 152
    assert "classes" not in facts
    assert not (tmp_path / "tree.ramify.labels.csv").exists()


def test_labels_of_a_field_of_json_are_remembered(tmp_path):
    for name, rows in (("1.jsonl", [[0, 0], [1, 1]]), ("2.jsonl", [[5, 5]])):
        lines = [json.dumps({"v": row, "kind": f"k{row[0]}"}) for row in rows]
        (tmp_path / name).write_text("\n".join(lines))
    (tmp_path / "3.jsonl").write_text('{"v": [1, 2]}')
    tree = tmp_path / "t"
    done("fit", tmp_path / "1.jsonl", "-o", tree, "--label-column", "kind", "-q")
    done("update", tree, tmp_path / "2.jsonl", "-q")
    assert done("evaluate", tree, "--json").json()["classes"] == 3
    assert "no field 'kind'; it has v; the labels of" in fails("update", tree, tmp_path / "3.jsonl")


def test_labels_of_other_points_are_not_believed(tree, flowers, tmp_path):
    model = ramify.load(tree)
    model.insert(dict(zip(FEATURES, [1.0, 2.0, 3.0, 4.0], strict=True)), id="new")
    model.save(tree)
    assert "holds labels of other points than" in fails("evaluate", tree)
    assert "holds labels of other points than" in fails(
        "update", tree, flowers, "--id-column", "name"
    )
    again = ramify.OTD().fit(ramify.load(tree).points(), ids=model.ids_.tolist())
    again.save(tree)
    assert "holds labels of other points than" in fails("evaluate", tree)


def test_another_tree_of_the_same_points_has_the_same_labels(tree):
    model = ramify.load(tree)
    ramify.OTD().fit(model.points(), ids=model.ids_.tolist()).save(tree)
    assert done("evaluate", tree, "--json").json()["classes"] == 3


# --- one writer at a time -----------------------------------------------------------


def wait_for_lock(lock: Path) -> None:
    """Until somebody holds it, and has signed it."""
    until = time.monotonic() + 60
    while not (lock.exists() and lock.read_text()):
        assert time.monotonic() < until
        time.sleep(0.02)


def meanwhile(monkeypatch, save) -> None:
    """Let somebody save a tree, without asking for a lock, while a command grows its own."""
    grow = _growing.Growth._grow

    def grow_and_be_overtaken(self):
        grow(self)
        save()

    monkeypatch.setattr(_growing.Growth, "_grow", grow_and_be_overtaken)


@pytest.fixture
def slow_update(tmp_path):
    """A tree of three points, and an update of it that waits for rows."""
    (tmp_path / "d.csv").write_text("1,2\n3,4\n5,6\n")
    tree = tmp_path / "t"
    done("fit", tmp_path / "d.csv", "-o", tree, "-q")
    pipe = subprocess.PIPE
    update = start("update", tree, "-", "-q", stdin=pipe, stderr=pipe)
    wait_for_lock(tmp_path / ".t.ramify-lock")
    yield tree, update
    update.kill()
    update.communicate()


@pytest.mark.no_asan
def test_of_two_updates_at_once_one_was_lost(slow_update, tmp_path):
    tree, first = slow_update
    second = start("update", tree, tmp_path / "d.csv", stderr=subprocess.PIPE)
    assert b"waiting for another ramify (process" in second.stderr.readline()
    _, err = first.communicate(b"7,8\n9,10\n", timeout=60)
    assert (first.returncode, err) == (0, b"")
    _, err = second.communicate(timeout=60)
    assert second.returncode == 0, err
    assert len(ramify.load(tree)) == 3 + 2 + 3
    assert files(tmp_path) == ["d.csv", "t"], "no lock is left"


@pytest.mark.no_asan
def test_fit_over_a_tree_that_was_being_updated(slow_update, tmp_path):
    tree, update = slow_update
    sentence = fails("fit", tmp_path / "d.csv", "-o", tree)
    assert f"is being written by another ramify (process {update.pid})" in sentence
    other = tmp_path / "other"
    done("fit", tmp_path / "d.csv", "-o", other, "-q")
    assert "is being written by" in fails("update", other, tmp_path / "d.csv", "-o", tree)
    update.communicate(b"7,8\n", timeout=60)
    assert len(ramify.load(tree)) == 4


@pytest.mark.parametrize("labelled", [True, False])
def test_a_tree_that_somebody_else_saved_meanwhile_was_written_over(
    labelled, tmp_path, monkeypatch
):
    """Python asks for no lock: both trees are kept, in two files."""
    (tmp_path / "d.csv").write_text("x,y,kind\n1,2,a\n3,4,b\n")
    tree, other = tmp_path / "t.ramify", tmp_path / "t-2.ramify"
    words = ("--label-column", "kind") if labelled else ("--columns", "x,y")
    done("fit", tmp_path / "d.csv", "-o", tree, *words, "-q")
    meanwhile(monkeypatch, lambda: ramify.OHAC().fit([[0.0, 0.0]]).save(tree))
    answer = run("update", tree, "-", "-q", stdin="x,y,kind\n7,8,c\n")
    assert answer.code == 1
    assert f"{tree} was written by another program meanwhile and stays" in answer.err
    assert f"this tree is in {other}" in answer.err
    assert (len(ramify.load(tree)), len(ramify.load(other))) == (1, 3)
    if labelled:
        assert done("evaluate", other, "--json").json()["classes"] == 3


def test_two_fits_of_one_name_at_once_lost_one(tmp_path, monkeypatch):
    """The other one had not begun when this one looked, and has ended before it."""
    (tmp_path / "d.csv").write_text("1,2\n3,4\n")
    tree, other = tmp_path / "t", tmp_path / "t-2"
    meanwhile(monkeypatch, lambda: ramify.OHAC().fit([[0.0, 0.0]]).save(tree))
    answer = run("fit", tmp_path / "d.csv", "-o", tree, "-q")
    assert answer.code == 1
    assert f"this tree is in {other}" in answer.err
    assert (len(ramify.load(tree)), len(ramify.load(other))) == (1, 2)


def test_a_lock_that_a_killed_command_left_is_no_lock(flowers, tmp_path):
    (tmp_path / ".t.ramify-lock").write_text("12345")
    done("fit", flowers, "-o", tmp_path / "t", "-q")
    assert files(tmp_path) == ["flowers.csv", "t"]


def test_a_lock_is_never_written_through_a_link(flowers, tmp_path):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / ".t.ramify-lock").symlink_to("precious")
    fails("fit", flowers, "-o", tmp_path / "t", "-q")
    assert (tmp_path / "precious").read_text() == "precious"
