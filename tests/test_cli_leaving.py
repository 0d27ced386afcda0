"""Points that leave, weigh and repeat, from the command line: by real files, beside Python."""

import json
import re
import subprocess
from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ramify
from ramify.cli import _progress
from ramify.estimators import _live_growing
from ramify.files import open_table
from tests.commands import done, fails, files, start
from tests.test_cli_places import slow_update  # noqa: F401 - a fixture

RNG = np.random.default_rng(12)
N = 60
X = RNG.normal(size=(N, 3))
DAYS = np.datetime64("2026-01-01") + np.sort(RNG.integers(0, 40, N)).astype("timedelta64[D]")
DAYS[[10, 20, 30, 45]] = DAYS[0]  # late arrivals
WEIGHTS = RNG.integers(1, 5, N)
IDS = [f"T{i}" for i in range(N)]
KINDS = [f"kind {i % 4}" for i in range(N)]


def write(path: Path, part: slice = slice(None)) -> Path:
    """Tickets with everything beside their numbers."""
    days = DAYS[part]
    if path.suffix == ".npz":
        table = {"id": np.array(IDS[part]), "n": WEIGHTS[part], "day": days}
        np.savez(path, X=X[part], **table)
        return path
    text = path.suffix in (".csv", ".jsonl")
    with open_table(path, ["id", "x", "y", "z", "n", "day", "kind"]) as table:
        dates = days.astype(str).tolist() if text else pa.array(days)
        table.write(IDS[part], *X[part].T, WEIGHTS[part], dates, KINDS[part])
    return path


def expected(part: slice = slice(None), **options) -> ramify.OHAC:
    """The same from Python."""
    model = ramify.OHAC(keep=ramify.Younger(timedelta(days=9)), **options)
    return model.fit(X[part], None, WEIGHTS[part], ids=IDS[part], times=DAYS[part])


ALONG = ("--id-column", "id", "--weights", "n", "--time-column", "day")


# --- fit and update ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "feather", "npz"])
@pytest.mark.parametrize("batch", [7, 1000])
def test_fit_gives_the_tree_that_python_gives(kind, batch, tmp_path):
    file, out = write(tmp_path / f"x.{kind}"), tmp_path / "t"
    words = ("--max-age", "9d", "--batch-size", batch)
    facts = done("fit", file, "-o", out, *ALONG, *words, "--json").json()
    model, python = ramify.load(out), expected()
    assert model.hierarchy() == python.hierarchy()
    assert model.ids_.tolist() == python.ids_.tolist()
    assert model.keep == ramify.Younger(timedelta(days=9))
    assert facts["points"] == len(python) < N
    assert facts["late"] == python.past.n_late > 0
    assert facts["inserted"] == N - facts["late"]


@pytest.mark.parametrize("algorithm", ["ohac", "otd", "naive-nn", "perch"])
def test_update_goes_on_with_a_window_that_the_tree_remembers(algorithm, tmp_path):
    np.save(tmp_path / "1.npy", X[:25])
    np.save(tmp_path / "2.npy", X[25:])
    out = tmp_path / "t"
    done("fit", tmp_path / "1.npy", "-o", out, "--algorithm", algorithm, "--window", 20)
    done("update", out, tmp_path / "2.npy", "--save-every", 7)
    model = ramify.load(out)
    kind = type(model)
    assert model.hierarchy() == kind(keep=ramify.Last(20)).fit(X).hierarchy()
    assert model.point_numbers_.tolist() == list(range(N - 20, N))
    done("update", out, "-", "--window", 5, "-q", stdin="1,2,3\n")
    assert ramify.load(out).point_numbers_.tolist() == list(range(N - 4, N + 1))
    assert ramify.load(out).keep == ramify.Last(5)


def test_update_goes_on_with_an_age(tmp_path):
    first, second = (
        write(tmp_path / "1.csv", slice(35)),
        write(tmp_path / "2.parquet", slice(35, N)),
    )
    out = tmp_path / "t"
    done("fit", first, "-o", out, *ALONG, "--max-age", "9d", "--columns", "x,y,z", "-q")
    assert "needs --time-column" in fails("update", out, second, "--id-column", "id", code=2)
    done("update", out, second, *ALONG, "-q")
    assert ramify.load(out).hierarchy() == expected().hierarchy()


def test_ages_that_are_numbers(tmp_path):
    rows = "x,when\n0,1\n1,2.5\n5,3\n6,9\n"
    done("fit", "-", "-o", tmp_path / "t", "--max-age", 6.5, "--time-column", "when", stdin=rows)
    model = ramify.load(tmp_path / "t")
    assert model.points().ravel().tolist() == [1, 5, 6]
    assert model.keep == ramify.Younger(6.5)
    sentence = fails(
        "update", tmp_path / "t", "-", "--time-column", "when", stdin="x,when\n1,May\n"
    )
    assert "line 2 has the time 'May': expected a number, as the max age is one" in sentence


def test_dates_of_other_zones_and_forms(tmp_path):
    rows = "x,when\n0,2026-03-01T00:30:00+02:00\n1,2026-02-28 22:30\n2,2026-03-01T12:00:00Z\n"
    words = ("--max-age", "13.5h", "--time-column", "when")
    done("fit", "-", "-o", tmp_path / "t", *words, stdin=rows)
    assert len(ramify.load(tmp_path / "t")) == 3  # the first two are of one moment
    done("update", tmp_path / "t", "-", *words[2:], stdin="x,when\n3,2026-03-01T12:00:01Z\n")
    assert ramify.load(tmp_path / "t").points().ravel().tolist() == [2, 3]


def test_weights_and_times_that_make_no_sense_are_bad_rows(tmp_path):
    rows = ["x,n,when"]
    rows += [f"{i},1,2026-01-{i + 1:02}" for i in range(9)]
    rows += ["9,-1,2026-01-10", "9,much,2026-01-10", "9,nan,2026-01-10"]
    rows += ["9,1,soon", "9,,2026-01-10"]
    rows += ["10,2.5,2026-01-11"]
    words = ("--weights", "n", "--time-column", "when", "--max-age", "1w")
    out, bad = tmp_path / "t", tmp_path / "bad.csv"
    text = "\n".join(rows)
    facts = done("fit", "-", "-o", out, *words, "--bad-rows", bad, "--json", stdin=text).json()
    assert (facts["inserted"], facts["bad_rows"]) == (10, 5)
    reasons = bad.read_text()
    assert "line 11 has the weight '-1': expected a number from 0" in reasons
    assert "line 14 has the time 'soon': expected a date" in reasons
    assert "column 'n': the cell is empty" in reasons
    assert ramify.load(out).hierarchy().weights[-1] == 6 + 2.5
    sentence = fails("fit", "-", "-o", tmp_path / "u", *words, stdin=text)
    assert "line 11 has the weight '-1'" in sentence
    assert "9 rows are in" in sentence
    assert "go on from line 11" in sentence


@pytest.mark.parametrize("algorithm", ["hac", "naive-hac"])
def test_trees_of_all_rows_have_weights(algorithm, tmp_path):
    file = write(tmp_path / "x.parquet")
    words = ("--columns", "x,y,z", "--weights", "n", "--algorithm", algorithm)
    done("fit", file, "-o", tmp_path / "t", *words, "-q")
    python = ramify.HAC().fit(X, sample_weight=WEIGHTS)
    assert ramify.load(tmp_path / "t").hierarchy() == python.hierarchy()


def test_a_shuffled_file_keeps_weights_with_their_rows(tmp_path):
    file = write(tmp_path / "x.csv")
    words = ("--columns", "x,y,z", "--weights", "n", "--id-column", "id", "--shuffle")
    done("fit", file, "-o", tmp_path / "t", *words, "-q")
    tree = ramify.load(tmp_path / "t").hierarchy()
    weights = dict(zip(tree.names.tolist(), tree.weights[:N].tolist(), strict=True))
    assert weights == dict(zip(IDS, WEIGHTS.tolist(), strict=True))


def test_repeats_are_counted_and_every_point_has_a_label(tmp_path):
    np.save(tmp_path / "x.npy", np.concatenate([X, X[:20]]))
    out = tmp_path / "t"
    done("fit", tmp_path / "x.npy", "-o", out, "--duplicates", "count", "-q")
    assert "160 points in 60 leaves" in done("update", out, tmp_path / "x.npy").err
    model = ramify.load(out)
    assert done("info", out, "--depth", "--json").json()["points"] == 160
    assert (len(model), model.n_points_) == (N, 160)
    done("cut", out, "-k", 4, "-o", tmp_path / "labels.csv")
    table = np.loadtxt(tmp_path / "labels.csv", delimiter=",", skiprows=1, dtype=int)
    assert table[:, 0].tolist() == list(range(160))
    model.n_clusters = 4
    assert table[:, 1].tolist() == model.labels_.tolist()
    assert done("cut", out, "-k", 4, "-o", tmp_path / "l.csv", "--json").json()["points"] == 160


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--window", "0"], "--window"),
        (
            ["--max-age", "3x", "--time-column", "day"],
            "--max-age 3x: expected a number above 0, or",
        ),
        (["--max-age", "0", "--time-column", "day"], "--max-age 0: expected a number above 0, or"),
        (["--max-age", "3d"], "--max-age needs --time-column"),
        (["--time-column", "day"], "--time-column goes with --max-age"),
        (["--algorithm", "birch", "--window", "3"], "birch has no window"),
        (["--algorithm", "hac", "--max-age", "3", "--time-column", "n"], "hac has no max_age"),
        (["--algorithm", "grinch", "--weights", "n"], "trees of GRINCH have no weights"),
        (["--duplicates", "count", "--label-column", "kind"], "one of the two: a leaf that stands"),
        (["--duplicates", "drop"], "'drop' is not one of"),
    ],
)
def test_called_wrongly(words, sentence, tmp_path):
    file = write(tmp_path / "x.csv")
    assert sentence in fails("fit", file, "-o", tmp_path / "t", *words, code=2)
    assert files(tmp_path) == ["x.csv"]


def test_a_budget_of_leaves_and_a_label_for_every_point(tmp_path):
    rows = np.random.default_rng(8).normal(size=(200, 2))
    np.save(tmp_path / "rows.npy", rows)
    tree = tmp_path / "tree.ramify"
    done("fit", tmp_path / "rows.npy", "-o", tree, "--max-leaves", 30)
    facts = done("info", tree, "--json").json()
    assert (facts["leaves"], facts["max_leaves"]) == (30, 30)
    done("update", tree, tmp_path / "rows.npy")
    model = ramify.load(tree)
    assert (len(model), model.n_points_) == (30, 400)
    lines = done("cut", tree, "-k", 4).out.splitlines()[1:]
    model.n_clusters = 4
    assert [int(line.split(",")[1]) for line in lines] == model.labels_.tolist()


def test_update_refuses_limits_that_its_tree_cannot_have(tmp_path):
    file = write(tmp_path / "x.csv")
    done("fit", file, "-o", tmp_path / "t", "--columns", "x,y,z", "-q")
    words = ("--time-column", "day", "--max-age", "3d")
    assert "leaving by age is new to this stream" in fails("update", tmp_path / "t", file, *words)
    done("fit", file, "-o", tmp_path / "b", "--columns", "x,y,z", "--algorithm", "birch", "-q")
    assert "birch has no window" in fails("update", tmp_path / "b", file, "--window", 3, code=2)


def test_an_interrupted_batch_goes_on_from_the_row_after_late_ones(tmp_path, monkeypatch):
    """Late rows are no points, so the number of points says nothing about lines."""
    file, out = write(tmp_path / "x.csv"), tmp_path / "t"
    pulse = _progress.Meter.pulse

    def interrupt(self, done, total):
        pulse(self, done, total)
        if done >= 24:
            monkeypatch.setattr(_progress.Meter, "pulse", pulse)
            raise KeyboardInterrupt

    monkeypatch.setattr(_live_growing, "_STRETCH", 8)  # a pulse for each
    monkeypatch.setattr(_progress.Meter, "pulse", interrupt)
    words = (*ALONG, "--max-age", "9d", "--columns", "x,y,z")
    answer = fails("fit", file, "-o", out, *words, "--save-on-interrupt", code=130)
    line = answer.rsplit("--from-line ", 1)[1]
    done("update", out, file, *ALONG, "--from-line", line, "-q")
    assert ramify.load(out).hierarchy() == expected().hierarchy()


def test_an_array_field_with_a_weight_and_a_time_beside_it(tmp_path):
    rows = [{"v": row, "n": 2, "at": i} for i, row in enumerate(X[:9].tolist())]
    words = ("--weights", "n", "--time-column", "at", "--max-age", 4)
    out = tmp_path / "t"
    done("fit", "-", "-o", out, *words, "-q", stdin="\n".join(map(json.dumps, rows)))
    assert ramify.load(out).points().tolist() == X[4:9].tolist()
    assert ramify.load(out).hierarchy().weights[-1] == 10
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    done("fit", tmp_path / "x.parquet", "-o", tmp_path / "u", *words, "-q")
    assert ramify.load(tmp_path / "u").hierarchy() == ramify.load(out).hierarchy()


# --- labels, numbers, readers -----------------------------------------------------


def test_labels_stay_in_step_with_points_that_leave(tmp_path):
    first, second = write(tmp_path / "1.csv", slice(35)), write(tmp_path / "2.csv", slice(35, N))
    out = tmp_path / "t"
    words = ("--label-column", "kind", "--columns", "x,y,z")
    done("fit", first, "-o", out, *ALONG, "--max-age", "9d", *words, "-q")
    done("update", out, second, *ALONG, "-q")
    model = ramify.load(out)
    beside = (tmp_path / "t.labels.csv").read_text().splitlines()[1:]
    kind = dict(zip(IDS, KINDS, strict=True))
    assert beside == [f"{one},{kind[one]}," for one in model.ids_]
    done("forget", out, model.ids_[3], "-q")
    assert len((tmp_path / "t.labels.csv").read_text().splitlines()) == len(model)
    assert done("evaluate", out, "--json").json()["classes"] == 4


def test_labels_of_a_long_stream_do_not_pile_up(tmp_path):
    rows = "\n".join(["x,kind", *(f"{i % 97},{i}" for i in range(5000))])
    words = ("--window", 10, "--label-column", "kind", "--batch-size", 100)
    done("fit", "-", "-o", tmp_path / "t", *words, "-q", stdin=rows)
    beside = (tmp_path / "t.labels.csv").read_text().splitlines()[1:]
    assert beside == [f"{i},{i}," for i in range(4990, 5000)]


def test_numbers_of_points_are_not_places_in_the_tree(tmp_path):
    """cut and assign took the number of a point for its place among those that are there."""
    np.save(tmp_path / "x.npy", X)
    done("fit", tmp_path / "x.npy", "-o", tmp_path / "t", "--window", 9, "-q")
    model = ramify.load(tmp_path / "t")
    newick = done("export", tmp_path / "t", "--to", "newick").out
    assert sorted(map(int, re.findall(r"[(,](\d+):", newick))) == list(range(N - 9, N))
    lines = done("assign", tmp_path / "t", tmp_path / "x.npy", "-k", 3, "--to", "jsonl").out
    answers = [json.loads(line) for line in lines.splitlines()]
    model.n_clusters = 3
    assert [one["cluster"] for one in answers] == model.predict(X).tolist()
    assert {one["nearest"] for one in answers} <= set(range(N - 9, N))
    code = {n: model.hierarchy().path_code(i) for i, n in enumerate(model.point_numbers_)}
    assert [one["path"] for one in answers] == [code[one["nearest"]] for one in answers]


def test_points_named_by_their_rows_go_on_after_some_were_forgotten(tmp_path):
    np.save(tmp_path / "x.npy", X)
    out = tmp_path / "t"
    done("fit", tmp_path / "x.npy", "-o", out, "--shuffle", "-q")
    done("forget", out, 0, 59, "-q")
    answer = done("update", out, "-", stdin="1,2,3\n")
    assert "new points are called 60 and so on" in answer.err
    ids = ramify.load(out).ids_.tolist()
    assert sorted(ids) == [*range(1, 59), 60]


def test_info_says_what_a_tree_keeps(tmp_path):
    file = write(tmp_path / "x.csv")
    words = ("--max-age", "36h", "--window", 50, "--duplicates", "count", "--columns", "x,y,z")
    done("fit", file, "-o", tmp_path / "t", *words, *ALONG, "-q")
    facts = done("info", tmp_path / "t", "--json").json()
    assert (facts["window"], facts["max_age"], facts["duplicates"]) == (50, "36h", "count")
    assert facts["leaves"] == len(ramify.load(tmp_path / "t"))
    text = done("info", tmp_path / "t", "--depth").out
    assert "max age      36h" in text
    weight = int(ramify.load(tmp_path / "t").hierarchy().weights[-1])
    assert f"weight       {weight}\n" in text


# --- forget -----------------------------------------------------------------------


@pytest.mark.parametrize("way", ["words", "file", "pipe"])
def test_forget_gives_the_tree_that_python_gives(way, tree, tmp_path):
    gone = ["flower-3", "flower-77", "flower-149"]
    before = ramify.load(tree)
    before.forget(gone)
    lines = "\r\n".join([*gone, "", gone[0]])
    (tmp_path / "gone.txt").write_bytes(lines.encode())
    words = {"words": gone, "file": ["--ids-from", tmp_path / "gone.txt"]}
    facts = done("forget", tree, *words.get(way, ["--ids-from", "-"]), "--json", stdin=lines).json()
    model = ramify.load(tree)
    assert model.hierarchy() == before.hierarchy()
    assert model.feature_names_in_.tolist() == list("abcd")
    assert (facts["forgotten"], facts["missing"], facts["points"]) == (3, 0, 147)
    for path in tmp_path.iterdir():
        gone_from_it = path.suffix in (".ramify", ".labels") or "labels" in path.name
        assert not gone_from_it or b"flower-77\n" not in path.read_bytes()
        assert not gone_from_it or b"flower-77," not in path.read_bytes()


def test_forget_all_or_nothing(tree, tmp_path):
    before = tree.read_bytes()
    sentence = fails("forget", tree, "flower-3", "rose", "tulip")
    assert "no point has the id 'rose' (and 1 more); nothing was forgotten" in sentence
    assert tree.read_bytes() == before
    assert "1 were not there" in done("forget", tree, "flower-3", "rose", "--missing-ok").err
    assert len(ramify.load(tree)) == 149
    stays = tree.read_bytes()
    assert done("forget", tree, "rose", "--missing-ok", "--json").json()["forgotten"] == 0
    assert tree.read_bytes() == stays


def test_forget_into_another_file(tree, tmp_path):
    before, other = tree.read_bytes(), tmp_path / "other.ramify"
    done("forget", tree, "flower-3", "-o", other, "-q")
    assert tree.read_bytes() == before
    assert len(ramify.load(other)) == 149
    assert done("evaluate", other, "--json").json()["classes"] == 3
    assert "where the labels of" in fails(
        "forget", tree, "flower-4", "-o", tmp_path / "tree.ramify.labels.csv"
    )


def test_forget_by_number_where_there_are_no_ids(tmp_path):
    done("fit", "-", "-o", tmp_path / "t", "-q", stdin="1,2\n3,4\n9,9\n")
    assert "there is no point 'x'" in fails("forget", tmp_path / "t", "x")
    assert "there is no point 3" in fails("forget", tmp_path / "t", 3)
    done("forget", tmp_path / "t", 1, "-q")
    assert ramify.load(tmp_path / "t").point_numbers_.tolist() == [0, 2]
    assert "these are all of its points" in fails("forget", tmp_path / "t", 0, 2)
    assert done("cut", tmp_path / "t", "-k", 2).out == "row,label\n0,0\n2,1\n"


def test_forget_called_wrongly(tree, tmp_path):
    assert "give ids, or --ids-from" in fails("forget", tree, code=2)
    assert "give ids, or --ids-from" in fails("forget", tree, "a", "--ids-from", "-", code=2)
    assert "No such file" in fails("forget", tree, "--ids-from", tmp_path / "nothing")
    (tmp_path / "x").write_bytes(b"\xff\n")
    assert "utf-8" in fails("forget", tree, "--ids-from", tmp_path / "x")
    done("fit", "-", "-o", tmp_path / "b", "--algorithm", "birch", "-q", stdin="1,2\n3,4\n")
    assert "trees of BIRCH only grow" in fails("forget", tmp_path / "b", 0)


def test_labels_without_a_mark_would_not_fit_any_more(tree, tmp_path):
    beside = tmp_path / "tree.ramify.labels.csv"
    lines = beside.read_text().splitlines()
    rows = [line.rsplit(",", 1)[0] for line in lines[1:]]
    beside.write_text("\n".join(["id,label", *rows]) + "\n")
    assert "has no mark that ramify wrote it" in fails("forget", tree, "flower-1")
    assert len(ramify.load(tree)) == 150


@pytest.mark.no_asan
def test_forget_waits_for_an_update(slow_update, tmp_path):  # noqa: F811 - the fixture
    tree, update = slow_update
    forget = start("forget", tree, "1", stderr=subprocess.PIPE)
    assert b"waiting for another ramify (process" in forget.stderr.readline()
    update.communicate(b"7,8\n", timeout=60)
    _, err = forget.communicate(timeout=60)
    assert forget.returncode == 0, err
    assert ramify.load(tree).point_numbers_.tolist() == [0, 2, 3]
    assert files(tmp_path) == ["d.csv", "t"], "no lock is left"


def test_a_tree_that_was_saved_meanwhile_stays(tree, tmp_path, monkeypatch):
    """Python asks for no lock: both trees are kept, in two files."""
    forget = ramify.OHAC.forget

    def overtaken(self, points):
        ramify.OHAC().fit([[0.0, 0.0]]).save(tree)
        return forget(self, points)

    monkeypatch.setattr(ramify.OHAC, "forget", overtaken)
    sentence = fails("forget", tree, "flower-1")
    assert "was written by another program meanwhile and stays" in sentence
    assert len(ramify.load(tree)) == 1
    assert len(ramify.load(tmp_path / "tree-2.ramify")) == 149


# --- what Python saves ------------------------------------------------------------


@pytest.mark.parametrize(
    "age", [timedelta(days=90), timedelta(microseconds=7), np.timedelta64(1500, "ns"), 2.5]
)
def test_a_span_of_time_could_not_be_saved(age, tmp_path):
    times = [0.0, 1.0] if isinstance(age, float) else np.array(["2026-01-01"] * 2, "M8[ns]")
    ramify.OHAC(keep=ramify.Younger(age)).fit([[0.0], [1.0]], times=times).save(tmp_path / "t")
    assert ramify.load(tmp_path / "t").keep == ramify.Younger(age)


def test_a_window_that_cannot_be_was_saved(tmp_path):
    with pytest.raises(ValueError, match="keep='all'"):
        ramify.OHAC(keep="all").save(tmp_path / "t")


@pytest.mark.parametrize("one_by_one", [True, False])
def test_points_without_times_among_others_could_not_be_saved(one_by_one, tmp_path):
    model = ramify.OHAC(keep=ramify.Younger(2.0)).fit([[0.0], [1.0]], times=[0, 1])
    model.keep = None
    if one_by_one:
        model.insert([3.0])
    else:
        model.partial_fit([[3.0]])
    model.save(tmp_path / "t")
    for one in (model, ramify.load(tmp_path / "t")):
        one.keep = ramify.Younger(2.0)
        with pytest.raises(ValueError, match="leaving by age is new"):
            one.partial_fit([[4.0]], times=[9])


def test_update_lifts_and_changes_limits(tmp_path):
    np.save(tmp_path / "1.npy", X[:25])
    np.save(tmp_path / "2.npy", X[25:])
    out = tmp_path / "t"
    done("fit", tmp_path / "1.npy", "-o", out, "--window", 20)
    done("update", out, tmp_path / "2.npy", "--no-window")
    model = ramify.load(out)
    assert (len(model), model.keep) == (20 + N - 25, None)
    words = ("update", out, tmp_path / "2.npy")
    assert "set and lifted at once" in fails(*words, "--no-window", "--window", 5, code=2)
    done("fit", tmp_path / "1.npy", "-o", out, "--max-leaves", 10)
    done("update", out, tmp_path / "2.npy", "--max-leaves", 30)
    model = ramify.load(out)
    assert (len(model), model.keep.leaves, model.n_points_) == (30, 30, N)
